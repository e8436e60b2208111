"""The command line: one file a verb.

| module | holds |
| --- | --- |
| `app`, `panels` | the verbs, and their order and lines in the help |
| `options`, `groups` | options that several verbs have, each declared once, and groups of them |
| `verb` | the decorator that makes a function a verb |
| `values`, `completion` | texts of options as numbers and names, and their completion |
| `console`, `pages`, `progress` | output: messages, tables, JSON; pages; bars |

Exit codes: 0, 1 for a failure, 2 for bad input, 3 for an emulation that cannot be believed, 130 for an interruption.
Results go to standard output, everything else to standard error, so that ``--json`` prints one JSON value and nothing
but.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence

_ALONE = ("run", "list", "validate", "predict")
"""Verbs that start no other process and solve no large system of equations."""


def main() -> None:
    """Run the command line."""
    from parshall.foundations.errors import InputError

    try:
        _start_fast(sys.argv[1:2])
        from parshall.cli.app import VERBS, application, needed
        from parshall.cli.console import log_in_options

        log_in_options()

        completes = any(name.endswith("_COMPLETE") for name in os.environ)
        application(VERBS if completes else needed(sys.argv[1:]))()
    except InputError as error:  # of a package that adds verbs
        print(f"parshall: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # while modules are loaded, or results shown
        print("parshall: interrupted", file=sys.stderr)
        sys.exit(130)


def _start_fast(verb: Sequence[str]) -> None:
    """Leave out what takes longer than many a command."""
    gc.set_threshold(300_000)  # all that is imported stays: no need to look for garbage in it a hundred times
    atexit.register(_keep_garbage)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # they would be sought in every installed package
    if verb and verb[0] in _ALONE:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy starts a thread a core otherwise


def _keep_garbage() -> None:
    """Look for no garbage at the end either, when all goes with the process.

    DuckDB's binding lists on standard error what was not collected then: where it was loaded, garbage is collected.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()
