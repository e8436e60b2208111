"""The sentences of a sweep: what it shows, and how far it came."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    "sweep.unfinished": "The sweep is not finished: {having} of {points} {have} runs.",
    "sweep.failures": "{runs} failed: what follows is of the others.",
    "sweep.missing": "{runs} failed, all there were at {missing} of {points}: what follows is of the others.",
    "sweep.chance": (
        "{title} is from {low} at {lowest} to {high} at {highest}, {how}: whether that is more than chance is not "
        "known."
    ),
    "sweep.course": "{title} {moves} from {first} at {start} to {last} at {end}.",
    "sweep.extremes": "{title} is highest, {high}, at {highest}, and lowest, {low}, at {lowest}.",
    "sweep.sharing": "{first} has more {here}, {second} {there}.",
    "sweep.sharing_open": "{first} has more {here}, {second} {there}; {between} neither is shown to have more.",
    "sweep.sharing_all": "{first} has more everywhere.",
    "sweep.equal": "{title} is equal everywhere.",
    "sweep.same": "{title} is {same} everywhere.",
    "sweep.not_shown": "{title} is not shown to differ anywhere by as much as matters.",
    "sweep.no_value": "It has no value at {points}.",
    "sweep.no_values": "It has no value at {points}; and at {more} more.",
    "sweep.none": "{title} cannot be compared.",
    "sweep.one_point": "{title} is {value} at {point}.",
    # What was done.
    "sweep.done": "{points}, {runs}. Repetitions ended because of: {reasons}.",
    "sweep.emulated": ("Each run was emulated with the kernel's own TCP, in real time; of the emulations {levels}."),
    "sweep.failed": "{runs} failed and {are} missing below. The same command tries {them} again.",
    "sweep.shards": ("Shards of the sweep were done: what follows is what is there. Without --shard it is collected."),
    "sweep.goes_on": ("The sweep is not finished: what follows is what is there. The same command goes on from there."),
    "sweep.baseline": "Differences to `{parameter} = {baseline}`, all else being equal. {how}",
    "sweep.paired": (
        "Repetitions draw the same random numbers at both points and are compared one by one; ± is half the 95 % "
        "interval of the mean difference."
    ),
    "sweep.independent": (
        "Repetitions of both points are independent samples (Welch); ± is half the 95 % interval of the difference."
    ),
    "sweep.left_out": "{points} {are} in the store only: `parshall query` has them all.",
    "sweep.made": "The last call took {took}. Seeds {seeds}; random numbers are {numbers}. Store: `{store}`.",
    # What the terminal adds.
    "sweep.ended": "{runs} of {points} in {took}: {status}",
    "sweep.more": "and {points}",
    "sweep.errors": "parshall: {runs} failed, which the same command tries again. The first:",
}
