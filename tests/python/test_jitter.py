"""Paths that delay each packet by its own time: what scenarios say of them, and who must know of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parshall as ps
from parshall.foundations.errors import ScenarioError
from parshall.instruments.prediction.predict import predict
from parshall.report.description import sentences
from parshall.scenario import Scenario
from parshall.scenario.caveats import caveats

UNIFORM = {"name": "uniform", "low": "0 s", "high": "10 ms"}
FREE = {"distribution": UNIFORM, "order": "free"}
KEPT = {"distribution": UNIFORM}


def scenario(link: dict[str, Any] | None = None, **group: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "duration": "20 s",
            "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms", **(link or {})},
            "flows": [{"rtt": "40 ms", **group}],
        }
    )


def test_jitter_is_resolved_in_seconds_and_kept_in_order_by_default() -> None:
    resolved = scenario({"jitter": KEPT}, jitter=FREE, reverse_jitter=KEPT).resolve()
    law = {"name": "uniform", "low": 0.0, "high": 0.01}
    assert resolved["links"][0]["jitter"] == {"distribution": law, "order": "kept"}
    assert resolved["flows"][0]["jitter"] == {"distribution": law, "order": "free"}
    assert resolved["flows"][0]["reverse_jitter"] == {"distribution": law, "order": "kept"}
    assert scenario().resolve()["links"][0]["jitter"] is None


def test_the_way_back_has_the_jitter_of_the_way_forth_unless_it_has_its_own() -> None:
    links = scenario({"jitter": FREE, "reverse": {}}).resolve()["links"]
    assert links[0]["jitter"] == links[1]["jitter"]
    links = scenario({"jitter": FREE, "reverse": {"jitter": KEPT}}).resolve()["links"]
    assert (links[0]["jitter"]["order"], links[1]["jitter"]["order"]) == ("free", "kept")


@pytest.mark.parametrize(
    ("link", "group", "said"),
    [
        (
            {"jitter": {"distribution": UNIFORM, "order": "none"}},
            {},
            ['jitter.order: found "none"', '"kept" or "free"'],
        ),
        ({"jitter": {"order": "free"}}, {}, ["bottleneck.jitter.distribution: missing"]),
        ({"jitter": "5 ms"}, {}, ["bottleneck.jitter:", "a table"]),
        ({}, {"jitter": {"distribution": {**UNIFORM, "high": "3 kB"}}}, ["flows.0.jitter.distribution.high", "3 kB"]),
        ({}, {"jitter": {"distribution": {**UNIFORM, "low": "1 s"}}}, ["flows.0.jitter.distribution"]),
        (
            {},
            {"workload": {"name": "cbr", "rate": "1 Mbit/s"}, "reverse_jitter": FREE},
            ["flows.0.reverse_jitter", "datagrams", "accepted with TCP"],
        ),
    ],
)
def test_what_is_refused_is_named(link: dict[str, Any], group: dict[str, Any], said: list[str]) -> None:
    with pytest.raises((ScenarioError, ValueError)) as refused:
        scenario(link, **group).resolve()
    assert all(words in str(refused.value) for words in said), refused.value


def test_what_is_drawn_for_packets_is_random() -> None:
    still: dict[str, Any] = {"distribution": {"name": "constant", "value": "5 ms"}}
    strict = {"processing_time": "0 s", "tcp": "linux"}
    copies = [caveats(scenario(jitter=jitter, **strict).resolved, 3) for jitter in (still, KEPT)]
    assert [any("copies" in reason for reason in reasons) for reasons in copies] == [True, False]


def test_flows_that_jitter_parts_are_not_in_step() -> None:
    def in_step(**link: Any) -> bool:
        given = scenario(link, count=2, rtt={"list": ["40 ms", "52 ms"]}, processing_time="0 s")
        return any("phase effects" in reason for reason in caveats(given.resolved, 1))

    assert in_step()
    assert not in_step(jitter=KEPT)


def test_tcp_without_undo_is_named_where_packets_overtake_each_other() -> None:
    def warned(**given: Any) -> bool:
        return any("overtake" in reason for reason in caveats(scenario(**given).resolved, 1))

    given: tuple[dict[str, Any], ...] = ({"jitter": FREE}, {"reverse_jitter": FREE}, {"link": {"jitter": FREE}})
    assert all(warned(tcp="rfc", **each) for each in given)
    assert warned(jitter=FREE, rules={"undo": "rfc"})
    assert not any([warned(tcp="rfc", jitter=KEPT), warned(jitter=FREE), warned(tcp="rfc")])


def test_models_of_fixed_delays_give_no_number() -> None:
    for jitter, reason in ((FREE, "overtake each other"), (KEPT, "times of their own")):
        for given in ({"jitter": jitter}, {"reverse_jitter": jitter}, {"link": {"jitter": jitter}}):
            answers = predict(scenario(**given)).throughput
            assert answers
            assert not any(answer.in_range for answer in answers)
            assert all(reason in str(answer.reason) for answer in answers), answers
    assert any(answer.in_range for answer in predict(scenario()).throughput)


def test_the_page_says_what_the_jitter_is() -> None:
    text = " ".join(sentences(scenario({"jitter": FREE}, reverse_jitter=KEPT).model_dump(mode="json")))
    words = text.replace("\N{NO-BREAK SPACE}", " ")
    assert "jitter (uniform, low 0 s, high 10 ms; packets overtake each other)" in words
    assert "jitter of ACKs (uniform, low 0 s, high 10 ms; packets keep their order)" in words


def test_delays_of_a_run_have_the_moments_of_the_distribution() -> None:
    # 500 packets of 100 B a second at 0.08 % of the link: 20 ms there, 80 us in transmission, and U(0, 10 ms).
    sent: dict[str, Any] = {"name": "cbr", "rate": "400 kbit/s"}
    given = scenario({"jitter": FREE}, workload=sent, packet_size="100 B", processing_time="0 s")
    flow = ps.run(given).tables["flows"].to_dicts()[0]
    error_s = 0.01 / np.sqrt(12 * 10_000)
    assert flow["mean_one_way_delay_s"] == pytest.approx(0.02 + 0.00008 + 0.005, abs=4 * error_s)
    assert flow["max_one_way_delay_s"] == pytest.approx(0.03008, abs=2e-5)
    assert flow["one_way_delay_p95_s"] == pytest.approx(0.02958, rel=0.02)


def test_a_kernel_like_sender_keeps_its_rate_where_packets_overtake_each_other() -> None:
    def goodput_bps(**given: Any) -> float:
        return float(ps.run(scenario(**given)).tables["flows"].to_dicts()[0]["goodput_bps"])

    plain, free = (goodput_bps(tcp="linux", link={"jitter": jitter}) for jitter in (None, FREE))
    assert free == pytest.approx(plain, rel=0.03)
    assert goodput_bps(tcp="rfc", link={"jitter": FREE}) < plain / 2, "by the RFCs, a window is reduced and stays so"
