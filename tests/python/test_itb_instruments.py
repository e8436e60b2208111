"""The benchmark simulated and on Linux: what hosts are told, and what is said of two results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import Result as Finished

from parshall.foundations.errors import InputError
from parshall.instruments.emulation import Abilities
from parshall.scenario import Scenario
from parshall_studies.benchmark import applications
from parshall_studies.benchmark.benchmark import CaseResult, Entry, Result, plan
from parshall_studies.benchmark.building import Case, case
from parshall_studies.benchmark.classes import classes
from parshall_studies.benchmark.estimate import estimate, real_time
from parshall_studies.benchmark.instruments import beside, check_hosts, on_hosts, orders, section
from parshall_studies.benchmark.over_mpi import PAIR, START_S, OverMpi, document
from parshall_studies.benchmark.over_mpi import section as over_mpi_section
from parshall_studies.benchmark.scale import SCALES

Cli = Callable[..., Finished]
ABLE = Abilities(
    administrator=True,
    user_namespaces=True,
    tun_problem=None,
    congestion_controls=["reno", "cubic"],
    bpf_controls=["bic"],
    real_time_priority=1,
    open_files=None,
    may_begin=True,
)


def made(application: str, letter: str, *changes: str, linux: bool = True) -> Case:
    built = case(applications.find(application)[0], classes(letter)[0], SCALES["quick"], changes)
    return replace(built, linux=linux)


@pytest.mark.parametrize("application", [each.name for each in applications.APPLICATIONS])
def test_hosts_of_linux_are_told_what_the_factors_say(application: str) -> None:
    built = made(application, "F", "tcp_no_metrics_save=0", "socket_buffer=128kB", "tcp_slow_start_after_idle=0")
    groups = built.flows("cubic", None)
    for group in groups:
        sysctls = group["kernel"]["sysctls"]
        assert group["tcp"] == "linux"
        assert group["ssthresh_cached"] == "linux"
        assert group["receive_window"] == "128000 B"
        # Linux keeps no ssthresh unless both are off.
        assert sysctls["net.ipv4.tcp_no_metrics_save"] == sysctls["net.ipv4.tcp_no_ssthresh_metrics_save"] == 0
        assert sysctls["net.ipv4.tcp_slow_start_after_idle"] == 0
    assert built.odd[-3:] == ["socket_buffer = 128000 B", "tcp_no_metrics_save = 0", "tcp_slow_start_after_idle = 0"]
    built.scenario("cubic")


def test_cubic_of_linux_can_be_without_hystart_and_other_controls_have_none() -> None:
    built = made("TU", "B", "hystart=0")
    assert built.flows("cubic", None)[0]["congestion_control"] == {"name": "cubic_linux", "hystart": False}
    assert built.flows("reno", None)[0]["congestion_control"] == "reno"
    assert built.odd[-1] == "hystart = 0"
    (group,) = {group.congestion_control.name for group in built.scenario("cubic").flows}
    assert group == "cubic_linux"
    assert made("TU", "B").flows("cubic", None)[0]["congestion_control"] == "cubic"
    check_hosts([built], simulated=True)
    with pytest.raises(
        InputError, match=r"--factor hystart: .*standard slow start; accepted: with --instrument emulate"
    ):
        check_hosts([replace(built, linux=False)], simulated=True)


def test_the_benchmarks_own_tcp_is_as_it_was() -> None:
    group = made("BU", "F", linux=False).flows("reno", None)[0]
    assert group["delayed_ack"] is True
    assert group["tcp"] == "rfc"
    assert not {"kernel", "ssthresh_cached"} & group.keys()


def test_emulations_and_simulations_are_sweeps_of_their_own() -> None:
    plans = [
        plan(made("TU", "B", linux=linux), [Entry("reno")], kind)
        for linux, kind in ((False, "simulate"), (True, "simulate"), (True, "emulate"))
    ]
    assert len({each.name for each in plans}) == 3
    assert [each.instrument for each in plans] == ["simulate", "simulate", "emulate"]


def test_real_time_is_what_an_emulation_takes() -> None:
    cases = [made("BU", "B")]
    expected = real_time(cases, ["reno"])
    assert expected.runs == estimate(cases, ["reno"], 1).runs == 9
    # Each run sends for some 6 s; 3 s are what starting takes at most.
    assert 9 * cases[0].ideal_s < expected.seconds < 9 * (1.25 * cases[0].ideal_s + 3)
    assert real_time(cases, ["reno"], 2).seconds == expected.seconds / 2


def test_controls_that_a_kernel_lacks_are_left_out() -> None:
    assert on_hosts(["bbr3", "reno", "bic"], ABLE.controls) == (["reno", "bic"], ["bbr3"])
    with pytest.raises(InputError, match='--cc: found "bbr3"; this kernel has "bic", "cubic", "reno"'):
        on_hosts(["bbr3"], ABLE.controls)


# --- two results ---


def told(times: dict[str, Sequence[float]], instrument: str) -> Result:
    rows = [(control, n, value) for control, values in times.items() for n, value in enumerate(values)]
    schema = {"control": pl.String, "repetition": pl.Int64, "completion_s": pl.Float64}
    alone = pl.DataFrame(rows, schema=schema, orient="row").with_columns(finished=pl.lit(1.0))
    found = CaseResult(made("TU", "B"), alone, pl.DataFrame(), pl.DataFrame(), {})
    return Result(tuple(times), (found,), "quick", 3, instrument=instrument)  # type: ignore[arg-type]


SIMULATED = told({"reno": [1.0, 1.1, 1.2], "cubic": [2.0, 2.12, 2.2], "bic": [3.0, 3.11, 3.25]}, "simulate")
EMULATED = told({"reno": [1.0, 1.11, 1.2], "cubic": [0.5, 0.61, 0.72], "bic": [3.3, 3.42, 3.55]}, "emulate")


def test_both_instruments_are_compared_repetition_by_repetition() -> None:
    found = {each.control: each for each in beside(SIMULATED, EMULATED)}
    assert {control: each.verdict for control, each in found.items()} == {
        "reno": "no difference shown",
        "cubic": "lower",
        "bic": "higher",
    }
    ratio = found["bic"].ratio
    assert ratio is not None
    assert ratio.mean == pytest.approx(1.097, abs=0.002)


def test_orders_of_controls_are_counted() -> None:
    """Only Reno and CUBIC change places; the times of the repetitions rise alike, so each pair is told apart."""
    found = orders(SIMULATED, EMULATED)
    assert (found.same, found.opposite, found.one, found.neither) == (2, 1, 0, 0)
    shown = section(SIMULATED, EMULATED, "Linux 1")
    assert "2 apart in the same order and 1 in the opposite one" in shown.paragraphs[1]
    assert [row[-1] for row in shown.tables[0].rows] == ["no difference shown", "lower", "higher"]


# --- over MPI ---


@pytest.mark.parametrize("letter", ["B", "F", "H"])
def test_ranks_take_the_place_of_the_pair_and_of_nobody_else(letter: str) -> None:
    case = made("PA", letter)
    names = {group["name"] for group in case.flows("cubic", None)}
    given = Scenario.from_document(document(case, "cubic"))
    assert {group.name for group in given.flows} == names - {"back-a0"}
    pair = next(group for group in given.flows if group.name == PAIR)
    assert (pair.count, pair.workload.name, pair.congestion_control.name) == (1, "bulk", "cubic")
    assert given.duration.seconds > START_S + case.duration_s
    assert given.ends_with is None
    assert (pair.path, pair.reverse_path) == (["forth"], ["replies", "back"])
    assert {tuple(group.path or ()) for group in given.flows} <= {("forth",), ("back",)}


def test_pairs_over_mpi_stand_beside_the_benchmarks_own() -> None:
    emulated = replace(EMULATED, cases=(replace(EMULATED.cases[0], case=made("PA", "B")),))
    found = [OverMpi("PA-B", "reno", (0.25, 0.5), "valid")]
    (table,) = over_mpi_section(found, emulated).tables
    assert table.rows == [("PA-B", "`reno`", "2", "0.75", "1.1", "valid")]


# --- the command ---


def test_without_a_library_of_mpi_that_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.instruments.emulation.abilities", lambda: ABLE)
    monkeypatch.setattr("parshall_studies.verbs.benchmark._each", lambda *_, **__: [replace(EMULATED, cases=())])
    monkeypatch.setattr("parshall_studies.benchmark.mpi.missing", lambda: "there is no mpirun here")
    done = cli("itb", "--instrument", "emulate", "--cc", "reno", "--app", "PA", "--class", "B", "--quiet")
    assert done.exit_code == 0
    assert "PA over MPI is left out: there is no mpirun here" in done.stderr
    other = cli("itb", "--instrument", "emulate", "--cc", "reno", "--app", "TU", "--class", "B", "--quiet")
    assert "MPI" not in other.stderr


def test_what_it_takes_is_said_before_it_begins(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.instruments.emulation.abilities", lambda: ABLE)
    done = cli("itb", "--instrument", "both", "--cc", "reno,bbr3", "--app", "TU", "--class", "B", "--estimate")
    assert done.exit_code == 0
    assert "Left out, as this kernel cannot have them: bbr3" in done.stderr
    assert "in real time, one after another: 12 runs" in done.stderr
    more = ("--cc", "reno", "--app", "TU", "--class", "B", "--estimate", "--at-once", "--workers", "3")
    assert "in real time, 3 at once: 12 runs" in cli("itb", "--instrument", "emulate", *more).stderr


def test_a_machine_that_cannot_emulate_simulates_and_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "parshall.instruments.emulation.abilities", lambda: replace(ABLE, may_begin=False, tun_problem="no TUN")
    )
    arguments = ("--cc", "reno", "--app", "TU", "--class", "B", "--estimate")
    refused = cli("itb", "--instrument", "emulate", *arguments)
    assert refused.exit_code == 2
    assert "this machine cannot emulate: no TUN" in refused.stderr
    done = cli("itb", "--instrument", "both", *arguments)
    assert done.exit_code == 0
    assert "Emulations are left out" in done.stderr
    assert "real time" not in done.stderr
