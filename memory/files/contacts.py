"""What contacts.md holds, channels and message routes in tables and people in bullets, and the operations on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from memory.base.values import split_remark
from memory.document import Document
from memory.document.lines import encode, insert_line, read_bullets, split_lines
from memory.document.tables import Table, add_row, compose_table, find_tables, remove_row
from memory.errors import UsageError
from memory.files import edit as edits
from memory.files.edit import Edit, Edits, Step
from memory.files.fields.dress import LineFinding, PlainFile, plain_bullets, unread_entries, unread_section, unread_text
from memory.files.operations import Call, EntryGroup, Part, outline, pairs, something
from memory.files.refs import CONTACTS, FileView, Item, Place, identity_hex
from memory.files.snapshot import Snapshot
from memory.operations import Choice, Context, Pairs, argument, option
from memory.operations.result import Result

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


# -- operations, and the edits that they make ----------------------------------------------------------------------

_set = option(
    "--set", "changes", multiple=True, type=Pairs(), help="Set a value, such as status=connected; may be repeated."
)

contacts = EntryGroup(
    "contacts", "List, add, edit and remove channels, message routes and people (contacts.md).", CONTACTS, key="contact"
)


@contacts.look("list", "", "--kind person -o json")
@option("--kind", type=Choice(tuple(KINDS)), help="Only channels, routes or people.")
def list_contacts(context: Context, kind: str | None) -> Result:
    """List channels, message routes and people."""
    found = context.snapshot.contacts
    shown = {of.listed: found.lists[of.listed] if kind in (None, one) else () for one, of in KINDS.items()}
    return Result(
        lambda: {name: [one.json() for one in items] for name, items in shown.items()},
        lambda paint: outline(paint, _parts(shown), "no contacts"),
        lambda: ({"kind": one.kind} | one.json() for items in shown.values() for one in items),
    )


def _parts(shown: Mapping[str, Sequence[Contact]]) -> Iterator[Part]:
    """Yield the contacts under the names of their lists; channels that are disconnected are marked."""
    channels, routes, people = shown.values()
    lost = {row: 2 for row, one in enumerate(channels) if one.status.casefold() == "disconnected"}
    rows: Sequence[tuple[str, list[tuple[str, ...]], Mapping[int, int]]] = (
        ("Channels", [(one.ref_hex, one.type, one.status, one.id, one.name) for one in channels], lost),
        ("Message routes", [(one.ref_hex, one.prefix, one.project, one.terminal, one.channel) for one in routes], {}),
        ("People", [(one.ref_hex, one.name, one.role or "", one.text) for one in people], {}),
    )
    yield from (part for part in rows if part[1])


@contacts.changes(
    "add",
    "added",
    "person Dana --set role=QA --set text='Reach via Slack Alerts'",
    "channel 'Ops Bot' --set id=channel-xyz --set type=telegram --set status=connected",
    "route 'Ops Bot' --set project=project-123 --set prefix=/ops",
)
@argument("kind", type=Choice(tuple(KINDS)))
@argument("name")
@_set
def add(call: Call, kind: str, name: str, changes: Sequence[str] | Mapping[str, str] = ()) -> Edit:
    """Add a channel, a person, or a route (NAME is then its channel)."""
    values = {KINDS[kind].label: name} | pairs(changes)
    return add_contact(call.snapshot, kind, values, now=call.now)


@contacts.changes("edit", "changed", "77aa01b --set status=disconnected")
@contacts.ref
@_set
def edit(call: Call, ref: str, changes: Sequence[str] | Mapping[str, str] = ()) -> Edit:
    """Change values of a channel, a route or a person; an empty value clears it."""
    # Only what is set changes. UsageError `contact.key`, `contact.name`, `contact.id`, `table.value`.
    values = pairs(changes)
    something(values)

    def planned(contact: Contact) -> Step[Written]:
        id_now = channel_id(values.get("id", ""))
        if contact.kind == "channel" and id_now != channel_id(contact.id):
            _refuse_taken_id(call.snapshot.contacts, values.get("id", ""))
        return Step(Written(values))

    return CONTACT_EDITS.edit(call.snapshot, ref, planned)


_CODE = "contact.value"


class Written(NamedTuple):
    """The values of a contact by key; for rows also by the title of any further column.

    `source` is how it is written elsewhere, which is kept where it reads as the values.
    """

    values: Mapping[str, str]
    source: str = ""


def add_contact(snapshot: Snapshot, kind: str, values: Mapping[str, str], *, source: str = "", now: datetime) -> Edit:
    """Add a channel, a route or a person at the end of its table or list; what is missing is made.

    Raises UsageError `contact.kind`, `contact.key`, `contact.name`, `contact.id` for the id of another channel,
    `table.value`.
    """
    if kind not in KINDS:
        raise UsageError("contact.kind", f"{kind[:40]!r} is not a kind of contact", "use channel, route or person")
    given = {key: value.strip() for key, value in values.items()}
    label = _label(kind, given.get(KINDS[kind].label, ""))
    if kind == "channel":
        _refuse_taken_id(snapshot.contacts, given.get("id", ""))
    document = edits.started_document(snapshot, FILE, now)
    return CONTACT_EDITS.add(document, kind, Written(given, source), label, kind)


class ContactEdits(Edits[Contact, Written]):
    """The edits of contacts.md: channels and routes are rows, people are bullets; what is not set stays."""

    def noun_of(self, item: Contact) -> str:
        """Return channel, route or person."""
        return item.kind

    def replace(self, document: Document, item: Contact, written: Written | None) -> Document:
        """Return the document with other values in a row or bullet, or (None) without it."""
        index, number, place = item.at
        if number is None:
            old = {"name": item.name, "role": item.role or "", "text": item.text}
            text = None if written is None else _composed({**old, **written.values})
            return edits.with_bullet(document, item.at, text, _CODE)
        section = document.section(index)
        table = section.tables[number]
        if written is None:
            return document.with_section(index, section.with_body(remove_row(section.body, table, place)))
        if (label := KINDS[item.kind].label) in written.values:
            _label(item.kind, written.values[label])
        cells = {_column(table, item.kind, key): value for key, value in written.values.items()}
        body = edits.with_cells(section.body, number, place, cells)
        if body == section.body:
            return document
        return _read(document.with_section(index, section.with_body(body)), item.kind, item.at)

    def insert(self, document: Document, section: str, written: Written) -> tuple[Document, Place]:
        """Return the document with a contact behind the last one of its kind, and its place."""
        kind, given = section, written.values
        known = [(index, other) for other in KINDS for index in places_of(document, other)]
        titles = {one: declared.headings[0] for one, declared in KINDS.items()}
        document, index = edits.with_named_section(document, kind, titles, known)
        if kind != "person":
            document, index, number = _with_row(document, places_of(document, kind), kind, given, written.source)
            place: Place = (index, number, len(document.section(index).tables[number].rows) - 1)
            return _read(document, kind, place), place
        text, bullets = _composed(given), read_bullets(written.source)
        same = [read_person(one.text) for one in bullets] == [read_person(text)]
        texts, source = ([bullets[0].text], written.source) if same else ([text], "")
        document = edits.with_bullets(document, index, None, texts, _CODE, source)
        return document, (index, None, len(read_bullets(document.section(index).body)) - 1)


CONTACT_EDITS = ContactEdits(CONTACTS, "contacts")
remove = contacts.removes(CONTACT_EDITS, "77aa01b", "a channel, a route or a person")


def _read(document: Document, kind: str, at: Place) -> Document:
    """Return a document in which a contact of a kind is read at a place; UsageError where it is not."""
    if not any((one.at, one.kind) == (at, kind) for one in Contacts(FILE, document)):
        raise _unreadable(kind)
    return document


def _with_row(
    document: Document, places: list[int], kind: str, given: Mapping[str, str], row: str
) -> tuple[Document, int, int]:
    """Return the document with a row behind those of the first table of a kind, or in a new table, and where."""
    tables = [(index, number, table) for index in places for number, table in tables_of(document, index, kind)]
    if not tables:
        columns, section = KINDS[kind].columns, document.section(places[0])
        if wrong := [key for key in given if key not in columns]:
            raise _bad_key(kind, wrong[0])
        text = ("\n" if section.body.strip() else "") + compose_table(list(columns.values()), [])
        section = section.with_body(edits.with_end(section.body, text, document, places[0]))
        return _with_row(document.with_section(places[0], section), places, kind, given, row)
    index, number, table = tables[0]
    cells = [""] * len(table.header)
    for key, value in given.items():
        cells[_column(table, kind, key)] = value
    body = document.section(index).body
    written = insert_line(body, table.end, row, document.newline) if row else body
    reads = [[one.text(at) for at in range(len(cells))] for one in find_tables(written)[number].rows]
    is_kept = len(reads) == len(table.rows) + 1 and reads[-1] == cells
    body = written if is_kept else add_row(body, table, cells)
    return document.with_section(index, document.section(index).with_body(body)), index, number


def _composed(values: Mapping[str, str]) -> str:
    """Return the bullet of a person; UsageError where it would not be read so."""
    if wrong := [key for key in values if key not in KINDS["person"].columns]:
        raise _bad_key("person", wrong[0])
    name = _label("person", values.get("name", ""))
    role, text = values.get("role", "").strip(), values.get("text", "").strip()
    if role:
        edits.one_line("contact.role", "a role", role)
    raw = f"**{name}**" + (f" ({role})" if role else "") + (f": {text}" if text else "")
    read = read_person(raw)
    lines = [line.strip() for line, _ in split_lines(text)] or [""]
    if (read["name"], read["role"] or "") != (name, role) or [one.strip() for one in read["text"].split("\n")] != lines:
        raise _unreadable("person")
    return raw


def _label(kind: str, value: str) -> str:
    """Return the value that names a contact; UsageError `contact.name` where it cannot."""
    return edits.one_line("contact.name", f"the {KINDS[kind].label} of a {kind}", value)


def _refuse_taken_id(contacts: Contacts, value: str) -> None:
    """Raise UsageError `contact.id` where a channel has an id already."""
    wanted = channel_id(value)
    taken = next((one for one in contacts.channels if channel_id(one.id) == wanted), None)
    if wanted and taken is not None:
        shown = value.strip()[:60]
        raise UsageError(
            "contact.id",
            f"the channel {taken.name[:60]!r} has the id {shown!r} already",
            f"edit that one: `memdeck contacts edit {shown}`, or give another id",
            ref=taken.ref,
        )


def _column(table: Table, kind: str, key: str) -> int:
    column = table.column(KINDS[kind].columns.get(key, key))
    if column is None:
        raise _bad_key(kind, key)
    return column


def _bad_key(kind: str, key: str) -> UsageError:
    return UsageError("contact.key", f"a {kind} has no {key[:40]!r}", f"set {', '.join(KINDS[kind].columns)}")


def _unreadable(kind: str) -> UsageError:
    return UsageError(_CODE, f"the {kind} would be read differently", "leave out **, HTML and fences")
