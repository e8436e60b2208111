"""Files and packets of an observation."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parshall.foundations.errors import InputError


def without_folders(paths: Sequence[Path]) -> list[Path]:
    """The paths, a folder replaced by the files in it, in the order of their names; hidden ones are left out."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        else:
            found.append(path)
    return found


def packet_filter(
    from_s: float | None, until_s: float | None, hosts: Sequence[str], ports: Sequence[int]
) -> dict[str, Any]:
    """Return the part of captures that is read, as the reader takes it.

    Raises
    ------
    InputError
        A time, an address or a port is none.
    """
    for name, value in (("from_s", from_s), ("until_s", until_s)):
        if value is not None and not 0 <= value < 1e9:
            raise InputError(f"{name}: found {value}; accepted: seconds, 0 or more")
    if from_s is not None and until_s is not None and until_s <= from_s:
        raise InputError(f"until_s: found {until_s}; accepted: more than from_s, {from_s}")
    for host in hosts:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            raise InputError(f'hosts: found "{host}"; accepted: an IPv4 or IPv6 address, as 192.0.2.7') from None
    for port in ports:
        if not 0 <= port < 1 << 16:
            raise InputError(f"ports: found {port}; accepted: 0 to 65535")
    return {"from_s": from_s, "until_s": until_s, "hosts": list(hosts), "ports": list(ports)}
