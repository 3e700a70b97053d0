"""The words of a command line before click reads them: which form was called, and what a plain call says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from .declared import ATTRIBUTES, COMMON, DeclaredGroup, DeclaredVerb, OneOf, Parameter, Whole
from .registry import VERBS

_WITH_VALUE = frozenset({"-w", "--workspace", "-o", "--output", "--actor", "--now", "--pane"})
_ABOUT = frozenset({"-h", "--help", "-V", "--version"})
MAINTAIN = "--maintain"


def form_of(arguments: Sequence[str], verbs: object) -> str:
    """Return `verb`, `maintain` or `open` for arguments; `verbs` is a container of the names of verbs.

    The first word that is no option decides: a verb, or a folder (one named like a verb is written `./tasks`).
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
    """Return the first word that is no option and no value of one; None where there is none."""
    words = (word for _, word in _words(arguments) if not word.startswith("-") or word == "-")
    return next(words, None)


def _words(arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the arguments with their indexes, without the values of the options that every verb takes."""
    index = 0
    while index < len(arguments):
        yield index, arguments[index]
        index += 2 if arguments[index] in _WITH_VALUE else 1


# -- calls that are written plainly ------------------------------------------------------------------------------

_READ = frozenset(
    {"type", "is_flag", "multiple", "required", "default", "nargs"}
    | {"help", "metavar", "show_default", "refs", "suggests", "shell_complete"}
)
"""The settings of a parameter that `read` knows; one with others is left to click."""


def read(
    called: DeclaredVerb | DeclaredGroup | None, words: Sequence[str]
) -> tuple[DeclaredVerb, dict[str, Any], dict[str, Any]] | None:
    """Return the verb that words call, the attributes of the session and the values of the verb, as click reads them.

    `called` is the verb whose arguments the words are; None: they name it. The answer is None where click has to read
    them: for every mistake, for `--help`, and for whatever could mean two things, such as an option that is shortened
    or given twice, or a value that is empty or begins with a hyphen.
    """
    common = {word: one for one in COMMON for word in one.words}
    values: dict[Parameter, Any] = {}
    rest = list(reversed(words))
    while not isinstance(called, DeclaredVerb):
        word = rest.pop() if rest else ""
        if word in common:
            if not _take(common[word], rest, values):
                return None
            continue
        called = _declared(word) if called is None else called.verbs.get(word)
        if called is None:
            return None
    parameters = called.parameters
    if not all(_is_read(one) for one in parameters):
        return None
    options = common | {word: one for one in parameters if one.is_option for word in one.words}
    places = [one for one in parameters if not one.is_option]
    while rest:
        one = places[0] if places else None
        if rest[-1].startswith("-"):
            word, equals, value = rest.pop().partition("=")
            one = options.get(word)
            if equals:
                if one is None or one.settings.get("is_flag") or not word.startswith("--"):
                    return None
                rest.append(value)
        elif one is not None and one.settings.get("nargs") != -1:
            del places[0]
        if one is None or not _take(one, rest, values):
            return None
    if any(one not in values and _is_required(one) for one in parameters):
        return None
    session = {ATTRIBUTES[one.name]: value for one, value in values.items() if one in COMMON}
    return called, session, {one.name: values[one] if one in values else _default(one) for one in parameters}


def _declared(name: str) -> DeclaredVerb | DeclaredGroup | None:
    """Import and return a verb; None for one that is no declaration, and where there is none of that name."""
    if name not in VERBS:
        return None
    module, _, attribute = VERBS[name][0].partition(":")
    found = getattr(import_module(module), attribute)
    return found if isinstance(found, (DeclaredVerb, DeclaredGroup)) else None


def _is_read(one: object) -> bool:
    """Tell whether a parameter is one that `read` knows."""
    if not isinstance(one, Parameter) or any("/" in word for word in one.words):
        return False
    return one.settings.keys() <= _READ and one.settings.get("nargs", 1) in (1, -1)


def _take(one: Parameter, rest: list[str], values: dict[Parameter, Any]) -> bool:
    """Take the value of a parameter from the end of the words into the values; False where click has to."""
    settings = one.settings
    if settings.get("is_flag"):
        value: Any = True
    else:
        value = _converted(settings.get("type"), rest.pop() if rest else "")
        if value is None:
            return False
    if settings.get("multiple") or settings.get("nargs") == -1:
        values[one] = (*values.get(one, ()), value)
    elif one in values:
        return False
    else:
        values[one] = value
    return True


def _converted(kind: object, word: str) -> str | int | None:
    if not word or word.startswith("-"):
        return None
    if kind is None:
        return word
    if isinstance(kind, OneOf):
        if kind.case_sensitive:
            return word if word in kind.words else None
        return next((one for one in kind.words if one.casefold() == word.casefold()), None)
    if isinstance(kind, Whole):
        digits = word.removesuffix(kind.sign)
        if digits.isascii() and digits.isdecimal() and len(digits) < 19:
            number = int(digits)
            fits = (kind.least is None or number >= kind.least) and (kind.most is None or number <= kind.most)
            return number if fits else None
    return None


def _is_required(one: Parameter) -> bool:
    settings = one.settings
    if one.is_option:
        return bool(settings.get("required"))
    return bool(settings.get("required", settings.get("default") is None and settings.get("nargs", 1) > 0))


def _default(one: Parameter) -> Any:
    """Return the value of a parameter that is not given."""
    settings = one.settings
    if settings.get("is_flag"):
        return settings.get("default", False)
    if settings.get("multiple") or settings.get("nargs") == -1:
        return settings.get("default", ())
    return settings.get("default")
