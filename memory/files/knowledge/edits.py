"""Edits of knowledge: each takes a snapshot and returns the new document; other bullets keep their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memory.base.clock import read_moment
from memory.base.values import folded
from memory.document import Document, Entry, Section
from memory.document.lines import split_lines
from memory.errors import UsageError
from memory.files.bullets import with_bullet, with_bullets
from memory.files.edit import Edit, one_line
from memory.files.find import find_knowledge
from memory.files.snapshot import Snapshot

from .model import FILE, Knowledge, KnowledgeItem

CODE = "knowledge.text"


def with_knowledge(
    document: Document, section: str, topic: str | None, raws: Sequence[str]
) -> tuple[Document, tuple[int, int | None]]:
    """Return the document with bullets behind the last one of a section, or of a topic in it, and that place.

    Missing ones are made. `raws` are sources as `raw` of an item. UsageError `knowledge.text` where one would not stay
    one bullet.
    """
    title = one_line("knowledge.section", "the name of a section", section)
    places = document.find(title)
    if not places:
        places = [len(document.sections)]
        document = document.insert_section(places[0], Section.compose(title, newline=document.newline))
    place: tuple[int, int | None] = (places[0], None)
    if topic is not None:
        name = one_line("knowledge.section", "the name of a topic", topic)
        topics = ((index, at) for index in places for at, one in enumerate(document.section(index).entries)
                  if folded(one.title) == folded(name))  # fmt: skip
        place = next(topics, (places[0], len(document.section(places[0]))))
        if place == (places[0], len(document.section(places[0]))):
            document = document.insert_entry(*place, Entry.compose(name, newline=document.newline))
    return with_bullets(document, *place, raws, CODE), place


def last_in(document: Document, place: tuple[int, int | None]) -> KnowledgeItem:
    """Return the last item of a section or a topic."""
    return [item for item in Knowledge(FILE, document).items if item.at[:2] == place][-1]


def move_knowledge(
    snapshot: Snapshot,
    refs: Sequence[str],
    section: str,
    topic: str | None = None,
    *,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Put facts and decisions at the end of a section, or of a topic in it; both are made where they are missing.

    What they say stays. Raises UsageError `knowledge.here` where nothing would move, and as `with_knowledge` and
    `find_knowledge`; then nothing is moved.
    """
    wanted = section.casefold(), topic or None
    found = (find_knowledge(snapshot, ref) for ref in refs)
    items = [item for item in found if (item.section.casefold(), item.topic or None) != wanted]
    if not items:
        raise UsageError("knowledge.here", f"this stands in {section[:60]!r} already", "choose another section")
    document = snapshot.document(FILE)
    # From the end, so that places before it stay as they are.
    for item in sorted(items, key=lambda one: one.line, reverse=True):
        document = with_bullet(document, item.at, None, CODE)
    document, place = with_knowledge(document, section, topic, [item.raw for item in items])
    words = "moved a line" if len(items) == 1 else f"moved {len(items)} lines"
    ref = last_in(document, place).ref if len(items) == 1 else None
    return Edit({FILE: document}, f"{words} to {(f'{section} / {topic}' if topic else section)[:80]}", ref)


def compose(text: str, date: str | None, reason: str | None) -> str:
    """Return the source of a bullet; UsageError `knowledge.text`, `knowledge.date`, BadMoment."""
    raw = "\n".join(line.rstrip() for line, _ in split_lines(text.strip()))
    if not raw:
        raise UsageError("knowledge.text", "there is no text", "say what is known")
    if date:
        moment = read_moment(date, UTC)
        if moment is None or moment.instant is not None:
            raise UsageError("knowledge.date", f"{date[:40]!r} is not a date alone", "write it as YYYY-MM-DD")
        raw = f"{moment.text}: {raw}"
    if reason and reason.strip():
        raw += f" ({one_line('knowledge.text', 'a reason', reason)})"
    return raw
