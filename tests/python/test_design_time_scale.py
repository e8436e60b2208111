"""``parshall design time-scale``: T_L from a run's link samples or a file of numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall_studies.time_scale import time_scale


def design(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(application(VERBS), ["design", "time-scale", *arguments])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repetitions of clients with heavy-tailed files."""
    path = tmp_path_factory.mktemp("runs") / "clients"
    scenario = ps.Scenario.from_document(
        {
            "duration": "100 s",
            "warm_up": "10 s",
            "repetitions": 2,
            "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "64 packets"}},
            "flows": [
                {
                    "count": 8,
                    "rtt": "30 ms",
                    "workload": {
                        "name": "on_off",
                        "size": {"name": "pareto", "mean": "100 kB", "tail_index": 1.2},
                        "off": {"name": "exponential", "mean": "1 s"},
                    },
                }
            ],
            "probes": {"link_samples": "0.5 s"},
        }
    )
    ps.run(scenario, path)
    return path


def test_of_a_run(directory: Path) -> None:
    status, text = design(str(directory), "--rtt", "30 ms", "--json")
    assert status == 0, text
    found = json.loads(text)
    assert found["correlations"][0]["interval_s"] == 0.5
    assert found["correlations"][0]["pairs"] == 2 * 179, "90 s after the warm-up, twice"
    assert found["interval_s"] in {each["interval_s"] for each in found["correlations"] if each["significant"]}
    status, text = design(str(directory), "--link", "nowhere")
    assert status == 2
    assert "--link: found 'nowhere'; accepted:" in text


def test_of_numbers(tmp_path: Path) -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(size=2000))
    path = tmp_path / "walk.txt"
    np.savetxt(path, walk)
    status, text = design(str(path), "--bin", "100 ms", "--rtt", "20 ms")
    assert status == 0, text
    assert f"T_L = {time_scale(walk, 0.1, rtt_s=0.02).interval_s:g} s" in text
    np.savetxt(path, np.random.default_rng(2).normal(size=2000))
    assert "No interval is shown to say anything of the next one" in design(str(path), "--bin", "100 ms")[1]


def test_what_is_refused(tmp_path: Path, directory: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("no number\n", encoding="utf-8")
    for arguments, message in (
        ((str(path), "--bin", "1 s"), "with a number a line"),
        ((str(path),), "--bin: missing"),
        ((str(tmp_path / "nothing"), "--bin", "1 s"), "with a number a line"),
        ((str(directory), "--rtt", "1 s"), "intervals of 10 s or more need 640 bins"),
    ):
        status, text = design(*arguments)
        assert status == 2, text
        assert message in " ".join(text.split())
