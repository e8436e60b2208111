"""``python -m parshall.cli``."""

from parshall.cli import main

main()
