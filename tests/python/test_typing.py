"""What type checkers read is what runs; `make types` runs the checkers over the same file."""

from __future__ import annotations

import importlib.util
import typing
from pathlib import Path

import pytest

import parshall as ps
from parshall.scenario.schema import flows, tcp_options
from parshall.scenario.schema.catalog import family

USERS_CODE = Path(__file__).parents[1] / "typing" / "users_code.py"


def test_code_as_users_write_it_runs(tmp_path: Path) -> None:
    specification = importlib.util.spec_from_file_location("users_code", USERS_CODE)
    assert specification is not None
    assert specification.loader is not None
    code = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(code)
    made = code.scenario()
    assert code.quantities_of_fields(made) == (2.0, 0.2)
    assert code.results(made, tmp_path)["group"].to_list() == ["flows0"] * 3 + ["web"]
    assert [round(each / 1e6) for each in code.sweep(code.of_tables(), tmp_path)] == [5, 9]
    with pytest.raises(ValueError, match='found "50", which has no unit'):
        code.refused()


def test_type_checkers_know_the_keys_of_tcp() -> None:
    declared = set(tcp_options.TcpOptions.__annotations__)
    assert declared == {parameter.name for parameter in family("tcp")[0].parameters}
    assert declared < set(flows.FlowGroup.model_fields)


def test_choices_of_tcp_are_those_of_the_catalog() -> None:
    declared = typing.get_type_hints(tcp_options.TcpOptions)
    for parameter in family("tcp")[0].parameters:
        if parameter.choices:
            assert typing.get_args(declared[parameter.name]) == parameter.choices, parameter.name


@pytest.mark.parametrize(
    "reckon",
    [
        lambda duration: duration * 2,
        lambda duration: 2 * duration,
        lambda duration: duration + duration,
        lambda duration: duration - duration,
        lambda duration: duration / 2,
        lambda duration: -duration,
    ],
)
def test_a_quantity_is_no_number(reckon) -> None:  # type: ignore[no-untyped-def]
    duration = ps.Scenario(duration="2 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"rtt": "50 ms"}]).duration
    with pytest.raises(TypeError, match=r'"2 s" is a text with a unit; compute with its number, `\.seconds`'):
        reckon(duration)
    assert duration.seconds * 2 == 4.0
    assert f"for {duration}" == "for " + duration == "for 2 s"
