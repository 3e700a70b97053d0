"""The changes pane: the change log of every writer, newest first, entry by entry; and differences as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Any, ClassVar, Protocol, TypeAlias

from memory.base.clock import BadMoment
from memory.base.dates import time_bound
from memory.files.snapshot import Snapshot, plain_title
from memory.files.versions.diff import ChangeView
from widgets.detail import Caption, DetailLine, Lines, Link, Prose, Spacer
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane
from widgets.panes.journal import day_title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, clip_line, line, pad_line, wrap_line

LoggedChange: TypeAlias = Mapping[str, Any]
"""A change of the log, with the keys of `memdeck changes list`."""

OUTSIDE = "outside"
"""The actor of a change made without memdeck."""

NO_AGENTS = frozenset({"human", "you", "cli", "maintain", "monitor", OUTSIDE})
"""Actors that are not agents."""

MOST = 2_000
"""How many of the newest changes are listed."""

SHOWN_LINES, SHOWN_ENTRIES = 200, 50
"""The most lines of one entry, and the most entries of one change, that are shown."""

BESIDE = 44
"""From so many cells on, a difference is shown side by side."""

ROW = Columns(Column("time", 5, importance=3), Column("actor", 12, importance=1), Column("title", minimum=18))


class ChangeSource(Protocol):
    """Where changes come from; called in threads."""

    def newest(self, limit: int) -> Sequence[LoggedChange]:
        """Return the newest changes, the newest first."""

    def told(self, ref: str) -> Sequence[ChangeView]:
        """Return what a change did, entry by entry."""


class ChangesPane(RecordPane):
    """Every change of every writer, memdeck's own and those from outside."""

    pane_id: ClassVar[str] = "changes"
    title: ClassVar[str] = "Changes"
    empty: ClassVar[str] = (
        "Who changed what and when: you, agents, maintenance and other programs.\n\n"
        "Nothing changed yet. {change.undo|u} undoes your last change, {change.redo|U} does it again, {change.revert|X}"
        " takes back any change in this list."
    )
    filter_fields: ClassVar[tuple[str, ...]] = (
        "actor", "file", "entry", "date", "since", "until", "operation", "state",
    )  # fmt: skip
    item_name: ClassVar[str] = "change"

    def __init__(self, source: ChangeSource | None = None) -> None:
        """List the changes of a source; none without one."""
        super().__init__()
        self.source = source

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield the newest changes under their days."""
        found = () if self.source is None else self.source.newest(MOST)
        zone = snapshot.zone
        rows = [_record(one, zone) for one in found]
        for day, changes in groupby(rows, lambda row: row.values["date"][:10]):
            yield Heading(day_title(day, now.astimezone(zone).date()))
            yield from changes
        if len(rows) == MOST:
            yield Note(f"… the newest {MOST:,}; `memdeck changes list` has all")

    def copied_ref(self, item: Record) -> str:
        """Return its id, as `memdeck changes` accepts it."""
        return item.ref[:16]

    def field_fits(self, item: Record, name: str, value: str) -> bool | None:
        """Compare times for `since` and `until`: a day, a day and time, `today`, `yesterday`, `monday`, `-3d`."""
        if name not in ("since", "until"):
            return None
        text = value.replace("_", " ")
        text = text.upper() if text[:1].isdigit() else text
        try:
            bound = time_bound(text, self.now, self.zone, end=name == "until")
        except BadMoment:
            return True  # An incomplete date excludes nothing yet.
        time = _time(item.thing, self.zone)
        return time >= bound if name == "since" else time <= bound

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return actor and time, and whether it can still be taken back."""
        return {
            "by": plain_actor(item.thing["actor"]),
            "at": f"{_time(item.thing, self.zone):%Y-%m-%d %H:%M:%S}",
            "state": {"thinned": "its text is no longer kept, so it cannot be taken back"}.get(
                item.values["state"], item.values["state"]
            ),
            "operation": Piece(item.thing["operation"] or "none", "muted"),
        }

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Return what is told of the change, then what happened to each entry."""
        source, parts = self.source, [*super().detail(item)]
        kept = source is not None and item.values["state"] != "thinned"
        views = self.told_later(item, lambda: source.told(item.ref)) if kept else None  # type: ignore[union-attr]
        if views is not None:
            return [*parts, *view_lines(views, self.glyphs, self.detail_view.scrollable_content_region.width)]
        for one in item.thing["entries"][:20]:
            parts += [Spacer(), Caption(f"{one['kind'].upper()}  {_title(one)}"), Prose(one["file"], tone="muted")]
        return parts

    def links(self, item: Record) -> Sequence[Link]:
        """Return the first five entries that it changed and did not remove."""
        found = [one for one in item.thing["entries"] if one["ref"] is not None and one["kind"] != "removed"][:5]
        return [Link(one["file"].removesuffix(".md"), _title(one), (one["file"], one["ref"])) for one in found]


def _record(change: LoggedChange, zone: tzinfo) -> Record:
    actor, undone, time = change["actor"], bool(change["undoneBy"]), _time(change, zone)
    title, about = change["summary"] or change["operation"], ""
    if actor == OUTSIDE and change["entries"]:
        # What happened to its first entry, and then its files.
        first, *more = change["entries"]
        title = f"{first['kind']} {_title(first)!r}" + (f" and {len(more)} more" if more else "")
        about = ", ".join(change["files"])
    values = {
        # By either name: the one in the list, and the one on the command line.
        "actor": f"{actor} {plain_actor(actor)}",
        "file": " ".join(change["files"]),
        "entry": " ".join(f"{one['ref'] or ''} {one['title']}" for one in change["entries"]),
        "date": f"{time:%Y-%m-%d %H:%M %A}",
        "operation": change["operation"],
        "state": "undone" if undone else "" if change["revertible"] else "thinned",
    }
    cells: dict[str, Content] = {
        "time": Piece(f"{time:%H:%M}", "muted"),
        "actor": Piece(short_actor(actor), "muted" if actor in ("human", "cli") else "accent"),
    }
    if undone:
        cells["title"] = line(Piece("undone  ", "accent"), Piece(f"{title}  {about}".rstrip(), "muted"))
    return Record(change["id"], title, about=about, values=values, words=change["id"], thing=change, columns=ROW,
                  cells=cells, mark=values["state"])  # fmt: skip


def _time(change: LoggedChange, zone: tzinfo) -> datetime:
    return datetime.fromisoformat(change["time"]).astimezone(zone)


def _title(entry: Mapping[str, Any]) -> str:
    return plain_title(entry["file"], entry["title"])


def plain_actor(name: str) -> str:
    """Return the shown name of an actor: `you` for `human`, any other as it is."""
    return "you" if name == "human" else name


def short_actor(name: str) -> str:
    """Return an actor's name for a narrow column: without `agent:`, unless another actor has that name."""
    short = name.removeprefix("agent:")
    return short if short and short not in NO_AGENTS else plain_actor(name)


# Differences


def view_lines(views: Sequence[ChangeView], glyphs: Glyphs, width: int = 0) -> list[DetailLine]:
    """Return each entry with what happened to it, in `width` cells: side by side where there is room."""
    found: list[DetailLine] = []
    for view in views[:SHOWN_ENTRIES]:
        found += [Spacer(), Caption(f"{view.kind.upper()}  {plain_title(view.file, view.title)}")]
        place = place_of(view, glyphs)
        if place != view.title:
            found.append(Prose(place, tone="muted"))
        both = view.kind == "edited" and width >= BESIDE
        found.append(Lines(tuple(beside(view.lines, width) if both else diff_lines(view.lines))))
    if len(views) > SHOWN_ENTRIES:
        found += [Spacer(), Prose(f"and {len(views) - SHOWN_ENTRIES:,} more entries", tone="muted")]
    return found


def place_of(view: ChangeView, glyphs: Glyphs) -> str:
    """Return where an entry is, and where it was before if it moved."""
    here = f"{view.file}, {view.section}" if view.section and view.section != view.title else view.file
    if view.moved_from is None:
        return here
    there = view.moved_from.replace(": ", ", ", 1)
    return f"{there} {glyphs.right} {here if '.md' in there else view.section or view.file}"


def diff_lines(lines: Sequence[str]) -> list[Line]:
    """Return lines that begin with `-`, `+` or a space, each in its tone."""
    shown = []
    for text in lines[:SHOWN_LINES]:
        tone: Tone = "good" if text.startswith("+") else "alert" if text.startswith("-") else "muted"
        # Apart from the text, which often begins with the dash of a bullet.
        shown.append(line(Piece(f"{text[:1]} {text[1:]}".rstrip(), tone)))
    if len(lines) > SHOWN_LINES:
        shown.append(line(Piece(f"{len(lines) - SHOWN_LINES} more lines", "muted")))
    return shown


def beside(lines: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the lines of a difference in `width` cells: before at the left, after at the right."""
    half = (width - 4) // 2
    yield from _row("before", "after", half, "muted", "muted")
    old: list[str] = []
    new: list[str] = []
    for text in (*lines[:SHOWN_LINES], " "):
        if text.startswith("-"):
            old.append(text[1:])
        elif text.startswith("+"):
            new.append(text[1:])
        else:
            for place in range(max(len(old), len(new))):
                left, right = (side[place] if place < len(side) else "" for side in (old, new))
                yield from _row(left, right, half, "alert", "good")
            old, new = [], []
            if text.strip():
                yield from _row(text[1:], text[1:], half, "muted", "muted")


def _row(left: str, right: str, half: int, before: Tone, after: Tone) -> Iterator[Line]:
    lefts, rights = (wrap_line(line(Piece(text, tone)), half) for text, tone in ((left, before), (right, after)))
    for place in range(max(len(lefts), len(rights))):
        one, two = (side[place] if place < len(side) else () for side in (lefts, rights))
        yield line(pad_line(one, half), Piece(" | ", "muted"), clip_line(two, half))
