"""The panels of ``parshall --help``: each verb in one line that says when to use it rather than its neighbour."""

from __future__ import annotations

from collections.abc import Mapping

PANELS: Mapping[str, Mapping[str, str]] = {
    "Ask": {
        "new": "Write a commented scenario, sweep or control to begin with.",
        "run": "Predict and simulate one scenario, and write its page.",
        "rerun": "Simulate or emulate an earlier run again, with changes.",
        "predict": "Ask the analytic models alone: an answer at once, nothing is simulated.",
        "ask": "Answer a question by simulation: how long a transfer takes, which rule matters.",
        "design": "Find the setting that meets a demand: a buffer, a queue, thresholds.",
        "explore": "Change a scenario in the browser, and watch the answer change.",
    },
    "Real TCP": {
        "emulate": "Run a scenario with the TCP of this kernel, in real time.",
        "shell": "Run your own programs, as iperf3 or curl, in the network of a scenario.",
        "observe": "Read captures of real connections: what they got, and what limited them.",
        "infer": "Fit a scenario to a capture, to try changes on it.",
    },
    "Many runs": {
        "sweep": "Run a scenario over many values; what the store has is not done again.",
        "query": "Ask the runs of a store a question in SQL.",
        "store": "List, verify, clean, merge or export the directory that keeps sweeps.",
        "compare": "Compare two or more results, or two points of sweeps, with intervals.",
    },
    "Pages and pictures": {
        "open": "Show the page of a result in the browser.",
        "report": "Write the page of an earlier result again, or all its figures.",
        "figure": "Write one figure of a page for a paper, or its data.",
        "card": "Write the answer of a run as one picture, for a chat or a slide.",
    },
    "Your own control": {
        "check-control": "Test a control of yours quickly: conformance, then Reno and CUBIC beside it.",
        "suite": "Test a control or queue by the criteria of a document, as RFC 9743.",
        "itb": "Rank controls by what users of applications get: minutes to hours.",
        "replay": "Drive a control through the calls that a kernel's control got.",
    },
    "Reference": {
        "list": "List controls, queues, workloads, models, quantities and scenarios.",
        "validate": "Check scenario files, without running them.",
        "schema": "Print the JSON Schema of scenario files, with which editors complete them.",
        "doctor": "Show what this machine can do, and what to install for the rest.",
        "study": "Compute the figures of a published paper again, beside its own values.",
    },
}
"""Verbs by panel, in the order of the help."""

_PANEL = {verb: panel for panel, verbs in PANELS.items() for verb in verbs}
_LINE = {verb: line for verbs in PANELS.values() for verb, line in verbs.items()}
_ORDER = {verb: place for place, verb in enumerate(_PANEL)}


def panel_of(verb: str) -> str | None:
    """Return the panel of a verb; None: that of verbs which installed packages add."""
    return _PANEL.get(verb)


def line_of(verb: str) -> str | None:
    """Return the line of a verb; None: the first sentence of its own help."""
    return _LINE.get(verb)


def order_of(verb: str) -> int:
    """Return the place of a verb in the help; verbs of installed packages come last."""
    return _ORDER.get(verb, len(_ORDER))
