"""TCP sessions with reservations, and routers that keep them: the fixed point of Malouch & Liu.

| module | what |
| --- | --- |
| `fixed_point` | the answer, and how it is asked |
| `traffic` | TCP sessions and datagrams |
| `response` | what a session sends at given losses: the source's formulas |
| `chain` | the same, of a session with SACK and random losses |
| `router` | the RIO queue of given loads |
| `network` | one round: loads, losses, rates, loads |
| `solver` | Newton's method, and what is done where it fails |

Examples
--------
>>> sessions = Sessions(rtt_s=[0.1, 0.2, 0.3], reserved_per_s=20, burst_packets=10, access_per_s=125)
>>> found = fixed_point(sessions, Router.tail_drop(200, limit_packets=30))
>>> bool(found.converged), found.session_delivered_per_s.round(0).tolist()
(True, [88.0, 55.0, 40.0])

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002.
"""

from parshall_studies.diffserv.fixed_point import FixedPoint, fixed_point
from parshall_studies.diffserv.response import PRINTED, REFINED, TABLES, Formulas, SessionRates, session_rates
from parshall_studies.diffserv.router import Router, RouterState, router_state
from parshall_studies.diffserv.traffic import Datagrams, Sessions

__all__ = [
    "PRINTED",
    "REFINED",
    "TABLES",
    "Datagrams",
    "FixedPoint",
    "Formulas",
    "Router",
    "RouterState",
    "SessionRates",
    "Sessions",
    "fixed_point",
    "router_state",
    "session_rates",
]
