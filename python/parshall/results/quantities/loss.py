"""What does not arrive, what is marked, and what is sent again."""

from __future__ import annotations

import polars as pl

from parshall.results.quantities.computing import Of, by_repetition, column, ratio, windowed
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Per, Tables

_CLASSES = (("in", "in profile", "in-profile"), ("out", "out of profile", "out-of-profile"))


def _sum(name: str) -> pl.Expr:
    return pl.col(name).sum()


def _at_link(name: str) -> Of:
    """The share of a class that is dropped or lost; nothing for a link that knows no classes."""
    arrived = f"arrivals_{name}_packets"
    lost = _sum(f"dropped_{name}_packets") + _sum(f"medium_losses_{name}_packets")
    return lambda tables: by_repetition(tables.having("links", arrived), ratio(lost, _sum(arrived)))


def _of_flows(name: str) -> Of:
    """The same on any link; nothing without a marker."""
    sent = f"sent_{name}_packets"
    share = ratio(_sum(f"dropped_{name}_packets"), _sum(sent))
    return lambda tables: by_repetition(tables.having("flows", sent), share)


def _in_profile(tables: Tables) -> dict[int, float]:
    within = _sum("sent_in_packets")
    return by_repetition(tables.having("flows", "sent_in_packets"), ratio(within, within + _sum("sent_out_packets")))


def _marked(tables: Tables) -> dict[int, float]:
    links = tables["links"]
    share = ratio(_sum("marked_packets"), _sum("arrivals_packets"))
    return by_repetition(links, share) if links["marked_packets"].sum() else {}


def _lost(tables: Tables) -> dict[int, float]:
    return by_repetition(tables["flows"], ratio(_sum("packets_dropped"), _sum("packets_sent")))


def _again(tables: Tables) -> dict[int, float]:
    """Nothing of flows of which nobody knows it, as of programs in an emulation."""
    known = windowed(tables).drop_nulls("retransmissions")
    return by_repetition(known, ratio(_sum("retransmissions"), _sum("packets_sent")))


def _classes(per: Per) -> tuple[Quantity, ...]:
    of = _at_link if per == "link" else _of_flows
    return tuple(
        Quantity(
            f"loss_rate_{name}",
            f"loss rate, {words}",
            "ratio",
            "lower",
            per,
            of(name),
            what="of the packets of that class; where a marker makes classes",
            heading=f"{which} packets lost",
        )
        for name, words, which in _CLASSES
    )


LINK = (
    Quantity(
        "loss_rate",
        "loss rate",
        "ratio",
        "lower",
        "link",
        column("links", "loss_rate"),
        what="dropped by the queue or lost on the medium, of the packets that arrive there",
        heading="packets lost",
    ),
    *_classes("link"),
    Quantity(
        "mark_rate",
        "packets marked",
        "ratio",
        None,
        "link",
        _marked,
        what="by ECN, of the packets that arrive; nothing where none is marked",
    ),
)

GROUP = (
    Quantity(
        "loss_rate",
        "loss rate",
        "ratio",
        "lower",
        "group",
        _lost,
        what="dropped or lost on any link, of the packets sent",
        heading="packets lost",
    ),
    Quantity(
        "in_profile",
        "packets in profile",
        "ratio",
        None,
        "group",
        _in_profile,
        what="of the packets that passed the marker",
    ),
    *_classes("group"),
    Quantity("retransmitted", "packets retransmitted", "ratio", None, "group", _again, what="of the packets sent"),
)

FLOW = (
    Quantity(
        "loss_rate",
        "loss rate",
        "ratio",
        "lower",
        "flow",
        _lost,
        what="dropped or lost on any link, of the packets sent",
        heading="packets lost",
    ),
    Quantity("retransmitted", "packets retransmitted", "ratio", None, "flow", _again, what="of the packets sent"),
)
