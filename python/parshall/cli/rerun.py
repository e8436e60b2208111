"""``parshall rerun``: a run once more, from what its directory says, with changes."""

from __future__ import annotations

from functools import partial

from parshall.cli.groups import Changes, Emulations, Printed, Results
from parshall.cli.options import RunDirectory, Workers
from parshall.cli.verb import verb


@verb
def rerun(
    directory: RunDirectory,
    *,
    results: Results,
    changes: Changes,
    workers: Workers = None,
    emulations: Emulations,
    printed: Printed,
) -> None:
    """Simulate or emulate an earlier run again, with changes to the scenario that its directory keeps."""
    from parshall.cli.run import made_by, present
    from parshall.foundations.errors import InputError
    from parshall.instruments.emulation import emulate
    from parshall.instruments.simulation import Run
    from parshall.instruments.simulation import run as simulate
    from parshall.results.loading import load_result
    from parshall.results.records.validity import believable

    earlier = load_result(directory)
    if not isinstance(earlier, Run):
        raise InputError(f'{directory} holds a result of "{earlier.instrument}"; accepted: runs and emulations')
    output = results.output
    if output is not None and output.resolve() == directory.resolve():
        raise InputError(f"--output: found {output}, the run that is repeated; write another directory")
    printed.hush()
    changes.declare()
    scenario = earlier.scenario.with_overrides(changes.overrides or ())
    emulated = partial(emulate, at_once=emulations.at_once)
    instrument = emulated if earlier.instrument == "emulate" else partial(simulate, workers=workers)
    made = made_by(instrument, scenario, results, quiet=printed.quiet)
    present(made, printed, page=results.page)
    believable([made], accept_invalid=emulations.accept_invalid)
