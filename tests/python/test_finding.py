"""The sentences that open the page: what they say is in the records, for every kind of network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.foundations.numbers import THIN, quantity
from parshall.instruments.simulation import Run
from parshall.report import disagreement
from parshall.report.finding import RunFinding, finding
from parshall.report.settling import settling
from parshall.results.quantities.measuring import busiest
from parshall.results.quantities.naming import named
from parshall.results.records import Result

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NUMBER = re.compile(r"\d[\d.,\u202f]*(?:\u202f×\u202f10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\xa0(?:[kMGT]?bit/s|[nµm]?s|%)")


def numbers_of(found: RunFinding) -> list[str]:
    """The numbers with a unit in the sentences."""
    return NUMBER.findall(found.text)


def known(run: Result) -> set[str]:
    """Every quantity of a run as the page prints it, and what is free on its busiest link."""
    assert run.links is not None
    metrics = run.metrics()
    texts = {quantity(metric.interval.mean, metric.unit) for metric in metrics.values()}
    used = metrics[f"link/{busiest(run.links)}/utilisation"].interval.mean
    halves = {
        quantity(value, named(name).unit) for name, each in settling(run).items() for value in (each.first, each.second)
    }
    models = {
        quantity(value, each.unit) for each in disagreement.wrong(run) for value in (each.low, each.high, each.measured)
    }
    return texts | {quantity(1 - used, "ratio")} | halves | models | advised(run)


def advised(run: Result) -> set[str]:
    """The numbers that simulations of advice gave."""
    advice = finding(run).advice
    if advice is None:
        return set()
    name = advice.trial.quantities[0]
    unit = "s" if name.endswith("_s") else "bit/s"
    return {quantity(each[name], unit) for each in (advice.before, advice.after)}


def simulated(document: dict[str, Any]) -> Run:
    rest = {"duration": "12 s", "warm_up": "4 s", "repetitions": 3}
    return ps.run(ps.Scenario.from_document(rest | document))


def bulk(name: str, control: str = "reno", **more: Any) -> dict[str, Any]:
    return {"name": name, "rtt": "40 ms", "congestion_control": control, "start": {"uniform": "1 s"}, **more}


def test_a_full_link_with_equal_flows() -> None:
    link = {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "2 BDP"}}
    run = simulated({"bottleneck": link, "flows": [bulk("all", count=3)]})
    found = finding(run)
    assert found.text.startswith("The bottleneck is the limit: it is 100\xa0% busy. Its 3\xa0flows get ")
    assert "link/bottleneck/queueing_delay_p99_s" in found.quantities
    standing = re.search(r"99 % of packets find (.*) of queue or more: simulated with other seeds", found.text)
    assert standing is not None, "two BDP never empty"
    assert set(numbers_of(found)) <= known(run) | {standing[1]}


def test_a_buffer_smaller_by_what_is_always_in_it_keeps_the_link_busy() -> None:
    """The advice is followed, and what it promises is measured."""
    scenario = {"bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "2 BDP"}}}
    before = simulated({**scenario, "flows": [bulk("all", count=3)]})
    saving = re.search(r"99 % of packets find ([\d.]+)\xa0ms", finding(before).text)
    assert saving is not None
    assert before.links["rate_bps"][0] == 10e6
    packets = round((0.08 - float(saving[1]) / 1e3) * 10e6 / 12_000)
    smaller = {"bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{packets} packets"}}}
    after = simulated({**smaller, "flows": [bulk("all", count=3)]})
    used, wait = "link/bottleneck/utilisation", "link/bottleneck/queueing_delay_s"
    assert after.quantity(used).interval.mean > 0.99
    assert after.quantity(wait).interval.mean < 0.8 * before.quantity(wait).interval.mean


def test_unequal_groups_are_told_apart_and_evened_out_by_a_queue_for_each_flow() -> None:
    flows = [bulk("near", count=2, rtt="20 ms", tcp="rfc"), bulk("far", count=2, rtt="80 ms", tcp="rfc")]
    run = simulated({"bottleneck": {"rate": "10 Mbit/s"}, "flows": flows})
    found = finding(run)
    assert "A flow of near gets " in found.text
    assert "A queue that serves flows in turn evens their goodput out" in found.text
    assert set(numbers_of(found)) <= known(run)
    fair = {"rate": "10 Mbit/s", "queue": {"name": "fq_codel"}}
    other = finding(simulated({"bottleneck": fair, "flows": flows}))
    assert "serves flows in turn" not in other.text


def test_losses_on_the_medium_hold_flows_back() -> None:
    link = {"rate": "50 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.01}}
    run = simulated({"bottleneck": link, "flows": [bulk("all", count=2)]})
    found = finding(run)
    assert "losses on the medium" in found.text
    assert found.text.endswith("without losses on the medium.")
    assert set(numbers_of(found)) <= known(run)


def test_what_applications_send_is_the_limit_of_an_idle_link() -> None:
    voice = {"name": "voice", "rtt": "40 ms", "workload": {"name": "cbr", "rate": "64 kbit/s"}}
    run = simulated({"bottleneck": {"rate": "10 Mbit/s"}, "flows": [voice]})
    found = finding(run)
    assert "what limits the flows is how much the applications send." in found.text
    assert found.text.endswith("Packets wait 0\xa0s at the bottleneck on average.")
    assert set(numbers_of(found)) <= known(run)


def test_the_busiest_link_is_spoken_of_and_the_groups_that_cross_it() -> None:
    run = ps.run(ps.Scenario.load(SCENARIOS / "parking-lot.toml", ("duration=20 s", "warm_up=5 s")))
    found = finding(run)
    place = busiest(run.links)
    assert found.text.startswith(f"The link {place} is the limit")
    others = {"first": "hop-1", "second": "hop-2", "third": "hop-3"}
    assert not [group for link, group in others.items() if link != place and group in found.text]
    assert set(numbers_of(found)) <= known(run)


def test_nothing_is_said_of_nothing() -> None:
    assert finding(Result(None, {}, {})).text == ""
    flows = pl.DataFrame({"repetition": [0], "group": ["a"], "flow": [0], "congestion_control": ["reno"]})
    assert finding(Result(None, {}, {"flows": flows})) == RunFinding()


@pytest.mark.parametrize("text", ["12.3\xa0ms", "0.560\xa0%", f"1{THIN}×{THIN}10⁻⁹\xa0%", "3.31\xa0Mbit/s"])
def test_the_numbers_of_a_sentence_are_found(text: str) -> None:
    assert numbers_of(RunFinding((f"It is {text}, or 1 in 100.",))) == [text]
