"""What a journal entry is about, and who is behind it, as far as its own words say so."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .model import JournalEntry

Kind = Literal["heartbeat", "alert", "task", "plan", "message", "decision", "report", "upkeep", "note"]

WORDS: dict[Kind, frozenset[str]] = {
    "heartbeat": frozenset({"heartbeat"}),
    "alert": frozenset({"monitor", "monitors", "alert", "alerts"}),
    "task": frozenset({"task", "tasks"}),
    "plan": frozenset({"plan", "plans", "orchestration"}),
    "message": frozenset({"im", "message", "messages"}),
    "decision": frozenset({"decision", "decisions"}),
    "report": frozenset({"report", "reports"}),
    "upkeep": frozenset({"maintenance", "archive", "archived"}),
}
"""The words of a title that say what its entry is about; the first kind that has one of them counts."""

KINDS: tuple[Kind, ...] = (*WORDS, "note")
"""Every kind; what no word tells is a note."""

_NAMES = re.compile(rb"(?:from|by|author):", re.IGNORECASE)
"""Most entries have none of it, which their bytes tell without being read."""
_WORD = re.compile(r"[^\W_]+")
_NAMED = re.compile(r"(?:from|by|author):[ \t]*(\S.*)", re.IGNORECASE)
_VIA = re.compile(r"[ \t]+(?:via|on|through)[ \t]", re.IGNORECASE)
_TAKEN = re.compile(r"[\"”] taken by (\S.{0,60})\Z")


@lru_cache(maxsize=4096)
def kind_of(title: str) -> Kind:
    """Return what an entry is about by the words of its title (without the time)."""
    words = set(_WORD.findall(title[:200].casefold()))
    return next((kind for kind, known in WORDS.items() if known & words), "note")


def came_from(entry: JournalEntry) -> str:
    """Return what the lines `From: …`, `By: …` and `Author: …` of an entry say, joined by commas; mostly nothing."""
    if _NAMES.search(entry.entry.raw) is None:
        return ""
    return ", ".join(found[1].strip() for text in entry.lines if (found := _NAMED.match(text)))


def author_of(entry: JournalEntry) -> str:
    """Return who an entry says is behind it: who a line `From: Alice via Slack` names, or who took a task.

    Empty where its words name nobody.
    """
    named = came_from(entry)
    if named:
        return _VIA.split(named.split(", ")[0].split("\n")[0])[0].strip()
    if b" taken by " not in entry.entry.raw:
        return ""
    for text in entry.lines[:3]:
        if found := _TAKEN.search(text):
            return found[1].strip()
    return ""
