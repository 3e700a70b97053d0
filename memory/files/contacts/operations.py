"""The operations on contacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory.files.edit import Edit
from memory.files.find import find_contact
from memory.files.operations import Call, EntryGroup, pairs, something
from memory.operations import Choice, Context, Pairs, Ref, argument, option, under
from memory.operations.result import Paint, Result

from .edits import add_contact, edit_contact, remove_contact

KINDS = {"channel": "channels", "route": "routes", "person": "people"}
_ref = argument("ref", type=Ref(("contacts",)))
_set = option(
    "--set", "changes", multiple=True, type=Pairs(), help="Set a value, such as status=connected; may be repeated."
)

contacts = EntryGroup(
    "contacts",
    "List, add, edit and remove channels, message routes and people (contacts.md).",
    key="contact",
    find=lambda snapshot, ref, _: find_contact(snapshot, ref),
    title=lambda item: getattr(item, "name", None) or getattr(item, "channel", None) or "",
)


@under(
    contacts, "list", serves="look", examples=("memdeck contacts list", "memdeck contacts list --kind person -o json")
)
@option("--kind", type=Choice(tuple(KINDS)), help="Only channels, routes or people.")
def list_contacts(context: Context, kind: str | None) -> Result:
    """List channels, message routes and people."""
    shown = [KINDS[kind]] if kind else list(KINDS.values())

    def document() -> dict[str, Any]:
        return {name: items if name in shown else [] for name, items in context.snapshot.contacts.json().items()}

    def rows() -> Iterator[dict[str, Any]]:
        values = document()
        return ({"kind": one} | item for one, name in KINDS.items() for item in values[name])

    return Result(document, lambda paint: _tables(paint, context, shown), rows)


def _tables(paint: Paint, context: Context, shown: Sequence[str]) -> Iterator[str]:
    contacts = context.snapshot.contacts
    lost = {row: 2 for row, c in enumerate(contacts.channels) if (c.status or "").casefold() == "disconnected"}
    tables: tuple[tuple[str, str, list[tuple[str | None, ...]]], ...] = (
        ("channels", "Channels", [(_hex(c), c.type, c.status, c.id, c.name) for c in contacts.channels]),
        ("routes", "Message routes", [(_hex(r), r.prefix, r.project, r.terminal, r.channel) for r in contacts.routes]),
        ("people", "People", [(_hex(p), p.name, p.role, p.text) for p in contacts.people]),
    )
    found = [(name, heading, rows) for name, heading, rows in tables if name in shown and rows]
    for index, (name, heading, rows) in enumerate(found):
        yield from [""] if index else []
        yield heading
        cells = [tuple(cell or "" for cell in row) for row in rows]
        yield from paint.columns(cells, alerts=lost if name == "channels" else None)
    if not found:
        yield "no contacts"


def _hex(item: Any) -> str:
    return str(item.ref).partition("#")[2]


@contacts.changes(
    "add",
    "added",
    examples=(
        "memdeck contacts add person Dana --set role=QA --set text='Reach via Slack Alerts'",
        "memdeck contacts add channel 'Ops Bot' --set id=channel-xyz --set type=telegram --set status=connected",
        "memdeck contacts add route 'Ops Bot' --set project=project-123 --set prefix=/ops",
    ),
)
@argument("kind", type=Choice(tuple(KINDS)))
@argument("name")
@_set
def add(call: Call, kind: str, name: str, changes: Sequence[str] | Mapping[str, str] = ()) -> Edit:
    """Add a channel, a person, or a route (NAME is then its channel)."""
    values = {"channel" if kind == "route" else "name": name} | pairs(changes)
    return add_contact(call.snapshot, kind, values, now=call.now)


@contacts.changes("edit", "changed", examples=("memdeck contacts edit 77aa01b --set status=disconnected",))
@_ref
@_set
def edit(call: Call, ref: str, changes: Sequence[str] | Mapping[str, str] = ()) -> Edit:
    """Change values of a channel, a route or a person; an empty value clears it."""
    values = pairs(changes)
    something(values)
    return edit_contact(call.snapshot, ref, values, now=call.now)


@contacts.changes("remove", "removed", examples=("memdeck contacts remove 77aa01b",))
@_ref
def remove(call: Call, ref: str) -> Edit:
    """Remove a channel, a route or a person; it is printed as it was."""
    return remove_contact(call.snapshot, ref, now=call.now)
