"""Beyond the source: WM over real HTTP, a web server's files with the benchmark's sizes, one after another.

One source of WM in class B at quick scale: 20 ms, an access of 10 Mbit/s, files whose sizes are exponential with a mean
of 50 kB. The server is nginx where it is installed, else that of Python. The benchmark (`parshall itb`) sends its files
without a request; here a file takes what a user waits for: the connection, 1 RTT, the request, RTT/2, and the
file, which is simulated until its last ACK, RTT/2 later. So what is simulated of a file is its time, and one RTT.

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

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.benchmark.scale import SCALES
from parshall_studies.itb import programs
from parshall_studies.itb.network import PAPER, Values
from parshall_studies.scaling import for_linux

PORT = 8080
RTT_S = 0.02
STARTING_S = 60.0
"""That a server and a client take at most to begin; a run ends with its last file."""
COUNT: Mapping[Scale, int] = {"quick": 60, "paper": 600}


def sizes(count: int) -> list[int]:
    """Quantiles of an exponential distribution with the mean of WM's files, bytes, in an order that is mixed."""
    quantiles = -SCALES["quick"].web_bytes * np.log1p(-(np.arange(count) + 0.5) / count)
    return [max(1, round(float(size))) for size in np.random.default_rng(1).permutation(quantiles)]


def server() -> str:
    """The name of the web server.

    >>> server() in ("nginx", "Python's http.server")
    True
    """
    return "Python's http.server" if shutil.which("nginx") is None else "nginx"


def scenario(count: int) -> Scenario:
    """One source of so many files, as Linux has it."""
    group = {
        "name": "web",
        "rtt": f"{RTT_S:g} s",
        "access_rate": "10 Mbit/s",
        "congestion_control": "cubic",
        "workload": {"name": "transfer", "sizes": [f"{size} B" for size in sizes(count)]},
    }
    document = {
        "duration": f"{STARTING_S + count:g} s",
        "ends_with": ["web"],
        "processing_time": "0 s",
        "bottleneck": {"rate": "100 Mbit/s", "delay": "10 us", "queue": {"name": "drop_tail", "limit": "1 BDP"}},
        "flows": [group],
        "probes": {"flow_samples": False, "link_samples": False},
    }
    return for_linux(Scenario.from_document(document))


def of_transfers(run: Run) -> Values:
    """The time of each file for a user, s, in a run whose files are sent without a request; shape (count,)."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    rows = run.transfers.sort("transfer")
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
        fetch = [sys.executable, str(Path(programs.__file__)), "fetch", "{server}", str(PORT), str(count), str(times)]
        return fetch, serving(here, root)

    return stacks.times_of_programs(scenario, commands, f"{server()}: not all of {count} files came", download=True)


def serving(here: Path, root: Path) -> list[str]:
    """The command of the server, which answers in the hosts' own network only."""
    if server() != "nginx":
        return [sys.executable, str(Path(programs.__file__)), "serve", "{server}", str(PORT), str(root)]
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
    count, made = COUNT[scale], scenario(COUNT[scale])
    return {
        "simulated": simulated("WM: files, simulated", made, of_transfers),
        "sent": emulated("WM: files, Linux", made, of_transfers),
        "http": Case("WM over HTTP, Linux", over_http, (made, platform.release(), server(), count), emulates=True),
    }


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """The times of files: simulated, sent by Linux without a request, and by HTTP."""
    ours: Values = answers["simulated"]
    linux: dict[str, Emulated] = {
        "Linux, without a request": answers["sent"],
        f"Linux, {server()}": answers["http"],
    }
    claims = [_claim(name, each, ours) for name, each in linux.items() if stacks.usable(each)]
    drawn = {"simulated": ours, **{f"{name} ({each.validity.level})": each.answer for name, each in linux.items()}}
    rows = [
        (name, *(f"{1e3 * float(value):.1f}" for value in (each.mean(), np.median(each), each.max())))
        for name, each in drawn.items()
    ]
    missing = "" if server() == "nginx" else " nginx was not found (Debian: `apt install nginx`)."
    text = (
        f"{COUNT[scale]} files with the sizes of WM, a mean of {SCALES['quick'].web_bytes / 1e3:.0f} kB, one after "
        f"another over an access of 10 Mbit/s and {1e3 * RTT_S:.0f} ms, each over a connection of its own. The web "
        f"server is {server()}.{missing} What is simulated has no request: to its times one RTT is added, which "
        f"connection and request take beyond it. The mean is {1e3 * float(ours.mean()):.0f} ms.",
        *stacks.remarks(linux.items()),
    )
    order = np.argsort(sizes(COUNT[scale]))
    kilobytes = np.array(sizes(COUNT[scale]))[order] / 1e3
    marks = [
        Points(kilobytes, 1e3 * each[order], name, Style(place)) for place, (name, each) in enumerate(drawn.items())
    ]
    plot = Plot([Panel(marks, Axis("size", "kB", minimum=0), Axis("time", "ms", minimum=0))], "Time of each file.")
    table = Table("Time of a file, ms", ("where", "mean", "median", "longest"), rows, numbers=(1, 2, 3))
    section = Section("Beyond the source: WM over HTTP", text, [table], [Chart("wm-http", "WM over HTTP", plot)])
    return Findings(claims, [section])


def _claim(name: str, linux: Emulated, ours: Values) -> Claim:
    """Times file by file over those simulated, of the same sizes: one more run of the simulator would be the same."""
    ratio = mean_interval(linux.answer / ours)
    half = ratio.half_width or 0.0
    value = Interval(ratio.mean, ratio.mean - half, ratio.mean + half, 1)
    quantity, within = f"{name}: time of a file over the simulated one", PAPER.within("web")
    return equal("wm", quantity, 1.0, value, within=within, basis="theory", note=linux.validity.level)


PART = Part("WM over HTTP", cases, findings, emulates=True)
