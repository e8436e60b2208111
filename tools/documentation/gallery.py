"""The pictures of the documentation site: each from a shipped scenario or sweep, simulated when the site is built.

``python -m tools.documentation.gallery`` writes that of the README, docs/figures/bbr-and-cubic.svg.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from parshall.campaign import Sweep, sweep
from parshall.instruments.simulation import run
from parshall.report.document import Chart
from parshall.report.figures import figures
from parshall.report.palette import DARK, LIGHT
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Points, Style
from parshall.report.svg import svg
from parshall.scenario import Scenario
from tools.documentation.kernel import agreement
from tools.documentation.tables import ROOT

SCENARIOS = ROOT / "scenarios"


@dataclass(frozen=True)
class Picture:
    """A figure of one scenario: what it is called, from what it is made, and what is to be seen."""

    name: str
    title: str
    scenario: str
    figure: str
    """As in the catalog of figures."""
    text: str
    changes: Sequence[str] = ()
    """As ``--set`` takes them."""

    def plot(self) -> Plot:
        """Simulate, and prepare the figure.

        Raises
        ------
        ValueError
            The run has no such figure.
        """
        made = run(Scenario.load(SCENARIOS / self.scenario, self.changes))
        plot = next(figure for figure in figures() if figure.name == self.figure).prepare(made)
        if not isinstance(plot, Plot):
            raise ValueError(f"{self.name}: {plot.reason}")
        return plot

    @property
    def command(self) -> str:
        """What makes the run again."""
        return " ".join(
            [f"parshall run {self.scenario.removesuffix('.toml')}", *(f"--set {each}" for each in self.changes)]
        )


GALLERY = (
    Picture(
        "windows",
        "Windows of CUBIC and Reno",
        "quickstart.toml",
        "cwnd",
        "Eight flows share 20 Mbit/s. CUBIC flows soon come back to their last window, and get more than Reno's.",
    ),
    Picture(
        "queue",
        "A full link and its queue",
        "quickstart.toml",
        "traffic",
        "The same eight flows: the link is full, the queue swings below its limit of one bandwidth-delay product.",
    ),
    Picture(
        "one-queue",
        "A home's uplink with one large queue",
        "home-line.toml",
        "latency",
        "Two uploads fill the queue. The packets of a game wait behind those of the uploads.",
        ("bottleneck.queue.name=drop_tail",),
    ),
    Picture(
        "fair-queues",
        "The same uplink with FQ-CoDel",
        "home-line.toml",
        "latency",
        "Each flow has a queue of its own: the game waits for nobody.",
    ),
    Picture(
        "lte",
        "A link whose rate wanders",
        "lte.toml",
        "traffic",
        "A download over a cellular link. When the rate falls, what is queued takes seconds.",
    ),
    Picture(
        "leo",
        "A satellite takes over every 15 s",
        "leo.toml",
        "cwnd",
        "For a tenth of a second nothing is delivered. CUBIC and BBRv3 answer to it in different ways.",
    ),
    Picture(
        "incast",
        "Incast",
        "incast.toml",
        "completion",
        "32 answers at once through a small buffer: half are there within 1.4 ms; those that lose their "
        "last packets wait 200 ms or more for the retransmission timer.",
    ),
    Picture(
        "data-centre",
        "DCTCP in a data centre",
        "data-centre.toml",
        "delay",
        "The queue marks packets beyond a threshold, and stays there.",
    ),
    Picture(
        "parking-lot",
        "Three bottlenecks in a row",
        "parking-lot.toml",
        "shares",
        "Flows that cross three bottlenecks get less than those that cross one.",
    ),
    Picture(
        "short-flows",
        "How long requests take",
        "short-flows.toml",
        "completion",
        "Requests arrive at random at a link that is loaded to 60 %.",
    ),
)

HERO = "bbr-and-cubic"
"""The picture of the first page, and the sweep that makes it."""


def hero() -> Plot:
    """Shares of BBRv3 and CUBIC over the size of the buffer."""
    with TemporaryDirectory() as store:
        swept = sweep(SCENARIOS / "sweeps" / f"{HERO}.toml", store)
        curves = [mark for place, (group, name) in enumerate(_GROUPS) for mark in _share(swept, group, name, place)]
    x = Axis("Buffer", "bandwidth-delay products", log=True)
    y = Axis("Share of the goodput", "%", minimum=0.0, maximum=100.0)
    caption = "Means of five simulations a point; bars are 95 % confidence intervals."
    return Plot([Panel([*curves, Guide(50.0, "equal shares")], x, y)], caption)


_GROUPS = (("bbr", "BBRv3"), ("cubic", "CUBIC"))


def _share(swept: Sweep, group: str, name: str, place: int) -> Iterator[Line | Points]:
    """The curve of one group, with its intervals."""
    rows = []
    for number, point in enumerate(swept.record.points):
        interval = swept.interval(f"group/{group}/share", number)
        if interval is None or interval.low is None or interval.high is None:
            raise ValueError(f"{group}: no share at {point.values[0]}")
        rows.append(
            (float(str(point.values[0]).split()[0]), 100 * interval.mean, 100 * interval.low, 100 * interval.high)
        )
    x, y, low, high = zip(*rows, strict=True)
    yield Line(x, y, "", Style(series=place, thin=True))
    yield Points(x, y, name, Style(series=place), low, high)


def draw(folder: Path) -> None:
    """Write the pictures into a folder, each as ``NAME-light.svg`` and ``NAME-dark.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    for drawn in _pictures():
        light, _, _ = svg(drawn.plot)
        (folder / f"{drawn.name}-light.svg").write_text(light, encoding="utf-8")
        (folder / f"{drawn.name}-dark.svg").write_text(darkened(light), encoding="utf-8")


def _pictures() -> Iterator[Chart]:
    yield Chart(HERO, "Shares of BBRv3 and CUBIC", hero())
    yield Chart("linux", "Simulated, and on Linux", agreement())
    for picture in GALLERY:
        yield Chart(picture.name, picture.title, picture.plot())


def darkened(drawing: str) -> str:
    """A drawing in the colours of a dark page.

    >>> darkened('<path fill="#fff" stroke="#2a7fd0"/>')
    '<path fill="#15181c" stroke="#4f94e4"/>'
    """
    pairs = {"#fff": DARK.paper, **dict(zip(LIGHT.series, DARK.series, strict=True))}
    pairs |= {LIGHT.paper: DARK.paper, LIGHT.ink: DARK.ink, LIGHT.muted: DARK.muted, LIGHT.grid: DARK.grid}
    for light, dark in pairs.items():
        drawing = drawing.replace(f'"{light}"', f'"{dark}"')
    return drawing


if __name__ == "__main__":
    (ROOT / "docs" / "figures" / f"{HERO}.svg").write_text(svg(hero())[0], encoding="utf-8")
