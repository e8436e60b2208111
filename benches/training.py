"""What a profile-guided build learns from (`pgo-command` in pyproject.toml, CONTRIBUTING.md).

Maturin runs this with counters compiled in, and compiles again for the branches that were taken. It simulates what
benches/digests.py does: the shipped scenarios, and one a congestion control, queue and loss recovery. None of the
networks that benches/run.py times is among them, so that these stay a test.
"""

from __future__ import annotations

from digests import scenarios

from parshall.instruments.simulation.single import recorded


def main() -> None:
    """Simulate all, one after the other: threads would lose counts."""
    for _, scenario in scenarios():
        recorded(scenario.resolve())


if __name__ == "__main__":
    main()
