"""``parshall check-control``: what passes, what fails by which check, and what is measured beside Reno and CUBIC."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import parshall as ps
from parshall.analysis.stats.claims import unfinished
from parshall.analysis.stats.families import Pair, judged
from parshall.foundations.errors import InputError
from parshall.foundations.numbers import quantity
from parshall.report.document import document_html
from parshall.suites.control_check import Card, check, response, sharing
from parshall.suites.control_check.answer import _standing, answer
from parshall.suites.control_check.card import HARMLESS, RIVALS, Row
from parshall.suites.control_check.page import page
from parshall.suites.control_check.response import LOSSES
from parshall.suites.control_check.running import Reading, Readings
from parshall.suites.control_check.sharing import not_starved

Cli = Callable[..., Result]


class Aimd:
    """The one of the docstring of `parshall.controls`."""

    def __init__(self, start: Any, increase: float = 1.0) -> None:
        self.cwnd = start.cwnd
        self.increase = increase

    def on_ack(self, ack: Any) -> None:
        if ack.may_grow:
            self.cwnd += self.increase * ack.credit / self.cwnd

    def on_loss(self, event: Any) -> None:
        self.cwnd = max(2.0, event.in_flight / 2)

    def on_timeout(self, _event: Any) -> None:
        self.cwnd = 1.0


class NeverReduces(Aimd):
    def on_loss(self, event: Any) -> None: ...


class NanAfterTimeout(Aimd):
    def on_timeout(self, _event: Any) -> None:
        self.cwnd = float("nan")


class Raises(Aimd):
    def on_loss(self, _event: Any) -> None:
        raise KeyError("no such thing")


class CannotBegin(Aimd):
    def __init__(self, _start: Any) -> None:
        raise RuntimeError("not today")


class WantsEveryRtt(Aimd):
    def on_ack(self, ack: Any) -> None:
        super().on_ack(ack)
        self.twice = 2 * ack.rtt_s


class IgnoresMayGrow(Aimd):
    def on_ack(self, ack: Any) -> None:
        self.cwnd += ack.credit / self.cwnd


class GrowsAtLosses(Aimd):
    def on_loss(self, _event: Any) -> None:
        self.cwnd *= 1.5


class HalvesAtTimeouts(Aimd):
    def on_timeout(self, _event: Any) -> None:
        self.cwnd = max(2.0, self.cwnd / 2)


class NeverRecovers(Aimd):
    def on_timeout(self, _event: Any) -> None:
        self.cwnd, self.increase = 1.0, 0.0


class RemembersOthers(Aimd):
    calls = 0

    def on_ack(self, ack: Any) -> None:
        super().on_ack(ack)
        if ack.may_grow:
            RemembersOthers.calls += 1
            self.cwnd += 1e-9 * RemembersOthers.calls


class SmallThreshold(Aimd):
    def on_loss(self, event: Any) -> None:
        super().on_loss(event)
        self.ssthresh = 1.0


class IgnoresItsSlope(Aimd):
    def set_slope(self, slope: float) -> None: ...


class IgnoresItsSsthresh(Aimd):
    ssthresh = 30.0

    def set_ssthresh(self, ssthresh: float) -> None:
        self.ssthresh = ssthresh


class AtIdle(Aimd):
    def on_idle_restart(self, window: float) -> None:
        self.cwnd = min(self.cwnd, window)


def found(control: Any) -> dict[str, str]:
    """What is not passed, by check, of what concerns the control."""
    card = check(control, measured=False)
    return {each.name: each.text for each in card.findings if each.outcome not in {"passed", "not_asked"}}


def test_the_aimd_of_the_guide_passes_with_one_advice() -> None:
    assert found(AtIdle) == {}
    told = found(Aimd)
    assert told.keys() == {"idle_restart"}
    assert re.fullmatch(
        r"advice: a restart after a pause with 5 packets: the window is \d+\.\d packets", *told.values()
    )
    assert check(Aimd, measured=False).passed


@pytest.mark.parametrize(
    ("control", "name", "words"),
    [
        (
            NeverReduces,
            "answers_losses",
            r"violated: 20 round trips with a loss each: the window went from 1\d\.\d to .*",
        ),
        (NanAfterTimeout, "values", r"violated: a timeout: its window \(cwnd\) is NaN; .* \(event \d+ of series \d+\)"),
        (
            Raises,
            "calls",
            r"violated: a (loss|mark): KeyError: 'no such thing' \(test_check_control\.py, line \d+\) .*",
        ),
        (CannotBegin, "calls", r"violated: the start of a connection: RuntimeError: not today .*"),
        (WantsEveryRtt, "calls", r"violated: an ACK of up to .*: TypeError: .*NoneType.*"),
        (IgnoresMayGrow, "unused", r"violated: ACKs with may_grow false: the window grew from 10 to 10\.1 packets"),
        (GrowsAtLosses, "congestion", r"violated: a (loss|mark): the window grew from .*"),
        (HalvesAtTimeouts, "timeout", r"violated: a timeout: the window is [\d.]+ packets .*"),
        (NeverRecovers, "recovers", r"violated: a timeout, and 100 round trips .*: the window is 1\.0 packets"),
        (RemembersOthers, "deterministic", r"violated: an ACK .*: windows of [\d.]+ and [\d.]+ packets .*"),
        (SmallThreshold, "values", r"violated: a (loss|mark): ssthresh is 1 packets .*"),
        (IgnoresItsSlope, "slope", r"violated: 20 round trips at twice the slope: (\d+\.\d) packets .*, and \1 at .*"),
        (
            IgnoresItsSsthresh,
            "ssthresh",
            r"violated: 5 round trips after a timeout: the window is (\d+\.\d) packets, and \1 with .*",
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_broken_control_fails_by_its_check(control: Any, name: str, words: str) -> None:
    told = found(control)
    assert not check(control, measured=False).passed
    assert re.fullmatch(words, told.pop(name))
    assert {each for each, said in told.items() if said != "not reached"} <= {"idle_restart", "answers_losses"}


def test_what_cannot_be_seen_after_a_failure_is_not_said_to_have_passed() -> None:
    told = found(Raises)
    assert told["answers_losses"] == "not reached"
    told = found(CannotBegin)
    assert told.pop("calls").startswith("violated")
    assert set(told.values()) == {"not reached"}
    assert len(told) == 9


def test_only_controls_that_can_be_steered_are_asked_whether_they_can() -> None:
    def asked(control: Any) -> set[str]:
        return {each.name for each in check(control, measured=False).findings if each.outcome != "not_asked"}

    assert asked("reno") - asked(Aimd) == {"slope", "ssthresh"}
    assert asked(IgnoresItsSlope) - asked(Aimd) == {"slope"}
    assert asked("bbr") <= asked(Aimd)


def test_the_same_seed_finds_the_same() -> None:
    assert check(Raises, measured=False, seed=5).findings == check(Raises, measured=False, seed=5).findings
    assert check(Raises, measured=False, seed=5).findings != check(Raises, measured=False, seed=6).findings


def test_bad_input_is_refused() -> None:
    class Lacks:
        def on_ack(self, ack: Any) -> None: ...

    with pytest.raises(InputError, match="lacks on_loss, on_timeout"):
        check(Lacks)
    with pytest.raises(InputError, match=r"FILE\.py:CLASS"):
        check("nothing")
    with pytest.raises(InputError, match=r'Did you mean "cubic"'):
        check("cubik")
    with pytest.raises(InputError, match="repetitions: found 0"):
        check(Aimd, repetitions=0)


def test_parameters_reach_the_control() -> None:
    assert check(Aimd, {"increase": 2.0}, measured=False).passed
    told = check(Aimd, ["step=2"], measured=False).findings[0]
    assert told.name == "calls"
    assert told.outcome == "violated"
    assert "step" in str(told.found)


@pytest.fixture(scope="module")
def card() -> Card:
    return check(Aimd, repetitions=2)


def test_measures_of_a_reno_are_those_of_reno(card: Card) -> None:
    rows = {row.key: row for row in card.rows}
    assert card.not_measured is None
    assert card.controls == ["aimd", "reno", "cubic"]
    for row in card.rows:
        assert row.values["aimd"] is not None, row.key
    window = rows["response_0.01"]
    own = window.values["aimd"]
    assert own is not None
    assert window.formula is not None
    assert own.mean == pytest.approx(window.formula, rel=0.15)
    assert rows["response_exponent"].accepted
    used = rows["utilisation_2_bdp"].values["aimd"]
    assert used is not None
    assert used.mean > 0.99
    least = rows["four_least"]
    assert (least.asked, least.verdict, least.accepted) == ("at least 0.01 in every repetition", "holds", True)
    assert rows["share_reno"].accepted


@pytest.mark.slow
def test_harm_is_zero_among_its_own_kind_and_high_from_one_that_never_reduces(card: Card) -> None:
    rows = {row.key: row for row in card.rows}
    own_kind = rows["throughput_harm_reno"].values["reno"]
    assert own_kind is not None
    assert own_kind.mean == 0.0
    harmful = {row.key: row for row in check(NeverReduces, repetitions=2).rows}
    taken = harmful["throughput_harm_reno"].values["neverreduces"]
    assert taken is not None
    assert taken.mean > 0.5
    assert harmful["throughput_harm_reno"].verdict == "higher"
    assert harmful["throughput_harm_reno"].accepted is False
    assert rows["throughput_harm_reno"].verdict == "the same within 5 %"
    assert rows["throughput_harm_reno"].accepted


class Shy(Aimd):
    """Never has more than 12 packets on a path of 50: it yields."""

    def on_ack(self, ack: Any) -> None:
        super().on_ack(ack)
        self.cwnd = min(self.cwnd, 12.0)


def test_the_card_says_what_becomes_of_the_control_itself() -> None:
    shy = check(Shy, repetitions=2)
    rows = {row.key: row for row in shy.rows}
    for rival in ("reno", "cubic"):
        own, left = (rows[f"{key}_{rival}"].values["shy"] for key in ("own_share", "share"))
        assert own is not None
        assert left is not None
        assert own.mean + left.mean == pytest.approx(2.0), "two equal shares"
        assert own.high is not None
        assert own.high < 0.8
        assert rows[f"own_share_{rival}"].accepted, "it yields, and is not starved"
    kit, alone, beside = answer(shy)
    assert kit == "It passes the conformance kit."
    assert re.fullmatch(
        r"Alone it uses [\d.]+\xa0% of the link with [\d.]+\xa0µs of queue \(CUBIC [\d.]+\xa0ms\)\.", alone
    )
    shares = [rows[f"own_share_{rival}"].values["shy"] for rival in ("reno", "cubic")]
    reno, cubic = (quantity(None if each is None else each.mean, "ratio", 2) for each in shares)
    assert beside == f"Beside Reno it gets {reno} of an equal share, beside CUBIC {cubic}: it yields."
    assert beside in document_html(page(shy)).replace("&#160;", "\xa0")


def test_a_control_of_the_catalog_is_not_held_against_itself(card: Card) -> None:
    rows = {row.key: row for row in card.rows}
    own = rows["own_share_reno"].values["reno"]
    assert own is not None
    assert own.mean == pytest.approx(1.0, abs=0.1)
    mine = _standing(rows["own_share_reno"].values["aimd"])
    assert mine in ("it shares equally", ""), "two repetitions of an AIMD with Reno's rules"


@pytest.mark.parametrize(
    ("shares", "outcome", "accepted"),
    [
        ((0.9, 0.95, 1.0), "holds", True),
        ((0.009, 0.95, 1.0, 1.0, 1.0), "fails", False),
        ((0.9, None, 1.0), "undecided", None),
    ],
)
def test_a_repetition_that_starves_is_not_averaged_away(
    shares: tuple[float | None, ...], outcome: str, accepted: bool | None
) -> None:
    row = Row("harm", "share_reno", "share", "ratio", {}, claim=not_starved("RFC 9743 §5.2.1", "share", shares))
    assert (row.verdict, row.accepted) == (outcome, accepted)
    told = row.as_json()
    assert told["claim"]["outcome"] == told["verdict"] == outcome
    assert told["claim"]["bound"] == 0.01


@pytest.mark.parametrize(
    ("harms", "words", "accepted"),
    [
        ((0.3, 0.4, 0.35), "higher", False),
        ((-0.3, -0.4, -0.35), "lower", True),
        ((0.0, 0.0, 0.0), "equal", True),
        ((0.01, 0.02, 0.015), "the same within 5 %", True),
        ((0.03, 0.05, 0.04), "higher", None),
        ((-0.5, 0.6, 0.2), "no difference shown", None),
        ((0.4,), "unknown", None),
    ],
)
def test_harm_is_called_as_any_difference(harms: tuple[float, ...], words: str, accepted: bool | None) -> None:
    values = dict(enumerate(1.0 + harm for harm in harms))
    pair = Pair.of_values(dict.fromkeys(values, 1.0), values)
    row = Row("harm", "delay_harm_reno", "harm", "ratio", {}, harm=judged({"harm": pair}, at_least=HARMLESS)["harm"])
    assert (row.asked, row.verdict, row.accepted) == ("at most 0", words, accepted)


def test_a_slope_is_shown_by_its_whole_interval() -> None:
    def row(*windows: float) -> Row:
        heavy: list[Reading] = [{"window": window} for window in windows]
        light: list[Reading] = [{"window": 30.0}] * len(windows)
        readings: Readings = {("response", loss, "mine"): heavy if loss == LOSSES[-1] else light for loss in LOSSES}
        return response.rows(readings, "mine", ["mine"])[-1]

    assert [row(5.0, 6.0, 5.5).accepted, row(60.0, 61.0, 62.0).accepted] == [True, False]
    assert (row(5.0, 60.0).verdict, row(5.0, 60.0).accepted) == ("compatible", None)
    assert (row(0.0, 5.0).verdict, row(0.0, 5.0).accepted) == ("undecided", None)


def test_rows_without_a_criterion_have_no_verdict(card: Card) -> None:
    criteria = {row.key for row in card.rows if row.asked}
    assert criteria == {row.key for row in card.rows if row.verdict}
    assert not any(unfinished([row.claim]) for row in card.rows if row.claim)
    starving = {f"{key}_{rival}" for key in ("share", "own_share") for rival in RIVALS}
    assert {row.key for row in card.rows if row.claim} == {"response_exponent", "four_least", *starving}


def test_one_that_fails_at_calls_is_not_measured() -> None:
    failed = check(Raises)
    assert not failed.rows
    assert failed.not_measured is not None
    assert "KeyError" in failed.not_measured


def test_the_page_has_every_measure_and_its_figures(card: Card) -> None:
    assert list(card.figures) == [figure.name for figure in page(card).figures] != []
    made = page(card)
    assert set(made.plots) == {"response", "trajectory-0-5", "trajectory-2"}
    text = document_html(made)
    for row in card.rows:
        assert row.verdict in text
    assert "It passes the conformance kit." in text
    assert "fails the conformance kit: <code>answers_losses</code>" in document_html(
        page(check(NeverReduces, measured=False))
    )


MINE = """
class Mine:
    def __init__(self, start, increase=1.0):
        self.cwnd, self.increase = start.cwnd, increase

    def on_ack(self, ack):
        if ack.may_grow:
            self.cwnd += self.increase * ack.credit / self.cwnd

    def on_loss(self, event):
        self.cwnd = max(2.0, event.in_flight / 2)

    def on_timeout(self, event):
        self.cwnd = 1.0

class Deaf(Mine):
    def on_loss(self, event): ...
"""


def test_the_verb_says_pass_and_fail(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = cli("check-control", "mine.py:Mine", "--no-measure", "--json", "--set", "increase=0.5")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["passed"]
    assert told["source"] == "mine.py:Mine"
    assert told["not_measured"] == "not asked for"
    failed = cli("check-control", "mine.py:Deaf", "--no-measure", "-o", "card")
    assert failed.exit_code == 1
    assert "deaf fails: answers_losses" in failed.stdout
    assert (tmp_path / "card" / "check-control.html").exists()
    refused = cli("check-control", "mine.py:Nothing")
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "has no class Nothing" in refused.stderr


def test_the_verb_shows_the_measures(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = cli("check-control", "mine.py:Mine", "--repetitions", 1)
    assert done.exit_code == 0
    for shown in ("mine beside Reno and CUBIC", "Jain's index of 4 flows", "mine passes the conformance kit"):
        assert shown in done.stdout


def test_json_is_what_the_guide_says(card: Card) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    section = guide.split("\n## parshall check-control\n")[1].split("\n## ")[0]
    told = card.as_json()
    for each in (told, told["conformance"][0], *told["measures"]):
        for key in each:
            assert f"`{key}`" in section, key


def test_it_is_reached_from_the_package() -> None:
    assert ps.control_check.check is check


def test_a_convergence_that_was_not_seen_is_no_value() -> None:
    """40 s, as if it was seen at the end, would be a mean of what is known and what is not."""
    times: dict[str, list[float | None]] = {"mine": [3.0, None, 5.0], "reno": [3.0, 4.0, 5.0]}
    readings: dict[Any, Any] = {}
    for name, seen in times.items():
        readings["four", name] = [{"jain": 1.0, "least": 1.0}] * 3
        readings["rtts", name] = [{"ratio": 4.0}] * 3
        readings["later", name] = [{"convergence_s": each} for each in seen]
    row = next(each for each in sharing.rows(readings, "mine", list(times)) if each.key == "later_convergence_s")
    assert row.values["mine"] is None
    assert row.cells(list(times))[1] == "within 40 s in 2 of 3"
    assert row.as_json()["lacking"] == {"mine": "within 40 s in 2 of 3"}
    assert row.cells(list(times))[2].startswith("4.0\u202f")


def test_flows_that_never_share_evenly_have_no_convergence() -> None:
    samples = [(flow, 0.5 * n) for flow in (0, 1) for n in range(1, 101)]
    table = pl.DataFrame(
        {
            "repetition": [0] * 200,
            "group": ["first"] * 100 + ["second"] * 100,
            "flow": [flow for flow, _ in samples],
            "time_s": [time_s for _, time_s in samples],
            "delivered_bytes": [0 if flow else round(1e6 * time_s) for flow, time_s in samples],
        }
    )
    assert sharing._convergence({"flow_samples": table}) == {"convergence_s": None}
