"""Reverting a decision while its file is still as the decision left it; a revert is itself a decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from memory.base.retry import retry
from memory.curated.curated import Curated
from memory.curated.files.header import BadFile, read
from memory.curated.index.records import milliseconds
from memory.curated.model import Json
from memory.curated.sides import Side
from memory.errors import ConflictError, NotFoundError, RefusedError
from memory.storage import Change

from .carry_out import carry_out, replay
from .decision import ABSENT, Decision, Made, direct, hash_of, select

_SHOWN = 4000


@dataclass(frozen=True, slots=True)
class Reverted:
    """The result of a revert: `decision` is the reverted one, `by` the decision that reverted it (None: dry run)."""

    decision: Decision
    by: Decision | None
    change: Change | None = None

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "decision": self.decision.json(),
            "reverted": self.by is not None,
            "dry_run": self.by is None,
            "by": None if self.by is None else self.by.json(),
        }


def find(curated: Curated, decision_id: str) -> tuple[Side, Decision]:
    """Return a decision by its id and the side that holds it; NotFoundError `memory.not_found`.

    MemdeckError `memory.records.unavailable` where the records cannot be read.
    """
    for side in curated.sides.values():
        found = side.records.read(partial(select, side, where="id = ?", values=[decision_id]), list[Decision]())
        if found:
            return side, found[0]
    raise NotFoundError(
        "memory.not_found", f"there is no decision {decision_id[:80]!r}", "`memdeck curated decisions list`"
    )


def revert(
    curated: Curated, decision_id: str, *, reason: str = "", actor: str, now: datetime, dry_run: bool = False
) -> Reverted:
    """Restore a file to its state before a decision; `dry_run` only checks whether that is possible.

    RefusedError `memory.revert.nothing` for a decision that changed no file, ConflictError `memory.revert.changed`,
    with both versions, where the file has changed since.
    """
    side, decision = find(curated, decision_id)
    if not dry_run:
        replay(side, now)
        side, decision = find(curated, decision_id)
    if not decision.changes or decision.applied_at is None:
        raise RefusedError("memory.revert.nothing", f"{decision.id} changed no file", "there is nothing to take back")
    if dry_run:
        _check(decision, lambda path: side.store.read(path).base)
        return Reverted(decision, None)

    side.prepare(actor=actor, now=now)

    def attempt() -> Reverted:
        with side.store.transaction("curated.revert", actor=actor, now=now) as transaction:
            current = _check(decision, lambda path: transaction.read(path).base)
            step = Made(
                decision.root,
                decision.target_filename,
                current,
                decision.source_file,
                decision.prior,
                _header(decision),
            )
            words = f"takes back {decision.id}"
            made = direct(side, step, "controller.revert", words, "", decision.origin, decision.id)
            made = made._replace(reason=reason or words).keyed(f"{decision.id} {milliseconds(now)}", None, now)
            applied = made._replace(applied_at=milliseconds(now))
            change = carry_out(side, made, transaction, now, event="memory.write.reverted")
            return Reverted(decision, applied, change)

    return retry(attempt)


def _check(decision: Decision, read_bytes: Callable[[str], bytes | None]) -> bytes | None:
    """Return the bytes of the file as the decision left it; ConflictError where it has changed since."""
    folder, name = decision.root.folder, decision.target_filename
    current, blocked = read_bytes(f"{folder}/{name}"), None
    same = hash_of(current) == (ABSENT if decision.op == "delete" else decision.post_hash)
    if decision.source_file != name:
        blocked = read_bytes(f"{folder}/{decision.source_file}")
    if same and blocked is None:
        return current
    versions = {"recorded": decision.post, "current": blocked if same else current}
    shown = {key: None if data is None else data.decode("utf-8", "replace")[:_SHOWN] for key, data in versions.items()}
    words = f"{name} was changed since, so the decision is not taken back"
    hint = "look at both versions, then edit the memory"
    raise ConflictError("memory.revert.changed", words, hint, filename=name, **shown)


def _header(decision: Decision) -> Json:
    """Return the header of the bytes that come back."""
    try:
        return decision.header if decision.prior is None else read(decision.prior, decision.root)[0].json()
    except BadFile:
        return decision.header
