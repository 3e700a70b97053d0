"""`memdeck typed merge`, `promote`, `demote`, `expire`, `lock` and `unlock`: the operations on one file of an agent."""

from __future__ import annotations

import os
import sys

from app.cli.printing import tell
from app.cli.session import Session
from memory.base.secrets import find_secrets
from memory.errors import UsageError
from memory.operations import Choice, argument, option, under
from memory.storage import Store
from memory.typed.files import aidefile_of, look
from memory.typed.sizes import nanoseconds, read_age
from memory.typed.stores import path_in
from memory.typed.writes import lock_file, unlock_file

from .group import AgentStores, ignoring_lock, of_agent, typed

_force = option("--force", is_flag=True, help="Replace a file that stands at the new place.")


@under(
    typed,
    "merge",
    serves="change",
    examples=(
        "memdeck typed merge memory/rules.md 'Never push on Friday.' --agent ada --dedupe line_hash",
        "git log -1 --format=%B | memdeck typed merge memory/procedural/log.md --dedupe line_hash",
    ),
)
@argument("path", metavar="PATH")
@argument("text", metavar="[TEXT]", required=False)
@option(
    "--dedupe",
    type=Choice(("none", "line_hash", "section_replace")),
    default="none",
    show_default=True,
    help="What to leave out: nothing, lines that are there already, or blocks whose ## heading is there.",
)
@of_agent
@ignoring_lock
def merge(session: Session, path: str, text: str | None, dedupe: str, agent: str | None, ignore_lock: bool) -> None:
    """Append TEXT (default: stdin) to a file of an agent, which is made where it is missing."""
    place = AgentStores(session)
    store, inside = place.of_path(path, agent)
    content = _stdin(session) if text is None or (text == "-" and not session.served) else text
    _warn_of_secrets(content, inside)
    change = place.writer(store, ignore_lock=ignore_lock).merge(inside, content, dedupe)
    words = change.summary if change.files else f"nothing to merge: all of it stands in {inside}"
    place.done(store, change, {"path": inside, "changed": bool(change.files)}, words)


def _stdin(session: Session) -> str:
    if session.served or sys.stdin is None or sys.stdin.isatty():
        raise UsageError("usage.value", "there is no text", "give it as an argument or on stdin")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _warn_of_secrets(content: str, path: str) -> None:

    if found := find_secrets(content):
        tell(f"memdeck: warning: what goes to {path} looks like a secret ({found[0].kind})")


@under(
    typed,
    "promote",
    serves="change",
    examples=("memdeck typed promote memory/episodic/rule.md memory/rule.md --core --agent ada",),
)
@argument("source", metavar="SOURCE")
@argument("target", metavar="TARGET")
@option("--core", is_flag=True, help="Also list the file under core_files in the Aidefile.")
@_force
@of_agent
@ignoring_lock
def promote(
    session: Session, source: str, target: str, core: bool, force: bool, agent: str | None, ignore_lock: bool
) -> None:
    """Move a file up, typically from episodic to core: all or nothing, with its mode and its time."""
    _move(session, source, target, "typed.promote", "add" if core else None, force, agent, ignore_lock)


@under(
    typed,
    "demote",
    serves="change",
    examples=("memdeck typed demote memory/rule.md memory/episodic/rule.md --agent ada",),
)
@argument("source", metavar="SOURCE")
@argument("target", metavar="TARGET")
@_force
@of_agent
@ignoring_lock
def demote(session: Session, source: str, target: str, force: bool, agent: str | None, ignore_lock: bool) -> None:
    """Move a file down, the opposite of promote; a core file leaves core_files of the Aidefile with it."""
    _move(session, source, target, "typed.demote", "remove", force, agent, ignore_lock)


def _move(
    session: Session,
    source: str,
    target: str,
    operation: str,
    core: str | None,
    force: bool,
    agent: str | None,
    ignore_lock: bool,
) -> None:

    place = AgentStores(session)
    store, inside = place.of_path(source, agent)
    there = path_in(
        store, target if agent is not None else os.path.abspath(os.path.join(session.folder or ".", target))
    )
    if target.endswith("/") or (store.root / there).is_dir():
        there = f"{there}/{inside.rpartition('/')[2]}"
    change = place.writer(store, ignore_lock=ignore_lock).move(inside, there, operation, force=force, core=core)
    listed = aidefile_of(store.root).is_core(there)
    document = {"from": inside, "to": there, "core": listed}
    place.done(store, change, document, change.summary)
    if operation == "typed.promote" and not listed:
        tell(f"memdeck: {there} is not listed under core_files; promote with --core lists it")
    _warn_of_age(session, store, there)


def _warn_of_age(session: Session, store: Store, path: str) -> None:
    """Warn if the next prune would delete a file that was just moved, because it kept its time."""

    moment = nanoseconds(session.now)
    found = next((one for one in look(store.root, aidefile_of(store.root)).files if one.path == path), None)
    if found is not None and found.too_old(moment):
        tell(f"memdeck: {path} is old enough for the next prune to take it")


@under(
    typed,
    "expire",
    serves="change",
    examples=("memdeck typed expire memory/episodic/scratch.md --max-age 12h --agent ada",),
)
@argument("path", metavar="PATH")
@option("--max-age", required=True, metavar="AGE", help="How old it may be: 45s, 30m, 12h, 7d or 2w.")
@of_agent
@ignoring_lock
def expire(session: Session, path: str, max_age: str, agent: str | None, ignore_lock: bool) -> None:
    """Delete a file if it was last changed longer ago than AGE; a missing file is no error."""

    try:
        age = read_age(max_age)
    except ValueError:
        raise UsageError(
            "usage.value", f"--max-age does not take {max_age!r}", "write an age such as 45s, 30m, 12h, 7d or 2w"
        ) from None
    place = AgentStores(session)
    store, inside = place.of_path(path, agent)
    gone = place.writer(store, ignore_lock=ignore_lock).expire(inside, age)
    session.made = f"deleted {inside}" if gone else None
    there = os.path.lexists(store.root / inside)
    words = (
        f"deleted {inside}"
        if gone
        else f"{inside} stays: it is no older than {max_age}"
        if there
        else f"there is no {inside}"
    )
    session.answer(lambda: {"path": inside, "expired": gone}, lambda: [session.paint.line(words)])


@under(typed, "lock", serves="change", examples=("memdeck typed lock memory/rules.md --agent ada",))
@argument("path", metavar="PATH")
@of_agent
def lock(session: Session, path: str, agent: str | None) -> None:
    """Lock a file for the program that calls this, by PATH.lock beside it; a second lock fails and says whose it is."""

    store, inside = AgentStores(session).of_path(path, agent)
    # The process of this verb ends right away; its parent holds the lock.
    holder = lock_file(store, inside, now=session.now, owner=os.getppid())
    session.answer(lambda: {"locked": holder.json()}, lambda: [session.paint.line(f"locked {inside}")])


@under(typed, "unlock", serves="change", examples=("memdeck typed unlock memory/rules.md --agent ada",))
@argument("path", metavar="PATH")
@of_agent
def unlock(session: Session, path: str, agent: str | None) -> None:
    """Take the lock of a file away, whoever made it; unlocking twice is fine."""

    store, inside = AgentStores(session).of_path(path, agent)
    was = unlock_file(store, inside)
    words = f"unlocked {inside}" if was else f"{inside} was not locked"
    session.answer(lambda: {"path": inside, "unlocked": was}, lambda: [session.paint.line(words)])
