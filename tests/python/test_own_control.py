"""Congestion controls of one's own: in which languages, what they are told, and what happens when they fail."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from needs import need

import parshall as ps
from parshall.foundations.errors import ControlError, InputError, OutputExistsError
from parshall.scenario.controls import declare, read
from parshall.scenario.schema import external
from parshall.scenario.templates import write_control

PARSHALL = [sys.executable, "-m", "parshall"]
COMPILERS = {"c": "cc", "rust": "cargo"}


@pytest.fixture(autouse=True)
def _nothing_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})


def document(control: Any, **changes: Any) -> dict[str, Any]:
    """Two flows that lose packets, time out, and pause."""
    return {
        "duration": "20 s",
        "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [
            {"count": 2, "rtt": "60 ms", "congestion_control": control},
            {
                "rtt": "40 ms",
                "congestion_control": control,
                "workload": {
                    "name": "on_off",
                    "size": {"name": "pareto", "mean": "100 kB", "tail_index": 1.5},
                    "off": {"name": "exponential", "mean": "0.5 s"},
                },
            },
        ],
        **changes,
    }


class Told:
    """Messages of controls, from the processes in which they are."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "told"

    def append(self, told: tuple[Any, ...]) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps(told) + "\n")

    def taken(self) -> list[tuple[Any, ...]]:
        """All of it, once."""
        lines = self.file.read_text().splitlines()
        self.file.unlink()
        return [tuple(json.loads(line)) for line in lines]


def built(language: str, folder: Path) -> str:
    """The place of the template's code in a language."""
    if language in COMPILERS:
        need(COMPILERS[language])
    write_control("mine", language, folder)
    if language == "c":
        return compiled(folder / "mine.c")
    if language == "rust":
        subprocess.run(["cargo", "build", "--release", "--offline", "--quiet"], cwd=folder / "mine", check=True)
        return str(next((folder / "mine/target/release").glob("libmine.*[os]*")))
    return f"{folder / 'mine.py'}:Mine"


def compiled(source: Path) -> str:
    library = source.with_name("libmine.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, source, "-lm"], check=True)
    return str(library)


def frame(run: Any, name: str) -> pl.DataFrame:
    found: pl.DataFrame = getattr(run, name)
    return found.drop("congestion_control", strict=False)


@pytest.mark.parametrize("language", ["python", "c", "rust"])
def test_each_template_does_to_the_bit_what_reno_does(language: str, tmp_path: Path) -> None:
    declare({"mine": built(language, tmp_path)})
    for tcp in ({}, {"recovery": "newreno"}, {"recovery": "rack"}):
        runs = []
        for control in ("mine", "reno"):
            given = document(control)
            given["flows"] = [{**group, **tcp} for group in given["flows"]]
            runs.append(ps.run(given))
        mine, reno = runs
        assert frame(mine, "flows")["retransmissions"].sum() > 0
        for table in ("flows", "links", "flow_samples", "transfers"):
            assert frame(mine, table).equals(frame(reno, table)), (tcp, table)


def late(folder: Path, control: Any, rules: str = "linux") -> dict[str, Any]:
    """A link that delivers a packet a millisecond for three seconds, and then none for two, while timers expire."""
    (folder / "stalls").write_text("".join(f"{ms}\n" for ms in [*range(3000), 5000]))
    flow = {"rtt": "60 ms", "congestion_control": control, "receive_window": "100 packets"}
    return {
        "duration": "20 s",
        "bottleneck": {"rate_trace": str(folder / "stalls"), "queue": {"name": "drop_tail", "limit": "200 packets"}},
        "flows": [{**flow, "recovery": "rack", "rules": rules}],
    }


@pytest.mark.parametrize("language", ["python", "c", "rust"])
def test_each_template_undoes_a_needless_reduction_as_reno_does(language: str, tmp_path: Path) -> None:
    declare({"mine": built(language, tmp_path)})
    mine, reno = (ps.run(late(tmp_path, control)) for control in ("mine", "reno"))
    assert reno.flows["timeouts"][0] > 0
    for table in ("flows", "links", "flow_samples"):
        assert frame(mine, table).equals(frame(reno, table)), table


def test_what_is_undone_is_what_was_reduced(tmp_path: Path) -> None:
    told = Told(tmp_path)

    class Stays(Mine):
        def on_timeout(self, event: Any) -> None:
            told.append(("reduced", event.now_s, self.cwnd))
            super().on_timeout(event)

    class Undoes(Stays):
        def on_undo(self, cwnd: float, ssthresh: float) -> None:
            told.append(("undone", ssthresh, cwnd))
            self.cwnd = cwnd

    runs = [ps.run(late(tmp_path, "mine"), controls={"mine": Stays})]
    assert {what for what, _, _ in told.taken()} == {"reduced"}
    runs.append(ps.run(late(tmp_path, "mine"), controls={"mine": Undoes}))
    undone = [(before, after) for before, after in itertools.pairwise(told.taken()) if after[0] == "undone"]
    assert undone
    assert all(before[2] == after[2] for before, after in undone)
    assert all(after[1] == float("inf") for _, after in undone), "it has no ssthresh"
    few, many = (run.flows["goodput_bps"][0] for run in runs)
    assert many > 1.02 * few
    ps.run(late(tmp_path, "mine", "rfc"))
    assert {what for what, _, _ in told.taken()} == {"reduced"}, "the RFCs undo nothing"

    class Paced(Undoes):
        needs = ("pacing",)
        pacing_rate = 1000.0

    ps.run(late(tmp_path, steered("paced", coupling="level", shift=50.0)), controls={"paced": Paced})
    assert {what for what, _, _ in told.taken()} == {"reduced", "undone"}, "the one that is steered, too"


def test_one_way_delays_are_heard_by_who_needs_them(tmp_path: Path) -> None:
    heard = Told(tmp_path)

    class Deaf(Mine):
        def on_ack(self, ack: Any) -> None:
            super().on_ack(ack)
            heard.append((ack.one_way_delay_s, ack.rtt_s))

    class Hears(Deaf):
        needs = ("one_way_delay",)

    def delays(control: type, **changes: Any) -> list[tuple[Any, ...]]:
        given = document("mine", processing_time="0 s", duration="3 s", **changes)
        given["flows"] = [{"rtt": "60 ms", "congestion_control": "mine"}]
        given["bottleneck"] |= changes.get("bottleneck", {})
        ps.run(given, tmp_path / str(len(list(tmp_path.iterdir()))), controls={"mine": control})
        return heard.taken()

    assert {delay for delay, _ in delays(Deaf)} == {None}
    free = delays(Hears)
    assert all(rtt - delay == pytest.approx(0.03) for delay, rtt in free if delay is not None), "half is the way back"
    narrow = {"reverse": {"rate": "100 kbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}}}
    contended = delays(Hears, bottleneck={**document("mine")["bottleneck"], **narrow})
    one_way, rtts = zip(*contended, strict=True)
    # 20 packets of 1500 bytes at 10 Mbit/s take 24 ms; what queues on the way back is not in it.
    assert 0.03 < min(one_way) <= max(one_way) < 0.03 + 0.024 + 0.002
    assert max(rtts) > 0.12
    captured = delays(Hears, bottleneck={**document("mine")["bottleneck"], **narrow}, probes={"pcap": ["bottleneck"]})
    assert captured == contended


def test_one_way_delays_take_timestamps() -> None:
    class Hears(Mine):
        needs = ("one_way_delay",)

    given = document("mine")
    given["flows"] = [{**group, "timestamps": False} for group in given["flows"]]
    declare({"mine": Hears})
    with pytest.raises(ps.ScenarioError, match=r"timestamps: found false, but mine measures delays with every ACK"):
        ps.Scenario.from_document(given).resolve()


def steered(control: Any, **parameters: Any) -> dict[str, Any]:
    return {"name": "multiple_time_scale", "control": control, "interval": "1 s", **parameters}


@pytest.mark.parametrize("language", ["python", "c", "rust"])
def test_each_template_is_steered_to_the_bit_as_reno_is(language: str, tmp_path: Path) -> None:
    declare({"mine": built(language, tmp_path)})
    many_losses = {"loss": {"name": "bernoulli", "probability": 0.03}}  # and so timeouts, where slow start is steered

    def run(control: Any) -> ps.Run:
        given = document(control)
        given["bottleneck"] |= many_losses
        return ps.run(given)

    plain = run("reno")
    for coupling in ("congestion_avoidance", "slow_start", "both"):
        mine, reno = (run(steered(control, coupling=coupling)) for control in ("mine", "reno"))
        assert not frame(reno, "flows").equals(frame(plain, "flows")), "there is something to steer"
        for table in ("flows", "links", "flow_samples", "transfers"):
            assert frame(mine, table).equals(frame(reno, table)), (coupling, table)


def test_a_steered_control_has_its_parameters_and_inner_variables_and_is_recorded(tmp_path: Path) -> None:
    class Steerable(Mine):
        slope = 1.0

        def set_slope(self, slope: float) -> None:
            self.slope = slope

        def variables(self) -> dict[str, float]:
            return {"steepness": self.slope, "gain": self.gain}

    given = document(steered({"name": "mine", "gain": 0.5}), probes={"internals": True})
    ps.run(given, tmp_path / "r", controls={"mine": Steerable})
    external._declared.clear()
    kept = ps.Run.load(tmp_path / "r")
    assert [each["name"] for each in kept.metadata["controls"]] == ["mine"]
    recorded = kept.table("internals")
    assert recorded is not None
    values = {
        name: set(recorded.filter(pl.col("variable") == name)["value"]) for name in ("steepness", "gain", "slope")
    }
    assert values["gain"] == {0.5}
    assert values["steepness"] == values["slope"] > {1.0}
    with pytest.raises(ps.ScenarioError, match=r"nothing|--control mine=FILE.py:CLASS"):
        ps.run(given)


def test_a_control_without_what_steers_it_is_refused() -> None:
    class Slope(Mine):
        def set_slope(self, slope: float) -> None: ...

    declare({"mine": Mine, "slope": Slope})
    assert ps.Scenario.from_document(document(steered("slope"))).resolve()
    for control, coupling, lacks in (("mine", "both", "set_slope"), ("slope", "both", "set_ssthresh")):
        with pytest.raises(ps.ScenarioError) as caught:
            ps.Scenario.from_document(document(steered(control, coupling=coupling))).resolve()
        said = str(caught.value)
        where = "flows.0.congestion_control.control"
        assert f"{where}: found {control}; write a control with {lacks}, by which the coupling" in said
        assert f"{control} has none" in said
    with pytest.raises(ps.ScenarioError, match=r'found "yours".*--control yours=FILE.py:CLASS'):
        ps.Scenario.from_document(document(steered("yours")))


def test_a_fault_in_a_steered_control_ends_the_run() -> None:
    class Fails(Mine):
        def set_slope(self, slope: float) -> None:
            self.cwnd = -slope

    with pytest.raises(
        ControlError, match=r"control fails, flow \d of group flows\d, \d+\.\d+ s: its window \(cwnd\) is -"
    ):
        ps.run(document(steered("fails")), controls={"fails": Fails})


class Mine:
    """Reno without slow start after the first loss, and with an inner variable."""

    def __init__(self, start: Any, gain: float = 1.0) -> None:
        self.cwnd = start.cwnd
        self.gain = gain
        self.acks = 0

    def on_ack(self, ack: Any) -> None:
        self.acks += 1
        if ack.may_grow:
            self.cwnd += self.gain * ack.credit / self.cwnd

    def on_loss(self, event: Any) -> None:
        self.cwnd = max(2.0, event.in_flight / 2)

    def on_timeout(self, event: Any) -> None:  # noqa: ARG002 - the contract's
        self.cwnd = 1.0

    def variables(self) -> dict[str, float]:
        return {"acks": float(self.acks)}


class NotANumber(Mine):
    def on_timeout(self, event: Any) -> None:  # noqa: ARG002
        self.cwnd = float("nan")

    def on_loss(self, event: Any) -> None:
        self.on_timeout(event)


class Raises(Mine):
    def on_loss(self, event: Any) -> None:
        raise KeyError(event.signal)


class Negative(Mine):
    def on_loss(self, event: Any) -> None:  # noqa: ARG002
        self.cwnd = -3


class Words(Mine):
    def on_loss(self, event: Any) -> None:  # noqa: ARG002
        self.cwnd = "wide"


class Forgets(Mine):
    def __init__(self, start: Any) -> None:
        pass


class SlowPace(Mine):
    pacing_rate = 0.0


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (NotANumber, r"flow \d+ of group flows\d, \d+\.\d+ s: its window \(cwnd\) is NaN; it must be a number"),
        (Raises, r"KeyError: 'loss' \(test_own_control.py, line \d+\)"),
        (Negative, r"its window \(cwnd\) is -3"),
        (Words, "cwnd is wide; it must be a number"),
        (Forgets, r"flow 0 of group flows0, 0.000000 s: AttributeError: .* 'cwnd'"),
        (SlowPace, "its pacing_rate is 0; it must be a number of packets/s"),
    ],
)
def test_a_fault_ends_the_run_with_flow_time_and_value(control: type, said: str) -> None:
    with pytest.raises(ControlError, match=said):
        ps.run(document("broken"), controls={"broken": control})


class FailsInTheSecondRepetition(Mine):
    begun = 0

    def __init__(self, start: Any) -> None:
        type(self).begun += start.now_s == 0.0  # twice a flow: for the flow, and for its connection
        if type(self).begun > 2:
            raise ValueError("enough")
        super().__init__(start)


def test_what_was_finished_before_a_fault_can_be_read(tmp_path: Path) -> None:
    given = document("mine", repetitions=3)
    given["flows"] = [{**given["flows"][0], "count": 1}]
    with pytest.raises(ControlError, match=r"repetition 1, control mine, flow 0 .*: ValueError: enough"):
        ps.run(given, tmp_path / "r", workers=1, controls={"mine": FailsInTheSecondRepetition})
    kept = ps.Run.load(tmp_path / "r")
    assert (kept.status, kept.repetitions) == ("interrupted", [0])


def test_parameters_reach_the_class_and_unknown_ones_are_its_error() -> None:
    run = ps.run(document({"name": "mine", "gain": 0.5}), controls={"mine": Mine})
    assert not run.flows.equals(ps.run(document("mine")).flows)
    with pytest.raises(ControlError, match="unexpected keyword argument 'gian'"):
        ps.run(document({"name": "mine", "gian": 0.5}))
    with pytest.raises(ps.ScenarioError, match=r"gain: found \[1\]; accepted: a number, text, true or false"):
        ps.run(document({"name": "mine", "gain": [1]}))


def test_inner_variables_are_recorded() -> None:
    run = ps.run(document("mine", probes={"internals": True}), controls={"mine": Mine})
    recorded = run.table("internals")
    assert recorded is not None
    assert max(recorded.filter(pl.col("variable") == "acks")["value"].to_list()) > 1000


def test_a_scenario_alone_names_no_code() -> None:
    with pytest.raises(ps.ScenarioError, match=r'found "mine".*--control mine=FILE.py:CLASS'):
        ps.Scenario.from_document(document("mine"))


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("reno", Mine, "name of one of the catalog"),
        ("my control", Mine, "accepted: a name of letters"),
        ("mine", type("Lacks", (), {"on_ack": print}), "lacks on_loss, on_timeout"),
        ("mine", type("Asks", (Mine,), {"needs": ("wings",)}), "needs 'wings'; accepted: rate_samples"),
        ("mine", "nowhere.py:Mine", "nowhere.py: No such file"),
        ("mine", "mine.py", "accepted: FILE.py:CLASS"),
        ("mine", "nowhere.so", "No such file"),
    ],
)
def test_what_can_be_no_control_is_refused(name: str, code: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(name, code)


def test_a_file_that_fails_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0")
    with pytest.raises(InputError, match=r"mine.py cannot be run: ZeroDivisionError"):
        declare([f"mine={tmp_path / 'mine.py'}:Mine"])
    (tmp_path / "mine.py").write_text("Yours = 1")
    with pytest.raises(InputError, match="has no class Mine"):
        declare([f"mine={tmp_path / 'mine.py'}:Mine"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            (".abi = PARSHALL_CONTROL_ABI,", ".abi = 99,"),
            "speaks version 99 of the interface, versions 1 to 4 are known",
        ),
        (("        .on_ack = on_ack,\n", ""), "has no on_ack in its table"),
        (("*parshall_control(void)", "*other(void)"), r"has no function parshall_control\(\)"),
    ],
)
def test_a_library_that_is_none(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    built("c", tmp_path)
    source = tmp_path / "mine.c"
    text = source.read_text().replace(*change)
    source.write_text(text.replace("static void on_ack", "void on_ack").replace("static void *create", "void *create"))
    with pytest.raises(InputError, match=said):
        read("mine", compiled(source))


def test_a_library_of_version_1_is_loaded_and_cannot_be_steered(tmp_path: Path) -> None:
    new = ps.run(document("mine"), controls={"mine": built("c", tmp_path)})
    folder = tmp_path / "older"
    folder.mkdir()
    built("c", folder)
    header = folder / "parshall_control.h"
    text = header.read_text().replace("#define PARSHALL_CONTROL_ABI 4", "#define PARSHALL_CONTROL_ABI 1")
    begins = text.index("    /* Since version 2.")
    header.write_text(text[:begins] + text[text.index("};", begins) :])
    source = folder / "mine.c"
    text = source.read_text()
    for function in ("set_slope", "set_ssthresh", "on_undo"):
        text = text.replace(f"        .{function} = {function},\n", "")
        text = text.replace(f"static void {function}", f"void {function}")
    source.write_text(text)
    (folder / "libmine.so").unlink()  # a loaded library is not written over
    declare({"older": compiled(source)})
    older = ps.run(document("older"))
    for table in ("flows", "links", "flow_samples", "transfers"):
        assert frame(older, table).equals(frame(new, table)), table
    with pytest.raises(ps.ScenarioError, match="older has none"):
        ps.Scenario.from_document(document(steered("older"))).resolve()


@pytest.mark.parametrize(
    ("version", "needs", "asks"),
    [
        (4, "PARSHALL_NEEDS_L4S | PARSHALL_NEEDS_ONE_WAY_DELAY", ("one_way_delay", "l4s")),
        (3, "PARSHALL_NEEDS_L4S", ("l4s",)),
        (3, "PARSHALL_NEEDS_ONE_WAY_DELAY", None),
        (2, "PARSHALL_NEEDS_L4S", None),
        (4, "1u << 20", None),
    ],
)
def test_a_library_asks_for_what_its_version_knows(
    version: int, needs: str, asks: tuple[str, ...] | None, tmp_path: Path
) -> None:
    built("c", tmp_path)
    source = tmp_path / "mine.c"
    text = source.read_text().replace(".abi = PARSHALL_CONTROL_ABI,", f".abi = {version}, .needs = {needs},")
    source.write_text(text)
    (tmp_path / "libmine.so").unlink()  # a loaded library is not written over
    if asks is not None:
        assert read("mine", compiled(source)).needs == asks
    else:
        with pytest.raises(InputError, match=rf"needs 0x\w+, which version {version} of the interface does not know"):
            read("mine", compiled(source))


def test_a_library_that_says_what_no_window_is(tmp_path: Path) -> None:
    built("c", tmp_path)
    source = tmp_path / "mine.c"
    source.write_text(source.read_text().replace("mine->cwnd = 1.0;", "mine->cwnd = NAN;"))
    with pytest.raises(ControlError, match=r"its window \(cwnd\) is NaN"):
        ps.run(document("mine"), controls={"mine": compiled(source)})
    with pytest.raises(ControlError, match="accepted parameters: increase"):
        ps.run(document({"name": "mine", "gain": 2}))
    with pytest.raises(ControlError, match='increase is "a lot"; a library takes numbers'):
        ps.run(document({"name": "mine", "increase": "a lot"}))


def test_a_panic_in_rust_is_an_error_with_flow_and_time(tmp_path: Path) -> None:
    place = built("rust", tmp_path)
    source = tmp_path / "mine/src/lib.rs"
    source.write_text(source.read_text().replace("self.cwnd = 1.0;", 'panic!("at {}", event.in_flight);'))
    subprocess.run(["cargo", "build", "--release", "--offline", "--quiet"], cwd=tmp_path / "mine", check=True)
    with pytest.raises(ControlError, match=r"flow \d .*, \d+\.\d+ s: it panicked: at \d+"):
        ps.run(document("mine"), controls={"mine": place})


@pytest.mark.slow
def test_on_the_command_line_and_read_where_the_control_is_not(tmp_path: Path) -> None:
    built("python", tmp_path)
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        'duration = "5 s"\n[bottleneck]\nrate = "5 Mbit/s"\n[[flows]]\nrtt = "40 ms"\ncongestion_control = "mine"\n'
    )

    def parshall(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*PARSHALL, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    control = ("--control", "mine=mine.py:Mine")
    assert parshall("validate", "s.toml", *control).returncode == 0
    made = parshall("run", "s.toml", "-o", "r", "--json", *control)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["goodput_bps"] > 4e6
    assert parshall("report", "r").returncode == 0, "a recorded run is read without the control"
    refused = parshall("run", "s.toml")
    assert (refused.returncode, "--control mine=FILE.py:CLASS" in refused.stderr) == (2, True)
    code = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(code.replace("self.cwnd = self.ssthresh", "self.cwnd = 1 / 0"))
    failed = parshall("run", "s.toml", *control)
    assert failed.returncode == 1
    assert "control mine, flow 0 of group flows0" in failed.stderr
    assert "ZeroDivisionError: division by zero (mine.py, line" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("language", ["python", "c", "rust"])
def test_nothing_is_written_over_what_is_there(language: str, tmp_path: Path) -> None:
    write_control("mine", language, tmp_path)
    with pytest.raises(OutputExistsError, match="nothing is written over"):
        write_control("mine", language, tmp_path)
    with pytest.raises(InputError, match="small letters"):
        write_control("My-Control", language, tmp_path)
