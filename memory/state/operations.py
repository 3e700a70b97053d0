"""The operations on the state of a project: purpose of the repository, current work, past events and next steps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memory.base.git import top_of
from memory.base.safe_text import plural
from memory.errors import MemdeckError, UsageError
from memory.operations import Content, Context, Group, SentFile, argument, option, under
from memory.operations.result import PROBLEMS, SHOWN, Ask, Draft, Paint, Result, exported, first, listing, said
from memory.registry import workspace_of
from memory.storage.own_folders import home, state_home
from memory.systems import system_of
from memory.workspace import Workspace

from . import bundles
from .analysis.analyse import analyse, notes_of
from .bundles import StateChange, key_of, titles_of
from .check import ignored
from .check import validate as findings_of
from .commands import run_validation
from .files.model import KEYS, SIGNALS, Json, canonical
from .files.schema import known_setting, nested
from .files.store import StateStore
from .imports.sources import add_source, chosen
from .imports.sources import sync as sync_now
from .projections import render_projections
from .query import ask
from .recall.recall import SHOWN_LINES, RecallPreview, apply, preview, scope_of_recall
from .repair import plan_repair
from .repair import repair as mend
from .retention import prune as prune_now
from .status import checkpoint_lines, diff_of, status_of
from .system import ProjectState

_NEWEST = 50
"""How many events or checkpoints people are shown."""
_NO_SOURCES = "no sources; `memdeck state add` adds one"
_TAKES_BACK = "`memdeck undo` reverts it"

state = Group(
    "state",
    """Project state: the purpose of a repository, the current work, what happened, and what to do next.

    It is kept in .agent-memory/, shown as Markdown in docs/agent-memory/, and named in AGENTS.md, CLAUDE.md or
    README.md. Sessions of agents are imported as events, and a recall takes what they say into the state.
    """,
)
_dry_run = option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
_yes = option("--yes", is_flag=True, help="Do it without asking.")


def _system(context: Context) -> ProjectState:
    """Return the project state of the workspace, with the person's decisions about what it may run."""
    try:
        system = system_of(context.workspace, "state", ProjectState)
    except MemdeckError as error:
        if error.code == "workspace.not_found":
            error.hint = "`memdeck state init` makes the state of the project here"
        raise
    if not context.safe:
        system.entrust(context.trust, context.environ)
    return system


def _store(context: Context) -> StateStore:
    """Return the store of the project state; NotFoundError `state.missing` if there is none."""
    store = _system(context).store
    _ = store.memory().state
    return store


# -- the bundle ---------------------------------------------------------------------------------------------------


@state.change("init", "")
@option("--provider", default="claude", metavar="P", help="The agent that works here: claude (the default) or codex.")
@option("--force", is_flag=True, help="Archive the existing state and start again.")
def init(context: Context, provider: str, force: bool) -> Result:
    """Create the state from the repository: manifests, entry points, README, tree, test commands, git.

    No model is asked, and no command of the repository is run. If any part of the state exists, this
    names it and changes nothing.
    """
    folder = os.path.abspath(context.folder or ".")
    if not os.path.isdir(folder):
        raise UsageError("workspace.no_folder", f"{context.folder!r} is not a folder", "name a folder")
    places = state_home(context.environ), home(context.environ)
    workspace = context.opened(Workspace(Path(_root_of(folder)), state_home=places[0], home=places[1]))
    store = system_of(workspace, "state", ProjectState).store
    who: Any = {"actor": context.actor, "now": context.now}
    done = bundles.init(store, analyse(store.root), provider=provider, force=force, **who)
    notes = [f"{path}, line {line}: {words}" for path, line, words in ignored(store.root)]
    return _written(
        context, done, notes + notes_of(store.root, done.state["bundle"]["project"]["recommendedEntryFile"])
    )


def _root_of(folder: str) -> str:
    """Return the workspace of a folder, else the repository around it, else the folder itself.

    A workspace above the repository is another one: the state belongs to the repository.
    """
    repository, known = top_of(folder), workspace_of(folder)
    if known is None or (repository is not None and not f"{known}/".startswith(repository.rstrip("/") + "/")):
        return repository or folder
    return known


def _written(context: Context, done: StateChange, notes: Sequence[str] = ()) -> Result:
    context.warn()

    def lines(paint: Paint) -> Iterator[str]:
        yield paint.line(done.summary)
        if done.change is None:
            return
        bundle, point = done.state["bundle"], done.state["maintenance"]["latestCheckpointId"]
        if done.archived is not None:
            yield paint.line(f"the previous state is in {done.archived}")
        yield paint.line(bundle["project"]["summary"])
        yield f"{point}, bundle {done.state['bundleHash'][:12]}"
        yield paint.line(f"docs/agent-memory/README.md shows it, {bundle['project']['recommendedEntryFile']} names it")
        yield from map(paint.line, notes)

    return Result(done.json, lines)


@state.change("update", "")
def update(context: Context) -> Result:
    """Update the state from the repository; what recalls and people wrote stays."""
    store = _store(context)
    return _written(context, bundles.update(store, analyse(store.root), actor=context.actor, now=context.now))


@state.look("status", "")
def status(context: Context) -> Result:
    """Show the status: waiting events, sources, drift, retention, and the one thing to do next."""
    found = status_of(_store(context).memory(), context.now, work=True)
    return Result(lambda: found, lambda paint: _status_lines(paint, found))


def _status_lines(paint: Paint, found: Json) -> Iterator[str]:
    waiting = ", ".join(f"{count:,} {scope}" for scope, count in found["unrecalled"].items() if scope != "all")
    changed, against = ", ".join(found["drift"]["changedSections"]), found["drift"]["checkpoint"]
    drift = f"{changed} differ from {against}" if changed else f"no drift from {against}"
    work = found["work"] or {"branch": "", "commits": []}
    yield from paint.columns(
        [
            *([("branch", work["branch"] or "none")] if found["work"] else []),
            *(("" if place else "commits", one) for place, one in enumerate(work["commits"])),
            ("bundle", f"{found['bundleHash'][:12]}, of {found['generatedAt']}"),
            ("events", f"{found['events']['all']:,}, {found['unrecalled']['all']:,} not yet recalled ({waiting})"),
            ("checkpoints", f"{found['checkpoints']:,}, the latest is {found['latestCheckpointId']}"),
            ("drift", found["drift"]["problem"] or drift),
            ("retention", found["retention"]["text"]),
            ("archive", f"{found['retention']['batches']:,} batches"),
        ]
    )
    for source in found["sources"]:
        error = f": {source['lastSyncError']}" if source["lastSyncError"] else ""
        when = source["lastSyncedAt"] or "never synced"
        line = paint.line(f"source {source['id']}  {source['lastSyncStatus']}, {when}{error}")
        yield paint.notice(line) if error else line
    yield from _group_lines(paint, found["groups"], found["groupCount"])
    command = f"{found['next']['command']}  " if found["next"]["command"] else ""
    yield paint.line(f"next: {command}({found['next']['why']})")


def _group_lines(paint: Paint, groups: Sequence[Json], count: int) -> Iterator[str]:
    for one in groups:
        events = plural(len(one["eventIds"]), "event")
        yield paint.line(f"{one['summary']}  ({', '.join(one['sourceIds'])}, {events})", "  ")
        signals = [plural(len(texts), SIGNALS[kind]) for kind, texts in one["signals"].items() if texts]
        yield paint.line(", ".join(signals), "      ")
    if count > len(groups):
        yield f"  … {count - len(groups):,} more"


_LISTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "events": (lambda memory: memory.events[::-1], ("id", "createdAt", "sourceId", "summary")),
    "checkpoints": (checkpoint_lines, ("id", "createdAt", "summary")),
    "sources": (lambda memory: memory.sources, ("id", "type", "lastSyncStatus", "lastImportedCount", "path")),
}
"""The lists beside the bundle, each with the fields that people see; the newest come first."""


@state.look("show", "", "gotchas -o json", "events")
@argument("section", metavar="[SECTION]", required=False, help="The section; empty for all.")
def show(context: Context, section: str | None) -> Result:
    """Show the bundle or one section of it as Markdown, or list events, checkpoints or sources, the newest first.

    SECTION: project, project-map, current-focus, gotchas, next-steps, validation-commands, events,
    checkpoints, sources.
    """
    memory = _store(context).memory()
    if section in _LISTS:
        find, keys = _LISTS[section]
        found = list(find(memory))
        rows = [[str(one[key]) for key in keys] for one in found[:_NEWEST]]
        notes = [f"and {len(found) - _NEWEST:,} older ones; -o json has all"] if len(found) > _NEWEST else []
        return listing(section, lambda: found, lambda paint: paint.columns(rows, empty=_NO_SOURCES), notes)
    bundle = memory.bundle
    document = {"bundle": bundle} if section is None else {key_of(section): bundle[key_of(section)]}
    names = {"project": "project-map", "validation-commands": "current-focus"}
    shown = [names.get(section, section)] if section else [name for name in KEYS if name not in names]

    def lines(paint: Paint) -> Iterator[str]:
        texts = render_projections(bundle, "0" * 64)
        for name in shown:
            yield from (paint.line(line) if line else "" for line in texts[name].split("\n")[2:])

    return Result(lambda: document, lines)


@state.change("edit", "next-steps --json steps.json")
@argument("section", help="The section.")
@option(
    "--json", "source", type=Content("state.edit"), metavar="FILE|-", help="Read it from this file, or - for stdin."
)
def edit(context: Context, section: str, source: SentFile | None) -> Result:
    """Edit a section of the bundle as JSON in $EDITOR; it is checked before anything is written.

    What does not pass can be edited again; a text that is not saved in the end is kept, and you are told where.

    Sections: project, project-map, current-focus, gotchas, next-steps, validation-commands.
    """
    store = _store(context)
    base = store.memory().bundle[key_of(section)]

    def save(text: str, base: Any, what: str) -> Result:
        try:
            value = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise UsageError("state.json", f"{what} is not JSON: {error}", "fix it and try again") from None
        return _written(context, bundles.edit(store, section, value, base=base, actor=context.actor, now=context.now))

    if source is not None:
        what = "the text" if context.served or source.name == "-" else source.name
        return save(source.data.decode("utf-8", "replace"), None, what)
    without = UsageError("state.edit", "there is no terminal for an editor", "give the section with --json FILE")
    draft = Draft(f"{section}.json", canonical(base) + "\n", lambda text: save(text, base, section), without)
    return Result(dict, lambda _: (), draft=draft)


@state.look("export", "> ~/state.json")
def export(context: Context) -> Result:
    """Print everything as one JSON document: state, events, checkpoints, sources and settings."""
    memory = _store(context).memory()
    points = [memory.checkpoint(name) for name in memory.checkpoint_ids]
    parts = {"events": list(memory.events), "sources": memory.sources, "config": nested(memory.config)}
    whole = {"state": memory.state, "checkpoints": points, **parts}
    return exported(lambda: [canonical(whole), "\n"])


@state.look("diff", "chk-000004 state")
@argument("before", metavar="A", help="A checkpoint such as chk-000004, or state.")
@argument("after", metavar="B", help="A checkpoint such as chk-000004, or state.")
def diff(context: Context, before: str, after: str) -> Result:
    """Show the differences between two checkpoints, section by section; `state` means the current bundle."""
    found = diff_of(_store(context).memory(), before, after)
    changed = [one for one in found if one["changed"]]

    def lines(paint: Paint) -> Iterator[str]:
        yield from _diff_lines(paint, changed) if changed else [f"{before} and {after} are the same"]

    return Result(lambda: {"before": before, "after": after, "sections": found}, lines, lambda: found)


def _diff_lines(paint: Paint, sections: Iterable[Json], most: int = 0) -> Iterator[str]:
    """Yield the diffs of sections; at most `most` lines of each (0: all)."""
    for section in sections:
        yield f"{section['section']}:"
        lines = section["diff"][2:]
        for line in lines[:most] if most else lines:
            text = paint.line(line, "    ")
            yield paint.notice(text) if line.startswith("+") else text
        if most and len(lines) > most:
            yield f"    and {len(lines) - most:,} more lines"


# -- what events say, and their sources ---------------------------------------------------------------------------


@state.change("recall", "--section gotchas --yes")
@option("--source", metavar="S", help="Which events: all, local or imports (default: as in the settings).")
@option("--section", metavar="S", help="Change one section only (default: as in the settings).")
@option("--policy", metavar="P", help="balanced, imports-only, local-only or project-map-protected.")
@option("--show-diff", is_flag=True, help="Show the changed sections line by line.")
@_yes
def recall(
    context: Context, source: str | None, section: str | None, policy: str | None, show_diff: bool, yes: bool
) -> Result:
    """Add the new events to the state; you see a preview first.

    Without a terminal and without --yes it only shows. A recall that changes nothing still moves the cursor.
    """
    store = _store(context)
    memory = store.memory()
    scope = scope_of_recall(memory.config, source=source, section=section, policy=policy)
    shown = preview(memory, scope, _system(context).engine())
    diff = show_diff or memory.config["recall.preview.showDiffByDefault"]
    changes = shown.document["changes"]
    acts = bool(shown.events) and (changes or shown.settles)
    document = {
        **shown.document,
        **({"diff": shown.diff()} if diff else {}),
        "outcome": "preview" if acts else "nothing",
    }
    before = Result(lambda: document, lambda paint: _preview_lines(paint, shown, diff))

    def done() -> Result:
        applied = apply(store, shown, actor=context.actor, now=context.now)
        context.warn()
        told = {key: applied.json()[key] for key in ("bundleHash", "checkpointId", "change")}
        words = [f"{told['checkpointId']}; {_TAKES_BACK}"] if changes else []
        outcome = "applied" if changes else "noop"
        return said({**document, **told, "outcome": outcome}, applied.summary, *words)

    question = "Apply it?" if changes else "Move the cursor past these events?"
    return before.asking(Ask(question, done, "nothing is written; `--yes` applies it"), yes) if acts else before


def _preview_lines(paint: Paint, shown: RecallPreview, diff: bool) -> Iterator[str]:
    found, count = shown.document, len(shown.events)
    if found["note"]:
        yield paint.notice(paint.line(found["note"]))
    if not shown.events:
        yield f"Nothing to recall: no event of the source {found['source']} waits"
        return
    scope = f"source {found['source']}, section {found['section']}, policy {found['policy']}"
    usual = scope == "source all, section all, policy balanced"
    yield plural(count, "event") + ("" if usual else f"  ({scope})")
    if found["waiting"]:
        yield f"left for the next recall: {plural(found['waiting'], 'event')}"
    yield from _group_lines(paint, found["groups"], found["groupCount"])
    yield "what changes:" if found["engine"] == "deterministic" else paint.line(f"what {found['engine']} changes:")
    for noun, verb, titles in titles_of(found["summary"]):
        yield from first([f"{noun} {verb}: {title}" for title in titles], lambda words: paint.line(words, "  "))
    yield from first(shown.told(), lambda words: paint.notice(paint.line(words, "  ")))
    sections = ", ".join(found["summary"]["changedSections"])
    yield f"changed sections: {sections}" if sections else "the bundle does not change"
    if found["summary"]["protectedSections"]:
        yield f"protected: {', '.join(found['summary']['protectedSections'])}"
    if found["left"]:
        left = ", ".join(found["left"])
        yield paint.notice(f"these events also change {left}, which this recall leaves; the events wait")
    if diff:
        yield from _diff_lines(paint, shown.diff(), SHOWN_LINES)


@state.look("query", "'Why do we use SQLite?'")
@argument("question", nargs=-1, required=True, help="In plain words.")
@option("--mode", metavar="M", help="answer, changes, next or traps (default: by the words of the question).")
@option("--scope", default="all", metavar="S", help="state, history or all (the default).")
def query(context: Context, question: tuple[str, ...], mode: str | None, scope: str) -> Result:
    """Answer a question from the state and its history, with citations; no model is asked.

    The first line is the best answer, with its source. Where nothing is about the question, it says so.
    With -o json the scores and the reason are told, too.
    """
    memory = _store(context).memory()
    found = ask(memory, " ".join(question), mode=mode, scope=scope)

    form = "json" if memory.config["query.defaultOutput"] == "json" else "human"
    return Result(lambda: found, lambda paint: map(paint.line, found["answer"].split("\n")), form=form)


@under(state, "add", serves="person", examples=("memdeck state add --type claude-local --path ~/.claude",))
@option("--type", "kind", required=True, metavar="T", help="claude-local or codex-local.")
@option("--path", required=True, metavar="P", help="The folder of the agent, or one file with a session.")
@option("--name", metavar="N", help="What the source is called (default: by its type and path).")
def add(context: Context, kind: str, path: str, name: str | None) -> Result:
    """Add a source of sessions; `memdeck state sync` imports them."""
    where, who = path if path.startswith("~") else os.path.abspath(path), context.actor
    source, change = add_source(
        _store(context), kind, where, name=name, home=home(context.environ), actor=who, now=context.now
    )
    _system(context).unattended.take([source], context.now)
    context.warn()
    return said({"source": source, "change": change.id}, f"added {source['id']}: {source['path']}")


@state.change("sync", "--all", "claude")
@argument("source", metavar="[ID]", required=False, help="The id of a source.")
@option("--all", "every", is_flag=True, help="All sources.")
def sync(context: Context, source: str | None, every: bool) -> Result:
    """Import the sessions of a source, or of all, as events; those already imported are skipped.

    A session that grew is imported again. One that cannot be read does not stop the others; the exit code is then 1.
    """
    if (source is None) == (not every):
        raise UsageError("usage.arguments", "name one ID, or --all", "`memdeck state show sources` lists them")
    store = _store(context)
    wanted = chosen(store.memory().sources, source)
    _system(context).unattended.take(wanted, context.now)
    ids = [one["id"] for one in wanted]
    done = sync_now(store, ids, home=home(context.environ), actor=context.actor, now=context.now)
    context.warn()
    change = None if done.change is None else done.change.id
    document = {"imported": done.imported, "sources": [one.json() for one in done.results], "change": change}

    def lines(paint: Paint) -> Iterator[str]:
        if not done.results:
            yield _NO_SOURCES
        for one in done.results:
            yield paint.line(one.text())
            yield from (
                paint.notice(paint.line(words, "    ")) for words in (*one.failed[:SHOWN], *one.warnings[:SHOWN])
            )

    return Result(lambda: document, lines, code=int(any(one.failed for one in done.results)))


# -- upkeep -------------------------------------------------------------------------------------------------------


@state.change("validate", "", "--repair")
@option(
    "--run",
    "runs",
    is_flag=True,
    help="Run the validation commands first, each after approval, and record the results.",
)
@option("--repair", is_flag=True, help="Show what can be fixed, ask, and fix it.")
@_yes
def validate(context: Context, runs: bool, repair: bool, yes: bool) -> Result:
    """Check everything: each finding has a code, and pass, warn or fail; exit code 4 if anything fails.

    A repair keeps what was damaged in the archive, and `memdeck undo` reverts it.
    """
    system = _system(context)
    if repair:
        return _repair(context, system.store, yes)
    if runs:
        results = run_validation(system.store.memory(), context.trust, context.environ)
        bundles.record_validation(system.store, results, actor=context.actor, now=context.now)
        context.warn()
    return _findings(context, system.store, {}, ())


_LEVELS = {"pass": "passed", "warn": "warned", "fail": "failed"}


def _findings(context: Context, store: StateStore, done: Json, said: Sequence[str]) -> Result:
    """Return what the checks find now, after what was done; what passed is listed where nothing was."""
    found = findings_of(store.memory(), context.now)
    counts = {what: sum(one.level == level for one in found) for level, what in _LEVELS.items()}
    document = {**done, "healthy": not counts["failed"], **counts, "findings": [one.json() for one in found]}

    def lines(paint: Paint) -> Iterator[str]:
        marks: dict[str, Callable[[str], str]] = {"fail": paint.alert, "warn": paint.notice, "pass": str}
        yield from said
        for one in found:
            if one.level == "fail" or not said:
                place = f"{one.file}:{one.line}" if one.line else one.file
                yield marks[one.level](paint.line(f"{one.level.upper()} {one.code}: {one.message} ({place})"))
        yield ", ".join(f"{count} {what}" for what, count in counts.items())

    code = PROBLEMS if counts["failed"] else 0
    return Result(lambda: document, lines, None if done else lambda: document["findings"], code=code)


def _repair(context: Context, store: StateStore, yes: bool) -> Result:
    plan = plan_repair(store.memory(), context.now)
    steps = [one._asdict() for one in plan.steps]
    if not steps:
        return _findings(context, store, {"steps": [], "change": None}, ["nothing to repair"])

    def done() -> Result:
        change = mend(store, plan, actor=context.actor, now=context.now)
        context.warn()
        return _findings(context, store, {"steps": steps, "change": change.id}, [change.summary, _TAKES_BACK])

    def lines(paint: Paint) -> Iterator[str]:
        yield from (paint.line(f"{step.file}: {step.action} ({step.why})") for step in plan.steps[:200])
        if plan.aside:
            yield f"damaged files that are kept in the archive: {len(plan.aside):,}"

    before = Result(lambda: {"steps": steps, "change": None}, lines, code=PROBLEMS)
    return before.asking(Ask("Repair it?", done, "nothing is written; `--yes` does it"), yes)


@state.change("prune", "--dry-run", "")
@_dry_run
def prune(context: Context, dry_run: bool) -> Result:
    """Move old events that were recalled, and old checkpoints, to the archive; remove expired batches from it."""
    done = prune_now(_store(context), actor=context.actor, now=context.now, dry_run=dry_run)
    context.warn()

    def lines(paint: Paint) -> Iterator[str]:
        yield paint.line(done.text(planned=dry_run))
        if dry_run:
            names = [*(event["id"] for event in done.events), *done.checkpoints, *done.batches]
            yield from first(names, lambda name: paint.line(name, "    "))
        yield from (paint.line(f"in {batch}", "    ") for batch in done.archived)

    return Result(lambda: {"dry_run": dry_run, **done.json()}, lines)


@state.change("config", "retention.enabled false")
@argument("key", required=False, help="The name of a setting.")
@argument("value", required=False, help="Its new value.")
def config(context: Context, key: str | None, value: str | None) -> Result:
    """List the settings of config.json, show one, or set one; settings missing there have their defaults."""
    store = _store(context)
    if key is not None and value is not None:
        change = bundles.set_config(store, key, value, actor=context.actor, now=context.now)
        context.warn()
        return said({"key": key, "value": store.memory().config[key], "change": change.id}, change.summary)
    settings = store.memory().config
    found = settings if key is None else {key: settings[known_setting(key)]}
    rows = ((name, str(one).lower() if isinstance(one, bool) else str(one)) for name, one in found.items())
    return Result(lambda: {"config": found}, lambda paint: paint.columns(rows))
