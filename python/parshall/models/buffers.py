"""How busy long-lived Reno flows keep a link behind a drop-tail buffer.

| symbol | argument | unit |
| --- | --- | --- |
| b | `buffer`: the buffer's size over the bandwidth-delay product | 1 |
| n | `flows` | 1 |
| W | the window at a loss, (1 + b) bandwidth-delay products | BDP |

*One flow*, or flows whose losses come at the same time: the window grows from W/2 to W by a packet a round trip. While
it is below one BDP, a round trip takes the propagation delay and the link is not full; from then on the link is full
and the queue grows. A period sends (3/8) W^2 and takes (1 - W/2) + (W^2 - 1)/2 round trips' worth of the link, so that

    utilisation = (3/4) (1 + b)^2 / (1 + b + b^2),  b <= 1,

which is 3/4 without a buffer and 1 with a whole BDP, the rule of thumb.

*Many flows* that are not in step: the sum of their windows is nearly normal, and

    utilisation = erf( (3 sqrt(3) / (2 sqrt(2))) b sqrt(n) / (1 + b) ),

a lower bound (Appenzeller et al., section 3). It goes to 0 with b, where not even flows in step lose so much; so the
larger one of both answers is given.

Assumed: all flows are long, are Reno (the window is halved), have similar round trips, and lose packets in this buffer
alone.

References: G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM 2004, sections 2 and 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from parshall.models.inputs import FloatArray, ModelInputError, positive


def utilisation(buffer: ArrayLike, flows: ArrayLike = 1) -> FloatArray:
    """The share of the link's capacity that Reno flows use.

    Parameters
    ----------
    buffer
        Size of the buffer, bandwidth-delay products.
    flows
        How many flows there are.

    Raises
    ------
    ModelInputError
        A buffer is negative, or there is less than one flow.

    Source: Appenzeller et al. 2004, sections 2 and 3.

    Examples
    --------
    The source's table: a hundredth of the bandwidth-delay product for 10,000 flows gives 98.99 %.

    >>> utilisation([0.0, 1.0]).tolist(), round(float(utilisation(0.01, 10_000)), 4)
    ([0.75, 1.0], 0.9899)
    """
    size, number = _not_negative(buffer), positive("flows", flows)
    if np.any(number < 1):
        raise ModelInputError(f"flows: found {float(np.min(number)):g}, accepted is 1 or more")
    below = np.minimum(size, 1.0)
    in_step = 0.75 * (1 + below) ** 2 / (1 + below + below**2)
    apart = erf(3 * np.sqrt(3) / (2 * np.sqrt(2)) * size * np.sqrt(number) / (1 + size))
    return np.asarray(np.where(number == 1, in_step, np.maximum(in_step, apart)))


def _not_negative(buffer: ArrayLike) -> FloatArray:
    size = np.asarray(buffer, dtype=np.float64)
    if not np.all(size >= 0):
        raise ModelInputError(f"buffer: found {float(np.min(size)):g}, accepted is 0 or more")
    return size
