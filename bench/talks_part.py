"""What a question about long talks finds: the place of the right session among the answers.

The talks are LoCoMo's, which its authors do not allow to be copied: `python -m bench.talks_part PATH` reads the zip
file or the folder of its JSON files that a person has. Each talk becomes a workspace with one journal entry a session,
and each question is asked as it is written. A session is right if it holds evidence of the answer.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.places import NOW

_KINDS = {1: "several sessions", 2: "when", 3: "to be inferred", 4: "one session", 5: "of the other speaker"}
_WORD = re.compile(r"\w+")
LIMIT = 20


def talks(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the talks of a zip file, of a folder, or of one JSON file that holds a list or a talk."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            texts = [packed.read(name).decode() for name in sorted(packed.namelist()) if name.endswith(".json")]
    else:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        texts = [file.read_text("utf-8") for file in files]
    for text in texts:
        found = json.loads(text)
        for one in found if isinstance(found, list) else [found]:
            yield {**one.get("conversation", {}), **one}


def sessions(talk: dict[str, Any]) -> Iterator[tuple[int, datetime, str]]:
    """Yield number, moment and text of each session of a talk, a line a turn."""
    for name in talk:
        if not (found := re.fullmatch(r"session_(\d+)", name)) or not talk[name]:
            continue
        lines = []
        for turn in talk[name]:
            seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            lines.append(f"- {turn['speaker']}: {' '.join(turn['text'].split())}{seen}")
        yield int(found[1]), _moment(talk[f"{name}_date_time"]), "\n".join(lines)


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def make_workspace(root: Path, talk: dict[str, Any]) -> list[tuple[str, str]]:
    """Write a talk as a journal; return title and text of each session."""
    memory = root / ".aiter" / "memory"
    memory.mkdir(parents=True)
    found = sorted(sessions(talk), key=lambda one: one[1])
    parts = ["# Journal\n"]
    for number, moment, text in reversed(found):
        parts.append(f"## {moment:%Y-%m-%d}\n\n### {moment:%H:%M} — Session {number}\n\n{text}\n")
    (memory / "journal.md").write_text("\n".join(parts), "utf-8")
    return [(f"Session {number}", text) for number, _, text in found]


def measure(path: Path, most: int) -> str:
    """Return hit@1, hit@5 and MRR in percent of memdeck and of FTS5's bm25, for all questions and by kind."""
    from memory.search.query import read_day, read_query
    from memory.systems import searcher_of
    from memory.workspace import Workspace

    ranks: dict[str, dict[str, list[int]]] = {"memdeck": defaultdict(list), "FTS5, OR, bm25": defaultdict(list)}
    with tempfile.TemporaryDirectory() as top:
        for talk_number, talk in enumerate(talks(path)):
            root = Path(top, str(talk_number), "talk")
            texts = make_workspace(root, talk)
            plain = sqlite3.connect(":memory:")
            plain.execute("create virtual table t using fts5(title, text, tokenize='porter unicode61')")
            plain.executemany("insert into t values (?, ?)", texts)
            with Workspace.open(root, state_home=root.parent / "state") as workspace:
                searcher = searcher_of(workspace)
                searcher.update()
                asked = [qa for qa in talk["qa"] if qa.get("evidence")]
                for qa in asked[: most or None]:
                    right = {f"Session {found}" for one in qa["evidence"] for found in re.findall(r"D(\d+):", str(one))}
                    query = read_query(qa["question"], lambda day: read_day(day, NOW.date()))
                    answer = searcher.ask(query, LIMIT)
                    titles = [hit.entry.title for hit in answer.every] if answer else []
                    words = " OR ".join(f'"{word}"' for word in _WORD.findall(qa["question"]))
                    rows = plain.execute("select title from t where t match ? order by bm25(t) limit 20", (words,))
                    for name, found in (("memdeck", titles), ("FTS5, OR, bm25", [row[0] for row in rows])):
                        place = next((at for at, title in enumerate(found, 1) if title in right), 0)
                        for kind in ("all", _KINDS.get(qa["category"], "other")):
                            ranks[name][kind].append(place)
            plain.close()
    lines = []
    for kind in sorted(ranks["memdeck"], key=lambda one: (one != "all", one)):
        lines.append(f"{kind}, {len(ranks['memdeck'][kind])} questions")
        for name, found in ranks.items():
            places = found[kind]
            first, five = (100 * sum(0 < place <= most for place in places) / len(places) for most in (1, 5))
            mrr = 100 * sum(1 / place for place in places if place) / len(places)
            lines.append(f"  {name:16} hit@1 {first:5.1f}  hit@5 {five:5.1f}  MRR {mrr:5.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--most", type=int, default=0, help="questions of a talk at most (0: all)")
    given = parser.parse_args()
    print(measure(given.path, given.most))
