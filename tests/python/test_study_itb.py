"""The study of the benchmark's source: its tables, what its statistics are of, and that its page can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import parshall as ps
from parshall.instruments.simulation import Run
from parshall.report.document import Document, document_html
from parshall.scenario import Scenario
from parshall.studies.artefact import Artefact, Measurement
from parshall.studies.catalog import find
from parshall_studies.itb import controls, definition, files, increase, joint, pair, rtts
from parshall_studies.itb.network import NO_LIMIT, SLOW, VARIANTS, Measured, Place, Setting, bed

TINY = Setting(
    fig3_gb=0.03,
    bulk_gb=0.02,
    repetitions=2,
    levels=(0.8, 1.2, 2.1),
    flow_s=0.5,
    step_s=0.1,
    short_step_s=0.1,
    pair_s=1.0,
    at_once=6,
    loss=0.0,
    spare_packets=NO_LIMIT,
    buffer_packets=2000,
)
TUNED = replace(TINY, spare_packets=900, jitter_packets=0, repetitions=1)
"""Hosts that lose nothing, in step."""


def ran(scenarios: Iterable[Scenario]) -> list[Run]:
    return [ps.run(scenario) for scenario in scenarios]


def answered(artefact: Artefact[Setting], setting: Setting) -> dict[Any, Any]:
    return {key: case.answer() for key, case in artefact.cases(setting).items()}


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
    (run,) = ran([controls.lossy(name, p, 5, c / p**d)])
    assert controls.mean_window(run) == pytest.approx(c / p**d, rel=0.1)


def test_factors_are_read_off_a_trajectory() -> None:
    """Reno's of a made-up scenario: keeps 0.6, adds 2 a round trip."""
    control = {"name": "reno", "increase": 2.0, "decrease": 0.6}
    scenario = controls.lossy("reno", 1e-3, 10, 70.0, controls.RTT_S / increase.PER_RTT).with_values(
        {"flows.0.congestion_control": control}
    )
    made = increase.series(ps.run(scenario))
    assert np.median(made.growth()[1]) == pytest.approx(2.0, abs=0.1)
    assert made.decreases.mean() == pytest.approx(0.4, abs=0.02)


def test_all_six_rows_of_table_2() -> None:
    checks = increase.TABLE2.judged(TINY)
    assert {check.outcome for check in checks} == {"holds"}
    assert {check.basis for check in checks} == {"published", "theory"}
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
    cubic, highspeed = (increase.series(run) for run in ran(scenarios))
    assert abs(increase.cubic(cubic) - 1) > 0.01
    assert abs(increase.highspeed(highspeed)[0] - 1) > 0.05


# --- the testbed ---


def test_files_that_do_not_end_count_to_the_end() -> None:
    place = Place("a", "bic", 2, file_gb=1.0, start=("staggered", 0.1))
    found = files.completions(ps.run(bed([place], TUNED, 10, 0.5)))
    assert sorted(found.values["a"][0]) == pytest.approx([0.4, 0.5])


def test_a_host_loses_what_its_interface_does_not_hold() -> None:
    """Slow start doubles the window of path and queue; without a limit, the same window loses nothing."""
    place = Place("a", "reno", 1)
    lost, kept = (
        int(run.flows["packets_dropped"][0])
        for run in ran(bed([place], setting, 20.0, 1.0) for setting in (replace(TUNED, spare_packets=NO_LIMIT), TUNED))
    )
    assert lost > 100
    assert kept == 0


def test_a_slower_network_has_the_queues_and_files_of_the_source_over_a_factor() -> None:
    place = Place("a", "cubic_2005", 12, file_gb=1.0, reverse=8)
    fast, slow = (bed([place], replace(TINY, slower=factor), 100.0, 5.0).resolve() for factor in (1, 50))
    for ours, theirs in zip(slow["flows"], fast["flows"], strict=True):
        assert theirs["access_bps"] == 50 * ours["access_bps"]
        assert (ours["access_packets"], theirs["access_packets"]) == (20, 1000)
        assert ours["rtt_ps"] == theirs["rtt_ps"]
    assert [each["name"] for each in slow["links"]] == ["a", "a-back"]


def test_slower_hosts_begin_in_turn_with_the_others() -> None:
    made = bed([Place("a", "reno", 5, start=("staggered", 2.0))], replace(TINY, slowest=0.7), 11.0, 10.0).document()
    fast, slow = made["flows"]
    assert (fast["count"], slow["count"], slow["name"]) == (3, 2, "a" + SLOW)
    assert (fast["start"]["list"], slow["start"]["list"]) == (["0 s", "4 s", "8 s"], ["2 s", "6 s"])
    assert slow["access_rate"] == "700000000 bit/s"
    other = bed([Place("a", "reno", 5, reverse=4)], replace(TINY, other_way=0.6), 11.0, 10.0).document()["flows"]
    assert [each["access_rate"] for each in other] == ["1000000000 bit/s", "600000000 bit/s"]
    found = rtts.goodputs(ps.run(bed([Place("a", "reno", 5)], replace(TUNED, slowest=0.7), 11.0, 0.3)), 1)
    assert found.values["a"][0].size == 5


def test_all_figures_have_the_same_hosts() -> None:
    """One kind of hosts for one testbed: limits and controls of a variant do not depend on the figure."""
    hosts: dict[str, set[str]] = {}
    for artefact in (files.FIG3, files.FIG8, files.FIG9, files.FIG10, rtts.FIG5, rtts.FIG7):
        for point in artefact.points(TINY).values():
            assert isinstance(point, Measurement)
            for group in point.scenario.document()["flows"]:
                keys = ("congestion_control", "initial_ssthresh", "access_queue", "receive_window")
                name = group["congestion_control"]["name"]
                hosts.setdefault(name, set()).add(repr({key: group.get(key) for key in keys}))
    assert {name: len(kinds) for name, kinds in hosts.items()} == dict.fromkeys(VARIANTS, 1)


# --- Figs 3 to 10 ---


def test_the_use_of_a_step_is_of_what_its_flows_can_send() -> None:
    """Slow start to path and queue, then a line that is full: the first step is ramped, the others are used."""
    setting = replace(TUNED, step_s=0.2)
    place = Place("a", "scalable", 12, start=("staggered", 0.2))
    found = rtts.uses(ps.run(bed([place], setting, 2.0, 12 * 0.2, bins_s=0.01)), setting, 0.2)
    (use,) = found.values["a"]
    assert use.shape == (12,)
    assert 0.8 < use[0] < 0.99
    assert use.max() <= 1.0 + 1e-5  # a packet more at an edge
    assert use[-1] > 0.95
    assert found.curves["a"][1].max() <= 1e10 * (1 + 1e-3)  # a packet more in a bin


def lasting(value: Mapping[float, float], spread: Mapping[str, float] | None = None) -> dict[Any, Measured]:
    """Goodputs of Figs 5 and 6 as a share of the fair one by RTT, and by variant a further factor."""
    found = {}
    for rtt, share in value.items():
        for name in VARIANTS:
            factor = share * (spread or {}).get(name, 1.0)
            values = {
                rtts.place_name(name, count, rtt): [np.full(count, factor * rtts.fair_bps(count))] * 3
                for count in rtts.COUNTS
            }
            found[rtt, (name,)] = Measured(values)
    return found


def test_a_rtt_that_changes_nothing_is_not_reproduced() -> None:
    """The checks of Figs 5 to 7 can fail: the same value at every RTT is what the source does not show."""
    same = lasting({20.0: 1.0, 100.0: 1.0, 200.0: 1.0})
    for claims in (rtts.FIG5.claims(same, TINY), rtts.FIG6.claims(same, TINY)):
        assert {each.outcome for each in claims if each.rule == "sign"} == {"fails"}
        assert {each.outcome for each in claims if each.rule == "equal"} == {"holds"}
    falls = rtts.FIG5.claims(lasting({20.0: 1.0, 100.0: 0.8, 200.0: 0.4}), TINY)
    assert [each.outcome for each in falls if "change" in each.quantity] == ["holds", "holds"]
    values = {rtts.place_name(name, 12, rtt): [np.ones(12)] * 3 for name in VARIANTS for rtt in rtts.STEPS_MS}
    claims = rtts.FIG7.claims({"all": Measured(values)}, TINY)
    assert [each.outcome for each in claims] == ["fails"] * 3


def test_five_hosts_that_are_alike_say_nothing_of_fairness() -> None:
    """They share nothing, so their index is 1 whatever they run; where the path loses by chance it can be less."""
    same = lasting({20.0: 0.1, 100.0: 0.1, 200.0: 0.1})

    def silent(setting: Setting) -> dict[str, bool]:
        claims = rtts.FIG6.claims(same, setting)
        return {each.quantity[-8:].strip(", "): each.cannot_fail for each in claims if each.rule == "equal"}

    assert silent(TINY) == {"5 flows": True, "12 flows": False}
    assert silent(replace(TINY, loss=1e-6)) == {"5 flows": False, "12 flows": False}


def test_times_are_judged_by_the_line_that_is_drawn() -> None:
    """Most variants on a line hold; curves and times that fall do not, whatever their correlation with the level."""
    setting = replace(TINY, levels=(0.8, 1.2, 1.7, 2.1))

    def outcome(curve: Any, variants: Mapping[str, Any] | None = None) -> str:
        answers = {
            (level, (name,)): Measured(
                {files.place_name(name, level): [np.full(3, (variants or {}).get(name, curve)(level))] * 3}
            )
            for level in setting.levels
            for name in VARIANTS
        }
        return files.FIG8.claims(answers, setting)[0].outcome

    assert outcome(lambda level: 2 * level) == "holds"
    assert outcome(lambda level: level**2) == outcome(np.log) == outcome(lambda level: 5 - level) == "fails"
    bent = dict.fromkeys(VARIANTS[:2], np.square)
    assert outcome(lambda level: 2 * level, bent) == "holds"
    claim = files.most_are_lines([[0.0] * 6] * 3, np.array(setting.levels[1:]))
    assert len(claim.nulls) == 3
    assert not claim.cannot_fail


def test_the_signs_of_fig_3_can_fail() -> None:
    def outcomes(together: float, apart: float) -> list[str]:
        marks = np.linspace(-1, 1, files.FIG3_FLOWS)
        values = {
            files.TOGETHER: [400 * (1 + together * marks)] * 3,
            files.STAGGERED: [420 * (1 + apart * marks)] * 3,
        }
        return [each.outcome for each in files.FIG3.claims({"starts": Measured(values)}, TINY) if each.rule == "sign"]

    assert outcomes(0.3, 0.1) == ["holds", "holds", "holds"]
    assert outcomes(0.1, 0.3) == ["fails", "holds", "fails"]


# --- one pair of hosts ---


def test_a_message_takes_its_packets_and_half_a_round_trip() -> None:
    """A window that never stops it: 691 packets of 1448 bytes, and the way to the other node."""
    wide = {"congestion_control": "reno", "initial_ssthresh": "unlimited", "initial_window": "1000 packets"}
    (made, _) = pair.ping_pongs(ps.run(pair.ping_pong(replace(TINY, jitter_packets=0), wide)))
    least = 691 * 12e-6 / pair.FRAMED + 0.0058
    assert made.goodput_bps.max() == pytest.approx(8e6 / least, rel=0.01)
    assert made.total_s == pytest.approx(200 * 2 * least, rel=0.01)
    assert made.full_s == pytest.approx(2 * least, rel=0.01)


def test_windows_live_on_from_message_to_message() -> None:
    slow, fast = (
        pair.ping_pongs(ps.run(pair.ping_pong(TINY, each)))[0]
        for each in ({}, pair.controls_of(TINY)["BIC of the paper, slow start to a loss"])
    )
    # Slow start to a loss has the window in a few messages, growth by a twentieth takes dozens.
    assert fast.full_s < 1.0 < slow.full_s
    assert np.all(np.diff(slow.goodput_bps) > -0.05 * slow.goodput_bps[:-1]), "nothing takes the window away"


def test_table_6_is_of_windows_and_of_hosts() -> None:
    """64 kB a round trip of 19.8 ms are 26 Mbit/s; hosts that send at 0.7 have that much the other way."""
    setting = replace(TINY, default_bytes=65_536, other_way=0.7, pair_s=8.0)
    found = {name: float(values.mean()) for name, values in answered(pair.TABLE6, setting).items()}
    assert found["default"] == pytest.approx(8 * 65_536 / 0.0198 / 1e6, rel=0.05)  # whole packets, and slow start
    assert found["tuned_back"] == pytest.approx(0.7 * found["tuned"], rel=0.05)
    held = {each.quantity: each.outcome for each in pair.TABLE6.judged(setting)}
    assert held["goodput with default buffers, Mbit/s"] == "fails"


# --- the whole ---


@pytest.mark.slow
def test_the_page_of_short_runs() -> None:
    drawn: dict[str, Any] = {}
    sections = []
    artefacts = (files.FIG3, files.FIG8, files.FIG9, files.FIG10, rtts.FIG5, rtts.FIG6, rtts.FIG7)
    for artefact in artefacts:
        found = answered(artefact, TINY)
        assert {each.artefact for each in artefact.claims(found, TINY)} == {artefact.name}
        assert artefact.section is not None
        sections.append(artefact.section(found, TINY))
        drawn |= {figure.name: figure.plot for figure in sections[-1].figures}
    html = document_html(Document("study", "t", "d", (), sections))
    assert set(drawn) == {each.name for each in artefacts}
    for figure in ("Fig. 3: goodput of each flow", "Fig. 7: flows that join", "Fig. 9: reverse traffic"):
        assert figure in html
    # A goodput a flow for each way to start; a panel a variant and RTT; a curve an R; a histogram a control.
    assert [len(panel.marks) for panel in drawn["fig3"].panels] == [17, 17]
    assert (len(drawn["fig7"].panels), drawn["fig7"].columns) == (12, 2)
    assert [mark.name for mark in drawn["fig9"].panels[0].marks] == ["R = 0", "R = 0.8", "R = 1.5"]
    assert [panel.note.partition(",")[0] for panel in drawn["fig10"].panels] == ["cubic_2005", "scalable"]
    assert {panel.y.maximum for panel in drawn["fig6"].panels} == {1}
    # Each variant has its points and the line that it is judged by.
    assert len(drawn["fig8"].panels[0].marks) == 2 * len(VARIANTS)


def test_settings_of_the_joint_design_are_of_what_the_source_leaves_open() -> None:
    settings = joint.JOINT.settings(32, "quick")
    assert settings[0] == joint.base("quick")
    for parameter in joint.OPENED:
        tried = {getattr(each, parameter.name) for each in settings[1:]}
        assert len(tried) == (len(parameter.values) or 31), parameter.name
    assert all(each.slower == joint.SLOWER and not each.drawn for each in settings)


def test_one_setting_of_the_joint_design_judges_every_claim() -> None:
    setting = replace(
        joint.base("quick"), fig3_gb=0.05, bulk_gb=0.05, flow_s=0.5, step_s=0.1, short_step_s=0.1, pair_s=1
    )
    judged = [each for artefact in joint.ARTEFACTS for each in artefact.judged(setting)]
    register = find("itb").register()
    assert register is not None
    assert not [each for each in judged if each.region is not None and register.entry_of(each) is None]


def test_it_is_registered() -> None:
    assert "RR-6244" in find("itb").reference
