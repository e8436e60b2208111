"""A prediction as a result: all answers, which is what models give of a scenario."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.instruments.prediction.answers import Completion, Datagrams, LinkQueue, Reading, Throughput
from parshall.results.records import Result, about, storage

if TYPE_CHECKING:
    from parshall.results.quantities.measuring import Metric, Metrics

FAMILIES: Mapping[str, type] = {
    "throughput": Throughput,
    "completion": Completion,
    "datagrams": Datagrams,
    "queues": LinkQueue,
}
"""The kinds of answers, by the attribute of `Predicted` that holds them."""


class Predicted(Result):
    """All answers, and what they assume: the result of models, without tables.

    Parameters
    ----------
    throughput, completion, datagrams, queues
        The answers of each family.
    assumptions
        Sentences.
    name, scenario
        What was predicted, and the scenario as plain tables.
    """

    instruments = ("predict",)

    def __init__(
        self,
        throughput: Sequence[Throughput] = (),
        completion: Sequence[Completion] = (),
        datagrams: Sequence[Datagrams] = (),
        queues: Sequence[LinkQueue] = (),
        assumptions: Sequence[str] = (),
        *,
        metadata: Mapping[str, Any] | None = None,
        directory: Path | None = None,
    ) -> None:
        super().__init__(directory, {"instrument": "predict", "status": "complete", **(metadata or {})}, {})
        self.throughput = tuple(throughput)
        self.completion = tuple(completion)
        self.datagrams = tuple(datagrams)
        self.queues = tuple(queues)
        self.assumptions = tuple(assumptions)

    def with_metadata(self, metadata: Mapping[str, Any]) -> Self:
        """Return the same answers with further metadata, as the scenario's name."""
        families = {name: getattr(self, name) for name in FAMILIES}
        return type(self)(**families, assumptions=self.assumptions, metadata={**metadata, **self.metadata})

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a prediction that `save` wrote.

        Raises
        ------
        RunNotFoundError
            The directory holds none.
        """
        path = Path(directory)
        metadata = cls.described(path)
        stored = metadata["answers"]
        try:
            answers = {name: [_answer(kind, row) for row in stored[name]] for name, kind in FAMILIES.items()}
        except (KeyError, TypeError, ValueError):
            raise storage.damaged(path / storage.RUN_FILE) from None
        return cls(**answers, assumptions=stored["assumptions"], metadata=metadata, directory=path)

    def save(self, directory: str | Path, *, overwrite: bool = False) -> Path:
        """Write it to a new directory, in the format of all results.

        Parameters
        ----------
        overwrite
            Whether to replace a result that is there. Nothing else is ever overwritten.

        Raises
        ------
        OutputExistsError
            Something is in `directory`.
        StorageError
            It cannot be written.
        """
        target = Path(directory)
        storage.prepare(target, overwrite, "predict")
        provenance = {"name": "", "started": about.now(), "versions": about.versions(), "host": about.host()}
        content = {"format": storage.FORMAT, **provenance, **self.metadata, "answers": self.to_json()}
        storage.guarded(lambda: storage.seal(target, content))
        return target

    @property
    def predicted(self) -> list[dict[str, Any]]:
        """One row an answer, as `parshall.instruments.prediction.predict.flatten` describes them."""
        quantities = ("goodput_bps", "completion_s", "goodput_bps", "mean_queue_packets")
        return [
            _row(asdict(answer), "link" if name == "queues" else "group", quantity)
            for name, quantity in zip(FAMILIES, quantities, strict=True)
            for answer in getattr(self, name)
        ]

    def metrics(self, link: str | None = None, groups: Collection[str] | None = None) -> Metrics:  # noqa: ARG002
        """Return the models' answers as quantities of the catalogue: all of them, of links by their names."""
        from parshall.instruments.prediction.stated import quantities  # noqa: PLC0415 - it loads Polars

        return quantities(self)

    def of_all_flows(self) -> Metrics:
        """Return the models' answers for a group's quantities as means over all flows; none if a group is missing."""
        from parshall.instruments.prediction.stated import of_all_flows  # noqa: PLC0415 - it loads Polars

        return of_all_flows(self)

    def group_names(self) -> list[str]:
        """The groups of flows, in the order of the scenario."""
        return [group["name"] for group in self.metadata.get("groups", ())]

    def __repr__(self) -> str:
        """Return its name and the number of answers."""
        held = sum(each.in_range for name in FAMILIES for each in getattr(self, name))
        total = sum(len(getattr(self, name)) for name in FAMILIES)
        return f"<Predicted {self.name!r}: {held} of {total} answers of models are in range>"

    def quantity(self, name: str) -> Metric:
        """One of `metrics`.

        Raises
        ------
        InputError
            The models say nothing of it.
        """
        known = self.metrics()
        if name not in known:
            raise InputError(f"{name}: found no model that says it; accepted: {', '.join(known) or 'nothing'}")
        return known[name]

    def to_json(self) -> dict[str, Any]:
        """Give everything as JSON-able values, under the names of the attributes."""
        answers = {name: [asdict(answer) for answer in getattr(self, name)] for name in FAMILIES}
        return {**answers, "assumptions": list(self.assumptions)}

    def __eq__(self, other: object) -> bool:
        """True if all answers and assumptions are the same."""
        return isinstance(other, Predicted) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[object, ...]:
        return (*(getattr(self, name) for name in FAMILIES), self.assumptions)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: each family of answers as a table, and why a model has none."""
        families = (
            ("Throughput", self.throughput, ("group", "model", "reading", "goodput_bps", "loss", "rtt_s", "reason")),
            (
                "Completion times",
                self.completion,
                ("group", "model", "reading", "size_bytes", "completion_s", "reason"),
            ),
            ("Datagrams", self.datagrams, ("group", "offered_bps", "goodput_bps", "loss", "reason")),
            ("Queues", self.queues, ("link", "model", "mean_queue_packets", "loss", "reason")),
        )
        tables = [
            notebook.table(columns, ([getattr(answer, key) for key in columns] for answer in answers), title)
            for title, answers, columns in families
            if answers
        ]
        return notebook.fragment("Predicted", "" if tables else "nothing: there are no flows", *tables)


def _row(answer: dict[str, Any], subject: str, quantity: str) -> dict[str, Any]:
    reading = answer.pop("reading", None)
    row = {
        "subject": answer.pop(subject),
        "model": answer.pop("model", None),
        "reading": None if reading is None else str(reading),
        "quantity": quantity,
        "in_range": answer.pop("in_range"),
        "reason": answer.pop("reason"),
        "predicted": answer.pop(quantity),
        "measured": answer.pop(f"measured_{quantity}"),
        "ratio": answer.pop("ratio"),
    }
    return {**row, "details": answer}


def _answer(kind: type, row: Mapping[str, Any]) -> Any:
    """An answer that was written as JSON."""
    return kind(**{key: Reading(value) if key == "reading" else value for key, value in row.items()})
