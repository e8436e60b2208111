"""A claim as a row of a table: where it stands, what is accepted, what was found, and the verdict in words."""

from __future__ import annotations

from parshall.analysis.stats.claims import Claim

COLUMNS = ("where", "quantity", "accepted", "found", "95 %", "verdict", "note")
"""Of a table of claims (`cells`)."""
NUMBERS = (3, 4)
"""Columns that are numbers."""


def cells(claim: Claim) -> tuple[str, ...]:
    """A row, by `COLUMNS`."""
    value = claim.value
    found = "none" if value is None else f"{value.mean:.4g}"
    spread = value is not None and value.low is not None and value.high is not None and value.low < value.high
    between = f"{value.low:.4g} .. {value.high:.4g}" if value is not None and spread else ""
    return (claim.artefact, claim.named, accepted(claim), found, between, verdict(claim), claim.note)


def accepted(claim: Claim) -> str:
    """The accepted values of a claim, in words; empty: it has no bound."""
    r, d = claim.reference, claim.tolerance
    near = f" ± {d:.3g}" if d else ""
    text = {
        "equal": f"{r:g}{near}" if r is not None else "",
        "at_most": f"at most {r:g}" if r is not None else "",
        "at_least": f"at least {r:g}" if r is not None else "",
        "sign": f"above {d:.3g}" if r == 1 else f"below {-d:.3g}" if r == -1 else f"0{near}",
        "ordering": "in this order",
        "monotone": f"each step above {d:.3g}",
        "line": f"from a line at most {d:.3g}",
    }.get(claim.rule, "")
    whose = " (theory)" if claim.basis == "theory" and text else ""
    one = f"; one run: ± {claim.uncertain:.3g}" if claim.uncertain else ""
    return f"{text}{whose}{one}"


def verdict(claim: Claim) -> str:
    """The verdict in words, with why it says nothing where it cannot fail."""
    text = claim.verdict.replace("_", " ")
    if claim.verdict in {"theory", "calibrated"}:
        text = f"{text}: {claim.outcome}"
    if claim.contested:
        text += f"; {claim.contested}"
    if claim.cannot_fail:
        accepted_null = claim.accepted_nulls[0]
        text = f"cannot fail: {accepted_null.name} ({accepted_null.value.mean:.4g}) is accepted"
    return text
