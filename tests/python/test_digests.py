"""benches/digests.py: a digest tells records from other records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benches" / "digests.py"


def digests(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--only", "recovery/", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_differs_is_listed(tmp_path: Path) -> None:
    found = json.loads(digests().stdout)
    assert len(set(found.values())) == len(found) > 3
    before = tmp_path / "before.json"
    before.write_text(json.dumps(found))
    same = digests("--against", str(before))
    assert (same.returncode, same.stdout) == (0, f"the records of {len(found)} scenarios are the same\n")
    found["recovery/tahoe"], found["recovery/older"] = found["recovery/sack"], found.pop("recovery/reno")
    before.write_text(json.dumps(found))
    other = digests("--against", str(before))
    assert other.returncode == 1
    assert sorted(other.stdout.splitlines()) == [
        "recovery/older: not there now",
        "recovery/reno: not there before",
        "recovery/tahoe: other records",
    ]
