"""The first flow of a run: its record, its losses, and its chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.instruments.simulation import Run
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.markov import WindowChain
from parshall_studies.chains.markov import chain as window_chain
from parshall_studies.chains.variants import spectrum as variant_spectrum
from parshall_studies.large_deviations.record import Record, recorded
from parshall_studies.large_deviations.setting import PAPER
from parshall_studies.spectrum import interval_means

MEMORY = 10
"""Round trips for which a loss matters in p(w, k): 0.12 s, an ON time."""
RECOVERING = "with recovery, p(w, k)"
PARTS = 20
"""Parts of a record whose means give the mean's interval: each of some loss cycles."""
HOUR = round(3600 / PAPER["rtt_s"])
"""Round trips of the source's record."""


@dataclass(frozen=True)
class Flow:
    """The first flow of a run.

    Attributes
    ----------
    record
        Its round trips.
    control
        Its congestion control.
    rtt_s
        Without queues.
    timeouts, loss_rate
        How many it had, and packets lost over packets sent.
    dropped, dropped_others
        Packets of it that were lost, and of all others, after the warm-up.
    longest_rtt_s
        The greatest smoothed round-trip time.
    """

    record: Record
    control: str
    rtt_s: float
    timeouts: int
    loss_rate: float
    dropped: int
    dropped_others: int
    longest_rtt_s: float

    @cached_property
    def raw(self) -> WindowChain:
        """Eq. (2) with the measured p(w), the source's "theo. 1"."""
        return window_chain(self.record.loss(), w_max=int(self.record.windows.max()))

    @cached_property
    def chain(self) -> ld.Spectrum:
        """Our chain: the measured p(w, k), with recoveries and timeouts as measured.

        Raises
        ------
        ModelInputError
            The record is too short: losses, or what follows them, are not seen often enough.
        """
        record, w_max = self.record, float(self.record.windows.max()) + 1
        losses = record.persistent(MEMORY)
        return variant_spectrum(self.control, losses, rtt_s=self.rtt_s, w_max=w_max, recovery=record.repairs())

    def recovering(self) -> dict[str, ld.Spectrum]:
        """Our chain by its name; empty: the record is too short for it."""
        try:
            return {RECOVERING: self.chain}
        except ModelInputError:
            return {}


def measure(run: Run, control: str, rtt_s: float, warm_up_s: float) -> Flow:
    """The first flow after the warm-up, simulated or emulated."""
    samples = samples_of(run, 0, warm_up_s)
    own, others = run.flows.row(0, named=True), run.flows[1:]
    return Flow(
        recorded(samples, rounds_of(run, 0, warm_up_s)),
        control,
        rtt_s,
        int(own["timeouts"]),
        float(own["loss_rate"]),
        int(own["packets_dropped"]),
        int(others["packets_dropped"].sum()),
        float(samples["srtt_s"].max()),  # type: ignore[arg-type]
    )


def samples_of(run: Run, flow: int, warm_up_s: float) -> pl.DataFrame:
    """A flow's samples after the warm-up."""
    table = run.flow_samples
    assert table is not None  # noqa: S101 - the probe is on
    return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= warm_up_s)).sort("time_s")


def rounds_of(run: Run, flow: int, warm_up_s: float) -> pl.DataFrame:
    """A flow's rounds after the warm-up, with their lengths."""
    table = run.rounds
    assert table is not None  # noqa: S101 - the probe is on
    own = table.filter(pl.col("flow") == flow).sort("round")
    lengths = own.with_columns(length_s=pl.col("start_s").shift(-1) - pl.col("start_s"))
    return lengths.filter((pl.col("start_s") >= warm_up_s) & pl.col("length_s").is_not_null())


def per_rtt(rounds: pl.DataFrame, rtt_s: float) -> FloatArray:
    """Packets sent in consecutive intervals of `rtt_s`, shape (N,); a round's packets are spread over its length."""
    start, length = rounds["start_s"].to_numpy(), rounds["length_s"].to_numpy()
    sent = np.concatenate([[0.0], np.cumsum(rounds["window_packets"].to_numpy(), dtype=np.float64)])
    times = np.append(start, start[-1] + length[-1])
    return np.asarray(np.diff(np.interp(np.arange(times[0], times[-1], rtt_s), times, sent)))


def mean_of(series: FloatArray) -> Interval:
    """The mean of a series, with the interval that its parts give."""
    return mean_interval(interval_means(series, series.size // PARTS))
