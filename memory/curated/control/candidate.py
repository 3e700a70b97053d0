"""A candidate: a proposal to remember, change or forget something; and the folder as the controller sees it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeVar

from memory.base.words import content_words, is_unspaced
from memory.curated.control.decision import of_root
from memory.curated.files.header import BadFile, body_of, check_writable
from memory.curated.files.listing import read_file, read_first
from memory.curated.files.names import slug, spellings
from memory.curated.index.catalog import Catalog, body_hash, memories
from memory.curated.index.records import Records
from memory.curated.model import AUTONOMOUS, ORIGINS, Header, Invalid, Memory, Root
from memory.errors import UsageError
from memory.search.word_index import Filter, WordIndex, either, quoted
from memory.storage import Store

LONGEST = 160
"""The most characters of a description made of a text."""
DELETING = ("delete", "forget", "remove")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal for one folder of memories. `content` is the body; `header` is None where the memory is to be deleted.

    `entity` and `attribute` name the fact that it is about. `metadata` may hold `operation` (delete, forget, remove),
    `target_filename` or `filename`, and `reason`; other keys are only hashed. `key` is the caller's own idempotency
    key. `edits` says that the file named by `target_filename` exists and is to be changed, `base` is the SHA-256 of the
    bytes from which the change started. `only_new` says that no existing memory may be changed.
    """

    root: Root
    origin: str
    header: Header | None
    content: str
    entity: str = ""
    attribute: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    edits: bool = False
    base: str | None = None
    workspace_id: str = ""
    only_new: bool = False

    @property
    def deletes(self) -> bool:
        """Whether it proposes to forget a memory."""
        return (self.metadata.get("operation") or self.metadata.get("op") or "").lower() in DELETING

    @property
    def target(self) -> str | None:
        """The file that it names, None where the file is chosen by the memory's name."""
        return self.metadata.get("target_filename") or self.metadata.get("filename") or None

    @property
    def hash(self) -> str:
        """The SHA-256 of its content; the time of the proposal is not part of it."""
        header = None if self.header is None else self.header.json()
        about = (self.content.strip(), self.entity, self.attribute, sorted(self.metadata.items()))
        text = json.dumps([self.workspace_id, self.origin, self.root.json(), header, *about], sort_keys=True)
        return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())

    def check(self) -> None:
        """Raise UsageError `memory.validation` for what needs no rule: no content, no name, an unknown type."""
        if self.origin not in ORIGINS:
            raise _invalid("origin", f"{self.origin[:40]!r} is no origin")
        if self.metadata.get("raw_content") is not None:
            raise _invalid("raw_content", "the controller writes the file itself, it takes no raw content")
        if self.deletes:
            if not self.target:
                raise _invalid("target_filename", "a memory to delete is named by its file")
            return
        if self.header is None:
            raise _invalid("frontmatter", "name, description and type are missing")
        try:
            check_writable(self.header)
        except BadFile as bad:
            raise _invalid(bad.code.rpartition(".")[2], bad.reason) from None
        if not self.content.strip():
            raise _invalid("content", "the content is empty")


def _invalid(name: str, message: str) -> UsageError:
    return UsageError("memory.validation", message, field=name)


def first_line(text: str) -> str:
    """Return the beginning of the first line with text, which describes a memory without a description."""
    return next((" ".join(line.split())[:LONGEST] for line in text.splitlines() if line.strip()), "")


def slot(text: str) -> str:
    """Return an entity or attribute in the form used for comparison: in lower case, with single spaces."""
    return " ".join(text.casefold().split())


T = TypeVar("T")
SHARED_WORDS = 2
"""How many content words two memories must share before one may be meant by the other."""
_MOST = 200


class View:
    """One folder as it is now; create it while the lock is held."""

    def __init__(self, store: Store, catalog: Catalog, records: Records, root: Root) -> None:
        """Keep where to look."""
        self._store, self._catalog, self._records, self._root = store, catalog, records, root

    def file(self, name: str) -> Memory | Invalid | None:
        """Return a file by its name, also where it is written with underscores; None where there is none."""
        return read_first(self._store, self._root, spellings(name))

    def same_body(self, body: str) -> list[Memory]:
        """Return the memories with the same body, ignoring case and spaces."""
        return self._select("body_hash = ?", (body_hash(body),))

    def was_deleted(self, body: str) -> bool:
        """Return whether a memory with that body was deleted otherwise than by an autonomous origin, in any scope."""
        marks = ",".join("?" * len(AUTONOMOUS))
        text = (
            "SELECT prior_content FROM memory_decisions WHERE op = 'delete' AND applied_at IS NOT NULL AND"
            f" (origin NOT IN ({marks}) OR reverts IS NOT NULL) AND prior_content IS NOT NULL"
        )
        rows: list[tuple[bytes]] = self._records.look(lambda db: db.execute(text, AUTONOMOUS).fetchall(), [])
        wanted = body_hash(body)
        return any(body_hash(body_of(data)) == wanted for (data,) in rows)

    def slot(self, entity: str, attribute: str) -> list[Memory]:
        """Return the memories about an entity and an attribute: as they were written, or by name and type."""
        where, values = of_root(self._root)
        rows: list[tuple[str]] = self._records.look(
            lambda db: db.execute(
                f"SELECT target_filename FROM memory_decisions WHERE {where} AND entity = ? AND attribute = ? AND"
                " op IN ('add', 'update') AND applied_at IS NOT NULL",
                [*values, slot(entity), slot(attribute)],
            ).fetchall(),
            [],
        )
        named = {row[0] for row in rows}
        found = self._select("type = ? AND slug = ?", (slot(attribute), slug(entity)))
        for name in sorted(named - {one.filename for one in found}):
            one = read_file(self._store, self._root, name)
            if isinstance(one, Memory):
                found.append(one)
        return found

    def alike(self, content: str) -> list[Memory]:
        """Return the memories whose body shares at least two content words with a text, by file name."""
        wanted = _compared(content)
        if len(wanted) < SHARED_WORDS:
            return []
        here = "EXISTS (SELECT 1 FROM memory_catalog_entries e WHERE e.id = @ AND e.root = ?)"
        only = Filter(here, (self._root.key,))
        expression = either([quoted(word) for word in sorted(wanted)])
        numbers = self._look(lambda db: WordIndex(db).best(expression, only, _MOST))
        found = self._select(f"id IN ({','.join('?' * len(numbers))})", numbers) if numbers else []
        alike = [one for one in found if len(wanted & _compared(one.body)) >= SHARED_WORDS]
        return sorted(alike, key=lambda one: one.filename)

    def _select(self, where: str, values: object) -> list[Memory]:
        return self._look(lambda db: memories(db, (self._root,), where, values))  # type: ignore[arg-type]

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return a query's result."""
        return self._catalog.read((self._root,), work)


def _compared(text: str) -> frozenset[str]:
    """Return the content words of three letters or more, and pairs of unspaced writing."""
    words = content_words(text)
    return frozenset(word for word in words if len(word) > 1 + (not is_unspaced(word)))
