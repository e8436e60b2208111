"""Groups of flows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, create_model, field_validator, model_validator

from parshall.scenario.schema import external, profiles, rules
from parshall.scenario.schema.accepted import (
    Accepts,
    BytesField,
    Choice,
    OptionalPackets,
    OptionalProcessingTime,
    OptionalRate,
    PacketSizeField,
    Table,
    initial,
)
from parshall.scenario.schema.catalog import family, sends_datagrams
from parshall.scenario.schema.families import choice, fields
from parshall.scenario.schema.jitter import OptionalJitter
from parshall.scenario.schema.kernel import KernelOptions
from parshall.scenario.schema.links import NAME
from parshall.scenario.schema.model import Part
from parshall.scenario.schema.profiles import PROFILES, told_by
from parshall.scenario.schema.quantities import Bytes, Duration, PacketSize, ProcessingTime
from parshall.scenario.schema.spread import Rtt, Start

TCP_PARAMETERS = family("tcp")[0].parameters
TCP_KEYS = (*(parameter.name for parameter in TCP_PARAMETERS), "congestion_control", "tcp")
"""The keys of a group that say something about TCP."""

PROCESSING_TIME = ProcessingTime("1 packet")
"""Range of the hosts' random processing time: docs/simulator.md says what was measured."""

DSCP = (
    {"CS0": 0, "LE": 1, "VOICE-ADMIT": 44, "EF": 46}
    | {f"CS{precedence}": 8 * precedence for precedence in range(1, 8)}
    | {f"AF{precedence}{drops}": 8 * precedence + 2 * drops for precedence in range(1, 5) for drops in range(1, 4)}
)
"""Code points with a name: RFC 2474, RFC 2597, RFC 3246, RFC 5865, RFC 8622."""

USUAL_DELAYED_ACK = "40 ms"
"""Meaning of ``delayed_ack = true`` (Linux's shortest)."""

_BOOLEANS = {"delayed_ack": {True: USUAL_DELAYED_ACK}, "ssthresh_cached": {False: "off", True: "last"}}
"""Meaning of truth values for keys that take other values too."""

DEFAULTS_WITH = {entry.name: entry.defaults for entry in family("congestion_controls")}
"""Keys of a group that have another default with a congestion control, and that default."""

if TYPE_CHECKING:
    from parshall.scenario.schema.tcp_options import TcpOptions

    Dscp = str
    Profile = str
    CongestionControl = Any
    Workload = Any
    Marker = Any
else:
    Dscp = Literal[tuple(sorted(DSCP, key=DSCP.__getitem__))]
    Profile = Literal[(*PROFILES, profiles.RFC)]
    TcpOptions = create_model("TcpOptions", __base__=Part, __module__=__name__, **fields(TCP_PARAMETERS))
    CongestionControl = choice("congestion_controls", "a congestion control")
    Workload = choice("workloads", "a workload")
    Marker = choice("markers", "a marker")


def _with_booleans(schema: dict[str, Any]) -> None:
    schema["properties"]["delayed_ack"]["anyOf"].append({"const": True})
    cached = schema["properties"]["ssthresh_cached"]
    cached["anyOf"] = [{"enum": cached.pop("enum"), "type": cached.pop("type")}, {"type": "boolean"}]


class FlowGroup(TcpOptions):
    """A group of flows that share all settings but their RTTs and start times."""

    model_config = ConfigDict(json_schema_extra=_with_booleans)

    name: str | None = Field(
        default=None, description="Its name in the records (default: flows0, flows1, ...)", pattern=NAME
    )
    count: int = Field(default=1, ge=1, le=2**32 - 1, strict=True, description="How many flows")
    rtt: Accepts[Rtt, str | timedelta | Part | Table] = Field(
        description="Two-way propagation delay, the links' included"
    )
    jitter: OptionalJitter = Field(
        default=initial(None),
        description="What each data packet takes on its flow's own part of the path, beside the delay (default: "
        "nothing)",
    )
    reverse_jitter: OptionalJitter = Field(
        default=initial(None), description="The same of ACKs, and of requests (TCP only; default: nothing)"
    )
    start: Accepts[Start, str | timedelta | Part | Table] = Field(
        default=initial(Duration("0 s")), description="When each flow starts"
    )
    access_rate: OptionalRate = Field(
        default=initial(None), description="Rate of each flow's own access link (default: unlimited)"
    )
    access_queue: OptionalPackets = Field(
        default=initial(None),
        description="Packets that the queue of the access link holds, the one in transmission included; what does not "
        "fit is lost (with `access_rate`, TCP only; default: no limit)",
    )
    processing_time: OptionalProcessingTime = Field(
        default=initial(None),
        description="As at the top level, for these flows (default: the top level's; for poisson none)",
    )
    marker: Accepts[Marker, Choice] = Field(
        default=initial("none"), description="Which packets are within the flow's profile, where its access link ends"
    )
    dscp: Dscp = Field(
        default="CS0",
        description="Code point of the flows' packets, ACKs included, by which some queues tell classes apart",
    )
    direction: Literal["forward", "reverse"] = Field(
        default="forward", description="Which way data crosses the bottleneck"
    )
    path: list[str] | None = Field(default=None, description="Links that data crosses, in order", min_length=1)
    reverse_path: list[str] | None = Field(default=None, description="Links that ACKs cross, in order")
    congestion_control: Accepts[CongestionControl, Choice] = Field(
        default=initial("cubic"), description="How the window answers to the network"
    )
    tcp: Profile = Field(
        default=profiles.DEFAULT,
        description="Whose TCP it is: that of a kernel, with its defaults of the other keys and its own congestion "
        "controls (`linux` is the newest), or that of the RFCs",
    )
    workload: Accepts[Workload, Choice] = Field(default=initial("bulk"), description="What the application does")
    packet_size: PacketSizeField = Field(
        default=initial(PacketSize("1500 B")), description="A full packet on the wire, headers included"
    )
    header_size: BytesField = Field(default=initial(Bytes("40 B")), description="Of these, headers: not goodput")
    endpoint: Literal["kernel", "simulated"] = Field(
        default="kernel",
        description="Who is at both ends when the scenario is emulated: the kernel's own TCP, or the simulator's; a "
        "simulation has the simulator's in any case",
    )
    kernel: Accepts[KernelOptions | None, KernelOptions | Table | None] = Field(
        default=initial(None), description="What the kernel's hosts are told, when it is emulated"
    )

    @model_validator(mode="before")
    @classmethod
    def _meaning_of_booleans(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = {key: data[key] for key in _BOOLEANS if isinstance(data.get(key), bool)}
        return data | {key: _BOOLEANS[key].get(value, value) for key, value in given.items()}

    @model_validator(mode="after")
    def _defaults_of_profile_and_control(self) -> Self:
        # They are defaults still: not among the keys that were given.
        of_profile = self.profile.defaults if self.profile else {}
        if self.profile and self.kernel:
            of_profile = of_profile | told_by(self.kernel.sysctls)
        for key, default in (*of_profile.items(), *_defaults_with(self.congestion_control)):
            if key not in self.model_fields_set:
                self.__dict__[key] = _read(key, default)
        if self.payload_bytes <= 0:
            raise ValueError(f'packet_size: found "{self.packet_size}"; a header is {self.header_size} with this tcp')
        return self

    @field_validator("header_size")
    @classmethod
    def _some_payload(cls, header_size: Bytes, info: Any) -> Bytes:
        packet_size = info.data.get("packet_size")
        if packet_size is not None and header_size.bytes >= packet_size.bytes:
            raise ValueError(f'found "{header_size}"; a header is smaller than its packet, here {packet_size}')
        return header_size

    @property
    def profile(self) -> profiles.Profile | None:
        """The kernel whose TCP it has; None: it has that of the RFCs, or sends datagrams."""
        return None if sends_datagrams(self.workload.name) else PROFILES.get(self.tcp)

    @property
    def forms(self) -> dict[str, str]:
        """The form of each policy of `rules`; a table without a base differs from the rules of the profile."""
        base = self.profile.defaults["rules"] if self.profile else None
        return rules.table(self.rules, str(base)) if base else rules.table(self.rules)

    @property
    def payload_bytes(self) -> int:
        """Bytes of a full packet that count as goodput."""
        return self.packet_size.bytes - self.header_size.bytes


def _defaults_with(control: Any) -> Iterable[tuple[str, str | bool]]:
    """Keys of a group that have another default with this control, and that default."""
    steered = getattr(control, "control", None)
    outside = external.declared(control.name) or external.declared(getattr(steered, "name", None))
    if outside is not None:
        return [("l4s", True)] if "l4s" in outside.needs else []
    return DEFAULTS_WITH[control.name]


@cache
def _read(key: str, default: Any) -> Any:
    """A default of a profile or of a control, as the group holds it."""
    return TypeAdapter(FlowGroup.model_fields[key].rebuild_annotation()).validate_python(default)
