"""Secrets are told when they are written and found by a check; what was found is shown nowhere."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory.base.secrets import find_secrets
from memory.files.check import check_files
from memory.files.tasks.operations import add_task, done_task
from memory.workspace import Workspace
from tests.examples import examples

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
SECRET = "hunter2"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace made from the templates."""
    return Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC)[0]


def test_writing_one_is_told(workspace: Workspace) -> None:
    """The change is made, and the sentence names file, line and kind, never the secret."""
    outcome = workspace.change(
        "tasks.add",
        lambda snapshot: add_task(snapshot, "Log in", notes=f"password: {SECRET}", now=NOW),
        actor="cli",
        now=NOW,
    )
    (said,) = outcome.secrets
    name, line = said.split(" ")[0].split(":")
    assert SECRET in (workspace.memory / name).read_text().splitlines()[int(line) - 1]
    assert SECRET not in said
    assert "password or token" in said
    (problem,) = [one for one in check_files(workspace.snapshot()) if one.code == "secret.found"]
    assert (problem.level, problem.file, problem.line) == ("warning", "tasks.md", int(line))
    assert SECRET not in problem.message


def test_only_what_is_new_is_told(workspace: Workspace) -> None:
    """Moving an entry, or changing another one, says nothing again."""
    workspace.change(
        "tasks.add",
        lambda snapshot: add_task(snapshot, "Log in", notes=f"password: {SECRET}", now=NOW),
        actor="cli",
        now=NOW,
    )
    moved = workspace.change(
        "tasks.done", lambda snapshot: done_task(snapshot, "Log in", outcome=None, now=NOW), actor="cli", now=NOW
    )
    assert moved.change.files
    assert moved.secrets == ()
    other = workspace.change("tasks.add", lambda snapshot: add_task(snapshot, "Other", now=NOW), actor="cli", now=NOW)
    assert other.secrets == ()


_SECRET_LINES = [
    f"- notes: password: {SECRET}",
    "- token: abc123xyz",
    "- key",
    "api_",
    "api key: abc123xyz0",
    "key: abc123xyz0",
    "sk-abc123456",
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi1234567890abcdefABCDEF",
    "-----END RSA PRIVATE KEY-----",
    "url: https://ann:s3cretpass@db.example/x",
    "Authorization: Bearer abc.def123456",
    "### AKIAIOSFODNN7EXAMPLE",
    "### password: hunter3",
    "password: hunter3",
]
_PLAIN_LINES = ["", "### ", "### a", "## A", "## B", "- x: y", "```", "über", "\udc80", "password:", "hunter2 7"]
_line = st.sampled_from([*_SECRET_LINES, *_PLAIN_LINES])


@settings(max_examples=examples(300))
@given(lines=st.lists(_line | st.text(max_size=30), max_size=8))
def test_no_secret_goes_beyond_its_line(lines: list[str]) -> None:
    """What is found in lines one by one is what is found in all of them: moved lines may be left out by lines."""
    text = "\n".join(lines)
    assume("PRIVATE KEY" not in text and "\\\n" not in text)  # A key has many lines, and so may a command.
    alone: list[str] = []
    for line in text.split("\n"):
        alone += [line[one.start : one.end] for one in find_secrets(line)]
    assert [text[one.start : one.end] for one in find_secrets(text)] == alone
