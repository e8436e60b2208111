"""Who is answered by the explorer: whoever has the secret of its address, from a page of its own."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from explorer import serving

from parshall.explore.peer import is_strangers
from parshall.explore.secret import Secret

WAIT_S = 120.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    saved = tmp_path_factory.mktemp("saved")
    with serving("quickstart", "--save-in", saved) as found:
        yield found


@pytest.fixture(scope="module")
def address(server: tuple[str, subprocess.Popen[str]]) -> str:
    return server[0]


def base(address: str) -> str:
    return address.partition("/?")[0]


def secret_of(address: str) -> str:
    return address.partition("token=")[2]


def cookie(address: str) -> str:
    return httpx.get(address, timeout=WAIT_S).headers["set-cookie"].partition(";")[0]


def ask(address: str, path: str = "/assets/style.css", method: str = "GET", **headers: str) -> httpx.Response:
    given = {name.replace("_", "-"): value.encode("latin-1") for name, value in headers.items()}
    return httpx.request(method, base(address) + path, headers=given, timeout=WAIT_S)


# --- the secret ---


def test_the_address_sets_a_cookie_and_leads_to_one_without_the_secret(address: str) -> None:
    answer = httpx.get(address, timeout=WAIT_S)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith(f"parshall-{base(address).rpartition(':')[2]}=")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert len(secret_of(address)) >= 43, "32 random bytes"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/results"),
        ("GET", "/result?name=."),
        ("GET", "/compare?name=a&name=b"),
        ("GET", "/sweep?name=a"),
        ("GET", "/assets/style.css"),
        ("GET", "/nowhere"),
        ("POST", "/simulate"),
        ("POST", "/save"),
        ("POST", "/"),
        ("OPTIONS", "/simulate"),
        ("PUT", "/save"),
    ],
)
def test_without_the_cookie_nothing_is_answered(method: str, path: str, address: str) -> None:
    port = base(address).rpartition(":")[2]
    for held in ("", f"parshall-{port}=", f"parshall-{port}=wrong", f"parshall-1={secret_of(address)}", "\u00e9;="):
        answer = ask(address, path, method, origin=base(address), content_type="application/json", cookie=held)
        assert answer.status_code == 403
        if method != "HEAD":
            line = answer.json()["problem"] if method == "POST" else answer.text.removesuffix("\n")
            assert line == (
                "open the address that `parshall explore` printed in its terminal: "
                f"http://127.0.0.1:{port}/?token=..., with its secret"
            )
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("wrong", ["", "x", "%00", "%F0%9F", "é"])
def test_another_secret_is_refused(wrong: str, address: str) -> None:
    answer = ask(address, f"/?token={wrong}")
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert ask(address, f"/?token={secret_of(address)[:-1]}").status_code == 403
    assert ask(address, f"/results?token={secret_of(address)}").status_code == 403, "at the start only"


def test_with_the_cookie_pages_are_answered(address: str) -> None:
    assert ask(address, cookie=cookie(address)).status_code == 200
    others = f'foreign={{"json": 1}}; {cookie(address)}; last=1'
    assert ask(address, cookie=others).status_code == 200, "cookies of other servers of this host are there as well"


def test_every_server_has_a_secret_of_its_own() -> None:
    assert Secret(1).address != Secret(1).address
    assert Secret(1).cookie.partition("=")[0] != Secret(2).cookie.partition("=")[0], "browsers mix ports"


def test_the_secret_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("secrets.compare_digest", lambda a, b: asked.append((a, b)) or a == b)
    secret = Secret(1)
    assert secret.is_in_query({"token": secret_of(secret.address)})
    assert not secret.is_in_cookies({"parshall-1": "x"})
    assert not secret.is_in_query({"token": "\ud800"})
    assert len(asked) == 3


def test_the_secret_is_printed_once_and_nowhere_else() -> None:
    with serving("quickstart") as (address, process):
        own = {"cookie": cookie(address)}
        pages = [ask(address, "/", **own), ask(address, "/nowhere", **own), ask(address, "/assets/explore.js", **own)]
        pages += [ask(address, f"/?token={secret_of(address)}x"), ask(address, "/results")]
        arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
        for page in pages:
            assert secret_of(address) not in page.text + str(page.headers)
        assert secret_of(address) not in arguments
        process.terminate()
        out, err = process.communicate(timeout=WAIT_S)
    assert (out, err) == ("", ""), "the one line with the address was read before"


# --- other pages ---


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "nonsense"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://127.0.0.1:PORT"},
        {"origin": "http://localhost:PORT"},
    ],
)
def test_requests_of_other_pages_are_refused_with_the_cookie_too(headers: dict[str, str], address: str) -> None:
    given = {name: value.replace("PORT", base(address).rpartition(":")[2]) for name, value in headers.items()}
    answer = ask(address, cookie=cookie(address), **given)
    assert (answer.status_code, answer.text) == (403, "the request does not come from a page of this server\n")


@pytest.mark.parametrize("headers", [{"sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}])
def test_requests_of_own_pages_are_answered(headers: dict[str, str], address: str) -> None:
    assert ask(address, cookie=cookie(address), **headers).status_code == 200
    assert ask(address, cookie=cookie(address), origin=base(address), **headers).status_code == 200


@pytest.mark.parametrize("host", ["localhost:PORT", "[::1]:PORT"])
def test_tunnels_are_answered(host: str, address: str) -> None:
    host = host.replace("PORT", base(address).rpartition(":")[2])
    assert ask(address, cookie=cookie(address), host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1:PORT.evil.example", "[::1]", ""]
)
def test_other_names_are_refused_with_the_secret_too(host: str, address: str) -> None:
    host = host.replace("PORT", base(address).rpartition(":")[2])
    for path in ("/assets/style.css", f"/?token={secret_of(address)}"):
        answer = ask(address, path, cookie=cookie(address), host=host)
        assert (answer.status_code, "set-cookie" in answer.headers) == (400, False)


def test_a_link_elsewhere_leads_in_by_a_page_that_sends_the_cookie(address: str) -> None:
    """A redirection would count as the other site's request, whose cookies are held back by `SameSite=Strict`."""
    answer = ask(address, f"/?token={secret_of(address)}", sec_fetch_site="cross-site")
    assert answer.status_code == 200
    assert answer.headers["set-cookie"].partition(";")[0] == cookie(address)
    assert 'http-equiv="refresh" content="0; url=/"' in answer.text
    assert secret_of(address) not in answer.text


def test_every_answer_keeps_other_pages_out(address: str) -> None:
    own = cookie(address)
    answers = [
        ask(address, cookie=own),
        ask(address, "/nowhere", cookie=own),
        ask(address, f"/?token={secret_of(address)}"),
        ask(address),
        ask(address, cookie=own, sec_fetch_site="cross-site"),
        ask(address, "/simulate", "OPTIONS", cookie=own, origin="http://evil.example"),
        ask(address, cookie=own, host="evil.example"),
    ]
    assert {answer.status_code for answer in answers} == {200, 303, 400, 403, 404}
    for answer in answers:
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert not [name for name in answer.headers if name.startswith("access-control")]


# --- whose a connection is ---

OWN, OTHER = 1000, 1001
ROWS = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:22E3 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:22E3 STATE 00000000:00000000 00:00000000 00000000  USER        0 2 1 0 100 0 0 10 0
"""
CLIENT = ("127.0.0.1", 40000)


def told(folder: Path, state: str, user: int, table: str = "tcp", host: str = "") -> bool:
    """Whether the client of a table with such a row is a stranger of `OWN`'s server."""
    rows = ROWS.replace("STATE", state).replace("USER", str(user))
    (folder / table).write_text(re.sub("0100007F", f"{host}0100007F", rows))
    return is_strangers(CLIENT, OWN, folder)


def test_connections_of_other_users_are_strangers(tmp_path: Path) -> None:
    assert told(tmp_path, "01", OTHER)
    assert not told(tmp_path, "01", OWN)
    assert not told(tmp_path, "01", 0)
    assert told(tmp_path, "05", 0), "of a closed socket, which has no user any more"


def test_sockets_of_version_6_are_found_as_well(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(ROWS.splitlines()[0])
    assert told(tmp_path, "01", OTHER, "tcp6", "0000000000000000FFFF0000")
    assert not told(tmp_path, "01", OWN, "tcp6", "0000000000000000FFFF0000")


def test_where_nothing_is_known_the_secret_decides(tmp_path: Path) -> None:
    assert not is_strangers(CLIENT, OWN, tmp_path)
    assert told(tmp_path, "01", OTHER)
    assert not is_strangers(("127.0.0.1", 40001), OWN, tmp_path)
    assert not is_strangers(CLIENT, 0, tmp_path), "a server of root's"


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_the_system_says_whose_a_connection_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with other_user(OTHER), socket.socket() as client:
            client.connect(listening.getsockname())
            assert is_strangers(client.getsockname(), OWN)
            assert not is_strangers(client.getsockname(), OTHER)
        with socket.create_connection(listening.getsockname()) as client:
            assert not is_strangers(client.getsockname(), OWN), "root is nobody's stranger"


@contextlib.contextmanager
def other_user(number: int) -> Iterator[None]:
    """Sockets that are made within are another user's."""
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(0)
