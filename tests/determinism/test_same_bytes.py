"""The same scenario and seed give the same bytes: in any run, process, and number of workers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import parshall as ps

EVERYTHING: dict[str, Any] = {
    "duration": "5 s",
    "warm_up": "1 s",
    "bottleneck": {
        "rate": "20 Mbit/s",
        "queue": {"name": "red", "limit": "100 packets"},
        "loss": {"name": "bernoulli", "probability": 0.002},
        "reverse": {"rate": "5 Mbit/s", "queue": "drop_tail"},
    },
    "flows": [
        {"count": 4, "rtt": {"uniform": ["20 ms", "80 ms"]}, "start": {"uniform": "1 s"}},
        {
            "count": 3,
            "rtt": {"distribution": {"name": "lognormal", "mean": "50 ms", "sigma": 0.5}},
            "congestion_control": "reno",
            "workload": {
                "name": "on_off",
                "size": {"name": "pareto", "mean": "50 packets", "tail_index": 1.5},
                "off": {"name": "weibull", "mean": "0.1 s", "shape": 0.7},
            },
        },
        {
            "rtt": "30 ms",
            "workload": {
                "name": "poisson",
                "rate": "2 Mbit/s",
                "size": {"name": "exponential", "mean": "400 B"},
            },
        },
        {"rtt": "30 ms", "congestion_control": "vegas", "direction": "reverse"},
    ],
    "probes": {"rounds": 2},
}


def test_again(tables: Any, content: Any) -> None:
    first = content(tables(EVERYTHING))
    assert {"flows.parquet", "links.parquet", "transfers.parquet", "rounds.parquet"} <= first.keys()
    assert content(tables(EVERYTHING)) == first


def test_another_seed_or_repetition_differs(tables: Any, content: Any) -> None:
    first = content(tables(EVERYTHING))
    assert content(tables({**EVERYTHING, "seed": 2}))["flows.parquet"] != first["flows.parquet"]
    second = content(tables(EVERYTHING, repetition=1))
    assert second["flows.parquet"] != first["flows.parquet"]


@pytest.mark.parametrize("workers", [2, 5])
def test_any_number_of_workers(tmp_path: Path, content: Any, workers: int) -> None:
    scenario = ps.Scenario.from_document({**EVERYTHING, "repetitions": 5})
    alone = ps.run(scenario, tmp_path / "alone", workers=1)
    together = ps.run(scenario, tmp_path / "together", workers=workers)
    tables = content(Path(alone.directory))
    assert len(tables) >= 5 * 3
    assert content(Path(together.directory)) == tables


def test_another_process(tables: Any, content: Any, tmp_path: Path) -> None:
    """Nothing depends on addresses, hash seeds or what ran before."""
    program = (
        "import json, sys; from pathlib import Path; import parshall as ps; from parshall import _core;"
        "made = ps.Scenario.from_document(json.loads(sys.stdin.read()));"
        "_core.simulate(json.dumps(made.resolve()), 0, Path(sys.argv[1]), _core.Monitor())"
    )
    elsewhere = tmp_path / "elsewhere"
    import json

    subprocess.run([sys.executable, "-c", program, str(elsewhere)], input=json.dumps(EVERYTHING), text=True, check=True)
    assert content(elsewhere) == content(tables(EVERYTHING))
