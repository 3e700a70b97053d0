"""The lines of a day of the journal: its columns, the signs for the kinds of entries, the axis with its gaps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from memory.base.safe_text import cell_width, visible
from memory.files.journal.kinds import kind_of
from memory.files.journal.timeline import DayLine, Gap, Slot, Timed
from widgets.list.rows import Note
from widgets.text.glyphs import Glyphs, heat_cell
from widgets.text.styled_text import Column, Columns, Line, Piece, line

WIDEST_TITLE, WIDEST_NAME = 30, 18
"""The most cells of the title column and of the name column."""

MEASURED = 200
"""How many entries of a day are measured for the widths of the columns."""

ROOMY = 56
"""Cells from which title and first line have columns of their own."""

AXIS = 5
"""Cells of the axis at the left: the hour, and its line."""

LONGEST_GAP = 3
"""The most empty hours of a gap that are drawn one by one where the whole day does not fit."""

HOURS = 24


def layout(entries: Sequence[Timed], names: Sequence[str], width: int) -> Columns:
    """The columns of a day's rows: time, sign, words, and the author where any is named."""
    title = min(WIDEST_TITLE, max((cell_width(visible(one.entry.title[:99])) for one in entries), default=0))
    # A column of width 0 would be the flexible one.
    title = max(1, title)
    name = min(WIDEST_NAME, max((cell_width(visible(one[:99])) for one in names), default=0))
    columns = [Column("at", 5, importance=5), Column("sign", 1, importance=4)]
    if width >= ROOMY:
        columns += [Column("title", title, importance=3), Column("said", minimum=12)]
    else:
        columns.append(Column("words", minimum=16))
    if name:
        columns.append(Column("who", name, importance=1))
    return Columns(*columns)


def sign_of(title: str, glyphs: Glyphs) -> str:
    """The sign for the kind of an entry, one cell."""
    kind = kind_of(title)
    if kind == "task":
        words = title.casefold()
        return glyphs.check if "completed" in words else glyphs.half if "started" in words else glyphs.circle
    return {
        "heartbeat": glyphs.recurring,
        "alert": glyphs.alert,
        "plan": glyphs.closed,
        "message": glyphs.left,
        "decision": glyphs.diamond,
        "report": glyphs.square,
        "upkeep": glyphs.upkeep,
    }.get(kind, glyphs.dot)


def strip_lines(counts: Sequence[int], room: int, glyphs: Glyphs) -> list[Line]:
    """The day from midnight to midnight in two lines: its hours, and a cell for each, denser the busier it was."""
    wide = max(1, min(4, room // HOURS))
    every = 3 if wide > 1 else 6
    names = "".join(f"{hour:<{wide * every}}" for hour in range(0, HOURS, every))
    most = max(counts, default=0)
    cells: list[Piece] = []
    for count in counts:
        cells.append(Piece(heat_cell(count, most, glyphs) * max(1, wide - 1), "accent" if count else "muted"))
        cells.append(Piece(" " * (wide - 1 - max(0, wide - 2))))
    return [line(Piece(names, "muted")), tuple(piece for piece in cells if piece.text)]


def gap_words(gap: Gap) -> str:
    """How long nothing was written: `2 h 20 min`."""
    hours, minutes = divmod(gap.minutes, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if part)


def axis_rows(day: DayLine, room: int) -> list[Hashable]:
    """The rows of a day: places of its entries, and `(hour, words)` for empty hours, one row each if there is room.

    Longer gaps become one row where the day would be longer than `room` lines. Entries without a time come last, under
    notes.
    """
    whole = len(day.entries) + sum(slot.hours for slot in day.slots if isinstance(slot, Gap))
    short = whole + (2 if day.untimed else 0) > room
    rows: list[Hashable] = []
    place = 0
    for slot in day.slots:
        if isinstance(slot, Gap):
            rows.extend(_gap_rows(slot, short=short and slot.hours > (LONGEST_GAP if room > 12 else 1)))
            continue
        for _ in slot.entries:
            rows.append(place)
            place += 1
    if day.untimed:
        if rows:
            rows.append(Note(number=HOURS))
        rows.append(Note("without a time", HOURS))
        rows.extend(range(place, place + len(day.untimed)))
    return rows


def _gap_rows(gap: Gap, *, short: bool) -> list[Hashable]:
    if short:
        return [(gap.first, gap_words(gap))]
    middle = gap.first + gap.hours // 2
    return [(hour, gap_words(gap) if hour == middle else "") for hour in range(gap.first, gap.last + 1)]


def first_places(slots: Sequence[Slot]) -> dict[int, int]:
    """The hour by the place of the entry that is the first of that hour."""
    found, place = {}, 0
    for slot in slots:
        if not isinstance(slot, Gap):
            found[place] = slot.hour
            place += len(slot.entries)
    return found


def day_words(day: DayLine, *, short: bool = False) -> str:
    """A day with its count and time span: `Sunday 14 January 2024: 5 entries, 10:00 to 17:30`."""
    name = f"{day.day:%a} {day.day.day} {day.day:%b}" if short else f"{day.day:%A} {day.day.day} {day.day:%B %Y}"
    count = len(day.entries)
    if not count:
        return f"{name}: no entry"
    held = "1 entry" if count == 1 else f"{count} entries"
    if not day.timed:
        return f"{name}: {held}"
    first, last = (_clock(one.minute or 0) for one in (day.timed[0], day.timed[-1]))
    span = first if first == last else f"{first}-{last}" if short else f"{first} to {last}"
    return f"{name}: {held}, {span}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
