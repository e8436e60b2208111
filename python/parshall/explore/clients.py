"""Work for clients that may go away: it is given up when they do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from parshall.foundations.errors import InputError

T = TypeVar("T")
Answers = AsyncGenerator[dict[str, Any]]


class GoneError(Exception):
    """The client has gone; nobody reads an answer."""


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of some work, which is cancelled when the client of a request goes away.

    Raises
    ------
    GoneError
        It has gone.
    """
    gone = asyncio.ensure_future(_disconnected(request))
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait((gone, working), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise GoneError
        return working.result()
    finally:
        gone.cancel()
        working.cancel()
        await asyncio.gather(gone, working, return_exceptions=True)


class Lines(StreamingResponse):
    """The answers to a request, a line of JSON each, as they come.

    They are taken as soon as they are there: a client that does not read them holds no process.
    """

    def __init__(self, first: dict[str, Any] | None, later: Answers) -> None:
        super().__init__(self._lines(first), media_type="application/x-ndjson")
        self._answers = later
        self._later = asyncio.create_task(_all(later))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._later.cancel()
            await asyncio.wait((self._later,))
            await self._answers.aclose()

    async def _lines(self, first: dict[str, Any] | None) -> AsyncIterator[str]:
        if first is not None:
            yield json.dumps(first) + "\n"
        for answer in await self._later:
            yield json.dumps(answer) + "\n"


async def _all(answers: Answers) -> list[dict[str, Any]]:
    made = []
    try:
        async for answer in answers:
            made.append(answer)  # noqa: PERF401 - what comes before an error is kept
    except InputError as error:
        made.append({"problems": [str(error)]})
    return made


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
