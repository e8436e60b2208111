"""Random scenarios made from the catalogs: what is listed is drawn, new entries and keys as well.

They are small, at most some thousand packets, so that a thousand of them run in minutes. The same seed gives the same
scenario.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

from parshall.scenario import Bottleneck, FlowGroup, NamedLink, Probes, ReverseLink, Scenario
from parshall.scenario.schema import rules
from parshall.scenario.schema.catalog import Entry, Parameter, family
from parshall.scenario.schema.families import SIZE, TIME
from parshall.scenario.schema.flows import TCP_PARAMETERS

Document = dict[str, Any]

FILES = {
    "trace.txt": "".join(f"{time}\n" for time in (0, 0, 1, 3, 4, 4, 7, 9, 12, 13, 13, 20)),
    "sizes.txt": "100 0.2\n1500 0.6\n20000 1\n",
    "times.txt": "0.001 0.5\n0.02 0.9\n0.1 1\n",
}
"""What scenarios name; a test writes them to the scenarios' folder."""

_DATAGRAMS = ("cbr", "on_off_cbr", "poisson", "rate_controlled")
"""Workloads without TCP."""

PACKETS_OF_A_RUN = 4000
"""Packets that all links together can send, about."""

_ORDERED = (
    ("min_threshold", "max_threshold"),
    ("in_min", "in_max"),
    ("out_max", "in_max"),
    ("out_min", "out_max"),
    ("in_probability", "out_probability"),
    ("low", "high"),
    ("minimum", "maximum"),
    ("low_window", "high_window"),
    ("alpha", "beta"),
    ("min_rto", "max_rto"),
    ("target", "interval"),
    ("target", "rtt"),
    ("warm_up", "rehash_interval"),
    ("min_increase", "max_increase"),
    ("min_decrease", "max_decrease"),
)
"""Pairs of parameters of which the first is to be the smaller one."""

_UNIT = {"ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12, "bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "B": 1.0, "kB": 1e3}


def write_files(folder: Path) -> None:
    """Put what scenarios name into `folder`."""
    for name, text in FILES.items():
        (folder / name).write_text(text)


def valid(seed: int) -> Document:
    """A scenario that reads as one should. Some are refused all the same: their parts do not fit together."""
    return Draw(seed).scenario()


class Draw(random.Random):
    """Draws the parts of one scenario."""

    rate_bps: float
    """Of its links, about."""
    duration_s: float

    def scenario(self) -> Document:
        self.rate_bps = self.log_uniform(2e5, 1e8)
        self.duration_s = min(1.5, PACKETS_OF_A_RUN * 12_000 / self.rate_bps) * self.uniform(0.3, 1.0)
        document: Document = {"duration": f"{self.duration_s:.6f} s", "seed": self.randrange(2**63)}
        names = self.links(document)
        document["flows"] = [self.group(number, names) for number in range(self.choice((1, 1, 2, 3)))]
        if self.maybe(0.4):
            document["warm_up"] = f"{self.duration_s * self.uniform(0.01, 0.9):.6f} s"
        if self.maybe(0.3):
            document["repetitions"] = self.choice((2, 3))
        if self.maybe(0.6):
            document["probes"] = self.probes()
        finite = [group["name"] for group in document["flows"] if group["workload"]["name"] == "transfer"]
        if finite and self.maybe(0.5):
            document["ends_with"] = self.sample(finite, self.randint(1, len(finite)))
        self.others(document, Scenario, {"bottleneck", "links", "flows", "probes", "ends_with"})
        return document

    def links(self, document: Document) -> list[str] | None:
        """Adds the network; returns the links' names, None for a dumbbell."""
        if self.maybe(0.7):
            document["bottleneck"] = self.link(Bottleneck)
            if self.maybe(0.3):
                reverse = self.link(ReverseLink)
                kept = self.sample(sorted(reverse), self.randint(0, len(reverse)))
                document["bottleneck"]["reverse"] = {key: reverse[key] for key in kept}
            return None
        names = [f"link{number}" for number in range(self.randint(1, 4))]
        document["links"] = [{"name": name, **self.link(NamedLink)} for name in names]
        return names

    def link(self, model: type[Any]) -> Document:
        rate = self.rate_bps * self.log_uniform(0.5, 2.0)
        link: Document = {"rate_trace": "trace.txt"} if self.maybe(0.1) else {"rate": self.rate(rate)}
        link["delay"] = self.duration(0.0, 10e9)
        link["queue"] = self.entry("queues")
        if self.maybe(0.4):
            link["loss"] = self.entry("losses")
        if self.maybe(0.2):
            link["jitter"] = self.jitter()
        self.others(link, model, {"rate", "rate_trace", "reverse", "name", "loss", "jitter"})
        return link

    def group(self, number: int, names: Sequence[str] | None) -> Document:
        count = self.choice((1, 1, 2, 3, 7, 20))
        group: Document = {
            "name": f"group{number}",
            "count": count,
            "rtt": self.rtt(count),
            "workload": self.workload(),
        }
        if self.maybe(0.8):
            group["start"] = self.start(count)
        if self.maybe(0.4):
            group["access_rate"] = self.rate(self.rate_bps * self.log_uniform(0.1, 20.0))
            if self.maybe(0.3) and group["workload"]["name"] not in _DATAGRAMS:
                group["access_queue"] = f"{self.randint(1, 200)} packets"
        if self.maybe(0.3):
            group["packet_size"] = f"{self.randint(100, 9000)} B"
            group["header_size"] = f"{self.randint(0, 99)} B"
        if self.maybe(0.15):
            group["marker"] = self.entry("markers")
        if self.maybe(0.2):
            group["jitter"] = self.jitter()
        if self.maybe(0.2) and group["workload"]["name"] not in _DATAGRAMS:
            group["reverse_jitter"] = self.jitter()
        group |= self.way(names) | self.sender(group["workload"]["name"])
        handled = {"path", "reverse_path", "direction", "marker", "congestion_control", "packet_size", "header_size"}
        handled |= {"access_rate", "access_queue", "jitter", "reverse_jitter"}
        self.others(group, FlowGroup, handled | {parameter.name for parameter in TCP_PARAMETERS})
        return group

    def jitter(self) -> Document:
        return {"distribution": self.entry("distributions", role=TIME), "order": self.choice(("kept", "free"))}

    def way(self, names: Sequence[str] | None) -> Document:
        if names is None:
            return {"direction": self.choice(("forward", "reverse"))} if self.maybe(0.2) else {}
        way = {"path": self.sample(names, self.randint(1, len(names)))}
        if self.maybe(0.4):
            way["reverse_path"] = self.sample(names, self.randint(0, len(names)))
        return way

    def sender(self, workload: str) -> Document:
        """Congestion control and TCP, where the workload has them."""
        if workload in {"cbr", "on_off_cbr", "poisson"}:
            return {}
        if workload != "rate_controlled":
            control = self.entry("congestion_controls", without=("rate_based",))
            return {"congestion_control": control, **self.parameters(TCP_PARAMETERS, 0.25)}
        if self.maybe(0.5):
            return {"congestion_control": self.entry("congestion_controls", only=("rate_based", "tfrc"))}
        control = self.entry("congestion_controls", only=("multiple_time_scale",))
        control["control"] = self.entry("congestion_controls", only=("rate_based",))
        return {"congestion_control": control}

    def rtt(self, count: int) -> Any:
        least = 85.0  # ms: above the delays of four links, there and back
        return self.choice(
            (
                lambda: f"{self.uniform(least, 200):.3f} ms",
                lambda: {"first": f"{self.uniform(least, 120):.2f} ms", "step": self.duration(0, 5e9)},
                lambda: {"list": [f"{self.uniform(least, 120):.2f} ms" for _ in range(count)]},
                lambda: {"uniform": [f"{least} ms", f"{self.uniform(90, 150):.2f} ms"]},
                lambda: {"distribution": self.entry("distributions", role=TIME)},
            )
        )()

    def start(self, count: int) -> Any:
        latest_s = self.duration_s * self.choice((0.1, 0.5, 1.2))
        return self.choice(
            (
                lambda: f"{latest_s * self.random():.6f} s",
                lambda: {"staggered": f"{latest_s / count:.6f} s"},
                lambda: {"uniform": f"{latest_s:.6f} s"},
                lambda: {"list": [f"{latest_s * self.random():.6f} s" for _ in range(count)]},
            )
        )()

    def workload(self) -> Document:
        workload = self.entry("workloads")
        load = self.rate_bps * self.log_uniform(0.05, 1.5)
        match workload["name"]:
            case "cbr" | "on_off_cbr" | "poisson":
                workload["rate"] = self.rate(load)
            case "open_loop":
                workload["arrivals_per_s"] = self.log_uniform(0.1, 100.0) / self.duration_s
            case "request_response":
                workload["request"] = f"{self.log_uniform(1, 1e5):.0f} B"
            case "transfer" if self.maybe(0.5):
                workload["sizes"] = f"{self.randint(1, 100)} packets"
        return workload

    def probes(self) -> Document:
        bin_s = f"{self.duration_s / self.choice((3, 50, 2000)):.9f} s"
        drawn: Document = {
            "flow_samples": self.choice((False, bin_s)),
            "link_samples": self.choice((False, bin_s)),
            "flows": self.choice((0, 1, 5, 100)),
            "rounds": self.choice((0, 1, 5)),
            "transfers": self.maybe(0.7),
            "pcap": self.maybe(0.5),
            "qlog": self.maybe(0.5),
        }
        probes = {key: value for key, value in drawn.items() if self.maybe(0.5)}
        if probes.get("flows") == 100:
            probes.pop("qlog", None)  # no more than 500 logs
        self.others(probes, Probes, set(drawn))
        return probes

    def entry(
        self,
        name: str,
        role: str | None = None,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> Document:
        """An entry of a family with those parameters that it needs, and some that it does not."""
        entries = [each for each in family(name) if each.name not in without and (only is None or each.name in only)]
        entry: Entry = self.choice(entries)
        return {"name": entry.name, **self.parameters(entry.parameters, 0.4, role)}

    def parameters(self, declared: Sequence[Parameter], share: float, role: str | None = None) -> Document:
        """Values of those parameters that have no default, and of a share of the others."""
        chosen = {each.name for each in declared if each.default is None or self.maybe(share)}
        chosen |= {name for pair in _ORDERED if chosen & set(pair) for name in pair}
        values: Document = {}
        for each in declared:
            if each.name not in chosen:
                continue
            if each.kind == "cdf_points":
                values |= self.points(role)
            else:
                values[each.name] = self.value(each, role)
        for low, high in _ORDERED:
            if low in values and high in values and _amount(values[low]) > _amount(values[high]):
                values[low], values[high] = values[high], values[low]
        return values

    def points(self, role: str | None) -> Document:
        if self.maybe(0.4):
            return {"file": "sizes.txt" if role == SIZE else "times.txt"}
        units = ("500 B", "30 packets") if role == SIZE else ("1 ms", "0.1 s")
        return {"points": [[units[0], self.random() / 2], [units[1], 1.0]]}

    def value(self, parameter: Parameter, role: str | None) -> Any:  # noqa: C901, PLR0912 - one line a kind
        low, high = parameter.minimum, parameter.maximum
        match parameter.kind:
            case "number":
                return self.number(low or 0.0, high or 1.0)
            case "integer":
                return round(self.number(low or 0.0, high or 10.0))
            case "boolean":
                return self.maybe(0.5)
            case "choice":
                return self.choice(parameter.choices)
            case "recovery":
                return self.choice(family("recoveries")).name
            case "control":
                return self.entry("congestion_controls", only=parameter.choices, without=("rate_based",))
            case "queue":
                return self.entry("queues", only=parameter.choices)
            case "queues":
                return [self.entry("queues", only=parameter.choices) for _ in range(self.randint(3, 5))]
            case "numbers" if parameter.name == "band_of":
                return [self.randint(0, 2) for _ in range(8)]
            case "numbers":
                return [] if self.maybe(0.7) else [self.uniform(0.1, 5.0) for _ in range(self.randint(1, 8))]
            case "weight":
                return self.choice(("instantaneous", self.number(low or 1e-6, high or 1.0)))
            case "duration":
                return self.duration(low or 0.0, min(high or 5e12, 5e12))
            case "rate":
                return self.rate(self.rate_bps * self.log_uniform(0.05, 2.0))
            case "bytes":
                return f"{round(self.number(low or 1.0, min(high or 1e4, 1e4)))} B"
            case "packets":
                return f"{round(self.number(max(low or 0.0, 1.0), min(high or 100.0, 100.0)))} packets"
            case "size":
                return self.choice((f"{self.randint(1, 40)} packets", f"{self.randint(1, 60_000)} B"))
            case "sizes":
                return [f"{self.randint(1, 60_000)} B" for _ in range(self.randint(1, 3))]
            case "buffer":
                return self.choice(
                    (
                        f"{self.randint(1, 300)} packets",
                        f"{self.randint(9, 400)} kB",
                        f"{self.uniform(0.01, 3):.2f} BDP",
                    )
                )
            case "size_distribution" | "time_distribution":
                return self.entry("distributions", role=SIZE if parameter.kind == "size_distribution" else TIME)
            case "value":
                return f"{self.randint(1, 60_000)} B" if role == SIZE else self.duration(1e6, 0.5e12)
            case "rules":
                mixed = {self.choice(rules.names()): self.choice(("rfc", "linux")) for _ in range(self.randint(1, 4))}
                return self.choice(("rfc", "linux", mixed, {"base": self.choice(("rfc", "linux")), **mixed}))
            case kind:
                raise AssertionError(f"the generator does not know parameters of kind {kind}")

    def others(self, table: Document, model: type[Any], handled: set[str]) -> None:
        """Adds keys of `model` that nothing here knows by name, as its JSON Schema has them."""
        schema = _schema(model)
        for key, described in schema["properties"].items():
            if key not in table and key not in handled and self.maybe(0.1):
                drawn = self.of_schema(described, schema.get("$defs", {}))
                if drawn is not None:
                    table[key] = drawn

    def of_schema(self, described: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
        """A value that a JSON Schema shows; None if it shows none."""
        if "$ref" in described:
            return self.of_schema(definitions[described["$ref"].rpartition("/")[2]], definitions)
        if "anyOf" in described:
            drawn = [self.of_schema(each, definitions) for each in described["anyOf"]]
            return self.choice([each for each in drawn if each is not None] or [None])
        if "properties" in described:
            drawn_of = {key: self.of_schema(each, definitions) for key, each in described["properties"].items()}
            return {key: value for key, value in drawn_of.items() if value is not None and self.maybe(0.5)}
        if described.get("type") == "boolean":
            return self.maybe(0.5)
        for known in ("examples", "enum"):
            if described.get(known):
                return self.choice(described[known])
        return described.get("const")

    def maybe(self, probability: float) -> bool:
        return self.random() < probability

    def log_uniform(self, low: float, high: float) -> float:
        return exp(self.uniform(log(low), log(high)))

    def number(self, low: float, high: float) -> float:
        """Over the whole range, its ends included; by orders of magnitude where it has many."""
        if self.maybe(0.1):
            return self.choice((low, high))
        if high - low <= 1e3:
            return self.uniform(low, high)
        return max(low, self.log_uniform(max(low, 1e-6), high))

    def duration(self, low_ps: float, high_ps: float) -> str:
        if low_ps == 0.0 and self.maybe(0.1):
            return "0 s"
        return f"{round(self.log_uniform(max(low_ps, 1e6), high_ps) / 1e6)} us"

    def rate(self, bps: float) -> str:
        return f"{max(1, round(bps / 1e3))} kbit/s"


@cache
def _schema(model: type[Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = model.model_json_schema()
    return schema


def _amount(value: Any) -> float:
    """What a text with a unit, or a number, is: for comparing two of one kind."""
    if not isinstance(value, str):
        return float(value)
    number, _, unit = value.partition(" ")
    return float(number) * _UNIT.get(unit, 1.0)
