"""What a sweep comes to: its points, their scenarios, the rule that ends repetitions.

All that can be refused is refused here, before anything is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parshall.campaign import design
from parshall.campaign.plan import Plan, Stopping
from parshall.campaign.record import Parameter
from parshall.campaign.segments import reserved_columns
from parshall.campaign.stopping import Cell
from parshall.campaign.values import common_kind
from parshall.foundations.errors import ScenarioError
from parshall.results.quantities.naming import problem_with, undecided
from parshall.scenario import Scenario
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.reading import within_limits
from parshall.scenario.schema.resolve.network import contended_links


@dataclass(frozen=True)
class Prepared:
    """A sweep that can be done.

    Parameters
    ----------
    plan, parameters, points
        What was declared, and what it comes to.
    texts
        The resolved scenario of each point, as canonical JSON.
    rule
        How many repetitions, or until when.
    cells
        The points that are repeated equally often.
    seed
        That of the scenario.
    """

    plan: Plan
    parameters: tuple[Parameter, ...]
    points: list[design.Point]
    texts: list[str]
    rule: int | Stopping
    cells: list[Cell]
    seed: int

    @property
    def deciding(self) -> tuple[str, ...]:
        """The metric that decides whether a point has enough, if one does."""
        return (self.rule.metric,) if isinstance(self.rule, Stopping) else ()


def prepare(plan: Plan) -> Prepared:
    """Everything that can be refused before anything is done."""
    with within_limits(plan.source):
        return _prepared(plan)


def _prepared(plan: Plan) -> Prepared:
    axes = design.parameters(plan)
    points = design.points(plan)
    texts: list[str] = []
    first: Scenario | None = None
    for _, scenario, text in design.resolved(plan, points):
        first = first or scenario
        texts.append(text)
    if first is None:
        raise ScenarioError(["parameters: found no point"], plan.source)
    rule = plan.repetitions if plan.repetitions is not None else first.repetitions
    named = [*plan.metrics, *([rule.metric] if isinstance(rule, Stopping) else [])]
    groups = [str(group.name) for group in first.flows]
    links = [link.name for link in contended_links(first)]
    for index, key in enumerate(named):
        decides = index >= len(plan.metrics)
        problem = problem_with(key, groups, links) or (undecided(key, links) if decides else None)
        if problem is not None:
            where = "repetitions.metric" if decides else f"metrics.{index}"
            raise ScenarioError([f"{where}: {problem}"], plan.source)
    parameters = tuple(
        Parameter(axis.key, axis.name, common_kind([point.values[axis.key] for point in points])) for axis in axes
    )
    _check_columns(plan, parameters)
    return Prepared(plan, parameters, points, texts, rule, _cells(plan, parameters, points, rule), first.seed)


def _check_columns(plan: Plan, parameters: Sequence[Parameter]) -> None:
    """Every column of the sweep's tables has one meaning, also for SQL, where case does not matter."""
    taken = {name.lower(): "a column of the tables" for name in reserved_columns()}
    for parameter in parameters:
        for name in dict.fromkeys([parameter.name, parameter.number_column or parameter.name]):
            if name.lower() in taken and (parameter.key, name) != ("seed", "seed"):
                problem = (
                    f'{parameter.key}: found the name "{parameter.name}", but "{name}" is {taken[name.lower()]}; '
                    'write another, e.g. {values = [...], name = "my_' + parameter.name + '"}'
                )
                raise ScenarioError([problem], plan.source)
            taken[name.lower()] = f"the column of {parameter.key}"


def _cells(
    plan: Plan, parameters: Sequence[Parameter], points: Sequence[design.Point], rule: int | Stopping
) -> list[Cell]:
    """What is decided together: each point for itself, or with its baseline for differences."""
    if plan.compare is None:
        return [Cell((point.number,), ((point.number, None),)) for point in points]
    key = next((each.key for each in parameters if plan.compare.parameter in (each.key, each.name)), None)
    if key is None:
        known = ", ".join(f'"{each.key}"' for each in parameters) or "there is no parameter"
        problem = f'compare.parameter: found "{plan.compare.parameter}"; accepted: {known}'
        raise ScenarioError([problem], plan.source)
    if not any(point.values[key] == plan.compare.baseline for point in points):
        problem = (
            f"compare.baseline: found {shown(plan.compare.baseline)}, which {key} never is; write one of its values"
        )
        raise ScenarioError([problem], plan.source)
    if not (isinstance(rule, Stopping) and rule.paired):
        return [Cell((point.number,), ((point.number, None),)) for point in points]
    together: dict[str, list[design.Point]] = {}
    for point in points:
        others = {name: value for name, value in point.values.items() if name != key}
        together.setdefault(design.canonical(others), []).append(point)
    cells = []
    for members in together.values():
        base = next((each.number for each in members if each.values[key] == plan.compare.baseline), None)
        numbers = tuple(each.number for each in members)
        series = tuple((number, base) for number in numbers if number != base)
        cells.append(Cell(numbers, series or ((numbers[0], None),)))
    return cells
