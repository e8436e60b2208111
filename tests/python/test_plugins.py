"""A package that adds a model, a quantity, a figure, a section, a study and verbs, as an installer leaves it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CODE = """
import numpy as np
import parshall as ps
import polars as pl
from parshall.analysis.models.answer import ThroughputModel
from parshall.analysis.models.entry import ModelEntry
from parshall.report.plot import Axis, Figure, Line, Missing, Panel, Plot
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.region import exactly
from parshall.instruments.prediction.answers import ByClass, LinkQueue
from parshall.report.document import Section
from parshall.report.observation.additions import FoundOfTrace, TraceSection
from parshall.studies.study import Findings, Part, Study

MODEL = ThroughputModel(
    ModelEntry("ten", "throughput", "ten packets a round trip", "10/RTT", "nobody", "always", ("reno",)),
    rate=lambda c: 10 / c.rtt_s + 0 * c.loss,
    check=lambda c: None,
)

@ps.quantity("plugged_timeouts", unit="1", better="lower")
def timeouts(tables):
    return tables["flows"].group_by("repetition").agg(pl.col("timeouts").sum().cast(pl.Float64))

FIGURE = Figure("line", "A line of my own",
    lambda run: Plot([Panel([Line([0, 1], [0, len(run.flows)])], Axis("a"), Axis("b"))], "What it shows."))
NONE = Figure("none", "Nothing", lambda run: Missing("There is nothing to see."))

def one_sum(*_):
    return Findings([equal("sum", "of one and one", 2, exactly(2))], [])

STUDY = Study("mine", "Mine", "one sum", "nobody", (Part.of("sum", one_sum),))

def predicted(network, links):
    return ByClass(queues=(LinkQueue("bottleneck", "mine", True, None, mean_queue_packets=1.5),))

COUNTED = TraceSection("counted", "counting", lambda observation, trace: FoundOfTrace(
    observation.number(), Section("Counted", [f"There are {observation.number()} flows."])))

def greet(name: str, loudly: bool = False) -> None:
    "Greet somebody."
    if name == "nobody":
        raise ps.errors.InputError("greet: found nobody")
    print(name.upper() if loudly else name)
"""
ENTRIES = """
[parshall.models]
ten = plugged:MODEL
[parshall.quantities]
mine = plugged
[parshall.figures]
line = plugged:FIGURE
none = plugged:NONE
[parshall.studies]
mine = plugged:STUDY
[parshall.predictions]
red = plugged:predicted
[parshall.sections]
counted = plugged:COUNTED
[parshall.verbs]
greet = plugged:greet
design.greet = plugged:greet
"""
CAPTURE = Path(__file__).parents[2] / "fuzz" / "corpus" / "captures" / "ethernet.pcap"

Verb = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site(installed: Callable[..., Path]) -> Path:
    return installed("plugged", CODE, ENTRIES)


@pytest.fixture
def verb(command: Callable[..., list[str]], site: Path, toml: Path) -> Verb:
    """Runs the program where the package is installed."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command(arguments, site), cwd=toml.parent, capture_output=True, text=True, check=False)

    return call


def printed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_is_listed_and_predicts(verb: Verb) -> None:
    assert json.loads(printed(verb("list", "ten", "--json")))["models"][0]["formula"] == "10/RTT"
    predicted = json.loads(printed(verb("predict", "small.toml", "--json")))
    assert "ten" in json.dumps(predicted)


def test_networks_with_a_queue_are_predicted_by_its_package(verb: Verb) -> None:
    """Those with another queue are not."""
    for queue, values in (("red", [1.5]), ("drop_tail", [])):
        words = ("predict", "small.toml", "--set", f"bottleneck.queue.name={queue}", "--json")
        rows = json.loads(printed(verb(*words)))["predicted"]
        assert [row["predicted"] for row in rows if row["model"] == "mine"] == values


@pytest.mark.slow
def test_figures_are_on_the_page(verb: Verb, tmp_path: Path) -> None:
    printed(verb("run", "small.toml", "-o", "run", "--quiet"))
    page = (tmp_path / "run" / "report.html").read_text()
    assert "A line of my own" in page
    assert "There is nothing to see." in page
    printed(verb("report", "run", "--figures", "drawn"))
    assert (tmp_path / "drawn" / "line.svg").exists()


@pytest.mark.slow
def test_quantities_and_studies_are_known(verb: Verb) -> None:
    assert json.loads(printed(verb("study", "mine", "--json")))[0]["verdict"] == "reproduced"
    assert "mine" in {each["name"] for each in json.loads(printed(verb("list", "studies", "--json")))}
    printed(verb("run", "small.toml", "-o", "run", "--no-page"))
    compared = json.loads(printed(verb("compare", "run", "run", "--json")))
    assert "plugged_timeouts" in json.dumps(compared)


def test_a_verb_is_in_the_help_and_does_what_it_says(verb: Verb) -> None:
    assert "Greet somebody." in printed(verb("--help"))
    assert printed(verb("greet", "you", "--loudly")) == "YOU\n"
    refused = verb("greet", "nobody")
    assert (refused.returncode, refused.stderr) == (2, "parshall: greet: found nobody\n")


def test_a_verb_is_added_below_a_verb(verb: Verb) -> None:
    assert printed(verb("design", "greet", "you")) == "you\n"
    assert "buffer" in printed(verb("design", "--help"))


def test_a_section_is_on_the_page_of_a_capture_and_in_json(verb: Verb, tmp_path: Path) -> None:
    found = json.loads(printed(verb("observe", str(CAPTURE), "--json")))
    assert found["counted"] == [found["flow_count"]]
    page = (tmp_path / "observe.html").read_text(encoding="utf-8")
    assert f"There are {found['flow_count']} flows." in page


@pytest.mark.parametrize(
    ("group", "entry", "arguments", "said"),
    [
        ("models", "x = plugged:FIGURE", ["list"], "accepted: a parshall.analysis.models.answer.ThroughputModel"),
        ("models", "x = plugged:PFTK", ["list"], 'there is a model "pftk" already'),
        (
            "sections",
            "x = plugged:FIGURE",
            ["observe", "trace.pcap"],
            "accepted: a parshall.report.observation.additions",
        ),
        ("verbs", "design.buffer = plugged:greet", ["design", "--help"], 'there is a verb "buffer" already'),
        ("models", "x = absent:MODEL", ["list"], 'model of the plug-in "x" of plugged 1.0: ModuleNotFoundError'),
        ("figures", "x = plugged:MODEL", ["run", "small.toml"], "accepted: a parshall.report.plot.Figure"),
        ("verbs", "run = plugged:greet", ["--help"], 'there is a verb "run" already'),
        ("verbs", "x = plugged:CODE", ["--help"], "AttributeError"),
        ("verbs", "x = plugged:NUMBER", ["x"], "accepted: a function"),
    ],
    ids=["kind", "twice", "section", "below", "absent", "figure", "taken", "attribute", "number"],
)
def test_what_cannot_be_used_is_one_clear_error(
    site: Path, verb: Verb, *, group: str, entry: str, arguments: list[str], said: str
) -> None:
    (site / "plugged.py").write_text(CODE + "\nNUMBER = 1\nPFTK = ps.models.entry.entry('pftk')\n")
    (site.parent / "trace.pcap").symlink_to(CAPTURE)
    (site / "plugged-1.0.dist-info" / "entry_points.txt").write_text(f"[parshall.{group}]\n{entry}\n")
    done = verb(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
