"""Decisions about proposals of agents: accept, edit and reject, one or all selected."""

from __future__ import annotations

from collections.abc import Sequence

from app.tui.forms.conflicts import ask_sides
from memory.errors import ConflictError, MemdeckError
from memory.history.outside import OutsideRemoval
from memory.review import Inbox
from memory.review.model import WaitingProposal
from memory.storage.log.merging import FileConflict, Take
from memory.workspace import Outcome
from widgets.dialogs.three_way import Sides

from .context import ACTOR, Context, Step, steps
from .revert import bring_back, leave

PANE = "waiting"


def _chosen(context: Context) -> tuple[WaitingProposal, ...]:
    return tuple(one for one in _things(context) if isinstance(one, WaitingProposal))


def _things(context: Context) -> list[object]:
    pane = context.pane
    return [] if pane is None or pane.pane_id != PANE else [item.thing for item in pane.selected()]


def _inbox(context: Context) -> Inbox:
    return Inbox(context.workspace)


# Accept


def accept(context: Context) -> Step:
    """Accept a proposal, approve a command, bring back what was removed; u takes it back."""
    others = [one for one in _things(context) if not isinstance(one, WaitingProposal)]
    if others and isinstance(others[0], OutsideRemoval):
        return bring_back(context, others[0])
    if others:
        return context.approve()
    return context.once_seen(lambda: _accept(context))


def _accept(context: Context) -> Step:
    chosen = _chosen(context)
    if not chosen:
        return None
    return _write(context, chosen, None)


def _write(context: Context, chosen: Sequence[WaitingProposal], take: Take | None) -> Step:
    inbox, now = _inbox(context), context.clock()
    elsewhere = sorted({one.place for one in chosen if one.place})

    # Accepted proposals leave the list, with cursor and selection; those that cannot be accepted stay selected.
    def write() -> Outcome:
        made, failed = [], list[MemdeckError]()
        # The oldest first, as they were proposed.
        for one in reversed(chosen):
            try:
                made.append(inbox.accept(one.ref, reviewer=ACTOR, now=now, take=take))
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

    def otherwise(error: MemdeckError) -> Step:
        if error.code == "review.conflict" and isinstance(error, ConflictError) and len(chosen) == 1:
            return _settle(context, chosen[0])
        return steps((context.fail(error), context.read_again()))

    return context.write(write, otherwise, taken_back=True)


# Where the same field changed since


def _settle(context: Context, one: WaitingProposal) -> Step:
    """Ask in three columns: before both, as the agent wants it, as the file says now."""
    inbox, now = _inbox(context), context.clock()

    def work() -> tuple[tuple[FileConflict, ...], tuple[str, ...]]:
        standing = inbox.standing(inbox.get(one.ref), now)
        return standing.clashes, standing.reasons

    return context.find(work, lambda found: _ask(context, one, *found))


def _ask(context: Context, one: WaitingProposal, clashes: Sequence[FileConflict], reasons: Sequence[str]) -> Step:
    if reasons or not clashes:
        why = reasons[0] if reasons else "the conflict is gone; try again"
        return steps((context.say(f"Not accepted: {why}.", severity="warning"), context.read_again()))
    return ask_sides(
        context,
        f"Accept: {one.summary[:300]}",
        clashes,
        Sides(base="before", mine="proposal", theirs="now"),
        lambda take: _write(context, (one,), take),
        written=False,
    )


# Edit and reject


def edit(context: Context) -> Step:
    """Edit the entry that a proposal would write in $EDITOR; the proposal keeps waiting, with the new text."""
    chosen = _chosen(context)
    if len(chosen) != 1:
        return context.say("One proposal is edited at a time.") if chosen else None
    inbox, ref = _inbox(context), chosen[0].ref

    def edited(text: str) -> Step:
        now = context.clock()
        return context.find(lambda: inbox.edit(ref, text, reviewer=ACTOR, now=now), lambda _: context.read_again())

    return context.find(lambda: inbox.text_of(inbox.get(ref)), lambda text: context.edit_text(text, edited))


def reject(context: Context) -> Step:
    """Reject the selection; the files stay as they are, and the agent is told."""
    chosen = _chosen(context)
    removals = [one for one in _things(context) if isinstance(one, OutsideRemoval)]
    if removals:
        return leave(context, removals)
    if not chosen:
        return context.approve()
    inbox, now = _inbox(context), context.clock()

    def work() -> int:
        for one in chosen:
            inbox.reject(one.ref, reviewer=ACTOR, now=now)
        return len(chosen)

    def again() -> None:
        for one in chosen:
            inbox.reopen(one.ref, reviewer=ACTOR, now=context.clock())

    def reopened(_: object) -> Step:
        words = f"Waits again: {chosen[0].summary}" if len(chosen) == 1 else f"{len(chosen)} proposals wait again"
        return steps((context.say(words), context.read_again()))

    def done(count: int) -> Step:
        words = f"Rejected: {chosen[0].summary}" if count == 1 else f"Rejected {count} proposals"
        context.undo_next(lambda: context.find(again, reopened, failed))
        return steps((context.say(f"{words}. {context.key_of('change.undo')} takes it back."), context.read_again()))

    def failed(error: MemdeckError) -> Step:
        return steps((context.fail(error), context.read_again()))

    return context.find(work, done, failed)
