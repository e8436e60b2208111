"""PA of the benchmark over Open MPI, between real hosts; skipped where there is no library of MPI."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from emulations import ON_THE_KERNEL

from parshall_studies.benchmark import applications
from parshall_studies.benchmark.benchmark import Execution
from parshall_studies.benchmark.building import case
from parshall_studies.benchmark.classes import classes
from parshall_studies.benchmark.over_mpi import over_mpi
from parshall_studies.benchmark.scale import SCALES

pytestmark = [*ON_THE_KERNEL, pytest.mark.needs("mpirun", "ip")]


@pytest.mark.gate
def test_ranks_exchange_messages_over_the_network_of_a_class(tmp_path: Path) -> None:
    scale = replace(SCALES["quick"], messages=8)
    built = replace(case(applications.find("PA")[0], classes("D")[0], scale, ["RTT=20ms"]), linux=True)
    by = Execution(tmp_path)
    (found,) = over_mpi([built], ["cubic"], by)
    assert (found.case, found.control, len(found.times_s)) == ("PA-D", "cubic", 8)
    size = scale.message_bytes[built.itb_class.aggregation]
    least_s = 0.020 + 2 * 8 * size / built.factors.access_bps
    assert min(found.times_s) > least_s
    assert found.times_s[-1] < 20 * least_s, "windows have grown"
    said: list[str] = []
    assert over_mpi([built], ["cubic"], by, said.append) == [found], "it is kept"
    assert said == ["PA-D, cubic, over MPI"]
