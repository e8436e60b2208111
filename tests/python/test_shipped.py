"""What comes with Parshall and what begins from it: scenarios by name, `new`, `rerun`, `open`, `ask`."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.analysis.stats.quantiles import NoValue
from parshall.cli.app import application
from parshall.cli.open import newest, page_of
from parshall.design.transfer import transfer_scenario, transfer_time
from parshall.scenario.templates.shipped import located, paths, shipped
from tools.documentation.markdown import blocks

ROOT = Path(__file__).parents[2]
SCENARIO = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}


def parshall(*arguments: str | Path) -> Any:
    return CliRunner().invoke(application([str(arguments[0]), "open"]), [str(each) for each in arguments])


def test_the_folder_of_the_checkout_is_that_of_the_package() -> None:
    assert (ROOT / "scenarios").resolve() == paths()["quickstart"].parent
    assert {path.stem for path in (ROOT / "scenarios").glob("*.toml")} <= set(paths())


@pytest.mark.parametrize("each", shipped(), ids=lambda each: each.name)
def test_a_copy_is_valid_and_has_its_new_name(each: Any, tmp_path: Path) -> None:
    done = parshall("new", each.name, "mine", "--output", tmp_path / "new")
    assert done.exit_code == 0, done.stderr
    file = tmp_path / "new" / "mine.toml"
    assert f"next: parshall {each.command} {file}" in done.stderr
    if each.is_sweep:
        assert ps.Plan.load(file).name == "mine"
        ps.Plan.load(file).base()
    else:
        copied, original = ps.Scenario.load(file), ps.Scenario.load(each.path)
        assert copied.name == "mine"
        assert copied.resolve() == original.resolve()
    assert parshall("new", each.name, "mine", "--output", tmp_path / "new").exit_code == 0, "the same again"
    file.write_text(file.read_text() + "# mine\n")
    refused = parshall("new", each.name, "mine", "--output", tmp_path / "new")
    assert refused.exit_code == 2
    assert "exists; nothing is written over it" in refused.stderr


def test_a_copy_stays_in_its_folder(tmp_path: Path) -> None:
    for name in ("../mine", ".mine", "a/b", ""):
        assert parshall("new", "quickstart", name, "--output", tmp_path).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ps.Scenario.load("quickstart").name == "quickstart"
    assert ps.Plan.load("buffers").name == "buffers"
    (tmp_path / "quickstart").write_text(ps.Scenario(**SCENARIO, name="own").toml())
    assert ps.Scenario.load("quickstart").name == "own"
    assert located(Path("folder/lte")) == Path("folder/lte")
    with pytest.raises(ps.ScenarioError, match=r'parshall list scenarios.*Did you mean "home-line"'):
        ps.Scenario.load("home-lime")


def test_a_sweep_names_a_scenario_that_comes_with_parshall(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "incast"\n[parameters]\nflows.answers.count = [4, 8]\n')
    document, folder, source = ps.Plan.load(file).base()
    assert document["name"] == "incast"
    assert source == str(paths()["incast"])
    (tmp_path / "incast").write_text(ps.Scenario(**SCENARIO, name="own").toml())
    assert ps.Plan.load(file).base()[0]["name"] == "own"
    assert folder == paths()["incast"].parent


def test_rate_traces_are_those_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs" / "how-to" / "lte.md").read_text(encoding="utf-8")
    code = next(block.text for block in blocks(guide) if block.language == "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "lte.md", "exec"), {})
    for name in ("lte", "leo"):
        made, kept = (folder / f"{name}.trace.gz" for folder in (tmp_path, paths()[name].parent))
        assert gzip.decompress(made.read_bytes()) == gzip.decompress(kept.read_bytes())


def test_the_list_has_them() -> None:
    listed = json.loads(parshall("list", "scenarios", "--json").stdout)
    assert [each["name"] for each in listed] == list(paths())
    assert "parshall sweep buffers" in {each["reference"] for each in listed}


def test_a_run_is_repeated_from_its_directory(tmp_path: Path) -> None:
    first, again, changed = (tmp_path / name for name in ("first", "again", "changed"))
    ps.run(ps.Scenario.load("lossy", {"duration": "2 s", "warm_up": "0 s"}), first)
    assert parshall("rerun", first, "--output", again, "--no-page", "--quiet").exit_code == 0
    assert ps.load(again).flows.equals(ps.load(first).flows)
    done = parshall("rerun", first, "--output", changed, "--no-page", "--json", "--set", "flows.reno.count=3")
    assert json.loads(done.stdout)["flows"] == ps.load(first).summary["flows"] + 2
    refused = parshall("rerun", first, "--output", first, "--force")
    assert refused.exit_code == 2
    assert "the run that is repeated" in refused.stderr
    ps.predict(ps.Scenario(**SCENARIO)).save(tmp_path / "predicted")
    assert "accepted: runs and emulations" in parshall("rerun", tmp_path / "predicted").stderr


@pytest.mark.parametrize("control", ["cubic", "bbr", "reno"])
def test_a_run_with_the_tcp_of_linux_is_repeated(control: str, tmp_path: Path) -> None:
    given = ps.Scenario.from_document(
        {**SCENARIO, "flows": [{"rtt": "40 ms", "congestion_control": control, "tcp": "linux"}]}
    )
    ps.run(given, tmp_path / "first")
    assert parshall("rerun", tmp_path / "first", "--output", tmp_path / "again", "--no-page").exit_code == 0
    again = ps.load(tmp_path / "again")
    assert again.flows.equals(ps.load(tmp_path / "first").flows)
    assert again.scenario.flows[0].congestion_control.name == control


def test_a_rate_trace_is_found_again(tmp_path: Path) -> None:
    ps.run(ps.Scenario.load("lte", {"duration": "1 s", "warm_up": "0 s", "repetitions": 1}), tmp_path / "first")
    assert parshall("rerun", tmp_path / "first", "--output", tmp_path / "again", "--no-page").exit_code == 0


def test_the_page_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) is None)
    monkeypatch.chdir(tmp_path)
    assert "found no result in runs" in parshall("open").stderr
    ps.run(SCENARIO, tmp_path / "runs" / "a")
    assert newest(Path("runs")) == Path("runs/a")
    assert "`parshall report runs/a` writes it" in parshall("open").stderr
    (tmp_path / "runs" / "a" / "report.html").write_text("page")
    assert parshall("open").exit_code == 0
    assert opened == [(tmp_path / "runs" / "a" / "report.html").as_uri()]
    pages = tmp_path / "store" / "pages"
    pages.mkdir(parents=True)
    (pages / "swept.html").write_text("page")
    assert page_of(tmp_path / "store") == page_of(pages / "swept.html") == pages / "swept.html"
    with pytest.raises(ps.InputError, match="no page; accepted"):
        page_of(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert parshall("open").exit_code == 1


def test_the_time_of_a_transfer_has_quantiles_with_intervals() -> None:
    found = transfer_time("200 kB", "10 Mbit/s", "20 ms", loss=0.01, repetitions=80)
    assert list(found.times_s) == sorted(found.times_s)
    # At the link's rate: 137 packets of 1500 bytes, the handshake, and half an RTT for the last of them to arrive.
    assert found.times_s[0] >= 137 * 1500 * 8 / 10e6 + 0.03
    below = sum(time <= found.quantiles[0.95].mean for time in found.times_s)
    assert below == pytest.approx(0.95 * 80, abs=1)
    for each in (found.quantiles[0.5], found.quantiles[0.95]):
        assert each.low is not None
        assert each.high is not None
        assert each.low <= each.mean <= each.high
    assert 0.5 in transfer_time("20 kB", "10 Mbit/s", "20 ms", repetitions=2).quantiles
    few = transfer_time("20 kB", "10 Mbit/s", "20 ms", repetitions=19).quantiles
    assert isinstance(few[0.95], NoValue)
    assert few[0.95].reason == "too few values: 19 of 20"


def test_others_slow_a_transfer_down() -> None:
    alone, beside = (transfer_time("1 MB", "10 Mbit/s", "20 ms", others=n, repetitions=6) for n in (0, 3))
    assert beside.quantiles[0.5].mean > 2 * alone.quantiles[0.5].mean


def test_a_transfer_is_that_of_linux() -> None:
    resolved = [
        transfer_scenario("1 MB", "10 Mbit/s", "20 ms", control=name).resolve() for name in ("cubic", "bbr", "bbr3")
    ]
    groups = [each["flows"][0] for each in resolved]
    assert [group["congestion_control"]["name"] for group in groups] == ["cubic_linux", "bbr_linux", "bbr3"]
    assert {group["tcp"]["rules"] for group in groups} == {"linux"}


def test_ask_answers_in_json_as_the_guide_says() -> None:
    done = parshall("ask", "transfer", "--size", "20kB", "--rate", "10 Mbit/s", "--rtt", "20ms", "--json")
    answer = json.loads(done.stdout)
    guide = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    section = guide.split("\n## parshall ask transfer\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == set(answer)
    assert ps.Scenario.from_document(tomllib.loads(answer["scenario"])).name == "transfer"
    for arguments, message in (
        (("--rate", "10", "--rtt", "20 ms"), 'found "10", which has no unit'),
        (("--rate", "1 Mbit/s", "--rtt", "20 ms", "--loss", "1"), "loss: found 1; accepted"),
        (("--rate", "1 Mbit/s", "--rtt", "20 ms", "--cc", "cubik"), 'Did you mean "cubic"'),
    ):
        refused = parshall("ask", "transfer", "--size", "20 kB", *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr
