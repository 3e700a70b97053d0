"""What a question finds: the place of the right entry among the answers, by kind of question, beside plain ways.

The entries and the questions in `bench/recall_set` were written by hand. Every second question of a kind is for
tuning; the figures that count are those of the others.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.places import NOW, Places

HERE = Path(__file__).with_name("recall_set")
LIMIT = 20
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

Ask = Callable[[str], list[str]]
"""Gives the titles of what is found for a question, the best first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one kind, and a part of the title of the entry that answers it; `|` stands between two such."""

    kind: str
    title: str
    text: str
    counts: bool

    def rank(self, titles: Sequence[str]) -> int:
        """Return the place of the right entry, from 1; 0: it is not there."""
        return next(
            (place for place, title in enumerate(titles, 1) if any(part in title for part in self.title.split("|"))), 0
        )


def questions() -> list[Question]:
    """Return all questions; those that count alternate with those for tuning."""
    seen: dict[str, int] = {}
    found = []
    for row in (HERE / "questions.tsv").read_text(encoding="utf-8").splitlines():
        kind, title, text = row.split("\t")
        seen[kind] = seen.get(kind, 0) + 1
        found.append(Question(kind, title, text, seen[kind] % 2 == 0))
    return found


def make_workspace(root: Path) -> Path:
    """Write the entries as a workspace; return its root."""
    memory = root / ".aiter" / "memory"
    shutil.copytree(HERE, memory, ignore=shutil.ignore_patterns("*.tsv", "*.jsonl"))
    facts = root / ".aegis" / "memory"
    facts.mkdir(parents=True)
    shutil.copy(HERE / "memories.jsonl", facts)
    return root


def recall_table(places: Places, *, all_questions: bool = False) -> str:
    """Return MRR and recall@5 in percent by kind of question and way of asking."""
    chosen = [one for one in questions() if one.counts or all_questions]
    kinds = list(dict.fromkeys(one.kind for one in chosen))
    ranks = {name: [(one.kind, one.rank(ask(one.text)[:LIMIT])) for one in chosen] for name, ask in ways(places)}
    width = max(map(len, ranks))
    lines = [f"recall · {len(chosen)} questions, MRR / recall@5 in percent", ""]
    lines.append(" " * (width + 4) + "".join(f"{kind:>11}" for kind in ("all", *kinds)))
    for name, found in ranks.items():
        cells = []
        for kind in (None, *kinds):
            some = [rank for of, rank in found if kind is None or of == kind]
            mrr = 100 * sum(1 / rank for rank in some if rank) / len(some)
            five = 100 * sum(0 < rank <= 5 for rank in some) / len(some)
            cells.append(f"{mrr:5.0f} /{five:4.0f}")
        lines.append(f"  {name:<{width + 2}}" + "".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines) + "\n"


def ways(places: Places) -> Iterator[tuple[str, Ask]]:
    """Yield each way of asking with its name."""
    from memory.search.query import read_day, read_query
    from memory.systems import records_of_all, searcher_of
    from memory.workspace import Workspace

    root = places.folder / "recall"
    if not root.exists():
        make_workspace(root)
    workspace = Workspace.open(root, state_home=Path(places.environment()["XDG_STATE_HOME"]))
    records = [(record.title, record.text) for record in records_of_all(workspace)]
    words, pieces, trigrams = _table(records), _table(records, _cut), _table(records, tokenizer="trigram")
    yield "grep, most lines", lambda text: _grep(records, text)
    yield "FTS5, AND", lambda text: _match(words, " AND ".join(map(_quoted, _WORD.findall(text))))
    yield "FTS5, OR", lambda text: _match(words, " OR ".join(map(_quoted, _WORD.findall(text))))
    yield "FTS5 trigram, OR", lambda text: _match(trigrams, " OR ".join(map(_quoted, _trigrams(text))))
    yield "FTS5, unspaced in pieces", lambda text: _match(pieces, " OR ".join(map(_quoted, _pieces(text))))
    searcher = searcher_of(workspace)
    searcher.update()

    def query(text: str):  # type: ignore[no-untyped-def]
        return read_query(text, lambda day: read_day(day, NOW.date()))

    def by_index(text: str) -> list[str]:
        answer = searcher.ask(query(text), LIMIT)
        return [] if answer is None else [hit.entry.title for hit in answer.every]

    yield "memdeck, all words", lambda text: [hit.entry.title for hit in searcher.search(query(text), LIMIT).hits]
    yield "memdeck", by_index


class _Table(sqlite3.Connection):
    """A table in memory that closes with the last way that asks it."""

    def __del__(self) -> None:
        """Close it."""
        self.close()


def _table(
    records: Sequence[tuple[str, str]], change: Callable[[str], str] = str, tokenizer: str = "unicode61"
) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", factory=_Table)
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(shown UNINDEXED, title, text, tokenize='{tokenizer}')")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?)", [(title, change(title), change(text)) for title, text in records]
    )
    return connection


def _match(connection: sqlite3.Connection, text: str) -> list[str]:
    if not text:
        return []
    found = connection.execute("SELECT shown FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (text, LIMIT))
    return [title for (title,) in found]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _trigrams(text: str) -> list[str]:
    return [word[at : at + 3] for word in _WORD.findall(text.lower()) for at in range(len(word) - 2)]


def _cut(text: str) -> str:
    """Put spaces between overlapping pairs of unspaced writing."""
    return re.sub(
        f"{_UNSPACED.pattern}+", lambda run: f" {' '.join(run[0][at : at + 2] for at in range(len(run[0])))} ", text
    )


def _pieces(text: str) -> list[str]:
    return _WORD.findall(_cut(text))


def _grep(records: Sequence[tuple[str, str]], text: str) -> list[str]:
    """Order entries by how many words of the question `grep -i` finds in them, as they stand in the files."""
    wanted = [word.lower() for word in _WORD.findall(text)]
    found = []
    for place, (title, body) in enumerate(records):
        lowered = f"{title}\n{body}".lower()
        count = sum(word in lowered for word in wanted)
        if count:
            found.append((-count, place, title))
    return [title for _, _, title in sorted(found)]
