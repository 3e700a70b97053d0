"""One operation: its noun and name, its parameters, whom it belongs to, and the function that it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any, Literal

from memory.errors import UsageError

from .parameters import Parameter

Serves = Literal["look", "change", "script", "person", "decision", "machine"]
"""Whom an operation belongs to: everybody, because it only reads (`look`) or changes the memory of the workspace
(`change`); every user of the command line here, because it does what a person arranged (`script`) or concerns this
machine (`machine`); a person (`person`); a person at a terminal (`decision`). Servers offer only the first two.
"""


class Operation:
    """An operation: the command line, HTTP and MCP are made from these.

    An operation without `serves` is not served; `by_person` names the parameters of a served one with which it is a
    decision, `changed_by` those of a look with which it is a change; programs send neither. `looks` gets the values of
    a call and tells whether it only shows something, as each with `dry_run` does. `fields` returns the names for
    `--set`; they are used when someone tries one as an option. `unknown` gets the words
    of a call with an unknown option, and may return a more precise error.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        noun: str = "",
        does: str = "",
        help: str = "",  # noqa: A002 - the word that click uses
        examples: Sequence[str] = (),
        serves: Serves | None = None,
        by_person: Sequence[str] = (),
        changed_by: Sequence[str] = (),
        looks: Callable[[Mapping[str, Any]], object] | None = None,
        fields: Callable[[], Iterable[str]] | None = None,
        unknown: Callable[[list[str]], UsageError | None] | None = None,
        options_metavar: str = "",
    ) -> None:
        """`run` is a function (context, **values); its docstring is the help, and its parameters are declared on it.
        `does` are its words after `memdeck`, `noun` is the word of its group.
        """
        self.name, self.run = name, run
        self.noun = noun or name
        self.does = does or name
        self.help = cleandoc(help or run.__doc__ or "")
        self.parameters: tuple[Parameter, ...] = tuple(run.__dict__.get("parameters", ()))
        self.examples, self.serves, self.by_person, self.looks = examples, serves, by_person, looks
        self.changed_by, self.here_only = changed_by, frozenset((*by_person, *changed_by))
        self.fields, self.unknown, self.options_metavar = fields, unknown, options_metavar
        self.edit: Callable[..., Any] | None = None
        """The function (call, **values) that returns the edit of the memory files that it makes, for those that are
        one: callers that check an entry under the lock use it.
        """

    @property
    def sentence(self) -> str:
        """The effect of the operation, in a sentence."""
        first, stop, _ = " ".join(self.help.split("\n\n", 1)[0].split()).partition(". ")
        return first + stop.strip()

    @property
    def offered(self) -> bool:
        """Whether programs may call it."""
        return self.serves in ("look", "change")

    @property
    def sent(self) -> tuple[Parameter, ...]:
        """The parameters that programs may send."""
        return tuple(one for one in self.parameters if one.name not in self.here_only)

    def belongs(self, values: Mapping[str, Any]) -> Serves | None:
        """Return whom a call with these values belongs to: one that only shows something is a look."""
        if any(values.get(option) for option in self.by_person):
            return "decision"
        if values.get("dry_run") or (self.looks is not None and self.looks(values)):
            return "look"
        if any(values.get(option) for option in self.changed_by):
            return "change"
        return self.serves

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a call by a program, by the names of the function's arguments.

        UsageError `api.argument` for an unknown name, `usage.missing`, and those of `Parameter.read`.
        """
        known = {one.sent_as: one for one in self.sent}
        takes = f"it takes {', '.join(known) or 'none'}"
        for name in given:
            if name not in known:
                raise UsageError("api.argument", f"there is no argument {name[:60]!r}", takes)
        for name, one in known.items():
            if one.required and given.get(name) in (None, []):
                words = f"missing {'option' if one.words else 'argument'} {one.label!r}"
                raise UsageError("usage.missing", words, takes)
        left = {one.name: one.default for one in self.parameters if one.name in self.here_only}
        return left | {one.name: one.read(given.get(name)) for name, one in known.items()}

    def walk(self) -> Iterator[Operation]:
        """Yield this one, as a group yields its operations."""
        yield self


class Group:
    """The operations on one kind of thing, such as `tasks`."""

    def __init__(self, name: str, help: str, serves: Serves | None = None, parent: Group | None = None) -> None:  # noqa: A002
        """Start without operations; `serves` applies to those without their own."""
        self.name, self.help, self.serves = name, cleandoc(help), serves
        self.words: tuple[str, ...] = (*parent.words, name) if parent else (name,)
        self.operations: dict[str, Operation | Group] = {}
        if parent:
            parent.operations[name] = self

    def look(self, name: str, *examples: str, **settings: Any) -> Callable[[Callable[..., Any]], Operation]:
        """Return a decorator that makes a function an operation of the group that only reads.

        `examples` are what follows its words, or whole commands; `settings` are as for `Operation`.
        """
        return under(self, name, serves="look", examples=self._whole(name, examples), **settings)

    def change(self, name: str, *examples: str, **settings: Any) -> Callable[[Callable[..., Any]], Operation]:
        """Return a decorator that makes a function an operation of the group that changes memory, as `look` does."""
        return under(self, name, serves="change", examples=self._whole(name, examples), **settings)

    def _whole(self, name: str, examples: Sequence[str]) -> tuple[str, ...]:
        words = " ".join(("memdeck", *self.words, name))
        return tuple(one if "memdeck " in one else f"{words} {one}".rstrip() for one in examples)

    def walk(self) -> Iterator[Operation]:
        """Yield all operations, those of inner groups too."""
        for one in self.operations.values():
            yield from one.walk()


def load(place: str) -> Operation | Group:
    """Import the operation or the group at a place (module:attribute)."""
    module, _, attribute = place.partition(":")
    found: Operation | Group = getattr(import_module(module), attribute)
    return found


def shows(_values: Mapping[str, Any]) -> bool:
    """Tell that a call only shows something: the `looks` of an operation that never changes memory."""
    return True


def verb(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Operation]:
    """Return a decorator that makes a function an operation outside of a group; `settings` as for `Operation`."""
    return lambda run: Operation(name, run, **settings)


def under(parent: Group, name: str, **settings: Any) -> Callable[[Callable[..., Any]], Operation]:
    """Return a decorator that makes a function an operation of a group; `settings` as for `Operation`."""

    def decorate(run: Callable[..., Any]) -> Operation:
        settings.setdefault("serves", parent.serves)
        made = Operation(name, run, noun=parent.name, does=" ".join((*parent.words, name)), **settings)
        parent.operations[name] = made
        return made

    return decorate
