"""Studies on real stacks: one artefact, for some seconds."""

from __future__ import annotations

from dataclasses import replace

from emulations import ON_THE_KERNEL

from parshall.studies.large_deviations import real_stacks
from parshall.studies.large_deviations.real_stacks import ARTEFACTS, SLOWER, Summary, summary
from parshall.studies.study import Emulated, emulated

pytestmark = ON_THE_KERNEL


def test_reno_on_linux_has_the_window_that_the_link_leaves_it() -> None:
    (fig3,) = (each for each in ARTEFACTS if each.name == "fig3")
    short = replace(fig3, seconds={"quick": 15.0, "paper": 15.0})
    scenario = short.scenario(SLOWER, "quick", 1, {})
    found = emulated("Reno", scenario, summary, real_stacks.WARM_UP_S["quick"]).answer()
    assert isinstance(found, Emulated)
    assert found.validity.level in {"valid", "doubtful", "invalid"}
    ours: Summary = found.answer
    # (C - X) (RTT + B/C) is 147 packets; a busy machine sends in bursts, which lose packets earlier.
    assert 60 < ours.highest < 160
    assert ours.lowest < ours.mean < ours.highest
    assert 0 < ours.losses < 0.2
