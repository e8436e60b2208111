"""The large time scale in scenarios: what is refused, and that a slope of one changes no byte."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from parshall.errors import ScenarioError
from parshall.runs import run
from parshall.scenario import Scenario


def scenario(control: Any, **flow: Any) -> Scenario:
    return Scenario.from_document(
        {
            "duration": "30 s",
            "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "50 packets"}},
            "flows": [
                {"name": "measured", "rtt": "100 ms", "congestion_control": control, **flow},
                {
                    "name": "others",
                    "count": 4,
                    "rtt": "30 ms",
                    "congestion_control": "reno",
                    "workload": {
                        "name": "on_off",
                        "size": {"name": "pareto", "mean": "50 kB", "tail_index": 1.2},
                        "off": {"name": "exponential", "mean": "0.2 s"},
                    },
                },
            ],
        }
    )


def steered(control: Any = "reno", **parameters: Any) -> dict[str, Any]:
    return {"name": "multiple_time_scale", "control": control, **parameters}


@pytest.mark.parametrize("control", ["reno", "cubic", "vegas", {"name": "reno", "increase": 2.0}])
@pytest.mark.parametrize("nothing", [{"aggressiveness": 1}, {"interval": "1000 s"}])
def test_with_nothing_to_gain_no_byte_changes(control: Any, nothing: dict[str, Any]) -> None:
    plain, wrapped = (
        run(scenario(each), workers=1).flows.drop("congestion_control")
        for each in (control, steered(control, **nothing))
    )
    assert plain.equals(wrapped)


def test_a_steeper_slope_takes_more() -> None:
    goodput = [
        run(scenario(each), workers=1).flows.filter(pl.col("group") == "measured")["goodput_bps"].item()
        for each in ("reno", steered(schedule="threshold", threshold=8))
    ]
    assert goodput[1] > 1.1 * goodput[0]


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (steered("bbr"), 'control: found "bbr", which is not the name of a congestion control that can be steered'),
        (steered(steered()), 'found "multiple_time_scale"'),
        (steered({"name": "reno", "increase": -1}), "control.increase: found -1; accepted: 1e-06 or more"),
        (steered(interval="50 ms"), "congestion_control.interval: found 50 ms; write the RTT, 100 ms, or more"),
        (steered(levels=1), "congestion_control.levels: found 1; accepted: 2 or more"),
        (steered(adjustment=0), "congestion_control.adjustment: found 0; accepted: 1e-06 or more"),
        (steered(aggressiveness=0.5), "congestion_control.aggressiveness: found 0.5; accepted: 1 or more"),
        (steered(quantiser="fixed_range"), "congestion_control.peak: found 0"),
        (steered(schedule="linear"), "congestion_control.schedule: found"),
        (steered(schedule="threshold", threshold=9), "8, the number of levels, or less"),
        (steered(schedule="generalised", slopes=[1, 2, 2, 2, 2, 2, 2, 2]), "do not grow with contention"),
        (steered(schedule="generalised", slopes=[2, 1]), "one slope for each of the 8 levels"),
        (steered(schedule="generalised", slopes=[2, "x"]), "slopes"),
        (steered(schedule="inverse", metacontrol=True), "congestion_control.metacontrol"),
        (steered(prior=[1.0] * 64), "congestion_control.prior"),
    ],
)
def test_what_is_refused(control: Any, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(control).resolve()
    assert message in str(caught.value)
    assert "flows.0.congestion_control" in str(caught.value)


def test_parameters_of_the_steered_control_arrive() -> None:
    resolved = scenario(steered({"name": "cubic", "c": 0.7}, slopes=[])).resolve()
    control = resolved["flows"][0]["congestion_control"]
    assert control["control"]["name"] == "cubic"
    assert control["control"]["c"] == 0.7
    assert control["interval"] == 2 * 10**12
    assert scenario(steered()).resolve()["flows"][0]["congestion_control"]["control"]["increase"] == 1.0
