"""Answers of calls in stores: every kind comes back as it was, and what a stranger wrote is data and never runs."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import pickle
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.campaign import maintenance
from parshall.campaign.answers import Answers
from parshall.campaign.call import Returned
from parshall.campaign.calls import run_calls
from parshall.campaign.damage import behind_digest
from parshall.campaign.encoding import NoEncodingError, decoded, encoded
from parshall.campaign.keys import call_of
from parshall.campaign.merging import merge
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError
from parshall.instruments.emulation import Validity
from parshall.report.document import Block, Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot
from parshall.scenario import Scenario
from parshall.scenario.schema.quantities import Duration
from parshall.studies import catalog
from parshall.studies.running import Execution, run
from parshall.studies.study import Case, Emulated, Findings, Part, Study

HERE = frozenset({__name__.partition(".")[0]})
SCENARIO = Scenario.from_document(
    {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 2}]}
)
NAN_WITH_A_PAYLOAD: float = struct.unpack(">d", bytes.fromhex("7ff8000000000123"))[0]


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    first: float
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slotted:
    value: float


@dataclass(frozen=True)
class Refusing:
    """A class whose `__post_init__` must not run when an answer is read."""

    value: float
    inner: Slotted | None = None

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("not from a caller")


def refusing(value: float) -> Refusing:
    made = Refusing(1.0, Slotted(math.nan))
    object.__setattr__(made, "value", value)
    return made


VALUES: dict[str, Any] = {
    "nothing": None,
    "booleans": [True, False],
    "integers": [0, -1, 2**70],
    "floats": [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.pi],
    "not finite": [math.inf, -math.inf, math.nan, NAN_WITH_A_PAYLOAD],
    "complex": complex(-0.0, math.inf),
    "text": ["", "ümläut \U0001f30a", "\ud800", '{"tuple": []}'],
    "bytes": bytes(range(256)),
    "nested": {"list": [1, (2.0, [3])], 4: (), (5, "six"): {}, None: {"object": []}, 1.5: [[]]},
    "sets": [{1, 2}, frozenset({("a", 1.0)}), set()],
    "scalars": [
        np.float64(0.1),
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.str_("x"),
        np.datetime64("2026-01-01"),
    ],
    "ranges": [range(3), range(5, -1, -2)],
    "enumeration": Colour.RED,
    "named tuple": Pair(math.inf, (1, 2)),
    "slots": Slotted(-0.0),
    "dataclass": refusing(-1.0),
    "scenario": SCENARIO,
    "quantity": Duration("0.10 s"),
    "interval": Interval(1.0, 0.5, 1.5, 0.95, 5),
    "emulated": Emulated(np.array([1.0]), Validity("doubtful", ("busy",))),
    "findings": Findings(
        [Claim("table1", "mean, s", Interval(2.1, 2.0, 2.2, n=4), "equal", 2.0, 0.05, "half of its last digit")],
        [
            Section(
                "heading",
                ("text",),
                [Table("", ("a", "b"), [("1", "2")])],
                [
                    Chart(
                        "name",
                        "title",
                        Plot([Panel([Line(np.arange(3), [1.0, 3.0, 2.0])], Axis("x"), Axis("y"))], ""),
                    )
                ],
                [Block("facts", {"rate": [("a", 1)]})],
            )
        ],
    ),
    "frame": pl.DataFrame({"a": [1.0, math.nan, None], "b": ["x", None, "z"], "c": [[1], [], None]}),
    "empty frame": pl.DataFrame(schema={"a": pl.UInt8, "b": pl.Datetime("us")}),
}
ARRAYS = [
    np.array([0.0, -0.0, math.nan, NAN_WITH_A_PAYLOAD, math.inf]),
    np.arange(24, dtype=np.int16).reshape(2, 3, 4),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(10)[::-2],
    np.zeros((0, 3), np.float32),
    np.array(7, np.uint64),
    np.array([True, False]),
    np.array([1 + 2j]),
    np.array(["a", "bcd"]),
    np.array([b"a", b"bcd"]),
    np.array(["2026-01-01", "NaT"], "datetime64[ns]"),
    np.array([1.5], ">f8"),
]


def check_same(found: Any, wanted: Any) -> None:
    """Hold two values against each other, types and bits included."""
    assert type(found) is type(wanted)
    if isinstance(wanted, np.ndarray | np.generic):
        assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
    elif isinstance(wanted, float):
        assert struct.pack(">d", found) == struct.pack(">d", wanted)
    elif isinstance(wanted, Scenario):
        assert found.resolve() == wanted.resolve()
        assert (found.folder, found.source) == (wanted.folder, wanted.source)
    elif isinstance(wanted, pl.DataFrame):
        assert found.schema == wanted.schema
        assert found.equals(wanted)
    elif is_dataclass(wanted):
        for each in fields(wanted):
            check_same(getattr(found, each.name), getattr(wanted, each.name))
    elif isinstance(wanted, dict):
        check_same(list(found.items()), list(wanted.items()))
    elif isinstance(wanted, list | tuple):
        for one, other in zip(found, wanted, strict=True):
            check_same(one, other)
    else:
        assert found == wanted


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_every_kind_of_value_comes_back_bit_by_bit(value: Any) -> None:
    text = encoded(value, HERE)
    json.loads(text, parse_constant=pytest.fail)
    check_same(decoded(text, HERE), value)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}")
def test_arrays_come_back_bit_by_bit(array: np.ndarray[Any, Any]) -> None:
    found = decoded(encoded(array))
    check_same(found, array)
    assert found.flags.writeable


def kinds(study: Study) -> list[Case]:
    """One case of each function, and of each function that measures, of a study that is simulated."""
    chosen: dict[Any, Case] = {}
    for part in study.loaded():
        if not part.emulates:
            for case in part.cases("quick").values():
                measures = tuple(each for each in case.arguments if callable(each))
                chosen.setdefault((case.function, measures), case)
    return list(chosen.values())


@pytest.mark.parametrize(
    "name",
    [pytest.param(each.name, marks=[] if each.name == "rio" else [pytest.mark.slow]) for each in catalog.STUDIES],
)
def test_every_kind_of_answer_of_a_study_comes_back(name: str) -> None:
    cases = kinds(next(each for each in catalog.STUDIES if each.name == name))
    assert cases
    for case in cases:
        answer = case.answer()
        check_same(decoded(encoded(answer)), answer)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": [1, lambda: 0]}, r"the answer\['a'\]\[1\]: found builtins\.function"),
        (Refusing(1.0, object()), "the answer.inner: found builtins.object"),  # type: ignore[arg-type]
        (np.array([None]), "the answer: found an array of object"),
        (Path("x"), r"the answer: found pathlib.*Path"),
        (Slotted, "the answer: found builtins.type"),
        ({(1, 2): Path("x")}, r"the answer\[\(1, 2\)\]: found pathlib.*Path"),
    ],
)
def test_what_cannot_be_kept_is_named_with_its_place_and_type(value: Any, found: str) -> None:
    with pytest.raises(NoEncodingError, match=f"^{found}$"):
        encoded(value, HERE)


def test_a_value_that_holds_itself_is_refused() -> None:
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(NoEncodingError, match="nested too deeply, or holds itself"):
        encoded(itself)


def path_of(text: str) -> Path:
    return Path(text)


def slotted(value: float) -> Slotted:
    return Slotted(value)


def test_a_case_whose_answer_cannot_be_kept_is_named(tmp_path: Path) -> None:
    study = Study(
        "s", "", "", "", [Part("p", lambda _: {"x": Case("the road", path_of, ("x",))}, lambda *_: Findings([], []))]
    )
    with pytest.raises(
        InputError, match=r"^the road: the answer: found pathlib\..*Path, which a store cannot keep; accepted: "
    ):
        run(study, "quick", lambda _: None, Execution(tmp_path / "store", 1))


# --- what a stranger wrote ---


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def old(path: Path) -> bytes:
    """A pickle behind its digest, as answers once were."""
    content = pickle.dumps(Evil(path))
    return hashlib.sha256(content).digest() + content


def inside(path: Path) -> bytes:
    """The same, as an answer is written now."""
    return behind_digest(pickle.dumps(Evil(path)))


def frame(path: Path) -> bytes:
    return behind_digest(json.dumps({"frame": base64.b64encode(pickle.dumps(Evil(path))).decode()}).encode())


def array(path: Path) -> bytes:
    content = base64.b64encode(pickle.dumps(Evil(path))).decode()
    return behind_digest(json.dumps({"array": ["|O", [1], content]}).encode())


def named(name: str, members: str = "object") -> Callable[[Path], bytes]:
    return lambda path: behind_digest(json.dumps({members: [name, {"path": str(path), "args": [str(path)]}]}).encode())


STRANGERS: dict[str, Callable[[Path], bytes]] = {
    "old pickle": old,
    "pickle": inside,
    "frame": frame,
    "array of objects": array,
    "function": named("os:mkdir"),
    "class": named("subprocess:Popen"),
    "text of a function": named("os:mkdir", "text"),
    "member of a function": named("os:mkdir", "member"),
    "through Parshall": named("parshall.foundations.files:os.mkdir"),
    "class that Parshall imports": named("parshall.foundations.files:Path"),
    "function of Parshall": named("parshall.foundations.files:write_atomically"),
    "class without fields": named("parshall.campaign.store:Store"),
    "other fields": named("parshall.analysis.stats.confidence:Interval"),
    "the command": named("parshall.__main__:main"),
    "not there": named("parshall.nowhere:Interval"),
    "unknown form": lambda _: behind_digest(b'{"reduce": ["os", "mkdir"]}'),
    "two forms": lambda _: behind_digest(b'{"tuple": [], "set": []}'),
    "deep": lambda _: behind_digest(b"[" * 100_000 + b"]" * 100_000),
    "no JSON": lambda _: behind_digest(b"\xff\x00"),
    "false shape": lambda _: behind_digest(b'{"array": ["<f8", [1000000000000], ""]}'),
    "false type": lambda _: behind_digest(b'{"array": ["<U999999999", [1], "AAAA"]}'),
    "false scenario": lambda _: behind_digest(b'{"scenario": [{"flows": 5}, "/", null]}'),
    "no hashable set": lambda _: behind_digest(b'{"set": [[]]}'),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("write", STRANGERS.values(), ids=STRANGERS)
def test_an_answer_of_a_stranger_runs_nothing(write: Callable[[Path], bytes], tmp_path: Path) -> None:
    call, ran = call_of(slotted, (2.0,)), tmp_path / "ran"
    theirs, mine = (Store(tmp_path / name, create=True) for name in ("theirs", "mine"))
    path = theirs.directory / "answers" / call.key[:2] / call.key
    path.parent.mkdir(parents=True)
    path.write_bytes(write(ran))
    modules = set(sys.modules)
    maintenance.verify(theirs)
    assert merge(mine, theirs).runs == 0
    for store in (mine, theirs):
        assert not Answers(store).has(call)
    assert not ran.exists()
    assert not {each for each in set(sys.modules) - modules if not each.startswith(("parshall.", "encodings."))}


def test_an_answer_of_a_stranger_is_done_again(tmp_path: Path) -> None:
    call, store = call_of(slotted, (2.0,)), Store(tmp_path / "store", create=True)
    Answers(store).take(call, Returned(call.key, Slotted(3.0)))
    (path,) = store.answers()
    path.write_bytes(STRANGERS["function"](tmp_path / "ran"))
    assert run_calls([call], 1, store=store) == [Slotted(2.0)]
    again = Answers(store)
    assert again.has(call)
    assert again.values == {call.key: Slotted(2.0)}
    assert not (tmp_path / "ran").exists()


def test_a_package_of_others_is_looked_into_only_where_it_was_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "__init__.py").write_text("")
    (tmp_path / "stranger" / "script.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoEncodingError):
        decoded('{"object": ["stranger.script:Thing", {}]}', {"stranger"})
    assert not (tmp_path / "ran").exists()


def test_answers_in_another_format_are_counted_and_done_again(tmp_path: Path) -> None:
    study = Study(
        "s",
        "",
        "",
        "",
        [Part("p", lambda _: {n: Case(f"{n}", slotted, (float(n),)) for n in range(3)}, lambda *_: Findings([], []))],
    )
    told: list[str] = []
    execution = Execution(tmp_path / "store", 1)
    run(study, "quick", told.append, execution)
    one, two, three = sorted((tmp_path / "store").glob("answers/*/*"))
    content = one.read_bytes()
    one.write_bytes(old(tmp_path / "ran"))
    told.clear()
    assert [each.what for each in maintenance.verify(Store(tmp_path / "store")).damage] == [
        "an answer: it has a format that is not read"
    ]
    run(study, "quick", told.append, execution)
    assert told[0] == (
        "s at quick scale: 3 cases, of which the store has 2; 1 that it has in a format that is not read are done again"
    )
    assert one.read_bytes() == content
    assert not (tmp_path / "ran").exists()
    assert two.exists()
    assert three.exists()
