"""What every model of the catalog has to keep: a conformance kit that new models run too."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from parshall.analysis.models import pftk, throughput
from parshall.analysis.models.answer import Conditions, ThroughputModel
from parshall.analysis.models.catalog import CATALOG, catalog, markdown_table
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.queues import LARGEST_MD1K
from parshall.analysis.models.response import RESPONSES
from parshall.analysis.models.throughput import MODELS, evaluate, model, models_for

LOSSES = [1e-9, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.2, 0.5]
each_model = pytest.mark.parametrize("one", MODELS, ids=lambda one: one.name)


def conditions(loss: float, **changes: object) -> Conditions:
    given: dict[str, object] = {"rtt_s": [0.02, 0.2], "rto_s": 0.3, "queueing_delay_s": 0.01}
    return Conditions.of(loss=loss, **(given | changes))  # type: ignore[arg-type]


def test_names_are_unique_and_entries_complete() -> None:
    assert len({each.name for each in CATALOG}) == len(CATALOG)
    for each in CATALOG:
        assert all((each.summary, each.formula, each.reference, each.validity)), each.name
        assert each.family in {"throughput", "variability", "latency", "queue", "network"}
    json.dumps(catalog())


@each_model
@pytest.mark.parametrize("loss", LOSSES)
def test_answers_a_number_or_a_reason(one: ThroughputModel, loss: float) -> None:
    answer = one.answer(conditions(loss))
    assert answer.in_range == (answer.reason is None)
    if answer.in_range:
        assert answer.value is not None
        assert answer.window_packets is not None
        assert np.all(np.isfinite(answer.value))
        assert np.all(answer.value > 0)
        assert answer.value.shape == (2,)
        sent = answer.window_packets / np.array([0.02, 0.2])
        if one.delivery_rate is None:
            assert answer.value == pytest.approx((1 - loss) * sent)
        assert np.all(answer.value <= sent * (1 + 1e-9))
    else:
        assert answer.value is answer.window_packets is None


@each_model
def test_has_a_range_with_an_inside_and_an_outside(one: ThroughputModel) -> None:
    in_range = {one.answer(conditions(loss)).in_range for loss in LOSSES}
    assert in_range == {True, False}


@each_model
def test_rate_is_defined_and_falls_beyond_the_range_too(one: ThroughputModel) -> None:
    """The fixed point of a shared link searches there."""
    rates = [float(np.sum(one.delivered(conditions(loss)))) for loss in (1e-12, *LOSSES, 0.99)]
    assert all(np.isfinite(rates))
    assert all(a >= b for a, b in pairwise(rates))


@each_model
def test_window_limit_holds_or_is_out_of_range(one: ThroughputModel) -> None:
    for loss in LOSSES[:-2]:
        limited = conditions(loss, window_limit_packets=5)
        assert np.all(one.delivered(limited) * limited.rtt_s <= 5 * (1 + 1e-9))
        answer = one.answer(limited)
        if one.limits_window and loss < 0.01:
            assert answer.in_range
        elif one.name == "square_root" and loss < 0.01:
            assert "receiver's window of 5 packets" in (answer.reason or "")


def test_models_answer_packets_delivered_whatever_their_formula_counts() -> None:
    """At p = 0.05 PFTK's formulas send 41.0 and, by the approximation, 40.1 packets/s, and deliver 34.9."""
    given = {"loss": 0.05, "rtt_s": 0.1, "rto_s": 0.3}
    assert float(pftk.send_rate(*given.values())) == pytest.approx(41.0, abs=0.05)
    assert float(pftk.delivery_rate(*given.values())) == pytest.approx(34.9, abs=0.05)
    assert float(pftk.approximate_rate(*given.values())) == pytest.approx(40.1, abs=0.05)
    full, approximate = (evaluate(name, **given) for name in ("pftk", "pftk_approximate"))
    assert full.value is not None
    assert approximate.value is not None
    assert float(full.value) == float(pftk.delivery_rate(*given.values()))
    assert float(approximate.value) == pytest.approx(0.95 * 40.14, abs=0.01)
    windows = [answer.window_packets for answer in (full, approximate)]
    assert windows == pytest.approx([4.10, 4.01], abs=0.01), "a window is of packets sent"
    law = evaluate("square_root", loss=0.02, rtt_s=0.1)
    assert law.window_packets == pytest.approx(math.sqrt(1.5 / 0.02))
    assert law.value == pytest.approx(0.98 * 10 * math.sqrt(1.5 / 0.02))


@pytest.mark.parametrize("model", ["pftk_approximate", "independent_losses", "pftk"])
def test_a_sender_is_held_by_its_link_and_a_receiver_gets_what_is_not_lost(model: str) -> None:
    one = throughput.model(model)
    lossy = Conditions.of(loss=[0.01, 0], rtt_s=0.1, rto_s=0.2, window_limit_packets=50)
    assert one.sent(lossy, 20.0) == pytest.approx(np.array([20, 20]))
    assert one.delivered(lossy, 20.0) == pytest.approx(np.array([19.8, 20]))


@each_model
def test_nothing_lost_needs_a_window_limit(one: ThroughputModel) -> None:
    if not one.needs_loss:
        return
    assert "no finite value" in (one.answer(conditions(0)).reason or "")
    answer = one.answer(conditions(0, window_limit_packets=20))
    assert answer.value == pytest.approx(np.array([1000, 100]))


def test_every_congestion_control_of_a_formula_finds_it() -> None:
    assert [one.name for one in models_for("reno")][:2] == ["pftk", "pftk_approximate"]
    for control in ("cubic", "vegas", "bic", "highspeed", "scalable"):
        assert models_for(control)
    assert models_for("bbr") == ()


def test_vegas_divides_a_link_whatever_the_rtts() -> None:
    # Two flows of 3 packets each queued on 1000 packets/s wait 6 ms and send 500 packets/s each.
    answer = evaluate("vegas", loss=0, rtt_s=[0.026, 0.206], queueing_delay_s=0.006, alpha=2, beta=4)
    assert answer.value == pytest.approx(np.array([500, 500]))
    assert answer.window_packets == pytest.approx(np.array([500 * 0.02 + 3, 500 * 0.2 + 3]))


def test_independent_loss_models_refuse_the_losses_of_a_queue() -> None:
    for name in ("independent_losses", "cubic_independent"):
        refused = evaluate(name, loss=1e-3, rtt_s=0.1, independent_losses=False)
        assert "full queue" in (refused.reason or "")
        assert evaluate(name, loss=1e-3, rtt_s=0.1, independent_losses=True).in_range
    assert "0.7 only" in (evaluate("cubic_independent", loss=1e-3, rtt_s=0.1, beta=0.5).reason or "")


def test_reno_with_other_parameters_is_described_by_the_general_laws_only() -> None:
    for name in ("pftk", "pftk_approximate", "response_reno"):
        assert "keeps 0.7" in (evaluate(name, loss=1e-3, rtt_s=0.1, decrease=0.7).reason or "")
    for name, constant in (("square_root", (1.7 / 0.6) ** 0.5), ("independent_losses", 1.75)):
        answer = evaluate(name, loss=1e-4, rtt_s=0.1, decrease=0.7, increase=4)
        assert answer.window_packets is not None
        assert float(answer.window_packets) == pytest.approx(constant * 200, rel=5e-3)


def test_unknown_models_are_refused_with_the_list() -> None:
    with pytest.raises(ModelInputError, match="found 'mathis', accepted is one of pftk, "):
        model("mathis")


def test_goodput_counts_payload_bits() -> None:
    assert float(throughput.goodput_bps(100, 1460)) == 1_168_000


def test_guide_shows_the_catalog() -> None:
    guide = Path(__file__).parents[2] / "docs" / "models.md"
    assert markdown_table() in guide.read_text(encoding="utf-8"), (
        "docs/models.md: replace its table by parshall.analysis.models.catalog.markdown_table()"
    )


def test_texts_have_the_numbers_of_their_formulas() -> None:
    for name, response in RESPONSES.items():
        assert entry(f"response_{name}").formula == f"{response.c:g}/(RTT p^{response.d:g})"
    assert f" {LARGEST_MD1K} packets" in entry("md1k").validity


def test_throughput_models_and_entries_are_the_same() -> None:
    assert {one.name for one in MODELS} == {each.name for each in CATALOG if each.family == "throughput"}
