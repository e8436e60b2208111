"""Max-min fair shares of one link whose queue serves the flows apart.

| symbol | argument | unit |
| --- | --- | --- |
| C | `capacity` | any rate |
| d_i | `most`: what flow i takes at most, if the link leaves it all it wants | as C |
| x_i | result: min(d_i, s) | as C |

The level s is the one at which the x_i add up to C; with sum d_i <= C nobody is held back. A scheduler that serves the
flows in turn gives these shares to flows that always have a packet waiting or take less than s, whatever their
round-trip times and controls.

References: A. Demers, S. Keshav, S. Shenker, Analysis and simulation of a fair queueing algorithm, SIGCOMM 1989, §2;
E. Hahne, Round-robin scheduling for max-min fairness in data networks, IEEE JSAC 9(7), 1991.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, limit, positive


def max_min_shares(capacity: float, most: ArrayLike, flows: ArrayLike = 1.0) -> FloatArray:
    """Max-min fair shares, one for each entry of `most`.

    Parameters
    ----------
    capacity
        Of the link.
    most
        What a flow takes at most; infinite if it takes all there is.
    flows
        How many flows each entry stands for.

    Raises
    ------
    ModelInputError
        An argument is not positive.

    Examples
    --------
    >>> max_min_shares(10, [1, 4, np.inf]).tolist(), max_min_shares(10, [1, np.inf], [1, 3]).tolist()
    ([1.0, 4.0, 5.0], [1.0, 3.0])
    """
    rate = float(positive("capacity", capacity))
    wanted, weight = np.broadcast_arrays(np.atleast_1d(limit("most", most)), positive("flows", flows))
    order = np.argsort(wanted)
    below = np.concatenate(([0.0], np.cumsum((wanted * weight)[order])[:-1]))  # taken by those that want less
    above = np.cumsum(weight[order][::-1])[::-1]
    levels = (rate - below) / above
    held_back = levels < wanted[order]
    level = float(levels[held_back][0]) if held_back.any() else np.inf
    return np.asarray(np.minimum(wanted, level))
