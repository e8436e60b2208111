"""Slips that people make, and the answers that take them on: each message says what was probably meant."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import parshall as ps
from parshall.campaign.store import Store

Document = dict[str, Any]
Cli = Callable[..., Result]


def message(document: Document, **changes: Any) -> str:
    with pytest.raises(ps.ScenarioError) as refused:
        ps.Scenario.from_document(document).with_values(changes)
    return str(refused.value)


def changed(document: Document, key: str, value: object) -> str:
    return message(document, **{key: value})


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("bottleneck.rate", "10 Mbps", '"10 Mbit/s"'),
        ("bottleneck.rate", "10Mbit", '"10 Mbit/s"'),
        ("bottleneck.rate", "10 MB/s", '"80 Mbit/s"'),
        ("flows.0.rtt", "20 msec", '"20 ms"'),
        ("duration", "5 minutes", '"5 min"'),
        ("flows.0.congestion_control", "bbrr", '"bbr"'),
        ("bottleneck.loss", 0.01, '{name = "bernoulli", probability = 0.01}'),
        ("flows.0.congestion_control", {"name": "cubic", "c": "1 %"}, "0.01"),
        ("flows.0.ecn", "yes", "true"),
    ],
)
def test_what_was_meant_is_asked(document: Document, key: str, value: object, meant: str) -> None:
    said = changed(document, key, value)
    assert said.endswith(f"Did you mean {meant}?") or f'. Did you mean {meant}? Accepted: "' in said


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("bottleneck.rate", "1e3 Mbit/s", "exponent is not read"),
        ("flows.0.count", "many", "accepted: a whole number, e.g. 10"),
        ("flows.0.count", 1.5, "accepted: a whole number"),
        ("flows.0.pacing", 3, "accepted: true or false"),
        ("flows", {"rtt": "1 ms"}, "accepted: a list of tables, each under [[flows]]"),
        ("flows.0.name", 7, "accepted: text in quotes"),
        ("bottleneck", 7, "accepted: a table"),
        ("flows.0.start", {"uniform": ["1 s"]}, "both ends of the interval"),
        ("flows.0.start", {"uniform": ["2 s", "1 s"]}, "the smaller end first"),
    ],
)
def test_what_is_accepted_is_said(document: Document, key: str, value: object, accepted: str) -> None:
    found = changed(document, key, value)
    assert found.startswith(key)
    assert accepted in found


def test_nothing_is_said_in_the_words_of_the_validator(document: Document) -> None:
    for key, value in (("flows.0.count", []), ("flows.0.ecn", {}), ("duration", []), ("bottleneck", []), ("name", {})):
        assert "nput should" not in changed(document, key, value)


def test_starts_are_drawn_over_an_interval(document: Document) -> None:
    document["flows"][0]["start"] = {"uniform": ["0.1 s", "0.2 s"]}
    scenario = ps.Scenario.from_document(document)
    assert scenario.resolve()["flows"][0]["start_ps"] == {"uniform": {"low": 10**11, "high": 2 * 10**11}}
    assert ps.run(scenario).flows.filter(group="bulk")["start_s"].is_between(0.1, 0.2).all()


def test_a_parameter_of_the_default_queue_can_be_set(toml: Path) -> None:
    toml.write_text(toml.read_text().replace('queue = { name = "drop_tail", limit = "20 packets" }', ""))
    scenario = ps.Scenario.load(toml, "bottleneck.queue.limit=7 packets")
    assert scenario.resolve()["links"][0]["queue"] == {"name": "drop_tail", "limit": {"packets": 7}}
    other = ps.Scenario.load(toml, ["bottleneck.queue.limit=70 packets", "bottleneck.queue.name=codel"])
    assert other.resolve()["links"][0]["queue"]["name"] == "codel"
    control = ps.Scenario.load(toml, {"flows.1.congestion_control.beta": 0.5})
    assert control.resolve()["flows"][1]["congestion_control"]["beta"] == 0.5


def test_overrides_are_a_text_several_or_a_table(toml: Path) -> None:
    for overrides in ("duration=1 s", ["duration=1 s"], {"duration": "1 s"}):
        assert ps.Scenario.load(toml, overrides).duration == "1 s"


def test_a_run_of_a_path_or_of_tables(toml: Path, document: Document) -> None:
    assert ps.run(str(toml)).metadata["name"] == "small"
    assert ps.run(toml).repetitions == [0, 1]
    assert ps.run(document).metadata["name"] == "small"


def test_a_scenario_of_a_path_says_how_to_read_one(scenario: ps.Scenario) -> None:
    with pytest.raises(ps.ScenarioError, match=r"Scenario\.load reads a file"):
        ps.Scenario("home.toml")
    with pytest.raises(ps.ScenarioError, match=r"with_values\(\{\"duration\": \.\.\.\}\) gives another"):
        scenario.duration = "10 s"  # type: ignore[misc]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_rate_traces_are_read(document: Document, tmp_path: Path, compression: str) -> None:
    content = b"0\n3\n10\n"
    if compression == "gzip":
        compressed = gzip.compress(content)
    else:
        import pyarrow as pa

        compressed = pa.compress(content, codec="zstd", asbytes=True)
    (tmp_path / "trace").write_bytes(compressed)
    (tmp_path / "damaged").write_bytes(compressed[:-5])
    document["bottleneck"] = {"rate_trace": "trace"}
    assert ps.Scenario.from_document(document, tmp_path).resolve()["links"][0]["rate"] == {"trace": [0, 3, 10]}
    document["bottleneck"] = {"rate_trace": "damaged"}
    with pytest.raises(ps.ScenarioError, match=rf"rate_trace: .*found damaged {compression} data after \d+ bytes"):
        ps.Scenario.from_document(document, tmp_path)


def test_the_other_kind_of_file_has_its_own_command(cli: Cli, toml: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "small.toml"\n[parameters]\nflows.0.count = [1, 2]\n')
    found = cli("run", sweep)
    assert found.exit_code == 2
    assert found.stderr == f"parshall: {sweep}: this is a sweep, not a scenario: parshall sweep {sweep}\n"
    found = cli("sweep", toml)
    assert found.exit_code == 2
    assert found.stderr == f"parshall: {toml}: this is a scenario, not a sweep: parshall run {toml}\n"


def test_what_is_no_run_is_told_apart(cli: Cli, toml: Path, tmp_path: Path) -> None:
    assert cli("run", toml, "-o", "made", "--no-page", "--quiet").exit_code == 0
    assert "this is JSON, as run.json is" in cli("run", "made/run.json").stderr
    assert "is a file; write the directory of a result" in cli("report", "made/run.json").stderr
    Store(tmp_path / "store", create=True)
    assert "store is a store without a sweep; `parshall sweep SWEEP --store " in cli("report", "store").stderr
    assert "is a store of sweeps; `parshall figure SWEEP" in cli("report", "store", "--figures", "there").stderr
    assert cli("report", "made", "--figures", "figures/a.pdf", "--quiet").exit_code == 0
    assert (tmp_path / "figures" / "a.pdf").read_bytes().startswith(b"%PDF")
    assert "write a directory, or a file that ends in .pdf" in cli("report", "made", "--figures", "a.png").stderr


def test_list_shows_one_entry(cli: Cli) -> None:
    shown = cli("list", "cubic").stdout
    assert "fast_convergence" in shown
    assert "hystart" not in shown
    assert 'Did you mean "cubic"?' in cli("list", "Cubik").stderr


def test_the_package_shows_what_there_is() -> None:
    assert {"Scenario", "run", "stats", "__version__"} <= set(dir(ps))
    assert "TYPE_CHECKING" not in dir(ps)
    assert ps.__version__[0].isdigit()
    done = subprocess.run([sys.executable, "-m", "parshall", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"parshall {ps.__version__}\n"
