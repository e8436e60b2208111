"""Steady-state throughput of a TCP flow: the face of the formulas, one module a family.

`evaluate` asks one model by name and gets a value or the reason why there is none; the functions re-exported
here are the formulas themselves, vectorised and without regard to their ranges. `MODELS` is the list; a new
model is a file with its `ThroughputModel` and a line here.

Examples
--------
>>> answer = evaluate("pftk", loss=0.01, rtt_s=0.1, rto_s=0.2, packets_per_ack=2)
>>> round(float(answer.value), 1), answer.in_range
(76.7, True)
>>> evaluate("response_bic", loss=0.01, rtt_s=0.1).reason
'loss 0.01 is above 1e-06: binary search takes a tenth of the time or more'
"""

from __future__ import annotations

from functools import cache
from math import inf

from numpy.typing import ArrayLike

from parshall.analysis.models import cubic, delay_and_loss, high_speed, pftk, response, square_root, vegas
from parshall.analysis.models.answer import Answer, Conditions, ThroughputModel
from parshall.analysis.models.catalog import known
from parshall.analysis.models.cubic import cubic_independent_window, cubic_window
from parshall.analysis.models.delay_and_loss import compound_window, hybla_window, westwood_window, yeah_window
from parshall.analysis.models.high_speed import bic_window, htcp_window, scalable_window
from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive
from parshall.analysis.models.pftk import approximate_rate as pftk_approximate_rate
from parshall.analysis.models.pftk import delivery_rate as pftk_delivery_rate
from parshall.analysis.models.pftk import send_rate as pftk_send_rate
from parshall.analysis.models.response import response_window
from parshall.analysis.models.square_root import aimd_window, independent_losses_window, square_root_window
from parshall.analysis.models.vegas import vegas_rate, vegas_window
from parshall.foundations import plugins
from parshall.scenario.properties import defaults

__all__ = [
    "MODELS",
    "Answer",
    "Conditions",
    "ModelInputError",
    "ThroughputModel",
    "aimd_window",
    "bic_window",
    "compound_window",
    "cubic_independent_window",
    "cubic_window",
    "evaluate",
    "goodput_bps",
    "htcp_window",
    "hybla_window",
    "independent_losses_window",
    "model",
    "models_for",
    "pftk_approximate_rate",
    "pftk_delivery_rate",
    "pftk_send_rate",
    "response_window",
    "scalable_window",
    "square_root_window",
    "vegas_rate",
    "vegas_window",
    "westwood_window",
    "yeah_window",
]

MODELS: tuple[ThroughputModel, ...] = (
    *pftk.MODELS,
    *square_root.MODELS,
    *cubic.MODELS,
    *vegas.MODELS,
    *high_speed.MODELS,
    *delay_and_loss.MODELS,
    *response.MODELS,
)


@cache
def models() -> tuple[ThroughputModel, ...]:
    """Every model that there is: Parshall's own, and those of installed packages."""
    known()  # refuses what cannot be used
    added = (content for _, _, content in plugins.loaded("models", "model"))
    return (*MODELS, *(each for each in added if isinstance(each, ThroughputModel)))


def model(name: str) -> ThroughputModel:
    """Return the model called `name`.

    Raises
    ------
    ModelInputError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> model("cubic").entry.reference
    'RFC 9438 §5'
    """
    every = models()
    for one in every:
        if one.name == name:
            return one
    raise ModelInputError(f"model: found {name!r}, accepted is one of {', '.join(each.name for each in every)}")


def models_for(control: str) -> tuple[ThroughputModel, ...]:
    """Return the models of a congestion control, the most complete first; empty if it has none.

    Examples
    --------
    >>> [m.name for m in models_for("cubic")]
    ['cubic', 'cubic_independent']
    """
    return tuple(one for one in models() if control in one.entry.controls)


def evaluate(
    name: str,
    *,
    loss: ArrayLike,
    rtt_s: ArrayLike,
    rto_s: ArrayLike | None = None,
    packets_per_ack: float = 1.0,
    window_limit_packets: float = inf,
    independent_losses: bool | None = None,
    queueing_delay_s: ArrayLike | None = None,
    **parameters: float | bool,
) -> Answer:
    """Ask model `name` about flows under these conditions; `parameters` are the congestion control's.

    Raises
    ------
    ModelInputError
        If there is no such model or parameter, or an argument is out of bounds
        (`parshall.analysis.models.answer.Conditions`).

    Examples
    --------
    >>> evaluate("cubic", loss=1e-6, rtt_s=0.1, c=4).window_packets.round().tolist()
    10538.0
    """
    conditions = Conditions.of(
        loss=loss,
        rtt_s=rtt_s,
        rto_s=rto_s,
        packets_per_ack=packets_per_ack,
        window_limit_packets=window_limit_packets,
        independent_losses=independent_losses,
        queueing_delay_s=queueing_delay_s,
        parameters=parameters,
    )
    asked = model(name)
    for parameter in parameters.keys() - defaults(asked.control).keys():
        accepted = ", ".join(defaults(asked.control)) or "none"
        raise ModelInputError(f"{parameter}: {asked.control} has no such parameter, accepted are {accepted}")
    return asked.answer(conditions)


def goodput_bps(rate_packets_per_s: ArrayLike, payload_bytes: ArrayLike) -> FloatArray:
    """Bits of payload a second.

    Raises
    ------
    ModelInputError
        If an argument is not positive and finite.

    Examples
    --------
    >>> float(goodput_bps(1000, 1460))
    11680000.0
    """
    rate = positive("rate_packets_per_s", rate_packets_per_s)
    return rate * positive("payload_bytes", payload_bytes) * 8
