"""The inbox: `_inbox/<session>/<time>-<number>.jsonl`, one candidate per line, consumed with the oldest file first.

Each line is read strictly and goes through the controller. Candidates that failed are kept beside the inbox, one file
each with the reason; they can be put back.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.safe_text import plural
from memory.base.secrets import masked
from memory.curated.control.decision import Candidate
from memory.curated.control.propose import propose, recent_writes
from memory.curated.curated import Curated
from memory.curated.files import check_session, is_segment, listed_names
from memory.curated.model import DEFAULT_SCOPE, FOLDER, SYSTEM, TYPES, Header, Json, OperationCall, Provenance, Root
from memory.curated.sides import Side
from memory.errors import BlockedError, MemdeckError, RefusedError, UsageError
from memory.storage.fsio import remove_folders
from memory.storage.transaction import Transaction

UPKEEP = "maintain"
"""The actor that moves lines between the inbox and the failures; the drainer is the actor of the decisions."""
INBOX, FAILURES = f"{FOLDER}/_inbox", f"{FOLDER}/{SYSTEM}/extractor/failures"
"""The folders of suggestions that wait, and of those that failed."""
LARGEST = 4 * 1024 * 1024
"""The largest inbox file that is read, in bytes."""
WAITING = "waiting"
"""What became of a line whose decision waits for a person as a proposal: it left the inbox."""
_MINE = ("memory.extractor.", "memory.validation", "memory.scope.", "memory.file_invalid", "memory.exists",
         "memory.idempotency_conflict")  # fmt: skip
"""The error codes that are the fault of a line; with any other, the line waits."""
_TEXTS = (
    "workspace_id", "scope", "agent_name", "agent_tier", "origin", "type", "name", "description", "evidence", "content",
    "entity", "attribute", "submitted_at", "idempotency_key",
)  # fmt: skip
_HEADER = ("name", "description", "type", "scope", "agent_name", "agent_tier")
_WORDS = 8
"""How many words of the content serve as a name."""


class InboxFile(NamedTuple):
    """A waiting file in the inbox of a side; `path` is relative to the store's root."""

    side: Side
    session: str
    name: str
    path: str
    mtime_ns: int
    size: int

    def waits(self) -> int:
        """Return how many lines wait in it; only lines that could be consumed are counted."""
        return 0 if self.size > LARGEST else len(list(_lines(self.side.store.read(self.path).data)))


def stamp(now: datetime) -> str:
    """Return a time in the form of file names, which sort like the times."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S.%f}Z"


def waiting(curated: Curated, session: str | None = None) -> list[InboxFile]:
    """Return the waiting files, in the order in which they are consumed; links and other names are skipped."""
    found = []
    for side in curated.sides.values():
        for name in listed_names(side.store, INBOX, stat.S_ISDIR, is_segment):
            for file in listed_names(side.store, f"{INBOX}/{name}", stat.S_ISREG, is_segment):
                path = f"{INBOX}/{name}/{file}"
                try:
                    seen = os.lstat(side.store.root / path)
                except OSError:
                    continue
                if file.endswith(".jsonl") and session in (None, name):
                    found.append(InboxFile(side, name, file, path, seen.st_mtime_ns, seen.st_size))
    return sorted(found, key=lambda one: (one.name, one.session, one.side.name))


def put(side: Side, session: str, name: str, rows: Sequence[Json], call: OperationCall) -> str:
    """Put candidates into the inbox of a side as one file and return its path; an existing file of that name stays."""
    path = f"{INBOX}/{check_session(session)}/{name}"
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")
    side.prepare(actor=call.actor, now=call.now)

    def plan(transaction: Transaction) -> str:
        if transaction.read(path).exists:
            return ""
        transaction.write(path, data, base=None)
        return f"added {plural(len(rows), 'suggestion')} from session {session}"

    side.change("curated.inbox", plan, actor=call.actor, now=call.now)
    return path


# -- what failed ----------------------------------------------------------------------------------------------------


def _short(*parts: str) -> str:
    """Return twelve hex digits for some texts, different for other texts: names that are replayed do not grow."""
    return str(sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest())[:12]


def failure(file: InboxFile, line: int, error: MemdeckError, data: bytes, now: datetime) -> Json:
    """Return the record of a line that failed; its `stage` is decode or controller."""
    return {
        "id": f"{stamp(now)}-{_short(file.session, file.path, str(line))}",
        "stage": "decode" if error.code.startswith("memory.extractor.") else "controller",
        "session_id": file.session, "workspace_id": file.side.workspace_id or None, "agent_name": None,
        "source": file.path, "line": line, "reason": f"{error.code}: {error.message}", "recorded_at": format_utc(now),
        "content": data.decode("utf-8", "backslashreplace"),
    }  # fmt: skip


def keep_failures(transaction: Transaction, found: Sequence[Json]) -> None:
    """Plan to write records of failures, their secrets masked, in a transaction of the caller."""
    for one in found:
        text = json.dumps({**masked(one), "id": one["id"]}, ensure_ascii=False, indent=2) + "\n"
        transaction.write(f"{FAILURES}/{one['id']}.json", text.encode("utf-8", "replace"), base=None)


def failures(curated: Curated, session: str | None = None) -> list[tuple[Side, Json]]:
    """Return the failure records with their sides, the oldest first; for an invalid file, a record that says so."""
    found = []
    for side in curated.sides.values():
        for name in listed_names(side.store, FAILURES, stat.S_ISREG, lambda name: name.endswith(".json")):
            path = f"{FAILURES}/{name}"
            try:
                values = json.loads(side.store.read(path).data)
                record = masked({"reason": "", "stage": "", "session_id": None, **values})
            except (ValueError, TypeError, RecursionError, MemdeckError):
                record = {"reason": "the record itself cannot be read", "stage": "record", "session_id": None}
            record |= {"id": name.removesuffix(".json"), "path": path, "created_at": record.get("recorded_at")}
            if session in (None, record["session_id"]):
                found.append((side, record))
    return sorted(found, key=lambda pair: str(pair[1]["id"]))


def put_back(side: Side, record: Json, *, now: datetime) -> bool:
    """Put a failed line into the inbox again and remove its record, in one step; False where that is impossible."""
    try:
        data = record["content"].encode("utf-8", "surrogatepass")
        session = check_session(record["session_id"])
    except (KeyError, TypeError, ValueError, AttributeError, UsageError):
        return False
    if b"\n" in data.strip():
        return False
    target = f"{INBOX}/{session}/{stamp(now)}-{_short(str(record['id']))}.jsonl"

    def move(transaction: Transaction) -> str:
        stored = transaction.read(record["path"])
        if stored.base is None:
            return ""
        transaction.write(target, data.strip() + b"\n", base=transaction.read(target).base)
        transaction.remove(record["path"], base=stored.base)
        return f"queued a failed suggestion from session {session} again"

    return side.change("curated.replay-failure", move, actor=UPKEEP, now=now)


# -- consuming ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Drained:
    """The result of consuming the inbox: decided lines by operation, failed lines, and what still waits."""

    decisions: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    remaining: int = 0
    reason: str = ""

    @property
    def consumed(self) -> int:
        """How many lines left the inbox."""
        return self.decisions.total() + self.failed


class _Later(Exception):
    """Why a line has to wait in the inbox."""


def consume(
    curated: Curated, call: OperationCall, *, session: str | None = None, seconds: float | None = None
) -> Drained:
    """Decide on the lines in the inboxes, the oldest file first; within `seconds`, where given.

    A crash in between never decides on a line twice, because each has its own key. MemdeckError where the machine
    fails; undecided lines wait.
    """
    done = Drained()
    end = None if seconds is None else time.monotonic() + seconds
    for file in waiting(curated, session):
        if end is not None and time.monotonic() > end:
            done.reason = "the time is over"
            break
        _consume(curated, file, done, call)
    done.remaining = count(curated, session)
    return done


def count(curated: Curated, session: str | None = None) -> int:
    """Return how many lines wait."""
    return sum(file.waits() for file in waiting(curated, session))


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line.strip()


def _consume(curated: Curated, file: InboxFile, done: Drained, call: OperationCall) -> None:
    side, now = file.side, call.now
    if file.size > LARGEST:
        words = f"{side.store.shown(file.path)} is larger than {LARGEST:,} bytes"
        raise MemdeckError("memory.extractor.too_large", words, "split it", file=file.path)
    stored = side.store.read(file.path)
    if stored.base is None:
        return
    facts: Json = {"session_id": file.session, "target_id": file.name}
    side.records.event("memory.extractor.started", now, **facts, candidate_count=len(list(_lines(stored.data))))
    bad: list[Json] = []
    decisions: Counter[str] = Counter()
    left = b""
    for number, line in _lines(stored.data):
        try:
            decisions[_decide(curated, file, number, line, call)] += 1
        except _Later as why:
            done.reason = done.reason or str(why)
            left += line + b"\n"
        except MemdeckError as error:
            if not error.code.startswith(_MINE):
                raise
            bad.append(failure(file, number, error, line, now))
    number = decisions.total() + len(bad)

    def put_away(transaction: Transaction) -> str:
        # Another process may have consumed it, or a program added to it, since it was read.
        if transaction.read(file.path).base != stored.base:
            return ""
        keep_failures(transaction, bad)
        if left:
            transaction.write(file.path, left, base=stored.data)
        else:
            transaction.remove(file.path, base=stored.data)
        failed = f"; {len(bad)} failed" if bad else ""
        return f"processed {plural(number, 'suggestion')} from session {file.session}{failed}"

    # What the lines said was decided in the caller's name; to clear the inbox is memdeck's own upkeep.
    if not number or not side.change("curated.extract", put_away, actor=UPKEEP, now=now):
        return
    side.store.forget(file.path)
    if not left:
        remove_folders([side.store.root / file.path.rpartition("/")[0]])
    done.decisions += decisions
    done.failed += len(bad)
    for one in bad:
        noted = {"session_id": file.session, "failure_id": one["id"], "reason": one["reason"][:200]}
        side.records.event("memory.extractor.failed", now, target_id=file.path, **noted)
    side.records.event("memory.extractor.completed", now, **facts, candidate_count=number, decisions=decisions)


def _decide(curated: Curated, file: InboxFile, number: int, line: bytes, call: OperationCall) -> str:
    """Return what became of a line: the operation decided on, or `waiting` for a proposal that a person has to accept.

    _Later where it has to wait in the inbox, MemdeckError for an error that the line causes.
    """
    candidate = read_line(line, curated, file.side.name, file.session)
    digest = sha256(line).hexdigest()[:16]
    key = candidate.key or f"inbox:{file.session}/{file.name}:{number}:{digest}:{file.mtime_ns}"
    most = curated.settings["controller.policy.max_writes_per_min"]
    if recent_writes(curated.side_of(candidate.root), call.now) >= most:
        # A reject because of too many writes would lose the line.
        raise _Later(f"there were {most} writes in this minute; the rest waits")
    try:
        return propose(curated, candidate._replace(key=key), call).decision.op
    except BlockedError:
        return WAITING
    except RefusedError as error:
        if error.code == "review.denied":
            raise _Later(error.message) from error
        raise


# -- one line -------------------------------------------------------------------------------------------------------


def read_line(data: bytes, curated: Curated, side: str, session: str) -> Candidate:
    """Return a line of the inbox of a side (`global`, `workspace`) as a candidate of the extractor.

    UsageError `memory.extractor.line` for an invalid line, and what choosing a scope raises; _Later. The inbox of a
    workspace may have come with a repository, so its lines are about that workspace only.
    """
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(f"it is not JSON: {str(error)[:80]}") from None
    if not isinstance(values, dict):
        raise _bad("it is not a JSON object")
    found = _checked(values, _TEXTS, ("frontmatter", "metadata"))
    texts = {**found, **_checked(found.get("frontmatter", {}), _HEADER, ("provenance",))}
    metadata = found.get("metadata", {})
    if any(not isinstance(value, str) for value in metadata.values()):
        raise _bad("metadata may hold only strings")
    kind, content, origin = texts.get("type", ""), texts.get("content", "").strip(), texts.get("origin")
    if origin not in (None, "", "extractor"):
        raise _bad(f"its origin is {origin!r}, but the inbox belongs to the extractor")
    if kind not in TYPES:
        raise _bad(f"its type is {kind[:40]!r}, not one of {', '.join(TYPES)}")
    root = _root(curated, side, texts, kind)
    entity, attribute = texts.get("entity", ""), texts.get("attribute", "")
    name = texts.get("name") or f"{entity} {attribute}".strip() or " ".join(content.split()[:_WORDS])
    description = texts.get("description") or texts.get("evidence") or next(iter(content.splitlines()), "")[:160]
    source = Provenance("extractor", (session,), "candidate")
    header = Header(name, " ".join(description.split()), kind, root.scope, root.agent, root.tier, source)
    facts = {**metadata, "session_id": session}
    key = texts.get("idempotency_key") or None
    return Candidate(root, "extractor", header, content, entity, attribute, facts, key)


def _checked(values: Json, texts: Sequence[str], objects: Sequence[str]) -> Json:
    """Return the values of an object without those that are null; UsageError for unknown names and other types."""
    for key, value in values.items():
        if key not in (*texts, *objects):
            raise _bad(f"there is no argument {key[:60]!r}")
        if value is not None and not isinstance(value, str if key in texts else dict):
            raise _bad(f"{key} is no {'string' if key in texts else 'object'}")
    return {key: value for key, value in values.items() if value is not None}


def _root(curated: Curated, side: str, texts: Mapping[str, str], kind: str) -> Root:
    agent = texts.get("agent_name") or None
    scope = texts.get("scope") or ("agent" if agent else None)
    if scope is None:
        wanted = DEFAULT_SCOPE[kind]
        scope = wanted if side == "global" and wanted in curated.sides else side
    tier = texts.get("agent_tier") or ("workspace" if "workspace" in curated.sides else "global")
    own = curated.workspace_id()
    about = texts.get("workspace_id") or own
    if scope == "workspace" or (scope == "agent" and tier == "workspace"):
        if side == "global" and (about != own or "workspace" not in curated.sides):
            raise _Later("some lines are about another workspace")
        if about != own:
            raise _bad("it is about another workspace")
    root = curated.root(scope, agent, tier) if scope == "agent" else curated.root(scope)
    if side == "workspace" and root.side != "workspace":
        raise _bad("the inbox of a workspace is about that workspace only")
    return root


def _bad(message: str) -> UsageError:
    return UsageError("memory.extractor.line", message, "fix it and put it into the inbox again")
