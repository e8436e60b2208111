"""`parshall ask rules`: what single rules of Linux change, held against arithmetic; and where none changes anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import parshall as ps
from parshall.design import rules as asking
from parshall.design.rules import ask_rules, variants
from parshall.design.rules_answer import RulesAnswer
from parshall.design.rules_found import WHOLE
from parshall.design.rules_page import rules_page
from parshall.foundations.errors import InputError
from parshall.results.records.validity import Validity
from parshall.scenario.schema import rules

QUIET = {"flow_samples": False, "link_samples": False, "latency": False}
CALLS: dict[str, Any] = {
    "name": "calls",
    "rtt": "60 ms",
    "persistent": True,
    "start": {"uniform": "100 ms"},
    "workload": {
        "name": "on_off",
        "size": {"name": "constant", "value": "1 packet"},
        "off": {"name": "exponential", "mean": "50 ms"},
    },
}
"""One packet after the other, each of which waits for the ACK of the one before."""


def scenario(*flows: dict[str, Any], **more: Any) -> ps.Scenario:
    bottleneck = {"rate": "20 Mbit/s", "queue": {"name": "drop_tail", "limit": "500 packets"}}
    made = {"name": "small", "duration": "4 s", "bottleneck": bottleneck, "flows": list(flows), "probes": QUIET}
    return ps.Scenario.from_document({**made, **more})


@pytest.fixture(scope="module")
def calls() -> RulesAnswer:
    return ask_rules(scenario(CALLS), ["goodput_bps"], repetitions=4)


def test_a_reader_that_has_read_all_acknowledges_at_once(calls: RulesAnswer) -> None:
    """Receivers of the RFCs wait 40 ms for a second packet: 60 + 40 + 50 ms each, and 60 + 50 ms by Linux."""
    (goodput,) = calls.asked
    assert goodput.share(goodput.whole) == pytest.approx(150 / 110 - 1, abs=0.06)
    shown = {name for name in calls.names if (found := goodput.effects[name].together) and found.matters}
    assert shown == {"acks"}
    for found in (goodput.effects["acks"].together, goodput.effects["acks"].alone):
        assert goodput.share(found) == pytest.approx(150 / 110 - 1, abs=0.06)
    first = calls.sentences()[0]
    assert first.startswith("Linux's rules raise the goodput, all flows by 3")
    assert first.endswith("comes from acks.")


def test_rules_that_meet_nothing_change_no_byte(calls: RulesAnswer) -> None:
    """Nothing is lost, nobody waits, and there is one connection a flow."""
    (goodput,) = calls.asked
    for name in ("sack_compression", "recovery_rate", "loss_response", "undo", "loss_timers", "window_growth"):
        effect = goodput.effects[name]
        assert effect.together is not None
        assert effect.alone is not None
        assert {effect.together.difference.value, effect.alone.difference.value} == {0.0}, name


def test_no_rule_is_shown_where_none_matters() -> None:
    """A transfer without losses takes its round trips, whoever counts them."""
    file = {"rtt": "60 ms", "start": {"uniform": "100 ms"}, "workload": {"name": "transfer", "sizes": "300 kB"}}
    found = ask_rules(scenario(file), ["completion_s"], repetitions=3)
    first, switched = found.sentences()
    assert first.startswith("No rule is shown to make a difference")
    assert switched == "Switched are the rules of flows0."
    assert found.asked[0].effects[WHOLE].together is not None


def test_each_rule_is_switched_once_in_either_company() -> None:
    first = scenario(CALLS)
    forms = [first.with_values({"flows.0.rules": value}).flows[0].forms for value in variants()]
    linux, rfc, *others = forms
    assert (set(linux.values()), set(rfc.values())) == ({"linux"}, {"rfc"})
    for name, without, alone in zip(rules.names(), others[::2], others[1::2], strict=True):
        assert without == {**linux, name: "rfc"}
        assert alone == {**rfc, name: "linux"}


def test_groups_with_rules_of_their_own_keep_them() -> None:
    old, own = {**CALLS, "name": "old", "tcp": "rfc"}, {**CALLS, "name": "own", "rules": {"undo": "rfc"}}
    found = ask_rules(scenario(CALLS, old, own), ["group/old/goodput_bps"], repetitions=2)
    assert (found.switched, found.kept) == (("calls",), ("old", "own"))
    assert found.sentences()[-1] == "Switched are the rules of calls; old and own keep those that the scenario gives."
    (goodput,) = found.asked
    together = goodput.effects["acks"].together
    assert together is not None
    assert abs(goodput.share(together) or 0.0) < 0.01, "beside it, on an empty link"
    with pytest.raises(InputError, match='tcp = "rfc", in old, own; leave these keys out of one group'):
        ask_rules(scenario(old, own))


def test_repetitions_end_where_intervals_are_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plan = asking._plan

    def planned(made: ps.Scenario, switched: Any, keys: Any, repetitions: int) -> ps.Plan:
        asked.append(repetitions)
        return plan(made, switched, keys, repetitions)

    monkeypatch.setattr(asking, "_plan", planned)
    monkeypatch.setattr(asking, "variants", lambda: ["linux", "rfc"])
    monkeypatch.setattr(asking, "rules", SimpleNamespace(names=tuple))
    monkeypatch.setattr(asking, "FIRST", 2)
    monkeypatch.setattr(asking, "MOST", 8)
    assert ask_rules(scenario(CALLS), ["goodput_bps"]).repetitions == asked[-1]
    assert asked == [2 * 2**n for n in range(len(asked))]
    asked.clear()
    monkeypatch.setattr(asking, "_known", lambda *_: False)
    assert ask_rules(scenario(CALLS), ["goodput_bps"]).repetitions == 8
    assert asked == [2, 4, 8]


def test_what_is_wrong_is_refused() -> None:
    with pytest.raises(InputError, match="repetitions: found 1; accepted: 2 or more"):
        ask_rules(scenario(CALLS), repetitions=1)
    with pytest.raises(InputError, match="godput_bps"):
        ask_rules(scenario(CALLS), ["godput_bps"])


def test_the_kernel_stands_beside_it(monkeypatch: pytest.MonkeyPatch, calls: RulesAnswer) -> None:
    monkeypatch.setattr(asking, "emulate", lambda made: ps.run(made, workers=1))
    monkeypatch.setattr(asking, "validity", lambda _: Validity("doubtful", ["packets were late"]))
    found = asking._beside_the_kernel(calls)
    one = ps.run(calls.scenario, workers=1).quantity("goodput_bps").interval.mean
    assert found.asked[0].kernel == one
    assert found.sentences()[-1].startswith("The kernel (doubtful) has a goodput, all flows of ")
    assert "Kernel (doubtful), one run" in rules_page(found).sections[0].tables[0].header
    assert found.to_json()["emulation"] == "doubtful"


def test_the_command_writes_a_page_and_json(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(scenario(CALLS).toml())
    arguments = ["small.toml", "--quantity", "goodput_bps", "--repetitions", "2", "--store", "store"]
    said = cli("ask", "rules", *arguments, "--json", "-o", "page")
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    assert told["switched"] == ["calls"]
    (goodput,) = told["quantities"]
    assert [each["rule"] for each in goodput["rules"]] == list(rules.names())
    acks = next(each for each in goodput["rules"] if each["rule"] == "acks")
    assert acks["together"]["share"] == pytest.approx(150 / 110 - 1, abs=0.15)
    page = (tmp_path / "page" / "rules.html").read_text(encoding="utf-8")
    assert "recovery_rate" in page
    assert cli("ask", "rules", *arguments).exit_code == 0, "the store has it"


def test_json_is_what_the_guide_says(calls: RulesAnswer) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    section = guide.split("\n## parshall ask rules\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(\w+)`", section))
    told = calls.to_json()
    (goodput,) = told["quantities"]
    (acks,) = (each for each in goodput["rules"] if each["rule"] == "acks")
    assert told.keys() | goodput.keys() | acks.keys() <= listed
    assert {"share", "verdict", "matters", "p_value"} <= acks["together"].keys()


def test_the_page_has_a_figure_of_each_quantity(calls: RulesAnswer) -> None:
    assert [*calls.figures] == ["rules-0"]
    (plot,) = (each.plot for each in rules_page(calls).figures)
    assert plot.panels[0].y.names == ("all rules", *rules.names())[::-1]
    datagrams = ask_rules(scenario({"rtt": "40 ms", "workload": {"name": "cbr", "rate": "1 Mbit/s"}}))
    assert "no group has TCP" in rules_page(datagrams).finding
