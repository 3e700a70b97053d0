"""The operations on contacts.md, and its edits: channels and routes are rows of tables, people are bullets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.document import Document
from memory.document.lines import insert_line, read_bullets, split_lines
from memory.document.tables import Table, add_row, compose_table, find_tables, remove_row
from memory.errors import UsageError
from memory.files import edit as edits
from memory.files.contacts import FILE, KINDS, Contact, Contacts, channel_id, places_of, read_person, tables_of
from memory.files.edit import Edit, Edits, Step
from memory.files.find import CONTACTS
from memory.files.operations import Call, EntryGroup, Part, outline, pairs, something
from memory.files.refs import Place
from memory.files.snapshot import Snapshot
from memory.operations import Choice, Context, Pairs, argument, option
from memory.operations.result import Result

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
        words = f"the channel {taken.name[:60]!r} has the id {shown!r} already"
        advice = f"edit that one: `memdeck contacts edit {shown}`, or give another id"
        raise UsageError("contact.id", words, advice, ref=taken.ref)


def _column(table: Table, kind: str, key: str) -> int:
    column = table.column(KINDS[kind].columns.get(key, key))
    if column is None:
        raise _bad_key(kind, key)
    return column


def _bad_key(kind: str, key: str) -> UsageError:
    return UsageError("contact.key", f"a {kind} has no {key[:40]!r}", f"set {', '.join(KINDS[kind].columns)}")


def _unreadable(kind: str) -> UsageError:
    return UsageError(_CODE, f"the {kind} would be read differently", "leave out **, HTML and fences")
