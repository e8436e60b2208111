"""Predictions as the terminal prints them, and beside runs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Any

from saying import State

import parshall as ps
from parshall.cli import predict as verb
from parshall.cli.groups import Printed
from parshall.instruments.prediction.predict import flatten
from parshall.report.predicted import View, view


def scenario(*flows: Mapping[str, Any], **more: Any) -> ps.Scenario:
    rest = {"duration": "60 s", "warm_up": "10 s", "bottleneck": {"rate": "10 Mbit/s"}}
    return ps.Scenario.from_document(rest | {"flows": [{"rtt": "40 ms", **each} for each in flows]} | more)


def printed(made: ps.Scenario) -> str:
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        verb.predict_scenario(made, None, Printed(), force=False)
    return terminal.getvalue()


def oracle(made: ps.Scenario, text: str) -> None:
    """Brackets are explained where a model has several readings of a full link, and no answer says why."""
    answers = [each for each in flatten(ps.predict(made)) if each["quantity"] == "goodput_bps"]
    several = {
        (each["subject"], each["model"])
        for each in answers
        for other in answers
        if each["in_range"]
        and other["in_range"]
        and (each["subject"], each["model"]) == (other["subject"], other["model"])
        and abs(each["predicted"] / other["predicted"] - 1) > 0.01
    }
    if several:
        assert "In brackets" in text
    silent = {each["reason"] for each in answers if not each["in_range"]}
    for reason in silent:
        assert " ".join(reason.split()) in " ".join(text.split()), text


@cache
def beside_transfers(instrument: str = "simulate") -> View:
    made = scenario(
        {
            "name": "files",
            "congestion_control": "reno",
            "count": 20,
            "workload": {"name": "transfer", "sizes": "50 kB"},
        },
        warm_up="0 s",
        bottleneck={"rate": "100 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.01}},
    )
    run = ps.run(made)
    rows = flatten(ps.predict(made, run))
    return view(type(run)(None, {**run.metadata, "instrument": instrument, "predicted": rows}, run.tables))


def of_view(view: View) -> str:
    """All words of a section of predictions, and the first sentence."""
    texts = []
    for section in view.sections:
        for part in section.parts:
            texts.append(part.title)
            for row in part.rows:
                texts += [row.name, row.reason, *(f"{value.label} {value.text}" for value in row.values)]
    return "\n".join(texts)


FULL = scenario({"name": "bulk", "count": 2, "congestion_control": "reno"})
IDLE = scenario(
    {
        "name": "voice",
        "workload": {"name": "poisson", "rate": "64 kbit/s", "size": {"name": "constant", "value": "200 B"}},
    }
)
LIMITED = scenario({"name": "bulk", "congestion_control": "reno", "receive_window": "4 packets"})

STATES: dict[str, State] = {
    "a full link": State(
        lambda: printed(FULL), {"predicted.range", "predicted.assumed"}, lambda text: oracle(FULL, text)
    ),
    "a model that does not hold": State(
        lambda: printed(
            scenario({"name": "bulk", "count": 2, "congestion_control": "reno"}, duration="0.2 s", warm_up="0 s")
        ),
        {"predicted.no_answer"},
    ),
    "flows that no link limits": State(
        lambda: printed(LIMITED), {"predicted.assumed"}, lambda text: oracle(LIMITED, text)
    ),
    "datagrams alone": State(lambda: printed(IDLE), {"predicted.assumed"}, lambda text: oracle(IDLE, text)),
}
