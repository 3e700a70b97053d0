"""The signals of recall: counted at once, never waited for, and whole after a kill."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.records import Records
from tests.memory.curated.conftest import Den, ask, write
from tests.patience import PATIENCE


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


def test_a_killed_process_loses_no_recall(den: Den) -> None:
    """What was recalled before a kill is counted."""
    curated = begun(den)
    curated.close()
    script = (
        "import os, signal\nfrom pathlib import Path\nfrom tests.memory.curated.conftest import Den, ask\n"
        "den = Den.__new__(Den)\n"
        f"den.top, den.workspace = Path({str(den.top)!r}), Path({str(den.workspace)!r})\n"
        f"den.person, den.state = Path({str(den.person)!r}), Path({str(den.state)!r})\n"
        "den._opened, den.seconds = [], 0\n"
        "curated = den.open()\n"
        "for number in range(7):\n    assert ask(den, curated, 'oat milk').entries\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    house = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=house, env={**os.environ, "PYTHONPATH": str(house)}, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert counted(den.open().sides["global"].records) == 7
