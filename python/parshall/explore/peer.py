"""The user who owns a connection over the loopback interface, as Linux says in ``/proc/net/tcp``.

It holds where the secret is seen by others: the command line of a browser shows the address that it opens to all users
of the machine, and a browser sends the cookie to any server on another port of the same host.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

_TABLES = Path("/proc/self/net")
_ESTABLISHED = "01"
_ROOT = 0


def is_strangers(client: tuple[str, int], user: int | None = None, tables: Path = _TABLES) -> bool:
    """True if the other end of a connection is known to be another user's, or closed.

    Root is nobody's stranger, and a server of root's serves whoever has its secret. Where the system does not say whose
    a connection is, it is no stranger's, and the secret alone decides.

    Parameters
    ----------
    client
        Address and port of the other end, which is on this machine.
    user
        The number of the user whose server it is; that of this process, unless it is given.
    tables
        Where the system's tables are.
    """
    own = os.getuid() if user is None else user
    if own == _ROOT:
        return False
    row = _row(client, tables)
    if row is None:
        return False
    state, of = row
    return state != _ESTABLISHED or of not in {own, _ROOT}  # a socket that is closed has no user any more


def _row(client: tuple[str, int], tables: Path) -> tuple[str, int] | None:
    """State and user of the socket with this address; None if there is none in the tables."""
    for table, host in (("tcp", _hexadecimal(client[0])), ("tcp6", f"{_MAPPED}{_hexadecimal(client[0])}")):
        wanted = f"{host}:{client[1]:04X}"
        try:
            rows = (tables / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, rows):
            if words[1] == wanted:
                return words[3], int(words[7])
    return None


def _hexadecimal(address: str) -> str:
    """An address as the tables write it: its word in the machine's order of bytes."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}"


_MAPPED = "0" * 16 + f"{int.from_bytes(bytes([0, 0, 0xFF, 0xFF]), sys.byteorder):08X}"
"""Before an address of version 4 of a socket of version 6."""
