"""Finding the sessions of a source, and reading each: line by line, masked, and with a hash of all that was said."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from memory.base.clock import read_utc
from memory.base.git import is_elsewhere
from memory.base.safe_text import one_line
from memory.errors import MemdeckError
from memory.state.files.model import SIGNALS, Json, as_name, digest, shown_path, stamp
from memory.state.imports.privacy import Cleaner
from memory.state.imports.signals import MOST, find_signals
from memory.storage.safe_open import open_beneath

StrPath = str | os.PathLike[str]

MOST_LINE = 32 << 20
"""How many bytes one line of a session or an index may have."""
_TOO_LONG = b"!\n"

_FOLDERS = {"claude-local": ("transcripts", "projects"), "codex-local": ("sessions", "archived_sessions")}
_HISTORY, _INDEX = "history.jsonl", "session_index.jsonl"


class SourceItem(NamedTuple):
    """A file with a session: the type of its source, its path, and its path in the source.

    `titles` are those of the index of the source, by the ids of sessions.
    """

    type: str
    path: Path
    name: str
    titles: Mapping[str, str]


def discover(
    source_type: str, path: StrPath, *, root: StrPath | None = None, home: StrPath | None = None
) -> list[SourceItem]:
    """Return the files with sessions that a source holds, sorted by their path in it; empty files are left out.

    `path` is a file, or a folder: for `claude-local` its `transcripts/**/*.jsonl`, `projects/<folder>/**/*.jsonl` and
    `history.jsonl`, for `codex-local` its `sessions/**/*.jsonl` and `archived_sessions/**/*.jsonl`; where a folder has
    none of these, all `*.jsonl` in it. With `root`, a repository, only its own folder of `projects` counts. Links and
    names that begin with a dot are passed over, but `path` itself may be a link. Errors name it as seen from `root`, or
    with `~` in `home`.

    Raises `MemdeckError` (`state.source.missing`, `state.source.unreadable`).
    """
    top = Path(path)
    shown = shown_path(str(top), root, home)
    if not top.exists():
        raise MemdeckError("state.source.missing", f"{shown} does not exist", "give the folder of the sessions")
    if top.is_file():
        return [SourceItem(source_type, top, top.name, {})]
    if not os.access(top, os.R_OK | os.X_OK):
        raise MemdeckError("state.source.unreadable", f"{shown} cannot be read", "change its permissions")
    titles = _titles(top)
    return [SourceItem(source_type, top / name, name, titles) for name in sorted(_names(source_type, top, root))]


def _titles(folder: Path) -> dict[str, str]:
    """Return the titles of sessions by their ids, from the index in a folder; the last line of an id counts."""
    titles: dict[str, str] = {}
    with suppress(OSError, MemdeckError), os.fdopen(open_beneath(_INDEX, folder), "rb") as file:
        for line in lines_of(file):
            with suppress(ValueError, RecursionError, TypeError, KeyError):
                record = json.loads(line)
                titles[str(record["id"])] = str(record["thread_name"] or "")
    return titles


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, and one that is no record in the place of a longer one than `MOST_LINE`.

    A repository may come from anyone and name any of its files as a source, so no line is read whole before its length
    is known.
    """
    while raw := file.readline(MOST_LINE):
        fits = True
        while len(raw) == MOST_LINE and not raw.endswith(b"\n"):
            raw, fits = file.readline(MOST_LINE), False
        yield raw if fits else _TOO_LONG


def _names(source_type: str, top: Path, root: StrPath | None) -> Iterator[str]:
    folders = [name for name in _FOLDERS[source_type] if (top / name).is_dir() and not (top / name).is_symlink()]
    history = source_type == "claude-local" and _is_session(top / _HISTORY)
    if not folders and not history:
        folders = [""]
    elif "projects" in folders and root is not None:
        own = sorted({as_name(os.path.abspath(root)), as_name(os.path.realpath(root))})
        folders = [name for name in folders if name != "projects"] + [f"projects/{name}" for name in own]
    for name in folders:
        yield from _walk(top, name)
    if history:
        yield _HISTORY


def _walk(top: Path, below: str) -> Iterator[str]:
    for path in (top / below).rglob("*.jsonl"):
        name = path.relative_to(top)
        if not any(part.startswith(".") for part in name.parts) and path.name != _INDEX and _is_session(path):
            yield str(name)


def _is_session(path: Path) -> bool:
    """Return whether a path is a regular file that is not empty, and no link."""
    with suppress(OSError):
        found = os.lstat(path)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    return False


_SUMMARY = 160


@dataclass(slots=True)
class ImportedItem:
    """The content of one session, ready to become an event.

    `event` has what the session gives of it. Its `createdAt` is the first time in the session, else that of the file,
    its `contentHash` the SHA-256 of `{"payload": TEXT}` in canonical form, where TEXT is all messages joined by blank
    lines: a session that grew has another hash. `messages` counts the texts of people and agents; without one there is
    nothing to import. `bad_lines` counts lines that are not records, and `first_bad_line` is the number of the first
    (from 1); a last line that is still being written does not count. `elsewhere` is the folder of a session of another
    project that exists on this machine: such a session must not be imported. `dropped` counts the signals of each kind
    that were too many.
    """

    event: Json = field(default_factory=dict)
    signals: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in SIGNALS})
    messages: int = 0
    bad_lines: int = 0
    first_bad_line: int | None = None
    elsewhere: str | None = None
    dropped: Counter[str] = field(default_factory=Counter)


def read_item(item: SourceItem, *, root: StrPath, home: StrPath | None = None) -> ImportedItem:
    """Return the content of a session; its last line may still be incomplete.

    `root` is the repository: paths in it become relative to it, paths elsewhere are no signals, and `home` is written
    as `~`. Secrets are masked. Time is proportional to the file, memory to what was said and to its longest line, up to
    `MOST_LINE`. Raises `MemdeckError` (`state.import.unreadable`), never for a bad line.
    """
    made, clean = ImportedItem(), Cleaner(root, home)
    try:
        with os.fdopen(open_beneath(item.path.name, item.path.parent), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise MemdeckError("state.import.unreadable", f"{item.name} is not a regular file", file=item.name)
            records = [*_records(file, item.type, made)]
    except OSError as error:
        words = f"{item.name} cannot be read: {error.strerror}"
        raise MemdeckError("state.import.unreadable", words, file=item.name) from error
    records = [one for one in records if not (one.alone and one.folder and is_elsewhere(one.folder, root))]
    said = [] if any(one.aside for one in records) else [*_cleaned(records, clean, made)]
    made.messages = len(said)
    folder = next((one.folder for one in records if one.folder and not one.alone), None)
    made.elsewhere = folder if folder and is_elsewhere(folder, root) else None
    time = next((one.time for one in records if one.time), datetime.fromtimestamp(found.st_mtime, UTC))
    session = next((one.session for one in records if one.session), None) if item.type == "codex-local" else None
    name = session or item.path.stem
    title = item.titles.get(name) or next((one.title for one in reversed(records) if one.title), "")
    first = next((text for who, text in said if who == PERSON), "")
    lines = (one_line(line) for text in (title, first) for line in text.split("\n"))
    summary = clean.text(next(filter(None, lines), f"Session {one_line(name)}"))
    made.event = {
        "externalItemId": one_line(clean.text(name))[:200] or item.path.stem,
        "createdAt": stamp(time),
        "contentHash": digest({"payload": "\n\n".join(text for _, text in said)}),
        "summary": summary if len(summary) <= _SUMMARY else f"{summary[: _SUMMARY - 1].rstrip()}…",
        "signals": made.signals,
        "sourceRef": _reference(item, root, clean),
    }
    return made


def _records(file: BinaryIO, source_type: str, made: ImportedItem) -> Iterator[SessionRecord]:
    """Yield the records of a file; a line that is none is counted, unless it is still being written."""
    for number, raw in enumerate(lines_of(file), 1):
        try:
            record: Any = json.loads(raw.decode("utf-8-sig", "replace")) if raw.strip(b"\xef\xbb\xbf \t\r\n") else {}
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield _codex(record) if source_type == "codex-local" else _claude(record)
        elif raw.endswith(b"\n"):
            made.bad_lines += 1
            made.first_bad_line = made.first_bad_line or number


def _cleaned(records: Iterable[SessionRecord], clean: Cleaner, made: ImportedItem) -> Iterator[Said]:
    """Yield what was said, cleaned, and add its signals."""
    seen: set[Said] = set()
    for record in records:
        for who, text in record.said:
            told = who, clean.text(text)
            # The same message occurs as an item of the answer and as an event.
            if record.echo and told in seen:
                continue
            seen.add(told)
            yield told
            for kind, signal in find_signals(told[1]):
                if kind != "keyPaths":
                    _add(made, kind, one_line(signal))
            # Paths are taken from the original text, as cleaning changes those that lead out of the repository.
            for kind, signal in find_signals(text):
                if kind == "keyPaths" and (path := clean.path(signal)) is not None:
                    _add(made, kind, clean.text(path))


def _add(made: ImportedItem, kind: str, text: str) -> None:
    """Add a signal, of which only the last ones are kept; a repeated text moves to its last position."""
    texts = made.signals[kind]
    if text in texts:
        texts.remove(text)
    texts.append(text)
    if len(texts) > MOST:
        del texts[0]
        made.dropped[kind] += 1


def _reference(item: SourceItem, root: StrPath, clean: Cleaner) -> str:
    """Return a reference to the session file: relative to the repository, else to its source."""
    real, top = os.path.realpath(item.path), os.path.realpath(root)
    if real.startswith(top.rstrip("/") + "/"):
        return one_line(os.path.relpath(real, top))
    return one_line(f"{item.type}:{clean.text(item.name)}")


# -- the record formats in which Claude Code and Codex store sessions ------------------------------------------------

PERSON, AGENT = "person", "agent"

_ROLES = {"user": PERSON, "human": PERSON, "assistant": AGENT}
_EVENTS = {"user_message": PERSON, "agent_message": AGENT}
_TEXTS = frozenset({"text", "input_text", "output_text"})
# Tags that a client adds to the messages of a person.
_TAGS = (
    "system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message"
    "|command-contents|bash-stdout|bash-stderr|bash-input|user-memory-input|task-notification|ide_opened_file"
    "|ide_selection|ide_diagnostics|environment_context|user_instructions|permissions instructions|turn_aborted"
    "|INSTRUCTIONS|user_shell_command|subagent_notification|skill|collaboration_mode|apps_instructions"
    "|skills_instructions|plugins_instructions|personality_spec|model_switch"
)
_TAGGED = re.compile(rf"<({_TAGS})(?:\s[^<>]{{0,200}})?>.*?(?:</\1>|\Z)", re.DOTALL)
"""A part that a client adds; a tag that is never closed extends to the end."""
_BARE = re.compile(r"</?(?:command-args|user_input|user_query)>")
_INJECTED = (
    "Caveat: The messages below were generated by the user while running local commands",
    "This session is being continued from a previous conversation",
    "[Request interrupted by user",
    "# AGENTS.md instructions for ",
)


Said = tuple[str, str]
"""Who wrote a text, `PERSON` or `AGENT`, and the text."""


class SessionRecord(NamedTuple):
    """The content of one line of a session: texts, its time, and the session's id, folder and title where it has them.

    `alone` means that the folder applies to this line only, as in a history of prompts of all projects. `echo` means
    that another line may repeat the text, `aside` that the whole session is one with a subagent.
    """

    said: tuple[Said, ...] = ()
    time: datetime | None = None
    session: str | None = None
    folder: str | None = None
    title: str | None = None
    alone: bool = False
    echo: bool = False
    aside: bool = False


def _claude(record: Mapping[str, Any]) -> SessionRecord:
    time, kind = read_time(record.get("timestamp")), _kind(record)
    if isinstance(record.get("display"), str):
        return SessionRecord(_prompt(record["display"]), time, folder=_text(record.get("project")), alone=True)
    if kind in ("summary", "custom-title", "ai-title"):
        titles = (_text(record.get(name)) for name in ("summary", "customTitle", "aiTitle"))
        return SessionRecord(title=next(filter(None, titles), None))
    aside = any(map(record.get, ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "toolUseResult")))
    said = () if aside or kind not in (None, "message", *_ROLES) else tuple(_message(record, kind))
    return SessionRecord(said, time, _text(record.get("sessionId")), _text(record.get("cwd")))


def _codex(record: Mapping[str, Any]) -> SessionRecord:
    payload = record.get("payload")
    part = payload if isinstance(payload, Mapping) else record
    kind, inner, source = _kind(record), _kind(part), part.get("source")
    said: Iterable[Said] = ()
    if kind == "event_msg" and inner in _EVENTS:
        said = _said(_EVENTS[inner], part.get("message"))
    elif kind in (None, "message", *_ROLES) or (kind, inner) == ("response_item", "message"):
        said = _message(part, kind)
    # The first line names the session; messages have ids of their own.
    first = kind in (None, "message", "session_meta") and "role" not in record
    session = _text(part.get("id")) or _text(part.get("session_id")) if first else None
    aside = kind == "session_meta" and isinstance(source, Mapping) and "subagent" in source
    time = read_time(record.get("timestamp"))
    return SessionRecord(tuple(said), time, session, _text(part.get("cwd")), echo=True, aside=aside)


def _kind(record: Mapping[str, Any]) -> str | None:
    """Return the type that a record names, None where it names none, "" where the type is not a text."""
    kind = record.get("type")
    return kind if kind is None or isinstance(kind, str) else ""


def _message(record: Mapping[str, Any], kind: object) -> Iterator[Said]:
    """Yield the texts of a message: in `message`, `content` or `text`, as text, blocks, or a nested message."""
    message = record.get("message")
    inner = message if isinstance(message, Mapping) else record
    role = inner.get("role") or record.get("role") or kind
    who = _ROLES.get(role) if isinstance(role, str) else None
    if who is None:
        return
    content = message if isinstance(message, str) else inner.get("content", inner.get("text"))
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, Mapping):
            yield from _said(who, block.get("text") if _kind(block) in _TEXTS or "type" not in block else None)
        else:
            yield from _said(who, block)


def _said(who: str, text: object) -> Iterator[Said]:
    """Yield a text without what the client added to it, unless nothing is left."""
    if not isinstance(text, str):
        return
    own = (_BARE.sub("", _TAGGED.sub("", text)) if who == PERSON else text).strip()
    if own and not own.startswith(_INJECTED):
        yield who, own


def _prompt(text: str) -> tuple[Said, ...]:
    """Return a prompt of the history; nothing for a command of the client, such as `/clear`."""
    return () if re.fullmatch(r"/[\w:-]+\s*", text) else tuple(_said(PERSON, text))


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def read_time(value: object) -> datetime | None:
    """Read a time of a session: ISO 8601, or seconds or milliseconds since 1970; without a zone it is UTC."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read_utc(value) if isinstance(value, str) else None
