"""A scenario at rates that a machine emulates in real time, and its hosts as Linux has them.

Rates, queues, windows and files become smaller by one factor; times stay. So a flow's window in packets is as many
times smaller, and what a control does per packet (Reno's climb takes W/2 round trips) is over as many times sooner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from parshall.scenario import Scenario
from parshall.scenario.schema.catalog import sends_datagrams
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.scenario.schema.quantities import parse, written

OF_A_PACKET = frozenset({"packet_size", "initial_window", "loss_window", "header_size", "ack_size", "mtu", "quantum"})
"""Keys whose sizes belong to packets, and stay."""
NOT_OF_THE_NETWORK = frozenset({"probes", "name", "description", "processing_time"})

OF_A_HOST = frozenset(
    {
        *("name", "count", "direction", "path", "reverse_path", "rtt", "jitter", "reverse_jitter"),
        *("access_rate", "access_queue", "processing_time", "marker", "dscp", "endpoint"),
        *("start", "workload", "congestion_control", "packet_size", "header_size"),
    }
)
"""Keys of a group that its path and its user set, and not its TCP."""

TODAYS = {"cubic_2005": "cubic"}
"""Controls under the name that the kernel has them by."""


def scaled(scenario: Scenario, factor: float) -> Scenario:
    """The scenario with all rates, queues, windows and files times a factor; times and packets are the same.

    Parameters
    ----------
    factor
        As 1/50; sizes in packets become 1 at least.

    Examples
    --------
    >>> queue = {"name": "drop_tail", "limit": "100 packets"}
    >>> flows = [{"rtt": "20 ms", "workload": {"name": "transfer", "sizes": "3 MB"}}]
    >>> link = {"rate": "1 Gbit/s", "queue": queue}
    >>> fast = Scenario.from_document({"duration": "1 s", "bottleneck": link, "flows": flows})
    >>> slow = scaled(fast, 1 / 50).document()
    >>> slow["bottleneck"]["rate"], slow["bottleneck"]["queue"]["limit"], slow["flows"][0]["workload"]["sizes"]
    ('20 Mbit/s', '2 packets', ['60 kB'])
    """
    if factor == 1:
        return scenario
    document = {
        key: value if key in NOT_OF_THE_NETWORK else _scaled(value, factor)
        for key, value in scenario.document().items()
    }
    return Scenario.from_document(document)


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {key: each if key in OF_A_PACKET else _scaled(each, factor) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_scaled(each, factor) for each in value]
    return _quantity(str(value), factor) if isinstance(value, str) else value


def _quantity(text: str, factor: float) -> str:
    """A rate or size times a factor; any other text as it is."""
    for kind in ("rate", "packets", "bytes"):
        try:
            base = parse(kind, text)
        except ValueError:
            continue
        return written(kind, max(1, round(base * factor)))
    return text


def for_linux(scenario: Scenario, keep: Collection[str] = ()) -> Scenario:
    """The scenario with hosts of Linux: its path, starts and workloads, and none of its TCP's options.

    Buffers of sockets limit no flow, and controls have the kernel's names and parameters.

    Parameters
    ----------
    keep
        Options of its TCP that stay, such as ``receive_window``.

    Examples
    --------
    >>> flows = [{"rtt": "20 ms", "tcp": "rfc", "congestion_control": {"name": "bic", "decrease": 0.9}}]
    >>> old = Scenario.from_document({"duration": "1 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": flows})
    >>> group = for_linux(old).document()["flows"][0]
    >>> group["congestion_control"], group["tcp"], sorted(group["kernel"])
    ({'name': 'bic'}, 'linux', ['sysctls'])
    """
    document = scenario.document()
    return Scenario.from_document({**document, "flows": [_host(group, keep) for group in document["flows"]]})


def _host(group: Mapping[str, Any], keep: Collection[str]) -> dict[str, Any]:
    if _sends_datagrams(group):
        return dict(group)
    own = {key: value for key, value in group.items() if key in OF_A_HOST or key in keep}
    name = _name(own.get("congestion_control", "cubic"))
    kernel = {**group.get("kernel", {}), "sysctls": {**AMPLE_BUFFERS, **group.get("kernel", {}).get("sysctls", {})}}
    return {**own, "congestion_control": TODAYS.get(name, name), "tcp": "linux", "kernel": kernel}


def controls(scenario: Scenario) -> list[str]:
    """The congestion controls of its TCP flows, each once."""
    groups = (group for group in scenario.document()["flows"] if not _sends_datagrams(group))
    return list(dict.fromkeys(_name(group.get("congestion_control", "cubic")) for group in groups))


def _sends_datagrams(group: Mapping[str, Any]) -> bool:
    return sends_datagrams(_name(group.get("workload", "bulk")))


def _name(choice: Any) -> str:
    """The name of an entry of a catalog, with or without parameters."""
    return str(choice["name"] if isinstance(choice, Mapping) else choice)
