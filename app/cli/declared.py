"""Verbs as data: what a verb takes and which function it runs; `app.cli.lazy_groups` makes click commands of them.

A verb's module needs no click, which takes longer to import than most verbs run: help, completion and mistakes need it,
and `app.cli.arguments.read` reads a call that is written plainly from the same declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

Serves = Literal["look", "change", "person", "machine"]
"""What a verb is to programs that reach memdeck through a server: it looks, or changes the memory of the workspace; or
it is not served, because a person decides it, or because it concerns this machine more than the workspace."""


class OneOf(NamedTuple):
    """The type of a value that is one of some words."""

    words: Sequence[str]
    case_sensitive: bool = True


class Whole(NamedTuple):
    """The type of a whole number, both ends included; `sign` may stand behind it."""

    least: int | None = None
    most: int | None = None
    sign: str = ""


class Parameter:
    """An option or an argument; used as a decorator it adds itself to a function.

    `settings` are those of `click.option` and `click.argument`. `type` may also be a `OneOf` or a `Whole`, `refs` are
    the kinds of entries whose refs complete the value, and `suggests` are words that complete it.
    """

    def __init__(self, words: tuple[str, ...], settings: dict[str, Any], *, is_option: bool) -> None:
        """`words` are the option as it is written, `-w` and `--workspace`, or the name of an argument."""
        self.words = words
        self.settings = settings
        self.is_option = is_option

    def __call__(self, function: F) -> F:
        """Add the parameter to a function, before those that stand below it."""
        # The list that click's own decorators fill, so that both may stand above one function.
        function.__dict__.setdefault("__click_params__", []).append(self)
        return function

    @cached_property
    def name(self) -> str:
        """The name under which the function gets the value."""
        plain = [word for word in self.words if not word.startswith("-")]
        return plain[0] if plain else max(self.words, key=_hyphens).lstrip("-").replace("-", "_").lower()


def _hyphens(word: str) -> int:
    return len(word) - len(word.lstrip("-"))


def option(*words: str, **settings: Any) -> Parameter:
    """Return an option of a verb."""
    return Parameter(words, settings, is_option=True)


def argument(name: str, **settings: Any) -> Parameter:
    """Return an argument of a verb, which its place names."""
    return Parameter((name,), settings, is_option=False)


COMMON: tuple[Parameter, ...] = (
    option("-w", "--workspace", metavar="DIR", help="Folder in the workspace to work on (default: the current one)."),
    option(
        "-o",
        "--output",
        type=OneOf(("human", "json", "jsonl")),
        metavar="FORM",
        help="Form of the answer: human (the default), json or jsonl.",
    ),
    option(
        "--actor",
        metavar="NAME",
        help="Who makes the change, such as agent:builder (default: MEMDECK_ACTOR, or cli).",
    ),
    option("--now", metavar="ISO", help="Run as if it were this time, for reproducible runs."),
    option("--no-color", is_flag=True, help="No colour, whatever the terminal can."),
    option(
        "--safe",
        is_flag=True,
        help="Run nothing that stands in memory files, and send nothing, whatever was approved.",
    ),
)
"""The options that every verb takes."""
ATTRIBUTES = {
    "workspace": "folder",
    "output": "form",
    "actor": "actor_option",
    "now": "now_option",
    "no_color": "no_color",
    "safe": "safe",
}
"""The attributes of a session that they set."""


class DeclaredVerb:
    """A verb: its name, the function (session, **values) that it runs, and what click and servers are told of it."""

    def __init__(self, name: str, function: Callable[..., Any], settings: dict[str, Any]) -> None:
        """`settings` are those of `app.cli.lazy_groups.Verb`."""
        self.name = name
        self.function = function
        self.settings = settings
        self.parameters: tuple[Any, ...] = tuple(reversed(function.__dict__.get("__click_params__", ())))
        """What it takes, in the order in which it is declared; those of click's own decorators as they are."""


class DeclaredGroup:
    """Verbs on one kind of thing, such as `tasks`."""

    def __init__(self, name: str, text: str, serves: Serves | None) -> None:
        """It has no verbs yet; `serves` is that of its verbs that do not say it themselves."""
        self.name = name
        self.text = text
        self.serves = serves
        self.verbs: dict[str, DeclaredVerb | DeclaredGroup] = {}


def verb(
    name: str,
    *,
    examples: Sequence[str] = (),
    serves: Serves | None = None,
    by_person: Sequence[str] = (),
    fields: Callable[[], Iterable[str]] | None = None,
    unknown: Callable[[list[str]], UsageError | None] | None = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], DeclaredVerb]:
    """Return a decorator that makes a function (session, **values) a verb outside of a group.

    A verb that does not say what it serves is not served; `by_person` names the options of a served verb that are not.
    `fields` returns what can be set with `--set`, for who tries it as an option; `unknown` gets the words of a call
    with an option that is none, and returns an error that says more than that.
    """
    more = {"examples": examples, "serves": serves, "by_person": by_person, "fields": fields, "unknown": unknown}
    more |= settings
    return lambda function: DeclaredVerb(name, function, more)


def group(name: str, text: str, *, serves: Serves | None = None) -> DeclaredGroup:
    """Return an empty group of verbs with its help; `serves` is that of its verbs that do not say it themselves."""
    return DeclaredGroup(name, text, serves)


def under(parent: DeclaredGroup, name: str, **settings: Any) -> Callable[[Callable[..., Any]], DeclaredVerb]:
    """Return a decorator that makes a function (session, **values) a verb of a group; `settings` as for `verb`."""

    def decorate(function: Callable[..., Any]) -> DeclaredVerb:
        made = verb(name, **settings)(function)
        parent.verbs[name] = made
        return made

    return decorate
