"""The operations on the entries of a memory file: how a change is made and told, dates in words, and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from memory.base.clock import BadMoment, read_moment
from memory.document import Entry
from memory.errors import UsageError
from memory.operations import Context, Group, Parameter, Ref, argument, option
from memory.operations.result import Paint, Result, listing

from .edit import Edit, Edits, Refs
from .find import Lookup
from .snapshot import Snapshot


@dataclass
class Call:
    """One attempt of a change: the files under the lock, the time, and what a person is told about it.

    `done` is what was done, `more` follows the title, and so does what `after` returns of the entry as it is then;
    `notes` are warnings. `base` is the entry that the caller saw, if any: what
    others changed since stays, and where both changed the same there is a ConflictError.
    """

    snapshot: Snapshot
    now: datetime
    done: str = ""
    more: str = ""
    after: Callable[[Any], str] = field(default=lambda _: "")
    notes: list[str] = field(default_factory=list)
    base: Entry | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone of the workspace."""
        return self.snapshot.zone


class EntryGroup(Group):
    """The operations on one kind of entries; `ref` is the argument that names one."""

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002
        lookup: Lookup[Any],
        *,
        key: str,
        title: Callable[[Any], str] = lambda item: str(item.title),
    ) -> None:
        """`lookup` finds the entries, `key` is that of one in JSON, and `title` what a person is told about it."""
        super().__init__(name, help)
        self.lookup, self.key, self.title = lookup, key, title
        self.ref = argument("ref", type=Ref((name,)))

    def removes(self, edits: Edits[Any, Any], example: str, what: str) -> Callable[..., Edit]:
        """Return the operation that removes entries."""

        def remove(call: Call, ref: Refs) -> Edit:
            return edits.remove(call.snapshot, ref)

        remove.__doc__ = f"Remove {what} from the file; it is printed as it was."
        return self.changes("remove", "removed", example)(self.ref(remove))

    def changes(
        self, name: str, done: str, *examples: str, **settings: Any
    ) -> Callable[[Callable[..., Edit]], Callable[..., Edit]]:
        """Return a decorator that makes a function (call, **values) that returns an edit an operation, as `change`.

        The edit is made under the lock, so the function may be called again if another program changed the files. What
        remains is a function (snapshot, **values, now, base) that returns the edit, for callers in Python.
        """

        def decorate(edit: Callable[..., Edit]) -> Callable[..., Edit]:
            def run(context: Context, /, **values: Any) -> Result:
                return self._changed(context, name, lambda call: edit(call, **values), done, values.get("ref", ""))

            run.__doc__ = edit.__doc__
            run.__dict__["parameters"] = edit.__dict__.get("parameters", ())
            made = self.change(name, *examples, **settings)(run)
            made.edit = edit

            def direct(
                snapshot: Snapshot, *given: Any, now: datetime, base: Entry | None = None, **values: Any
            ) -> Edit:
                return edit(Call(snapshot, now, base=base), *given, **values)

            return direct

        return decorate

    def _changed(self, context: Context, name: str, edit: Callable[[Call], Edit], done: str, ref: str) -> Result:
        attempts: list[Call] = []

        def build(snapshot: Snapshot) -> Edit:
            attempts.append(Call(snapshot, context.now, done))
            return edit(attempts[-1])

        outcome = context.change(f"{self.name}.{name}", build)
        call = attempts[-1]
        # What was removed is shown as it was.
        item = self.lookup.find(call.snapshot, ref) if outcome.item is None else outcome.item
        words = call.done if outcome.change.files else "nothing to change in"
        return Result(
            lambda: {self.key: item.json()},
            lambda paint: [paint.line(f"{words} {item.ref}  {self.title(item)}{call.more}{call.after(item)}")],
            notes=call.notes,
        )


Part = tuple[str, Sequence[Sequence[str]], Mapping[int, int]]
"""Rows under a heading; the last says by the number of a row which of its columns needs action."""


def outlined(key: str, found: Sequence[Any], parts: Iterable[Part], nothing: str) -> Result:
    """Return the result of an operation that lists items, for people in parts."""
    return listing(key, lambda: (item.json() for item in found), lambda paint: outline(paint, parts, nothing))


def outline(paint: Paint, parts: Iterable[Part], nothing: str) -> Iterator[str]:
    """Yield rows under headings, with a blank line between two parts; `nothing` is the line where there are none."""
    first = True
    for heading, rows, alerts in parts:
        if not first:
            yield ""
        yield paint.line(heading)
        yield from paint.columns(rows, alerts=alerts)
        first = False
    if first:
        yield nothing


def pairs(values: Sequence[str] | Mapping[str, str], **beside: str | None) -> dict[str, str]:
    """Return `KEY=VALUE` words as a mapping, with the values given beside them, by the names that the files use.

    If a key is given twice, the last one counts. UsageError `usage.pair`.
    """
    found = {key: value for key, value in beside.items() if value is not None}
    if isinstance(values, Mapping):
        return found | dict(values)
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            raise UsageError("usage.pair", f"{value!r} is not KEY=VALUE", "write it like --set notes='Ask Alice'")
        found[key.strip()] = text
    return found


UNSET = option("--unset", multiple=True, metavar="KEY", help="Remove a field; may be repeated.")


def whole_text(noun: str, others: str = "its fields") -> Parameter:
    """Return the option `--text` of an edit; `others` are its other options in words."""
    return option("--text", metavar="TEXT", help=f"The whole text of the {noun} in the file, instead of {others}.")


def something(changes: Iterable[object]) -> None:
    """Raise UsageError `usage.nothing` when there is nothing to change."""
    if not any(changes):
        raise UsageError("usage.nothing", "no change was given", "see --help for the fields")


def in_words(text: str, now: datetime, zone: tzinfo) -> str:
    """Return a date of a file in words: `Fri 27 Nov`, `Fri 27 Nov 09:00`; other years are added.

    A text that is no date, or no existing one, is returned unchanged.
    """
    try:
        moment = read_moment(text, zone)
    except BadMoment:
        return text
    if moment is None:
        return text
    day = f"{moment.date:%a} {moment.date.day} {moment.date:%b}"
    if moment.date.year != now.astimezone(zone).year:
        day += f" {moment.date.year}"
    return day if moment.instant is None else f"{day} {moment.instant.astimezone(zone):%H:%M}"
