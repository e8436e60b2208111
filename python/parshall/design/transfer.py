"""How long a transfer over a path takes: quantiles of many simulated ones, and what the models say.

The path is a dumbbell with one flow, or with others beside it that send without end. Each repetition is one transfer
with random losses and processing times of its own, so that the completion times are independent of each other, and
quantiles have intervals of order statistics (`parshall.stats.quantiles`). Senders and receivers are those of Linux
(``tcp = "linux"``, docs/linux.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall import notebook
from parshall.campaign import Execution, Plan
from parshall.errors import InputError
from parshall.predict import flatten, predict
from parshall.report.numbers import quantity
from parshall.report.uncertainty import interval_text
from parshall.scenario import Scenario
from parshall.stats.confidence import Interval
from parshall.stats.quantiles import pooled_quantile

SHARES = (0.5, 0.9, 0.95, 0.99)
LONGEST = "24 h"
"""A transfer that takes longer is given up."""


@dataclass(frozen=True)
class TransferTime:
    """How long a transfer takes.

    Parameters
    ----------
    scenario
        What was simulated.
    times_s
        The completion times, ascending, seconds.
    quantiles
        The time within which a share of the transfers is done, with its 95 % interval; shares of which there are too
        few transfers are left out.
    predicted
        Completion times that models say, seconds, by model.
    """

    scenario: Scenario
    times_s: Sequence[float]
    quantiles: dict[float, Interval]
    predicted: dict[str, float]

    def _repr_html_(self) -> str:
        """What a notebook shows: within which time which share of the transfers is done, and what models say."""
        done = ([f"{100 * share:g} % done within", interval_text(each, "s")] for share, each in self.quantiles.items())
        models = ([f"model {name}", quantity(time_s, "s")] for name, time_s in self.predicted.items())
        return notebook.fragment(
            "Transfer", f"{len(self.times_s)} simulated", notebook.table(("", ""), [*done, *models])
        )

    def to_json(self) -> dict[str, Any]:
        """What ``parshall ask transfer --json`` prints."""
        return {
            "transfers": len(self.times_s),
            "mean_s": sum(self.times_s) / len(self.times_s),
            "longest_s": self.times_s[-1],
            "quantiles": [
                {"share": share, "time_s": each.mean, "low": each.low, "high": each.high, "how": each.how}
                for share, each in self.quantiles.items()
            ],
            "predicted": [{"model": model, "time_s": time_s} for model, time_s in self.predicted.items()],
            "scenario": self.scenario.toml(),
        }


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
    """How long a transfer takes, of many that are simulated.

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
        A value is refused, or a transfer did not end within `LONGEST`.
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
    times = _times(transfers, scenario.repetitions)
    quantiles = {}
    for share in SHARES:
        quantile = pooled_quantile({number: [time] for number, time in enumerate(times)}, share)
        if quantile is not None:
            quantiles[share] = quantile.interval
    return TransferTime(scenario, sorted(times), quantiles, _predicted(scenario))


def _times(transfers: pl.DataFrame | None, asked: int) -> list[float]:
    """The completion time of each repetition's transfer."""
    files = pl.DataFrame() if transfers is None else transfers.filter(pl.col("group") == "file")
    done = [] if files.is_empty() else files.drop_nulls("completion_s").sort("repetition")["completion_s"].to_list()
    if len(done) < asked:
        raise InputError(f"{asked - len(done)} of {asked} transfers did not end within {LONGEST}: too much is lost")
    return [float(time) for time in done]


def _predicted(scenario: Scenario) -> dict[str, float]:
    """What models say of the scenario."""
    return {
        each["model"]: each["predicted"]
        for each in flatten(predict(scenario))
        if (each["subject"], each["quantity"]) == ("file", "completion_s")
        and each["reading"] == "uncongested"
        and each["in_range"]
    }
