"""The process of an emulated repetition.

``python -m parshall.instruments.emulation.child ORDER ANSWER``, both open files.

It enters namespaces of its own, which needs a process with a single thread, and which it never leaves: they are gone
when it is, however it ends. Its order is one JSON object, and so is its answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from parshall import _core


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """What became of the repetition: ``totals``; ``refused``, with key and problem; or what else went wrong."""
    try:
        _core.die_with_parent(order["parent"])
        directory = Path(order["directory"])
        totals = _core.emulate(order["scenario"], order["repetition"], directory, _core.Monitor(), order["extras"])
    except ValueError as error:
        return {"refused": list(error.args)}
    except OSError as error:
        return {"unwritten": [error.errno, error.strerror or str(error), error.filename]}
    except _core.EmulationRefused as error:
        return {"not_permitted": str(error)}
    except (_core.EmulationFailed, _core.Interrupted, RuntimeError) as error:
        return {"failed": str(error)}
    return {"totals": json.loads(totals)}


def main() -> None:
    """Answer the order."""
    asked, answered = (int(number) for number in sys.argv[1:])
    for number in (asked, answered):
        os.set_inheritable(number, False)  # programs of the emulation have no part in them
    # An interruption at the terminal is for the programs of the emulation, whose end is its end, and for our parent.
    signal.signal(signal.SIGINT, lambda *_: None)
    with os.fdopen(asked) as order, os.fdopen(answered, "w") as reply:
        json.dump(answer(json.load(order)), reply)


if __name__ == "__main__":
    main()
