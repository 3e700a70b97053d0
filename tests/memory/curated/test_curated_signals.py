"""The queue of recall signals: bounded, never waited for, counted in time, and whole after a kill."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from memory.curated.curated import Curated
from memory.curated.index.records import Records
from memory.curated.model import Json
from tests.memory.curated.conftest import NOW, Den, ask, write
from tests.patience import PATIENCE

ID = "global/user_coffee.md"


def begun(den: Den, settings: str = "") -> Curated:
    """Return memory with one memory and these settings of the queue."""
    den.settings(f"[memory.recall.signals]\n{settings}\n")
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    return curated


def state(records: Records) -> tuple[int, int]:
    """Return how many recalls wait in the records, and how many are counted for the memory."""

    def read(db: sqlite3.Connection) -> tuple[int, int]:
        (waiting,) = db.execute("SELECT count(*) FROM memory_recall_queue").fetchone()
        (counted,) = db.execute("SELECT coalesce(sum(recall_count), 0) FROM memory_recall_signals").fetchone()
        return waiting, counted

    return records.look(read, (-1, -1))


def locked(den: Den) -> sqlite3.Connection:
    """Return another program's connection that writes to the person's records."""
    (path,) = den.state.rglob("curated.sqlite")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


def dropped(records: Records) -> list[Json]:
    """Return what the events say of recalls that were lost."""
    return [one["metadata"] for one in records.events(ops=["memory.recall.signal_dropped"])]


def test_a_recall_waits_until_the_flush_interval_is_over(den: Den) -> None:
    """`recall.signals.flush_interval`: recalls are in the records at once, and counted when the oldest is so old."""
    curated = begun(den, 'flush_interval = "10s"')
    records = curated.sides["global"].records
    for number in range(3):
        ask(den, curated, "oat milk")
        assert state(records) == (number + 1, 0)
    den.seconds += 10
    ask(den, curated, "oat milk")
    assert state(records) == (0, 4)


def test_a_full_queue_is_counted_at_once(den: Den) -> None:
    """`recall.signals.queue_capacity`: no more recalls than that wait, and none is lost."""
    curated = begun(den, 'queue_capacity = 3\nflush_interval = "1h"')
    records = curated.sides["global"].records
    seen = []
    for _ in range(4):
        ask(den, curated, "oat milk")
        seen.append(state(records))
    assert seen == [(1, 0), (2, 0), (0, 3), (1, 3)]
    assert dropped(records) == []


def test_what_waits_is_counted_when_it_is_closed_or_asked_for(den: Den) -> None:
    """A command that ends, and whoever asks for counts, leave nothing in the queue."""
    curated = begun(den, 'flush_interval = "1h"')
    ask(den, curated, "oat milk")
    curated.close()
    again = den.open()
    records = again.sides["global"].records
    assert state(records) == (0, 1)
    ask(den, again, "oat milk")
    assert records.queue.count()
    assert state(records) == (0, 2)


def test_the_oldest_recalls_are_dropped_while_the_records_are_locked(den: Den) -> None:
    """Nothing waits for the lock; beyond the capacity the oldest goes, and the next event says how many went."""
    curated = begun(den, "queue_capacity = 2\nworker_retry_max = 100")
    records = curated.sides["global"].records
    other = locked(den)
    for _ in range(5):
        assert ask(den, curated, "oat milk").entries
    other.execute("ROLLBACK")
    other.close()
    assert records.queue.count()
    assert state(records) == (0, 2)
    assert dropped(records) == [{"dropped": 3, "reason": "queue_full"}]
    assert records.warnings == []
    assert len(records.events(ops=["memory.recall.executed"])) == 2


@pytest.mark.parametrize(("retries", "lost"), [(0, 3), (1, 2), (2, 3), (5, 0)])
def test_counting_is_tried_again_so_often(den: Den, retries: int, lost: int) -> None:
    """`recall.signals.worker_retry_max`: after that many tries more, what waits is dropped."""
    curated = begun(den, f"worker_retry_max = {retries}")
    records = curated.sides["global"].records
    other = locked(den)
    for _ in range(3):
        ask(den, curated, "oat milk")
    other.execute("ROLLBACK")
    other.close()
    ask(den, curated, "oat milk")
    assert records.queue.count()
    assert state(records) == (0, 4 - lost)
    assert sum(one["dropped"] for one in dropped(records)) == lost
    assert {one["reason"] for one in dropped(records)} <= {"update_failed"}


def test_drops_are_not_noted_where_metrics_are_off(den: Den) -> None:
    """`recall.signals.metrics_enabled` = false: no event tells of what was lost."""
    curated = begun(den, "worker_retry_max = 0\nmetrics_enabled = false")
    records = curated.sides["global"].records
    other = locked(den)
    ask(den, curated, "oat milk")
    other.execute("ROLLBACK")
    other.close()
    ask(den, curated, "oat milk")
    assert records.queue.count()
    assert (state(records), dropped(records)) == ((0, 1), [])


def test_the_queue_survives_a_reindex_and_a_change_of_type(den: Den) -> None:
    """What waits is counted for the memory, under the file name that it has by then."""
    curated = begun(den, 'flush_interval = "1h"')
    records = curated.sides["global"].records
    ask(den, curated, "oat milk")
    curated.sides["global"].catalog.rebuild([curated.root("global")])
    write(den, curated, "reference", "Coffee", "likes oat milk", metadata={"target_filename": "user_coffee.md"})
    ask(den, curated, "oat milk")
    assert records.queue.count()
    (one,) = curated.memories([curated.root("global")])
    assert (one.filename, records.signals([one.id])[one.id][0]) == ("reference_coffee.md", 2)


def test_a_killed_process_loses_no_recall(den: Den) -> None:
    """What was recalled before a kill is counted by the next process, once."""
    curated = begun(den, 'flush_interval = "1h"')
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
    records = den.open().sides["global"].records
    assert state(records) == (7, 0)
    for _ in range(2):
        assert records.queue.count()
        assert state(records) == (0, 7)


def test_a_recall_of_another_time_is_counted_in_its_order(den: Den) -> None:
    """The average takes the scores in the order of the recalls, also where a clock went back."""
    curated = begun(den, 'flush_interval = "1h"')
    records = curated.sides["global"].records
    first = ask(den, curated, "oat milk").entries[0].score
    den.seconds = -7200
    second = ask(den, curated, "oat milk").entries[0].score
    assert state(records) == (0, 2)
    count, score, last = records.signals([ID])[ID]
    assert (count, score) == (2, pytest.approx(0.8 * min(first, 1) + 0.2 * min(second, 1)))
    assert last == round((NOW - timedelta(seconds=7199)).timestamp() * 1000)
