"""Contradictions: two texts that say the same of one thing with another value.

Precision comes before recall. Two lines contradict each other only if they are the same words around another number,
version, port, path, command or day, or one forbids what the other asks for; or if both name the one version of the same
program, or the value of the same well-known setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memory.base.problems import Problem
from memory.base.words import stem

_MOST_LINES = 4_000
_LONGEST = 300
_FEWEST = 3
"""How many words besides the value two lines must share."""
_FENCE = re.compile(r"^\s*(```|~~~)")
_VALUE = re.compile(
    r"`([^`\n]{1,120})`"  # a command, a path, a name
    r"|(?<![\w/.])((?:[\w@.-]+/)+[\w@.-]+)"  # a path
    r"|(?<![\w.])(v?\d+(?:\.\d+){0,3}(?:\.x)?)(?![\w.]*\w)"  # a number, a version, a port
    r"|\b(mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\b(?:never|do not|don't|must not|should not|no longer|avoid)\b", re.IGNORECASE)
_ALWAYS = re.compile(r"\b(?:always|must|should|do)\b", re.IGNORECASE)
_HEDGED = re.compile(
    r"\b(?:was|were|used to|previously|formerly|old|legacy|before|from|until|since|deprecated|example|e\.g|if|unless|"
    r"or|either|instead of|rather than|minimum|at least|up to|between|per|migrat\w+|upgrad\w+|tested|support\w*)\b"
    r"|[≥≤><+~^]|\d\s*[-–]\s*\d|->|→",
    re.IGNORECASE,
)
"""Words of a line that is about several values, another time or a condition."""
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the is are be to of for in on at with by via and we our you your this that it its use uses",
    )
)
_RUNTIMES = re.compile(
    r"\b(node(?:\.?js)?|python|go(?:lang)?|rust|java|jdk|ruby|php|typescript|react|next\.?js|vue|angular|svelte|django|"
    r"rails|postgres(?:ql)?|mysql|redis|mongodb|kubernetes|terraform|pnpm|yarn|npm|bun|deno|\.net|kotlin|swift)"
    r"(?: version)?\s*[:=]?\s*v?(\d+(?:\.\d+){0,2})(?![\w.]*\w)",
    re.IGNORECASE,
)
_SETTINGS = frozenset(
    re.findall(
        r"\w[\w ]*",
        """
        package manager, test command, test runner, tests, test, lint command, lint, linter, build command, build,
        format command, formatter, dev server, dev server port, port, server port, api port, default branch,
        main branch, database, node version, python version, go version, indentation, line length, max line length,
        deploy target, deploy command, region, timezone, release day, deploy day, commit style, branch naming,
        css framework, orm, test framework
        """.replace("\n", " "),
    )
)
_COMMANDS = frozenset(
    map(stem, re.findall(r"\w+", "run running execute test tests lint build format check type start dev server deploy"))
)
"""Words that say what a command is for: a line of them alone needs no other words."""
_PAIR = re.compile(r"^\W*([A-Za-z][A-Za-z /_-]{2,30}?)[\*_`]*\s*[:=]\s*[\*_]*\s*(\S.*)$")


class Claim(NamedTuple):
    """The claim of one line: the key of its subject, the value, its place, and its words."""

    key: str
    value: str
    file: str
    line: int
    text: str
    date: str = ""


class Text(NamedTuple):
    """A text whose lines are compared; `line` is that of its beginning, from 0. `date` is when it was written."""

    file: str
    text: str
    line: int = 0
    date: str = ""


def contradictions(texts: Iterable[Text]) -> Iterator[Problem]:
    """Yield a note for each two files that say another value of one thing, at the older of the two."""
    known: dict[str, dict[str, list[Claim]]] = {}
    for text in texts:
        for claim in claims_of(text):
            known.setdefault(claim.key, {}).setdefault(claim.value, []).append(claim)
    told: set[tuple[str, int, str, int]] = set()
    for values in known.values():
        by_file: dict[str, set[str]] = {}
        for value, claims in values.items():
            for claim in claims:
                by_file.setdefault(claim.file, set()).add(value)
        # A file that names several values of one thing means several things.
        single = [claim for claims in values.values() for claim in claims if len(by_file[claim.file]) == 1]
        yield from _told(single, told)


def _told(claims: Sequence[Claim], told: set[tuple[str, int, str, int]]) -> Iterator[Problem]:
    newest = max(claims, key=lambda one: one.date, default=None)
    for one in claims:
        if newest is None or one.value == newest.value or one.file == newest.file or _covers(one.value, newest.value):
            continue
        place = (one.file, one.line, newest.file, newest.line)
        if place not in told:
            told.add(place)
            words = f"{_short(one.text)!r}, but {newest.file}:{newest.line + 1} says {_short(newest.text)!r}"
            yield Problem("note", one.file, one.line + 1, "memory.contradiction", words)


def _covers(one: str, other: str) -> bool:
    """Return whether one version is the other with more digits."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


def lines_of(text: Text) -> Iterator[tuple[int, str, bool]]:
    """Yield the first lines of a text but the fences, each with its number and whether it is in a code block."""
    inside = False
    for number, line in enumerate(text.text.split("\n")[:_MOST_LINES], text.line):
        if _FENCE.match(line):
            inside = not inside
        else:
            yield number, line, inside


def claims_of(text: Text) -> Iterator[Claim]:
    """Yield what the lines of a text say; code blocks, headings and long lines are left out."""
    for number, line, inside in lines_of(text):
        if not inside and 8 <= len(line) <= _LONGEST and not line.lstrip().startswith(("#", "|", "<")):
            for key, value in _said(line):
                yield Claim(key, value, text.file, number, line.strip(" \t\r-*"), text.date)


def _said(line: str) -> Iterator[tuple[str, str]]:
    bare = line.strip(" \t\r->+*")
    if _HEDGED.search(bare):
        return
    found = list(_VALUE.finditer(bare))
    versions = _RUNTIMES.findall(bare)
    if len(versions) == 1 and len(found) <= 1:
        yield f"version {re.sub(r'[^a-z]|js$|lang$|sql$', '', versions[0][0].casefold())}", versions[0][1]
    pair = _PAIR.match(bare)
    if pair and " ".join(pair[1].casefold().replace("_", " ").split()) in _SETTINGS:
        value = pair[2].strip(" .`*_\"'")
        if value and len(value.split()) <= 6:
            yield f"setting {' '.join(pair[1].casefold().split())}", value.casefold()
            return
    if len(found) == 1:
        rest = f"{bare[: found[0].start()]} \0 {bare[found[0].end() :]}"
        words = _words(rest)
        value = next(one for one in found[0].groups() if one)
        if (never := _NEVER.search(rest)) or _ALWAYS.search(rest):
            yield _rule(rest.replace("\0", value), never is not None)
        elif len(words) > _FEWEST or (found[0][1] and len(words) > 1 and _COMMANDS.issuperset(set(words) - {"\0"})):
            yield "same " + " ".join(words), value.strip().removeprefix("v").casefold()
    elif not found:
        never = _NEVER.search(bare)
        if len(_words(bare)) > _FEWEST and (never or _ALWAYS.search(bare)):
            yield _rule(bare, never is not None)


def _rule(line: str, never: bool) -> tuple[str, str]:
    words = _words(_ALWAYS.sub(" ", _NEVER.sub(" ", line)))
    return "rule " + " ".join(words), "never" if never else "always"


def _words(text: str) -> list[str]:
    """Return the words of a line that carry meaning, as stems; a value is one mark."""
    parts = (one.casefold() for one in re.findall(r"\0|[^\W_]+(?:'[a-z]+)?", text))
    return [one if one == "\0" else stem(one) for one in parts if one not in _EMPTY]
