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


def test_a_message_takes_its_packets_and_half_a_round_trip() -> None:
    """A window that never stops it: 685 packets at 1 Gbit/s, and the way to the other node."""
    wide = {"congestion_control": "reno", "initial_window": "1000 packets"}
    made = single_pair.ping_pongs(simulated([single_pair.ping_pong(wide)], TINY)[0])
    least = 685 * 12e-6 + 0.0058
    assert made.goodput_bps.max() == pytest.approx(8e6 / least, rel=0.01)
    assert made.total_s == pytest.approx(200 * 2 * least, rel=0.01)
    assert made.full_s == pytest.approx(2 * least, rel=0.01)


def test_windows_live_on_from_message_to_message() -> None:
    slow, fast = (
        single_pair.ping_pongs(simulated([single_pair.ping_pong(each)], TINY)[0])
        for each in (network.LINUX_BIC, {"congestion_control": "bic"})
    )
    # Slow start to a loss has the window in a few messages, growth by a twentieth takes dozens.
    assert fast.full_s < 1.0 < slow.full_s
    assert np.all(np.diff(slow.goodput_bps) > -0.05 * slow.goodput_bps[:-1]), "nothing takes the window away"


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
    assert {check.artefact for check in checks} == {"fig3", "fig8", "fig9", "fig10"}
    assert [len(table.rows) for table in section.tables] == [8, 3, 4]
    # A window that just fills its path slows down when the way back queues; one with room to spare does not.
    ratio = {check.quantity.partition(": ")[2]: check.ours for check in checks if check.artefact == "fig9"}
    assert all(0.9 < value < 1.6 for value in ratio.values()), ratio


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
