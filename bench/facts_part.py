"""Facts: load, store, search and inject, against a naive reading of the file and against SQLite FTS5."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sqlite3
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck
from bench.words import SENTENCES, TAGS, THINGS, VERBS

MESSAGE = "Which {0} does the {1} need, and where is the {2} of the {3} and {4} kept after the {5}?"
_STORE_MOST = 1_000_000


def facts_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield load, store, search and inject over so many facts, each beside what it is compared with."""
    from memory.facts.model import STOP_WORDS, read_facts
    from memory.workspace import Workspace

    count = int(size)
    root = places.folder / f"facts-{size}"
    file = make_facts(root, count)
    data = file.read_bytes()
    chooser = random.Random(7)
    words = vocabulary(random.Random(count))
    message = MESSAGE.format(*(words[place] for place in (3, 11, 30, 90, 400, chooser.randrange(1000, 3000))))
    state = Path(places.environment()["XDG_STATE_HOME"])
    store = Workspace.open(root, state_home=state).system("facts").store
    naive = Naive(data, STOP_WORDS)
    database = fts(data)
    parse = "json.loads of every line"
    yield Case(parse, lambda: [json.loads(line) for line in data.split(b"\n") if line])
    yield Case("memdeck reads all facts", lambda: read_facts.__wrapped__(data).ranked, None, parse, 1)

    def load() -> None:
        fresh = Workspace.open(root, state_home=state).system("facts").store
        fresh.inject(message, NOW)

    yield Case("memdeck opens, loads, indexes, injects once", load, None, parse)
    tokenise = "inject, tokenising every fact"
    yield Case(tokenise, lambda: naive.inject(message))
    yield Case("memdeck injects, loaded", lambda: store.inject(message, NOW).block, None, tokenise)
    query = " OR ".join(naive.words(message))
    ranked = "SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY bm25(facts) LIMIT 10"
    fts_inject = "FTS5 bm25, the ten best (another ranking)"
    yield Case(fts_inject, lambda: database.execute(ranked, (query,)).fetchall())
    yield Case("memdeck injects, beside FTS5", lambda: store.inject(message, NOW).block, None, fts_inject, 1)
    rare = naive.rare
    scan = "search, looking into every text"
    yield Case(scan, lambda: naive.search(rare))
    yield Case("memdeck searches, loaded", lambda: store.search(rare), None, scan, 1)
    matching = "SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY rowid DESC LIMIT 20"
    yield Case("FTS5 finds the word", lambda: database.execute(matching, (rare,)).fetchall())
    copy = places.folder / f"facts-{size}.jsonl"
    copy.write_bytes(data)
    append = "append and fsync"
    yield Case(append, lambda: append_line(copy))
    yield Case(
        "memdeck stores one, loaded",
        lambda: store.store("The new fact says something short", actor="cli", now=NOW),
        None,
        append,
    )
    if count <= 10_000:
        hook = "memdeck facts inject, whole process"
        start = "python -c pass"
        yield Case(start, lambda: places.run([sys.executable, "-c", "pass"]))
        yield Case(hook, lambda: places.run([memdeck(), "facts", "inject", message, "-w", root]), None, start)


def vocabulary(chooser: random.Random) -> list[str]:
    """Return some thousands of words, those that stand in most facts first."""
    real = " ".join((*THINGS, *VERBS, *TAGS, *SENTENCES)).split()
    known = sorted({word.strip("`.,:;()") for word in real if len(word) > 3})
    chooser.shuffle(known)
    parts = [
        "ba",
        "co",
        "di",
        "fu",
        "gri",
        "ka",
        "lo",
        "me",
        "nor",
        "pa",
        "qui",
        "ra",
        "sto",
        "tu",
        "ven",
        "wi",
        "xa",
        "zen",
    ]
    made = {"".join(chooser.choices(parts, k=chooser.randint(2, 4))) for _ in range(6000)}
    return known + sorted(made, key=lambda word: (len(word), word))


def make_facts(root: Path, count: int) -> Path:
    """Write a workspace of facts, the same for the same number; return the file."""
    chooser = random.Random(count)
    memory = root / ".aegis" / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    (root / ".aegis" / "agent.json").write_text(json.dumps({"memory": {"max_total": _STORE_MOST}}))
    words = vocabulary(random.Random(count))
    weights = list(accumulate(1 / (place + 3) for place in range(len(words))))
    start = NOW - timedelta(minutes=7 * count)
    tags = ["infra", "deploy", "preference", "decision", "people"]
    with open(memory / "memories.jsonl", "w", encoding="utf-8") as file:
        for number in range(1, count + 1):
            text = (
                " ".join(chooser.choices(words, cum_weights=weights, k=chooser.randint(6, 22)))
                + f" {chooser.randint(1, 9999)}"
            )
            fact = {
                "id": f"m-{number}",
                "scope": chooser.choice(["user", "workspace", "session"]),
                "text": text[:500],
                "tags": chooser.sample(tags, chooser.randint(0, 2)),
                "ts": (start + timedelta(minutes=7 * number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
            file.write(json.dumps(fact, ensure_ascii=False, separators=(",", ":")) + "\n")
    return memory / "memories.jsonl"


class Naive:
    """The format read as it is written down: every fact is looked at for every message."""

    def __init__(self, data: bytes, stop: frozenset[str]) -> None:
        """Parse the file once; loading is measured on its own."""
        self.facts = [json.loads(line) for line in data.split(b"\n") if line]
        self._stop = stop
        self.rare = self.facts[len(self.facts) // 3]["text"].split()[-1]

    def words(self, text: str) -> set[str]:
        """Split at whatever is no letter or digit."""
        found = "".join(char if char.isalnum() else " " for char in text.lower()).split()
        return {word for word in found if len(word) >= 3} - self._stop

    def inject(self, message: str) -> list[dict[str, object]]:
        """Score every fact, and take the ten best."""
        wanted = self.words(message)
        scored = []
        for fact in self.facts:
            common = len(wanted & self.words(fact["text"]))
            if common:
                hours = (NOW - datetime.fromisoformat(fact["ts"])).total_seconds() / 3600
                scored.append((common + min(1.0, 0.1 / max(hours, 0.1)), fact["ts"], fact))
        return [fact for *_, fact in sorted(scored, key=lambda one: one[:2], reverse=True)[:10]]

    def search(self, query: str) -> list[dict[str, object]]:
        """Look into every text, the newest first, up to 20."""
        wanted = query.lower()
        return [fact for fact in reversed(self.facts) if wanted in fact["text"].lower()][:20]


def fts(data: bytes) -> sqlite3.Connection:
    """Return a full-text index over the same texts, in memory."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE facts USING fts5(text)")
    rows = ((json.loads(line)["text"],) for line in data.split(b"\n") if line)
    database.executemany("INSERT INTO facts (text) VALUES (?)", rows)
    return database


def append_line(path: Path) -> None:
    """Add a line durably: what every store has to do at least."""
    with contextlib.closing(os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb")) as file:
        file.write(b'{"id":"m-1","scope":"user","text":"The new fact says something short","tags":[],"ts":""}\n')
        file.flush()
        os.fsync(file.fileno())
