"""Beside Reno and CUBIC: what a flow of the control gets, and what the other loses that it has beside its own kind.

| share of an equal one | the control |
| --- | --- |
| whole interval below 1 - `EQUAL_WITHIN` | yields; below 1 % of an equal share in a repetition it is starved |
| whole interval above 1 + `EQUAL_WITHIN` | takes more |
| whole interval between | shares equally |

Throughput and delay harm are those of `parshall.itb.fairness` (Ware et al. 2019): 0 is as beside its own kind, 1 is
everything taken. Standard flows are not to be harmed more than they harm each other, and not to be starved.

References: RFC 9743 §5.2.1; R. Ware, M. Mukerjee, S. Seshan, J. Sherry, HotNets 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import polars as pl

from parshall.control_check.card import RIVALS, Row, interval
from parshall.control_check.networks import WARM_UP_S, Control, flow, network
from parshall.control_check.running import Course, Key, Reading, Readings
from parshall.control_check.sharing import with_verdict
from parshall.itb.fairness import harm
from parshall.properties import title
from parshall.quantities.transport import HARMS
from parshall.report.starved import SHARE
from parshall.stats.confidence import Interval
from parshall.stats.families import Pair, judged
from parshall.stats.verdict import DIFFERENT, Judgement, Verdict

AT_LEAST = 0.05
"""Harm below this does not matter: no standard has a number."""

EQUAL_WITHIN = 0.2
"""Shares nearer to an equal one are called equal; no standard has a number."""

YIELDS, TAKES, SHARES, STARVES = "it yields", "it takes more", "it shares equally", "it is starved"

_DURATION_S = 60 + WARM_UP_S
_HARMS = tuple(HARMS[key] for key in ("throughput_harm", "delay_harm"))


def courses(controls: Mapping[str, Control]) -> dict[Key, Course]:
    """A flow of each control beside one of each rival."""
    return {
        ("beside", name, rival): Course(network([flow("a", control), flow("b", rival)], _DURATION_S), _read)
        for rival in RIVALS
        for name, control in controls.items()
    }


def _read(tables: Mapping[str, pl.DataFrame]) -> Reading:
    flows = tables["flows"]
    other, rival = (flows.filter(group=name).row(0, named=True) for name in ("a", "b"))
    both = other["goodput_bps"] + rival["goodput_bps"]
    return {
        "rival_bps": rival["goodput_bps"],
        "flow_loss_rate": rival["loss_rate"],
        "rtt_excess_s": None if rival["mean_rtt_s"] is None else rival["mean_rtt_s"] - rival["rtt_base_s"],
        "share": 2 * rival["goodput_bps"] / both if both else None,
        "own_share": 2 * other["goodput_bps"] / both if both else None,
    }


def rows(readings: Readings, own: str, names: list[str]) -> list[Row]:
    """What a flow of the control gets beside each rival, harm to it, and what it is left."""
    harmed = _harm(readings, names)
    judgements = _judged(harmed, own)
    made = []
    for rival in RIVALS:
        made.append(_own_share(readings, own, names, rival))
        shares = {name: [reading["share"] for reading in readings["beside", name, rival]] for name in names}
        for each in _HARMS:
            values = {name: interval(_values(harmed, name, rival, each.key)) for name in names}
            verdict, accepted = _verdict(judgements.get((rival, each.key)), title(rival))
            label = f"{each.label} to {title(rival)}"
            made.append(Row("harm", f"{each.key}_{rival}", label, each.unit, values, None, verdict, accepted))
        row = Row(
            "harm",
            f"share_{rival}",
            f"share left to {title(rival)}, of an equal one",
            "ratio",
            {name: interval(shares[name]) for name in names},
        )
        made.append(with_verdict(row, shares[own], "it is not starved", "it is starved"))
    return made


def _own_share(readings: Readings, own: str, names: list[str], rival: str) -> Row:
    """What a flow of each control gets of an equal share beside one of the rival."""
    shares = {name: [reading["own_share"] for reading in readings["beside", name, rival]] for name in names}
    values = {name: interval(shares[name]) for name in names}
    label = f"share of its own beside {title(rival)}, of an equal one"
    row = Row("harm", f"own_share_{rival}", label, "ratio", values)
    if own == rival:
        return row
    if any(share is not None and share < SHARE for share in shares[own]):
        return replace(row, verdict=STARVES, accepted=False)
    return replace(row, verdict=_standing(values[own]))


def _standing(share: Interval | None) -> str:
    """How a share stands to an equal one, in words; empty where the repetitions do not tell."""
    if share is None or share.low is None or share.high is None:
        return ""
    if share.high < 1 - EQUAL_WITHIN:
        return YIELDS
    if share.low > 1 + EQUAL_WITHIN:
        return TAKES
    return SHARES if share.low >= 1 - EQUAL_WITHIN and share.high <= 1 + EQUAL_WITHIN else ""


def _harm(readings: Readings, names: list[str]) -> pl.DataFrame:
    """`parshall.itb.fairness.harm` of these runs."""
    points = {key: number for number, key in enumerate(product(dict.fromkeys((*names, *RIVALS)), RIVALS))}
    keys = ("rival_bps", "flow_loss_rate", "rtt_excess_s")
    second = pl.DataFrame(
        [
            {"point": point, "repetition": number, "completion_s": None, **{key: reading[key] for key in keys}}
            for (name, rival), point in points.items()
            for number, reading in enumerate(readings["beside", name, rival])
        ],
        schema_overrides={"point": pl.UInt32, "completion_s": pl.Float64},
    )
    return harm(second, {(name, rival): (point, points[rival, rival]) for (name, rival), point in points.items()})


def _values(harmed: pl.DataFrame, name: str, rival: str, key: str) -> list[float | None]:
    values: list[float | None] = harmed.filter(control=name, rival=rival).sort("repetition")[key].to_list()
    return values


def _judged(harmed: pl.DataFrame, own: str) -> dict[tuple[str, str], Judgement]:
    """All harms to the rivals as one family, by rival and harm; what is 1 without harm is held against 1."""
    pairs = {}
    for rival, each in product(RIVALS, _HARMS):
        values = {n: value for n, value in enumerate(_values(harmed, own, rival, each.key)) if value is not None}
        if values and own != rival:
            shares = {n: 1.0 + value for n, value in values.items()}
            pairs[rival, each.key] = Pair.of_values(dict.fromkeys(values, 1.0), shares)
    return judged(pairs, at_least=AT_LEAST)


def _verdict(found: Judgement | None, rival: str) -> tuple[str, bool | None]:
    """In words; None where the repetitions do not tell."""
    if found is None:
        return "", None
    shown = found.verdict
    if shown in DIFFERENT and not found.matters:
        return f"{shown} than beside another {rival} flow, on average by less than {100 * AT_LEAST:g} %", None
    as_another = f"what another {rival} flow would do"
    verdicts = {
        Verdict.HIGHER: (f"more than another {rival} flow would do", False),
        Verdict.LOWER: (f"less than another {rival} flow would do", True),
        Verdict.EQUAL: (as_another, True),
        Verdict.SAME: (f"{as_another}, within {100 * AT_LEAST:g} %", True),
        Verdict.NOT_SHOWN: (f"no difference shown to another {rival} flow", None),
    }
    return verdicts.get(shown, (str(shown), None))
