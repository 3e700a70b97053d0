"""A fact and the file of facts: its words, limits and exact objects, and the reader that goes line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from memory.base.clock import read_utc
from memory.base.secrets import PROSE_WORDS, find_secrets
from memory.base.values import folded
from memory.base.word_lists import STOP_WORDS
from memory.errors import ConfigError
from memory.storage import Change

FILE = "memory/memories.jsonl"
"""The file of facts, relative to the system's folder."""
MARK = "memory/memories.seq"
"""The file with the highest number ever given to a fact; beside the facts, so that it lives as long as they do."""
SETTINGS = "agent.json"
"""Where an agent keeps the limits, relative to the system's folder."""
FOLDER = ".aegis"
"""The system's folder, from the workspace on."""
SHOWN = f"{FOLDER}/{FILE}"
"""The file of facts as seen from the workspace."""

SCOPES = ("user", "workspace", "session")
DEFAULT_SCOPE = "workspace"
MOST_CHARACTERS = 500
MOST_TAGS = 5

EMPTY_TEXT = "text is empty"
LONG_TEXT = f"text is longer than {MOST_CHARACTERS} characters"
BAD_TEXT = "text is not valid Unicode"
SECRET = "text appears to contain a secret — not stored"
BAD_SCOPE = f"scope must be one of {', '.join(SCOPES)}"
MANY_TAGS = f"at most {MOST_TAGS} tags"
BAD_TAG = "a tag is empty or not valid Unicode"

_NUMBER = re.compile(r"m-([0-9]{1,18})")


class Fact(NamedTuple):
    """One fact of the file; `line` counts from 0, `ts` is the text in the file.

    `tags` is empty where the file has none, `scope` the default where it has none.
    """

    id: str
    scope: str
    text: str
    tags: tuple[str, ...]
    ts: str
    line: int

    @property
    def ref(self) -> str:
        """The ref that search, links and the change log use: `facts#m-4`."""
        return ref_of(self.id)

    @property
    def whole(self) -> str:
        """Everything in it that agents are told and a search looks through."""
        return " ".join((self.id, *self.tags, self.text))

    @property
    def title(self) -> str:
        """The text on one line."""
        return one_line(self.text)

    @property
    def number(self) -> int:
        """The number in its id; -1 for an id of another form."""
        match = _NUMBER.fullmatch(self.id)
        return -1 if match is None else int(match[1])

    def json(self) -> dict[str, Any]:
        """Return the fact as the JSON object of a search result."""
        return {"id": self.id, "text": self.text, "tags": list(self.tags), "scope": self.scope, "ts": self.ts}


class UnreadLine(NamedTuple):
    """A line that is not a fact: it does not parse or has no id. It stays in the file; `line` counts from 0."""

    line: int
    why: str


class Answer(NamedTuple):
    """The result of a change: the change, the ids of the new facts, and the facts that went.

    Where nothing was written there is no change, and `error` says why, unless there was nothing to do.
    """

    change: Change | None = None
    ids: tuple[str, ...] = ()
    gone: tuple[Fact, ...] = ()
    error: str = ""

    def json(self) -> dict[str, Any]:
        """Return the answer for programs."""
        if self.error:
            return {"ok": False, "error": self.error}
        return {"ok": True, "id": self.ids[0]} if self.ids else {"ok": True}


def found(facts: Sequence[Fact]) -> dict[str, Any]:
    """Return the JSON object of a search result."""
    return {"count": len(facts), "memories": [fact.json() for fact in facts]}


def ref_of(fact_id: str) -> str:
    """Return the ref of an id."""
    return f"facts#{fact_id}"


def one_line(text: str) -> str:
    """Return text in which every line end is a space."""
    return " ".join(text.splitlines())


def refusal(text: str, tags: Sequence[str], scope: str) -> str | None:
    """Return why a fact must not be stored, None where it may be.

    The checks in order: empty, too long, not Unicode, secret, scope, tags. The reason never repeats the text.
    """
    if not text.strip():
        return EMPTY_TEXT
    if len(text) > MOST_CHARACTERS:
        return LONG_TEXT
    if not _encodable(text):
        return BAD_TEXT
    if holds_secret(text):
        return SECRET
    if scope not in SCOPES:
        return BAD_SCOPE
    if len(tags) > MOST_TAGS:
        return MANY_TAGS
    if not all(tag.strip() and _encodable(tag) for tag in tags):
        return BAD_TAG
    return SECRET if any(map(holds_secret, tags)) else None


_AUTHORIZATION = re.compile(r"authorization[\"']?\s*[:=]\s*[\"']?bearer\s+\S", re.IGNORECASE)
_STATED = re.compile(r"(?:token|password|passwd|pwd)[\"'`*]*\s*[:=][\"'`*]*\s*(?=(\S[^\r\n]*))", re.IGNORECASE)
_BEARER = re.compile(r"\b(?:Bearer|BEARER)\s+(?=(\S[^\r\n]*))")
_STANDS_FOR = re.compile(r"[<$\[{(*%\u2026]|\.\.\.")
_USUAL = PROSE_WORDS | STOP_WORDS


def holds_secret(text: str) -> bool:
    """Return whether a text has what looks like a secret, or something after `token:`, `password:` or `Bearer`.

    Any text after these counts, unless it is prose or a placeholder; after `Authorization: Bearer`
    even those count.
    """
    if find_secrets(text, plain_words=True) or _AUTHORIZATION.search(text):
        return True
    return not all(_is_prose(rest) for pattern in (_STATED, _BEARER) for rest in pattern.findall(text))


def _is_prose(text: str) -> bool:
    """Return whether a text is a placeholder, begins with a word about secrets, or is a sentence of some words."""
    words = [word.strip(".,;:!?)\"'`*").casefold() for word in text.split()[:6]]
    if _STANDS_FOR.match(text) or (words[0] in _USUAL and (len(words) > 1 or len(words[0]) > 1)):
        return True
    return len(words) > 2 and all(map(str.isalpha, words)) and not _USUAL.isdisjoint(words[1:])


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- the limits of injection and storing, from `memory` in `.aegis/agent.json` ----------------------------------------

MODES = ("relevant", "recent_only", "off")
_WHERE = f"{FOLDER}/{SETTINGS}"
_MOST = 10**9


class FactLimits(NamedTuple):
    """The limits: characters of text and facts in one injection, facts in the file."""

    inject_mode: str = "relevant"
    max_inject_chars: int = 2000
    max_inject_count: int = 10
    max_total: int = 500


def read_settings(data: bytes | None) -> FactLimits:
    """Return the settings of a file; a value that is missing, null or zero is the default.

    ConfigError `facts.settings` for an unknown mode, a value that is not a number, and a file that does not parse.
    """
    if data is None:
        return FactLimits()
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(data, "is not JSON that can be read", "", line=getattr(error, "lineno", 0)) from None
    memory = (values.get("memory") or {}) if isinstance(values, dict) else None
    if not isinstance(memory, dict):
        raise _bad(data, 'has no object "memory"', "memory")
    found = {key: value for key in FactLimits._fields if (value := memory.get(key))}
    for key, value in found.items():
        shown = repr(str(value)[:40])
        if key == "inject_mode":
            if value not in MODES:
                raise _bad(data, f"has the inject_mode {shown}", key, f"use one of {', '.join(MODES)}")
        elif isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _MOST:
            raise _bad(data, f"has {shown} as {key}", key, f"write a whole number below {_MOST:,}")
    return FactLimits(**found)


def _bad(data: bytes, what: str, key: str, hint: str = "fix it", line: int = 0) -> ConfigError:
    """Return the error for a key, or for JSON that cannot be read, with its line where that can be found."""
    line = line or data.count(b"\n", 0, max(data.find(f'"{key}"'.encode()), 0)) + 1
    return ConfigError("facts.settings", f"{_WHERE}:{line}: it {what}", hint, file=_WHERE, line=line, field=key)


_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_BOM = "\ufeff"
SEARCH_LIMIT = 20
"""How many facts a search returns at most."""


class FactsOfFile:
    """All facts of one version of the file; immutable.

    `facts` are in file order. `ranked` are the same from the oldest to the newest: by time, then by number, then by
    line; a fact whose time cannot be read counts as older than all others. `unread` are the lines that are not facts.
    """

    def __init__(self, data: bytes, facts: Sequence[Fact], unread: Sequence[UnreadLine]) -> None:
        """Keep what was read."""
        self.data, self.facts, self.unread = data, facts, unread

    @cached_property
    def highest(self) -> int:
        """The highest number of an id, 0 without any."""
        return max((fact.number for fact in self.facts if fact.number >= 0), default=0)

    @cached_property
    def ranked(self) -> Sequence[Fact]:
        """The facts from the oldest to the newest."""
        return sorted(self.facts, key=lambda fact: (time_key(fact.ts), fact.number))

    @property
    def newest(self) -> Sequence[Fact]:
        """The facts from the newest to the oldest."""
        return self.ranked[::-1]

    def over(self, most: int) -> Sequence[Fact]:
        """Return the oldest facts beyond a number of facts."""
        return self.ranked[: max(len(self.facts) - most, 0)]

    def find(self, query: str | None, tag: str | None, limit: int = SEARCH_LIMIT) -> tuple[Fact, ...]:
        """Return the newest facts whose text contains the query and that have the tag, in any case and form of accents;
        `limit` 0 is all.

        A criterion that is not given matches every fact.
        """
        part, wanted = folded(query or ""), None if tag is None else folded(tag)
        found = (
            fact
            for fact in self.newest
            if part in folded(fact.text) and (wanted is None or wanted in map(folded, fact.tags))
        )
        return tuple(islice(found, limit or None))

    def get(self, fact_id: str) -> Fact | None:
        """Return the first fact with an id, None where there is none."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)


@lru_cache(maxsize=4)
def read_facts(data: bytes) -> FactsOfFile:
    """Return the facts of a file; the same object for the same bytes while it is one of the last few."""
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    facts: list[Fact] = []
    unread: list[UnreadLine] = []
    for number, line in enumerate(text.split("\n")):
        if _NOT_UTF8.search(line):
            unread.append(UnreadLine(number, "it is not valid UTF-8"))
        elif line.strip(" \t\r"):
            one = read_line(line, number)
            if isinstance(one, Fact):
                facts.append(one)
            else:
                unread.append(one)
    return FactsOfFile(data, facts, unread)


def read_line(line: str, number: int) -> Fact | UnreadLine:
    """Read one line with the JSON parser; it accepts escapes, any order of keys, and further keys."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return UnreadLine(number, "it is not JSON")
    if not isinstance(values, dict):
        return UnreadLine(number, "it is not a JSON object")
    fact_id = values.get("id")
    if not isinstance(fact_id, str) or not fact_id:
        return UnreadLine(number, "it has no id")
    text, scope, ts = (values.get(key) for key in ("text", "scope", "ts"))
    tags = values.get("tags")
    return Fact(
        fact_id,
        scope if isinstance(scope, str) and scope else DEFAULT_SCOPE,
        text if isinstance(text, str) else "",
        tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        ts if isinstance(ts, str) else "",
        number,
    )


def time_key(ts: str) -> str:
    """Return a time in a form that sorts: UTC, with microseconds where it has any; empty where it is not a time."""
    moment = read_utc(ts)
    return "" if moment is None else moment.isoformat().removesuffix("+00:00")
