"""Response functions: the mean window of one flow of each control at a given loss rate, against its closed form.

Losses are on the medium, the link has no queue. *Periodic* losses are what the textbook forms assume: every 1/p-th
packet. The round trip of each loss recovery, in which no window grows, is left out by all of them; at p = 1e-2 it is
a sixth of Reno's cycle, whose window is then 10.7 % below the form; at p = 1e-3 it and the round trip of rest are a
ninth of FAST's. DCTCP answers losses as Reno does; Vegas, TCP Rate and the wrapped control are Reno where nothing
queues, and FAST adds gamma alpha = 50 packets every second round trip. Veno, Illinois, YeAH, Compound TCP, TCP-LP and
LEDBAT++ (whose GAIN is 1/2 at 100 ms, slowdowns left out) are AIMD or the like there. Prague answers losses as Reno;
NV keeps 4/5. BBR and Copa have no such form: `test_model_based.py`, `test_claims.py`; that of Westwood+ needs
a queue: crates/congestion/src/westwood.rs.
CUBIC's window at a loss moves by the cube of its distance from the fixed point, so it gets there as 1/sqrt(n): after 60
cycles its mean is still 6 to 9 % off. Where it is not Reno, it is therefore started so that its first loss is at that
window: that is the mean of RFC 9438's tables (187 packets at 1e-4, 1054 at 1e-5).
*Bernoulli* losses have the forms for independent losses.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from parshall.analysis.models import throughput as models

RTT_S = 0.1
TOLERANCE = 0.10

Window = Callable[[float], float]

PERIODIC: dict[str, tuple[dict[str, Any], Window]] = {
    "reno": ({}, lambda p: float(models.square_root_window(p))),
    "highspeed": ({}, lambda p: float(models.response_window("highspeed", p))),
    "scalable": ({}, lambda p: float(models.scalable_window(p))),
    "bic": ({}, lambda p: float(models.bic_window(p))),
    "htcp": ({}, lambda p: float(models.htcp_window(p, RTT_S))),
    "htcp, half": ({"adaptive_backoff": False}, lambda p: float(models.htcp_window(p, RTT_S, kept=0.5))),
    "prague": ({}, lambda p: float(models.square_root_window(p))),
    "nv": ({}, lambda p: float(models.aimd_window(p, decrease=0.8))),
    "dctcp": ({}, lambda p: float(models.square_root_window(p))),
    "vegas": ({}, lambda p: float(models.square_root_window(p))),
    "tcp_rate": ({}, lambda p: float(models.square_root_window(p))),
    "multiple_time_scale": ({"aggressiveness": 1}, lambda p: float(models.square_root_window(p))),
    "fast": ({}, lambda p: float(models.aimd_window(p, increase=25.0, decrease=0.5))),
    "hybla": ({}, lambda p: float(models.hybla_window(p, RTT_S))),
    "veno": ({}, lambda p: float(models.aimd_window(p, decrease=0.8))),
    "illinois": ({}, lambda p: float(models.aimd_window(p, increase=10.0, decrease=0.875))),
    "yeah": ({}, lambda p: float(models.yeah_window(p))),
    "compound": ({}, lambda p: float(models.compound_window(p))),
    "lp": ({}, lambda p: float(models.square_root_window(p))),
    "ledbat++": ({"slowdown_interval": 1e6}, lambda p: float(models.aimd_window(p, increase=0.5))),
}

BEYOND = (("fast", 1e-3), ("hybla", 1e-3), ("illinois", 1e-3))
"""Where the forms do not hold: what recovery takes is a round trip, of cycles of 4 to 10."""

CUBIC: dict[str, tuple[dict[str, Any], float, float]] = {
    "cubic": ({"fast_convergence": False}, 0.7, 1.0),
    "cubic_2005": ({"fast_convergence": False, "s_max": 1e6}, 0.8, 1 / 3),
}
"""Parameters, the factor kept at a loss, and the packets a round trip that Reno's window adds before the first loss."""
C = 0.4

BERNOULLI: dict[str, tuple[Window, tuple[float, ...]]] = {
    "reno": (lambda p: float(models.independent_losses_window(p)), (1e-3, 1e-4, 1e-5)),
    "scalable": (lambda p: float(models.scalable_window(p)), (1e-3, 1e-4, 1e-5)),
    # Where it is Reno, up to 38 packets, losses that are independent make its window larger by 1.31/1.22.
    "highspeed": (lambda p: float(models.response_window("highspeed", p)), (1e-4, 1e-5)),
    "cubic": (lambda p: float(models.cubic_independent_window(p, RTT_S)), (1e-3, 1e-4, 1e-5)),
}


def scenario(control: dict[str, Any], loss: dict[str, Any], expected: float, cycles: int) -> dict[str, Any]:
    seconds = cycles / loss.pop("p") * RTT_S / expected
    return {
        "duration": f"{1.4 * seconds:.3f} s",
        "warm_up": f"{0.4 * seconds:.3f} s",
        "bottleneck": {
            "rate": "10000 Gbit/s",
            "queue": {"name": "drop_tail", "limit": "10000000 packets"},
            "loss": loss,
        },
        "flows": [
            {
                "rtt": f"{RTT_S * 1000:g} ms",
                "congestion_control": control,
                "recovery": "sack",
                "delayed_ack": False,
                "initial_ssthresh": f"{expected:.0f} packets",
                "initial_window": f"{expected:.0f} packets",
            }
        ],
    }


@pytest.mark.parametrize(
    ("case", "p"),
    [
        ("vegas", 1e-2),
        *((case, p) for case in PERIODIC for p in (1e-3, 1e-4, 1e-5) if (case, p) not in BEYOND),
        *(pytest.param(case, 1e-6, marks=pytest.mark.slow) for case in PERIODIC if (case, 1e-6) not in BEYOND),
    ],
)
def test_periodic_losses(simulate: Any, case: str, p: float) -> None:
    # One cycle is like the next, and at 1e-6 it is of a million packets.
    cycles = 6 if p < 1e-5 else 12
    parameters, window = PERIODIC[case]
    expected = window(p)
    control = {"name": case.split(",", maxsplit=1)[0], **parameters}
    loss = {"name": "periodic", "every": f"{1 / p:.0f} packets", "p": p}
    run = simulate(scenario(control, loss, expected, cycles))
    flow = run.flows.row(0, named=True)
    assert flow["timeouts"] == 0
    assert flow["mean_cwnd_packets"] == pytest.approx(expected, rel=TOLERANCE)


def fixed_point(p: float, beta: float) -> float:
    """CUBIC's window at each loss, packets, if it is always the same: K seconds and 1/p packets later."""

    def too_many(window: float) -> float:
        k_s = ((1 - beta) * window / C) ** (1 / 3)
        return (window * k_s - C * k_s**4 / 4) / RTT_S - 1 / p

    return float(brentq(too_many, 2.0, 1e7))


def packets_to(window: float, start: float, slope: float) -> int:
    """Packets that CUBIC sends while it grows from ``start`` to ``window`` before its first loss.

    It grows as C t^3, or as Reno by ``slope`` packets a round trip, if that is more.
    """
    added = window - start
    end_s = min((added / C) ** (1 / 3), added * RTT_S / slope)
    times = np.linspace(0.0, end_s, 2001)
    return round(float(np.trapezoid(start + np.maximum(slope * times / RTT_S, C * times**3), times)) / RTT_S)


@pytest.mark.parametrize(
    ("control", "p", "share"),
    [
        ("cubic", 1e-3, 0.9),
        ("cubic", 1e-4, 0.9),
        ("cubic", 1e-4, 0.95),
        ("cubic", 1e-5, 0.9),
        pytest.param("cubic", 1e-6, 0.9, marks=pytest.mark.slow),
        ("cubic_2005", 1e-4, 0.9),
        ("cubic_2005", 1e-5, 0.9),
    ],
)
def test_cubic_from_its_stationary_state(simulate: Any, control: str, p: float, share: float) -> None:
    """From whatever ``share`` of that window it starts."""
    parameters, beta, slope = CUBIC[control]
    expected = float(models.cubic_window(p, RTT_S, beta=beta))
    window = fixed_point(p, beta)
    document = scenario({"name": control, **parameters}, {"name": "periodic", "p": p}, expected, 12 if p < 1e-5 else 40)
    document["bottleneck"]["loss"]["every"] = f"{1 / p:.0f} packets"
    start = f"{share * window:.0f} packets"
    flow = {**document["flows"][0], "name": "cubic", "start": "1 s", "initial_window": start, "initial_ssthresh": start}
    # The packets of another transfer go before it, so many that the first loss is at the window of all others.
    before = round(1 / p) - packets_to(window, share * window, slope)
    transfer = {"name": "transfer", "sizes": [f"{before * 1460} B"]}
    other = {"name": "before", "rtt": flow["rtt"], "workload": transfer, "initial_window": f"{before} packets"}
    run = simulate(document | {"flows": [flow, other]})
    assert run.flows["mean_cwnd_packets"][0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("control", "p"),
    [
        pytest.param(name, p, marks=pytest.mark.slow if p == 1e-5 else ())
        for name, (_, ps) in BERNOULLI.items()
        for p in ps
    ],
)
def test_independent_losses(simulate: Any, control: str, p: float) -> None:
    window = BERNOULLI[control][0]
    losses = {1e-3: 2000, 1e-4: 1000, 1e-5: 300}[p]
    loss = {"name": "bernoulli", "probability": p, "p": p}
    run = simulate(scenario({"name": control}, loss, window(p), cycles=losses))
    # The window is brought to the nominal p by the losses there were.
    realised = run.link["medium_losses_packets"] / run.link["arrivals_packets"]
    mean = run.flows["mean_cwnd_packets"][0] * window(p) / window(realised)
    assert mean == pytest.approx(window(p), rel=TOLERANCE)
    assert abs(realised / p - 1) < 4 / sqrt(losses)
