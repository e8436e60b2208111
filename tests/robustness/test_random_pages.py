"""Pages of random scenarios: their opening sentences have only numbers of the records, and anybody can read them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import random_scenarios as generator

import parshall as ps
from parshall.foundations.numbers import quantity
from parshall.instruments.simulation import Run
from parshall.report import page_html
from parshall.report.disagreement import wrong
from parshall.report.figures.delays import pooled_delays
from parshall.report.finding import finding
from parshall.report.settling import settling
from parshall.results.quantities.measuring import busiest
from parshall.results.quantities.naming import named

pytestmark = pytest.mark.filterwarnings("default")  # a warning is no fault of the page

RUNS, PAGE_IN = 40, 8
NUMBER = re.compile(r"\d[\d.,\u202f]*(?:\u202f×\u202f10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\xa0(?:[kMGT]?bit/s|[nµm]?s|%)")
"""With its unit; a count has none."""


def printed(run: Run) -> set[str]:
    """What the sentences may say: quantities of the run and of its halves, what models that are wrong predicted.

    And of the busiest link what is free, the least of its queue, and which share of its packets is lost where.
    """
    metrics = run.metrics()
    found = {quantity(metric.interval.mean, metric.unit) for metric in metrics.values() if metric.estimate}
    for name, change in settling(run).items():
        found |= {quantity(half, named(name).unit) for half in (change.first, change.second)}
    for each in wrong(run):
        found |= {quantity(value, each.unit) for value in (each.low, each.high, each.measured)}
    link = busiest(run.links)
    packets = run.links.filter(run.links["link"] == link)
    if arrived := packets["arrivals_packets"].sum():
        lost = (packets[name].sum() for name in ("dropped_packets", "medium_losses_packets"))
        found |= {quantity(each / arrived, "ratio") for each in lost}
    advice = finding(run).advice
    if advice is not None:
        name = advice.trial.quantities[0]
        unit = "s" if name.endswith("_s") else "bit/s"
        found |= {quantity(each[name], unit) for each in (advice.before, advice.after)}
    used = metrics.get(f"link/{link}/utilisation")
    if used is not None:
        found.add(quantity(1.0 - used.interval.mean, "ratio"))
    if run.delay_histogram is not None:
        delays = pooled_delays(run.delay_histogram.filter(run.delay_histogram["link"] == link), "packets")
        if delays is not None:
            found.add(quantity(float(delays.quantiles([0.01])[0]), "s"))
    return found


def faults(page: str) -> list[str]:
    """What keeps a screen reader from the page."""
    drawings = re.findall(r"<svg\b[^>]*>", page)
    found = [each for each in drawings if 'role="img"' not in each and 'aria-hidden="true"' not in each]
    for svg in re.findall(r"<svg role=.*?</svg>", page, re.DOTALL):
        root = ET.fromstring(svg)
        if root.get("aria-label"):
            continue
        named = {child.get("id") for child in root if child.tag in ("title", "desc") and child.text}
        if set(root.get("aria-labelledby", "none").split()) != named:
            found.append("a drawing without title or description")
    found += [image for image in re.findall(r"<img\b[^>]*>", page) if not re.search(r'alt="[^"]+"', image)]
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    jumps = zip([0, *levels], levels, strict=False)
    found += [f"h{after} after h{before}" for before, after in jumps if after > before + 1]
    names = re.findall(r'\bid="([^"]+)"', page)
    found += [f"id {name} twice" for name in set(names) if names.count(name) > 1]
    found += [f"no #{name}" for name in re.findall(r'href="#([^"]+)"', page) if name not in names]
    return found


@pytest.mark.slow
def test_sentences_say_what_is_in_the_records(tmp_path: Path) -> None:
    generator.write_files(tmp_path)
    faulty, told, pages = [], 0, 0
    for seed in range(RUNS):
        try:
            run = ps.run(ps.Scenario.from_document(generator.valid(seed), tmp_path))
        except ps.ScenarioError:
            continue  # its parts do not fit together
        text = finding(run).text
        told += bool(text)
        unknown = set(NUMBER.findall(text)) - printed(run)
        if unknown or re.search(r"\b(nan|inf|None)\b|  |\.\.", text):
            faulty.append(f"{seed}: {unknown or text}")
        again = ps.Scenario.load(run.directory / "scenario.toml") if run.directory else None
        if again is None or again.resolve() != run.scenario.resolve():
            faulty.append(f"{seed}: scenario.toml is another scenario")
        if seed % PAGE_IN == 0:
            pages += 1
            faulty += [f"{seed}: {fault}" for fault in faults(page_html(run))]
    assert not faulty, "\n".join(faulty)
    assert told > RUNS // 2
    assert pages
