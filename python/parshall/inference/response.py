"""The congestion control and the queue that explain the flows of a capture, found by simulating each candidate.

A candidate is simulated and captured, the capture is read by the same reader, and the same features are taken of it as
of the capture that is to be explained. Their likelihood is the synthetic one of Wood (Nature 466, 2010): the features
of a candidate's runs are taken as normal, with a spread pooled over the candidates; runs differ by seed, and their
path within what the capture leaves open. All entries of the catalog are simulated once, the likeliest again.

"Cannot tell" is an answer: of too few loss events, and where the second candidate is nearly as likely as the first, or
where none is near.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference.facts import Direction
from parshall.inference.path import InferredPath, PathEstimate, without_queue
from parshall.inference.simulated import simulated
from parshall.inference.writing import Draft, Key
from parshall.scenario.schema.quantities import Duration

CONTROLS = (
    "reno",
    "cubic",
    "bbr",
    "bbr3",
    "vegas",
    "westwood",
    "htcp",
    "bic",
    "illinois",
    "highspeed",
    "scalable",
    "hybla",
    "veno",
    "yeah",
    "compound",
    "nv",
    "copa",
    "ledbat++",
    "lp",
)
"""Controls that senders of TCP run; those that need marks, steering or datagrams are not among them."""
QUEUES: Mapping[str, str] = {
    "codel": '{ name = "codel", limit = "1000 packets" }',
    "fq_codel": '{ name = "fq_codel", limit = "10240 packets" }',
    "pie": '{ name = "pie", limit = "1000 packets" }',
}
"""Queues that manage themselves, with their defaults: tried beside the plain one."""
USUAL = ("cubic", "bbr", "bbr3", "reno")
"""Controls with which queues are told apart before all controls are tried."""
LIKELIEST = "cubic"
"""The control of most senders: taken where it cannot be told and this one would do."""
LEAST_EVENTS = 4
"""Loss events below which the response to losses shows nothing. Controls that hardly lose are judged by their queue."""
LEAST_ROUNDS, LEAST_EPOCH = 8, 6
"""Round trips of a flow, and of a time between losses, below which they show no growth."""
FINALISTS, RUNS = 5, 3
MOST_PACKETS = 40_000
"""In a simulation of a candidate: what takes some 0.1 s."""
LEAST_S = 8.0
SURE = 3.0
"""Difference of log-likelihoods above which the first candidate is told: a factor of 20."""
FAR = 2.0
"""Root mean square distance of the features, in standard deviations, above which no candidate explains the flows: ten
normal ones of the right candidate are so far away with a probability of 2e-5."""
FLOORS = np.array([0.03, 0.05, 0.06, 0.08, 0.08, 0.12, 0.1, 0.06, 0.05, 0.05])
"""Least standard deviation of each of `FEATURES`: what readers and rounding leave open."""
FEATURES = (
    "throughput",
    "kept at a loss",
    "growth after a loss",
    "growth before a loss",
    "variation of windows",
    "loss events",
    "least queue",
    "median queue",
    "largest queue",
    "fairness",
)

Candidate = tuple[str, str]
"""Control and queue."""


@dataclass(frozen=True)
class Explanation:
    """The candidate that explains the flows best.

    Parameters
    ----------
    control, queue
        Names; the queue is ``drop_tail``, ``drop_tail with losses`` or one of `QUEUES`.
    told
        Whether the control is told apart from all others.
    reason
        Why not; empty if it is.
    likelihoods
        Logarithm of the likelihood by control, over that of the best.
    distance
        Root mean square distance of the best candidate's features, in standard deviations.
    """

    control: str
    queue: str
    told: bool
    reason: str
    likelihoods: Mapping[str, float]
    distance: float


def features(flows: Sequence[Direction], seconds: float) -> FloatArray:
    """Return features of the flows' windows, losses and queues in the first `seconds`; shape (features,).

    They are in the order of `FEATURES`. Ratios are logarithms, so that a standard deviation is a relative one.
    """
    least, begin = min(each.min_rtt_s for each in flows), min(each.start_s for each in flows)
    parts = [_part(each, begin + seconds) for each in flows]
    bits = np.array(
        [8.0 * each.packet_bytes * float(part.windows.sum()) for each, part in zip(flows, parts, strict=True)]
    )
    long = [each for each in parts if each.windows.size >= LEAST_ROUNDS]
    epochs = np.array([epoch for each in long for epoch in each.epochs()]).reshape(-1, 3)
    kept, early, late = np.median(epochs, axis=0) if len(epochs) else (1.0, 0.0, 0.0)
    events = sum(each.beginnings.size for each in long)
    round_trips = np.concatenate([[least], *(np.diff(each.starts_s) for each in long)])
    queues = np.log(np.maximum(np.quantile(round_trips, (0.05, 0.5, 0.95)), least) / least)
    fairness = bits.sum() ** 2 / max(bits.size * float((bits**2).sum()), 1.0)
    variation = np.mean([each.variation for each in long]) if long else 0.0
    throughput, lost = np.log(max(float(bits.sum()) / seconds, 1.0)), np.log(1.0 + 10.0 * events / seconds)
    return np.array([throughput, kept, early, late, variation, lost, *queues, fairness], dtype=np.float64)


@dataclass(frozen=True)
class _Part:
    """The first round trips of a flow."""

    windows: FloatArray
    lost: FloatArray
    starts_s: FloatArray

    @property
    def beginnings(self) -> NDArray[np.intp]:
        """The round trips with which loss events begin."""
        lost = self.lost > 0
        return np.flatnonzero(lost & ~np.concatenate([[False], lost[:-1]]))

    @property
    def variation(self) -> float:
        """Standard deviation over mean of the windows, from the first loss on, else after a third."""
        begins = self.beginnings
        settled = self.windows[begins[0] if begins.size else self.windows.size // 3 :]
        return float(np.std(settled) / max(float(np.mean(settled)), 1e-9))

    def epochs(self) -> Iterator[tuple[float, float, float]]:
        """Of each time between losses: what is left of the window, and its growth by thirds, over the window before."""
        begins = self.beginnings
        for first, second in zip(begins, [*begins, self.windows.size][1:], strict=True):
            before = float(self.windows[max(0, first - 2) : first + 1].max())
            part = self.windows[first + 2 : second]
            if part.size < LEAST_EPOCH or before <= 0:
                continue
            third = part.size // 3
            levels = [float(np.mean(part[k * third : (k + 1) * third])) for k in range(3)]
            yield (
                float(np.median(part[:3])) / before,
                (levels[1] - levels[0]) / before,
                (levels[2] - levels[1]) / before,
            )


def _part(flow: Direction, until_s: float) -> _Part:
    inside = flow.round_starts_s < until_s
    return _Part(flow.rounds[inside], flow.round_lost[inside], flow.round_starts_s[inside])


def explain(
    flows: Sequence[Direction],
    path: InferredPath,
    written: Callable[[InferredPath, str], Draft],
    controls: Sequence[str] = CONTROLS,
) -> Explanation:
    """The control and the queue that explain the flows best.

    Parameters
    ----------
    written
        The scenario for a path and a control.
    controls
        Candidates, as the catalog names them.
    """
    seconds = _seconds(flows)
    seen = features(flows, seconds)
    trial = _Trial(seconds, path, written)
    queues = _queues(path)
    usual = [each for each in USUAL if each in controls] or [controls[0]]
    first = trial.all([(control, queue, 0) for queue in queues for control in usual])
    queue = _queue(seen, {each[:2]: found for each, found in first.items()})
    runs = {each: found for each, found in first.items() if each[1] == queue}
    runs |= trial.all([each for control in controls if (each := (control, queue, 0)) not in runs])
    nearest = sorted(runs, key=lambda each: _distance(seen, runs[each], FLOORS))[:FINALISTS]
    runs |= trial.all([(*each[:2], number) for each in nearest for number in range(1, RUNS)])
    made: dict[Candidate, list[FloatArray]] = {}
    for (control, of_queue, _), found in runs.items():
        made.setdefault((control, of_queue), []).append(found)
    ahead = [each[:2] for each in nearest]
    spread = np.maximum(FLOORS, _pooled([np.array(made[each]) for each in ahead]))
    distances = {each: _distance(seen, np.mean(made[each], axis=0), spread) for each in made}
    return _judged(flows, distances, queue)


def _judged(flows: Sequence[Direction], distances: Mapping[Candidate, float], queue: str) -> Explanation:
    order = sorted(distances, key=lambda each: distances[each])
    best = order[0]
    # A quasi-likelihood: where the best candidate is further away than its runs are from each other, all count less.
    scale = len(FEATURES) / 2 / max(1.0, distances[best] ** 2)
    logs = {control: (distances[best] ** 2 - distances[control, q] ** 2) * scale for control, q in order}
    events = sum(each.loss_events for each in flows)
    reason = ""
    if distances[best] > FAR:
        reason = f"no control of the catalog is near: the nearest is {best[0]}"
    elif events < LEAST_EVENTS and not any(each.cause_s("full_queue") for each in flows):
        reason = f"only {events} loss events, and no queue"
    elif len(order) > 1 and -logs[order[1][0]] < SURE:
        near = [control for control, _ in order[1:] if -logs[control] < SURE]
        reason = f"{', '.join(near)} would do nearly as well"
    control = best[0] if not reason or -logs.get(LIKELIEST, -SURE) >= SURE else LIKELIEST
    return Explanation(control, queue, not reason, reason, logs, distances[best])


def _queues(path: InferredPath) -> list[str]:
    """The queues that are tried: others than a plain one only where it does not explain all losses."""
    if path.loss is None:
        return ["drop_tail"]
    plain = ["drop_tail"] if path.has_full_queue else []
    return [*plain, "drop_tail with losses", *(() if path.rate_bps.guess else QUEUES)]


def with_queue(draft: Draft, queue: str) -> Draft:
    """The draft with another queue at its bottleneck, and without random losses unless the name says so."""
    lines = [each for each in draft.bottleneck if each.key != "loss" or queue == "drop_tail with losses"]
    if queue in QUEUES:
        basis = f"explains the queue's delays and the losses better than a plain one; defaults of {queue}"
        lines = [Key("queue", QUEUES[queue], basis) if each.key == "queue" else each for each in lines]
    return replace(draft, bottleneck=lines)


def _queue(seen: FloatArray, made: Mapping[Candidate, FloatArray]) -> str:
    """The first queue that was tried, unless another one explains the flows better by a factor of 20 of likelihood."""
    least: dict[str, float] = {}
    for (_, queue), found in made.items():
        least[queue] = min(least.get(queue, np.inf), _distance(seen, found, FLOORS))
    plain, best = next(iter(least)), min(least, key=lambda each: least[each])
    gain = (least[plain] ** 2 - least[best] ** 2) * len(FEATURES) / 2
    return best if gain > SURE else plain


def _distance(seen: FloatArray, found: FloatArray, spread: FloatArray) -> float:
    return float(np.sqrt(np.mean(((seen - found) / spread) ** 2)))


def _pooled(groups: Sequence[FloatArray]) -> FloatArray:
    """Standard deviation within candidates, pooled, shape (features,)."""
    squares = sum(((each - each.mean(axis=0)) ** 2).sum(axis=0) for each in groups)
    freedom = sum(len(each) - 1 for each in groups)
    made: FloatArray = np.sqrt(squares / max(freedom, 1))
    return made


def _seconds(flows: Sequence[Direction]) -> float:
    begin, end = min(each.start_s for each in flows), max(each.end_s for each in flows)
    packets = sum(each.packets_sent for each in flows)
    whole = max(end - begin, 1e-3)
    return min(whole, max(LEAST_S, whole * MOST_PACKETS / max(packets, 1)))


@dataclass(frozen=True)
class _Trial:
    """Simulates candidates and takes their features."""

    seconds: float
    path: InferredPath
    written: Callable[[InferredPath, str], Draft]

    def all(self, runs: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str, int], FloatArray]:
        """Features of runs by control, queue and number; as many at a time as there are cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the simulator lets other threads go on
            return dict(zip(runs, pool.map(lambda each: self.features(*each), runs), strict=True))

    def features(self, control: str, queue: str, number: int) -> FloatArray:
        """Those of one run; every run after the first has a path drawn within its intervals."""
        draw = np.random.default_rng(number)
        path = self.path if number == 0 else _drawn(self.path, draw)
        draft = with_queue(self.written(path, control), queue)
        tables = _until(tomllib.loads(draft.text), self.seconds)
        tables |= {"duration": f"{self.seconds + 0.5:.3f} s", "seed": number + 1}
        (flows,) = simulated(tables, 1)
        return features(without_queue(flows), self.seconds)


def _until(tables: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The scenario without the groups that begin after it ends; of others, flows that do begin just before the end."""
    latest = 0.99 * seconds
    made = []
    for group in tables["flows"]:
        starts = group["start"]["list"] if isinstance(group["start"], dict) else [group["start"]]
        begin = [Duration(each).seconds for each in starts]
        if min(begin) >= latest:
            continue
        texts = [f"{min(each, latest):.6f} s" for each in begin]
        made.append(group | {"start": {"list": texts} if len(texts) > 1 else texts[0]})
    return tables | {"flows": made}


def _drawn(path: InferredPath, draw: np.random.Generator) -> InferredPath:
    def within(estimate: PathEstimate | None) -> PathEstimate | None:
        if estimate is None or estimate.low is None or estimate.high is None:
            return estimate
        return replace(estimate, value=float(draw.uniform(estimate.low, estimate.high)))

    rate = within(path.rate_bps) or path.rate_bps
    return replace(path, rate_bps=rate, buffer_bytes=within(path.buffer_bytes), loss=within(path.loss))


def chosen(response: Explanation | None, default: str = "cubic") -> Key:
    """The line with the congestion control of the groups."""
    if response is None:
        control, basis = default, "a guess: nothing it did shows its control"
    elif response.told:
        control, basis = response.control, "its windows, losses and queue are those of this control"
    else:
        control, basis = response.control, f"cannot tell: {response.reason}"
    return Key("congestion_control", f'"{control}"', basis)
