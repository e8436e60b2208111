"""``parshall predict``: what theory says, without a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import Json, console, print_json, table, verb

if TYPE_CHECKING:
    from parshall.models.large_deviations import Spectrum

QUANTITIES = ("throughput",)


@verb
def predict(
    quantity: Annotated[str, typer.Argument(help="What to predict: throughput.", show_default=False)],
    loss: Annotated[float, typer.Option(help="Probability that a packet is lost.", show_default=False)],
    w_max: Annotated[int, typer.Option(help="Largest window, packets.")] = 1000,
    rtts: Annotated[int, typer.Option(help="Length of the flow, RTTs.")] = 2**18,
    scales: Annotated[
        list[int] | None,
        typer.Option(
            "--scale", help="RTTs over which throughput is averaged; repeatable.", show_default="100 ... 2000"
        ),
    ] = None,
    low: Annotated[float | None, typer.Option(help="Least acceptable throughput, packets per RTT.")] = None,
    high: Annotated[float | None, typer.Option(help="Largest acceptable throughput, packets per RTT.")] = None,
    as_json: Json = False,
) -> None:
    """Predict a Reno flow's throughput under independent losses: its mean, and how much it varies at each scale."""
    from parshall.errors import InputError
    from parshall.models.large_deviations import spectrum
    from parshall.models.loss import Bernoulli

    if quantity not in QUANTITIES:
        raise InputError(f'predict: found "{quantity}"; accepted: "throughput"')
    found = spectrum(Bernoulli(loss), w_max=w_max)
    chosen = scales or [n for n in (100, 200, 500, 1000, 2000) if n <= rtts]
    answer = _answer(found, loss, w_max, rtts, chosen, low, high)
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def _answer(
    spectrum: Spectrum, loss: float, w_max: int, rtts: int, scales: list[int], low: float | None, high: float | None
) -> dict[str, Any]:
    """What ``--json`` prints; docs/json.md describes it."""
    from math import sqrt

    alpha, f = spectrum.curve(41)
    bounds = [(n, *spectrum.bounds(rtts, n)) for n in scales]
    wanted = low is not None or high is not None
    least = spectrum.lowest if low is None else low
    most = spectrum.highest if high is None else high
    return {
        "loss": loss,
        "w_max": w_max,
        "mean_packets_per_rtt": spectrum.mean,
        "square_root_packets_per_rtt": sqrt(1.5 / loss),
        "cycle_rtts": spectrum.cycle_rtts,
        "n_rtts": rtts,
        "bounds": [{"scale_rtts": n, "low": float(a), "high": float(b)} for n, a, b in bounds],
        "scale_for": spectrum.scale_for(least, most, rtts) if wanted else None,
        "spectrum": [{"alpha": float(a), "f": float(b)} for a, b in zip(alpha, f, strict=True)],
        "linear_parts": [{"low": p.low, "high": p.high, "q": p.q, "why": p.why} for p in spectrum.linear_parts],
    }


def _show(answer: dict[str, Any]) -> None:
    out = console()
    mean, root = answer["mean_packets_per_rtt"], answer["square_root_packets_per_rtt"]
    out.print(f"mean throughput {mean:.5g} packets per RTT (square-root formula: {root:.4g})")
    shown = table(f"throughput in {answer['n_rtts']} RTTs", "averaged over, RTTs", "lowest", "highest")
    for row in answer["bounds"]:
        shown.add_row(str(row["scale_rtts"]), f"{row['low']:.4g}", f"{row['high']:.4g}")
    out.print(shown)
    if answer["scale_for"] is not None:
        out.print(f"within the range from {answer['scale_for']} RTTs on")
    for part in answer["linear_parts"]:
        out.print(f"f is straight from {part['low']:.3g} to {part['high']:.4g} packets: {part['why']}")
