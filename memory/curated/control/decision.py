"""A candidate, which is a proposal to remember, change or forget something, the folder as the controller sees it, and a
decision: what to do, why, and all that is needed to do it or to revert it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from memory.base.scan import rejecting
from memory.base.words import content_words, is_unspaced
from memory.curated.catalog import body_hash, memories
from memory.curated.files import BadFile, body_of, check_writable, digest, read, read_file, read_first, slug, spellings
from memory.curated.model import AUTONOMOUS, ORIGINS, Header, Invalid, Json, Memory, Root
from memory.curated.records import add_event, keep_value, milliseconds, time_of, value_of
from memory.curated.sides import Side, root_of
from memory.errors import UsageError
from memory.search.word_index import Filter, WordIndex, either, quoted

LONGEST = 160
"""The most characters of a description made of a text."""
DELETING = ("delete", "forget", "remove")


class Candidate(NamedTuple):
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
    metadata: Mapping[str, str] = {}
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
            raise _invalid("origin", f"{self.origin[:40]!r} is not an origin")
        if self.metadata.get("raw_content") is not None:
            raise _invalid("raw_content", "the controller writes the file; it does not accept raw content")
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


# -- the folder as the controller sees it ----------------------------------------------------------------------------

T = TypeVar("T")
SHARED_WORDS = 2
"""How many content words two memories must share before one may be meant by the other."""
_MOST = 200


class View:
    """One folder as it is now; create it while the lock is held."""

    def __init__(self, side: Side, root: Root) -> None:
        """Keep where to look."""
        self._side, self._root = side, root

    def file(self, name: str) -> Memory | Invalid | None:
        """Return a file by its name, also where it is written with underscores; None where there is none."""
        return read_first(self._side.store, self._root, spellings(name))

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
        rows: list[tuple[bytes]] = self._side.records.look(lambda db: db.execute(text, AUTONOMOUS).fetchall(), [])
        wanted = body_hash(body)
        return any(body_hash(body_of(data)) == wanted for (data,) in rows)

    def slot(self, entity: str, attribute: str) -> list[Memory]:
        """Return the memories about an entity and an attribute: as they were written, or by name and type."""
        where, values = of_root(self._root)
        rows: list[tuple[str]] = self._side.records.look(
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
            one = read_file(self._side.store, self._root, name)
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
        return self._side.catalog.read((self._root,), work)


def _compared(text: str) -> frozenset[str]:
    """Return the content words of three letters or more, and pairs of unspaced writing."""
    words = content_words(text)
    return frozenset(word for word in words if len(word) > 1 + (not is_unspaced(word)))


# -- decisions -------------------------------------------------------------------------------------------------------

PROMPT_VERSION = "v1"
CHANGES = ("add", "update", "delete")
CHANGED = "op IN ('add', 'update', 'delete')"
"""The SQL condition that selects the decisions that change a file."""
SEEN = "log_seq"
"""The key of the newest change of the log for which the decisions are complete."""
ABSENT = "absent"
"""The hash of a file that does not exist."""


class RuleTrace(NamedTuple):
    """One rule that was tried; programs get the fields by their names."""

    name: str
    passed: bool
    reason: str
    target: str = ""
    details: str = ""


class Decision(NamedTuple):
    """One decision. `targets` are the files of the folder that it is about, `target_filename` the one that it writes.

    `prior` are the bytes before (None: no file), `prior_hash` their SHA-256 or `absent`; `post` the bytes after, with
    an empty hash where there are none. Times are milliseconds. `abandoned` says why it was never carried out.
    """

    root: Root
    op: str
    targets: tuple[str, ...]
    target_filename: str
    reason: str
    trace: tuple[RuleTrace, ...]
    confidence: float
    candidate_hash: str
    origin: str
    header: Json
    entity: str = ""
    attribute: str = ""
    prior: bytes | None = None
    prior_hash: str = ABSENT
    post: bytes | None = None
    post_hash: str = ""
    source: str = "rule"
    llm_trace: Json | None = None
    prompt_version: str = PROMPT_VERSION
    workspace_id: str = ""
    idempotency_key: str = ""
    id: str = ""
    reverts: str | None = None
    decided_at: int = 0
    applied_at: int | None = None
    abandoned: str | None = None
    seq: int = 0

    @property
    def changes(self) -> bool:
        """Whether it changes a file."""
        return self.op in CHANGES

    @property
    def source_file(self) -> str:
        """The file whose bytes are `prior`: the target itself, or the file that an update moves."""
        return self.targets[0] if self.op == "update" and self.targets else self.target_filename

    @property
    def title(self) -> str:
        """The title of its memory, after or before it; empty where neither is known, or the content scan rejects it."""
        if "name" in self.header or self.prior is None:
            return str(self.header.get("name", ""))
        try:
            name = read(self.prior, self.root)[0].name
        except BadFile:
            return ""
        return "" if rejecting((name,)) else name

    def keyed(self, before: str, own: str | None, now: datetime) -> Decision:
        """Return it with its key and id; `before` is the newest decision on the same file, `own` the caller's key.

        The key is made of the candidate, the file's previous content, and the position in the file's history: so the
        same memory can be written, forgotten and written again.
        """
        parts = (self.candidate_hash, self.op, ",".join(self.targets), self.target_filename, self.prior_hash, before,
                 self.prompt_version)  # fmt: skip
        key = f"caller:{own}" if own else sha256("\0".join(parts).encode()).hexdigest()
        name = "dec_" + sha256(f"{self.root.key}\0{key}".encode()).hexdigest()[:24]
        return self._replace(idempotency_key=key, id=name, decided_at=milliseconds(now))

    def json(self) -> Json:
        """Return it for programs, without the contents of files; `title` is the file name where no title is known."""
        hidden = ("scope", "agent_name", "agent_tier", "entity", "attribute", "prior_content", "post_content")
        return {
            **{column: getattr(self, _FIELDS.get(column, column)) for column in _COLUMNS if column not in hidden},
            **self.root.json(),
            "title": self.title or self.target_filename,
            "prior_hash": None if self.prior_hash == ABSENT else self.prior_hash,
            "targets": list(self.targets),
            "rule_trace": [one._asdict() for one in self.trace],
            "decided_at": time_of(self.decided_at),
            "applied_at": None if self.applied_at is None else time_of(self.applied_at),
        }


class Made(NamedTuple):
    """What happened to a file, `source` before and `name` after it; None for bytes where there is no file.

    `header` is that of the memory after it.
    """

    root: Root
    source: str
    before: bytes | None
    name: str
    after: bytes | None
    header: Json


def hash_of(data: bytes | None) -> str:
    """Return the SHA-256 of the bytes of a file, `absent` where there is none."""
    return ABSENT if data is None else digest(data)


def direct(
    side: Side, made: Made, rule: str, reason: str, details: str, origin: str, reverts: str | None = None
) -> Decision:
    """Return the decision, without key and id, that a rule has reached on a file without a candidate."""
    op = "add" if made.before is None else "delete" if made.after is None else "update"
    trace = (RuleTrace(rule, True, reason, made.name, details),)
    return Decision(
        made.root, op, () if op == "add" else (made.source,), made.name, reason, trace, 1.0,
        digest(f"{rule} {details}".encode()), origin, made.header, prior=made.before, prior_hash=hash_of(made.before),
        post=made.after, post_hash="" if made.after is None else digest(made.after), workspace_id=side.workspace_id,
        reverts=reverts,
    )  # fmt: skip


# -- rows ------------------------------------------------------------------------------------------

_COLUMNS = (
    "id", "candidate_hash", "idempotency_key", "workspace_id", "scope", "agent_name", "agent_tier", "op", "targets",
    "target_filename", "frontmatter", "entity", "attribute", "prior_hash", "prior_content", "post_content",
    "post_content_hash", "confidence", "source", "rule_trace", "llm_trace", "reason", "prompt_version", "origin",
    "reverts", "decided_at", "applied_at", "abandoned",
)  # fmt: skip
_FIELDS = {"frontmatter": "header", "prior_content": "prior", "post_content": "post", "post_content_hash": "post_hash",
           "rule_trace": "trace"}  # fmt: skip
"""The columns whose field has another name."""
_JSON = ("targets", "frontmatter", "rule_trace", "llm_trace")
_SELECT = f"SELECT seq, {', '.join(_COLUMNS)} FROM memory_decisions"
# The newest decision on a file distinguishes the next one from it, and is the one that users revert.
_OLD = (
    f"applied_at < ? AND seq NOT IN (SELECT max(seq) FROM memory_decisions WHERE {CHANGED}"
    " GROUP BY scope, agent_name, agent_tier, target_filename) ORDER BY seq"
)


def insert(side: Side, one: Decision, db: sqlite3.Connection) -> None:
    """Insert a decision into the records; the first one remembers where the change log was."""
    if value_of(db, SEEN) is None:
        keep_value(db, SEEN, side.store.history.state()[0])
    shown = one.json()
    values = {column: getattr(one, _FIELDS.get(column, column), None) for column in _COLUMNS} | one.root.json()
    values |= {key: json.dumps(shown[key], ensure_ascii=False) for key in _JSON if shown[key] is not None}
    marks = ",".join("?" * len(_COLUMNS))
    row = [values[column] for column in _COLUMNS]
    db.execute(f"INSERT INTO memory_decisions ({', '.join(_COLUMNS)}) VALUES ({marks})", row)


def select(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> list[Decision]:
    """Return the decisions that match a condition (with its order and limit)."""
    found = []
    for row in db.execute(f"{_SELECT} WHERE {where}", list(values)):
        one = dict(zip(("seq", *_COLUMNS), row, strict=True))
        root = root_of(*(one.pop(key) for key in ("scope", "agent_name", "agent_tier")))
        one |= {key: json.loads(one[key]) for key in _JSON if one[key] is not None}
        one["targets"] = tuple(one["targets"])
        one["rule_trace"] = tuple(RuleTrace(**trace) for trace in one["rule_trace"])
        found.append(Decision(root, **{_FIELDS.get(key, key): value for key, value in one.items()}))
    return found


def of_root(root: Root) -> tuple[str, list[Any]]:
    """Return the SQL condition that selects the decisions on one folder, and its values."""
    return "scope = ? AND agent_name IS ? AND agent_tier IS ?", [root.scope, root.agent, root.tier]


def decided(side: Side, key: str) -> Decision | None:
    """Return the decision with an idempotency key; None without one, and where the records cannot be read now."""
    found = side.records.look(lambda db: select(db, "idempotency_key = ?", [key]), list[Decision]())
    return found[0] if found else None


def prune(side: Side, days: int, now: datetime, *, dry_run: bool) -> tuple[int, list[Decision]]:
    """Delete decisions carried out so many days ago (0: none); return how many existed in all, and the deleted ones."""
    limit = milliseconds(now) - days * 86_400_000
    before = side.records.look(lambda db: int(db.execute("SELECT count(*) FROM memory_decisions").fetchone()[0]), 0)
    gone = [] if not days else side.records.look(lambda db: select(db, _OLD, [limit]), list[Decision]())
    if not gone or dry_run:
        return before, gone

    def write(db: sqlite3.Connection) -> None:
        for one in gone:
            db.execute("DELETE FROM memory_decisions WHERE id = ?", (one.id,))
        facts = {"count": len(gone), "first": gone[0].decided_at, "last": gone[-1].decided_at}
        add_event(db, side.records.workspace_id, "memory.decisions.pruned", now, None, facts)

    side.records.run(write)
    return before, gone
