"""Which of its three forms memdeck is called in: a verb, `--maintain`, or a folder to open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
