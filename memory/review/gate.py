"""The gate that every change of an agent passes, right before its files would move."""

from __future__ import annotations

from memory.errors import BlockedError, RefusedError
from memory.storage.changes import Change
from memory.storage.store import SharedLog


def pass_or_hold(change: Change, folder: str, stores: SharedLog) -> None:
    """Return where a change may be made at once; the lock of its store is held.

    `folder` is the folder of the store in the workspace; the paths of the change are relative to it.

    BlockedError `review.waiting` with the id of the proposal that it became, RefusedError `review.denied`, ConfigError
    `review.policy` where the rules cannot be read, `review.*` where the proposal cannot be stored.
    """
    from .policy import read_policy

    policy = read_policy(stores.state)
    if not policy.covers(change.actor):
        return
    from .kinds import kinds_of
    from .proposals import Proposals

    files = tuple(file._replace(path=f"{folder}{file.path}") for file in change.files)
    with stores.glance():
        kinds = kinds_of(stores, change.actor, files)
        decision = policy.strictest(change.actor, kinds)
        if decision == "apply":
            return
    waits = tuple(sorted(kind for kind in kinds if policy.decide(change.actor, kind) == decision))
    if decision == "deny":
        raise RefusedError(
            "review.denied",
            f"the person does not let {change.actor} do this ({', '.join(waits)})",
            "ask the person",
            kinds=list(waits),
        )
    proposal = Proposals(stores).add(change, kinds=waits, folder=folder, files=files)
    raise BlockedError(
        "review.waiting",
        f"nothing is changed yet: proposal {proposal} waits for the person",
        "ask for its fate with the tool or verb review",
        proposal=proposal,
        kinds=list(waits),
        summary=change.summary,
    )
