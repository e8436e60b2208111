"""The study of multiple time scale TCP: equal loads, common random numbers, claims, the page; on runs of seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from parshall.instruments.simulation.single import Recorded
from parshall.report.document import Document, document_html
from parshall.scenario import Scenario
from parshall.studies.catalog import find
from parshall.studies.running import answered, run
from parshall_studies.multiple_time_scale import (
    background,
    contrasts,
    datagrams,
    fairness,
    grid,
    harm,
    interval,
    lockouts,
    metacontrol,
    oracle,
    prediction,
    readings,
    reconstruction,
    rtt,
    sensitivity,
    short,
    statements,
    tails,
    thresholds,
    today,
)
from parshall_studies.multiple_time_scale.claims import STEERED
from parshall_studies.multiple_time_scale.grid import Point
from parshall_studies.multiple_time_scale.measure import Measured, _completion, measured
from parshall_studies.multiple_time_scale.network import (
    MEASURED,
    SOURCE,
    Background,
    Connections,
    Network,
    scenario,
    steered,
)
from parshall_studies.multiple_time_scale.readings import BASE
from parshall_studies.rio import network as rio
from parshall_studies.synthesis import fgn

TINY = replace(
    grid.SIZES["quick"],
    duration_s=20.0,
    seeds=2,
    thresholds=(1, 4, 8),
    aggressiveness=(6, 10),
    counts=(2, 6, 18),
    fast_duration_s=4.0,
    fast_seeds=2,
    short_s=(100,),
    course_s=40.0,
    oracle_s=20.0,
    oracle_seeds=2,
    reading_s=20.0,
    reading_seeds=4,
    readings=("window limit: none", "TCP Rate's decrease: by the ACK"),
    claimed=("fig7",),
    crossed=((20,), (8,)),
)


def simulated(points: Iterable[Point], size: grid.Size) -> grid.Results:
    return grid.results(answered(grid.cases(points, size)))


@pytest.mark.parametrize("alpha", [1.05, 1.95])
def test_loads_are_equal_after_normalisation(alpha: float) -> None:
    carried = [background.matching(alpha, 5.0, seed, 200.0, SOURCE) for seed in (1, 2)]
    assert all(abs(each.error) <= 0.02 for each in carried), "the tolerance of the normalisation"
    assert carried[0].background.mean_packets != carried[1].background.mean_packets


def test_seeds_are_common_random_numbers() -> None:
    """A slope of a = A gains nothing, exactly; a steeper one does."""
    point = Point(1.05, 5.0, 150, "reno", STEERED)
    nothing = replace(point, parameters=(("aggressiveness", 1.0),))
    found = simulated([point, point.plain, nothing], replace(TINY, duration_s=100.0))
    assert np.array_equal(found.gain(nothing), [0.0, 0.0])
    assert (found.gain(point) != 0).all()


def test_a_connection_that_fills_what_is_left_tracks_the_background() -> None:
    """With 256 packets of buffer at 30 ms the link is always full: own throughput is what the clients leave."""
    clients = Background(1.05, 80.0, 1, Network(buffer=256, window=None))
    near = measured(scenario(clients, Connections("reno"), 200.0))
    far = measured(scenario(Background(1.05, 80.0, 1), Connections("reno", 450), 200.0))
    assert near.tracking is not None
    assert far.tracking is not None
    assert near.tracking < -0.95
    assert far.tracking > near.tracking + 0.2, "outdated by the RTT"
    assert near.goodput_mbps + near.background_mbps == pytest.approx(10.0, rel=0.05)
    datagrams_too = measured(scenario(clients, Connections("rate_based", 30, datagrams=True), 200.0))
    assert datagrams_too.tracking is not None
    assert datagrams_too.tracking < -0.85, "it answers to losses once a round trip"
    several = measured(scenario(clients, Connections(steered("vegas"), 150, 3), 40.0))
    assert len(several.each_mbps) == 3
    assert several.tracking is None


def test_the_stack_is_that_of_ns2_of_the_time() -> None:
    """The same keys as the other study of those years has, but for the window limit; and 10 Mbit/s on every link."""
    measured_one, clients = scenario(Background(1.05, 40.0, 1), Connections("reno"), 20.0).resolve()["flows"]
    (session, *_) = rio.scenario(rio.Parameters()).resolve()["flows"]
    for group in (measured_one, clients):
        differ = {key for key, value in group["tcp"].items() if value != session["tcp"][key]}
        assert differ == {"receive_window"}
        assert group["tcp"]["receive_window"] == 32
        assert group["access_bps"] == 10_000_000
    vegas = scenario(Background(1.05, 40.0, 1), Connections(steered("vegas")), 20.0).resolve()["flows"][0]
    assert vegas["tcp"]["timestamps"], "it measures the RTT of every packet"


@pytest.mark.parametrize("seed", [2, 3])
def test_nobody_is_locked_out_without_a_window_limit(seed: int) -> None:
    """The buffer of the measured connection's access link is finite: the clients keep most of their load."""
    network = replace(SOURCE, window=None)
    clients = background.matching(1.05, 5.0, seed, 200.0, network).background
    always = BASE.point("reno", BASE.threshold(8)).connections
    beside = measured(scenario(clients, always, 200.0))
    assert beside.background_mbps > 4.0, "of 5; with an endless buffer it was 1"


def test_clients_that_are_locked_out_are_on_the_page() -> None:
    """An endless connection whose access link buffers without end, beside 8 clients; the seed was chosen for that."""
    clients = Background(1.05, 300.0, 2, Network(buffer=64, window=None))
    beside = BASE.point("reno", BASE.threshold(8), count=2)
    document = scenario(clients, Connections(steered("reno", aggressiveness=6.0)), 300.0).complete_document()
    connection, others = document["flows"]
    connection |= {"path": ["bottleneck"], "access_rate": "10 Mbit/s"}
    others |= {"count": 8}
    run = measured(Scenario.from_document(document))
    assert set(run.locked_out) == {"clients"}
    fed = replace(run, locked_out=(), background_mbps=4.0, least_share=0.2)
    normalised = background.Normalised(clients, replace(run, background_mbps=5.0), 5.0)
    found = grid.Results({beside: (run, fed)}, {beside.key: (normalised, normalised)})
    assert (
        "clients beside 2 of steered Reno at 30 ms (1\u00a0run; 10 Mbit/s, window limit 32, buffer 16)"
        in lockouts.answer(found)
    )
    (toll,) = lockouts.tolls(found).values()
    assert toll.kept[0] == pytest.approx(run.background_mbps / 5.0)
    assert toll.share == (0.2, "2 of steered Reno at 30 ms")
    named = {check.quantity.split(",")[0]: check.ours for check in lockouts.checks(found)}
    assert named["runs in which a connection was locked out"] == 1
    over_udp = grid.Results({replace(beside, datagrams=True): (run,), beside: (fed,)}, {beside.key: (normalised,)})
    assert [toll.locked_out.total() for toll in lockouts.tolls(over_udp).values()] == [1, 0], "TCP is told apart"
    nobody = lockouts.answer(grid.Results({beside: (fed,)}, {beside.key: (normalised,)}))
    assert nobody.startswith("In none of")


def test_the_least_share_is_that_of_a_competing_connection() -> None:
    run = measured(scenario(Background(1.05, 45.0, 17), Connections("reno", competing=("reno", "cubic")), 60.0))
    least = min(run.competing_mbps.values())
    assert run.least_share is not None
    assert least / run.least_share > run.goodput_mbps / 35, "an equal share of 35 connections"
    assert run.locked_out == ()


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


def test_the_peak_of_a_curve_has_an_interval() -> None:
    rng = np.random.default_rng(4)
    sure = [mean + 0.01 * rng.normal(size=10) for mean in (1.0, 1.3, 1.1)]
    assert thresholds.peak((1, 4, 8), sure) == (4, 4.0, 4.0)
    unsure = [1 + 0.5 * rng.normal(size=10) for _ in range(3)]
    _, low, high = thresholds.peak((1, 4, 8), unsure)
    assert low < high


@pytest.mark.slow
def test_the_page_of_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grid.SIZES, "quick", TINY)
    found = run(find("multiple_time_scale"), "quick", lambda _: None)
    artefacts = {check.artefact for check in found.checks}
    figures = {"fig1", "fig6", "fig7", "fig8a", "fig8b", "fig9", "fig10", "fig11", "fig12", "fig13"}
    assert artefacts >= figures | {"table2", "table3", "§3.6.4", "§5.2.2", "§5.4"}
    assert artefacts >= {"§1.1", "§1.2", "§3.1", "§3.6.1", "§5.3"}, "statements of the text"
    named = [(check.artefact, check.quantity, check.reading) for check in found.checks]
    assert len(named) == len(set(named))
    drawn = {figure.name for section in found.sections for figure in section.figures}
    assert drawn >= {"fig6a", "fig6b", "fig6c", "fig7a", "fig7b", "fig7c", "fig8", "fig9", "fig10", "fig11", "fig12"}
    assert drawn >= {"fig13a", "fig13b", "fig1-1-05-1s", "fig1-1-05-5s", "fig1-1-95-1s", "fig1-1-95-5s"}
    html = document_html(Document("study", "t", "d", (), found.sections))
    assert "Gain against the RTT" in html
    assert "Normalised backgrounds" in html
    assert html.index("Does prediction gain?") < html.index("Threshold curves"), "the question comes first"


PARTS = (prediction, thresholds, rtt, tails, metacontrol, fairness, datagrams, harm, sensitivity, today, interval)


def test_all_parts_ask_for_what_they_show() -> None:
    for part in PARTS:
        listed = list(part.points(TINY))
        compared = (point.plain for point in listed if not point.series)
        assert set(compared) <= set(listed), part.__name__
    for point in sensitivity.variants(TINY).values():
        assert replace(rtt.blind(point), parameters=point.parameters) == point, "nothing else differs"


def test_claims_are_checked_by_the_part_of_their_figure() -> None:
    for each in contrasts.CONTRASTS:
        points = set(each.points(BASE, TINY))
        assert any(points <= set(part.points(TINY)) for part in PARTS), each.quantity
        assert set(each.depends) <= {reading.parameter for reading in readings.READINGS}, each.quantity
    for reading in readings.READINGS:
        assert any(reading.parameter in each.depends for each in contrasts.CONTRASTS)
        assert reading.point("tcp_rate", STEERED, rtt_ms=90) != BASE.point("tcp_rate", STEERED, rtt_ms=90) or (
            reading.parameter == "threshold"
        ), reading.name


def test_several_connections_differ_from_the_reading_by_their_link_alone() -> None:
    """Also in what no value that is tried changes here: with everybody's RTT the clients' own is not asked."""
    everybody = replace(BASE, everybodys_rtt=True, network=replace(SOURCE, clients_rtt_ms=90))
    for reading in (everybody, *readings.READINGS):
        alike = reading.point("reno", STEERED, count=6)
        assert contrasts.several(reading, TINY, 6) == replace(alike, network=replace(alike.network, rate_mbps=20.0))


def _simulation(point: Point, duration_s: float) -> Point:
    """What decides a point's run; not whether its course is kept."""
    return replace(point, series=False, duration_s=point.duration_s or point.normalised_s or duration_s)


def test_nothing_is_simulated_twice_at_paper_scale() -> None:
    """A that is found while running is followed in the run whose throughput is compared."""
    size = grid.SIZES["paper"]
    main = list(dict.fromkeys(point for part in PARTS for point in part.points(size)))
    tried = [what for what, number in reconstruction.cases(size) if isinstance(what, Point) and number == 0]
    for points, duration_s in ((main, size.duration_s), (tried, size.reading_s)):
        assert len({_simulation(each, duration_s) for each in points}) == len(points)


def test_what_is_held_against_one_published_run_is_as_long_as_that() -> None:
    """And its clients bring the load in that time."""
    size = grid.SIZES["paper"]
    compared = [
        rtt.single(size, "tcp_rate"),
        *(contrasts.followed(BASE, size, each) for each in (0.01, 0.05, 0.25)),
        *(contrasts.fixed(BASE, size, each) for each in (1, 6)),
        *(contrasts.several(BASE, size, each) for each in (2, 6, 18)),
    ]
    backgrounds = {key for key, _ in grid.cases(compared, size) if not isinstance(key, Point)}
    assert {size.duration(key) for key in backgrounds} == {10_000.0}
    for point in compared:
        assert (point.duration_s or size.duration(point.key)) == 10_000.0
    assert contrasts.several(BASE, size, 4).normalised_s == 3000.0
    assert size.duration(rtt.steered("tcp_rate", 450).key) == 2500.0


def test_fig_6_a_has_longer_runs_where_it_is_close() -> None:
    size = grid.SIZES["paper"]
    (peak, *_) = contrasts.contrasts("fig6")
    by_name = {reading.name: reading for reading in (*reconstruction.tried(size), *reconstruction.crossed(size))}
    lasts = {name: reconstruction.lasting(peak, each, size).lasts_s for name, each in by_name.items()}
    assert {lasts[name] for name in ("", "buffer: 12 packets", "buffer: 20 packets")} == {2500.0}
    assert lasts["buffer: 8 packets"] is lasts["buffer: 64 packets"] is None
    assert {value for name, value in lasts.items() if name.startswith(reconstruction.CROSSED)} == {None}
    others = contrasts.contrasts("fig9")
    assert {reconstruction.lasting(others[0], each, size).lasts_s for each in by_name.values()} == {None}


def test_a_claim_holds_if_it_is_confirmed_on_the_other_half() -> None:
    rng = np.random.default_rng(5)
    high, nothing = 1 + 0.1 * rng.normal(size=10), rng.normal(size=10)
    assert reconstruction.both_halves(np.concatenate([high, high])).low > 0
    assert reconstruction.both_halves(np.concatenate([high, nothing])).low < 0, "chosen, not confirmed"
    assert reconstruction.both_halves(np.concatenate([nothing, high])).low < 0


def test_an_oracle_knows_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last pass the slope of every interval is what its own background asks for."""
    parameters = dict(BASE.threshold(4) or ())
    clients = Background(1.05, 45.0, 1)
    made = scenario(clients, Connections(steered("reno", **parameters, oracle=[8.0] * 30)), 60.0)
    plain = measured(scenario(clients, Connections("reno"), 60.0), series=True)
    scale = oracle.scale_of(np.array(plain.others))
    runs: list[tuple[list[float], Measured]] = []

    def counted(given: Scenario) -> Measured:
        levels = given.complete_document()["flows"][0]["congestion_control"]["oracle"]
        runs.append((levels, measured(given, series=True)))
        return runs[-1][1]

    monkeypatch.setattr(oracle, "with_series", counted)
    found = oracle.with_oracle(made, scale, following=False)
    levels, last = runs[-1]
    assert found == last
    wanted = scale.following[scale.levels(np.array(last.others))[:-1] - 1] <= 4.5
    assert len(last.others) == 29, "all but the last interval are known"
    assert (np.array(levels[1:29]) <= 4.5).tolist() == wanted.tolist()
    assert 1 < len(runs) <= 30 + 30 / oracle.AHEAD
    monkeypatch.setattr(oracle, "AHEAD", 30)
    assert oracle.with_oracle(made, scale, following=False) == found, "runs that are cut short change nothing"


def test_a_table_known_beforehand_is_what_the_module_would_count() -> None:
    """A chain of two levels: the control that is given the table predicts what follows from the first interval on."""
    rng = np.random.default_rng(3)
    rows = [rng.choice([125.0, 1250.0], size=500, p=[0.3, 0.7]) for _ in range(3)]
    known = short.prior(rows)
    assert known.peak == 625.0
    counts = np.array(known.counts).reshape(8, 8)
    assert counts.sum() == 3 * 499
    # A tenth of the peak is level 8 less 0: the highest contention; the peak is level 1.
    assert set(np.flatnonzero(counts.sum(axis=1))) == {0, 7}
    assert counts[0, 7] / counts[0].sum() == pytest.approx(0.3, abs=0.06), "4 standard errors of 1050 draws"


def test_durations_of_short_connections_are_cut_from_one_run() -> None:
    size = replace(TINY, seeds=1)
    point = replace(short.plain(size), duration_s=80.0)
    found = simulated([point], size)
    delivered = found.runs[point][0].delivered
    assert delivered[round(short.START_S / 2)] == 0, "it starts at 30 s"
    assert 0 < delivered[-1] == max(delivered)
    assert len(delivered) == 40


def test_the_time_of_a_transfer_counts_from_its_own_start() -> None:
    """Four packets take a few round trips of 30 ms, however long the run is."""
    made = scenario(Background(1.05, 5.0, 1), Connections("reno", 30, 4, transfers=(6.0, 0.5)), 20.0)
    took_s = measured(made).completion_s
    assert took_s is not None
    assert 0.03 < took_s < 0.3


def test_transfers_that_were_cut_off_are_not_left_out() -> None:
    """One that began in time and did not end leaves no mean; those of the first and last tenth are not asked for."""
    resolved = {"duration_ps": 100 * 10**12, "warm_up_ps": 10 * 10**12}
    columns = {"group": [MEASURED] * 4, "start_s": [5.0, 20.0, 30.0, 95.0]}

    def mean_s(*completed: float | None) -> float | None:
        table = pl.DataFrame({**columns, "completion_s": completed}, schema_overrides={"completion_s": pl.Float64})
        return _completion(Recorded({}, {"transfers": table}), resolved)

    assert mean_s(6.0, 21.0, 33.0, None) == 2.0
    assert mean_s(6.0, 21.0, None, None) is None
    assert mean_s(None, 21.0, 33.0, 99.0) == 2.0


def test_t_l_follows_the_memory_of_the_background() -> None:
    found = simulated(interval.points(TINY), replace(TINY, duration_s=200.0))
    heavy = interval.of_backgrounds(found.backgrounds[TINY.tail_indices[0], 5.0, SOURCE, None])
    assert heavy.interval_s is not None
    assert heavy.correlations[0].interval_s == 0.5, "ten RTTs of 30 ms are less than a bin"


def test_levels_follow_levels_where_there_is_memory() -> None:
    """Fig. 1: after the highest level the mean level is higher than after the lowest, and without memory it is not."""
    rng = np.random.default_rng(1)
    assert statements.after_ends(fgn(4096, 0.9, rng)) > 2.0
    assert abs(statements.after_ends(rng.normal(size=4096))) < 0.6, "4 standard errors"


def test_it_is_registered() -> None:
    assert "Park & Tuan" in find("multiple_time_scale").reference
