"""The gain of prediction: schedules against slopes that are always the same, and against what any predictor could.

The source compares a steered connection with the control that it wraps, and with one that is always aggressive. That
mixes two things: slopes that follow what is predicted, and slopes that are larger on average. So there are connections
with constant slopes here: what a schedule gains over the best of them, prediction gives. Which one is best is chosen on
the same seeds, which favours the constant slopes.

| oracle | it tells Reno with the threshold schedule of Fig. 6 (a) the level of |
| --- | --- |
| `NEXT` | the background in the coming interval, as it will be if the slope of the interval before goes on |
| `LAST` | the background in the last interval, by the mean level that follows it |

With the second a connection sees the link and not only its own throughput, but must predict. The background answers to
the connection: beside it the clients' files end later, and after some minutes a run has little in common with the same
seed's run without it. So the oracle is asked again and again, in the run itself: a run tells the background up to the
first interval in which the schedule wants another slope than that run had; with this slope from there on the seed is
run again. A run up to an interval depends on slopes up to it only, so that every pass is exact one interval further,
and the last one everywhere. Each pass is `AHEAD` intervals longer than what is exact: what comes later is not needed
yet. Levels are ranks among the background's intervals beside a plain connection, from 1 (little) to h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall.scenario import Scenario
from parshall.studies.artefact import Answers, Artefact
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import beyond, curve, percent
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Normalised, Point, Results
from parshall_studies.multiple_time_scale.measure import Measured, with_series
from parshall_studies.multiple_time_scale.network import INTERVAL_S, PAPER, scenario
from parshall_studies.multiple_time_scale.setting import LEVELS, MEAN_SLOPE, STEERED, Parameters, Setting, always

THETA = PAPER["threshold_peak"]
SLOPES = (1.0, 2.0, MEAN_SLOPE, 5.0, 6.0)
"""1: the plain control; 6: always aggressive."""
MIDDLE_MBPS = 5.0
THRESHOLD, LINEAR = f"threshold, θ = {THETA}", "inverse linear"


def _reno(setting: Setting, load_mbps: float, parameters: Parameters | None) -> Point:
    return grid.point(setting, "reno", parameters, load_mbps=load_mbps, rtt_ms=setting.threshold_rtt_ms)


def constant(setting: Setting, load_mbps: float, slope: float) -> Point:
    """Reno with a slope that is always the same."""
    return _reno(setting, load_mbps, None if slope == 1.0 else always(slope))


def scheduled(setting: Setting, load_mbps: float, schedule: str) -> Point:
    """Reno steered by a schedule."""
    return _reno(setting, load_mbps, setting.threshold(THETA) if schedule == THRESHOLD else STEERED)


def _all(setting: Setting, load_mbps: float) -> list[Point]:
    schedules = [scheduled(setting, load_mbps, each) for each in (THRESHOLD, LINEAR)]
    return [*(constant(setting, load_mbps, slope) for slope in SLOPES), *schedules]


def _points(setting: Setting) -> Cases:
    """Constant slopes and schedules at each load."""
    return grid.cases((each for load in PAPER["loads_mbps"] for each in _all(setting, load)), setting)


def best(found: Results, setting: Setting, load_mbps: float) -> float:
    """The constant slope with the largest mean throughput."""
    return max(SLOPES, key=lambda slope: float(found.goodput(constant(setting, load_mbps, slope)).mean()))


def over(found: Results, setting: Setting, load_mbps: float, schedule: str, slope: float) -> FloatArray:
    """Relative difference of a schedule to a constant slope, by seed."""
    return found.over(scheduled(setting, load_mbps, schedule), constant(setting, load_mbps, slope))


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Gains of schedules over the best constant slope, and over that of the same mean."""
    found = grid.results(answers)
    return [
        beyond(
            f"gain of Reno ({schedule}) over {label} constant slope, {slope:g}, {load:g} Mbit/s",
            over(found, setting, load, schedule, slope),
        )
        for load in PAPER["loads_mbps"]
        for schedule in (THRESHOLD, LINEAR)
        for label, slope in (("the best", best(found, setting, load)), ("the mean", MEAN_SLOPE))
    ]


def _section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    rows: list[tuple[str, ...]] = []
    for load in PAPER["loads_mbps"]:
        plain = constant(setting, load, 1.0)
        for slope in SLOPES[1:]:
            gain = found.over(constant(setting, load, slope), plain)
            rows.append((f"{load:g}", f"always {slope:g}", percent(gain), "", ""))
        for schedule in (THRESHOLD, LINEAR):
            slopes = (1.0, MEAN_SLOPE, best(found, setting, load))
            texts = (percent(over(found, setting, load, schedule, slope)) for slope in slopes)
            rows.append((f"{load:g}", schedule, *texts))
    header = (
        "load (Mbit/s)",
        "slope",
        "over the plain control",
        f"over always {MEAN_SLOPE:g}",
        "over the best constant slope",
    )
    constants = [found.goodput(constant(setting, MIDDLE_MBPS, slope)) for slope in SLOPES]
    marks: list[Mark] = [*curve(SLOPES, constants, "constant slope", 0)]
    steered = {each: found.goodput(scheduled(setting, MIDDLE_MBPS, each)) for each in (THRESHOLD, LINEAR)}
    marks += [Guide(float(row.mean()), schedule) for schedule, row in steered.items()]
    panel = Panel(marks, Axis("slope, in slopes of Reno"), Axis("reliable throughput", "Mbit/s"))
    caption = f"Reno beside clients of {MIDDLE_MBPS:g} Mbit/s; bars are 95 % intervals over seeds."
    drawn = Chart("constant-slopes", "Predicted against constant slopes", Plot([panel], caption))
    return Section(
        "Does prediction gain?", (_answer(found, setting),), [Table("", header, rows, numbers=(0, 2, 3, 4))], [drawn]
    )


def _answer(found: Results, setting: Setting) -> str:
    """The gain of prediction at the middle load, in words."""
    slope = best(found, setting, MIDDLE_MBPS)
    threshold, linear = (over(found, setting, MIDDLE_MBPS, each, slope) for each in (THRESHOLD, LINEAR))
    verdict = {
        1: "so that prediction gains",
        0: "so that it does not show whether prediction gains",
        -1: "so that prediction loses",
    }
    return (
        f"At the middle load, {MIDDLE_MBPS:g} Mbit/s, the source's threshold schedule with θ = {THETA} has "
        f"{percent(threshold)} over the best of the slopes that never change ({slope:g}), "
        f"{verdict[sign_of(mean_interval(threshold))]}. The inverse linear schedule has {percent(linear)} over it."
    )


PREDICTION = Artefact("prediction", _points, _claims, _section)


# --- what any predictor could gain ---

AHEAD = 10
NEXT, LAST, OWN = "the next interval's background", "the last interval's background", "its own throughput"


@dataclass(frozen=True)
class Scale:
    """Levels of a background: the upper edges of all but the last, and the mean level that follows each."""

    edges: FloatArray
    following: FloatArray

    def levels(self, background: FloatArray) -> NDArray[np.int64]:
        """From 1 to h.

        Examples
        --------
        >>> scale_of(np.arange(16.0)).levels(np.array([0.0, 7.0, 15.0])).tolist()
        [1, 4, 8]
        """
        return np.asarray(np.searchsorted(self.edges, background, side="right") + 1)


def scale_of(background: FloatArray) -> Scale:
    """By ranks among what the background brought by interval, and by what followed what.

    A level that nothing followed is taken to stay.
    """
    edges = np.quantile(background, np.arange(1, LEVELS) / LEVELS)
    levels = Scale(edges, np.zeros(LEVELS)).levels(background)
    after = [levels[1:][levels[:-1] == level] for level in range(1, LEVELS + 1)]
    return Scale(edges, np.array([row.mean() if row.size else level for level, row in enumerate(after, 1)]))


def with_oracle(made: Scenario, scale: Scale, *, following: bool) -> Measured:
    """Run a scenario, whose measured connection has an oracle, until the oracle has told what happens.

    Parameters
    ----------
    made
        With an oracle's level for every interval of T_L, of whatever value.
    following
        The coming interval is told; else what the last one predicts.
    """
    document = made.complete_document()
    steering = document["flows"][0]["congestion_control"]
    intervals = len(steering["oracle"])
    levels = np.full(intervals, float(LEVELS))
    exact = 0
    while True:
        end = max(exact, intervals // 10) + AHEAD  # beyond the warm-up, a tenth
        shorter = end < intervals - 1
        lasts = {"duration": f"{(end + 1) * INTERVAL_S:g} s"} if shorter else {}  # its last interval is not known
        steering["oracle"] = levels.tolist()
        run = with_series(Scenario.from_document({**document, **lasts}))
        seen = scale.levels(np.array(run.others))
        wanted = seen.astype(np.float64) if following else np.concatenate([[LEVELS], scale.following[seen[:-1] - 1]])
        aggressive = wanted <= steering["threshold"]
        wrong = np.flatnonzero(aggressive[exact:] != (levels[exact : seen.size] <= steering["threshold"]))
        if wrong.size == 0:
            if not shorter:
                return run
            exact = seen.size
            continue
        exact += int(wrong[0]) + 1
        levels[exact - 1 :] = 1.0 if aggressive[exact - 1] else LEVELS


def told(point: Point, name: str, normalised: Normalised, duration_s: float) -> Measured:
    """A connection that an oracle tells of what its name says."""
    level = ("oracle", [float(LEVELS)] * math.ceil(duration_s / INTERVAL_S))
    asked = replace(point, parameters=(*(point.parameters or ()), level))
    plain = grid.on_background(replace(point.plain, series=True), normalised, duration_s)
    others = np.array(plain.others)
    made = scenario(normalised.background, asked.connections, duration_s)
    return with_oracle(made, scale_of(others[others.size // 10 :]), following=name == NEXT)


def _shorter(setting: Setting) -> Setting:
    """The cost of an oracle grows with the square of the time."""
    return replace(setting, duration_s=setting.oracle_s, seeds=setting.oracle_seeds)


def _oracle_points(setting: Setting) -> Cases:
    """Slopes without an oracle, and what each oracle tells."""
    own = scheduled(setting, MIDDLE_MBPS, THRESHOLD)
    made = grid.cases(_all(setting, MIDDLE_MBPS), _shorter(setting))
    for name in (NEXT, LAST):
        for number in range(setting.oracle_seeds):
            arguments = (own, name, made[own.key, number], setting.oracle_s)
            made[name, number] = Case(f"an oracle of {name}", told, arguments)
    return made


def _throughputs(answers: Answers, setting: Setting) -> dict[str, FloatArray]:
    """Mbit/s by seed, by who predicts."""
    seeds = range(setting.oracle_seeds)
    oracles = {name: np.array([answers[name, each].goodput_mbps for each in seeds]) for name in (NEXT, LAST)}
    return {**oracles, OWN: grid.results(answers).goodput(scheduled(setting, MIDDLE_MBPS, THRESHOLD))}


def _compared(answers: Answers, setting: Setting) -> dict[str, FloatArray]:
    """Throughput of the plain control, and with the best constant slope."""
    found = grid.results(answers)
    slopes = {"plain Reno": 1.0, "the best constant slope": best(found, setting, MIDDLE_MBPS)}
    return {name: found.goodput(constant(setting, MIDDLE_MBPS, slope)) for name, slope in slopes.items()}


def _oracle_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Gains of each that predicts."""
    return [
        beyond(f"gain of Reno that knows {name} over {label}, {MIDDLE_MBPS:g} Mbit/s", grid.over_mean(values, less))
        for name, values in _throughputs(answers, setting).items()
        for label, less in _compared(answers, setting).items()
    ]


def _oracle_section(answers: Answers, setting: Setting) -> Section:
    found, compared = grid.results(answers), _compared(answers, setting)
    constants = {f"nothing: always {slope:g}": found.goodput(constant(setting, MIDDLE_MBPS, slope)) for slope in SLOPES}
    rows = [
        (name, f"{values.mean():.3f}", *(percent(grid.over_mean(values, less)) for less in compared.values()))
        for name, values in {**_throughputs(answers, setting), **constants}.items()
    ]
    header = ("what the connection knows", "throughput (Mbit/s)", *(f"over {each}" for each in compared))
    text = (
        f"Reno with the threshold schedule, θ = {THETA}, beside clients of {MIDDLE_MBPS:g} Mbit/s "
        f"({setting.oracle_seeds} seeds of {setting.oracle_s:g} s). An oracle knows the contention of the link itself: "
        "what no predictor exceeds that uses this schedule. What it gains over a connection that predicts from its own "
        "throughput is what better predictions could add."
    )
    return Section("What could a predictor gain?", (text,), [Table("", header, rows, numbers=(1, 2, 3))])


ORACLES = Artefact("oracles", _oracle_points, _oracle_claims, _oracle_section)
