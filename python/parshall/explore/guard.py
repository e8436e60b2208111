"""What every request must be: for this host, and, if it changes or computes something, from a page of this server.

| refused | why |
| --- | --- |
| another host in ``Host`` | a page elsewhere whose name was made to mean this machine (DNS rebinding) |
| a POST whose ``Origin`` is not this server, or that has none | forms and scripts of other pages |
| a POST that is no JSON, or longer than `LONGEST_BODY` | what other pages may send without asking first |
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
LONGEST_BODY = 64 * 1024

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Of our own pages: no script but ours. Pages of results say in themselves what they may do, which is less."""


class Guard:
    """Refuses what does not come from a page of this server, and sets the headers that keep pages apart."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        refused = _refused(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._application(scope, receive, with_headers)


def _refused(scope: Scope) -> Response | None:
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].rpartition(":")[0] not in HOSTS:
        return PlainTextResponse("this server answers on this machine only, by the address that it printed\n", 400)
    if scope["method"] in {"GET", "HEAD"}:
        return None
    if headers.get("origin") != f"http://{hosts[0]}":
        return JSONResponse({"problem": "the request does not come from a page of this server"}, 403)
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return JSONResponse({"problem": "accepted: application/json"}, 415)
    length = headers.get("content-length", "")
    if not length.isdecimal() or int(length) > LONGEST_BODY:
        return JSONResponse({"problem": f"accepted: a body of at most {LONGEST_BODY} bytes"}, 413)
    return None
