"""The sentences of `parshall ask rules`: what Linux's rules change, and which of them do it."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    # What all rules together do, and which of them.
    "rules.parts": "Linux's rules {change} the {label} by {whole}: {parts}.",
    "rules.parts_rest": "Linux's rules {change} the {label} by {whole}: of that, {parts}; the rest is not shown.",
    "rules.parts_more": (
        "Linux's rules {change} the {label} by {whole}: {parts}, which is more than the whole, as rules do less "
        "together."
    ),
    "rules.no_part": (
        "Linux's rules {change} the {label} by {whole}, and no rule alone is shown to make that difference."
    ),
    "rules.any": (
        "Linux's rules {change} the {label} by {whole}: where the others are, no single one is missed; alone, {parts}."
    ),
    "rules.against": "The other way, {parts}.",
    "rules.single": "All of Linux's rules are not shown to change the {label}, but {parts}.",
    "rules.only_alone": (
        "Among Linux's rules none is shown to change the {label}, but on the rules of the RFCs, {parts}."
    ),
    "rules.more": "Also shown to change: {labels}.",
    "rules.through": "{rule} changes the {label} by {together} with the others, and by {alone} alone.",
    # Where nothing is shown.
    "rules.none": "No rule is shown to make a difference: {number} judged together, over {repetitions}.",
    "rules.equal": "No rule is shown to make a difference: all values are the same with and without each of them.",
    "rules.no_tcp": "No rule is shown to make a difference: no group has TCP.",
    # What was switched.
    "rules.switched": "Switched are the rules of {groups}.",
    "rules.kept": "Switched are the rules of {groups}; {others} {keep} those that the scenario gives.",
    # The kernel beside it.
    "rules.kernel": (
        "The kernel ({level}) has a {label} of {kernel}; Linux's rules give {linux}, those of the RFCs {rfc}."
    ),
    "rules.not_kernel": "The emulation cannot be believed, so nothing is said of the kernel: {why}.",
}
