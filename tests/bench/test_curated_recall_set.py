"""The recall of curated memory on the questions of the bench: better than plain full-text search in both its forms."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench.recall_part import make_workspace, questions
from memory.curated.curated import Curated
from memory.curated.files.header import text_of
from memory.curated.model import Header
from memory.curated.recall.find import find
from memory.storage import State, Store
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
    curated = Curated(None, Store(agh, state=State(tmp_path / "s", agh), workspace=agh), state_home=tmp_path / "s")
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
