"""What a profile-guided build learns from (`pgo-command` in pyproject.toml, CONTRIBUTING.md).

Maturin runs this with counters compiled in, and compiles again for the branches that were taken. It simulates what
benches/digests.py does: the shipped scenarios, and one a congestion control, queue and loss recovery; and flows as
Linux has them, which are one scenario of short flows there. None of the networks that benches/run.py times is among
them, so that these stay a test.
"""

from __future__ import annotations

from collections.abc import Iterator

from digests import scenarios

import parshall as ps
from parshall.runs.single import recorded


def main() -> None:
    """Simulate all, one after the other: threads would lose counts."""
    for _, scenario in scenarios():
        recorded(scenario.resolve())
    for scenario in as_linux():
        recorded(scenario.resolve())


def as_linux() -> Iterator[ps.Scenario]:
    """Few flows and many, with rare losses and frequent ones."""
    for control in ("reno", "cubic", "bbr"):
        for count in (5, 60):
            yield ps.Scenario.from_document(
                {
                    "duration": "20 s",
                    "bottleneck": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}},
                    "flows": [
                        {
                            "count": count,
                            "rtt": {"first": "10 ms", "step": "1 ms"},
                            "tcp": "linux",
                            "congestion_control": control,
                        }
                    ],
                }
            )


if __name__ == "__main__":
    main()
