"""The study of RIO routers: its checks on the source, and that its parts fit together."""

from __future__ import annotations

import numpy as np
import pytest

import parshall as ps
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall_studies.diffserv import Datagrams, Router, Sessions, fixed_point
from parshall_studies.rio import analytic, beyond, comparison, configurations, queue, statements
from parshall_studies.rio import errors as study_errors
from parshall_studies.rio.simulated import PUBLISHED, ROUTERS, LongSessions, Measured, Simulated
from parshall_studies.routers.simulated import Setting


@pytest.fixture(scope="module")
def section5() -> list[Claim]:
    parts = (analytic.throughput(), analytic.delay(), analytic.losses())
    assert [len(section.figures) for part in parts for section in part.sections] == [2, 2, 4]
    return [check for part in parts for check in part.checks]


def test_statements_of_section_5(section5: list[Claim]) -> None:
    """One reading of the formulas has the four sessions of Fig. 6, and none Fig. 10's p_out^max to half a digit."""
    readings = [name for _, name in analytic.READINGS]
    for published, counted in ((0, (0, 0, 0, 0)), (4, (3, 3, 4, 3))):
        found = [check for check in section5 if check.artefact == "fig6" and check.published == published]
        assert [check.reading for check in found] == readings
        assert tuple(check.ours for check in found) == counted
    tenth = {check.reading: check.outcome for check in section5 if check.artefact == "fig10"}
    assert [tenth[each] for each in readings] == ["fails"] * 4
    nearest = next(check for check in section5 if check.artefact == "fig10" and check.reading == readings[3])
    assert nearest.ours == pytest.approx(0.024849, abs=1e-6), "0.024850 would do"
    rest = {check.outcome for check in section5 if check.artefact not in {"fig6", "fig10"}}
    assert rest == {"holds", "reported"}
    assert not any(check.cannot_fail for check in section5)
    assert {check.artefact for check in section5} == {f"fig{number}" for number in range(6, 14)}


def test_the_analytic_columns() -> None:
    one = {name: mean_interval([1.0, 2.0]) for name in ("T", "T_in", "p_in", "p_out", "q")}
    measured = {table: Measured(curves, one, [], 0.0) for table, curves in ROUTERS.items()}
    found = analytic.tables(measured)
    assert len(found.checks) == 15
    assert {check.outcome for check in found.checks} == {"holds"}
    assert len(found.sections[0].tables) == 3


def test_configurations_count_what_is_within_tolerance() -> None:
    def measured(factor: float) -> dict[str, Measured]:
        return {
            table: Measured(
                ROUTERS[table], {name: mean_interval([factor * value] * 2) for name, value in printed.items()}, [], 0.0
            )
            for table, printed in PUBLISHED.items()
        }

    rate = mean_interval([39.0, 40.0])
    long = [LongSessions(probability, (0.4, 0.5), [rate, rate]) for probability in (0.06, 1.0)]
    simulated = Simulated(measured(1.0), long, measured(1.0)["table1"], {"5 % more": measured(1.05)})
    found = configurations.section(simulated)
    (section,) = found.sections
    # 5 % is nearer to the source's simulation than its model is for two p_in and one q alone.
    assert [check.ours for check in found.checks] == [14, 3]
    assert [row[-1] for row in section.tables[0].rows] == ["14 of 14", "3 of 14"]
    assert section.tables[0].rows[1][1] == "+5.0 %"


def test_the_queue_over_time() -> None:
    recorded = queue.record(ps.run(queue.scenario()))
    assert recorded.time_s.size == 30_000
    found = queue.section(recorded)
    checks, (section,) = found.checks, found.sections
    shares = [check.ours for check in checks if check.quantity.startswith("share")]
    assert all(0.1 < share < 0.6 for share in shares)
    assert {check.outcome for check in checks} == {"compatible", "reported"}, "one run"
    assert [drawn.name for drawn in section.figures] == ["fig5", "fig5_distribution"]
    # The series and the table of links measure the same run.
    assert float(recorded.queue_packets.mean()) == pytest.approx(31.0, rel=0.1)


def test_statements_of_the_text() -> None:
    """Four are not the model's: two tables are closer in words than in print, and rates are not inverse to RTTs."""
    found = statements.findings()
    named = [(check.artefact, check.quantity, check.reading) for check in found.checks]
    assert len(named) == len(set(named)) == 29
    refuted = {(check.artefact, check.reading) for check in found.checks if check.verdict == "not_reproduced"}
    assert refuted == {("table1", ""), ("table3", ""), ("section5", ""), ("fig8", "p_in^max up to 1")}
    assert {check.verdict for check in found.checks} == {"reproduced", "not_reproduced"}
    (section,) = found.sections
    assert len(section.tables[0].rows) == len(found.checks)


def test_borders_are_those_of_the_printed_cases() -> None:
    """At each border two cases meet; the line of a curve is its middle, drawn on to both sides."""
    p_in, p_out, burst = (np.array([each]) for each in (0.004, 0.015, 20.0))
    for name, distance in statements.borders(p_in, p_out, burst).items():
        assert distance == pytest.approx(0.0, abs=1e-9), name
    states = np.arange(101.0)
    assert statements.line(states, 20, 100, 0.06)[[0, 20, 100]] == pytest.approx([-0.015, 0.0, 0.06])


def test_least_out_probability_keeps_the_agreement() -> None:
    least = analytic.least_out(0.006)
    at = fixed_point(analytic.sessions(), analytic.overlapped(0.0, least))
    assert at.loss_in[0] == pytest.approx(0.006, rel=1e-4)


def test_beyond_the_source() -> None:
    for part in (beyond.many, beyond.several, beyond.udp):
        checks = part().checks
        assert checks
        assert all(check.outcome == "reported" for check in checks)
    across = [check.ours for check in beyond.several().checks]
    assert across == sorted(across, reverse=True)  # more routers, less


def test_udp_takes_reservations_only_beyond_the_free_capacity() -> None:
    few = fixed_point(analytic.sessions(), analytic.overlapped(0.01, 1.0), datagrams=Datagrams(0.0, 300.0))
    assert np.all(few.session_per_s > 40)


def test_random_networks_are_the_same_for_the_same_seed() -> None:
    first, again = comparison.networks(5), comparison.networks(5)
    for (a, b), (c, d) in zip(first, again, strict=True):
        assert np.array_equal(np.asarray(a.rtt_s), np.asarray(c.rtt_s))
        assert (b.capacity_per_s, b.in_max) == (d.capacity_per_s, d.in_max)
        assert isinstance(a, Sessions)
        assert isinstance(b, Router)


def test_model_and_simulator_agree_on_random_networks() -> None:
    setting = Setting(60, 20, 2, recovery="sack")
    cases = [comparison.compared(*network, setting) for network in comparison.networks(6)]
    # Over more and longer runs a session's rate is within 3 % in the median; six networks of 80 s know it less well.
    assert comparison.quantiles([case.refined for case in cases], "session_less_noise")[0] < 0.06
    for errors in ([case.refined for case in cases], [case.source for case in cases]):
        median, worst = comparison.quantiles(errors, "load")
        assert median < 0.06  # 0.03 over many and longer runs
        assert worst < 0.12
        assert all(0 <= each.session_less_noise <= each.session < 0.3 for each in errors)
    assert all(0.005 < case.session_noise < 0.2 for case in cases)
    found = study_errors.section(cases, setting)
    assert {check.outcome for check in found.checks} == {"reported"}
    assert len(found.sections[0].tables[1].rows) == len(cases)
