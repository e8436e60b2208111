"""The verbs, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from parshall.cli.check_control import check_control
from parshall.cli.compare import compare
from parshall.cli.design import design
from parshall.cli.doctor import doctor
from parshall.cli.itb import itb
from parshall.cli.listing import list_
from parshall.cli.new import new
from parshall.cli.observe import observe
from parshall.cli.predict import predict
from parshall.cli.query import query
from parshall.cli.report import report
from parshall.cli.run import run
from parshall.cli.schema import schema
from parshall.cli.store import store
from parshall.cli.study import study
from parshall.cli.sweep import sweep
from parshall.cli.validate import validate

app = typer.Typer(
    name="parshall",
    help="Predict, simulate and observe how transport protocols share a bottleneck.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(run)
app.command("observe")(observe)
app.command("list")(list_)
app.command("schema")(schema)
app.command("validate")(validate)
app.command("check-control")(check_control)
app.command("predict")(predict)
app.command("report")(report)
app.command("compare")(compare)
app.command("sweep")(sweep)
app.command("query")(query)
app.add_typer(store, name="store")
app.command("study")(study)
app.command("itb")(itb)
app.add_typer(design, name="design")
app.add_typer(new, name="new")
app.command("doctor")(doctor)


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Predict, simulate and observe how transport protocols share a bottleneck."""
    if version:
        from importlib.metadata import version as installed

        print(f"parshall {installed('parshall')}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
