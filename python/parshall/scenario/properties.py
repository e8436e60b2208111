"""Properties of catalog entries that formulas and pages ask for: the Rust crates declare each once.

Queues and workloads declare their traits, losses their mean and pattern, congestion controls their defaults;
distributions compute their own moments and quantiles, with the code that the simulator draws from.

>>> queue("red").drops, queue("fq_codel").separates, title("bic")
('early', 'flows', 'BIC')
>>> defaults("hybla")["reference_rtt"]  # ps
25000000000
>>> mean({"name": "uniform", "low": 1.0, "high": 3.0})
2.0
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall import _core
from parshall.foundations.errors import InputError
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.profiles import PROFILES
from parshall.scenario.schema.quantities import is_none

Resolved = Mapping[str, Any]
"""A configured entry as the crates read it: its name, and its parameters in the smallest units."""

Found = TypeVar("Found")

_QUANTITIES = ("duration", "rate", "bytes", "packets")


@dataclass(frozen=True, slots=True)
class QdiscOption:
    """A parameter of a queue in ``tc``."""

    parameter: str
    """Its name in scenarios."""
    word: str
    """Its word in ``tc``."""
    form: str
    """Form of its value: `packets`, `bytes`, `time`, `rate`, `number`, `sixteenths`, `percent`, `flag`, `word` or
    `queue`."""
    words: Mapping[str, str]
    """Of a `word`: the values that ``tc`` names otherwise."""


@dataclass(frozen=True, slots=True)
class Qdisc:
    """A queueing discipline of Linux."""

    name: str
    name_in_bytes: str | None
    """Its name where the limit is in bytes, if that is another one."""
    options: tuple[QdiscOption, ...]
    """Parameters that can be set; all others have the kernel's fixed values."""


@dataclass(frozen=True, slots=True)
class QueueTraits:
    """Properties that a queue declares (`crates/net/src/queues/traits.rs` defines the words)."""

    title: str
    """Its name in text."""
    drops: str
    """Time of drops: `tail`, `early` or `departure`."""
    separates: str
    """The packets it separates: `nothing`, `flows`, `profiles`, `low_latency`, `classes`, `responsiveness`."""
    marks: bool
    """True if it can mark packets instead of dropping them."""
    own_rate: bool
    """True if it limits packets to a rate of its own."""
    random: bool
    """True if it draws random numbers itself, apart from queues that are its parameters."""
    thresholds: Sequence[str]
    """Its parameters that are lengths at which it acts."""
    linux: Qdisc | str
    """The queueing discipline of Linux that is the same; or why there is none."""


@dataclass(frozen=True, slots=True)
class WorkloadTraits:
    """Properties that a workload declares (`crates/workload/src/workloads/traits.rs`)."""

    title: str
    """Title in text."""
    datagrams: bool
    """True if it sends datagrams, without TCP."""
    demand: str
    """Demand on the network: `endless`, `finite`, `steady`, `varying`, `controlled`."""
    random: bool
    """True if it draws random numbers."""

    @property
    def greedy(self) -> bool:
        """True if it takes all that it gets, without a pause."""
        return self.demand in {"endless", "finite"}


@dataclass(frozen=True, slots=True)
class LossTraits:
    """Properties that a loss of the medium declares (`crates/net/src/loss.rs`)."""

    mean: float
    """Share of packets lost in the long run."""
    pattern: str
    """Pattern of losses: `none`, `independent`, `periodic`, `bursts`."""

    @property
    def random(self) -> bool:
        """True if losses are drawn at random."""
        return self.pattern not in {"none", "periodic"}


@cache
def _declared() -> dict[str, dict[str, Any]]:
    return {name: dict(pairs) for name, pairs in json.loads(_core.properties()).items()}


@cache
def queue(name: str) -> QueueTraits:
    """The traits of a queue.

    Raises
    ------
    InputError
        There is no such queue.
    """
    declared = _traits("queue", name)
    return QueueTraits(**{**declared, "linux": _linux(**declared["linux"])})


@cache
def workload(name: str) -> WorkloadTraits:
    """The traits of a workload.

    Raises
    ------
    InputError
        There is no such workload.
    """
    return WorkloadTraits(**_traits("workload", name))


def _traits(what: str, name: str) -> Mapping[str, Any]:
    """Return the properties of an entry of the queues or workloads; an InputError names the entries that exist."""
    known: Mapping[str, Mapping[str, Any]] = _declared()[f"{what}s"]
    if name not in known:
        raise InputError(f"{what}: found {name!r}, accepted is one of {', '.join(known)}")
    return known[name]


def _linux(has: Mapping[str, Any] | None = None, lacks: str = "") -> Qdisc | str:
    if has is None:
        return lacks
    options = []
    for option in has["options"]:
        form: Any = option["form"]
        spellings: Any = {}
        if isinstance(form, Mapping):  # a variant of the enum that holds something
            [(form, spellings)] = form.items()
        options.append(QdiscOption(option["parameter"], option["word"], form, dict(spellings)))
    return Qdisc(has["name"], has["name_in_bytes"], tuple(options))


def title(name: str) -> str:
    """The name of a queue or a congestion control as text writes it; `name` itself if it has no other."""
    declared = _declared()
    if name in declared["queues"]:
        return queue(name).title
    return str(declared["control_titles"].get(name, name))


def loss(config: Resolved) -> LossTraits:
    """The traits of a loss.

    Raises
    ------
    InputError
        There is no such loss, or a parameter is wrong.
    """
    return LossTraits(**json.loads(_asked(_core.loss_traits, config)))


@cache
def defaults(name: str, of: str = "congestion_controls") -> Mapping[str, Any]:
    """The defaults of an entry's parameters, quantities in the smallest unit; None: unlimited.

    Parameters
    ----------
    name
        A congestion control, or an entry of another family.
    of
        The family, as ``parshall list`` names it.

    Raises
    ------
    InputError
        There is no such entry.
    """
    for entry in family(of):
        if entry.name == name:
            return {each.name: _value(each.kind, each.default) for each in entry.parameters if each.default is not None}
    raise InputError(f"{of.removesuffix('s').replace('_', ' ')}: found {name!r}, which is not in the catalog")


def needs_timestamps(control: str) -> bool:
    """True for a congestion control that measures delays with every ACK.

    >>> needs_timestamps("vegas"), needs_timestamps("cubic")
    (True, False)
    """
    return _core.needs_timestamps(json.dumps({"name": control, **defaults(control)}))


def law(control: str) -> str:
    """The congestion control of which models speak: of a kernel's own one, the published one that it follows.

    Examples
    --------
    >>> law("cubic_linux"), law("vegas")
    ('cubic', 'vegas')
    """
    followed = {own: published for profile in PROFILES.values() for published, own in profile.controls.items()}
    return followed.get(control, control)


def _value(kind: str, default: str) -> Any:
    if kind in _QUANTITIES:
        return None if is_none(default) else _core.parse_quantity(kind, default)
    return json.loads(default) if kind in {"number", "integer", "boolean", "numbers"} else default


def mean(distribution: Resolved) -> float:
    """The mean of a distribution, in bytes or seconds.

    Raises
    ------
    InputError
        There is no such distribution, or a parameter is wrong.
    """
    return _asked(_core.check_distribution, distribution)


def cv2(distribution: Resolved) -> float:
    """The squared coefficient of variation, variance over squared mean; infinite where the variance is.

    Raises
    ------
    InputError
        As `mean`.

    Examples
    --------
    >>> cv2({"name": "exponential", "mean": 8.0}), cv2({"name": "pareto", "mean": 8.0, "tail_index": 1.5})
    (1.0, inf)
    """
    return _asked(_core.distribution_cv2, distribution)


def quantiles(distribution: Resolved, probabilities: ArrayLike) -> NDArray[np.float64]:
    """The quantiles of a distribution at probabilities in [0, 1], of their shape, in bytes or seconds.

    Raises
    ------
    InputError
        As `mean`, and for a probability out of [0, 1].

    Examples
    --------
    >>> quantiles({"name": "pareto", "mean": 3.0, "tail_index": 1.5}, [0.5]).round(4).tolist()
    [1.5874]
    """
    at = np.asarray(probabilities, dtype=np.float64)
    values = _asked(lambda config: _core.distribution_quantiles(config, at.ravel().tolist()), distribution)
    return np.reshape(values, at.shape)


def _asked(ask: Callable[[str], Found], config: Resolved) -> Found:
    try:
        return ask(json.dumps(config))
    except ValueError as error:
        key, message = error.args
        raise InputError(f"{config.get('name')!r}{key and f', {key}'}: {message}") from None
