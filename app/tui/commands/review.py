"""Deciding about what agents want to change: accept, edit and reject, one proposal or all that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.errors import ConflictError, MemdeckError, UsageError

from .context import ACTOR
from .steps import Fail, Find, InEditor, OnceSeen, OpenDialog, ReadAgain, Say, Step, Steps, Write

if TYPE_CHECKING:
    from memory.review import Inbox
    from memory.review.model import ProposalClash, WaitingProposal
    from memory.review.standing import Side, Take
    from memory.workspace import Outcome
    from widgets.dialogs.three_way import Answers

    from .context import Context

PANE = "inbox"


def _chosen(context: Context) -> tuple[WaitingProposal, ...]:
    pane = context.pane
    return () if pane is None or pane.pane_id != PANE else pane.selected()


def _inbox(context: Context) -> Inbox:
    from memory.review import Inbox

    assert context.workspace is not None
    return Inbox(context.workspace)


# Accept


def accept(context: Context) -> Step:
    """Accept the proposal under the cursor at once, or all that are selected after a question."""
    return OnceSeen(lambda: _accept(context))


def _accept(context: Context) -> Step:
    from widgets.dialogs.dialogs import Confirm

    chosen = _chosen(context)
    if not chosen:
        return None
    if len(chosen) == 1:
        return _write(context, chosen, None)
    details = f"{_titles(chosen)}\n\nEach is a change of its own, which u takes back."
    question = f"Accept {len(chosen)} proposals?"

    def answered(yes: bool | None) -> Step:
        return _write(context, chosen, None) if yes else None

    return OpenDialog(Confirm(question, details, yes="Accept", no="Not now"), answered)


def _titles(chosen: Sequence[WaitingProposal]) -> str:
    first = "\n".join(one.summary[:200] for one in chosen[:5])
    return first + (f"\nand {len(chosen) - 5} more" if len(chosen) > 5 else "")


def _write(context: Context, chosen: Sequence[WaitingProposal], take: Take | None) -> Step:
    inbox, now = _inbox(context), context.clock()
    elsewhere = sorted({one.place for one in chosen if one.place})

    # What is accepted leaves the list, and the cursor and the selection with it; what cannot be stays under them.
    def write() -> Outcome:
        from memory.workspace import Outcome

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
            words += f"; {len(failed)} could not be, and wait on: {failed[0].message}"
        return Outcome(made[-1], words)

    def otherwise(error: MemdeckError) -> Step:
        if error.code == "review.conflict" and isinstance(error, ConflictError) and len(chosen) == 1:
            return _settle(context, chosen[0])
        return Steps((Fail(error), ReadAgain()))

    return Write(write, None, otherwise, taken_back=True)


# Where the same was changed since


def _settle(context: Context, one: WaitingProposal) -> Step:
    """Three columns: before both, as the agent wants it, as the file says now."""
    inbox, now = _inbox(context), context.clock()

    def work() -> tuple[tuple[ProposalClash, ...], tuple[str, ...]]:
        standing = inbox.standing(inbox.get(one.ref), now)
        return standing.clashes, standing.reasons

    return Find(work, lambda found: _ask(context, one, *found))


def _ask(context: Context, one: WaitingProposal, clashes: Sequence[ProposalClash], reasons: Sequence[str]) -> Step:
    from widgets.dialogs.three_way import Sides, ThreeWay, ThreeWayQuestion

    if reasons or not clashes:
        why = reasons[0] if reasons else "nothing is in the way any more"
        return Steps((Say(f"It cannot be accepted as it is: {why}.", severity="warning"), ReadAgain()))
    told = [clash.json() for clash in clashes]
    questions = [
        ThreeWayQuestion(
            str(number), side["field"], side["base"], side["ours"], side["theirs"], group=str(side["entry"] or "")
        )
        for number, side in enumerate(told)
    ]

    def answered(answers: Answers | None) -> Step:
        if answers is None:
            return None
        chosen: dict[tuple[str, str, str], Side] = {}
        from memory.review.standing import key_of, taking_each

        for number, (clash, side) in enumerate(zip(clashes, told, strict=True)):
            picked = _side(answers.get(str(number)), side["base"], side["ours"], side["theirs"])
            if picked is None:
                return Fail(
                    UsageError(
                        "review.side", "a proposal takes one of the three sides", "edit it to say something else"
                    )
                )
            chosen[key_of(clash)] = picked
        return _write(context, (one,), taking_each(chosen))

    screen = ThreeWay(
        f"Accept: {one.summary[:300]}",
        questions,
        note="Somebody changed the same since. Newer changes stay; choose for each place what it should say.",
        sides=Sides(base="before", mine="proposal", theirs="now"),
    )
    return OpenDialog(screen, answered)


def _side(text: str | None, base: str | None, ours: str | None, theirs: str | None) -> Side | None:
    """Return which side a text is; None for another text."""
    if text == ours:
        return "proposal"
    if text == theirs:
        return "file"
    return "before" if text == base else None


# Edit and reject


def edit(context: Context) -> Step:
    """Edit the entry that a proposal would write in $EDITOR; it waits on with the new text."""
    chosen = _chosen(context)
    if len(chosen) != 1:
        return Say("One proposal is edited at a time.") if chosen else None
    inbox, ref = _inbox(context), chosen[0].ref

    def edited(text: str) -> Step:
        now = context.clock()
        return Find(lambda: inbox.edit(ref, text, reviewer=ACTOR, now=now), lambda _: ReadAgain())

    return Find(lambda: inbox.text_of(inbox.get(ref)), lambda text: InEditor(text, edited))


def reject(context: Context) -> Step:
    """Reject what is selected, after a question; the files stay as they are."""
    from widgets.dialogs.dialogs import Confirm

    chosen = _chosen(context)
    if not chosen:
        return None
    inbox, now = _inbox(context), context.clock()
    question = "Reject this proposal?" if len(chosen) == 1 else f"Reject {len(chosen)} proposals?"

    def work() -> int:
        for one in chosen:
            inbox.reject(one.ref, reviewer=ACTOR, now=now)
        return len(chosen)

    def done(count: int) -> Step:
        words = f"Rejected: {chosen[0].summary}" if count == 1 else f"Rejected {count} proposals"
        return Steps((Say(words), ReadAgain()))

    def answered(yes: bool | None) -> Step:
        return Find(work, done, lambda error: Steps((Fail(error), ReadAgain()))) if yes else None

    details = f"{_titles(chosen)}\n\nThe files stay as they are; the agent hears of it."
    return OpenDialog(Confirm(question, details, yes="Reject", no="Keep waiting", danger=True), answered)
