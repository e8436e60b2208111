"""Whether a network has settled: halves of the measured time, of stationary networks and of transients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from typer.testing import CliRunner

import parshall as ps
from parshall.analysis.stats.families import LEVEL
from parshall.analysis.stats.halves import MATTERS, changes
from parshall.cli.app import application
from parshall.report.finding import finding
from parshall.report.settling import settling
from parshall.results.quantities.halves import halves

Document = dict[str, Any]


def bulk(control: str, **more: Any) -> Document:
    group = {"name": control, "count": 2, "rtt": "40 ms", "congestion_control": control, "start": {"uniform": "1 s"}}
    return {**group, **more}


def network(*flows: Document, limit: str = "1 BDP", **more: Any) -> Document:
    link = {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": limit}}
    return {"duration": "40 s", "warm_up": "10 s", "repetitions": 3, "bottleneck": link, "flows": list(flows), **more}


def test_stationary_networks_are_not_called_transient() -> None:
    """Forty seeds: at most one in ten."""
    flagged = 0
    for seed in range(1, 41):
        run = ps.run(network(bulk("reno"), bulk("cubic"), seed=seed), workers=1)
        shown = settling(run)
        assert {*shown} == {
            "group/reno/goodput_bps",
            "group/cubic/goodput_bps",
            "group/reno/share",
            "link/bottleneck/queue_packets",
        }
        flagged += any(change.differs for change in shown.values())
    assert flagged <= 4


def test_chance_alone_seldom_differs() -> None:
    """Two thousand families of ten normal quantities, three repetitions: something is found in a share q of them."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(2000):
        pairs = {str(name): tuple(dict(enumerate(rng.normal(1, 1, 3))) for _ in (0, 1)) for name in range(10)}
        found += any(change.differs for change in changes(pairs).values())  # type: ignore[arg-type]
    assert found / 2000 <= LEVEL + 3 * np.sqrt(LEVEL / 2000)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.floats(-3, 3), min_size=4, max_size=4), min_size=1, max_size=8))
def test_the_family_is_that_of_benjamini_and_hochberg(values: list[list[float]]) -> None:
    """Against SciPy's own adjustment of p-values."""
    rows = [[x + 0.01 * place * (1 + row) for place, x in enumerate(each)] for row, each in enumerate(values)]
    spread = [each for each in rows if np.std(each) > 1e-6]
    pairs = {
        str(n): (dict.fromkeys(range(4), 1.0), {k: 1.0 + x for k, x in enumerate(each)})
        for n, each in enumerate(spread)
    }
    if not pairs:
        return
    p = [scipy_stats.ttest_1samp(each, 0.0).pvalue for each in spread]
    adjusted = scipy_stats.false_discovery_control(p)
    for name, change in changes(pairs).items():
        if abs(adjusted[int(name)] - LEVEL) > 1e-9:
            expected = adjusted[int(name)] <= LEVEL and abs(change.second - change.first) >= MATTERS * abs(change.first)
            assert change.differs == expected


def test_a_transient_is_told_in_the_first_sentences() -> None:
    """Slow start, measured: ssthresh is 20 packets, and the window takes 16 s to fill the path."""
    growing = bulk("reno", count=1, initial_ssthresh="20 packets")
    link = {"rate": "100 Mbit/s"}
    run = ps.run({**network(growing), "bottleneck": link, "duration": "30 s", "warm_up": "5 s"})
    told = finding(run).text
    assert "The goodput of reno rises from " in told
    assert "the network has not settled, and these numbers are of a transient; run it for longer." in told
    assert told.index("settled") < told.index("Packets wait")


@pytest.mark.parametrize("limit", ["8 BDP", "24 BDP"])
def test_bbr_beside_cubic_in_a_deep_buffer_takes_as_long_as_is_warned(limit: str) -> None:
    """What `validate` warns of is what a run finds, and what it advises is settled."""
    control = bulk("bbr", count=1), bulk("cubic", count=1)
    early = ps.Scenario.from_document(network(*control, limit=limit, repetitions=6, duration="60 s"))
    (warning,) = early.warnings()
    assert "BBR and CUBIC share link bottleneck" in warning
    assert f"is {limit.partition(' ')[0]} bandwidth-delay products" in warning
    advised = warning.rpartition("warm_up = ")[2].strip('"')
    later = early.with_values({"warm_up": advised, "duration": f"{2 * float(advised.removesuffix(' s')):g} s"})
    assert not later.warnings()
    runs = [ps.run(each, workers=1) for each in (early, later)]
    shares = [run.quantity("group/bbr/share").interval.mean for run in runs]
    assert shares[1] > shares[0] + 0.05, "it had not settled"
    assert not any(each.differs for name, each in settling(runs[1]).items() if name.endswith("share"))


@pytest.mark.parametrize(
    ("changes_", "limit"),
    [
        ({"warm_up": "100 s", "duration": "200 s"}, "8 BDP"),
        ({}, "2 BDP"),
        ({"flows": [bulk("cubic")]}, "8 BDP"),
        ({"flows": [bulk("bbr"), bulk("cubic", workload={"name": "transfer", "sizes": "1 MB"})]}, "8 BDP"),
        ({"bottleneck": {"rate": "5 Mbit/s", "queue": "fq_codel"}}, "8 BDP"),
    ],
)
def test_nothing_is_warned_of_where_the_rule_does_not_hold(changes_: Document, limit: str) -> None:
    document = {**network(bulk("bbr"), bulk("cubic"), limit=limit), **changes_}
    assert not [each for each in ps.Scenario.from_document(document).warnings() if "settle" in each]


def test_what_records_do_not_tell_is_not_guessed(tmp_path: Path) -> None:
    quiet = {"flow_samples": False, "link_samples": False}
    assert settling(ps.run(network(bulk("reno"), probes=quiet))) == {}
    many = ps.run(network(bulk("reno", count=8), bulk("cubic")))  # five flows of a group are sampled
    assert {*settling(many)} == {"group/cubic/goodput_bps", "link/bottleneck/queue_packets"}
    transfers = ps.run(network(bulk("reno", workload={"name": "transfer", "sizes": "1 MB"})))
    assert settling(transfers) == {}
    late = ps.run(network(bulk("reno"), bulk("cubic", start="30 s")))
    assert settling(late) == {}
    trace = tmp_path / "link.trace"
    trace.write_text("\n".join(map(str, (0, 1, 2, 3, 5, 9, 9, 2000, 3000, 3001))))
    varying = ps.run(network(bulk("reno"), bottleneck={"rate_trace": str(trace), "queue": "drop_tail"}))
    assert settling(varying) == {}
    once = settling(ps.run(network(bulk("reno"), repetitions=1)))
    assert once
    assert all(change.differs is None for change in once.values())


def test_halves_are_those_of_the_records() -> None:
    """Recomputed from the flows' bytes and the bins of the link, for one repetition."""
    run = ps.run(network(bulk("reno", count=1), repetitions=1))
    found = halves(run.tables, "bottleneck", 10.0)
    samples = run.flow_samples
    assert samples is not None
    at = np.interp([10, 25, 40], samples["time_s"].to_numpy(), samples["delivered_bytes"].to_numpy())
    end_s = float(samples["time_s"].max())  # type: ignore[arg-type]
    assert end_s == pytest.approx(40, abs=0.1)
    first, second = found["group/reno/goodput_bps"]
    assert [first[0], second[0]] == pytest.approx(np.diff(at) * 8 / 15, rel=0.01)
    whole = run.quantity("group/reno/goodput_bps").interval.mean
    assert (first[0] + second[0]) / 2 == pytest.approx(whole, rel=0.01)
    bins = run.link_samples
    assert bins is not None
    early = bins.filter((pl.col("link") == "bottleneck") & pl.col("time_s").is_between(10, 24.99))
    assert found["link/bottleneck/queue_packets"][0][0] == pytest.approx(early["mean_queue_packets"].mean(), rel=0.01)


def test_json_has_the_halves(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    times = 'duration = "10 s"\nwarm_up = "2 s"\nrepetitions = 3\n'
    file.write_text(f'{times}[bottleneck]\nrate = "5 Mbit/s"\n[[flows]]\nname = "a"\nrtt = "40 ms"\n')
    printed = CliRunner().invoke(
        application(["run"]), ["run", str(file), "-o", str(tmp_path / "out"), "--no-page", "--json"]
    )
    rows = json.loads(printed.stdout)["halves"]
    assert [row["quantity"] for row in rows] == ["group/a/goodput_bps", "link/bottleneck/queue_packets"]
    for row in rows:
        assert row["difference"]["mean"] == pytest.approx(row["second"] - row["first"])
        assert row["differs"] in (True, False)
