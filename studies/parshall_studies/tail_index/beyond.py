"""Beyond the sources: other distributions, loops, controls and queues, each against one base.

The base is N = 45, B = 896, with slow start, ns-2's TCP, Pareto sizes of tail index 1.5. Distributions have its mean;
some the variance of each other, one its tail with another body. All variants share their random numbers, so that
differences to the base are paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case
from parshall_studies.tail_index import distributions
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured, measured
from parshall_studies.tail_index.network import butterfly, pareto
from parshall_studies.tail_index.running import case, tables
from parshall_studies.tail_index.setting import HOSTS_OF_2011, NS2, Setting

SOURCES, BUFFER = 45, 896
BASE = "Pareto, tail index 1.5 (base)"
_TAIL = "same tail beyond 2000 packets, all others alike"


def variants() -> dict[str, dict[str, Any]]:
    """What differs from the base, by name; arguments of `butterfly`."""
    mean = "1000 packets"
    base = pareto(1.5)
    sizes = {
        BASE: base,
        "bounded Pareto, same tail index, up to 100,000": distributions.bounded_pareto(1000, 1.5, 1e5),
        _TAIL: distributions.same_tail(1.5),
        "Pareto, tail index 2.5 (C² = 0.8)": pareto(2.5),
        "lognormal, C² = 0.8": distributions.lognormal(0.8),
        "Weibull, C² = 0.8": {"name": "weibull", "mean": mean, "shape": distributions.weibull_shape(0.8)},
        "hyperexponential, C² = 10": {"name": "hyperexponential", "mean": mean, "cv2": 10.0},
        "lognormal, C² = 10": distributions.lognormal(10.0),
        "Weibull, C² = 10": {"name": "weibull", "mean": mean, "shape": distributions.weibull_shape(10.0)},
        "exponential": {"name": "exponential", "mean": mean},
        "all of 1000 packets": {"name": "constant", "value": mean},
        **{f"measured: {name}": size for name, size in distributions.measured().items()},
    }
    model = {"recovery": "sack"}
    others: dict[str, dict[str, Any]] = {
        "CUBIC": {"flow": {"congestion_control": "cubic"}},
        "Linux's stack, as in Fig. 1": {"flow": HOSTS_OF_2011},
        "SACK": {"flow": model},
        "BBR, with SACK": {"flow": {"congestion_control": "bbr", **model}},
        "BBRv3, with SACK": {"flow": {"congestion_control": "bbr3", **model}},
        "initial window 10": {"flow": {"initial_window": "10 packets"}},
        "RED": {
            "queue": {
                "name": "red",
                "limit": f"{BUFFER} packets",
                "min_threshold": f"{BUFFER // 8} packets",
                "max_threshold": f"{BUFFER // 2} packets",
            }
        },
        "CoDel (5 ms, 100 ms)": {"queue": {"name": "codel", "limit": f"{BUFFER} packets"}},
        "CoDel (1 ms, 20 ms)": {
            "queue": {"name": "codel", "limit": f"{BUFFER} packets", "target": "1 ms", "interval": "20 ms"}
        },
    }
    return {name: {"size": size} for name, size in sizes.items()} | {
        name: {"size": base, **arguments} for name, arguments in others.items()
    }


def scenario(setting: Setting, /, **arguments: Any) -> Scenario:
    """A variant."""
    chosen = arguments.pop("size")
    flow = {**NS2, **arguments.pop("flow", {})}
    return butterfly(
        SOURCES,
        BUFFER,
        chosen,
        flow=flow,
        duration_s=min(setting.longest_s, setting.duration_s),
        repetitions=setting.repetitions,
        **arguments,
    )


def points(setting: Setting) -> dict[str, Case]:
    """The variants, and an open loop with as many transfers a second as the base has."""
    declared = {name: case(f"beyond: {name}", scenario(setting, **each), measured) for name, each in variants().items()}
    opened = "open loop, as many transfers a second"
    return {**declared, opened: Case(f"beyond: {opened}", _open_loop, (setting, declared[BASE]))}


def _open_loop(setting: Setting, base: Measured) -> Measured:
    arrivals = base.transfers / (min(setting.longest_s, setting.duration_s) * setting.repetitions)
    workload = {"name": "open_loop", "size": pareto(1.5), "arrivals_per_s": arrivals}
    return measured(tables(scenario(setting, size=pareto(1.5), flow={"workload": workload, "count": 1})))


def section(by_variant: Mapping[str, Measured], _: Setting) -> Section:
    """The table, and what stands out in it."""
    base = by_variant[BASE]
    rows = [
        (
            name,
            *(_beside(each, base, metric) for metric in METRICS),
            f"{each.mean_packets:.0f}",
        )
        for name, each in by_variant.items()
    ]
    missing = [name for name in distributions.FILES if f"measured: {name}" not in by_variant]
    without = (
        f"Left out for want of files: {', '.join(missing)} ({distributions.VARIABLE}/flowsize). " if missing else ""
    )
    tail, body = by_variant[_TAIL], by_variant["Pareto, tail index 2.5 (C² = 0.8)"]
    text = "; ".join(
        f"{WORDS[metric]} {_ratio(tail, base, metric):+.0%} against {_ratio(body, base, metric):+.0%}"
        for metric in METRICS
    )
    return Section(
        "Other distributions, loops, controls and queues",
        (
            f"N = {SOURCES}, B = {BUFFER}, with slow start. Every distribution has a mean of 1000 packets; what is "
            "sampled of a heavy one differs, and is shown. Brackets: the paired difference to the base with its 95 % "
            f"interval. {without}",
            "Another body under the base's very tail, against another tail (index 2.5) with the base's kind of body, "
            f"change: {text}.",
            _codel(by_variant),
        ),
        [
            Table(
                "",
                ("variant", "loss rate", "delay (ms)", "throughput (Mbit/s)", "sampled mean (packets)"),
                rows,
                numbers=(1, 2, 3, 4),
            )
        ],
    )


def _ratio(each: Measured, base: Measured, metric: str) -> float:
    return float(each.values(metric).mean() / max(base.values(metric).mean(), 1e-300) - 1)


def _beside(each: Measured, base: Measured, metric: str) -> str:
    digits = {"loss": 4, "delay_ms": 2, "throughput_mbps": 0}[metric]
    mean = f"{each.values(metric).mean():.{digits}f}"
    if each is base:
        return mean
    interval = mean_interval(each.values(metric) - base.values(metric))
    half = "" if interval.half_width is None else f" ± {interval.half_width:.{digits}f}"
    return f"{mean} ({interval.mean:+.{digits}f}{half})"


def _codel(by_variant: Mapping[str, Measured]) -> str:
    usual, base = by_variant["CoDel (5 ms, 100 ms)"], by_variant[BASE]
    sign = sign_of(mean_interval(usual.loss - base.loss))
    verdict = "it changes the loss rate" if sign else "no difference to the full buffer can be told"
    return (
        "CoDel acts where packets wait longer than its target for a whole interval. With its usual values of 5 and "
        f"100 ms {verdict}: slow starts fill the buffer of 11 ms and empty it again within some round trips of 10 ms."
    )
