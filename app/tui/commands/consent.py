"""Consent: shows the commands that memory files ask to run, one question after the other, and saves the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from app.tui.commands.conditions import MONITOR_GROUPS, monitors_of, tasks_of
from app.tui.live.background import Schedule
from app.tui.shell import ACTOR
from app.tui.spine import Part
from memory.errors import RefusedError
from memory.systems import asks_of_all, entrust
from memory.trust.asks import Ask
from memory.trust.consent import Trust
from memory.trust.records import ConsentDecision
from memory.trust.view import ConsentView, view_of, workspace_view
from widgets.dialogs.consent import APPROVE, DENY, ConsentScreen


class ConsentQuestion(NamedTuple):
    """One thing to decide, as it was when it was read."""

    ask: Ask
    decision: ConsentDecision
    view: ConsentView


STATE_ROLES = ("validation", "engine")
"""The roles of the commands of a project's state."""


def _any(_: Ask) -> bool:
    """Return True: start with any ask."""
    return True


class ConsentPart(Part):
    """Asks the user; everything it reads and writes is done in a worker."""

    def _is_refused(self) -> bool:
        """Return True, with a message, in a browser: other programs of this machine may control a web page."""
        if self.app.is_web:
            self.app.say("What may run is approved at a terminal, not in a browser.", severity="warning")
        return self.app.is_web

    def review(self) -> None:
        """Look at what the monitor or task wants to run, and approve or deny it; elsewhere at all that waits."""
        pane = self.app.pane
        if pane is not None and pane.pane_id == "state":
            self.first(set(), STATE_ROLES)
            return
        if pane is not None and pane.pane_id == "waiting":
            wanted = getattr(getattr(pane.current(), "thing", None), "ask", None)
            self.first(set(), (), start=lambda ask: wanted is not None and ask.slot == wanted.slot)
            return
        row = pane.current() if pane is not None and pane.pane_id == "brief" else None
        items: tuple[Any, ...] = ()
        start: Callable[[Ask], bool] = _any
        if pane is not None and pane.pane_id in ("monitors", "tasks"):
            items = (*tasks_of(pane), *monitors_of(pane))
        elif row is not None and row.part == "waiting":
            slot = row.thing.ask.slot
            start = lambda ask: ask.slot == slot  # noqa: E731
        elif row is not None and row.part in MONITOR_GROUPS:
            place = (row.values["file"], row.thing.name)
            start = lambda ask: (ask.file, ask.name) == place  # noqa: E731
        elif pane is not None and row is not None:
            items = tuple(task for task in tasks_of(pane) if task.action is not None)
        self.first({(item.file, item.title) for item in items}, (), start=start)

    def review_all(self) -> None:
        """Look at everything that waits for an approval, one after the other."""
        self.first(set(), ())

    def first(
        self,
        chosen: set[tuple[str, str]],
        roles: tuple[str, ...],
        then: Callable[[], object] | None = None,
        start: Callable[[Ask], bool] = _any,
    ) -> None:
        """Ask about the `chosen` things (file and name) in these roles, then go on; Escape ends it all.

        Without `then`, say if there are no questions, and repeat denied ones if `chosen`. `start` selects the question
        to begin with.
        """
        if self._is_refused():
            return

        def work() -> list[ConsentQuestion]:
            trust, workspace = self._trust(), self.workspace
            entrust(workspace, trust, self.app.environ)
            found = []
            for ask in asks_of_all(workspace):
                if (chosen and (ask.file, ask.name) not in chosen) or (roles and ask.role not in roles):
                    continue
                decision = trust.decide(ask)
                if not decision.allowed and (decision.waits or (chosen and then is None)):
                    found.append(ConsentQuestion(ask, decision, view_of(ask, decision, workspace.root)))
            first = next((place for place, one in enumerate(found) if start(one.ask)), 0)
            return [*found[first:], *found[:first]]

        self._run(work, lambda questions: self._ask(questions, 0, then))

    def _ask(self, questions: list[ConsentQuestion], index: int, then: Callable[[], object] | None = None) -> None:
        """Show a question; its answer opens the next one, and after the last one `then` is called."""
        if index >= len(questions):
            if then is not None:
                then()
            elif not questions:
                self.app.say("Nothing here needs approval.")
            return

        question = questions[index]

        def answered(answer: str | None) -> None:
            if answer is None:
                # Commands approved before may now run when they are due.
                self.app.changed()
            elif answer in (APPROVE, DENY):
                self._decide(question, answer == APPROVE, lambda: self._ask(questions, index + 1, then), then is None)
            else:
                self._ask(questions, index + 1, then)

        place = f"{index + 1} of {len(questions)}" if len(questions) > 1 else ""
        self.app.push_screen(ConsentScreen(question.view, place=place), answered)

    def _decide(self, question: ConsentQuestion, approved: bool, then: Callable[[], object], wakes: bool) -> None:
        """Save an answer; `wakes`: nothing runs the approved command right now, so the schedule looks for it."""
        now = self.app.clock()

        def work() -> str:
            trust = self._trust()
            settle = trust.approve if approved else trust.deny
            settle(question.ask, who=ACTOR, now=now, shown=question.decision.id)
            return f"{'Approved' if approved else 'Denied'}: {question.ask.name}"

        def done(words: str) -> None:
            self.app.say(words)
            if wakes:
                self.app.changed()
            then()

        self._run(work, done)

    # The workspace

    def review_workspace(self) -> None:
        """Approve the workspace for checks of public addresses."""
        if self._is_refused():
            return

        def work() -> ConsentView | None:
            trust, workspace = self._trust(), self.workspace
            if trust.opening() is not None:
                return None
            return workspace_view(trust, asks_of_all(workspace))

        self._run(work, self._ask_workspace)

    def _ask_workspace(self, view: ConsentView | None) -> None:
        if view is None:
            self.app.say("Outgoing checks are approved already; `memdeck trust revoke --workspace` takes it back.")
            return

        def answered(answer: str) -> None:
            if answer != APPROVE:
                return
            now = self.app.clock()
            self._run(
                lambda: self._trust().approve_workspace(ACTOR, now),
                lambda _: self.app.say("Approved: outgoing checks of public addresses."),
            )

        self.app.ask(ConsentScreen(view), answered)

    # Work

    def _trust(self) -> Trust:
        trust = Schedule.of(self.app).trust()
        if trust is None:
            raise RefusedError("trust.no_state", "there is no state folder to keep approvals in", "set XDG_STATE_HOME")
        return trust

    def _run(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Run `work` in a worker; keys typed meanwhile are dropped."""
        self.app.find(work, then, opens="The question", deaf=True, group="consent")
