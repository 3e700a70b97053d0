"""A sample of the crash harness; `python -m tests.crash` runs it whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.storage import transaction
from tests.crash import (
    crossing,
    errors,
    foreign,
    kill,
    late,
    log_faults,
    mutants,
    mutations,
    power,
    stale,
    torture,
)
from tests.crash.calls import without_exchange
from tests.crash.kill import Tally
from tests.crash.operations import Place, sample
from tests.examples import WHOLE

STRIDE = 1 if WHOLE else 3
"""Somebody who works tries about a third of the points that continuous integration does."""


def _reduced(folder: Path) -> Tally:
    with without_exchange():
        return kill.kills(folder, every=20 * STRIDE)


def _errors_reduced(folder: Path) -> Tally:
    with without_exchange():
        return errors.errors(folder, every=150 * STRIDE)


PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": lambda folder: kill.kills(folder, every=12 * STRIDE * STRIDE),
    "kill, reduced protection": _reduced,
    "kill in recovery": lambda folder: kill.compound(folder, every=60 * STRIDE, inner=3),
    "power, ordered": lambda folder: power.power(folder, weak=False, every=20 * STRIDE),
    "power, weak": lambda folder: power.power(folder, weak=True, every=150 * STRIDE, samples=2),
    "failed syncs": lambda folder: power.failed_syncs(folder, every=30 * STRIDE, samples=1),
    "power in recovery": lambda folder: power.again(folder, every=150 * STRIDE, samples=1),
    "errors": lambda folder: errors.errors(folder, every=130 * STRIDE),
    "errors, reduced protection": _errors_reduced,
    "lasting errors": lambda folder: errors.errors(folder, every=100 * STRIDE, lasting=True),
    "short writes": errors.short_writes,
    "a failing log": lambda folder: log_faults.log_faults(folder, every=300 * STRIDE),
    "foreign writers": lambda folder: foreign.foreign(folder, every=30 * STRIDE, near=True),
    "foreign writers, then kill": lambda folder: foreign.foreign(folder, every=25, near=True, killed=1),
    "foreign writers at calls that look": lambda f: foreign.foreign(f, every=12, looking=True, operations=("add",)),
    "two processes at each call": lambda folder: crossing.crossing(folder, every=20 * STRIDE),
    "stale saves": stale.stale,
    "late writers": late.late,
    "twelve commands": lambda folder: torture.twelve(folder, rounds=2 if WHOLE else 1),
    "torture": lambda folder: torture.torture(folder, seconds=2, changes=160),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.thorough(
    but=(
        "kill",
        "errors",
        "foreign writers",
        "stale saves",
        "late writers",
        "torture",
        "a failing log",
    )
)
def test_nothing_is_lost(top: Path, part: str) -> None:
    """Whatever happens to a change: all or nothing, nothing of anybody lost, nothing left behind."""
    tally = PARTS[part](top)
    assert tally.points > 10
    assert tally.violations == []


NOTICED_AT_ONCE = (
    "no sync at all",
    "no intent",
    "intent taken away before the move",
    "recovery forgets",
    "recovery does not sync",
    "plain rename",
    "no lock",
    "short writes accepted",
    "failing syncs ignored",
    "a failing log stops changes",
    "an addition is not synced",
    "a torn line is added to",
)


@pytest.mark.parametrize("mutant", NOTICED_AT_ONCE)
@pytest.mark.thorough(but=("no intent", "plain rename"))
def test_a_broken_protocol_is_noticed(mutant: str) -> None:
    """The harness finds what is wrong with a protocol in which one thing was broken."""
    mutants.prepare()
    assert mutants.noticed(mutant) == mutations.MUTANTS[mutant][0]


def test_reduced_protection_is_told(top: Path) -> None:
    """What a file system lacks is found out and said; where all is there, nothing is."""
    place = Place(top / "place")
    sample(place)
    full = place.store().protection()
    assert full.full
    with without_exchange():
        reduced = place.store().protection()
    assert (reduced.exchange, reduced.links, reduced.journal) == (False, True, True)
    assert len(reduced.reasons) == 1
    assert [path.name for path in (place.shop / ".aiter").iterdir() if path.name.startswith(".memdeck-")] == []


def test_other_systems_are_refused() -> None:
    """Where no crash was ever tried no file is changed."""
    with pytest.raises(RefusedError) as caught:
        transaction.refuse_system("win32")
    assert caught.value.code == "system.unsupported"


@pytest.mark.parametrize("name", ["intent-.aiter", "displaced-.aiter"])
def test_a_planted_record_has_no_effect(top: Path, name: str) -> None:
    """A record that came with a clone is not read, wherever in the workspace it lies."""
    place = Place(top / "place")
    sample(place)
    for folder in (place.shop, place.shop / ".aiter/.memdeck", place.shop / ".aiter/.memdeck/stage"):
        (folder / name).write_bytes(b'memdeck 1 2 99999999\n{"id": "x"}')
    before = {path: data for path, data in place.memory().items() if path != name}
    place.recover()
    assert {path: data for path, data in place.memory().items() if path != name} == before
