"""FQ-PIE, COBALT in flow queues, and the token-bucket shaper beside those of ns-3.37 (benches/ns3/queues.cc)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

FLOWS, RTT_S = 4, 0.04
QUEUES: dict[str, tuple[str, Any]] = {
    "FqPie": ("20 Mbit/s", "fq_pie"),
    # FQ-COBALT is CAKE without its shaper and tins.
    "FqCobalt": ("20 Mbit/s", {"name": "cake", "tins": "besteffort"}),
    "Tbf": (
        "100 Mbit/s",
        {
            "name": "shaper",
            "rate": "10 Mbit/s",
            "burst": "60 kB",
            "queue": {"name": "drop_tail", "limit": "100 packets"},
        },
    ),
}


def scenario(rate: str, queue: Any, flows: dict[str, Any], warm_up: str = "10 s") -> dict[str, Any]:
    return {
        "duration": "60 s",
        "warm_up": warm_up,
        "processing_time": "20 us",
        "bottleneck": {"rate": rate, "delay": "1 ms", "queue": queue},
        "flows": [{"rtt": f"{1000 * RTT_S:g} ms", "access_rate": "1 Gbit/s", **flows}],
    }


@pytest.mark.parametrize("disc", list(QUEUES))
def test_as_ns3(simulate: Any, ns2_values: dict[str, Any], disc: str) -> None:
    """Drops, in as many as ns-3's TCP would have: it halves what is in flight without the two packets lost and SACKed.

    So the window needs a round trip more to a peak of P packets, P/2 + 1, and there are fewer drops. A device of ns-3
    takes a packet before its turn on the link: what waits is shorter by a packet, within the tolerance.
    """
    runs = [run for run in ns2_values["queues_ns3"]["runs"] if run["disc"] == disc and "cbr" not in run["options"]]
    rate, queue = QUEUES[disc]
    reno = {
        "count": FLOWS,
        "congestion_control": "reno",
        "initial_window": "10 packets",
        "start": {"uniform": "5 s"},
    }
    ours = [simulate(scenario(rate, queue, reno), seed=seed) for seed in (1, 2, 3)]
    theirs = {key: fmean(run[key] for run in runs) for key in ("mean_sojourn_s", "dropped", "goodput_bps", "jain")}
    waited = fmean(run.link["mean_queueing_delay_s"] for run in ours)
    dropped = fmean(run.link["dropped_packets"] for run in ours)
    goodput = fmean(run.flows["goodput_bps"].sum() for run in ours)
    # A sawtooth between P/2 and P has a mean of 3P/4.
    half = 2 / 3 * goodput / FLOWS / 8 / 1500 * (RTT_S + waited)
    assert waited == pytest.approx(theirs["mean_sojourn_s"], rel=0.1)
    assert dropped * half / (half + 1) == pytest.approx(theirs["dropped"], rel=0.1)
    assert goodput == pytest.approx(theirs["goodput_bps"], rel=0.03)
    for run in ours:
        rates = run.flows["goodput_bps"]
        jain = float(rates.sum()) ** 2 / (FLOWS * float((rates**2).sum()))
        assert jain == pytest.approx(theirs["jain"], abs=0.02)


def test_a_shaper_lets_the_same_pass(simulate: Any, ns2_values: dict[str, Any]) -> None:
    (theirs,) = (run for run in ns2_values["queues_ns3"]["runs"] if "cbr" in run["options"])
    rate, queue = QUEUES["Tbf"]
    cbr = {"packet_size": "1498 B", "workload": {"name": "cbr", "rate": f"{20e6 * 1498 / 1500:.0f} bit/s"}}
    totals = simulate(scenario(rate, queue, cbr, "0 s")).summary["links"][0]
    assert totals["forwarded"] == pytest.approx(theirs["forwarded"], abs=20)
    assert totals["dropped"] == pytest.approx(theirs["dropped"], rel=0.005)
