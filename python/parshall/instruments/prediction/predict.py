"""The answers of the analytic models to a scenario, beside what was measured.

Two readings (`Reading`): from the scenario alone, where the loss is that of the media or, on a full link, the
one at which the flows' demand is its capacity; and at the loss and RTT that a run measured, which shows how
good the formulas themselves are. Where a model has nothing to say it gives the reason and no number.

Examples
--------
One Reno flow that loses one packet in a thousand, whatever it does:

>>> from parshall.scenario import Scenario
>>> scenario = Scenario(
...     duration="200 s",
...     bottleneck={"rate": "1 Gbit/s", "loss": {"name": "bernoulli", "probability": 1e-3}},
...     flows=[{"rtt": "100 ms", "congestion_control": "reno"}],
... )
>>> predicted = predict(scenario)
>>> for row in predicted.throughput:
...     print(row.model, row.reading.value, round(row.goodput_bps / 1e6, 1), "Mbit/s")
pftk uncongested 4.3 Mbit/s
pftk_approximate uncongested 4.5 Mbit/s
square_root uncongested 4.5 Mbit/s
independent_losses uncongested 4.8 Mbit/s
response_reno uncongested 4.5 Mbit/s
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from parshall.foundations import plugins
from parshall.foundations.extras import missing
from parshall.instruments.prediction import (
    a_priori,
    at_measured,
    completion,
    datagrams,
    fair_share,
    loads,
    network,
    tables,
)
from parshall.instruments.prediction.answers import ByClass, Completion, Datagrams, LinkQueue, Reading, Throughput
from parshall.instruments.prediction.result import Predicted
from parshall.scenario import Scenario
from parshall.scenario.schema.resolve.resolved import Resolved

__all__ = [
    "ASSUMPTIONS",
    "Completion",
    "Datagrams",
    "LinkQueue",
    "Predicted",
    "Reading",
    "Throughput",
    "flatten",
    "predict",
    "predict_resolved",
]

ASSUMPTIONS = (
    "A full link loses every packet with the same probability, and holds an empty, half full or full buffer on "
    "average: the readings are a range, and no confidence interval. It is always busy, but for the lower end of the "
    "range, where all flows lose packets at the same time and the buffer does not hold what keeps it busy meanwhile.",
    "The RTT is the propagation delay, the transmission of one packet on each link, and the queueing of full links.",
    "The retransmission timeout is the RTT plus its queueing delay; the configured minimum bounds the whole, or what "
    "is added to the RTT, as `rto_floor` says.",
    "ACKs are neither lost nor delayed; flows start together and last to the end of the run.",
    "p is the probability of a loss event, as in the formulas' sources; a full buffer loses several packets an event.",
)


_OF_STUDIES = {"rio": "diffserv"}
"""Queues whose model parshall-studies brings, and its name."""


def predict(scenario: Scenario | str | Path | Mapping[str, Any], measured: Any = None) -> Predicted:
    """Ask every model that describes a part of the scenario.

    Parameters
    ----------
    scenario
        A scenario, the path of one in TOML, the name of one that comes with Parshall, or its tables.
    measured
        What a run of it measured: the run, a mapping of its tables (`flows`, `transfers`, `links`), or its
        `flows` table. Tables may be of Polars, pandas or Arrow, or lists of rows. `None`: nothing was run.

    Raises
    ------
    KeyError
        If a measured table lacks a column.
    ScenarioError
        The scenario is refused.
    """
    given = Scenario.of(scenario)
    answers = predict_resolved(given.resolved, measured)
    return answers.with_metadata({"name": given.name, "scenario_file": given.source})


def predict_resolved(resolved: Resolved | Mapping[str, Any], measured: Any = None) -> Predicted:
    """Return the models' answers to a resolved scenario (`parshall.Scenario.resolve`); otherwise as `predict`.

    Raises
    ------
    InputError
        The scenario names what is not in the catalog.
    """
    net = network.read(resolved if isinstance(resolved, Resolved) else Resolved.of(resolved))
    given_bps = loads.on_links(net)
    flows = tables.named(measured, "flows")
    seen = {} if flows is None else at_measured.read(flows)
    links = tables.named(measured, "links")
    by_class = _by_class(net, links)
    from_scenario = [*a_priori.throughput(net, given_bps), *by_class.throughput, *fair_share.throughput(net)]
    return Predicted(
        throughput=tuple(_with_measured(from_scenario, seen) + at_measured.throughput(_as_run(net, measured), seen)),
        completion=tuple(completion.completion(net, given_bps, seen, tables.named(measured, "transfers"))),
        datagrams=tuple(datagrams.datagrams(net, seen, by_class.datagram_loss)),
        queues=(*datagrams.queues(net, links), *by_class.queues),
        assumptions=ASSUMPTIONS,
        metadata=_provenance(net),
    )


def _by_class(net: network.Network, links: tables.Table | None) -> ByClass:
    """Return the answers of the models that packages bring for networks with a queue of a kind (`_OF_STUDIES`).

    An entry of the group ``parshall.predictions`` has the name of the queue, and names a function that takes the
    network and the measured table of links, or None. It is loaded for networks with such a queue alone: that of RIO
    takes as long as all other models.
    """
    crossed = {i: net.links[i] for group in net.groups for i in group.path}
    queues = {link.queue["name"] for link in crossed.values()}
    for _, _, answers in plugins.loaded("predictions", "prediction", queues.__contains__):
        found: ByClass = answers(net, links)
        return found
    unknown = [link for _, link in sorted(crossed.items()) if link.queue["name"] in _OF_STUDIES]
    return ByClass(queues=tuple(_uninstalled(link) for link in unknown))


def _uninstalled(link: network.NetworkLink) -> LinkQueue:
    """Return no answer, and what to install for one."""
    queue = link.queue["name"]
    reason = str(missing("studies", f"the model of {queue} queues", "parshall-studies"))
    return LinkQueue(link.name, _OF_STUDIES[queue], in_range=False, reason=reason)


def _provenance(net: network.Network) -> dict[str, Any]:
    """Return the links, and the groups with their flows and paths."""
    groups = [{"name": group.name, "count": group.count, "path": list(group.path)} for group in net.groups]
    return {"groups": groups, "links": [{"name": link.name} for link in net.links]}


def _as_run(net: network.Network, measured: Any) -> network.Network:
    """The network for as long as it was run: a run may end before its duration, with its transfers."""
    lasted_s = [totals["simulated_s"] for totals in getattr(measured, "totals", [])]
    return replace(net, duration_s=sum(lasted_s) / len(lasted_s)) if lasted_s else net


def flatten(predicted: Predicted) -> list[dict[str, Any]]:
    """One JSON-able row an answer, all with the same keys: what `--json` prints under `predicted`.

    Keys
    ----
    subject
        The group's or link's name.
    model, reading
        Who says so, and under which conditions (`Reading`); `None` where there is no choice.
    quantity
        `goodput_bps`, `completion_s`, or `mean_queue_packets`.
    in_range, reason
        Whether the model has a value, and why not.
    predicted, measured, ratio
        The value, the run's, and predicted over measured; `None` where there is none.
    details
        The answer's other fields.

    Examples
    --------
    >>> row = flatten(Predicted(queues=(LinkQueue("a", "mm1", True, None, 0.5, mean_queue_packets=0.5),)))[0]
    >>> row["subject"], row["quantity"], row["predicted"]
    ('a', 'mean_queue_packets', 0.5)
    """
    return predicted.predicted


def _with_measured(rows: list[Throughput], seen: Mapping[str, at_measured.GroupMeasurements]) -> list[Throughput]:
    return [at_measured.beside(row, seen.get(row.group)) for row in rows]
