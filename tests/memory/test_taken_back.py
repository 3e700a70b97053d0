"""What saves of other programs took back of memdeck's changes: told from what they meant to do, and brought back."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from memory.document import nodes, parse
from memory.document.compare import Unit, compare, compare_lines, lines_of
from memory.document.lines import FieldValues, read_fields
from memory.errors import ConflictError
from memory.facts import FactStore
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import add_task, edit_task, remove_task
from memory.history.changes import list_changes
from memory.history.stale_saves import bring_back_chosen, leave, revert_change, undone_changes
from memory.history.versions import restore_version
from memory.storage.changes import ChangeRecord, Touched
from memory.storage.log.stale_saves import Regions, Save, StaleSave, taken_back
from memory.workspace import Workspace
from tests.growth import assert_in_proportion

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TASKS = (
    "---\ntype: task-list\nupdated: 2024-01-14T09:00:00Z\n---\n\n## Pending\n\n### [LOW] Old\n- created: 2024-01-14\n"
)
THEIRS = "## Pending\n\n### [NORMAL] Theirs\n- created: 2024-01-15 10:30\n"
Build = Callable[[Workspace, datetime], object]


def workspace_in(folder: Path, tasks: str = TASKS, config: str = "") -> Workspace:
    """A workspace with one task, which was looked at once."""
    files = {"tasks.md": tasks, "config.md": config or "## Workspace\n"}
    made = Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=files
    )
    made[0].notice(NOW)
    return made[0]


def add(workspace: Workspace, title: str, minute: int) -> str:
    """Add a task so many minutes later; return the id of the change."""
    at = NOW + timedelta(minutes=minute)
    return workspace.change("add", lambda s: add_task(s, title, now=at), actor="cli", now=at).change.id


def save(workspace: Workspace, text: str, minute: int = 30) -> None:
    """Save tasks.md as another program does, and look."""
    (workspace.memory / "tasks.md").write_text(text)
    workspace.notice(NOW + timedelta(minutes=minute))


def titles(workspace: Workspace) -> list[str]:
    """Return the titles of all tasks, in their order."""
    return [task.title for task in workspace.snapshot().tasks]


def waiting(workspace: Workspace) -> list[tuple[str, ...]]:
    """Return the titles of what waits, for each save."""
    return [one.titles for one in undone_changes(workspace)]


def test_an_entry_in_the_place_of_ours_is_no_edit_of_it(tmp_path: Path) -> None:
    """The log lists ours as removed and theirs as added, the history of ours ends with that, and it is offered."""
    with workspace_in(tmp_path) as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        ours = add(workspace, "Ours", 1)
        save(workspace, old.replace("## Pending\n", THEIRS))
        (found,) = list_changes(workspace, actor="outside")
        assert [(one.kind, one.title) for one in found.touched] == [
            ("removed", "[NORMAL] Ours"),
            ("added", "[NORMAL] Theirs"),
        ]
        assert [one.id for one in list_changes(workspace, entry="Ours")] == [found.id, ours]
        (one,) = undone_changes(workspace)
        assert (one.id, one.titles, one.files, one.whole) == (found.id, ("Ours",), ("tasks.md",), True)
        assert [(part.change, part.kind) for part in one.parts] == [(ours, "added")]


def test_reverting_brings_back_ours_and_leaves_theirs(tmp_path: Path) -> None:
    """Undoing that offers it again, and what came by another way is offered no more."""
    with workspace_in(tmp_path) as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        add(workspace, "Ours", 1)
        save(workspace, old.replace("## Pending\n", THEIRS))
        (one,) = undone_changes(workspace)
        later = NOW + timedelta(hours=1)
        done = revert_change(workspace, one.id, actor="cli", now=later)
        assert (done.summary, sorted(titles(workspace))) == ("brought back 'Ours'", ["Old", "Ours", "Theirs"])
        assert waiting(workspace) == []
        workspace.undo(actor="cli", now=later)
        assert (waiting(workspace), sorted(titles(workspace))) == ([("Ours",)], ["Old", "Theirs"])
        restore_version(workspace, one.parts[0].change, "Ours", actor="cli", now=later, after=True)
        assert waiting(workspace) == []
        with pytest.raises(ConflictError):
            revert_change(workspace, one.id, actor="cli", now=later)
        assert sorted(titles(workspace)) == ["Old", "Ours", "Theirs"]


def _deleted(workspace: Workspace, text: str) -> str:
    start, end = text.index("### [NORMAL] Ours"), text.index("### [LOW] Old")
    return text[:start] + text[end:]


def _renamed(workspace: Workspace, text: str) -> str:
    return text.replace("[NORMAL] Ours", "[NORMAL] Ours too")


def _gone_on(workspace: Workspace, text: str) -> str:
    add(workspace, "Newest", 2)
    newer = (workspace.memory / "tasks.md").read_text()
    return _deleted(workspace, newer) if "Ours" in text else newer


def _moved(workspace: Workspace, text: str) -> str:
    start, end = text.index("### [NORMAL] Ours"), text.index("### [LOW] Old")
    return text[:start] + text[end:] + "\n## In Progress\n\n" + text[start:end]


@pytest.mark.parametrize("meant", [_deleted, _renamed, _gone_on, _moved])
def test_what_a_program_meant_to_do_is_not_offered(tmp_path: Path, meant: Callable[[Workspace, str], str]) -> None:
    """Whoever saw our newest change and takes an entry out, renames or moves it has not saved an old copy."""
    with workspace_in(tmp_path) as workspace:
        add(workspace, "Ours", 1)
        save(workspace, meant(workspace, (workspace.memory / "tasks.md").read_text()))
        assert len(list_changes(workspace, actor="outside")) == 1
        assert waiting(workspace) == []


def _twice(workspace: Workspace) -> None:
    for minute, note in ((1, "one"), (2, "two"), (3, "three")):
        at = NOW + timedelta(minutes=minute)
        build = lambda s, n=note, t=at: edit_task(s, "Old", set={"notes": n}, now=t)  # noqa: E731
        workspace.change("edit", build, actor="cli", now=at)


def _and_undone(workspace: Workspace) -> None:
    add(workspace, "Ours", 1)
    add(workspace, "Not meant", 2)
    workspace.undo(actor="cli", now=NOW + timedelta(minutes=3))


def _removed(workspace: Workspace) -> None:
    at = NOW + timedelta(minutes=1)
    workspace.change("remove", lambda s: remove_task(s, "Old", now=at), actor="cli", now=at)


@pytest.mark.parametrize(
    ("made", "lost"),
    [(_twice, ("Old",)), (_and_undone, ("Ours",)), (_removed, ("Old",))],
    ids=["edits", "undo", "removal"],
)
def test_a_copy_from_before_several_changes_is_known(
    tmp_path: Path, made: Callable[[Workspace], None], lost: tuple[str, ...]
) -> None:
    """However many changes of ours lie between reading and saving, all that they did is one offer, and comes back."""
    with workspace_in(tmp_path) as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        made(workspace)
        ours = {(task.title, task.notes) for task in workspace.snapshot().tasks}
        save(workspace, old.replace("## Pending\n", THEIRS))
        assert waiting(workspace) == [lost]
        revert_change(workspace, undone_changes(workspace)[0].id, actor="cli", now=NOW + timedelta(hours=1))
        assert {(task.title, task.notes) for task in workspace.snapshot().tasks} == {*ours, ("Theirs", None)}


def test_what_both_changed_waits_for_a_choice(tmp_path: Path) -> None:
    """An entry that the save changed in another field comes back merged, and never by itself."""
    with workspace_in(tmp_path, config="## Workspace\n- reapplyUndone: true\n") as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        at = NOW + timedelta(minutes=1)
        workspace.change("edit", lambda s: edit_task(s, "Old", set={"notes": "ours"}, now=at), actor="cli", now=at)
        save(workspace, old.replace("### [LOW] Old\n", "### [LOW] Old\n- assigned: theirs\n"))
        assert bring_back_chosen(workspace, at) == ()
        (one,) = undone_changes(workspace)
        assert not one.whole
        revert_change(workspace, one.id, actor="cli", now=at)
        (task,) = workspace.snapshot().tasks
        assert (task.notes, task.assigned) == ("ours", "theirs")


@pytest.mark.parametrize(("config", "back"), [("- reapplyUndone: true\n", 1), ("- reapplyUndone: false\n", 0), ("", 0)])
def test_it_comes_back_by_itself_where_that_was_chosen(tmp_path: Path, config: str, back: int) -> None:
    """Once: what a person undid stays undone, and waits again."""
    with workspace_in(tmp_path, config=f"## Workspace\n{config}") as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        add(workspace, "Ours", 1)
        save(workspace, old.replace("## Pending\n", THEIRS))
        later = NOW + timedelta(hours=1)
        done = bring_back_chosen(workspace, later)
        assert (len(done), "Ours" in titles(workspace)) == (back, bool(back))
        for change in done:
            revert_change(workspace, change.id, actor="cli", now=later)
        assert waiting(workspace) == [("Ours",)]
        assert bring_back_chosen(workspace, later) == () or not config


def test_what_is_left_so_is_offered_no_more(tmp_path: Path) -> None:
    """The change stays in the log, and can be taken back as a whole like any other."""
    with workspace_in(tmp_path) as workspace:
        old = (workspace.memory / "tasks.md").read_text()
        add(workspace, "Ours", 1)
        save(workspace, old.replace("## Pending\n", THEIRS))
        (one,) = undone_changes(workspace)
        assert leave(workspace, one.id) == one
        assert waiting(workspace) == []
        with pytest.raises(ConflictError) as caught:
            leave(workspace, one.id)
        assert caught.value.code == "change.nothing_taken"
        revert_change(workspace, one.id, actor="cli", now=NOW + timedelta(hours=1))
        assert sorted(titles(workspace)) == ["Old", "Ours"]


def test_lines_of_other_systems_come_back_too(tmp_path: Path) -> None:
    """A fact that a stale save took out of the file stands in it again, beside the line that the save put there."""
    with workspace_in(tmp_path) as workspace:
        store: FactStore = workspace.system("facts").store
        store.store("The first fact is here", actor="cli", now=NOW)
        path = workspace.root / ".aegis/memory/memories.jsonl"
        old = path.read_bytes()
        store.store("The second fact is ours", actor="cli", now=NOW)
        workspace.notice(NOW)
        path.write_bytes(
            old + old.replace(b"first", b"other").replace(b'"id":1', b'"id":77').replace(b'"id": 1', b'"id": 77')
        )
        workspace.notice(NOW)
        (one,) = undone_changes(workspace)
        assert one.files == (".aegis/memory/memories.jsonl",)
        revert_change(workspace, one.id, actor="cli", now=NOW)
        found = path.read_bytes()
        assert b"second fact is ours" in found
        assert b"other fact" in found
        assert undone_changes(workspace) == ()


def test_a_file_of_an_agent_goes_back_as_a_whole(tmp_path: Path) -> None:
    """How versions of another system's Markdown go together nobody knows: the save itself is taken back."""
    folder = tmp_path / "shop"
    (folder / "memory").mkdir(parents=True)
    (folder / "Aidefile").write_text('[persona]\nname = "a"\n[memory]\ncore_files = ["memory/rules.md"]\n')
    path = folder / "memory/rules.md"
    path.write_text("# Rules\n\n- one\n")
    with workspace_in(tmp_path) as workspace:
        workspace.notice(NOW)
        old = path.read_bytes()
        ours = old.replace(b"- one\n", b"- ours\n- one\n")
        found = workspace.together.find("memory/rules.md")
        assert found is not None
        with found[0].transaction("edit", actor="cli", now=NOW) as transaction:
            transaction.write(found[1], ours, base=old)
            transaction.commit("ours")
        path.write_bytes(old)
        workspace.notice(NOW)
        (one,) = undone_changes(workspace)
        revert_change(workspace, one.id, actor="cli", now=NOW)
        assert path.read_bytes() == ours
        assert undone_changes(workspace) == ()


@pytest.mark.parametrize("own", [0, 1], ids=["of other programs alone", "with one of ours behind them"])
def test_a_save_costs_no_more_behind_many_others(tmp_path: Path, own: int) -> None:
    """A save of an entry that was saved 100 times needs no more memory than after 20."""
    many = "".join(f"### [NORMAL] Filler {number}\n- notes: {'words ' * 20}\n\n" for number in range(500))
    workspace = workspace_in(tmp_path, f"{TASKS}\n### [NORMAL] Busy 0\n- created: 2024-01-14\n\n{many}")
    if own:
        add(workspace, "Ours", 1)
    text = (workspace.memory / "tasks.md").read_text()
    peaks = []
    for number in range(1, 101):
        if number in (20, 100):
            tracemalloc.start()
        save(workspace, text.replace("Busy 0", f"Busy {number}"), number)
        if number in (20, 100):
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert len(list_changes(workspace, actor="outside", limit=300)) == 100
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize(("own", "others"), [(3, 60), (40, 10)])
def test_changes_of_ours_are_found_behind_many_saves(tmp_path: Path, own: int, others: int) -> None:
    """A stale save is told of whatever other programs saved meanwhile, with all that it lacks."""
    many = "".join(f"### [NORMAL] Filler {number}\n- notes: {'words ' * 20}\n\n" for number in range(50))
    workspace = workspace_in(tmp_path, f"{TASKS}\n### [NORMAL] Busy\n- notes: none\n\n{many}")
    stale = (workspace.memory / "tasks.md").read_text()
    for number in range(own):
        add(workspace, f"Ours {number}", number)
    text = (workspace.memory / "tasks.md").read_text()
    for number in range(1, others + 1):
        save(workspace, text.replace("notes: none", f"notes: {number}"), 60 + number)
    assert waiting(workspace) == []
    save(workspace, stale, 300)
    assert [set(one) for one in waiting(workspace)] == [{f"Ours {number}" for number in range(own)}]


@pytest.mark.parametrize("kind", ["entries", "lines"])
def test_what_a_large_save_takes_back_is_named_in_proportion(kind: str) -> None:
    """A copy from before maintenance brings tens of thousands of entries back, or of lines; each is looked at once."""

    def make(size: int) -> tuple[bytes, bytes, Regions]:
        if kind == "lines":
            full, bare = "".join(f'{{"fact": {number}}}\n' for number in range(size)).encode(), b'{"fact": "last"}\n'
            return full, bare, compare_lines(full, bare)
        full = b"## Completed\n\n" + "".join(f"### Task {number}\n\n" for number in range(size)).encode()
        return full, b"## Completed\n", compare(parse(full), parse(b"## Completed\n"))

    def work(made: tuple[bytes, bytes, Regions]) -> object:
        full, bare, regions = made
        other = compare_lines if kind == "lines" else lambda one, two: compare(parse(one), parse(two))
        record = ChangeRecord(1, "c1", NOW, "maintain", "maintain", "", ())
        return taken_back(bare, full, Save(other(bare, full)), [(record, regions)], other, named)

    def named(regions: Regions, units: Sequence[Unit]) -> list[Touched]:
        gone = [unit.before.title for unit in units if unit.before is not None]
        gone += [line.decode().rstrip() for one in regions if one.kind == "lines" for line in lines_of(one.before)]
        return [Touched("tasks.md", None, title, "removed") for title in gone]

    found = work(make(60))
    assert isinstance(found, StaleSave)
    assert len(found.lost) >= 60
    assert_in_proportion(make, work, 300)


def test_an_old_copy_over_changes_of_all_entries_reads_each_entry_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many versions of a file are compared, the fields of each entry that stood in one are read once."""
    count, rounds = 120, 5
    entries = "".join(
        f"### Task {number}\n- created: 2024-01-02\n- tags: t{number}\n- notes: none\n\n" for number in range(count)
    )
    workspace = workspace_in(tmp_path, f"{TASKS}\n{entries}")
    stale = (workspace.memory / "tasks.md").read_text()

    def build(snapshot: Snapshot, number: int) -> Edit:
        document = snapshot.document("tasks.md")
        section = document.section(0)
        changed = [entry.set_field("notes", f"ours {number}") for entry in section.entries]
        return Edit({"tasks.md": document.replaced(sections=(section.with_entries(changed),))}, "all of them")

    for number in range(rounds):
        at = NOW + timedelta(minutes=number)
        workspace.change("edit", partial(build, number=number), actor="cli", now=at)
    reads: Counter[str] = Counter()

    def counted(body: str) -> FieldValues:
        reads[body] += 1
        return read_fields(body)

    monkeypatch.setattr(nodes, "read_fields", counted)
    save(workspace, stale.replace("### [LOW] Old", "### [LOW] Older"))
    assert len(waiting(workspace)[0]) == count
    twice = [body for body in reads if "- tags: t" in body and reads[body] > 2]
    # What is different between the save and the bytes before it is worked out for the log itself as well.
    assert not twice
