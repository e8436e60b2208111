"""The shipped scenarios, resolved, as seeds of the target `scenarios`: `python fuzz/seeds.py DIRECTORY`."""

import json
import sys
from pathlib import Path

import parshall as ps

ROOT = Path(__file__).parents[1]


def main(directory: Path) -> None:
    """Write a file for each scenario."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        resolved = ps.Scenario.load(path).resolve()
        (directory / f"{path.stem}.json").write_text(json.dumps(resolved, separators=(",", ":")))


main(Path(sys.argv[1]))
