"""Secrets: they are recognised, masked where sessions and failures are kept, and never leave the host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.place import NOW, Place
from tests.postgres import cluster, database

__all__ = ["cluster", "database"]

TOKEN = "ghp_a1B2c3D4e5F6a7B8c9D0a1B2c3D4e5F6a7B8"
AWS = "AKIAIOSFODNN7EXAMPL2"
BODY = ["MIIEowIBAAKCAQ", "short line", "Zm9vYmFy"]
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(BODY) + "\n-----END RSA PRIVATE KEY-----"


def holding(folder: Path, words: list[str]) -> list[tuple[str, str]]:
    """Return the files below a folder that hold one of some words, with the word."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [(str(path), word) for path in files for word in words if word.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("deploy with curl -u user:secret https://example.com", True),
        ("deploy with curl --user admin:hunter2xyz https://example.com", True),
        ("log in by -u admin:hunter2xyz", True),
        ("send Authorization: Bearer abcdefgh", True),
        ("run docker run -u 1000:1000 image", False),
        ("commit 060467aa0123456789abcdef0123456789abcdef", False),
        ("id 550e8400-e29b-41d4-a716-446655440000", False),
        ("we use sk-learn", False),
        ("password: ask Alice", False),
        ("see /home/ada/Projects/Shop1/Main", False),
        ("send Authorization: Bearer $TOKEN", True),
        ("Bearer x", True),
        ("token: x", True),
        ("the password: correct-horse", True),
        ("password: letmein please", True),
        ("token: expires after an hour", False),
        ("use a Bearer token", False),
        ("password: <PASSWORD>", False),
    ],
)
def test_what_is_a_secret(workspace: Place, text: str, secret: bool) -> None:
    """Facts refuse logins of commands and authorization headers, and none of what only looks like one."""
    answer = workspace("facts", "store", text)
    assert ("contain a secret" in answer.out + answer.err) is secret, answer


def test_secrets_are_masked_where_sessions_and_failures_are_kept(workspace: Place) -> None:
    """Neither files nor answers of failures, sessions, ledgers and logs hold a token, or a line of a private key."""
    assert workspace("curated", "write", "--type", "project", "--name", "First", "--content", "a pilot").code == 0
    bad = json.dumps({"type": "nonsense", "content": f"token = {TOKEN}"})
    workspace.write(".agh/memory/_inbox/s/1.jsonl", f"{bad}\n".encode() + f'{{"token = {TOKEN}\xff'.encode("latin-1"))
    assert workspace.json("curated", "extractor", "drain")["failed"] == 2
    rows = [{"event_type": "user_message", "content": text} for text in (f"token = {TOKEN}", f"the key:\n{KEY}\nends")]
    given = "".join(json.dumps(row) + "\n" for row in rows)
    assert workspace("curated", "session", "append", "s1", "--content", "-", given=given).code == 0
    assert workspace("curated", "session", "end", "s1").code == 0
    message = json.dumps({"session_id": "s2", "cwd": str(workspace.work), "prompt": f"use\n{KEY}\nand {TOKEN}"})
    assert workspace("hook", "prompt", "--now", NOW, now=None, given=message, process=True).code == 0
    assert list(workspace.home.glob(".agh/sessions/*/s2/events.jsonl"))
    answers = [
        workspace("curated", "extractor", "list-pending", "-o", "json").out,
        workspace("curated", "session", "ledger", "s1", "-o", "json").out,
        workspace("curated", "session", "replay", "s1", "-o", "json").out,
        workspace("curated", "daily", "show", "2026-03-02", "-o", "json").out,
        workspace("curated", "history", "-o", "json").out,
    ]
    assert "[private key]" in answers[1]
    assert not [word for word in (TOKEN, *BODY) for answer in answers if word in answer]
    assert holding(workspace.work / ".agh/memory", [TOKEN, *BODY]) == []
    assert holding(workspace.home, [TOKEN, *BODY]) == []


def test_a_secret_that_only_its_key_names_is_masked(workspace: Place) -> None:
    """In the content of an event `{"password": …}` is a secret like `password: …` in a text; so is a token as a key."""
    contents = [
        {"deep": [{"password": "Hunter2xyz"}]},
        {"headers": {"Authorization": "Bearer Hunter2xyz"}},
        {TOKEN: "value"},
        {"user": "ada", "note": "plain words"},
    ]
    rows = [{"event_type": "user_message", "agent_name": TOKEN, "content": one} for one in contents]
    given = "".join(json.dumps(row) + "\n" for row in rows)
    assert workspace("curated", "session", "append", "s1", "--content", "-", given=given).code == 0
    assert workspace("curated", "session", "end", "s1").code == 0
    texts = [path.read_text() for path in workspace.home.glob(".agh/sessions/*/s1/*")]
    assert texts
    for text in texts:
        assert "Hunter2xyz" not in text
        assert TOKEN not in text
    assert any("plain words" in text for text in texts)


def test_secrets_in_tags_and_keys_do_not_leave_the_host(workspace: Place, database: str) -> None:
    """No row of the catalogue has a secret of a tag or a line of a private key, whatever is published."""
    import psycopg

    tasks = workspace.read(".aiter/memory/tasks.md").decode()
    task = f"### [HIGH] Mend the pier\n- created: 2026-03-01 09:00\n- tags: wood, {AWS}, {TOKEN}\n\n{KEY}\n\n"
    workspace.write(".aiter/memory/tasks.md", tasks.replace("## Pending\n", f"## Pending\n\n{task}", 1))
    assert workspace("fleet", "init", "--database", database).code == 0
    words = [AWS, TOKEN, TOKEN.replace("_", ""), *BODY]
    for mode in ("full", "names"):
        added = workspace("fleet", "add", str(workspace.work), "--publish", mode)
        assert added.code == 0, added
        done = workspace("fleet", "agent", "--once", "--database", database, process=True)
        assert done.code == 0, done
        with psycopg.connect(database) as connection:
            entries = str(connection.execute("SELECT * FROM memdeck.entry").fetchall())
        assert "Mend the pier" in entries
        assert "'wood'" in entries
        assert not [word for word in words if word.casefold() in entries.casefold()]


def test_the_name_of_the_home_folder_is_in_no_file_of_the_project(place: Place) -> None:
    """Sessions of a client are imported without the folder's name that encodes the path of the repository."""
    encoded = "".join(char if char.isalnum() else "-" for char in str(place.work))
    home = "".join(char if char.isalnum() else "-" for char in str(place.home))
    place.write("README.md", "# Shop\n")
    assert place("state", "init").code == 0
    sessions = place.home / ".claude"
    file = sessions / "projects" / encoded / "s1.jsonl"
    file.parent.mkdir(parents=True)
    said = f"GOTCHA: the notes of {home}-shop and ~/.claude/projects/-home-ada-shop/x.jsonl are lost"
    row = {"type": "user", "sessionId": "s1", "cwd": str(place.work), "message": {"role": "user", "content": said}}
    file.write_text(json.dumps(row) + "\n")
    added = place("state", "add", "--type", "claude-local", "--path", str(sessions))
    assert added.code == 0, added
    assert place("state", "sync", "--all").code == 0
    assert place("state", "recall", "--yes").code == 0
    assert b"are lost" in place.read("docs/agent-memory/gotchas.md")
    found = holding(place.work, [encoded, home, "-home-ada"])
    assert found == []
