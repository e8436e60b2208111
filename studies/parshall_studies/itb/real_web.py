"""Beyond the source: WM over real HTTP, a web server's files with the benchmark's sizes, one after another.

One source of WM in class B at quick scale: 20 ms, an access of 10 Mbit/s, files whose sizes are exponential with a mean
of 50 kB. The server is nginx where it is installed, else that of Python; the page says which. The benchmark itself
(`parshall itb`) sends its files without a request; here a file takes what a user waits for:

| part | time |
| --- | --- |
| connection | 1 RTT |
| request | RTT/2 |
| file, from its first packet to its last byte | simulated: until the last ACK, less RTT/2 |

so what is simulated of a file is its time until the last ACK, and one RTT.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.1.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.benchmark.scale import SCALES
from parshall_studies.itb import pages
from parshall_studies.itb.network import PAPER

PORT = 8080
RTT_S = 0.02
STARTING_S = 60.0
"""That a server and a client take at most to begin; a run ends with its last file."""
COUNT: Mapping[Scale, int] = {"quick": 60, "paper": 600}
WITHIN = 0.05
"""Of a time: a server's own, and the header that it sends."""


def sizes(count: int) -> list[int]:
    """Quantiles of an exponential distribution with the mean of WM's files, bytes, in an order that is mixed."""
    quantiles = -SCALES["quick"].web_bytes * np.log1p(-(np.arange(count) + 0.5) / count)
    return [max(1, round(float(each))) for each in np.random.default_rng(1).permutation(quantiles)]


def server() -> str:
    """Which web server there is.

    >>> server() in ("nginx", "Python's http.server")
    True
    """
    return "Python's http.server" if shutil.which("nginx") is None else "nginx"


def scenario(count: int, rules: Mapping[str, Any]) -> Scenario:
    """One source; `rules` are keys of it."""
    sent = [f"{each} B" for each in sizes(count)]
    group = {
        "name": "web",
        "rtt": f"{RTT_S:g} s",
        "access_rate": "10 Mbit/s",
        "congestion_control": "cubic",
        "workload": {"name": "transfer", "sizes": sent},
        **rules,
    }
    queue = {"name": "drop_tail", "limit": "1 BDP"}
    return Scenario.from_document(
        {
            "duration": f"{STARTING_S + count:g} s",
            "ends_with": ["web"],
            "processing_time": "0 s",
            "bottleneck": {"rate": "100 Mbit/s", "delay": "10 us", "queue": queue},
            "flows": [group],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


def of_transfers(run: Run) -> FloatArray:
    """What each file takes a user, s, of a run whose files are sent without a request; shape (count,)."""
    transfers = run.transfers
    assert transfers is not None  # noqa: S101 - the probe is on
    rows = transfers.sort("transfer")
    return np.asarray((rows["completion_s"] - rows["start_s"]).to_numpy() + RTT_S, dtype=np.float64)


def over_http(scenario: Scenario, _kernel: str, _server: str, count: int) -> Emulated:
    """The same files by HTTP on Linux, done once more if their emulation is invalid.

    Raises
    ------
    SimulationError
        Not all files came.
    """

    def commands(here: Path, times: Path) -> tuple[list[str], list[str]]:
        root = here / "files"
        root.mkdir()
        for number, size in enumerate(sizes(count)):
            (root / str(number)).write_bytes(bytes(size))
        fetch = [sys.executable, str(Path(pages.__file__)), "fetch", "{server}", str(PORT), str(count), str(times)]
        return fetch, _serving(here, root)

    return stacks.times_of_programs(scenario, commands, f"{server()}: not all of {count} files came", download=True)


def _serving(here: Path, root: Path) -> list[str]:
    """The command of the server, which answers in the hosts' own network only."""
    if server() != "nginx":
        return [sys.executable, str(Path(pages.__file__)), "serve", "{server}", str(PORT), str(root)]
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {here / kind};" for kind in kinds)
    conf = here / "nginx.conf"
    conf.write_text(
        f"daemon off; master_process off; pid {here / 'pid'}; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {paths} server {{ listen {PORT}; root {root}; }} }}\n",
        encoding="utf-8",
    )
    return ["nginx", "-p", str(here), "-e", "stderr", "-c", str(conf)]


def cases(scale: Scale) -> dict[Any, Case]:
    """Simulated, by Parshall's senders on Linux, and over HTTP on Linux."""
    count = COUNT[scale]
    hosts = {"kernel": {"sysctls": AMPLE_BUFFERS}}
    real = scenario(count, hosts)
    arguments = (real, platform.release(), server(), count)
    return {
        "simulated": simulated("WM: files, simulated", scenario(count, {**stacks.PROFILE, **hosts}), of_transfers),
        "sent": emulated("WM: files, Linux", real, of_transfers),
        "http": Case("WM over HTTP, Linux", over_http, arguments, emulates=True),
    }


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """How long files take: simulated, sent by Linux without a request, and by HTTP."""
    ours: FloatArray = answers["simulated"]
    expected = float(ours.mean())
    checks: list[Claim] = []
    rows = [("simulated", *_cells(ours))]
    drawn = {"simulated": ours}
    for key, label in (("sent", "Linux, without a request"), ("http", f"Linux, {server()}")):
        linux: Emulated = answers[key]
        rows.append((f"{label} ({linux.validity.level})", *_cells(linux.answer)))
        drawn[label] = linux.answer
        if stacks.usable(linux):
            # File by file, of the same sizes: what one more run of the simulator would differ by is nothing.
            ratio = mean_interval(linux.answer / ours)
            half = ratio.half_width or 0.0
            quantity = f"{label}: time of a file over the simulated one"
            ends = ratio.mean - half, ratio.mean + half
            checks.append(
                equal(
                    "wm",
                    quantity,
                    1.0,
                    Interval(ratio.mean, *ends, 1),
                    within=PAPER.within("web"),
                    basis="theory",
                    note=linux.validity.level,
                )
            )
    missing = "" if server() == "nginx" else " nginx was not found (Debian: `apt install nginx`)."
    text = (
        f"{COUNT[scale]} files with the sizes of WM, a mean of {SCALES['quick'].web_bytes / 1e3:.0f} kB, one after "
        f"another over an access of 10 Mbit/s and {1e3 * RTT_S:.0f} ms, each over a connection of its own. The web "
        f"server is {server()}.{missing} What is simulated has no request: to its times one RTT is added, which "
        f"connection and request take beyond it. The mean is {1e3 * expected:.0f} ms.",
        *stacks.remarks([("sent", answers["sent"]), ("HTTP", answers["http"])]),
    )
    order = np.argsort(sizes(COUNT[scale]))
    kilobytes = np.array(sizes(COUNT[scale]))[order] / 1e3
    marks = [
        Points(kilobytes, 1e3 * each[order], name, Style(place)) for place, (name, each) in enumerate(drawn.items())
    ]
    plot = Plot([Panel(marks, Axis("size", "kB", minimum=0), Axis("time", "ms", minimum=0))], "Time of each file.")
    table = Table("Time of a file, ms", ("where", "mean", "median", "longest"), rows, numbers=(1, 2, 3))
    section = Section("Beyond the source: WM over HTTP", text, [table], [Chart("wm-http", "WM over HTTP", plot)])
    return Findings(checks, [section])


def _cells(times: FloatArray) -> tuple[str, str, str]:
    mean, median, longest = (f"{1e3 * float(each):.1f}" for each in (times.mean(), np.median(times), times.max()))
    return mean, median, longest


PART = Part("WM over HTTP", cases, findings, emulates=True)
