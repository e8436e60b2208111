"""Studies on real stacks, without a kernel: what is declared, and what is concluded of made-up answers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parshall
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.region import exactly
from parshall.foundations.errors import SimulationError
from parshall.instruments.emulation import Validity, kernel_name
from parshall.studies import study
from parshall.studies.study import Case, Emulated, emulated, replaced
from parshall_studies import mpi, stacks
from parshall_studies.itb import exchanges, programs, real, rtts, web
from parshall_studies.itb import files as bulk
from parshall_studies.itb.network import Measured as OfPlaces
from parshall_studies.itb.pair import PingPong
from parshall_studies.multiple_time_scale import real_stacks as mts
from parshall_studies.multiple_time_scale import side_by_side
from parshall_studies.multiple_time_scale.grid import Normalised as Normal
from parshall_studies.multiple_time_scale.measure import Measured as PlainRun
from parshall_studies.multiple_time_scale.network import Background
from parshall_studies.rio.setting import ROUTERS, SETTINGS
from parshall_studies.rio.setting import scenario as routed

VALID, INVALID = Validity("valid", []), Validity("invalid", ["packets were late; have fewer flows"])


def test_a_run_of_linux_is_held_against_one_more_simulated_run() -> None:
    """Of 9, 10, 11 one more run falls within 10 ± 4.97 (Hahn & Meeker, §4.8)."""
    linux = Emulated(None, VALID)
    checks = [
        stacks.beside_simulated("a", "q", linux, ours, [9.0, 10.0, 11.0], least=0.1) for ours in (14.9, 15.1, 5.1, 4.9)
    ]
    assert [check.outcome for check in checks] == ["compatible", "fails"] * 2
    assert {check.verdict for check in checks} == {"theory"}
    near = [stacks.beside_simulated("a", "q", linux, ours, [9.0, 10.0, 11.0], least=8.0) for ours in (12.9, 17.0)]
    assert [check.outcome for check in near] == ["holds", "compatible"]


def test_no_published_value_is_called_wrong_by_one_instrument() -> None:
    """Of 100 ± 5 the simulator has 101 or 120, and Linux 130 or 98."""

    def check(ours: float) -> Claim:
        return equal("fig", "q", 100.0, exactly(ours), within=Tolerance(5.0, "digits"), note="a note")

    both = {
        (linux, simulated): stacks.by_one_instrument([check(linux)], [check(simulated)])[0]
        for linux in (98.0, 130.0)
        for simulated in (101.0, 120.0)
    }
    verdicts = {key: each.outcome for key, each in both.items()}
    assert verdicts == {
        (98.0, 101.0): "holds",
        (98.0, 120.0): "undecided",
        (130.0, 101.0): "undecided",
        (130.0, 120.0): "fails",
    }
    assert both[130.0, 101.0].contested == "simulated: 101 (reproduced)"
    assert both[98.0, 120.0].contested == "simulated: 120 (not reproduced)"
    assert {each.published for each in both.values()} == {100.0}, "it stays a claim of the source"
    with pytest.raises(ValueError, match="of the same value"):
        stacks.by_one_instrument([check(98.0)], [replace(check(98.0), quantity="another")])


def test_an_invalid_emulation_is_done_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = iter(["invalid", "valid", "invalid", "invalid"])
    monkeypatch.setattr("parshall.instruments.emulation.emulate", lambda _: "run")
    monkeypatch.setattr("parshall.instruments.emulation.validity", lambda _: replace(VALID, level=next(levels)))
    case = emulated("one", routed(ROUTERS["table1"], SETTINGS["quick"]), str)
    assert [case.answer().validity.level for _ in range(2)] == ["valid", "invalid"]


def test_times_are_those_that_a_program_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run is invalid, and done once more; a client that leaves no times has failed."""
    levels, commands = iter(["invalid", "doubtful", "valid"]), []

    def run_programs(_: Any, client: list[str], *, server: list[str], download: bool) -> None:
        commands.append((client[0], server, download))
        if client[0] == "writes":
            Path(client[1]).write_text(f"[0.5, {len(commands)}]")

    monkeypatch.setattr(stacks, "run_programs", run_programs)
    monkeypatch.setattr(stacks, "validity", lambda _: replace(VALID, level=next(levels)))
    scenario = web.scenario(3)

    def answer(client: str) -> Emulated:
        return stacks.times_of_programs(
            scenario, lambda folder, times: ([client, str(times)], [str(folder.is_dir())]), "no times", download=True
        )

    found = answer("writes")
    assert (found.validity.level, found.answer.tolist()) == ("doubtful", [0.5, 2.0])
    assert commands == [("writes", ["True"], True)] * 2
    with pytest.raises(SimulationError, match="no times"):
        answer("fails")


def test_a_scenario_may_be_the_answer_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.instruments.emulation.emulate", lambda scenario: scenario)
    monkeypatch.setattr("parshall.instruments.emulation.validity", lambda _: VALID)
    before = Case("its scenario", routed, (ROUTERS["table2"], SETTINGS["quick"]))
    found: Emulated = emulated("two", before, study.replaced, str).answer()
    assert found.answer == replaced(routed(ROUTERS["table2"], SETTINGS["quick"]), str)


# --- Table 6 and the figures of the benchmark ---

TABLE6, FIGS5_AND_6, FIG7, FILES = real.ON_LINUX


@pytest.fixture
def all_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "missing", lambda *_: None)


@pytest.mark.usefixtures("all_controls")
def test_table_6_has_a_value_for_each_window_and_way() -> None:
    cases = TABLE6.cases("quick")
    assert sum(case.emulates for case in cases.values()) == 3

    def outcomes(tuned: float) -> dict[str, str]:
        mbps = {"default": 40.0, "tuned": 935.0, "tuned_back": 935.0}
        answers: dict[Any, Any] = {key: np.array([mbps[key[1]]]) for key in cases}
        for key in [key for key, case in cases.items() if case.emulates]:
            answers[key] = Emulated(np.array([tuned if key[1] == "tuned" else mbps[key[1]]]), VALID)
        checks = TABLE6.findings(answers, "quick").checks
        return {each.quantity: each.outcome for each in checks if each.artefact == "table6"}

    assert outcomes(935.0)["goodput with tuned buffers, Mbit/s"] == "compatible"
    assert outcomes(850.0)["goodput with tuned buffers, Mbit/s"] == "undecided"  # one run, and not the simulator's
    windows = [each.scenario.document()["flows"][0]["receive_window"] for each in TABLE6.measurements("quick").values()]
    assert windows == ["111700 B", "1750 packets", "1750 packets"]


@pytest.mark.usefixtures("all_controls")
@pytest.mark.parametrize("validity", [VALID, INVALID])
def test_figs_5_to_7_are_held_against_the_source_and_the_simulator(validity: Validity) -> None:
    """All as the source says; on Linux Reno has half, which is held against the simulator and not the source."""
    share = {11.0: 1.0, 20.0: 1.0, 100.0: 0.8, 200.0: 0.5}
    for on_linux, counts in ((FIGS5_AND_6, (real.TU, *rtts.COUNTS)), (FIG7, (rtts.FLOWS,))):
        answers: dict[Any, Any] = {}
        for key, case in on_linux.cases("quick").items():
            rtt_ms, names = key[1]
            values = {}
            for name in names:
                lost = 0.5 if case.emulates and name == "reno" else 1.0
                for count in counts:
                    unit = rtts.fair_bps(count) if on_linux is FIGS5_AND_6 else 1.0
                    values[rtts.place_name(name, count, rtt_ms)] = [np.full(count, lost * share[rtt_ms] * unit)]
            answers[key] = Emulated(OfPlaces(values), validity) if case.emulates else OfPlaces(values)
        checks = on_linux.findings(answers, "quick").checks
        # Flows of a place are alike here, so neither instrument has Fig. 6's fall of fairness.
        wrong = [each for each in checks if each.outcome == "fails" and each.artefact != "fig6"]
        if validity is INVALID:
            assert not checks
            continue
        assert {each.published for each in checks if each.basis == "published"}
        assert wrong
        assert {each.published for each in wrong} == {None}
        assert all("reno" in each.quantity for each in wrong)


@pytest.mark.usefixtures("all_controls")
def test_files_have_the_windows_and_times_of_the_source_over_fifty() -> None:
    measured = FILES.measurements("quick")
    (fig9,) = (each for (name, _), each in measured.items() if name == "fig9")
    groups = fig9.scenario.resolve()["flows"]
    # Hosts that send the other way have 0.7 Gbit/s in the source's network.
    assert {(each["access_bps"], each["access_packets"]) for each in groups} == {(20_000_000, 20), (14_000_000, 20)}
    assert [link["name"] for link in fig9.scenario.resolve()["links"]] == [
        "fig9-10-0",
        "fig9-10-8",
        "fig9-10-8-back",
        "fig9-10-15",
        "fig9-10-15-back",
    ]
    (fig3,) = (each for (name, _), each in measured.items() if name == "fig3")
    found = bulk.completions(parshall.run(fig3.scenario.with_values({"seed": 2})))
    alone_s = bulk.alone_s(real.slower("quick").fig3_gb)
    (together,) = found.values[bulk.TOGETHER]
    assert together.size == 17
    assert 1.3 * alone_s < together.mean() < 2.5 * alone_s


def test_messages_wait_for_their_replies() -> None:
    """Two exchanges over the loopback: all of each message comes back, and each takes a time of its own."""
    program = str(Path(programs.__file__))
    with subprocess.Popen([sys.executable, program, "reply", "127.0.0.1", "38411", "100000"]) as server:
        for _ in range(100):
            try:
                taken = programs.ask("127.0.0.1", 38411, 100_000, 2)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert server.wait(10) == 0
    assert len(taken) == 2
    assert all(0 < each < 5 for each in taken)


def test_what_is_emulated_of_the_benchmark_takes_less_than_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durations of what is declared at quick scale; exchanges and files as long as the network alone takes."""
    monkeypatch.setattr(stacks, "missing", lambda *_: None)
    scenarios = {
        repr(each.scenario.document()): each.scenario
        for part in real.ON_LINUX
        for each in part.measurements("quick").values()
    }
    lasting_s = sum(each.duration_s for each in scenarios.values() if not each.document().get("ends_with"))
    setting = real.slower("quick")
    levels = len(setting.batches) * sum(max(1.0, level) for level in setting.levels)
    files_s = bulk.alone_s(setting.bulk_gb) * (levels + 1.0) + 1.7 * bulk.alone_s(setting.fig3_gb)
    exchanges_s = exchanges.SLOWER * sum(each.work.count * each.least_s for each in exchanges.EXCHANGES.values())
    assert lasting_s + 1.4 * files_s + exchanges_s + 2 * 20.0 < 480


def exchange_answers(validity: Validity = VALID, factor: float = 1.0) -> dict[Any, Any]:
    """Each exchange takes what the network alone does, by a factor; 200 simulated ping-pongs take 5.8 s."""
    runs = [PingPong(np.linspace(0.029, 5.8, 200) * (1 + run / 1000), np.full(200, 9e8)) for run in range(3)]
    found: dict[Any, Any] = {"today": runs, "2006": runs}
    for name, each in exchanges.EXCHANGES.items():
        seconds = 5.8 / 200 + each.rtts * exchanges.RTT_S if each.is_ping_pong else each.least_s
        found[name] = Emulated(np.full(each.work.count, factor * seconds), validity)
    return found


def test_a_ping_pong_over_mpi_has_a_round_trip_for_each_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "missing", lambda: None)
    monkeypatch.setattr(exchanges, "control", lambda: "bic")
    assert set(exchanges.cases("quick")) == {"today", "2006", *exchanges.EXCHANGES}
    found = exchanges.findings(exchange_answers(), "quick")
    verdicts = [(each.artefact, each.published, each.outcome) for each in found.checks]
    assert verdicts == [
        ("fig4", 7.2, "fails"),  # neither has the source's slow start
        ("fig4-linux", None, "holds"),
        ("fig4", 5.0, "fails"),
        ("fig4-linux", None, "holds"),
        ("fig4", 7.2, "fails"),  # 10.4 s, as the simulator has it with the agreements
        ("pa", None, "holds"),
        ("pa", None, "holds"),
        ("pa", None, "reported"),
        ("pa", None, "reported"),
    ]
    slower = exchanges.findings(exchange_answers(factor=1.2), "quick").checks
    assert [each.outcome for each in slower if each.artefact == "pa"][:2] == ["fails"] * 2
    assert not exchanges.findings(exchange_answers(INVALID), "quick").checks


def test_without_mpi_the_page_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi.shutil, "which", lambda _: None)
    assert set(exchanges.cases("quick")) == {"today", "2006", exchanges.OWN}
    answers = {name: each for name, each in exchange_answers().items() if name in {"today", "2006", exchanges.OWN}}
    (section,) = exchanges.findings(answers, "quick").sections
    assert "left out, there is no mpirun here (Debian, Ubuntu: apt install openmpi-bin" in section.paragraphs[1]


@pytest.mark.needs("mpirun", "ip")
@pytest.mark.slow
@pytest.mark.parametrize("exchange", mpi.EXCHANGES)
def test_ranks_exchange_what_is_asked_for(exchange: str, tmp_path: Path) -> None:
    """Two ranks of this machine over its loopback; rank 0 leaves a time for each exchange."""
    times = tmp_path / "times.json"
    options = ["--allow-run-as-root", "--oversubscribe", "--timeout", "30", "-np", "2", "--mca", "btl", "tcp,self"]
    options += ["--mca", "btl_tcp_if_include", "lo"]
    rank = [sys.executable, str(Path(mpi.__file__)), "rank", str(times), exchange, "200000", "3"]
    subprocess.run(["mpirun", *options, *rank], check=True, timeout=60)
    taken = json.loads(times.read_text())
    assert len(taken) == 3
    assert all(0 < each < 10 for each in taken)


def test_files_come_over_http_with_the_sizes_of_the_benchmark(tmp_path: Path) -> None:
    """Three files by the web server that is there, over the loopback."""
    chosen = web.sizes(60)
    assert np.mean(chosen) == pytest.approx(50e3, rel=0.02)
    root = tmp_path / "files"
    root.mkdir()
    for number in range(3):
        (root / str(number)).write_bytes(bytes(chosen[number]))
    command = [each.format(server="127.0.0.1") for each in web.serving(tmp_path, root)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        for _ in range(100):
            try:
                taken = programs.fetch("127.0.0.1", web.PORT, 3)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        with pytest.raises(OSError, match="404"):
            programs.fetch("127.0.0.1", web.PORT, 4)
        server.terminate()
    assert len(taken) == 3


@pytest.mark.parametrize("validity", [VALID, INVALID])
def test_times_over_http_are_held_against_simulated_ones(validity: Validity) -> None:
    simulated = web.of_transfers(parshall.run(web.scenario(60)))
    # An empty path: 1.5 RTTs before the first packet, and at least what the line takes for the bytes.
    assert (simulated > 1.5 * web.RTT_S + 8 * np.array(web.sizes(60)) / 10e6).all()
    answers = {
        "simulated": simulated,
        "sent": Emulated(1.01 * simulated, validity),
        "http": Emulated(1.2 * simulated, validity),
    }
    found = web.findings(answers, "quick")
    expected = ["holds", "fails"] if validity is VALID else []
    assert [each.outcome for each in found.checks] == expected
    assert web.server() in found.sections[0].paragraphs[0]


# --- the plain connections of multiple time scale TCP ---


def a_load(place: side_by_side.Place) -> side_by_side.Loaded:
    normal = Normal(Background(1.05, 60.0, 17, place.network), plain_run(5.0), 5.0)
    return side_by_side.Loaded(place, normal)


def plain_run(mbps: float) -> PlainRun:
    return PlainRun(mbps, (mbps,), 5.0, None, 0.01, 4.0)


def test_real_connections_meet_simulated_clients() -> None:
    loads = [a_load(place) for place in mts.PLAIN.values()]
    made = side_by_side.scenario(loads, [each.place.control for each in loads], 66.0, {side_by_side.HOST: True})
    assert {group.name.split("-")[0]: group.endpoint for group in made.flows} == {
        "measured": "kernel",
        "clients": "simulated",
    }
    given = [group for group in made.document()["flows"] if group["name"].startswith("measured")]
    for group, place in zip(given, mts.PLAIN.values(), strict=True):
        limited = place.network.window is not None
        assert (group["congestion_control"]["name"], group["rtt"]) == (place.control, f"{place.rtt_ms} ms")
        assert group["receive_window"] == ("32 packets" if limited else "unlimited")
        # With the buffer that follows from the window limit, a socket has 22 of the 32 packets.
        assert group.get("kernel", {}).get("receive_buffer") == (side_by_side.RECEIVE_BUFFER if limited else None)
        assert not {"recovery", "delayed_ack", "min_rto", "initial_window"} & group.keys()
        # What could overflow its access link has one: that of ns-2.
        assert [link.rpartition("-")[0] for link in group["path"]] == (
            ["bottleneck"] if limited else ["access", "bottleneck"]
        )
        queues = {link["name"]: link["queue"]["limit"] for link in made.document()["links"]}
        assert queues[f"bottleneck-{place.number}"] == f"{place.network.buffer} packets"


def test_what_could_overflow_its_access_link_is_measured_at_the_bottleneck() -> None:
    """An access link beside the bottleneck: a network is still one of its own, and read as one."""
    loads = [a_load(place) for place in mts.PLAIN.values() if place.network.window is None][:2]
    both = side_by_side.simulated(loads, ["reno"] * 2, 20.0, stacks.PROFILE)
    assert side_by_side.simulated(loads[1:], ["reno"], 20.0, stacks.PROFILE) == both[1:]
    assert all(0 < each.goodput_mbps < 10 and each.background_mbps > 0 for each in both)
    assert side_by_side.of_run(parshall.run(side_by_side.scenario(loads, ["reno"] * 2, 20.0, stacks.PROFILE))) == both


def test_linux_is_held_against_the_same_background() -> None:
    count = len(mts.PLAIN)
    answers: dict[Any, Any] = {
        key: [plain_run(1.99 + 0.002 * mts.STARTS.index(key))] * count
        if key in mts.STARTS
        else [plain_run(9.0)] * count
        for key in mts.plain_cases("quick")
    }
    answers[mts.LINUX] = Emulated([plain_run(2.0)] * count, VALID)
    assert [each.outcome for each in mts.plain_findings(answers, "quick").checks] == ["holds"] * 12
    answers[mts.LINUX] = Emulated([*[plain_run(2.0)] * 11, plain_run(3.0)], VALID)
    told = mts.plain_findings(answers, "quick").checks
    assert [each.outcome for each in told] == ["holds"] * 11 + ["fails"]
    assert list(mts.NETWORKS)[-1] in told[-1].quantity
    answers[mts.LINUX] = Emulated([plain_run(2.0)] * count, INVALID)
    assert not mts.plain_findings(answers, "quick").checks


# --- its steered connections ---


def in_network(number: int, rtt_ms: int = 30) -> side_by_side.Loaded:
    return a_load(side_by_side.Place(number, "reno", rtt_ms))


def test_networks_side_by_side_share_nothing() -> None:
    both = side_by_side.simulated([in_network(3), in_network(13, 200)], ["reno"] * 2, 20.0, stacks.PROFILE)
    alone = side_by_side.simulated([in_network(13, 200)], ["reno"], 20.0, stacks.PROFILE)
    assert both[1] == alone[0]
    assert both[0] != both[1]
    again = side_by_side.simulated([in_network(4)], ["reno"], 20.0, stacks.PROFILE)
    assert again[0] != both[0], "clients of another number have other random numbers"
    numbers = [place.number for each in range(mts.BATCHES) for place in mts.batch(each)]
    assert len(set(numbers)) == len(numbers) == len(mts.SETTINGS) * mts.TOGETHER * mts.BATCHES


def test_only_measured_connections_are_real() -> None:
    made = side_by_side.scenario([in_network(3)], [mts.HOW["steered"]], 20.0, {side_by_side.HOST: True})
    assert {group.name: group.endpoint for group in made.flows} == {"measured-3": "kernel", "clients-3": "simulated"}
    given = made.document()["flows"][0]
    assert given["kernel"] == {"receive_buffer": side_by_side.RECEIVE_BUFFER}
    assert not {"recovery", "delayed_ack", "min_rto", "initial_window"} & given.keys()
    assert given["congestion_control"]["name"] == "multiple_time_scale"


def steered_answers(
    gains: dict[mts.Setting, float],
    validity: Validity = VALID,
    *,
    simulated: dict[mts.Setting, float] | None = None,
) -> dict[Any, Any]:
    """Simulations and Linux gain what is said, else 10 %; networks differ by up to 2 %."""
    found: dict[Any, Any] = {}
    spread = np.linspace(0.99, 1.01, mts.TOGETHER * mts.BATCHES)
    for how in mts.HOW:
        for batch in range(mts.BATCHES):
            for where in (mts.NS2, mts.AS_LINUX, mts.LINUX):
                gained, plain = (gains, 3.0) if where == mts.LINUX else (simulated or {}, 4.0)
                runs = [
                    plain_run(plain * ((1 + gained.get(one, 0.1)) * each if how == "steered" else 1.0))
                    for one in mts.SETTINGS
                    for each in spread[mts.TOGETHER * batch :][: mts.TOGETHER]
                ]
                found[how, where, batch] = Emulated(runs, validity) if where == mts.LINUX else runs
    return found


@pytest.fixture
def with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "missing", lambda *_: None)


@pytest.mark.usefixtures("with_the_program")
def test_gains_on_linux_have_the_signs_of_the_source_or_not() -> None:
    published = {mts.SHORT: 0.3, mts.MIDDLE: 0.4, mts.LONG: 0.6, mts.LIGHT: 0.1}
    fewer = {mts.SHORT: 0.2, mts.MIDDLE: 0.25, mts.LONG: 0.3, mts.LIGHT: 0.07}
    found = mts.steered_findings(steered_answers(published, simulated=fewer), "quick")
    claims = [check for check in found.checks if check.published is not None]
    assert [(check.artefact, check.outcome) for check in claims] == [
        ("fig9", "holds"),
        ("fig9", "holds"),
        ("fig10", "holds"),
    ]
    beside = {check.quantity: check.outcome for check in found.checks if check.published is None}
    assert beside[f"gain of Reno on Linux, {mts.LONG.label}"] == "fails"
    assert beside[f"gain of Reno on Linux, {mts.LIGHT.label}"] == "holds"
    assert len(found.sections[0].tables[0].rows) == len(mts.SETTINGS)
    opposite = {mts.SHORT: -0.3, mts.MIDDLE: -0.4, mts.LONG: -0.6}
    other = mts.steered_findings(steered_answers(opposite, simulated=opposite), "quick")
    assert {check.outcome for check in other.checks if check.published is not None} == {"fails"}
    # What Linux alone does not do is not held against the source.
    alone = mts.steered_findings(steered_answers(opposite, simulated=published), "quick").checks
    assert [(check.artefact, check.published, check.outcome) for check in alone[:3]] == [
        ("fig9", 1.0, "undecided"),
        ("fig9", 1.0, "undecided"),
        ("fig10", 1.0, "undecided"),
    ]
    assert all(check.contested.endswith("(reproduced)") for check in alone[:3])


def test_without_bpf_no_connection_is_steered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "missing", lambda *_: "this kernel has no multiple_time_scale")
    assert mts.steered_cases("quick") == {}
    (section,) = mts.steered_findings({}, "quick").sections
    assert section.paragraphs == ("Left out, since this kernel has no multiple_time_scale.",)


@pytest.mark.usefixtures("with_the_program")
def test_no_gain_is_concluded_from_what_is_invalid() -> None:
    found = mts.steered_findings(steered_answers({}, INVALID), "quick")
    assert not found.checks
    assert sum("nothing is concluded from it" in words for words in found.sections[0].paragraphs) == 4


@pytest.mark.usefixtures("with_the_program")
def test_gains_are_headed_by_the_least_believable_run() -> None:
    """Of four runs the first is doubtful, and the last one invalid."""
    answers = steered_answers({})
    for name, batch, level in (("plain", 0, "doubtful"), ("steered", 1, "invalid")):
        linux: Emulated = answers[name, mts.LINUX, batch]
        answers[name, mts.LINUX, batch] = replace(linux, validity=replace(VALID, level=level))
    (table,) = mts.steered_findings(answers, "quick").sections[0].tables
    assert table.header[4] == f"{kernel_name()}, invalid"


@pytest.mark.usefixtures("with_the_program")
def test_all_that_is_emulated_takes_less_than_ten_minutes() -> None:
    cases = (*mts.plain_cases("quick").values(), *mts.steered_cases("quick").values())
    assert sum(case.emulates for case in cases) == 1 + 4
    assert 5 * mts.DURATION_S["quick"] < 540
