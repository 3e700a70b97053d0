"""The verbs on contacts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from app.cli.declared import OneOf, argument, group, option, under
from app.cli.session import Session
from app.cli.values import given, pairs, short, something

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot

KINDS = {"channel": "channels", "route": "routes", "person": "people"}

contacts = group("contacts", "List, add, edit and remove channels, message routes and people (contacts.md).")
_ref = argument("ref", refs=("contacts",))
_set = option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a value, such as status=connected; may be repeated.",
)


@under(
    contacts, "list", serves="look", examples=("memdeck contacts list", "memdeck contacts list --kind person -o json")
)
@option("--kind", type=OneOf(tuple(KINDS)), help="Only channels, routes or people.")
def list_contacts(session: Session, kind: str | None) -> None:
    """List channels, message routes and people."""
    shown = [KINDS[kind]] if kind else list(KINDS.values())

    def document() -> dict[str, Any]:
        return {name: items if name in shown else [] for name, items in session.snapshot.contacts.json().items()}

    if session.output == "jsonl":
        values = document()
        session.writer.objects({"kind": one} | item for one, name in KINDS.items() for item in values[name])
        return
    session.answer(document, lambda: _tables(session, shown))


def _tables(session: Session, shown: list[str]) -> Iterator[str]:
    contacts = session.snapshot.contacts
    paint = session.paint
    empty = True
    if "channels" in shown and contacts.channels:
        yield "Channels"
        rows = [(short(c.ref), c.type or "", c.status or "", c.id or "", c.name or "") for c in contacts.channels]
        alerts = {row: 2 for row, c in enumerate(contacts.channels) if (c.status or "").casefold() == "disconnected"}
        yield from paint.columns(rows, alerts=alerts)
        empty = False
    if "routes" in shown and contacts.routes:
        yield from [] if empty else [""]
        yield "Message routes"
        yield from paint.columns(
            (short(r.ref), r.prefix or "", r.project or "", r.terminal or "", r.channel or "") for r in contacts.routes
        )
        empty = False
    if "people" in shown and contacts.people:
        yield from [] if empty else [""]
        yield "People"
        people = ((short(p.ref), p.name or "", p.role or "", p.text or "") for p in contacts.people)
        yield from paint.columns(people)
        empty = False
    if empty:
        yield "no contacts"


def _title(item: Any) -> str:
    return str(getattr(item, "name", None) or getattr(item, "channel", None) or "")


def _say(session: Session, done: str, item: Any) -> None:
    session.answer(lambda: {"contact": item.json()}, lambda: [session.paint.line(f"{done} {item.ref}  {_title(item)}")])


def _changed(session: Session, operation: str, done: str, build: Callable[[Snapshot], Edit]) -> None:
    from memory.files.contacts.model import find_contact

    outcome = session.change(operation, build)
    item = find_contact(session.left_by(outcome), outcome.ref or "")
    _say(session, done if outcome.change.files else "nothing to change in", item)


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
@argument("kind", type=OneOf(tuple(KINDS)))
@argument("name")
@_set
def add(session: Session, kind: str, name: str, changes: tuple[str, ...]) -> None:
    """Add a channel, a person, or a route (NAME is then its channel)."""
    from memory.files.contacts.model import add_contact

    values = given(**{"channel" if kind == "route" else "name": name}) | pairs(changes)
    _changed(session, "contacts.add", "added", lambda snapshot: add_contact(snapshot, kind, values, now=session.now))


@under(contacts, "edit", serves="change", examples=("memdeck contacts edit 77aa01b --set status=disconnected",))
@_ref
@_set
def edit(session: Session, ref: str, changes: tuple[str, ...]) -> None:
    """Change values of a channel, a route or a person; an empty value clears it."""
    from memory.files.contacts.model import edit_contact

    values = pairs(changes)
    something(values)
    _changed(session, "contacts.edit", "changed", lambda snapshot: edit_contact(snapshot, ref, values, now=session.now))


@under(contacts, "remove", serves="change", examples=("memdeck contacts remove 77aa01b",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove a channel, a route or a person; it is printed as it was."""
    from memory.files.contacts.model import find_contact, remove_contact

    _say(session, "removed", session.remove("contacts.remove", ref, find_contact, remove_contact))
