r"""Poisson arrivals into RIO: the birth-death chain of Malouch & Liu 2002, eqs (3), (4) and (6).

With T_in and T_out packets/s into a server of C packets/s, the number in the system i (the one in service included) has
pi(i) = pi(0) (T/C)^i prod_{j<i} [1 - p(j)], p(j) = (T_in p_in(j) + T_out p_out(j)) / T; a class loses
sum_i p_c(i) pi(i), as Poisson arrivals see time averages. (The exponent is i: with the printed i-1, flows between
states do not balance.)
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.instruments.prediction.predict import predict
from parshall_studies.diffserv.chain import chain_rates

SCENARIOS = Path(__file__).parents[2] / "scenarios"

CAPACITY = 6000.0
"""Packets/s: 48 Mbit/s of 1000-byte packets, on average."""

Curve = tuple[int, int, float]
FULLY: tuple[Curve, Curve] = ((20, 100, 0.01), (20, 100, 0.06))
PARTLY: tuple[Curve, Curve] = ((60, 100, 0.01), (20, 100, 0.06))
NOT: tuple[Curve, Curve] = ((60, 100, 0.01), (20, 60, 0.06))
HARSH: tuple[Curve, Curve] = ((10, 20, 0.3), (3, 12, 0.8))
"""Thresholds and maximum drop probability for in and for out: the source's three, and one with many losses."""


def drop(curve: Curve, states: np.ndarray) -> np.ndarray:
    low, high, most = curve
    ramp = np.clip((states - low) / (high - low), 0, 1) * most
    return np.where(states >= high, 1.0, ramp)


def chain(curves: tuple[Curve, Curve], t_in: float, t_out: float) -> dict[str, float]:
    states = np.arange(max(curve[1] for curve in curves) + 1)
    p_in, p_out = (drop(curve, states) for curve in curves)
    accepted = 1 - (t_in * p_in + t_out * p_out) / (t_in + t_out)
    weights = np.concatenate([[1.0], np.cumprod((t_in + t_out) / CAPACITY * accepted[:-1])])
    pi = weights / weights.sum()
    return {
        "p_in": float(p_in @ pi),
        "p_out": float(p_out @ pi),
        "queue": float(states @ pi),
        "utilisation": float(1 - pi[0]),
    }


def scenario(curves: tuple[Curve, Curve], t_in: float, t_out: float, duration_s: float) -> dict[str, Any]:
    (in_min, in_max, in_probability), (out_min, out_max, out_probability) = curves

    def datagrams(name: str, rate: float, **marked: Any) -> dict[str, Any]:
        size = {"name": "exponential", "mean": "1000 B"}
        workload = {"name": "poisson", "rate": f"{rate * 8000:.0f} bit/s", "size": size}
        return {"name": name, "rtt": "10 ms", "header_size": "0 B", "workload": workload, **marked}

    everything = {"name": "token_bucket", "rate": "1 Gbit/s", "burst": "1 MB"}
    return {
        "duration": f"{duration_s + 2} s",
        "warm_up": "2 s",
        "bottleneck": {
            "rate": "48 Mbit/s",
            "queue": {
                "name": "rio",
                "limit": "1000 packets",
                "in_min": f"{in_min} packets",
                "in_max": f"{in_max} packets",
                "in_probability": in_probability,
                "out_min": f"{out_min} packets",
                "out_max": f"{out_max} packets",
                "out_probability": out_probability,
                "in_length": "total",
            },
        },
        "flows": [datagrams("in", t_in, marker=everything), datagrams("out", t_out)],
    }


# Loads a little above 1, where 2e7 packets give standard errors of at most 0.5 % (at the source's
# 0.99 they are 1.6 %).
@pytest.mark.slow
@pytest.mark.parametrize(
    ("curves", "t_in", "t_out", "quantities"),
    [
        pytest.param(FULLY, 3760.0, 2600.0, ("p_in", "p_out", "queue"), id="fully-overlapped"),
        pytest.param(PARTLY, 3760.0, 2600.0, ("p_in", "p_out", "queue"), id="partly-overlapped"),
        pytest.param(NOT, 3760.0, 2600.0, ("p_out", "queue"), id="not-overlapped"),
        pytest.param(HARSH, 4000.0, 4000.0, ("p_in", "p_out", "queue"), id="overload"),
    ],
)
def test_as_the_birth_death_chain(
    simulate: Any, curves: tuple[Curve, Curve], t_in: float, t_out: float, quantities: tuple[str, ...]
) -> None:
    links = [simulate(scenario(curves, t_in, t_out, 700.0), seed=seed).link for seed in (1, 2, 3, 4, 5)]
    expected = chain(curves, t_in, t_out)
    measured = {
        "p_in": fmean(link["dropped_in_packets"] / link["arrivals_in_packets"] for link in links),
        "p_out": fmean(link["dropped_out_packets"] / link["arrivals_out_packets"] for link in links),
        # Without the packet in service, of which there is one as long as the link is busy.
        "queue": fmean(link["mean_queue_packets"] + link["utilisation"] for link in links),
        "utilisation": fmean(link["utilisation"] for link in links),
    }
    for quantity in (*quantities, "utilisation"):
        assert measured[quantity] == pytest.approx(expected[quantity], rel=0.01), quantity


@pytest.mark.parametrize(("loss", "tolerance"), [(0.001, 0.01), (0.003, 0.02), (0.01, 0.04)])
def test_a_session_with_sack_sends_as_the_markov_chain(simulate: Any, loss: float, tolerance: float) -> None:
    """At independent losses without a queue. The chain's windows are continuous; the simulation's error is 0.5 %."""
    duration_s = 800.0
    run = simulate(
        {
            "duration": f"{duration_s + 30} s",
            "warm_up": "30 s",
            "bottleneck": {
                "rate": "1 Gbit/s",
                "loss": {"name": "bernoulli", "probability": loss},
                "queue": {"name": "drop_tail", "limit": "10000 packets"},
            },
            "flows": [
                {
                    "count": 20,
                    "rtt": "100 ms",
                    "packet_size": "1000 B",
                    "congestion_control": "reno",
                    "recovery": "sack",
                    "min_rto": "1 s",
                }
            ],
        }
    )
    one = np.ones((1, 1))
    found = chain_rates(
        loss * one,
        loss * one,
        0.1 * one,
        rto_margin=0.9 * one,
        reserved=1e-9 * one,
        burst=one,
        access=1e9 * one,
        window_limit=1e9 * one,
    )
    sent = fmean(run.flows["packets_sent"]) / duration_s
    assert (found.in_per_s + found.out_per_s).item() == pytest.approx(sent, rel=tolerance)


def test_the_classes_are_conserved(simulate: Any) -> None:
    """Offered = dropped + forwarded + queued: of each class, on the link; and what flows sent arrives or is dropped."""
    run = simulate({**scenario(HARSH, 4000.0, 4000.0, 18.0), "warm_up": "0 s"})
    link, flows = run.link, run.flows
    queued = 0
    for name in ("in", "out"):
        offered, dropped = link[f"arrivals_{name}_packets"], link[f"dropped_{name}_packets"]
        held = offered - dropped - link[f"forwarded_{name}_packets"]
        assert 0 <= held <= 20
        assert link[f"medium_losses_{name}_packets"] == 0
        queued += held
    assert queued == run.summary["links"][0]["queued"]
    marked, unmarked = flows.row(0, named=True), flows.row(1, named=True)
    assert unmarked["sent_out_packets"] is None
    assert (marked["sent_out_packets"], marked["delivered_out_packets"]) == (0, 0)
    assert marked["dropped_in_packets"] == link["dropped_in_packets"] == marked["packets_dropped"]
    assert link["dropped_out_packets"] == unmarked["packets_dropped"]
    under_way = marked["sent_in_packets"] - marked["dropped_in_packets"] - marked["delivered_in_packets"]
    assert 0 <= under_way <= 20 + 4000 * 0.05


def test_the_series_of_a_link_adds_up_to_its_totals_by_class(simulate: Any) -> None:
    document = {**scenario(HARSH, 4000.0, 4000.0, 8.0), "warm_up": "0 s", "probes": {"link_samples": "100 ms"}}
    run = simulate(document)
    samples, link = run.table("link_samples"), run.link
    for name in ("arrivals_in", "arrivals_out", "dropped_in", "dropped_out"):
        column = f"{name}_packets"
        assert samples[column].sum() == link[column] > 0
    for kind in ("arrivals", "dropped"):
        both = samples[f"{kind}_in_packets"] + samples[f"{kind}_out_packets"]
        assert both.to_list() == samples[f"{kind}_packets"].to_list()


def test_tcp_is_marked_at_its_rate(simulate: Any) -> None:
    """A flow that always sends more than its profile gets exactly rate x time + burst in."""
    run = simulate(
        {
            "duration": "100 s",
            "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "rio", "limit": "1000 packets"}},
            "flows": [
                {
                    "rtt": "20 ms",
                    "access_rate": "4 Mbit/s",
                    "packet_size": "1000 B",
                    "marker": {"name": "token_bucket", "rate": "800 kbit/s", "burst": "20 packets"},
                }
            ],
        }
    )
    flow = run.flows.row(0, named=True)
    assert flow["packets_dropped"] == 0
    assert flow["sent_in_packets"] == pytest.approx(100 * 100 + 20, abs=2)
    assert flow["sent_in_packets"] + flow["sent_out_packets"] == pytest.approx(500 * 100, rel=0.01)
    assert run.link["arrivals_in_packets"] == pytest.approx(flow["sent_in_packets"], abs=2)


def test_links_without_classes_do_not_count_them(simulate: Any) -> None:
    document = {"duration": "1 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [{"rtt": "20 ms"}]}
    run = simulate({**document, "probes": {"link_samples": "100 ms"}})
    samples = run.table("link_samples")
    assert samples["dropped_in_packets"].null_count() == samples.height > 0
    assert run.link["arrivals_in_packets"] is None
    assert run.link["dropped_out_packets"] is None
    assert run.flows["sent_in_packets"].to_list() == [None]


def test_models_of_one_loss_rate_say_that_they_do_not_apply() -> None:
    scenario = ps.Scenario.load(SCENARIOS / "rio.toml")
    answers = [row for row in predict(scenario).throughput if row.group in {"near", "far"} and row.model != "diffserv"]
    assert answers
    assert all(not row.in_range and "in and out of profile" in (row.reason or "") for row in answers)


def test_reservations_are_kept_by_markers_and_rio_together() -> None:
    """The shipped scenario: flows of long RTTs get their 320 kbit/s if packets are marked, and not otherwise."""
    scenario = ps.Scenario.load(SCENARIOS / "rio.toml")
    unmarked = scenario.with_values({f"flows.{index}.marker": "none" for index in range(3)})

    def slowest_bps(run: ps.Run) -> float:
        far = run.flows.filter(pl.col("group") == "far")
        return float(far.group_by("flow").agg(pl.col("throughput_bps").mean())["throughput_bps"].min())  # type: ignore[arg-type]

    assert slowest_bps(ps.run(scenario)) >= 320e3
    assert slowest_bps(ps.run(unmarked)) < 0.8 * 320e3
