"""`memdeck hook EVENT`: reads a client's JSON on stdin, and prints on stdout what the agent should know.

A hook never blocks an agent: after any error it prints nothing and ends with exit code 0. The reason is recorded in the
private state folder, where `memdeck doctor` finds it.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from memory.base.json_objects import read_object
from memory.lazy import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from memory.workspace import Workspace

EVENTS = ("session-start", "prompt", "pre-compact", "stop", "session-end")
MOST_CHARACTERS = 9_500
"""Clients replace texts of more than 10,000 characters by a preview."""
CURATED = ".agh/workspace.toml"
"""The mark of curated memory; without it none of its modules are imported."""
_MOST_INPUT = 1 << 20
_SECONDS = 2.0
"""Seconds to wait for stdin; a client that opens it and writes nothing gets no answer for a message."""


def run(arguments: Sequence[str]) -> int | None:
    """Run a hook called as `EVENT [--client NAME] [-w DIR] [--now ISO]` and return 0; None for any other call."""
    words = _read(arguments)
    if words is None:
        return None
    event, client, folder, now = words
    workspace: Workspace | None = None
    try:
        given = _input()
        workspace = _open(folder or _text(given, "cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or ".")
        if workspace is not None:
            text = _ANSWERS[event](workspace, given, client, now)
            if os.path.lexists(workspace.root / CURATED):
                _with_curated(workspace, given, event, client, now, text)
            else:
                _say(text, event, client, given)
    except Exception as error:
        _note(workspace, event, client, error, now)
    return 0


def _read(arguments: Sequence[str]) -> tuple[str, str, str, datetime] | None:
    rest = list(arguments)
    if not rest or rest.pop(0) not in EVENTS:
        return None
    values = {"--client": "", "-w": "", "--workspace": "", "--now": ""}
    while rest:
        word = rest.pop(0)
        if word not in values or not rest:
            return None
        values[word] = rest.pop(0)
    try:
        now = datetime.fromisoformat(values["--now"]) if values["--now"] else datetime.now(UTC)
    except ValueError:
        return None
    if now.tzinfo is None:
        return None
    return arguments[0], values["--client"], values["-w"] or values["--workspace"], now


def _input() -> dict[str, Any]:
    """Return the client's input; empty if there is none, it is late, or it is not an object."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        return {}
    fd, data, end = stream.fileno(), b"", time.monotonic() + _SECONDS
    while len(data) < _MOST_INPUT and (left := end - time.monotonic()) > 0:
        ready, _, _ = select.select([fd], [], [], left)
        chunk = os.read(fd, 1 << 16) if ready else b""
        if not chunk:
            break
        data += chunk
    return read_object(data)


def _text(given: Mapping[str, Any], *keys: str) -> str:
    """Return the first text under some keys."""
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _open(folder: str) -> Workspace | None:
    """Return the workspace around a folder, None if there is none."""
    from memory.registry import workspace_of
    from memory.storage.own_folders import home, state_home

    if not os.path.isdir(folder) or workspace_of(os.path.abspath(folder)) is None:
        return None
    from memory.workspace import Workspace

    return Workspace.open(folder, state_home=state_home(os.environ), home=home(os.environ))


# -- the answer to each event -----------------------------------------------------------------------------------


def _start(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what an agent should know when its session begins, and again after a compaction."""
    from memory.prompts import START_TOKENS, brief

    _session(workspace, given, client).begin(now)
    return brief(workspace, now, budget=START_TOKENS, agent=client).text


def _prompt(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what fits the message; empty if nothing does."""
    from memory.prompts import for_message, is_searched

    message = _message(given)
    if not message:
        return ""
    without = told_apart(workspace)
    if not is_searched(workspace, without):
        return for_message(workspace, now, message, without=without, agent=client).text
    from memory.systems import searcher_of

    searcher = searcher_of(workspace)
    try:
        return for_message(workspace, now, message, searcher=searcher, without=without, agent=client).text
    finally:
        searcher.close()


def told_apart(workspace: Workspace) -> tuple[str, ...]:
    """Return the systems whose memories a hook presents in another way.

    Memories that a controller decided on come as the block of the turn, which counts and explains them.
    """
    return ("curated",) if os.path.lexists(workspace.root / CURATED) else ()


def _message(given: Mapping[str, Any]) -> str:
    """Return the user's message; empty for a command of the client."""
    message = _text(given, "prompt", "message", "user_prompt")
    return "" if not message.strip() or message.lstrip().startswith("/") else message


def _compact(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Return what a summary of the session must contain."""
    changes = _session(workspace, given, client).changes(now)
    if not changes:
        return ""
    refs = ", ".join(dict.fromkeys(ref for change in changes for ref in change.refs))[:1_000]
    return f"Keep in the summary that these memory entries were changed with memdeck in this session: {refs}\n"


def _stop(workspace: Workspace, given: Mapping[str, Any], client: str, now: datetime) -> str:
    """Ask once for a line in the journal if the session changed memory without a note there."""
    if given.get("stop_hook_active"):
        return ""
    session = _session(workspace, given, client)
    changes = session.changes(now)
    if not changes or any(change.file == "journal.md" for change in changes) or not session.ask_once():
        return ""
    from memory.base.safe_text import visible
    from memory.base.told import harmless, why_not

    told = dict.fromkeys(change.summary for change in changes if not why_not("files", change.summary))
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


def _session(workspace: Workspace, given: Mapping[str, Any], client: str) -> Any:
    from .sessions import HookSession

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
        from memory.base.told import fenced

        from .curated import CuratedSession, in_time

        with in_time():
            curated = CuratedSession(workspace, _session_id(given), client, now)
            message, turn, more = "", None, ""
            if event == "session-start":
                more = curated.snapshot()
            elif event == "prompt" and (message := _message(given)):
                turn = _session(workspace, given, client).next_turn()
                more = curated.recall(message, turn)
            elif event == "pre-compact":
                more = curated.compacted()
            said = True
            _say(text + fenced(more, "curated", MOST_CHARACTERS - len(text)), event, client, given)
            if event == "prompt":
                curated.keep("user", message, turn)
            elif event == "stop" and (message := _text(given, "last_assistant_message", "prompt_response")).strip():
                curated.keep("assistant", message, _session(workspace, given, client).next_turn())
            elif event == "session-end":
                curated.end()
    except Exception as error:
        if not said:
            _say(text, event, client, given)
        _note(workspace, event, client, error, now)


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
    sys.stdout.write(shown + "\n")
    sys.stdout.flush()


_NAMES = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "stop": "Stop",
    "session-end": "SessionEnd",
}


def _note(workspace: Workspace | None, event: str, client: str, error: Exception, now: datetime) -> None:
    """Record why a hook returned nothing; if even that fails, do nothing."""
    if workspace is None:
        return
    with suppress(Exception):
        from .sessions import note_failure

        note_failure(workspace, event, client, error, now)
