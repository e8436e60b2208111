"""The process of an emulated repetition: ``python -m parshall.emulation.child``.

It enters namespaces of its own, which needs a process with a single thread, and which it never leaves: they are gone
when it is, however it ends. Its order is one JSON object on the standard input, its answer one on the standard output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from parshall import _core


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """What became of the repetition: ``totals``, or ``refused`` (key and problem), or ``failed``, or ``unwritten``."""
    try:
        _core.die_with_parent(order["parent"])
        totals = _core.emulate(order["scenario"], order["repetition"], Path(order["directory"]), _core.Monitor())
    except ValueError as error:
        return {"refused": list(error.args)}
    except OSError as error:
        return {"unwritten": [error.errno, error.strerror or str(error), error.filename]}
    except (_core.EmulationFailed, _core.Interrupted, RuntimeError) as error:
        return {"failed": str(error)}
    return {"totals": json.loads(totals)}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
