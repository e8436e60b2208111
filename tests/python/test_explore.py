"""The explorer: fields and what is refused, simulations within their bounds, turns and limits of its processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import time
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.explore import knobs, preview, results
from parshall.explore.opening import opened
from parshall.explore.subject import Base, Subject
from parshall.explore.workers import MOST_WAITING, BusyError, ExplorerWorkers, StaleError, TooLongError
from parshall.foundations.errors import InputError, ScenarioError
from parshall.instruments.simulation.memory import most_flows
from parshall.report.finding import finding
from parshall.results.records import Result
from parshall.scenario.templates.shipped import shipped

QUICKSTART = opened("quickstart")


def has_trace(path: Path) -> bool:
    """Whether a scenario reads a file of a varying rate, which takes a while each time."""
    return "rate_trace" in path.read_text(encoding="utf-8")


def base() -> Base:
    assert QUICKSTART.base is not None
    return QUICKSTART.base


def shown(values: dict[str, Any] | None = None, **request: Any) -> list[dict[str, Any]]:
    return list(preview.shown(base(), {"values": values or {}, **request}, lambda: False))


# --- fields ---


@pytest.mark.parametrize("name", [each.name for each in shipped() if not each.is_sweep])
def test_every_shipped_scenario_has_fields_and_they_change_nothing(name: str) -> None:
    scenario = ps.Scenario.load(name)
    fields = [knob for each in knobs.fields(scenario) for knob in each.knobs]
    assert {"Flows"} <= {knob.label for knob in fields}
    same = knobs.changed(scenario, {knob.key: knob.value for knob in fields})
    assert same.assigned == {}
    assert same.scenario.resolve() == scenario.resolve()
    for knob in fields:
        if knob.unit:
            assert knob.low is not None
            assert knob.high is not None
            with_end = knobs.changed(scenario, {knob.key: f"{knob.low * 10:.3g} {knob.unit}"}).scenario
            assert with_end.document() != scenario.document()


@pytest.mark.parametrize("name", [each.name for each in shipped() if not each.is_sweep and not has_trace(each.path)])
def test_no_name_is_offered_that_is_refused(name: str) -> None:
    """Every congestion control and every queue of the fields of the scenarios that come with Parshall."""
    scenario = ps.Scenario.load(name)
    for knob in (knob for each in knobs.fields(scenario) for knob in each.knobs if knob.choices):
        for choice in knob.choices:
            changed = knobs.changed(scenario, {knob.key: choice}).scenario
            most_flows(json.dumps(changed.resolve()), 1, None)  # where the simulator has its say


def test_another_control_loses_what_it_does_not_understand_and_that_is_said() -> None:
    """The uploads of the home line leave slow start by HyStart++, which BBR has no use for."""
    home = ps.Scenario.load("home-line")
    changed = knobs.changed(home, {"flows.0.congestion_control": "bbr3"})
    assert changed.assigned == {"flows.0.congestion_control": "bbr3", "flows.0.slow_start": "standard"}
    assert changed.left_out == [
        'uploads: slow_start = "hystart++" is left out, for bbr3 has no standard slow start that it could replace.'
    ]
    assert knobs.changed(home, {"flows.0.congestion_control": "reno"}).left_out == []
    base = Base(home.document(), str(home.folder), None, "parshall run home-line")
    answer = next(preview.shown(base, {"values": {"flows.0.congestion_control": "bbr3"}}, lambda: False))
    assert answer["warnings"][0] == changed.left_out[0]
    overrides = shlex.split(answer["command"])[4::2]
    assert ps.Scenario.load("home-line", overrides).toml() == answer["toml"], "the command gives what is shown"


def test_what_is_wrong_with_the_scenario_for_another_reason_stays_refused() -> None:
    home = ps.Scenario.load("home-line")
    with pytest.raises(ScenarioError, match=r"flows\.0\.rtt"):
        knobs.changed(home, {"flows.0.congestion_control": "bbr3", "flows.0.rtt": "much"})


def test_the_parameters_of_the_control_before_are_said_to_be_left_out() -> None:
    control = {"name": "cubic", "beta": 0.6}
    flows = [{"name": "files", "rtt": "20 ms", "congestion_control": control}]
    scenario = ps.Scenario(duration="1 s", bottleneck={"rate": "5 Mbit/s"}, flows=flows)
    changed = knobs.changed(scenario, {"flows.0.congestion_control": "reno"})
    assert changed.left_out == ["files: the parameters of cubic are left out (beta)."]


def test_a_change_is_one_of_the_scenario() -> None:
    values = {
        "bottleneck.rate": "30 Mbit/s",
        "bottleneck.queue.name": "codel",
        "flows.0.count": "7",
        "flows.1.rtt.first": "20 ms",
        "flows.1.congestion_control": "bbr",
    }
    changed = knobs.changed(ps.Scenario.load("quickstart"), values)
    document = changed.scenario.document()
    assert document["bottleneck"]["rate"] == "30 Mbit/s"
    assert document["bottleneck"]["queue"] == {"name": "codel", "limit": "1 BDP"}
    assert (document["flows"][0]["count"], document["flows"][1]["rtt"]["first"]) == (7, "20 ms")
    assert document["flows"][1]["congestion_control"] == {"name": "bbr"}
    assert list(changed.assigned) == [
        "bottleneck.rate",
        "bottleneck.queue",
        "flows.0.count",
        "flows.1.rtt.first",
        "flows.1.congestion_control",
    ]


@pytest.mark.parametrize(
    ("rtt", "key", "changed_to"),
    [
        ({"uniform": ["20 ms", "80 ms"]}, "flows.0.rtt.uniform.1", {"uniform": ["20 ms", "90 ms"]}),
        ({"list": ["20 ms", "80 ms"]}, "flows.0.rtt.list.0", {"list": ["90 ms", "80 ms"]}),
    ],
)
def test_ranges_and_lists_of_round_trip_times_have_fields(rtt: Any, key: str, changed_to: Any) -> None:
    scenario = ps.Scenario(duration="1 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"count": 2, "rtt": rtt}])
    made = knobs.changed(scenario, {key: "90 ms"})
    assert made.assigned == {key: "90 ms"}
    assert made.scenario.document()["flows"][0]["rtt"] == changed_to
    with pytest.raises(ScenarioError, match="rtt"):
        knobs.changed(scenario, {key: "much"})


def test_a_long_list_has_none() -> None:
    rtts = {"list": [f"{20 + number} ms" for number in range(9)]}
    scenario = ps.Scenario(duration="1 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"count": 9, "rtt": rtts}])
    assert not [knob for each in knobs.fields(scenario) for knob in each.knobs if "rtt" in knob.key]


def test_a_queue_without_a_buffer_leaves_the_field_idle() -> None:
    changed = knobs.changed(
        ps.Scenario.load("quickstart"), {"bottleneck.queue.name": "shaper", "bottleneck.queue.limit": "9 packets"}
    )
    assert changed.assigned == {"bottleneck.queue": {"name": "shaper"}}
    assert knobs.idle(changed.scenario, ps.Scenario.load("quickstart")) == ["bottleneck.queue.limit"]


NONSENSE = {
    "bottleneck.rate": ["", "fast", "-1 Mbit/s", "1e999 Mbit/s", "30", "NaN Mbit/s", "<script>", "../../etc/passwd"],
    "bottleneck.queue.name": ["", "codl", "drop_tail\u0000"],
    "bottleneck.queue.limit": ["0 packets", "many", "1 BDP BDP"],
    "flows.0.count": ["0", "-3", "x", "1.5", "99999999999999999999"],
    "flows.0.rtt": ["5 ms", "no", "1 year"],
    "flows.1.rtt.step": ["-1 ms"],
    "flows.1.congestion_control": ["", "renoo"],
}


@pytest.mark.parametrize(("key", "text"), [(key, text) for key, texts in NONSENSE.items() for text in texts])
def test_nonsense_is_answered_in_the_words_of_validate(key: str, text: str) -> None:
    answer = shown({key: text})
    assert list(answer[0]) == ["problems"]
    assert len(answer) == 1
    path, value = key, int(text) if key.endswith("count") and text.isdecimal() else text
    overrides: dict[str, Any] = {path: value}
    if key.startswith("bottleneck.queue"):
        table = {"name": "drop_tail", "limit": "1 BDP"} | {key.rpartition(".")[2]: text}
        overrides = {"bottleneck.queue": table if "limit" in key else {"name": text}}
    with pytest.raises(ScenarioError) as refused:
        ps.Scenario.load("quickstart", overrides)
    assert answer[0]["problems"] == refused.value.problems


@pytest.mark.parametrize(
    "values",
    [
        {"bottleneck.rate_trace": "/etc/passwd"},
        {"flows.0.workload": {"name": "transfer", "sizes": {"file": "/etc/passwd"}}},
        {"bottleneck.rate": {"trace": "/etc/passwd"}},
        {"bottleneck.rate": ["20 Mbit/s"]},
        {"bottleneck.rate": "2" * 101},
        {"flows.2.count": "1"},
        {"": "1"},
        {"seed": "1"},
    ],
)
def test_only_short_texts_for_known_fields_are_taken(values: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"no field of this scenario|something else than a text"):
        knobs.changed(ps.Scenario.load("quickstart"), values)


# --- what is shown ---


def test_what_is_shown_is_what_a_run_gives() -> None:
    simulated, predicted = shown({"bottleneck.rate": "10 Mbit/s"})
    run = ps.run(ps.Scenario.load("quickstart", {"bottleneck.rate": "10 Mbit/s", "repetitions": 1}))
    # Models are asked after the answer: what a run says of those that are wrong is not in it.
    unpredicted = Result(None, {**run.metadata, "predicted": []}, run.tables)
    # A preview gives no advice, which would take runs of its own.
    assert simulated["finding"] == finding(unpredicted, advise=False).text
    assert simulated["command"] == "parshall run quickstart --set 'bottleneck.rate=\"10 Mbit/s\"'"
    again = ps.Scenario.from_document(tomllib.loads(simulated["toml"]))
    assert again.document()["bottleneck"]["rate"] == "10 Mbit/s"
    assert simulated["simulated"].count("<svg") >= 2
    assert "pftk" in predicted["predicted"]


def test_the_command_of_a_change_gives_that_scenario(tmp_path: Path) -> None:
    values = {"bottleneck.queue.name": "red", "flows.1.congestion_control": "bbr", "flows.0.count": "2"}
    answer = shown(values)[0]
    words = shlex.split(answer["command"])
    overrides = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
    assert ps.Scenario.load("quickstart", overrides).toml() == answer["toml"]
    (tmp_path / "saved.toml").write_text(answer["toml"])
    assert ps.Scenario.load(tmp_path / "saved.toml").toml() == answer["toml"]


def test_other_figures_are_shown_if_they_are_asked_for() -> None:
    simulated = shown(figures=["cwnd"])[0]["simulated"]
    assert "figure-cwnd" in simulated
    assert "figure-overview" not in simulated


def test_much_is_cut_to_what_there_is_time_for() -> None:
    started = time.process_time()
    answer = shown({"bottleneck.rate": "100 Gbit/s", "flows.0.count": "50"})[0]
    assert "simulated" in answer, answer
    assert "of 60\N{NO-BREAK SPACE}s" in answer["extent"]
    assert time.process_time() - started < 3 * preview.MOST_S


def test_what_cannot_be_cut_is_given_up() -> None:
    """Datagrams at a thousand times the rate of the link: its packets are few, those that are offered are not."""
    document = {
        "duration": "100 s",
        "bottleneck": {"rate": "100 kbit/s"},
        "flows": [
            {"rtt": "10 ms", "congestion_control": "reno"},
            {"name": "flood", "count": 50, "rtt": "10 ms", "workload": {"name": "cbr", "rate": "1 Gbit/s"}},
        ],
    }
    started = time.process_time()
    answer = next(preview.shown(Base(document, ".", None, "parshall run x"), {}, lambda: False))
    assert time.process_time() - started < 4 * preview.MOST_S
    if "problems" in answer:
        assert "parshall run" in answer["problems"][0]
    else:
        assert "of 100\N{NO-BREAK SPACE}s" in answer["extent"]


def test_nothing_is_simulated_for_those_who_are_gone() -> None:
    """It is looked 50 times a second; these packets take the simulator longer."""
    started = time.process_time()
    assert list(preview.shown(base(), {"values": {"bottleneck.rate": "1 Gbit/s"}}, lambda: True)) == []
    assert time.process_time() - started < 1.0


def test_models_are_not_asked_for_those_who_are_gone() -> None:
    gone: list[bool] = []
    parts = preview.shown(base(), {}, lambda: bool(gone))
    assert "simulated" in next(parts)
    gone.append(True)
    assert list(parts) == []


def test_a_drag_is_cheap() -> None:
    """An answer within 0.3 s, on a machine that has nothing else to do: the processor's time is less than that.

    It is not the time on the clock: other tests run at the same time. `benches/explore.py` measures that.
    """
    next(preview.shown(base(), {}, lambda: False))  # imports
    used = []
    for number in range(5):
        started = time.process_time()
        next(preview.shown(base(), {"values": {"bottleneck.rate": f"{21 + number} Mbit/s"}}, lambda: False))
        used.append(time.process_time() - started)
    assert min(used) < 0.3


# --- turns and limits ---


@contextlib.asynccontextmanager
async def processes(number: int = 1, **limits_s: float) -> AsyncIterator[ExplorerWorkers]:
    workers = ExplorerWorkers(number, limits_s or {"simulate": 120.0})
    try:
        yield workers
    finally:
        workers.close()


async def asked(workers: ExplorerWorkers, number: int = 0, tab: str = "", **values: str) -> list[dict[str, Any]]:
    request = {"values": values}
    return [each async for each in workers.answers("simulate", QUICKSTART, request, tab, number)]


def test_a_task_that_takes_too_long_costs_its_process_and_nothing_else() -> None:
    async def told() -> None:
        async with processes(1, simulate=0.01) as workers:
            before = workers.processes
            with pytest.raises(TooLongError, match=r"longer than 0\.01 s"):
                await asked(workers)
            answer = await workers.answer("opened", Subject(None, None), {"place": None})
            assert answer["subject"] == QUICKSTART
            assert workers.processes != before
            with pytest.raises(ProcessLookupError):
                os.kill(before[0], 0)

    asyncio.run(told())


def test_a_process_that_was_killed_is_replaced() -> None:
    async def told() -> None:
        async with processes() as workers:
            os.kill(workers.processes[0], signal.SIGKILL)
            with pytest.raises(TooLongError, match="has ended"):
                await asked(workers)
            assert "finding" in (await asked(workers))[0]

    asyncio.run(told())


def test_of_a_tab_the_newest_request_is_answered() -> None:
    async def told() -> None:
        async with processes() as workers:
            other = asyncio.create_task(asked(workers, 1, "other"))
            await asyncio.sleep(0)
            mine = [asyncio.create_task(asked(workers, number, "mine")) for number in (1, 2, 3)]
            found = await asyncio.gather(other, *mine, return_exceptions=True)
            assert [type(each) for each in found] == [list, StaleError, StaleError, list]

    asyncio.run(told())


def test_whoever_goes_away_leaves_the_process_to_others() -> None:
    async def told() -> None:
        async with processes() as workers:
            await asked(workers)  # to load what it needs takes a process longer than to do a task
            gone = asyncio.create_task(asked(workers))
            await asyncio.sleep(0.05)
            gone.cancel()
            before = workers.processes
            assert "finding" in (await asked(workers))[0]
            assert workers.processes == before, "it was not killed for that"

    asyncio.run(told())


def test_no_more_than_so_many_wait() -> None:
    async def told() -> None:
        async with processes() as workers:
            crowd = [asyncio.create_task(asked(workers)) for _ in range(MOST_WAITING + 10)]
            await asyncio.sleep(0.05)
            busy = [each for each in crowd if each.done() and isinstance(each.exception(), BusyError)]
            assert len(busy) == 9, "one has its turn"
            for each in crowd:
                each.cancel()
            await asyncio.gather(*crowd, return_exceptions=True)

    asyncio.run(told())


# --- results ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("results")
    document = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}
    ps.run({"name": "one", **document}, place / "one")
    ps.run({"name": "two", **document, "bottleneck": {"rate": "8 Mbit/s"}}, place / "two <b>&")
    (place / "damaged").mkdir()
    (place / "damaged" / "run.json").write_text("{")
    (place / "foreign").mkdir()
    for name in ("first", "second"):
        parameters = {"bottleneck.rate": ["4 Mbit/s", "8 Mbit/s"], "flows.0.rtt": ["20 ms", "40 ms"]}
        ps.sweep(ps.Plan(name=name, scenario=document, parameters=parameters, repetitions=2), place / "store")
    return place


def test_results_of_a_folder_and_of_a_store(folder: Path) -> None:
    known = results.entries(folder)
    assert {name: entry.kind for name, entry in known.items()} == {
        "one": "simulate",
        "two <b>&": "simulate",
        "damaged": "unreadable",
        "store/first": "sweep",
        "store/second": "sweep",
    }
    assert set(results.entries(folder / "store")) == {"first", "second"}
    assert set(results.entries(folder / "one")) == {results.OWN}


@pytest.mark.parametrize("name", ["three", "..", "../results", "/etc", "one/../one", "", "one/repetitions"])
def test_only_what_is_listed_can_be_asked_for(name: str, folder: Path) -> None:
    for ask in (results.page, results.base_of, lambda place, each: results.comparison(place, [each, "one"])):
        with pytest.raises(InputError, match="there is no result"):
            ask(folder, name)


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(folder / "one")
    assert results.entries(tmp_path) == {}


def test_pages_of_results(folder: Path) -> None:
    assert "<h1>one</h1>" in results.page(folder, "one")
    assert "<h1>first</h1>" in results.page(folder, "store/first")
    assert "<h1>one, two &lt;b&gt;&amp;</h1>" in results.comparison(folder, ["one", "two <b>&"])
    assert "<h1>first, second</h1>" in results.comparison(folder, ["store/first", "store/second"])
    with pytest.raises(InputError, match="two at a time"):
        results.comparison(folder, ["store/first", "one"])


def test_the_scenario_of_a_run_is_explored_by_rerunning_it(folder: Path) -> None:
    found = opened(str(folder / "one"))
    assert found.base is not None
    answer = next(preview.shown(found.base, {"values": {"bottleneck.rate": "9 Mbit/s"}}, lambda: False))
    assert answer["command"] == f"parshall rerun {folder / 'one'} --set 'bottleneck.rate=\"9 Mbit/s\"'"
    assert opened(str(folder)).base is None
    with pytest.raises(InputError, match="no scenario to explore"):
        results.base_of(folder, "store/first")


@pytest.mark.parametrize("place", ["nowhere.toml", "foreign"])
def test_what_cannot_be_explored_is_refused(place: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml|holds no result"):
        opened(str(folder / place))
