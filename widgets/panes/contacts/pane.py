"""The contacts pane: channels, message routes and people, each group in its own table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import Any, ClassVar

from memory.files.contacts.channel_order import is_gone, is_same, mentions
from memory.files.contacts.model import Contacts, find_contact, remove_contact
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.channels import Addresses, Reach, reach_of
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.input.date_fields import by_use
from widgets.input.fields import FieldSpec
from widgets.list.outline import INDENT, Branch, OutlinePane
from widgets.list.rows import Note
from widgets.pane.base import Badge, Build, Contents, FormPlan, Removal
from widgets.pane.operation_form import edit_by, edit_form_of, operation_of
from widgets.pane.removing import removal
from widgets.pane.unread import unread_rows
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, line, line_width

from .detail import notification, reached_by, row_mark, status_line

GROUPS = (("channel", "Channels"), ("route", "Message Routes"), ("person", "People"))
"""The kinds of contacts in file order, with the names of their groups."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "channel": ("name", "id", "type", "status"),
    "route": ("channel", "project", "prefix", "terminal"),
    "person": ("name", "role", "text"),
}
"""What the rows of a group show; the first names the contact."""

LABELS = {"text": "how to reach"}
"""Labels of columns that differ from their field names."""


ROWS = {
    "channel": Columns(
        Column("name", 16, importance=9),
        Column("id", 15, importance=2),
        Column("type", 8),
        Column("status", minimum=12),
        gap=2,
    ),
    "route": Columns(
        Column("channel", 18, importance=9),
        Column("project", 16, importance=2),
        Column("prefix", 10, importance=3),
        Column("terminal", minimum=6),
        gap=2,
    ),
    "person": Columns(Column("name", 18, importance=9), Column("role", 16, importance=2), Column("text"), gap=2),
}
"""The columns of each kind."""

SERVICES = ("telegram", "slack", "dingtalk", "email", "webhook")
"""The usual services of channels; any other word is allowed as well."""

WORDS: dict[tuple[str, str], tuple[str, str]] = {
    ("channel", "name"): ("Ops Bot", "What people and routes call the channel."),
    ("channel", "id"): (
        "channel-abc123, as in channels.toml",
        "The name under which your channels.toml has the address; config.md names it in channelId, primaryChannel and "
        "secondaryChannel.",
    ),
    ("channel", "type"): (", ".join(SERVICES), f"The service: {', '.join(SERVICES)}, or any other word."),
    ("channel", "status"): ("", "Notifications skip a disconnected channel and use the next one."),
    ("route", "channel"): ("the name of a channel", "The channel on which the message arrives."),
    ("route", "project"): ("project-123", "The project that the message is for."),
    ("route", "prefix"): ("/ask", "The beginning of messages that take this route."),
    ("route", "terminal"): ("auto, or a terminal's name", "Where the message is written: auto, or a terminal's name."),
    ("person", "name"): ("Alice", "What people call them."),
    ("person", "role"): ("PM", "What they do: PM, DevOps, Designer."),
    ("person", "text"): ("via Slack Alerts, weekdays", "How they are reached; name a channel to make it a link."),
}
"""The placeholder of each field of a contact, and its help."""

UNREAD = "no channel, route or person"
"""The note of a section that holds something else."""


class ContactsPane(OutlinePane):
    """Three tables; only a disconnected channel is in colour."""

    pane_id: ClassVar[str] = "contacts"
    title: ClassVar[str] = "Contacts"
    files: ClassVar[tuple[str, ...]] = ("contacts.md",)
    empty: ClassVar[str] = (
        "The channels that agents talk through, where messages go, and the people behind them.\n\n"
        "Press {entry.add|a} to add the first channel."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("name", "id", "type", "status", "channel", "project", "role")
    item_name: ClassVar[str] = "contact"

    DEFAULT_CSS: ClassVar[str] = """
    ContactsPane {
        & > .pane--list-frame { width: 13fr; }
        & > .pane--detail-frame { width: 7fr; }
    }
    """

    def __init__(self, addresses: Callable[[], Addresses] | None = None) -> None:
        """`addresses` returns the addresses of the person's channels; called in a worker, only to see which exist."""
        super().__init__()
        self._addresses = addresses
        self._reach = Reach()

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A branch per group, also for an empty one, so that a contact can be added there."""
        contacts = snapshot.contacts
        if not any(_items(contacts, kind) for kind, _ in GROUPS):
            return unread_rows("contacts.md", snapshot, UNREAD, first=0)
        rows: list[Any] = []
        for kind, title in GROUPS:
            items = _items(contacts, kind)
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Branch(f"group:{kind}", title, 0, len(items), kind=kind, name=kind))
            rows.extend(items)
        return [*rows, *unread_rows("contacts.md", snapshot, UNREAD, first=len(rows))]

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Read the rows, and find out which channels a notification would use."""
        addresses = Addresses(None, {}) if self._addresses is None else self._addresses()
        self._reach = reach_of(snapshot, addresses, now)
        return super().read(snapshot, now)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Whether no channel can notify, else how many contacts there are and how many channels are disconnected."""
        if self._reach.steps and self._reach.first is None:
            return "no channel can notify"
        gone = sum(map(is_gone, snapshot.contacts.channels))
        count = len(snapshot.contacts.all())
        words = "1 contact" if count == 1 else f"{count:,} contacts"
        return f"{words}, {gone} disconnected" if gone else words if count else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many channels, routes and people there are; a disconnected channel needs attention."""
        contacts = snapshot.contacts
        gone = any(map(is_gone, contacts.channels))
        return Badge(len(contacts.all()), gone)

    def mark(self, item: Any) -> Hashable:
        """A contact is unchanged while its row has the same values; moving to another line is no change."""
        if isinstance(item, Branch):
            return super().mark(item)
        values = tuple(getattr(item, name) for name in COLUMNS[item.kind])
        return item.ref, values, tuple(extra_of(item).items())

    def text(self, item: Any) -> str:
        """A contact is found by everything in its row."""
        if isinstance(item, Branch):
            return ""
        values = [str(getattr(item, name) or "") for name in COLUMNS[item.kind]]
        return " ".join([*values, *extra_of(item).values()])

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw a group with the names of its columns, or a contact."""
        # Names are right below the name of their group, so that all columns align.
        indent = self.indent(item) if isinstance(item, Branch) else self._row_mark(item)
        left = line_width(line(indent))
        kind = item.kind
        cells: dict[str, Content] = {}
        if isinstance(item, Branch):
            if not item.count:
                return line(" " * INDENT, Piece(item.title, "strong"), Piece("  none yet", "muted"))
            cells = {name: Piece(LABELS.get(name, name), "muted") for name in COLUMNS[kind]}
            cells[COLUMNS[kind][0]] = Piece(item.title, "strong")
        else:
            for name in COLUMNS[kind]:
                cells[name] = getattr(item, name) or ""
            if kind == "channel":
                cells["status"] = line(*self._status_line(item))
        return line(indent, ROWS[kind].line(max(0, width - left), cells))

    def _status_line(self, item: Any) -> tuple[Piece, ...]:
        """A channel's state; without its own sign if the mark before the row already says that nothing can be sent."""
        if item.status and self._row_mark(item).tone == "alert":
            return (Piece(item.status, "alert" if is_gone(item) else "plain"),)
        return status_line(item.status, self.glyphs, gone=is_gone(item))

    @property
    def _contacts(self) -> Contacts:
        assert self.snapshot is not None
        return self.snapshot.contacts

    def _row_mark(self, item: Any) -> Piece:
        return row_mark(item, self._contacts, self._reach, self.glyphs)

    def detail_title(self, item: Any) -> str:
        """The name; for a route its channel and prefix."""
        if isinstance(item, Branch):
            return item.title
        return f"{item.channel} {item.prefix}".strip() if item.kind == "route" else item.name

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """Every column, and what belongs to it."""
        lines: list[DetailLine]
        if isinstance(item, Branch):
            words = {
                "channel": "What agents send and receive messages through.",
                "route": "Which project gets the messages of a channel that begin with a prefix.",
                "person": "Who to ask, and how to reach them.",
            }[item.kind]
            lines = [Title(item.title), Spacer(), Prose(words), Spacer(), Prose(f"a adds a {item.kind}.", tone="muted")]
            return [*lines, Spacer(), *notification(self._reach, self.zone, self.glyphs)]
        _, *names = COLUMNS[item.kind]
        lines = [Title(self.detail_title(item)), Spacer()]
        for name in names:
            value = str(getattr(item, name) or "")
            if name == "text":
                lines += [Spacer(), Prose(value, markdown=True)] if value else []
            elif name == "status":
                lines.append(Labelled(name, line(*self._status_line(item))))
                step = self._reach.step(item)
                if step is not None and step.why and not is_gone(item):
                    # The mark before the row, in words.
                    lines.append(Labelled("notifies", f"{self.glyphs.alert} no, {step.why}", "alert"))
            elif value:
                lines.append(Labelled(name, value))
        extra = [Labelled(key, str(value)) for key, value in extra_of(item).items() if value]
        if extra:
            lines += [Spacer(), Caption("OTHER COLUMNS"), *extra]
        if belonging := self._belonging(item):
            lines += [Spacer(), *belonging]
        if reached := reached_by(item, self._contacts, self.glyphs):
            lines += [Spacer(), *reached]
        return [*lines, Spacer(), *notification(self._reach, self.zone, self.glyphs)]

    def _belonging(self, item: Any) -> list[Link]:
        """The routes of a channel and the people reached through it."""
        if item.kind != "channel":
            return []

        def listed(label: str, found: Sequence[Any], words: Callable[[Any], str]) -> list[Link]:
            labels = [label] + [""] * len(found)
            return [
                Link(name, words(other), ("contacts.md", other.ref)) for name, other in zip(labels, found, strict=False)
            ]

        arrow = self.glyphs.right
        routes = [route for route in self._contacts.routes if is_same(route.channel, item)]
        people = [person for person in self._contacts.people if mentions(person.text, item.name)]
        return [
            *listed("routes", routes, lambda route: f"{route.prefix} {arrow} {route.project}"),
            *listed("people", people, lambda one: f"{one.name} ({one.role})" if one.role else one.name),
        ]

    def links(self, item: Any) -> Sequence[Link]:
        """The links of an entry except those already named in its detail."""
        if isinstance(item, Branch):
            return ()
        reached = reached_by(item, self._contacts, self.glyphs)
        named = {link.target for link in (*self._belonging(item), *reached) if isinstance(link, Link)}
        return [link for link in super().links(item) if link.target not in named]

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a new contact of the group under the cursor."""
        group = None if self.contents is None or self.current() is None else self.branch_of(self.current())
        kind = group.kind if isinstance(group, Branch) else "channel"

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
            given = {key: value.strip() for key, value in values.items()}
            named = {"kind": kind, "name": given.pop(COLUMNS[kind][0])}
            return edit_by(operation_of("contacts add"), now, named | {"changes": given})

        return FormPlan(f"New {kind}", self._fields(kind, None), build, "contacts.add")

    def editing(self, item: Any, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a contact, its other columns included."""
        if isinstance(item, Branch):
            return None
        fields = self._fields(item.kind, item)
        fields += [FieldSpec(key, key, value=str(value or ""), known=False) for key, value in extra_of(item).items()]

        def current(snapshot: Snapshot) -> dict[str, str] | None:
            found = next((one for one in _items(snapshot.contacts, item.kind) if one.ref == item.ref), None)
            if found is None:
                return None
            values = {name: str(getattr(found, name) or "") for name in COLUMNS[item.kind]}
            return values | {key: str(value or "") for key, value in extra_of(found).items()}

        return edit_form_of("contacts edit", f"Edit {item.kind}", item, fields)._replace(current=current)

    def _fields(self, kind: str, item: Any | None) -> list[FieldSpec]:
        """Return the fields of a contact; those with a few usual values complete from them and from the file."""
        items, fields = _items(self._contacts, kind), []
        for name in COLUMNS[kind]:
            placeholder, about = WORDS[kind, name]
            value = "" if item is None else str(getattr(item, name) or "")
            if name == "status":
                states = ("connected", "disconnected")
                fields.append(FieldSpec(name, name, "choice", value or states[0], states, about=about))
                continue
            known = () if name in ("name", "id", "text") else by_use(str(getattr(one, name) or "") for one in items)
            if name == "channel":
                known = by_use(one.name for one in self._contacts.channels)
            if name == "type":
                known = tuple(dict.fromkeys((*known, *SERVICES)))
            fields.append(
                FieldSpec(
                    name,
                    LABELS.get(name, name),
                    value=value,
                    suggestions=known,
                    placeholder=placeholder,
                    about=about,
                    required=not fields,
                )
            )
        return fields

    def removing(self, items: Sequence[Any]) -> Removal | None:
        """Remove contacts, all in one change; groups cannot be removed."""
        found = [item for item in items if not isinstance(item, Branch)]
        if not found:
            return None
        titles = [str(getattr(item, COLUMNS[item.kind][0]) or "") for item in found]
        kinds = {item.kind for item in found}
        return removal(
            kinds.pop() if len(kinds) == 1 else "contact",
            titles,
            found,
            "contacts.remove",
            find=find_contact,
            among=lambda look: look.contacts.all(),
            remove=remove_contact,
        )


def extra_of(item: Any) -> dict[str, str]:
    """The further columns of a row; people have none."""
    return dict(getattr(item, "extra", {}))


def _items(contacts: Contacts, kind: str) -> Sequence[Any]:
    return {"channel": contacts.channels, "route": contacts.routes, "person": contacts.people}[kind]
