"""What the state pane writes by key: recall, import, renew. Each runs beside the screen as a job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .state_jobs import StateJobs, act, go_on
from .write import ACTOR

if TYPE_CHECKING:
    from app.tui.live.jobs import Job
    from memory.state.operations import Written
    from memory.state.recall.recall import Preview as Recall
    from memory.state.sources import Synced
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome
    from widgets.text.styled_text import Line

SHOWN = 3
"""How many sessions that could not be read a message names."""


class StateVerbs(StateJobs):
    """Nothing is written before a person saw what, or may take it back with one undo."""

    # Recall

    def recall(self, source: str | None = None, section: str | None = None) -> None:
        """Work out what a recall would do, of all or of a part, and show it; Enter applies it."""
        system, now = self._system, self.app.clock()

        def work(_: Job) -> tuple[Recall, list[Line]]:
            from widgets.panes.state.diff import recall_lines

            # A safe start trusts nothing, so that no engine runs.
            system.entrust(None if self.app.safe else self.app.watching.trust(), self.app.environ)
            shown = system.preview(now, source, section)
            diff = system.store.memory().config["recall"]["preview"]["showDiffByDefault"]
            return shown, recall_lines(shown, self.app.glyphs, diff=diff)

        self._start(
            "recalling", work, lambda found: self._show(found[0], found[1], lambda: self.recall(source, section))
        )

    def recall_part(self) -> None:
        """Ask which events, or which section, a recall is about; it is shown before it is applied as any other."""
        from widgets.dialogs.choose import Choose
        from widgets.panes.state.rows import TITLES

        pane = self._pane()
        look = None if pane is None else pane.state()
        if look is None:
            return
        kinds = [event["kind"] == "imported_session" for event in look.backlog]
        parts: dict[str, tuple[str | None, str | None, str]] = {
            "Imports": ("imports", None, f"{sum(kinds):,} waiting, of sessions"),
            "Local": ("local", None, f"{len(kinds) - sum(kinds):,} waiting, of this project"),
        }
        parts |= {title: (None, name, "this section alone") for name, title in TITLES.items()}
        options = [(str(number), words, part[2]) for number, (words, part) in enumerate(parts.items(), 1)]

        def chosen(words: str | None) -> None:
            if words is not None:
                source, section, _ = parts[words]
                self.recall(source, section)

        self.app.overlays.offer("The choice", Choose("Recall only", options), chosen)

    def _show(self, shown: Recall, lines: list[Line], again: Callable[[], None]) -> None:
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.state.diff import recall_summary

        def answered(apply: bool | None) -> None:
            if apply:
                self._apply(shown, again)

        screen = Preview("Recall", lines, summary=recall_summary(shown), applicable=bool(shown.events))
        self.app.overlays.offer("The recall", screen, answered)

    def _apply(self, shown: Recall, again: Callable[[], None]) -> None:
        def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
            return system.recall(shown, actor=actor, now=now)

        def otherwise(error: MemdeckError) -> bool:
            if error.code != "state.recall.stale":
                return False
            self.app.say("Somebody changed the state meanwhile, so nothing was written; this is the new preview.")
            again()
            return True

        self.app.changing.change("state.recall", act(do), otherwise=otherwise, taken_back=True)

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
                go_on(job)
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
                go_on(job)
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
