"""Programs of your own in the network of a scenario."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from parshall.foundations.errors import InputError
from parshall.instruments.emulation.emulating import described, said_beyond, say_that_it_waits
from parshall.instruments.emulation.kernel import emulated, left_to_the_kernel
from parshall.instruments.emulation.process import repetition
from parshall.instruments.simulation import Progress, Run
from parshall.instruments.simulation.execute import Instrument, execute, read_scenario
from parshall.scenario import Scenario

IN_THE_PLACE = "programs have taken the place of a group's workload, of which the models know nothing"


def run_programs(
    scenario: Scenario | str | Path | Mapping[str, Any],
    client: Sequence[str],
    directory: str | Path | None = None,
    *,
    server: Sequence[str] | None = None,
    flows: str | None = None,
    download: bool = False,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    at_once: bool = False,
) -> Run:
    """Run a client and a server with the network of a scenario between them.

    They take the place of one group of flows: its addresses, its path, its round-trip time, its marker and its
    congestion control, unless their sockets ask for another. All other groups are as in `parshall.emulate`. It is
    measured from the start, whatever the scenario's warm-up, and ends with the client, at the latest after the
    scenario's duration.

    Parameters
    ----------
    scenario
        The network and all other flows: a scenario, the path of one in TOML, or its tables.
    client
        A program and its arguments. It has the standard input and output of this process. ``{server}`` and
        ``{client}`` in arguments stand for the addresses of both ends, as do the environment variables
        ``PARSHALL_SERVER`` and ``PARSHALL_CLIENT``.
    directory, overwrite, progress
        As of `parshall.run`.
    server
        Another program, which runs at the other end: the client starts when it listens at a port, or after 5 s. What
        it prints goes to the standard error.
    at_once
        As of `parshall.emulate`.
    flows
        The name of the group; by default the first of real hosts.
    download
        Whether the client is at the receiving end, so that what it downloads takes the path of data.

    Returns
    -------
    Run
        The records of the network. ``metadata["programs"]`` has the name of the ``group``, and ``command`` and
        ``status`` of ``client`` and ``server``: their exit status, None if it was killed at the end.

    Raises
    ------
    InputError
        There is no such program, or no such group.
    ScenarioError, EmulationError, OutputExistsError, StorageError
        As of `parshall.emulate`.
    """
    read = read_scenario(scenario).with_values({"repetitions": 1, "warm_up": "0 s"})
    for command in [client] if server is None else [client, server]:
        if not command or shutil.which(command[0]) is None:
            raise InputError(f"found the program {command[0] if command else ''!r}; accepted: one that is there")
    programs = {
        "group": _group(read, flows),
        "client": [*map(str, client)],
        "server": None if server is None else [*map(str, server)],
        "download": download,
    }
    resolved = emulated(read)
    kernel = Instrument(
        "emulate",
        json.dumps(resolved),
        partial(repetition, programs=programs, waits=say_that_it_waits, at_once=at_once),
        most_at_a_time=1,
        notes=[*left_to_the_kernel(read), *said_beyond(resolved)],
        describe=lambda totals: {**described(totals), "programs": _ended(read, programs, totals[0]["programs"])},
        unpredictable=IN_THE_PLACE,
    )
    return execute(read, directory, kernel, overwrite=overwrite, progress=progress)


def _ended(scenario: Scenario, programs: Mapping[str, Any], statuses: Mapping[str, Any]) -> dict[str, Any]:
    ended = {who: programs[who] and {"command": programs[who], "status": statuses[who]} for who in ("client", "server")}
    return {"group": scenario.flows[programs["group"]].name, "download": programs["download"], **ended}


def _group(scenario: Scenario, name: str | None) -> int:
    """The place of the group whose workload the programs replace."""
    real = {str(group.name): place for place, group in enumerate(scenario.flows) if group.endpoint == "kernel"}
    if name is None and real:
        return next(iter(real.values()))
    if name is None or name not in real:
        known = ", ".join(f'"{each}"' for each in real) or "there is none of real hosts"
        raise InputError(f"flows: found {name!r}; accepted: {known}")
    return real[name]
