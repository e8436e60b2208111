"""The sentences of predictions, and of the explorer."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    "predicted.no_answer": "{model} gives no answer: {reason}",
    "predicted.range": "In brackets: the range from empty to full buffers of full links.",
    "predicted.assumed": "Assumed:",
    # The explorer.
    "explored.whole": "Simulated here: {time}, one repetition. The command does all of it.",
    "explored.time": "Simulated here: {time} of {duration}, one repetition. The command does all of it.",
    "explored.repetitions": "Simulated here: {time}, one repetition of {repetitions}. The command does all of it.",
    "explored.part": (
        "Simulated here: {time} of {duration}, one repetition of {repetitions}. The command does all of it."
    ),
    "explored.no_answer": "The models have no answer: {why}",
}
