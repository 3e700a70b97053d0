"""The gate that every change of an agent passes, right before its files would move."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory.errors import BlockedError, RefusedError
from memory.storage.changes import Change, FileChange, Touched, touched_in
from memory.storage.own_folders import PrivateState
from memory.storage.store import SharedLog

from .kinds import kinds_of
from .policy import read_policy
from .proposals import Proposals, digest_of


def pass_or_hold(
    change: Change,
    folder: str,
    together: SharedLog,
    proposals: Callable[[], Proposals],
    state: PrivateState | None,
) -> None:
    """Return where a change may be made at once; the lock of its store is held.

    `folder` is that of the store, as seen from the workspace; the paths of the change begin there. `proposals` returns
    those of the workspace, and is called for a change that becomes one.

    BlockedError `review.waiting` with the id of the proposal that it became, RefusedError `review.denied`, ConfigError
    `review.policy` where the rules cannot be read, `review.*` where the proposal cannot be kept.
    """
    policy = read_policy(state)
    if not policy.covers(change.actor):
        return
    files = tuple(file._replace(path=f"{folder}{file.path}") for file in change.files)
    with together.glance():
        kinds = kinds_of(together, change.actor, files)
        decision = policy.strictest(change.actor, kinds)
        if decision == "apply":
            return
        touched = touched_by(together, files)
    waits = tuple(sorted(kind for kind in kinds if policy.decide(change.actor, kind) == decision))
    if decision == "deny":
        raise RefusedError(
            "review.denied",
            f"the person does not let {change.actor} do this ({', '.join(waits)})",
            "ask the person",
            kinds=list(waits),
        )
    proposal = proposals().add(
        change.id,
        time=change.time,
        actor=change.actor,
        operation=change.operation,
        summary=change.summary or touched_in(touched),
        kinds=waits,
        folder=folder,
        files=files,
        touched=touched,
        digest=digest_for(together, change.actor, change.operation, files),
        undoes=change.undoes,
        redoes=change.redoes,
    )
    raise BlockedError(
        "review.waiting",
        f"nothing is changed yet: proposal {proposal} waits for the person",
        "ask for its fate with the tool or verb review",
        proposal=proposal,
        kinds=list(waits),
        summary=change.summary,
    )


def touched_by(together: SharedLog, files: Iterable[FileChange]) -> tuple[Touched, ...]:
    """Return the entries that a change would touch."""
    return tuple(
        one for file in files for one in together.history.entries_of(file.path, together.history.touched_by(file))
    )


def digest_for(together: SharedLog, actor: str, operation: str, files: Iterable[FileChange]) -> bytes:
    """Return what tells a proposal from others, see `digest_of`."""
    regions = ((file.path, region) for file in files for region in together.history.touched_by(file))
    return digest_of(actor, operation, regions)
