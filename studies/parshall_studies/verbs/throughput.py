"""``parshall predict throughput``: what large deviations say of one flow, without a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import console, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.values import duration_s, one_of, part

if TYPE_CHECKING:
    from parshall_studies.chains.large_deviations import Spectrum

SCALES = (100, 200, 500, 1000, 2000)


def predict_throughput(
    *,
    loss: Annotated[
        str | None, typer.Option(help="Probability that a packet is lost, 2 % or 0.02.", show_default=False)
    ] = None,
    cc: Annotated[str, typer.Option("--cc", help="The control; reno, bic, highspeed, cubic, scalable.")] = "reno",
    rtt: Annotated[
        str | None,
        typer.Option(help='Round-trip time, e.g. "100 ms"; CUBIC needs it.', show_default="rates per RTT alone"),
    ] = None,
    w_max: Annotated[
        int | None, typer.Option(help="Largest window, packets.", show_default="1000 for reno, else 10000")
    ] = None,
    rtts: Annotated[int, typer.Option(help="Length of the flow, RTTs.")] = 2**18,
    scales: Annotated[
        list[int] | None,
        typer.Option("--over", help="RTTs of the average; repeatable.", show_default="100 ... 2000"),
    ] = None,
    low: Annotated[float | None, typer.Option(help="Least acceptable throughput, packets per RTT.")] = None,
    high: Annotated[float | None, typer.Option(help="Largest acceptable throughput, packets per RTT.")] = None,
    printed: Printed,
) -> None:
    """Predict the mean throughput of one flow under independent losses, and how much it varies at each time scale."""
    from parshall.foundations.errors import InputError
    from parshall_studies.chains import variants

    if loss is None:
        raise InputError("--loss: found none; the probability that a packet is lost is needed, e.g. --loss 0.02")
    probability = part("--loss", loss)
    control = one_of("--cc", cc, variants.CONTROLS)
    rtt_s = duration_s("--rtt", rtt)
    if control == "cubic" and rtt_s is None:
        raise InputError('--rtt: found none; CUBIC grows with time, so it needs one, e.g. --rtt "100 ms"')
    model = variants.for_control(control, probability, rtt_s=rtt_s, w_max=w_max)
    chosen = scales or [n for n in SCALES if n <= rtts]
    asked = {
        "loss": probability,
        "congestion_control": control,
        "rtt_s": rtt_s,
        "w_max": w_max or variants.default_w_max(control),
    }
    answer = {**asked, **_answer(model, probability, rtts, chosen, low, high, reno=control == "reno")}
    if printed.as_json:
        print_json(answer)
    else:
        _show(answer)


def _answer(
    spectrum: Spectrum, loss: float, rtts: int, scales: list[int], low: float | None, high: float | None, *, reno: bool
) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/json.md describes it."""
    from math import sqrt

    alpha, f = spectrum.curve(41)
    bounds = [(n, *(float(end) for end in spectrum.bounds(rtts, n))) for n in scales]
    wanted = low is not None or high is not None
    least = spectrum.lowest if low is None else low
    most = spectrum.highest if high is None else high
    # Beyond its ends f is minus infinity for Reno's chain, and not known for the others'.
    at_end = {
        n: not reno and not (a > spectrum.lowest * (1 + 1e-9) and b < spectrum.highest * (1 - 1e-9))
        for n, a, b in bounds
    }
    return {
        "mean_packets_per_rtt": spectrum.mean,
        "square_root_packets_per_rtt": sqrt(1.5 / loss) if reno else None,
        "cycle_rtts": spectrum.cycle_rtts,
        "n_rtts": rtts,
        "lowest": float(spectrum.lowest),
        "highest": float(spectrum.highest),
        "bounds": [{"scale_rtts": n, "low": a, "high": b, "at_end": at_end[n]} for n, a, b in bounds],
        "scale_for": spectrum.scale_for(least, most, rtts) if wanted else None,
        "spectrum": [{"alpha": float(a), "f": float(b)} for a, b in zip(alpha, f, strict=True)],
        "linear_parts": [{"low": p.low, "high": p.high, "q": p.q, "why": p.why} for p in spectrum.linear_parts],
    }


def _show(answer: dict[str, Any]) -> None:
    out = console()
    mean, root = answer["mean_packets_per_rtt"], answer["square_root_packets_per_rtt"]
    beside = f"square-root formula: {root:.4g}" if root is not None else answer["congestion_control"]
    out.print(f"mean throughput {mean:.5g} packets per RTT ({beside})")
    if answer["rtt_s"] is not None:
        out.print(f"with an RTT of {1e3 * answer['rtt_s']:g} ms: {mean / answer['rtt_s']:.5g} packets per second")
    shown = table(f"throughput in {answer['n_rtts']} RTTs", "averaged over, RTTs", "lowest", "highest")
    for row in answer["bounds"]:
        shown.add_row(str(row["scale_rtts"]), f"{row['low']:.4g}", f"{row['high']:.4g}")
    out.print(shown)
    if any(row["at_end"] for row in answer["bounds"]):
        out.print(
            f"the spectrum is known from {answer['lowest']:.4g} to {answer['highest']:.4g} packets per RTT: a range "
            "that ends there may be wider"
        )
    if answer["scale_for"] is not None:
        out.print(f"within the range from {answer['scale_for']} RTTs on")
    for straight in answer["linear_parts"]:
        out.print(f"f is straight from {straight['low']:.3g} to {straight['high']:.4g} packets: {straight['why']}")
