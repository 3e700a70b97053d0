"""Consent: shows the commands that memory files ask to run, one question after the other, and saves the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from app.tui.shell import ACTOR
from app.tui.spine import Spine
from memory.monitoring.overview import WaitingAsk
from memory.systems import asks_of_all, entrust
from memory.trust.asks import Ask
from memory.trust.consent import ConsentDecision
from memory.trust.view import ConsentView, view_of
from widgets.dialogs.consent import APPROVE, DENY, ConsentScreen


class ConsentQuestion(NamedTuple):
    """One thing to decide, as it was when it was read."""

    ask: Ask
    decision: ConsentDecision
    view: ConsentView


ROLES = {"state": ("validation", "engine"), "typed": ("folders",)}
"""The roles of what a memory system wants to run or delete, by its pane."""


def review(app: Spine) -> None:
    """Review a command, approve or deny it."""
    pane = app.pane
    if pane is not None and pane.pane_id in ROLES:
        roles = ROLES[pane.pane_id]
        return first(app, lambda ask: ask.role in roles)
    # The waiting approvals in the selected rows, and each monitor and task with an action there.
    now = app.situation
    things = [item.thing for item in now.items] if now.pane_id in ("brief", "waiting") else []
    waiting = [one for thing in things for one in (thing if isinstance(thing, Sequence) else (thing,))]
    slots = {one.ask.slot for one in waiting if isinstance(one, WaitingAsk)}
    named = {(one.file, one.title) for one in (*now.actions, *now.monitors)}
    # What was denied is asked again only about a named entry.
    return first(app, lambda ask: ask.slot in slots or (ask.file, ask.name) in named, again=bool(named))


def review_all(app: Spine) -> None:
    """Review all that needs approval."""
    return first(app, lambda _: True)


def first(
    app: Spine, wanted: Callable[[Ask], bool], then: Callable[[], object] | None = None, *, again: bool = False
) -> None:
    """Ask about each wanted thing that waits, then go on; Escape ends it all.

    Without `then`, say if there are no questions. With `again`, denied ones are asked, too.
    """

    def work() -> list[ConsentQuestion]:
        trust, workspace = app.schedule.trust(), app.shown_workspace
        entrust(workspace, trust, app.environ)
        found = []
        for ask in filter(wanted, asks_of_all(workspace)):
            decision = trust.decide(ask)
            if not decision.allowed and (again or decision.waits):
                found.append(ConsentQuestion(ask, decision, view_of(ask, decision, workspace.root)))
        return found

    return _find(app, work, lambda questions: _ask(app, questions, 0, then))


def _ask(app: Spine, questions: list[ConsentQuestion], index: int, then: Callable[[], object] | None) -> None:
    """Show a question; its answer opens the next one, and after the last one `then` is called."""
    if index >= len(questions):
        if then is not None:
            then()
        elif not questions:
            app.say(f"Nothing to approve here; Waiting ({app.key_of('pane.waiting')}) lists all.")
        return

    def answered(answer: str) -> None:
        if answer in (APPROVE, DENY):
            _decide(app, questions, index, answer == APPROVE, then)
        else:
            _ask(app, questions, index + 1, then)

    place = f"{index + 1} of {len(questions)}" if len(questions) > 1 else ""
    # Left: commands approved before may now run when they are due.
    app.ask(ConsentScreen(questions[index].view, place=place, follows=index > 0), answered, left=app.changed)


def _decide(
    app: Spine, questions: list[ConsentQuestion], index: int, approved: bool, then: Callable[[], object] | None
) -> None:
    """Save an answer, and go on with the next question."""
    question, now = questions[index], app.clock()

    def work() -> str:
        trust = app.schedule.trust()
        settle = trust.approve if approved else trust.deny
        settle(question.ask, who=ACTOR, now=now, shown=question.decision.id)
        return f"{'Approved' if approved else 'Denied'}: {question.ask.name}"

    def done(words: str) -> None:
        app.say(words)
        if then is None:
            # Nothing runs the approved command right now, so the schedule looks for it.
            app.changed()
        _ask(app, questions, index + 1, then)

    _find(app, work, done)


def deny(app: Spine, asks: Sequence[Ask]) -> None:
    """Deny what waits for an approval, without a question; undo lets it wait again."""
    trust, now = app.schedule.trust(), app.clock()

    def work() -> list[str]:
        entrust(app.shown_workspace, trust, app.environ)
        return [trust.deny(ask, who=ACTOR, now=now).id for ask in asks]

    def denied(ids: list[str]) -> None:
        def again() -> None:
            _find(app, lambda: [trust.revoke(one, who=ACTOR, now=now) for one in ids], lambda _: app.changed())

        app.undo_next(again)
        words = asks[0].name if len(asks) == 1 else f"{len(asks)} commands"
        app.say(f"Denied: {words}. {app.key_of('change.undo')} undoes it.")
        app.changed()

    if asks:
        _find(app, work, denied)


def _find(app: Spine, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
    """Run `work` in a worker; keys typed meanwhile are dropped. In a browser nothing is approved: other programs of
    this machine may control a web page.
    """
    if app.is_web:
        return app.say("Approve commands in a terminal; the browser cannot.", severity="warning")
    return app.find(work, then, opens="The question", deaf=True, group="consent")
