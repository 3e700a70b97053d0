"""The result of an operation: data for programs, its form for people, and how lines for people are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from memory.base.problems import Problem
from memory.base.safe_text import cell_width, clip, visible
from memory.errors import MemdeckError

Json = dict[str, Any]
T = TypeVar("T")
PROBLEMS = 4
"""The exit code of a conflict, and of a check that found problems."""
SHOWN = 20
"""How many of many things the form for people lists."""


_RED, _YELLOW, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_MARK, _UNMARK = "\x1b[1;4m", "\x1b[22;24m"
_NARROWEST = 12
"""Cells to which a column is cut on a narrow terminal."""


class Paint:
    """How lines are drawn: whether in colour, and the greatest width (None: no limit)."""

    def __init__(self, color: bool, width: int | None) -> None:
        """Store both; colour marks only what needs action."""
        self.color = color
        self.width = width

    def alert(self, text: str) -> str:
        """Mark overdue, broken or refused things."""
        return f"{_RED}{text}{_OFF}" if self.color and text else text

    def notice(self, text: str) -> str:
        """Mark what a person should look at, but not at once."""
        return f"{_YELLOW}{text}{_OFF}" if self.color and text else text

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""
        text = indent + visible(text)
        return text if self.width is None else clip(text, self.width)

    def marked(self, text: str, marks: Sequence[tuple[int, int]], indent: str = "") -> str:
        """Return one line as `line` does, with the marked places bold and underlined if colour is on."""
        if not self.color or not marks:
            return self.line(text, indent)
        shown, at, left = indent, 0, (self.width or 1 << 30) - len(indent)
        for start, end in [*marks, (len(text), len(text))]:
            for part, mark in ((text[at:start], False), (text[start:end], True)):
                part = visible(part)
                if cell_width(part) > left:
                    part = clip(part, max(left, 0))
                left -= cell_width(part)
                shown += f"{_MARK}{part}{_UNMARK}" if mark and part else part
            at = end
            if left <= 0:
                break
        return shown

    def columns(
        self,
        rows: Iterable[Sequence[str]],
        *,
        indent: str = "  ",
        alerts: Mapping[int, int] | None = None,
        empty: str = "",
    ) -> Iterator[str]:
        """Yield the rows as lines with aligned columns; the last column is not padded but clipped to the screen.

        `empty` is the line for no rows. `alerts` maps a row's index to its column that needs action. Columns that are
        empty in every row are left out.
        On a narrow terminal the others are clipped or left out, so that the last column, mostly a title, can be read;
        the first, mostly a ref, stays whole.
        """
        columns = [[visible(cell) for cell in column] for column in zip(*rows, strict=True)]
        if not columns:
            yield from [empty] if empty else []
            return
        alerts, last = alerts or {}, len(columns) - 1
        if self.width is not None:
            columns[:-1] = _fitted(columns, self.width - cell_width(indent), alerts)
        widths = [max(map(cell_width, column)) for column in columns]
        for row, cells in enumerate(zip(*columns, strict=True)):
            line, used = indent, cell_width(indent)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                if not width:
                    continue
                if number == last and self.width is not None:
                    cell = clip(cell, max(self.width - used, 1))
                # The padding after a cell is not marked.
                line += self.alert(cell) if alerts.get(row) == number else cell
                line += " " * (width - cell_width(cell) + 2)
                used += width + 2
            yield line.rstrip()


def _fitted(columns: list[list[str]], room: int, alerts: Mapping[int, int]) -> list[list[str]]:
    """Return all columns but the last, cut or emptied so that a third of `room` cells is left for the last one.

    The widest are cut first, to `_NARROWEST` cells; if that is not enough, columns are emptied from the right. Of a
    cell that needs action, such as `2024-01-15 09:00 overdue`, the last word stays.
    """
    sizes = [max(map(cell_width, column), default=0) for column in columns]
    spare = room - min(sizes.pop(), max(room // 3, _NARROWEST))
    kept = len(sizes)
    while True:
        # At most as wide as the screen, so that a huge cell takes no longer.
        widths = sizes[:1] + [min(size, room) for size in sizes[1:kept]] + [0] * (len(sizes) - kept)
        over = sum(width + 2 for width in widths if width) - spare
        while over > 0 and kept > 1:
            widest = max(range(1, kept), key=widths.__getitem__)
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
            over -= 1
        if over <= 0 or kept <= 1:
            break
        kept -= 1
    return [
        column if width == size else [_cut(cell, width, alerts.get(row) == number) for row, cell in enumerate(column)]
        for number, (column, width, size) in enumerate(zip(columns[:-1], widths, sizes, strict=True))
    ]


def _cut(cell: str, width: int, keeps_last_word: bool) -> str:
    """Return a table's cell cut to `width` columns of the screen."""
    head, blank, word = cell.rpartition(" ")
    if keeps_last_word and blank and cell_width(cell) > width > len(word) + 2 and word.isascii():
        return f"{clip(head, width - len(word) - 1)} {word}"
    return clip(cell, width)


class Ask(NamedTuple):
    """A question to the person after a result was shown: a yes goes on with `then`.

    Where no person can be asked, the operation ends; `otherwise` says how to go on without a question.
    """

    question: str
    then: Callable[[], Result]
    otherwise: str


class Draft(NamedTuple):
    """A text that the person edits, in a file of this name; `save` takes it, and its errors lead back to the editor.

    `without` is the error where there is no person.
    """

    name: str
    text: str
    save: Callable[[str], Result]
    without: MemdeckError


class Result(NamedTuple):
    """The result of an operation, made when it is shown: a JSON document, or lines for people.

    `rows` are the objects of the form jsonl, if it has its own.
    `notes` are told beside it. `code` is the exit code, `text` an export, which has the same form for everybody. `form`
    is the form where the caller names none. With `ask` or `draft` the operation goes on after the person's answer.
    """

    document: Callable[[], Json]
    lines: Callable[[Paint], Iterable[str]]
    rows: Callable[[], Iterable[Json]] | None = None
    notes: Sequence[str] = ()
    code: int = 0
    text: Callable[[], Iterable[str]] | None = None
    form: str = "human"
    ask: Ask | None = None
    draft: Draft | None = None

    def asking(self, ask: Ask, yes: bool) -> Result:
        """Return this result with a question; with `yes` it is answered, and what was shown comes before the rest."""
        if not yes:
            return self._replace(ask=ask)
        after = ask.then()
        return after._replace(lines=lambda paint: chain(self.lines(paint), after.lines(paint)))


def listing(
    key: str,
    rows: Callable[[], Iterable[Json]],
    lines: Callable[[Paint], Iterable[str]],
    notes: Sequence[str] = (),
    code: int = 0,
) -> Result:
    """Return the result of an operation that lists things: `{key: [...]}`, in jsonl one object a line."""
    return Result(lambda: {key: list(rows())}, lines, rows, notes, code)


def said(document: Json, *lines: str, code: int = 0) -> Result:
    """Return a result that is at hand, with its lines for people."""
    return Result(lambda: document, lambda paint: map(paint.line, lines), code=code)


def exported(text: Callable[[], Iterable[str]]) -> Result:
    """Return the result of an operation that prints a text for other programs."""
    return Result(dict, lambda _: (), text=text)


def problems_found(found: Sequence[Problem], shown: Sequence[Problem] | None = None) -> Result:
    """Return the result of a check: problems as `file:line`, with the exit code 4 if one is an error."""
    listed = found if shown is None else shown
    code = PROBLEMS if any(problem.level == "error" for problem in found) else 0
    return listing("problems", lambda: map(problem_json, listed), lambda paint: problem_lines(paint, listed), (), code)


def problem_json(problem: Problem) -> Json:
    """Return a problem as JSON for programs; `line` counts from 1, None is the file as a whole."""
    return {
        "level": problem.level,
        "file": problem.file,
        "line": problem.line or None,
        "code": problem.code,
        "message": problem.message,
    }


def problem_lines(paint: Paint, problems: Sequence[Problem]) -> Iterator[str]:
    """Yield problems as lines for people."""
    marks: dict[str, Callable[[str], str]] = {"error": paint.alert, "warning": paint.notice, "note": str}
    for problem in problems:
        yield marks[problem.level](paint.line(f"{problem.place}: {problem.level} {problem.code} {problem.message}"))
    if not problems:
        yield "no problems"


def short(ref: str) -> str:
    """Return the hexadecimal part of a ref, which is enough as an argument of an operation."""
    return ref.partition("#")[2] or ref


def first(things: Sequence[T], line: Callable[[T], str]) -> Iterator[str]:
    """Yield the lines of the first of many things, then how many more there are."""
    yield from map(line, things[:SHOWN])
    yield from more(len(things))


def more(count: int) -> Iterator[str]:
    """Yield how many are not shown, if any."""
    if count > SHOWN:
        yield f"    and {count - SHOWN:,} more"


def fields_of(paint: Paint, title: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one thing: its title, then all its values, lists one item a line."""
    yield paint.line(title)
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if value is None or value in ("", [], {}):
            continue
        if isinstance(value, dict):
            rows += [(str(inner), str(text)) for inner, text in value.items()]
        elif isinstance(value, (list, tuple)):
            rows.append((key, ", ".join(map(str, value))))
        else:
            lines = str(value).split("\n")
            rows += [(key if not index else "", line) for index, line in enumerate(lines)]
    yield from paint.columns(rows)
