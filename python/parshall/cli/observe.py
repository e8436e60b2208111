"""``parshall observe``: what the packets of a trace show."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import FAILURE, console, fail, note, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.options import Force, Join, WithPage, output_option
from parshall.cli.values import duration_s, one_of
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from parshall.instruments.observation import Observation
    from parshall.instruments.observation.limits import FlowLimits
    from parshall.report.observation.additions import Looked

LISTED = 20
EVENT_KEYS = ("time_s", "event", "lasted_s")


@verb
def observe(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Captures (pcap, pcapng) or series (cwnd, TCP_INFO, ss, iperf3, flent, qlog, CSV), also compressed; "
            "or folders of them.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[Path | None, output_option("observe.html alone")] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option(
            help="Show this flow: its number, or a part of ADDRESS:PORT > ADDRESS:PORT; repeatable.", show_default=False
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from", help='Only packets after this time, e.g. "90 s" after the first packet.', show_default=False
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help='Only packets before this time, e.g. "2 min".', show_default=False)
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Only packets from or to this address; repeatable.", show_default=False),
    ] = None,
    port: Annotated[
        list[int] | None,
        typer.Option(help="Only packets from or to this port; repeatable.", show_default=False),
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            help='The round-trip time of a series, e.g. "78 ms".',
            show_default="as recorded; of cwnd series, from the slope",
        ),
    ] = None,
    cc: Annotated[
        str,
        typer.Option(
            "--cc",
            help="The congestion control whose chain is fitted on p(w): reno, bic, highspeed, cubic, scalable.",
        ),
    ] = "reno",
    columns: Annotated[
        str | None,
        typer.Option(
            help="Meanings of the columns of a CSV, e.g. time=t_ms,cwnd=w_bytes,rtt=rtt_us,mss=1448.",
            show_default="recognised by the file",
        ),
    ] = None,
    arrivals: Annotated[
        bool,
        typer.Option(
            "--arrivals/--no-arrivals",
            help="Estimate the dependence between arrivals, which takes seconds, or leave it out.",
        ),
    ] = True,
    join: Join = False,
    force: Force = False,
    page: WithPage = True,
    printed: Printed,
) -> None:
    """Read traces into the records, and write one page with windows, losses, round-trip times and variability."""
    from parshall.instruments.observation import observe as read
    from parshall.report.observation.additions import controls
    from parshall.results.records.storage import OBSERVED_PAGE

    without = () if arrivals else ("arrivals",)
    cc = one_of("--cc", cc, controls(cc))
    chosen = flow or []
    shown = not printed.quiet and sys.stderr.isatty()
    try:
        with _progress(shown) as progress:
            observation = read(
                *files,
                output=output,
                join=join,
                overwrite=force,
                rtt_s=duration_s("--rtt", rtt),
                columns=columns,
                from_s=duration_s("--from", since),
                until_s=duration_s("--until", until),
                hosts=host or [],
                ports=port or [],
                progress=progress,
            )
    except KeyboardInterrupt:
        fail("interrupted; nothing was written", FAILURE)
        raise
    rows = observation.selected(chosen, LISTED).to_dicts()
    path = (output or Path()) / OBSERVED_PAGE
    looked = _looked_at(
        observation, chosen, cc, path if page else None, shown=shown, without=without, needed=printed.as_json
    )
    if printed.as_json:
        print_json(result(observation, rows, looked, str(path) if page else None))
    elif not printed.quiet:
        _show(observation, rows)
        _warn(looked)
        if output is not None:
            note(f"tables: {output}")
        if page:
            note(f"page:   {path.resolve()}")


def result(
    observation: Observation,
    rows: Sequence[dict[str, Any]],
    looked: Looked,
    path: str | None,
) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/json.md describes it."""
    from parshall.foundations.errors import InputError
    from parshall.instruments.observation.limits import of_rows

    known = observation.limits_of([(row["repetition"], row["flow"]) for row in rows])
    close = {each.key: {key: found.values for key, found in each.found.items()} for each in looked.close}
    flows = []
    for row in rows:
        flow = observation.flow(row["flow"], row["repetition"])
        try:
            bins = [vars(each) for each in flow.loss_function()]
        except InputError:
            bins = None
        changes = flow.changes()
        flows.append(
            {
                **row,
                **flow.facts,
                **_limits(of_rows(row, known.get((row["repetition"], row["flow"]), {}))),
                "events": observation.events(flow.row["flow"], flow.row["repetition"]).select(EVENT_KEYS).to_dicts(),
                "rounds": int(flow.windows.size),
                "loss_function": bins,
                "increase_packets": changes.increase,
                "decrease_factor": changes.factor,
                "variability": None,
                **close.get((row["repetition"], row["flow"]), {}),
            }
        )
    return {
        "captures": observation.captures,
        "flow_count": observation.number(),
        "flows": flows,
        "arrivals": None,
        **{key: [each.values for each in own] for key, own in looked.traces.items()},
        "page": path,
    }


def _limits(limits: FlowLimits) -> dict[str, Any]:
    """Return the limits of a flow, as ``--json`` has them."""
    return {
        "limited_by": limits.cause,
        "limited_by_s": dict(limits.seconds),
        "receive_window_bytes": limits.window_bytes,
        "path_rate_bps": limits.path_rate_bps,
        "buffer_bytes": limits.buffer_bytes,
        "queue_losses": limits.queue_losses,
        "random_losses": limits.random_losses,
    }


def _looked_at(
    observation: Observation,
    chosen: Sequence[str],
    cc: str,
    page: Path | None,
    *,
    shown: bool,
    without: Sequence[str],
    needed: bool,
) -> Looked:
    """Look at flows and traces closely, where they are wanted, and write the `page`; say what is being done."""
    from parshall.cli.progress import working
    from parshall.report.observation.additions import CLOSELY, Looked, look
    from parshall.report.observation.page import write_page

    seen = Looked(())
    with working(shown) as say:
        if page is not None or needed:
            seen = look(observation, chosen, cc, without=without, traces=None if needed else CLOSELY, say=say)
        elif cc != "reno":  # whether its chain describes the flows is told
            seen = look(observation, chosen, cc, traces=0, say=say)
        if page is not None:
            from parshall.results.records.storage import guarded

            say("writing the page")
            guarded(lambda: write_page(observation, page, chosen, seen, without=without))
    return seen


def _warn(looked: Looked) -> None:
    """Say of which flows the fitted chain predicts nothing."""
    for each in looked.close:
        for found in each.found.values():
            if found.warning:
                note(f"flow {each.flow.row['flow']}: {found.warning}.")


def _progress(shown: bool) -> Any:
    if not shown:
        return nullcontext()
    from parshall.cli.progress import frames_read

    return frames_read()


def _show(observation: Observation, rows: Sequence[dict[str, Any]]) -> None:
    from parshall.foundations.numbers import ABSENT, count, counted, quantity, significant
    from parshall.instruments.observation.limits import SHORT, of_rows
    from parshall.report.observation import limited
    from parshall.report.observation.trust import of_capture

    names = (
        "goodput",
        "packets",
        "lost",
        "loss rate",
        "events",
        "window over time",
        "mean of RTT samples",
        "least RTT",
        "limited by",
    )
    shown = table(counted(observation.number(), "flow"), "flow", *names)
    known = observation.limits_of([(row["repetition"], row["flow"]) for row in rows])
    for row in rows:
        rate = row["loss_rate"]
        flow = of_rows(row, known.get((row["repetition"], row["flow"]), {}))
        shown.add_row(
            observation.label(row),
            quantity(row["goodput_bps"], "bit/s"),
            *(ABSENT if row[key] is None else count(row[key]) for key in ("packets_sent", "packets_dropped")),
            ABSENT if rate is None else f"{significant(100 * rate)} %",
            ABSENT if row["loss_events"] is None else count(row["loss_events"]),
            quantity(row["mean_cwnd_packets"], "packets"),
            quantity(row["mean_rtt_s"], "s"),
            quantity(row["min_rtt_s"], "s"),
            SHORT[flow.cause] if flow.seconds else ABSENT,
        )
    console().print(shown)
    for row in rows[:1]:
        flow = of_rows(row, known.get((row["repetition"], row["flow"]), {}))
        note(f"{observation.label(row)}: {limited.sentence(flow).text}")
    for capture in observation.captures:
        for sentence in of_capture(capture):
            note(sentence)
