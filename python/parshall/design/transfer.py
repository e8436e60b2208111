"""The time of a transfer over a path: quantiles of many simulated ones, and the models' answers.

The path is a dumbbell with one flow, or with others beside it that send without end. Each repetition is one transfer
with random losses and processing times of its own, so that the completion times are independent of each other, and
quantiles have intervals of order statistics (`parshall.analysis.stats.quantiles`). One that did not end within
`LONGEST` counts as longer (`parshall.analysis.stats.censored`). Senders and receivers are those of Linux (``tcp =
"linux"``, docs/linux.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.analysis.stats.censored import Durations, pooled_censored_quantile
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.quantiles import NoValue
from parshall.campaign import Execution, Plan
from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.foundations.numbers import quantity
from parshall.instruments.prediction.predict import flatten, predict
from parshall.report.uncertainty import interval_text, no_value
from parshall.scenario import Scenario
from parshall.scenario.schema.quantities import Duration

SHARES = (0.5, 0.9, 0.95, 0.99)
LONGEST = "24 h"
"""A transfer that takes longer is given up."""


@dataclass(frozen=True)
class TransferTime:
    """The times of simulated transfers.

    Parameters
    ----------
    scenario
        What was simulated.
    times_s
        The completion times of those that ended, ascending, seconds.
    quantiles
        The time within which a share of the transfers is done, with its 95 % interval; why there is none of a share
        that too few ended for, or of which there are too few transfers.
    predicted
        Completion times that models say, seconds, by model.
    unended
        How many did not end within `LONGEST`.
    """

    scenario: Scenario
    times_s: Sequence[float]
    quantiles: dict[float, Interval | NoValue]
    predicted: dict[str, float]
    unended: int = 0

    @property
    def transfers(self) -> int:
        """Number of simulated transfers."""
        return len(self.times_s) + self.unended

    @property
    def ended(self) -> str:
        """The number of simulated transfers in words, and how many ended if some did not."""
        if not self.unended:
            return f"{self.transfers} simulated"
        return f"{len(self.times_s)} of {self.transfers} ended within {LONGEST}"

    def done_within(self) -> list[tuple[str, str]]:
        """Of each share of the transfers: its name, and the time within which it is done, or why there is none."""
        return [
            (
                f"{100 * share:g} % done within",
                no_value(found, "s") if isinstance(found, NoValue) else interval_text(found, "s"),
            )
            for share, found in self.quantiles.items()
        ]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: within which time which share of the transfers is done, and what models say."""
        models = ((f"model {name}", quantity(time_s, "s")) for name, time_s in self.predicted.items())
        return notebook.fragment("Transfer", self.ended, notebook.table(("", ""), [*self.done_within(), *models]))

    def to_json(self) -> dict[str, Any]:
        """Return the value that ``parshall ask transfer --json`` prints."""
        all_ended = not self.unended
        return {
            "transfers": self.transfers,
            "ended": len(self.times_s),
            "mean_s": sum(self.times_s) / len(self.times_s) if all_ended else None,
            "longest_s": self.times_s[-1] if all_ended else None,
            "quantiles": [_quantile_json(share, each) for share, each in self.quantiles.items()],
            "predicted": [{"model": model, "time_s": time_s} for model, time_s in self.predicted.items()],
            "scenario": self.scenario.toml(),
        }


def _quantile_json(share: float, found: Interval | NoValue) -> dict[str, Any]:
    if isinstance(found, NoValue):
        return {"share": share, "time_s": None, "low": found.above, "high": None, "how": found.reason}
    return {"share": share, "time_s": found.mean, "low": found.low, "high": found.high, "how": found.how}


def transfer_scenario(
    size: str,
    rate: str,
    rtt: str,
    *,
    loss: float = 0.0,
    control: str = "cubic",
    buffer: str = "1 BDP",
    others: int = 0,
    repetitions: int = 100,
    seed: int = 1,
) -> Scenario:
    """The scenario of one transfer a repetition; parameters and errors are those of `transfer_time`."""
    if not 0 <= loss < 1:
        raise InputError(f"loss: found {loss:g}; accepted: 0 or more, below 1")
    sender = {"rtt": rtt, "congestion_control": control, "tcp": "linux"}
    flows: list[dict[str, Any]] = [{"name": "file", **sender, "workload": {"name": "transfer", "sizes": size}}]
    if others:
        flows.append({"name": "others", "count": others, **sender})
        flows[0]["start"] = {"uniform": ["10 s", "20 s"]}  # when the others have found their shares
    medium: Any = {"name": "bernoulli", "probability": loss} if loss else "none"
    return Scenario.from_document(
        {
            "name": "transfer",
            "description": f"{size} over {rate}, RTT {rtt}",
            "duration": LONGEST,
            "ends_with": ["file"],
            "repetitions": repetitions,
            "seed": seed,
            "bottleneck": {"rate": rate, "queue": {"name": "drop_tail", "limit": buffer}, "loss": medium},
            "flows": flows,
            "probes": {"flow_samples": False, "link_samples": False, "latency": False},
        }
    )


def transfer_time(
    size: str,
    rate: str,
    rtt: str,
    *,
    loss: float = 0.0,
    control: str = "cubic",
    buffer: str = "1 BDP",
    others: int = 0,
    repetitions: int = 100,
    seed: int = 1,
    execution: Execution | None = None,
) -> TransferTime:
    """Return the times of a transfer, from many simulations.

    Parameters
    ----------
    size, rate, rtt, buffer
        Quantities as scenarios write them: of the file, of the bottleneck, of the path, of the queue.
    loss
        Probability of a random loss on the medium, in [0, 1).
    control
        A congestion control of the catalog.
    others
        Flows of the same kind that send beside it without end.
    repetitions
        How many transfers are simulated; the 95th percentile needs 20, its interval 72.
    seed
        Root of the random streams.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    ScenarioError, InputError
        A value is refused, or no transfer ended within `LONGEST`.
    ParshallError
        As `parshall.sweep`.

    Examples
    --------
    >>> found = transfer_time("1 MB", "10 Mbit/s", "20 ms", loss=1e-3, repetitions=20)
    >>> len(found.times_s), 0.82 < found.times_s[0] <= found.quantiles[0.5].mean
    (20, True)
    """
    scenario = transfer_scenario(
        size,
        rate,
        rtt,
        loss=loss,
        control=control,
        buffer=buffer,
        others=others,
        repetitions=repetitions,
        seed=seed,
    )
    with (execution or Execution()).sweeping() as swept:
        transfers = swept(Plan(name="transfer", scenario=scenario)).table("transfers")
    files = _files(transfers, scenario.repetitions)
    quantiles = {}
    for share in SHARES:
        found = pooled_censored_quantile(files, share)
        if found is not None:
            quantiles[share] = found if isinstance(found, NoValue) else found.interval
    done = sorted(float(each.lasted[0]) for each in files.values() if each.all_ended)
    return TransferTime(scenario, done, quantiles, _predicted(scenario), len(files) - len(done))


def _files(transfers: pl.DataFrame | None, asked: int) -> dict[int, Durations]:
    """Return the duration of each repetition's transfer, or the time until it was given up."""
    longest_s = Duration(LONGEST).seconds
    files = {n: Durations.of([longest_s], [False]) for n in range(asked)}
    if transfers is not None:
        took = pl.col("completion_s").fill_null(longest_s) - pl.col("start_s")
        own = transfers.filter(pl.col("group") == "file")
        rows = own.select("repetition", took.alias("took_s"), ended=pl.col("completion_s").is_not_null())
        files |= {n: Durations.of([took_s], [ended]) for n, took_s, ended in rows.iter_rows()}
    if not any(each.all_ended for each in files.values()):
        raise InputError(f"none of {asked} transfers ended within {LONGEST}: too much is lost")
    return files


def _predicted(scenario: Scenario) -> dict[str, float]:
    """Return the models' answers to the scenario."""
    return {
        each["model"]: each["predicted"]
        for each in flatten(predict(scenario))
        if (each["subject"], each["quantity"]) == ("file", "completion_s")
        and each["reading"] == "uncongested"
        and each["in_range"]
    }
