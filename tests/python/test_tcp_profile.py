"""``tcp = "linux"``: what it sets, what wins over it, and what it leaves to the kernel."""

from __future__ import annotations

from typing import Any

import pytest

import parshall as ps
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
    assert resolved(tcp="linux")["tcp"] == resolved(**given)["tcp"]


@pytest.mark.parametrize(("rate", "plain_us", "linux_us"), [("10 Mbit/s", 1200, 150), ("1 Gbit/s", 12, 150)])
def test_its_hosts_take_as_long_as_those_that_were_watched(rate: str, plain_us: int, linux_us: int) -> None:
    def processing_us(**keys: Any) -> float:
        given = {"duration": "5 s", "bottleneck": {"rate": rate}, "flows": [{"rtt": "40 ms", **keys}]}
        time: int = ps.Scenario.from_document(given).resolve()["flows"][0]["processing_ps"]
        return time / 1e6

    assert (processing_us(), processing_us(tcp="linux")) == (plain_us, linux_us)
    assert processing_us(tcp="linux", processing_time="3 ms") == 3000, "what a scenario says in seconds holds"
    assert processing_us(tcp="linux", processing_time="0 packets") == 0


def test_linux_is_the_newest_kernel() -> None:
    assert PROFILES["linux"] is max(PROFILES.values(), key=lambda each: each.name)
    assert resolved(tcp="linux") == resolved(tcp=LINUX.name)


def test_a_key_that_is_given_wins() -> None:
    group = resolved(tcp="linux", recovery="sack", initial_window="4 packets")
    assert (group["tcp"]["recovery"], group["tcp"]["initial_window"]) == ("sack", 4)
    assert group["tcp"]["rules"] == "linux", "the others stay"


@pytest.mark.parametrize(
    ("given", "sizes", "expected"),
    [
        ({"tcp": "linux"}, "4096 4194304 268435456", 4_194_304),
        ({"tcp": "linux"}, "4096\t65536\t65536", 65_536),
        ({"tcp": "linux", "initial_receive_buffer": "1 MiB"}, "4096 4194304 268435456", 2**20),
        ({}, "4096 4194304 268435456", 131_072),
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
    assert resolved(congestion_control=name)["congestion_control"]["name"] == name
    assert scenario(tcp="linux", congestion_control=name).flows[0].congestion_control.name == name


def test_another_slow_start_takes_the_place_of_the_kernels() -> None:
    group = resolved(tcp="linux", slow_start="hystart++")
    assert group["congestion_control"]["hystart"] is False
    assert resolved(tcp="linux")["congestion_control"]["hystart"] is True
    with pytest.raises(ps.ScenarioError, match="cubic_linux has no standard slow start"):
        resolved(congestion_control="cubic_linux", slow_start="hystart++")


def test_parameters_of_another_control_are_refused() -> None:
    with pytest.raises(ps.ScenarioError, match='write name "cubic_linux"'):
        resolved(tcp="linux", congestion_control={"name": "cubic", "beta": 0.5})
    resolved(tcp="linux", congestion_control={"name": "cubic_linux", "fast_convergence": False})


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
