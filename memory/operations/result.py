"""The result of an operation: data for programs, and its form for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from memory.base.problems import Problem
from memory.errors import MemdeckError

Json = dict[str, Any]
T = TypeVar("T")
PROBLEMS = 4
"""The exit code of a conflict, and of a check that found problems."""
SHOWN = 20
"""How many of many things the form for people lists."""


class Paint(Protocol):
    """How lines for people are drawn."""

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""

    def alert(self, text: str) -> str:
        """Mark text about overdue, broken or refused things."""

    def notice(self, text: str) -> str:
        """Mark text about things that a person should look at, but not at once."""

    def marked(self, text: str, marks: Sequence[tuple[int, int]], indent: str = "") -> str:
        """Return one line as `line` does, with the marked places set off."""

    def columns(
        self,
        rows: Iterable[Sequence[str]],
        *,
        indent: str = "  ",
        alerts: Mapping[int, int] | None = None,
        empty: str = "",
    ) -> Iterator[str]:
        """Yield rows as lines with aligned columns."""


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
