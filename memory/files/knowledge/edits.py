"""Edits of knowledge: each takes a snapshot and returns the new document; other bullets keep their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memory.base.clock import read_moment
from memory.base.values import folded, split_remark
from memory.document import Document, Entry, Section
from memory.document.lines import split_lines
from memory.errors import UsageError
from memory.files.bullets import with_bullet, with_bullets
from memory.files.edit import Edit, one_line, started_document
from memory.files.find import find_knowledge
from memory.files.refs import short
from memory.files.snapshot import Snapshot

from .model import DECISION, DECISIONS, FILE, Knowledge, KnowledgeItem

_CODE = "knowledge.text"


def add_knowledge(
    snapshot: Snapshot,
    text: str,
    *,
    section: str,
    topic: str | None = None,
    date: str | None = None,
    reason: str | None = None,
    now: datetime,
) -> Edit:
    """Add a bullet behind the last one of a section, or of a topic in it; what is missing is made at the end.

    With `date` (YYYY-MM-DD) or a `reason` it is a decision, `date: text (reason)`; a decision without a date gets
    today's. Further lines of the text are indented below the bullet. Raises UsageError `knowledge.text`,
    `knowledge.section`, BadMoment.
    """
    decides = reason is not None or section.strip().casefold() == DECISIONS.casefold()
    if date is None and decides and DECISION.fullmatch(text.strip()) is None:
        date = now.astimezone(snapshot.zone).date().isoformat()
    raw = compose(text, date, reason)
    document, place = with_knowledge(started_document(snapshot, FILE, now), section, topic, [raw])
    return Edit({FILE: document}, f"added {short(raw)}", _last(document, place).ref)


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
    return with_bullets(document, *place, raws, _CODE), place


def _last(document: Document, place: tuple[int, int | None]) -> KnowledgeItem:
    return [item for item in Knowledge(FILE, document).items if item.at[:2] == place][-1]


def edit_knowledge(
    snapshot: Snapshot,
    ref: str,
    text: str,
    *,
    date: str | None = None,
    reason: str | None = None,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Write another text into a bullet; a decision keeps its date and reason unless others are given.

    A text that itself reads `date: text (reason)` replaces all of it; an empty `reason` takes the reason away.
    """
    item = find_knowledge(snapshot, ref)
    new = text.strip()
    if item.date is not None and DECISION.fullmatch(new) is None:
        date = date or item.date
        reason = item.reason if reason is None and split_remark(new)[1] is None else reason
    raw = compose(new, date, reason)
    before = snapshot.document(FILE)
    document = with_bullet(before, item.at, raw, _CODE)
    if document is before:
        return Edit({}, "nothing changed", item.ref)
    found = next(one for one in Knowledge(FILE, document).items if one.at == item.at)
    return Edit({FILE: document}, f"changed {short(raw)}", found.ref)


def remove_knowledge(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Take a bullet out, with what is indented below it; its section and topic stay."""
    item = find_knowledge(snapshot, ref)
    document = with_bullet(snapshot.document(FILE), item.at, None, _CODE)
    return Edit({FILE: document}, f"removed {short(item.text)}")


def move_knowledge(
    snapshot: Snapshot,
    refs: Sequence[str],
    section: str,
    topic: str | None = None,
    *,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Put facts and decisions at the end of a section, or of a topic in it; both are made where they are missing.

    What they say stays. Raises UsageError `knowledge.here` where nothing would move, and as `add_knowledge` and
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
        document = with_bullet(document, item.at, None, _CODE)
    document, place = with_knowledge(document, section, topic, [item.raw for item in items])
    words = "moved a line" if len(items) == 1 else f"moved {len(items)} lines"
    ref = _last(document, place).ref if len(items) == 1 else None
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
