"""The executor with workers that give what a test says: what is believed, what is done again, and what ends all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from parshall.campaign import executor
from parshall.campaign.answers import Answers
from parshall.campaign.call import Call, CallError, Failed, Function, Lost, Outcome, Returned, Written
from parshall.campaign.executor import Agenda, Executor
from parshall.campaign.store import Store
from parshall.foundations.errors import ClusterError, ParshallError, SimulationError, StorageError, StoreError

CALLS = [Call(f"{number:032d}", Function(abs, (number,))) for number in range(3)]


class Workers:
    """Workers whose answers to each call are given, in order; the pool is theirs."""

    workers = 1
    room = 10

    def __init__(self, answers: dict[str, list[Outcome | Callable[[], Outcome]]]) -> None:
        self._answers = {key: deque(given) for key, given in answers.items()}
        self._ready: list[Outcome] = []
        self.submitted: list[str] = []
        self.closed = False

    def pool(self, *_: object, **__: object) -> Workers:
        return self

    def submit(self, call: Call) -> None:
        self.submitted.append(call.key)
        given = self._answers.get(call.key, deque([Returned(call.key, call.key)])).popleft()
        self._ready.append(given() if callable(given) else given)

    def outcomes(self, _: float) -> list[Outcome]:
        ready, self._ready = self._ready, []
        return ready

    def live(self) -> tuple[float, int]:
        return 0.0, 0

    def close(self) -> None:
        self.closed = True


class All(Agenda):
    """All calls, and what came of each."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = deque(calls)
        self.found: list[str] = []
        self.made: list[str] = []
        self.errors: dict[str, str] = {}

    @property
    def finished(self) -> bool:
        return not self._calls

    def next(self) -> Call | None:
        return self._calls.popleft() if self._calls else None

    def done(self, call: Call, outcome: Written | Returned | None) -> None:
        (self.found if outcome is None else self.made).append(call.key)

    def failed(self, call: Call, error: ParshallError) -> None:
        self.errors[call.key] = str(error)


def done(store: Store, **answers: Any) -> tuple[All, Workers]:
    agenda, by = All(CALLS), Workers({CALLS[int(name[1:])].key: given for name, given in answers.items()})
    Executor(agenda, Answers(store), by).run()  # type: ignore[arg-type]
    assert not list((store.directory / "claims").iterdir())
    return agenda, by


@pytest.fixture
def store(tmp_path: Any) -> Store:
    made = Store(tmp_path / "store", create=True)
    made.check_writable()
    return made


KEYS = [call.key for call in CALLS]


def test_what_a_store_has_is_not_done(store: Store) -> None:
    Answers(store).take(CALLS[1], Returned(KEYS[1], "there"))
    agenda, by = done(store)
    assert (agenda.found, agenda.made, by.submitted) == ([KEYS[1]], [KEYS[0], KEYS[2]], [KEYS[0], KEYS[2]])
    agenda, by = done(store)
    assert (agenda.found, by.submitted) == (KEYS, [])


def test_a_call_whose_process_ended_is_done_again_and_given_up_at_last(store: Store) -> None:
    lost = [Lost(KEYS[0], "SIGKILL"), Lost(KEYS[0], "SIGSEGV")]
    agenda, by = done(store, _0=[*lost, Returned(KEYS[0], 1)], _1=[Lost(KEYS[1], f"exit code {n}") for n in range(3)])
    assert agenda.errors == {KEYS[1]: "its process ended 3 times, the last time with exit code 2"}
    assert sorted(agenda.made) == [KEYS[0], KEYS[2]]
    assert [by.submitted.count(key) for key in KEYS] == [3, 3, 1]


def test_a_process_that_ended_when_it_had_written_is_not_asked_again(store: Store) -> None:
    def written() -> Outcome:
        Answers(store).take(CALLS[0], Returned(KEYS[0], "mine"))
        return Lost(KEYS[0], "SIGKILL")

    agenda, by = done(store, _0=[written])
    assert by.submitted == KEYS
    assert agenda.found == [KEYS[0]]


def test_a_call_that_failed_does_not_end_the_others(store: Store) -> None:
    agenda, by = done(store, _0=[Failed(KEYS[0], SimulationError("no"))], _1=[Failed(KEYS[1], CallError("KeyError"))])
    assert agenda.errors == {KEYS[0]: "no", KEYS[1]: "KeyError"}
    assert agenda.made == [KEYS[2]]
    assert not by.closed


@pytest.mark.parametrize("error", [StorageError("the disk is full"), ClusterError("it was lost")])
def test_where_nothing_more_can_be_done_all_ends_and_is_given_back(error: ParshallError, store: Store) -> None:
    by = Workers({KEYS[1]: [Failed(KEYS[1], error)]})
    with pytest.raises(type(error)):
        Executor(All(CALLS), Answers(store), by).run()  # type: ignore[arg-type]
    assert by.closed, "what others may do must not go on"
    assert not list((store.directory / "claims").iterdir())
    agenda, _ = done(store)
    assert sorted([*agenda.found, *agenda.made]) == KEYS


def test_an_answer_that_the_store_does_not_show_is_not_believed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_UNSEEN_S", 0.3)
    looks = []

    class Late(Answers):
        def has(self, call: Call) -> bool:
            looks.append(call.key)
            return looks.count(call.key) > 6 and super().has(call)

    agenda = All(CALLS[:1])
    Executor(agenda, Late(store), Workers({})).run()  # type: ignore[arg-type]
    assert agenda.made == [KEYS[0]], "it was shown late"

    class Never(Answers):
        def take(self, call: Call, outcome: Written | Returned) -> None:
            """It is lost on its way."""

    with pytest.raises(StoreError, match="a worker has done it, and the store does not show it"):
        Executor(All(CALLS[1:]), Never(store), Workers({})).run()  # type: ignore[arg-type]


def test_what_another_program_does_is_waited_for_and_done_if_it_gives_up(store: Store) -> None:
    theirs = [store.lock(key) for key in KEYS[:2]]

    class Watching(All):
        looks = 0

        def look(self) -> None:
            self.looks += 1
            for lock in theirs:
                assert lock is not None
                if self.looks == 1:
                    if lock is theirs[0]:
                        Answers(store).take(CALLS[0], Returned(KEYS[0], "theirs"))
                    lock.release()

    agenda, by = Watching(CALLS), Workers({})
    Executor(agenda, Answers(store), by).run()  # type: ignore[arg-type]
    assert by.submitted == [KEYS[2], KEYS[1]], "the first was theirs, the second they gave up"
    assert agenda.found == [KEYS[0]]
