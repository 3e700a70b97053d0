"""What the state pane writes by key: recall, import, renew; each runs as a job beside the screen, one of a kind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .context import ACTOR
from .steps import ApplyEdit, OpenDialog, ReadAgain, RunJob, Say, SayChange, Step, Steps

if TYPE_CHECKING:
    from memory.state.operations import StateChange
    from memory.state.recall.recall import RecallPreview as Recall
    from memory.state.sources import Synced
    from memory.storage import Change
    from memory.systems.acts import Act
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome
    from widgets.panes.state.pane import StatePane
    from widgets.text.styled_text import Line

    from .context import Context, JobView


class _CalledOff(MemdeckError):
    """A person stopped it."""


def system_of_state(context: Context) -> ProjectState:
    """Return the state of the project."""
    assert context.workspace is not None
    from memory.systems import system_of
    from memory.systems.state import ProjectState

    return system_of(context.workspace, "state", ProjectState)


def state_pane(context: Context) -> StatePane | None:
    """Return the pane that is open where it is that of the state."""
    pane: Any = context.pane
    return pane if pane is not None and pane.pane_id == "state" else None


def start(words: str, work: Callable[[JobView], Any], then: Callable[[Any], Step]) -> Step:
    """Return a job, one of a kind at a time; what was called off ends without a word more."""
    return RunJob(words, work, then, lambda error: ReadAgain() if isinstance(error, _CalledOff) else None, once=True)


def wrote(change: Change | None, words: str, then: Callable[[Outcome], Step] | None = None) -> Step:
    """Return what says that a job wrote something, with `then` behind it; nothing where nothing was written."""
    from memory.workspace import Outcome

    return None if change is None else SayChange(Outcome(change, words), then)


def go_on(job: JobView) -> None:
    """End the work of a job that was stopped."""
    if job.cancel.cancelled:
        raise _CalledOff("state.called_off", "stopped; nothing was written")


def act(do: Callable[[ProjectState, str, datetime], Outcome]) -> Act:
    """Return a change of the project's state."""
    from memory.systems.acts import act as act_on
    from memory.systems.state import ProjectState

    return act_on("state", ProjectState, do)


SHOWN = 3
"""How many sessions that could not be read a message names."""


def recall(context: Context, source: str | None = None, section: str | None = None) -> Step:
    """Work out what a recall would do, of all or of a part, and show it; Enter applies it."""
    system = system_of_state(context)

    def work(_: JobView) -> tuple[Recall, list[Line]]:
        from widgets.panes.state.diff import recall_lines

        # A safe start trusts nothing, so that no engine runs.
        system.entrust(None if context.safe else context.trust(), context.environ)
        shown = system.preview(source, section)
        diff = system.store.memory().config["recall"]["preview"]["showDiffByDefault"]
        return shown, recall_lines(shown, context.glyphs, diff=diff)

    return start(
        "recalling",
        work,
        lambda found: _show(found[0], found[1], lambda: recall(context, source, section)),
    )


def recall_part(context: Context) -> Step:
    """Ask which events, or which section, a recall is about; it is shown before it is applied as any other."""
    from widgets.dialogs.choose import Choose
    from widgets.panes.state.rows import TITLES

    pane = state_pane(context)
    look = None if pane is None else pane.state()
    if look is None:
        return None
    kinds = [event["kind"] == "imported_session" for event in look.backlog]
    parts: dict[str, tuple[str | None, str | None, str]] = {
        "Imports": ("imports", None, f"{sum(kinds):,} waiting, of sessions"),
        "Local": ("local", None, f"{len(kinds) - sum(kinds):,} waiting, of this project"),
    }
    parts |= {title: (None, name, "this section alone") for name, title in TITLES.items()}
    options = [(str(number), words, part[2]) for number, (words, part) in enumerate(parts.items(), 1)]

    def chosen(words: str | None) -> Step:
        return None if words is None else recall(context, *parts[words][:2])

    return OpenDialog(Choose("Recall only", options), chosen, waited="The choice")


def _show(shown: Recall, lines: list[Line], again: Callable[[], Step]) -> Step:
    from widgets.dialogs.dialogs import Preview
    from widgets.panes.state.diff import recall_summary

    def answered(apply: bool | None) -> Step:
        return _apply(shown, again) if apply else None

    screen = Preview("Recall", lines, summary=recall_summary(shown), applicable=bool(shown.events))
    return OpenDialog(screen, answered, waited="The recall")


def _apply(shown: Recall, again: Callable[[], Step]) -> Step:
    def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
        return system.recall(shown, actor=actor, now=now)

    def otherwise(error: MemdeckError) -> Step:
        if error.code != "state.recall.stale":
            return None
        said = Say("Somebody changed the state meanwhile, so nothing was written; this is the new preview.")
        return Steps((said, again()))

    return ApplyEdit("state.recall", act(do), otherwise=otherwise, taken_back=True)


# Sources


def sync(context: Context) -> Step:
    """Import the sessions of the source under the cursor, elsewhere of all sources."""
    pane = state_pane(context)
    look = None if pane is None else pane.state()
    if pane is None or look is None:
        return None
    record = getattr(pane.current(), "record", None)
    sources = look.sources if record is None else [record]
    if not sources:
        return Say(f"There is no source of sessions yet; {context.key_of('entry.add')} adds one.")
    system, now = system_of_state(context), context.clock()
    ids = [source["id"] for source in sources]

    def work(job: JobView) -> Synced:
        from memory.state.sources import sync

        def progress(name: str) -> None:
            go_on(job)
            job.plan((name,))

        # Who imports by hand lets it be read.
        system.unattended.take(sources, now)
        with context.writing():
            return sync(system.store, ids, home=system.home, actor=ACTOR, now=now, progress=progress)

    return start("importing", work, _synced)


def _synced(done: Synced) -> Step:
    from widgets.panes.state.diff import counted

    skipped = sum(one.skipped for one in done.results)
    words = f"imported {counted(done.imported, 'session')}" + (f", {skipped:,} known already" if skipped else "")
    failed = [f"{one.source}: {why}" for one in done.results for why in one.failed]
    lines = [f"{words[:1].upper()}{words[1:]}; {counted(len(failed), 'failure')}:", *failed[:SHOWN]]

    def tell(_: Outcome) -> Step:
        return Say("\n".join(lines), severity="warning") if failed else None

    return wrote(done.change, words, tell)


# The repository


def update(context: Context) -> Step:
    """Renew the state from the repository as it is; where there is none, show what would be made."""
    system, now = system_of_state(context), context.clock()
    if not system.present():
        return _plan_first(context)

    def work(job: JobView) -> StateChange:
        from memory.state.analysis import analyse
        from memory.state.operations import update

        def analysed() -> dict[str, Any]:
            found = analyse(system.store.root, now=now)
            go_on(job)
            return found

        with context.writing():
            return update(system.store, analysed, actor=ACTOR, now=now)

    return start("looking at the repository", work, _written)


def _plan_first(context: Context) -> Step:
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> dict[str, Any]:
        from memory.state.analysis import analyse

        return analyse(system.store.root, now=now)

    return start("looking at the repository", work, lambda found: _offer_first(context, found))


def _offer_first(context: Context, bundle: dict[str, Any]) -> Step:
    from widgets.dialogs.dialogs import Preview

    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> StateChange:
        from memory.state.operations import init

        with context.writing():
            return init(system.store, lambda: bundle, actor=ACTOR, now=now)

    def answered(apply: bool | None) -> Step:
        return start("making the state", work, _written) if apply else None

    summary = f"{context.key_of('change.undo')} takes it back."
    screen = Preview("Make the state of this project", first_lines(bundle), summary=summary)
    return OpenDialog(screen, answered, waited="The state")


def _written(done: StateChange) -> Step:
    return wrote(done.change, done.summary)


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
