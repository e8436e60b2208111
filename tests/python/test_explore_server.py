"""The server of the explorer over HTTP: what it answers, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from explorer import serving

import parshall as ps
from parshall.explore.guard import LONGEST_BODY

SMALL = """
name = "small"
duration = "2 s"
[bottleneck]
rate = "5 Mbit/s"
[[flows]]
name = "bulk"
rtt = "50 ms"
"""
WAIT_S = 120.0


class Client:
    """Asks as the page does, once the address with the secret was opened."""

    def __init__(self, address: str) -> None:
        self.address = address.partition("/?")[0]
        self.http = httpx.Client(base_url=self.address, timeout=WAIT_S)
        self.http.get(address)

    def close(self) -> None:
        self.http.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.http.get(path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        given = {"origin": self.address, "content-type": "application/json"} | headers
        content = body if isinstance(body, str) else json.dumps(body)
        return self.http.post(path, content=content, headers=given)

    def simulate(self, number: int = 0, tab: str = "tab", **values: Any) -> list[dict[str, Any]]:
        answer = self.post("/simulate", {"tab": tab, "number": number, "values": values})
        return [json.loads(line) for line in answer.text.splitlines()]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    (folder / "small.toml").write_text(SMALL)
    ps.run(ps.Scenario.load(folder / "small.toml"), folder / "run-1")
    ps.run(ps.Scenario.load(folder / "small.toml", {"bottleneck.rate": "6 Mbit/s"}), folder / "run-2")
    parameters = {"bottleneck.rate": ["4 Mbit/s", "8 Mbit/s", "9 Mbit/s"], "flows.0.rtt": ["20 ms", "40 ms"]}
    plan = ps.Plan(name="grid", scenario=ps.Scenario.load(folder / "small.toml").document(), parameters=parameters)
    ps.sweep(plan, folder / "store")
    return folder


@pytest.fixture(scope="module")
def client(place: Path, saved: Path) -> Iterator[Client]:
    with serving(place / "small.toml", "--save-in", saved) as (address, _), closing(Client(address)) as asked:
        yield asked


@pytest.fixture(scope="module")
def over_results(place: Path) -> Iterator[Client]:
    with serving(place) as (address, _), closing(Client(address)) as asked:
        yield asked


# --- a scenario ---


def test_the_first_page_has_its_picture(client: Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.text.count("<svg") >= 2
    assert 'name="bottleneck.rate" type="text" value="5 Mbit/s"' in page.text
    for asset in ("style.css", "explore.js", "results.js"):
        assert client.get(f"/assets/{asset}").status_code == 200


def test_a_change_is_answered_in_two_parts(client: Client) -> None:
    simulated, predicted = client.simulate(1, **{"bottleneck.rate": "7 Mbit/s"})
    assert "finding" in simulated
    assert "predicted" in predicted


def test_nonsense_is_a_message(client: Client) -> None:
    (answer,) = client.simulate(2, **{"bottleneck.rate": "fast"})
    with pytest.raises(ps.errors.ScenarioError) as refused:
        ps.Scenario.from_document({**ps.Scenario.load("quickstart").document(), "bottleneck": {"rate": "fast"}})
    assert answer["problems"] == refused.value.problems


@pytest.mark.slow
def test_a_hundred_tabs(client: Client) -> None:
    """Each is answered, with a result or with the word that too many wait; then the server answers as before."""

    def ask(number: int) -> int:
        values = {"bottleneck.rate": f"{5 + number % 9} Mbit/s"}
        return client.post("/simulate", {"tab": f"tab {number}", "number": 1, "values": values}).status_code

    with ThreadPoolExecutor(100) as crowd:
        found = list(crowd.map(ask, range(100)))
    assert set(found) <= {200, 503}
    assert found.count(200) >= 20
    assert "finding" in client.simulate(3)[0]


def test_scenarios_are_saved_where_that_was_asked_for(client: Client, saved: Path) -> None:
    values = {"bottleneck.rate": "9 Mbit/s"}
    assert client.post("/save", {"name": "mine", "values": values}).json() == {"saved": str(saved / "mine.toml")}
    assert ps.Scenario.load(saved / "mine.toml").document()["bottleneck"]["rate"] == "9 Mbit/s"
    again = client.post("/save", {"name": "mine", "values": {}})
    assert (again.status_code, again.json()["problem"]) == (400, "mine.toml exists; nothing is written over it")
    assert ps.Scenario.load(saved / "mine.toml").document()["bottleneck"]["rate"] == "9 Mbit/s"


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "", ".", "a.toml", "a/b", "x" * 65, "a\u0000", None, 3, ["a"]])
def test_no_other_name_is_saved(name: Any, client: Client, saved: Path) -> None:
    before = sorted(saved.rglob("*"))
    answer = client.post("/save", {"name": name, "values": {}})
    assert answer.status_code == 400
    assert "found the name" in answer.json()["problem"]
    assert sorted(saved.rglob("*")) == before


# --- results ---


def test_results_are_listed_opened_and_compared(over_results: Client) -> None:
    assert over_results.get("/").headers["location"] == "/results"
    listed = over_results.get("/results").text
    for name in ("run-1", "run-2", "store/grid"):
        assert f'value="{name}"' in listed
    assert "<h1>small</h1>" in over_results.get("/result?name=run-1").text
    assert over_results.get("/compare?name=run-1&name=run-2").status_code == 200
    assert "Flows: bulk" in over_results.get("/explore?of=run-2").text
    assert over_results.simulate()[0]["problems"] == ["no scenario is explored; choose one of the results"]
    answer = over_results.post("/simulate", {"tab": "t", "number": 1, "of": "run-2", "values": {}})
    assert "finding" in json.loads(answer.text.splitlines()[0])


def test_a_metric_of_a_sweep_against_a_parameter(over_results: Client) -> None:
    first = over_results.get("/sweep?name=store/grid").text
    assert "against bottleneck.rate" in first
    chosen = over_results.get("/sweep?name=store/grid&metric=jain&parameter=flows.0.rtt").text
    assert "against flows.0.rtt" in chosen
    assert '<option value="jain" selected>' in chosen
    wrong = over_results.get("/sweep?name=store/grid&metric=<b>")
    assert wrong.status_code == 404
    assert "&lt;b&gt;" in wrong.text


def test_a_folder_that_changes_meanwhile(place: Path) -> None:
    with serving(place) as (address, _), closing(Client(address)) as asked:
        ps.run(ps.Scenario.load(place / "small.toml"), place / "later")
        assert 'value="later"' in asked.get("/results").text
        for part in sorted((place / "later").rglob("*"), reverse=True):
            part.rmdir() if part.is_dir() else part.unlink()
        (place / "later").rmdir()
        gone = asked.get("/result?name=later")
        assert gone.status_code == 404
        assert "(any more)" in gone.text
        assert 'value="later"' not in asked.get("/results").text


# --- what is refused ---


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:PORT", "127.0.0.1.evil.example:PORT", "", "[::1", "0.0.0.0:PORT", "127.0.0.1:1"],
)
def test_another_host_is_refused(host: str, client: Client) -> None:
    host = host.replace("PORT", client.address.rpartition(":")[2])
    for answer in (client.get("/", host=host), client.post("/simulate", {}, host=host)):
        assert answer.status_code == 400
        assert "svg" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_posts_of_other_pages_are_refused(headers: dict[str, str], status: int, client: Client) -> None:
    body = {"tab": "t", "number": 1, "values": {}}
    assert client.post("/simulate", body, **headers).status_code == status
    assert client.post("/save", {"name": "evil", "values": {}}, **headers).status_code == status


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "3", '{"tab": 1, "number": 1}', '{"tab": "t"}', '{"values": [], "tab": "t", "number": 1}']
)
def test_what_is_no_request_is_refused(body: str, client: Client) -> None:
    assert client.post("/simulate", body).status_code == 400


def test_a_long_body_is_refused_unread(client: Client) -> None:
    assert client.post("/simulate", " " * (LONGEST_BODY + 1)).status_code == 413
    chunks = client.http.post(
        "/simulate",
        content=iter([b"{}"] * 3),
        headers={"origin": client.address, "content-type": "application/json"},
    )
    assert chunks.status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../server.py",
        "/assets/%2e%2e/server.py",
        "/assets/explore.html.j2",
        "/result?name=../../etc/passwd",
        "/result?name=/etc/passwd",
        "/result",
        "/explore?of=..",
        "/sweep?name=..",
        "/compare?name=..&name=/etc",
        "/etc/passwd",
    ],
)
def test_no_path_of_a_request_reaches_the_file_system(path: str, over_results: Client) -> None:
    answer = over_results.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_pages_of_results_reach_nothing_of_the_server(over_results: Client) -> None:
    policy = over_results.get("/result?name=run-1").headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    own = over_results.get("/results").headers["content-security-policy"]
    assert "script-src 'self'" in own
    assert "frame-ancestors 'none'" in own


def test_it_listens_on_the_loopback_interface_only(client: Client) -> None:
    port = int(client.address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address but that of loopback")
        address = outward.getsockname()[0]
    with pytest.raises(OSError, match=r"refused|timed out"):
        socket.create_connection((address, port), timeout=5).close()


# --- the command ---


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("--port", str(port))
    assert done.returncode == 2
    assert done.stderr == (
        f"parshall: --port: found {port}, which cannot be used: Address already in use; accepted: one that is free, "
        "or 0 for any such\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.toml"], "nowhere.toml"),
        (["--save-in", "nowhere"], "--save-in: nowhere is no directory"),
        (["."], ". holds no result"),
    ],
)
def test_bad_input_ends_it_with_one_message(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = command(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_it_leaves_nothing(number: signal.Signals, place: Path, tmp_path: Path) -> None:
    with serving(place / "small.toml", scratch=tmp_path) as (address, process):
        with closing(Client(address)) as asked:
            asked.simulate()
        pids = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        assert pids
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        assert process.wait(60) == (-number if number == signal.SIGKILL else 0)
        for pid in pids:
            gone(pid)
    assert list(tmp_path.iterdir()) == []


def gone(pid: int) -> None:
    """Wait until a process has ended."""
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"process {pid} is still there")


def command(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    made = [sys.executable, "-m", "parshall", "explore", "--no-browser", *arguments]
    return subprocess.run(made, capture_output=True, text=True, cwd=folder, timeout=WAIT_S, check=False)


@pytest.mark.slow
def test_a_control_of_ones_own_is_there_where_the_command_names_it(tmp_path: Path) -> None:
    made = [sys.executable, "-m", "parshall", "new", "control", "mine", "--output", str(tmp_path / "own")]
    subprocess.run(made, check=True, capture_output=True, timeout=WAIT_S)
    [code] = (tmp_path / "own").glob("*.py")
    [name] = [line.split()[1].rstrip(":(") for line in code.read_text().splitlines() if line.startswith("class ")]
    (tmp_path / "small.toml").write_text(SMALL)
    own = {"flows.0.congestion_control": "mine"}
    with (
        serving(tmp_path / "small.toml", "--control", f"mine={code}:{name}") as (address, _),
        closing(Client(address)) as client,
    ):
        assert ">mine</option>" in client.get("/").text
        first = client.simulate(**own)[0]
        assert "problems" not in first, first
        assert "--control=mine=" in json.dumps(first)
    with serving(tmp_path / "small.toml") as (address, _), closing(Client(address)) as client:
        assert "mine" in client.simulate(**own)[0]["problems"][0]
