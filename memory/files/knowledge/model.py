"""What knowledge.md holds: facts and decisions, one bullet each, under sections and their topics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory.base.clock import read_moment
from memory.base.values import folded, split_remark
from memory.document import Bullet, Document, Entry, Section
from memory.document.lines import read_bullets, split_lines
from memory.errors import UsageError
from memory.files.bullets import add_bullets, replace_bullet
from memory.files.dress import LineFinding, loose_lines, plain_bullets
from memory.files.edit import Edit, one_line, started_document
from memory.files.refs import Lookup, NamedItem, name_all, short

if TYPE_CHECKING:
    from typing import Any, Literal

    from memory.files.snapshot import Snapshot

FILE = "knowledge.md"
KIND = "knowledge"
DECISIONS = "Decisions Made"
_DECISION = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}):[ \t]+(\S[\s\S]*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class KnowledgeItem(NamedItem):
    """One bullet with what is indented below it; `text` is without date and reason where it is a decision.

    `at` is (section index, entry index or None, number of the bullet there).
    """

    section: str
    topic: str | None
    raw: str
    text: str
    date: str | None
    reason: str | None
    kind: Literal["fact", "decision"]
    at: tuple[int, int | None, int]

    @property
    def title(self) -> str:
        """The text, under which it is looked up."""
        return self.text

    def json(self) -> dict[str, Any]:
        """Return the item under the keys of the interface; absent values are None, lines count from 1."""
        return {
            "ref": self.ref,
            "section": self.section,
            "topic": self.topic,
            "kind": self.kind,
            "text": self.text,
            "date": self.date,
            "reason": self.reason,
            "line": self.line + 1,
        }


@dataclass(frozen=True, slots=True)
class KnowledgeTopic:
    """A level-3 heading and its items; `line` from 0."""

    title: str
    line: int
    items: tuple[KnowledgeItem, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeSection:
    """A level-2 heading, its own items and its topics; `line` from 0."""

    title: str
    line: int
    items: tuple[KnowledgeItem, ...]
    topics: tuple[KnowledgeTopic, ...]


class Knowledge:
    """All of knowledge.md: `sections` as they stand, `items` in file order."""

    def __init__(self, file: str, document: Document) -> None:
        """Read the bullets; never fails."""
        self.file = file
        self.document = document
        found = list(_read(document))
        names = name_all(KIND, [(section, topic or "", bullet.text) for section, topic, bullet, _, _ in found])
        self.items: tuple[KnowledgeItem, ...] = tuple(
            KnowledgeItem(
                name.identity,
                name.long_hex,
                name.ref,
                file,
                line,
                section,
                topic,
                bullet.text,
                *_parts(section, bullet.text),
                at,
            )
            for name, (section, topic, bullet, line, at) in zip(names, found, strict=True)
        )
        grouped: dict[tuple[int, int | None], list[KnowledgeItem]] = {}
        for item in self.items:
            grouped.setdefault(item.at[:2], []).append(item)
        self.sections: tuple[KnowledgeSection, ...] = tuple(
            KnowledgeSection(
                part.title,
                document.line_of(index),
                tuple(grouped.get((index, None), ())),
                tuple(
                    KnowledgeTopic(
                        entry.title, document.line_of(index, number), tuple(grouped.get((index, number), ()))
                    )
                    for number, entry in enumerate(part.entries)
                ),
            )
            for index, part in document.all_sections()
            if part.heading or (index, None) in grouped or len(part)
        )

    def __iter__(self) -> Iterator[KnowledgeItem]:
        """Iterate over the items in file order."""
        return iter(self.items)


def _read(document: Document) -> Iterator[tuple[str, str | None, Bullet, int, tuple[int, int | None, int]]]:
    for index, place, block, first in document.blocks():
        section, topic = document.section(index).title, None if place is None else block.title
        for number, bullet in enumerate(read_bullets(plain_bullets(block.body).body)):
            yield section, topic, bullet, first + bullet.line, (index, place, number)


def _parts(section: str, raw: str) -> tuple[str, str | None, str | None, Literal["fact", "decision"]]:
    found = _DECISION.fullmatch(raw)
    if found is not None:
        text, reason = split_remark(found[2])
        return (text, found[1], reason, "decision") if text else (found[2], found[1], None, "decision")
    return raw, None, None, "decision" if section.casefold().startswith("decision") else "fact"


def read_knowledge(file: str, document: Document) -> Knowledge:
    """Return what knowledge.md holds; never fails."""
    return Knowledge(file, document)


KNOWLEDGE: Lookup[KnowledgeItem] = Lookup(KIND, KIND, lambda snapshot: snapshot.knowledge.items)


def find_knowledge(snapshot: Snapshot, text: str) -> KnowledgeItem:
    """Return the item that a ref, its digits or a part of its text means.

    Raises NotFoundError `knowledge.not_found`, AmbiguousError `knowledge.ambiguous`.
    """
    return KNOWLEDGE.find(snapshot, text)


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
    title = one_line("knowledge.section", "the name of a section", section)
    if date is None and (reason is not None or title.casefold() == DECISIONS.casefold()):
        date = now.astimezone(snapshot.zone).date().isoformat() if _DECISION.fullmatch(text.strip()) is None else None
    raw = compose(text, date, reason)
    document = with_bullets(started_document(snapshot, FILE, now), title, topic, [raw])
    _, *place = _place(document, title, topic)
    items = [item for item in Knowledge(FILE, document).items if [*item.at[:2]] == place]
    return Edit({FILE: document}, f"added {short(raw)}", items[-1].ref)


def _place(document: Document, section: str, topic: str | None) -> tuple[Document, int, int | None]:
    """Return the document with a section, or a topic in it, and where that is: section index and entry index."""
    title = one_line("knowledge.section", "the name of a section", section)
    places = document.find(title)
    if not places:
        places = [len(document.sections)]
        document = document.insert_section(places[0], Section.compose(title, newline=document.newline))
    if topic is None:
        return document, places[0], None
    name = one_line("knowledge.section", "the name of a topic", topic)
    for index in places:
        for number, entry in enumerate(document.section(index).entries):
            if folded(entry.title) == folded(name):
                return document, index, number
    index, number = places[0], len(document.section(places[0]))
    return document.insert_entry(index, number, Entry.compose(name, newline=document.newline)), index, number


def with_bullets(document: Document, section: str, topic: str | None, raws: Sequence[str]) -> Document:
    """Return the document with bullets behind the last one of a section, or of a topic in it; missing ones are made.

    `raws` are sources as `raw` of an item. UsageError `knowledge.text` where one would not stay one bullet.
    """
    document, index, number = _place(document, section, topic)
    block = document.block(index, number)
    body = add_bullets(block.body, raws, document, index, number, "knowledge.text")
    return document.with_block(index, number, block.with_body(body))


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
    if item.date is not None and _DECISION.fullmatch(new) is None:
        kept = item.reason if reason is None and split_remark(new)[1] is None else reason
        new = compose(new, date or item.date, kept)
    else:
        new = compose(new, date, reason)
    return _replaced(snapshot, item, new, "changed")


def remove_knowledge(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Take a bullet out, with what is indented below it; its section and topic stay."""
    return _replaced(snapshot, find_knowledge(snapshot, ref), None, "removed")


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


def _replaced(snapshot: Snapshot, item: KnowledgeItem, raw: str | None, done: str) -> Edit:
    document = snapshot.document(FILE)
    index, number, place = item.at
    block = document.block(index, number)
    body = plain_bullets(block.body).body
    new = replace_bullet(body, place, raw, document.newline, "knowledge.text")
    if new == body:
        return Edit({}, "nothing changed", item.ref)
    document = document.with_block(index, number, block.with_body(new))
    found = None if raw is None else next(one for one in Knowledge(FILE, document).items if one.at == item.at)
    return Edit({FILE: document}, f"{done} {short(raw or item.text)}", None if found is None else found.ref)


def plain_knowledge(document: Document) -> Document:
    """Return knowledge.md with all its items as plain bullets."""
    for index, number, block, _ in document.blocks():
        document = document.with_block(index, number, block.with_body(plain_bullets(block.body).body))
    return document


def knowledge_findings(document: Document) -> Iterator[LineFinding]:
    """Yield the items in another form, and the texts that are none; lines count from 0 in the file."""
    for index, number, block, first in document.blocks():
        found = [*plain_bullets(block.body).findings]
        if number is not None or document.section(index).level == 2:
            found += loose_lines(block.body, "knowledge is a list; write it as a line that begins with `- `")
        yield from (one.moved(first) for one in found)
