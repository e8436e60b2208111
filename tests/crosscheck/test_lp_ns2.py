"""TCP-LP in a queue beside ns-2's port of Linux's (2.6.22; benches/ns2/linux_flow.tcl), and why the two are far apart.

The port uses 6 % of an empty link, ours 56 %. `Port` has its rules, as a control from outside, which needs one-way
delays: it does as ns-2 does. With two of our readings instead (signs count from the first loss on, and the range of
delays is kept) it does as `lp` does. On a lossy medium, where nothing queues, both are Reno: test_linux_flow.py.

Not compared: 10 Mbit/s, where the port takes its own clock for the delay whenever it believes that the other end's
clock is the faster one, by a division of whole numbers.
"""

from __future__ import annotations

from typing import Any

import pytest

from parshall.scenario.controls import declare
from parshall.scenario.schema import external

PACKET_BITS = 8 * 1460


class Port:
    """Reno of whole packets that yields at signs, with clocks that count milliseconds.

    Facts of net/ipv4/tcp_lp.c: an average delay (weight 1/8) more than 15 % of the range above the smallest one is a
    sign; it halves the window, or leaves one packet if the last is less than three RTTs ago, in which the window does
    not grow either; and the range begins anew, from the average to its double.
    """

    needs = ("one_way_delay",)

    def __init__(self, start: Any, ours: bool = False) -> None:
        self.ours = ours
        self.cwnd, self.ssthresh, self.acks = int(start.cwnd), float("inf"), 0
        self.least, self.largest, self.average = 2**32, 0, 0
        self.sign: int | None = None
        self.lost = False

    def on_ack(self, ack: Any) -> None:
        now, sent = int(1000 * ack.now_s), int(1000 * (ack.now_s - ack.rtt_s))
        delay = int(1000 * (ack.now_s - ack.rtt_s + ack.one_way_delay_s)) - sent
        self.least, self.largest = min(self.least, delay), max(self.largest, delay)
        self.average += delay - (self.average >> 3) if self.average else delay << 3
        yields = self.sign is not None and now - self.sign < 3 * (now - sent)
        if self.sees_congestion():
            self.cwnd = 1 if yields else max(1, self.cwnd >> 1)
            self.sign = now
            if not self.ours:
                self.least, self.largest = self.average >> 3, self.average >> 2
        if not yields and ack.may_grow:
            self.acks += 1
            if self.cwnd <= self.ssthresh or self.acks >= self.cwnd:
                self.cwnd, self.acks = self.cwnd + 1, 0

    def sees_congestion(self) -> bool:
        threshold = self.least + 15 * (self.largest - self.least) // 100
        return (self.lost or not self.ours) and self.average >> 3 > threshold

    def on_loss(self, event: Any) -> None:  # noqa: ARG002 - the contract's
        self.lost = True
        self.cwnd = max(2, self.cwnd >> 1)
        self.ssthresh = self.cwnd

    def on_timeout(self, event: Any) -> None:
        self.on_loss(event)
        self.cwnd = 1


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})
    declare({"port": Port})


@pytest.mark.slow
@pytest.mark.usefixtures("port")
@pytest.mark.parametrize("number", [0, 1])
def test_in_a_queue(linux_port: Any, ns2_values: dict[str, Any], number: int) -> None:
    run = ns2_values["lp"]["runs"][number]

    def rate(control: Any) -> float:
        ours = linux_port(run, control, run["rtt"], run["buffer"], seed=1)
        return float(ours.flows["goodput_bps"][0]) / PACKET_BITS

    assert rate("port") == pytest.approx(run["acked_pps"], rel=0.12)
    assert rate("lp") > 5 * run["acked_pps"]
    assert rate({"name": "port", "ours": True}) == pytest.approx(rate("lp"), rel=0.03)
