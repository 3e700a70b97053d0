"""Bytes that a program wrote to a file which a change had just displaced end up in the file."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from memory.files.tasks import edits as task_edits
from memory.maintenance.run import maintain, merge_late
from memory.workspace import Workspace
from tests.crash.calls import without_leases
from tests.crash.operations import NOW, Place, sample


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Make the sample workspace, in which one change was made."""
    found = Place(tmp_path)
    sample(found)
    return found


def _late(place: Place, old: bytes, new: bytes) -> Workspace:
    """Change the first task, and write to the file that this displaced; return the workspace that finds it."""
    workspace = place.workspace()
    workspace.store.settle = 60
    workspace.change(
        "edit", lambda s: task_edits.edit_task(s, "First of all", set={"notes": "ours"}, now=NOW), actor="cli", now=NOW
    )
    (displaced,) = (place.shop / ".aiter/.memdeck/stage").iterdir()
    data = displaced.read_bytes()
    assert old in data
    displaced.write_bytes(data.replace(old, new, 1))
    place.recover()
    return place.workspace()


def test_late_bytes_are_merged(place: Place) -> None:
    """A task that was added late and the change that was in its way are both there, once, and history says who."""
    workspace = _late(place, b"## Pending\n", b"## Pending\n\n### [LOW] Came late\n- created: 2024-01-16\n")
    assert len(workspace.store.kept()) == 1
    (late,) = merge_late(workspace, NOW)
    assert (late.file, late.why) == ("tasks.md", "")
    text = (workspace.memory / "tasks.md").read_text()
    assert text.count("### [LOW] Came late") == 1
    assert "- notes: ours" in text
    assert workspace.store.history.list(1)[0].actor == "outside"
    assert merge_late(workspace, NOW) == []
    assert place.leftovers() == []


def test_late_bytes_in_conflict_stay(place: Place) -> None:
    """Where both changed the same field nothing is written, and the bytes stay until a person looked."""
    workspace = _late(place, b"### [NORMAL] First of all\n", b"### [NORMAL] First of all\n- notes: theirs\n")
    before = (workspace.memory / "tasks.md").read_bytes()
    (late,) = merge_late(workspace, NOW)
    assert "notes" in late.why
    assert (workspace.memory / "tasks.md").read_bytes() == before
    assert [one.data is not None and b"theirs" in one.data for one in workspace.store.kept()] == [True]


def test_maintenance_merges_and_says_so(place: Place) -> None:
    """The run under cron takes in what came late, and warns of it."""
    workspace = _late(place, b"## Pending\n", b"## Pending\n\n### [LOW] Came late\n- created: 2024-01-16\n")
    report = maintain(workspace, NOW, actor="maintain")
    assert any("merged" in warning for warning in report.warnings)
    assert "Came late" in (workspace.memory / "tasks.md").read_text()


def test_late_lines_are_merged(tmp_path: Path) -> None:
    """A fact that a program added to the file which a delete had just displaced ends up among the others, once."""
    place = Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state")[0]
    facts = place.system("facts").store
    for text in ("one", "two"):
        facts.store(text, actor="cli", now=NOW)
    facts._store.settle = 60
    facts.delete("m-1", actor="cli", now=NOW)
    (displaced,) = (place.root / ".aegis/.memdeck/stage").iterdir()
    with open(displaced, "ab") as file:
        file.write(b'{"id":"m-9","text":"came late"}\n')
    place = Workspace.open(place.root, state_home=tmp_path / "state")
    facts = place.system("facts").store
    facts._store.settle = 0
    facts.store("three", actor="cli", now=NOW)
    (late,) = merge_late(place, NOW)
    assert (late.file, late.why) == (".aegis/memory/memories.jsonl", "")
    assert sorted(fact.text for fact in facts.read().facts) == ["came late", "three", "two"]
    assert merge_late(place, NOW) == []


def _written_late(place: Place, titles: tuple[str, ...]) -> list[Path]:
    """Change the notes of a task once for each title, and add a task of that title to what each change displaced."""
    stage, files = place.shop / ".aiter/.memdeck/stage", []
    known = set(stage.iterdir())
    workspace = place.workspace()
    workspace.store.settle = 60
    for title in titles:
        notes = f"before {title}"
        workspace.change(
            "edit",
            lambda s, n=notes: task_edits.edit_task(s, "First of all", set={"notes": n}, now=NOW),
            actor="cli",
            now=NOW,
        )
        (new,) = set(stage.iterdir()) - known
        known.add(new)
        files.append(new)
    for title, path in zip(titles, files, strict=True):
        if title:
            path.write_bytes(
                path.read_bytes().replace(b"## Pending\n", b"## Pending\n\n### [LOW] %b\n" % title.encode(), 1)
            )
    return files


@pytest.mark.parametrize("leases", [True, False])
@pytest.mark.parametrize("titles", [("", "Late A"), ("", "Late A", "", "Late B"), ("Late A", "", "Late B", "Late C")])
def test_late_bytes_behind_others_are_merged_at_the_next_start(
    place: Place, titles: tuple[str, ...], leases: bool
) -> None:
    """One maintenance takes in all that came late, also behind displaced files that stay for a day."""
    _written_late(place, titles)
    workspace = place.workspace()
    workspace.store.settle = 1e-9
    with nullcontext() if leases else without_leases():
        report = maintain(workspace, NOW, actor="maintain")
        wanted = [title for title in titles if title]
        assert sum("merged" in warning for warning in report.warnings) == len(wanted)
        text = (workspace.memory / "tasks.md").read_text()
        assert [text.count(f"### [LOW] {title}\n") for title in wanted] == [1] * len(wanted)
        assert f"- notes: before {titles[-1]}" in text
        again = place.workspace()
        again.store.settle = 1e-9
        assert maintain(again, NOW, actor="maintain").warnings == ()
    assert (workspace.memory / "tasks.md").read_text() == text


def test_what_comes_even_later_is_kept_for_a_person(place: Place) -> None:
    """Where nothing tells that a program is done, bytes behind those that were merged are neither lost nor doubled."""
    (path,) = _written_late(place, ("Late A",))
    with without_leases():
        for expected in ("merged", "more came after it was merged once"):
            workspace = place.workspace()
            workspace.store.settle = 1e-9
            warnings = maintain(workspace, NOW, actor="maintain").warnings
            assert [expected in warning for warning in warnings] == [True], warnings
            kept = path.with_name(path.name.removesuffix(".new").removesuffix(".old") + ".old.kept")
            with kept.open("ab") as file:
                file.write(b"\neven later\n")
        assert [one.data is not None and b"even later" in one.data for one in workspace.store.kept()] == [True]
    assert (place.shop / ".aiter/memory/tasks.md").read_text().count("### [LOW] Late A\n") == 1
