"""Figs 1 and 2 of the tail index on real stacks: what is concluded from hosts of Linux, and what they are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parshall.instruments.emulation import Validity
from parshall.studies.study import Emulated
from parshall_studies.tail_index import hybrid
from parshall_studies.tail_index import real_stacks as fig1
from parshall_studies.tail_index.measure import Cells, Measured
from parshall_studies.tail_index.runs import Drawn
from parshall_studies.tail_index.setting import FIG1
from parshall_studies.tails import Normalised

VALID, INVALID = Validity("valid", []), Validity("invalid", ["packets were late; have fewer flows"])


def point(loss: float, delay_ms: float, mbps: float) -> Measured:
    """One run; delays and rates as in the network that is five times slower."""
    values = {"loss": loss, "delay_ms": delay_ms * fig1.SLOWER, "throughput_mbps": mbps / fig1.SLOWER}
    cells = Cells(np.zeros((1, 1)), np.zeros((1, 1)))
    rest = dict.fromkeys(("medium_mbps", "largest_mbps", "ssthresh_packets"), np.array([10.0]))
    return Measured(
        **{name: np.array([value]) for name, value in values.items()},
        mean_packets=1000.0,
        transfers=100,
        ended=100,
        cells=cells,
        **rest,
    )


def test_hosts_keep_ssthresh_only_without_slow_start() -> None:
    kept = {curve.slow_start: fig1.Point(curve, 4.0, fig1.SLOWER, "quick").real["kernel"]["sysctls"] for curve in FIG1}
    for slow_start, sysctls in kept.items():
        assert sysctls["net.ipv4.tcp_no_metrics_save"] == int(slow_start)
        # Linux has it on by default since 5.6: then no ssthresh is kept, whatever the first says.
        assert sysctls["net.ipv4.tcp_no_ssthresh_metrics_save"] == int(slow_start)


def test_the_slower_network_has_the_windows_of_the_source() -> None:
    one, slower = (fig1.Point(FIG1[0], 1.3, factor, "quick").scenario({}, 1, 1000.0).resolve() for factor in (1, 5))
    assert one["links"][0]["queue"] == slower["links"][0]["queue"]
    assert one["links"][0]["rate"]["constant"] == 5 * slower["links"][0]["rate"]["constant"]
    assert 5 * one["duration_ps"] == slower["duration_ps"]
    assert one["flows"][0]["workload"]["size"] == slower["flows"][0]["workload"]["size"]


def test_one_pair_of_runs_has_the_interval_of_one_more_pair() -> None:
    """Changes of 0, 0.1 and 0.2 have s = 0.1: one more falls within 4.30 s sqrt(4/3) = 0.497."""
    light = np.ones(3)
    heavy = np.array([1.0, 2.1 / 1.9, 2.2 / 1.8])
    made = fig1.one_more([1.5, 0.5], [heavy, light])
    assert made.relative == pytest.approx(1.0)
    assert made.high - made.relative == pytest.approx(0.497, abs=0.001)


def fig1_answers(linux: float, simulated: float = 1.0, validity: Validity = VALID) -> dict[Any, Any]:
    """Heavier tails multiply losses by so much, and divide the delay by it."""
    answers: dict[Any, Any] = {}
    for curve in FIG1:
        for alpha in fig1.TAIL_INDICES:
            there, here = (factor if alpha < 2 else 1.0 for factor in (linux, simulated))
            for slower in (1, fig1.SLOWER):
                for seed in range(1, fig1.RUNS + 1):
                    run = point(0.001 * here * (1 + 0.001 * seed), 0.2 / here * (1 + 0.002 * seed), 900.0 + seed)
                    answers[curve, alpha, slower, seed] = Drawn(run, Normalised(1000.0, 1000.0, 1000.0, ()))
            answers[curve, alpha, "linux"] = Emulated(point(0.001 * there, 0.2 / there, 903.0), validity)
    return answers


def test_no_sign_of_fig1_is_called_wrong_by_linux_alone() -> None:
    """Losses were published to grow; where both instruments have them fall, the sign is not reproduced."""

    def verdicts(simulated: float) -> list[str]:
        checks = fig1.findings(fig1_answers(1 / 1.5, simulated), "quick").checks
        losses = [each for each in checks if each.artefact == "fig1" and each.quantity.startswith("loss rate")]
        return [each.outcome for each in losses]

    assert verdicts(1.5) == ["undecided"] * 4, "Linux right and the simulator wrong is as open as the reverse"
    assert verdicts(1 / 1.4).count("fails") == 2


@pytest.mark.parametrize("validity", [VALID, INVALID])
def test_signs_of_fig1_are_those_of_linux(validity: Validity) -> None:
    found = fig1.findings(fig1_answers(1.5, validity=validity), "quick")
    if validity is INVALID:
        assert not found.checks
        return
    signs = {
        (each.quantity, each.published): np.sign(each.ours or 0.0) for each in found.checks if each.artefact == "fig1"
    }
    assert len(signs) == 12
    assert {ours for (quantity, _), ours in signs.items() if quantity.startswith("loss rate")} == {1.0}
    assert {ours for (quantity, _), ours in signs.items() if "delay" in quantity} == {-1.0}
    between = [each for each in found.checks if each.artefact == "fig1-linux"]
    assert len(between) == 24
    # At the heavier tail loss and delay differ from the simulator, at the lighter one nothing does.
    assert sum(each.outcome == "fails" for each in between) == 8


@pytest.mark.parametrize("validity", [VALID, INVALID])
def test_hosts_among_simulated_sources_are_held_against_simulated_ones(validity: Validity) -> None:
    """As lossy as the simulator's at one point, with half of their share at the other."""
    few, many = hybrid.points(hybrid.SIZES["quick"])
    answers: dict[Any, Any] = {}
    for where in (few, many):
        for seed in range(1, 4):
            mixed = hybrid.Mixed(point(0.1 + 0.001 * seed, 5.0 + 0.1 * seed, 990.0), 1 + 0.01 * seed)
            answers["fig2", where, seed] = mixed
        share = 1.05 if where is few else 0.5
        answers["fig2", where, "linux"] = Emulated(hybrid.Mixed(point(0.104, 5.4, 989.0), share), validity)
    found = hybrid.ON_LINUX.findings(answers, "quick").checks
    if validity is INVALID:
        assert not found
        return
    apart = [each.quantity for each in found if each.outcome == "fails"]
    assert len(found) == 8
    assert apart == ["a host's share, B = 1000, tail index 1.5, 45 hosts of 500"]


def test_hosts_are_a_group_of_their_own_among_as_many_sources() -> None:
    """They alone are real, and are told what the simulated ones have."""
    made = hybrid.ON_LINUX.measurements("quick")["fig2", (100, 1.5)].scenario
    hosts, sources, _ = made.resolve()["flows"]
    assert (hosts["count"], sources["count"]) == (45, 455)
    groups = made.document()["flows"]
    assert groups[1]["endpoint"] == "simulated"
    assert groups[0]["kernel"]["sysctls"]["net.ipv4.tcp_no_metrics_save"] == 1
    assert hosts["tcp"] == sources["tcp"]
