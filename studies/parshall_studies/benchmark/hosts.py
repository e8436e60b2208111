"""The hosts of the benchmark: what limits a flow within them, whose TCP they have, and what real ones are told.

| factor | without it | with it |
| --- | --- | --- |
| interface_queue | hosts lose nothing | what does not fit into the queue of a host's interface is lost there |
| socket_buffer | windows are tuned to two bandwidth-delay products | windows are at most so large |
| tcp_no_metrics_save | 1 | 0: a destination's ssthresh is kept (tcp_no_ssthresh_metrics_save is 0 as well) |
| tcp_slow_start_after_idle | 1 | 0: a window lives on over an idle time; real hosts only |
| hystart | 1 | 0: CUBIC's slow start lasts until a loss; hosts of Linux, real or simulated |

The interface queue is what a host's network interface holds (Linux's txqueuelen, 1000 packets), which the source sets
in TU (§5.2) and does not list in Table 5. Without it, and where the bottleneck is not congested, all controls are
alike. With it, windows have no limit unless there is a socket buffer. Real hosts have tuned send buffers: of the
tcp_wmem that a kernel has by default, short flows with small packets would first have to get enough.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.4; Table 6 for socket buffers.
"""

from __future__ import annotations

import math
from typing import Any

from parshall.scenario.schema.kernel import AMPLE_BUFFERS, ssthresh_kept
from parshall_studies.benchmark.factors import Factors

_LEAST_WINDOW = 65_536.0
HEADER_BYTES = 40
USUAL = {"delayed_ack": True, "header_size": f"{HEADER_BYTES} B"}
"""Keys of a group with the benchmark's own TCP."""


def tuned_window(access_bps: float, rtt_s: float) -> float:
    """The window of a host with such access whose TCP buffers are tuned (§5.2): two bandwidth-delay products, bytes.

    >>> tuned_window(1e9, 0.2), tuned_window(100e6, 0.001)
    (50000000.0, 65536.0)
    """
    return max(_LEAST_WINDOW, 2 * access_bps * rtt_s / 8)


def host_limits(factors: Factors, rtt_s: float, streams: int = 1, payload_bytes: int = 1460) -> dict[str, str]:
    """What limits a flow within its host, as keys of a group of a scenario: its window, or its interface's queue.

    Parallel streams of a source share its access link and its interface's queue evenly.

    >>> host_limits(Factors(0.02, 1e9, 10, 0.8, 0.0), 0.02)
    {'receive_window': '3425 packets'}
    >>> host_limits(Factors(0.02, 1e9, 10, 0.8, 0.0, interface_queue=1000), 0.02)
    {'access_queue': '1000 packets'}
    """
    limits = {}
    if factors.interface_queue is not None:
        limits["access_queue"] = f"{math.ceil(factors.interface_queue / streams)} packets"
    if factors.socket_buffer is not None:
        return {**limits, "receive_window": f"{factors.socket_buffer} B"}
    if limits:
        return limits
    window = tuned_window(factors.access_bps / streams, rtt_s)
    return {"receive_window": f"{max(2, round(window / payload_bytes))} packets"}


def control_of(control: str, factors: Factors) -> str | dict[str, Any]:
    """A congestion control as hosts have it: that of Linux without HyStart, which real hosts have by BPF.

    >>> control_of("cubic", Factors(0.02, 1e9, 10, 0.8, 0.0, hystart=0))
    {'name': 'cubic_linux', 'hystart': False}
    >>> control_of("cubic", Factors(0.02, 1e9, 10, 0.8, 0.0)), control_of("reno", Factors(0.02, 1e9, 10, 0.8, 0.0))
    ('cubic', 'reno')
    """
    return {"name": "cubic_linux", "hystart": False} if control == "cubic" and factors.hystart == 0 else control


def host_keys(factors: Factors, *, linux: bool) -> dict[str, Any]:
    """Whose TCP hosts have, and what they are told, as keys of a group of a scenario.

    Parameters
    ----------
    linux
        Whether it is that of Linux, simulated (docs/linux.md) or real; else the benchmark's own.

    >>> host_keys(Factors(0.02, 1e9, 10, 0.8, 0.0), linux=False)
    {'delayed_ack': True, 'header_size': '40 B'}
    """
    cached = {"ssthresh_cached": "linux"} if factors.tcp_no_metrics_save == 0 else {}
    if not linux:
        return {**USUAL, **cached}
    sysctls = dict(AMPLE_BUFFERS)
    if factors.tcp_no_metrics_save is not None:
        sysctls |= ssthresh_kept(kept=factors.tcp_no_metrics_save == 0)
    if factors.tcp_slow_start_after_idle is not None:
        sysctls["net.ipv4.tcp_slow_start_after_idle"] = factors.tcp_slow_start_after_idle
    return {"tcp": "linux", **cached, "kernel": {"sysctls": sysctls}}
