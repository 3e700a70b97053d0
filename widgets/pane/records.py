"""Records: rows as plain data, and the outline that shows them; the tabs of "Agent memory" are made of these.

A tab is a subclass of `RecordPane` with two functions: `records(snapshot, now)` returns its headings and rows, and
`told(row)` what the detail shows of one, as a mapping from labels to values. Adding and removing is an operation
of the memory system, by its words after `memdeck`; its form comes from the operation's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from memory.base.clock import Moment
from memory.files.snapshot import Snapshot
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Prose, Spacer, Title
from widgets.list.outline import OutlinePane
from widgets.list.rows import Heading, Note
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, line, line_width
from widgets.text.words import dated, short_moment

from .offers import Badge

MOST = 200
"""The most values of one list that a detail shows."""

_WORD = re.compile(r"(?<=[a-z0-9])[A-Z]|_")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class Record:
    """A row: `lead` is before its title, `about` and `when` (a time of a file) are behind it.

    `sign` names a glyph. `values` are what filters by field find, and the parameters that an operation on it begins
    with. `words` are found by a filter without field. `thing` is what `told` needs; a row whose `mark` changes flashes.
    """

    ref: str
    title: str
    lead: str = ""
    about: str = ""
    when: str = ""
    sign: str = ""
    tone: Tone = "plain"
    depth: int = 0
    folds: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    mark: Hashable = None
    thing: Any = None

    def having(self, values: Mapping[str, str]) -> Record:
        """Return the record with other values."""
        return replace(self, values=values)


class RecordPane(OutlinePane):
    """An outline of records of one memory system."""

    purpose: ClassVar[str] = ""
    """One line that says what agents do with these entries."""
    lead_cells: ClassVar[int] = 0
    """The cells of the first words of a row."""

    def records(self, snapshot: Snapshot, now: datetime) -> Iterable[Any]:
        """Yield records and headings; runs in a thread."""
        raise NotImplementedError

    def told(self, item: Record) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what the detail shows below the title, by its labels; an empty label has text of its own."""
        return {}

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """Return the rows after the line that says what they are for, with a blank line above each heading."""
        found = list(self.records(snapshot, now))
        rows: list[Any] = [Note(self.purpose)] if found and self.purpose else []
        for place, row in enumerate(found):
            if rows and (not place or isinstance(row, Heading)):
                rows.append(Note(number=len(rows)))
            rows.append(row)
        return rows

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many there are; a system counts them itself."""
        return Badge()

    def depth(self, item: Any) -> int:
        """Return how many rows are above an item."""
        return int(item.depth)

    def folds(self, item: Any) -> bool:
        """Return whether rows belong below an item."""
        return bool(item.folds)

    def holds(self, item: Any) -> bool:
        """Return the same: a record holds only what it has."""
        return bool(item.folds)

    def counts(self, item: Any) -> bool:  # noqa: ARG002
        """Return that the filter counts every record."""
        return True

    def mark(self, item: Any) -> Hashable:
        """Return what its row depends on."""
        return (item.ref, item.title, item.mark)

    def place(self, item: Any) -> str:
        """Return its name on the command line: the ref without the system's name."""
        return str(item.ref).partition("#")[2]

    def text(self, item: Any) -> str:
        """Return the text that the filter searches."""
        return " ".join((item.lead, item.title, item.about, item.words, *item.values.values()))

    def field_text(self, item: Any, name: str) -> str:
        """Return the value that `name:value` is compared with."""
        return str(item.values.get(name, ""))

    def links(self, item: Any) -> Sequence[Link]:  # noqa: ARG002
        """Return that a record links to nothing."""
        return ()

    def source_text(self, item: Any) -> str | None:
        """Return the text of a record, for copying."""
        return str(item.words or item.title)

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw sign, first words, title, further words, time."""
        lead = line(self.indent(item)) if item.depth or item.folds else ()
        sign = getattr(self.glyphs, item.sign) if item.sign else ""
        moment = moment_of(item.when, self.zone)
        columns = [Column("sign", 1, importance=9), Column("title", minimum=20)]
        if self.lead_cells:
            columns.insert(1, Column("lead", self.lead_cells, importance=4))
        if item.when:
            columns.append(Column("when", 8, "right", importance=3))
        cells: dict[str, Content] = {
            "sign": Piece(sign, item.tone),
            "lead": Piece(item.lead, "muted"),
            "title": line(
                Piece(item.title, item.tone if item.tone in ("alert", "muted") else "plain"),
                Piece(f"  {item.about}" if item.about else "", "muted"),
            ),
            "when": Piece(item.when[:8] if moment is None else short_moment(moment, self.now, self.zone), "muted"),
        }
        return line(lead, Columns(*columns).line(max(0, width - line_width(lead)), cells))

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """Show the title and everything that `told` returns."""
        lines: list[DetailLine] = [Title(item.title)]
        for one in self._lines(self.told(item)):
            # One blank line between the title, the texts and the labels.
            apart = isinstance(lines[-1], Title) or (isinstance(lines[-1], Prose | Lines) and isinstance(one, Labelled))
            if apart and not isinstance(one, Spacer):
                lines.append(Spacer())
            lines.append(one)
        return lines

    def _lines(self, values: Mapping[str, Any]) -> Iterator[DetailLine]:
        """Yield values: texts beside their labels, long ones, lists and mappings below them."""
        for key, value in values.items():
            label = plain_label(key)
            match value:
                case None | "" | () | []:
                    continue
                case Mapping() if not value:
                    continue
                case Piece(text, tone):
                    yield Labelled(label, text, tone)
                case Mapping():
                    yield from (Spacer(), Caption(label.upper()))
                    yield from self._lines(value)
                case list() | tuple():
                    yield from (Spacer(), Caption(label.upper()))
                    yield Lines(
                        tuple(line(Piece(f"{self.glyphs.bullet} ", "muted"), *one_line(one)) for one in value[:MOST]), 2
                    )
                    if len(value) > MOST:
                        yield Prose(f"and {len(value) - MOST:,} more", tone="muted")
                case str() if not key or "\n" in value:
                    yield Spacer()
                    if label:
                        yield Caption(label.upper())
                    yield Prose(value, markdown=True)
                case str() if _MOMENT.match(value):
                    yield Labelled(label, dated(value, self.now, self.zone) or value)
                case bool():
                    yield Labelled(label, "yes" if value else "no")
                case int():
                    yield Labelled(label, f"{value:,}")
                case _:
                    yield Labelled(label, str(value))


def one_line(value: Any) -> Line:
    """Return a value of a list as a line: the first text of a record, then the others, muted."""
    if isinstance(value, Mapping):
        first, *rest = [str(one) for one in value.values() if one not in (None, "", [], {})] or [""]
        return line(first, *(Piece(f"  {one}", "muted") for one in rest))
    return value if isinstance(value, tuple) else line(str(value))


def plain_label(key: str) -> str:
    """Return a name of a file's form as words: `keyPaths` and `key_paths` are `key paths`; `2024-W03` stays."""
    return _WORD.sub(lambda found: f" {found[0].lower().strip('_')}", key)


def moment_of(text: str, zone: Any) -> Moment | None:
    """Return a time of a file as a moment; None for any other text, and for one that no zone can hold."""
    try:
        at = datetime.fromisoformat(text)
        return Moment("", at.astimezone(zone).date(), at) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None
