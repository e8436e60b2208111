"""The page that needs no server: its fields give what the scenario gives, and it shows what a run shows."""

from __future__ import annotations

import json
import random
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import needs_browser, serious_faults, tab

import parshall as ps
from parshall.explore import form, knobs, offline
from parshall.foundations.errors import InputError, ScenarioError
from parshall.instruments.simulation import Run
from parshall.instruments.simulation.single import recorded
from parshall.report.finding import finding

ASSETS = Path(offline.__file__).parent / "assets"
SIMULATOR = ASSETS / offline.SIMULATOR
SETTINGS = 40
"""Of each of the five scenarios: two hundred together."""

built = pytest.mark.skipif(not SIMULATOR.exists(), reason="`make simulator` has not built it")
OFFERED = {"congestion_control": offline.CONTROLS, "name": offline.QUEUES}
LEFT_TO_RUNS = {"model_wrong", "models_wrong", "transient_share", "transient_goodput", "transient_queue"} | {
    "less_loss",
    "larger_buffer",
    "fair_queue",
    "smaller_buffer",
}


def listed(scenario: ps.Scenario) -> list[knobs.Knob]:
    return [knob for each in knobs.fields(scenario) for knob in each.knobs]


@pytest.fixture(scope="module")
def answered() -> list[tuple[ps.Scenario, dict[str, str], dict[str, Any]]]:
    """Random settings of the five scenarios, with what the page's scripts make of each under Node."""
    limits = {"firstEvents": offline.FIRST_EVENTS, "mostEvents": 1e9, "templates": dict(offline.TEMPLATES)}
    draw = random.Random("settings of the page")
    settings = []
    for _, scenario in offline.own_scenarios():
        made = form.form(scenario, OFFERED)
        explicit = listed(form.explicit(scenario))
        own = {knob.key: knob.value for knob in explicit}
        drawn = [own] + [dict(form.drawn(made, explicit, draw)) for _ in range(SETTINGS)]
        settings += [(scenario, values, made) for values in drawn]
    asked = {"limits": limits, "settings": [{"form": made, "values": values} for _, values, made in settings]}
    command = ["node", Path(__file__).with_name("playground.cjs"), ASSETS / "offline", SIMULATOR]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(scenario, values, answer) for (scenario, values, _), answer in zip(settings, answers, strict=True)]


@built
@pytest.mark.slow
@pytest.mark.needs("node")
class TestTheFiveScenarios:
    def test_the_file_to_copy_is_the_scenario_that_is_simulated(self, answered: Any) -> None:
        for scenario, values, answer in answered:
            document = tomllib.loads(answer["answer"]["toml"])
            read = ps.Scenario.from_document(document)
            assert read.resolve() == answer["tables"]["resolved"], (scenario.name, values)

    def test_the_fields_give_what_the_scenario_gives(self, answered: Any) -> None:
        for scenario, values, answer in answered:
            changed = knobs.changed(form.explicit(scenario), values).scenario
            assert answer["tables"]["resolved"] == json.loads(json.dumps(changed.resolve())), (scenario.name, values)

    def test_totals_and_records_are_the_native_ones(self, answered: Any) -> None:
        compared = 0
        for scenario, values, answer in answered:
            try:
                native = recorded(answer["tables"]["resolved"])
            except ScenarioError:
                assert "refused" in answer["result"], (scenario.name, values)
                continue
            run = answer["result"]["run"]
            for name, found in run["totals"].items():
                if name not in ("cpu_s", "wall_s"):
                    assert found == native.totals[name], (scenario.name, values, name)
            for table in run.keys() - {"totals"}:
                rows = native.tables[table].drop("repetition").to_dicts() if table in native.tables else []
                assert run[table] == rows, (scenario.name, values, table)
            compared += 1
        assert compared >= 150

    def test_sentences_are_those_of_the_page_of_the_run(self, answered: Any) -> None:
        seen = set()
        for scenario, values, answer in answered:
            if "finding" not in answer["answer"] or " of " in answer["answer"]["extent"]:
                continue
            of_page = finding(_run(answer["tables"]))
            kept = [
                text
                for text, templates in zip(of_page.sentences, _templates(of_page), strict=True)
                if not templates & LEFT_TO_RUNS
            ]
            # How much longer than the run a median is, the page leaves out.
            expected = re.sub(r": the (median|95th percentile) is more than [^;.]*\w", "", " ".join(kept))
            assert answer["answer"]["finding"] == expected, (scenario.name, values)
            seen |= set(of_page.templates)
        assert {"full", "two_once", "wait_tail", "medium", "ended", "done", "arrive"} <= seen


def _run(tables: dict[str, Any]) -> Run:
    result = recorded(tables["resolved"])
    scenario = ps.Scenario.from_document(tables["document"])
    metadata = {
        "instrument": "simulate",
        "status": "complete",
        "name": scenario.name,
        "scenario": scenario.complete_document(),
        "repetitions": 1,
        "repetitions_finished": [0],
        "predicted": [],
    }
    return Run(None, metadata, result.tables, {0: result.totals["simulated_s"]})


def _templates(found: Any) -> list[set[str]]:
    """The templates of each sentence, by what their words are."""
    patterns = {
        name: re.compile(".*".join(re.escape(part) for part in re.split(r"\{\w+\}", text)), re.IGNORECASE)
        for name, text in offline.TEMPLATES.items()
    }
    return [{name for name in found.templates if patterns[name].search(text)} for text in found.sentences]


def test_the_page_says_only_what_is_a_template() -> None:
    script = (ASSETS / "offline" / "finding.js").read_text(encoding="utf-8")
    said = {name for call in re.findall(r"\bsay\(([^)]*?)[,)]", script) for name in re.findall(r'"(\w+)"', call)}
    assert len(said) > 15
    assert said <= offline.TEMPLATES.keys()


class TestForms:
    def test_a_form_gives_what_the_scenario_gives_at_settings_that_it_was_not_learnt_from(self) -> None:
        scenario = ps.Scenario.load("quickstart")
        made = form.form(scenario, {"congestion_control": ("reno", "bbr"), "name": ("codel",)})
        values = {knob.key: knob.value for knob in listed(form.explicit(scenario))}
        values |= {"bottleneck.rate": "37 Mbit/s", "bottleneck.queue.limit": "77 packets", "flows.0.count": "7"}
        values |= {"flows.1.congestion_control": "bbr", "bottleneck.queue.name": "codel"}
        changed = knobs.changed(form.explicit(scenario), values).scenario
        assert form.filled(made, values)["resolved"] == changed.resolve()

    def test_what_follows_from_fields_in_another_way_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"reverse: resolved\..* follows from its fields in no way"):
            form.form(ps.Scenario.load("reverse"))

    def test_a_choice_takes_along_what_only_the_one_before_understood(self) -> None:
        group = {"rtt": "50 ms", "congestion_control": "cubic", "slow_start": "hystart++"}
        scenario = ps.Scenario.from_document({"duration": "5 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [group]})
        made = form.form(scenario, {"congestion_control": ("reno", "bbr"), "name": ()})
        values = {knob.key: knob.value for knob in listed(form.explicit(scenario))}
        filled = form.filled(made, values | {"flows.0.congestion_control": "bbr"})["resolved"]["flows"][0]
        assert (filled["congestion_control"]["name"], filled["tcp"]["slow_start"]) == ("bbr", "standard")


@built
@pytest.mark.slow
class TestCommand:
    def test_it_writes_one_file_and_replaces_none(self, cli: Any, tmp_path: Path) -> None:
        done = cli("explore", "--offline", "page.html")
        assert (done.exit_code, done.stdout.strip()) == (0, "page.html")
        assert len((tmp_path / "page.html").read_bytes()) < 2_000_000
        again = cli("explore", "--offline", "page.html")
        assert again.exit_code == 2
        assert "exists already" in again.output

    def test_a_scenario_of_ones_own(self, cli: Any, tmp_path: Path) -> None:
        done = cli("explore", "quickstart", "--offline", "page.html")
        assert done.exit_code == 0
        assert '"name":"quickstart"' in (tmp_path / "page.html").read_text()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("offline") / "page.html"
    path.write_text(offline.page(), encoding="utf-8")
    return path.as_uri()


@built
@needs_browser
@pytest.mark.slow
class TestInABrowser:
    @staticmethod
    def settled(page: Any) -> None:
        page.wait_for_selector("#answers[data-shown][aria-busy=false]")

    @pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
    def test_everybody_can_use_it(self, browser: Any, address: str, width: int, scheme: str) -> None:
        with tab(browser, width, color_scheme=scheme) as (page, errors):
            requests = []
            page.on("request", lambda request: requests.append(request.url))
            page.goto(address)
            self.settled(page)
            assert serious_faults(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert errors == []
            assert all(url.startswith(("file:", "blob:", "data:")) for url in requests)

    def test_a_slider_moves_the_numbers_and_the_address(self, browser: Any, address: str) -> None:
        with tab(browser, 1280) as (page, errors):
            page.goto(address)
            self.settled(page)
            before = page.text_content(".tiles .big")
            slider = page.locator('input.slider[data-for="bottleneck-rate"]')
            slider.focus()
            for _ in range(100):
                page.keyboard.press("ArrowRight")
            page.wait_for_timeout(500)  # the page allows no script from outside that would wait for a change
            self.settled(page)
            assert page.text_content(".tiles .big") != before
            assert "bottleneck.rate" in page.url
            rate, first = page.input_value("#bottleneck-rate"), page.text_content("#finding")
            page.goto("about:blank")
            page.goto(f"{address}#{urlencode({'bottleneck.rate': rate})}")
            self.settled(page)
            assert page.input_value("#bottleneck-rate") == rate
            assert page.text_content("#finding") == first
            assert errors == []

    def test_each_scenario_answers(self, browser: Any, address: str) -> None:
        with tab(browser, 1280) as (page, errors):
            for title, scenario in offline.own_scenarios():
                page.goto("about:blank")
                page.goto(f"{address}#scenario={scenario.name}")
                self.settled(page)
                assert page.text_content("#title") == title
                assert "bottleneck" in page.text_content("#finding")
            assert errors == []

    def test_what_is_refused_is_said_and_the_picture_is_greyed(self, browser: Any, address: str) -> None:
        with tab(browser, 1280) as (page, errors):
            page.goto(address)
            self.settled(page)
            page.fill("#bottleneck-rate", "fast")
            page.wait_for_selector("#answers.stale")
            assert 'found "fast"; accepted here: a number above 0' in page.text_content("#bottleneck-rate-problem")
            page.fill("#bottleneck-rate", "20 Mbit/s")
            page.wait_for_selector("#answers:not(.stale)")
            assert errors == []
