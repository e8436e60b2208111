"""A scenario that explains a capture: read, written, checked, and changed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import Any

from parshall.foundations.errors import InputError
from parshall.foundations.files import write_atomically
from parshall.inference import path as paths
from parshall.inference.checking import REPETITIONS, Check, check
from parshall.inference.facts import Direction, directions
from parshall.inference.response import CONTROLS, Explanation, chosen, explain, with_queue
from parshall.inference.what_if import RemedyEffect, what_if
from parshall.inference.workloads import FlowCluster, groups
from parshall.inference.writing import Draft, draft
from parshall.instruments.observation import Observation, observe
from parshall.instruments.observation.packets import packets
from parshall.instruments.observation.sources import packet_filter
from parshall.report.remedies import REPETITIONS as CHANGED
from parshall.scenario.scenario import Scenario

_FILTERS: Mapping[str, Any] = {"from_s": None, "until_s": None, "hosts": (), "ports": ()}
JUDGED_SHARE = 0.05
"""Of all payload, which flows must deliver for their control to be inferred."""


@dataclass(frozen=True)
class Inferred:
    """A scenario that was inferred from a capture.

    Parameters
    ----------
    name
        Of the scenario.
    flows
        The directions that carried data, as captured.
    groups
        As the scenario groups them.
    path
        Rate, buffer and losses of the bottleneck.
    response
        The control and the queue that explain the flows best; None where nothing shows them.
    draft
        The scenario's lines with what each was inferred from.
    """

    name: str
    flows: Sequence[Direction]
    groups: Sequence[FlowCluster]
    path: paths.InferredPath
    response: Explanation | None
    draft: Draft

    @property
    def text(self) -> str:
        """The scenario as TOML, each key with a comment."""
        return self.draft.text

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario."""
        return Scenario.from_document(tomllib.loads(self.text))

    @property
    def forward(self) -> list[Direction]:
        """The flows that go the way of the largest one."""
        return [flow for group in self.groups if group.forward for flow in group.flows]

    def check(self, *, repetitions: int = REPETITIONS) -> Check:
        """Simulate the scenario and compare it with the capture."""
        return check(self.scenario, self.forward, repetitions=repetitions)

    def what_if(self, *, repetitions: int = CHANGED) -> list[RemedyEffect]:
        """Simulate what might help, and say what each change brings."""
        return what_if(self.scenario, min(each.min_rtt_s for each in self.forward), repetitions=repetitions)

    def save(self, path: str | File, *, overwrite: bool = False) -> File:
        """Write the scenario, and return its file.

        Raises
        ------
        InputError
            The file exists, and `overwrite` is not given.
        """
        file = File(path)
        if file.exists() and not overwrite:
            raise InputError(f"{file} exists already; overwrite=True replaces it")
        write_atomically(file, self.text)
        return file


def infer(
    *files: str | File,
    join: bool = False,
    replay: bool = False,
    controls: Sequence[str] = CONTROLS,
    name: str = "",
    observation: Observation | None = None,
    **filters: Any,
) -> Inferred:
    """Infer the scenario that explains a capture.

    Parameters
    ----------
    files
        A capture, or with `join` its consecutive parts.
    replay
        Whether each transfer is written as it was, at its time, instead of distributions.
    controls
        The congestion controls that are tried; empty: none, and CUBIC is taken.
    name
        Of the scenario; default: the first file's.
    observation
        What was observed already, instead of files.
    filters
        As `parshall.observe` takes them: which part of the capture is read.

    Raises
    ------
    InputError
        The capture does not show a path: no direction with data and acknowledgements.
    """
    seen = observation or observe(*files, join=join, **filters)
    flows = directions(seen)
    there, back = paths.sides(flows)
    read = packet_filter(*(filters.get(name, default) for name, default in _FILTERS.items()))
    captured = packets(seen.captures[0]["files"], [each.name for each in there], read)
    path = paths.path(there, captured)
    there = paths.without_queue(there)
    found = groups(there, back)
    title = name or (File(files[0]).name.partition(".")[0] if files else "inferred")
    total = sum(each.delivered_bytes for each in there)
    judged = [each for each in there if each.delivered_bytes > JUDGED_SHARE * total]

    def written(at: paths.InferredPath, control: str) -> Draft:
        lines = {place: chosen(None, control) for place in range(len(found))}
        return draft(title, at, found, lines, replay=replay)

    response = explain(judged or there, path, written, controls) if controls else None
    lines = {place: chosen(response) for place in range(len(found))}
    made = draft(title, path, found, lines, replay=replay)
    if response is not None:
        made = with_queue(made, response.queue)
    elif path.has_full_queue and path.loss is not None and path.loss.guess:
        made = with_queue(made, "drop_tail")
    return Inferred(title, flows, found, path, response, made)
