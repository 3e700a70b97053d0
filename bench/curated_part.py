"""Curated memory: write, recall, snapshot, reindex, open, against reading all files and against SQLite FTS5 alone."""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from itertools import count as numbers
from pathlib import Path

from bench.curated_set import AGENT, FOLDERS, read_set, write_set
from bench.curated_set.fillers import fillers
from bench.measure import Case
from bench.places import NOW, Places


def curated_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield each operation over so many memories, beside what it is compared with."""
    from memory.curated.control.decision import Candidate
    from memory.curated.control.propose import propose
    from memory.curated.curated import Curated
    from memory.curated.model import Header, OperationCall
    from memory.curated.recall.find import find
    from memory.curated.recall.recall import capture
    from memory.curated.sides import CuratedReading
    from memory.storage import PrivateState, Store

    top = places.folder / f"curated-{size}"
    known = read_set()
    most = int(size)
    entries = [*known.entries, *fillers(max(0, most - len(known.entries)))][:most]
    write_set(top, entries)
    state = top / "state"

    reads = CuratedReading()

    def opened() -> Curated:
        workspace, person = (
            Store(top / name / ".agh", state=PrivateState(state, top / name), workspace=top / name, reading=reads)
            for name in ("ws", "home")
        )
        return Curated(workspace, person, state_home=state)

    curated = opened()
    seen = curated.visible(AGENT)
    questions = [one.text for one in known.questions if one.kind in ("natural", "typo", "cjk", "code")]
    chance = random.Random(7)
    for question in chance.sample(questions, 20):
        find(curated, question, seen, now=NOW)
    asked, written = (iter(chance.choices(questions, k=10_000)) for _ in range(2))
    files = [top / folder / name for folder in FOLDERS.values() for name in os.listdir(top / folder)]

    def read_all() -> int:
        return sum(len(path.read_bytes()) for path in files)

    rows = [(entry.name, entry.description, entry.body) for entry in entries]
    table = build_fts(":memory:", rows)

    def plain() -> object:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", next(written)))
        return table.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 5", (words,)).fetchall()

    reading, fts, scan = "read all files", "FTS5 alone, any word, five best", "list all files"
    yield Case(reading, read_all)
    yield Case(fts, plain)
    yield Case("memdeck recalls, warm", lambda: find(curated, next(asked), seen, now=NOW), None, fts)
    number = numbers(1)
    session = numbers(1)

    def write() -> None:
        place = next(number)
        header = Header(f"Written {place}", "what a run wrote", "project", "workspace")
        candidate = Candidate(curated.root("workspace"), "cli", header, f"The {place}th memory of the run says so.")
        propose(curated, candidate, OperationCall(NOW + timedelta(minutes=place), "cli"))

    durable = "one file and one row, both synced"
    floor = sqlite3.connect(top / "floor.sqlite", isolation_level=None)
    floor.execute("PRAGMA journal_mode = WAL")
    floor.execute("PRAGMA synchronous = FULL")
    floor.execute("CREATE TABLE t (text)")
    yield Case(durable, lambda: write_durably(top / "floor.md", floor))
    # The first one after a reindex reads the folder again and renders its index as a whole.
    yield Case("memdeck writes one", write, None, durable)
    yield Case("memdeck writes the next one", write, None, durable)
    yield Case(
        "memdeck captures a snapshot",
        lambda: capture(curated, f"s{next(session)}", now=NOW, agent=AGENT, query="what about the deploy window"),
        None,
        reading,
    )
    building = "FTS5 alone, built of all texts in a file"
    rebuilt = numbers(1)
    yield Case(building, lambda: build_fts(str(top / f"fts-{next(rebuilt)}.sqlite"), rows).close())
    yield Case(
        "memdeck makes its catalogue anew",
        lambda: [
            side.catalog.rebuild([root for root in seen if root.side == side.name]) for side in curated.sides.values()
        ],
        None,
        building,
    )

    def open_and_recall() -> None:
        fresh = opened()
        find(fresh, next(asked), fresh.visible(AGENT), now=NOW)
        fresh.close()

    def list_all() -> int:
        return sum(entry.stat().st_size for folder in FOLDERS.values() for entry in os.scandir(top / folder))

    yield Case(scan, list_all)
    yield Case("memdeck opens and recalls", open_and_recall, None, scan)


def build_fts(place: str, rows: list[tuple[str, str, str]]) -> sqlite3.Connection:
    """Return a full-text index of some texts."""
    connection = sqlite3.connect(place)
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(name, description, body)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.commit()
    return connection


def write_durably(path: Path, database: sqlite3.Connection) -> None:
    """Replace a file and insert a row, both on the disk: what a recorded write costs at least."""
    database.execute("INSERT INTO t VALUES ('a decision')")
    other = path.with_suffix(".new")
    with open(other, "wb") as file:
        file.write(b"one memory\n" * 20)
        file.flush()
        os.fsync(file.fileno())
    os.replace(other, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
