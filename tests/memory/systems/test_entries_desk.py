"""The desk: entries of every kind are found, read, added, edited and removed by ref and hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ConflictError, MemdeckError, NotFoundError, UsageError
from memory.history.undo import revert_in
from memory.systems.entries import EntryAccess, error_json
from tests.desks import AGENT, make_workspace, open_desk, with_state
from tests.memory_files import contents

ADDED: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "tasks": (
        "Rotate keys",
        {"priority": "HIGH", "due": "tomorrow 14:00", "tags": ["ops", "keys"], "team": "blue"},
        "soon",
    ),
    "journal": ("Deploy", {"time": "09:15"}, "v2.1 is live\n- checked"),
    "knowledge": ("Postgres is 16", {"reason": "it is newest"}, None),
    "contacts": ("Bob", {"role": "QA"}, "by mail"),
    "plans": (
        "New plan",
        {"status": "planning", "planId": "orch-9"},
        "| id | title | status |\n|---|---|---|\n| 1 | a | done |",
    ),
    "monitors": ("Load", {"type": "command", "command": "uptime", "interval": "*/5 * * * *"}, None),
    "config": ("myKey", {"value": "3"}, None),
    "facts": ("Deploy target is us-east-1", {"tags": ["infra"]}, None),
    "typed": ("Tests", {}, "Run them first."),
    "state": ("Ports clash", {"section": "gotchas", "cause": "two servers"}, "it hangs"),
}
EDITED: dict[str, dict[str, Any]] = {
    "tasks": {"priority": "LOW", "team": "red"},
    "journal": {"lines": ["v2.1 is live", "rolled back"]},
    "knowledge": {"text": "Postgres is 17"},
    "contacts": {"role": "Dev"},
    "plans": {"status": "running"},
    "monitors": {"interval": "*/10 * * * *"},
    "config": {"value": "4"},
    "typed": {"title": "Testing"},
    "state": {"correctPath": "use --port"},
}


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path)


@pytest.fixture(name="desk")
def _desk(root: Path, tmp_path: Path) -> Iterator[EntryAccess]:
    desk = open_desk(root, tmp_path / "records")
    with_state(desk)
    yield desk
    desk.close()


@pytest.mark.parametrize("kind", ADDED)
def test_an_entry_of_each_kind_is_added_read_edited_and_removed(desk: EntryAccess, kind: str) -> None:
    """What was added reads back under its ref and hash, an edit gives another hash, and what is removed is gone."""
    title, fields, text = ADDED[kind]
    made = desk.add(kind, title, fields, text, actor=AGENT)
    entry = desk.read(made["ref"])["entries"][0]
    assert (entry["ref"], entry["hash"], entry["kind"]) == (made["ref"], made["hash"], kind)
    assert entry["title"] == title
    assert made["ref"] in [one["ref"] for one in desk.read(kind=kind, filter={"title": title})["entries"]]
    assert made["change"] == desk.history(limit=1)["changes"][0]["id"]
    if kind in EDITED:
        edited = desk.edit(made["ref"], made["hash"], EDITED[kind], actor=AGENT)
        assert edited["hash"] != made["hash"]
        again = desk.read(edited["ref"])["entries"][0]
        assert again["hash"] == edited["hash"]
        made = edited
    gone = desk.remove(made["ref"], made["hash"], "not\nneeded", actor=AGENT)
    newest = desk.history(limit=1)["changes"][0]
    assert gone["change"] == newest["id"]
    assert newest["summary"].endswith(": not needed") or kind == "state"
    if kind != "state":  # the next one would get its number
        with pytest.raises(NotFoundError):
            desk.read(made["ref"])
    revert_in(desk.workspace.together, gone["change"], actor="human", now=desk._clock())
    assert desk.read(made["ref"])["entries"][0]["hash"] == made["hash"]


@pytest.mark.parametrize("kind", ADDED)
def test_a_stale_hash_changes_nothing(desk: EntryAccess, root: Path, kind: str) -> None:
    """An edit and a removal with another hash are refused with the entry as it is, and no byte is written."""
    title, fields, text = ADDED[kind]
    made = desk.add(kind, title, fields, text, actor=AGENT)
    before = contents(root)
    for act in (
        lambda: desk.edit(made["ref"], "0" * 12, EDITED.get(kind, {"text": "x"}), actor=AGENT),
        lambda: desk.remove(made["ref"], "0" * 12, actor=AGENT),
    ):
        with pytest.raises(ConflictError) as caught:
            act()
        told = error_json(caught.value)["error"]
        assert told["code"] == "entry.stale"
        assert told["details"]["entry"] == desk.read(made["ref"])["entries"][0]
    assert contents(root) == before


def test_a_stale_edit_says_what_changed(desk: EntryAccess) -> None:
    """The error names each field with what it was when it was read and what it is now."""
    read = desk.read(kind="tasks", filter={"match": "report"})["entries"][0]
    desk.edit(read["ref"], read["hash"], {"priority": "HIGH", "notes": "ask Alice"}, actor="human")
    with pytest.raises(ConflictError) as caught:
        desk.edit(read["ref"], read["hash"], {"notes": "mine"}, actor=AGENT)
    assert caught.value.details["changed"] == [
        {"field": "priority", "was": "NORMAL", "is": "HIGH"},
        {"field": "notes", "was": None, "is": "ask Alice"},
    ]


@pytest.mark.parametrize("kind", ["tasks", "journal", "plans", "monitors", "typed", "knowledge"])
def test_text_that_is_sent_back_changes_nothing(desk: EntryAccess, root: Path, kind: str) -> None:
    """The text of an entry as it was read is its source: to send it back writes no byte."""
    entry = desk.read(desk.read(kind=kind)["entries"][-1]["ref"])["entries"][0]
    before = contents(root)
    made = desk.edit(entry["ref"], entry["hash"], text=entry["text"], actor=AGENT)
    assert made["hash"] == entry["hash"]
    assert contents(root) == before


def test_hidden_characters_are_shown_and_come_back_as_they_were(desk: EntryAccess, root: Path) -> None:
    """Control and invisible characters are escapes in every answer; lines that are sent back keep their bytes."""
    file = root / ".aiter" / "memory" / "journal.md"
    file.write_bytes(file.read_bytes().replace(b"said hello", b"said \x1b[31mhe\xe2\x80\x8bllo\xe2\x80\xae"))
    entry = desk.read(kind="journal")["entries"][0]
    assert entry["fields"]["lines"] == ["said \\x1b[31mhe\\u200bllo\\u202e"]
    whole = desk.read(entry["ref"])["entries"][0]
    desk.edit(entry["ref"], entry["hash"], text=whole["text"] + "\n- and bye", actor=AGENT)
    assert b"- said \x1b[31mhe\xe2\x80\x8bllo\xe2\x80\xae\n- and bye\n" in file.read_bytes()
    found = desk.search("hello OR said")["results"]
    assert "\x1b" not in str(found)


def test_pages_go_on_where_the_last_one_ended(desk: EntryAccess) -> None:
    """Each entry is on one page, also where somebody adds one on top between two pages."""
    for number in range(7):
        desk.add("journal", f"Entry {number}", {"time": f"10:{number:02}"}, actor=AGENT)
    page = desk.read(kind="journal", limit=3)
    seen = [one["title"] for one in page["entries"]]
    desk.add("journal", "New on top", {}, actor="human")
    while page["cursor"]:
        page = desk.read(kind="journal", limit=3, cursor=page["cursor"])
        seen += [one["title"] for one in page["entries"]]
    assert seen == [*(f"Entry {number}" for number in reversed(range(7))), "Standup", "Deploy"]


def test_search_has_pages_and_refs_for_everything(desk: EntryAccess) -> None:
    """Pages of a search hold no find twice, and every ref that it gives can be read."""
    results: list[dict[str, Any]] = []
    cursor = None
    while True:
        answer = desk.search("deploy deploys redis", limit=2, cursor=cursor)
        results += answer["results"]
        cursor = answer["cursor"]
        if cursor is None:
            break
    refs = [one["ref"] for one in results]
    assert len(refs) == len(set(refs)) > 3
    assert {"journal", "knowledge", "tasks", "typed"} <= {one["kind"] for one in results}
    for ref in refs:
        assert desk.read(ref)["entries"][0]["ref"].startswith(ref.partition("#")[0])


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/x.md", "memory/procedural/../../x.md", "memory/procedural/.hidden.md", "Aidefile", "x.md"]
)
def test_no_path_leaves_the_memory_of_an_agent(desk: EntryAccess, root: Path, path: str) -> None:
    """A block is added to the agent's memory files only, whatever path is sent."""
    before = contents(root.parent)
    with pytest.raises(MemdeckError):
        desk.add("typed", "Evil", {"path": path}, "x", actor=AGENT)
    assert {name: data for name, data in contents(root.parent).items() if "records" not in name} == {
        name: data for name, data in before.items() if "records" not in name
    }


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda desk: desk.read(), "entry.arguments"),
        (lambda desk: desk.read("tasks#1", "tasks"), "entry.arguments"),
        (lambda desk: desk.read(kind="contacts", filter={"due": "today"}), "entry.filter"),
        (lambda desk: desk.read(kind="nothing"), "entry.kind"),
        (lambda desk: desk.read(kind="tasks", cursor="x"), "entry.cursor"),
        (lambda desk: desk.read(kind="tasks", cursor="\u0663"), "entry.cursor"),
        (lambda desk: desk.read(kind="tasks", filter={"section": "nowhere"}), "task.section"),
        (lambda desk: desk.read(kind="tasks", filter={"prioritty": "HIGH"}), "entry.filter"),
        (lambda desk: desk.search("x", ["nothing"]), "entry.kind"),
        (lambda desk: desk.add("tasks", "a\x1bb", actor=AGENT), "entry.text"),
        (lambda desk: desk.add("tasks", "a\ud800b", actor=AGENT), "entry.text"),
        (lambda desk: desk.add("tasks", "x" * 100_001, actor=AGENT), "entry.text"),
        (
            lambda desk: desk.add("tasks", "x", {"notes": {"deep": {"er": {"still": {"more": 1}}}}}, actor=AGENT),
            "entry.value",
        ),
        (lambda desk: desk.add("tasks", "x", {"notes": {"a": 1}}, actor=AGENT), "entry.value"),
        (lambda desk: desk.add("facts", "password=hunter2hunter2", actor=AGENT), "facts.refused"),
        (lambda desk: desk.edit("tasks#0000000", "1", actor=AGENT), "entry.arguments"),
        (lambda desk: desk.edit("tasks#0000000", text="all new", actor=AGENT), "entry.hash"),
    ],
)
def test_wrong_calls_say_what_is_wrong(desk: EntryAccess, root: Path, wrong: Any, code: str) -> None:
    """A wrong call has a stable code and writes nothing."""
    before = contents(root)
    with pytest.raises(UsageError) as caught:
        wrong(desk)
    assert caught.value.code == code
    assert contents(root) == before


def test_answers_are_bounded_and_what_was_cut_is_never_written(desk: EntryAccess, root: Path) -> None:
    """Long fields and texts are cut, a page ends where it is large, and a cut text that is sent back is refused."""
    long = "".join(f"line {number} of many\n" for number in range(4_000))
    made = desk.add("typed", "Long", {}, long, actor=AGENT)
    for number in range(30):
        desk.add("tasks", f"Task {number}", {f"key{key}": "x" * 5_000 for key in range(10)}, actor=AGENT)
    page = desk.read(kind="tasks", limit=50)
    assert len(str(page)) < 100_000
    count = len(page["entries"])
    while page["cursor"]:
        page = desk.read(kind="tasks", limit=50, cursor=page["cursor"])
        count += len(page["entries"])
    assert count == 32
    before = contents(root)
    for entry in (
        desk.read(made["ref"])["entries"][0],
        desk.read(kind="typed", filter={"title": "Long"})["entries"][0],
    ):
        assert entry["text"].endswith("…")
        with pytest.raises(UsageError) as caught:
            desk.edit(entry["ref"], entry["hash"], text=entry["text"], actor=AGENT)
        assert caught.value.code == "entry.cut"
    shorter = desk.add("typed", "Shorter", {}, long[:1_000], actor=AGENT)
    (listed,) = desk.read(kind="typed", filter={"title": "Shorter"})["entries"]
    with pytest.raises(UsageError) as caught:
        desk.edit(listed["ref"], listed["hash"], text=listed["text"], actor=AGENT)
    assert caught.value.code == "entry.cut"
    desk.edit(shorter["ref"], shorter["hash"], text="All new.", actor=AGENT)
    assert contents(root).keys() == before.keys()


def test_days_of_a_filter_are_words_or_dates(desk: EntryAccess) -> None:
    """`since: yesterday` and a date mean the same for every kind."""
    for since in ("yesterday", "2024-01-14"):
        titles = [one["title"] for one in desk.read(kind="journal", filter={"since": since})["entries"]]
        assert titles == ["Standup", "Deploy"]
    assert [one["title"] for one in desk.read(kind="journal", filter={"since": "today"})["entries"]] == ["Standup"]
    assert [one["title"] for one in desk.read(kind="tasks", filter={"until": "2024-01-10"})["entries"]] == [
        "Deploy v2.1"
    ]
