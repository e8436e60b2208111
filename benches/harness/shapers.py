"""Emulated links beside the kernel's own shapers, tbf and htb: one CUBIC flow through 100 packets at the same rate.

The kernel's network is three network namespaces, which end with the processes that hold them, with virtual Ethernet
devices between them; iproute2 and util-linux set them up, as root. A packet has 14 bytes more there (Ethernet's
header), and no delay but its queue.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import parshall as ps

from .emulated import ENDS, Host, ping, under_way

QUEUE, PACKET = 100, 1500
BURST_S = 100e-6
"""What the shapers may send at once, in time at their rate; two packets at least. An emulator looks each 50 us."""

RTT_S = 1e-3
"""Of the emulated network: the kernel has none."""

TOOLS = ("unshare", "nsenter", "ip", "tc", "sysctl")


@dataclass(frozen=True)
class Row:
    """A link that a flow saturates."""

    shaper: str
    rate_mbps: float
    goodput_mbps: float
    queueing_ms: float
    """Mean of pings, less those of the idle link."""
    cpus: float
    """That were busy on the whole machine, other programs included."""


def missing() -> str | None:
    """Why the kernel's shapers cannot be measured here."""
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if lacking:
        return f"there is no {', '.join(lacking)} (Debian: iproute2, util-linux, procps)"
    return None if os.geteuid() == 0 else "it takes root"


def rows(seconds: float) -> Iterator[Row]:
    """All of them; each flow lasts so long."""
    for rate_mbps in (10.0, 100.0, 1000.0):
        for shaper in ("tbf", "htb"):
            yield _kernels(shaper, rate_mbps, seconds)
        yield _emulated(rate_mbps, seconds)


def busy_s() -> float:
    """Time for which CPUs were busy so far (proc_stat(5))."""
    user, nice, system, _, _, interrupt, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")


def _emulated(rate_mbps: float, seconds: float) -> Row:
    scenario = ps.Scenario.from_document(
        {
            "name": "shaper",
            "duration": f"{seconds:g} s",
            "warm_up": f"{seconds / 4:g} s",
            "bottleneck": {
                "rate": f"{rate_mbps:g} Mbit/s",
                "delay": "0.1 ms",
                "queue": {"name": "drop_tail", "limit": f"{QUEUE} packets"},
            },
            "flows": [{"rtt": f"{RTT_S:g} s", "congestion_control": "cubic", "packet_size": f"{PACKET} B"}],
        }
    )
    with under_way(scenario) as emulation:
        before, began = busy_s(), time.monotonic()
        times = _after_the_start(emulation.host("hosts-senders"), seconds, ENDS)
        cpus = (busy_s() - before) / (time.monotonic() - began)
        goodput_mbps = emulation.finish().run.flows["goodput_bps"][0] / 1e6
    return Row("emulated", rate_mbps, goodput_mbps, 1e3 * (mean(times) - RTT_S), cpus)


def _after_the_start(host: Host, seconds: float, ends: tuple[str, str]) -> list[float]:
    """Pings in the second half of a flow's time, about."""
    ping(host, seconds / 4, 0.02, ends)
    return ping(host, seconds / 2, 0.02, ends)


RECEIVE = """
import socket, sys
with socket.create_server(("10.9.2.1", 5001)) as server:
    print("ready", flush=True)
    connection, _ = server.accept()
    buffer = bytearray(1 << 20)
    while connection.recv_into(buffer, len(buffer), socket.MSG_TRUNC):
        pass
"""

SEND = """
import socket, struct, sys, time
seconds = float(sys.argv[1])
with socket.create_connection(("10.9.2.1", 5001)) as flow:
    flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    def acked():
        return struct.unpack_from("Q", flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128), 120)[0]
    begin, nothing, mark = time.monotonic(), bytes(1 << 18), None
    while (now := time.monotonic()) < begin + seconds:
        if mark is None and now > begin + seconds / 4:
            mark = now, acked()
        flow.send(nothing)
    print((acked() - mark[1]) * 8 / (now - mark[0]))
"""


@contextmanager
def _hosts() -> Iterator[tuple[Host, Host, Host]]:
    """A sender (10.9.1.1), a router and a receiver (10.9.2.1): network namespaces with virtual cables between them.

    The shaper is the router's: a sender's own queue is kept short by TCP Small Queues.
    """
    with ExitStack() as stack:
        hosts = []
        for _ in range(3):
            holder = stack.enter_context(
                subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            stack.callback(holder.kill)
            assert holder.stdin is not None
            assert holder.stdout is not None
            holder.stdin.write(b"!")  # when it comes back, the namespace is there
            holder.stdin.flush()
            holder.stdout.read(1)
            hosts.append(Host(holder.pid, holder.pid))
        sender, router, receiver = hosts
        _in(router, "sysctl --quiet --write net.ipv4.ip_forward=1")
        for host, network in ((sender, 1), (receiver, 2)):
            _in(router, f"ip link add r{network} type veth peer name v0 netns {host.process}")
            for at, device, number in ((host, "v0", 1), (router, f"r{network}", 2)):
                _in(at, f"ip link set {device} gso_max_segs 1")  # a queue of packets, not of super-packets
                _in(at, f"ip address add 10.9.{network}.{number}/24 dev {device}")
                _in(at, f"ip link set {device} up")
            _in(host, f"ip route add default via 10.9.{network}.2")
        yield sender, router, receiver


def _in(host: Host, command: str) -> None:
    subprocess.run(["nsenter", "--net", "--target", str(host.process), *command.split()], check=True)


def _kernels(shaper: str, rate_mbps: float, seconds: float) -> Row:
    burst = max(2 * PACKET + 28, round(rate_mbps * 1e6 / 8 * BURST_S))
    with _hosts() as (sender, router, receiver):
        ends = ("10.9.1.1", "10.9.2.1")
        idle_s = mean(ping(sender, 1.0, 0.02, ends))
        if shaper == "tbf":
            limit = QUEUE * (PACKET + 14)
            _in(router, f"tc qdisc add dev r2 root tbf rate {rate_mbps}mbit burst {burst} limit {limit}")
        else:
            rate = f"rate {rate_mbps}mbit burst {burst} cburst {burst} quantum {PACKET + 14}"
            _in(router, "tc qdisc add dev r2 root handle 1: htb default 1")
            _in(router, f"tc class add dev r2 parent 1: classid 1:1 htb {rate}")
            _in(router, f"tc qdisc add dev r2 parent 1:1 pfifo limit {QUEUE}")
        enter = ["nsenter", "--net", "--target"]
        receive = [*enter, str(receiver.process), sys.executable, "-c", RECEIVE]
        send = [*enter, str(sender.process), sys.executable, "-c", SEND, str(seconds)]
        with subprocess.Popen(receive, stdout=subprocess.PIPE) as receiving:
            assert receiving.stdout is not None
            receiving.stdout.readline()
            with subprocess.Popen(send, stdout=subprocess.PIPE, text=True) as sending:
                before, began = busy_s(), time.monotonic()
                times = _after_the_start(sender, seconds, ends)
                cpus = (busy_s() - before) / (time.monotonic() - began)
                said, _ = sending.communicate()
    return Row(shaper, rate_mbps, float(said) / 1e6, 1e3 * (mean(times) - idle_s), cpus)
