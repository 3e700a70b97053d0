"""`memdeck hook EVENT`: reads a client's JSON on stdin, and prints on stdout what the agent should know.

A hook never blocks an agent: it always ends with exit code 0, because a client drops the user's message at
another one. Settings of clients are shared, so the words of the call may be those of another version: what this one
does not know is passed over. The reason for an answer that failed is recorded in the private state folder, where
`memdeck doctor` finds it.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import visible
from memory.base.scan import fenced, harmless, why_not
from memory.base.values import read_object
from memory.registry import workspace_of
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace

from .sessions import HookSession, note_failure

if TYPE_CHECKING:
    from memory.prompts.sheet import Sheet

EVENTS = ("session-start", "prompt", "pre-compact", "stop", "session-end")
MOST_CHARACTERS = 9_500
"""Clients replace texts of more than 10,000 characters by a preview."""
CURATED = ".agh/workspace.toml"
"""The mark of curated memory; without it none of its modules are imported."""
_VALUES = {"-w": "folder", "--workspace": "folder", "--client": "client", "--now": "now"}
_OTHERS = frozenset({"-o", "--output", "--actor"})
"""Options of every verb that have a value, which says nothing to a hook."""
_MOST_INPUT = 64 << 20
_LONGEST, _END = 20_000, 120
"""Characters of a message that are searched for, and those of its end that come first: a search reads 40 words."""
_ID = 200
"""Characters of a session's id."""
_SECONDS = 2.0
"""Seconds to wait for stdin; a client that opens it and writes nothing gets no answer for a message."""
_TOLD = re.compile(r"<(hook_context|memdeck-memory[\w-]*)\b[^<>]*>")
"""The beginning of what a hook told before, which some clients put into the message that they pass on."""


def run(arguments: Sequence[str]) -> int:
    """Run a hook called as `EVENT [--client NAME] [-w DIR] [--now ISO]`; always return 0."""
    workspace: Workspace | None = None
    event, client = "", ""
    try:
        event, words = _read(arguments)
        client = words.get("client", "")
        if event not in EVENTS:
            return 0
        given = _input()
        workspace = _open(words.get("folder", ""), given)
        if workspace is not None:
            now = _moment(words.get("now", ""))
            text = _ANSWERS[event](workspace, given, client, now)
            if os.path.lexists(workspace.root / CURATED):
                _with_curated(workspace, given, event, client, now, text)
            else:
                _say(text, event, client, given)
    except Exception as error:
        _note(workspace, event, client, error)
    return 0


def _read(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the event and the values of the options; the event is empty if there is none."""
    event, values = "", {}
    rest = list(reversed(arguments))
    while rest:
        word, equals, value = rest.pop().partition("=")
        if word in _VALUES or word in _OTHERS:
            # A value that is missing does not take the next option with it.
            value = value if equals else rest.pop() if rest and not rest[-1].startswith("-") else ""
            values[_VALUES.get(word, "")] = value
        elif word in EVENTS and not event:
            event = word
    return event, values


def _moment(text: str) -> datetime:
    """Return the time of the call: that of the clock, unless one is given; ValueError."""
    now = datetime.fromisoformat(text) if text else datetime.now(UTC)
    if now.tzinfo is None:
        raise ValueError(f"--now {text} names no zone")
    return now


def _input() -> dict[str, Any]:
    """Return the client's input; empty if there is none, it is late, or it is not an object."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        return {}
    pieces: list[bytes] = []
    with suppress(OSError):
        fd, room = stream.fileno(), _MOST_INPUT
        while room > 0 and select.select([fd], [], [], _SECONDS)[0] and (chunk := os.read(fd, 1 << 16)):
            pieces.append(chunk)
            room -= len(chunk)
    return read_object(b"".join(pieces))


def _text(given: Mapping[str, Any], *keys: str) -> str:
    """Return the first text under some keys."""
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _open(chosen: str, given: Mapping[str, Any]) -> Workspace | None:
    """Return the workspace of a call, None if there is none.

    Agents change their folder, and remove it: without a folder in the call the first of the client's folder, its
    project and that of this process which has a workspace counts.
    """
    places = [chosen] if chosen else [_text(given, "cwd"), os.environ.get("CLAUDE_PROJECT_DIR", ""), "."]
    folder = next((one for one in places if os.path.isdir(one) and workspace_of(os.path.abspath(one))), None)
    if folder is None:
        return None

    return Workspace.open(folder, state_home=state_home(os.environ), home=home(os.environ))


# -- the answer to each event -----------------------------------------------------------------------------------


def _start(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what an agent should know when its session begins, and again after a compaction.

    A session that is resumed has it already: it gets only what has changed.
    """
    # What only some events need is imported there: a client waits for each of them.
    from memory.prompts.brief import START_TOKENS, brief
    from memory.prompts.sheet import read_choices

    session = _session(workspace, given, client)
    budget = read_choices(workspace.state).budget or START_TOKENS
    told = brief(workspace, now, budget=budget, agent=client, since=session.begin(now))
    if session.was_told(told.text) and given.get("source") == "resume":
        return ""
    _count(workspace, given, "session-start", client, lambda sheet, name: sheet.sent(told.blocks, client, name, now))
    return told.text


def _prompt(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what fits the message; empty if nothing does."""
    message = _cut(_message(given))
    from memory.prompts.compose import intents

    if not intents(message):
        return ""
    from memory.prompts.brief import for_message
    from memory.systems import searcher_of

    with closing(searcher_of(workspace)) as searcher:
        told = for_message(workspace, now, message, searcher=searcher)
    _count(workspace, given, "prompt", client, lambda sheet, name: sheet.sent(told.blocks, client, name, now, message))
    return told.text


def _count(
    workspace: Workspace, given: Mapping[str, Any], event: str, client: str, count: Callable[[Sheet, str], None]
) -> None:
    """Count something in the balance sheet, unless that is switched off; `count` gets the sheet and the session."""
    from memory.prompts.sheet import Sheet, read_choices

    try:
        if read_choices(workspace.state).counts:
            count(Sheet(workspace.state), _session_id(given)[:_ID])
    except Exception as error:
        _note(workspace, event, client, error)


def _message(given: Mapping[str, Any]) -> str:
    """Return the user's message; empty for a command of the client."""
    message = _said(given, "prompt", "message", "user_prompt")
    return "" if message.startswith("/") else message


def _said(given: Mapping[str, Any], *keys: str) -> str:
    """Return the first text under some keys, without what hooks told before."""
    return "".join(_own_words(_text(given, *keys))).strip()


def _cut(text: str) -> str:
    """Return a text that can be searched for; one that is too long begins with its end, where the question is."""
    return text if len(text) <= _LONGEST else f"{text[-_END:]}\n{text[:_LONGEST]}"


def _own_words(text: str) -> Iterator[str]:
    """Yield the pieces of a message between what hooks told before."""
    at = 0
    for found in _TOLD.finditer(text):
        if found.start() < at:
            continue
        closing = f"</{found[1]}>"
        end = text.find(closing, found.end())
        if end < 0:
            break
        yield text[at : found.start()]
        at = end + len(closing)
    yield text[at:]


def _compact(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what a summary of the session must contain; what it was told may not be in the summary."""
    session = _session(workspace, given, client)
    session.was_told("")
    changes = session.changes(now)
    if not changes:
        return ""
    refs = ", ".join(_refs_of(changes))[:1_000]
    return f"Keep in the summary that these memory entries were changed with memdeck in this session: {refs}\n"


def _refs_of(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["ref"] for change in changes for entry in change["entries"] if entry["ref"]))


def _stop(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Count what the answer used, and ask once for a line in the journal if the session left none about its changes."""
    session = _session(workspace, given, client)
    changes = session.changes(now)
    answer = _said(given, "last_assistant_message", "prompt_response")
    _count(workspace, given, "stop", client, lambda sheet, name: sheet.answered(answer, _refs_of(changes), name, now))
    if (
        given.get("stop_hook_active")
        or not changes
        or any(change["file"] == "journal.md" for change in changes)
        or not session.ask_once()
    ):
        return ""

    told = dict.fromkeys(change["summary"] for change in changes if not why_not("files", change["summary"]))
    said = harmless(visible("; ".join(told)[:600]))
    return f"This session changed the memory ({said}) and left no line in its journal. Add one that says what was done."


def _end(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:  # noqa: ARG001
    """Forget the session."""
    _session(workspace, given, client).end()
    return ""


_ANSWERS: dict[str, Callable[[Workspace, Mapping[str, Any], str, datetime], str]] = {
    "session-start": _start,
    "prompt": _prompt,
    "pre-compact": _compact,
    "stop": _stop,
    "session-end": _end,
}


def _session(workspace: Workspace, given: Mapping[str, Any], client: str) -> HookSession:
    return HookSession(workspace, _session_id(given), f"agent:{client}")


def _session_id(given: Mapping[str, Any]) -> str:
    return _text(given, "session_id", "sessionId", "conversation_id")


# -- curated memory ----------------------------------------------------------------------------------------------


def _with_curated(
    workspace: Workspace, given: Mapping[str, Any], event: str, client: str, now: datetime, text: str
) -> None:
    """Print a text with the additions of curated memory, then save what was said; errors do not stop the text."""
    said = False
    try:
        # The system's code is loaded when a workspace has it.
        from .curated import CuratedSession, in_time

        with in_time():
            curated = CuratedSession(workspace, _session_id(given), client, now)
            message, turn, more = "", None, ""
            if event == "session-start":
                more = curated.snapshot() if text else ""
            elif event == "prompt" and (message := _message(given)):
                turn = _session(workspace, given, client).next_turn()
                more = curated.recall(message, turn)
            elif event == "pre-compact":
                more = curated.compacted()
            said = True
            _say(text + fenced(more, "curated", MOST_CHARACTERS - len(text)), event, client, given)
            if event == "prompt":
                curated.keep("user", message, turn)
            elif event == "stop" and (message := _said(given, "last_assistant_message", "prompt_response")):
                curated.keep("assistant", message, _session(workspace, given, client).next_turn())
            elif event == "session-end":
                curated.end()
    except Exception as error:
        if not said:
            _say(text, event, client, given)
        _note(workspace, event, client, error)


# -- output ------------------------------------------------------------------------------------------------------


def _say(text: str, event: str, client: str, given: Mapping[str, Any]) -> None:
    """Write a text in the client's format; a client without one gets nothing."""
    text = text.strip()
    if not text:
        return
    text = text[:MOST_CHARACTERS]
    name = _text(given, "hook_event_name", "hookEventName") or _NAMES[event]
    shown: str = text
    if event == "stop":
        if client == "cursor":
            shown = json.dumps({"followup_message": text})
        elif client in ("claude-code", "codex", ""):
            shown = json.dumps({"decision": "block", "reason": text})
        else:
            return
    elif client in ("gemini", "vscode"):
        shown = json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})
    elif client == "cursor":
        shown = json.dumps({"additional_context": text})
    # The model reads UTF-8, even where the person's terminal does not.
    sys.stdout.buffer.write(f"{shown}\n".encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


_NAMES = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "stop": "Stop",
    "session-end": "SessionEnd",
}


def _note(workspace: Workspace | None, event: str, client: str, error: Exception) -> None:
    """Record why a hook returned nothing; if even that fails, do nothing."""
    if workspace is None:
        return
    with suppress(Exception):
        note_failure(workspace, event, client, error, datetime.now(UTC))
