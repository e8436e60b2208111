"""The study of the benchmark's source: its tables, what its statistics are of, and that its page can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

import parshall as ps
from parshall.analysis.stats.region import single
from parshall.report.document import Document, document_html
from parshall.scenario import Scenario
from parshall.studies.catalog import find
from parshall.studies.study import Findings
from parshall_studies.itb import (
    bulk,
    controls,
    definition,
    increase,
    network,
    one_host,
    rtts,
    sensitivity,
    single_pair,
)
from parshall_studies.itb.network import SIZES, VARIANTS, Recorded, hosts, kernel_hosts, recorded

TINY = replace(
    SIZES["quick"],
    fig3_gb=0.03,
    bulk_gb=0.02,
    repetitions=2,
    levels=(0.8, 1.2, 2.1),
    rtts_ms=(20.0, 100.0, 200.0),
    flow_s=0.5,
    step_s=0.1,
    short_step_s=0.1,
    alone_s=0.5,
    pair_s=1.0,
)


def simulated(scenarios: Iterable[Scenario]) -> list[Recorded]:
    return [recorded(ps.run(scenario)) for scenario in scenarios]


def found(module: ModuleType) -> Findings:
    runs: Findings = module.findings(
        {key: recorded(ps.run(each)) for key, each in module.scenarios(TINY).items()}, TINY
    )
    return runs


def test_the_definition_is_the_source_s() -> None:
    made = definition.findings()
    (check,), (section,) = made.checks, made.sections
    assert (check.outcome, check.ours) == ("holds", 12)
    assert [table.caption for table in section.tables] == ["Table 3", "Table 4", "Table 5"]


def test_the_introduction_s_example_is_reno_s() -> None:
    """83,333 packets; by eq. (2) losses are 4.6e9 packets or 1.5 h apart; the source rounds to 5e9 and 1 2/3 h."""
    checks = controls.introduction()
    assert [check.outcome for check in checks] == ["holds"] * 3
    assert [check.ours for check in checks] == pytest.approx([83_333, 4.63e9, 1.543], rel=1e-3)


@pytest.mark.parametrize(("name", "p", "c", "d"), [("reno", 1e-3, 1.22, 0.5), ("scalable", 1e-3, 0.08, 1.0)])
def test_windows_of_table_1(name: str, p: float, c: float, d: float) -> None:
    (run,) = simulated([controls.lossy(name, p, 5, c / p**d)])
    assert controls.mean_window(run) == pytest.approx(c / p**d, rel=0.1)


def test_factors_are_read_off_a_trajectory() -> None:
    """Reno's of a made-up scenario: keeps 0.6, adds 2 a round trip."""
    control = {"name": "reno", "increase": 2.0, "decrease": 0.6}
    scenario = controls.lossy("reno", 1e-3, 10, 70.0, controls.RTT_S / increase.PER_RTT).with_values(
        {"flows.0.congestion_control": control}
    )
    made = increase.series(recorded(ps.run(scenario)))
    assert np.median(made.growth()[1]) == pytest.approx(2.0, abs=0.1)
    assert made.decreases.mean() == pytest.approx(0.4, abs=0.02)


def test_all_six_rows_of_table_2() -> None:
    checks = found(increase).checks
    assert {check.outcome for check in checks} == {"holds"}
    for name in VARIANTS:
        assert any(name in check.quantity for check in checks), name


def test_a_wrong_increase_is_not_that_of_table_2() -> None:
    """CUBIC with four times the constant, HighSpeed TCP that begins later: both are seen."""
    wrong = {"cubic_2005": {"c": 1.6}, "highspeed": {"low_window": "200 packets"}}
    scenarios = [
        controls.lossy(name, increase.FACTOR_LOSS, 10, increase.WINDOW, controls.RTT_S / increase.PER_RTT).with_values(
            {"flows.0.congestion_control": {"name": name, **changes}}
        )
        for name, changes in wrong.items()
    ]
    cubic, highspeed = (increase.series(run) for run in simulated(scenarios))
    assert abs(increase.cubic(cubic) - 1) > 0.01
    assert "fails" in {check.outcome for check in increase._highspeed(highspeed)}


def test_files_that_do_not_end_count_to_the_end() -> None:
    (run,) = simulated([hosts("bic", 2, 10, duration_s=0.5, file_gb=1.0, start={"staggered": "100 ms"})])
    (times,) = bulk.times(run)
    assert sorted(times.tolist()) == pytest.approx([0.4, 0.5])


def test_the_use_of_a_step_is_of_what_its_flows_can_send() -> None:
    """Slow start to path and queue, then a line that is full: the first step is ramped, the others are used."""
    scenario = rtts.joining("scalable", 2.0, 0.2)
    (run,) = simulated([scenario])
    use = rtts.use_of_steps(run, 0.2)
    assert use.shape == (12,)
    assert 0.8 < use[0] < 0.99
    assert use.max() <= 1.0 + 1e-9
    assert use[-1] > 0.95
    assert use.sum() * 1e9 * 0.2 < 8 * run.link_samples["forwarded_bytes"].sum()  # type: ignore[index]


def test_a_host_loses_what_its_interface_does_not_hold() -> None:
    """Slow start doubles the window of path and queue; without a limit, the same window loses nothing."""
    losing = kernel_hosts("reno", 1, 20.0, duration_s=1.0)
    tuned = losing.with_values({"flows.0.access_queue": None, "flows.0.receive_window": "2600 packets"})
    lost, kept = (int(run.flows["packets_dropped"][0]) for run in simulated([losing, tuned]))
    assert lost > 100
    assert kept == 0


@pytest.mark.slow
def test_reno_and_cubic_are_last_where_hosts_lose() -> None:
    """At 100 ms, as in Fig. 7; where hosts lose nothing, the four that end slow start at a loss are alike."""
    size = replace(TINY, alone_s=60.0)
    losing, *_, unlimited = one_host.READINGS

    def use(reading: str, names: Sequence[str]) -> dict[str, float]:
        runs = simulated([one_host.scenario(size, reading, name) for name in names])
        return {name: float(run.flows["throughput_bps"][0]) / 1e9 for name, run in zip(names, runs, strict=True)}

    used = use(losing, VARIANTS)
    assert sorted(used, key=lambda name: used[name])[:2] == ["reno", "cubic_2005"]
    alike = use(unlimited, ("reno", "highspeed", "htcp", "scalable")).values()
    assert min(alike) > 0.95
    assert max(alike) - min(alike) < 0.01


def test_a_rtt_that_changes_nothing_is_not_reproduced() -> None:
    """The checks of Figs 5 to 7 can fail: the same value at every RTT is what the source does not show."""
    same = {
        (name, count, rtt): rtts.Point(rtts.fair_bps(count), 1.0)
        for name in VARIANTS
        for count in rtts.COUNTS
        for rtt in TINY.rtts_ms
    }
    for checks in (rtts._fig5(same, TINY.rtts_ms, ""), rtts._fig6(same, TINY.rtts_ms, "")):
        # The spread between variants is one value: of its own spread nothing is known, so that it cannot fail either.
        signs = {(each.value == single(each.ours or 0.0), each.outcome) for each in checks if each.rule == "sign"}
        assert signs == {(True, "undecided"), (False, "fails")}
        assert {check.outcome for check in checks if check.rule == "equal"} == {"compatible"}
    stairs = {(name, rtt): np.ones(12) for name in VARIANTS for rtt in rtts.STEPS_MS}
    assert [check.outcome for check in rtts.joined(stairs, "")] == ["fails", "undecided", "undecided"]


def test_five_hosts_that_are_alike_say_nothing_of_fairness() -> None:
    """They share nothing, so their index is 1 whatever they run: the claim cannot fail, and is not counted."""
    points = {
        (name, count, rtt): rtts.Point(0.1 * rtts.fair_bps(count), 1.0)
        for name in VARIANTS
        for count in rtts.COUNTS
        for rtt in TINY.rtts_ms
    }
    excellent = [check for check in rtts._fig6(points, TINY.rtts_ms, "") if not check.quantity.endswith("sign")]
    assert {check.quantity.split(", ")[-1]: (check.outcome, check.cannot_fail) for check in excellent} == {
        "5 flows": ("compatible", True),
        "12 flows": ("compatible", False),
    }
    assert "share nothing" in excellent[0].note
    unfair = {key: replace(point, jain=0.8) for key, point in points.items()}
    twelve = [check for check in rtts._fig6(unfair, TINY.rtts_ms, "") if check.quantity.endswith("ms, 12 flows")]
    assert [check.outcome for check in twelve if check.published == 1.0] == ["undecided"]


def test_fig_9_without_reverse_traffic_is_fig_8() -> None:
    """The same scenario, so that it is simulated once."""
    made = bulk.scenarios(SIZES["paper"])
    for level in bulk.FIG9_LEVELS:
        assert made["fig9", level, 0.0] == made["levels", "cubic_2005", level]
        assert made["fig9", level, 1.5] != made["levels", "cubic_2005", level]


def test_goodput_over_time_is_what_arrived() -> None:
    (run,) = simulated([hosts("reno", 2, 10, duration_s=0.5, samples_s=0.01)])
    for flow in range(2):
        time_s, goodput = bulk.goodput_over_time(run, flow)
        assert np.diff(time_s) == pytest.approx(0.01)
        assert goodput.max() < 1e9
        assert goodput[-1] == pytest.approx(1e9 * 1460 / 1500, rel=0.01)


def test_a_message_takes_its_packets_and_half_a_round_trip() -> None:
    """A window that never stops it: 685 packets at 1 Gbit/s, and the way to the other node."""
    wide = {"congestion_control": "reno", "initial_window": "1000 packets"}
    made = single_pair.ping_pongs(simulated([single_pair.ping_pong(wide)])[0])
    least = 685 * 12e-6 + 0.0058
    assert made.goodput_bps.max() == pytest.approx(8e6 / least, rel=0.01)
    assert made.total_s == pytest.approx(200 * 2 * least, rel=0.01)
    assert made.full_s == pytest.approx(2 * least, rel=0.01)


def test_windows_live_on_from_message_to_message() -> None:
    slow, fast = (
        single_pair.ping_pongs(simulated([single_pair.ping_pong(each)])[0])
        for each in (network.LINUX_BIC, {"congestion_control": "bic"})
    )
    # Slow start to a loss has the window in a few messages, growth by a twentieth takes dozens.
    assert fast.full_s < 1.0 < slow.full_s
    assert np.all(np.diff(slow.goodput_bps) > -0.05 * slow.goodput_bps[:-1]), "nothing takes the window away"


@pytest.mark.slow
def test_the_page_of_short_runs() -> None:
    parts = [found(module) for module in (bulk, rtts, one_host)]
    checks = [check for part in parts for check in part.checks]
    assert {check.artefact for check in checks} == {"fig3", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10"}
    sections = [section for part in parts for section in part.sections]
    html = document_html(Document("study", "t", "d", (), sections))
    drawn = {figure.name: figure.plot for section in sections for figure in section.figures}
    assert set(drawn) == {"fig3", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10"}
    for figure in ("Fig. 3: goodput of each flow", "Fig. 7: flows that join", "Fig. 9: reverse traffic"):
        assert figure in html
    # A goodput a flow for each way to start; a panel a variant and RTT; a curve an R; a histogram a control.
    assert [len(panel.marks) for panel in drawn["fig3"].panels] == [17, 17]
    assert (len(drawn["fig7"].panels), drawn["fig7"].columns) == (12, 2)
    assert [mark.name for mark in drawn["fig9"].panels[0].marks] == ["R = 0", "R = 0.8", "R = 1.5"]
    assert [panel.note.partition(",")[0] for panel in drawn["fig10"].panels] == ["cubic_2005", "scalable"]
    assert {panel.y.maximum for panel in drawn["fig6"].panels} == {1}


@pytest.mark.slow
def test_the_differences_are_followed_up() -> None:
    made = found(sensitivity)
    checks, (section,) = made.checks, made.sections
    assert {check.outcome for check in checks} == {"reported"}
    assert {check.artefact for check in checks} == {"fig3", "fig8", "fig9", "fig10"}
    assert [len(table.rows) for table in section.tables] == [9, 3, 4]
    # A window that just fills its path slows down when the way back queues; one with room to spare does not.
    ratio = {check.quantity.partition(": ")[2]: check.ours for check in checks if check.artefact == "fig9"}
    assert all(0.9 < value < 1.6 for value in ratio.values()), ratio


def test_it_is_registered() -> None:
    assert "RR-6244" in find("itb").reference
