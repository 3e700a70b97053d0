"""The workspaces of a person, or of many hosts, with what needs attention in each; the start and the switcher."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any, ClassVar, Protocol

from textual.message import Message

from memory.base.clock import say_ago, say_span
from memory.files.fields.values import moment_or_none
from memory.files.snapshot import Snapshot
from memory.fleet.model import WorkspaceOverview
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.pane.base import FormPlan
from widgets.pane.operation_form import form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, line
from widgets.text.words import dated, short_moment

COUNTED = ("overdue", "failing", "stale", "waiting", "problems")
"""What needs attention, by the names of the overview; the row shows it in this order."""
SYSTEMS = {"files": "memory files", "state": "project state", "clients": "memories of clients"}
"""The names of memory systems that differ from their words."""
ROW = Columns(
    Column("sign", 1, importance=9), Column("title", 18, importance=9), Column("needs", minimum=24),
    Column("when", 8, "right", importance=3),
)  # fmt: skip
NARROW = 48
"""The cells below which there are no columns."""


class Source(Protocol):
    """Where the workspaces come from; the methods are called in threads."""

    may_list: bool
    """Whether the list can be changed here."""

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview] | str:
        """Return the last known overview of each workspace; a sentence where they cannot be read."""

    def is_open(self, item: WorkspaceOverview) -> bool:
        """Return whether it is the workspace that the application shows."""


class FleetPane(RecordPane):
    """All workspaces, those that need the user first; Enter opens one in place of the current one."""

    pane_id: ClassVar[str] = "fleet"
    title: ClassVar[str] = "Workspaces"
    empty: ClassVar[str] = (
        "All your workspaces: what is late, failing or waiting in each, and what is next there. Enter opens one.\n\n"
        "The list is empty. {entry.add|a} adds all below a folder; opening one adds it as well."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("host", "path", "system")
    item_name: ClassVar[str] = "workspace"
    removes: ClassVar[str] = "fleet remove"
    enter_words: ClassVar[str] = "open"

    @dataclass
    class Chosen(Message):
        """A workspace is to be opened."""

        item: WorkspaceOverview

    source: Source | None

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield one row for each workspace, by host and path: those that need the user, the others, the broken ones."""
        found = () if self.source is None else self.source.rows(now)
        if isinstance(found, str):
            yield Note(found)
            return
        hosts = any(one.age is not None for one in found) or len({one.host for one in found}) > 1
        for title, ones in (
            ("NEED YOU", [one for one in found if one.error is None and attention(one)]),
            ("NOTHING WAITS", [one for one in found if one.looked and one.error is None and not attention(one)]),
            ("NOT READ YET", [one for one in found if not one.looked]),
            ("CANNOT BE READ", [one for one in found if one.error is not None]),
        ):
            if ones:
                yield Heading(title, f"{len(ones):,}")
            for one in ones:
                here = self.source is not None and self.source.is_open(one)
                yield _record(one, here=here, hosts=hosts, now=now, zone=snapshot.zone)

    def draw_row(self, item: Record, width: int) -> Line:
        """Draw the columns, or in little room the name and what needs attention."""
        return super().draw_row(item if width >= NARROW else replace(item, columns=None, when=""), width)

    def cells(self, item: Record) -> Mapping[str, Content]:
        """Return the cells of the columns."""
        return super().cells(item) if item.columns else {}

    def copied_ref(self, item: Record) -> str:
        """Return its path."""
        return item.values["path"]

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return what needs attention, what is next and was done last there, and the place."""
        one: WorkspaceOverview = item.thing
        text, home = str(one.path), getattr(self.app, "environ", {}).get("HOME", "").rstrip("/")
        heard = "never" if one.age is None else say_ago(one.age)
        place = {
            "path": f"~{text[len(home) :]}" if home and text.startswith(f"{home}/") else text,
            "host": self.place(item),
            "heard": Piece(heard, "alert" if one.silent else "plain") if one.age is not None or one.silent else "",
        }
        if one.error is not None:
            return {"": str(one.error.get("message", "")), "error": Piece(str(one.error.get("code", "")), "alert"),
                    **place}  # fmt: skip
        if not one.looked:
            return {"": "Not read yet.", **place}
        done = one.last_maintenance
        return {
            "needs you": Piece(attention(one), "alert" if item.sign else "warn") if attention(one) else "nothing waits",
            "next": one.next,
            "open tasks": one.open or "",
            "latest": one.latest and f"{one.latest}, {dated(one.latest_at, self.now, self.zone)}",
            "holds": ", ".join(SYSTEMS.get(name, name) for name in one.systems) or "nothing yet",
            "maintained": "never" if done is None else dated(done.isoformat(), self.now, self.zone),
            **place,
        }

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form that lists all workspaces below a folder."""
        if self.source is None or not self.source.may_list:
            return None
        return form_of("fleet scan", "Add the workspaces below a folder", {"folder": "~/src"}, focus="folder")

    def removed_by(self, item: Record) -> Mapping[str, str] | None:
        """Return the folder of a workspace, which leaves the list; its files stay."""
        return {"folder": item.values["path"]} if self.source is not None and self.source.may_list else None

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Open the workspace on Enter."""
        event.stop()
        event.prevent_default()
        item = self.current()
        if item is not None:
            self.post_message(self.Chosen(item.thing))


def attention(one: WorkspaceOverview) -> str:
    """Return what needs attention in a workspace, or why that is not known; empty where nothing does."""
    if one.error is not None:
        return str(one.error.get("message", ""))
    silence = "never seen" if one.age is None else f"silent for {say_span(one.age) or 'a moment'}"
    words = [silence] if one.silent else []
    for name in COUNTED:
        count = 0 if name == "problems" and one.alerts else getattr(one, name)
        if count:
            words.append(f"{count:,} {name[:-1] if count == 1 and name.endswith('s') else name}")
    return ", ".join(words)


def _record(one: WorkspaceOverview, *, here: bool, hosts: bool, now: datetime, zone: tzinfo) -> Record:
    broken, needs = one.error is not None, attention(one)
    values = {
        "host": one.host, "place": one.host if hosts else "", "path": str(one.path), "system": " ".join(one.systems),
    }  # fmt: skip
    at = moment_or_none(one.latest_at, zone)
    tone: Tone = "alert" if broken else "plain" if one.looked else "muted"
    name = (one.path.name or str(one.path)) + (f" on {one.host}" if hosts else "")
    sign = "alert" if broken or one.overdue or one.alerts or one.silent else ""
    # Without the length of the silence, which grows all the time and must not flash.
    mark = (attention(replace(one, age=0)), one.systems, one.latest_at, one.silent, one.looked, here)
    cells: dict[str, Content] = {
        "title": line(Piece(name, "accent" if here else tone), Piece("  this one" if here else "", "muted")),
        "needs": line(
            Piece(needs, "alert" if sign and not broken else "muted"),
            Piece(f"{'  ' if needs else ''}next: {one.next}" if one.next else "", "muted"),
        ),
        "when": Piece("" if at is None else short_moment(at, now, zone), "muted"),
    }
    return Record(
        f"{one.host}:{one.path}", name, needs, sign=sign, tone="accent" if here else tone, values=values,
        words=f"{one.next} {one.latest}", thing=one, mark=mark, columns=ROW, cells=cells,
    )  # fmt: skip
