"""The sentences of an inferred scenario: its path, its control, whether it explains the capture, what would help."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    "inferred.path": "The path carries {rate}; its round trip is {rtt} without a queue.",
    "inferred.path_buffer": (
        "The path carries {rate} and holds {buffer} before it drops; its round trip is {rtt} without a queue."
    ),
    "inferred.rate_unknown": (
        "The path carries at least {least}: no queue stood in the capture, so its rate is not known; its round trip is "
        "{rtt}."
    ),
    "inferred.loss": "{share} of the packets were lost outside full queues ({between}).",
    "inferred.queue": "The queue behaves as {queue} does with its defaults.",
    "inferred.control": (
        "The senders behave as {control}, and as no other of the {number} controls that were simulated."
    ),
    "inferred.control_unknown": "Which congestion control sends cannot be told: {reason}.",
    "inferred.explains": "The scenario explains the capture: {names} are within their tolerances.",
    "inferred.explains_but": "The scenario explains the capture but for {missed}.",
    "inferred.helps": "{change}: {what}.",
    "inferred.nothing_helps": "None of the {number} changes that were simulated is shown to help.",
    "inferred.guess": (
        "The rate is a guess, and what depends on it is one as well: a capture in which a queue stands would show it."
    ),
}
"""By name."""
