"""A scenario simulated while somebody waits for it: one repetition, as much of its time as there are packets to spare.

| bound | what it is for |
| --- | --- |
| `MOST_FLOWS` | what they take before the first packet, and at the end; more are refused before anything is done |
| `AIM_PACKETS` at the rates of the links | how long is simulated: an answer takes a fraction of a second |
| `MOST_PACKETS`, `MOST_S` | where more is sent than the links carry, or rates are not known beforehand |

What is shown has the same sentences, tiles, tables and figures as the page of a run, made by the same code.
"""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from parshall.explore import knobs
from parshall.explore.drawing import in_page
from parshall.explore.subject import Base
from parshall.foundations.errors import ParshallError, ScenarioError
from parshall.foundations.numbers import given
from parshall.instruments.simulation import Run
from parshall.instruments.simulation.memory import most_flows
from parshall.instruments.simulation.single import Interrupted, Monitor, Recorded, recorded
from parshall.report.document import Block, Chart, Section, sections_html
from parshall.report.figures import figures
from parshall.report.finding import finding
from parshall.report.headline import headline
from parshall.report.layout import WIDTH_IN
from parshall.report.plot import Figure, Missing
from parshall.report.sentences import say
from parshall.report.tables import groups_table
from parshall.scenario import Scenario
from parshall.scenario.schema import writing

AIM_PACKETS = 300_000
"""About a tenth of a second of the simulator's time, and three times what the quickstart has."""
MOST_PACKETS = 4 * AIM_PACKETS
MOST_S = 2.0
"""Of the processor's time, where packets are few and events many."""
MOST_FLOWS = 10_000
"""A fifth of a second of the processor's time, and 140 MB, at the quickstart's size."""

FIRST_FIGURES = ("overview", "delay")
"""Those that are shown unless others are asked for."""

_PACKET_BITS = 12_000
_POLL_S = 0.02
_AGAIN = 0.4
"""After an interruption, so much of the time that was reached is simulated."""


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


def shown(base: Base, request: Mapping[str, Any], stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Yield the answers to a scenario with changed values: first the simulated ones, then those of models.

    Parameters
    ----------
    base
        The scenario.
    request
        ``values`` by key path (`parshall.explore.knobs`), names of ``figures``, and the ``width`` of figures in inches.
    stopped
        Asked now and then whether the answer is still wanted.

    Yields
    ------
    dict
        ``problems``, one text each, where the scenario is refused, and nothing else; or the parts of the page.
    """
    try:
        changed = knobs.changed(base.scenario(), request.get("values") or {})
        scenario = changed.scenario
        _check_flows(scenario)
        short, result = _recorded(scenario, stopped)
    except ScenarioError as error:
        yield {"problems": error.problems}
        return
    except StoppedError:
        return
    except ParshallError as error:
        yield {"problems": [str(error)]}
        return
    if stopped():
        return
    command = " ".join([base.command, *map(_assignment, changed.assigned, changed.assigned.values())])
    yield {
        **_simulated(_run(short, result), request),
        "extent": _extent(scenario, short),
        "toml": scenario.toml(),
        "command": command,
        "idle": knobs.idle(scenario, base.scenario()),
        "warnings": [*changed.left_out, *scenario.warnings()],
    }
    if not stopped():
        yield {"predicted": _predicted(short, result, _width(request))}


def _check_flows(scenario: Scenario) -> None:
    """Refuse more than `MOST_FLOWS`, at the largest group."""
    counts = [group.count for group in scenario.flows]
    if sum(counts) > MOST_FLOWS:
        key = f"flows.{counts.index(max(counts))}.count"
        found = f"found {sum(counts)} flows in all, more than can be simulated at once"
        raise ScenarioError(
            [f"{key}: {found}; accepted: {MOST_FLOWS} here; `parshall run` takes more"], scenario.source
        )


def _simulated(run: Run, request: Mapping[str, Any]) -> dict[str, str]:
    """The sentences, tiles, tables and figures of a run."""
    names = request.get("figures") or FIRST_FIGURES
    wanted = [each for each in figures() if each.name in names]
    drawn = [_figure(each, run) for each in wanted]
    groups = groups_table(run)
    sections = [
        Section("Simulated", blocks=[Block("tiles", headline(run))], name="answer", is_opening=True),
        *drawn[:1],
        *([Section("Groups of flows", tables=[groups], name="groups")] if groups else []),
        *drawn[1:],
    ]
    return {"finding": finding(run, advise=False).text, "simulated": sections_html(sections, in_page(_width(request)))}


def _run(scenario: Scenario, result: Recorded, predicted: Sequence[Mapping[str, Any]] = ()) -> Run:
    """Return the simulation as a run, which is in memory alone."""
    metadata = {
        "instrument": "simulate",
        "status": "complete",
        "name": scenario.name,
        "scenario": scenario.complete_document(),
        "repetitions": 1,
        "repetitions_finished": [0],
        "predicted": predicted,
    }
    return Run(None, metadata, result.tables, {0: result.totals["simulated_s"]})


def _recorded(scenario: Scenario, stopped: Callable[[], bool]) -> tuple[Scenario, Recorded]:
    """As much of the scenario as there is time for, and its tables."""
    short = _shortened(scenario, _affordable_s(scenario))
    for _ in range(2):
        resolved = short.resolve()
        monitor = Monitor(most_flows(json.dumps(resolved), 1, scenario.source))
        try:
            with _bounded(monitor, stopped):
                return short, recorded(resolved, source=scenario.source, monitor=monitor)
        except Interrupted:
            if stopped():
                raise StoppedError from None
        if monitor.simulated_s > 0:
            short = _shortened(scenario, _AGAIN * monitor.simulated_s)
    reason = f"flows: too much to be simulated at once; `parshall run` does it ({scenario.duration} of time)"
    raise ScenarioError([reason], scenario.source)


def _affordable_s(scenario: Scenario) -> float:
    """Return the simulated time in which the links carry `AIM_PACKETS`, in seconds."""
    rates = (link.rate.get("constant") for link in scenario.resolved.links)
    packets_per_s = sum(rate for rate in rates if rate is not None) / _PACKET_BITS
    return AIM_PACKETS / packets_per_s if packets_per_s > 0 else scenario.duration_s


def _shortened(scenario: Scenario, most_s: float) -> Scenario:
    """The scenario with one repetition, and at most so much time; its warm-up stays the same share of it."""
    values: dict[str, Any] = {"repetitions": 1}
    if scenario.duration_s > most_s:
        share = most_s / scenario.duration_s
        warm_up_s = scenario.resolved.warm_up_ps * 1e-12 * share
        values |= {"duration": f"{most_s:.12f} s", "warm_up": f"{warm_up_s:.12f} s"}
    try:
        return scenario.with_values(values)
    except ScenarioError:  # something starts later
        return scenario.with_values({"repetitions": 1})


@contextmanager
def _bounded(monitor: Monitor, stopped: Callable[[], bool]) -> Iterator[None]:
    """Cancel the monitor when it has used up its packets or its time, or when nobody waits any more."""
    ended = threading.Event()

    until = time.process_time() + MOST_S

    def watch() -> None:
        while not ended.wait(_POLL_S):
            if monitor.packets > MOST_PACKETS or time.process_time() > until or stopped():
                monitor.cancel()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _extent(scenario: Scenario, short: Scenario) -> str:
    """Return a sentence on the part of the scenario that is shown."""
    values = {"time": given(short.duration_s, "s")}
    if short.duration_s < scenario.duration_s:
        values["duration"] = given(scenario.duration_s, "s")
    if scenario.repetitions > 1:
        values["repetitions"] = f"{scenario.repetitions}"
    which = {1: "whole", 3: "part"}.get(len(values), "time" if "duration" in values else "repetitions")
    return say(f"explored.{which}", **values).text


def _figure(figure: Figure, run: Run) -> Section:
    """A figure of the catalog under a heading of its own, or why there is none."""
    prepared = figure.prepare(run)
    if isinstance(prepared, Missing):
        return Section(figure.title, blocks=[Block("missing", [(figure, prepared.reason)])], name=f"of-{figure.name}")
    drawn = Chart(figure.name, figure.title, prepared)
    return Section(figure.title, figures=[drawn], name=f"of-{figure.name}")


def _predicted(scenario: Scenario, result: Recorded, width_in: float) -> str:
    """Return the models' answers, beside the simulated ones."""
    from parshall.instruments.prediction.predict import flatten, predict  # noqa: PLC0415 - the first picture does not wait for SciPy
    from parshall.report.page import predicted_section  # noqa: PLC0415

    try:
        run = _run(scenario, result, flatten(predict(scenario, _run(scenario, result))))
    except (ParshallError, ValueError) as error:
        return sections_html([Section("Predicted and simulated", [say("explored.no_answer", why=f"{error}").text])])
    return sections_html([predicted_section(run)], in_page(width_in))


def _width(request: Mapping[str, Any]) -> float:
    """The width of figures in inches: phones have narrow ones."""
    width = request.get("width")
    return float(min(WIDTH_IN, max(3.0, width))) if isinstance(width, int | float) else WIDTH_IN


def _assignment(key: str, value: Any) -> str:
    """A changed value as an option of the command."""
    return f"--set {shlex.quote(f'{key}={writing.value_text(value)}')}"
