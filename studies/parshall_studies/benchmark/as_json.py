"""What ``parshall itb --json`` prints."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from typing import Any

from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import RIVALS, CaseResult, Result
from parshall_studies.benchmark.discrimination import discrimination, sufficient
from parshall_studies.benchmark.instruments import beside, orders


def printed(first: Result, emulated: Result | None = None) -> dict[str, Any]:
    """Of one instrument, or of the simulation, the emulation, and both compared."""
    if emulated is None:
        return result(first)
    compared = {
        "orders": asdict(orders(first, emulated)),
        "completion": [asdict(each) for each in beside(first, emulated)],
    }
    return {"simulated": result(first), "emulated": result(emulated), "compared": compared}


def result(made: Result) -> dict[str, Any]:
    """Of one instrument; docs/json.md describes it."""
    differences = score.Differences.of_result(made)
    return {
        "instrument": made.instrument,
        "scale": made.scale,
        "repetitions": made.repetitions,
        "controls": list(made.controls),
        "wall_s": round(made.wall_s, 3),
        "at_least": made.at_least,
        "enough": asdict(sufficient(made.cases, made.controls, differences, made.at_least)),
        "cases": [_case_json(each, made, differences) for each in made.cases],
    }


def _case_json(case: CaseResult, result: Result, differences: score.Differences) -> dict[str, Any]:
    verdict = discrimination(case, result.controls, differences, result.at_least)

    def interval(found: dict[int, float], least: float = -inf) -> dict[str, Any] | None:
        made = score.interval(found, least=least)
        return None if made is None else asdict(made)

    return {
        "application": case.case.application.name,
        "class": case.case.itb_class.name,
        "not_standard": case.case.odd,
        "discrimination": {
            "verdict": verdict.verdict,
            "pairs": verdict.pairs,
            "differing": verdict.differing,
            "undecided": verdict.undecided,
            "slowest_over_fastest": verdict.span,
        },
        "ranking": [
            {
                "control": each.control,
                "rank": each.rank,
                "as_good_as_the_best": each.as_good,
                "to_the_best": None if each.to_best is None else asdict(each.to_best),
                "finished": interval(score.values(case, each.control, "finished"), 0.0),
                "measures": {m.key: interval(score.values(case, each.control, m.key), 0.0) for m in score.MEASURES},
                "harm": {
                    rival: {m.key: interval(score.harm_values(case, each.control, rival, m.key)) for m in score.HARMS}
                    for rival in RIVALS
                    if rival != each.control
                },
            }
            for each in score.ranking(case, result.controls, differences)
        ],
    }
