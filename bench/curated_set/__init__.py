"""Memories and questions for the recall of curated memory: some written by hand, others around them as many as wanted.

`work.txt`, `people.txt`, `east.txt` and `pairs.txt` hold memories with the questions that they answer. A line `@ type
place days | name | description` begins a memory (`g` global, `w` workspace, `a` agent, `A` the agent's global tier;
`days` is its age), a line `? kind: question` asks for the memory above it. Every second memory with questions is for
tuning; the figures that count are those of the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.places import NOW

HERE = Path(__file__).parent
AGENT = "reviewer"
FOLDERS = {
    "g": "home/.agh/memory",
    "w": "ws/.agh/memory",
    "A": f"home/.agh/agents/{AGENT}/memory",
    "a": f"ws/.agh/agents/{AGENT}/memory",
}
SCOPES = {"g": ("global", None), "w": ("workspace", None), "A": ("agent", "global"), "a": ("agent", "workspace")}


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory of the set; `path` is that of its file from the top of the set on."""

    type: str
    place: str
    days: float
    name: str
    description: str
    body: str

    @property
    def path(self) -> str:
        """The file, by scope, type and slug."""
        from memory.curated.files import slug

        return f"{FOLDERS[self.place]}/{self.type}_{slug(self.name)}.md"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one kind and the path of the memory that answers it; `counts`: it is not for tuning."""

    kind: str
    text: str
    path: str
    counts: bool


@dataclass(slots=True)
class RecallSet:
    """Memories and questions."""

    entries: list[Entry] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)


WRITTEN = ("work.txt", "people.txt", "east.txt", "pairs.txt")
FRESH = ("fresh.txt",)
"""The set of fifty-seven memories; the floor and the lists of words were chosen with it at hand."""


SECOND = ("second.txt",)
"""The second set of sixty memories; the list of synonyms was chosen with it at hand."""
THIRD = ("third.txt",)
"""The third set of sixty-six memories, from another field; the same holds for it since its first measurement."""


def silent(name: str = "silent.txt") -> list[str]:
    """Return messages that none of the fresh memories is about; `second_silent.txt` and
    `third_silent.txt` belong to the other sets.
    """
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def read_set(names: Sequence[str] = WRITTEN) -> RecallSet:
    """Return the memories and questions that were written by hand."""
    found = RecallSet()
    asked = 0
    for name in names:
        head: list[str] = []
        body: list[str] = []
        entry: Entry | None = None
        for line in [*(HERE / name).read_text(encoding="utf-8").splitlines(), "@"]:
            if line[:1] in "@?" and line and head:
                kind, place, days = head[0].split()
                entry = Entry(kind, place, float(days), head[1], head[2], "\n".join(body).strip())
                found.entries.append(entry)
                head, body = [], []
                asked += line.startswith("?")
            if line.startswith("@ "):
                head = [part.strip() for part in line[2:].split("|")]
            elif line.startswith("? ") and entry is not None:
                kind, _, text = line[2:].partition(": ")
                found.questions.append(Asked(kind, text, entry.path, asked % 2 == 0))
            elif line != "@":
                body.append(line)
    return found


def write_set(top: Path, entries: list[Entry]) -> None:
    """Write memories as files below a folder, as old as they say."""
    from memory.curated.files import text_of
    from memory.curated.model import Header, Provenance

    for folder in FOLDERS.values():
        (top / folder).mkdir(parents=True, exist_ok=True)
    for entry in entries:
        when = NOW - timedelta(days=entry.days)
        scope, tier = SCOPES[entry.place]
        stamp = f"{when:%Y-%m-%dT%H:%M:%SZ}"
        agent = AGENT if tier else None
        provenance = Provenance(source_actor="cli", created_at=stamp, updated_at=stamp)
        header = Header(entry.name, entry.description, entry.type, scope, agent, tier, provenance)
        path = top / entry.path
        path.write_bytes(text_of(header, entry.body).encode())
        os.utime(path, (when.timestamp(), when.timestamp()))
