"""Text with a unit, as scenarios write quantities.

A field keeps the text that was given; `parse` turns it into the integer that the simulator takes (picoseconds,
bit/s, bytes, packets). The reading itself, and its messages, are those of the Rust crate ``units``.

>>> parse("duration", "10 ms")
10000000000
>>> parse_size("20 packets", payload=1460)
29200
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from parshall import _core
from parshall.schema.problems import shown

PS_PER_S = 10**12
LARGEST_PACKET = 65_535

_ONLY_PACKETS = re.compile(r"packets?\s*$")
_BDP = re.compile(r"\s*(?P<factor>[0-9]*\.?[0-9]+)\s*BDP\s*$")
_SERVICE_TIMES = re.compile(r"\s*(?P<factor>[0-9]*\.?[0-9]+)\s*packets?\s*$")
_WORDS_FOR_NONE = ("unlimited", "off", "none")


def parse(kind: str, text: str) -> int:
    """`text` in the base unit of `kind`: ``duration`` (ps), ``rate`` (bit/s), ``bytes`` or ``packets``.

    Raises
    ------
    ValueError
        What was found, what is wrong with it, and the accepted form.
    """
    return _core.parse_quantity(kind, text)


def written(kind: str, value: int) -> str:
    """`value`, in the base unit of `kind`, as a scenario writes it: what `parse` reads.

    >>> written("duration", 10_000_000_000)
    '10 ms'
    """
    return _core.format_quantity(kind, value)


def in_packets(text: str) -> bool:
    """Whether a size is given in packets rather than in bytes."""
    return _ONLY_PACKETS.search(text) is not None


def parse_size(text: str, payload: int) -> int:
    """A size in bytes; packets count as full payloads of `payload` bytes each."""
    if in_packets(text):
        return parse("packets", text) * payload
    return parse("bytes", text)


def bdp_factor(text: str) -> float | None:
    """2.0 for ``"2 BDP"``, ``None`` for anything else."""
    match = _BDP.match(text)
    return None if match is None else float(match["factor"])


def service_times(text: str) -> float | None:
    """0.5 for ``"0.5 packets"``, ``None`` for anything else."""
    match = _SERVICE_TIMES.match(text)
    return None if match is None else float(match["factor"])


def is_none(text: object) -> bool:
    """Whether a value says that there is no limit, or that a mechanism is off."""
    return text is None or text is False or (isinstance(text, str) and text in _WORDS_FOR_NONE)


def check_duration(text: str) -> None:
    """Raise ValueError for anything but a duration."""
    parse("duration", text)


def check_positive_duration(text: str) -> None:
    """Raise ValueError for anything but a duration above zero."""
    if parse("duration", text) == 0:
        raise ValueError(f'found "{text}"; write a duration above zero, e.g. "10 ms"')


def check_processing_time(text: str) -> None:
    """Raise ValueError for anything but a duration, or the time of so many packets at a link."""
    if service_times(text) is None:
        try:
            parse("duration", text)
        except ValueError as error:
            raise ValueError(f'{error}, or as service times of the slowest link, e.g. "1 packet"') from None


def check_rate(text: str) -> None:
    """Raise ValueError for anything but a rate."""
    parse("rate", text)


def check_bytes(text: str) -> None:
    """Raise ValueError for anything but a number of bytes."""
    parse("bytes", text)


def check_packet_size(text: str) -> None:
    """Raise ValueError for anything but the size of a packet."""
    if not 0 < parse("bytes", text) <= LARGEST_PACKET:
        raise ValueError(f'found "{text}"; a packet has 1 to {LARGEST_PACKET} bytes: write e.g. "1500 B"')


def check_packets(text: str) -> None:
    """Raise ValueError for anything but a number of packets."""
    parse("packets", text)


def check_positive_packets(text: str) -> None:
    """Raise ValueError for anything but a number of packets above zero."""
    if parse("packets", text) == 0:
        raise ValueError(f'found "{text}"; a queue holds at least one packet: write e.g. "1000 packets"')


def check_size(text: str) -> None:
    """Raise ValueError for anything but a size in bytes or packets."""
    if in_packets(text):
        check_packets(text)
        return
    try:
        parse("bytes", text)
    except ValueError as error:
        raise ValueError(f'{error}, or in full packets, e.g. "20 packets"') from None


def check_positive_size(text: str) -> None:
    """Raise ValueError for anything but a size above zero."""
    check_size(text)
    if parse_size(text, payload=1) == 0:
        raise ValueError(f'found "{text}"; write a size above zero, e.g. "20 packets" or "30 kB"')


def check_buffer(text: str) -> None:
    """Raise ValueError for anything but a queue limit above zero."""
    factor = bdp_factor(text)
    if factor is None:
        try:
            check_size(text)
        except ValueError as error:
            raise ValueError(f'{error}, or as bandwidth-delay products, e.g. "1 BDP"') from None
    if factor == 0.0 or (factor is None and parse_size(text, payload=1) == 0):
        raise ValueError(f'found "{text}"; a queue holds at least one packet: write e.g. "100 packets" or "1 BDP"')


@dataclass(frozen=True)
class Form:
    """A kind of quantity: how to check it, what an editor shows, and the word for "none" if there is one."""

    check: Callable[[str], None]
    schema: dict[str, Any]
    none: str | None = None

    def validate(self, value: object) -> str:
        """`value` if it is a text of this form; ValueError otherwise."""
        if self.none is not None and is_none(value):
            return self.none
        text = value if isinstance(value, str) else shown(value)
        self.check(text)
        return text

    def or_none(self, word: str) -> Form:
        """The same form, with `word` (or ``false``) for no limit, or a mechanism that is off."""
        schema = {"anyOf": [self.schema, {"enum": [word, False]}]}
        return Form(self.check, schema, word)

    def annotated(self) -> Any:
        """The type of a pydantic field of this form."""
        return Annotated[str, BeforeValidator(self.validate), WithJsonSchema(self.schema)]


def _schema(pattern: str, *examples: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^[0-9][0-9._]* ?({pattern})$", "examples": list(examples)}


_TIME = "ps|ns|us|µs|ms|s|min|h"
_SIZE = "B|kB|MB|GB|TB|KiB|MiB|GiB|packets?"

DURATION = Form(check_duration, _schema(_TIME, "10 ms"))
POSITIVE_DURATION = Form(check_positive_duration, _schema(_TIME, "60 s"))
PROCESSING_TIME = Form(check_processing_time, _schema(f"{_TIME}|packets?", "1 packet", "100 us", "0 s"))
RATE = Form(check_rate, _schema("[kMGT]?bit/s", "48 Mbit/s"))
BYTES = Form(check_bytes, _schema("B|kB|MB|GB|TB|KiB|MiB|GiB", "1500 B"))
PACKET_SIZE = Form(check_packet_size, BYTES.schema)
PACKETS = Form(check_packets, _schema("packets?", "10 packets"))
POSITIVE_PACKETS = Form(check_positive_packets, _schema("packets?", "1000 packets"))
SIZE = Form(check_size, _schema(_SIZE, "30 kB", "20 packets"))
POSITIVE_SIZE = Form(check_positive_size, _schema(_SIZE, "64 kB", "64 packets"))
BUFFER = Form(check_buffer, _schema(f"{_SIZE}|BDP", "100 packets", "150 kB", "1 BDP"))

Duration = Annotated[str, BeforeValidator(DURATION.validate), WithJsonSchema(DURATION.schema)]
PositiveDuration = Annotated[str, BeforeValidator(POSITIVE_DURATION.validate), WithJsonSchema(POSITIVE_DURATION.schema)]
ProcessingTime = Annotated[str, BeforeValidator(PROCESSING_TIME.validate), WithJsonSchema(PROCESSING_TIME.schema)]
Rate = Annotated[str, BeforeValidator(RATE.validate), WithJsonSchema(RATE.schema)]
PositivePackets = Annotated[str, BeforeValidator(POSITIVE_PACKETS.validate), WithJsonSchema(POSITIVE_PACKETS.schema)]
PacketSize = Annotated[str, BeforeValidator(PACKET_SIZE.validate), WithJsonSchema(PACKET_SIZE.schema)]
Bytes = Annotated[str, BeforeValidator(BYTES.validate), WithJsonSchema(BYTES.schema)]
