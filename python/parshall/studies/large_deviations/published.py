"""What the source prints, and where.

References: Loiseau 2010.
"""

from __future__ import annotations

P_PACKET = 0.02
W_MAX = 1000
LENGTH = 2**18
SCALES = (100, 200, 500, 1000)

APEX = 8.6
"""§4.1: apex of Fig. 1(a), packets per RTT."""
F_AT_11 = -0.01
"""§4.1: f(11), from 'e^(-0.01 x 100) = 0.37'; one digit."""
CONSTANT_MEAN = 110.0
"""§4.2: mean under constant cross traffic, packets per RTT (Fig. 3)."""
CONSTANT_RANGE = (73.0, 147.0)
"""§4.2: the window's range under constant cross traffic, packets."""
ON_OFF_RANGE = (125.0, 190.0)
"""§4.2: throughput averaged over 1000 RTTs under ON/OFF cross traffic, packets per RTT (Fig. 5)."""

LIMIT_PACKETS = 262.5
"""Caption of Fig. 5: 3/4 of the 350 packets from which on the source's measured p(w) is 1."""

CAPACITY_BPS, RTT_S, PACKET_BYTES, BUFFER_PACKETS = 1e9, 0.012, 1500, 96
"""§4.2."""
CONSTANT_BPS = 833e6
"""§4.2: the constant cross traffic."""
CROSS_MEAN_BPS, CROSS_STD_BPS, CROSS_BIN_S = 580e6, 108e6, 0.0012
"""§4.2 and caption of Fig. 4: the ON/OFF cross traffic, at the buffer's time scale."""
ON_S, OFF_S, SOURCE_BPS, SOURCES = 0.12, 0.1, 40e6, 32
"""§4.2: mean ON and OFF times, a source's rate. They make a mean of 698 Mbit/s; exchanged, of 582 Mbit/s."""
LONG_RANGE_LOSS = 0.006
"""§5.1, caption of Fig. 6: packet loss rate of the flow among 45 TCP sources."""
LONG_RANGE_S, LONG_RANGE_TAIL, LONG_RANGE_SOURCES = 0.48, 1.1, 45
"""§5.1: mean ON and OFF times, tail index of ON times, sources."""
