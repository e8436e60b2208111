"""A connection of the server, which does not wait for its client for ever.

| a client that | is waited for |
| --- | --- |
| connects, and sends no whole request | `PATIENCE_S`, however often it sends a byte |
| takes nothing of its answer | `PATIENCE_S` since it last took something |
| is one of more than `MOST_OWING` that have sent no whole request | until then, if it is the oldest |
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

PATIENCE_S = 10.0
"""Clients are on this machine."""
MOST_OWING = 64
_LOOK_S = 0.5


class Connection(H11Protocol):
    """Ends when its client keeps it waiting."""

    patience_s = PATIENCE_S
    most_owing = MOST_OWING

    _owed: object = None
    """The part of the request or answer that the client owes; it changes when the client goes on."""
    _since_s = 0.0
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        self._watch()
        owing = [each for each in self.connections if isinstance(each, Connection) and each.owes_request]
        if len(owing) > self.most_owing:
            min(owing, key=lambda each: each._since_s).transport.abort()  # noqa: SLF001 - another of its own kind

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone, or was left."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    @property
    def owes_request(self) -> bool:
        """True if no whole request has come since the last answer, on a connection that is still HTTP's."""
        if self.transport.is_closing():
            return False
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _watch(self) -> None:
        now_s, owed = self.loop.time(), self._debt()
        if owed is None or owed != self._owed:
            self._owed, self._since_s = owed, now_s
        elif now_s - self._since_s >= self.patience_s:
            self.transport.abort()  # to close it would wait for the client
            return
        self._look = self.loop.call_later(min(_LOOK_S, self.patience_s / 4), self._watch)

    def _debt(self) -> object:
        if left := self.transport.get_write_buffer_size():
            return self.cycle, left
        return (self.cycle, "request") if self.owes_request else None
