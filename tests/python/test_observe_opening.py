"""What opens the page of an observation is what its records say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import parshall as ps
from parshall.report.document import document_html
from parshall.report.numbers import quantity
from parshall.report.plot import Line, values
from parshall.traces import Observation
from parshall.traces.overview import finding, over_time
from parshall.traces.page import document

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return ps.observe(ROOT / "docs/example.pcap.gz", output=tmp_path_factory.mktemp("observed") / "seen")


def test_the_largest_flow_is_told(seen: Observation) -> None:
    rows = seen.largest.to_dicts()
    text = finding(rows)
    assert f"delivered {quantity(rows[0]['goodput_bps'], 'bit/s')}." in text
    assert f"took {quantity(rows[0]['mean_rtt_s'], 's')} on average" in text
    page = document_html(document(seen))
    assert page.index('class="finding"') < page.index('id="figure-over-time"') < page.index("<h2>Flows")
    assert finding([]) == ""


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


def test_without_samples_nothing_is_drawn(seen: Observation) -> None:
    bare = Observation(None, seen.metadata, {"flows": seen.flows})
    assert over_time(bare, seen.largest.to_dicts()) is None
