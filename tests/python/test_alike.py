"""The functions of the package take scenarios in every form, and results are kept, listed and shown briefly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.foundations.errors import OutputExistsError
from parshall.foundations.files import Scratch

TABLES = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "20 ms", "name": "a"}]}


@pytest.fixture
def forms(tmp_path: Path) -> list[ps.Scenario | str | Path | dict[str, object]]:
    scenario = ps.Scenario.from_document({"name": "small", **TABLES})
    path = tmp_path / "small.toml"
    path.write_text(scenario.toml())
    return [scenario, path, str(path), {"name": "small", **TABLES}]


def test_scenarios_are_run_and_predicted_in_every_form(forms: list[object]) -> None:
    predicted = [ps.predict(form) for form in forms]  # type: ignore[arg-type]
    assert all(each.throughput == predicted[0].throughput for each in predicted)
    assert {each.name for each in predicted} == {"small"}
    runs = [ps.run(form) for form in forms]  # type: ignore[arg-type]
    assert all(each.flows.equals(runs[0].flows) for each in runs)
    assert ps.predict("quickstart").name == "quickstart", "a scenario that comes with Parshall, by its name"
    with pytest.raises(ps.ScenarioError, match="flows: missing"):
        ps.predict({"duration": "1 s"})


def test_results_directories_and_scenarios_are_compared(forms: list[object], tmp_path: Path) -> None:
    run = ps.run(TABLES, tmp_path / "run")
    found = ps.compare(run, str(tmp_path / "run"), forms[0], forms[1], names=None)  # type: ignore[arg-type]
    place = str(tmp_path / "run")
    assert [each.name for each in found.results] == [f"{place} 1", f"{place} 2", "small 1", "small 2"]
    assert not any(row.matters for row in found.rows), "all are one scenario"
    with pytest.raises(ps.InputError, match="found 1; accepted: two or more"):
        ps.compare(run)


def test_a_run_is_saved(tmp_path: Path) -> None:
    run = ps.run({**TABLES, "repetitions": 2})
    assert run.save(tmp_path / "kept") == tmp_path / "kept"
    again = ps.load(tmp_path / "kept")
    assert isinstance(again, ps.Run)
    assert again.flows.equals(run.flows)
    assert again.repetitions == [0, 1]
    with pytest.raises(OutputExistsError, match=r"or overwrite=True$"):
        run.save(tmp_path / "kept")
    run.save(tmp_path / "kept", overwrite=True)
    with pytest.raises(ps.InputError, match="holds this very result"):
        again.save(tmp_path / "kept", overwrite=True)
    assert ps.load(tmp_path / "kept").status == "complete"
    with pytest.raises(ps.InputError, match="in memory alone"):
        ps.Result(None, {"name": "preview"}).save(tmp_path / "other")


def test_a_run_of_a_cell_can_be_read_in_the_next() -> None:
    run = ps.run(TABLES)
    place = run.directory
    assert place is not None
    run = ps.run({**TABLES, "seed": 2})
    first = ps.Run.load(place)
    assert first.flows.height == 1
    assert first.metadata["seed"] != run.metadata["seed"]


def test_a_temporary_directory_lasts_as_long_as_a_handle() -> None:
    scratch = Scratch("parshall-test-")
    place = scratch.path
    assert Scratch.holding(place) is scratch
    held = [Scratch.holding(place)]
    del scratch
    assert place.is_dir(), "another handle holds it"
    held.clear()
    assert not place.exists()
    assert Scratch.holding(place) is None


def test_quantities_are_a_frame() -> None:
    run = ps.run({**TABLES, "repetitions": 3})
    frame = run.quantities()
    assert frame.columns == ["name", "place", "unit", "mean", "low", "high", "n"]
    row = frame.row(by_predicate=pl.col("name") == "group/a/goodput_bps", named=True)
    interval = run.quantity("group/a/goodput_bps").interval
    assert (row["place"], row["unit"], row["n"]) == ("a", "bit/s", 3)
    assert (row["mean"], row["low"], row["high"]) == (interval.mean, interval.low, interval.high)
    assert frame.height == len(run.metrics())
    predicted = ps.predict(TABLES).quantities()
    assert predicted["n"].null_count() == predicted.height > 0, "a model has no repetitions"
    none = ps.Predicted().quantities()
    assert (none.columns, none.height) == (frame.columns, 0)


def test_a_sweep_is_a_labelled_array(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    plan = ps.Plan(
        name="grid",
        scenario=TABLES,
        parameters={"bottleneck.rate": ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"], "flows.0.count": [1, 2]},
        repetitions=2,
    )
    sweep = ps.sweep(plan, tmp_path / "store", workers=1)
    data = sweep.to_xarray()
    assert isinstance(data, xr.Dataset)
    assert dict(data.sizes) == {"bottleneck_rate": 3, "flows_0_count": 2, "repetition": 2}
    assert data["goodput_bps"].attrs["units"] == "bit/s"
    chosen = data["goodput_bps"].sel(bottleneck_rate="20 Mbit/s", flows_0_count=1)
    point = sweep.points.with_row_index("number").filter(
        (pl.col("bottleneck_rate") == "20 Mbit/s") & (pl.col("flows_0_count") == 1)
    )["number"][0]
    assert chosen.values.tolist() == list(sweep.values("goodput_bps", point).values())
    assert np.isclose(float(chosen.mean()), sweep.points["goodput_bps"][point])
    together = ps.Plan(
        name="pairs",
        scenario=TABLES,
        zip=[{"bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"], "flows.0.count": [1, 2]}],
        repetitions=1,
    )
    pairs = ps.sweep(together, tmp_path / "store", workers=1).to_xarray()
    assert dict(pairs.sizes) == {"point": 2, "repetition": 1}
    assert pairs["flows_0_count"].values.tolist() == [1, 2]


def test_help_lists_the_fields_that_are_validated() -> None:
    for part in (ps.Scenario, ps.FlowGroup, ps.Bottleneck, ps.Plan, ps.Probes):
        text = part.__doc__ or ""
        for name, field in part.model_fields.items():
            assert f"\n{field.alias or name} : " in text, f"{part.__name__}.{name}"
            assert (field.description or "-")[:20] in " ".join(text.split()), f"{part.__name__}.{name}"
    assert 'duration : text, as "60 s"\n' in (ps.Scenario.__doc__ or "")
    assert "Raises\n------\nScenarioError" in (ps.Scenario.__doc__ or "")
    assert "Parameters" not in str(ps.Scenario.json_schema()["description"])


def test_catalogs_can_be_read() -> None:
    assert {"reno", "cubic", "bbr3"} <= set(ps.controls.names())
    assert "fq_codel" in ps.catalogs.names("queues")
    assert "group/NAME/goodput_bps" in ps.catalogs.names("quantities")
    assert all(ps.catalogs.entries(family) and ps.catalogs.names(family) for family in ps.catalogs.families())
    with pytest.raises(ps.InputError, match=r'catalog: found "queus".*Did you mean "queues"'):
        ps.catalogs.names("queus")


def test_what_is_printed_is_short() -> None:
    run = ps.run({**TABLES, "repetitions": 2})
    comparison = ps.compare(run, ps.predict(TABLES), names=["run", "models"])
    assert repr(comparison).startswith("<Comparison of run and models: ")
    assert repr(run.quantity("goodput_bps")).startswith("<Metric goodput_bps: ")
    assert "lambda" not in repr(run.metrics())
    assert "answers of models are in range" in repr(ps.predict(TABLES))
    assert "2 repetitions" in repr(run)
    assert max(len(repr(each)) for each in (comparison, run, *run.metrics().values(), ps.predict(TABLES))) < 200


def test_messages_in_python_speak_of_arguments_and_on_the_command_line_of_options(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(ps.Scenario.from_document(TABLES).toml())
    ps.run(scenario, tmp_path / "run")
    with pytest.raises(OutputExistsError) as refused:
        ps.run(scenario, tmp_path / "run")
    assert "overwrite=True" in str(refused.value)
    assert "--" not in str(refused.value)
    command = [sys.executable, "-m", "parshall", "run", str(scenario), "-o", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "or --force" in done.stderr
    assert "=True" not in done.stderr
