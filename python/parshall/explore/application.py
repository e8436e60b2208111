"""The routes of the application: each hands its request to the workers, and passes their answers on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from parshall.explore.clients import GoneError, Lines, while_connected
from parshall.explore.guard import Guard
from parshall.explore.secret import Secret
from parshall.explore.subject import Subject
from parshall.explore.workers import BusyError, StaleError, TooLongError, Workers
from parshall.foundations.errors import InputError
from parshall.report.style import style_sheet

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_STATUS: Mapping[type[InputError], int] = {BusyError: 503, StaleError: 409, TooLongError: 504}

_OWN_POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
)
"""Of pages of results, which are documents of their own: their scripts reach nothing of this server."""


def application(subject: Subject, workers: Workers, secret: Secret) -> Starlette:
    """The application for what is explored; within an event loop, for its first page is made at once."""
    return _Routes(subject, workers, secret).application


class _Routes:
    """What answers requests."""

    def __init__(self, subject: Subject, workers: Workers, secret: Secret) -> None:
        self._subject = subject
        self._workers = workers
        self._first = None if subject.base is None else asyncio.create_task(workers.answer("explorer", subject, {}))
        """The first page: it is made while the browser starts."""
        own = resources.files("parshall.explore") / "assets"
        self._assets = {
            "style.css": style_sheet() + (own / "explore.css").read_text(encoding="utf-8"),
            **{name: (own / name).read_text(encoding="utf-8") for name in ("explore.js", "server.js", "results.js")},
        }
        routes = [
            Route("/", self.start),
            Route("/explore", self.explore),
            Route("/results", self.results),
            Route("/result", self.result),
            Route("/compare", self.compare),
            Route("/sweep", self.sweep),
            Route("/assets/{name}", self.asset),
            Route("/simulate", self.simulate, methods=["POST"]),
            Route("/save", self.save, methods=["POST"]),
        ]
        handlers = {InputError: _refusal, GoneError: _nobody, ClientDisconnect: _nobody}
        guard = Middleware(Guard, secret)
        self.application = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)

    async def start(self, request: Request) -> Response:
        """The scenario if there is one, else the list of results."""
        if self._subject.base is None:
            return RedirectResponse("/results", 303)
        first = self._first
        if first is None:
            return await self._page(request, "explorer", {})
        try:
            return HTMLResponse((await while_connected(request, asyncio.shield(first)))["html"])
        finally:
            if first.done():
                self._first = None

    async def explore(self, request: Request) -> Response:
        """The scenario of a result."""
        return await self._page(request, "explorer", {"of": request.query_params.get("of", "")})

    async def results(self, request: Request) -> Response:
        """The list of results."""
        return await self._page(request, "listing", {})

    async def result(self, request: Request) -> Response:
        """The page of a result."""
        return await self._page(request, "result", {"name": request.query_params.get("name", "")}, _OWN_POLICY)

    async def compare(self, request: Request) -> Response:
        """The page of a comparison of those that were chosen."""
        names = list(dict.fromkeys(request.query_params.getlist("name")))
        return await self._page(request, "comparison", {"names": names}, _OWN_POLICY)

    async def sweep(self, request: Request) -> Response:
        """A metric of a sweep."""
        return await self._page(request, "sweep", {"name": "", **request.query_params})

    async def asset(self, request: Request) -> Response:
        """A style sheet or a script of ours."""
        name = request.path_params["name"]
        if name not in self._assets:
            return _page_of_problem("there is no such file", 404)
        return Response(self._assets[name], media_type=_TYPES[name.rpartition(".")[2]])

    async def simulate(self, request: Request) -> Response:
        """The answers to changed values, a line of JSON each, as they come."""
        asked = await _body(request)
        tab, number = asked.get("tab"), asked.get("number")
        if not (isinstance(tab, str) and len(tab) <= 64 and isinstance(number, int)):
            raise InputError("tab, number: accepted: a text of at most 64 characters, and a whole number")
        names = asked.get("figures", [])
        if not (isinstance(names, list) and all(isinstance(each, str) for each in names)):
            raise InputError("figures: accepted: a list of names")
        answers = self._workers.answers("simulate", self._subject, asked, tab, number)
        # What is refused before it begins has a status of its own.
        return Lines(await while_connected(request, anext(answers, None)), answers)

    async def save(self, request: Request) -> Response:
        """Write a scenario into the directory that was named for it."""
        asked = self._workers.answer("save", self._subject, await _body(request))
        return JSONResponse(await while_connected(request, asked))

    async def _page(self, request: Request, task: str, asked: Mapping[str, Any], policy: str = "") -> Response:
        answer = await while_connected(request, self._workers.answer(task, self._subject, asked))
        return HTMLResponse(answer["html"], headers={"Content-Security-Policy": policy} if policy else None)


async def _body(request: Request) -> dict[str, Any]:
    """The JSON of a request.

    Raises
    ------
    InputError
        It is none.
    """
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InputError("the request is no JSON") from None
    if not isinstance(found, dict):
        raise InputError("the request is no JSON object")
    if not isinstance(found.get("values", {}), dict):
        raise InputError("values: accepted: a text for each key")
    return found


async def _refusal(request: Request, error: Exception) -> Response:
    status = next((number for kind, number in _STATUS.items() if isinstance(error, kind)), 400)
    if request.method == "POST":
        return JSONResponse({"problem": str(error), "problems": [str(error)]}, status)
    return _page_of_problem(str(error), 404 if status == 400 else status)


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=204)  # nobody reads it


def _page_of_problem(problem: str, status: int) -> Response:
    body = f'<h1>This does not work</h1><p>{escape(problem)}</p><p><a href="/">Back</a></p>'
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += '<title>Parshall</title><link rel="stylesheet" href="/assets/style.css">'
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head>{head}</head><body><main>{body}</main></body></html>', status
    )
