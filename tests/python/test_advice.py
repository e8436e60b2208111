"""Advice on the page of a run holds by its own number: it is applied to random scenarios, with other seeds."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.numbers import quantity
from parshall.instruments.simulation import Run
from parshall.report.finding import finding
from parshall.report.remedies import AS_BUSY, MATTERS, REPETITIONS, UNEQUAL, ProvedAdvice
from parshall.results.records import Result
from parshall.scenario.scenario import Scenario

SCENARIOS = 200
QUICK = 16
"""Of them, in the quick run."""

OTHER_SEED = 77_000_009
"""Added to the seed of a scenario: what was advised has to hold with other random numbers too."""

CONTROLS = ("reno", "cubic", "bbr", "vegas", "highspeed")


def scenario(number: int) -> dict[str, Any]:
    """A network in which something may be advised: short or deep buffers, losses on the medium, unequal groups."""
    draw = random.Random(f"advice {number}")
    rate = 10 ** draw.uniform(0.3, 1.7)
    rtts = [draw.uniform(10, 150) for _ in range(draw.randint(1, 3))]
    queue = {"name": draw.choice(["drop_tail", "drop_tail", "drop_tail", "codel"])}
    if queue["name"] == "drop_tail":
        queue["limit"] = (
            f"{max(4, round(rate * 1e6 * rtts[0] * 1e-3 / 12_000 * 10 ** draw.uniform(-1.3, 0.6)))} packets"
        )
    bottleneck: dict[str, Any] = {"rate": f"{rate:.3f} Mbit/s", "queue": queue}
    if draw.random() < 0.4:
        bottleneck["loss"] = {"name": "bernoulli", "probability": 10 ** draw.uniform(-4.5, -1.5)}
    flows = [
        {
            "name": f"group-{place}",
            "count": draw.randint(1, 4),
            "rtt": f"{rtt:.1f} ms",
            "congestion_control": draw.choice(CONTROLS),
            "start": {"uniform": "1 s"},
        }
        for place, rtt in enumerate(rtts)
    ]
    times = {"duration": "15 s", "warm_up": "3 s", "repetitions": draw.choice([1, 3, 5]), "seed": number + 1}
    return {"bottleneck": bottleneck, "flows": flows, **times}


def measured(document: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    """Means of quantities, simulated with other seeds than the advice was."""
    other = {"repetitions": REPETITIONS, "seed": int(document["seed"]) + OTHER_SEED}
    run = ps.run(Scenario.from_document(dict(document) | other))
    return {name: run.quantity(name).interval.mean for name in names}


def refuted(advice: ProvedAdvice, document: Mapping[str, Any]) -> str:
    """Why the advice does not hold; empty if it does.

    With seeds that neither chose nor proved it, what it promises has to be there within the factor by which goodputs
    are called unequal, and better than without it by half of what matters at least.
    """
    trial = advice.trial
    name, *others = trial.quantities
    before, after = measured(document, trial.quantities), measured(trial.scenario.document(), trial.quantities)
    gain = after[name] / before[name] - 1
    if (gain if trial.better == "higher" else -gain) < MATTERS / 2:
        return f"{trial.template}: {name} is to become {trial.better}, and changes by {100 * gain:.1f} %"
    if not 1 / UNEQUAL < after[name] / advice.after[name] < UNEQUAL:
        return f"{trial.template}: {name} is {after[name]:.4g}, and was to be {advice.after[name]:.4g}"
    if trial.template == "fair_queue" and max(after.values()) > UNEQUAL**2 * min(after.values()):
        return f"{trial.template}: {after}"
    if trial.template == "smaller_buffer" and after[others[0]] < before[others[0]] - 2 * AS_BUSY:
        return f"{trial.template}: the link is {after[others[0]]:.3f} busy after {before[others[0]]:.3f}"
    return ""


def held(number: int) -> tuple[str, str]:
    """The template of what is advised in a scenario, and why it does not hold; empty without advice, and if it does."""
    document = scenario(number)
    found = finding(ps.run(document))
    if found.advice is None:
        return "", ""
    advice = found.advice
    name = advice.trial.quantities[0]
    printed = quantity(advice.after[name], "s" if name.endswith("_s") else "bit/s")
    assert printed in found.sentences[-1], "the sentence says what the run of the change gave"
    assert advice.trial.template in found.templates
    return advice.trial.template, refuted(advice, document)


def every(numbers: range) -> dict[str, int]:
    """How often each template was advised; fails where advice is refuted."""
    advised: dict[str, int] = {}
    wrong = {}
    for number in numbers:
        template, why = held(number)
        if template:
            advised[template] = advised.get(template, 0) + 1
        if why:
            wrong[number] = why
    assert not wrong, wrong
    return advised


def test_advice_of_some_scenarios_holds() -> None:
    assert sum(every(range(QUICK)).values()) >= 2


@pytest.mark.slow
def test_advice_of_all_scenarios_holds() -> None:
    advised = every(range(SCENARIOS))
    assert set(advised) == {"fair_queue", "smaller_buffer", "larger_buffer", "less_loss"}, "each kind is tried"


def test_a_change_that_does_not_help_is_not_advised() -> None:
    """The null: losses on the medium so rare that they cost less than anybody notices."""
    link = {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "6 packets"}}
    rare = {"loss": {"name": "bernoulli", "probability": 2e-4}}
    flow = {"name": "window", "rtt": "40 ms", "receive_window": "12 packets", "congestion_control": "bbr"}
    run = ps.run({"duration": "15 s", "warm_up": "3 s", "bottleneck": link | rare, "flows": [flow]})
    assert "less_loss" not in finding(run).templates
    assert finding(run).advice is None


def run_of(document: Mapping[str, Any]) -> Run:
    return ps.run({"duration": "12 s", "warm_up": "4 s", "repetitions": 3} | document)


def lossy() -> Run:
    link = {"rate": "50 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.01}}
    return run_of({"bottleneck": link, "flows": [{"name": "all", "count": 2, "rtt": "40 ms"}]})


def test_without_a_run_there_is_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes too long to simulate, what was emulated, and what is not to be tried."""
    run = lossy()
    assert finding(run).advice is not None
    assert finding(run, advise=False).advice is None
    emulated = Result(None, {**run.metadata, "instrument": "emulate"}, run.tables)
    assert finding(emulated).advice is None
    monkeypatch.setattr("parshall.report.remedies.AFFORDABLE_PACKETS", 1000)
    assert finding(run).advice is None
