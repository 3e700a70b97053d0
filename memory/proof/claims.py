"""Contradictions: two texts that say the same of one thing with another value.

Precision comes before recall. Two lines contradict each other only if they are the same words around another number,
version, port, path, command or day, or one forbids what the other asks for; or if both name the one version of the same
program, or the value of the same well-known setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memory.base.words import stem

_MOST_LINES = 4_000
_LONGEST = 300
_FEWEST = 3
"""How many words besides the value two lines must share."""
_FENCE = re.compile(r"^\s*(```|~~~)")
_VALUE = re.compile(
    r"`([^`\n]{1,120})`"  # a command, a path, a name
    r"|(?<![\w/.])((?:[\w@.-]+/)+[\w@.-]+)"  # a path
    r"|(?<![\w:.])(\d{1,2}:\d\d(?: ?[ap]m)?)(?![\w:.])"  # a time
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
_NAMED = re.compile(r"\W*(?:the )?\w+ #?\d+\b|`", re.IGNORECASE)
"""The beginning of a line about one of several numbered things, such as a sprint, or about what it names first."""
_OWNED = re.compile(
    r"(?:(?P<who>[\w.@-]+) (?:owns|is the owner of) (?P<what>[^,;]+)"
    r"|(?P<whose>[^,;]+) is owned by (?P<by>[\w.@-]+))\W*",
    re.IGNORECASE,
)
_PLACED = frozenset(["live", "locat", "store", "defin", "keep", "implement"])
"""Stems of words that say where a thing is: a line of them needs fewer other words."""
_COMMANDS = frozenset(
    ["run", "execut", "test", "lint", "build", "format", "check", "type", "start", "dev", "server", "deploy"]
)
"""Stems of words that say what a command is for: a line of them alone needs no other words."""
_PAIR = re.compile(r"^\W*([A-Za-z][A-Za-z /_-]{2,30}?)[\*_`]*\s*[:=]\s*[\*_]*\s*(\S.*)$")


class Text(NamedTuple):
    """A text whose lines are compared; `line` is that of its beginning, from 0. `date` is when it was written.

    `ref` is that of the entry, the name of the file where it is no entry. `source` says that its lines are those of the
    file.
    """

    file: str
    text: str
    line: int
    date: str
    ref: str
    title: str
    source: bool = True


class Claim(NamedTuple):
    """The claim of one line: the key of its subject, the value, the line from 0, its words, and the text around it."""

    key: str
    value: str
    line: int
    words: str
    of: Text


def contradictions(texts: Iterable[Text]) -> Iterator[tuple[Claim, Claim]]:
    """Yield each two claims of different entries that say another value of one thing, the older first."""
    known: dict[str, dict[str, list[Claim]]] = {}
    for text in texts:
        for claim in claims_of(text):
            known.setdefault(claim.key, {}).setdefault(claim.value, []).append(claim)
    told: set[tuple[str, int, str, int]] = set()
    for values in known.values():
        by_entry: dict[str, set[str]] = {}
        for value, claims in values.items():
            for claim in claims:
                by_entry.setdefault(claim.of.ref, set()).add(value)
        # An entry that names several values of one thing means several things.
        single = [claim for claims in values.values() for claim in claims if len(by_entry[claim.of.ref]) == 1]
        yield from _told(single, told)


def _told(claims: Sequence[Claim], told: set[tuple[str, int, str, int]]) -> Iterator[tuple[Claim, Claim]]:
    newest = max(claims, key=lambda one: one.of.date, default=None)
    for one in claims:
        same = newest is None or one.value == newest.value or one.of.ref == newest.of.ref
        if newest is None or same or _covers(one.value, newest.value):
            continue
        place = (one.of.ref, one.line, newest.of.ref, newest.line)
        if place not in told:
            told.add(place)
            yield one, newest


def _covers(one: str, other: str) -> bool:
    """Return whether one version is the other with more digits."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def lines_of(text: Text) -> Iterator[tuple[int, str, bool]]:
    """Yield the first lines of a text but the fences, each with its number and whether it is in a code block."""
    inside = False
    for number, line in enumerate(text.text.split("\n")[:_MOST_LINES]):
        if _FENCE.match(line):
            inside = not inside
        else:
            yield text.line + (number if text.source else 0), line, inside


def claims_of(text: Text) -> Iterator[Claim]:
    """Yield what the lines of a text say; code blocks, headings and long lines are left out."""
    for number, line, inside in lines_of(text):
        if not inside and 8 <= len(line) <= _LONGEST and not line.lstrip().startswith(("#", "|", "<")):
            for key, value in _said(line):
                yield Claim(key, value, number, " ".join(line.strip(" \t\r-*").split()), text)


def _said(line: str) -> Iterator[tuple[str, str]]:
    bare = line.strip(" \t\r->+*")
    if _HEDGED.search(bare):
        return
    if owned := _OWNED.fullmatch(bare):
        yield f"owner {' '.join(_words(owned['what'] or owned['whose']))}", (owned["who"] or owned["by"]).casefold()
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
    if len(found) == 1 and not _NAMED.match(bare):
        rest = f"{bare[: found[0].start()]} \0 {bare[found[0].end() :]}"
        words = _words(rest)
        value = next(one for one in found[0].groups() if one)
        if (never := _NEVER.search(rest)) or _ALWAYS.search(rest):
            yield _rule(rest.replace("\0", value), never is not None)
        elif (
            len(words) > _FEWEST
            or (found[0][1] and len(words) > 1 and _COMMANDS.issuperset(set(words) - {"\0"}))
            or (found[0][2] and len(words) == _FEWEST and not _PLACED.isdisjoint(words))
        ):
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
