"""A sample of the crash harness; `python -m tests.crash` runs it whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.storage import transaction
from tests.crash import (
    errors,
    foreign,
    kill,
    mutants,
    mutations,
    power,
)
from tests.crash.calls import without_exchange
from tests.crash.kill import Tally
from tests.crash.operations import Place, sample
from tests.examples import WHOLE

STEP = 1 if WHOLE else 3
"""Continuous integration tries three times as many points."""
PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": lambda folder: kill.kills(folder, every=10 * STEP),
    "kill in recovery": lambda folder: kill.again(folder, every=60 * STEP),
    "power, ordered": lambda folder: power.power(folder, weak=False, every=40 * STEP),
    "power, weak": lambda folder: power.power(folder, weak=True, every=200 * STEP, samples=1),
    "failed syncs": lambda folder: power.failed_syncs(folder, every=60 * STEP, samples=1),
    "errors": lambda folder: errors.errors(folder, every=60 * STEP),
    "short writes": errors.short_writes,
    "foreign writers": lambda folder: foreign.foreign(folder, every=8 * STEP, near=True),
    "foreign writers, then kill": lambda folder: foreign.foreign(folder, every=15 * STEP, near=True, killed=True),
    "late writers": foreign.late,
    "many at once": lambda folder: foreign.torture(folder, changes=80, lines=50),
}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_lost(top: Path, part: str) -> None:
    """Whatever happens to a change: all or nothing, no bytes of any program lost, nothing left behind."""
    tally = PARTS[part](top)
    assert tally.points
    assert tally.violations == []


@pytest.mark.thorough(but=("no intent", "plain rename"))
@pytest.mark.parametrize("mutant", ["no sync at all", "no intent", "plain rename", "short writes accepted"])
def test_a_broken_protocol_is_noticed(mutant: str) -> None:
    """The harness finds what is wrong with a protocol in which one thing was broken."""
    assert mutants.noticed(mutant) == mutations.MUTANTS[mutant][0]


def test_reduced_protection_is_told(top: Path) -> None:
    """What a file system lacks is found out and said; where all is there, nothing is."""
    place = Place(top / "place")
    sample(place)
    assert place.store().protection() == ()
    with without_exchange():
        reduced = place.store().protection()
        assert kill.kills(top, every=60 * STEP).violations == []
    assert [reason.partition(" here")[0] for reason in reduced] == ["files cannot swap places"]
    assert [path.name for path in (place.shop / ".aiter").iterdir() if path.name.startswith(".memdeck-")] == []


def test_other_systems_are_refused() -> None:
    """Where no crash was ever tried no file is changed."""
    with pytest.raises(RefusedError) as caught:
        transaction.refuse_system("win32")
    assert caught.value.code == "system.unsupported"


def test_a_planted_record_has_no_effect(top: Path) -> None:
    """A record that came with a clone is not read, in whichever folder of the workspace it is."""
    name = "journal-.aiter"
    place = Place(top / "place")
    sample(place)
    for folder in (place.shop, place.shop / ".aiter/.memdeck", place.shop / ".aiter/.memdeck/stage"):
        (folder / name).write_bytes(b'memdeck 3 2 99999999\n{"id": "x"}')
    before = {path: data for path, data in place.memory().items() if path != name}
    place.recover()
    assert {path: data for path, data in place.memory().items() if path != name} == before
