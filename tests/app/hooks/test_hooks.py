"""`memdeck hook` as clients call it: a process, their JSON on stdin, what the agent is told on stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.hooks.client import NOW, Client
from tests.examples import in_turn
from tests.patience import PATIENCE


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("claude-code", lambda said: said),
        ("codex", lambda said: said),
        ("opencode", lambda said: said),
        ("gemini", lambda said: json.loads(said)["hookSpecificOutput"]["additionalContext"]),
        ("vscode", lambda said: json.loads(said)["hookSpecificOutput"]["additionalContext"]),
        ("cursor", lambda said: json.loads(said)["additional_context"]),
    ],
)
def test_each_client_gets_it_in_its_form(client: Client, name: str, read: Callable[[str], str]) -> None:
    """The words are the same for all."""
    assert read(client.hook("session-start", name)).strip() == client.hook("session-start").strip()


def test_a_session_that_changed_memory_is_asked_for_a_line_once(client: Client) -> None:
    """Nothing is asked of a session that changed nothing, nor of one that wrote into the journal."""
    client.hook("session-start")
    assert client.hook("stop") == ""
    client.memdeck("tasks", "add", "By the agent", "--actor", "agent:claude-code", "--now", NOW)
    kept = client.hook("pre-compact")
    assert "tasks#" in kept
    assert client.hook("stop", stop_hook_active=True) == ""
    asked = json.loads(client.hook("stop"))
    assert asked["decision"] == "block"
    assert "By the agent" in asked["reason"]
    assert client.hook("stop") == ""
    client.hook("session-start", session_id="two")
    client.memdeck("tasks", "add", "Another", "--actor", "agent:claude-code", "--now", NOW)
    client.memdeck("journal", "add", "Did it", "--actor", "agent:claude-code", "--now", NOW)
    assert client.hook("stop", session_id="two") == ""
    assert client.hook("session-end", session_id="two") == ""
    assert client.hook("pre-compact", session_id="two") == ""


EVENTS = ("session-start", "prompt", "stop")
ODD = {
    "nothing": b"",
    "half": b"{",
    "list": b"[]",
    "null": b"null",
    "kinds": b'{"cwd": 5, "prompt": []}',
    "bytes": b"\xff\xfe",
    "deep": b"[" * 100_000,
    "gone": b'{"cwd": "/gone"}',
}


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.thorough(but=in_turn(EVENTS, [*ODD]))
def test_whatever_stdin_holds_it_ends_well(client: Client, event: str, given: bytes) -> None:
    """Exit code 0, nothing on stderr."""
    done = client.memdeck("hook", event, "--now", NOW, given=given)
    assert (done.returncode, done.stderr) == (0, b"")


def test_where_there_is_no_memory_nothing_is_said(client: Client, tmp_path: Path) -> None:
    """A client calls its hooks in every project."""
    client.root = tmp_path / "empty"
    client.root.mkdir()
    assert client.hook("session-start") == ""


def test_what_goes_wrong_is_told_by_doctor(client: Client) -> None:
    """The hook is silent, and `doctor` has the reason."""
    memory = client.root / ".aiter/memory"
    (memory / "config.md").unlink()
    (memory / "tasks.md").unlink()
    state = next((Path(client.environ["XDG_STATE_HOME"]) / "memdeck").iterdir())
    state.chmod(0o777)
    try:
        assert client.hook("stop") == ""
    finally:
        state.chmod(0o700)


def test_a_client_that_never_writes_is_not_waited_for(client: Client) -> None:
    """A pipe that stays open does not keep the hook."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", "hook", "session-start", "--now", NOW],
        cwd=client.root,
        env=client.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()
    assert b"## Overdue" in said


def test_what_is_shown_for_a_client_is_what_its_hook_sends(client: Client) -> None:
    """With pins and mutes, for the start and for a message: `memdeck prompt --client` has the bytes of the hook."""
    client.memdeck("facts", "store", "the gateway restarts at night")
    client.memdeck("facts", "store", "the gateway has two doors")
    blocks = json.loads(client.memdeck("prompt", "--now", NOW, "-o", "json").stdout)["blocks"]
    refs = {one["title"]: one["ref"] for one in blocks}
    late, fact = refs["Renew the certificate"], refs["the gateway has two doors"]
    made = client.memdeck("prompt", "--mute", late, "--pin", fact, "--now", NOW)
    assert (made.returncode, made.stderr) == (0, b"")
    message = "when does the gateway restart? and renew the certificate"
    for event, words in (("session-start", ()), ("prompt", ("--message", message))):
        for name in ("claude-code", "codex"):
            shown = json.loads(client.memdeck("prompt", "--client", name, *words, "--now", NOW, "-o", "json").stdout)
            said = client.hook(event, name, prompt=message)
            assert shown["text"] == said != ""
            assert "Renew" not in said
    refused = client.memdeck("prompt", "--pin", late, "--actor", "agent:builder", "-o", "json")
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (1, "prompt.person_only")
