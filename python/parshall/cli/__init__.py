"""The command line: one file a verb.

Exit codes: 0, 1 for a failure, 2 for bad input, 3 for an emulation that cannot be believed, 130 for an interruption.
Results go to standard output, everything else to standard error, so that ``--json`` prints one JSON value and nothing
but.
"""


def main() -> None:
    """Run the command line."""
    import os
    import sys

    from parshall.errors import InputError

    try:
        from parshall.cli.app import VERBS, application, needed

        completes = any(name.endswith("_COMPLETE") for name in os.environ)
        application(VERBS if completes else needed(sys.argv[1:]))()
    except InputError as error:  # of a package that adds verbs
        print(f"parshall: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # while modules are loaded, or results shown
        print("parshall: interrupted", file=sys.stderr)
        sys.exit(130)
