"""Clients of the explorer that go away, that say nothing, that do not read: none of them keeps others waiting."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from explorer import serving
from strangers import connected, cookie, request, used_s

from parshall.explore import preview
from parshall.explore.application import application
from parshall.explore.connection import Connection
from parshall.explore.opening import opened
from parshall.explore.secret import Secret
from parshall.explore.subject import Base
from parshall.explore.workers import ExplorerWorkers

WAIT_S = 120.0
ABANDONED = 40
MOST_DELAY_S = 2.0
QUICKSTART = opened("quickstart")


# --- clients that go away ---


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with serving("quickstart") as found:
        yield found


def simulate(number: int, tab: str, **values: str) -> dict[str, Any]:
    return {"tab": tab, "number": number, "values": values}


def changed(address: str, held: str, tab: str) -> list[dict[str, Any]]:
    """The answers to a change."""
    headers = {"origin": address.partition("/?")[0], "cookie": held}
    answer = httpx.post(f"{headers['origin']}/simulate", json=simulate(1, tab), headers=headers, timeout=WAIT_S)
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.parametrize(
    ("method", "path", "body", "stays_s"),
    [
        ("POST", "/simulate", {"flows.0.count": str(preview.MOST_FLOWS - 10)}, 0.0),
        ("POST", "/simulate", {"flows.0.count": "300000"}, 0.0),
        ("POST", "/simulate", {"bottleneck.rate": "100 Gbit/s"}, 1.0),
        ("GET", "/", None, 0.0),
    ],
)
def test_clients_that_are_gone_delay_nobody(
    method: str, path: str, body: Any, stays_s: float, server: tuple[str, subprocess.Popen[str]]
) -> None:
    """Seconds of the processors are counted, all of which the next change would have to wait for at worst."""
    address, process = server
    held = cookie(address)
    for tab in ("first", "second", "third"):  # the processes have loaded what they need
        changed(address, held, tab)
    started_s = used_s(process.pid)
    changed(address, held, "usual")
    usual_s = used_s(process.pid) - started_s
    clients = []
    for number in range(ABANDONED):
        asked = None if body is None else simulate(1, f"gone {number}", **body)
        clients.append(connected(address))
        clients[-1].sendall(request(address, held, method, path, asked))
        if not stays_s:
            clients[-1].close()
    time.sleep(stays_s)
    for each in clients:
        each.close()
    started_s = used_s(process.pid)
    assert "finding" in changed(address, held, "next")[0]
    time.sleep(1.0)  # what goes on after it is counted as well
    assert used_s(process.pid) - started_s < usual_s + MOST_DELAY_S


@contextlib.contextmanager
def own_server(
    workers: ExplorerWorkers, patience_s: float = WAIT_S, most_owing: int = 64, sends_bytes: int | None = None
) -> Iterator[str]:
    """The address of a server in this process, on an event loop of its own.

    Its clients have so much time, and the system takes so many bytes for those that do not read.
    """

    class Quick(Connection):
        pass

    Quick.patience_s, Quick.most_owing = patience_s, most_owing
    listening = socket.create_server(("127.0.0.1", 0))
    if sends_bytes is not None:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sends_bytes)
    secret = Secret(listening.getsockname()[1])
    servers: list[uvicorn.Server] = []

    async def serve() -> None:
        config = uvicorn.Config(
            application(QUICKSTART, workers, secret), http=Quick, lifespan="off", ws="none", log_level="warning"
        )
        config.timeout_graceful_shutdown = 1
        servers.append(uvicorn.Server(config))
        await servers[0].serve(sockets=[listening])

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield secret.address
    finally:
        servers[0].should_exit = True
        thread.join(WAIT_S)
        workers.close()
        listening.close()


def test_no_task_is_begun_for_those_who_left_while_they_waited() -> None:
    workers = ExplorerWorkers(1)
    with own_server(workers) as address:
        held = cookie(address)
        changed(address, held, "first")
        begun = workers.begun
        clients = [connected(address) for _ in range(ABANDONED)]
        for number, each in enumerate(clients):
            each.sendall(request(address, held, "POST", "/simulate", simulate(1, f"gone {number}")))
        for each in clients:
            each.close()
        changed(address, held, "next")
        assert workers.begun - begun <= 5, "what was asked before the server noticed, and the last"


def test_a_task_that_goes_on_for_nobody_costs_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.explore.workers.STOP_S", 0.0)
    monkeypatch.setattr("parshall.explore.workers.LOOK_S", 0.001)

    async def told() -> None:
        workers = ExplorerWorkers(1)
        try:
            before = workers.processes
            gone = asyncio.create_task(workers.answer("explorer", QUICKSTART, {}))  # it takes longer than no time
            while not workers.begun:
                await asyncio.sleep(0.01)
            gone.cancel()
            assert "html" in await workers.answer("explorer", QUICKSTART, {})
            assert workers.processes != before
        finally:
            workers.close()

    asyncio.run(told())


# --- clients that keep the server waiting ---

SMALL = 4096
"""Bytes of a buffer of the system's, which doubles it."""
HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def ended_after_s(client: socket.socket, sent: bytes = b"") -> float:
    """How long a connection lasts whose client goes on to send some byte, and takes nothing."""
    started = time.monotonic()
    client.settimeout(0.1)
    while time.monotonic() - started < WAIT_S:
        try:
            if sent:
                client.sendall(sent)
            if not client.recv(1):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - started


@pytest.fixture(scope="module")
def impatient() -> Iterator[str]:
    with own_server(ExplorerWorkers(1), patience_s=1.0, sends_bytes=SMALL) as address:
        cookie(address)
        yield address


@pytest.mark.parametrize("first", [b"", b"G", HEAD, b"POST /simulate HTTP/1.1\r\n"])
def test_half_a_request_is_not_waited_for(first: bytes, impatient: str) -> None:
    with connected(impatient) as client:
        client.sendall(first)
        assert ended_after_s(client) < WAIT_S


def test_a_byte_now_and_then_is_no_request(impatient: str) -> None:
    with connected(impatient) as client:
        client.sendall(HEAD + b"X-Long: ")
        assert ended_after_s(client, b"x") < WAIT_S


def test_a_body_that_does_not_come_is_not_waited_for(impatient: str) -> None:
    asked = request(impatient, cookie(impatient), "POST", "/simulate", simulate(1, "slow"))
    with connected(impatient) as client:
        client.sendall(asked[:-5])
        assert ended_after_s(client) < WAIT_S


def test_the_answer_is_waited_for_as_long_as_it_takes(impatient: str) -> None:
    """The processes' time is not the client's."""
    answers = changed(impatient, cookie(impatient), "patient")
    assert "predicted" in answers[-1]


def test_a_client_that_does_not_read_holds_no_process() -> None:
    """Its answers are too long for the buffers on the way; the one process answers the next client meanwhile."""
    with own_server(ExplorerWorkers(1), sends_bytes=SMALL) as address:
        held = cookie(address)
        with deaf_client(address) as deaf:
            asked = simulate(1, "deaf") | {"figures": [each.name for each in preview.figures()]}
            deaf.sendall(request(address, held, "POST", "/simulate", asked))
            assert deaf.recv(1) == b"H"
            assert "finding" in changed(address, held, "next")[0]
            received = 1
            while part := deaf.recv(1 << 16):
                received += len(part)
                if part.endswith(b"0\r\n\r\n"):
                    break
            assert received > 80_000, "more than a server holds back for a client"


@contextlib.contextmanager
def deaf_client(address: str) -> Iterator[socket.socket]:
    """A connection on which the system takes few bytes for a client that does not read."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        client.settimeout(WAIT_S)
        client.connect(("127.0.0.1", int(address.partition("/?")[0].rpartition(":")[2])))
        yield client


def test_a_client_that_takes_nothing_is_left(impatient: str) -> None:
    with deaf_client(impatient) as deaf:
        asked = request(impatient, cookie(impatient), "GET", "/assets/style.css")
        with pytest.raises(ConnectionError):
            go_on(deaf, asked * 300)


def go_on(client: socket.socket, first: bytes) -> None:
    """Send some bytes, and then one now and then."""
    client.sendall(first)
    for _ in range(int(WAIT_S / 0.1)):
        time.sleep(0.1)
        client.sendall(b"x")


def test_many_that_say_nothing_keep_nobody_out() -> None:
    with own_server(ExplorerWorkers(1), most_owing=8) as address:
        silent = [connected(address) for _ in range(50)]
        assert "finding" in changed(address, cookie(address), "me")[0]
        ended = sum(ended_within(each) for each in silent)
        assert ended >= 50 - 8
        for each in silent:
            each.close()


def ended_within(client: socket.socket, most_s: float = 0.05) -> bool:
    """Whether the other end has closed a connection."""
    client.settimeout(most_s)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


# --- bounds ---


def test_too_many_flows_are_refused_before_anything_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "recorded", lambda *_, **__: pytest.fail("it was simulated"))
    monkeypatch.setattr(preview, "most_flows", lambda *_: pytest.fail("its flows were made"))
    assert QUICKSTART.base is not None
    (answer,) = preview.shown(QUICKSTART.base, {"values": {"flows.1.count": "1000000"}}, lambda: False)
    (problem,) = answer["problems"]
    assert problem.startswith("flows.1.count: found 1000004 flows in all"), problem
    assert f"accepted: {preview.MOST_FLOWS} here; `parshall run` takes more" in problem


def test_the_sum_of_the_groups_is_what_counts() -> None:
    half = preview.MOST_FLOWS // 2 + 1
    group = {"rtt": "20 ms", "count": half}
    document = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [group, group]}
    (answer,) = preview.shown(Base(document, ".", None, "parshall run x"), {}, lambda: False)
    assert answer["problems"][0].startswith(f"flows.0.count: found {2 * half} flows in all")


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"figures": 5}, 400),
        ({"figures": [5]}, 400),
        ({"figures": {"overview": 1}}, 400),
        ({"width": 10**400}, 200),
        ({"width": -1}, 200),
        ({"width": float("nan")}, 200),
    ],
)
def test_odd_wishes_are_refused_or_bounded(asked: dict[str, Any], status: int, impatient: str) -> None:
    origin = impatient.partition("/?")[0]
    headers = {"origin": origin, "cookie": cookie(impatient), "content-type": "application/json"}
    body = json.dumps(simulate(1, f"odd {asked!r}"[:60]) | asked)
    answer = httpx.post(f"{origin}/simulate", content=body, headers=headers, timeout=WAIT_S)
    assert answer.status_code == status
    assert "fault in Parshall" not in answer.text
