"""The server: loopback only, on a port of its own, until it is interrupted."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace

from parshall.explore.secret import HOST, Secret
from parshall.explore.subject import Subject
from parshall.explore.workers import Workers
from parshall.foundations.errors import InputError
from parshall.results.records.about import cores
from parshall.scenario.schema import external

MOST_AT_A_TIME = 2
"""Tasks: while one tab drags, another is answered; more would make each of them slower."""
_MOST_CONNECTIONS = 512


def serve(
    place: str | None, port: int = 0, save_in: str | None = None, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve what is at a place until SIGINT or SIGTERM.

    Parameters
    ----------
    place
        As `parshall.explore.subject.opened` takes it.
    port
        Of the server; 0: any that is free.
    save_in
        A directory into which scenarios may be saved.
    ready
        Called with the address, which has the secret in it, when requests are answered.

    Raises
    ------
    InputError
        The place is none, or the port is in use.
    """
    with _socket(port) as listening:
        workers = Workers(max(1, min(MOST_AT_A_TIME, cores())), controls=external.places())
        try:
            asyncio.run(_serve(workers, listening, place, save_in, ready))
        except KeyboardInterrupt:
            pass
        finally:
            workers.close()


async def _serve(
    workers: Workers, listening: socket.socket, place: str | None, save_in: str | None, ready: Callable[[str], None]
) -> None:
    opening = asyncio.create_task(workers.answer("opened", Subject(None, None), {"place": place}))
    importing = asyncio.create_task(asyncio.to_thread(_import))  # meanwhile
    await asyncio.wait((opening, importing))  # both, for what fails must leave nothing under way
    importing.result()
    found: Subject = opening.result()["subject"]

    import uvicorn  # noqa: PLC0415

    from parshall.explore.application import application  # noqa: PLC0415
    from parshall.explore.connection import Connection  # noqa: PLC0415

    secret = Secret(listening.getsockname()[1])
    config = uvicorn.Config(
        application(replace(found, save_in=save_in), workers, secret),
        http=Connection,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
        lifespan="off",
        ws="none",
    )
    ready(secret.address)
    await uvicorn.Server(config).serve(sockets=[listening])


def _import() -> None:
    """Load what the server needs, which takes as long as to read a scenario."""
    import uvicorn  # noqa: F401, PLC0415

    import parshall.explore.application  # noqa: PLC0415
    import parshall.explore.connection  # noqa: F401, PLC0415


def _socket(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen(128)
    except OSError as error:
        made.close()
        reason = error.strerror or str(error)
        raise InputError(
            f"--port: found {port}, which cannot be used: {reason}; accepted: one that is free, or 0 for any such"
        ) from None
    return made
