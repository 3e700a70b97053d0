"""Entries that a stale save brings back although they stand in their archive: they go once, and are told of."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import MemdeckError
from memory.maintenance import conservation, maintain, render
from memory.maintenance.report import Report
from memory.storage import fsio
from memory.storage.file_step import FileStep
from memory.workspace import Workspace

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
OLD = "### [NORMAL] Old one\n- completed: 2024-01-02\n"
TASKS = "---\ntype: task-list\n---\n## Pending\n\n## Completed\n\n"
JOURNAL = "---\ntype: activity-journal\n---\n"
DAY = "## 2024-01-02\n\n### 09:00 — Heartbeat\n- ok\n"
PLANS = "---\ntype: orchestration-state\n---\n## Active Plans\n\n## Completed Plans\n\n"
PLAN = "### Ship it\n- planId: orch-1\n- status: completed\n- completed: 2024-01-02\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the folder of a workspace without entries."""
    return Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state")[0].root


def _run(place: Path, now: datetime = NOW, *, dry_run: bool = False) -> Report:
    """Maintain as a process of its own would."""
    workspace = Workspace.open(place, state_home=place.parent / "state", machine_zone=UTC)
    try:
        return maintain(workspace, now, dry_run=dry_run)
    finally:
        workspace.store.history.close()


def _counts(report: Report, rule: int) -> tuple[int, int, int, int, int]:
    one = report.rules[rule]
    return one.before, one.kept, one.archived, one.cleared, one.returned


CASES = [
    ("tasks.md", TASKS + OLD, "archive/tasks-2024-01.md", b"### [NORMAL] Old one\n", 0),
    ("journal.md", JOURNAL + DAY, "archive/journal-2024-01.md", "### 09:00 — Heartbeat\n".encode(), 1),
    ("orchestration.md", PLANS + PLAN, "archive/orchestration-2024-01.md", b"### Ship it\n", 3),
]


@pytest.mark.parametrize(("name", "text", "archive", "line", "rule"), CASES, ids=[case[0] for case in CASES])
def test_what_a_stale_save_brings_back_is_archived_once(
    place: Path, name: str, text: str, archive: str, line: bytes, rule: int
) -> None:
    """It goes from its file, stands in the archive once, is counted and told of; the run behind it does nothing."""
    memory = place / ".aiter/memory"
    (memory / name).write_text(text)
    first = _run(place)
    assert (first.rules[rule].archived + first.rules[rule].cleared, first.rules[rule].returned) == (1, 0)
    stands = (memory / archive).read_bytes()
    for turn in range(1, 4):
        (memory / name).write_text(text)
        now = NOW + timedelta(hours=turn)
        dry = _run(place, now, dry_run=True)
        assert _counts(dry, rule) == (1, 0, 0, 0, 1)
        assert (memory / name).read_text() == text
        report = _run(place, now)
        assert _counts(report, rule) == (1, 0, 0, 0, 1)
        assert report.balanced
        assert line not in (memory / name).read_bytes()
        assert (memory / archive).read_bytes().count(line) == stands.count(line) == 1
        assert any("was archived already" in shown and archive in shown for shown in render(report))
        assert report.json()["rules"][rule]["returns"][0]["to"] == archive
        assert "1 entry that was archived already" in render(report)[-1]
        after = {path.name: path.read_bytes() for path in memory.rglob("*.md")}
        assert _counts(_run(place, now), rule) == (0, 0, 0, 0, 0)
        assert {path.name: path.read_bytes() for path in memory.rglob("*.md")} == after


@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize(("name", "text", "archive", "line", "rule"), CASES, ids=[case[0] for case in CASES])
def test_equal_twins_that_were_never_archived_both_are(
    place: Path, name: str, text: str, archive: str, line: bytes, rule: int, copies: int
) -> None:
    """Entries of the same bytes are counted, not folded: all are archived, and all that come back go again."""
    memory, head = place / ".aiter/memory", text.index("### ")
    twins = text[:head] + "\n".join([text[head:]] * copies)
    (memory / name).write_text(twins)
    assert _run(place).rules[rule].returned == 0
    assert (memory / archive).read_bytes().count(line) == copies
    (memory / name).write_text(twins + "\n" + text[head:])
    report = _run(place, LATER)
    assert (report.rules[rule].archived + report.rules[rule].cleared, report.rules[rule].returned) == (1, copies)
    assert (memory / archive).read_bytes().count(line) == copies + 1


ZONES = [
    ("UTC", "Asia/Tokyo", "2024-01-31T20:00:00Z", "2024-01"),
    ("Asia/Tokyo", "UTC", "2024-01-31T20:00:00Z", "2024-02"),
    ("Pacific/Kiritimati", "Etc/GMT+12", "2024-01-31T10:30:00Z", "2024-02"),
]


@pytest.mark.parametrize(("before", "after", "completed", "month"), ZONES, ids=[f"{one[0]} {one[1]}" for one in ZONES])
@pytest.mark.parametrize(
    ("name", "head", "line", "rule", "kind"),
    [
        ("tasks.md", TASKS, "### [NORMAL] Old one", 0, "tasks"),
        ("orchestration.md", PLANS, "### Ship it", 3, "orchestration"),
    ],
)
def test_another_zone_archives_nothing_twice(
    place: Path,
    name: str,
    head: str,
    line: str,
    rule: int,
    kind: str,
    before: str,
    after: str,
    completed: str,
    month: str,
) -> None:
    """What a stale save brings back stands in the archive of another month where the workspace had another zone."""
    memory = place / ".aiter/memory"
    entry = f"{line}\n- planId: orch-1\n- status: completed\n- completed: {completed}\n"
    config = memory / "config.md"
    text = config.read_text()
    assert "timezone" not in text
    config.write_text(text.replace("## Workspace\n\n", f"## Workspace\n\n- timezone: {before}\n"))
    (memory / name).write_text(head + entry)
    first = _run(place).rules[rule]
    assert first.archived + first.cleared == 1
    assert (memory / f"archive/{kind}-{month}.md").read_text().count(line) == 1
    config.write_text(text.replace("## Workspace\n\n", f"## Workspace\n\n- timezone: {after}\n"))
    (memory / name).write_text(head + entry + "\n" + entry)
    report = _run(place, LATER)
    assert _counts(report, rule)[:2] == (2, 0)
    assert (report.rules[rule].returned, report.balanced) == (1, True)
    assert report.json()["rules"][rule]["returns"][0]["to"] == f"archive/{kind}-{month}.md"
    # The second copy was never archived, and is, once.
    assert sum(path.read_text().count(line) for path in (memory / "archive").iterdir()) == 2
    assert line not in (memory / name).read_text()


def test_equal_entries_that_the_cap_parts_are_both_archived(place: Path) -> None:
    """The oldest over a number may be one of two equal ones; the other was never archived, and is not thrown away."""
    memory = place / ".aiter/memory"
    day = "## 2024-05-31\n\n" + "### Heartbeat\n- ok\n\n" * 6
    (memory / "journal.md").write_text(JOURNAL + day)
    config = memory / "config.md"
    text = config.read_text()
    assert "maxJournalEntries: 500" in text
    archive = memory / "archive/journal-2024-05.md"
    for most, stands in ((5, 1), (3, 3), (2, 4)):
        config.write_text(text.replace("maxJournalEntries: 500", f"maxJournalEntries: {most}"))
        assert [rule.returned for rule in _run(place).rules] == [0, 0, 0, 0]
        assert archive.read_text().count("### Heartbeat") == stands
        assert (memory / "journal.md").read_text().count("### Heartbeat") == most
    # One that another program brings back is one too many, and only one.
    (memory / "journal.md").write_text((memory / "journal.md").read_text() + "\n### Heartbeat\n- ok\n")
    assert _counts(_run(place, LATER), 2) == (3, 2, 0, 0, 1)
    assert archive.read_text().count("### Heartbeat") == 4


def test_an_entry_that_differs_is_no_copy(place: Path) -> None:
    """What was changed since it was archived is another entry: both texts are kept."""
    memory = place / ".aiter/memory"
    (memory / "tasks.md").write_text(TASKS + OLD)
    _run(place)
    (memory / "tasks.md").write_text(TASKS + OLD + "- outcome: done again\n")
    assert _counts(_run(place, LATER), 0) == (1, 0, 1, 0, 0)
    assert (memory / "archive/tasks-2024-01.md").read_text().count("### [NORMAL] Old one") == 2


@pytest.mark.parametrize("ends", ["\n\n\n", "", "   \n", "\n<!-- end -->\n"])
def test_blank_lines_and_line_ends_make_no_other_entry(place: Path, ends: str) -> None:
    """What stands behind an entry in one file or the other does not count, unless it is text."""
    memory = place / ".aiter/memory"
    (memory / "tasks.md").write_text(TASKS + OLD)
    _run(place)
    (memory / "tasks.md").write_text(TASKS + OLD.rstrip("\n") + ends)
    report = _run(place, LATER)
    assert report.rules[0].returned == ("<" not in ends and "   " not in ends)
    assert report.rules[0].archived == 1 - report.rules[0].returned


def test_it_is_found_in_the_history_and_comes_back_by_an_undo(place: Path) -> None:
    """What was taken out is one change of maintenance, which can be taken back."""
    memory = place / ".aiter/memory"
    (memory / "tasks.md").write_text(TASKS + OLD)
    _run(place)
    (memory / "tasks.md").write_text(TASKS + OLD)
    _run(place, LATER)
    workspace = Workspace.open(place, state_home=place.parent / "state")
    assert "archived already" in workspace.store.history.list(1)[0].summary
    workspace.undo(actor="maintain", now=LATER)
    assert "Old one" in (memory / "tasks.md").read_text()


def test_the_second_reader_lets_nothing_go_that_does_not_stand_there() -> None:
    """It wants the copy in the archive, before and after, as often, and the number that the rule tells."""
    from tests.memory.maintenance.test_conserve import Count

    source, empty = (TASKS + OLD).encode(), TASKS.encode()
    archive = b"---\ntype: task-archive\n---\n## Completed\n\n" + OLD.encode()
    name = "archive/tasks-2024-01.md"
    before, after = {"tasks.md": source, name: archive}, {"tasks.md": empty, name: archive}
    good = Count("archive-completed-tasks", "tasks.md", 1, 0, 0, 0, 1)
    assert conservation.imbalances(before, after, [good]) == []
    bad = Count("archive-completed-tasks", "tasks.md", 1, 0, 1)
    none = archive.replace(OLD.encode(), b"")
    for wrong_before, wrong_after, rule in (
        (before, after, bad),
        ({"tasks.md": source}, {"tasks.md": empty}, good),
        ({"tasks.md": source, name: none}, {"tasks.md": empty, name: none}, good),
        (before, {"tasks.md": empty, name: none}, good),
        ({"tasks.md": (TASKS + OLD * 2).encode(), name: archive}, after, good),
        ({"tasks.md": source, name: archive.replace(b"01-02", b"01-03")}, after, good),
    ):
        assert conservation.imbalances(wrong_before, wrong_after, [rule])
    with pytest.raises(MemdeckError, match=r"maintenance\.unbalanced"):
        conservation.verify(before, after, [bad])


@pytest.mark.parametrize("moment", ["check", "verify"])
@pytest.mark.parametrize("goes", [True, False], ids=["removed", "rewritten"])
def test_an_archive_that_goes_in_that_very_moment_takes_nothing_with_it(
    place: Path, monkeypatch: pytest.MonkeyPatch, moment: str, goes: bool
) -> None:
    """What came back stays where another program removes or rewrites the archive, one without front matter too."""
    memory = place / ".aiter/memory"
    archive = memory / "archive/tasks-2024-01.md"
    archive.parent.mkdir(exist_ok=True)
    archive.write_text("## Completed\n\n" + OLD)
    (memory / "tasks.md").write_text(TASKS + OLD)
    right = getattr(FileStep, moment)
    came: list[FileStep] = []

    def at_this_moment(step: FileStep) -> object:
        found: object = right(step)
        if not came and step.shown.endswith("/tasks.md"):
            came.append(step)
            archive.unlink() if goes else archive.write_text("## Completed\n")
        return found

    monkeypatch.setattr(FileStep, moment, at_this_moment)
    _run(place)
    assert came
    files = [path.read_bytes().count(b"### [NORMAL] Old one\n") for path in memory.rglob("*.md")]
    assert sum(files) == 1


def test_an_archive_of_another_program_is_on_the_disk_before_anything_goes(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came back goes once the copy in the archive is synced: a power cut must not take both."""
    memory = place / ".aiter/memory"
    archive = memory / "archive/tasks-2024-01.md"
    archive.parent.mkdir(exist_ok=True)
    archive.write_text("## Completed\n\n" + OLD)
    (memory / "tasks.md").write_text(TASKS + OLD)
    synced: list[bool] = []
    right = fsio.sync

    def sync(fd: int) -> None:
        if os.fstat(fd).st_ino == archive.stat().st_ino:
            synced.append(b"Old one" in (memory / "tasks.md").read_bytes())
        right(fd)

    monkeypatch.setattr(fsio, "sync", sync)
    _run(place)
    assert synced == [True]
    assert b"Old one" not in (memory / "tasks.md").read_bytes()
