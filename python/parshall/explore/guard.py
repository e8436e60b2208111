"""The requests that are answered: those for this host, from a page of this server, by whoever has its secret.

| refused | why |
| --- | --- |
| another host or port in ``Host`` | a page elsewhere whose name was made to mean this machine (DNS rebinding) |
| another ``Origin`` or ``Sec-Fetch-Site``; a POST without ``Origin`` | forms, scripts and links of other pages |
| no cookie with the secret | another user of the machine, another program |
| a connection of another user | they saw the address (`parshall.explore.peer`) |
| a POST that is no JSON, or longer than `LONGEST_BODY` | what other pages may send without asking first |

The one request without a cookie is the first, for ``/?token=...``: its answer sets the cookie.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parshall.explore.peer import is_strangers
from parshall.explore.secret import HOST, KEY, Secret

HOSTS = (HOST, "localhost", "[::1]")
"""The last two are those of tunnels."""
LONGEST_BODY = 64 * 1024

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Of our own pages: no script but ours. Pages of results say in themselves what they may do, which is less."""

_OWN_SITES = ("same-origin", "none")
"""Of ``Sec-Fetch-Site``: our pages, and an address that a person typed or opened."""


class Guard:
    """Refuses what does not come from a page of this server, and sets the headers that keep pages apart."""

    def __init__(self, application: ASGIApp, secret: Secret) -> None:
        self._application = application
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["X-Frame-Options"] = "DENY"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        request = Request(scope)
        answer = self._elsewhere(request) or self._entry(request) or self._foreign(request) or _unread(request)
        await (answer or self._application)(scope, receive, with_headers)

    def _elsewhere(self, request: Request) -> Response | None:
        """Refuses a request for another host."""
        hosts = request.headers.getlist("host")
        if len(hosts) == 1 and hosts[0] in {f"{host}:{self._secret.port}" for host in HOSTS}:
            return None
        own = f"{HOST}:{self._secret.port}"
        return _refusal(request, f"this server answers by the name {own} only; a tunnel must have that port too", 400)

    def _entry(self, request: Request) -> Response | None:
        """Answers the first request, whose address has the secret in it, by setting the cookie."""
        if request.method != "GET" or request.url.path != "/" or KEY not in request.query_params:
            return None
        if not self._secret.is_in_query(request.query_params) or _is_strangers(request):
            return self._no_secret(request)
        answer: Response = RedirectResponse("/", 303)
        if request.headers.get("sec-fetch-site", "none") not in _OWN_SITES:
            # A browser that was sent here by a page elsewhere does not send the cookie along with a redirection.
            answer = HTMLResponse(
                '<!doctype html><meta http-equiv="refresh" content="0; url=/"><a href="/">Parshall</a>'
            )
        answer.headers["Set-Cookie"] = self._secret.cookie
        return answer

    def _foreign(self, request: Request) -> Response | None:
        """Refuses a request of another page, and one without the secret."""
        origin = request.headers.get("origin")
        is_own = origin == f"http://{request.headers['host']}"
        needs_origin = request.method not in {"GET", "HEAD"}
        is_elsewhere = request.headers.get("sec-fetch-site", "none") not in _OWN_SITES
        if is_elsewhere or not (is_own or (origin is None and not needs_origin)):
            return _refusal(request, "the request does not come from a page of this server", 403)
        if not self._secret.is_in_cookies(request.cookies) or _is_strangers(request):
            return self._no_secret(request)
        return None

    def _no_secret(self, request: Request) -> Response:
        start = f"http://{HOST}:{self._secret.port}/?{KEY}=..."
        return _refusal(
            request, f"open the address that `parshall explore` printed in its terminal: {start}, with its secret", 403
        )


def _unread(request: Request) -> Response | None:
    """Refuses a body that is not to be read."""
    if request.method in {"GET", "HEAD"}:
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return _refusal(request, "accepted: application/json", 415)
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > LONGEST_BODY:
        return _refusal(request, f"accepted: a body of at most {LONGEST_BODY} bytes", 413)
    return None


def _is_strangers(request: Request) -> bool:
    return request.client is not None and is_strangers((request.client.host, request.client.port))


def _refusal(request: Request, problem: str, status: int) -> Response:
    """One line; for our scripts in JSON."""
    if request.method == "POST":
        return JSONResponse({"problem": problem, "problems": [problem]}, status)
    return PlainTextResponse(f"{problem}\n", status)
