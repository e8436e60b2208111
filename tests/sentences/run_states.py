"""Runs, and the same with something missing or changed, and what opens their pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from saying import State, moves
from scipy.stats import ttest_rel

import parshall as ps
from parshall.report import validity_section
from parshall.report.finding import finding
from parshall.report.page import _warnings
from parshall.results.records import Result
from parshall.results.records.validity import MEASURED

NOT_REACHED: Mapping[str, str] = {"greedy_alone": "a share is known wherever the goodputs of two groups are"}
"""Templates that no state reaches, and why."""


def bulk(name: str, control: str = "reno", **more: Any) -> dict[str, Any]:
    return {"name": name, "rtt": "40 ms", "congestion_control": control, "start": {"uniform": "1 s"}, **more}


def simulated(*flows: dict[str, Any], bottleneck: Mapping[str, Any], **more: Any) -> Result:
    rest = {"duration": "12 s", "warm_up": "4 s", "repetitions": 3}
    return ps.run(rest | {"bottleneck": bottleneck, "flows": list(flows)} | more)


TEN: Mapping[str, Any] = {"rate": "10 Mbit/s"}
DEEP: Mapping[str, Any] = {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "2 BDP"}}
GAME: dict[str, Any] = {"name": "game", "rtt": "40 ms", "workload": {"name": "cbr", "rate": "64 kbit/s"}}
TRANSFER: Mapping[str, Any] = {"name": "transfer", "sizes": "50 kB"}


@cache
def two() -> Result:
    """A full link with two groups that are near each other."""
    return simulated(bulk("near"), bulk("far", rtt="60 ms"), bottleneck=TEN)


def with_metadata(run: Result, **more: Any) -> Result:
    return Result(None, {**run.metadata, **more}, {name: run.tables[name] for name in ("links", "flows")})


def heavy() -> Result:
    """So few sizes of so heavy a tail that their mean is off, with this seed."""
    size = {"name": "pareto", "mean": "20 kB", "tail_index": 1.1}
    workload = {"name": "on_off", "size": size, "off": {"name": "exponential", "mean": "0.2 s"}}
    clients = {"name": "clients", "count": 20, "rtt": "10 ms", "workload": workload}
    more = {"duration": "6 s", "warm_up": "1 s", "repetitions": 1, "probes": {"transfers": True}}
    return simulated(clients, bottleneck={"rate": "50 Mbit/s"}, **more)


def locked_out() -> Result:
    """A flow of TCP that has all, and one that lost nearly all it sent."""
    run = changed(two(), near=[9e6] * 3, far=[1e3] * 3)
    own = pl.col("group") == "far"
    flows = run.tables["flows"].with_columns(
        loss_rate=pl.when(own).then(0.9).otherwise(0.0), timeouts=pl.when(own).then(9).otherwise(0)
    )
    return Result(None, run.metadata, {"links": run.tables["links"], "flows": flows})


def flooded() -> Result:
    datagrams = {"name": "flood", "rtt": "30 ms", "workload": {"name": "cbr", "rate": "15 Mbit/s"}}
    tcp = {"name": "tcp", "count": 4, "rtt": "30 ms", "congestion_control": "reno"}
    more = {"duration": "60 s", "warm_up": "10 s", "repetitions": 1}
    return simulated(datagrams, tcp, bottleneck={**TEN, "queue": {"name": "drop_tail", "limit": "20 packets"}}, **more)


def emulated() -> Result:
    """A run and a verdict, in place of an emulation."""
    measured = {"repetition": 1, **dict.fromkeys(MEASURED)}
    verdict = {"level": "doubtful", "reasons": ["late"], "rtt_bias_s": 2e-4, "measured": measured}
    return with_metadata(two(), instrument="emulate", emulation=verdict)


@cache
def three() -> Result:
    return simulated(bulk("a"), bulk("b"), bulk("c"), bottleneck=TEN)


def transfers(short: int, long: int, **more: Any) -> Result:
    """A link that nothing fills: so many transfers that end, and so many that cannot."""
    groups = {"short": (short, "50 kB"), "long": (long, "100 MB")}
    flows = [
        bulk(name, count=count, workload={"name": "transfer", "sizes": size}, receive_window="4 packets")
        for name, (count, size) in groups.items()
        if count
    ]
    return simulated(*flows, bottleneck={"rate": "100 Mbit/s"}, **{"warm_up": "0 s", **more})


def changed(run: Result, rows: int | None = None, **columns: list[float]) -> Result:
    """A run with these goodputs, a value a repetition, of the group by the name; of the first repetitions alone."""
    number = rows or len(next(iter(columns.values())))
    given = [(n, group, x) for group, values in columns.items() for n, x in enumerate(values)]
    frame = pl.DataFrame(given, schema={"repetition": pl.UInt32, "group": pl.String, "given": pl.Float64}, orient="row")
    flows = run.tables["flows"].join(frame, on=["repetition", "group"], how="inner", maintain_order="left")
    links = run.tables["links"].filter(pl.col("repetition") < number)
    tables = {"links": links, "flows": flows.with_columns(goodput_bps=pl.col("given")).drop("given")}
    return Result(None, run.metadata, tables)


def predicted(run: Result, *models: str, factor: float) -> Result:
    """A run of which these models say a goodput so many times as large as it is."""
    goodput = run.quantity("group/near/goodput_bps").interval.mean * factor
    rows = [
        {
            "subject": "near",
            "model": model,
            "reading": "uncongested",
            "quantity": "goodput_bps",
            "in_range": True,
            "reason": None,
            "predicted": goodput,
            "measured": None,
            "ratio": None,
            "details": {"flow_goodput_bps": goodput},
        }
        for model in models
    ]
    tables = {name: run.tables[name] for name in ("links", "flows")}
    return Result(None, {**run.metadata, "predicted": rows}, tables)


def drifting(run: Result, queue: float, shares: tuple[float, float], groups: int = 2) -> Result:
    """A run whose queue grows in the second half, and whose groups share a link of 10 Mbit/s so in each half."""
    seed = run.tables["flows"].group_by("group", maintain_order=True).first()["group"].to_list()[:groups]
    flows = run.tables["flows"].filter(pl.col("group").is_in(seed))
    samples, bins = [], []
    for repetition in range(3):
        wobble = 1 + 0.01 * repetition
        for place, flow in enumerate(flows.filter(repetition=repetition)["flow"].to_list()):
            part = [share if place == 0 else 1 - share for share in shares]
            early, late = (share * (wobble if place == 0 else 1.0) for share in part)
            delivered = [0.0, 4.0, 4.0 + 4 * early, 4.0 + 4 * (early + late)]
            for time_s, sum_s in zip((0.0, 4.0, 8.0, 12.0), delivered, strict=True):
                samples.append((repetition, flow, time_s, round(sum_s * 1.25e6)))
        for time_s in range(12):
            mean = (20.0 + queue * (time_s >= 8)) * wobble
            bins.append((repetition, "bottleneck", float(time_s), 1.0, mean))
    tables = {
        "links": run.tables["links"],
        "flows": flows,
        "flow_samples": pl.DataFrame(samples, ["repetition", "flow", "time_s", "delivered_bytes"], orient="row"),
        "link_samples": pl.DataFrame(
            bins, ["repetition", "link", "time_s", "bin_s", "mean_queue_packets"], orient="row"
        ),
    }
    unsigned = {"repetition": pl.UInt32, "flow": pl.UInt32}
    for name in ("flow_samples", "link_samples"):
        kinds = {key: kind for key, kind in unsigned.items() if key in tables[name].columns}
        tables[name] = tables[name].cast(kinds)  # type: ignore[arg-type]
    return Result(None, run.metadata, tables)


RUNS: Mapping[str, tuple[Callable[[], Result], set[str]]] = {
    "a full link, equal flows, a queue that never empties": (
        lambda: simulated(bulk("all", count=3), bottleneck=DEEP),
        {"full", "flows_jain", "wait_tail", "lost", "smaller_buffer"},
    ),
    "one flow": (lambda: simulated(bulk("x"), bottleneck=DEEP), {"full", "one_flow"}),
    "flows whose fairness is not known": (
        lambda: without_columns(simulated(bulk("x", count=2), bottleneck=DEEP)),
        {"flows"},
    ),
    "ACKs fill the way back": (
        lambda: simulated(
            bulk("quic", "bbr", rtt="20 ms"),
            bottleneck={**TEN, "reverse": {"rate": "100 kbit/s"}},
            duration="20 s",
        ),
        {"full_of_acks", "one_flow"},
    ),
    "a flow that starts when all is over": (
        lambda: simulated({"rtt": "20 ms", "start": "9.9999 s"}, bottleneck=TEN, duration="10 s"),
        {"starts_late"},
    ),
    "a flow that starts late": (
        lambda: simulated({"rtt": "20 ms", "start": "9.9 s"}, bottleneck={"rate": "10 Gbit/s"}, duration="10 s"),
        {"nothing_lost", "one_flow"},
    ),
    "transfers that end before the measured time": (
        lambda: simulated(bulk("x", workload=TRANSFER), bottleneck=TEN),
        {"all_ended_before"},
    ),
    "a link that nothing crosses, for reasons that do not show": (
        lambda: without_packets(two()),
        {"nothing_crossed"},
    ),
    "packets cross, and none is delivered": (
        lambda: changed(two(), near=[0.0, 0.0, 0.0], far=[0.0, 0.0, 0.0]),
        {"full", "delivers_nothing"},
    ),
    "no transfer ended": (
        lambda: simulated(bulk("x", workload={"name": "transfer", "sizes": "100 MB"}), bottleneck=TEN, ends_with=["x"]),
        {"full", "one_flow", "wait_tail"},
    ),
    "all transfers ended": (lambda: transfers(20, 0), {"done"}),
    "three transfers, all of which ended": (lambda: transfers(1, 0), {"half_done_values"}),
    "three of four transfers ended": (lambda: transfers(15, 5), {"ended", "half_done_above"}),
    "three of four transfers ended, one repetition": (lambda: transfers(15, 5, repetitions=1), {"half_done_few"}),
    "one of four transfers ended": (lambda: transfers(5, 15), {"ended", "few_ended_above"}),
    "few transfers, half of them ended": (lambda: transfers(2, 1, repetitions=2), {"ended"}),
    "applications that send little": (
        lambda: simulated(
            {"name": "voice", "rtt": "40 ms", "workload": {"name": "cbr", "rate": "64 kbit/s"}}, bottleneck=TEN
        ),
        {"nothing_lost", "one_flow", "wait"},
    ),
    "losses on the medium alone": (
        lambda: simulated(
            bulk("all", count=2),
            bottleneck={"rate": "100 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.01}},
        ),
        {"medium", "flows_jain", "less_loss"},
    ),
    "losses on the medium and in the queue": (
        lambda: simulated(
            bulk("all"),
            bottleneck={
                "rate": "100 Mbit/s",
                "queue": {"name": "drop_tail", "limit": "100 packets"},
                "loss": {"name": "bernoulli", "probability": 0.002},
            },
            duration="20 s",
            warm_up="0 s",
        ),
        {"medium_and_queue", "less_loss"},
    ),
    "a queue that drops before the link is full": (
        lambda: simulated(
            bulk("all", count=2), bottleneck={**TEN, "queue": {"name": "drop_tail", "limit": "6 packets"}}
        ),
        {"drops_before", "larger_buffer"},
    ),
    "a queue that drops at times": (
        lambda: simulated(
            bulk("all", count=3, rtt={"first": "30 ms", "step": "10 ms"}),
            bottleneck={"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "10 packets"}},
        ),
        {"drops_at_times"},
    ),
    "a greedy group alone beside others": (
        lambda: simulated(bulk("uploads", count=2), GAME, bottleneck=TEN),
        {"greedy_share", "arrive"},
    ),
    "unequal groups": (
        lambda: simulated(
            bulk("near", count=2, rtt="20 ms", tcp="rfc"), bulk("far", count=2, rtt="80 ms", tcp="rfc"), bottleneck=TEN
        ),
        {"two_differ", "fair_queue"},
    ),
    "one repetition": (lambda: changed(two(), near=[8e6], far=[2e6]), {"two_once"}),
    "copies": (lambda: changed(two(), near=[8e6] * 3, far=[2e6] * 3), {"two_copies"}),
    "an interval of zero width": (lambda: changed(two(), near=[5e6] * 3, far=[5e6] * 3), {"two_alike"}),
    "a difference that chance may make": (
        lambda: changed(two(), near=[4e6, 5e6, 6e6], far=[6e6, 4e6, 4e6]),
        {"two_not_shown"},
    ),
    "a difference that is shown, and too small": (
        lambda: changed(two(), near=[5.03e6, 5.06e6, 5.04e6], far=[5e6, 5e6, 5e6]),
        {"two_too_little"},
    ),
    "three groups": (lambda: changed(three(), a=[8e6, 8.1e6, 8e6], b=[4e6] * 3, c=[2e6] * 3), {"many_differ"}),
    "three groups, one repetition": (lambda: changed(three(), a=[8e6], b=[4e6], c=[2e6]), {"many_once"}),
    "three groups, copies": (lambda: changed(three(), a=[8e6] * 3, b=[4e6] * 3, c=[2e6] * 3), {"many_copies"}),
    "three groups, chance": (
        lambda: changed(three(), a=[4e6, 5e6, 6e6], b=[4e6, 6e6, 4e6], c=[6e6, 4e6, 4e6]),
        {"many_not_shown"},
    ),
    "three groups, a difference too small": (
        lambda: changed(three(), a=[5.04e6, 5.05e6, 5.045e6], b=[5.01e6] * 3, c=[5e6] * 3),
        {"many_too_little"},
    ),
    "a group without packets": (lambda: changed(two(), near=[9e6, 9.1e6, 9e6], far=[0.0] * 3), {"two_differ"}),
    "an interrupted run": (lambda: interrupted(two()), {"full", "interrupted"}),
    "an interrupted run of which the plan is not known": (
        lambda: with_metadata(interrupted(two()), repetitions=None),
        {"full", "interrupted_unplanned"},
    ),
    "sizes with a heavy tail": (heavy, {"off_load"}),
    "flows that are locked out by others": (locked_out, {"locked_out"}),
    "flows that are locked out by datagrams": (flooded, {"locked_out_by_datagrams"}),
    "an emulation": (emulated, {"emulated_rtt", "worst_emulation"}),
    "a model that is wrong": (lambda: predicted(two(), "vegas", factor=3.0), {"model_wrong"}),
    "models that are wrong": (lambda: predicted(two(), "pftk", "square_root", factor=0.2), {"models_wrong"}),
    "shares that move": (lambda: drifting(two(), 0.0, (0.3, 0.6)), {"transient_share"}),
    "a goodput that moves": (lambda: drifting(two(), 0.0, (0.4, 0.7), groups=1), {"transient_goodput"}),
    "a queue that grows": (lambda: drifting(two(), 30.0, (0.5, 0.5)), {"transient_queue"}),
}


def without_columns(run: Result) -> Result:
    """Of flows of which one in each repetition has no goodput."""
    first = pl.col("flow") == pl.col("flow").min()
    flows = run.tables["flows"].with_columns(goodput_bps=pl.when(first).then(None).otherwise(pl.col("goodput_bps")))
    return Result(None, run.metadata, {"links": run.tables["links"], "flows": flows})


def without_packets(run: Result) -> Result:
    counts = [name for name in run.tables["links"].columns if name.endswith(("_packets", "_bytes"))]
    links = run.tables["links"].with_columns(pl.col(counts) * 0, utilisation=pl.lit(0.0))
    flows = run.tables["flows"].with_columns(goodput_bps=pl.lit(0.0))
    return Result(None, run.metadata, {"links": links, "flows": flows})


def interrupted(run: Result) -> Result:
    """Two of three repetitions."""
    tables = {name: run.tables[name].filter(pl.col("repetition") < 2) for name in ("links", "flows")}
    return Result(None, {**run.metadata, "status": "interrupted", "repetitions_finished": [0, 1]}, tables)


def ended(run: Result, text: str) -> None:
    """How many of how many transfers ended, where not all did."""
    table = run.tables.get("transfers")
    if table is None:
        return
    of, number = table.height, int(table["completion_s"].is_not_null().sum())
    if number == of:
        assert "ended" not in text.replace("all transfers had ended", ""), text
    else:
        assert f"{number} of {of}" in text.replace("\xa0", " "), text


def limit(run: Result, text: str) -> None:
    """A link is called the limit where it is used to 95 % or more, by the mean over repetitions."""
    used = run.tables["links"].group_by("link").agg(pl.col("utilisation").mean())["utilisation"].max()
    assert (" is the limit: " in text) == (float(used) >= 0.95), text  # type: ignore[arg-type]


def between_two(run: Result, text: str) -> None:
    """Of two groups that send what they can: a difference is told as one where Student's test of pairs finds it."""
    if re.search("one repetition|every repetition|no difference", text):
        assert "serves flows in turn" not in text, "no advice follows from what is not shown"
    told = re.search(r"[Aa] flow of (\S+) gets .*?, one of (\S+) ", text)
    if told is None:
        return
    means = run.tables["flows"].group_by("group", "repetition").agg(pl.col("goodput_bps").mean()).sort("repetition")
    more, less = (means.filter(group=name)["goodput_bps"].to_numpy() for name in told.groups())
    assert more.mean() > less.mean(), text
    if more.size == 1:
        assert "In its one repetition, a flow of" in text
    elif np.ptp(more - less) < 1e-6:
        assert "In every repetition alike, a flow of" in text
    else:
        assert "repetition" not in text
        assert ttest_rel(more, less).pvalue < 0.05, text


def says(run: Result) -> str:
    """The sentences that open the page, what it warns of, and what was measured of an emulation."""
    emulation = [text for each in validity_section.section(run) for text in each.paragraphs]
    return "\n".join([finding(run).text, *(text for _, text in _warnings(run)), *emulation])


def oracle(run: Callable[[], Result], text: str) -> None:
    made = run()
    for check in (ended, limit, between_two):
        check(made, text)
    moves(text)


def _state(name: str) -> State:
    made, templates = RUNS[name]
    run = cache(made)
    return State(lambda: says(run()), templates, lambda text: oracle(run, text))


STATES: dict[str, State] = {name: _state(name) for name in RUNS}
