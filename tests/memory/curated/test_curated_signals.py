"""The signals of recall: counted at once, and never waited for."""

from __future__ import annotations

import sqlite3

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.records import Records
from tests.memory.curated.conftest import Den, ask, write


def begun(den: Den) -> Curated:
    """Return memory with one memory."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    return curated


def counted(records: Records) -> int:
    """Return how many recalls are counted."""
    text = "SELECT coalesce(sum(recall_count), 0) FROM memory_recall_signals"
    return records.look(lambda db: int(db.execute(text).fetchone()[0]), -1)


def locked(den: Den) -> sqlite3.Connection:
    """Return another program's connection that writes to the person's records."""
    (path,) = den.state.rglob("curated.sqlite")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


def dropped(records: Records) -> list[Json]:
    """Return what the events say of recalls that were lost."""
    return [one["metadata"] for one in records.events(ops=["memory.recall.signal_dropped"])]


def test_a_recall_never_waits_for_the_records(den: Den) -> None:
    """While another program writes to them it is not counted, and the next one notes how many were not."""
    curated = begun(den)
    records = curated.sides["global"].records
    other = locked(den)
    for _ in range(3):
        assert ask(den, curated, "oat milk").entries
    other.execute("ROLLBACK")
    other.close()
    assert ask(den, curated, "oat milk").entries
    assert (counted(records), dropped(records), records.warnings) == (1, [{"dropped": 3, "reason": "busy"}], [])


def test_signals_survive_a_reindex_and_a_change_of_type(den: Den) -> None:
    """Recalls are counted for the memory, under the file name that it has by then."""
    curated = begun(den)
    records = curated.sides["global"].records
    ask(den, curated, "oat milk")
    curated.sides["global"].catalog.rebuild([curated.root("global")])
    write(den, curated, "reference", "Coffee", "likes oat milk", metadata={"target_filename": "user_coffee.md"})
    ask(den, curated, "oat milk")
    (one,) = curated.memories([curated.root("global")])
    assert (one.filename, records.signals([one.id])[one.id][0]) == ("reference_coffee.md", 2)
