"""The verbs on contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.cli.session import Session, short
from memory.files.contacts.model import add_contact, edit_contact, find_contact, remove_contact
from memory.files.operations import given, pairs, something
from memory.operations import Choice, Group, Pairs, Ref, argument, option, under

KINDS = {"channel": "channels", "route": "routes", "person": "people"}

contacts = Group("contacts", "List, add, edit and remove channels, message routes and people (contacts.md).")
_ref = argument("ref", type=Ref(("contacts",)))
_set = option(
    "--set",
    "changes",
    multiple=True,
    type=Pairs(),
    help="Set a value, such as status=connected; may be repeated.",
)


@under(
    contacts, "list", serves="look", examples=("memdeck contacts list", "memdeck contacts list --kind person -o json")
)
@option("--kind", type=Choice(tuple(KINDS)), help="Only channels, routes or people.")
def list_contacts(session: Session, kind: str | None) -> None:
    """List channels, message routes and people."""
    shown = [KINDS[kind]] if kind else list(KINDS.values())

    def document() -> dict[str, Any]:
        return {name: items if name in shown else [] for name, items in session.snapshot.contacts.json().items()}

    def rows() -> Iterator[dict[str, Any]]:
        values = document()
        return ({"kind": one} | item for one, name in KINDS.items() for item in values[name])

    session.answer(document, lambda: _tables(session, shown), rows)


def _tables(session: Session, shown: list[str]) -> Iterator[str]:
    contacts = session.snapshot.contacts
    channels = [(short(c.ref), c.type or "", c.status or "", c.id or "", c.name or "") for c in contacts.channels]
    lost = {row: 2 for row, c in enumerate(contacts.channels) if (c.status or "").casefold() == "disconnected"}
    routes = [
        (short(r.ref), r.prefix or "", r.project or "", r.terminal or "", r.channel or "") for r in contacts.routes
    ]
    people = [(short(p.ref), p.name or "", p.role or "", p.text or "") for p in contacts.people]
    tables = (("channels", "Channels", channels), ("routes", "Message routes", routes), ("people", "People", people))
    found = [(name, heading, rows) for name, heading, rows in tables if name in shown and rows]
    for index, (name, heading, rows) in enumerate(found):
        yield from [""] if index else []
        yield heading
        yield from session.paint.columns(rows, alerts=lost if name == "channels" else None)
    if not found:
        yield "no contacts"


def _say(session: Session, done: str, item: Any) -> None:
    title = getattr(item, "name", None) or getattr(item, "channel", None) or ""
    session.answer(lambda: {"contact": item.json()}, lambda: [session.paint.line(f"{done} {item.ref}  {title}")])


@under(
    contacts,
    "add",
    serves="change",
    examples=(
        "memdeck contacts add person Dana --set role=QA --set text='Reach via Slack Alerts'",
        "memdeck contacts add channel 'Ops Bot' --set id=channel-xyz --set type=telegram --set status=connected",
        "memdeck contacts add route 'Ops Bot' --set project=project-123 --set prefix=/ops",
    ),
)
@argument("kind", type=Choice(tuple(KINDS)))
@argument("name")
@_set
def add(session: Session, kind: str, name: str, changes: tuple[str, ...]) -> None:
    """Add a channel, a person, or a route (NAME is then its channel)."""
    values = given(**{"channel" if kind == "route" else "name": name}) | pairs(changes)
    _say(
        session,
        *session.change_entry(
            "contacts.add", "added", lambda snapshot: add_contact(snapshot, kind, values, now=session.now), find_contact
        ),
    )


@under(contacts, "edit", serves="change", examples=("memdeck contacts edit 77aa01b --set status=disconnected",))
@_ref
@_set
def edit(session: Session, ref: str, changes: tuple[str, ...]) -> None:
    """Change values of a channel, a route or a person; an empty value clears it."""
    values = pairs(changes)
    something(values)
    _say(
        session,
        *session.change_entry(
            "contacts.edit",
            "changed",
            lambda snapshot: edit_contact(snapshot, ref, values, now=session.now),
            find_contact,
        ),
    )


@under(contacts, "remove", serves="change", examples=("memdeck contacts remove 77aa01b",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove a channel, a route or a person; it is printed as it was."""
    _say(session, "removed", session.remove("contacts.remove", ref, find_contact, remove_contact))
