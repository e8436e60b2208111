"""What formulas ask of catalog entries is what the simulator does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import parshall as ps
from parshall.analysis.models import throughput
from parshall.foundations.errors import InputError
from parshall.scenario import properties
from parshall.scenario.schema.catalog import family

FLOWS = 4000

DISTRIBUTIONS: dict[str, dict[str, Any]] = {
    "constant": {"value": "3 s"},
    "uniform": {"low": "1 s", "high": "4 s"},
    "exponential": {"mean": "2 s"},
    "pareto": {"mean": "2 s", "tail_index": 4.5},
    "bounded_pareto": {"minimum": "1 s", "maximum": "50 s", "tail_index": 1.2},
    "lognormal": {"mean": "2 s", "sigma": 0.6},
    "weibull": {"mean": "2 s", "shape": 0.8},
    "hyperexponential": {"mean": "2 s", "cv2": 4.0},
    "empirical": {"points": [["1 s", 0.2], ["2 s", 0.2], ["2 s", 0.5], ["6 s", 1.0]]},
}


def test_every_distribution_is_tried() -> None:
    assert {entry.name for entry in family("distributions")} == DISTRIBUTIONS.keys()


@pytest.fixture(scope="module")
def drawn() -> dict[str, tuple[dict[str, Any], np.ndarray[Any, np.dtype[np.float64]]]]:
    """Each distribution as it is resolved, and the RTTs that the simulator drew from it for its flows, s."""
    groups = [
        {
            "name": name,
            "count": FLOWS,
            "rtt": {"distribution": {"name": name, **parameters}},
            "start": "1 s",
            "workload": {"name": "cbr", "rate": "1 kbit/s"},
        }
        for name, parameters in DISTRIBUTIONS.items()
    ]
    scenario = ps.Scenario.from_document(
        {
            "duration": "1.001 s",
            "bottleneck": {"rate": "100 Gbit/s", "delay": "0 s"},
            "flows": groups,
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )
    flows = ps.run(scenario, workers=1).flows
    resolved = {group["name"]: group["rtt_ps"]["distribution"]["of"] for group in scenario.resolve()["flows"]}
    return {
        name: (resolved[name], flows.filter(flows["group"] == name)["rtt_base_s"].to_numpy()) for name in DISTRIBUTIONS
    }


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_moments_and_quantiles_are_those_of_the_simulators_draws(name: str, drawn: Any) -> None:
    """Within five standard errors; the RTTs are rounded to whole picoseconds, and hold a packet's transmission."""
    config, rtt_s = drawn[name]
    assert rtt_s.size == FLOWS
    mean, cv2 = properties.mean(config), properties.cv2(config)
    sd = mean * math.sqrt(cv2)
    assert rtt_s.mean() == pytest.approx(mean, abs=5 * sd / math.sqrt(FLOWS) + 1e-6)
    probabilities = np.array([0.02, 0.15, 0.3, 0.5, 0.75, 0.9, 0.98])
    for p, quantile in zip(probabilities, properties.quantiles(config, probabilities), strict=True):
        error = 5 * math.sqrt(p * (1 - p) / FLOWS)
        assert np.mean(rtt_s < quantile - 1e-6) <= p + error
        assert np.mean(rtt_s <= quantile + 1e-6) >= p - error
    if name not in (
        "bounded_pareto",
        "pareto",
        "hyperexponential",
    ):  # whose fourth moments make that of few draws rough
        assert rtt_s.var() == pytest.approx(sd**2, rel=0.2, abs=1e-9)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_moments_agree_with_the_quantiles(name: str, drawn: Any) -> None:
    config, _ = drawn[name]
    x = properties.quantiles(config, (np.arange(400_000) + 0.5) / 400_000)
    mean = properties.mean(config)
    assert float(x.mean()) == pytest.approx(mean, rel=2e-3)
    assert float(x.var()) / mean**2 == pytest.approx(properties.cv2(config), rel=0.02, abs=1e-9)
    assert np.all(np.diff(x) >= 0)


def test_quantiles_have_the_shape_of_the_probabilities() -> None:
    config = {"name": "uniform", "low": 0.0, "high": 2.0}
    assert properties.quantiles(config, 0.5).tolist() == 1.0
    assert properties.quantiles(config, [[0.0, 0.25], [0.5, 1.0]]).tolist() == [[0.0, 0.5], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda: properties.mean({"name": "cauchy"}), "'cauchy': unknown variant `cauchy`"),
        (lambda: properties.cv2({"name": "pareto", "mean": 1.0}), "'pareto': missing field `tail_index`"),
        (lambda: properties.mean({"name": "exponential", "mean": -1.0}), "'exponential', mean: found -1; write"),
        (
            lambda: properties.quantiles({"name": "exponential", "mean": 1.0}, [2.0]),
            "found 2; write numbers from 0 to 1",
        ),
        (lambda: properties.loss({"name": "fading"}), "'fading': unknown variant"),
        (lambda: properties.queue("fq"), "queue: found 'fq', accepted is one of drop_tail, "),
        (lambda: properties.defaults("tahoe"), "found 'tahoe', which is not in the catalog"),
    ],
)
def test_what_is_in_no_catalog_gets_one_clear_error(ask: Any, expected: str) -> None:
    with pytest.raises(InputError) as refused:
        ask()
    assert expected in str(refused.value)


def test_names_in_text() -> None:
    titles = {name: properties.title(name) for name in ("red", "cubic", "rate_based", "something else")}
    assert titles == {"red": "RED", "cubic": "CUBIC", "rate_based": "rate_based", "something else": "something else"}
    assert {properties.title(entry.name) for entry in family("congestion_controls")} >= {"Reno", "H-TCP", "BBRv3"}


@pytest.mark.parametrize("control", [entry.name for entry in family("congestion_controls")])
def test_defaults_are_those_that_a_scenario_resolves_to(control: str) -> None:
    workload = "rate_controlled" if control in ("rate_based", "tfrc") else "bulk"
    scenario = ps.Scenario.from_document(
        {
            "duration": "1 s",
            "bottleneck": {"rate": "10 Mbit/s"},
            "flows": [{"rtt": "50 ms", "congestion_control": control, "workload": workload}],
        }
    )
    (group,) = scenario.resolve()["flows"]
    resolved = group["congestion_control"]
    for name, value in properties.defaults(control).items():
        if not isinstance(resolved[name], dict):  # a control that steers another
            assert resolved[name] == value, name


@pytest.mark.parametrize("model", throughput.MODELS, ids=lambda model: str(model.name))
def test_a_model_takes_the_catalogs_default_of_what_is_not_said(model: throughput.ThroughputModel) -> None:
    """Saying every default changes nothing, and every number that a model asks for is a parameter of its control."""
    conditions = {"loss": 1e-5, "rtt_s": 0.1, "queueing_delay_s": 0.01}
    numbers = {
        name: value
        for name, value in properties.defaults(model.control).items()
        if isinstance(value, bool | float | int)
    }
    assert throughput.evaluate(model.name, **conditions) == throughput.evaluate(model.name, **conditions, **numbers)
    with pytest.raises(InputError, match=f"speed: {model.control} has no such parameter, accepted are "):
        throughput.evaluate(model.name, **conditions, speed=1.0)
