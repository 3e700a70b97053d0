"""The operations on the typed memory of agents: its status, pruning it, failure notes, and one file at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from memory.base.clock import format_utc
from memory.base.safe_text import plural
from memory.base.secrets import find_secrets
from memory.base.values import say_size
from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.operations import Choice, Context, Group, Input, Whole, argument, option
from memory.operations.result import SHOWN, Paint, Result, first, listing, more, said
from memory.storage import Change, Store
from memory.storage.own_folders import home, state_home

from . import ops
from .aidefile import NAME, age_text
from .ops import How
from .pruning import TYPES, AgentPrune, AgentStatus, aidefile_of, look_at, status_of
from .pruning import prune as run
from .reading import failures_of, summarise
from .registry import Agent, agent_above, find_agent, path_in, read_registry, store_of

typed = Group(
    "typed",
    """The typed memory of agents: files of the types core, procedural and episodic.

    Agents are listed in ~/.aide/config.toml, and the Aidefile in an agent's folder says where each type of its memory
    is. A path is relative to the current folder, with --agent to the agent's folder.
    """,
)
_NO_AGENTS = "no agents; list them under [[agents]] in ~/.aide/config.toml"
_one_agent = option("--agent", metavar="NAME", help="One agent only: its name, or the path of its folder.")
_of_agent = option("--agent", metavar="NAME", help="The agent: its name, or the path of its folder.")
_ignoring_lock = option("--ignore-lock", is_flag=True, help="Write even if another program has locked the file.")


def _agents(context: Context, named: str | None, *, here: bool = False) -> tuple[Agent, ...]:
    """Return one agent, or all registered ones; `here` adds the agent whose folder contains the current folder."""
    own = home(context.environ)
    agents = tuple(agent for agent in read_registry(own) if _reached(context, agent))
    if named is not None:
        found = find_agent(named, own, agents)
        if not _reached(context, found):
            words = f"the agent {named[:80]!r} is outside of this workspace"
            raise NotFoundError("typed.no_agent", words, "name one of this workspace", agent=named)
        return (found,)
    one = agent_above(os.path.join(os.path.realpath(context.folder or "."), NAME)) if here else None
    if one is None or not _reached(context, one) or one.folder in [agent.folder for agent in agents]:
        return agents
    return (*agents, one)


def _reached(context: Context, agent: Agent) -> bool:
    """Return whether an agent may be used: programs behind a server may use only those in the workspace."""
    root = os.path.realpath(context.workspace.root) if context.served else "/"
    return f"{os.path.realpath(agent.folder)}/".startswith(root.rstrip("/") + "/")


def _store(context: Context, agent: Agent) -> Store:
    return store_of(agent.folder, state_home(context.environ), home(context.environ))


def _how(context: Context, store: Store, *, ignore_lock: bool = False) -> How:
    """Return the keywords of a function of `ops`; the process of a verb ends right away, so its parent is the owner."""
    return How(now=context.now, store=store, actor=context.actor, owner=os.getppid(), ignore_lock=ignore_lock)


def _of_paths(context: Context, named: str | None, *paths: str) -> tuple[Store, Sequence[str]]:
    """Return the store of a file, and its path in it; further paths are those of other files of the agent."""
    if named is not None:
        store = _store(context, _agents(context, named)[0])
    else:
        paths = tuple(os.path.abspath(os.path.join(context.folder or ".", path)) for path in paths)
        own = agent_above(paths[0])
        if own is None or not _reached(context, own):
            words = f"{paths[0]} is in no folder with an Aidefile"
            raise UsageError("typed.no_agent_here", words, "name the agent with --agent")
        store = _store(context, own)
    return store, [path_in(store, path) for path in paths]


def _done(context: Context, store: Store, change: Change, document: dict[str, Any], words: str) -> Result:
    """Return what a change did."""
    context.made = words if change.files else None
    for warning in store.history.warnings:
        context.tell(f"warning: {warning}")
    return said({**document, "change": change.id if change.files else None}, words)


@typed.look("status", "", "--agent builder -o json")
@_one_agent
def status(context: Context, agent: str | None) -> Result:
    """Show for each agent the size of each type, the oldest file, tokens against compact_after, and the next prune."""
    approvals = state_home(context.environ)
    found = [status_of(look_at(one), context.now, approvals) for one in _agents(context, agent, here=True)]
    return listing("agents", lambda: (one.json() for one in found), lambda paint: _status_lines(paint, found))


def _status_lines(paint: Paint, found: list[AgentStatus]) -> Iterator[str]:
    if not found:
        yield _NO_AGENTS
    for number, one in enumerate(found):
        yield from [""] if number else []
        look = one.look
        yield paint.line(f"{look.agent.name}  {look.agent.folder}")
        if look.error is not None:
            yield paint.alert(paint.line(f"{look.error.code}: {look.error.message}", "  "))
            continue
        ages = ((kind, one.oldest(kind)) for kind in TYPES)
        yield from paint.columns(
            (
                kind,
                plural(len(look.of(kind)), "file"),
                say_size(look.size(kind)),
                "" if oldest is None else f"oldest {age_text(oldest)}",
            )
            for kind, oldest in ages
        )
        tokens = f"  {look.tokens:,} tokens"
        if look.limit is not None and look.fill is not None:
            tokens += f" of {look.limit:,} ({look.fill:.0%})"
        yield paint.alert(f"{tokens}: compact it") if (look.fill or 0) > 1 else tokens
        if one.prune.error is not None:
            yield paint.notice(paint.line(one.prune.error.message, "  "))
        if one.prune.deleted:
            yield f"  the next prune takes {plural(len(one.prune.deleted), 'file')}, {say_size(one.prune.freed)}"


@typed.change("prune", "--dry-run", "", "--agent ada")
@option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@_one_agent
def prune(context: Context, dry_run: bool, agent: str | None) -> Result:
    """Delete episodic files older than 7 days and procedural ones older than 90, of every registered agent.

    Core files, locks and locked files are never touched, links are not followed, and a file that fails does not stop
    the others. `memdeck undo` in the agent's folder brings the files back. Folders that an Aidefile chooses
    need an approval (`memdeck trust list` in the agent's folder); until then the exit code is 3.
    """
    approvals = state_home(context.environ)
    found = [
        run(one, partial(_store, context), context.now, actor=context.actor, dry_run=dry_run, approvals=approvals)
        for one in _agents(context, agent)
    ]
    if not dry_run and not any(one.error or one.errors for one in found) and any(one.deleted for one in found):
        context.made = "pruned"

    def document() -> dict[str, Any]:
        agents = [one.json() for one in found]
        total = {key: sum(one[key] for one in agents) for key in ("deleted", "kept", "bytes_freed")}
        total |= {key: sum(len(one[key]) for one in agents) for key in ("skipped", "errors")}
        acts = total["deleted"] > 0
        return {"dry_run": dry_run, "now": format_utc(context.now), "acts": acts, "agents": agents, "total": total}

    code = next((one.error.exit_code for one in found if one.error is not None), 0)
    return Result(document, lambda paint: _prune_lines(paint, found, dry_run), code=code)


def _prune_lines(paint: Paint, found: list[AgentPrune], dry_run: bool) -> Iterator[str]:
    if not found:
        yield _NO_AGENTS
    for one in found:
        if one.error is not None:
            yield paint.alert(paint.line(f"{one.agent.name}: {one.error.code}: {one.error.message}"))
            if not one.deleted:
                continue
        verb = "would delete" if dry_run else "deleted"
        counts = {"kept": one.kept, "skipped": len(one.skipped), "errors": len(one.errors)}
        rest = "".join(f", {name} {count:,}" for name, count in counts.items() if count)
        size = f" ({say_size(one.freed)})" if one.deleted else ""
        yield paint.line(f"{one.agent.name}: {verb} {plural(len(one.deleted), 'file')}{size}{rest}")
        if dry_run:
            yield from first(one.deleted, lambda file: paint.line(f"{file.type}  {file.path}", "    "))
        yield from first(one.skipped, lambda left: paint.line(f"skipped: {left.path}: {left.reason}", "    "))
        yield from first(
            one.errors, lambda left: paint.notice(paint.line(f"error: {left.path}: {left.reason}", "    "))
        )


@typed.change("fail", "ada --status timeout --task 'Migrate the database' --tokens 90000")
@argument("agent", metavar="AGENT", help="The agent: its name, or the path of its folder.")
@option("--status", "status_", required=True, type=Choice(("partial", "timeout")), help="How the run ended.")
@option("--task", required=True, metavar="TEXT", help="What the run was to do; the first 200 characters count.")
@option("--tokens", required=True, type=Whole(least=0), metavar="N", help="How many tokens it took.")
@option("--issue", default="local", metavar="I", show_default=True, help="The issue it was about.")
def fail(context: Context, agent: str, status_: str, task: str, tokens: int, issue: str) -> Result:
    """Note in the agent's failures.md that a run failed.

    If the note cannot be written, stderr says so and the exit code is still 0.
    """
    (one,) = _agents(context, agent)
    try:
        path = ops.write_failure(one, status_, task, tokens, issue, **_how(context, _store(context, one)))
    except (MemdeckError, OSError) as error:
        context.tell(f"the failure was not noted: {error}")
        return said({"written": False, "path": None}, "not noted")
    context.made = f"noted in {path}"
    return said({"written": True, "path": path}, context.made)


@typed.look("failures", "", "--agent ada -o json")
@_one_agent
def failures(context: Context, agent: str | None) -> Result:
    """Sum up the agents' failure notes by reason, by issue and by week, similar tasks together."""
    agents = _agents(context, agent, here=True)
    found = summarise(failure for one in agents for failure in failures_of(look_at(one)).notes)
    return Result(lambda: found, lambda paint: _failure_lines(paint, found))


def _failure_lines(paint: Paint, found: dict[str, Any]) -> Iterator[str]:
    if not found["total"]:
        yield "no failures noted"
        return
    yield plural(found["total"], "failure")
    for heading in ("reason", "issue", "week"):
        yield from ("", f"By {heading}")
        counts = list(found[f"by_{heading}"].items())[:SHOWN]
        yield from paint.columns((f"{count:>5,}", name) for name, count in counts)
    yield from ("", "Similar tasks")
    yield from paint.columns(
        (
            f"{one['count']:>5,}",
            one["last"][:10],
            ", ".join(f"{name} {count}" for name, count in one["reasons"].items()),
            one["task"],
        )
        for one in found["groups"][:SHOWN]
    )
    yield from more(len(found["groups"]))


_force = option("--force", is_flag=True, help="Replace a file that exists under the new path.")


@typed.change(
    "merge",
    "memory/rules.md 'Never push on Friday.' --agent ada --dedupe line_hash",
    "git log -1 --format=%B | memdeck typed merge memory/procedural/log.md --dedupe line_hash",
)
@argument("path", metavar="PATH", help="The file, by its path.")
@argument("text", metavar="[TEXT]", required=False, type=Input(needed=True), help="The text to add.")
@option(
    "--dedupe",
    type=Choice(("none", "line_hash", "section_replace")),
    default="none",
    show_default=True,
    help="What to leave out: nothing, lines that the file has already, or its blocks with the same ## heading.",
)
@_of_agent
@_ignoring_lock
def merge(context: Context, path: str, text: str | None, dedupe: str, agent: str | None, ignore_lock: bool) -> Result:
    """Append TEXT (default: stdin) to a file of an agent, which is created if it is missing."""
    store, (inside,) = _of_paths(context, agent, path)
    if text is None:
        raise UsageError("usage.value", "there is no text", "give it as an argument or on stdin")
    if found := find_secrets(text):
        context.tell(f"warning: what goes to {inside} looks like a secret ({found[0].kind})")
    change = ops.merge(inside, text, dedupe, **_how(context, store, ignore_lock=ignore_lock))
    words = change.summary if change.files else f"nothing to merge: {inside} already has all of it"
    return _done(context, store, change, {"path": inside, "changed": bool(change.files)}, words)


@typed.change("promote", "memory/episodic/rule.md memory/rule.md --core --agent ada")
@argument("source", metavar="SOURCE", help="The path of the file.")
@argument("target", metavar="TARGET", help="The new path.")
@option("--core", is_flag=True, help="Also list the file under core_files in the Aidefile.")
@_force
@_of_agent
@_ignoring_lock
def promote(
    context: Context, source: str, target: str, core: bool, force: bool, agent: str | None, ignore_lock: bool
) -> Result:
    """Move a file up, typically from episodic to core: all or nothing, keeping its mode and its time."""
    move = partial(ops.promote, core=core, force=force)
    return _moved(context, move, source, target, agent, ignore_lock, hint="promote with --core lists it")


@typed.change("demote", "memory/rule.md memory/episodic/rule.md --agent ada")
@argument("source", metavar="SOURCE", help="The path of the file.")
@argument("target", metavar="TARGET", help="The new path.")
@_force
@_of_agent
@_ignoring_lock
def demote(context: Context, source: str, target: str, force: bool, agent: str | None, ignore_lock: bool) -> Result:
    """Move a file down, the opposite of promote; a core file leaves core_files of the Aidefile with it."""
    return _moved(context, partial(ops.demote, force=force), source, target, agent, ignore_lock)


def _moved(
    context: Context,
    move: Callable[..., Change],
    source: str,
    target: str,
    agent: str | None,
    ignore_lock: bool,
    hint: str = "",
) -> Result:
    """Move a file, and say whether the Aidefile lists it as core now; a target that is a folder gets the file."""
    store, (inside, there) = _of_paths(context, agent, source, target)
    if target.endswith("/") or (store.root / there).is_dir():
        there = f"{there}/{inside.rpartition('/')[2]}"
    change = move(inside, there, **_how(context, store, ignore_lock=ignore_lock))
    listed = aidefile_of(store.root).is_core(there)
    document = {"from": inside, "to": there, "core": listed}
    result = _done(context, store, change, document, change.summary)
    if hint and not listed:
        context.tell(f"{there} is not listed under core_files; {hint}")
    return result


@typed.change("expire", "memory/episodic/scratch.md --max-age 12h --agent ada")
@argument("path", metavar="PATH", help="The path of the file.")
@option("--max-age", required=True, metavar="AGE", help="How old it may be: 45s, 30m, 12h, 7d or 2w.")
@_of_agent
@_ignoring_lock
def expire(context: Context, path: str, max_age: str, agent: str | None, ignore_lock: bool) -> Result:
    """Delete a file if it was last changed longer ago than AGE; a missing file is not an error."""
    store, (inside,) = _of_paths(context, agent, path)
    gone = ops.expire(inside, max_age, **_how(context, store, ignore_lock=ignore_lock))
    context.made = f"deleted {inside}" if gone else None
    words = f"deleted {inside}" if gone else f"{inside} stays: it is no older than {max_age}"
    if not gone and not os.path.lexists(store.root / inside):
        words = f"there is no {inside}"
    return said({"path": inside, "expired": gone}, words)


@typed.change("lock", "memory/rules.md --agent ada")
@argument("path", metavar="PATH", help="The path of the file.")
@_of_agent
def lock(context: Context, path: str, agent: str | None) -> Result:
    """Lock a file for the calling program, with PATH.lock beside it; if it is locked, the error says by whom."""
    store, (inside,) = _of_paths(context, agent, path)
    holder = ops.lock(inside, **_how(context, store))
    return said({"locked": holder.json()}, f"locked {inside}")


@typed.change("unlock", "memory/rules.md --agent ada")
@argument("path", metavar="PATH", help="The path of the file.")
@_of_agent
def unlock(context: Context, path: str, agent: str | None) -> Result:
    """Remove the lock of a file, even another program's; unlocking twice is fine."""
    store, (inside,) = _of_paths(context, agent, path)
    was = ops.unlock(inside, store=store)
    words = f"unlocked {inside}" if was else f"{inside} was not locked"
    return said({"path": inside, "unlocked": was}, words)
