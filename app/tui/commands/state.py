"""Commands of the state pane that write: recall, import, update; each is a job, one of a kind at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError
from memory.state.analysis import analyse
from memory.state.bundles import init
from memory.state.files.model import plural
from memory.state.system import ProjectState
from memory.storage import Change
from memory.systems import system_of
from memory.systems.acts import act
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.pick import Pick, PickOption
from widgets.pane.base import Pane
from widgets.panes.state.diff import recall_lines, recall_summary
from widgets.panes.state.rows import TITLES
from widgets.text.styled_text import Line, Piece, line

from .context import ACTOR, Context, JobView, Step, steps

if TYPE_CHECKING:
    from memory.state.bundles import StateChange
    from memory.state.look import StateLook
    from memory.state.recall.recall import RecallPreview as Recall
    from memory.state.sources import Synced
    from widgets.panes.state.pane import StatePane


class _CalledOff(MemdeckError):
    """The user stopped a job."""


def system_of_state(context: Context) -> ProjectState:
    """Return the system of the project's state."""
    return system_of(context.workspace, "state", ProjectState)


def state_pane(context: Context) -> StatePane | None:
    """Return the open pane if it is the state pane, else None."""
    pane: Any = context.pane
    return pane if pane is not None and pane.pane_id == "state" else None


def shown_state(context: Context) -> tuple[Pane, StateLook]:
    """Return the open pane, which is the state pane, and the state that it shows."""
    pane = state_pane(context)
    look = None if pane is None else pane.state()
    assert pane is not None
    assert look is not None
    return pane, look


def start(context: Context, words: str, work: Callable[[JobView], Any], then: Callable[[Any], Step]) -> Step:
    """Return a step that starts a job, one of a kind at a time; a cancelled job ends without a message."""
    return context.run(
        words, work, then, lambda error: context.read_again() if isinstance(error, _CalledOff) else None, once=True
    )


def wrote(context: Context, change: Change | None, words: str, then: Callable[[Outcome], Step] | None = None) -> Step:
    """Return a step that reports what a job wrote, then `then`; nothing if nothing was written."""
    return None if change is None else context.tell(Outcome(change, words), then)


def go_on(job: JobView) -> None:
    """Raise if the job was stopped, to end its work."""
    if job.cancel.is_set():
        raise _CalledOff("state.called_off", "stopped; nothing was written")


SHOWN = 3
"""How many unreadable sessions a message names."""


def recall(context: Context, source: str | None = None, section: str | None = None) -> Step:
    """Take what events say into the state of the project; shows first what that changes."""
    system = system_of_state(context)

    def work(_: JobView) -> tuple[Recall, list[Line]]:
        # A safe start trusts nothing, so no engine runs.
        system.entrust(None if context.safe else context.trust(), context.environ)
        shown = system.preview(source, section)
        diff = system.store.memory().config["recall"]["preview"]["showDiffByDefault"]
        return shown, recall_lines(shown, context.glyphs, diff=diff)

    return start(
        context,
        "recalling",
        work,
        lambda found: _show(context, found[0], found[1], lambda: recall(context, source, section)),
    )


def recall_part(context: Context) -> Step:
    """Recall imported sessions, local events or one section alone; shows first what that changes."""
    _, look = shown_state(context)
    kinds = [event["kind"] == "imported_session" for event in look.backlog]
    parts: dict[str, tuple[str | None, str | None, str]] = {
        "Imports": ("imports", None, f"{sum(kinds):,} waiting, of sessions"),
        "Local": ("local", None, f"{len(kinds) - sum(kinds):,} waiting, of this project"),
    }
    parts |= {title: (None, name, "this section alone") for name, title in TITLES.items()}
    options = [
        PickOption(words, words, part[2], key=str(number) if number < 10 else "")
        for number, (words, part) in enumerate(parts.items(), 1)
    ]
    screen = Pick("Recall only", options)
    return context.ask(screen, lambda answer: recall(context, *parts[answer[1]][:2]), waited="The choice")


def _show(context: Context, shown: Recall, lines: list[Line], again: Callable[[], Step]) -> Step:
    screen = Preview("Recall", lines, summary=recall_summary(shown), applicable=bool(shown.events))
    return context.ask(screen, lambda _: _apply(context, shown, again), waited="The recall")


def _apply(context: Context, shown: Recall, again: Callable[[], Step]) -> Step:
    words = "Somebody changed the state meanwhile, so nothing was written; this is the new preview."
    return apply_plan(
        context, "state.recall", lambda system, actor, now: system.recall(shown, actor=actor, now=now), words, again
    )


def apply_plan(
    context: Context,
    operation: str,
    do: Callable[[ProjectState, str, datetime], Outcome],
    words: str,
    again: Callable[[], Step],
) -> Step:
    """Return a step that carries out a plan; if the state changed since, it says `words` and plans `again`."""

    def otherwise(error: MemdeckError) -> Step:
        return steps((context.say(words), again())) if error.code == f"{operation}.stale" else None

    return context.change(operation, act("state", ProjectState, do), otherwise=otherwise, taken_back=True)


# Sources


def sync(context: Context) -> Step:
    """Import new sessions of the source under the cursor, elsewhere of all sources."""
    pane, look = shown_state(context)
    record = getattr(pane.current(), "record", None)
    sources = look.sources if record is None else [record]
    if not sources:
        return context.say(f"There is no source of sessions yet; {context.key_of('entry.add')} adds one.")
    system, now = system_of_state(context), context.clock()
    ids = [source["id"] for source in sources]

    def work(job: JobView) -> Synced:
        from memory.state.sources import sync

        def progress(name: str) -> None:
            go_on(job)
            job.plan((name,))

        # Importing by hand counts as permission to read.
        system.unattended.take(sources, now)
        with context.writing():
            return sync(system.store, ids, home=system.home, actor=ACTOR, now=now, progress=progress)

    return start(context, "importing", work, lambda done: _synced(context, done))


def _synced(context: Context, done: Synced) -> Step:
    skipped = sum(one.skipped for one in done.results)
    words = f"imported {plural(done.imported, 'session')}" + (f", {skipped:,} known already" if skipped else "")
    failed = [f"{one.source}: {why}" for one in done.results for why in one.failed]
    lines = [f"{words[:1].upper()}{words[1:]}; {plural(len(failed), 'failure')}:", *failed[:SHOWN]]

    def tell(_: Outcome) -> Step:
        return context.say("\n".join(lines), severity="warning") if failed else None

    return wrote(context, done.change, words, tell)


# The repository


def update(context: Context) -> Step:
    """Renew the state from the repository as it is, or make the first one."""
    system, now = system_of_state(context), context.clock()
    if not system.present():
        return _plan_first(context)

    def work(job: JobView) -> StateChange:
        from memory.state.bundles import update

        def analysed() -> dict[str, Any]:
            found = analyse(system.store.root, now=now)
            go_on(job)
            return found

        with context.writing():
            return update(system.store, analysed, actor=ACTOR, now=now)

    return start(context, "looking at the repository", work, lambda done: written(context, done))


def _plan_first(context: Context) -> Step:
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> dict[str, Any]:
        return analyse(system.store.root, now=now)

    return start(context, "looking at the repository", work, lambda found: _offer_first(context, found))


def _offer_first(context: Context, bundle: dict[str, Any]) -> Step:
    system, now = system_of_state(context), context.clock()

    def work(_: JobView) -> StateChange:
        with context.writing():
            return init(system.store, lambda: bundle, actor=ACTOR, now=now)

    summary = f"{context.key_of('change.undo')} takes it back."
    screen = Preview("Make the state of this project", first_lines(bundle), summary=summary)
    return context.ask(
        screen,
        lambda _: start(context, "making the state", work, lambda done: written(context, done)),
        waited="The state",
    )


def written(context: Context, done: StateChange) -> Step:
    """Return a step that reports what a job wrote."""
    return wrote(context, done.change, done.summary)


def first_lines(bundle: dict[str, Any]) -> list[Line]:
    """Return what the first state of a project would contain, and which files are written."""
    project, parts = bundle["project"], bundle["projectMap"]
    lines: list[Line] = [line(Piece(project["name"], "strong")), line(project["summary"]), ()]
    known = [
        plural(len(parts["modules"]), "module"),
        plural(len(parts["entrypoints"]), "entry point"),
        plural(len(bundle["gotchas"]), "gotcha"),
        plural(len(bundle["nextSteps"]), "next step"),
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
