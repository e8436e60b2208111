"""Loss events: one for each reduction of the window, counted where it begins.

A loss event has several slots of a round-trip time: packets of one burst are lost on both sides of a slot's edge, and
then they are repaired. The window is reduced once, so the event counts at its first slot. Its other slots are neither
trials nor losses of p(w): what is sent in them cannot begin another event.

References: Loiseau 2010, §4.2, §5.2, whose web100 series counts reductions of cwnd.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]


def begins(lost: BoolArray, repairing: BoolArray | None = None) -> BoolArray:
    """Return True for slots in which a loss event begins.

    Parameters
    ----------
    lost
        Whether a packet of the slot was lost; shape (n,).
    repairing
        Whether the slot belongs to an event that began before; shape (n,). None if the record does not say: then it is
        one that follows a slot with losses.

    Examples
    --------
    >>> lost = np.array([False, True, True, False, True])
    >>> begins(lost).tolist()
    [False, True, False, False, True]
    """
    later = np.concatenate([[False], lost[:-1]]) if repairing is None else repairing
    return np.asarray(lost & ~later, dtype=np.bool_)


def trials(lost: BoolArray, repairing: BoolArray | None = None) -> BoolArray:
    """Return True for slots that count for p(w); arguments as `begins`.

    Examples
    --------
    >>> trials(np.array([False, True, True, False, True])).tolist()
    [True, True, False, True, True]
    """
    later = lost & ~begins(lost) if repairing is None else repairing
    return np.asarray(~later, dtype=np.bool_)
