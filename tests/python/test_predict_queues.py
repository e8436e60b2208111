"""Every queue of the catalog: predicted as it is simulated, or out of range with a reason.

A queue that is new is tried here without a change: it is in the catalog.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parshall as ps
from parshall.analysis.models.fair_share import max_min_shares
from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.throughput import MODELS
from parshall.instruments.prediction.predict import Predicted, Reading, predict
from parshall.scenario import properties
from parshall.scenario.schema.catalog import family

QUEUES = [entry.name for entry in family("queues")]
MEASURED = (Reading.MEASURED_EVENTS, Reading.MEASURED_PACKETS)


def scenario(queue: Any, *groups: dict[str, Any], rate: str = "20 Mbit/s", **changes: Any) -> ps.Scenario:
    return ps.Scenario.from_document(
        {
            "duration": "120 s",
            "warm_up": "20 s",
            "bottleneck": {"rate": rate, "queue": queue},
            "flows": list(groups),
            "probes": {"flow_samples": False, "link_samples": False},
            **changes,
        }
    )


def flows(control: str, rtt: str, count: int = 2, **changes: Any) -> dict[str, Any]:
    return {
        "name": f"{control}-{rtt.replace(' ', '')}",
        "rtt": rtt,
        "count": count,
        "congestion_control": control,
        **changes,
    }


def beside_a_run(asked: ps.Scenario) -> Predicted:
    return predict(asked, ps.run(asked, workers=1))


def foretold(predicted: Predicted) -> list[Any]:
    """The answers from the scenario alone."""
    return [row for row in predicted.throughput if row.reading not in MEASURED]


def reasons(predicted: Predicted, model: str) -> set[str]:
    return {row.reason or "" for row in foretold(predicted) if row.model == model}


def ratios(predicted: Predicted, model: str) -> dict[str, float]:
    rows = [row for row in foretold(predicted) if row.model == model]
    assert all(row.in_range for row in rows), [row.reason for row in rows]
    return {row.group: row.ratio for row in rows}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_is_predicted_right_or_out_of_range(queue: str) -> None:
    """Shares within 20 % of the bracket of the readings, for round-trip times that differ by a factor of three.

    20 %: the loss of the bracket is one for all, where a full buffer loses in bursts, and random drops fall on those
    that send in bursts. Without its lower end, the empty buffer, there is no bracket: managed queues are short.
    """
    predicted = beside_a_run(scenario(queue, flows("reno", "20 ms", 5), flows("reno", "60 ms", 5)))
    models = {row.model for row in foretold(predicted)}
    assert models >= {"pftk", "square_root"}
    for model in models:
        rows = [row for row in foretold(predicted) if row.model == model]
        assert all(row.in_range != bool(row.reason) for row in rows)
        for group in {row.group for row in rows}:
            answers = [row.goodput_bps for row in rows if row.group == group and row.in_range]
            measured = next(row.measured_goodput_bps for row in rows if row.group == group)
            if answers and not any(row.reading == Reading.SHORTEST_QUEUE and not row.in_range for row in rows):
                assert 0.8 * min(answers) <= measured <= 1.2 * max(answers), (model, group)


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_that_is_not_one_for_all_is_out_of_the_formulas_range(queue: str) -> None:
    traits = properties.queue(queue)
    predicted = predict(scenario(queue, flows("reno", "20 ms"), flows("reno", "160 ms")))
    known = traits.separates == "nothing" and not traits.own_rate
    assert any(row.in_range for row in predicted.throughput if row.model == "pftk") == known
    if not known:
        (reason,) = reasons(predicted, "pftk")
        assert f"({traits.title})" in reason


def test_flows_apart_under_early_drops_are_out_of_range_and_say_so() -> None:
    predicted = predict(scenario("fq_codel", flows("reno", "20 ms"), flows("reno", "160 ms")))
    assert not any(row.in_range for row in predicted.throughput)
    assert reasons(predicted, "pftk") == {
        "the queue of link 'bottleneck' (FQ-CoDel) serves the flows apart, each with a share of its own; the models "
        "have one queue and one loss for all"
    }
    (reason,) = reasons(predicted, "fair_share")
    assert "(FQ-CoDel) drops before a flow's own queue is long enough to keep its share in use" in reason


def test_a_trait_that_is_new_is_out_of_range(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(properties.queue("drop_tail"), separates="colours")
    monkeypatch.setattr(properties, "queue", lambda _: changed)
    predicted = predict(scenario("drop_tail", flows("reno", "20 ms")))
    assert reasons(predicted, "pftk") == {
        "the queue of link 'bottleneck' (drop-tail) does not treat all packets alike; the models do"
    }


def test_company_that_meets_such_a_queue_elsewhere_is_out_of_range() -> None:
    links = [{"name": "apart", "rate": "5 Mbit/s", "queue": "drr"}, {"name": "shared", "rate": "10 Mbit/s"}]
    groups = [{**flows("reno", "40 ms"), "path": ["shared"]}, {**flows("cubic", "40 ms"), "path": ["apart", "shared"]}]
    document = {"duration": "100 s", "links": links, "flows": groups}
    predicted = predict(ps.Scenario.from_document(document))
    (reason,) = reasons(predicted, "pftk")
    assert (
        "on link 'shared' the load of group 'cubic-40ms' is not known beforehand: the queue of link 'apart'" in reason
    )
    assert "crosses several contended links" in reasons(predicted, "fair_share").pop()


# --- fair shares ---


@pytest.mark.parametrize(
    "groups",
    [
        (flows("reno", "20 ms"), flows("reno", "160 ms")),
        (flows("cubic", "20 ms"), flows("cubic", "160 ms")),
        (flows("reno", "40 ms"), flows("cubic", "40 ms")),
        (flows("reno", "20 ms"), flows("vegas", "20 ms")),
        (flows("reno", "40 ms", packet_size="500 B"), flows("reno", "50 ms")),
        (flows("reno", "40 ms"), flows("reno", "50 ms", access_rate="2 Mbit/s")),
        (flows("reno", "40 ms"), flows("reno", "100 ms", receive_window="10 packets")),
        (
            flows("reno", "40 ms"),
            {"name": "cbr", "rtt": "40 ms", "count": 2, "workload": {"name": "cbr", "rate": "1 Mbit/s"}},
            {"name": "flood", "rtt": "40 ms", "workload": {"name": "cbr", "rate": "15 Mbit/s"}},
        ),
    ],
    ids=lambda groups: " and ".join(group["name"] for group in groups),
)
def test_flows_that_are_served_apart_have_fair_shares(groups: tuple[dict[str, Any], ...]) -> None:
    for group, ratio in ratios(beside_a_run(scenario("drr", *groups)), "fair_share").items():
        assert ratio == pytest.approx(1, abs=0.02), group


@pytest.mark.parametrize("control", sorted({control for model in MODELS for control in model.entry.controls}))
def test_every_control_that_has_a_model_keeps_its_share_in_use(control: str) -> None:
    groups = (flows("reno", "20 ms"), {**flows(control, "80 ms"), "name": "other"})
    for group, ratio in ratios(beside_a_run(scenario("drr", *groups, duration="60 s")), "fair_share").items():
        assert ratio == pytest.approx(1, abs=0.04), group


def test_the_range_of_fair_shares_ends_where_queues_run_dry() -> None:
    groups = (flows("reno", "20 ms"), flows("reno", "160 ms"))
    # 146 packets are a bandwidth-delay product: 2 flows of 20 ms and 2 of 160 ms, 5 Mbit/s each.
    enough = beside_a_run(scenario({"name": "drr", "limit": "152 packets"}, *groups))
    for ratio in ratios(enough, "fair_share").values():
        assert ratio == pytest.approx(1, abs=0.02)
    little = scenario({"name": "drr", "limit": "60 packets"}, *groups)
    (reason,) = reasons(predict(little), "fair_share")
    assert "a flow's own queue runs dry after a loss" in reason
    near, far = (group["name"] for group in groups)
    goodput = ps.run(little, workers=1).flows.group_by("group").agg(pl.col("goodput_bps").mean())
    measured = dict(goodput.iter_rows())
    assert measured[far] < 0.96 * 5e6 * 1460 / 1500 < 1.03 * 5e6 * 1460 / 1500 < measured[near]


OFF = {"name": "exponential", "mean": "1 s"}


@pytest.mark.parametrize(
    ("other", "changes", "expected"),
    [
        (flows("bbr", "40 ms"), {}, "no model says how group 'bbr-40ms' (bbr) keeps its share in use"),
        (
            {
                "name": "web",
                "rtt": "40 ms",
                "workload": {"name": "on_off", "size": {**OFF, "mean": "1 MB"}, "off": OFF},
            },
            {},
            "group 'web': the workload 'on_off' is no long transfer",
        ),
        (
            {
                "name": "talk",
                "rtt": "9 ms",
                "workload": {"name": "on_off_cbr", "rate": "1 Mbit/s", "on": OFF, "off": OFF},
            },
            {},
            "what group 'talk' (on_off_cbr) wants at a time is not known beforehand",
        ),
        (
            {"name": "files", "rtt": "40 ms", "workload": {"name": "transfer", "sizes": ["10 MB"]}},
            {},
            "the transfers of group 'files' would end after about",
        ),
        (flows("reno", "200 ms"), {"rate": "1 Gbit/s"}, "group 'reno-200ms' to its share, and 100 s are measured"),
    ],
)
def test_fair_shares_say_what_they_do_not_describe(other: dict[str, Any], changes: Any, expected: str) -> None:
    queue = {"name": "drr", "limit": "100000 packets"}
    (reason,) = {
        row.reason
        for row in predict(scenario(queue, flows("reno", "20 ms"), other, **changes)).throughput
        if row.model == "fair_share" and row.group == "reno-20ms"
    }
    assert expected in reason


def test_losses_of_the_medium_keep_flows_from_their_shares() -> None:
    bottleneck = {"rate": "20 Mbit/s", "queue": "drr", "loss": {"name": "bernoulli", "probability": 0.001}}
    predicted = predict(scenario("drr", flows("reno", "20 ms"), bottleneck=bottleneck))
    assert reasons(predicted, "fair_share") == {
        "link 'bottleneck' loses packets by itself, which keeps flows from their shares"
    }


@given(
    capacity=st.floats(0.1, 100),
    flows_=st.lists(
        st.tuples(st.floats(0.01, 100) | st.just(float("inf")), st.integers(1, 50)), min_size=1, max_size=8
    ),
)
def test_shares_are_max_min_fair(capacity: float, flows_: list[tuple[float, int]]) -> None:
    """The link is full or nobody wants more; who has less than another has all it wants."""
    most, number = (np.array(column, dtype=float) for column in zip(*flows_, strict=True))
    shares = max_min_shares(capacity, most, number)
    assert np.all(shares <= most)
    used = float(shares @ number)
    assert used <= capacity * (1 + 1e-9)
    assert used == pytest.approx(capacity) or shares == pytest.approx(most)
    assert shares[shares < shares.max() * (1 - 1e-9)] == pytest.approx(most[shares < shares.max() * (1 - 1e-9)])


@pytest.mark.parametrize("arguments", [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0, -1.0), (float("inf"), 1.0)])
def test_shares_of_nothing_are_refused(arguments: tuple[float, ...]) -> None:
    with pytest.raises(ModelInputError, match="accepted is a"):
        max_min_shares(*arguments)


# --- transfers and datagrams ---


def test_slow_start_has_no_room_in_a_queue_that_acts_before_it_is_full() -> None:
    """200 packets fit the path; 1000 more fit the queue, of which only a drop-tail queue is of use."""

    def completion(queue: str, **changes: Any) -> Any:
        workload = {"name": "transfer", "sizes": ["2 MB"]}
        asked = scenario(
            {"name": queue, "limit": "5000 packets"}, flows("reno", "100 ms", 1, workload=workload, **changes)
        )
        return predict(asked).completion[0]

    assert completion("drop_tail").in_range
    assert completion("step").in_range
    for queue, changes in (("codel", {}), ("pie", {}), ("red", {}), ("fq_codel", {}), ("step", {"ecn": True})):
        assert "slow start reaches a window" in completion(queue, **changes).reason, queue
    assert "has a rate of its own" in completion("policer").reason
    assert "serves packets of low latency apart" in completion("dualpi2").reason


def test_datagrams_that_share_unequally_have_no_known_loss() -> None:
    def datagrams(queue: str, *rates: str) -> Any:
        groups = [
            {"name": r.replace(" Mbit/s", "M"), "rtt": "20 ms", "workload": {"name": "cbr", "rate": r}} for r in rates
        ]
        return predict(scenario(queue, *groups)).datagrams

    assert all(row.in_range and row.loss == 0 for row in datagrams("drr", "5 Mbit/s", "6 Mbit/s"))
    assert all("serves the flows apart" in row.reason for row in datagrams("drr", "5 Mbit/s", "60 Mbit/s"))
    assert all(row.in_range for row in datagrams("codel", "5 Mbit/s", "60 Mbit/s"))
    assert all("has a rate of its own" in row.reason for row in datagrams("policer", "5 Mbit/s"))
