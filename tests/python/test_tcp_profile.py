"""The TCP of a kernel, which is the default: what it sets, what wins over it, and what it leaves to the kernel."""

from __future__ import annotations

import re
from typing import Any

import pytest

import parshall as ps
from parshall.instruments.emulation.kernel import left_to_the_kernel
from parshall.scenario.schema import rules
from parshall.scenario.schema.flows import TCP_PARAMETERS, FlowGroup
from parshall.scenario.schema.profiles import LINUX, PROFILES


def scenario(**flow: Any) -> ps.Scenario:
    return ps.Scenario.from_document(
        {"duration": "5 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [{"rtt": "40 ms", **flow}]}
    )


def resolved(**flow: Any) -> dict[str, Any]:
    group: dict[str, Any] = scenario(**flow).resolve()["flows"][0]
    return group


def test_it_sets_every_key_that_it_lists() -> None:
    group = scenario(tcp="linux").flows[0]
    assert {each.key: getattr(group, each.key) for each in LINUX.settings} == LINUX.defaults
    given = {key: value for key, value in LINUX.defaults.items() if key != "header_size"}
    assert resolved(tcp="linux")["tcp"] == resolved(tcp="rfc", **given)["tcp"]


@pytest.mark.parametrize("flow", [{}, {"congestion_control": "bbr3"}, {"slow_start": "hystart++"}, {"rtt": "5 ms"}])
def test_linux_is_the_default(flow: dict[str, Any]) -> None:
    assert resolved(**flow) == resolved(tcp="linux", **flow) != resolved(tcp="rfc", **flow)
    assert scenario(**flow).document()["flows"][0].get("tcp") is None, "nothing was given"
    assert scenario(**flow).complete_document()["flows"][0]["tcp"] == "linux", "what was simulated is recorded"


def test_tcp_of_the_rfcs_is_that_of_the_catalog() -> None:
    """No key is another than its own default, and hosts take the time that a packet takes at the bottleneck."""
    group = resolved(tcp="rfc", congestion_control="reno")
    (made,) = scenario(tcp="rfc", congestion_control="reno").flows
    assert not made.model_fields_set & {each.name for each in TCP_PARAMETERS}
    for each in TCP_PARAMETERS:
        assert str(getattr(made, each.name)).lower() == str(FlowGroup.model_fields[each.name].default).lower()
    assert (group["header_bytes"], group["processing_ps"]) == (40, 1_200_000_000)
    assert group["congestion_control"]["name"] == "reno"


def test_datagrams_have_no_tcp_of_any_kind() -> None:
    group = resolved(workload={"name": "cbr", "rate": "1 Mbit/s"})
    assert (group["tcp"], group["header_bytes"], group["processing_ps"]) == (None, 40, 1_200_000_000)
    whole = scenario(workload={"name": "cbr", "rate": "1 Mbit/s"}).complete_document()["flows"][0]
    assert "tcp" not in whole


def test_a_complete_document_is_the_same_scenario() -> None:
    for control in ("cubic", {"name": "cubic", "beta": 0.5}, "bbr3", {"name": "reno"}):
        for tcp in ({}, {"tcp": "linux"}, {"tcp": "rfc"}):
            made = scenario(congestion_control=control, **tcp)
            assert ps.Scenario.from_document(made.complete_document()).resolve() == made.resolve()


@pytest.mark.parametrize(("rate", "plain_us", "linux_us"), [("10 Mbit/s", 1200, 150), ("1 Gbit/s", 12, 150)])
def test_its_hosts_take_as_long_as_those_that_were_watched(rate: str, plain_us: int, linux_us: int) -> None:
    def processing_us(**keys: Any) -> float:
        given = {"duration": "5 s", "bottleneck": {"rate": rate}, "flows": [{"rtt": "40 ms", **keys}]}
        time: int = ps.Scenario.from_document(given).resolve()["flows"][0]["processing_ps"]
        return time / 1e6

    assert (processing_us(tcp="rfc"), processing_us(tcp="linux")) == (plain_us, linux_us)
    assert processing_us(tcp="linux", processing_time="3 ms") == 3000, "what a scenario says in seconds holds"
    assert processing_us(tcp="linux", processing_time="0 packets") == 0


def test_linux_is_the_newest_kernel() -> None:
    assert PROFILES["linux"] is max(PROFILES.values(), key=lambda each: each.name)
    assert resolved(tcp="linux") == resolved(tcp=LINUX.name)


def test_a_key_that_is_given_wins() -> None:
    group = resolved(tcp="linux", recovery="sack", initial_window="4 packets")
    assert (group["tcp"]["recovery"], group["tcp"]["initial_window"]) == ("sack", 4)
    assert set(group["tcp"]["rules"].values()) == {"linux"}, "the others stay"


@pytest.mark.parametrize(
    ("given", "sizes", "expected"),
    [
        ({"tcp": "linux"}, "4096 4194304 268435456", 4_194_304),
        ({"tcp": "linux"}, "4096\t65536\t65536", 65_536),
        ({"tcp": "linux", "initial_receive_buffer": "1 MiB"}, "4096 4194304 268435456", 2**20),
        ({}, "4096 4194304 268435456", 4_194_304),
        ({"tcp": "rfc"}, "4096 4194304 268435456", 131_072),
        *(({"tcp": "linux"}, other, 131_072) for other in (4096, "", "a b c", "1 2 3", "4096 9999999999 9999999999")),
    ],
)
def test_a_receivers_buffer_begins_as_the_hosts_are_told(
    given: dict[str, Any], sizes: int | str, expected: int
) -> None:
    tcp = resolved(kernel={"sysctls": {"net.ipv4.tcp_rmem": sizes}}, **given)["tcp"]
    assert tcp["initial_receive_buffer"] == expected


@pytest.mark.parametrize(
    ("name", "ours"), [("cubic", "cubic_linux"), ("bbr", "bbr_linux"), ("reno", "reno_linux"), ("bic", "bic")]
)
def test_controls_are_those_of_the_kernel(name: str, ours: str) -> None:
    assert resolved(tcp="linux", congestion_control=name)["congestion_control"]["name"] == ours
    assert resolved(congestion_control=name)["congestion_control"]["name"] == ours
    assert resolved(tcp="rfc", congestion_control=name)["congestion_control"]["name"] == name
    assert scenario(tcp="linux", congestion_control=name).flows[0].congestion_control.name == name


def test_another_slow_start_takes_the_place_of_the_kernels() -> None:
    group = resolved(tcp="linux", slow_start="hystart++")
    assert group["congestion_control"]["hystart"] is False
    assert resolved(tcp="linux")["congestion_control"]["hystart"] is True
    with pytest.raises(ps.ScenarioError, match="cubic_linux has no standard slow start"):
        resolved(congestion_control="cubic_linux", slow_start="hystart++")


@pytest.mark.parametrize("tcp", [{}, {"tcp": "linux"}])
def test_a_control_with_parameters_stays_as_it_is(tcp: dict[str, str]) -> None:
    """The kernel's has others: what was given would be lost."""
    group = resolved(congestion_control={"name": "cubic", "beta": 0.5}, **tcp)
    assert (group["congestion_control"]["name"], group["congestion_control"]["beta"]) == ("cubic", 0.5)
    assert group["tcp"] == resolved()["tcp"], "on the endpoints of Linux"
    own = resolved(congestion_control={"name": "cubic_linux", "fast_convergence": False}, **tcp)["congestion_control"]
    assert own["fast_convergence"] is False


def test_what_it_is_not_for_is_refused() -> None:
    with pytest.raises(ps.ScenarioError, match=r'flows\.0\.tcp: found "windows"'):
        scenario(tcp="windows")
    with pytest.raises(ps.ScenarioError, match='without TCP: leave out "tcp"'):
        resolved(tcp="linux", workload={"name": "cbr", "rate": "1 Mbit/s"})
    with pytest.raises(ps.ScenarioError, match="a header is 52 B"):
        scenario(tcp="linux", packet_size="52 B")


def test_a_run_says_what_was_simulated() -> None:
    run = ps.run(scenario(tcp="linux"))
    assert run.flows["congestion_control"].to_list() == ["cubic_linux"]
    assert run.scenario.flows[0].tcp == "linux"
    assert 9.4e6 < run.summary["goodput_bps"] < 9.7e6  # 10 Mbit/s of which 1448 in 1500 bytes are payload


def test_each_policy_is_switched_alone() -> None:
    everything = resolved(tcp="linux")["tcp"]["rules"]
    assert tuple(everything) == rules.names()
    assert set(everything.values()) == {"linux"}
    for name in rules.names():
        table = {**everything, name: "rfc"}
        assert resolved(rules={"base": "linux", name: "rfc"})["tcp"]["rules"] == table
        assert resolved(tcp="linux", rules={name: "rfc"})["tcp"]["rules"] == table, "the base is the profile's"
        assert set(resolved(tcp="rfc", rules={name: "linux"})["tcp"]["rules"].values()) == {"linux", "rfc"}, (
            "or the RFCs'"
        )
    assert resolved(rules="linux")["tcp"]["rules"] == everything
    assert set(resolved(tcp="rfc")["tcp"]["rules"].values()) == {"rfc"}


def test_a_table_of_rules_is_written_as_it_was_read() -> None:
    given = scenario(rules={"base": "linux", "undo": "rfc"})
    assert 'rules = { base = "linux", undo = "rfc" }' in given.toml()
    assert given.complete_document()["flows"][0]["rules"] == {"base": "linux", "undo": "rfc"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"recovry_rate": "rfc"}, 'found "recovry_rate", which is no policy; accepted: "base", "acks"'),
        ({"recovry_rate": "rfc"}, 'Did you mean "recovery_rate"?'),
        ({"undo": "bsd"}, 'flows.0.rules: undo: found "bsd"; accepted: "rfc", "linux"'),
        ({"base": 3}, 'base: found 3; accepted: "rfc", "linux"'),
        ("lunix", 'found "lunix"; accepted: "rfc", "linux", or a table, e.g. {base = "linux", undo = "rfc"}'),
        (["rfc"], 'found ["rfc"]; accepted: "rfc", "linux", or a table'),
    ],
)
def test_other_rules_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ps.ScenarioError, match=re.escape(message)):
        scenario(rules=given)


def test_each_policy_changes_what_is_sent() -> None:
    """Where packets are lost and marked, and connections begin, pause and go on, each policy is asked."""
    flow = {
        "count": 4,
        "rtt": "40 ms",
        "tcp": "linux",
        "workload": {
            "name": "on_off",
            "size": {"name": "pareto", "mean": "50 kB", "tail_index": 1.5},
            "off": {"name": "exponential", "mean": "1 s"},
        },
    }
    queue = {"name": "red", "limit": "60 packets", "min_threshold": "5 packets", "max_threshold": "15 packets"}
    link = {"rate": "2 Mbit/s", "queue": queue, "loss": {"name": "bernoulli", "probability": 0.03}}

    def sent(**given: Any) -> list[int]:
        groups = [{**flow, **given, "persistent": True, "ecn": True}, {**flow, **given}]
        document = {"duration": "60 s", "seed": 3, "bottleneck": link, "flows": groups}
        counts: list[int] = ps.run(ps.Scenario.from_document(document)).flows["packets_sent"].to_list()
        return counts

    bundle = sent()
    assert sent(rules=dict.fromkeys(rules.names(), "linux")) == bundle
    assert [name for name in rules.names() if sent(rules={name: "rfc"}) == bundle] == []


def test_an_emulation_says_what_no_kernel_can_switch() -> None:
    given = scenario(rules={"base": "linux", "undo": "rfc"}, endpoint="kernel")
    assert left_to_the_kernel(given) == [
        "flows.0: the kernel decides for itself about rules",
        "flows.0.rules: no kernel can switch these, so Linux's hold: undo",
    ]
    assert left_to_the_kernel(scenario(tcp="linux")) == []
