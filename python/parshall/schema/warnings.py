"""What can be run, and gives numbers that should not be trusted as they stand: said in words, by `warnings_of`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from parshall import _core
from parshall.schema.quantities import PS_PER_S

if TYPE_CHECKING:
    from parshall.scenario import Scenario

FLOWS_LOOKED_AT = 1000
"""Of a group: more of them make no other warning."""

PHASE_TOLERANCE = 0.01
"""Of a service time: RTTs so near to a multiple of it are one for as long as a run has."""

THRESHOLDS = {"red": ("max_threshold",), "rio": ("in_max", "out_max"), "step": ("threshold",)}
"""Of queues that act at a length: the keys that say the greatest."""

_DETERMINISTIC = {
    "queue": {"drop_tail", "step", "codel", "fq_codel", "drr", "dualpi2", "policer", "priority", "shaper"},
    "loss": {"none", "periodic"},
    "workload": {"bulk", "transfer", "cbr", "rate_controlled"},
    "spread": {"constant", "linear", "list"},
}
"""What draws no random numbers; tests/python/test_scenario_warnings.py tries all that there is."""


def warnings_of(scenario: Scenario) -> list[str]:
    """One sentence or two for each reason to doubt the numbers of a scenario.

    Raises
    ------
    ScenarioError
        The scenario cannot be run at all.
    """
    resolved = scenario.resolve()
    found = [*_phase_effects(resolved), *_out_of_reach(resolved)]
    if scenario.repetitions > 1 and not _is_random(resolved):
        found.append(
            f"nothing in it is random, so its {scenario.repetitions} repetitions are copies and intervals mean "
            "nothing: leave processing_time at its default, or draw what is not known, e.g. "
            'start = { uniform = "1 s" }'
        )
    return found


def _phase_effects(resolved: dict[str, Any]) -> Iterator[str]:
    """Links at which flows of a strictly periodic network keep in step (Floyd & Jacobson 1992, sec. 3)."""
    for index, link in enumerate(resolved["links"]):
        if link["queue"]["name"] != "drop_tail" or "constant" not in link["rate"]:
            continue
        periodic = [group for group in resolved["flows"] if index in group["path"] and _is_periodic(group)]
        if not periodic:
            continue
        packet_bytes = max(group["packet_bytes"] for group in periodic)
        service_ps = packet_bytes * 8 * PS_PER_S / link["rate"]["constant"]
        rtts_ps = [rtt for group in periodic for rtt in _known(group["rtt_ps"], group["count"])]
        in_step = _in_step(rtts_ps, service_ps)
        if in_step:
            service = _core.format_quantity("duration", round(service_ps))
            yield (
                f"phase effects decide who gets what at link {link['name']}: the RTTs of {in_step} flows there differ "
                f"by multiples of its service time ({service}), and with processing_time = 0 nothing breaks the "
                "pattern. Leave processing_time at its default, or draw RTTs, e.g. rtt = { uniform = [...] }"
            )


def _out_of_reach(resolved: dict[str, Any]) -> Iterator[str]:
    """Thresholds that a queue is too short for: it is full, and drops whatever comes, before it does what they say."""
    for index, link in enumerate(resolved["links"]):
        queue = link["queue"]
        if queue["name"] not in THRESHOLDS:
            continue
        limit = _packets(queue["limit"], [group for group in resolved["flows"] if index in group["path"]])
        for key in THRESHOLDS[queue["name"]]:
            if limit < queue[key]:
                yield (
                    f"the queue of link {link['name']} never comes to its {key}: it holds {limit} packets, and {key} "
                    f"is {queue[key]} packets, so it is full, and drops whatever comes, before it does what {key} "
                    f"says. Make limit larger, or {key} smaller"
                )


def _packets(limit: dict[str, int], groups: list[dict[str, Any]]) -> float:
    """How many packets a queue holds; of one limited in bytes, the most that there can be, but ACKs."""
    if "packets" in limit:
        return limit["packets"]
    if "bytes" in limit and groups:
        smallest: int = min(group["packet_bytes"] for group in groups)
        return limit["bytes"] // smallest
    return float("inf")


def _is_periodic(group: dict[str, Any]) -> bool:
    return group["processing_ps"] == 0 and group["workload"]["name"] in _DETERMINISTIC["workload"]


def _known(spread: dict[str, Any], count: int) -> list[int]:
    """The values that the scenario itself says, for some flows of a group."""
    count = min(count, FLOWS_LOOKED_AT)
    match spread:
        case {"constant": value}:
            return [value] * count
        case {"linear": {"first": first, "step": step}}:
            return [first + index * step for index in range(count)]
        case {"list": values}:
            return list(values[:count])
        case _:
            return []


def _in_step(rtts_ps: list[int], service_ps: float) -> int:
    """How many RTTs differ from another one by a multiple of the service time."""
    phases = sorted(rtt / service_ps % 1.0 for rtt in rtts_ps)
    if len(phases) < 2:
        return 0
    after = [*phases[1:], phases[0] + 1.0]
    near = [later - phase <= PHASE_TOLERANCE for phase, later in zip(phases, after, strict=True)]
    return sum(here or before for here, before in zip(near, [near[-1], *near[:-1]], strict=True))


def _names(queue: dict[str, Any]) -> Iterator[str]:
    """The name of a queue, and of those within it."""
    yield queue["name"]
    for inner in (*queue.get("bands", ()), *([queue["queue"]] if "queue" in queue else ())):
        yield from _names(inner)


def _is_random(resolved: dict[str, Any]) -> bool:
    """Whether anything is drawn."""
    links, flows = resolved["links"], resolved["flows"]
    return (
        any(link["loss"]["name"] not in _DETERMINISTIC["loss"] for link in links)
        or any(name not in _DETERMINISTIC["queue"] for link in links for name in _names(link["queue"]))
        or any(group["workload"]["name"] not in _DETERMINISTIC["workload"] for group in flows)
        or any(not _DETERMINISTIC["spread"] & group[key].keys() for group in flows for key in ("rtt_ps", "start_ps"))
        or any(group["processing_ps"] > 0 for group in flows)
    )
