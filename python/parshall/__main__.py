"""``python -m parshall``: the command line."""

from parshall.cli import main

if __name__ == "__main__":
    main()
