"""Curated memory's own work and kill -9 before each call that changes a file: a run is whole or never was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from memory.curated.control.candidate import Candidate
from memory.curated.control.carry_out import pending
from memory.curated.control.decision import select
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.daily import sweep as daily_sweep
from memory.curated.dreaming.run import dream
from memory.curated.dreaming.runs import runs
from memory.curated.extract.consume import consume
from memory.curated.extract.extraction import extract
from memory.curated.extract.inbox import failures, waiting
from memory.curated.extract.turns import feed, queued
from memory.curated.model import Header
from memory.curated.recall.recall import RecallOptions, recall
from memory.curated.sessions.ledger import append, end, read
from memory.curated.sessions.upkeep import sweep
from memory.storage import PrivateState, Store
from tests.crash.calls import Calls, in_force
from tests.crash.kill import killed_at, some
from tests.examples import WHOLE
from tests.memory.curated.conftest import NOW

LATER = NOW + timedelta(minutes=40)
Run = Callable[[Curated], object]
Check = Callable[[Curated, Path, str], bool]


def opened(top: Path) -> Curated:
    """Return the memory as a new process sees it; displaced files are looked at right away."""
    person = top / "agh"
    store = Store(person, state=PrivateState(top / "state", person), workspace=person, settle=0, patience=0.5)
    return Curated(None, store, state_home=top / "state")


def remember(curated: Curated, name: str, body: str) -> None:
    """Write a memory."""
    candidate = Candidate(curated.root("global"), "cli", Header(name, "about it", "user", "global"), body)
    propose(curated, candidate, actor="cli", now=NOW)


def torn(tmp_path: Path, prepare: Run, run: Run, check: Check, every: int = 5) -> None:
    """Kill a run before its calls, one try each; `check` looks at what the next process finds, whether it was done."""
    top, kept = tmp_path / "place", tmp_path / "kept"
    top.mkdir()
    curated = opened(top)
    prepare(curated)
    curated.close()
    shutil.copytree(top, kept)
    curated = opened(top)
    with in_force(Calls()) as calls:
        run(curated)
    assert check(curated, top, "the whole run")
    curated.close()
    count = len(calls.names)
    assert count > 10
    seen = set()
    tried = some(1 if WHOLE else every, seed=count)
    for number in range(count):
        if not (tried() or number in (0, count - 1)):
            continue
        shutil.rmtree(top)
        shutil.copytree(kept, top)
        killed_at(number, lambda: run(opened(top)))
        again = opened(top)
        again.finish_interrupted(LATER)
        where = f"before {calls.names[number]} ({number})"
        seen.add(check(again, top, where))
        assert pending(again.sides["global"]) == [], where
        again.close()
    assert seen == {False, True}


_THINGS = ("oats grow in spring", "rice needs much water", "tea comes from hills")


def _recalled(curated: Curated) -> None:
    for number, body in enumerate(_THINGS):
        remember(curated, f"Thing {number}", body)
        for turn in (1, 2):
            recall(curated, body, curated.visible(), RecallOptions(session=f"s{number}", turn=turn), now=NOW)


def _dream(curated: Curated, minute: int = 0) -> object:
    now = LATER + timedelta(minutes=minute)
    return dream(curated, curated.sides["global"], actor="cli", now=now, force=True)


def _dreamt(curated: Curated, top: Path, where: str) -> bool:
    """The memory, the marks and the row of a run are there together or not at all; a next run gathers the rest."""
    side = curated.sides["global"]
    found = runs(side)
    assert [one.status for one in found if one.status == "running"] == [], where
    done = [one for one in found if one.state == "promoted"]
    text = "SELECT count(*) FROM memory_recall_signals WHERE promoted_at IS NOT NULL"
    marks = side.records.look(lambda db: db.execute(text).fetchone()[0], 0)
    path = top / "agh/memory/project_dreaming-2026-01-15.md"
    assert path.exists() == bool(done), where
    assert marks == (3 if done else 0), where
    assert [one.promoted_count for one in done] in ([], [3]), where
    if done:
        assert all(body in path.read_text() for body in _THINGS), where
    else:
        _dream(curated, 1)
        assert runs(side)[0].promoted_count == 3, where
    return bool(done)


def test_a_dream_is_whole_or_never_was(tmp_path: Path) -> None:
    """After each kill the memory of a dream, its marks and its row are there together, or the next run makes them."""
    torn(tmp_path, _recalled, _dream, _dreamt)


_INBOX = "agh/memory/_inbox/s1/20260115T120000.000000Z-3.jsonl"
_LINES = (
    '{"type": "user", "name": "Tea", "content": "green tea in the morning"}',
    "no candidate",
    '{"type": "user", "name": "Bread", "content": "rye with seeds"}',
)


def _inbox(curated: Curated) -> None:
    remember(curated, "Coffee", "likes oat milk")
    path = Path(curated.sides["global"].store.root).parent / _INBOX
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(_LINES) + "\n")


def _consume(curated: Curated) -> object:
    return consume(curated, actor="extractor", now=LATER)


def _consumed(curated: Curated, top: Path, where: str) -> bool:
    """The file goes together with the record of the bad line, and each good line is decided once, whenever."""
    gone = not (top / _INBOX).exists()
    assert len(failures(curated)) == int(gone), where
    if gone:
        assert len(curated.memories(curated.visible())) == 3, where
    _consume(curated)
    assert waiting(curated) == [], where
    assert [one["content"] for _, one in failures(curated)] == [_LINES[1]], where
    names = {one.header.name: one.body for one in curated.memories(curated.visible())}
    assert names == {"Coffee": "likes oat milk", "Tea": "green tea in the morning", "Bread": "rye with seeds"}, where
    side = curated.sides["global"]
    rows = side.records.look(lambda db: select(side, db, "origin = 'extractor'", []), [])
    assert [one.op for one in rows] == ["add", "add"], where
    return gone


def test_a_consumed_file_is_whole_or_waits(tmp_path: Path) -> None:
    """After each kill a line of the inbox was decided on once or still waits, and none is lost."""
    torn(tmp_path, _inbox, _consume, _consumed)


def _turns(curated: Curated) -> None:
    remember(curated, "Coffee", "likes oat milk")
    feed(curated, "s1", "user", "remember(user): green tea in the morning", 1, NOW)


def _extract(curated: Curated) -> object:
    return extract(curated, "s1", actor="extractor", now=LATER)


def _extracted(curated: Curated, top: Path, where: str) -> bool:
    """A turn is queued or in the inbox, at worst in both; it becomes one memory."""
    files, turns = waiting(curated), queued(curated)
    assert files or turns, where
    _extract(curated)
    _consume(curated)
    assert (waiting(curated), queued(curated)) == ([], {}), where
    bodies = sorted(one.body for one in curated.memories(curated.visible()))
    assert bodies == ["green tea in the morning", "likes oat milk"], where
    return not turns


def test_turns_are_never_lost_on_their_way(tmp_path: Path) -> None:
    """After each kill of an extraction its turns are queued or in the inbox, and make one memory."""
    torn(tmp_path, _turns, _extract, _extracted, every=3)


_EVENTS = [{"event_type": "user_message", "content": f"words {number}"} for number in range(3)]


def _session(curated: Curated) -> None:
    remember(curated, "Coffee", "likes oat milk")
    append(curated, "s1", _EVENTS, {}, actor="cli", now=NOW)


def _end(curated: Curated) -> object:
    return end(curated, "s1", actor="cli", now=LATER)


def _ended(curated: Curated, top: Path, where: str) -> bool:
    """The ledger is whole or missing, and the events are there either way."""
    place = top / "agh/sessions/_unbound/s1"
    done = (place / "ledger.jsonl").exists()
    _end(curated)
    found = read((place / "ledger.jsonl").read_bytes())
    assert (found.fault, [one["content"] for one in found.events]) == ("", [one["content"] for one in _EVENTS]), where
    return done


def test_a_ledger_is_whole_or_missing(tmp_path: Path) -> None:
    """After each kill of an end the ledger is sound or can still be made."""
    torn(tmp_path, _session, _end, _ended, every=2)


def _old(curated: Curated) -> None:
    _session(curated)
    _end(curated)


def _archive(curated: Curated) -> object:
    return sweep(curated, actor="maintain", now=NOW + timedelta(days=40))


def _archived(curated: Curated, top: Path, where: str) -> bool:
    """The ledger is in its folder or in the archive, whole, and never in both."""
    here, there = (top / f"agh/sessions/{name}/ledger.jsonl" for name in ("_unbound/s1", "_archive/_unbound/s1"))
    assert here.exists() != there.exists(), where
    done = there.exists()
    assert read((there if done else here).read_bytes()).fault == "", where
    _archive(curated)
    assert there.exists(), where
    return done


def test_an_archived_ledger_is_in_one_place(tmp_path: Path) -> None:
    """After each kill of a sweep a ledger is where it was or in the archive."""
    torn(tmp_path, _old, _archive, _archived, every=3)


def _logged(curated: Curated) -> None:
    remember(curated, "Coffee", "likes oat milk")
    daily_sweep(curated, curated.sides["global"], actor="maintain", now=LATER)


def _log_archive(curated: Curated) -> object:
    return daily_sweep(curated, curated.sides["global"], actor="maintain", now=NOW + timedelta(days=40))


def _log_archived(curated: Curated, top: Path, where: str) -> bool:
    """A log is in its folder or in the archive, with the same words."""
    places = [top / f"agh/memory/_system/{name}/2026-01-15.md" for name in ("daily", "archive/daily")]
    found = [path for path in places if path.exists()]
    assert len(found) == 1, where
    assert "user_coffee.md" in found[0].read_text(), where
    _log_archive(curated)
    assert places[1].exists(), where
    return found[0] == places[1]


def test_an_archived_daily_log_is_in_one_place(tmp_path: Path) -> None:
    """After each kill of a sweep a log is where it was or in the archive."""
    torn(tmp_path, _logged, _log_archive, _log_archived, every=3)
