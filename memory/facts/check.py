"""Problems in the file of facts, by line."""

from __future__ import annotations

from collections.abc import Iterator

from memory.base.problems import Problem

from .model import FOLDER, MARK, MOST_CHARACTERS, MOST_TAGS, SCOPES, SHOWN, Fact, FactsOfFile, holds_secret, time_key
from .store import read_mark


def problems_of(reading: FactsOfFile, mark: bytes | None) -> list[Problem]:
    """Return the problems in the order of the lines; `mark` holds the bytes of the file beside the facts.

    Errors: lines that are not facts, and duplicate ids. Warnings: facts that look like a secret, a missing text or
    time, a mark below the highest id. Notes: what exceeds the limits of the format.
    """
    found = [
        Problem("error", SHOWN, one.line + 1, "fact.unread", f"the line is no fact: {one.why}")
        for one in reading.unread
    ]
    first: dict[str, Fact] = {}
    for fact in reading.facts:
        other = first.setdefault(fact.id, fact)
        if other is not fact:
            text = f"{fact.id} is in line {other.line + 1} already"
            found.append(Problem("error", SHOWN, fact.line + 1, "fact.twice", text))
        found += _of_fact(fact)
    if mark is not None and read_mark(mark) < reading.highest:
        text = f"it is below m-{reading.highest}; the next change of memdeck raises it"
        found.append(Problem("warning", f"{FOLDER}/{MARK}", 1, "fact.mark", text))
    return sorted(found, key=lambda one: (one.file, one.line, one.code))


def _of_fact(fact: Fact) -> Iterator[Problem]:
    line = fact.line + 1
    if any(map(holds_secret, (fact.text, *fact.tags))):
        yield Problem("warning", SHOWN, line, "fact.secret", f"{fact.id} looks like a secret; delete it and change it")
    if not fact.text.strip():
        yield Problem("warning", SHOWN, line, "fact.text", f"{fact.id} has no text")
    elif len(fact.text) > MOST_CHARACTERS:
        yield Problem("note", SHOWN, line, "fact.long", f"{fact.id} is longer than {MOST_CHARACTERS} characters")
    if fact.scope not in SCOPES:
        yield Problem("note", SHOWN, line, "fact.scope", f"{fact.id} has an unknown scope")
    if len(fact.tags) > MOST_TAGS:
        yield Problem("note", SHOWN, line, "fact.tags", f"{fact.id} has more than {MOST_TAGS} tags")
    if not time_key(fact.ts):
        yield Problem("warning", SHOWN, line, "fact.time", f"{fact.id} has no time that can be read, and counts as old")
