"""Input that meets a limit, of Python, the system or the simulator: one message and exit code 2, and nothing ran."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import ScenarioError
from parshall.instruments.simulation import memory

SMALL = """
duration = "1 s"
bottleneck = { rate = "5 Mbit/s", queue = "drop_tail" }
flows = [{ name = "web", rtt = "50 ms" }]
"""
DEEP = "[" * 3000 + "]" * 3000
DIGITS = "9" * 5000


def refused(cli: Any, *words: Any) -> str:
    done = cli(*words)
    assert done.exit_code == 2, (done.exit_code, done.exception, done.stdout)
    lines = done.stderr.strip().splitlines()
    assert 0 < len(lines) <= 4
    assert all(len(line) < 1000 for line in lines), lines
    return str(done.stderr)


@pytest.mark.parametrize(
    "line",
    [
        f"x = {DEEP}",
        f"[{'.'.join('a' * 2000)}]",
        f"seed = {DIGITS}",
        f"seed = 0x{'f' * 5000}",
        f"repetitions = -{DIGITS}",
        f"description = {DIGITS}",
    ],
)
def test_python_s_limits_are_refused_by_every_verb(line: str, cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"{line}\n{SMALL}" if not line.startswith("[") else f"{SMALL}\n{line}")
    for verb in ("validate", "run"):
        refused(cli, verb, path)
    path.write_text(f'{line}\nscenario = {{ duration = "1 s" }}')
    refused(cli, "sweep", path)
    path.write_text(SMALL)
    refused(cli, "validate", path, "--set", line.strip("[]").replace(" = ", "=") if "=" in line else f"a={DEEP}")


@pytest.mark.parametrize("digits", [20, 30, 400])
def test_a_buffer_that_no_integer_holds_is_refused(digits: int, cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SMALL)
    queue = f'bottleneck.queue={{name = "drop_tail", limit = "{"9" * digits} BDP"}}'
    assert "limit" in refused(cli, "validate", path, "--set", queue) or digits == 400


@pytest.mark.parametrize(
    "given",
    [
        '[parameters]\n"flows.web.rtt" = {lognormal = ["50 ms", 1e9], samples = 3}',
        f"[parameters]\nseed = {{from = 1, to = {'9' * 400}, points = 3}}",
        f"[parameters]\nseed = {{uniform = [1, {'9' * 400}], samples = 3}}",
        f"[parameters]\nseed = [{'9' * 400}]",
    ],
)
def test_numbers_of_a_sweep_that_no_float_holds_are_refused(given: str, cli: Any, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SMALL)
    path = tmp_path / "sweep.toml"
    path.write_text(f'scenario = "a.toml"\n{given}\n')
    refused(cli, "sweep", path, "--no-page")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("name", ["~nosuchuser/x", "a\\u0000b", "/dev/zero", "pipe", ".", "x" * 300])
def test_files_that_cannot_be_read_are_refused(name: str, cli: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "sweep.toml"
    path.write_text(f'scenario = "{name}"\n')
    refused(cli, "sweep", path, "--no-page")
    trace = tmp_path / "a.toml"
    trace.write_text(SMALL.replace('rate = "5 Mbit/s"', f'rate_trace = "{name}"'))
    refused(cli, "validate", trace)


@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_a_scenario_is_a_regular_file(path: str, cli: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "a device or a pipe" in refused(cli, "validate", path)


def test_a_scenario_has_a_largest_size(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("#" * 17_000_000)
    assert "16 MB or less" in refused(cli, "validate", path)


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("flows.web.count=1000000000", "flows.0.count"),
        ('probes.link_samples="1 ps"', "probes.link_samples"),
        ('probes.flow_samples="1 ps"', "probes.flow_samples"),
        ('flows.web.rtt="1 ms"', "flows.0.rtt"),
    ],
)
def test_validate_refuses_what_run_refuses(setting: str, key: str, cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SMALL)
    said = refused(cli, "validate", path, "--set", setting)
    assert f"{key}: " in said
    assert refused(cli, "run", path, "--set", setting) == said
    assert not (tmp_path / "runs").exists()


def test_no_draw_of_an_rtt_is_below_the_delay_of_the_path(document: dict[str, Any]) -> None:
    """There and back: a shorter one would be refused after hours of a sweep."""
    document["flows"] = [
        {"name": "web", "count": 20, "rtt": {"distribution": {"name": "exponential", "mean": "2 ms"}}},
    ]
    made = ps.run(ps.Scenario.from_document(document))
    assert made.status == "complete"
    assert made.flows["min_rtt_s"].min() >= 0.002


def test_a_path_of_a_thousand_links_is_refused(document: dict[str, Any]) -> None:
    del document["bottleneck"]
    names = [f"l{index}" for index in range(1000)]
    document["links"] = [{"name": name, "rate": "5 Mbit/s", "queue": "drop_tail", "delay": "1 us"} for name in names]
    document["flows"] = [{"name": "web", "rtt": "50 ms", "path": names}]
    with pytest.raises(ScenarioError, match=r"flows\.0\.path: no more than 255 links"):
        ps.Scenario.from_document(document)


def test_a_message_names_the_key_that_was_written(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SMALL)
    said = refused(cli, "validate", path, "--set", 'flows.web.max_rto="100 ms"')
    assert 'flows.0.max_rto: found "100 ms"' in said
    assert "accepted: 4294967295 or less" in refused(cli, "validate", path, "--set", "probes.flows=4294967296")
    assert "<x>: unknown key" in refused(cli, "validate", path, "--set", "flows.web.<x>=1")


@pytest.mark.parametrize("key", ["\\u001b[31mred", "\\u202eevil", "k" * 5000])
def test_keys_show_what_is_hidden(key: str, cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f'"{key}" = 1\n{SMALL}')
    said = refused(cli, "validate", path)
    assert "\x1b" not in said
    assert "\u202e" not in said


# --- memory ---


def test_memory_is_estimated_before_it_is_taken(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    document["flows"][0]["count"] = 16_777_000
    scenario = ps.Scenario.from_document(document)
    with pytest.raises(ScenarioError, match=r"found 16777001 flows, which take about \d+\.\d GB of memory; 1\.0 GB"):
        ps.run(scenario, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_open_loop_ends_with_the_memory(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 50_000_000)
    size = {"name": "constant", "value": "1 MB"}
    document["flows"] = [
        {"name": "web", "rtt": "50 ms", "workload": {"name": "open_loop", "size": size, "arrivals_per_s": 1e9}}
    ]
    with pytest.raises(ScenarioError, match="memory has room for"):
        ps.run(ps.Scenario.from_document(document))


def test_what_is_available_is_what_the_system_says() -> None:
    found = memory.available_bytes()
    assert found is None or 10**7 < found < 10**14


# --- a prediction costs nothing ---

LOST = {"name": "bernoulli", "probability": 1.0}
STUCK = {"name": "gilbert_elliott", "good_to_bad": 0.5, "bad_to_good": 0.0, "loss_good": 0.0, "loss_bad": 1.0}


@pytest.mark.parametrize("loss", [LOST, STUCK])
@pytest.mark.parametrize("workload", [{"name": "cbr", "rate": "100 kbit/s"}, "bulk"])
def test_a_medium_that_loses_everything_costs_no_run(loss: Any, workload: Any) -> None:
    made = ps.run(
        ps.Scenario(
            duration="1 s",
            bottleneck={"rate": "1 Mbit/s", "loss": loss},
            flows=[{"name": "web", "rtt": "100 ms", "workload": workload}],
        )
    )
    if workload != "bulk":
        assert made.metadata["prediction_problem"] is None
        (row,) = [each for each in made.metadata["predicted"] if each["quantity"] == "goodput_bps"]
        assert row["predicted"] == 0
        assert row["details"]["loss"] == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), OverflowError(), KeyError("x"), RecursionError()])
def test_whatever_fails_in_a_model_the_run_is_there(
    error: Exception, scenario: ps.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("parshall.instruments.simulation.execute.predict", fail)
    made = ps.run(scenario)
    assert made.status == "complete"
    assert type(error).__name__ in made.metadata["prediction_problem"]


def test_markup_in_a_scenario_is_text(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('name = "[/x] [red]n[/red]"\ndescription = "[/y]"\nrepetitions = 2' + SMALL)
    done = cli("run", path, "--no-page")
    assert done.exit_code == 0, done.exception
    assert "[/x] [red]n[/red]" in done.stdout + done.stderr
