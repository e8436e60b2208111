"""The picture of the first page: the queue that Linux filled, beside the simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.instruments.simulation import run
from tools.documentation.beside_linux import NAME, Queue, description, on_linux, plot, simulated, store

JOINS_S = 20.0
"""When the BBR flow joins. Its probing has random phases, so teeth are compared before it."""


@pytest.fixture(scope="module")
def ours() -> Queue:
    return simulated()


def test_goodput_and_queue_are_linuxs(ours: Queue) -> None:
    """3 and 10 %: the tolerances of docs/linux.md, which says why."""
    assert ours.goodput_bps == pytest.approx(on_linux().goodput_bps, rel=0.03)
    assert ours.mean_packets == pytest.approx(on_linux().mean_packets, rel=0.1)


def test_teeth_stand_where_linuxs_do(ours: Queue) -> None:
    """The null: the same teeth, moved by half of a tooth (1.7 s), do not agree."""
    bins = round(JOINS_S / ours.bin_s)
    first, second = (np.array(each.mean_queue_packets[:bins]) for each in (ours, on_linux()))
    moved = np.roll(second, round(1.7 / ours.bin_s))
    apart, null = np.abs(first - second).mean(), np.abs(first - moved).mean()
    assert null > 10.0, "packets: what teeth at other times differ by"
    assert apart < null / 5


def test_the_text_says_where_and_when() -> None:
    stored = on_linux()
    for words in (stored.system, stored.date, "valid", "single run"):
        assert words in description()
    assert [line.name for line in plot().panels[0].marks] == ["Linux", "simulated"]


def test_a_simulation_is_not_stored_as_linux() -> None:
    made = run(NAME)
    with pytest.raises(ValueError, match="accepted: a valid emulation of sawtooth"):
        store(made.directory)
