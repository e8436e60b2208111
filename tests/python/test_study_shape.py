"""The shape of a study: cases done once and kept, shards, plug-ins, published values; what is killed goes on."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from parshall.campaign import maintenance
from parshall.campaign.answers import Answers
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of, canonical
from parshall.campaign.shard import Shard
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError, NoEmulationError
from parshall.report.document import Section
from parshall.studies import published, running
from parshall.studies.running import Execution, run
from parshall.studies.study import Case, Findings, Instruments, Part, Study
from parshall_studies import rio
from parshall_studies.catalog import STUDIES
from parshall_studies.chains.loss import Bernoulli
from tools.documentation.markdown import blocks

PLUGIN = """
import os, time
from pathlib import Path

from parshall.report.document import Section
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.region import exactly
from parshall.studies.study import Case, Findings, Part, Study


def _told(what):
    with open(os.environ["DONE"], "a") as file:
        file.write(f"{what}\\n")
    time.sleep(float(os.environ.get("PAUSE", "0")))


def square(n):
    _told(n)
    return n * n


def total(squares):
    _told("total")
    return sum(squares)


def cases(scale):
    squares = [Case(f"the square of {n}", square, (n,)) for n in range(6)]
    return {**dict(enumerate(squares)), "total": Case("their sum", total, (tuple(squares),))}


def findings(answers, scale):
    return Findings([equal("sum", "of six squares", 55, exactly(answers["total"]))], [Section("Squares")])


part = Part("squares", cases, findings)
again = Part("again", lambda _: {1: Case("the square of 1", square, (1,))}, lambda *_: Findings([], []))
STUDY = Study("squares", "Squares", "sums of squares", "Euclid", (part, again))
"""
EVERY = {*map(str, range(6)), "total"}

Verb = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def site(installed: Callable[..., Path]) -> Path:
    return installed("squares", PLUGIN, "[parshall.studies]\nmine = squares:STUDY\n")


@pytest.fixture
def begun(command: Callable[..., list[str]], tmp_path: Path, site: Path) -> Verb:
    """Begins the program where the distribution is installed."""

    def begin(*arguments: str, pause_s: float = 0.0) -> subprocess.Popen[str]:
        environment = {**os.environ, "DONE": str(tmp_path / "done"), "PAUSE": str(pause_s)}
        return subprocess.Popen(
            command(arguments, site),
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


def ended(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out


def done(tmp_path: Path) -> Counter[str]:
    path = tmp_path / "done"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def kept(store: Path) -> set[str]:
    return {path.name for path in store.glob("answers/*/*")}


def killed(process: subprocess.Popen[str], store: Path, after: int) -> set[str]:
    """Kill a study with all its processes when so many answers are kept; gives these."""
    waited = time.monotonic()
    try:
        while len(kept(store)) < after:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() - waited < 120
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return kept(store)


def test_a_plug_in_adds_a_study(tmp_path: Path, begun: Verb) -> None:
    (check,) = json.loads(ended(begun("study", "squares", "--json")))
    assert (check["ours"], check["verdict"]) == (55, "reproduced")
    assert done(tmp_path) == Counter(dict.fromkeys(EVERY, 1)), "equal cases are done once"
    listed = json.loads(ended(begun("list", "studies", "--json")))
    assert {"squares", "rio"} <= {each["name"] for each in listed}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("squares:part", "accepted: a parshall.studies.study.Study"),
        ("squares:nothing", "AttributeError"),
        ("absent:STUDY", 'study of the plug-in "mine" of plugged 1.0: ModuleNotFoundError'),
    ],
)
def test_a_plug_in_that_is_no_study_is_refused(site: Path, begun: Verb, entry: str, said: str) -> None:
    (site / "plugged-1.0.dist-info" / "entry_points.txt").write_text(f"[parshall.studies]\nmine = {entry}\n")
    process = begun("study", "squares")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said in errors
    assert "Traceback" not in errors


def test_a_name_that_is_taken_is_refused(site: Path, begun: Verb) -> None:
    (site / "squares.py").write_text(PLUGIN.replace('Study("squares"', 'Study("rio"'))
    process = begun("study", "rio")
    assert 'there is a study "rio" already' in process.communicate(timeout=60)[1]


@pytest.mark.slow
def test_the_study_of_the_guide_can_be_installed(tmp_path: Path, site: Path, begun: Verb) -> None:
    guide = Path(__file__).parents[2] / "docs" / "studies.md"
    (code,) = (block for block in blocks(guide.read_text(encoding="utf-8")) if block.file == "my_study.py")
    (site / "my_study.py").write_text(code.text)
    (site / "plugged-1.0.dist-info" / "entry_points.txt").write_text("[parshall.studies]\nmine = my_study:STUDY\n")
    checks = json.loads(ended(begun("study", "my_study", "--json", "--store", str(tmp_path / "store"))))
    assert [check["reading"] for check in checks] == ["", "", "small buffer", "small buffer"]
    assert all(5 < check["ours"] < 10 for check in checks)
    store = str(tmp_path / "store")
    joint = json.loads(ended(begun("study", "my_study", "--joint", "4", "--json", "--store", store)))
    assert [sorted(each["outcomes"]) for each in joint["settings"]] == [sorted(joint["claims"])] * 4
    assert joint["settings"][0]["values"] == {"buffer_packets": 50}
    # What measures a run belongs to the package as well.
    (site / "my_study.py").write_text(code.text.replace("/ 1e6", "/ 2e6"))
    halved = json.loads(ended(begun("study", "my_study", "--json", "--store", str(tmp_path / "store"))))
    assert [check["ours"] for check in halved] == pytest.approx([check["ours"] / 2 for check in checks])


@pytest.mark.gate
@pytest.mark.slow
def test_a_study_that_is_killed_goes_on(tmp_path: Path, begun: Verb) -> None:
    store = tmp_path / "store"
    words = ("study", "squares", "--json", "--store", str(store), "--workers", "2")
    before = killed(begun(*words, pause_s=0.2), store, 3)
    begun_first = done(tmp_path)
    (check,) = json.loads(ended(begun(*words)))
    assert check["ours"] == 55
    assert len(kept(store)) == len(EVERY)
    again = done(tmp_path) - begun_first
    assert again.total() == len(EVERY) - len(before), "nothing that was kept is done again"
    ended(begun(*words))
    assert done(tmp_path) == begun_first + again


@pytest.mark.slow
def test_other_code_is_done_anew(tmp_path: Path, site: Path, begun: Verb) -> None:
    words = ("study", "squares", "--json", "--store", str(tmp_path / "store"))
    ended(begun(*words))
    (site / "squares.py").write_text(PLUGIN.replace("return n * n", "return n * n + 1"))
    (check,) = json.loads(ended(begun(*words)))
    assert check["ours"] == 61


@pytest.mark.slow
def test_three_shards_in_one_store_are_one_run(tmp_path: Path, begun: Verb) -> None:
    alone = ended(begun("study", "squares", "--json"))
    first = done(tmp_path)
    words = ("study", "squares", "--store", str(tmp_path / "store"))
    shards = [begun(*words, "--shard", f"{k}/3", "--workers", "1", pause_s=0.1) for k in (1, 2, 3)]
    for each in shards:
        ended(each)
    assert done(tmp_path) - first == Counter(dict.fromkeys(EVERY, 1)), "each case by one of them"
    assert ended(begun(*words, "--json")) == alone
    assert done(tmp_path) - first == Counter(dict.fromkeys(EVERY, 1)), "collecting does nothing again"


@pytest.mark.slow
def test_stores_of_shards_are_merged(tmp_path: Path, begun: Verb) -> None:
    alone = ended(begun("study", "squares", "--json"))
    for k in (1, 2):
        ended(begun("study", "squares", "--store", f"store{k}", "--shard", f"{k}/2"))
    taken = json.loads(ended(begun("store", "merge", "store", "store1", "store2", "--json")))
    assert sum(each["answers"] for each in taken.values()) == len(EVERY)
    before = done(tmp_path)
    assert ended(begun("study", "squares", "--store", "store", "--json")) == alone
    assert done(tmp_path) == before


@pytest.mark.slow
def test_a_shard_needs_a_store_and_has_no_page(begun: Verb) -> None:
    for words, said in (
        (("--shard", "1/2"), "--store"),
        (("--shard", "3/2"), "shard: found 3/2"),
        (("--shard", "half"), "shard: found half"),
        (("--shard", "1/2", "--json"), "--shard: found beside --output or --json"),
    ):
        process = begun("study", "squares", *words)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2
        assert said in errors


@pytest.mark.slow
def test_rio_is_killed_and_goes_on(tmp_path: Path) -> None:
    """The parts of rio that take seconds; the others are of the same shape."""
    some = ("figure 5", "several routers", "UDP", "over-booking")
    script = f"""
from pathlib import Path
from parshall_studies import rio
from parshall.studies.running import Execution, run
from parshall.studies.study import Study
parts = [part for part in rio.PARTS if part.name in {some!r}]
run(Study("rio", "", "", "", parts), "quick", print, Execution(Path("store"), 2))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    before = killed(process, tmp_path / "store", 2)
    assert 2 <= len(before) < 8
    study = Study("rio", "", "", "", [part for part in rio.PARTS if part.name in some])
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").glob("answers/*/*")}
    told: list[str] = []
    resumed = run(study, "quick", told.append, Execution(tmp_path / "store", 2))
    assert {path: path.stat().st_mtime_ns for path in written} == written, "nothing that was kept is done again"
    announced, *told = told
    assert announced.startswith(f"rio at quick scale: 8 cases, of which the store has {len(before)}")
    assert len(kept(tmp_path / "store")) == len(told) == 8
    assert told[-1].endswith("(8 of 8)")
    whole = run(study, "quick", lambda _: None, Execution(workers=2))
    assert [each.as_json() for each in resumed.checks] == [each.as_json() for each in whole.checks]
    assert len(whole.checks) > 10


def test_at_paper_scale_there_is_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Execution().at("rio", "quick").store is None
    assert Execution().at("rio", "paper").store == tmp_path / "parshall" / "studies" / "rio" / "store"
    assert Execution(tmp_path / "own", 2).at("rio", "paper") == Execution(tmp_path / "own", 2)


def test_an_answer_that_is_damaged_is_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", create=True)
    call = call_of(Bernoulli, (0.5,))
    (first,) = run_calls([call], 1, store=store)
    (path,) = store.directory.glob("answers/*/*")
    content = path.read_bytes()
    for damaged in (b"", content[:-1], content[:90] + b"?" + content[91:]):
        path.write_bytes(damaged)
        assert not Answers(store).has(call)
        assert run_calls([call], 1, store=store) == [first]
        assert path.read_bytes() == content


def test_the_key_of_an_answer_follows_from_values() -> None:
    keys = {call_of(Bernoulli, (each,)).key for each in (0.5, 0.25, np.array([0.5]), np.array([0.25]), "0.5", (0.5,))}
    assert len(keys) == 6
    assert call_of(Bernoulli, (np.array([1.0, 2.0]),)).key == call_of(Bernoulli, (np.array([1.0, 2.0]),)).key
    scenario = rio.queue.scenario()
    assert canonical(scenario) == canonical(rio.queue.scenario())
    assert canonical(scenario) != canonical(scenario.with_values({"seed": 2}))
    for unknown in (lambda: 0, object(), {1, 2}):
        with pytest.raises(InputError, match="which another process cannot be told of"):
            call_of(Bernoulli, (unknown,))


def test_shards_share_all_work() -> None:
    work = list(range(17))
    parts = [Shard(k, 5).of(work) for k in range(1, 6)]
    assert sorted(each for part in parts for each in part) == work
    assert Shard.parse("5/5") == Shard(5, 5)


def test_every_study_says_where_its_values_stand() -> None:
    for study in STUDIES:
        found = published.printed_in(f"parshall_studies.{study.name}")
        assert found.source
        assert found.entries
        assert all(entry.where for entry in found.entries.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nvalue = 1\n", "source: missing"),
        ('source = "s"\n[a]\nvalue = 1\nwhere = "x"\n', "a.unit: Field required"),
        ('source = "s"\n[a]\nvalue = 1\nunit = "s"\nwhere = "x"\nresolutoin = 1\n', "a.resolutoin: Extra inputs"),
        ('source = "s"\n[a]\nvalue = [1, 2]\nunit = "s"\nwhere = "x"\nat = [1]\n', "a: at: found 1 parameters"),
        ('source = "s"\n[a]\nvalue = {b = 1}\nunit = {c = "s"}\nwhere = "x"\n', "a: unit: found ['c']"),
        ('source = "s"\n[a.b]\nc = 1\n', "a.b.c: found 1; accepted: a table with value, unit and where"),
        ('source = "s"\n[a\n', "p.toml: Expected"),
    ],
)
def test_a_data_file_that_is_wrong_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        published.parsed(text, "p.toml")
    assert said in str(refused.value)
    assert str(refused.value).startswith("p.toml: ")


# --- what it costs, and what is kept of it ---


SUMS = Part(
    "sums",
    lambda _: {n: Case(f"the mean of {n} and {n + 2}", statistics.fmean, ([n, n + 2],)) for n in range(3)},
    lambda *_: Findings([], []),
)


def test_it_says_what_it_takes_before_it_begins(tmp_path: Path) -> None:
    made = Study("sums", "Sums", "sums", "Euclid", (SUMS,), {"quick": "an instant"})
    execution = Execution(tmp_path / "store", workers=1)
    said: list[str] = []
    run(made, "quick", said.append, execution)
    assert said[0] == "sums at quick scale: 3 cases; the whole study takes an instant"
    assert len(said) == 4
    again: list[str] = []
    run(made, "paper", again.append, execution)
    assert again[0] == "sums at paper scale: 3 cases, of which the store has 3"


def test_answers_that_are_damaged_are_found_set_aside_and_done_again(tmp_path: Path) -> None:
    made, execution = Study("sums", "Sums", "sums", "Euclid", (SUMS,)), Execution(tmp_path / "store", workers=1)
    run(made, "quick", lambda _: None, execution)
    store = Store(tmp_path / "store")
    assert (maintenance.verify(store).answers, maintenance.verify(store).damage) == (3, ())
    hurt = store.answers()[0]
    content = hurt.read_bytes()
    hurt.write_bytes(content[:-1])
    found = maintenance.verify(store)
    assert (found.answers, [each.path for each in found.damage]) == (2, [hurt])
    assert maintenance.collect(store, dry_run=True).damaged == 1
    assert hurt.exists()
    assert maintenance.collect(store).damaged == 1
    assert len(store.answers()) == 2
    run(made, "quick", lambda _: None, execution)
    assert hurt.read_bytes() == content


def word(text: str) -> str:
    return text


def said(name: str, *, emulates: bool) -> Part:
    """A part with a case of each kind if it emulates."""
    cases = {"simulated": Case(f"{name}: simulated", word, (name,))}
    if emulates:
        cases = {"emulated": Case(f"{name}: emulated", word, (f"{name} in real time",), emulates=True)} | cases
    return Part(
        name,
        lambda _: cases,
        lambda answers, _: Findings([], [Section(next(iter(answers.values())))]),
        emulates=emulates,
    )


BOTH = Study("both", "Both", "both", "Euclid", (said("packets", emulates=False), said("hosts", emulates=True)))


@pytest.mark.parametrize(
    ("instrument", "titles", "told"),
    [
        ("simulate", ["packets"], ["packets: simulated (1 of 1)"]),
        ("emulate", ["hosts in real time"], ["hosts: simulated (1 of 2)", "hosts: emulated (2 of 2)"]),
        (
            "both",
            ["packets", "hosts in real time"],
            ["packets: simulated (1 of 3)", "hosts: simulated (2 of 3)", "hosts: emulated (3 of 3)"],
        ),
    ],
)
def test_what_emulates_is_done_on_demand_and_last(
    monkeypatch: pytest.MonkeyPatch, instrument: Instruments, titles: list[str], told: list[str]
) -> None:
    monkeypatch.setattr(running, "abilities", lambda: Mock(problem=None))
    heard: list[str] = []
    found = run(BOTH, "quick", heard.append, Execution(workers=1, instrument=instrument))
    assert [section.heading for section in found.sections] == titles
    assert heard[1:] == told


def test_a_machine_that_cannot_emulate_does_the_rest_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "abilities", lambda: Mock(problem="no TUN device"))
    found = run(BOTH, "quick", lambda _: None, Execution(workers=1, instrument="both"))
    assert [section.heading for section in found.sections] == ["packets", "hosts"]
    assert "cannot emulate: no TUN device" in found.sections[1].paragraphs[0]
    with pytest.raises(NoEmulationError, match="no TUN device"):
        run(BOTH, "quick", lambda _: None, Execution(workers=1, instrument="emulate"))


def test_a_study_that_emulates_nothing_says_so() -> None:
    with pytest.raises(InputError, match="--instrument: found emulate; sums emulates nothing; accepted: simulate"):
        run(
            Study("sums", "Sums", "sums", "Euclid", (SUMS,)),
            "quick",
            lambda _: None,
            Execution(workers=1, instrument="emulate"),
        )
