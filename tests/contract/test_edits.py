"""Bytes on disk: an edit changes the lines that it means, however the file is dressed; undo gives the bytes back."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable

import pytest

from tests.contract.place import Place
from tests.examples import in_turn
from tests.fixture_files import sample, sample_names

NOW = "2024-01-15T12:00:00Z"
FOLDER = ".aiter/memory/"

EDITS: dict[str, tuple[str, int, int]] = {
    "tasks add New --priority HIGH": ("tasks.md", 3, 1),
    "tasks add New --due 2024-02-01 --tag a --tag b": ("tasks.md", 6, 1),
    "tasks edit Deploy --set notes=short": ("tasks.md", 1, 1),
    "tasks edit Deploy --set due=2024-01-16": ("tasks.md", 1, 1),
    "tasks edit Deploy --set assigned=ada": ("tasks.md", 1, 1),
    "tasks edit Deploy --set priority=LOW": ("tasks.md", 9, 9),
    "tasks edit Deploy --set owner=ada": ("tasks.md", 1, 0),
    "tasks edit Deploy --unset notes": ("tasks.md", 0, 1),
    "tasks edit Deploy --unset action": ("tasks.md", 0, 1),
    "tasks progress latency 60": ("tasks.md", 1, 1),
    "tasks remove README": ("tasks.md", 0, 6),
    "tasks start README": ("tasks.md", 8, 6),
    "tasks done latency --outcome fine": ("tasks.md", 10, 8),
    "tasks reopen pipeline": ("tasks.md", 8, 7),
    "journal add Note --line one --line two": ("journal.md", 4, 0),
    "journal add Note --at 2024-01-14T18:00": ("journal.md", 2, 0),
    "journal add Note --at 2023-12-31T18:00": ("journal.md", 4, 0),
    "journal edit Heartbeat --title Pulse": ("journal.md", 1, 1),
    "journal remove Heartbeat": ("journal.md", 0, 5),
    "knowledge add 'A new fact' --section 'Technical Facts'": ("knowledge.md", 1, 0),
    "knowledge remove TailwindCSS": ("knowledge.md", 0, 1),
    "contacts add person Dora --set role=QA": ("contacts.md", 1, 0),
    "contacts remove Carol": ("contacts.md", 0, 1),
    "monitors add Disk2 --type command --command true": ("monitors.md", 4, 0),
    "monitors edit 'Disk Space' --set threshold='value > 95'": ("monitors.md", 1, 1),
    "monitors remove 'Disk Space'": ("monitors.md", 0, 10),
    "config set pruneJournalAfterDays 60": ("config.md", 1, 1),
    "config set maxJournalEntries 400": ("config.md", 1, 1),
    "config unset maxJournalEntries": ("config.md", 0, 1),
}
"""A verb, its file, and the most lines that it may add and remove there, besides two blank ones."""

DRESSES: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "no last newline": lambda data: data.rstrip(b"\n"),
    "trailing blanks": lambda data: data.replace(b"\n## ", b"\n\n\n## ") + b"\n\n",
}


@pytest.mark.thorough(but=in_turn([*EDITS], [*DRESSES]))
@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("line", EDITS)
def test_an_edit_changes_its_lines_and_undo_takes_them_back(place: Place, line: str, dress: str) -> None:
    """Every other byte stays, in every file; `undo` gives the bytes of before, `redo` those of after."""
    before = {name: DRESSES[dress](sample(name)) for name in sample_names()}
    for name, data in before.items():
        place.write(FOLDER + name, data)
    name, most_added, most_removed = EDITS[line]
    answer = place(*shlex.split(line), now=NOW)
    assert answer.code == 0, answer
    after = {name: place.read(FOLDER + name) for name in before}
    assert {other for other in before if after[other] != before[other]} <= {name, "journal.md"}
    added, removed = _difference(before[name], after[name])
    assert len(added) <= most_added + 2, added
    assert len(removed) <= most_removed + 2, removed
    end = b"\r\n" if dress == "crlf" else b"\n"
    assert all(one.endswith(end) for one in after[name].splitlines(keepends=True)[:-1])
    assert after[name].startswith(b"\xef\xbb\xbf") == (dress == "bom")
    assert place("check", now=NOW).code == 0
    assert place("undo", now=NOW).code == 0
    assert {name: place.read(FOLDER + name) for name in before} == before
    assert place("redo", now=NOW).code == 0
    assert {name: place.read(FOLDER + name) for name in before} == after


def _difference(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that came and those that went, without the time of the change."""
    old, new = (
        [one for one in data.splitlines(keepends=True) if not one.startswith(b"updated:")] for data in (before, after)
    )
    added, removed = [], []
    for tag, i, j, k, m in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[i:j]
            added += new[k:m]
    return added, removed


@pytest.mark.parametrize("dress", DRESSES)
def test_looking_writes_nothing(place: Place, dress: str) -> None:
    """No verb that only looks changes a byte of a memory file or makes one."""
    for name in sample_names():
        place.write(FOLDER + name, DRESSES[dress](sample(name)))
    before = {path: path.read_bytes() for path in sorted(place.work.rglob("*.md"))}
    for line in (
        "status",
        "check",
        "tasks list --section all",
        "journal list",
        "knowledge list",
        "contacts list",
        "orchestration list",
        "monitors list",
        "config list",
        "config get maxJournalEntries",
        "search redis",
        "changes list",
        "trust list",
        "prompt",
        "archive --dry-run",
        "prune --dry-run",
        "--maintain --dry-run --no-exec",
        "review list",
    ):
        answer = place(*shlex.split(line), "-o", "json", now=NOW)
        assert answer.code == 0, (line, answer)
        assert answer.data is not None
    assert {path: path.read_bytes() for path in sorted(place.work.rglob("*.md"))} == before
