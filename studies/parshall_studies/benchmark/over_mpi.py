"""PA over a library of MPI: two ranks of Open MPI in the place of the pair, among the other flows of its class.

The benchmark's own PA has both directions send at once (`parshall_studies.benchmark.ping_pong`). Here the ranks do the
ping-pong itself, over the kernel's TCP: a message, and its reply when it is complete. As it comes the library agrees
with the receiver before a large message, which takes a round trip each way more. So both are shown, and neither is the
other.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4.
"""

from __future__ import annotations

import json
import platform
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parshall.campaign import Execution, Store
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of
from parshall.foundations.errors import SimulationError
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall_studies import mpi
from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import Result
from parshall_studies.benchmark.building import EXCHANGED, Case

PAIR = "a0"
"""The group of a case whose place the ranks take; with those that reply to it they are the pair."""

HOST_QUEUE = "100000 packets"
"""Of a host's access link: it loses nothing."""

PACKET_BITS = 12_000

START_S = 30.0
"""For both ranks to be started, at most."""


@dataclass(frozen=True)
class OverMpi:
    """A ping-pong over MPI.

    Parameters
    ----------
    times_s
        Of each exchange, a message there and one back, s.
    level
        How far the emulation can be believed.
    """

    case: str
    control: str
    times_s: tuple[float, ...]
    level: str

    @property
    def total_s(self) -> float:
        """Of all exchanges."""
        return sum(self.times_s)


def document(case: Case, control: str) -> dict[str, Any]:
    """The case as a scenario whose pair is one group, for `parshall.instruments.emulation.run_programs`.

    Replies take the way back, which is as the way forth, behind an access link as that of the messages.
    """
    made = case.document(control)
    made.pop("ends_with", None)
    forth = made.pop("bottleneck")
    access = {"rate": f"{round(case.factors.access_bps)} bit/s", "queue": {"name": "drop_tail", "limit": HOST_QUEUE}}
    # A link that only replies cross has no BDP of its own: its queue is as long as that of the way forth.
    bdp = case.factors.capacity_bps * case.factors.mean_rtt_s / PACKET_BITS
    packets = max(1, round(float(forth["queue"]["limit"].removesuffix("BDP")) * bdp))
    back = {**forth, "queue": {**forth["queue"], "limit": f"{packets} packets"}}
    made["links"] = [{"name": "forth", **forth}, {"name": "back", **back}, {"name": "replies", **access}]
    groups = []
    for group in made["flows"]:
        ways = ["forth"], ["back"]
        path, reverse_path = ways[::-1] if group.pop("direction", "forward") == "reverse" else ways
        if group["name"] == PAIR:
            pair = {"count": 1, "start": "0 s", "workload": "bulk", "reverse_path": ["replies", *reverse_path]}
            groups.append({**group, "path": path, **pair})
        elif not re.match(EXCHANGED, group["name"]):
            groups.append({**group, "path": path, "reverse_path": reverse_path})
    return {**made, "flows": groups, "repetitions": 1, "duration": f"{START_S + 4 * case.duration_s:.3f} s"}


def exchanged(scenario: Scenario, _kernel: str, work: mpi.Work) -> tuple[tuple[float, ...], str]:
    """The times of the exchanges, s, and how far the emulation can be believed; an invalid one is done once more.

    Raises
    ------
    SimulationError
        The ranks did not come to their end.
    """
    from parshall.instruments.emulation import run_programs, validity  # noqa: PLC0415 - workers of simulations do without

    exchanges: tuple[tuple[float, ...], str] = (), ""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            times = Path(folder) / "times.json"
            client, server = mpi.commands(Path(folder), times, work, scenario.duration.seconds)
            verdict = validity(run_programs(scenario, client, server=server, flows=PAIR))
            if verdict is None or not times.is_file():
                raise SimulationError(f"mpirun: {work.count} exchanges did not come to their end")
            exchanges = tuple(json.loads(times.read_text(encoding="utf-8"))), verdict.level
        if verdict.level != "invalid":
            break
    return exchanges


def over_mpi(
    cases: Sequence[Case], controls: Sequence[str], by: Execution, progress: Callable[[str], None] = lambda _: None
) -> list[OverMpi]:
    """PA over MPI, of each case of it and each control alone; one after another, and kept in the store.

    Raises
    ------
    SimulationError
        The ranks did not come to their end.
    ParshallError
        As `parshall.campaign.calls.run_calls`.
    """
    wanted = [(case, control) for case in cases if case.application.replies for control in controls]
    calls = []
    for case, control in wanted:
        messages = case.scale.messages
        work = mpi.Work("ping_pong", round(case.scale.message_bytes[case.itb_class.aggregation]), messages)
        scenario = Scenario.from_document(document(case, control))
        call = call_of(exchanged, (scenario, platform.release(), work))
        calls.append(replace(call, label=f"{case.name}, {control}, over MPI", at_once=by.at_once))
    store = Store(by.store, create=True) if isinstance(by.store, str | Path) else by.store
    answers = run_calls(calls, 1, lambda call: progress(call.label), store=store)
    return [OverMpi(case.name, control, *answer) for (case, control), answer in zip(wanted, answers, strict=True)]


def section(pairs: Sequence[OverMpi], emulated: Result) -> Section:
    """The ping-pongs beside the benchmark's own PA, for the page."""
    own = {
        (case.case.name, control): float(np.mean(list(score.values(case, control, "completion_s").values())))
        for case in emulated.cases
        for control in emulated.controls
    }
    rows = [
        (
            each.case,
            f"`{each.control}`",
            f"{len(each.times_s)}",
            f"{each.total_s:.3g}",
            f"{own[each.case, each.control]:.3g}",
            each.level,
        )
        for each in pairs
    ]
    text = (
        "Two ranks of Open MPI in the place of the pair of PA, among the other flows of the class: each message waits "
        "for the reply to the one before, and for the library's agreement with the receiver. The benchmark's own PA "
        "sends both ways at once, without either.",
    )
    header = ("case", "control", "exchanges", "over MPI (s)", "PA (s)", "verdict")
    return Section("PA over MPI", text, [Table("Times of all exchanges", header, rows, numbers=(2, 3, 4))])
