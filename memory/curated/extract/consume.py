"""Consuming the inbox: line by line through the controller, then the file goes, with what failed kept one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.tries import again
from memory.curated.control.apply import propose, recent_writes
from memory.curated.control.candidate import Candidate
from memory.curated.model import Json
from memory.errors import BusyError, MemdeckError
from memory.storage.files.version import sha256
from memory.storage.fsio import remove_empty

from .failures import failure, plan
from .inbox import LARGEST, InboxFile, waiting
from .lines import Elsewhere, read_line

if TYPE_CHECKING:
    from memory.curated.curated import Curated

_MINE = ("memory.extractor.", "memory.validation", "memory.scope.", "memory.file_invalid", "memory.exists",
         "memory.idempotency_conflict")  # fmt: skip
"""The codes of errors that are those of a line; all others are of the machine, and the line waits."""


@dataclass(slots=True)
class Drained:
    """What became of the inbox: lines that were decided on, by operation, lines that failed, and what waits."""

    decisions: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    files: int = 0
    remaining: int = 0
    reason: str = ""

    @property
    def consumed(self) -> int:
        """How many lines left the inbox."""
        return sum(self.decisions.values()) + self.failed


class _Later(Exception):
    """Why the rest has to wait."""


def consume(
    curated: Curated, *, actor: str, now: datetime, session: str | None = None, seconds: float | None = None
) -> Drained:
    """Decide on what waits in the inboxes, the oldest file first; within `seconds`, where they are named.

    A crash in between decides on no line twice: each has a key of its own. MemdeckError where the machine fails; what
    was not decided on waits.
    """
    done = Drained()
    end = None if seconds is None else time.monotonic() + seconds
    for file in waiting(curated, session):
        if end is not None and time.monotonic() > end:
            done.reason = "the time is over"
            break
        try:
            _file(curated, file, done, actor, now)
        except Elsewhere:
            done.reason = done.reason or "some lines are about another workspace"
        except _Later as why:
            done.reason = str(why)
            break
    done.remaining = count(curated, session)
    return done


def count(curated: Curated, session: str | None = None) -> int:
    """Return how many lines wait."""
    return sum(1 for file in waiting(curated, session) for _ in _lines(file.side.store.read(file.path).data))


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line.strip()


def _file(curated: Curated, file: InboxFile, done: Drained, actor: str, now: datetime) -> None:
    side = file.side
    if file.size > LARGEST:
        raise MemdeckError(
            "memory.extractor.too_large", f"{side.store.shown(file.path)} is larger than {LARGEST:,} bytes",
            "split it", file=file.path,
        )  # fmt: skip
    stored = side.store.read(file.path)
    if stored.base is None:
        return
    read: list[tuple[int, bytes, Candidate | MemdeckError]] = []
    for number, line in _lines(stored.data):
        try:
            read.append((number, line, read_line(line, curated, side.name, file.session)))
        except MemdeckError as error:
            read.append((number, line, error))
    records = side.records
    facts: Json = {"session_id": file.session, "target_id": file.name}
    records.event("memory.extractor.started", now, **facts, candidate_count=len(read))
    bad: list[Json] = []
    decisions: dict[str, int] = {}
    for number, line, found in read:
        stage = "decode" if isinstance(found, MemdeckError) else "controller"
        made = found if isinstance(found, MemdeckError) else _decide(curated, file, number, line, found, actor, now)
        if isinstance(made, str):
            decisions[made] = decisions.get(made, 0) + 1
        else:
            bad.append(failure(stage, file.session, file.path, number, made, line, side.workspace_id, now))

    def attempt() -> bool:
        with side.store.transaction("curated.extract", actor=actor, now=now) as transaction:
            # Another process may have consumed it, or a program added to it since.
            if transaction.read(file.path).base != stored.base:
                return False
            plan(curated, side, transaction, bad)
            transaction.remove(file.path, base=stored.data)
            transaction.commit(f"consumed {file.name} of {file.session}: {len(read)} candidates, {len(bad)} failed")
            return True

    if not again(attempt):
        return
    side.store.remember(file.path, None)
    remove_empty([side.store.root / file.path.rpartition("/")[0]])
    for op, number in decisions.items():
        done.decisions[op] = done.decisions.get(op, 0) + number
    done.failed += len(bad)
    done.files += 1
    for one in bad:
        records.event("memory.extractor.failed", now, **facts, failure_id=one["id"], reason=one["reason"][:200])
    records.event("memory.extractor.completed", now, **facts, candidate_count=len(read), decisions=decisions)


def _decide(
    curated: Curated, file: InboxFile, number: int, line: bytes, candidate: Candidate, actor: str, now: datetime
) -> str | MemdeckError:
    """Return what was decided on a line, or the error that is its own; _Later where it has to wait."""
    digest = sha256(line).hexdigest()[:16]
    key = candidate.key or f"inbox:{file.session}/{file.name}:{number}:{digest}:{file.mtime_ns}"
    side = curated.side_of(candidate.root)
    most = curated.settings["controller.policy.max_writes_per_min"]
    if recent_writes(side, now) >= most:
        # A reject for haste would lose the line.
        raise _Later(f"there were {most} writes in this minute; the rest waits")
    try:
        return propose(curated, replace(candidate, key=key), actor=actor, now=now).decision.op
    except BusyError:
        raise
    except MemdeckError as error:
        if not error.code.startswith(_MINE):
            raise
        return error
