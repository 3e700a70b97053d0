"""The state pane in the application, over real files: recall, import, edits, checkpoints, what others do meanwhile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from app.tui.shell import Changed
from memory.state.files.model import ANALYSED, EVENTS, SOURCES, STATE
from tests.app.tui.projects import project
from tests.app.tui.tui_helpers import jobs_done, make_app, press, running, settle, type_text
from tests.memory.state.states import Repository
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import detail_words
from widgets.dialogs.dialogs import Preview
from widgets.panes.state.pane import StatePane
from widgets.panes.state.rows import EntryRow


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A small shop with a backlog and a source that failed."""
    return project(tmp_path)


def opened(shop: Repository, **options: object) -> MemdeckApp:
    """The application on the state of a repository."""
    return make_app(shop.workspace, clock=lambda: shop.at, **{"pane": "state", **options})


def pane_of(pilot) -> StatePane:  # type: ignore[no-untyped-def]
    """The state pane."""
    pane = pilot.app.navigation.pane
    assert isinstance(pane, StatePane)
    return pane


def said(pilot) -> str:  # type: ignore[no-untyped-def]
    """What was said last."""
    return str([*pilot.app._notifications][-1].message)


def bytes_of(shop: Repository) -> dict[str, bytes]:
    """All files of the state and those that show it."""
    files = [*shop.path(".agent-memory").rglob("*"), *shop.path("docs").rglob("*"), *shop.root.glob("*.md")]
    return {str(file): file.read_bytes() for file in files if file.is_file() and ".memdeck" not in file.parts}


async def pressed(pilot, *keys: str) -> None:  # type: ignore[no-untyped-def]
    """Press keys, each after what the one before did, jobs included."""
    for key in keys:
        await press(pilot, key)
        await jobs_done(pilot)
        await settle(pilot)


async def test_g_and_s_open_the_state(shop: Repository) -> None:
    """The pane is reached by g and its letter, stands in the sidebar with what waits, and in the palette."""
    async with running(opened(shop, pane="tasks")) as pilot:
        assert "State" in screen_text(pilot.app)
        await press(pilot, "g", "s")
        assert pane_of(pilot).contents is not None
        assert "3▲" in screen_text(pilot.app)
        await press(pilot, "2", "colon")
        await type_text(pilot, "state")
        await press(pilot, "enter")
        assert isinstance(pilot.app.navigation.pane, StatePane)


async def test_a_recall_is_shown_before_anything_is_written(shop: Repository) -> None:
    """Escape leaves every byte as it was; Enter applies in one change; u takes all of it back."""
    before = bytes_of(shop)
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "n")
        assert isinstance(pilot.app.screen, Preview)
        shown = screen_text(pilot.app)
        for words in ("3 events of all sources", "EVIDENCE  2 groups", "+ Index orders by day", "GOTCHAS  1 edited"):
            assert words in shown
        assert bytes_of(shop) == before
        await pressed(pilot, "escape")
        assert bytes_of(shop) == before
        await pressed(pilot, "n", "enter")
        assert "Recalled 3 events" in said(pilot)
        assert "takes it back" in said(pilot)
        assert not shop.memory.unrecalled()
        assert shop.codes() == []
        titles = [
            row.item.title for row in pane_of(pilot).line_list.rows if isinstance(getattr(row, "item", 0), EntryRow)
        ]
        assert "Index orders by day" in titles
        assert "Put the tenant into the cache key" not in titles
        await pressed(pilot, "u")
        assert bytes_of(shop) == before
        await pressed(pilot, "n", "enter", "0")
        assert "recalled 3 events" in screen_text(pilot.app)


async def test_what_changes_behind_a_preview_is_not_lost(shop: Repository) -> None:
    """Another program writes while the preview is open: Enter writes nothing, says so and shows the new preview."""
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "n")
        shop.imported("a late night", "DECISION: Prices are rounded to cents")
        before = bytes_of(shop)
        await press(pilot, "enter")
        await jobs_done(pilot)
        await settle(pilot)
        assert bytes_of(shop) == before
        assert "this is the new preview" in said(pilot)
        assert "4 events of all sources" in screen_text(pilot.app)
        await pressed(pilot, "enter")
        assert "Prices are rounded to cents" in shop.path("docs/agent-memory/current-focus.md").read_text()


async def test_an_import_takes_what_is_new_and_tells_what_failed(shop: Repository) -> None:
    """On a source it is that one, elsewhere all: the broken one is told and stops no other; u takes it back."""
    shop.session("a new one", ["NEXT: Write the changelog"])
    events = shop.path(EVENTS).read_bytes()
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "I")
        assert "1 failure" in said(pilot)
        assert "codex: " in said(pilot)
        assert "does not exist" in said(pilot)
        assert shop.memory.events[-1]["summary"].endswith("a new one")
        assert "4 waiting" in screen_text(pilot.app)
        await pressed(pilot, "u")
        assert shop.path(EVENTS).read_bytes() == events
        pane = pane_of(pilot)
        assert pane.go_to("state#source:claude")
        sources = shop.json(SOURCES)
        await pressed(pilot, "I")
        assert "Imported 1 session" in said(pilot)
        assert [one for one in shop.json(SOURCES) if one["id"] == "codex"] == [
            one for one in sources if one["id"] == "codex"
        ]


async def test_a_source_is_added_with_the_form(tmp_path: Path) -> None:
    """a asks for type, path and name; what is not there stays in the form; then the source stands in the list."""
    shop = Repository(tmp_path)
    folder = tmp_path / "sessions"
    folder.mkdir()
    async with running(opened(shop)) as pilot:
        await press(pilot, "I")
        assert "no source of sessions yet; a adds one" in said(pilot)
        await press(pilot, "a")
        await type_text(pilot, f"{folder}x")
        await press(pilot, "ctrl+s")
        assert "does not exist" in said(pilot)
        await press(pilot, "backspace", "ctrl+s")
        assert [one["path"] for one in shop.memory.sources] == [str(folder)]
        assert pane_of(pilot).current().title == "claude-local-sessions"
        assert not shop.system.unattended.refusal(shop.memory.sources[0]), "who adds it by hand lets it be read"


async def test_two_checkpoints_are_compared(shop: Repository) -> None:
    """Two that are selected, one with the latest, the latest with the one before; three are too many."""
    async with running(opened(shop)) as pilot:
        pane = pane_of(pilot)
        assert pane.go_to("state#chk-000004")
        await pressed(pilot, "equals_sign")
        assert "chk-000003 → chk-000004" in screen_text(pilot.app)
        assert "+ Cache the toolchain of the nightly build" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert pane.go_to("state#chk-000002")
        await pressed(pilot, "equals_sign")
        assert "chk-000002 → chk-000004" in screen_text(pilot.app)
        await press(pilot, "escape", "space", "space")
        await pressed(pilot, "equals_sign")
        assert "chk-000001 → chk-000002" in screen_text(pilot.app)
        await press(pilot, "escape", "k", "k", "k", "space")
        await pressed(pilot, "equals_sign")
        assert "Select two checkpoints" in said(pilot)


async def test_a_check_lists_findings_in_the_detail(shop: Repository) -> None:
    """Codes, words and places of what is wrong; a row says that there is something to mend."""
    shop.path("docs/agent-memory/gotchas.md").unlink()
    async with running(opened(shop)) as pilot:
        assert pane_of(pilot).go_to("state#chk-000001")
        await pressed(pilot, "exclamation_mark")
        words = detail_words(pane_of(pilot))
        assert "VALIDATED 1 failed" in words
        assert "fail projection:gotchas" in words
        assert "1 finding to mend" in screen_text(pilot.app)
        assert said(pilot).startswith("1 failed")
        await pressed(pilot, "N")
        assert "to mend" not in screen_text(pilot.app), "they are of another state"
        assert "VALIDATED" not in screen_text(pilot.app)
        await pressed(pilot, "exclamation_mark")
        assert "VALIDATED 2 warned" in detail_words(pane_of(pilot))


async def test_a_gotcha_is_edited_added_and_removed(shop: Repository) -> None:
    """e and a open forms, x asks; each is an event and a checkpoint, the projection follows, u takes it back."""
    async with running(opened(shop)) as pilot:
        pane = pane_of(pilot)
        assert pane.go_to("state#gotcha-2")
        before = bytes_of(shop)
        await press(pilot, "e", "end", "!")
        await press(pilot, "ctrl+s")
        assert shop.memory.bundle["gotchas"][1]["title"] == "Payment retries storm after a timeout!"
        assert pane.current().title == "Payment retries storm after a timeout!"
        assert "timeout!" in shop.path("docs/agent-memory/gotchas.md").read_text()
        assert shop.codes() == []
        await press(pilot, "u")
        assert bytes_of(shop) == before
        assert pane.go_to("state#gotcha-2")
        await press(pilot, "x", "y")
        assert len(shop.memory.bundle["gotchas"]) == 1
        assert pane.go_to("state#next-steps")
        await press(pilot, "a")
        await type_text(pilot, "Ship it")
        for words in ("because", "Makefile", "it is out"):
            await press(pilot, "tab")
            await type_text(pilot, words)
        await press(pilot, "ctrl+s")
        assert shop.memory.bundle["nextSteps"][-1] == {
            "title": "Ship it",
            "why": "because",
            "start": "Makefile",
            "done": "it is out",
        }


async def test_both_edits_of_a_gotcha_are_asked_about(shop: Repository) -> None:
    """Somebody else changed the same field while the form was open: three columns, and nothing is lost."""
    async with running(opened(shop)) as pilot:
        pane = pane_of(pilot)
        assert pane.go_to("state#gotcha-2")
        await press(pilot, "e", "tab", "tab", "end")
        await type_text(pilot, "MINE")
        gotchas = [*shop.memory.bundle["gotchas"]]
        gotchas[1] = {**gotchas[1], "cause": "THEIRS"}
        shop.system.edit("gotchas", gotchas, None, actor="script", now=shop.later())
        await press(pilot, "ctrl+s")
        shown = screen_text(pilot.app)
        assert "was changed meanwhile" in shown
        assert "MINE" in shown
        assert "THEIRS" in shown
        assert shop.memory.bundle["gotchas"][1]["cause"] == "THEIRS"


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    """An environment whose editor is a program that rewrites its file."""
    file = tmp_path / "editor.py"
    file.write_text(f"#!/usr/bin/env python3\nimport json, sys\np = sys.argv[1]\ntext = open(p).read()\n{script}\n")
    file.chmod(0o755)
    import os

    return {"EDITOR": str(file), "PATH": os.environ["PATH"]}


async def test_a_section_is_edited_in_the_editor(shop: Repository, tmp_path: Path) -> None:
    """E hands over the JSON of a section; what comes back is checked and written, u takes it back."""
    environ = editor(
        tmp_path,
        "found = json.loads(text)\nfound['architectureNotes'] = ['One process']\nopen(p, 'w').write(json.dumps(found))",
    )
    async with running(opened(shop, environ=environ)) as pilot:
        assert pane_of(pilot).go_to("state#project-map")
        before = shop.path(STATE).read_bytes()
        await press(pilot, "E")
        assert shop.memory.bundle["projectMap"]["architectureNotes"] == ["One process"]
        assert "One process" in shop.path("docs/agent-memory/project-map.md").read_text()
        await press(pilot, "u")
        assert shop.path(STATE).read_bytes() == before


async def test_the_state_is_renewed_from_the_repository(shop: Repository) -> None:
    """N reads the repository again; what recalls brought stays; u takes it back."""
    shop.path("README.md").write_text("# Shop\n\nA large shop that sells coffee as well as tea to everybody.\n")
    before = shop.path(STATE).read_bytes()
    async with running(opened(shop)) as pilot:
        await pressed(pilot, "N")
        assert "coffee" in shop.memory.bundle["project"]["summary"]
        assert len(shop.memory.bundle["gotchas"]) == 2
        assert "Renewed the state of shop" in said(pilot)
        await pressed(pilot, "u")
        assert shop.path(STATE).read_bytes() == before


async def test_the_first_state_is_shown_before_it_is_made(tmp_path: Path) -> None:
    """Without a state N shows what would be written; Enter makes it, and it validates."""
    shop = Repository(tmp_path)
    for place in (".agent-memory", "docs"):
        shutil.rmtree(shop.path(place))
    async with running(opened(shop)) as pilot:
        assert "Press N to make it" in screen_text(pilot.app)
        await pressed(pilot, "N")
        assert "WRITTEN" in screen_text(pilot.app)
        assert not shop.path(STATE).exists()
        await pressed(pilot, "enter")
        assert "BUNDLE" in screen_text(pilot.app)
        assert shop.codes() == []
        assert shop.path(ANALYSED).exists()


async def test_an_outside_change_appears_and_keeps_the_cursor(shop: Repository) -> None:
    """What another program imports is shown and flashes; the cursor stays; Changes names it as from outside."""
    async with running(opened(shop)) as pilot:
        pane = pane_of(pilot)
        assert pane.go_to("state#chk-000002")
        event = json.loads(shop.event_lines()[-1])
        event |= {"id": "evt-000042", "summary": "Work on something else", "contentHash": "a" * 64}
        event["signals"] = {kind: [] for kind in event["signals"]}
        with open(shop.path(EVENTS), "ab") as file:
            file.write(json.dumps(event, separators=(",", ":")).encode() + b"\n")
        pilot.app.post_message(Changed(frozenset({EVENTS})))
        await settle(pilot)
        assert "Work on something else" in screen_text(pilot.app)
        assert "4 waiting" in screen_text(pilot.app)
        assert pane.current().title == "chk-000002"
        assert [row.item.title for row in pane.line_list.flashing] == ["Work on something else"]
        assert [change.actor for change in shop.workspace.store.history.list(actor="outside")]


async def test_the_brief_and_maintenance_know_the_state(shop: Repository) -> None:
    """The brief says how it stands and leads there; the plan of M says what a cycle would do."""
    async with running(opened(shop, pane="brief"), (120, 50)) as pilot:
        shown = screen_text(pilot.app)
        assert "4 checkpoints, 10 events" in shown
        await press(pilot, "M")
        assert "Recall into the project's state" in screen_text(pilot.app)
