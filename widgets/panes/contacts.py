"""The contacts pane: people, channels and message routes, each group in its own table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from memory.base.clock import format_local
from memory.files.contacts import Contacts, is_gone
from memory.files.snapshot import Snapshot
from memory.monitoring.messages import Addresses, AlertRoute, read_route
from widgets.detail import DetailLine, Labelled
from widgets.input.date_fields import by_use
from widgets.input.fields import FieldSpec
from widgets.pane.base import Badge, Contents, FormPlan
from widgets.pane.operation_form import add_form_of, edit_form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Content, Piece, line

GROUPS = (("person", "People"), ("channel", "Channels"), ("route", "Message Routes"))
"""The kinds of contacts with the names of their groups."""

ABOUT = {
    "channel": "What agents send and receive messages through.",
    "route": "Which project gets the messages of a channel that begin with a prefix.",
    "person": "Who to ask, and how to reach them.",
}
"""What each group is for."""

SIGN = Column("sign", 1, importance=9)
ROWS = {
    "person": (
        Column("role", 10, importance=2),
        Column("text"),
    ),
    "channel": (Column("type", 10, importance=3), Column("status", minimum=14), Column("id", 16)),
    "route": (Column("prefix", 10, importance=3), Column("project", minimum=11), Column("terminal", 9, importance=2)),
}
"""The columns of each kind behind its name."""
COLUMNS = {kind: Columns(SIGN, Column("title", 18, importance=9), *columns) for kind, columns in ROWS.items()}

_REACH = re.compile(r"(?:reach|contact)(?:ed)?(?: (?:him|her|them|me))?(?: (?:via|by|on|in|at|through))? ", re.I)
"""How texts about people begin; their column is called that already."""

LABELS = {"text": "how to reach"}
"""Labels of columns that differ from their field names."""

SERVICES = ("telegram", "slack", "dingtalk", "email", "webhook")
"""The usual services of channels; any other word is allowed as well."""

STATES = ("connected", "disconnected")

FREE = ("name", "id", "text", "status")
"""The fields that nothing completes."""

FIELDS = {
    "channel": {
        "name": "What people and routes call the channel, such as Ops Bot.",
        "id": "Its name in your channels.toml, which has the address; config.md names it as channelId or the like.",
        "type": f"The service: {', '.join(SERVICES)}, or any other word.",
        "status": "Notifications skip a disconnected channel and use the next one.",
    },
    "route": {
        "channel": "The channel on which the message arrives.",
        "project": "The project that the message is for, such as project-123.",
        "prefix": "The beginning of messages that take this route, such as /ask.",
        "terminal": "Where the message is written: auto, or a terminal's name.",
    },
    "person": {
        "name": "What people call them.",
        "role": "What they do: PM, DevOps, Designer.",
        "text": "How they are reached; name a channel to make it a link.",
    },
}
"""The fields of each kind with their help; the first names the contact."""


class ContactsPane(RecordPane):
    """Three tables; only a channel for notifications that cannot be used is in colour."""

    pane_id: ClassVar[str] = "contacts"
    title: ClassVar[str] = "Contacts"
    files: ClassVar[tuple[str, ...]] = ("contacts.md",)
    unread: ClassVar[str] = "no channel, route or person"
    purpose: ClassVar[str] = "Who agents can reach, and where alerts go."
    flat: ClassVar[bool] = True
    empty: ClassVar[str] = (
        "The channels that agents talk through, where messages go, and the people behind them.\n\n"
        "Press {entry.add|a} to add the first person."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "id", "type", "status", "channel", "project", "role")
    item_name: ClassVar[str] = "contact"
    removes: ClassVar[str] = "contacts remove"

    def __init__(self, addresses: Callable[[], Addresses] | None = None) -> None:
        """`addresses` returns the addresses of the person's channels; called in a worker, only to see which exist."""
        super().__init__()
        self._addresses = addresses
        self._route = AlertRoute()

    # Display

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield a group for each kind with the heads of its columns, also an empty one: a contact can be added there.

        There are none while there is no contact at all.
        """
        contacts = snapshot.contacts
        for kind, title in GROUPS if contacts.items else ():
            items = _items(contacts, kind)
            heads: dict[str, Content] = {name: Piece(LABELS.get(name, name), "muted") for name in FIELDS[kind]}
            yield Record(
                f"group:{kind}", title, about="" if items else "none yet", tone="strong", folds=bool(items), group=True,
                values={"part": kind}, columns=COLUMNS[kind] if items else None, cells=heads if items else {},
            )  # fmt: skip
            yield from (self._record(item) for item in items)

    def _record(self, item: Any) -> Record:
        values = {name: str(getattr(item, name) or "") for name in FIELDS[item.kind]}
        title, *_ = values.values()
        cells: dict[str, Content] = {**values, "text": _REACH.sub("", item.text, 1)}
        bad = False
        if item.kind == "channel":
            step, gone = self._route.channel_of(item), is_gone(item)
            bad, status = gone and step is not None, item.status or "unknown"
            if step is not None and step.why and not gone:
                cells["status"] = Piece(f"{status}, no address", "warn")
            else:
                cells["status"] = Piece(status, "alert" if bad else "muted" if gone or not item.status else "plain")
        return Record(
            item.ref, title, sign="alert" if bad else "", depth=1, values={**values, "part": item.kind},
            words=" ".join(item.extra.values()),
            tone="warn" if bad else "plain", mark=(*values.values(), bad), thing=item,
            columns=COLUMNS[item.kind], cells=cells,
        )  # fmt: skip

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Read the rows, and find out which channels a notification would use."""
        addresses = Addresses(None, {}) if self._addresses is None else self._addresses()
        self._route = read_route(snapshot, addresses)
        return super().read(snapshot, now)

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many channels, routes and people there are; a disconnected channel for alerts needs attention."""
        route = read_route(snapshot, Addresses(None, {}))
        gone = (one for one in snapshot.contacts.channels if is_gone(one))
        return Badge(len(snapshot.contacts.items), any(route.channel_of(one) is not None for one in gone))

    # The detail

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return every column, what belongs to the contact, and the channels that a notification would use now."""
        part, contact = item.part, item.thing
        told: dict[str, Any] = {"": ABOUT[part]}
        if not item.group:
            told = {name: item.cells[name] for name in [*FIELDS[part]][1:] if name != "text"}
            told[""] = item.values.get("text", "")
            told["other columns"] = dict(contact.extra)
        return told if part == "person" else {**told, "alerts go to": self._notification()}

    def _notification(self) -> list[DetailLine]:
        """Return the channels that a notification tries, in that order, and why it cannot use some of them."""
        route, glyphs = self._route, self.glyphs
        if not route.channels:
            return [Labelled("", "none: config.md names no channel for it, or turns notifications off", "muted")]
        lines: list[DetailLine] = []
        for number, step in enumerate(route.channels, 1):
            sign = Piece(f"{glyphs.alert} ", "alert") if step.why else Piece(f"{glyphs.check} ", "good")
            lines.append(Labelled(f"{number}.", line(sign, step.name, Piece(f"  {step.why}", "muted"))))
        if not route.usable:
            lines.append(Labelled("fix", "write an address into channels.toml, then try `memdeck notify test`"))
        if (quiet := route.quiet_until(self.now, self.zone)) is not None:
            end = format_local(quiet, self.zone)[11:16]
            lines.append(Labelled("waits", f"until {end} (quiet hours), unless its priority is high"))
        return lines

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new contact of the group under the cursor."""
        item = self.current()
        kind = "person" if item is None else item.values["part"]
        first, *others = self._fields(kind, {})
        return add_form_of("contacts add", f"New {kind}", [replace(first, name="name"), *others], kind=kind)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a contact, its other columns included."""
        if item.group:
            return None
        kind, values = item.values["part"], _values(item.thing)
        fields = self._fields(kind, values)
        fields += [FieldSpec(key, key, value=values[key], known=False) for key in values if key not in FIELDS[kind]]
        return edit_form_of("contacts edit", f"Edit {kind}", item, fields, values=_values)

    def _fields(self, kind: str, values: Mapping[str, str]) -> list[FieldSpec]:
        """Return the fields of a contact; those with a few usual values complete from them and from the file."""
        assert self.snapshot is not None
        contacts, fields = self.snapshot.contacts, list[FieldSpec]()
        for name, about in FIELDS[kind].items():
            items = contacts.channels if name == "channel" else _items(contacts, kind)
            used = by_use(one.title if name == "channel" else str(getattr(one, name) or "") for one in items)
            known = () if name in FREE else (*used, *(one for one in SERVICES if name == "type" and one not in used))
            field = FieldSpec(name, LABELS.get(name, name), value=values.get(name, ""), suggestions=known, about=about,
                              required=not fields)  # fmt: skip
            if name == "status":
                field = replace(field, kind="choice", options=STATES, value=field.value or STATES[0])
            fields.append(field)
        return fields


def _values(contact: Any) -> dict[str, str]:
    """Return the fields of a contact and its further columns as texts."""
    found = {name: getattr(contact, name) for name in FIELDS[contact.kind]} | dict(contact.extra)
    return {name: str(value or "") for name, value in found.items()}


def _items(contacts: Contacts, kind: str) -> Sequence[Any]:
    return {"channel": contacts.channels, "route": contacts.routes, "person": contacts.people}[kind]
