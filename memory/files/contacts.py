"""What contacts.md holds: channels and message routes in tables, people in bullets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memory.base.values import split_remark
from memory.document import Document
from memory.document.lines import encode, read_bullets
from memory.document.tables import Table
from memory.errors import UsageError
from memory.files.fields.dress import LineFinding, PlainFile, plain_bullets, unread_entries, unread_section, unread_text
from memory.files.refs import FileView, Item, identity_hex

FILE = "contacts.md"
KIND = "contacts"


class ContactKind(NamedTuple):
    """What a kind of contact is: what several are called, the headings it is read under, its values with their columns,
    and what names it.

    The first value names the contact for the user, those in `identity` give its ref.
    """

    listed: str
    headings: tuple[str, ...]
    columns: Mapping[str, str]
    identity: tuple[str, ...]

    @property
    def label(self) -> str:
        """The value that a contact cannot do without."""
        return next(iter(self.columns))


KINDS = {
    "channel": ContactKind(
        "channels", ("Channels",), {"name": "Name", "id": "ID", "type": "Type", "status": "Status"}, ("name",)
    ),
    "route": ContactKind(
        "routes",
        ("Message Routes", "Routes"),
        {"channel": "Channel", "project": "Project", "prefix": "Prefix", "terminal": "Terminal"},
        ("channel", "project", "prefix"),
    ),
    "person": ContactKind("people", ("People",), {"name": "", "role": "", "text": ""}, ("name",)),
}
"""The kinds of contacts in file order; a person is a bullet and has no columns."""
_PERSON = re.compile(
    r"\*\*((?:(?!\*\*)[^\r\n])+)\*\*[ \t]*(?:\(((?:[^()\r\n]|\([^()\r\n]*\))*)\))?[ \t]*(?::[ \t]*|\Z|(?=\n))([\s\S]*)"
)
_GONE = frozenset({"disconnected", "offline", "error", "failed", "down", "off", "disabled"})
"""States of a channel that need a person."""


@dataclass(frozen=True, slots=True)
class Contact(Item):
    """A channel, a route or a person; missing values are empty, and so are those that its kind does not have.

    `at` is (section index, number of the table or None, of the row or bullet), `line` counts from 0. A bullet of
    another form than `**Name** (Role): text` has its whole text as name, and is `plain`. `extra` holds the further
    columns of a row.
    """

    of: Contacts = field(compare=False, repr=False)
    kind: str
    at: tuple[int, int | None, int]
    line: int
    name: str = ""
    id: str = ""
    type: str = ""
    status: str = ""
    channel: str = ""
    project: str = ""
    prefix: str = ""
    terminal: str = ""
    role: str | None = None
    text: str = ""
    plain: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Ten hex digits made of the values that identify its kind."""
        return identity_hex(KIND, self.kind, *(getattr(self, key) for key in KINDS[self.kind].identity))

    @property
    def mark(self) -> bytes:
        """All its values."""
        values = (getattr(self, key) or "" for key in KINDS[self.kind].columns)
        return encode("\0".join([*values, *self.extra.values()]))

    @property
    def title(self) -> str:
        """The name, under which it is looked up; of a route its channel, project and prefix."""
        if self.kind == "route":
            return " ".join(part for part in (self.channel, self.project, self.prefix) if part)
        return self.name or self.id

    def has_id(self, text: str) -> bool:
        """Return whether a text is the id of this channel, in any case; a remark does not count."""
        return self.kind == "channel" and channel_id(self.id) == channel_id(text) != ""

    def json(self) -> dict[str, Any]:
        """Return the contact under the keys of the interface; lines count from 1."""
        keys = (*KINDS[self.kind].columns, *(("extra",) if self.kind != "person" else ()))
        return {"ref": self.ref, **{key: getattr(self, key) for key in keys}, "line": self.line + 1}


class Contacts(FileView[Contact]):
    """Channels, then routes, then people, each in file order."""

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Read tables and bullets; never fails."""
        super().__init__(file, document)
        self.items = (*self._rows("channel"), *self._rows("route"), *self._people())
        self.lists = {
            declared.listed: tuple(one for one in self.items if one.kind == kind) for kind, declared in KINDS.items()
        }
        self.channels, self.routes, self.people = self.lists.values()

    def _rows(self, kind: str) -> Iterator[Contact]:
        for index in places_of(self.document, kind):
            top = self.document.line_of(index) + 1
            for number, table in tables_of(self.document, index, kind):
                places = {key: table.column(title) for key, title in KINDS[kind].columns.items()}
                others = [(at, title) for at, title in enumerate(table.header) if at not in places.values() and title]
                for place, row in enumerate(table.rows):
                    values: dict[str, Any] = {key: "" if at is None else row.text(at) for key, at in places.items()}
                    extra = {title: row.text(at) for at, title in others}
                    yield Contact(self, kind, (index, number, place), top + row.line, **values, extra=extra)

    def _people(self) -> Iterator[Contact]:
        for index in places_of(self.document, "person"):
            top = self.document.line_of(index) + 1
            for number, bullet in enumerate(read_bullets(plain_bullets(self.document.sections[index].body).body)):
                yield Contact(self, "person", (index, None, number), top + bullet.line, **read_person(bullet.text))

    def json(self) -> dict[str, Any]:
        """Return `channels`, `routes` and `people` as lists."""
        return {name: [one.json() for one in found] for name, found in self.lists.items()}


def places_of(document: Document, kind: str) -> list[int]:
    """Return the indexes of the sections that a kind of contact is read from."""
    return next((found for heading in KINDS[kind].headings if (found := document.find(heading))), [])


def tables_of(document: Document, index: int, kind: str) -> list[tuple[int, Table]]:
    """Return the tables of a section that have the column which names a kind of contact, with their numbers."""
    title = KINDS[kind].columns[KINDS[kind].label]
    return [(at, table) for at, table in enumerate(document.section(index).tables) if table.column(title) is not None]


def read_person(text: str) -> dict[str, Any]:
    """Return name, role and text of a bullet, and whether it is a plain one."""
    found = _PERSON.fullmatch(text)
    if found is None:
        return {"name": text, "role": None, "text": "", "plain": True}
    role = (found[2] or "").strip() or None
    return {"name": found[1].strip(), "role": role, "text": found[3].strip(), "plain": False}


def channel_id(text: str) -> str:
    """Return the id of a channel in the form that is compared: without a remark and case."""
    return split_remark(text.strip())[0].strip().casefold()


def is_gone(channel: Contact) -> bool:
    """Return whether a channel says that it does not work."""
    return channel.status.strip().casefold() in _GONE


# -- what is written in another form --------------------------------------------------------------------------------


def plain_contacts(document: Document) -> PlainFile:
    """Return contacts.md with its people as plain bullets; lines that are no contact are told."""
    new, findings = document, []
    known: set[int] = set()
    for kind, declared in KINDS.items():
        for index in places_of(document, kind):
            known.add(index)
            section = document.sections[index]
            if kind == "person":
                body, found = plain_bullets(section.body)
                with suppress(UsageError):  # What is written plainly would close a block that hides a heading.
                    new = new.with_section(index, section.with_body(body))
                found += (*unread_text(section.body, "write a person as `- **Name** (Role): text`"),)
            else:
                columns = ", ".join(declared.columns.values())
                tables = [table for _, table in tables_of(document, index, kind)]
                rows = {line for table in tables for line in range(table.line, table.line + len(table.rows) + 2)}
                advice = f"a {kind} is a row of a table with the columns {columns}"
                found = (*unread_text(section.body, advice, rows),)
            findings += [one.moved(document.line_of(index) + 1) for one in found]
    return PlainFile(new, (*findings, *_others(document, known)))


def _others(document: Document, known: set[int]) -> Iterator[LineFinding]:
    """Yield the entries, and the lines of sections that no kind of contact is read from."""
    no_contact = "is not a channel, route or person"
    yield from unread_entries(document, (), "warning", "contact.unread", no_contact)
    for index, section in enumerate(document.sections):
        found = unread_section(section, no_contact, "warning", "contact.unread") if index not in known else ()
        yield from (one.moved(document.line_of(index)) for one in found)
