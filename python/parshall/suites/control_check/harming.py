"""Beside Reno and CUBIC: what a flow of the control gets, and what the other loses that it has beside its own kind.

Throughput and delay harm are those of `parshall.results.quantities.harm` (Ware et al. 2019): 0 is as beside its own
kind, 1 is everything taken. Standard flows are not to be harmed more than they harm each other, and not to be starved.

References: RFC 9743 §5.2.1; R. Ware, M. Mukerjee, S. Seshan, J. Sherry, HotNets 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import polars as pl

from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.verdict import Judgement
from parshall.results.quantities.harm import HARMS, harm
from parshall.scenario.properties import title
from parshall.suites.control_check.card import HARMLESS, RIVALS, CardRow, interval
from parshall.suites.control_check.networks import WARM_UP_S, Control, flow, network
from parshall.suites.control_check.running import Key, Reading, Readings, RepetitionCourse
from parshall.suites.control_check.sharing import not_starved

_DURATION_S = 60 + WARM_UP_S
_HARMS = tuple(HARMS[key] for key in ("throughput_harm", "delay_harm"))


def courses(controls: Mapping[str, Control]) -> dict[Key, RepetitionCourse]:
    """A flow of each control beside one of each rival."""
    return {
        ("beside", name, rival): RepetitionCourse(network([flow("a", control), flow("b", rival)], _DURATION_S), _read)
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


def rows(readings: Readings, own: str, names: list[str]) -> list[CardRow]:
    """The rows of each rival: the control's share, harm to the rival, and the share left to it."""
    harmed = _harm(readings, names)
    judgements = _judged(harmed, own)
    made = []
    for rival in RIVALS:
        beside = {name: readings["beside", name, rival] for name in names}
        gets, left = f"share of its own beside {title(rival)}", f"share left to {title(rival)}"
        made.append(_share(beside, own, f"own_share_{rival}", gets, "docs/check_control.md"))
        for each in _HARMS:
            values = {name: interval(_values(harmed, name, rival, each.key)) for name in names}
            label, judgement = f"{each.label} to {title(rival)}", judgements.get((rival, each.key))
            made.append(CardRow("harm", f"{each.key}_{rival}", label, each.unit, values, harm=judgement))
        made.append(_share(beside, own, f"share_{rival}", left, "RFC 9743 §5.2.1"))
    return made


def _share(beside: Mapping[str, list[Reading]], own: str, key: str, label: str, asked_by: str) -> CardRow:
    """A share of an equal one, which is not to be starvation."""
    shares = {name: [reading[key.rpartition("_")[0]] for reading in each] for name, each in beside.items()}
    label = f"{label}, of an equal one"
    values = {name: interval(each) for name, each in shares.items()}
    return CardRow("harm", key, label, "ratio", values, claim=not_starved(asked_by, label, shares[own]))


def _harm(readings: Readings, names: list[str]) -> pl.DataFrame:
    """`parshall.results.quantities.harm.harm` of these runs."""
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
    return judged(pairs, at_least=HARMLESS)
