"""A change that is made is told as one, whatever another program or the machine does right behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.cli.session import Session
from app.main import run
from memory.storage.transaction import Transaction
from tests.app.cli.conftest import HOUSE, Answer

Memdeck = Callable[..., Answer]

CHANGES: tuple[Sequence[str], ...] = (
    ("tasks", "add", "Quite new"),
    ("tasks", "edit", "Deploy v2.1", "--set", "notes=new"),
    ("tasks", "start", "Deploy v2.1"),
    ("tasks", "done", "Deploy v2.1"),
    ("tasks", "remove", "Deploy v2.1"),
    ("journal", "add", "Quite new", "--line", "a line"),
    ("knowledge", "add", "Quite new", "--section", "Technical Facts"),
    ("contacts", "add", "person", "Quite New", "--set", "role=QA"),
    ("monitors", "add", "Quite new", "--type", "command", "--command", "true"),
    ("config", "set", "pruneJournalAfterDays", "60"),
    ("facts", "store", "Quite new"),
    ("prune",),
    ("archive",),
    ("--maintain", "--no-exec"),
)
"""Verbs that change a file, of all kinds."""


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return a function that lets something happen right behind every commit, as another program would."""

    def then(act: Callable[[], object]) -> None:
        real = Transaction.commit

        def commit(self: Transaction, summary: str = "") -> object:
            change = real(self, summary)
            if change.files:
                act()
            return change

        monkeypatch.setattr(Transaction, "commit", commit)

    return then


@pytest.mark.parametrize("words", CHANGES, ids=" ".join)
@pytest.mark.parametrize("how", ["replaced", "in place", "removed", "link"])
@pytest.mark.parametrize("form", ["human", "json"])
def test_a_stale_save_behind_a_commit_makes_no_failure(
    memdeck: Memdeck,
    memory: Path,
    behind: Callable[[Callable[[], object]], None],
    words: Sequence[str],
    how: str,
    form: str,
) -> None:
    """Another program saves what it had read before: the answer is about what was committed, with exit code 0."""
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}

    def save() -> None:
        for path, data in before.items():
            if how == "in place":
                path.write_bytes(data)
                continue
            path.unlink()
            if how == "replaced":
                path.write_bytes(data)
            elif how == "link":
                path.symlink_to("/nowhere")

    behind(save)
    answer = (
        memdeck("-o", form, *words, now="2024-06-01T12:00:00Z")
        if words[0].startswith("--")
        else memdeck(*words, "-o", form, now="2024-06-01T12:00:00Z")
    )
    assert (answer.code, "not_found" in answer.err) == (0, False), answer.err
    if form == "json":
        assert "error" not in answer.data
    assert any(record.files for record in _log(memory))


def _log(memory: Path) -> list[object]:
    from memory.workspace import Workspace

    workspace = Workspace.open(memory, state_home=Path(os.environ["XDG_STATE_HOME"]))
    return list(workspace.store.history.list(5))


@pytest.mark.parametrize("form", ["human", "json"])
def test_what_cannot_be_shown_is_made_all_the_same(shop: Path, form: str) -> None:
    """A full disk behind stdout is a warning once the change is made: whoever tries again would make it twice."""
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m app.main tasks add New -o {form} {redirection}"],
            cwd=shop,
            env=os.environ | {"PYTHONPATH": str(HOUSE)},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count(b"the change is made")) == (0, 1), done
    assert (shop / ".aiter/memory/tasks.md").read_text().count("] New\n") == 2


def test_a_run_that_cannot_close_has_its_answer(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that runs out where what was opened is closed, before anything there can guard itself, changes no code."""

    def close(_: Session) -> None:
        raise MemoryError

    monkeypatch.setattr(Session, "close", close)
    assert run(["tasks", "add", "Quite new"], Session()) == 0
    assert run(["tasks", "show", "Nowhere"], Session()) == 1
    assert "] Quite new\n" in (shop / ".aiter/memory/tasks.md").read_text()
