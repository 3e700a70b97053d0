"""The parameters of operations: each kind of value knows how it is read, its JSON schema and its completions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from memory.base.clock import DAYS
from memory.base.dates import parse_when, time_bound
from memory.base.safe_text import clip, visible
from memory.base.values import MOST, is_absent, whole
from memory.errors import UsageError

from .context import Context

Json = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Any])
_MOST_REFS, _LOOKED_AT = 200, 2000


class Kind:
    """A text; the other kinds of values are made from it."""

    type = "string"
    metavar = ""
    """The value in the usage of the command line, where a parameter names no other."""

    def schema(self) -> Json:
        """Return the JSON schema of a value."""
        return {"type": self.type}

    def read(self, value: Any, name: str) -> Any:
        """Return a value as the operation takes it; `name` is that of its parameter.

        UsageError `usage.value` for a wrong word, `api.argument` or `api.text` for JSON of another type.
        """
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise UsageError("api.argument", f"{name} is neither text nor a number", "send a text", argument=name)
        return str(value)

    def meant(self, value: Any, context: Context) -> Any:  # noqa: ARG002
        """Return what a value means in a call; the words of a person may depend on its time and its zone."""
        return value

    def completions(self, snapshot: Callable[[], Any], begun: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield the values that begin with `begun`, each with words about it; `snapshot` returns the memory files."""
        yield from ()


TEXT = Kind()


class Flag(Kind):
    """Yes or no; on the command line an option without a value."""

    type = "boolean"

    def read(self, value: Any, name: str) -> bool:
        """Return a truth value."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "1", "", "false", "0"):
            return value.lower() not in ("false", "0")
        raise UsageError("api.argument", f"{name} is neither true nor false", "send true or false", argument=name)


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    words: Sequence[str]
    case_sensitive: bool = True

    @property
    def metavar(self) -> str:  # type: ignore[override]
        """The words."""
        return f"[{'|'.join(self.words)}]"

    def schema(self) -> Json:
        """Return the JSON schema, with the words."""
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: Any, name: str) -> str:
        """Return the word as it is declared."""
        text = super().read(value, name)
        for word in self.words:
            if word == text or (not self.case_sensitive and word.casefold() == text.casefold()):
                return word
        raise UsageError(
            "usage.value",
            f"invalid value for {name!r}: {text[:60]!r} is not one of {', '.join(map(repr, self.words))}",
            argument=name,
        )

    def completions(self, snapshot: Callable[[], Any], begun: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield the words."""
        yield from ((word, "") for word in self.words if word.casefold().startswith(begun.casefold()))


class Suggested(Kind):
    """A text that is mostly one of some words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def completions(self, snapshot: Callable[[], Any], begun: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield the words."""
        yield from ((word, "") for word in self.words if word.startswith(begun))


class When(Suggested):
    """A date or time as people write it, such as `tomorrow 14:00`; `written` converts it to the form of the files."""

    past = False
    """Whether a weekday, or a day without its year, is the latest such day, and not the next one."""

    def written(self, text: str, now: datetime, zone: tzinfo) -> str:
        """Return the date in the form of the files; `recurring: …` and absent values stay as they are. BadMoment."""
        if not text.strip() or is_absent(text) or text.strip().lower().startswith("recurring:"):
            return text
        head, mark, rest = text.partition("(recurring:")
        day = parse_when(head.strip(), now, zone, past=self.past)
        return f"{day} {mark}{rest}" if mark else day


DUE = When(("today", "tomorrow", *DAYS, "eow", "eom"))
"""When something is due, as a person writes it: `tomorrow 14:00`, `fri`, `2 Dec`, `+2d`, `eom`."""
RECURRING = Suggested(("daily", "weekdays", "weekly", "monthly", *(f"every {day}" for day in DAYS)))
"""When something recurs: in words, or as five cron fields."""


class Day(When):
    """A day in words, which becomes one of the files: `2024-01-15`, `yesterday`, `-7d`, `fri` (the latest)."""

    past = True

    def __init__(self) -> None:
        super().__init__(("today", "yesterday", *DAYS))

    def written(self, text: str, now: datetime, zone: tzinfo) -> str:
        """Return the day in the form of the files. BadMoment."""
        return super().written(text, now, zone)[:10]

    def meant(self, value: str, context: Context) -> Any:
        """Return the day; BadMoment."""
        return parse_when(value, context.now, context.snapshot.zone, past=True)[:10]


class Bound(Day):
    """A day or a time in words, which becomes the aware time at which a list begins or, with `end`, ends."""

    def __init__(self, *, end: bool = False) -> None:
        super().__init__()
        self.end = end

    def meant(self, value: str, context: Context) -> Any:
        """Return the time; a day alone counts whole. BadMoment."""
        return time_bound(value, context.now, context.snapshot.zone, end=self.end)


class Used(Kind):
    """A text that other entries of a noun often have already, in the same field."""

    def __init__(self, noun: str, field: str) -> None:
        self.noun, self.field = noun, field

    def completions(self, snapshot: Callable[[], Any], begun: str) -> Iterator[tuple[str, str]]:
        """Yield the values of that field that begin with `begun`, the most used first."""
        found = (getattr(item, self.field) for item in islice(_items(snapshot(), self.noun), _LOOKED_AT))
        counts = Counter(one for value in found for one in (value if isinstance(value, tuple) else (value,)) if one)
        yield from ((one, "") for one, _ in counts.most_common(_MOST_REFS) if one.startswith(begun))


class Tag(Used):
    """A tag; those of the tasks are completed."""

    metavar = "T"

    def __init__(self) -> None:
        super().__init__("tasks", "tags")


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number, both ends included; `sign` may follow it."""

    least: int = 0
    most: int = MOST
    sign: str = ""
    type = "integer"
    metavar = "N"

    def schema(self) -> Json:
        """Return the JSON schema, with the bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, value: Any, name: str) -> int:
        """Return the number."""
        return whole(
            value.removesuffix(self.sign) if isinstance(value, str) else value, self.least, self.most, name=name
        )


class Values(Kind):
    """An object of values by their names; only programs send it."""

    type = "object"

    def read(self, value: Any, name: str) -> Mapping[str, Any]:
        """Return the object."""
        if not isinstance(value, Mapping):
            raise UsageError("api.argument", f"{name} is not an object", 'send {"name": "value"}', argument=name)
        return value


class Pairs(Kind):
    """`KEY=VALUE`, given as often as there are keys; in JSON also an object."""

    metavar = "KEY=VALUE"


class Lines(Kind):
    """Lines of text; on the command line `-` is replaced by those of standard input."""


@dataclass(frozen=True)
class Input(Kind):
    """A text; on the command line `-` is replaced by standard input.

    So is a missing one: with `needed` where standard input is no terminal, with `words` after telling them.
    """

    needed: bool = False
    words: str = ""


class SentFile(NamedTuple):
    """The value of a parameter of the kind `Content`: the name that was given, and the bytes."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Content(Kind):
    """The content of a file, or of standard input for `-`; programs send the content itself.

    `code` is that of the error for a file that cannot be read.
    """

    code: str = "usage.file"


@dataclass(frozen=True)
class Ref(Kind):
    """An entry of some nouns: its ref, its hex, or a unique part of its title."""

    nouns: Sequence[str]

    def completions(self, snapshot: Callable[[], Any], begun: str) -> Iterator[tuple[str, str]]:
        """Yield the refs of the entries with their titles; only the hex unless a `#` was typed."""
        found = 0
        for noun in self.nouns:
            for item in islice(_items(snapshot(), noun), _LOOKED_AT):
                shown = item.ref if "#" in begun else item.ref.partition("#")[2]
                if shown.startswith(begun) and found < _MOST_REFS:
                    found += 1
                    yield shown, clip(visible(_title(item)), 60)


def _items(snapshot: Any, noun: str) -> Iterator[Any]:
    match noun:
        case "tasks":
            return iter(snapshot.tasks.items)
        case "journal":
            return iter(snapshot.journal.entries(limit=_MOST_REFS))
        case "knowledge":
            return iter(snapshot.knowledge.items)
        case "contacts":
            return iter(snapshot.contacts.items)
        case "config":
            return iter(snapshot.config.settings)
        case _:
            return iter(snapshot.monitors.items)


def _title(item: object) -> str:
    names = (getattr(item, name, None) for name in ("title", "name", "text", "channel"))
    return next((str(name) for name in names if name), "")


class Parameter:
    """One parameter of an operation; used as a decorator it adds itself to a function.

    `name` is that of the function's argument, `words` are its forms on the command line, such as `-w` and
    `--workspace`. A positional one has none. `many` collects the values of all times that it is given.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        type: Kind = TEXT,  # noqa: A002 - the word that click uses
        help: str = "",  # noqa: A002
        metavar: str | None = None,
        required: bool = False,
        default: Any = None,
        is_flag: bool = False,
        multiple: bool = False,
        nargs: int = 1,
        show_default: bool = False,
    ) -> None:
        plain = [word for word in words if not word.startswith("-")]
        self.words = [word for word in words if word.startswith("-")]
        self.name = plain[0] if plain else max(self.words, key=len).lstrip("-").replace("-", "_")
        self.kind = Flag() if is_flag else type
        self.help, self.metavar, self.required = help, metavar, required
        self.many = multiple or nargs == -1
        self.default = False if is_flag else () if self.many and default is None else default
        self.show_default = show_default

    @cached_property
    def sent_as(self) -> str:
        """The name for programs: that of the option, which users know."""
        return max(self.words, key=len).lstrip("-").replace("-", "_") if self.words else self.name

    @property
    def label(self) -> str:
        """The name in messages: that on the command line."""
        if self.words:
            return max(self.words, key=len)
        words = self.kind.words if isinstance(self.kind, Choice) else ()
        return self.metavar or (f"{{{'|'.join(words)}}}" if words else self.name.upper())

    def __call__(self, function: F) -> F:
        """Add the parameter to a function, before those of the decorators below it."""
        function.__dict__.setdefault("parameters", []).insert(0, self)
        return function

    def schema(self) -> Json:
        """Return the JSON schema of what a program sends."""
        found = self.kind.schema()
        if self.many:
            found = {"type": "array", "items": found}
        return {**found, "description": self.help} if self.help else found

    def read(self, value: Any) -> Any:
        """Return a value that a program sent as the operation takes it; errors as `Kind.read`."""
        if value is None:
            return self.default
        if not self.many:
            return self._read(value)
        if isinstance(self.kind, Pairs) and isinstance(value, Mapping):
            return tuple(f"{key}={self._read(one)}" for key, one in value.items())
        return tuple(self._read(one) for one in (value if isinstance(value, list) else [value]))

    def _read(self, value: Any) -> Any:
        found = self.kind.read(value, self.label)
        if isinstance(found, str) and ("\0" in found or found.encode(errors="ignore").decode() != found):
            words = f"{self.sent_as} has characters that no text has"
            raise UsageError("api.text", words, "send UTF-8", argument=self.sent_as)
        return found


def option(*words: str, **settings: Any) -> Parameter:
    """Return a parameter that the command line takes as an option; `settings` are those of `Parameter`."""
    return Parameter(words, **settings)


def argument(name: str, **settings: Any) -> Parameter:
    """Return a parameter that the command line takes in a place of its own; required unless something else is said."""
    if "default" not in settings and settings.get("nargs") != -1:
        settings.setdefault("required", True)
    return Parameter((name,), **settings)
