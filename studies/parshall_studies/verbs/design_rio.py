"""``parshall design rio``: thresholds of a RIO router for a service level agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import console, print_json, table
from parshall.cli.groups import PageOptions, Printed, Work
from parshall.cli.options import Seed
from parshall.cli.values import duration_s, parsed, part

if TYPE_CHECKING:
    from parshall_studies.diffserv import Sessions
    from parshall_studies.routers.recommendation import Recommendation
    from parshall_studies.routers.rio import RioDesign


def rio(
    *,
    capacity: Annotated[str, typer.Option(help='Rate of the link, e.g. "48 Mbit/s".', show_default=False)],
    sessions: Annotated[int, typer.Option(help="Number of TCP sessions.", min=1, show_default=False)],
    rtt: Annotated[
        str, typer.Option(help='Round-trip propagation delays: "100 ms", or evenly from "100 ms..298 ms".')
    ] = "100 ms",
    reservation: Annotated[str, typer.Option(help="Rate of each session's token bucket.")] = "320 kbit/s",
    burst: Annotated[int, typer.Option(help="Size of each bucket, packets.", min=0)] = 20,
    access: Annotated[str | None, typer.Option(help="Rate of each access link.", show_default="no limit")] = None,
    packet: Annotated[str, typer.Option(help="Packet size.")] = "1000 B",
    loss_in: Annotated[
        str | None,
        typer.Option(
            "--loss-in", help='Constraint: largest loss of in-packets, e.g. "0.5 %" or 0.005.', show_default=False
        ),
    ] = None,
    delay: Annotated[
        str | None, typer.Option(help="Constraint: largest delay of any packet in the router.", show_default=False)
    ] = None,
    mean_delay: Annotated[
        str | None, typer.Option("--mean-delay", help="Constraint: largest mean delay.", show_default=False)
    ] = None,
    reservations: Annotated[
        bool, typer.Option("--reservations", help="Constraint: every session reaches its reservation.")
    ] = False,
    limit: Annotated[int, typer.Option(help="max_in = max_out, packets, unless --delay fixes it.")] = 100,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate/--no-simulate",
            help="Recommend thresholds with which a simulation keeps the agreement, or those of the model alone.",
        ),
    ] = True,
    repetitions: Annotated[int, typer.Option(help="Repetitions of the simulation.", min=2)] = 4,
    duration: Annotated[str, typer.Option(help="Simulated time of each repetition.")] = "120 s",
    seed: Seed = 1,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Find thresholds of a RIO router for a service level agreement."""
    from parshall_studies.routers.agreement import Agreement
    from parshall_studies.routers.page import page as design_page
    from parshall_studies.routers.recommendation import recommend
    from parshall_studies.routers.rio import rio as solve
    from parshall_studies.routers.simulated import Setting

    drawn = page.files()
    packet_bytes = _bytes(packet)
    given = _sessions(sessions, rtt, reservation, burst, access, packet_bytes)
    agreement = Agreement(
        None if loss_in is None else part("--loss-in", loss_in),
        duration_s("--delay", delay),
        duration_s("--mean-delay", mean_delay),
        reservations,
    )
    capacity_per_s = _rate("--capacity", capacity) / (8 * packet_bytes)
    answer = solve(given, capacity_per_s=capacity_per_s, agreement=agreement, limit_packets=limit)
    recommendation = None
    if simulate and answer.choice is not None:
        printed.note("simulating the model's point, and others until one keeps the agreement ...")
        span = duration_s("--duration", duration)
        setting = Setting(span, span / 4, repetitions, seed, packet_bytes)
        with work.execution(bar=printed.bar("rio")) as by:
            recommendation = recommend(answer, setting, execution=by)
    page.write(lambda: design_page(answer, recommendation), "design.html", drawn, printed)
    if printed.as_json:
        print_json(result(answer, recommendation))
    elif not printed.quiet:
        _show(answer, recommendation)


def result(answer: RioDesign, recommendation: Recommendation | None) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/rio.md describes it."""
    from dataclasses import asdict

    import numpy as np

    from parshall_studies.routers import recommendation as recommended

    state = None if answer.choice is None else answer.choice.state
    router = answer.router
    if recommendation is not None:
        router = None if recommendation.kept is None else recommendation.kept.router
    names = ("in_min", "in_max", "in_probability", "out_min", "out_max", "out_probability")
    return {
        "feasible": answer.choice is not None,
        "answer": recommended.answer(answer, recommendation),
        "router": None if router is None else {name: float(np.asarray(getattr(router, name))) for name in names},
        "predicted": None
        if state is None
        else {
            "load_per_s": float(state.load_per_s[0]),
            "load_in_per_s": float(state.load_in_per_s[0]),
            "loss_in": float(state.loss_in[0]),
            "loss_out": float(state.loss_out[0]),
            "queue_packets": float(state.queue_packets[0]),
            "utilisation": float(state.utilisation[0]),
            "session_per_s": state.session_per_s.tolist(),
            "residual": float(state.residual),
        },
        "costs": [asdict(cost) for cost in answer.costs],
        "conflict": None if answer.conflict is None else asdict(answer.conflict),
        "region": {
            "in_probability": answer.region.in_probability.tolist(),
            "out_probability": answer.region.out_probability.tolist(),
            "kept": answer.region.kept.tolist(),
        },
        "simulated": None
        if recommendation is None
        else {
            "verdict": recommendation.verdict,
            "out_probability": recommendation.nearest.out_probability,
            "constraints": [asdict(each) for each in recommendation.nearest.confirmation.kept],
            "trials": [
                {
                    "out_probability": trial.out_probability,
                    "verdict": trial.confirmation.verdict,
                    "utilisation": trial.confirmation.simulated.utilisation.mean,
                }
                for trial in recommendation.trials
            ],
        },
    }


def _sessions(count: int, rtt: str, reservation: str, burst: int, access: str | None, packet_bytes: int) -> Sessions:
    import numpy as np

    from parshall_studies.diffserv import Sessions

    first, _, last = rtt.partition("..")
    ends = (duration_s("--rtt", first), duration_s("--rtt", last or first))
    bits = 8 * packet_bytes
    access_bps = float("inf") if access is None else _rate("--access", access)
    return Sessions(
        np.linspace(*ends, count),
        _rate("--reservation", reservation) / bits,
        burst,
        access_per_s=access_bps / bits,
        access_delay_s=bits / access_bps,
    )


def _rate(option: str, text: str) -> float:
    return parsed(option, "rate", text)


def _bytes(text: str) -> int:
    from parshall.foundations.errors import InputError

    size = int(parsed("--packet", "bytes", text))
    if not 100 <= size <= 65_535:
        raise InputError(f'--packet: found "{text}"; accepted: 100 B to 65535 B')
    return size


def _show(answer: RioDesign, recommendation: Recommendation | None) -> None:
    from parshall_studies.routers import recommendation as recommended
    from parshall_studies.routers.agreement import LABELS

    out = console()
    for line in recommended.answer(answer, recommendation):
        out.print(line)
    if answer.costs:
        shown = table("Costs", "without", "p_out^max", "used capacity", "cost")
        for cost in answer.costs:
            cells = [
                "-" if value is None else f"{value:.4g}"
                for value in (cost.out_probability, cost.utilisation, cost.lost_utilisation)
            ]
            shown.add_row(LABELS[cost.constraint], *cells)
        out.print(shown)
    if recommendation is not None:
        shown = table("Simulated", "p_out^max", "constraint", "simulated", "95 %", "bound", "verdict")
        for trial in recommendation.trials:
            for each in trial.confirmation.kept:
                value = each.value
                interval = "" if value.low is None else f"{value.low:.4g} .. {value.high:.4g}"
                simulated_cells = (f"{trial.out_probability:.4g}", each.label, f"{value.mean:.4g}", interval)
                shown.add_row(*simulated_cells, f"{each.bound:.4g}", each.verdict)
        out.print(shown)
