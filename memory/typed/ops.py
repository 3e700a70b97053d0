"""The typed memory operations as free functions: merge, promote, demote, expire, lock, unlock, record_failure.

Agents call them from Python with only a path, and memdeck's own operations with a time, a store and an actor. Therefore
this module alone fills in what the rest of `memory` accepts as arguments. A path is absolute or relative to the current
folder; with `store`, it is relative to the agent's folder. It belongs to the agent in the nearest folder upwards with
an Aidefile; UsageError `typed.no_agent_here` where there is none. Each function takes the keywords of `How` and changes
only files of the agent's memory, others are RefusedError `typed.not_memory`; each change is one transaction.

Text is merged in three ways, each a function of bytes and text: append it, append only new lines, or replace blocks by
their headings. Added text gets the file's line ends. A block is a section of `memory.document`: a heading of level 1 or
2 with everything up to the next one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from logging import getLogger
from typing import TypedDict, Unpack

from memory.base.programs import retry
from memory.document import Document, Section, parse
from memory.document.lines import decode, encode, ends_line, heading_line, newline_of, without_blank_end
from memory.document.model import BOM
from memory.errors import MemdeckError, NotFoundError, RefusedError, UsageError
from memory.storage import Change, Store
from memory.storage.own_folders import home, state_home
from memory.storage.transaction import Transaction
from memory.typed.aidefile import NAME, moment_of, read_age, with_core_file
from memory.typed.pruning import aidefile_of, refuse_foreign
from memory.typed.reading import FILE, STATUSES, note_of, with_note
from memory.typed.registry import (
    Agent,
    Holder,
    agent_above,
    find_agent,
    lock_file,
    path_in,
    refuse_locked,
    store_of,
    unlock_file,
)


def merged(existing: bytes, content: str, dedupe: str) -> bytes:
    """Return a file's bytes with content merged into them; UsageError `typed.dedupe` for an unknown mode.

    Merging the same content again changes nothing, except with `none`, which always appends.
    """
    merge = _MODES.get(dedupe)
    if merge is None:
        raise UsageError("typed.dedupe", f"no merge mode is called {dedupe!r}", f"use {', '.join(_MODES)}")
    newline = "\r\n" if newline_of(existing, newline_of(encode(content))) == "\r\n" else "\n"
    return merge(existing, content.replace("\r\n", "\n").replace("\n", newline), newline)


def appended(existing: bytes, content: str, newline: str) -> bytes:
    """Append content after exactly one newline: the file's own, or a new one where its last line has none.

    The file's bytes stay as they are; newlines at the start of the content are dropped, and content of newlines alone
    changes nothing.
    """
    text = encode(content)
    bare = text.lstrip(b"\r\n")
    if not bare:
        return existing
    if not existing.removeprefix(BOM):
        return existing + text
    return existing + (b"" if ends_line(existing) else newline.encode()) + bare


def lines_added(existing: bytes, content: str, newline: str) -> bytes:
    """Append the lines whose exact text is not yet in the file and not earlier in the same content.

    Blank lines separate the kept lines. One with nothing left to separate is dropped; where lines between blank lines
    were left out, only one blank line stays; where the file and the content meet there are never two in a row.
    """
    lines = _lines(decode(existing))
    known = set(lines)
    empty = not existing.removeprefix(BOM)
    blank_end = empty or (len(lines) > 1 and not lines[-1].strip() and not lines[-2].strip())
    added: list[str] = []
    blank, skipped = 0, False
    for line in _lines(content):
        if not line.strip():
            blank += 1
        elif line in known:
            skipped = True
        else:
            if blank and not added:
                blank = 0 if blank_end else 1
            added += [""] * (min(blank, 1) if skipped else blank)
            added.append(line)
            known.add(line)
            blank, skipped = 0, False
    if not added:
        return existing
    joint = b"" if empty or ends_line(existing) else newline.encode()
    return existing + joint + encode("".join(line + newline for line in added))


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


# -- blocks -----------------------------------------------------------------------------------------------------


def blocks_replaced(existing: bytes, content: str, newline: str) -> bytes:
    """Replace each block whose heading the content also has, and append the other blocks in their order.

    Headings in code fences and HTML blocks do not count, and titles are compared trimmed and with case. Of several
    equal headings in the file the first is replaced and the rest are removed. Text before the first `##` of the content
    is added to the file's own, unless the file has it already.

    Raises UsageError `typed.headings` for a heading that occurs twice in the content, because it is unclear which block
    counts, and `document.unclosed` where an open fence or HTML block would swallow what follows it.
    """
    data = encode(content).removeprefix(BOM)
    blocks = _from_first_block(parse(data))
    twice = [title for (_, title), count in Counter(map(_name, blocks)).items() if count > 1]
    if twice:
        raise UsageError(
            "typed.headings",
            f"the content has the heading {'## ' + twice[0][:60]!r} more than once",
            "write one block of each heading, or append with the mode none",
            headings=twice,
        )
    preamble = data[: len(data) - sum(len(block.raw) for block in blocks)].strip(b"\r\n")
    document = parse(_with_text(existing, preamble, newline.encode()))
    for block in blocks:
        same = [at for at, one in enumerate(document.sections) if _name(one) == _name(block)]
        for at in reversed(same[1:]):
            document = document.remove_section(at)
        if same:
            document = document.with_section(same[0], in_place_of(document.section(same[0]), block))
        else:
            document = document.insert_section(len(document.sections), block)
    return document.dump()


def _name(block: Section) -> tuple[int, str]:
    return block.level, block.title


def _from_first_block(document: Document) -> Sequence[Section]:
    """Return the sections from the first `##` on."""
    sections = document.sections
    return sections[next((at for at, one in enumerate(sections) if one.level == 2), len(sections)) :]


def _with_text(existing: bytes, text: bytes, end: bytes) -> bytes:
    """Return a file with a text added before its first `##`, unless that part has these lines already."""
    document = parse(existing)
    blocks = _from_first_block(document)
    size = len(existing) - sum(len(block.raw) for block in blocks)
    top, rest = existing[:size], existing[size:]
    if not text.strip() or end + text + end in end + top.removeprefix(BOM) + end:
        return existing
    above = top.rstrip(b"\r\n") + end + end if top.removeprefix(BOM).strip() else top
    made = above + text + end + (end + rest if rest else b"")
    if len(_from_first_block(parse(made))) != len(blocks):
        raise UsageError(
            "document.unclosed",
            "a code fence or HTML block before the first ## is never closed",
            "close it, or it swallows the following text",
        )
    return made


def in_place_of(old: Section, new: Section) -> Section:
    """Return a section with the blank lines at the end of the one that it replaces."""
    raw = _without_end(new.raw) + old.raw[len(_without_end(old.raw)) :]
    return parse(raw).sections[0]


def _without_end(raw: bytes) -> bytes:
    return without_blank_end(raw).rstrip(b"\r\n")


def with_blocks(data: bytes, blocks: Iterable[bytes]) -> bytes:
    """Return a file with blocks added at its end, with its line ends and its style of blank lines.

    UsageError `document.unclosed` where the file ends inside a code fence or an HTML block.
    """
    document = parse(data)
    for block in blocks:
        (section,) = parse(block.replace(b"\n", document.newline.encode())).sections
        document = document.insert_section(len(document.sections), section)
    return document.dump()


def block_of(title: str, body: str, code: str) -> bytes:
    """Return a `##` block; UsageError with the code where it would not be read back as one block."""
    raw = encode(f"{heading_line(title, 2)}\n{body}")
    if section_of(raw, code).title != title:
        raise UsageError(code, "its title would be read as another one", "fix it there")
    return raw


def section_of(raw: bytes, code: str) -> Section:
    """Return the one section that a text is; UsageError with the code for any other text."""
    if b"\0" in raw:
        raise UsageError(code, "a NUL in it would make the file unreadable as text", "leave it out")
    document = parse(raw)
    if len(document.sections) != 1 or document.open_end or document.head.raw or document.front_raw:
        raise UsageError(code, "its title or text holds a heading, or leaves a fence open", "use ### for headings")
    return document.sections[0]


_MODES: dict[str, Callable[[bytes, str, str], bytes]] = {
    "none": appended,
    "line_hash": lines_added,
    "section_replace": blocks_replaced,
}


AnyPath = str | os.PathLike[str]
_MERGED = {"none": "added text to", "line_hash": "added new lines to", "section_replace": "merged sections into"}


class How(TypedDict, total=False):
    """The time (aware), the store and the actor of a call; `owner` is the process that calls (default: this one).

    A lock of another process is BusyError `typed.locked`, unless `ignore_lock`.
    """

    now: datetime | None
    store: Store | None
    actor: str | None
    owner: int | None
    ignore_lock: bool


def merge(path: AnyPath, content: str, dedupe: str = "none", **how: Unpack[How]) -> Change:
    """Append content to a file, leaving out what the file already has; the change names no file where nothing is new.

    `dedupe` is `none`, `line_hash` or `section_replace`. The file and its folders are made where they are missing.
    UsageError `typed.dedupe`, BusyError `typed.locked`, and what a transaction raises.
    """
    store, inside = _place(path, how)
    words = f"{_MERGED.get(dedupe, '')} {inside}"
    return rewrite(store, inside, lambda data: merged(data, content, dedupe), "typed.merge", words, how)


def rewrite(store: Store, path: str, build: Callable[[bytes], bytes], operation: str, summary: str, how: How) -> Change:
    """Write the bytes that `build` returns for a file's bytes (none: no file); no empty file is made."""
    refuse_foreign(store.root, path)

    def attempt() -> Change:
        with _transaction(store, operation, how) as transaction:
            _refuse_locked(store, how, path)
            stored = transaction.read(path)
            data = build(stored.data)
            if data != stored.data:
                transaction.write(path, data, base=stored.base)
            return transaction.commit(summary)

    return retry(attempt)


def promote(src: AnyPath, dst: AnyPath, *, force: bool = False, core: bool = False, **how: Unpack[How]) -> Change:
    """Move a file up, typically from episodic to core: all or nothing, keeping its mode and its time; folders are made.

    With `core` the Aidefile lists it under `core_files` in the same change. NotFoundError `typed.no_file` for a missing
    source, RefusedError `typed.exists` for a target that exists, unless `force`; UsageError `typed.same` for the same
    path twice.
    """
    return _move(src, dst, "typed.promote", force, core, how)


def demote(src: AnyPath, dst: AnyPath, *, force: bool = False, **how: Unpack[How]) -> Change:
    """Move a file down, the opposite of `promote`; errors are the same. A core file leaves `core_files` with it.

    It keeps its time, so the next prune may delete a file that was not changed for long.
    """
    return _move(src, dst, "typed.demote", force, False, how)


def _move(src: AnyPath, dst: AnyPath, operation: str, force: bool, core: bool, how: How) -> Change:
    store, source = _place(src, how)
    target = path_in(store, dst if how.get("store") else os.path.abspath(dst))
    if source == target:
        raise UsageError("typed.same", f"{source} is already there", "name another path")
    for path in (source, target):
        refuse_foreign(store.root, path)

    def attempt() -> Change:
        with _transaction(store, operation, how) as transaction:
            _refuse_locked(store, how, source, target)
            base = transaction.read(source).base
            if base is None:
                words = f"there is no file {source}"
                raise NotFoundError("typed.no_file", words, "name a file that exists", path=source)
            over = transaction.read(target).base
            if over is not None and not force:
                raise RefusedError("typed.exists", f"{target} exists already", "force it, or name another path")
            transaction.move(source, target, base=base, over=over)
            if core or operation == "typed.demote":
                _list_core(transaction, source, target if core else None)
            return transaction.commit(f"moved {source} to {target}")

    return retry(attempt)


def _list_core(transaction: Transaction, source: str, target: str | None) -> None:
    """Remove the source from `core_files` of the Aidefile and add the target; a missing Aidefile is made for one."""
    stored = transaction.read(NAME)
    changed = with_core_file(stored.data, source, add=False) if stored.data else stored.data
    if target is not None:
        changed = with_core_file(changed, target, add=True)
    if changed != stored.data:
        transaction.write(NAME, changed, base=stored.base)


def expire(path: AnyPath, max_age: timedelta | float | str, **how: Unpack[How]) -> bool:
    """Delete a file that was last changed longer ago than `max_age`, and return whether it was deleted.

    `max_age` is a timedelta, a number of seconds, or text such as `7d`; UsageError `typed.age` for anything else. A
    missing file is no error, a folder is. `memdeck undo` restores the bytes.
    """
    try:
        limit = _now(how) - read_age(max_age)
    except ValueError as error:
        raise UsageError("typed.age", str(error), "write an age such as 45s, 30m, 12h, 7d or 2w") from None
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)

    def attempt() -> bool:
        with _transaction(store, "typed.expire", how) as transaction:
            stored = transaction.read(inside)
            if stored.base is None or moment_of(stored.version.mtime_ns) >= limit:
                return False
            _refuse_locked(store, how, inside)
            transaction.remove(inside, base=stored.base)
            transaction.commit(f"deleted {inside}, which was too old")
            return True

    return retry(attempt)


def lock(path: AnyPath, **how: Unpack[How]) -> Holder:
    """Make `<path>.lock` in one step that only one caller wins; BusyError `typed.locked` names the holder.

    The path itself need not exist. `owner` holds the lock.
    """
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)
    return lock_file(store, inside, now=_now(how), owner=how.get("owner"))


def unlock(path: AnyPath, **how: Unpack[How]) -> bool:
    """Remove `<path>.lock` and return whether it existed; unlocking twice is fine."""
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)
    return unlock_file(store, inside)


def record_failure(
    agent: Agent | AnyPath,
    status: str,
    task: str,
    tokens: int,
    issue: str = "local",
    now: datetime | None = None,
    *,
    store: Store | None = None,
    actor: str | None = None,
) -> bool:
    """Append a note on a run that ended as `partial` or `timeout` to the agent's failure log; return whether it did.

    `agent` is an agent of the registry, its name there, or the path of its folder. This function never raises: a note
    that cannot be written must not fail the run that it is about. The reason is logged as a warning of the logger
    `memory.typed.ops`. Other statuses are not failures, and nothing is written.
    """
    try:
        return write_failure(agent, status, task, tokens, issue, now=now, store=store, actor=actor) is not None
    except Exception as error:
        getLogger(__name__).warning("no failure was noted: %s", error)
        return False


def write_failure(
    agent: Agent | AnyPath, status: str, task: str, tokens: int, issue: str = "local", **how: Unpack[How]
) -> str | None:
    """Do what `record_failure` does, and return the log's path from the agent's folder on; this function raises.

    NotFoundError `typed.no_agent` for what is no agent, `typed.no_folder` for a registered one without a folder.
    """
    if status not in STATUSES:
        return None
    folder = (agent if isinstance(agent, Agent) else find_agent(os.fspath(agent), home(os.environ))).folder
    if not folder.is_dir():
        raise NotFoundError("typed.no_folder", f"{folder} is not a folder", "name the agent's folder")
    path = f"{aidefile_of(folder).procedural.real}/{FILE}"
    note = note_of(status, str(task), int(tokens), str(issue), _now(how))
    store = how.get("store") or store_of(folder, state_home(os.environ), home(os.environ))
    words = f"added a failure to {path}"
    rewrite(store, path, lambda data: with_note(data, note), "typed.fail", words, how)
    return path


def _place(path: AnyPath, how: How) -> tuple[Store, str]:
    """Return the store that a path belongs to, and the path in it."""
    store = how.get("store")
    if store is not None:
        return store, path_in(store, path)
    full = os.path.abspath(path)
    agent = agent_above(full)
    if agent is None:
        raise UsageError("typed.no_agent_here", f"{path} is in no folder with an Aidefile", "make one there")
    store = store_of(agent.folder, state_home(os.environ), home(os.environ))
    return store, path_in(store, full)


def _now(how: How) -> datetime:
    now = how.get("now")
    if now is not None and now.tzinfo is None:
        raise MemdeckError("typed.naive_time", "the time has no zone", "pass an aware datetime")
    return now or datetime.now(UTC)


def _transaction(store: Store, operation: str, how: How) -> Transaction:
    """Return a transaction; its actor is the given one, else MEMDECK_ACTOR, else the agent itself."""
    actor = how.get("actor") or os.environ.get("MEMDECK_ACTOR") or f"agent:{store.root.name}"
    return store.transaction(operation, actor=actor, now=_now(how))


def _refuse_locked(store: Store, how: How, *paths: str) -> None:
    for path in () if how.get("ignore_lock") else paths:
        refuse_locked(store.root, path, how.get("owner"))
