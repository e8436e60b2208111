"""The study of multiple time scale TCP: equal loads, common random numbers, claims, the page; on runs of seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parshall.report.document import Document, document_html
from parshall.studies import keeping
from parshall.studies.catalog import find
from parshall.studies.multiple_time_scale import (
    background,
    fairness,
    grid,
    metacontrol,
    rtt,
    run,
    sensitivity,
    tails,
    thresholds,
    today,
)
from parshall.studies.multiple_time_scale.claims import STEERED
from parshall.studies.multiple_time_scale.grid import Point, simulated
from parshall.studies.multiple_time_scale.measure import measured
from parshall.studies.multiple_time_scale.network import Background, Connections, scenario, steered

TINY = replace(
    grid.SIZES["quick"],
    duration_s=20.0,
    seeds=2,
    thresholds=(4, 8),
    aggressiveness=(3, 6),
    counts=(2, 6, 18),
    fast_duration_s=4.0,
    fast_seeds=2,
)


def quiet(_: str) -> None: ...


@pytest.mark.parametrize("alpha", [1.05, 1.95])
def test_loads_are_equal_after_normalisation(alpha: float) -> None:
    carried = [background.found(alpha, 5.0, seed, 200.0, 10.0, keep=False) for seed in (1, 2)]
    assert all(abs(each.error) <= 0.02 for each in carried), "the tolerance of the normalisation"
    assert carried[0].background.mean_packets != carried[1].background.mean_packets


def test_seeds_are_common_random_numbers() -> None:
    """A slope of a = A gains nothing, exactly; a steeper one does."""
    point = Point(1.05, 5.0, 150, "reno", STEERED)
    nothing = replace(point, parameters=(("aggressiveness", 1.0),))
    found = simulated([point, point.plain, nothing], replace(TINY, duration_s=100.0), quiet)
    assert np.array_equal(found.gain(nothing), [0.0, 0.0])
    assert (found.gain(point) != 0).all()


def test_a_connection_that_fills_what_is_left_tracks_the_background() -> None:
    """With 256 packets of buffer at 30 ms the link is always full: own throughput is what the clients leave."""
    clients = Background(1.05, 80.0, 1)
    near = measured(scenario(clients, Connections("reno"), 200.0, buffer=256))
    far = measured(scenario(clients, Connections("reno", 450), 200.0))
    assert near.tracking is not None
    assert far.tracking is not None
    assert near.tracking < -0.95
    assert far.tracking > near.tracking + 0.2, "outdated by the RTT"
    assert near.goodput_mbps + near.background_mbps == pytest.approx(10.0, rel=0.05)
    several = measured(scenario(clients, Connections(steered("vegas"), 150, 3), 40.0))
    assert len(several.each_mbps) == 3
    assert several.tracking is None


def test_what_follows_what() -> None:
    rng = np.random.default_rng(1)
    independent = tails.density([rng.normal(size=20_000)])
    assert np.allclose(independent, 1 / 8, atol=0.02), "20,000 values: a standard error of 0.0066"
    walk = tails.density([np.cumsum(rng.normal(size=20_000))])
    assert np.diag(walk).min() > 0.5


def test_shapes_of_curves_need_significance() -> None:
    rng = np.random.default_rng(2)

    def noisy(*means: float) -> list[np.ndarray]:
        return [mean + 0.01 * rng.normal(size=10) for mean in means]

    assert thresholds.shape(noisy(1.0, 1.2, 1.3, 1.1)) == "unimodal"
    assert thresholds.shape(noisy(1.0, 1.2, 1.3, 1.4)) == "increasing"
    assert thresholds.shape(noisy(1.0, 0.9, 0.8, 0.7)) == "decreasing"
    assert thresholds.shape([1 + 0.5 * rng.normal(size=10) for _ in range(4)]) == "flat"


def test_the_page_of_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grid.SIZES, "quick", TINY)
    found = run("quick", quiet)
    artefacts = {check.artefact for check in found.checks}
    assert artefacts >= {"fig1", "fig6", "fig7", "fig8a", "fig8b", "fig9", "fig10", "fig12", "fig13", "table3"}
    assert len(found.checks) == len({(check.artefact, check.quantity) for check in found.checks})
    html = document_html(Document("study", "t", "d", (), found.sections))
    assert "Gain against the RTT" in html
    assert "Normalised backgrounds" in html


def test_all_parts_ask_for_what_they_show() -> None:
    for part in (rtt, tails, thresholds, metacontrol, fairness, sensitivity, today):
        listed = list(part.points(TINY))
        assert {point.plain for point in listed} <= set(listed), part.__name__
    for point in sensitivity.variants(TINY).values():
        assert replace(rtt.blind(point), parameters=point.parameters) == point, "nothing else differs"


def test_a_point_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = scenario(Background(1.95, 40.0, 1), Connections("reno"), 20.0)
    first = keeping.kept("example", made, measured)
    again = keeping.kept("example", made, lambda _: pytest.fail("simulated again"))
    assert first == again
    assert len(list(tmp_path.rglob("*.pickle"))) == 1


def test_it_is_registered() -> None:
    assert "Park & Tuan" in find("multiple_time_scale").reference
