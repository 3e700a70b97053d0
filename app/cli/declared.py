"""Verbs as data: what a verb accepts and which function it runs; `app.cli.lazy_groups` makes click commands of them.

The verbs are listed in `app.cli.verbs`, those of a memory system in `memory.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from memory.base.counts import MOST
from memory.errors import UsageError

if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    from .session import Session

    Serves = Literal["look", "change", "script", "person", "decision", "machine"]
    """Whom a verb belongs to: everybody, because it only reads (`look`) or changes the memory of the workspace
    (`change`); whoever runs commands here, because it does what a person arranged (`script`) or concerns this machine
    (`machine`); a person (`person`); a person at a terminal (`decision`). Servers offer only the first two.
    """


class OneOf(NamedTuple):
    """The type of a value that must be one of some words."""

    words: Sequence[str]
    case_sensitive: bool = True


class Whole(NamedTuple):
    """The type of a whole number, both ends included; `sign` may follow it."""

    least: int = 0
    most: int = MOST
    sign: str = ""


class Parameter:
    """An option or an argument; used as a decorator it adds itself to a function.

    `settings` are those of `click.option` and `click.argument`. `type` may also be a `OneOf` or a `Whole`. `refs` are
    the kinds of entries whose refs complete the value, and `suggests` are words that complete it.
    """

    def __init__(self, words: tuple[str, ...], settings: dict[str, Any], *, is_option: bool) -> None:
        """`words` are the forms of the option, such as `-w` and `--workspace`, or the name of an argument."""
        self.words = words
        self.settings = settings
        self.is_option = is_option

    def __call__(self, function: F) -> F:
        """Add the parameter to a function, before those of the decorators below it."""
        # The list that click's own decorators fill, so that both may decorate one function.
        function.__dict__.setdefault("__click_params__", []).append(self)
        return function

    @cached_property
    def name(self) -> str:
        """The name of the parameter of the function."""
        plain = [word for word in self.words if not word.startswith("-")]
        return plain[0] if plain else max(self.words, key=_hyphens).lstrip("-").replace("-", "_").lower()


def _hyphens(word: str) -> int:
    return len(word) - len(word.lstrip("-"))


def option(*words: str, **settings: Any) -> Parameter:
    """Return an option of a verb."""
    return Parameter(words, settings, is_option=True)


def argument(name: str, **settings: Any) -> Parameter:
    """Return an argument of a verb, identified by its position."""
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
        help="Who makes the change, such as agent:builder (default: MEMDECK_ACTOR, the agent that runs it, or cli).",
    ),
    option("--now", metavar="ISO", help="Run as if it were this time, for reproducible runs."),
    option("--no-color", is_flag=True, help="No colour, whatever the terminal can."),
    option(
        "--safe",
        is_flag=True,
        help="Run nothing that stands in memory files, and send nothing, whatever was approved.",
    ),
)
"""The options that every verb accepts."""
ATTRIBUTES = {
    "workspace": "folder",
    "output": "form",
    "actor": "actor_option",
    "now": "now_option",
    "no_color": "no_color",
    "safe": "safe",
}
"""The attributes of a session that these options set."""


class DeclaredVerb:
    """A verb: its name, the function (session, **values) that it runs, and the settings for click and servers."""

    def __init__(self, name: str, function: Callable[..., Any], settings: dict[str, Any]) -> None:
        """`settings` are those of `app.cli.lazy_groups.Verb`."""
        self.name = name
        self.function = function
        self.settings = settings
        self.parameters: tuple[Any, ...] = tuple(reversed(function.__dict__.get("__click_params__", ())))
        """Its parameters in the order of declaration; those of click's own decorators unchanged."""
        self.looks: Callable[[Mapping[str, Any]], object] | None = settings.pop("looks", None)
        self.noun = name
        """The word of its group, or its own."""
        self.does = name
        """Its words after `memdeck`."""

    def belongs(self, values: Mapping[str, Any]) -> Serves | None:
        """Return whom a call with these values belongs to: one that only shows something is a look."""
        if any(values.get(option) for option in self.settings.get("by_person", ())):
            return "decision"
        if values.get("dry_run") or (self.looks is not None and self.looks(values)):
            return "look"
        found: Serves | None = self.settings.get("serves")
        return found

    def call(self, session: Session, values: Mapping[str, Any]) -> Any:
        """Run the verb with these values, if the caller may; errors as `Session.permit`."""
        session.permit(self, values)
        return self.function(session, **values)


class DeclaredGroup:
    """Verbs on one kind of thing, such as `tasks`."""

    def __init__(self, name: str, text: str, serves: Serves | None) -> None:
        """Start without verbs; `serves` applies to verbs without their own."""
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
    looks: Callable[[Mapping[str, Any]], object] | None = None,
    fields: Callable[[], Iterable[str]] | None = None,
    unknown: Callable[[list[str]], UsageError | None] | None = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], DeclaredVerb]:
    """Return a decorator that makes a function (session, **values) a verb outside of a group.

    A verb without `serves` is not served; `by_person` names the options of a served verb with which it is a decision.
    `looks` gets the values of a call and tells whether it only shows something, as each with `dry_run` does. `fields`
    returns the names for `--set`; they are used when someone tries one as an option. `unknown` gets the words of a call
    with an unknown option, and may return a more precise error.
    """
    more = {"examples": examples, "serves": serves, "by_person": by_person, "fields": fields, "unknown": unknown}
    return lambda function: DeclaredVerb(name, function, {**more, "looks": looks, **settings})


def shows(_values: Mapping[str, Any]) -> bool:
    """Tell that a call only shows something: the `looks` of a verb that never changes memory."""
    return True


def group(name: str, text: str, *, serves: Serves | None = None) -> DeclaredGroup:
    """Return an empty group of verbs with its help; `serves` applies to verbs without their own."""
    return DeclaredGroup(name, text, serves)


def under(parent: DeclaredGroup, name: str, **settings: Any) -> Callable[[Callable[..., Any]], DeclaredVerb]:
    """Return a decorator that makes a function (session, **values) a verb of a group; `settings` as for `verb`."""

    def decorate(function: Callable[..., Any]) -> DeclaredVerb:
        made = verb(name, **settings)(function)
        made.noun, made.does = parent.name, f"{parent.name} {name}"
        parent.verbs[name] = made
        return made

    return decorate


# -- which form was called ---------------------------------------------------------------------------------------

_WITH_VALUE = frozenset({"-w", "--workspace", "-o", "--output", "--actor", "--now", "--pane"})
_ABOUT = frozenset({"-h", "--help", "-V", "--version"})
MAINTAIN = "--maintain"


def form_of(arguments: Sequence[str], verbs: object) -> str:
    """Return `verb`, `maintain` or `open` for arguments; `verbs` is a container of the names of verbs.

    The first word that is not an option decides: a verb, or a folder (write `./tasks` for a folder named like a verb).
    """
    for index, argument in _words(arguments):
        if argument == MAINTAIN:
            return "maintain"
        if argument in _ABOUT:
            return "maintain" if MAINTAIN in arguments[index:] else "verb"
        if argument == "--":
            return "open"
        if not argument.startswith("-") or argument == "-":
            if argument in verbs:  # type: ignore[operator]
                return "verb"
            return "maintain" if MAINTAIN in arguments[index:] else "open"
    return "open"


def first_word(arguments: Sequence[str]) -> str | None:
    """Return the first word that is neither an option nor a value of one; None if there is none."""
    words = (word for _, word in _words(arguments) if not word.startswith("-") or word == "-")
    return next(words, None)


def first_of(arguments: Sequence[str], verbs: object) -> int | None:
    """Return the index of the first word that names one of the verbs and is no value of a common option."""
    words = ((index, word) for index, word in _words(arguments) if not word.startswith("-"))
    return next((index for index, word in words if word in verbs), None)  # type: ignore[operator]


def _words(arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the arguments with their indexes, without the values of the common options."""
    index = 0
    while index < len(arguments):
        yield index, arguments[index]
        index += 2 if arguments[index] in _WITH_VALUE else 1
