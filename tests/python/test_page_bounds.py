"""However many groups, flows or connections there are, a page shows some, and the sums of the others."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.report import page_html
from parshall.report.bounded import MOST, bounded
from parshall.report.document import Table
from parshall.report.observation.page import LISTED, document
from parshall.report.tables import groups_table, latency_table, transfers_table
from parshall.results.quantities.measuring import of_place
from parshall.results.quantities.together import together

GROUPS = 120


def _scenario(groups: int, **keys: Any) -> dict[str, Any]:
    flows = [{"name": f"group-{number}", "rtt": f"{10 + number % 40} ms", **keys} for number in range(groups)]
    return {"duration": "2 s", "warm_up": "0.5 s", "repetitions": 2, "bottleneck": {"rate": "1 Gbit/s"}, "flows": flows}


def _many(groups: int) -> ps.Run:
    sizes = {"name": "on_off", "size": {"name": "exponential", "mean": "20 kB"}}
    return ps.run(_scenario(groups, workload=sizes | {"off": {"name": "exponential", "mean": "0.3 s"}}))


@pytest.fixture(scope="module")
def many() -> ps.Run:
    return _many(GROUPS)


@pytest.mark.slow
def test_a_page_of_a_thousand_groups_is_a_page() -> None:
    html = page_html(_many(1000))
    assert len(html.encode()) <= 1_500_000
    text = re.sub(r"<[^>]+>", " ", html).replace("\u00a0", " ")
    assert f"{1000 - MOST} other groups" in text
    assert "the file scenario.toml beside this one" in text
    assert "The same is true of" in text, "of the loads that are not what was asked for"


def _cells(table: Table | None, label: str) -> list[str]:
    assert table is not None
    place = list(table.header).index(label)
    return [row[place].text for row in table.rows]


def test_the_last_row_has_the_others_together(many: ps.Run) -> None:
    page = bounded(many.tables)
    assert len(page.names) == MOST
    assert page.rows[-1] == f"{GROUPS - MOST}\u00a0other groups"
    table = groups_table(many)
    assert table is not None
    assert len(table.rows) == MOST + 1
    assert "have a row each. The last row has the others together." in table.note
    # What is in the rows is all: shares add up to 1, flows and finished transfers to their numbers.
    shares = [of_place(page.tables, "group", name)[f"group/{name}/share"].interval.mean for name in page.rows]
    assert sum(shares) == pytest.approx(1.0)
    goodputs = [of_place(page.tables, "group", name)[f"group/{name}/goodput_bps"].interval.mean for name in page.rows]
    assert sum(goodputs) == pytest.approx(many.flows["goodput_bps"].sum() / 2)
    finished = [int(re.sub(r"\D", "", text)) for text in _cells(transfers_table(many), "Finished")]
    assert many.transfers is not None
    assert sum(finished) == many.transfers["completion_s"].count()


def test_those_with_the_most_and_the_least_have_rows(many: ps.Run) -> None:
    names = set(bounded(many.tables).names)
    ranked = many.flows.group_by("group").agg(pl.col("goodput_bps").mean()).sort("goodput_bps")["goodput_bps"]
    own = many.flows.filter(pl.col("group").is_in(list(names))).group_by("group").agg(pl.col("goodput_bps").mean())
    assert sorted(own["goodput_bps"])[: MOST // 2] == ranked[: MOST // 2].to_list()
    assert sorted(own["goodput_bps"])[MOST // 2 :] == ranked[-MOST // 2 :].to_list()


def test_groups_together_are_what_their_packets_and_flows_are() -> None:
    """Three groups as one are the same as one group of three flows."""
    workload = {"name": "cbr", "rate": "300 kbit/s"}
    apart = ps.run(_scenario(3, workload=workload))
    joined = together(apart.tables, ["group-0", "group-1", "group-2"], "all")
    found = of_place(joined, "group", "all")
    flows, groups = apart.flows, apart.groups
    assert groups is not None
    assert found["group/all/goodput_bps"].interval.mean == pytest.approx(flows["goodput_bps"].sum() / 2)
    weighed = groups.group_by("repetition").agg(
        mean=(pl.col("mean_one_way_delay_s") * pl.col("packets")).sum() / pl.col("packets").sum()
    )
    assert found["group/all/one_way_delay_s"].interval.mean == pytest.approx(weighed["mean"].mean())
    assert found["group/all/max_one_way_delay_s"].interval.mean == pytest.approx(
        groups.group_by("repetition").agg(pl.max("max_one_way_delay_s"))["max_one_way_delay_s"].mean()
    )
    assert found["group/all/one_way_delay_p99_s"].interval.n == groups["packets"].sum()


def test_few_groups_all_have_their_row() -> None:
    run = ps.run(_scenario(MOST, workload={"name": "cbr", "rate": "100 kbit/s"}))
    assert bounded(run.tables).rows == run.group_names()
    assert bounded(run.tables).tables is run.tables
    table = latency_table(run)
    assert table is not None
    assert len(table.rows) == MOST


# --- traces ---


def _capture(path: Path, connections: int) -> Path:
    """Connections of four packets each: SYN, SYN and ACK, 1 to 400 bytes, ACK."""

    def packet(
        time_s: float, ends: tuple[int, int, int, int], numbers: tuple[int, int], flags: int, size: int
    ) -> bytes:
        source, destination, port, other = ends
        tcp = struct.pack(">HHIIBBHHH", port, other, *numbers, 5 << 4, flags, 65535, 0, 0)
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + size, 0, 0, 64, 6, 0, source, destination)
        frame = bytes(12) + b"\x08\0" + ip + tcp
        return struct.pack("<IIII", int(time_s), int(time_s % 1 * 1e6), len(frame), 14 + 40 + size) + frame

    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(connections):
            at, size = 1000 + number * 60.0 / connections, 1 + number % 400
            there = (0x0A000000 + number // 60000, 0x0B000001, 1024 + number % 60000, 80)
            back = (there[1], there[0], there[3], there[2])
            file.write(packet(at, there, (1000, 0), 2, 0))
            file.write(packet(at + 0.01, back, (5000, 1001), 18, 0))
            file.write(packet(at + 0.02, there, (1001, 5001), 24, size))
            file.write(packet(at + 0.03, back, (5001, 1001 + size), 16, 0))
    return path


def test_the_last_row_of_an_observation_has_the_sums_of_the_others(tmp_path: Path) -> None:
    connections = 3 * LISTED
    seen = ps.observe(_capture(tmp_path / "many.pcap", connections), output=tmp_path / "seen")
    (listing,) = (section for section in document(seen).sections if section.heading == "Flows")
    (table,) = listing.tables
    assert len(table.rows) == LISTED + 1
    assert table.rows[-1][0] == f"{connections - LISTED}\u00a0other flows"
    assert sum(int(row[2].replace("\u202f", "")) for row in table.rows) == seen.flows["packets_sent"].sum()
    assert seen.number() == connections
    assert seen.selected(most=3).to_dicts() == seen.largest.head(3).to_dicts()


MEASURE = """
import re, sys
from pathlib import Path
import parshall as ps
from parshall.report.observation.page import write_page
seen = ps.observe(sys.argv[1], output=sys.argv[2])
write_page(seen, sys.argv[3])
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024)
"""


@pytest.mark.slow
def test_an_observation_of_many_connections_takes_little_memory(tmp_path: Path) -> None:
    """300,000 connections, page and all: at most 700 MB; 2.8 GB were taken when each had its row in memory."""
    capture = _capture(tmp_path / "many.pcap", 300_000)
    command = [sys.executable, "-c", MEASURE, str(capture), str(tmp_path / "seen"), str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 700
