"""A fact and the words of the format: scopes, limits, the exact objects that programs get."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.storage import Change

FILE = "memory/memories.jsonl"
"""The file of facts, relative to the system's folder."""
MARK = "memory/memories.seq"
"""The highest number that was ever given to a fact; beside the file, so that it lives as long."""
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
    """One fact as it stands in the file; `line` counts from 0, `ts` is kept as it was written.

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
    def title(self) -> str:
        """The text on one line."""
        return one_line(self.text)

    @property
    def number(self) -> int:
        """The number in its id; -1 for an id of another form."""
        return number_of(self.id)

    def json(self) -> dict[str, Any]:
        """Return the object that a search gives for it."""
        return {"id": self.id, "text": self.text, "tags": list(self.tags), "scope": self.scope, "ts": self.ts}


class UnreadLine(NamedTuple):
    """A line that is no fact: it does not parse, or has no id; it stays where it is. `line` counts from 0."""

    line: int
    why: str


class KeptFact(NamedTuple):
    """A fact was stored: its id, the change, and the ids of facts that had to go for it."""

    id: str
    change: Change
    pruned: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {"ok": True, "id": self.id}


class Deleted(NamedTuple):
    """A fact was deleted."""

    id: str
    change: Change

    def json(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {"ok": True}


class RefusedFact(NamedTuple):
    """Nothing was written, for the reason in `error`."""

    error: str

    def json(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {"ok": False, "error": self.error}


def found(facts: Sequence[Fact]) -> dict[str, Any]:
    """Return the answer of a search for programs."""
    return {"count": len(facts), "memories": [fact.json() for fact in facts]}


def ref_of(fact_id: str) -> str:
    """Return the ref of an id."""
    return f"facts#{fact_id}"


def number_of(fact_id: str) -> int:
    """Return the number of an id such as `m-4`; -1 for one of another form."""
    match = _NUMBER.fullmatch(fact_id)
    return -1 if match is None else int(match[1])


_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")


def one_line(text: str) -> str:
    """Return text in which every character that ends a line is a space; the length stays."""
    return text.translate(_BREAKS)


def refusal(text: str, tags: Sequence[str], scope: str) -> str | None:
    """Return why a fact is not to be stored, None where it may be.

    The order: empty, too long, no Unicode, secret, scope, tags. What was found is never repeated.
    """
    from memory.base.secrets import find_secrets

    if not text.strip():
        return EMPTY_TEXT
    if len(text) > MOST_CHARACTERS:
        return LONG_TEXT
    if not _encodable(text):
        return BAD_TEXT
    if any(True for _ in find_secrets(text, plain_words=True)):
        return SECRET
    if scope not in SCOPES:
        return BAD_SCOPE
    if len(tags) > MOST_TAGS:
        return MANY_TAGS
    if not all(tag.strip() and _encodable(tag) for tag in tags):
        return BAD_TAG
    if any(True for tag in tags for _ in find_secrets(tag, plain_words=True)):
        return SECRET
    return None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
