"""``parshall predict throughput``: what large deviations say of one flow, without a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parshall.cli.console import console, print_json, table
from parshall.cli.values import duration_s, one_of

if TYPE_CHECKING:
    from parshall_studies.chains.large_deviations import Spectrum

SCALES = (100, 200, 500, 1000, 2000)


def predict_throughput(
    loss: float,
    control: str,
    rtt: str | None,
    w_max: int | None,
    rtts: int,
    scales: list[int] | None,
    acceptable: tuple[float | None, float | None],
    *,
    as_json: bool,
) -> None:
    """Print the mean of a flow's throughput under independent losses, and how much it varies at each scale."""
    from parshall.foundations.errors import InputError
    from parshall_studies.chains import variants

    control = one_of("--cc", control, variants.CONTROLS)
    rtt_s = duration_s("--rtt", rtt)
    if control == "cubic" and rtt_s is None:
        raise InputError('--rtt: found none; CUBIC grows with time, so it needs one, e.g. --rtt "100 ms"')
    model = variants.for_control(control, loss, rtt_s=rtt_s, w_max=w_max)
    chosen = scales or [n for n in SCALES if n <= rtts]
    asked = {
        "loss": loss,
        "congestion_control": control,
        "rtt_s": rtt_s,
        "w_max": w_max or variants.default_w_max(control),
    }
    answer = {**asked, **_answer(model, loss, rtts, chosen, *acceptable, reno=control == "reno")}
    if as_json:
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
    for part in answer["linear_parts"]:
        out.print(f"f is straight from {part['low']:.3g} to {part['high']:.4g} packets: {part['why']}")
