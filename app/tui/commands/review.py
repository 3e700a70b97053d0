"""Decisions about proposals of agents: accept, edit and reject, one or all selected."""

from __future__ import annotations

from collections.abc import Sequence

from app.tui.forms.conflicts import ask_sides
from app.tui.forms.editor import in_editor
from app.tui.shell import ACTOR
from app.tui.spine import Spine
from memory.errors import ConflictError, MemdeckError
from memory.history.outside import OutsideRemoval
from memory.monitoring.overview import WaitingAsk
from memory.review.inbox import Inbox
from memory.review.proposals import Proposal
from memory.storage.merging import FileConflict, Take
from memory.trust.consent import ConsentRecord
from memory.workspace import Outcome
from widgets.dialogs.three_way import Sides
from widgets.panes.memory.clients import ClientDeletion, restoring

from . import consent
from .undo import bring_back, leave, take_back

PANE = "waiting"


def _chosen(app: Spine) -> tuple[Proposal, ...]:
    return tuple(one for one in _things(app) if isinstance(one, Proposal) and one.state == "waiting")


def _things(app: Spine) -> list[object]:
    pane = app.pane
    return [] if pane is None or pane.pane_id != PANE else [item.thing for item in pane.selected()]


def _inbox(app: Spine) -> Inbox:
    return Inbox(app.shown_workspace.together)


def _decided(app: Spine) -> list[Proposal | ConsentRecord]:
    """Return the chosen rows that are already decided."""
    return [one for one in _things(app) if isinstance(one, ConsentRecord) or
            (isinstance(one, Proposal) and one.state != "waiting")]  # fmt: skip


def _take_back(app: Spine, decided: Sequence[Proposal | ConsentRecord]) -> None:
    """Let what was rejected, approved or denied wait again, and revert what was accepted."""
    inbox, now = _inbox(app), app.clock()
    for one in decided:
        if isinstance(one, Proposal) and one.change_id is not None:
            take_back(app, one.change_id, f"Reverted: {one.summary}")
    waits = [one for one in decided if isinstance(one, ConsentRecord) or one.change_id is None]

    def work() -> None:
        for one in waits:
            if isinstance(one, Proposal):
                inbox.reopen(one.id)
            else:
                app.schedule.trust().revoke(one.id, who=ACTOR, now=now)

    def done(_: None) -> None:
        one = waits[0]
        words = (one.wanted if isinstance(one, Proposal) else one.ask.name) if len(waits) == 1 else f"{len(waits)} rows"
        app.say(f"Pending again: {words}")
        app.changed()

    if waits:
        app.find(work, done)


# Accept


def accept(app: Spine) -> None:
    """Accept the proposal, approve the command, or restore what was removed."""
    others = [one for one in _things(app) if not isinstance(one, Proposal)]
    gone = [one for one in others if isinstance(one, OutsideRemoval | ClientDeletion)]
    # Each is a change of its own.
    for one in gone:
        if isinstance(one, OutsideRemoval):
            bring_back(app, one)
        else:
            app.change("clients.restore", restoring(one.lost), taken_back=True)
    if gone:
        return None
    if others:
        return consent.review(app)
    return app.once_shown(lambda: _write(app, _chosen(app), None))


def _write(app: Spine, chosen: Sequence[Proposal], take: Take | None) -> None:
    if not chosen:
        return None
    inbox, now = _inbox(app), app.clock()
    elsewhere = sorted({one.place for one in chosen if one.place})

    # Accepted proposals leave the list, with cursor and selection; those that cannot be accepted stay selected.
    def write() -> Outcome:
        made, failed = [], list[MemdeckError]()
        # The oldest first, as they were proposed.
        for one in reversed(chosen):
            try:
                made.append(inbox.accept(one.id, reviewer=ACTOR, now=now, take=take))
            except MemdeckError as error:
                failed.append(error)
        if not made:
            raise failed[0]
        words = f"Accepted: {made[-1].summary}" if len(made) == 1 else f"Accepted {len(made)} proposals"
        if elsewhere:
            words += f" in {elsewhere[0]}"
        if failed:
            words += f"; {len(failed)} left pending: {failed[0].message}"
        return Outcome(made[-1], words)

    def otherwise(error: MemdeckError) -> None:
        if error.code == "review.conflict" and isinstance(error, ConflictError) and len(chosen) == 1:
            return _settle(app, chosen[0])
        return app.say_error(error)

    return app.write(write, otherwise, taken_back=True)


# Where the same field changed since


def _settle(app: Spine, one: Proposal) -> None:
    """Ask in three columns: before both, as the agent wants it, as the file says now."""
    inbox, now = _inbox(app), app.clock()

    def work() -> tuple[tuple[FileConflict, ...], tuple[str, ...]]:
        standing = inbox.judged(inbox.get(one.id), now).standing
        return standing.clashes, standing.reasons

    return app.find(work, lambda found: _ask(app, one, *found), opens="The question")


def _ask(app: Spine, one: Proposal, clashes: Sequence[FileConflict], reasons: Sequence[str]) -> None:
    if reasons or not clashes:
        why = reasons[0] if reasons else "the conflict is gone; try again"
        app.say(f"Not accepted: {why}.", severity="warning")
        return app.changed()
    return ask_sides(
        app,
        f"Accept: {one.wanted[:300]}",
        clashes,
        Sides(base="before", mine="proposal", theirs="now"),
        lambda take: _write(app, (one,), take),
        written=False,
    )


# Edit and reject


def edit(app: Spine) -> None:
    """Edit the entry that a proposal would write in $EDITOR; the proposal keeps waiting, with the new text."""
    chosen = _chosen(app)
    if len(chosen) != 1:
        return app.say("One proposal is edited at a time.") if chosen else None
    inbox, ref = _inbox(app), chosen[0].id

    def edited(text: str) -> None:
        return app.find(lambda: inbox.edit(ref, text), lambda _: app.changed())

    return app.find(lambda: inbox.text_of(inbox.get(ref)), lambda text: in_editor(app, text, edited), opens="The text")


def reject(app: Spine) -> None:
    """Reject the proposal, deny the command, dismiss the removal, or revert a decision."""
    if decided := _decided(app):
        return _take_back(app, decided)
    chosen = _chosen(app)
    removals = [one for one in _things(app) if isinstance(one, OutsideRemoval)]
    if removals:
        return leave(app, removals)
    if deleted := [lost for one in _things(app) if isinstance(one, ClientDeletion) for lost in one.lost]:
        return app.change("clients.restore", restoring(deleted, keep=True))
    if not chosen:
        return consent.deny(app, [one.ask for one in _things(app) if isinstance(one, WaitingAsk)])
    inbox, now = _inbox(app), app.clock()

    def done(rejected: list[Proposal]) -> None:
        words = f"Rejected: {chosen[0].wanted}" if len(chosen) == 1 else f"Rejected {len(chosen)} proposals"
        app.undo_next(lambda: _take_back(app, rejected))
        app.say(f"{words}. {app.key_of('change.undo')} undoes it.")
        app.changed()

    return app.find(lambda: [inbox.reject(one.id, reviewer=ACTOR, now=now) for one in chosen], done)
