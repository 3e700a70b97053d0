"""What the state pane looks at by key: compare, check, repair, run the validation commands, ask a question."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .state_jobs import StateJobs, act, go_on
from .write import ACTOR

if TYPE_CHECKING:
    from app.tui.live.jobs import Job
    from memory.state.checks.finding import Finding
    from memory.state.diff import SectionDiff
    from memory.state.operations import Written
    from memory.state.query import Answer
    from memory.state.repair_plan import Plan
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome


class StateChecks(StateJobs):
    """Looks, and writes only what a plan showed before, or how commands ended that a person approved."""

    def compare(self) -> None:
        """Compare two selected checkpoints, or the one under the cursor with the latest."""
        pane = self._pane()
        look = None if pane is None else pane.state()
        if pane is None or look is None:
            return
        points = [item for item in pane.selected() if hasattr(item, "point")]
        if len(points) > 2:
            self.app.say("Select two checkpoints, or none.")
            return
        if len(points) == 1:
            (one,) = points
            # The latest is compared with what came before it.
            before, after = (one.before, one.title) if one.latest else (one.title, look.checkpoints[0].id)
        else:
            # The newest stands first.
            after, before = (item.title for item in points)
        if before is None:
            self.app.say("There is one checkpoint only.")
            return
        names = (before, after)
        self._start("comparing", lambda _: look.diff(*names), lambda found: self._compared(*names, found))

    def _compared(self, before: str, after: str, found: tuple[SectionDiff, ...]) -> None:
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.state.diff import counted, diff_lines

        changed = sum(one.changed for one in found)
        summary = f"{counted(changed, 'section')} changed." if changed else "Nothing is apart."
        title = f"{before} {self.app.glyphs.right} {after}"
        screen = Preview(title, diff_lines(found, self.app.glyphs), summary=summary, applicable=False)
        self.app.overlays.offer("The comparison", screen, lambda _: None)

    def validate(self) -> None:
        """Look at everything; the findings stand in the detail of how the state stands."""
        system, now = self._system, self.app.clock()

        def work(_: Job) -> tuple[Finding, ...]:
            from memory.state.checks.check import validate

            return validate(system.store.memory(), now)

        def then(found: tuple[Finding, ...]) -> None:
            from widgets.panes.state.detail import Findings

            pane = self._pane()
            findings = Findings(now, found)
            if pane is not None:
                pane.say_findings(findings)
            words = findings.text()
            bad = findings.of("fail")
            self.app.say(words[:1].upper() + words[1:] + ".", severity="warning" if bad else "information")

        self._start("checking the state", work, then)

    # Repair

    def repair(self) -> None:
        """Work out what can be mended, and show it; Enter does it in one change."""
        system, now = self._system, self.app.clock()

        def work(_: Job) -> Plan:
            from memory.state.checks.repair import plan_repair

            return plan_repair(system.store.memory(), now)

        self._start("looking for damage", work, self._planned)

    def _planned(self, plan: Plan) -> None:
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.state.answers import repair_lines, repair_summary

        def answered(apply: bool | None) -> None:
            if apply:
                self._mend(plan)

        screen = Preview("Repair", repair_lines(plan), summary=repair_summary(plan), applicable=bool(plan.steps))
        self.app.overlays.offer("The repair", screen, answered)

    def _mend(self, plan: Plan) -> None:
        def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
            return system.repair(plan, actor=actor, now=now)

        def otherwise(error: MemdeckError) -> bool:
            if error.code != "state.repair.stale":
                return False
            self.app.say("Another program changed the state meanwhile, so nothing was written; this is the new plan.")
            self.repair()
            return True

        self.app.changing.change("state.repair", act(do), otherwise=otherwise, taken_back=True)

    # Validation commands

    def run_commands(self) -> None:
        """Run the validation commands of the bundle, each approved, and note how they ended."""
        system, now = self._system, self.app.clock()

        def work(job: Job) -> Written:
            from memory.state.files.model import stamp
            from memory.state.operations import record_validation
            from memory.systems.state_commands import run_validation

            def progress(label: str) -> None:
                job.plan((label,))

            results = run_validation(
                system.store.memory(),
                self.app.watching.trust(),
                self.app.environ,
                cancel=job.cancel,
                progress=progress,
            )
            go_on(job)
            with self.app.changing.one:
                return record_validation(system.store, results, actor=ACTOR, now=now, validated_at=stamp(now))

        self._start("validating", work, self._noted)

    def _noted(self, done: Written) -> None:
        if done.change is not None:
            self._wrote(done.change, done.summary)

    # Questions

    def ask(self) -> None:
        """Ask for a question, and answer it from the state and its history with citations; nothing is written."""
        from widgets.dialogs.dialogs import Prompt

        def asked(question: str | None) -> None:
            if question and question.strip():
                self._answer(question.strip())

        screen = Prompt("Ask the project's state", placeholder="Why do we use SQLite? What changed? What is next?")
        self.app.overlays.offer("The question", screen, asked)

    def _answer(self, question: str) -> None:
        system, now = self._system, self.app.clock()

        def work(_: Job) -> Answer:
            from memory.state.query import ask

            return ask(system.store.memory(), question, now)

        self._start("looking for an answer", work, self._answered)

    def _answered(self, found: Answer) -> None:
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.state.answers import answer_lines, answer_summary

        screen = Preview(found.question, answer_lines(found), summary=answer_summary(found), applicable=False)
        self.app.overlays.offer("The answer", screen, lambda _: None)
