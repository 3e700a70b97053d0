"""The operations on the memories that clients keep themselves."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from memory.base.items import Item
from memory.base.safe_text import visible
from memory.base.scan import why_not
from memory.base.values import folded
from memory.clients.exchange import LEFT_OUT, as_instructions
from memory.errors import NotFoundError, UsageError
from memory.operations import Context, Group, Input, argument, option, under, verb
from memory.operations.result import Paint, Result, fields_of, listing, said, short
from memory.registry import system_name
from memory.storage import Change
from memory.systems import system_of

from .folders import ClientFolder, FolderWriter, bring_back, folder_named, found_in, leave_deleted, read_folder
from .memories import TYPES, ClientMemory
from .sources import TITLES
from .system import ClientMemories, folder_json

clients = Group(
    "clients",
    """What Claude Code and its subagents, Codex, Gemini CLI and VS Code remember on their own.

    memdeck reads them where the clients keep them, and changes a folder only after `memdeck clients allow`.
    """,
)
EXPORTED = ("knowledge", "facts", "typed", "state", "curated", "memory")
"""The kinds of entries that `export` prints."""
_ref = argument("ref", metavar="REF", help="A ref, or a part of the title.")
_client = option("--client", metavar="NAME", help="A client or folder, such as claude-code or claude-code:agents-user.")


def _system(context: Context) -> ClientMemories:
    """Return the system, after what the clients did was logged."""
    found = system_of(context.workspace, "clients", ClientMemories)
    found.notice(context.now)
    return found


def _row(memory: ClientMemory) -> dict[str, Any]:
    return {"ref": memory.ref, "title": memory.title, "file": memory.file, **memory.json()}


@clients.look("list", "", "--client codex", "--match deploy -o json")
@_client
@option("--type", "kind", metavar="T", help="Only memories of this type, such as feedback.")
@option("--match", metavar="TEXT", help="Only memories that contain this text, in any case.")
def list_memories(context: Context, client: str | None, kind: str | None, match: str | None) -> Result:
    """List the memories of all clients about this workspace, folder by folder."""
    folders = _system(context).look().folders
    if client is not None:
        folder_named(folders, client)
        folders = tuple(one for one in folders if client in (one.source.client, one.source.name, one.source.shown))
    words = folded(match or "")

    def shown(memory: ClientMemory) -> bool:
        return kind in (None, memory.type) and (words in folded(memory.text) or words in folded(memory.title))

    found = [one for folder in folders for one in folder.memories if shown(one)]

    def lines(paint: Paint) -> Iterator[str]:
        for folder in folders:
            rows = [
                (short(one.ref)[:7], one.date, one.type or "-", one.agent, one.title, one.description)
                for one in folder.memories
                if one in found
            ]
            if rows:
                yield paint.line(f"{folder.source.title}  {folder.source.shown}")
                yield from paint.columns(rows)
        if not found:
            yield "no client memories"

    return listing("memories", lambda: map(_row, found), lines)


@clients.look("show", "MEMORY.md", "3fa94c1 -o json")
@_ref
def show(context: Context, ref: str) -> Result:
    """Show one memory in full: its fields, and its text as the client reads it."""
    _, memory = found_in(_system(context).look().folders, ref)

    def lines(paint: Paint) -> Iterator[str]:
        values = {key: value for key, value in memory.json().items() if key not in ("extra", "links")}
        yield from fields_of(paint, memory.title, {"ref": memory.ref, "file": memory.file, **values})
        yield ""
        yield from visible(memory.text.rstrip("\n"), newlines=True).split("\n")

    return Result(lambda: {"memory": {**_row(memory), "text": memory.text}}, lines)


@clients.look("folders", "", "-o json")
def folders(context: Context) -> Result:
    """List the clients' folders, how full their indexes are, and whether memdeck may change them."""
    found = _system(context).look().folders

    def lines(paint: Paint) -> Iterator[str]:
        for one in found:
            words = "may be changed" if one.store.allowed else f"read only: memdeck clients allow {one.source.name}"
            off = ", not loaded" if one.source.off else ""
            yield paint.line(f"{one.source.name}  {one.source.shown}  {len(one.memories):,} memories, {words}{off}")
            for path, gauge in one.gauges.items():
                line = paint.line(f"{path}: {gauge.words()}", "  ")
                yield line if gauge.state == "ok" else paint.notice(line)
        if not found:
            yield "no client has memories about this workspace"

    return listing("folders", lambda: map(folder_json, found), lines)


@clients.look("loads", "", "--client codex -o json")
@option("--client", metavar="NAME", help="One client only: claude-code, codex, gemini, cursor or vscode.")
def loads(context: Context, client: str | None) -> Result:
    """Show what each client loads when a session starts, and later: instruction files and its own memory, with costs.

    A token counts as four characters.
    """
    found = [one for one in _system(context).instructions() if client in (None, one.client)]

    def lines(paint: Paint) -> Iterator[str]:
        for name in dict.fromkeys(one.client for one in found):
            mine = [one for one in found if one.client == name]
            total = sum(one.tokens for one in mine if one.when == "start")
            yield paint.line(f"{TITLES.get(name, name.capitalize())}  about {total:,} tokens at the start")
            yield from paint.columns(
                (
                    f"{one.tokens:,}",
                    one.when,
                    one.shown,
                    f"{one.why}{f', {one.cut:,} bytes left out' if one.cut else ''}",
                )
                for one in mine
            )
        if not found:
            yield "no client loads anything here"

    return listing("loads", lambda: (one.json() for one in found), lines)


@under(
    clients,
    "allow",
    serves="person",
    examples=(
        "memdeck clients allow claude-code",
        "memdeck clients allow codex",
        "memdeck clients allow codex --revoke",
    ),
)
@argument("client", metavar="CLIENT", help="A client or folder, such as codex.")
@option("--revoke", is_flag=True, help="Withdraw the permission.")
def allow(context: Context, client: str, revoke: bool) -> Result:
    """Allow memdeck to change the memories of CLIENT: its folder for this project, or the one that you name.

    memdeck then writes the files that you or your agents change, and a folder .memdeck for its lock beside them. The
    answer is kept in the private state folder. Each change is logged and can be undone.
    """
    folder = folder_named(_system(context).look().folders, client)
    folder.store.allow(context.now, allowed=not revoke)
    words = "is read-only again" if revoke else "may be changed"
    return said({"folder": folder_json(folder)}, f"{folder.source.shown} {words}")


@clients.change("add", "'Use tabs' --type feedback --description 'Tabs, never spaces' --text 'Why: the linter.'")
@argument("title", help="The name, as the client lists it.")
@_client
@option("--agent", metavar="NAME", help="The subagent whose memory it is, in a folder of subagents.")
@option("--type", "kind", metavar="T", default=TYPES[2], help=f"{', '.join(TYPES)} (default: {TYPES[2]}).")
@option("--description", metavar="D", default="", help="One sentence that helps the client choose it.")
@option("--text", metavar="TEXT", type=Input(), help="The text; - reads standard input (default: the title).")
def add(
    context: Context, title: str, client: str | None, agent: str | None, kind: str, description: str, text: str | None
) -> Result:
    """Add a memory to a client's folder (default: claude-code), with its line in the index."""
    folder = folder_named(_system(context).look().folders, client or "claude-code")
    path, change = _writer(context, folder).add(title, text or title, kind, description, agent or "")
    return _did(context, folder, path, change)


@clients.change("edit", "'Use tabs' --description 'Tabs in Go, spaces in YAML'", "3fa94c1 --text -")
@_ref
@option("--title", metavar="T", help="A new name, also in the index.")
@option("--description", metavar="D", help="A new description, also in the index.")
@option("--type", "kind", metavar="T", help=f"A new type: {', '.join(TYPES)}.")
@option("--text", metavar="TEXT", type=Input(), help="A new text after the front matter; - reads standard input.")
def edit(
    context: Context, ref: str, title: str | None, description: str | None, kind: str | None, text: str | None
) -> Result:
    """Change a memory of a client; the rest stays byte for byte."""
    folder, memory = found_in(_system(context).look().folders, ref)
    given = {"name": title, "description": description, "type": kind}
    values = {key: value for key, value in given.items() if value is not None}
    if not values and text is None:
        raise UsageError("clients.nothing", "nothing to change", "give --title, --description, --type or --text")
    change = _writer(context, folder).edit(memory.path, values, text, lambda _: None)
    return _did(context, folder, memory.path, change)


@clients.change("remove", "'Use tabs'")
@_ref
def remove(context: Context, ref: str) -> Result:
    """Remove a memory of a client and its line in the index; `memdeck undo` brings both back."""
    folder, memory = found_in(_system(context).look().folders, ref)
    return _did(context, folder, None, _writer(context, folder).remove(memory.path, lambda _: None))


@clients.change(
    "restore", "", "--list", "feedback_tabs.md", looks=lambda values: values.get("listing") or values.get("list")
)
@argument("files", metavar="[FILE]...", nargs=-1, help="Paths of deleted memories; empty for all.")
@option("--list", "listing", is_flag=True, help="Only list what clients deleted.")
@option("--keep", is_flag=True, help="Leave it deleted and stop the reminders.")
def restore(context: Context, files: tuple[str, ...], listing: bool, keep: bool) -> Result:
    """Bring back memories that clients deleted: all of the last week, or FILEs, with their lines in the index."""
    lost = _system(context).look().lost(None if files else context.now)
    chosen = [one for one in lost if not files or {one.path, posixpath.basename(one.path), one.shown} & set(files)]
    if files and not chosen:
        raise NotFoundError("clients.not_lost", f"no client deleted {files[0][:80]!r}", "see --list")
    rows = [(str(one.json()["time"]), TITLES[one.store.source.client], one.path) for one in chosen]
    if listing or not chosen:
        return Result(
            lambda: {"deleted": [one.json() for one in chosen], "changes": []},
            lambda paint: paint.columns(rows, empty="no client deleted a memory that is missing"),
        )
    if keep:
        leave_deleted(chosen, actor=context.actor, now=context.now)
        return said(
            {"deleted": [one.json() for one in chosen], "changes": []}, f"left deleted: {len(chosen):,} memories"
        )
    made = bring_back(chosen, actor=context.actor, now=context.now)
    context.made = made[0].summary
    return said(
        {"deleted": [one.json() for one in chosen], "changes": [one.id for one in made]}, *(one.summary for one in made)
    )


@under(
    clients,
    "rejoin",
    serves="person",
    looks=lambda values: values["dry_run"],
    examples=("memdeck clients rejoin --dry-run", "memdeck clients rejoin"),
)
@option("--dry-run", is_flag=True, help="Show what would be copied, and copy nothing.")
def rejoin(context: Context, dry_run: bool) -> Result:
    """Copy the memories of a project that was renamed or moved to where Claude Code looks for them now.

    The old copies stay. This also allows memdeck to write to the new folder.
    """
    system = _system(context)
    moved = system.moved()
    where, count = system.rejoin(moved, actor=context.actor, now=context.now, dry_run=dry_run)
    words = (
        f"{'would copy' if dry_run else 'copied'} {count:,} files of {', '.join(one.was for one in moved)} to {where}"
    )
    context.made = None if dry_run or not count else words
    document = {"was": [one.was for one in moved], "to": where, "files": count}
    return said(document, words if moved else "found no memories of an earlier folder of this project")


@verb("export", serves="look", examples=("memdeck export", "memdeck export --from facts,memory"))
@option("--from", "places", metavar="KINDS", help=f"Only some of {', '.join(EXPORTED)} (default: all but memory).")
def export(context: Context, places: str | None) -> Result:
    """Print the lasting knowledge as Markdown that every client reads, such as AGENTS.md: no tasks, no history.

    Text that looks like a secret or like an order to an agent is left out. Client memories are private: they are
    printed only if you name the kind memory. `memdeck convert FROM clients` writes into a client's memory instead.
    """
    wanted = [one.strip() for one in (places or ",".join(EXPORTED[:-1])).split(",") if one.strip()]
    if unknown := [one for one in wanted if one not in EXPORTED]:
        raise UsageError("export.kind", f"{unknown[0][:60]!r} is not exported", f"use some of {', '.join(EXPORTED)}")
    groups, left = [], 0
    for system in context.workspace.systems():
        kind = {"files": "knowledge", "clients": "memory"}.get(system.name, system.name)
        found = [one for one in system.items() if isinstance(one, Item) and one.kind not in LEFT_OUT]
        if kind in wanted:
            told = [one for one in found if not why_not("facts", one.title, one.text)]
            left += len(found) - len(told)
            groups += [(system_name(system.name).title.capitalize(), told)] if told else []
    if left:
        context.tell(f"left out: {left:,} that look like a secret or an order to an agent")
    text = visible("\n".join(as_instructions(groups)), newlines=True)
    return Result(lambda: {"text": text + "\n"}, lambda _: text.split("\n"))


def _writer(context: Context, folder: ClientFolder) -> FolderWriter:
    return FolderWriter(folder.store, context.actor, context.now)


def _did(context: Context, folder: ClientFolder, path: str | None, change: Change) -> Result:
    """Return what a change did: the memory as it is now, None if it was removed, and the change."""
    context.made = change.summary if change.files else None
    context.warn()
    now = read_folder(folder.store)
    memory = None if path is None else {**now.files, **now.indexes}.get(path)
    document = {"memory": None if memory is None else _row(memory), "change": change.id if change.files else None}
    return said(document, change.summary if change.files else "nothing to change")
