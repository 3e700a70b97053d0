"""What contacts.md holds: channels and message routes in tables, people in bullets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from memory.base.values import split_remark
from memory.document import Document
from memory.document.lines import encode, insert_line, newline_of, read_bullets, split_lines
from memory.document.tables import Table, add_row, compose_table, find_tables, remove_row, set_cell
from memory.errors import UsageError
from memory.files.bullets import add_bullets, replace_bullet
from memory.files.dress import LineFinding, loose_lines, plain_bullets, unread, unread_entries, visible_lines
from memory.files.edit import Edit, one_line, started_document, with_end, with_named_section
from memory.files.refs import Lookup, NamedItem, name_all

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

FILE = "contacts.md"
KIND = "contacts"
SECTIONS = {"channel": "Channels", "route": "Message Routes", "person": "People"}
"""The headings under which each kind of contact stands."""
COLUMNS = {
    "channel": {"name": "Name", "id": "ID", "type": "Type", "status": "Status"},
    "route": {"channel": "Channel", "project": "Project", "prefix": "Prefix", "terminal": "Terminal"},
}
"""The columns of the two tables, by their keys."""
PERSON_KEYS = ("name", "role", "text")
_PERSON = re.compile(
    r"\*\*((?:(?!\*\*)[^\r\n])+)\*\*[ \t]*(?:\(((?:[^()\r\n]|\([^()\r\n]*\))*)\))?[ \t]*(?::[ \t]*|\Z|(?=\n))([\s\S]*)"
)


@dataclass(frozen=True, slots=True)
class _Contact(NamedItem):
    """A contact; `at` is (section index, number of the table, of the row or the bullet)."""

    at: tuple[int, int, int]
    kind: ClassVar[str] = ""
    keys: ClassVar[tuple[str, ...]] = ()

    def json(self) -> dict[str, Any]:
        """Return the contact under the keys of the interface; lines count from 1."""
        values = {key: getattr(self, key) for key in self.keys}
        return {"ref": self.ref, **values, "line": self.line + 1}


@dataclass(frozen=True, slots=True)
class Channel(_Contact):
    """One row of Channels; missing cells are empty."""

    name: str
    id: str
    type: str
    status: str
    extra: Mapping[str, str]
    kind: ClassVar[str] = "channel"
    keys: ClassVar[tuple[str, ...]] = (*COLUMNS["channel"], "extra")

    @property
    def title(self) -> str:
        """The name, under which it is looked up."""
        return self.name or self.id


@dataclass(frozen=True, slots=True)
class Route(_Contact):
    """One row of Message Routes; missing cells are empty."""

    channel: str
    project: str
    prefix: str
    terminal: str
    extra: Mapping[str, str]
    kind: ClassVar[str] = "route"
    keys: ClassVar[tuple[str, ...]] = (*COLUMNS["route"], "extra")

    @property
    def title(self) -> str:
        """Channel, project and prefix, under which it is looked up."""
        return " ".join(part for part in (self.channel, self.project, self.prefix) if part)


@dataclass(frozen=True, slots=True)
class Person(_Contact):
    """One bullet of People, `**Name** (Role): text`; one of another form has its whole text as name, and is `plain`."""

    name: str
    role: str | None
    text: str
    plain: bool = False
    kind: ClassVar[str] = "person"
    keys: ClassVar[tuple[str, ...]] = PERSON_KEYS

    @property
    def title(self) -> str:
        """The name, under which the person is looked up."""
        return self.name


Contact: TypeAlias = Channel | Route | Person
_IDENTITY = {"channel": ("name",), "route": ("channel", "project", "prefix"), "person": ("name",)}


class Contacts:
    """Channels, routes and people in file order."""

    def __init__(self, file: str, document: Document) -> None:
        """Read tables and bullets; never fails."""
        self.file = file
        self.document = document
        rows = [*_rows(document, Channel), *_rows(document, Route), *_people(document)]
        known = [(kind.kind, *(values[key] or "" for key in _IDENTITY[kind.kind])) for kind, _, _, values in rows]
        marks = [encode("\0".join(map(_flat, values.values()))) for *_, values in rows]
        self._all: tuple[Contact, ...] = tuple(
            kind(*name, file, line, at, **values)
            for name, (kind, at, line, values) in zip(name_all(KIND, known, marks), rows, strict=True)
        )
        self.channels = tuple(one for one in self._all if isinstance(one, Channel))
        self.routes = tuple(one for one in self._all if isinstance(one, Route))
        self.people = tuple(one for one in self._all if isinstance(one, Person))

    def all(self) -> tuple[Contact, ...]:
        """Return channels, then routes, then people."""
        return self._all

    def json(self) -> dict[str, Any]:
        """Return `channels`, `routes` and `people` as lists."""
        parts = {"channels": self.channels, "routes": self.routes, "people": self.people}
        return {name: [one.json() for one in found] for name, found in parts.items()}


def _flat(value: Any) -> str:
    return "\0".join(value.values()) if isinstance(value, Mapping) else str(value or "")


def places_of(document: Document, kind: str) -> list[int]:
    """Return the indexes of the sections that a kind of contact is read from."""
    found = document.find(SECTIONS[kind])
    return found or (document.find("Routes") if kind == "route" else found)


def read_sections(document: Document) -> frozenset[int]:
    """Return the indexes of the sections that are read as channels, routes or people."""
    return frozenset(index for kind in SECTIONS for index in places_of(document, kind))


def read_tables(document: Document, index: int) -> list[Table]:
    """Return the tables of a section that are read as channels or routes."""
    kinds = [kind for kind in COLUMNS if index in places_of(document, kind)]
    return [table for table in document.sections[index].tables for kind in kinds if _is_table(table, kind)]


def source_of(document: Document, contact: Contact) -> str:
    """Return the exact source of a contact: its line of a table, or its bullet."""
    index, number, place = contact.at
    body = _body(document, index, contact)
    one = read_bullets(body)[place] if isinstance(contact, Person) else find_tables(body)[number].rows[place]
    return body[one.start : one.end]


def _body(document: Document, index: int, contact: Contact) -> str:
    """Return the text of the section of a contact; of a person with its list in plain bullets."""
    body = document.sections[index].body
    return plain_bullets(body).body if isinstance(contact, Person) else body


def _is_table(table: Table, kind: str) -> bool:
    return table.column(next(iter(COLUMNS[kind].values()))) is not None


_Read: TypeAlias = "tuple[type[Any], tuple[int, int, int], int, dict[str, Any]]"
"""A contact as it is read: its class, place, line and values."""


def _rows(document: Document, kind: type[Channel | Route]) -> Iterator[_Read]:
    columns = COLUMNS[kind.kind]
    for index in places_of(document, kind.kind):
        top = document.line_of(index) + 1
        for number, table in enumerate(document.sections[index].tables):
            places = {key: table.column(title) for key, title in columns.items()}
            others = [(at, title) for at, title in enumerate(table.header) if at not in places.values() and title]
            for place, row in enumerate(table.rows if _is_table(table, kind.kind) else ()):
                values: dict[str, Any] = {key: "" if at is None else row.text(at) for key, at in places.items()}
                values["extra"] = {title: row.text(at) for at, title in others}
                yield kind, (index, number, place), top + row.line, values


def _people(document: Document) -> Iterator[_Read]:
    for index in places_of(document, "person"):
        top = document.line_of(index) + 1
        for number, bullet in enumerate(read_bullets(plain_bullets(document.sections[index].body).body)):
            values = zip(("name", "role", "text", "plain"), _read_person(bullet.text), strict=True)
            yield Person, (index, 0, number), top + bullet.line, dict(values)


def _read_person(text: str) -> tuple[str, str | None, str, bool]:
    found = _PERSON.fullmatch(text)
    if found is None:
        return text, None, "", True
    return found[1].strip(), (found[2] or "").strip() or None, found[3].strip(), False


def read_contacts(file: str, document: Document) -> Contacts:
    """Return what contacts.md holds; never fails."""
    return Contacts(file, document)


CONTACTS: Lookup[Contact] = Lookup(KIND, "contact", lambda snapshot: snapshot.contacts.all())


def find_contact(snapshot: Snapshot, text: str) -> Contact:
    """Return the channel, route or person that a ref, its digits, the id of a channel or a part of its name means.

    Raises NotFoundError `contact.not_found`, AmbiguousError `contact.ambiguous`.
    """
    named = [one for one in snapshot.contacts.channels if channel_id(one.id) == channel_id(text)]
    if len(named) == 1 and channel_id(text):
        return named[0]
    return CONTACTS.find(snapshot, text)


def channel_id(text: str) -> str:
    """Return the id of a channel in the form that is compared: without a remark, whatever its case."""
    return split_remark(text.strip())[0].strip().casefold()


def _refuse_taken_id(contacts: Contacts, value: str, but: tuple[int, int, int] | None = None) -> None:
    """Raise UsageError `contact.id` where a channel, another one than that at `but`, has an id already."""
    wanted = channel_id(value)
    taken = next((one for one in contacts.channels if one.at != but and channel_id(one.id) == wanted), None)
    if wanted and taken is not None:
        shown = value.strip()[:60]
        raise UsageError(
            "contact.id",
            f"the channel {taken.name[:60]!r} has the id {shown!r} already",
            f"edit that one: `memdeck contacts edit {shown}`, or give another id",
            ref=taken.ref,
        )


def add_contact(snapshot: Snapshot, kind: str, values: Mapping[str, str], *, source: str = "", now: datetime) -> Edit:
    """Add a channel, a route or a person at the end of its table or list; what is missing is made.

    `values` by key (`name`, `id`, …; for rows also the title of any further column). `source` is how the contact is
    written elsewhere, which is kept where it is read as the values here. Raises UsageError
    `contact.kind`, `contact.key`, `contact.name`, `contact.id` for the id of another channel, `table.value`.
    """
    if kind not in SECTIONS:
        raise UsageError("contact.kind", f"{kind[:40]!r} is no kind of contact", "use channel, route or person")
    given = {key: value.strip() for key, value in values.items()}
    need = "channel" if kind == "route" else "name"
    label = one_line("contact.name", f"the {need} of a {kind}", given.get(need, ""))
    if kind == "channel":
        _refuse_taken_id(snapshot.view("contacts.md", read_contacts), given.get("id", ""))
    document = started_document(snapshot, FILE, now)
    known = [(index, other) for other in SECTIONS for index in places_of(document, other)]
    document, first = with_named_section(document, kind, SECTIONS, known)
    places = places_of(document, kind) or [first]
    source = source.rstrip("\r\n")
    body, index, place = (
        (_added_person(document, places[0], given, source), places[0], 0)
        if kind == "person"
        else _added_row(document, places, kind, given, source)
    )
    document = document.with_section(index, document.sections[index].with_body(body))
    there = [one for one in Contacts(FILE, document).all() if one.kind == kind and one.at[:2] == (index, place)]
    if not there or there[-1].title.split()[: len(label.split())] != label.split():
        raise _unreadable(kind)
    return Edit({FILE: document}, f"added the {kind} {label[:60]}", there[-1].ref)


def _added_row(
    document: Document, places: list[int], kind: str, given: Mapping[str, str], source: str
) -> tuple[str, int, int]:
    columns = COLUMNS[kind]
    for index in places:
        body = document.sections[index].body
        for number, table in enumerate(find_tables(body)):
            if _is_table(table, kind):
                return _with_row(body, number, kind, given, source), index, number
    index = places[0]
    body = document.sections[index].body
    wrong = [key for key in given if key not in columns]
    if wrong:
        raise _bad_key(kind, wrong[0])
    number = len(find_tables(body))
    if source:
        text = compose_table(list(columns.values()), [])
        body = with_end(body, ("\n" if body.strip() else "") + text, document, index)
        return _with_row(body, number, kind, given, source), index, number
    text = compose_table(list(columns.values()), [[given.get(key, "") for key in columns]])
    return with_end(body, ("\n" if body.strip() else "") + text, document, index), index, number


def _with_row(body: str, number: int, kind: str, given: Mapping[str, str], source: str) -> str:
    """Return the body with a row behind those of a table: as its source has it where that reads as the values."""
    table = find_tables(body)[number]
    values = [""] * len(table.header)
    for key, value in given.items():
        values[_column(table, kind, key)] = value
    if source:
        written = insert_line(body, table.end, source, newline_of(encode(body)))
        read = find_tables(written)[number].rows
        if len(read) == len(table.rows) + 1 and [read[-1].text(at) for at in range(len(values))] == values:
            return written
    return add_row(body, table, values)


def _added_person(document: Document, index: int, given: Mapping[str, str], source: str) -> str:
    body = document.sections[index].body
    bullets = read_bullets(body)
    wanted = (given.get("name", ""), given.get("role") or None, given.get("text", ""))
    if [_read_person(one.text)[:3] for one in read_bullets(source)] != [wanted]:
        return add_bullets(body, [_compose_person(given)], document, index, None, "contact.value")
    if not bullets:
        return with_end(body, source, document, index)
    written = document.newline.join(line for line, _ in split_lines(source))
    return insert_line(body, bullets[-1].end, written, document.newline)


def _compose_person(values: Mapping[str, str]) -> str:
    for key in values:
        if key not in PERSON_KEYS:
            raise _bad_key("person", key)
    name = one_line("contact.name", "the name of a person", values.get("name", ""))
    role, text = values.get("role", "").strip(), values.get("text", "").strip()
    if role:
        one_line("contact.role", "a role", role)
    raw = f"**{name}**" + (f" ({role})" if role else "") + (f": {text}" if text else "")
    lines = [line.strip() for line, _ in split_lines(text)]
    if [line.strip() for line in (_read_person(raw)[2]).split("\n")] != (lines or [""]) or _read_person(raw)[:2] != (
        name,
        role or None,
    ):
        raise _unreadable("person")
    return raw


def edit_contact(snapshot: Snapshot, ref: str, set: Mapping[str, str], *, now: datetime) -> Edit:  # noqa: A002, ARG001
    """Set cells of a row, or name, role and text of a person; only what is set changes.

    Raises UsageError `contact.key`, `contact.name`, `contact.id`, `table.value`.
    """
    contact = find_contact(snapshot, ref)
    document = snapshot.document(FILE)
    index, number, place = contact.at
    body = _body(document, index, contact)
    if isinstance(contact, Person):
        old = {"name": contact.name, "role": contact.role or "", "text": contact.text}
        body = replace_bullet(body, place, _compose_person({**old, **set}), document.newline, "contact.value")
    else:
        for key, value in set.items():
            table = find_tables(body)[number]
            column = _column(table, contact.kind, key)
            if key == ("channel" if contact.kind == "route" else "name"):
                one_line("contact.name", f"the {key} of a {contact.kind}", value)
            if table.rows[place].text(column) != value.strip():
                if (contact.kind, key.casefold()) == ("channel", "id"):
                    _refuse_taken_id(snapshot.view("contacts.md", read_contacts), value, contact.at)
                body = set_cell(body, table, place, column, value)
    document = document.with_section(index, document.sections[index].with_body(body))
    found = next(
        (one for one in Contacts(FILE, document).all() if (one.kind, one.at) == (contact.kind, contact.at)), None
    )
    if found is None:
        raise _unreadable(contact.kind)
    return Edit({FILE: document}, f"changed the {contact.kind} {contact.title[:60]}", found.ref)


def remove_contact(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Take a row or a person out; the table and the section stay."""
    contact = find_contact(snapshot, ref)
    document = snapshot.document(FILE)
    index, number, place = contact.at
    body = _body(document, index, contact)
    if isinstance(contact, Person):
        body = replace_bullet(body, place, None, document.newline, "contact.value")
    else:
        body = remove_row(body, find_tables(body)[number], place)
    document = document.with_section(index, document.sections[index].with_body(body))
    return Edit({FILE: document}, f"removed the {contact.kind} {contact.title[:60]}")


def _column(table: Table, kind: str, key: str) -> int:
    column = table.column(COLUMNS[kind].get(key, key))
    if column is None:
        raise _bad_key(kind, key)
    return column


def _bad_key(kind: str, key: str) -> UsageError:
    known = ", ".join(COLUMNS.get(kind, PERSON_KEYS))
    return UsageError("contact.key", f"a {kind} has no {key[:40]!r}", f"set {known}")


def _unreadable(kind: str) -> UsageError:
    return UsageError(
        "contact.value", f"the {kind} would not be read as it is written", "leave out **, HTML and fences"
    )


def plain_contacts(document: Document) -> Document:
    """Return contacts.md with its people as plain bullets."""
    for index in places_of(document, "person"):
        section = document.sections[index]
        document = document.with_section(index, section.with_body(plain_bullets(section.body).body))
    return document


def contact_findings(document: Document) -> Iterator[LineFinding]:
    """Yield the people in another form, and the lines that are no contact; lines count from 0 in the file."""
    for kind in SECTIONS:
        for index in places_of(document, kind):
            body, top = document.sections[index].body, document.line_of(index) + 1
            if kind == "person":
                found = [
                    *plain_bullets(body).findings,
                    *loose_lines(body, "write a person as `- **Name** (Role): text`"),
                ]
            else:
                advice = f"a {kind} is a row of a table with the columns {', '.join(COLUMNS[kind].values())}"
                found = list(_no_rows(body, advice))
            yield from (one.moved(top) for one in found)
    yield from _of_other_sections(document)


_NO_CONTACT = "is no channel, route or person"


def _of_other_sections(document: Document) -> Iterator[LineFinding]:
    """Yield the texts of sections that are not read, and the entries: contacts are rows and bullets."""
    known = read_sections(document)
    yield from unread_entries(document, (), "warning", "contact.unread", _NO_CONTACT)
    for index, section in enumerate(document.sections):
        rows = [text for _, text in visible_lines(section.body) if text.strip("|:- ")] if index not in known else []
        if rows:
            more = f" and {len(rows) - 1} more lines" if len(rows) > 1 else ""
            message = f"{rows[0].strip()[:60]!r}{more} under {section.title[:40]!r} {_NO_CONTACT}"
            yield LineFinding(document.line_of(index), "warning", "contact.unread", message)


def _no_rows(body: str, advice: str) -> Iterator[LineFinding]:
    """Yield the list items and texts of a section of rows."""
    yield from loose_lines(body, advice, tables=True)
    for number, text in visible_lines(body):
        if re.match(r"[-*+•] |[0-9]{1,3}[.)] ", text):
            yield unread(number, text, advice)
