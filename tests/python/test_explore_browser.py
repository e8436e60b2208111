"""The explorer in a browser: dragging, typing nonsense, the keyboard alone, a phone, dark, screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, serious_faults, tab
from explorer import serving
from ink import inked, moved

import parshall as ps

# Tried twice: while both CPUs were busy, an answer once did not come within a minute.
pytestmark = [pytest.mark.slow, needs_browser, pytest.mark.flaky(reruns=1)]

RATE = "#bottleneck-rate"
HTML = "text/html"
SLIDER = f'input.slider[data-for="{RATE[1:]}"]'


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def address(saved: Path) -> Iterator[str]:
    with serving("quickstart", "--save-in", saved) as (found, _):
        yield found


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("results")
    document = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}
    for name, rate in (("one", "5 Mbit/s"), ("two", "7 Mbit/s")):
        ps.run({"name": name, **document, "bottleneck": {"rate": rate}}, place / name)
    parameters = {"bottleneck.rate": ["4 Mbit/s", "8 Mbit/s", "9 Mbit/s"], "flows.0.rtt": ["20 ms", "40 ms"]}
    ps.sweep(ps.Plan(name="grid", scenario=document, parameters=parameters, repetitions=2), place / "store")
    with serving(place) as (found, _):
        yield found


def base(address: str) -> str:
    """The address without the secret."""
    return address.partition("?")[0]


def settled(page: Any) -> None:
    """Wait until the newest change is answered, the models' part as well."""
    page.wait_for_selector("#answers[data-predicted][aria-busy=false]")


def test_dragging_a_slider_is_followed(browser: Any, address: str) -> None:
    with tab(browser) as (page, errors):
        page.goto(address)
        settled(page)
        before = page.inner_text("#simulated")
        box = page.locator(SLIDER).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        for step in range(1, 11):
            page.mouse.move(box["x"] + box["width"] * (0.5 + 0.04 * step), box["y"] + box["height"] / 2)
        page.mouse.up()
        text = page.input_value(RATE)
        page.wait_for_function("text => document.querySelector('#command').textContent.includes(text)", arg=text)
        settled(page)
        assert text != "20 Mbit/s"
        assert page.inner_text("#simulated") != before
        assert page.get_attribute(SLIDER, "aria-valuetext") == text
        assert f'bottleneck.rate="{text}"' in page.inner_text("#command")
        assert f'rate = "{text}"' in page.inner_text("#toml")
        page.click("text=As at the beginning")
        page.wait_for_function("() => document.querySelector('#command').textContent === 'parshall run quickstart'")
        settled(page)
        assert page.inner_text("#simulated") == before
        assert errors == []


def test_the_secret_leaves_the_address(browser: Any, address: str) -> None:
    with tab(browser) as (page, errors):
        page.goto(address)
        settled(page)
        assert page.url == base(address)
        assert page.evaluate("document.cookie") == "", "no script sees it"
        page.reload()
        settled(page)
        assert errors == []
    with tab(browser) as (page, _):
        assert page.goto(base(address)).status == 403
        assert "the address that `parshall explore` printed" in page.inner_text("body")


@pytest.mark.parametrize("has_secret", [False, True])
def test_a_link_of_another_page_leads_in_only_with_the_secret(browser: Any, address: str, has_secret: bool) -> None:
    """Another site's page, in the browser that has the cookie."""
    elsewhere, to = "http://evil.example/", address if has_secret else base(address)
    with tab(browser) as (page, _):
        page.route(elsewhere, lambda route: route.fulfill(body=f'<a href="{to}">x</a>', content_type=HTML))
        page.goto(address)
        settled(page)
        page.goto(elsewhere)
        with page.expect_response(lambda answer: answer.url == to) as answered:
            page.click("a")
        assert answered.value.status == (200 if has_secret else 403)
        if has_secret:
            page.wait_for_url(base(address))
            settled(page)


def test_another_page_reads_nothing_and_frames_nothing(browser: Any, address: str) -> None:
    elsewhere = "http://evil.example/"
    with tab(browser) as (page, errors):
        page.route(elsewhere, lambda route: route.fulfill(body="<p>evil</p>", content_type=HTML))
        page.goto(address)
        settled(page)
        page.goto(elsewhere)
        tried = """async (to) => {
            const failed = [];
            for (const mode of ["cors", "same-origin"]) {
                await fetch(to, {mode, credentials: "include"}).catch(() => failed.push(mode));
            }
            const frame = document.createElement("iframe");
            const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
            frame.src = to;
            document.body.append(frame);
            await loaded;
            return failed;
        }"""
        assert page.evaluate(tried, base(address)) == ["cors", "same-origin"]
        inside = page.frames[-1]
        assert "Bottleneck" not in inside.content()
        assert any("frame" in error for error in errors) or "chrome-error" in inside.url


def test_the_keyboard_alone(browser: Any, address: str) -> None:
    with tab(browser) as (page, errors):
        page.goto(address)
        settled(page)
        seen = []
        for _ in range(3 * page.locator("#fields input, #fields select").count()):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("document.activeElement.name || document.activeElement.dataset.for || ''"))
            if seen[-1] == RATE[1:]:
                break
        assert "bottleneck.rate" in seen, "the field comes before its slider"
        page.keyboard.press("PageUp")
        settled(page)
        assert page.input_value(RATE) != "20 Mbit/s"
        page.focus("#bottleneck-queue-name")
        page.keyboard.type("codel")
        page.wait_for_function("() => document.querySelector('#toml').textContent.includes('codel')")
        assert errors == []


def test_nonsense_is_answered_at_its_field(browser: Any, address: str) -> None:
    with tab(browser) as (page, errors):
        page.goto(address)
        settled(page)
        picture = page.inner_html("#simulated")
        page.fill(RATE, "fast")
        page.wait_for_selector(f"{RATE}[aria-invalid=true]")
        with pytest.raises(ps.errors.ScenarioError) as refused:
            ps.Scenario.load("quickstart", {"bottleneck.rate": "fast"})
        assert page.inner_text(f"{RATE}-problem") == refused.value.problems[0]
        assert page.get_attribute(RATE, "aria-describedby") == f"{RATE[1:]}-problem"
        assert page.inner_html("#simulated") == picture
        page.fill(RATE, "25 Mbit/s")
        page.wait_for_selector(f"{RATE}[aria-invalid=false]")
        assert page.is_hidden(f"{RATE}-problem")
        assert errors == []


def test_figures_are_chosen_and_scenarios_are_taken_away(browser: Any, address: str, saved: Path) -> None:
    with tab(browser) as (page, errors):
        page.goto(address)
        settled(page)
        page.click("summary:has-text('Figures')")
        page.check("input[value=cwnd]")
        page.wait_for_selector("#figure-cwnd svg")
        page.fill("#name", "mine")
        with page.expect_download() as download:
            page.click("#download")
        assert download.value.suggested_filename == "mine.toml"
        assert ps.Scenario.load(download.value.path()).name == "quickstart"
        page.click("#save")
        page.wait_for_selector("#said:has-text('Saved as')")
        assert ps.Scenario.load(saved / "mine.toml").name == "mine"
        page.click("#save")
        page.wait_for_selector("#said:has-text('exists')")
        (saved / "mine.toml").unlink()
        assert [error for error in errors if "400" not in error] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_it_fits_and_can_be_read_by_all(browser: Any, address: str, width: int, scheme: str) -> None:
    with tab(browser, width, color_scheme=scheme) as (page, errors):
        page.goto(address)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_faults(page) == []
        page.fill(RATE, "fast")
        page.wait_for_selector(f"{RATE}[aria-invalid=true]")
        assert page.is_visible("#stale"), "the picture belongs to the values before"
        assert float(page.evaluate("getComputedStyle(document.querySelector('#of-overview .drawing')).opacity")) < 0.5
        assert serious_faults(page) == []
        page.fill(RATE, "30 Mbit/s")
        page.wait_for_selector("#stale", state="hidden")
        settled(page)
        assert float(page.evaluate("getComputedStyle(document.querySelector('#of-overview .drawing')).opacity")) == 1.0
        assert [error for error in errors if "400" not in error] == []


def test_on_a_phone_the_picture_stays_in_sight(browser: Any, address: str) -> None:
    with tab(browser, 390, 800, has_touch=True) as (page, _):
        page.goto(address)
        settled(page)
        page.locator("#flows-1-congestion_control").scroll_into_view_if_needed()
        box = page.locator("#figure-overview svg").bounding_box()
        assert box["y"] >= -1
        assert box["y"] + box["height"] < 400
        assert page.locator("#flows-1-congestion_control").bounding_box()["y"] > box["y"] + box["height"]


def test_results_are_filtered_and_compared(browser: Any, results: str) -> None:
    with tab(browser) as (page, errors):
        page.goto(results)
        assert serious_faults(page) == []
        page.fill("#filter", "sweep")
        assert page.locator("#list tbody tr:visible").count() == 1
        page.fill("#filter", "")
        page.check("input[value=one]")
        page.check("input[value=two]")
        page.click("text=Compare those chosen")
        page.wait_for_selector("html[data-figures=drawn]")
        assert "one" in page.inner_text("h1")
        assert serious_faults(page) == []
        assert errors == []


@pytest.mark.parametrize("width", [1400, 390])
def test_a_metric_and_a_parameter_of_a_sweep_are_chosen(browser: Any, results: str, width: int) -> None:
    with tab(browser, width) as (page, errors):
        page.goto(results)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        with page.expect_navigation():  # what is chosen before a page is there, or when it is being left, is lost
            page.click("#list a:text-is('grid')")
        with page.expect_navigation():
            page.select_option("select[name=parameter]", "flows.0.rtt")
        page.wait_for_selector("figcaption:has-text('against flows.0.rtt')")
        with page.expect_navigation():
            page.select_option("select[name=metric]", "loss_rate")
        page.wait_for_selector("figcaption:has-text('Loss')")
        assert page.input_value("select[name=parameter]") == "flows.0.rtt"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.wait_for_load_state("networkidle")
        page.evaluate("document.querySelectorAll('svg text').forEach((each) => { each.style.display = 'none'; })")
        shown = page.locator("figure .drawing").all()
        looks = {f"figure-{place}": inked(each.screenshot()) for place, each in enumerate(shown)}
        assert moved(f"explorer-{width}", looks) == {}
        assert serious_faults(page) == []
        assert errors == []
