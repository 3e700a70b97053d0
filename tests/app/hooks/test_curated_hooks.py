"""Hooks in a workspace with curated memory: what the agent is told of it, and what is kept of the session."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.hooks.curated import HookTimeoutError, in_time
from tests.app.hooks.client import NOW, Client
from tests.patience import PATIENCE

TOKEN = "ghp_" + "0a1B2c3D4e5F6g7H8i9J" * 2
QUESTION = "when is the deploy window on tuesday?"


@pytest.fixture
def curated(client: Client) -> Client:
    """Return a client in a workspace with one curated memory."""
    _remember(client, "Deploy window", "Deploys happen on Tuesday mornings")
    return client


def _remember(client: Client, name: str, text: str) -> None:
    done = client.memdeck("curated", "write", "--type", "project", "--name", name, "--content", text, "--now", NOW)
    assert done.returncode == 0, done.stderr


def _json(client: Client, *words: str) -> Any:
    done = client.memdeck("curated", *words, "--now", NOW, "-o", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _events(client: Client, session: str = "one") -> list[tuple[str, str | None]]:
    found = _json(client, "session", "ledger", session)["events"]
    return [(one["event_type"], one["payload"]) for one in found]


def test_a_session_begins_with_what_memories_say(curated: Client) -> None:
    """The text of a memory is told once, and no line of the index beside it."""
    said = curated.hook("session-start")
    assert "Deploys happen on Tuesday mornings" in said
    assert "MEMORY.md" not in said
    assert curated.hook("session-start", source="compact") == said


def test_many_memories_cost_no_more_than_the_budget(curated: Client) -> None:
    """What has no room is counted; of the index only the lines of people are told beside the brief."""
    for number in range(60):
        text = f"---\nname: N{number}\ndescription: about\ntype: project\n---\n\nBecause {'it is ' * 60}\n"
        (curated.root / f".agh/memory/project_n{number}.md").write_text(text)
    index = curated.root / ".agh/memory/MEMORY.md"
    index.write_text(f"{index.read_text()}\n- [Gone](project_gone.md) — old\n- see the [map](https://map.example)\n")
    said = curated.hook("session-start")
    assert len(said) <= 6_600
    assert "curated (" in said
    assert "see the [map]" in said
    assert "project_n1.md" not in said


def test_a_message_gets_its_recall_once(curated: Client) -> None:
    """The recall is counted and traced, and the memory is told once, by its ref."""
    said = curated.hook("prompt", prompt=QUESTION)
    assert said.count("Deploys happen on Tuesday mornings") == 1
    assert "- curated#" in said
    assert _json(curated, "list")["memories"][0]["recall_count"] == 1
    trace = _json(curated, "recall", "trace", "one", "1")["trace"]
    assert trace["query"] == QUESTION
    assert curated.hook("prompt", prompt="/compact deploy window") == ""


def test_what_was_said_becomes_a_ledger(curated: Client) -> None:
    """The messages of both are kept with their secrets masked; a session that is resumed goes on under a number."""
    curated.hook("session-start")
    curated.hook("prompt", prompt=f"use {TOKEN} for the deploy")
    curated.hook("stop", last_assistant_message="It is done.", transcript_path="/etc/passwd")
    curated.hook("pre-compact", trigger="auto")
    curated.hook("session-end", reason="exit")
    assert _events(curated) == [
        ("user_message", "use [GitHub token] for the deploy"),
        ("assistant_message", "It is done."),
        ("session_compacted", None),
    ]
    assert _json(curated, "session", "ledger", "one")["meta"]["state"] == "ended"
    curated.hook("session-start", source="resume")
    curated.hook("prompt", prompt="go on please")
    curated.hook("session-end")
    assert _events(curated, "one.2") == [("user_message", "go on please")]
    everything = b"".join(path.read_bytes() for path in curated.root.parent.rglob("*") if path.is_file())
    assert TOKEN.encode() not in everything


def test_what_is_marked_waits_in_the_inbox(curated: Client) -> None:
    """A marker of the person and one of the agent become candidates; that is no change that the agent must note."""
    curated.hook("session-start")
    curated.hook("prompt", prompt="please:\nremember: the gateway listens on port 8080")
    assert curated.hook("stop", last_assistant_message="remember(user): Tea | likes green tea", client="gemini") == ""
    assert curated.hook("stop", stop_hook_active=True, prompt_response="remember: it moved") == ""
    status = _json(curated, "extractor", "status")["extractor"]
    assert (status["inbox_candidates"], status["waiting_turns"]) == (3, 0)
    assert curated.hook("stop") == ""
    assert _json(curated, "extractor", "drain")["consumed"] == 3


def test_strange_ids_of_sessions_name_no_folder(curated: Client) -> None:
    """An id that leads elsewhere is replaced; without an id nothing is kept, and the memories come nevertheless."""
    assert "Tuesday mornings" in curated.hook("prompt", session_id="../../etc", prompt=QUESTION)
    assert "Tuesday mornings" in curated.hook("prompt", session_id="", prompt=QUESTION)
    (ledgers,) = (curated.root.parent / ".agh/sessions").iterdir()
    (one,) = ledgers.iterdir()
    assert len(one.name) == 32
    assert not (curated.root.parent / "etc").exists()


def test_switched_off_it_keeps_nothing(curated: Client) -> None:
    """`enabled = false` ends it all, `extractor.enabled` the candidates."""
    settings = curated.root.parent / ".agh/config.toml"
    settings.parent.mkdir()
    settings.write_text("[memory.extractor]\nenabled = false\n")
    curated.hook("prompt", prompt="remember: the first words")
    assert _json(curated, "extractor", "status")["extractor"]["inbox_candidates"] == 0
    assert len(_events(curated)) == 1
    settings.write_text("[memory]\nenabled = false\n")
    assert "MEMORY.md" not in curated.hook("session-start")
    assert "mornings" not in curated.hook("prompt", prompt=QUESTION)
    assert len(_events(curated)) == 1


def test_a_failure_takes_nothing_from_what_else_is_said(curated: Client) -> None:
    """Settings that cannot be read leave the brief as it is, and `doctor` has the reason."""
    settings = curated.root.parent / ".agh/config.toml"
    settings.parent.mkdir()
    settings.write_text("[memory]\nnonsense = 1\n")
    assert "## Overdue" in curated.hook("session-start")
    told = curated.memdeck("doctor", "-o", "json").stdout.decode()
    assert "memory.config" in told
    assert "session-start claude-code" in told


def test_a_hook_ends_in_its_time(curated: Client) -> None:
    """Where another program holds the session's memory for good, the hook says what it can and ends well."""
    curated.hook("session-start")
    database = next((curated.root.parent / "state").rglob("catalog.sqlite"))
    held = sqlite3.connect(database, isolation_level=None)
    try:
        held.execute("BEGIN EXCLUSIVE")
        assert "## Overdue" in curated.hook("session-start", session_id="two")
    finally:
        held.close()
    assert "Deploys happen" in curated.hook("session-start", session_id="three")


def test_what_takes_too_long_is_ended() -> None:
    """Code that passes over the first error gets a second one."""
    never = threading.Event()

    def wait() -> None:
        with suppress(HookTimeoutError):
            never.wait(PATIENCE)
        never.wait(PATIENCE)

    with pytest.raises(HookTimeoutError), in_time(0.01):
        wait()


def test_a_workspace_without_it_imports_nothing_of_it(client: Client) -> None:
    """Neither the hooks' part nor the system is loaded."""
    for event in ("session-start", "prompt", "stop", "session-end"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "app.main", "hook", event, "--now", NOW],
            cwd=client.root,
            env=client.environ,
            input=json.dumps({"session_id": "one", "prompt": "remember: nothing"}).encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        names = {line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()}
        assert b"app.hooks.run" in names
        assert not [name for name in names if b"curated" in name]
    assert not os.path.lexists(Path(client.environ["HOME"]) / ".agh")
