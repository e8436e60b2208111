"""Buffers, queues and repetitions for what is asked: answers keep it, pages say it, `tc` takes the commands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import need
from typer.testing import CliRunner

import parshall as ps
from parshall.analysis.models.buffers import utilisation
from parshall.analysis.stats.confidence import Interval
from parshall.cli.app import application
from parshall.design import aqm, buffer, repetitions, tc
from parshall.design.judging import claim
from parshall.design.network_page import aqm_page, buffer_page, repetitions_page
from parshall.design.queueing import Demand, Place, place
from parshall.foundations.debian import find
from parshall.foundations.errors import InputError
from parshall.report.dials import Dial
from parshall.report.document import document_html
from parshall.scenario.properties import Qdisc, queue
from parshall.scenario.schema.catalog import family

QUEUES = [entry.name for entry in family("queues")]


def office(control: str = "reno", **values: Any) -> ps.Scenario:
    document = {
        "name": "office",
        "duration": "30 s",
        "warm_up": "10 s",
        "repetitions": 3,
        "bottleneck": {"rate": "20 Mbit/s"},
        "flows": [
            {
                "count": 8,
                "rtt": {"uniform": ["30 ms", "60 ms"]},
                "congestion_control": control,
                "start": {"uniform": "2 s"},
            }
        ],
    }
    return ps.Scenario(**document).with_values(values)


@pytest.fixture(scope="module")
def buffered() -> buffer.BufferDesign:
    return buffer.choose(place(office()), Demand(utilisation=0.97, delay_s=0.03))


def test_the_buffer_keeps_what_is_asked_and_a_smaller_one_does_not(buffered: buffer.BufferDesign) -> None:
    assert buffered.kept is not None
    low = buffered.kept.measured["utilisation"].low
    assert low is not None
    assert low >= 0.97
    limits = {buffered.limit(each): each.verdict for each in buffered.trials}
    answer = buffered.limit(buffered.kept)
    smaller = [limit for limit in limits if limit < answer]
    assert smaller
    assert answer / max(smaller) <= 1.1 or answer - max(smaller) == 1
    assert all(limits[limit] != "holds" for limit in smaller)


def test_a_buffer_for_a_delay_alone_is_the_longest() -> None:
    found = buffer.choose(place(office()), Demand(delay_s=0.012), most=10)
    assert found.kept is not None
    assert found.kept.measured["queueing_delay_s"].mean <= 0.012
    assert max(found.limit(each) for each in found.trials) > found.limit(found.kept)
    assert "longest" in buffer.sentences(found)[0]


def test_where_a_buffer_cannot_do_both_the_answer_says_so() -> None:
    found = buffer.choose(place(office()), Demand(utilisation=0.97, delay_s=0.002), most=8)
    assert found.kept is None
    said = " ".join(buffer.sentences(found))
    assert "No drop-tail buffer" in said
    assert "mean queueing delay" in said


def test_the_model_holds_for_reno_alone() -> None:
    assert buffer.reno_flows(place(office())) == 8
    assert buffer.reno_flows(place(office("cubic"))) is None


def test_the_model_of_a_single_flow_is_the_sawtooth() -> None:
    """Rounds of a window that grows by a packet, summed one by one."""
    bdp = 2000
    for share in (0.0, 0.25, 0.6, 1.0):
        most = round((1 + share) * bdp)
        windows = np.arange(most // 2, most)
        took = np.maximum(windows, bdp) / bdp
        assert utilisation(share) == pytest.approx(windows.sum() / bdp / took.sum(), abs=2e-3)


def test_of_several_queues_the_one_with_goodput_and_the_least_wait() -> None:
    found = aqm.choose(place(office("cubic")), Demand(delay_s=0.015, utilisation=0.9), ["codel", "fq_codel", "pie"])
    assert found.trials[0].queue["name"] == "drop_tail"
    assert found.trials[0].verdict == "fails"
    assert found.kept is not None
    kept = [each for each in found.trials if each.verdict == "holds"]
    most = max(each.measured["goodput_bps"].mean for each in kept)
    for each in kept:
        if each.measured["goodput_bps"].mean >= 0.99 * most:
            assert found.kept.measured["queueing_delay_s"].mean <= each.measured["queueing_delay_s"].mean
    html = document_html(aqm_page(found))
    assert "tc qdisc replace dev eth0 root" in html
    assert html.count('class="dial"') == 2
    assert list(found.figures) == ["candidates"]


def test_repetitions_are_enough_and_the_first_ones_are_the_same() -> None:
    scenario = office(duration="6 s", warm_up="2 s")
    found = repetitions.choose(scenario, "jain", 0.04, pilot=4)
    assert found.judged.verdict == "holds"
    again = ps.run(scenario.with_values({"repetitions": found.repetitions})).quantity("jain").interval
    assert again == found.looks[-1].interval
    assert again.half_width is not None
    assert again.half_width <= 0.04 * again.mean
    assert document_html(repetitions_page(found)).count('class="dial"') == 1
    assert list(found.figures) == ["shrinking"]


def test_what_is_expected_of_more_repetitions_is_what_normal_values_have() -> None:
    values = np.random.default_rng(1).normal(10.0, 1.0, (4000, 40))
    halves = [[ps_half(row[:n]) for row in values[:500]] for n in (8, 40)]
    mean = [float(np.sqrt(np.mean(np.square(each)))) for each in halves]
    assert repetitions.expected(mean[0], 8, 40) == pytest.approx(mean[1], rel=0.03)
    assert repetitions.needed(mean[0], 8, mean[1]) == pytest.approx(40, abs=3)


def ps_half(values: Any) -> float:
    half = repetitions.mean_interval(values).half_width
    assert half is not None
    return half


def test_pages_say_what_was_asked_by_the_model_and_simulated(buffered: buffer.BufferDesign) -> None:
    html = document_html(buffer_page(buffered))
    assert list(buffered.figures) == ["limits"]
    for words in (
        "at least 97",
        "If the buffer is full",
        "tc qdisc replace dev eth0 root pfifo limit",
        "The complete scenario",
    ):
        assert words in html
    asked = next(each for each in buffered.nearest.judged if each.asked.key == "utilisation")
    assert asked.model is not None


@pytest.mark.parametrize(
    ("simulated", "bound"), [(Interval(0.99, 0.98, 1.0, 4), 0.97), (Interval(5.0, None, None, 1), 0.0001)]
)
def test_dials_show_every_mark_on_their_scale(simulated: Interval, bound: float) -> None:
    dial = Dial("Utilisation", "ratio", bound, True, 0.5, "Model", simulated, "holds")
    low, high = dial.ends
    assert low <= min(bound, 0.5) < max(simulated.mean, bound) <= high
    assert "at least" in dial.image
    assert "holds." in dial.image.lower()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "found nothing that is asked"),
        (["--utilisation", "120 %"], "above 0 and at most 1"),
        (["--utilisation", "much"], "above 0 and at most 1"),
        (["--delay", "20"], "--delay"),
        (["--delay", "1 ms", "--link", "uplink"], "accepted: bottleneck"),
    ],
)
def test_bad_input_gets_one_clear_error(asked: list[str], message: str) -> None:
    result = CliRunner().invoke(application(["design"]), ["design", "buffer", "quickstart", *asked])
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_queue_that_is_not_there() -> None:
    with pytest.raises(InputError, match="codel"):
        aqm.checked("codell")


def test_a_queue_that_is_not_there_is_refused_before_others_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aqm, "tried", lambda *_: pytest.fail("simulated"))
    with pytest.raises(InputError, match="codell"):
        aqm.choose(place(office()), Demand(delay_s=0.02), ["codel", "codell"])


def test_the_command_line_prints_json(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(office(duration="8 s", warm_up="4 s", repetitions=2).toml())
    arguments = ["design", "aqm", str(tmp_path / "s.toml"), "--delay", "20 ms", "--queues", "codel", "--json"]
    result = CliRunner().invoke(application(["design"]), [*arguments, "--output", str(tmp_path / "page")])
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    assert [each["queue"]["name"] for each in said["trials"]] == ["drop_tail", "codel"]
    assert said["tc"] == ["tc qdisc replace dev eth0 root codel limit 1000 target 5ms interval 100ms noecn"]
    assert (tmp_path / "page" / "design.html").is_file()


@pytest.mark.parametrize(
    ("name", "link", "path"),
    [
        ("quickstart", None, "bottleneck.queue"),
        ("reverse", "reverse", "bottleneck.reverse.queue"),
        ("parking-lot", "second", "links.second.queue"),
    ],
)
def test_any_link_of_a_scenario(name: str, link: str | None, path: str) -> None:
    where = place(ps.Scenario.load(name), link)
    assert where.path == path
    assert where.resolved({"name": "codel"})["name"] == "codel"
    others = [each["queue"]["name"] for each in where.having({"name": "codel"}).resolve()["links"]]
    assert others.count("codel") == 1


def test_of_several_links_one_is_named() -> None:
    with pytest.raises(InputError, match="name one of them"):
        place(ps.Scenario.load("parking-lot"))


# --- tc ---


def with_queue(name: str) -> Place:
    queues = {"name": name, "rate": "10 Mbit/s"} if name in {"shaper", "policer"} else {"name": name}
    return place(office(**{"bottleneck.queue": queues}))


def tried(commands: tuple[str, ...]) -> tuple[str, list[dict[str, Any]]]:
    """What `tc` says of commands, in a network namespace of their own; and which queues there are then."""
    need("unshare", "tc")
    program = find("tc")
    lines = "\n".join(f"{line} 2>&1" for line in commands).replace("tc qdisc", f"{program} qdisc")
    script = f"ip tuntap add dev eth0 mode tap || exit 77\n{lines}\necho ===\n{program} -s -j qdisc show dev eth0"
    namespace = ["unshare", "--map-root-user", "--net", "sh", "-c", script]
    done = subprocess.run(namespace, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77 or "===" not in done.stdout:
        pytest.skip(f"no network namespace with a device here: {done.stderr.strip()}")
    said, _, shown = done.stdout.partition("===\n")
    return said.strip(), json.loads(shown)


@pytest.mark.parametrize("name", QUEUES)
def test_tc_takes_the_commands_and_says_the_same_back(name: str) -> None:
    where = with_queue(name)
    typed = tc.commands(where.resolved(), where.packet_bytes)
    linux = queue(name).linux
    if isinstance(linux, str):
        assert typed.lines == ()
        assert linux in typed.note
        return
    said, shown = tried(typed.lines)
    if "Unknown qdisc" in said:
        pytest.skip(f"this tc is too old for {linux.name}")
    if said:  # options are read before the kernel is asked for the queue
        assert said == "Error: Specified qdisc kind is unknown.", said
        pytest.skip(f"tc reads the command; this kernel has no {linux.name}")
    compare(where.resolved(), where.packet_bytes, linux, shown[0])


def compare(given: dict[str, Any], packet_bytes: int, linux: Qdisc, shown: dict[str, Any]) -> None:
    """Hold what `tc -j` shows against the queue: times in microseconds, rates in bytes a second."""
    assert shown["kind"] in {linux.name, linux.name_in_bytes}
    held = 0
    for option in linux.options:
        if option.word not in shown["options"]:
            continue
        value, found = given[option.parameter], shown["options"][option.word]
        match option.form:
            case "time":
                assert abs(found - value / 1e6) <= 1
            case "rate":
                assert found == value / 8
            case "flag":
                assert found == value
            case "packets" | "bytes":
                size = {"packets": value, "bytes": value} if isinstance(value, int) else value
                own, other = ("packets", "bytes") if option.form == "packets" else ("bytes", "packets")
                factor = 1 / packet_bytes if own == "packets" else packet_bytes
                assert found == size.get(own, size.get(other, 0) * factor)
        held += 1
    assert held > 0


def test_limits_in_bytes() -> None:
    where = place(office(**{"bottleneck.queue": {"name": "drop_tail", "limit": "64 kB"}}))
    typed = tc.commands(where.resolved(), where.packet_bytes)
    said, shown = tried(typed.lines)
    assert said == ""
    assert (shown[0]["kind"], shown[0]["options"]) == ("bfifo", {"limit": 64_000})


def test_a_shaper_has_its_queue_below() -> None:
    where = place(
        office(
            **{
                "bottleneck.queue": {
                    "name": "shaper",
                    "rate": "9500 kbit/s",
                    "queue": {"name": "drop_tail", "limit": "50 packets"},
                }
            }
        )
    )
    said, shown = tried(tc.commands(where.resolved(), where.packet_bytes).lines)
    assert said == ""
    assert [each["kind"] for each in shown] == ["tbf", "pfifo"]
    assert shown[0]["options"]["rate"] == 9_500_000 / 8
    assert shown[1]["options"]["limit"] == 50


def test_what_tc_cannot_be_told_is_said() -> None:
    where = place(office(**{"bottleneck.queue": {"name": "pie", "max_burst": "10 ms"}}))
    assert "max_burst" in tc.commands(where.resolved(), where.packet_bytes).note
    where = place(office(**{"bottleneck.queue": {"name": "pie", "target": "10 ms"}}))
    assert tc.commands(where.resolved(), where.packet_bytes).note == ""


def test_one_repetition_keeps_no_bound() -> None:
    """What one repetition has may be chance: it is refused before anything is simulated."""
    with pytest.raises(InputError, match=r"repetitions: found 1; accepted: 2 or more"):
        place(office(repetitions=1))
    one = Interval(0.9, None, None, n=1)
    assert [claim("use", one, bound, at_least=True).outcome for bound in (0.5, 0.95)] == ["compatible", "undecided"]
