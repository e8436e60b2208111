"""Response functions: the mean window of a congestion control as c/p^d.

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | loss events a packet |
| c, d | `Response` | - |
| W | result | packets, mean over time |

The rate is R = MSS/RTT c/p^d. The four rows are those of Guillier et al. 2007, table 1. HighSpeed and
Scalable TCP are Reno wherever Reno's window is the larger one (RFC 3649 §5: below 38 packets; Kelly 2003:
below 16 packets), so their window is the maximum of the two. BIC's row is a linear increase of S_max = 32
packets a round trip with a decrease of 1/8, sqrt(32 (2 - 1/8)/(2/8)) = 15.49; binary search is left out, which
still takes a tenth of the time at windows of 14,000 packets: see `high_speed` for smaller ones.

References: R. Guillier, L. Hablot, P. Vicat-Blanc Primet, INRIA RR-6244, 2007; S. Floyd, RFC 3649,
2003; T. Kelly, Scalable TCP, CCR 33(2), 2003; L. Xu, K. Harfoush, I. Rhee, Binary increase congestion
control, INFOCOM 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Check, Conditions, Rate, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, probability
from parshall.analysis.models.square_root import RARE_TIMEOUTS, is_reno


@dataclass(frozen=True, slots=True)
class Response:
    """One response function, W = c/p^d."""

    c: float
    d: float

    def window(self, loss: ArrayLike) -> FloatArray:
        """Mean window, packets.

        Raises
        ------
        ModelInputError
            If a loss is not in (0, 1).

        Examples
        --------
        >>> round(float(HIGHSPEED.window(1e-7)))
        83981
        """
        return np.asarray(self.c / probability("loss", loss) ** self.d)


RENO = Response(1.22, 0.5)
BIC = Response(15.5, 0.5)
HIGHSPEED = Response(0.12, 0.835)
SCALABLE = Response(0.08, 1.0)


def response_window(name: str, loss: ArrayLike) -> FloatArray:
    """Mean window of `reno`, `bic`, `highspeed` or `scalable`, packets; never below Reno's.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1).
    KeyError
        If there is no response function of that name.

    Examples
    --------
    >>> response_window("scalable", [1e-2, 1e-4]).round(1).tolist()
    [12.2, 800.0]
    """
    return np.maximum(RESPONSES[name].window(loss), RENO.window(loss))


RESPONSES = {"reno": RENO, "bic": BIC, "highspeed": HIGHSPEED, "scalable": SCALABLE}

_TIMEOUTS = "timeouts, which the formula leaves out, are no longer rare"
_BIC_LINEAR = 1e-6


_rare = loss_between(1e-14, RARE_TIMEOUTS, "the window would exceed 10 million packets", _TIMEOUTS)


def _check_reno(conditions: Conditions) -> str | None:
    return is_reno(conditions) or _rare(conditions)


def _rate(name: str) -> Rate:
    def rate(conditions: Conditions) -> FloatArray:
        return np.asarray(response_window(name, conditions.loss) / conditions.rtt_s)

    return rate


def _model(name: str, check: Check) -> ThroughputModel:
    return ThroughputModel(entry(f"response_{name}"), _rate(name), check)


MODELS = (
    _model("reno", _check_reno),
    _model(
        "bic",
        loss_between(
            1e-12,
            _BIC_LINEAR,
            "the window would exceed 10 million packets",
            "binary search takes a tenth of the time or more",
        ),
    ),
    _model("highspeed", loss_between(1e-10, RARE_TIMEOUTS, "RFC 3649 ends its response function there", _TIMEOUTS)),
    _model("scalable", loss_between(1e-8, RARE_TIMEOUTS, "the window would exceed 8 million packets", _TIMEOUTS)),
)
