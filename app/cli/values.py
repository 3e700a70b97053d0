"""What people write behind options, read once for all verbs, and what verbs print of one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.cli.declared import OneOf, Whole
from app.cli.printing import tell
from app.cli.session import Session
from memory.errors import UsageError

if TYPE_CHECKING:
    from app.cli.printing import Paint

PRIORITIES = ("HIGH", "NORMAL", "LOW")
PRIORITY = OneOf(PRIORITIES, case_sensitive=False)
PERCENT = Whole(0, 100, "%")
"""A whole number from 0 to 100, with or without the sign."""


def pairs(values: Sequence[str]) -> dict[str, str]:
    """Return `KEY=VALUE` words as a mapping; UsageError `usage.pair`. A key given twice: the last one counts."""
    found = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            raise UsageError("usage.pair", f"{value!r} is not KEY=VALUE", "write it like --set notes='Ask Alice'")
        found[key.strip()] = text
    return found


def given(**values: str | None) -> dict[str, str]:
    """Return the values that were given, by the names that the files use."""
    return {key: value for key, value in values.items() if value is not None}


def something(changes: Iterable[object]) -> None:
    """Raise UsageError `usage.nothing` when there is nothing to change."""
    if not any(changes):
        raise UsageError("usage.nothing", "nothing to change was given", "see --help for what can be")


def when(session: Session, text: str) -> str:
    """Turn a natural date into the text of a file; `recurring: …` and absent values stay as they are.

    Raises BadMoment.
    """
    from memory.base.dates import parse_when
    from memory.base.remarks import is_absent

    if is_absent(text) or text.strip().lower().startswith("recurring:"):
        return text
    head, mark, rest = text.partition("(recurring:")
    day = parse_when(head.strip(), session.now, session.snapshot.zone)
    return f"{day} {mark}{rest}" if mark else day


def recurs(session: Session, text: str, due: str | None) -> str:
    """Turn a recurrence in words into cron; cron fields and absent values stay as they are. Raises BadCron.

    `due` is the date, as files hold it, from which it recurs (None: none).
    """
    from memory.base.remarks import is_absent
    from memory.files.tasks.quick import recurrence_from

    if is_absent(text):
        return text
    found = recurrence_from(text, due, session.snapshot.zone)
    if found.note:
        tell(f"memdeck: {found.note}")
    return found.cron


def in_words(text: str, session: Session) -> str:
    """Say a date of a file as what was understood: `Fri 27 Nov`, `Fri 27 Nov 09:00`, another year with its number.

    What is no date, or none that exists, comes back as it is.
    """
    from memory.base.clock import BadMoment, read_moment

    zone = session.snapshot.zone
    try:
        moment = read_moment(text, zone)
    except BadMoment:
        return text
    if moment is None:
        return text
    day = f"{moment.date:%a} {moment.date.day} {moment.date:%b}"
    if moment.date.year != session.now.astimezone(zone).year:
        day += f" {moment.date.year}"
    return day if moment.instant is None else f"{day} {moment.instant.astimezone(zone):%H:%M}"


def facts(paint: Paint, title: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one thing: its title, then every value that it has, lists one item a line."""
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


def short(ref: str) -> str:
    """Return the hexadecimal part of a ref, which is enough behind a verb."""
    return ref.partition("#")[2] or ref
