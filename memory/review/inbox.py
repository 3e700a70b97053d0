"""The inbox of a workspace: the proposals of agents, and a person's decisions about them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from memory.base.programs import retry
from memory.document import Entry
from memory.document.match import units_of
from memory.errors import ConflictError, MemdeckError, RefusedError, UsageError
from memory.files.edit import entry_of_text
from memory.files.versions.diff import ChangeView, change_views
from memory.storage.changes import Change, FileChange, file_name, the_one
from memory.storage.merging import MergedChange, Take, merge_change
from memory.storage.safe_open import version_of
from memory.storage.store import SharedLog, Store

from . import proposals
from .proposals import Proposal, State

STANDINGS = {
    "ready": "the files are as the agent saw them",
    "moved": "the files changed meanwhile; both changes can be merged",
    "conflict": "the same text was changed since",
    "gone": "the text to change is gone or already changed",
    "decided": "already decided",
}
"""What accepting a proposal would meet, in words."""


class Judged(NamedTuple):
    """What a proposal would do now, entry by entry, and whether it fits the current files."""

    views: Sequence[ChangeView]
    standing: MergedChange


class Inbox:
    """The proposals of one workspace, and of the stores of its systems outside it; safe to share between threads.

    A proposal is found by its id or the beginning of it. Whether an actor may decide is checked on the operation.
    """

    def __init__(self, log: SharedLog) -> None:
        """`log` is that of the workspace; nothing is opened yet."""
        self._log = log

    # -- looking ------------------------------------------------------------------------------------------------

    def list(
        self, states: Sequence[State] = ("waiting",), *, actor: str | None = None, limit: int = 0
    ) -> tuple[Proposal, ...]:
        """Return the proposals in these states, newest first; an empty `states` means all, `limit` 0 too."""
        found: list[Proposal] = []
        for log in self._log.logs():
            _settle(log)
            found += proposals.listed(log)
        found = [one for one in found if one.state in (states or (one.state,)) and actor in (None, one.actor)]
        found.sort(key=lambda one: (one.time, one.seq), reverse=True)
        return tuple(found[:limit] if limit else found)

    def get(self, proposal_id: str) -> Proposal:
        """Return one proposal; NotFoundError `review.not_found`, AmbiguousError `review.ambiguous`."""
        return the_one(self.list(()), proposal_id, "proposal")

    def count(self) -> int:
        """Return how many proposals wait."""
        return len(self.list())

    def stamp(self) -> Hashable:
        """Return a value that changes when a proposal is added or decided; it costs two `stat` calls a log."""
        names = (proposals.PROPOSALS.name, f"{proposals.PROPOSALS.name}-wal")
        return tuple(version_of(name, log.state.folder.path) for log in self._log.logs() for name in names)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the record of proposals."""
        return tuple(words for log in self._log.logs() for words in proposals.database(log).warnings)

    def judged(self, proposal: Proposal, now: datetime) -> Judged:
        """Return what accepting a proposal would do now; nothing is written."""
        log = self.log_of(proposal)
        files, standing = proposals.files_of(log, proposal), MergedChange("decided")
        if proposal.state == "waiting":
            standing = self._merged(proposal, log.bytes_of, now, None)
        regions = [(file_name(file.path), log.history.touched_by(file)) for file in standing.files or files]
        return Judged(change_views(regions, proposal.actor, proposal.operation), standing)

    def _merged(
        self, proposal: Proposal, read: Callable[[str], bytes | None], now: datetime, take: Take | None
    ) -> MergedChange:
        log = self.log_of(proposal)
        with log.glance():
            return merge_change(log, proposals.files_of(log, proposal), read, now, take)

    def log_of(self, proposal: Proposal) -> SharedLog:
        """Return the log of a proposal's files; RefusedError `review.path` if no log of the workspace covers them."""
        found = [log for log in self._log.logs() if log.place == proposal.place]
        if not found:
            raise _unknown(proposal)
        return found[0]

    # -- deciding -----------------------------------------------------------------------------------------------

    def accept(self, proposal_id: str, *, reviewer: str, now: datetime, take: Take | None = None) -> Change:
        """Make the change that an agent proposed, in one transaction, in the agent's name, with the reviewer noted.

        If the files changed since, it is merged. ConflictError `review.conflict` if the same text was changed since,
        unless `take` settles it; `review.gone` if there is nothing left to do; `review.decided`. Other errors as those
        of a transaction.
        """
        proposal = self._waiting(proposal_id)
        store = self._store(proposal)
        change = retry(lambda: self._accept(store, proposal, reviewer, now, take))
        _settle(store.together)
        return change

    def _accept(self, store: Store, proposal: Proposal, reviewer: str, now: datetime, take: Take | None) -> Change:
        with store.transaction(
            proposal.operation,
            actor=proposal.actor,
            now=now,
            undoes=proposal.undoes,
            redoes=proposal.redoes,
            recorded=True,
            proposal=proposal.id,
            reviewer=reviewer,
        ) as transaction:
            # Checked again under the lock: two reviewers may have started at the same time.
            proposal = self._waiting(proposal.id)
            standing = self._merged(proposal, transaction.bytes_of, now, take)
            if standing.state == "conflict":
                raise _conflict(proposal, standing)
            if standing.state == "gone":
                words = f"the text that proposal {proposal.id} would change is gone or already changed"
                raise ConflictError("review.gone", words, "reject it", proposal=proposal.id)
            transaction.take(standing.files)
            return transaction.commit(proposal.summary)

    def reject(self, proposal_id: str, *, reviewer: str, now: datetime, note: str = "") -> Proposal:
        """Record that a proposal is rejected, and why; nothing else changes. Errors as `accept`."""
        proposal = self._waiting(proposal_id)
        lock: AbstractContextManager[object] = nullcontext()  # Files that are no longer known cannot be accepted.
        with suppress(RefusedError):
            lock = self._store(proposal).transaction("review.reject", actor=reviewer, now=now)
        # Under the lock: a concurrent accept is either first or finds it rejected.
        with lock:
            proposal = self._waiting(proposal.id)
            rejected = replace(proposal, state="rejected", decided_by=reviewer, decided_at=now, note=note)
            proposals.update(self.log_of(proposal), rejected, was="waiting")
        return self.get(proposal.id)

    def reopen(self, proposal_id: str) -> Proposal:
        """Let a rejected proposal wait again; ConflictError `review.decided` where it cannot."""
        proposal = self.get(proposal_id)
        again = replace(proposal, state="waiting", decided_by=None, decided_at=None, note="")
        if not proposals.update(self.log_of(proposal), again, was="rejected"):
            raise _decided(proposal, "cannot be pending again: it is not rejected, too old, or has a pending twin")
        return self.get(proposal.id)

    def text_of(self, proposal: Proposal) -> str:
        """Return the text of the entry as a proposal would write it; UsageError `review.not_editable`."""
        return self._editable(proposal)[2].text

    def edit(self, proposal_id: str, text: str) -> Proposal:
        """Replace the text of the entry in a proposal; it stays waiting. UsageError `review.not_editable` if it is not
        about the text of one entry, `document.*` for a text that is not one entry. Errors as `accept`.
        """
        proposal = self._waiting(proposal_id)
        files, path, entry = self._editable(proposal)
        new = entry_of_text(text, entry, None, entry.title)
        if new.raw == entry.raw:
            return proposal
        old = entry.raw.rstrip()
        edited = [
            one._replace(after=one.after.replace(old, new.raw.rstrip())) if one.path == path and one.after else one
            for one in files
        ]
        proposals.update(self.log_of(proposal), replace(proposal, edited=True), was="waiting", files=edited)
        return self.get(proposal.id)

    def _editable(self, proposal: Proposal) -> tuple[tuple[FileChange, ...], str, Entry]:
        """Return the files of a proposal, and the file and the entry whose text a person may change."""
        log = self.log_of(proposal)
        files = proposals.files_of(log, proposal)
        found = [(file, unit.after) for file in files for unit in units_of(log.history.touched_by(file)) if unit.after]
        # The journal line that a task's change adds is not its subject.
        mine = [one for one in found if not one[0].path.endswith("/journal.md")] or found
        # An entry that the file holds twice cannot be told from its double.
        if len(mine) != 1 or (mine[0][0].after or b"").count(mine[0][1].raw.rstrip()) != 1:
            raise UsageError(
                "review.not_editable",
                f"proposal {proposal.id} is not about the text of one entry",
                "accept or reject it",
                proposal=proposal.id,
            )
        return files, mine[0][0].path, mine[0][1]

    def _waiting(self, proposal_id: str) -> Proposal:
        proposal = self.get(proposal_id)
        if proposal.state != "waiting":
            raise _decided(proposal, f"was {proposal.state} by {proposal.decided_by}")
        return proposal

    def _store(self, proposal: Proposal) -> Store:
        """Return the store of a proposal's files; RefusedError `review.path` if there is none."""
        store = self.log_of(proposal).of_all(proposal.paths)
        if store is None or store.prefix != proposal.folder:
            raise _unknown(proposal)
        return store


def _settle(log: SharedLog) -> None:
    """Mark the proposals as accepted whose change is made, as the change log says: its process may have been killed.

    Where that cannot be noted, the next look does it.
    """
    waiting = {one.id: one for one in proposals.listed(log, "state = 'waiting'")}
    marks = ", ".join("?" * len(waiting))
    for record in log.history.records(f"proposal IN ({marks})", list(waiting), 0) if waiting else ():
        one, by = waiting[record.proposal or ""], record.reviewer or "human"
        accepted = replace(one, state="accepted", decided_by=by, decided_at=record.time, change_id=record.id)
        with suppress(MemdeckError):
            proposals.update(log, accepted, was="waiting")


def _decided(proposal: Proposal, why: str) -> ConflictError:
    words = f"proposal {proposal.id} {why}"
    hint = "list the pending proposals"
    return ConflictError("review.decided", words, hint, proposal=proposal.id, state=proposal.state)


def _conflict(proposal: Proposal, standing: MergedChange) -> ConflictError:
    first = standing.reasons[0] if standing.reasons else standing.clashes[0].conflict.why
    return ConflictError(
        "review.conflict",
        f"proposal {proposal.id} no longer fits the files: {first}",
        "choose a side with --take, or reject it" if standing.clashes and not standing.reasons else "reject it",
        proposal=proposal.id,
        conflicts=[one.json() for one in standing.clashes],
        reasons=list(standing.reasons),
    )


def _unknown(proposal: Proposal) -> RefusedError:
    words = f"proposal {proposal.id} names a file that is not a memory file"
    return RefusedError("review.path", words, "reject it", proposal=proposal.id)
