"""What knowledge.md holds: facts as bullets under headings, decisions with date and reason."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from memory.base.values import split_remark
from memory.document import Document
from memory.document.lines import read_bullets
from memory.errors import UsageError
from memory.files.fields.dress import Plain, PlainFile, plain_bullets, regex, unread_text
from memory.files.refs import FileView, Item, identity_hex

FILE = "knowledge.md"
KIND = "knowledge"
DECISIONS = "Decisions Made"
DECISION = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}):[ \t]+(\S[\s\S]*)", re.ASCII)
_DATED = r"^[*_`\[(]{0,3}([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[*_`\])]+:?[*_`]*(?:[ \t]*[-–—])?|[ \t]*[-–—])[ \t]+(?=\S)"
"""The date of a decision in another form: in brackets, bold, or with a dash behind it."""
_KEYS = ("section", "topic", "kind", "text", "date", "reason")


@dataclass(frozen=True, slots=True)
class KnowledgeItem(Item):
    """One bullet with what is indented below it; `text` is without date and reason where it is a decision.

    `at` is (section index, entry index or None, number of the bullet there), `line` counts from 0.
    """

    of: Knowledge = field(compare=False, repr=False)
    at: tuple[int, int | None, int]
    line: int
    section: str
    topic: str | None
    raw: str
    text: str
    date: str | None
    reason: str | None
    kind: Literal["fact", "decision"]

    @property
    def identity(self) -> str:
        """Ten hex digits made of section, topic and text."""
        return identity_hex(KIND, self.section, self.topic or "", self.raw)

    @property
    def title(self) -> str:
        """The text, under which it is looked up."""
        return self.text

    def json(self) -> dict[str, Any]:
        """Return the item under the keys of the interface; absent values are None, lines count from 1."""
        return {"ref": self.ref, **{key: getattr(self, key) for key in _KEYS}, "line": self.line + 1}


class KnowledgePart(NamedTuple):
    """A heading, its own items, and its topics where it is a section."""

    title: str
    items: tuple[KnowledgeItem, ...]
    topics: tuple[KnowledgePart, ...] = ()


class Knowledge(FileView[KnowledgeItem]):
    """All of knowledge.md: `sections` and `items` in file order."""

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Read the bullets; never fails."""
        super().__init__(file, document)
        self.items = tuple(
            _item(self, (index, place, number), first + bullet.line, block.title, bullet.text)
            for index, place, block, first in document.blocks()
            for number, bullet in enumerate(read_bullets(_plain(document, index, block.body).body))
        )
        grouped: dict[tuple[int, int | None], list[KnowledgeItem]] = defaultdict(list)
        for item in self.items:
            grouped[item.at[:2]].append(item)
        self.sections: tuple[KnowledgePart, ...] = tuple(
            KnowledgePart(
                part.title,
                tuple(grouped[index, None]),
                tuple(KnowledgePart(entry.title, tuple(grouped[index, at])) for at, entry in enumerate(part.entries)),
            )
            for index, part in document.all_sections()
            if part.heading or grouped[index, None] or len(part)
        )


def _item(of: Knowledge, at: tuple[int, int | None, int], line: int, title: str, raw: str) -> KnowledgeItem:
    """Return the item of a bullet under a heading: a decision by its date, or by its section."""
    section, topic = of.document.section(at[0]).title, None if at[1] is None else title
    found = DECISION.fullmatch(raw)
    if found is None:
        kind: Literal["fact", "decision"] = "decision" if section.casefold().startswith("decision") else "fact"
        return KnowledgeItem(of, at, line, section, topic, raw, raw, None, None, kind)
    text, reason = split_remark(found[2])
    if not text:
        text, reason = found[2], None
    return KnowledgeItem(of, at, line, section, topic, raw, text, found[1], reason, "decision")


def _plain(document: Document, index: int, body: str) -> Plain:
    """Return a text of a section with its items as plain bullets, and the dates of decisions as they are written."""
    if not document.section(index).title.casefold().startswith("decision"):
        return plain_bullets(body)
    return plain_bullets(body, lambda text: regex(_DATED).sub(r"\1: ", text))


def plain_knowledge(document: Document) -> PlainFile:
    """Return knowledge.md with all its items as plain bullets; texts that are none are told."""
    new, findings = document, []
    for index, number, block, first in document.blocks():
        body, found = _plain(document, index, block.body)
        with suppress(UsageError):  # What is written plainly would close a block that hides a heading.
            new = new.with_block(index, number, block.with_body(body))
        if number is not None or document.section(index).level == 2:
            found += (*unread_text(block.body, "knowledge is a list; write it as a line that begins with `- `"),)
        findings += [one.moved(first) for one in found]
    return PlainFile(new, tuple(findings))
