"""Windows and timeouts."""

from __future__ import annotations

from parshall.results.quantities.computing import aggregated, by_repetition, column, mean_of, windowed
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables


def _timeouts(tables: Tables) -> dict[int, float]:
    return by_repetition(windowed(tables), mean_of("timeouts"))


GROUP = (
    Quantity(
        "timeouts",
        "timeouts of a flow",
        "1",
        "lower",
        "group",
        _timeouts,
        what="retransmission timeouts, mean over the flows",
    ),
    Quantity(
        "cwnd_packets",
        "mean window",
        "packets",
        None,
        "group",
        aggregated("flows", mean_of("mean_cwnd_packets")),
        what="over time and the flows",
    ),
)

FLOW = (
    Quantity("timeouts", "timeouts", "1", "lower", "flow", _timeouts),
    Quantity("cwnd_packets", "mean window", "packets", None, "flow", column("flows", "mean_cwnd_packets")),
)
