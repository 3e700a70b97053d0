"""What a question finds in curated memory: recall@5 and MRR by kind of question, beside plain ways of searching."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from bench.curated_set import AGENT, FRESH, SECOND, THIRD, Asked, RecallSet, read_set, silent, write_set
from bench.curated_set.fillers import fillers
from bench.places import NOW, Places

LIMIT = 20
FILLERS = 2000
MESSAGES = "memdeck, as a message"
"""What an agent is told for a message, which is no question to memory."""
_WORD = re.compile(r"\w+")

Ask = Callable[[str], Sequence[str]]
"""Gives the paths of what is found for a question, the best first."""


def curated_recall_table(places: Places, *, tuning: bool = False, count: int = FILLERS) -> str:
    """Return MRR and recall@5 in percent by kind of question and way of asking, over the questions that count."""
    known = read_set()
    chosen = [one for one in known.questions if one.counts != tuning]
    return _table_of(known, chosen, places.folder / f"curated-recall-{count}", count)


def curated_fresh_table(places: Places) -> str:
    """Return the same over three fresh sets, and how many messages that no memory is about get none."""
    parts = []
    for names, messages in (
        (FRESH, silent()),
        (SECOND, silent("second_silent.txt")),
        (THIRD, silent("third_silent.txt")),
    ):
        known = read_set(names)
        top = places.folder / f"curated-{names[0]}"
        table, quiet = _table_of(known, known.questions, top, 0), 0
        for name, ask in ways(top, known, 0):
            if name == MESSAGES:
                quiet = sum(not ask(message) for message in messages)
        parts.append(f"{table}\n  nothing for {quiet} of {len(messages)} messages that no memory is about\n")
    return "\n".join(parts)


def _table_of(known: RecallSet, chosen: Sequence[Asked], top: Path, count: int) -> str:
    kinds = sorted({one.kind for one in chosen})
    found = {
        name: [(one.kind, rank(ask(one.text), one.path)) for one in chosen] for name, ask in ways(top, known, count)
    }
    width = max(map(len, found))
    numbers = Counter(one.kind for one in chosen)
    lines = [
        f"curated recall · {len(known.entries) + count} memories, {len(chosen)} questions, MRR / recall@5 in percent"
    ]
    heads = ["all", *(f"{kind} {numbers[kind]}" for kind in kinds)]
    lines += ["", " " * (width + 4) + "".join(f"{head:>14}" for head in heads)]
    for name, ranks in found.items():
        cells = [scores([place for of, place in ranks if kind is None or of == kind]) for kind in (None, *kinds)]
        lines.append(f"  {name:<{width + 2}}" + "".join(f"{f'{mrr:.0f} /{five:4.0f}':>14}" for mrr, five in cells))
    return "\n".join(lines) + "\n"


def scores(ranks: Sequence[int]) -> tuple[float, float]:
    """Return MRR and recall@5 of some places (0: not found) in percent."""
    mrr = 100 * sum(1 / place for place in ranks if place) / len(ranks)
    return mrr, 100 * sum(0 < place <= 5 for place in ranks) / len(ranks)


def rank(paths: Sequence[str], wanted: str) -> int:
    """Return the place of a path among the first ones, from 1; 0: it is not there."""
    first = list(paths[:LIMIT])
    return first.index(wanted) + 1 if wanted in first else 0


def ways(top: Path, known: RecallSet, count: int = FILLERS) -> Iterator[tuple[str, Ask]]:
    """Yield each way of asking with its name; the memories are written below `top` when they are not there."""
    from memory.curated.curated import Curated
    from memory.curated.recall.find import RecallFound, find, find_about
    from memory.storage import PrivateState, Store

    entries = [*known.entries, *fillers(count)]
    if not top.exists():
        write_set(top, entries)
    rows = [(entry.path, entry.name, entry.description, entry.body) for entry in entries]
    yield "ripgrep, most words", lambda text: _ripgrep(top, text)
    with closing(_table(rows)) as words, closing(_table(rows, "trigram")) as letters:
        yield "FTS5, AND", lambda text: _match(words, " AND ".join(map(_quoted, _WORD.findall(text))))
        yield "FTS5, OR", lambda text: _match(words, " OR ".join(map(_quoted, _WORD.findall(text))))
        yield "FTS5 trigram, OR", lambda text: _match(letters, " OR ".join(map(_quoted, _pieces(text))))
    state = top.with_name(f"{top.name}-state")
    workspace = Store(top / "ws" / ".agh", state=PrivateState(state, top / "ws"), workspace=top / "ws")
    person = Store(top / "home" / ".agh", state=PrivateState(state, top / "home"), workspace=top / "home")
    curated = Curated(workspace, person, state_home=state)
    seen = curated.visible(AGENT)

    def ours(text: str, search: Callable[..., RecallFound | None] = find) -> list[str]:
        found = search(curated, text, seen, now=NOW)
        ranked = () if found is None else found.ranked[:LIMIT]
        sides = {"global": "home/.agh", "workspace": "ws/.agh"}
        return [f"{sides[one.memory.root.side]}/{one.memory.root.folder}/{one.memory.filename}" for one in ranked]

    with closing(curated):
        yield "memdeck", ours
        yield MESSAGES, lambda text: ours(text, find_about)


def _table(rows: Sequence[tuple[str, ...]], tokenizer: str = "unicode61") -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    made = f"CREATE VIRTUAL TABLE t USING fts5(path UNINDEXED, name, description, body, tokenize='{tokenizer}')"
    connection.execute(made)
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return connection


def _match(connection: sqlite3.Connection, text: str) -> list[str]:
    if not text:
        return []
    found = connection.execute("SELECT path FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?", (text, LIMIT))
    return [path for (path,) in found]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _pieces(text: str) -> list[str]:
    return [word[at : at + 3] for word in _WORD.findall(text.lower()) for at in range(len(word) - 2)]


def _ripgrep(top: Path, text: str) -> list[str]:
    """Order files by how many words of the question `rg` finds in them, then by how often."""
    program = shutil.which("rg")
    words = _WORD.findall(text)
    if program is None or not words:
        return []
    patterns = [part for word in words for part in ("-e", re.escape(word))]
    command = [
        program,
        "-i",
        "-o",
        "-H",
        "--null",
        "--no-line-number",
        "--hidden",
        "--no-ignore",
        "-g",
        "*.md",
        *patterns,
        ".",
    ]
    lines = subprocess.run(
        command, cwd=top, capture_output=True, text=True, timeout=60, check=False
    ).stdout.splitlines()
    hits: dict[str, Counter[str]] = {}
    for line in lines:
        path, _, word = line.partition("\0")
        hits.setdefault(path.removeprefix("./"), Counter())[word.lower()] += 1
    return sorted(hits, key=lambda path: (-len(hits[path]), -hits[path].total(), path))
