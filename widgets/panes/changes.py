"""The changes pane: what every writer changed, newest first, entry by entry; and differences as lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from pathlib import PurePath
from typing import Any, ClassVar, Protocol, TypeAlias

from memory.base.clock import Moment
from memory.files.snapshot import Snapshot, plain_title
from memory.files.versions.diff import ChangeView
from widgets.detail import Caption, DetailLine, Lines, Link, Prose, Spacer
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane, plain_label
from widgets.panes import all_panes, pane_of
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, clip_line, line, pad_line, wrap_line
from widgets.text.words import dated, short_moment

LoggedChange: TypeAlias = Mapping[str, Any]
"""A change of the log, with the keys of `memdeck changes list`."""

OUTSIDE = "outside"
"""The actor of a change made without memdeck."""

ACTORS = {
    "human": "you", "cli": "command line", "maintain": "maintenance", "monitor": "monitors", OUTSIDE: "another program",
}  # fmt: skip
"""The actors that are not agents, in words."""

PERIODS = ((0, "TODAY"), (1, "YESTERDAY"), (7, "LAST 7 DAYS"))
"""The headings of the list, each with the age in days up to which it holds changes; the others are older."""

MOST = 2_000
"""How many of the newest changes are listed."""

SHOWN_LINES, SHOWN_ENTRIES = 200, 50
"""The most lines of one entry, and the most entries of one change, that are shown."""

BESIDE = 44
"""From so many cells on, a difference is shown side by side."""

ROW = Columns(Column("time", 6, importance=3), Column("actor", 15, importance=1), Column("title", minimum=26))

NAMING = ("name", "title", "text", "summary", "reason")
"""The fields of a record in JSON, one of which names it."""

UNTOLD = ("id", "workspace_id", "hash", "digest")
"""The fields of a record in JSON that only programs need."""

_JSON_LINE = re.compile(r'\s*(?:"([^"\\]+)":\s*)?(.*?),?\s*')


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
        " reverts any change in this list."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("actor", "file", "entry", "date", "operation", "state")
    item_name: ClassVar[str] = "change"

    source: ChangeSource | None

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield the newest changes by their age, also those that were recorded late or with another clock."""
        found = () if self.source is None else self.source.newest(MOST)
        zone, today = snapshot.zone, now.astimezone(snapshot.zone).date()

        def period(change: LoggedChange) -> str:
            days = (today - _time(change, zone).date()).days
            return next((words for most, words in PERIODS if days <= most), "OLDER")

        ordered = sorted(found, key=lambda one: _time(one, zone), reverse=True)
        for title, changes in groupby(ordered, period):
            rows = [_record(one, now, zone) for one in changes]
            yield Heading(title, f"{len(rows):,}")
            yield from rows
        if len(ordered) == MOST:
            yield Note(f"… the newest {MOST:,}; `memdeck changes list` has all")

    def copied_ref(self, item: Record) -> str:
        """Return its id, as `memdeck changes` accepts it."""
        return item.ref[:16]

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return actor and time, and whether it can still be taken back."""
        state = item.values["state"]
        return {
            "by": f"{item.values['by']}, {dated(item.thing['time'], self.now, self.zone)}",
            "state": "its text is no longer kept, so it cannot be reverted" if state == "thinned" else state,
        }

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Return the change, and what happened to each entry."""
        source, parts = self.source, [*super().detail(item)]
        kept = source is not None and item.values["state"] != "thinned"
        views = self.told_later(item, lambda: source.told(item.ref)) if kept else None  # type: ignore[union-attr]
        if views is not None:
            wanted = self.filter.partition("entry:")[2].split(" ")[0]
            views = sorted(views, key=lambda one: not (wanted and (one.entry or "").startswith(wanted)))
            parts += view_lines(views, self.glyphs, self.detail_view.scrollable_content_region.width)
        else:
            for one in item.thing["entries"][:20]:
                parts += [Spacer(), Caption(f"{one['kind'].upper()}  {_title(one)}")]
                parts.append(Prose(place_name(one["file"]), tone="muted"))
        return parts


def _record(change: LoggedChange, now: datetime, zone: tzinfo) -> Record:
    actor, undone, at = change["actor"], bool(change["undoneBy"]), _time(change, zone)
    by, title = short_actor(actor), change["summary"] or change["operation"]
    if actor == OUTSIDE and change["entries"]:
        first, *more = change["entries"]
        title = f"{first['kind']} {_title(first)!r}" + (f" and {len(more)} more" if more else "")
        title += f" in {', '.join(dict.fromkeys(map(place_name, change['files'])))}"
    values = {
        # By either name: the one in the list, and the one on the command line.
        "actor": f"{actor} {by}",
        "by": by,
        "file": " ".join(change["files"]),
        "entry": " ".join(f"{one['ref'] or ''} {one['title']}" for one in change["entries"]),
        "date": f"{at:%Y-%m-%d %H:%M %A}",
        "operation": change["operation"],
        "state": "undone" if undone else "" if change["revertible"] else "thinned",
    }
    recent = (now.astimezone(zone).date() - at.date()).days <= PERIODS[1][0]
    when = f"{at:%H:%M}" if recent else short_moment(Moment("", at.date()), now, zone)
    lasting = [one for one in change["entries"] if one["ref"] is not None and one["kind"] != "removed"][:5]
    leads = [Link(place_name(one["file"]).lower(), _title(one), (one["file"], one["ref"])) for one in lasting]
    cells: dict[str, Content] = {
        "time": Piece(f"{when:>6}" if when[-1:].isalpha() else when, "muted"),
        "actor": Piece(by, "muted" if actor in ("human", "cli") else "accent"),
    }
    if undone:
        cells["title"] = line(Piece("undone  ", "accent"), Piece(title, "muted"))
    return Record(change["id"], title, values=values, words=change["id"], thing=change, columns=ROW,
                  cells=cells, mark=values["state"], leads=leads)  # fmt: skip


def _time(change: LoggedChange, zone: tzinfo) -> datetime:
    return datetime.fromisoformat(change["time"]).astimezone(zone)


def _title(entry: Mapping[str, Any]) -> str:
    return (
        plain_title(entry["file"], entry["title"]) if entry["title"] != entry["file"] else PurePath(entry["file"]).name
    )


def short_actor(name: str) -> str:
    """Return the shown name of an actor: in words, or that of an agent, unless a word means another actor."""
    short = name.removeprefix("agent:")
    return ACTORS.get(name) or (short if short and short not in (*ACTORS, *ACTORS.values()) else name)


def place_name(file: str) -> str:
    """Return the title of the pane that shows the entries of a file; any other file by its path."""
    pane = pane_of(file)
    return next((one.title for one in all_panes() if one.id == pane), file)


# Differences


def view_lines(
    views: Sequence[ChangeView], glyphs: Glyphs, width: int = 0, names: Mapping[str, str] | None = None
) -> list[DetailLine]:
    """Return each entry with what happened to it, in `width` cells: side by side where there is room.

    `names` are other words for what happened.
    """
    found: list[DetailLine] = []
    for view in map(readable, views[:SHOWN_ENTRIES]):
        found += [Spacer(), Caption(f"{(names or {}).get(view.kind, view.kind.upper())}  {view_title(view)}")]
        if (place := place_of(view, glyphs)) != view_title(view):
            found.append(Prose(place, tone="muted"))
        both = view.kind == "edited" and width >= BESIDE
        lines = tuple(beside(view.lines, width)) if both else tuple(diff_lines(_body(view)))
        found.append(Lines(lines, None if both else 2))
    if len(views) > SHOWN_ENTRIES:
        found += [Spacer(), Prose(f"and {len(views) - SHOWN_ENTRIES:,} more entries", tone="muted")]
    return found


def readable(view: ChangeView) -> ChangeView:
    """Return the view with the fields of records in JSON as `label: value`, one a line; any other as it is."""
    if not view.file.endswith((".json", ".jsonl")):
        return view
    lines = [f"{text[:1]}{one}" for text in view.lines for one in _fields(text[1:])]
    words = (text[1:].partition(": ") for text in reversed(lines))
    named = {key: value for key, mark, value in words if mark}
    title = next((named[name] for name in NAMING if name in named), "")
    return view._replace(title=title or place_name(view.file), lines=tuple(lines), section=None)


def _fields(text: str) -> Iterator[str]:
    """Yield the fields of a line of JSON: of a whole record those that say something, else the one that it holds."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict):
        for key, value in record.items():
            if value not in (None, "", [], {}) and key not in UNTOLD:
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                yield f"{plain_label(key)}: {shown}"
        return
    found = _JSON_LINE.fullmatch(text)
    key, value = (found[1], found[2].strip('"')) if found is not None else (None, text)
    if value not in ("", "{", "}", "[", "]", "{}", "[]", "null"):
        yield f"{plain_label(key)}: {value}" if key else value


def view_title(view: ChangeView) -> str:
    """Return the title of an entry; of a whole file the name in its front matter, else that of the file."""
    if view.title != view.file:
        return plain_title(view.file, view.title)
    names = (text[6:].strip() for text in view.lines[:20] if text[1:6] == "name:")
    return next(filter(None, names), "") or PurePath(view.file).name


def _body(view: ChangeView) -> Sequence[str]:
    """Return the lines of a view; of a file that came or went without its front matter, if it has more."""
    rules = [place for place, text in enumerate(view.lines) if text[1:] == "---"]
    whole = view.title == view.file and view.kind in ("added", "removed")
    if not whole or len(rules) < 2 or rules[0]:
        return view.lines
    return [text for text in view.lines[rules[1] + 1 :] if text[1:].strip()] or view.lines


def place_of(view: ChangeView, glyphs: Glyphs) -> str:
    """Return where an entry is, and where it was before if it moved; a whole file is at its path."""

    def place(file: str, section: str | None) -> str:
        name = place_name(file) if view.title != view.file else file
        return f"{name}, {section}" if section and section != view.title else name

    here, there = place(view.file, view.section), view.moved_from
    if there is None:
        return here
    file, _, section = there.partition(": ")
    if file.endswith(".md"):
        return f"{place(file, section)} {glyphs.right} {here}"
    return f"{place(view.file, there)} {glyphs.right} {view.section or view.file}"


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
