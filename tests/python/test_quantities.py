"""One catalogue of quantities: names, users' own, plug-ins, and nothing stale when one is defined anew."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import parshall as ps
from parshall.analysis.stats.estimates import Means
from parshall.campaign import comparing
from parshall.campaign.keys import call_of
from parshall.campaign.page import document
from parshall.foundations.errors import InputError, QuantityError
from parshall.instruments.simulation.summary import of_this_code
from parshall.report import compare, write_page
from parshall.results.quantities import catalog, digest, naming, own
from parshall.results.quantities.tables import Tables
from parshall_studies import transport

ROOT = Path(__file__).parents[2]

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "repetitions": 3,
    "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
    "flows": [{"name": "web", "count": 2, "rtt": "50 ms", "start": {"uniform": "0.2 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = dict(own._defined)
    yield
    own._defined.clear()
    own._defined.update(before)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ps.Run:
    return ps.run(SCENARIO, tmp_path_factory.mktemp("runs") / "a")


def define(factor: float = 1.0, key: str = "most_bps", **more: Any) -> Callable[..., Any]:
    """The same function with another number in it: what somebody does who edits a definition."""

    @ps.quantity(key, **{"unit": "bit/s", "better": "higher", "label": "goodput of the best flow", **more})
    def most(tables: Tables) -> pl.DataFrame:
        return tables["flows"].group_by("repetition").agg(factor * pl.col("goodput_bps").max())

    return most


def swept(store: Path, name: str = "counts", **keys: Any) -> ps.Sweep:
    scenario = {key: value for key, value in SCENARIO.items() if key != "repetitions"}
    given = {"scenario": scenario, "parameters": {"flows.0.count": [1, 2]}, "repetitions": 3, **keys}
    return ps.sweep(ps.Plan(name=name, **given), store, workers=1)


def best(run: ps.Run) -> list[float]:
    return [run.flows.filter(pl.col("repetition") == n)["goodput_bps"].max() for n in range(3)]  # type: ignore[misc]


# --- the catalogue ---


def test_every_quantity_says_what_it_is() -> None:
    for each in (*catalog.OURS.values(), *transport.MEASURES.values(), *transport.HARMS.values(), *transport.OTHERS):
        assert each.label, each.key
        assert each.unit in {"s", "bit/s", "packets", "ratio", "1"}, each.key
        assert each.better in {"higher", "lower", None}, each.key


def test_names_of_the_guide_are_names_of_quantities() -> None:
    """docs/json.md says which keys a run has; each is the name of a quantity."""
    for name in catalog.SUMMARY:
        assert naming.named(name).name == name
    assert naming.named("queue_packets").quantity is naming.named("link/x/queue_packets").quantity


def test_the_busiest_link_has_one_value_under_both_names(run: ps.Run) -> None:
    assert run.quantity("queue_packets").interval == run.quantity("link/bottleneck/queue_packets").interval


def test_no_meaning_is_read_off_names() -> None:
    """Nobody looks at how a metric's name begins, ends, or what is in it."""
    files = [*(ROOT / "python/parshall/campaign").glob("*.py"), *(ROOT / "python/parshall/report").rglob("*.py")]
    files += [
        *(ROOT / "python/parshall/results/quantities").glob("*.py"),
        *(ROOT / "studies/parshall_studies/benchmark").glob("*.py"),
    ]
    guessing = re.compile(r"(metric|key|quantity)\w*\.(endswith|removesuffix|startswith)\(|\bin (metric|key)\b")
    assert [path.name for path in files if guessing.search(path.read_text(encoding="utf-8"))] == []


def test_a_flow_has_quantities_of_its_own(run: ps.Run) -> None:
    for number in range(2):
        found = run.flows.filter(pl.col("flow") == number).sort("repetition")
        assert list(run.quantity(f"flow/{number}/goodput_bps").values.values()) == found["goodput_bps"].to_list()
    with pytest.raises(InputError, match="flow/7/goodput_bps: nothing was measured"):
        run.quantity("flow/7/goodput_bps")


def test_a_slip_is_answered_with_what_was_meant(run: ps.Run) -> None:
    with pytest.raises(InputError, match=r'found "goodput"; accepted: .*Did you mean "goodput_bps"\?'):
        run.quantity("goodput")


# --- users' own ---


def test_one_of_users_is_used_like_ours(run: ps.Run, tmp_path: Path) -> None:
    define()
    metric = run.quantity("most_bps")
    assert list(metric.values.values()) == best(run)
    assert (metric.unit, metric.better, metric.label) == ("bit/s", "higher", "goodput of the best flow")
    found = {each.key: each for each in compare(run, ps.run({**SCENARIO, "seed": 9})).differences}
    assert found["most_bps"].label == "Goodput of the best flow"
    page = write_page(run, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Goodput of the best flow" in page

    made = swept(tmp_path / "store", metrics=["most_bps", "goodput_bps"])
    assert made.points["most_bps"].to_list() == pytest.approx(
        [sum(made.values("most_bps", point).values()) / 3 for point in range(2)]
    )
    headers = [table.header for section in document(made).sections for table in section.tables]
    assert any("goodput of the best flow" in header for header in headers)
    both = comparing.compare(made, made)
    assert {each.metric for each in both.differences} == {"most_bps", "goodput_bps"}
    rows = ps.query(made.store, "SELECT value FROM metrics WHERE metric = 'most_bps'", ["counts"])
    assert rows.height == 6


def test_one_of_users_may_decide_how_often_points_are_repeated(tmp_path: Path) -> None:
    define()
    rule = {"metric": "most_bps", "relative_half_width": 0.5, "minimum": 4, "maximum": 8}
    made = swept(tmp_path / "a", repetitions=rule)
    assert set(made.points["repetitions"]) <= {4, 6, 8}
    assert made.points["ended"].to_list() == ["precise", "precise"]
    again = swept(tmp_path / "a", name="again", repetitions={**rule, "relative_half_width": 1e-9})
    assert again.points["repetitions"].to_list() == [8, 8]


@pytest.mark.parametrize("per", ["group", "link", "flow"])
def test_one_of_users_per_place(run: ps.Run, tmp_path: Path, per: str) -> None:
    place = {"group": "web", "link": "bottleneck", "flow": "1"}[per]
    table = "links" if per == "link" else "flows"

    @ps.quantity("rows", unit="1", per=per)  # type: ignore[arg-type]
    def rows(tables: Tables) -> dict[int, float]:
        assert tables.name == place
        return {n: float(found["repetition"].len()) for (n,), found in tables[table].group_by("repetition")}  # type: ignore[misc]

    expected = 2.0 if per == "group" else 1.0
    assert set(run.quantity(f"{per}/{place}/rows").values.values()) == {expected}
    assert (f"{per}/{place}/rows" in run.metrics()) == (per != "flow"), "there may be a million flows"
    made = swept(tmp_path, metrics=[f"{per}/{place}/rows"], parameters={"flows.0.count": [2, 3]})
    assert made.points[f"{per}/{place}/rows"].to_list() == ([2.0, 3.0] if per == "group" else [1.0, 1.0])


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda _: 1 / 0, r'quantity "bad" \(test_quantities.py:\d+\): ZeroDivisionError: division by zero'),
        (lambda tables: tables["flows"].select("nope"), r'quantity "bad" .*ColumnNotFoundError'),
        (lambda _: {0: float("nan")}, r"found nan in repetition 0; accepted: finite numbers"),
        (lambda _: Means({2: float("inf")}), r"found inf in repetition 2"),
        (lambda _: 3.0, r"found float; accepted: a frame or mapping"),
        (lambda tables: tables["flows"], r'accepted: "repetition" and one more'),
    ],
)
def test_one_that_fails_is_one_clear_error(run: ps.Run, result: Callable[..., Any], said: str) -> None:
    ps.quantity("bad", unit="1")(result)
    with pytest.raises(QuantityError, match=said):
        run.quantity("bad")
    with pytest.raises(QuantityError, match=said):
        compare(run, run)


def test_a_repetition_without_a_value_is_left_out(run: ps.Run) -> None:
    ps.quantity("some", unit="s")(lambda _: {0: 1.0, 1: None, 2: -3.0})
    metric = run.quantity("some")
    assert dict(metric.values) == {0: 1.0, 2: -3.0}
    ps.quantity("captured", unit="1")(lambda tables: tables["trace_flows"])
    assert "captured" not in run.metrics(), "a table that was not recorded is no failure"


@pytest.mark.parametrize(
    ("key", "more", "said"),
    [
        ("goodput_bps", {}, "there is one of that key already, Parshall's own"),
        ("loss_rate", {}, "there is one of that key already"),
        ("queue_packets", {}, "there is one of that key already"),
        ("jain", {"per": "group"}, "there is one of that key already"),
        ("most_bps", {}, r"there is one of that key already, the one of test_quantities.py:\d+"),
        ("most_bps", {"per": "link"}, "there is one of that key already"),
        ("run", {}, "a column of the tables has that name"),
        ("my/key", {}, "accepted: letters, digits and _"),
        ("mine", {"per": "packet"}, 'per: found \'packet\'; accepted: "run", "group", "flow", "link"'),
        ("mine", {"better": "more"}, 'better: found \'more\'; accepted: "higher", "lower", or None'),
    ],
)
def test_what_cannot_be_defined(key: str, more: dict[str, Any], said: str) -> None:
    define()
    with pytest.raises(InputError, match=said):
        ps.quantity(key, **{"unit": "1", **more})(lambda _: {})


def test_a_sweep_that_names_an_unknown_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'metrics.0: found "most_bps"'):
        swept(tmp_path, metrics=["most_bps"])
    define()
    swept(tmp_path, metrics=["most_bps"])
    own.forget("most_bps")
    later = ps.Sweep.load(tmp_path, "counts")
    assert ps.query(later.store, "SELECT goodput_bps FROM runs", ["counts"]).height == 6
    with pytest.raises(InputError, match="one of your own is to be defined first"):
        later.points  # noqa: B018 - it is computed


# --- nothing stale ---


def test_one_that_is_defined_anew_has_its_new_value(run: ps.Run, tmp_path: Path) -> None:
    define()
    made = swept(tmp_path, metrics=["most_bps"])
    old, of_run = made.values("most_bps", 0), run.quantity("most_bps").interval.mean
    define(2.0)
    assert made.values("most_bps", 0) == {n: 2 * value for n, value in old.items()}
    assert run.quantity("most_bps").interval.mean == 2 * of_run
    assert swept(tmp_path, metrics=["most_bps"]).points["most_bps"][0] == pytest.approx(2 * sum(old.values()) / 3)


def test_one_that_is_named_later_needs_no_run(tmp_path: Path) -> None:
    made = swept(tmp_path)
    define()
    assert made.values("most_bps", 1).keys() == {0, 1, 2}
    assert len(ps.Sweep.load(tmp_path, "counts").values("most_bps", 0)) == 3


def test_a_study_measures_again_with_another_quantity() -> None:
    keys = []
    for scale in (1.0, 1.0, 3.0):
        define(scale)
        keys.append(call_of(math.sqrt, (2.0,)).key)
    assert keys[0] == keys[1] != keys[2]


def test_a_summary_of_other_code_is_computed_again(tmp_path: Path) -> None:
    made = ps.run(SCENARIO, tmp_path / "a")
    path = tmp_path / "a" / "run.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["quantities"] == of_this_code()
    content["summary"]["goodput_bps"] = 1.0
    path.write_text(json.dumps(content))
    assert ps.Run.load(tmp_path / "a").summary["goodput_bps"] == 1.0, "the same code: what is stored"
    content["quantities"] = "another"
    path.write_text(json.dumps(content))
    assert ps.Run.load(tmp_path / "a").summary == made.summary


FACTOR = 1.0


def test_a_digest_follows_what_a_function_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def helper() -> float:
        return FACTOR

    def first(_: Tables) -> dict[int, float]:
        return {0: helper()}

    before = digest.of_function(first)
    assert digest.of_function(first) == before
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 2.0)
    assert digest.of_function(first) != before, "a global of a function that it calls"
    assert digest.of_function(define(1.0)) == digest.of_function(define(1.0))
    assert digest.of_function(define(1.0)) != digest.of_function(define(2.0))


def test_a_digest_is_the_same_in_another_process() -> None:
    code = "from parshall.results.quantities import catalog, digest; print(digest.of_quantities(catalog.OURS.values()))"
    found = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(2)}
    assert found == {f"{digest.of_quantities(catalog.OURS.values())}\n".encode()}


def test_the_number_of_cores_changes_no_digit() -> None:
    """60,000 transfers: a plain mean is added up in as many parts as there are threads."""
    code = (
        "import numpy as np, polars as pl; from parshall.results.quantities.computing import by_repetition; "
        "values = np.random.default_rng(1).exponential(size=60000); "
        "table = pl.DataFrame({'repetition': np.repeat(np.arange(3), 20000), 'v': values}); "
        "print(by_repetition(table, pl.col('v').mean()))"
    )
    environments = [{**os.environ, "POLARS_MAX_THREADS": str(n)} for n in (1, 3, 4)]
    words = [sys.executable, "-c", code]
    found = {subprocess.run(words, check=True, capture_output=True, env=each).stdout for each in environments}
    assert len(found) == 1


# --- plug-ins ---

PLUGIN = """
import polars

import parshall as ps

@ps.quantity("plugged_packets", unit="packets", better="lower", label="packets that were sent again")
def plugged(tables):
    return tables["flows"].group_by("repetition").agg(total("retransmissions"))

def total(name):
    return polars.col(name).sum().cast(polars.Float64)
"""


ENTRIES = "[parshall.quantities]\nmine = plugged\n"


@pytest.fixture
def verb(command: Callable[..., list[str]], tmp_path: Path) -> Callable[..., Any]:
    """Runs the program with what is installed in `tmp_path/site`."""

    def call(*arguments: str) -> Any:
        words = command(arguments, tmp_path / "site")
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


SWEEP = """
name = "plugged"
metrics = ["plugged_packets"]
repetitions = 2
[scenario]
duration = "1 s"
bottleneck = { rate = "5 Mbit/s", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ name = "web", rtt = "50 ms", start = { uniform = "0.2 s" } }]
[parameters]
flows.web.count = [1, 3]
"""


def test_a_plug_in_adds_quantities(installed: Callable[..., Path], tmp_path: Path, verb: Callable[..., Any]) -> None:
    installed("plugged", PLUGIN, ENTRIES)
    (tmp_path / "s.toml").write_text(SWEEP)
    done = verb("sweep", "s.toml", "--json", "--no-page")
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert all(point["plugged_packets"] >= 0 for point in points)
    assert points[1]["plugged_packets"] > 0
    shown = verb("sweep", "s.toml", "--no-page")
    assert "packets that were sent again" in " ".join(shown.stdout.split())


def test_a_plug_in_that_fails_is_one_clear_error(
    installed: Callable[..., Path], tmp_path: Path, verb: Callable[..., Any]
) -> None:
    installed("plugged", "import nothing_of_that_name", ENTRIES)
    (tmp_path / "s.toml").write_text(SWEEP)
    done = verb("sweep", "s.toml", "--json", "--no-page")
    assert done.returncode == 2
    where, _, what = done.stderr.strip().partition(": ModuleNotFoundError: ")
    assert where == 'parshall: quantities of the plug-in "mine" of plugged 1.0'
    assert what == "No module named 'nothing_of_that_name'"


def test_terminal_output_has_the_catalogues_words(cli: Callable[..., Result], tmp_path: Path) -> None:
    define(label="goodput of the luckiest")
    swept(tmp_path / "store", metrics=["most_bps"])
    swept(tmp_path / "store", name="b", metrics=["most_bps"])
    shown = cli("compare", "counts", "b", "--store", "store")
    assert shown.exit_code == 0, shown.output
    assert "luckiest" in shown.stdout
