"""The study of the benchmark's source: its tables, what its statistics are of, and that its page can be drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import parshall as ps
from parshall.report.document import Document, document_html
from parshall.runs import Run
from parshall.studies.catalog import find
from parshall.studies.itb import bulk, controls, definition, network, rtts, sensitivity, single_pair
from parshall.studies.itb.network import SIZES, hosts, simulated

TINY = replace(
    SIZES["quick"],
    fig3_gb=0.05,
    bulk_gb=0.02,
    levels=(0.8, 1.2, 2.1),
    rtts_ms=(11.5, 100.0, 200.0),
    flow_s=0.5,
    step_s=0.1,
)


def quiet(_: str) -> None: ...


def test_the_definition_is_the_source_s() -> None:
    (check,), section = definition.found()
    assert (check.verdict, check.ours) == ("reproduced", 12)
    assert [table.caption for table in section.tables] == ["Table 3", "Table 5"]


@pytest.mark.parametrize(("name", "p", "c", "d"), [("reno", 1e-3, 1.22, 0.5), ("scalable", 1e-3, 0.08, 1.0)])
def test_windows_of_table_1(name: str, p: float, c: float, d: float) -> None:
    (run,) = simulated([controls.lossy(name, p, 5, c / p**d)], TINY)
    assert controls._mean_window(run) == pytest.approx(c / p**d, rel=0.1)


def test_factors_are_read_off_a_trajectory() -> None:
    """Reno's of a made-up scenario: keeps 0.6, adds 2 a round trip."""
    control = {"name": "reno", "increase": 2.0, "decrease": 0.6}
    scenario = controls.lossy("reno", 1e-3, 10, 70.0, controls.RTT_S / 20).with_values(
        {"flows.0.congestion_control": control}
    )
    increase, decrease = controls.factors_of(ps.run(scenario))
    assert increase == pytest.approx(2.0, abs=0.1)
    assert decrease == pytest.approx(0.4, abs=0.02)


def test_files_that_do_not_end_count_to_the_end() -> None:
    (run,) = simulated([hosts("bic", 2, 10, duration_s=0.5, file_gb=1.0, start={"staggered": "100 ms"})], TINY)
    (times,) = bulk.times(run)
    assert sorted(times.tolist()) == pytest.approx([0.4, 0.5])


def test_utilisation_is_that_of_the_time_asked_for() -> None:
    """One host of 1 Gbit/s at a link of 10: a tenth, once it has started."""
    (run,) = simulated([hosts("reno", 1, 10, duration_s=1.0, bins_s=0.1)], TINY)
    assert rtts.utilisation(run, 0.5) == pytest.approx(0.1, rel=0.01)
    assert rtts.utilisation(run, 0.0) < 0.099


def test_messages_are_paced_by_the_round_trip() -> None:
    """A window of one message and a connection that lives on: about a round trip a message, and slow start first."""
    (run,) = simulated(
        [single_pair.pair(11.6, 10.0, single_pair.WINDOW, single_pair._VARIANTS["one connection"])], TINY
    )
    least = 200 * 0.0116
    assert least < single_pair.duration_of(run) < 1.15 * least
    full = single_pair.full_rate_at(run)
    assert full is not None
    assert 5 * 0.0116 < full < 20 * 0.0116


def test_the_page_of_short_runs() -> None:
    parts = [part(TINY, quiet) for part in (bulk.found, rtts.found)]
    checks = [check for found, _ in parts for check in found]
    assert {check.artefact for check in checks} == {"fig3", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10"}
    html = document_html(Document("study", "t", "d", (), [section for _, section in parts]))
    for words in ("Fig. 3: BIC, 17 files", "Fig. 7: flows that join", "Fig. 10"):
        assert words in html


def test_the_differences_are_followed_up() -> None:
    checks, section = sensitivity.found(TINY, quiet)
    assert {check.verdict for check in checks} == {"extended"}
    assert {check.artefact for check in checks} == {"fig4", "fig8", "fig9", "fig10"}
    took = {check.quantity.partition(": ")[2]: check.ours for check in checks if check.artefact == "fig4"}
    # BIC comes back in a few round trips; Reno adds half a packet a round trip of 11.6 ms, for hundreds of packets.
    assert took["bic, slow start ends at 20 packets"] < 1.3 * took["bic, slow start ends at a loss"]
    assert took["reno, slow start ends at 20 packets"] > 2 * took["bic, slow start ends at 20 packets"]
    assert [len(table.rows) for table in section.tables] == [9, 3, 3]


def test_a_run_is_kept(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    scenario, size = hosts("reno", 1, 10, duration_s=0.2), replace(TINY, kept=True)
    (first,) = simulated([scenario], size)
    monkeypatch.setattr(network, "simulate", lambda *_, **__: pytest.fail("simulated again"))
    (again,) = simulated([scenario], size)
    assert isinstance(again, Run)
    assert np.array_equal(first.flows["goodput_bps"], again.flows["goodput_bps"])


def test_it_is_registered() -> None:
    assert "RR-6244" in find("itb").reference
