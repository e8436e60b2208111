"""ns-2 and ns-3, where they are installed.

ns-3 is Debian's `libns3-dev`, or the release below `$NS3_ROOT` (`include/` and `lib64/`, as in the wheel `ns3` on
PyPI).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from harness.machine import debian_version
from harness.network import Network, keys

BENCHES = Path(__file__).parents[1]
NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


@dataclass(frozen=True)
class Measurement:
    """One run of one simulator."""

    packets: int
    """Forwarded by the bottleneck."""
    drops: int
    cpu_s: float
    """Of the event loop alone."""

    @property
    def packets_per_cpu_s(self) -> float:
        """What is compared."""
        return self.packets / self.cpu_s


class Ns2:
    """ns-2.35 running ns2/dumbbell.tcl; `sinks` as explained there."""

    def __init__(self, sinks: str = "own") -> None:
        self.sinks = sinks
        self.version = debian_version("ns2") if shutil.which("ns") else None

    @property
    def name(self) -> str:
        """For the table."""
        return "ns-2" if self.sinks == "own" else "ns-2, sinks at the bottleneck"

    def run(self, network: Network, duration_s: float) -> Measurement:
        """Simulate once."""
        options = keys(network, duration_s) | {
            "variant": "Sack1" if network.sack else "Newreno",
            "sinks": self.sinks,
        }
        arguments = [str(word) for pair in options.items() for word in pair]
        return _measure(["ns", str(BENCHES / "ns2" / "dumbbell.tcl"), *arguments])


class Ns3:
    """ns-3 running ns3/dumbbell.cc, compiled with -O2 at first use."""

    name = "ns-3"

    def __init__(self) -> None:
        self.root = os.environ.get("NS3_ROOT")
        self._libraries = _ns3_libraries(Path(self.root) / "lib64" if self.root else None)
        self.version = self._libraries[1] if self._libraries else None
        self._binary: Path | None = None

    def run(self, network: Network, duration_s: float) -> Measurement:
        """Simulate once."""
        binary = self._binary = self._binary or self._compile()
        options = keys(network, duration_s) | {"sack": int(network.sack)}
        return _measure([str(binary), *(f"--{key}={value}" for key, value in options.items())])

    def _compile(self) -> Path:
        binary = Path(mkdtemp(prefix="parshall-bench-")) / "dumbbell"
        flags = ["-I/usr/include"]
        if self.root:
            flags = [f"-I{self.root}/include", f"-L{self.root}/lib64", f"-Wl,-rpath,{self.root}/lib64"]
        assert self._libraries
        errors = ""
        for standard in ("-std=c++20", "-std=c++17"):  # 3.44's headers need the one, 3.37's refuse it
            source = str(BENCHES / "ns3" / "dumbbell.cc")
            command = ["g++", "-O2", standard, source, "-o", str(binary), *flags, *self._libraries[0]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return binary
            errors = done.stderr
        raise RuntimeError(f"cannot compile ns3/dumbbell.cc:\n{errors}")


def _ns3_libraries(directory: Path | None) -> tuple[list[str], str] | None:
    """Linker flags and version, or None where there is no ns-3."""
    if shutil.which("g++") is None:
        return None
    if directory is None:
        version = debian_version("libns3-dev")
        return ([f"-lns3-{module}" for module in NS3_MODULES], f"{version} (Debian)") if version else None
    for library in directory.glob("libns3.*-core.so"):
        match = re.fullmatch(r"libns3\.([\d.]+)-core\.so", library.name)
        if match:
            return [f"-l:libns3.{match[1]}-{module}.so" for module in NS3_MODULES], f"{match[1]} (NS3_ROOT)"
    raise FileNotFoundError(f"NS3_ROOT: no libns3.*-core.so in {directory}")


def _measure(command: list[str]) -> Measurement:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    values = dict(word.split("=", 1) for word in done.stdout.split())
    return Measurement(int(values["forwarded"]), int(values["drops"]), float(values["cpu_s"]))
