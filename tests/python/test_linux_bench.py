"""Rules of ``benches/linux.py``: what is emulated, which differences are within, and why others are not."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from parshall.instruments.emulation import Validity
from parshall.scenario.schema.kernel import AMPLE_BUFFERS

FILE = Path(__file__).parents[2] / "benches" / "linux.py"


@pytest.fixture(scope="module")
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("linux_bench", FILE)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"seconds": 25.0, "repetitions": 3, "seed": 1, "minutes": math.inf, **given})


def compared(
    bench: Any,
    quantity: str,
    values: tuple[float, float],
    errors: tuple[float, float] = (0.0, 0.0),
    *,
    counted: dict[str, int] | None = None,
    invalid: str = "",
    queue_s: float = 0.01,
) -> Any:
    """The row of a quantity, simulated and emulated."""
    case = next(bench.drawn(1))
    ours, theirs = (bench.Measured(value, error, 3) for value, error in zip(values, errors, strict=True))
    found = {"mean_queueing_delay_s": bench.Measured(queue_s, 0.0, 3), quantity: theirs}
    return bench.row(case, quantity, ours, bench.Kernel(found, "valid", invalid, counted))


def test_send_buffers_limit_no_flow_and_receive_buffers_begin_as_those_of_linux(bench: Any) -> None:
    send, receive = "net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"
    for case, _ in zip(bench.drawn(1), range(10), strict=False):
        for group in case.scenario(25, 3, 1).flows:
            assert group.kernel.sysctls[send] == AMPLE_BUFFERS[send]
            (_, begins, most), ample = group.kernel.sysctls[receive].split(), str(AMPLE_BUFFERS[receive]).split()
            assert (begins, most) == ("131072", ample[2])
        large = replace(case, receive_buffer=4 << 20).scenario(25, 3, 1)
        assert {group["tcp"]["initial_receive_buffer"] for group in large.resolve()["flows"]} == {4 << 20}


def test_where_little_happens_more_is_repeated(bench: Any) -> None:
    network = {"controls": ("reno",), "rate_mbps": 10, "rtt_ms": 40, "buffer_packets": 33}
    assert bench.Case(**network, flows=10).repetitions(3) == 3
    assert bench.Case(**network, flows=2).repetitions(3) == 6
    assert bench.Case(**network, flows=10, transfer_kb=10).repetitions(3) == 6


def test_what_does_not_fit_into_the_time_is_left_out(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [bench.Case(("reno",), flows, 10, 40, 33) for flows in (1, 10)]
    # Each may be done once more: 2 x 6 x 25 s, and 2 x 3 x 25 s.
    assert list(bench.fitting(cases, options(minutes=3), bench.Kept(None))) == cases[1:]
    assert "1 of 2 networks" in capsys.readouterr().err
    assert list(bench.fitting(cases, options(), bench.Kept(None))) == cases


@pytest.mark.parametrize(
    ("case", "within", "cause"),
    [
        ({"quantity": "goodput_bps", "values": (102.0, 100.0)}, True, ""),
        ({"quantity": "goodput_bps", "values": (104.0, 100.0)}, False, "open: beyond the interval"),
        ({"quantity": "goodput_bps", "values": (104.0, 100.0), "errors": (0.3, 0.3)}, False, "the interval: "),
        ({"quantity": "goodput_bps", "values": (104.0, 100.0), "errors": (0.2, 0.2)}, False, "open: "),
        ({"quantity": "share", "values": (0.50, 0.58), "errors": (0.0, 0.02)}, False, "the interval: "),
        ({"quantity": "mean_queueing_delay_s", "values": (1e-3, 1.19e-3)}, True, "delays are known to 0.2 ms"),
        ({"quantity": "mean_queueing_delay_s", "values": (1e-3, 1.3e-3)}, False, "nearly empty queue: 1.3 ms"),
        ({"quantity": "queueing_delay_p99_s", "values": (1e-3, 1.3e-3), "queue_s": 5e-4}, False, "nearly empty"),
        ({"quantity": "queueing_delay_p99_s", "values": (1e-3, 1.3e-3), "queue_s": 0.1}, False, "open: "),
        ({"quantity": "loss_rate", "values": (0.01, 0.02), "counted": {"loss_rate": 29}}, None, "few events: 29"),
        ({"quantity": "loss_rate", "values": (0.01, 0.02), "counted": {"loss_rate": 30}}, False, "open: "),
        ({"quantity": "loss_rate", "values": (0.01, 0.0)}, False, "open: "),
        ({"quantity": "loss_rate", "values": (0.0, 0.0)}, True, ""),
        (
            {"quantity": "completion_p95_s", "values": (1.0, 2.0), "counted": {"completion_p95_s": 199}},
            False,
            "few transfers: 199",
        ),
        ({"quantity": "completion_p95_s", "values": (1.0, 2.0)}, False, "open: "),
        ({"quantity": "goodput_bps", "values": (1.0, 1.0), "invalid": "packets were late"}, None, "invalid: packets"),
    ],
)
def test_each_miss_has_a_cause(bench: Any, case: dict[str, Any], within: bool | None, cause: str) -> None:
    found = compared(bench, **case)
    assert found.within is within
    assert found.cause.startswith(cause)
    assert bool(found.cause) == bool(cause)


def test_many_simulations_do_not_make_three_runs_of_the_kernel_better_known(bench: Any) -> None:
    """Welch: the interval is that of the three, 4.3 standard errors and not 2."""
    case = next(bench.drawn(1))
    for sigma, cause in ((3.0, "the interval: "), (5.0, "open: ")):
        kernel = bench.Kernel({"loss_rate": bench.Measured(0.02, 0.001, 3)}, "valid")
        row = bench.row(case, "loss_rate", bench.Measured(0.022 + sigma * 0.001, 1e-6, 40), kernel)
        assert (row.within, row.cause.startswith(cause)) == (False, True)


@pytest.mark.parametrize(("levels", "judged"), [(["invalid", "valid"], True), (["invalid", "invalid"], False)])
def test_an_invalid_emulation_is_done_once_more(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, levels: list[str], judged: bool
) -> None:
    """One that can be believed is kept, and not done again."""
    kept = tmp_path / "kernel.json"
    case = bench.Case(("reno",), 10, 10, 40, 33)
    done: list[int] = []

    def emulate(scenario: Any) -> str:
        done.append(scenario.repetitions)
        return levels[len(done) - 1]

    found = {"goodput_bps": bench.Measured(1.0, 0.0, 3)}
    run = {"emulate": emulate, "run": lambda _: "simulated", "Scenario": bench.ps.Scenario}
    monkeypatch.setattr(bench, "ps", SimpleNamespace(**run))
    monkeypatch.setattr(bench, "validity", lambda level: Validity(level, ["packets were late"]))
    monkeypatch.setattr(bench, "measured", lambda _run, _case: found)
    monkeypatch.setattr(
        bench,
        "kernel_of",
        lambda _run, believed, _case: bench.Kernel(
            found, believed.level, str(believed) if believed.level == "invalid" else ""
        ),
    )
    (row,) = bench.emulated(case, options(), bench.Kept(kept))
    assert (done, row.verdict) == ([3, 3], levels[-1])
    assert (row.within is True) == judged
    assert judged or "packets were late" in row.cause
    assert kept.exists() == bench.Kept(kept).has(case, options()) == judged
    if judged:
        assert [row] == list(bench.emulated(case, options(), bench.Kept(kept)))
        assert len(done) == 2
        # Everything is left out that would be emulated.
        assert list(bench.fitting([case], options(minutes=0), bench.Kept(kept))) == [case]
        assert not list(bench.fitting([case], options(minutes=0, seed=2), bench.Kept(kept)))


def test_percentiles_count_the_transfers_that_had_not_ended(bench: Any) -> None:
    """Where most were cut off there is no percentile; no repetition is left out for having none that ended."""
    load = {"name": "open_loop", "arrivals_per_s": 20.0, "size": {"name": "constant", "value": "100 kB"}}
    group = {"name": bench.TRANSFERS, "rtt": "20 ms", "workload": load}
    made = {"duration": "3 s", "repetitions": 3, "flows": [group]}
    starved, fed = (bench.ps.run({**made, "bottleneck": {"rate": rate}}) for rate in ("2 Mbit/s", "100 Mbit/s"))
    assert bench.completions(starved) == dict.fromkeys(bench.FEW_TRANSFERS)
    found = bench.completions(fed)
    assert found["completion_p50_s"].mean == pytest.approx(
        fed.quantity(f"group/{bench.TRANSFERS}/completion_p50_s").value
    )
    assert found["completion_p50_s"].count == 3
    case = bench.Case(("reno",), 10, 10, 40, 33, transfer_kb=100)
    row = bench.row(case, "completion_p50_s", found["completion_p50_s"], bench.Kernel(bench.completions(starved)))
    assert (row.within, row.cause) == (None, "few transfers: too few ended")
