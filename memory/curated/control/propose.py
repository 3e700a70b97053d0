"""Proposing candidates, and reverting decisions: each is carried out in the transaction in which it is decided."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from memory.base.programs import retry
from memory.curated.control.carry_out import carry_out, replay
from memory.curated.control.decide import Controller, changed_meanwhile
from memory.curated.control.decision import (
    ABSENT,
    CHANGED,
    Candidate,
    Decision,
    Made,
    View,
    decided,
    direct,
    hash_of,
    of_root,
    select,
)
from memory.curated.curated import Curated
from memory.curated.files import BadFile, digest, read
from memory.curated.model import Json, OperationCall
from memory.curated.providers import ask
from memory.curated.records import milliseconds
from memory.curated.sides import Side
from memory.errors import ConflictError, NotFoundError, RefusedError
from memory.storage import Change
from memory.storage.safe_open import Stored
from memory.storage.transaction import Transaction

_MINUTE = 60_000


class Proposed(NamedTuple):
    """The result of proposing a candidate: `applied` says that a file was changed now."""

    decision: Decision
    applied: bool
    dry_run: bool = False
    change: Change | None = None

    def json(self) -> Json:
        """Return it for programs."""
        return {"decision": self.decision.json(), "applied": self.applied, "dry_run": self.dry_run}


def propose(curated: Curated, candidate: Candidate, call: OperationCall, *, dry_run: bool = False) -> Proposed:
    """Decide on a candidate and carry it out; `dry_run` decides and writes nothing but the catalogue.

    UsageError `memory.validation` for an invalid candidate, ConflictError `memory.idempotency_conflict` for a caller's
    key that was used for something else, RefusedError `memory.file_invalid`, `memory.changed`, `memory.exists`,
    MemdeckError `memory.records.unavailable`, and what a transaction raises. A reject is a decision, and not an error
    here.
    """
    curated.refuse_disabled()
    candidate.check()
    now = call.now
    side = curated.side_of(candidate.root)
    if dry_run:
        return Proposed(_known(side, candidate) or _decided(curated, side, candidate, None, now), False, True)
    side.prepare(actor=call.actor, now=now)
    candidate = candidate._replace(workspace_id=side.workspace_id)
    replay(side, now)
    decided_on: dict[str, str] = {}
    done = retry(lambda: _attempt(curated, side, candidate, decided_on, call))
    if done.applied:
        ask(curated, "on_write", now, done.decision.json())
    return done


def _attempt(
    curated: Curated, side: Side, candidate: Candidate, decided_on: dict[str, str], call: OperationCall
) -> Proposed:
    """Decide and carry out once; `decided_on` has the hash of each file on which earlier tries decided."""
    with side.store.transaction("curated.write", actor=call.actor, now=call.now) as transaction:
        known = _known(side, candidate)
        if known is not None:
            return Proposed(known, False)
        if candidate.base is not None:
            current = transaction.read(f"{candidate.root.folder}/{candidate.target}").base
            if current is None or digest(current) != candidate.base:
                raise changed_meanwhile(str(candidate.target))
        decision = _decided(curated, side, candidate, transaction, call.now)
        stored = decided(side, decision.idempotency_key)
        if stored is not None:
            return Proposed(stored, False)
        # Trying again is for an index that changed meanwhile; a memory that was changed is not the one decided on.
        if decision.changes and decided_on.setdefault(decision.source_file, decision.prior_hash) != decision.prior_hash:
            raise changed_meanwhile(decision.source_file)
        # Made before the change, because what fails after it is no failure of the change.
        applied = decision._replace(applied_at=milliseconds(call.now))
        return Proposed(applied, decision.changes, change=carry_out(side, decision, transaction, call.now))


def _known(side: Side, candidate: Candidate) -> Decision | None:
    """Return the earlier decision with the caller's own key, None where there is none."""
    if candidate.key is None:
        return None
    found = decided(side, f"caller:{candidate.key}")
    if found is not None and found.candidate_hash != candidate.hash:
        raise ConflictError(
            "memory.idempotency_conflict",
            "this idempotency key was used for another candidate",
            "use a new key for it",
            decision=found.json(),
        )
    return found


def _decided(
    curated: Curated, side: Side, candidate: Candidate, transaction: Transaction | None, now: datetime
) -> Decision:
    folder = candidate.root.folder
    read = side.store.read if transaction is None else transaction.read
    made = Controller(candidate, View(side, candidate.root), curated.settings).decide(
        lambda name: read(f"{folder}/{name}").base,
        now=now,
        writes=recent_writes(side, now),
        tiebreaker=curated.models.get("tiebreaker"),
    )
    where, values = of_root(made.root)
    names = tuple({made.target_filename, made.source_file})
    last = (
        f"SELECT id FROM memory_decisions WHERE {where} AND target_filename IN ({','.join('?' * len(names))})"
        f" AND {CHANGED} AND applied_at IS NOT NULL ORDER BY seq DESC LIMIT 1"
    )
    row = side.records.look(lambda db: db.execute(last, [*values, *names]).fetchone(), None)
    return made.keyed("" if row is None else row[0], candidate.key, now)


def recent_writes(side: Side, now: datetime) -> int:
    """Return how many decisions of the last minute changed a file; those dated in the future do not count.

    Neither do those on what another program did: many files may have come with a clone.
    """
    text = (
        "SELECT count(*) FROM memory_decisions WHERE decided_at > ? AND decided_at <= ? AND applied_at IS NOT NULL"
        f" AND {CHANGED} AND origin <> 'file'"
    )
    at = milliseconds(now)
    return side.records.look(lambda db: int(db.execute(text, (at - _MINUTE, at)).fetchone()[0]), 0)


_SHOWN = 4000


def find(curated: Curated, decision_id: str) -> tuple[Side, Decision]:
    """Return a decision by its id and the side that holds it; NotFoundError `memory.not_found`.

    MemdeckError `memory.records.unavailable` where the records cannot be read.
    """
    for side in curated.sides.values():
        found = side.records.read(partial(select, where="id = ?", values=[decision_id]), list[Decision]())
        if found:
            return side, found[0]
    raise NotFoundError(
        "memory.not_found", f"there is no decision {decision_id[:80]!r}", "`memdeck curated decisions list`"
    )


def revert(curated: Curated, decision_id: str, call: OperationCall, *, reason: str = "", dry_run: bool = False) -> Json:
    """Restore a file to its state before a decision, and return both decisions for programs: it, and `by` which.

    `dry_run` only checks whether that is possible. RefusedError `memory.revert.nothing` for a decision that changed no
    file, ConflictError `memory.revert.changed`, with both versions, where the file has changed since.
    """
    now = call.now
    side, decision = find(curated, decision_id)
    if not decision.changes or decision.applied_at is None:
        raise RefusedError("memory.revert.nothing", f"{decision.id} changed no file", "there is nothing to revert")
    shown: Json = {"decision": decision.json(), "reverted": not dry_run, "dry_run": dry_run, "by": None}
    if dry_run:
        _check(decision, side.store.read)
        return shown
    side.prepare(actor=call.actor, now=now)

    def attempt() -> Json:
        with side.store.transaction("curated.revert", actor=call.actor, now=now) as transaction:
            current = _check(decision, transaction.read)
            names = decision.target_filename, decision.source_file
            step = Made(decision.root, names[0], current, names[1], decision.prior, _header(decision))
            words = f"reverts {decision.id}"
            made = direct(side, step, "controller.revert", words, "", decision.origin, decision.id)
            made = made._replace(reason=reason or words).keyed(f"{decision.id} {milliseconds(now)}", None, now)
            carry_out(side, made, transaction, now, event="memory.write.reverted")
            return {**shown, "by": made._replace(applied_at=milliseconds(now)).json()}

    return retry(attempt)


def _check(decision: Decision, read_file: Callable[[str], Stored]) -> bytes | None:
    """Return the bytes of the file as the decision left it; ConflictError where it has changed since."""
    folder, name, source = decision.root.folder, decision.target_filename, decision.source_file
    current = read_file(f"{folder}/{name}").base
    same = hash_of(current) == (ABSENT if decision.op == "delete" else decision.post_hash)
    blocked = None if source == name else read_file(f"{folder}/{source}").base
    if same and blocked is None:
        return current
    versions = {"recorded": decision.post, "current": blocked if same else current}
    shown = {key: None if data is None else data.decode("utf-8", "replace")[:_SHOWN] for key, data in versions.items()}
    words = f"{name} has changed since, so the decision is not reverted"
    hint = "look at both versions, then edit the memory"
    raise ConflictError("memory.revert.changed", words, hint, filename=name, **shown)


def _header(decision: Decision) -> Json:
    """Return the header of the bytes that come back."""
    try:
        return decision.header if decision.prior is None else read(decision.prior, decision.root)[0].json()
    except BadFile:
        return decision.header
