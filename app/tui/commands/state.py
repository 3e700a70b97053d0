"""What the state pane does by key: recall, import, renew, compare, check. Each runs beside the screen as a job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.tui.messages import Changed
from app.tui.part import Part
from memory.errors import MemdeckError

from .write import ACTOR

if TYPE_CHECKING:
    from app.tui.live.jobs import Job
    from memory.state.checks.finding import Finding
    from memory.state.diff import SectionDiff
    from memory.state.operations import Written
    from memory.state.recall.recall import Preview as Recall
    from memory.state.sources import Synced
    from memory.storage import Change
    from memory.systems.acts import Act
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome
    from widgets.panes.state.pane import StatePane
    from widgets.text.styled_text import Line

SHOWN = 3
"""How many sessions that could not be read a message names."""


class _CalledOff(MemdeckError):
    """A person stopped it."""


class StateVerbs(Part):
    """Nothing is written before a person saw what, or may take it back with one undo."""

    @property
    def _system(self) -> ProjectState:
        assert self.app.workspace is not None
        from memory.systems import system_of
        from memory.systems.state import ProjectState

        return system_of(self.app.workspace, "state", ProjectState)

    def _pane(self) -> StatePane | None:
        pane: Any = self.app.navigation.pane
        return pane if pane is not None and pane.pane_id == "state" else None

    # Recall

    def recall(self) -> None:
        """Work out what a recall would do, and show it; Enter applies it."""
        system, now = self._system, self.app.clock()

        def work(_: Job) -> tuple[Recall, list[Line]]:
            from widgets.panes.state.diff import recall_lines

            # A safe start trusts nothing, so that no engine runs.
            system.entrust(None if self.app.safe else self.app.watching.trust(), self.app.environ)
            shown = system.preview(now)
            diff = system.store.memory().config["recall"]["preview"]["showDiffByDefault"]
            return shown, recall_lines(shown, self.app.glyphs, diff=diff)

        self._start("recalling", work, lambda found: self._show(*found))

    def _show(self, shown: Recall, lines: list[Line]) -> None:
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.state.diff import recall_summary

        def answered(apply: bool | None) -> None:
            if apply:
                self._apply(shown)

        screen = Preview("Recall", lines, summary=recall_summary(shown), applicable=bool(shown.events))
        self.app.overlays.offer("The recall", screen, answered)

    def _apply(self, shown: Recall) -> None:
        def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
            return system.recall(shown, actor=actor, now=now)

        def otherwise(error: MemdeckError) -> bool:
            if error.code != "state.recall.stale":
                return False
            self.app.say("Somebody changed the state meanwhile, so nothing was written; this is the new preview.")
            self.recall()
            return True

        self.app.changing.change("state.recall", _act(do), otherwise=otherwise, taken_back=True)

    # Sources

    def sync(self) -> None:
        """Import the sessions of the source under the cursor, elsewhere of all sources."""
        pane = self._pane()
        look = None if pane is None else pane.state()
        if pane is None or look is None:
            return
        record = getattr(pane.current(), "record", None)
        sources = look.sources if record is None else [record]
        if not sources:
            self.app.say(f"There is no source of sessions yet; {self.app.key_of('entry.add')} adds one.")
            return
        system, now = self._system, self.app.clock()
        ids = [source["id"] for source in sources]

        def work(job: Job) -> Synced:
            from memory.state.sources import sync

            def progress(name: str) -> None:
                _go_on(job)
                job.plan((name,))

            # Who imports by hand lets it be read.
            system.unattended.take(sources, now)
            with self.app.changing.writing():
                return sync(system.store, ids, home=system.home, actor=ACTOR, now=now, progress=progress)

        self._start("importing", work, self._synced)

    def _synced(self, done: Synced) -> None:
        from widgets.panes.state.diff import counted

        skipped = sum(one.skipped for one in done.results)
        words = f"imported {counted(done.imported, 'session')}" + (f", {skipped:,} known already" if skipped else "")
        failed = [f"{one.source}: {why}" for one in done.results for why in one.failed]
        lines = [f"{words[:1].upper()}{words[1:]}; {counted(len(failed), 'failure')}:", *failed[:SHOWN]]

        def tell(_: Outcome) -> None:
            if failed:
                self.app.say("\n".join(lines), severity="warning")

        if done.change is not None:
            self._wrote(done.change, words, tell)

    # The repository

    def update(self) -> None:
        """Renew the state from the repository as it is; where there is none, show what would be made."""
        system, now = self._system, self.app.clock()
        if not system.present():
            self._plan_first()
            return

        def work(job: Job) -> Written:
            from memory.state.analysis import analyse
            from memory.state.operations import update

            def analysed() -> dict[str, Any]:
                found = analyse(system.store.root, now=now)
                _go_on(job)
                return found

            with self.app.changing.writing():
                return update(system.store, analysed, actor=ACTOR, now=now)

        self._start("looking at the repository", work, self._written)

    def _plan_first(self) -> None:
        system, now = self._system, self.app.clock()

        def work(_: Job) -> dict[str, Any]:
            from memory.state.analysis import analyse

            return analyse(system.store.root, now=now)

        self._start("looking at the repository", work, self._offer_first)

    def _offer_first(self, bundle: dict[str, Any]) -> None:
        from widgets.dialogs.dialogs import Preview

        system, now = self._system, self.app.clock()

        def work(_: Job) -> Written:
            from memory.state.operations import init

            with self.app.changing.writing():
                return init(system.store, lambda: bundle, actor=ACTOR, now=now)

        def answered(apply: bool | None) -> None:
            if apply:
                self._start("making the state", work, self._written)

        summary = f"{self.app.key_of('change.undo')} takes it back."
        screen = Preview("Make the state of this project", first_lines(bundle), summary=summary)
        self.app.overlays.offer("The state", screen, answered)

    def _written(self, done: Written) -> None:
        if done.change is not None:
            self._wrote(done.change, done.summary)

    # Looking

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

    # How it runs

    def _start(self, words: str, work: Callable[[Job], Any], then: Callable[[Any], None]) -> None:
        """Do something in a job, one of a kind at a time; what was called off ends without a word more."""
        if any(job.words == words for job in self.app.jobs.running):
            return

        def failed(error: MemdeckError) -> None:
            if not isinstance(error, _CalledOff):
                self.app.say_error(error)
            self.app.looking.request()

        def run(job: Job) -> Any:
            result = work(job)
            return job, result

        def done(pair: tuple[Job, Any]) -> None:
            then(pair[1])

        self.app.jobs.start(words, run, done, failed)

    def _wrote(self, change: Change, words: str, then: Callable[[Outcome], None] | None = None) -> None:
        """Say what a job wrote, as other changes are said, and look again; `then` comes behind that."""
        from memory.workspace import Outcome

        self.app.changing.begin()
        self.app.post_message(Changed(Outcome(change, words), then, taken_back=True))


def _go_on(job: Job) -> None:
    if job.cancel.cancelled:
        raise _CalledOff("state.called_off", "stopped; nothing was written")


def _act(do: Callable[[ProjectState, str, datetime], Outcome]) -> Act:
    from memory.systems.acts import act
    from memory.systems.state import ProjectState

    return act("state", ProjectState, do)


def first_lines(bundle: dict[str, Any]) -> list[Line]:
    """What the first state of a project would say, and which files are written."""
    from widgets.panes.state.diff import counted
    from widgets.text.styled_text import Piece, line

    project, parts = bundle["project"], bundle["projectMap"]
    lines: list[Line] = [line(Piece(project["name"], "strong")), line(project["summary"]), ()]
    known = [
        counted(len(parts["modules"]), "module"),
        counted(len(parts["entrypoints"]), "entry point"),
        counted(len(bundle["gotchas"]), "gotcha"),
        counted(len(bundle["nextSteps"]), "next step"),
    ]
    lines += [line(Piece(f"{'ecosystem':<11}", "muted"), project["primaryEcosystem"])]
    lines += [line(Piece(f"{'knows':<11}", "muted"), ", ".join(known))]
    for one in bundle["validationCommands"]:
        lines.append(line(Piece(f"{'validate':<11}", "muted"), Piece(" ".join(one["command"]), "code")))
    lines += [(), line(Piece("WRITTEN", "heading"))]
    lines.append(line(Piece(".agent-memory/", "accent"), "  the state, its history and its settings"))
    lines.append(line(Piece("docs/agent-memory/", "accent"), "  the same as Markdown, to read"))
    lines.append(line(Piece(project["recommendedEntryFile"], "accent"), "  a block that names them; the rest stays"))
    return lines
