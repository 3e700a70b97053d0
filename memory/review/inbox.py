"""The inbox of a workspace: the proposals of agents, and a person's decisions about them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime

from memory.base.retry import retry
from memory.document import Entry
from memory.document.match import units_of
from memory.errors import AmbiguousError, ConflictError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.files.edit import entry_of_text
from memory.files.versions.diff import ChangeView, change_views
from memory.storage.changes import Change, ChangeRecord, FileChange, file_name, may_need_review
from memory.storage.merging import MergedChange, Take, merge_change
from memory.storage.store import SharedLog, Store

from .model import STATES, Proposal
from .policy import Policy, change_policy, read_policy
from .proposals import Proposals


def refuse_agents(actor: str, what: str) -> None:
    """Raise RefusedError `review.person_only` unless the actor is a person; `what` is the attempted action."""
    if may_need_review(actor):
        raise RefusedError("review.person_only", f"only a person may {what}, not {actor[:80]}", "ask the person")


_LONGEST_NOTE = 500


class Inbox:
    """The proposals of one workspace, and of the stores of its systems outside it; safe to share between threads.

    A proposal is found by its id or the beginning of it. Agents are refused all decisions.
    """

    def __init__(self, log: SharedLog) -> None:
        """`log` is that of the workspace; nothing is opened yet."""
        self._log = log

    def _records(self) -> list[Proposals]:
        """Return the records that ever held a proposal; the workspace's own comes first."""
        found = [Proposals(log) for log in self._log.logs()]
        return [one for one in found if one.stamp() is not None]

    # -- looking ------------------------------------------------------------------------------------------------

    def list(
        self, states: Sequence[str] = ("waiting",), *, actor: str | None = None, limit: int = 0
    ) -> tuple[Proposal, ...]:
        """Return the proposals in these states, newest first; an empty `states` means all."""
        unknown = [state for state in states if state not in STATES]
        if unknown:
            raise UsageError("review.state", f"{unknown[0][:40]!r} is no state", f"write {', '.join(STATES)}")
        found: list[Proposal] = []
        records = self._records()
        for record in records:
            record.settle()
            found += record.list(states, actor, limit)
        if len(records) > 1:
            found.sort(key=lambda one: (one.time, one.id), reverse=True)
        return tuple(found[:limit] if limit else found)

    def get(self, proposal_id: str) -> Proposal:
        """Return one proposal; NotFoundError `review.not_found`, AmbiguousError `review.ambiguous`."""
        begun = proposal_id.strip().upper()
        found = [one for one in self.list(()) if begun and one.id.startswith(begun)]
        exact = [one for one in found if one.id == begun]
        if len(found) > 1 and not exact:
            raise AmbiguousError(
                "review.ambiguous",
                f"{len(found)} proposals have ids that begin with {begun[:30]}",
                "write more of it",
                candidates=[one.id for one in found],
            )
        if not found:
            raise NotFoundError(
                "review.not_found", f"no proposal has the id {proposal_id[:40]!r}", "list them", id=proposal_id[:80]
            )
        return (exact or found)[0]

    def count(self) -> int:
        """Return how many proposals wait."""
        return sum(len(record.list(("waiting",))) for record in self._records())

    def stamp(self) -> Hashable:
        """Return a value that changes when a proposal is added or decided; None if there never was one."""
        found = tuple(Proposals(log).stamp() for log in self._log.logs())
        return None if all(one is None for one in found) else found

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the record of proposals."""
        return tuple(words for log in self._log.logs() for words in Proposals(log).warnings)

    def files(self, proposal: Proposal) -> tuple[FileChange, ...]:
        """Return what a waiting proposal would change, based on the files as the agent saw them."""
        return Proposals(self._log_of(proposal)).files(proposal)

    def views(self, proposal: Proposal, files: Sequence[FileChange] | None = None) -> tuple[ChangeView, ...]:
        """Return what a waiting proposal would do, entry by entry; with `files`, what writing those would do."""
        history = self._log_of(proposal).history
        wanted = self.files(proposal) if files is None else files
        files_of = [(file_name(file.path), history.touched_by(file)) for file in wanted]
        return change_views(files_of, proposal.actor, proposal.operation)

    def standing(self, proposal: Proposal, now: datetime, take: Take | None = None) -> MergedChange:
        """Return what accepting a proposal would do now; nothing is written."""
        if not proposal.waiting:
            return MergedChange("decided")
        return self._merged(proposal, self._log_of(proposal).bytes_of, now, take)

    def _merged(
        self, proposal: Proposal, read: Callable[[str], bytes | None], now: datetime, take: Take | None
    ) -> MergedChange:
        log = self._log_of(proposal)
        with log.glance():
            return merge_change(log, self.files(proposal), read, now, take)

    def change(self, proposal: Proposal) -> ChangeRecord | None:
        """Return the change made from a proposal; None if it was never accepted, or the change has left the log."""
        if proposal.change_id is None:
            return None
        try:
            return self._log_of(proposal).history.get(proposal.change_id)
        except NotFoundError:
            return None

    # -- deciding -----------------------------------------------------------------------------------------------

    def accept(self, proposal_id: str, *, reviewer: str, now: datetime, take: Take | None = None) -> Change:
        """Make the change that an agent proposed, in one transaction, in the agent's name, with the reviewer noted.

        If the files changed since, it is merged. ConflictError `review.conflict` if the same part was changed since,
        unless `take` settles it; `review.gone` if there is nothing left to do; `review.decided`. RefusedError
        `review.person_only`; other errors as those of a transaction.
        """
        refuse_agents(reviewer, "accept a proposal")
        proposal = self._waiting(proposal_id)
        store = self._store(proposal)
        change = retry(lambda: self._accept(store, proposal, reviewer, now, take))
        # The change is made: if that cannot be noted here, the next reader finds it in the change log.
        with suppress(MemdeckError):
            Proposals(store.together).decide(proposal, "accepted", by=reviewer, now=now, change_id=change.id)
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
                raise ConflictError(
                    "review.gone",
                    f"the text that proposal {proposal.id} would change is gone, or is changed so already",
                    "reject it",
                    proposal=proposal.id,
                )
            transaction.take(standing.files)
            return transaction.commit(proposal.summary)

    def reject(self, proposal_id: str, *, reviewer: str, now: datetime, note: str = "") -> Proposal:
        """Record that a proposal is rejected, and why; nothing else changes. Errors as `accept`."""
        refuse_agents(reviewer, "reject a proposal")
        if len(note) > _LONGEST_NOTE:
            raise UsageError("review.note", f"the note has {len(note)} characters", f"write {_LONGEST_NOTE} at most")
        proposal = self._waiting(proposal_id)
        try:
            lock: AbstractContextManager[object] = self._store(proposal).transaction(
                "review.reject", actor=reviewer, now=now
            )
        except RefusedError:
            lock = nullcontext()  # Its files are no longer known, so it cannot be accepted either.
        # Under the lock: a concurrent accept is either first or finds it rejected.
        with lock:
            proposal = self._waiting(proposal.id)
            Proposals(self._log_of(proposal)).decide(proposal, "rejected", by=reviewer, now=now, note=note)
        return self.get(proposal.id)

    def reopen(self, proposal_id: str, *, reviewer: str) -> Proposal:
        """Let a rejected proposal wait again; ConflictError `review.decided` where it cannot. Errors as `accept`."""
        refuse_agents(reviewer, "reopen a proposal")
        proposal = self.get(proposal_id)
        if not Proposals(self._log_of(proposal)).reopen(proposal):
            raise ConflictError(
                "review.decided",
                f"proposal {proposal.id} cannot wait again: it is not rejected, is too old, or an equal one waits",
                "list what waits",
                proposal=proposal.id,
            )
        return self.get(proposal.id)

    def text_of(self, proposal: Proposal) -> str:
        """Return the text of the entry as a proposal would write it; UsageError `review.not_editable`."""
        return self._editable(proposal)[2].text

    def edit(self, proposal_id: str, text: str, *, reviewer: str) -> Proposal:
        """Replace the text of the entry in a proposal; it stays waiting. UsageError `review.not_editable` if it is not
        about the text of one entry, `document.*` for a text that is not one entry. Errors as `accept`.
        """
        refuse_agents(reviewer, "edit a proposal")
        proposal = self._waiting(proposal_id)
        log = self._store(proposal).together
        files, path, entry = self._editable(proposal)
        new = entry_of_text(text, entry, None, entry.title)
        if new is None:
            return proposal
        file = next(file for file in files if file.path == path)
        document = log.document(path, file.after or b"")
        assert document is not None
        place = next(
            (section, index)
            for section, part in document.all_sections()
            for index, one in enumerate(part.entries)
            if one.raw.rstrip() == entry.raw.rstrip()
        )
        changed = file._replace(after=document.replace_entry(*place, new).dump())
        Proposals(log).replace(proposal, [changed if one.path == path else one for one in files])
        return self.get(proposal.id)

    def _editable(self, proposal: Proposal) -> tuple[tuple[FileChange, ...], str, Entry]:
        """Return the files of a proposal, and the file and the entry whose text a person may change."""
        files = self.files(proposal)
        history = self._log_of(proposal).history
        units = [(file.path, unit.after) for file in files for unit in units_of(history.touched_by(file))]
        found = [(path, after) for path, after in units if after is not None]
        # The journal line that a task's change adds is not its subject.
        mine = [one for one in found if not one[0].endswith("/journal.md")] or found
        if len(mine) != 1:
            raise UsageError(
                "review.not_editable",
                f"proposal {proposal.id} is not about the text of one entry",
                "accept or reject it",
                proposal=proposal.id,
            )
        return files, *mine[0]

    # -- rules --------------------------------------------------------------------------------------------------

    def policy(self) -> Policy:
        """Return the person's rules; ConfigError `review.policy`."""
        return read_policy(self._log.state)

    def change_policy(self, change: Callable[[Policy], Policy], *, reviewer: str, now: datetime) -> Policy:
        """Change the rules and return them; RefusedError `review.person_only`, errors as `policy`."""
        refuse_agents(reviewer, "set the rules for agents")
        return change_policy(self._log.state, change, now=now)

    # -- inside -------------------------------------------------------------------------------------------------

    def _waiting(self, proposal_id: str) -> Proposal:
        proposal = self.get(proposal_id)
        if not proposal.waiting:
            raise ConflictError(
                "review.decided",
                f"proposal {proposal.id} was {proposal.state} by {proposal.decided_by}",
                "list what waits",
                proposal=proposal.id,
                state=proposal.state,
            )
        return proposal

    def _store(self, proposal: Proposal) -> Store:
        """Return the store of a proposal's files; RefusedError `review.path` if there is none."""
        store = self._log_of(proposal).of_all(proposal.paths)
        if store is None or store.prefix != proposal.folder:
            raise _unknown(proposal)
        return store

    def _log_of(self, proposal: Proposal) -> SharedLog:
        """Return the log of a proposal's files; RefusedError `review.path` if no log of the workspace covers them."""
        for log in self._log.logs():
            if log.place == proposal.place:
                return log
        raise _unknown(proposal)


def _conflict(proposal: Proposal, standing: MergedChange) -> ConflictError:
    first = standing.reasons[0] if standing.reasons else standing.clashes[0].conflict.why
    return ConflictError(
        "review.conflict",
        f"proposal {proposal.id} and the files do not go together any more: {first}",
        "choose a side with --take, or reject it" if standing.clashes and not standing.reasons else "reject it",
        proposal=proposal.id,
        conflicts=[one.json() for one in standing.clashes],
        reasons=list(standing.reasons),
    )


def _unknown(proposal: Proposal) -> RefusedError:
    words = f"proposal {proposal.id} names a file that is not a memory file"
    return RefusedError("review.path", words, "reject it", proposal=proposal.id)
