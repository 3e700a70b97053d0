"""The recall of curated memory on the questions of the bench: better than plain full-text search in both its forms."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.curated_recall import rank, ways
from bench.curated_set import read_set
from bench.recall_part import make_workspace, questions
from memory.curated.curated import Curated
from memory.curated.files.header import text_of
from memory.curated.model import Header
from memory.curated.recall.find import find
from memory.storage import PrivateState, Store
from memory.systems import records_of_all
from memory.workspace import Workspace

Ask = Callable[[str], list[str]]


def _plain(text: str) -> str:
    """Return a text on one line without what no header holds."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable()) or "untitled"


def _mean(ask: Ask, kinds: frozenset[str] = frozenset()) -> float:
    """Return the mean reciprocal rank over the questions that count."""
    ranks = [
        question.rank(ask(question.text)) for question in questions() if question.counts and question.kind not in kinds
    ]
    return sum(1 / rank for rank in ranks if rank) / len(ranks)


@pytest.mark.thorough
def test_recall_beats_plain_full_text_search(tmp_path: Path) -> None:
    """Its mean reciprocal rank is above that of FTS5 with any word, and far above that with all words."""
    with Workspace.open(make_workspace(tmp_path / "ws"), state_home=tmp_path / "state") as workspace:
        records = list(records_of_all(workspace))
    agh = tmp_path / "agh"
    (agh / "memory").mkdir(parents=True)
    titles = {}
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE f USING fts5(title, text)")
    for number, record in enumerate(records):
        name, title = f"user_m{number}.md", _plain(record.title)
        header = Header(title[:300], title[:200], "user", "global")
        (agh / "memory" / name).write_bytes(text_of(header, record.text).encode("utf-8", "replace"))
        titles[name] = record.title
        table.execute("INSERT INTO f VALUES (?, ?)", (record.title, record.text))
    curated = Curated(
        None, Store(agh, state=PrivateState(tmp_path / "s", agh), workspace=agh), state_home=tmp_path / "s"
    )
    now = datetime.now(UTC)

    def ours(question: str) -> list[str]:
        found = find(curated, question, curated.visible(), now=now).ranked[:20]
        return [titles[one.memory.filename] for one in found]

    def plain(joined: str) -> Ask:
        def ask(question: str) -> list[str]:
            query = joined.join(f'"{word}"' for word in re.findall(r"\w+", question))
            rows = table.execute("SELECT title FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT 20", (query,))
            return [row[0] for row in rows]

        return ask

    try:
        assert len(curated.memories(curated.visible())) == len(records)
        unfair = frozenset({"chinese", "japanese"})
        assert _mean(ours) > 0.85
        assert _mean(ours, unfair) > _mean(plain(" OR "), unfair) + 0.05
        assert _mean(ours, unfair) > _mean(plain(" AND "), unfair) + 0.4
    finally:
        curated.close()
        table.close()


def test_the_set_of_curated_memories_is_whole() -> None:
    """At least 300 questions of ten kinds, and no memory has some in both halves."""
    known = read_set()
    paths = [entry.path for entry in known.entries]
    assert len(set(paths)) == len(paths) >= 150
    assert len(known.questions) >= 300
    assert {asked.path for asked in known.questions} <= set(paths)
    assert min(Counter(asked.kind for asked in known.questions).values()) >= 20
    assert len(set(Counter(asked.kind for asked in known.questions))) == 10
    halves = [{asked.path for asked in known.questions if asked.counts is half} for half in (True, False)]
    assert not halves[0] & halves[1]


@pytest.mark.thorough
def test_every_kind_of_question_is_answered_better_than_by_plain_search(tmp_path: Path) -> None:
    """On the half that is not for tuning recall is far above each plain way, and over both below none for any kind."""
    known = read_set()
    found: dict[str, list[tuple[str, bool, float]]] = {}
    for name, ask in ways(tmp_path / "set", known, 300):
        places = [(asked, rank(ask(asked.text), asked.path)) for asked in known.questions]
        found[name] = [(asked.kind, asked.counts, 1 / place if place else 0.0) for asked, place in places]

    def mean(name: str, kind: str | None = None) -> float:
        some = [value for of, counts, value in found[name] if (counts if kind is None else of == kind)]
        return sum(some) / len(some)

    assert mean("memdeck") > 0.88
    for name in set(found) - {"memdeck"}:
        assert mean("memdeck") > mean(name) + 0.08, name
    for kind in {asked.kind for asked in known.questions}:
        assert mean("memdeck", kind) >= mean("FTS5, OR", kind), kind
