"""Congestion controls of one's own in other processes, which run the code that was declared, or none."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign.keys import call_of
from parshall.foundations.errors import InputError
from parshall.scenario.controls import declare
from parshall.scenario.schema import external
from parshall.scenario.templates import write_control
from parshall_studies import benchmark as itb
from parshall_studies.benchmark import applications
from parshall_studies.benchmark.building import case
from parshall_studies.benchmark.classes import classes
from parshall_studies.benchmark.scale import SCALES

PLAN: dict[str, Any] = {
    "name": "own",
    "repetitions": 2,
    "scenario": {
        "duration": "5 s",
        "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [{"rtt": "60 ms", "congestion_control": "mine"}],
    },
    "parameters": {"bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]},
    "metrics": ["goodput_bps"],
}


@pytest.fixture(autouse=True)
def _nothing_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    write_control("mine", "python", tmp_path)
    return tmp_path / "mine.py"


def halved(file: Path) -> None:
    """Another control, in a file of the same length, that was written in the same second."""
    file.write_text(file.read_text().replace("decrease=0.5", "decrease=0.1"))


def runs(made: ps.Sweep) -> set[str]:
    assert made.record.failed == {}
    return {run for point in made.record.points for run in point.runs}


def test_a_changed_control_is_not_answered_from_the_store(mine: Path, tmp_path: Path) -> None:
    def swept() -> ps.Sweep:
        return ps.sweep(ps.Plan(**PLAN), tmp_path / "store", workers=2, controls={"mine": f"{mine}:Mine"})

    text = mine.read_text()
    first = swept()
    halved(mine)
    other = swept()
    assert len(runs(first)) == len(runs(other)) == 4
    assert not runs(first) & runs(other)
    goodputs = [made.points["goodput_bps"].to_list() for made in (first, other)]
    assert all(less < 0.99 * more for more, less in zip(*goodputs, strict=True)), goodputs
    mine.write_text(text)
    assert runs(swept()) == runs(first)


def test_workers_run_what_was_declared_or_nothing(mine: Path, tmp_path: Path) -> None:
    declare({"mine": f"{mine}:Mine"})
    halved(mine)
    made = ps.sweep(ps.Plan(**PLAN), tmp_path / "store", workers=1)
    assert len(made.record.failed) == 4
    assert all("mine.py:Mine was changed while it was in use" in said for said in made.record.failed.values())


class Fixed:
    """A window that stays as it is."""

    def __init__(self, start: Any) -> None:
        self.cwnd = start.cwnd

    def on_ack(self, ack: Any) -> None: ...
    def on_loss(self, event: Any) -> None: ...
    def on_timeout(self, event: Any) -> None: ...


def test_a_class_that_is_in_no_file_runs_here_and_is_refused_elsewhere(tmp_path: Path) -> None:
    class Mine(Fixed): ...

    with pytest.raises(InputError, match=r'control "mine": class .*Mine is part of a notebook, of the script'):
        ps.sweep(ps.Plan(**PLAN), tmp_path / "store", scheduler="tcp://127.0.0.1:9", controls={"mine": Mine})
    assert not (tmp_path / "store").exists()
    assert len(runs(ps.sweep(ps.Plan(**PLAN), tmp_path / "store", workers=2, controls={"mine": Mine}))) == 4
    beside = {**PLAN, "scenario": {**PLAN["scenario"], "flows": [{"name": "mine", "rtt": "60 ms"}]}}
    assert len(runs(ps.sweep(ps.Plan(**beside), tmp_path / "store", workers=1))) == 4


def test_a_class_of_a_package_finds_what_is_beside_it(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = mine.parent / "algorithms"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.move(mine, package / "base.py")
    (package / "mine.py").write_text("from .base import Mine as Base\n\n\nclass Mine(Base):\n    pass\n")
    monkeypatch.syspath_prepend(str(mine.parent))
    control = importlib.import_module("algorithms.mine").Mine
    assert len(runs(ps.sweep(ps.Plan(**PLAN), mine.parent / "store", workers=1, controls={"mine": control}))) == 4


@pytest.mark.needs("cc")
def test_a_library_that_is_built_again_is_loaded_again(tmp_path: Path) -> None:
    write_control("mine", "c", tmp_path)
    library, source = tmp_path / "libmine.so", tmp_path / "mine.c"

    def goodput() -> float:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
        return float(ps.run(PLAN["scenario"], controls={"mine": str(library)}).flows["goodput_bps"][0])

    first, text = goodput(), source.read_text()
    source.write_text(text.replace("used / 2.0", "used / 9.0"))
    assert goodput() < 0.99 * first
    source.write_text(text)
    assert goodput() == first


def test_the_benchmark_has_controls_of_ones_own(mine: Path, tmp_path: Path) -> None:
    scale = replace(SCALES["quick"], bulk_s=1.0, repetitions=2)
    cases = [case(applications.find("BU")[0], classes("A")[0], scale)]

    def found() -> itb.Result:
        return itb.run(cases, ["mine", "reno"], tmp_path / "store", rivals=(), own={"mine": f"{mine}:Mine"})

    first = found().cases[0].alone
    of = {name: each["completion_s"].to_list() for (name,), each in first.group_by("control")}
    assert of["mine"] == of["reno"], "the template is Reno"
    mine.write_text(mine.read_text().replace("self.cwnd += ", "self.cwnd = 1.0 + 0 * "))
    changed = found().cases[0].alone
    assert changed.filter(control="mine")["completion_s"].to_list() != of["mine"]
    assert changed.filter(control="reno").equals(first.filter(control="reno"))


def test_answers_of_calls_are_those_of_the_code(mine: Path) -> None:
    def key(document: Any) -> str:
        declare({"mine": f"{mine}:Mine"})
        return call_of(ps.run, (document,)).key

    other = {"flows": [{"congestion_control": "reno"}]}
    before = key(PLAN), key(other)
    halved(mine)
    after = key(PLAN), key(other)
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_is_sent_the_code(mine: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    place = f"{mine}:Mine"

    def swept(store: str, **where: Any) -> dict[str, list[float]]:
        made = ps.sweep(ps.Plan(**PLAN), tmp_path / store, **where)
        assert len(runs(made)) == 4
        return {name: made.points[name].to_list() for name in made.record.metrics}

    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        where = {"scheduler": cluster.scheduler_address}
        found = []
        for store in ("one", "two"):
            declare({"mine": place})
            here = swept(f"{store}-here", workers=1)
            kept = mine.read_text()
            mine.unlink()  # as on a worker of another machine
            found.append(swept(f"{store}-there", **where))
            assert found[-1] == here
            mine.write_text(kept)
            halved(mine)
            cluster.scale(2)  # the next ones are sent it as well
    assert found[0] != found[1]
