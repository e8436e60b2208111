"""What opens the page of an observation is what its records say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.foundations.numbers import quantity
from parshall.instruments.observation import Observation
from parshall.report.document import document_html
from parshall.report.observation import short
from parshall.report.observation.overview import over_time
from parshall.report.observation.page import document
from parshall.report.plot import Line, Points, values

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return ps.observe(ROOT / "docs/example.pcap.gz", output=tmp_path_factory.mktemp("observed") / "seen")


def test_the_throughput_over_time_adds_up_to_what_was_delivered(seen: Observation) -> None:
    rows = seen.largest.to_dicts()
    drawn = over_time(seen, rows)
    assert drawn is not None
    (line, *_) = (mark for mark in drawn.plot.panels[0].marks if isinstance(mark, Line))
    samples = seen.flow_samples
    assert samples is not None
    own = samples.filter(flow=rows[0]["flow"], repetition=rows[0]["repetition"]).drop_nulls("delivered_bytes")
    delivered = own["delivered_bytes"].to_numpy()
    width = np.diff(values(line.x))[0]
    unit = {"Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1.0, "Gbit/s": 1e9}[drawn.plot.panels[0].y.unit]
    assert values(line.y).sum() * unit * width / 8 == pytest.approx(
        float(delivered[-1]) - float(delivered[0]), rel=1e-6
    )


def test_tiles_are_of_the_largest_flow(seen: Observation) -> None:
    row = seen.largest.to_dicts()[0]
    block = short.tiles(seen, [row])
    assert block is not None
    tiles = {tile.label: tile for tile in block.content.tiles}
    assert tiles["Goodput"].value == quantity(row["goodput_bps"], "bit/s")
    assert tiles["Retransmitted"].value == quantity(row["retransmissions"] / row["packets_sent"], "ratio")
    samples = seen.flow_samples
    assert samples is not None
    late = float(np.quantile(samples["srtt_s"].drop_nulls().to_numpy(), 0.95))
    assert tiles["Round-trip time, 95th percentile"].value == quantity(late, "s")
    assert short.tiles(seen, []) is None


def test_a_stall_needs_data_under_way() -> None:
    at = np.arange(8) / 10
    delivered = [0, 5, 5, 5, 5, 5, 5, 9]
    idle = {"time_s": at, "delivered_bytes": delivered, "in_flight_packets": [1, 1, 0, 0, 0, 1, 1, 1]}
    found = short.longest_stall(pl.DataFrame(idle))
    assert found is not None
    assert (found.start_s, found.length_s) == pytest.approx((0.5, 0.2))
    busy = short.longest_stall(pl.DataFrame({**idle, "in_flight_packets": [1] * 8}))
    assert busy is not None
    assert (busy.start_s, busy.length_s) == pytest.approx((0.1, 0.6))
    assert short.longest_stall(pl.DataFrame({"time_s": at})) is None


def test_what_was_sent_again_is_marked_on_the_curve(seen: Observation) -> None:
    row = seen.largest.to_dicts()[0]
    drawn = short.sequence(seen, row)
    assert drawn is not None
    (marked,) = (mark for mark in drawn.plot.panels[0].marks if isinstance(mark, Points))
    samples = short.own_samples(seen, row)
    grown = samples["retransmissions"].diff().fill_null(0).to_numpy() > 0
    assert values(marked.x).tolist() == samples["time_s"].to_numpy()[grown].tolist()
    assert f"{row['retransmissions']} retransmissions in all" in drawn.plot.caption.replace("\u00a0", " ")


def test_what_experts_ask_for_is_folded(seen: Observation) -> None:
    page = document(seen)
    folded = {figure.name for section in page.sections if section.closed for figure in section.figures}
    assert {name.split("-")[0] for name in folded} == {"loss", "spectrum", "arrivals"}
    html = document_html(page)
    for name in folded:
        before = html[: html.index(f'id="figure-{name}"')]
        assert before.count("<details>") > before.count("</details>")


def test_without_samples_nothing_is_drawn(seen: Observation) -> None:
    bare = Observation(None, seen.metadata, {"flows": seen.flows})
    assert over_time(bare, seen.largest.to_dicts()) is None
    assert short.sequence(bare, seen.largest.to_dicts()[0]) is None
