"""Two ranks of Open MPI, one on each host of an emulation: PA with a library of MPI, and exchanges as NPB's IS and CG.

Nothing is compiled and nothing of Python is needed: the library is called through ctypes. Nor is there a remote shell:
``mpirun`` starts what it wants on the other host through the server, which runs there anyway.

| role | where | what |
| --- | --- | --- |
| ``serve`` | the server's host | runs the commands that come through a socket of the file system |
| ``launch`` | the client's host | ``mpirun`` with a rank on each host; bounded in time |
| ``agent`` | the client's host | the remote shell of ``mpirun``: hands a command to ``serve`` |
| ``rank`` | both | one of `EXCHANGES`; rank 0 writes how long each took, in s, to a file of JSON |

Ranks and daemons use TCP on the device between the hosts, and nothing else: neither shared memory, which both hosts
have since they are one machine, nor another interface.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4; Bailey et al., The NAS Parallel Benchmarks,
RNR-94-007 (IS, CG).
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PORT = 9000
"""At which the server shows that it is there."""
DEVICE = "parshall"
"""The hosts' only device but the loopback."""
_LIBRARY = "libmpi.so.40"
"""Of Open MPI 4; its handles are symbols of these names."""
_HANDLES = ("ompi_mpi_comm_world", "ompi_mpi_byte", "ompi_mpi_int", "ompi_mpi_double", "ompi_mpi_op_sum")
IS_BUCKETS, CG_ROWS = 1024, 7000
"""Of NPB 3: IS has so many buckets, CG of class W so many rows."""
CG_REDUCTIONS = 2
"""Sums over all ranks an inner iteration of CG."""


def missing() -> str | None:
    """Why there is no MPI, as part of a sentence, with how to install it; else nothing."""
    absent = next((name for name in ("mpirun", "orted", "ip") if shutil.which(name) is None), None)
    if absent is None:
        try:
            ctypes.CDLL(_LIBRARY)
        except OSError:
            absent = _LIBRARY
    return None if absent is None else f"there is no {absent} here (Debian, Ubuntu: apt install openmpi-bin iproute2)"


# --- the exchanges ---


class World:
    """Two ranks, by the C interface of Open MPI; buffers are bytes that nobody reads.

    Raises
    ------
    OSError
        A call failed.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(_LIBRARY, mode=ctypes.RTLD_GLOBAL)
        self._call("Init", None, None)
        names = ("world", "byte", "int", "double", "sum")
        handles = (ctypes.addressof(ctypes.c_char.in_dll(self._library, name)) for name in _HANDLES)
        self._handles = dict(zip(names, map(ctypes.c_void_p, handles), strict=True))
        rank, size = ctypes.c_int(), ctypes.c_int()
        self._call("Comm_rank", self._handles["world"], ctypes.byref(rank))
        self._call("Comm_size", self._handles["world"], ctypes.byref(size))
        if size.value != 2:
            raise OSError(f"found {size.value} ranks; accepted: 2")
        self.rank, self.other = rank.value, 1 - rank.value

    def _call(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._library, f"MPI_{name}")(*arguments):
            raise OSError(f"MPI_{name} failed with status {status}")

    def barrier(self) -> None:
        """Until both ranks are here."""
        self._call("Barrier", self._handles["world"])

    def ping_pong(self, message: ctypes.Array[ctypes.c_char]) -> None:
        """A message there and back."""
        send = ("Send", message, len(message), self._handles["byte"], self.other, 0, self._handles["world"])
        receive = ("Recv", *send[1:], None)
        for name, *arguments in (send, receive) if self.rank == 0 else (receive, send):
            self._call(name, *arguments)

    def sum(self, kind: str, count: int) -> None:
        """So many numbers summed over both ranks, at both."""
        size = count * (8 if kind == "double" else 4)
        here, there = (ctypes.create_string_buffer(size) for _ in range(2))
        self._call("Allreduce", here, there, count, self._handles[kind], self._handles["sum"], self._handles["world"])

    def all_to_all(self, bytes_each: int) -> None:
        """So many bytes from each rank to each, sizes told with them."""
        counts, places = (ctypes.c_int * 2)(bytes_each, bytes_each), (ctypes.c_int * 2)(0, bytes_each)
        here, there = (ctypes.create_string_buffer(2 * bytes_each) for _ in range(2))
        kind, world = self._handles["byte"], self._handles["world"]
        self._call("Alltoallv", here, counts, places, kind, there, counts, places, kind, world)

    def swap(self, size: int) -> None:
        """So many bytes both ways at once."""
        here, there = (ctypes.create_string_buffer(size) for _ in range(2))
        kind, world = self._handles["byte"], self._handles["world"]
        self._call("Sendrecv", here, size, kind, self.other, 0, there, size, kind, self.other, 0, world, None)

    def end(self) -> None:
        """Leave."""
        self._call("Finalize")


def ping_pong(world: World, size: int) -> None:
    """PA: a message of so many bytes there and back."""
    world.ping_pong(ctypes.create_string_buffer(size))


def integer_sort(world: World, size: int) -> None:
    """An iteration of IS: sizes of buckets summed, how many keys go where, and the keys, so many bytes to each rank."""
    world.sum("int", IS_BUCKETS)
    world.all_to_all(4)
    world.all_to_all(size)


def conjugate_gradient(world: World, size: int) -> None:
    """An inner iteration of CG: the partner's part of a vector, and sums of one number that all wait for."""
    world.swap(size)
    for _ in range(CG_REDUCTIONS):
        world.sum("double", 1)


EXCHANGES: dict[str, Callable[[World, int], None]] = {
    "ping_pong": ping_pong,
    "is": integer_sort,
    "cg": conjugate_gradient,
}


def rank(times: Path, exchange: str, size: int, count: int) -> None:
    """Do an exchange so often; rank 0 leaves the times."""
    world = World()
    world.barrier()
    taken = []
    for _ in range(count):
        began = time.monotonic()
        EXCHANGES[exchange](world, size)
        taken.append(time.monotonic() - began)
    world.barrier()
    if world.rank == 0:
        times.write_text(json.dumps(taken), encoding="utf-8")
    world.end()


# --- how ranks are started ---


@dataclass(frozen=True)
class Work:
    """What ranks do: which of `EXCHANGES`, with so many bytes, and how often.

    `eager`: whether messages leave at once, however large; else the library agrees with the receiver before a large
    one.
    """

    exchange: str
    size: int
    count: int
    eager: bool = False


def commands(folder: Path, times: Path, work: Work, seconds: float) -> tuple[list[str], list[str]]:
    """The client and the server of `parshall.instruments.emulation.run_programs`.

    Parameters
    ----------
    folder
        A temporary one.
    times
        Where rank 0 leaves its times.
    seconds
        After which it is given up.
    """
    program, channel = [sys.executable, str(Path(__file__))], str(folder / "commands")
    ranks = [str(times), work.exchange, str(work.size), str(work.count)]
    limits = [f"{seconds:.0f}", str(work.size if work.eager else 0)]
    client = [*program, "launch", channel, "{client}", "{server}", *limits, *ranks]
    return client, [*program, "serve", channel, "{server}"]


def launch(channel: Path, hosts: tuple[str, str], seconds: str, eager: int, ranks: list[str]) -> int:
    """Run a rank on each host, this one being the first; the exit status of ``mpirun``."""
    client, server = hosts
    _addressed(client)
    program = [sys.executable, str(Path(__file__))]
    agent = channel.parent / "agent"
    agent.write_text(f'#!/bin/sh\nexec {shlex.join([*program, "agent", str(channel)])} "$@"\n', encoding="utf-8")
    agent.chmod(0o700)
    settings = {
        "plm_rsh_agent": str(agent),
        "orte_keep_fqdn_hostnames": "1",
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": DEVICE,
        "oob_tcp_if_include": DEVICE,
        # Ranks wait by asking again and again: others may go first.
        "mpi_yield_when_idle": "1",
    }
    if eager:
        header = 1024
        settings |= {"btl_tcp_eager_limit": str(eager + header), "btl_tcp_rndv_eager_limit": str(eager + header)}
    options = [word for name, value in settings.items() for word in ("--mca", name, value)]
    where = ["--host", f"{client}:1,{server}:1", "-np", "2", "--map-by", "node", "--bind-to", "none"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    command = ["mpirun", *root, "--timeout", seconds, *options, *where, *program, "rank", *ranks]
    return subprocess.run(  # noqa: S603 - numbers of ours
        command, env=_environment(channel.parent / "client"), check=False
    ).returncode


def serve(channel: Path, address: str) -> None:
    """Run the commands that come, each as long as who asked for it is there."""
    _addressed(address)
    environment = _environment(channel.parent / "server")
    with socket.socket(socket.AF_UNIX) as asked, socket.create_server((address, PORT)):
        asked.bind(str(channel))
        asked.listen()
        while True:
            connection, _ = asked.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as text:
                command = json.loads(text.readline())
                status = subprocess.run(  # noqa: S603 - what our own mpirun asks for
                    ["/bin/sh", "-c", command], env=environment, check=False
                ).returncode
                text.write(f"{status}\n")


def agent(channel: Path, command: list[str]) -> int:
    """What a remote shell does: run words, joined, on the other host."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(channel))
        with connection.makefile("rw", encoding="utf-8") as text:
            text.write(json.dumps(" ".join(command)) + "\n")
            text.flush()
            return int(text.readline() or 1)


def _addressed(address: str) -> None:
    """Give the device its host's address: the library asks devices for theirs."""
    command = ["ip", "address", "replace", f"{address}/32", "dev", DEVICE]
    subprocess.run(command, check=True)  # noqa: S603 - the address is Parshall's


def _environment(folder: Path) -> dict[str, str]:
    """Files of a host's daemon and ranks are its own: both hosts have the name and the files of this machine."""
    folder.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(folder)}


def _main(role: str, words: list[str]) -> int:
    match role:
        case "serve":
            serve(Path(words[0]), words[1])
        case "launch":
            return launch(Path(words[0]), (words[1], words[2]), words[3], int(words[4]), words[5:])
        case "agent":
            return agent(Path(words[0]), words[2:])  # the second word is the host's name: there is one
        case _:
            rank(Path(words[0]), words[1], int(words[2]), int(words[3]))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2:]))
