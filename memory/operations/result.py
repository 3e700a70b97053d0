"""What an operation returns: data for programs, and its form for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]


class Paint(Protocol):
    """How lines for people are drawn."""

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""

    def alert(self, text: str) -> str:
        """Mark what is overdue, broken or refused."""

    def notice(self, text: str) -> str:
        """Mark what a person should look at, but not at once."""

    def columns(
        self,
        rows: Iterable[Sequence[str]],
        *,
        indent: str = "  ",
        alerts: Mapping[int, int] | None = None,
        empty: str = "",
    ) -> Iterator[str]:
        """Yield rows as lines with aligned columns."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an operation, made when it is shown: a JSON document, or lines for people.

    `rows` are the objects of the form jsonl, if it has its own; those of the list `key` if it only lists things.
    `notes` are warnings for stderr.
    """

    document: Callable[[], Json]
    lines: Callable[[Paint], Iterable[str]]
    rows: Callable[[], Iterable[Json]] | None = None
    notes: Sequence[str] = ()
    key: str = ""


def listing(
    key: str, rows: Callable[[], Iterable[Json]], lines: Callable[[Paint], Iterable[str]], notes: Sequence[str] = ()
) -> Result:
    """Return the result of an operation that lists things: `{key: [...]}`, in jsonl one object a line."""
    return Result(lambda: {key: list(rows())}, lines, rows, notes, key)


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
