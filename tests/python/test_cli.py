"""The command line: exit codes, messages, and what other programs read."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from parshall.foundations import debian
from parshall.instruments.simulation import Run

Cli = Callable[..., Result]
Command = Callable[[Sequence[str | Path]], list[str]]

RUN_KEYS = {
    "packets_forwarded": int,
    "packets_dropped": int,
    "loss_rate": float,
    "utilisation": float,
    "queue_packets": float,
    "queueing_delay_s": float,
    "goodput_bps": float,
    "jain": float,
    "flows": int,
    "transfers": int,
    "simulated_s": float,
    "cpu_s": float,
    "peak_rss_bytes": int,
    "predicted": list,
}


def test_run_json_is_one_object_with_the_documented_keys(cli: Cli, toml: Path) -> None:
    done = cli("run", toml, "-o", "out", "--json", "--no-page")
    assert done.exit_code == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    for key, kind in RUN_KEYS.items():
        assert isinstance(result[key], kind), key
    assert result["packets_forwarded"] > 0
    assert 0 < result["utilisation"] <= 1.01
    assert result["goodput_bps"] < 5e6
    assert result["flows"] == 3
    assert result["simulated_s"] == 4.0
    assert result["status"] == "complete"
    assert {"subject", "model", "quantity", "in_range", "predicted", "measured"} <= result["predicted"][0].keys()
    documented = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    for key in result:
        assert f"`{key}`" in documented
    assert Run.load(toml.parent / "out").summary["packets_forwarded"] == result["packets_forwarded"]


def test_goodput_of_one_direction_is_not_called_that_of_all_flows(cli: Cli, toml: Path) -> None:
    toml.write_text(
        toml.read_text() + '\n[bottleneck.reverse]\n\n[[flows]]\nname = "back"\nrtt = "40 ms"\ndirection = "reverse"\n'
    )
    shown = cli("run", toml, "--no-page")
    assert shown.exit_code == 0, shown.stderr
    assert "Goodput, forward direction" in shown.stdout
    assert "Goodput, other direction" in shown.stdout
    assert "all flows" not in shown.stdout


def test_run_shows_its_results_and_where_they_are(cli: Cli, toml: Path) -> None:
    done = cli("run", toml)
    assert done.exit_code == 0, done.stderr
    assert "Goodput, all flows" in done.stdout
    assert "Mbit/s" in done.stdout
    assert "runs/small-1" in done.stderr
    assert (toml.parent / "runs" / "small-1" / "report.html").stat().st_size > 10_000
    assert cli("run", toml, "--quiet", "--no-page").stdout == ""
    assert (toml.parent / "runs" / "small-2" / "run.json").exists()


def test_run_takes_values_from_the_command_line(cli: Cli, toml: Path) -> None:
    values = ["--set", "repetitions=1", "--set", 'bottleneck.rate="2 Mbit/s"', "--set", "flows.bulk.count=5"]
    result = json.loads(cli("run", toml, "-o", "out", "--json", "--no-page", *values).stdout)
    assert result["flows"] == 6
    assert result["repetitions"] == 1
    assert result["goodput_bps"] < 2e6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.toml"], "missing.toml: no such file"),
        (["run", "small.toml", "--set", "flows.0.count=0"], "small.toml: flows.0.count: found 0; accepted: 1 or more"),
        (["run", "small.toml", "--set", "nonsense"], 'found "nonsense"; write key.path=value'),
        (["run", "small.toml", "-o", "."], "exists and is not empty; write the name of a new directory"),
        (["run", "small.toml", "-o", "small.toml"], "small.toml is a file"),
        (["validate", "small.toml", "--set", "flows.0.congestion_control=cubik"], 'Did you mean "cubic"?'),
        (["list", "queus"], 'found "queus"; accepted: '),
        (["report", "."], "is not the directory of a result"),
        (["compare", "a", "b"], "a does not exist"),
        (["study", "nothing"], 'study: found "nothing"'),
        (["study", "nothing", "--scale", "huge"], '--scale: found "huge"'),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(arguments: list[str], message: str, cli: Cli, toml: Path) -> None:
    before = sorted(toml.parent.iterdir())
    done = cli(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("parshall: ")
    assert done.stderr.count("\n") == 1
    assert sorted(toml.parent.iterdir()) == before


def test_usage_errors_are_bad_input_too(cli: Cli) -> None:
    for arguments in (["run"], ["fly"], ["run", "x", "--wrokers", "3"]):
        done = cli(*arguments)
        assert done.exit_code == 2
        assert "Usage" in done.stderr or done.stderr.startswith('parshall: found "fly"; accepted: ')


def test_validate_says_what_is_wrong_with_each(cli: Cli, toml: Path) -> None:
    (toml.parent / "bad.toml").write_text('duration = "1 s"\nbottlneck = 3\n')
    assert cli("validate", toml).stdout == f"{toml}: valid\n"
    done = cli("validate", toml, "bad.toml", "--json")
    assert done.exit_code == 2
    good, bad = json.loads(done.stdout)
    assert good == {"file": str(toml), "valid": True, "problems": [], "warnings": []}
    assert not bad["valid"]
    assert any(problem.startswith("bottlneck: unknown key") for problem in bad["problems"])


def test_list_shows_every_catalog(cli: Cli) -> None:
    everything = json.loads(cli("list", "--json").stdout)
    assert {entry["name"] for entry in everything["congestion_controls"]} >= {"reno", "cubic", "vegas"}
    assert {entry["name"] for entry in everything["queues"]} >= {"drop_tail", "red"}
    assert {entry["name"] for entry in everything["recoveries"]} == {"tahoe", "reno", "newreno", "sack", "rack"}
    assert {"models", "records", "studies", "tcp"} <= everything.keys()
    text = cli("list").stdout
    for family in everything:
        assert family in text
        shown = cli("list", family).stdout
        for entry in everything[family]:
            assert entry["name"] in shown
            for part in [*entry.get("parameters", ()), *entry.get("columns", ())]:
                assert part["name"] in shown
    assert cli("list", "congestion-controls").stdout == cli("list", "congestion_controls").stdout


def test_schema_is_a_json_schema(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "bottleneck" in schema["properties"]
    sweeps = json.loads(cli("schema", "sweep").stdout)
    assert {"scenario", "parameters", "repetitions", "zip"} <= set(sweeps["properties"])
    assert cli("schema", "sweeps").exit_code == 2


def test_compare_tells_what_differs(cli: Cli, toml: Path) -> None:
    for name, limit in (("a", "20 packets"), ("b", "5 packets")):
        cli("run", toml, "-o", name, "--quiet", "--no-page", "--set", f"bottleneck.queue.limit={limit}")
    done = cli("compare", "a", "b", "--json")
    assert done.exit_code == 0, done.stderr
    metrics = {metric["key"]: metric for metric in json.loads(done.stdout)["metrics"]}
    queue = metrics["queue_packets"]
    assert queue["b"]["mean"] < queue["a"]["mean"]
    assert queue["difference"]["mean"] == pytest.approx(queue["b"]["mean"] - queue["a"]["mean"])
    assert queue["paired"]
    assert queue["label"] in cli("compare", "a", "b").stdout


@pytest.mark.slow
def test_report_writes_the_page_and_figures(cli: Cli, toml: Path) -> None:
    cli("run", toml, "-o", "out", "--quiet", "--no-page")
    assert not (toml.parent / "out" / "report.html").exists()
    assert cli("report", "out").exit_code == 0
    assert "<html" in (toml.parent / "out" / "report.html").read_text()
    done = cli("report", "out", "--figures", "figures")
    assert done.exit_code == 0, done.stderr
    suffixes = {path.suffix for path in (toml.parent / "figures").iterdir()}
    assert suffixes == {".png", ".svg"}


def test_doctor_finds_what_is_required(cli: Cli) -> None:
    done = cli("doctor", "--json")
    assert done.exit_code == 0
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert findings["Python"]["found"]
    assert findings["simulator"]["found"]
    assert all(finding["found"] or finding["remedy"] for finding in findings.values())
    shown = cli("doctor").stdout
    assert "simulator" in shown
    for package in debian.packages():
        if package.shown_by:
            assert findings[package.name]["found"] == package.is_there
            assert findings[package.name]["remedy"] == f"apt install {package.name}"


def test_doctor_shows_missing_packages_and_one_command_for_all(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("COLUMNS", "200")
    lines = cli("doctor").stdout.splitlines()
    (nginx,) = [line for line in lines if line.startswith("nginx ")]
    assert re.match(r"nginx +study, check +`study itb --instrument emulate`: files of WM by it", nginx)
    (command,) = [line for line in lines if "apt install" in line]
    assert {"clang", "nginx", "openmpi-bin", "chromium"} <= set(command.partition("apt install ")[2].split())
    assert "ca-certificates" not in command, "nothing shows whether it is there"


def test_version(cli: Cli) -> None:
    assert cli("--version").stdout.startswith("parshall 0.")
    assert "Usage" in cli().stdout


def test_a_reader_who_stops_is_no_failure_to_shout_about(command: Command) -> None:
    process = subprocess.Popen(command(["schema"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


def test_a_terminal_sees_progress(command: Command, toml: Path) -> None:
    ours, theirs = pty.openpty()
    values = ["--set", "duration=1000 s", "--set", "probes.link_samples=false", "--no-page"]
    process = subprocess.Popen(
        command(["run", toml, *values]), cwd=toml.parent, stderr=theirs, stdout=subprocess.DEVNULL
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    assert b"s simulated" in seen
    assert b"packets/s" in seen


def test_the_command_line_starts_fast(command: Command) -> None:
    used_s = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command(["--help"]), check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    modules = subprocess.run(
        [sys.executable, "-c", "import parshall.cli.app, sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert {"numpy", "polars", "pydantic", "scipy", "plotly", "matplotlib"}.isdisjoint(modules)
    assert min(used_s) < 1.0, "of the processor: a quarter of it alone, twice that where two share a core"


QUICKSTART = str(Path(__file__).parents[2] / "scenarios" / "quickstart.toml")


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (["list", "controls"], {"numpy", "polars", "scipy", "matplotlib", "duckdb"}),
        (
            ["run", QUICKSTART, "--no-page"],
            {"matplotlib", "scipy.stats", "plotly", "numpy.ma", "parshall_studies.diffserv"},
        ),
        (["run", QUICKSTART], {"matplotlib", "scipy.stats", "scipy.optimize"}),
    ],
    ids=["list", "no-page", "page"],
)
def test_a_verb_loads_what_it_needs(arguments: list[str], without: set[str], tmp_path: Path) -> None:
    """What is not needed is most of a second, each."""
    code = "import sys; from parshall.cli import main; sys.exit(main())"
    watched = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=open('loaded', 'w'))); {code}"
    subprocess.run([sys.executable, "-c", watched, *arguments], check=True, capture_output=True, cwd=tmp_path)
    loaded = (tmp_path / "loaded").read_text(encoding="utf-8").split()
    assert "parshall.cli.app" in loaded
    assert without.isdisjoint(loaded)


def test_starting_looks_for_garbage_a_few_times_at_most(tmp_path: Path) -> None:
    """What is imported stays; to look through it again and again, and at the end, is a fifth of a quick command."""
    watch = (
        "import atexit, gc, sys; times = []\n"
        "gc.callbacks.append(lambda phase, info: times.append(phase))\n"
        "atexit.register(lambda: print(times.count('stop'), gc.get_freeze_count(), file=open('seen', 'w')))\n"
        "from parshall.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", watch, "run", QUICKSTART, "--no-page"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    collections, frozen = map(int, (tmp_path / "seen").read_text(encoding="utf-8").split())
    assert collections < 10
    assert frozen > 10_000


PREDICT_KEYS = (
    "loss congestion_control rtt_s w_max mean_packets_per_rtt square_root_packets_per_rtt cycle_rtts n_rtts lowest "
    "highest bounds scale_for spectrum linear_parts"
)


@pytest.mark.slow
@pytest.mark.parametrize("control", ["reno", "bic", "highspeed", "cubic", "scalable"])
def test_predict_answers_for_each_control_as_python_does(control: str, cli: Cli) -> None:
    from parshall_studies.chains import variants

    options = ["--loss", "0.001", "--cc", control, *(("--rtt", "100 ms") if control == "cubic" else ())]
    done = cli("predict", "throughput", *options, "--over", 500, "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert list(answer) == PREDICT_KEYS.split()
    found = variants.for_control(control, 0.001, rtt_s=0.1 if control == "cubic" else None)
    assert answer["mean_packets_per_rtt"] == found.mean
    (row,) = answer["bounds"]
    assert (row["low"], row["high"]) == pytest.approx(found.bounds(2**18, 500), rel=1e-9)
    assert row["scale_rtts"] == 500
    assert row["low"] < found.mean < row["high"]
    assert (answer["square_root_packets_per_rtt"] is None) == (control != "reno")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cc", "vegas"], '--cc: found "vegas"; accepted: "reno", "bic", "highspeed", "cubic", "scalable"'),
        (["--cc", "cubik"], 'Did you mean "cubic"?'),
        (["--cc", "cubic"], "--rtt: found none; CUBIC grows with time, so it needs one"),
        (["--cc", "cubic", "--rtt", "100"], "--rtt: "),
        (["--cc", "cubic", "--rtt", "0 s"], '--rtt: found "0 s"; accepted: times above 0'),
        (["--cc", "bic", "--w-max", "2"], "w_max"),
    ],
)
def test_predict_refuses_what_it_cannot_answer(options: list[str], message: str, cli: Cli) -> None:
    done = cli("predict", "throughput", "--loss", "0.001", *options)
    assert done.exit_code == 2
    assert message in done.stderr


def test_predict_says_where_the_spectrum_ends(cli: Cli) -> None:
    done = cli("predict", "throughput", "--loss", "0.05", "--cc", "scalable", "--rtt", "20 ms")
    assert done.exit_code == 0, done.stderr
    assert "packets per second" in done.stdout
    assert "that ends there may be wider" in " ".join(done.stdout.split())


NOT_INSTALLED = """
import importlib.metadata as metadata, runpy, sys
version = metadata.version
def missing(name):
    if name == "parshall":
        raise metadata.PackageNotFoundError(name)
    return version(name)
metadata.version = missing
sys.argv = ["parshall", "--version"]
runpy.run_module("parshall", run_name="__main__")
"""


def test_a_copy_that_is_not_installed_says_so() -> None:
    done = subprocess.run([sys.executable, "-c", NOT_INSTALLED], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "parshall: this copy of Parshall is not installed, so that its version is not known; accepted: one that "
        "`pip install` put there\n"
    )
