"""Text with a unit, as scenarios write quantities.

A field holds a text and what it says, in the units that the simulator takes (picoseconds, bit/s, bytes, packets): it is
read once, when the scenario is made. The reading itself, and its messages, are those of the Rust crate ``units``.

>>> Duration("10 ms"), Duration("10 ms").ps
('10 ms', 10000000000)
>>> Size("20 packets").as_bytes(payload=1460)
29200
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from parshall import _core
from parshall.scenario.schema.problems import shown

PS_PER_S = 10**12
PS_PER_US = 10**6
LARGEST_PACKET = 65_535

_ONLY_PACKETS = re.compile(r"packets?\s*$")
_BDP = re.compile(r"\s*(?P<factor>[0-9]*\.?[0-9]+)\s*BDP\s*$")
_PERCENT = re.compile(r"\s*(?P<number>[0-9]*\.?[0-9]+)\s*%\s*$")
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


def bdp_factor(text: str) -> float | None:
    """2.0 for ``"2 BDP"``, ``None`` for anything else."""
    match = _BDP.match(text)
    return None if match is None else float(match["factor"])


def is_none(text: object) -> bool:
    """True if a value says that there is no limit, or that a mechanism is off."""
    return text is None or text is False or (isinstance(text, str) and text in _WORDS_FOR_NONE)


_TIME = "ps|ns|us|µs|ms|s|min|h"
_SIZE = "B|kB|MB|GB|TB|KiB|MiB|GiB"


def _schema(pattern: str, *examples: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^[0-9][0-9._]* ?({pattern})$", "examples": list(examples)}


class QuantityText(str):
    """A text with a unit, which knows what it says; the type of a scenario's field.

    Raises
    ------
    ValueError
        What was found, what is wrong with it, and the accepted form.
    """

    kind: ClassVar[str]
    schema: ClassVar[dict[str, Any]]
    """JSON Schema of the text, for editors."""

    number: ClassVar[str]
    """Attribute that holds the quantity as a number."""

    base: int
    """In the base unit of its kind."""

    def __new__(cls, text: str) -> Self:
        """Read `text`."""
        self = super().__new__(cls, text)
        self._read()
        return self

    @classmethod
    def in_words(cls) -> str:
        """Return what a field accepts, with an example."""
        return f'text, as "{cls.schema["examples"][0]}"'

    def _read(self) -> None:
        self.base = parse(self.kind, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)

    def _compute(self, *_: object) -> NoReturn:
        """Refuse arithmetic, which would be that of texts.

        Raises
        ------
        TypeError
            It names the attribute that is a number.
        """
        raise TypeError(f'"{self}" is a text with a unit; compute with its number, `.{self.number}`')

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __pow__ = __mod__ = _compute
    __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __neg__ = _compute

    @classmethod
    def read(cls, value: object) -> Self:
        """A field's value: a text, or one that was read before."""
        if type(value) is cls:
            return value
        return cls(str(value) if isinstance(value, str) else shown(value))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.read)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(cls.schema)


def base_of(given: QuantityText | None) -> int | None:
    """A quantity in the base unit of its kind; None: none was given."""
    return None if given is None else given.base


class Duration(QuantityText):
    """A duration; `read` takes a `datetime.timedelta` too."""

    kind = "duration"
    number = "seconds"
    schema = _schema(_TIME, "10 ms")

    @classmethod
    def read(cls, value: object) -> Self:
        """Return a field's value: of a text, of a time, or one that was read before."""
        if isinstance(value, timedelta) and value >= timedelta():
            return cls(written("duration", value // timedelta(microseconds=1) * PS_PER_US))
        return super().read(value)

    @property
    def ps(self) -> int:
        """In picoseconds."""
        return self.base

    @property
    def seconds(self) -> float:
        """In seconds."""
        return self.base / PS_PER_S


class PositiveDuration(Duration):
    """A duration above zero."""

    schema = _schema(_TIME, "60 s")

    def _read(self) -> None:
        super()._read()
        if self.base == 0:
            raise ValueError(f'found "{self}"; write a duration above zero, e.g. "10 ms"')


class ProcessingTime(Duration):
    """A duration, or the time of so many packets at a link."""

    schema = _schema(f"{_TIME}|packets?", "1 packet", "100 us", "0 s")

    service_times: float | None
    """0.5 for ``"0.5 packets"``; None: it is a duration."""

    def _read(self) -> None:
        match = _SERVICE_TIMES.match(self)
        self.service_times = None if match is None else float(match["factor"])
        if match is None:
            try:
                super()._read()
            except ValueError as error:
                raise ValueError(f'{error}, or as service times of the slowest link, e.g. "1 packet"') from None


class Rate(QuantityText):
    """A rate."""

    kind = "rate"
    number = "bps"
    schema = _schema("[kMGT]?bit/s", "48 Mbit/s")

    @property
    def bps(self) -> int:
        """In bit/s."""
        return self.base


class Bytes(QuantityText):
    """A number of bytes."""

    kind = "bytes"
    number = "bytes"
    schema = _schema(_SIZE, "1500 B")

    @property
    def bytes(self) -> int:
        """In bytes."""
        return self.base


class PacketSize(Bytes):
    """The size of a packet."""

    def _read(self) -> None:
        super()._read()
        if not 0 < self.base <= LARGEST_PACKET:
            raise ValueError(f'found "{self}"; a packet has 1 to {LARGEST_PACKET} bytes: write e.g. "1500 B"')


class PositivePackets(QuantityText):
    """A number of packets above zero."""

    kind = "packets"
    number = "packets"
    schema = _schema("packets?", "1000 packets")

    def _read(self) -> None:
        super()._read()
        if self.base == 0:
            raise ValueError(f'found "{self}"; a queue holds at least one packet: write e.g. "1000 packets"')

    @property
    def packets(self) -> int:
        """Number of packets."""
        return self.base


class Size(QuantityText):
    """A size in bytes or packets."""

    kind = "bytes"
    number = "as_bytes(payload)"
    schema = _schema(f"{_SIZE}|packets?", "30 kB", "20 packets")

    in_packets: bool
    """True if its base unit is the packet rather than the byte."""

    def _read(self) -> None:
        self.in_packets = _ONLY_PACKETS.search(self) is not None
        if self.in_packets:
            self.base = parse("packets", self)
            return
        try:
            super()._read()
        except ValueError as error:
            raise ValueError(f'{error}, or in full packets, e.g. "20 packets"') from None

    def as_bytes(self, payload: int) -> int:
        """In bytes; packets count as full payloads of `payload` bytes each."""
        return self.base * payload if self.in_packets else self.base

    def as_packets(self, payload: int) -> int:
        """In whole packets of `payload` bytes each."""
        return self.base if self.in_packets else self.base // payload


class PositiveSize(Size):
    """A size above zero."""

    schema = _schema(f"{_SIZE}|packets?", "64 kB", "64 packets")

    def _read(self) -> None:
        super()._read()
        if self.base == 0:
            raise ValueError(f'found "{self}"; write a size above zero, e.g. "20 packets" or "30 kB"')


class Buffer(Size):
    """A queue's limit above zero: a size, a number of bandwidth-delay products, or a time at the rate of the link."""

    schema = _schema(f"{_SIZE}|packets?|BDP|{_TIME}", "100 packets", "150 kB", "1 BDP", "150 ms")

    bdp: float | None
    """2.0 for ``"2 BDP"``; None: it is given otherwise."""

    seconds: float | None
    """0.15 for ``"150 ms"``, the time that the link takes to send a full buffer; None: it is given otherwise."""

    def _read(self) -> None:
        self.bdp, self.seconds = bdp_factor(self), None
        if self.bdp is None:
            try:
                super()._read()
            except ValueError as error:
                self.seconds = _seconds(self)
                if self.seconds is None:
                    more = 'as bandwidth-delay products, e.g. "1 BDP", or as a time at its rate, e.g. "150 ms"'
                    raise ValueError(f"{error}, {more}") from None
        if self.bdp == 0 or self.seconds == 0 or (self.bdp is None and self.seconds is None and self.base == 0):
            raise ValueError(f'found "{self}"; a queue holds at least one packet: write e.g. "100 packets" or "1 BDP"')


def _seconds(text: str) -> float | None:
    """Return the seconds of a time; None: it is none."""
    try:
        return parse("duration", text) / PS_PER_S
    except ValueError:
        return None


def fraction(value: object) -> object:
    """Return 0.01 for ``"1 %"``, and any other value as it is.

    >>> fraction("2.5 %"), fraction(0.1)
    (0.025, 0.1)
    """
    match = _PERCENT.match(value) if isinstance(value, str) else None
    return value if match is None else float(match["number"]) / 100


FRACTION_TEXT = {"type": "string", "pattern": "^[0-9]*\\.?[0-9]+ ?%$", "examples": ["1 %"]}
"""JSON Schema of a percentage."""


class InWords(NamedTuple):
    """Text for `parshall.scenario.schema.describing` that says what a field accepts."""

    what: str


def or_none(kind: type[QuantityText], word: str) -> Any:
    """The type of a field that holds a quantity, or `word` (or ``false``): there is no limit, a mechanism is off."""
    return Annotated[
        Any,
        PlainValidator(lambda value: word if is_none(value) else kind.read(value)),
        WithJsonSchema({"anyOf": [kind.schema, {"enum": [word, False]}]}),
        InWords(f'{kind.in_words()}, or "{word}"'),
    ]
