"""The workspaces of a person, or of many hosts, one row each with what needs attention; the switcher of workspaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Protocol

from textual.message import Message

from memory.base.clock import say_ago, say_span
from memory.files.snapshot import Snapshot
from memory.fleet.model import WorkspaceOverview
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Piece

COUNTED = ("overdue", "failing", "stale", "waiting", "problems")
"""What needs attention, by the names of the overview; the row shows it in this order."""
IS = ("broken", "overdue", "failing", "stale", "waiting", "silent")
"""The values of the filter `is:`."""


class Source(Protocol):
    """Where the workspaces come from; called in threads."""

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview] | str:
        """Return the last known overview of each workspace; a sentence where they cannot be read."""

    def is_open(self, item: WorkspaceOverview) -> bool:
        """Return whether it is the workspace that the application shows."""


class FleetPane(RecordPane):
    """All workspaces; Enter opens one in place of the current one."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    pane_id: ClassVar[str] = "fleet"
    title: ClassVar[str] = "Workspaces"
    empty: ClassVar[str] = (
        "All your workspaces, with overdue tasks, alerts and what needs you.\n\n"
        "The list is empty. `memdeck fleet scan ~/src` adds all below a folder; opening one adds it, too."
    )
    sorts: ClassVar[tuple[str, ...]] = ("place", "name", *COUNTED[:4], "maintained")
    filter_fields: ClassVar[tuple[str, ...]] = ("host", "path", "system", "is")
    filter_values: ClassVar = {"is": IS}
    item_name: ClassVar[str] = "workspace"
    enter_words: ClassVar[str] = "open"

    @dataclass
    class Chosen(Message):
        """A workspace is to be opened."""

        item: WorkspaceOverview

    def __init__(self, source: Source | None = None) -> None:
        """`source` provides the workspaces; without it there are none."""
        super().__init__()
        self.source = source
        self._said = ""

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield one row for each workspace, by host and path."""
        found = () if self.source is None else self.source.rows(now)
        self._said = "cannot be read" if isinstance(found, str) else ""
        if isinstance(found, str):
            yield Note(found)
            return
        if left := sum(not one.looked for one in found):
            self._said = f"{left:,} not read yet"
        hosts = any(one.age is not None for one in found) or len({one.host for one in found}) > 1
        if found:
            yield Heading("", right="maintained")
        for one in found:
            yield _record(one, here=self.source is not None and self.source.is_open(one), hosts=hosts, now=now)
        if len(found) == 1:
            yield from (Note(), Note("  `memdeck fleet scan ~/src` finds more."))

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many workspaces are not read yet, or that they cannot be read."""
        return self._said

    def place(self, item: Record) -> str:
        """Return its host, where there are several."""
        return item.values["at"]

    def copied_ref(self, item: Record) -> str:
        """Return its path."""
        return item.values["path"]

    def sort_key(self, item: Record, name: str) -> Any:
        """Return the sort key: names alphabetically, maintained the longest ago first, counts the largest first."""
        one: WorkspaceOverview = item.thing
        if name == "name":
            return one.path.name.casefold()
        if name == "maintained":
            return 0.0 if one.last_maintenance is None else one.last_maintenance.timestamp()
        return -int(getattr(one, name, 0))

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the place, errors, what needs attention, and the maintenance."""
        one: WorkspaceOverview = item.thing
        text, home = str(one.path), getattr(self.app, "environ", {}).get("HOME", "").rstrip("/")
        path = f"~{text[len(home) :]}" if home and text.startswith(f"{home}/") else text
        heard = "never" if one.age is None else say_ago(one.age)
        told: dict[str, Any] = {
            "path": path,
            "open": "yes, this one" if item.tone == "accent" else "",
            "host": self.place(item),
            "heard": Piece(heard, "alert" if one.silent else "plain") if one.age is not None or one.silent else "",
        }
        if one.error is not None:
            return {
                **told,
                "error": Piece(str(one.error.get("code", "")), "alert"),
                "": str(one.error.get("message", "")),
            }
        if not one.looked:
            return {**told, "": "It is not read yet."}
        done = one.last_maintenance
        age = 0 if done is None else max(0, (self.now - done).total_seconds())
        when = "" if done is None else f"{done.astimezone(self.zone):%Y-%m-%d %H:%M}, {say_ago(age)}"
        return {
            **told,
            "systems": ", ".join(one.systems) or "none",
            **{name: Piece(f"{getattr(one, name):,}", "alert" if getattr(one, name) else "muted") for name in COUNTED},
            "maintained": when or "never",
        }

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


def _record(one: WorkspaceOverview, *, here: bool, hosts: bool, now: datetime) -> Record:
    broken = one.error is not None
    holds = (broken or one.problems, one.overdue, one.failing, one.stale, one.waiting, one.silent)
    values = {
        "host": one.host, "at": one.host if hosts else "", "path": str(one.path), "system": " ".join(one.systems),
        "is": " ".join(word for word, held in zip(IS, holds, strict=True) if held),
    }  # fmt: skip
    done = one.last_maintenance
    kept = "never" if done is None else say_span(max(0, int((now - done).total_seconds()))) or "now"
    # Without the length of the silence, which grows all the time and must not flash.
    mark = (attention(replace(one, age=0)), one.systems, done, one.silent, one.looked, here)
    name = (one.path.name or str(one.path)) + (f" on {one.host}" if hosts else "")
    return Record(
        f"{one.host}:{one.path}", name + (" (this one)" if here else ""), attention(one),
        "" if broken or not one.looked else kept,
        sign="alert" if broken or one.overdue or one.alerts or one.silent else "",
        tone="alert" if broken else "accent" if here else "plain" if one.looked else "muted",
        values=values, thing=one, mark=mark,
    )  # fmt: skip
