"""The sentences of studies, suites and registers: how many claims have which verdict."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    # Of a study.
    "claims.nothing": "Nothing here was published as a number or a claim.",
    "claims.readings": (
        "Of {claims} of the source's experiments, the best single reading (“{best}”) reproduces {reproduced}; some "
        "reading or other, {by_some}."
    ),
    "claims.one_reading": "Of {claims} of the source's experiments, {reproduced} {are} reproduced.",
    "claims.rest": "Of the rest, not reproduced: {fails}; compatible: {compatible}; undecided: {undecided}.",
    "claims.artefacts": "Of {artefacts}, one reading has all claims of {whole}.",
    "claims.apart": "Definitions and arithmetic, apart: {held} of {of} reproduced.",
    "claims.calibrated": "Calibrated to the published value, not counted: {number}.",
    "claims.cannot_fail": "Cannot fail, not counted: {number}.",
    "claims.theory": (
        "Ours against our own theory, not counted above: of {values} that can fail, holding: {holds}; compatible: "
        "{compatible}; undecided: {undecided}; failing: {fails}."
    ),
    "claims.beyond": "Beyond the source: {values}.",
    "claims.register": (
        "{source} makes {claims}, of which {checked} are checked here. Each says what would refute it; the others say "
        "why they cannot be checked."
    ),
    "claims.register_whole": (
        "{source} makes {claims}, all of which are checked here. Each says what would refute it."
    ),
    # Of a joint design.
    "joint.nothing": "Of {settings} none makes a claim of the source that counts.",
    "joint.best": (
        "Of {claims} of the source's experiments, the best of {settings} reproduces {carried}, the reconstruction "
        "{base}, and some setting or other {some}."
    ),
    "joint.none": "In none of {settings}: {number}.",
    # Of a suite.
    "claims.criteria": (
        "Of {asked}, holding: {holds}; failing: {fails}; compatible: {compatible}; undecided: {undecided}."
    ),
    "claims.no_criteria": "Nothing with a bound was asked.",
    "claims.reported": "Only reported: {values}.",
}
