"""The state pane alone: what its rows and details say of a state, whatever stands in its files."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from memory.state.files.model import EVENTS, STATE
from tests.app.tui.projects import project
from tests.memory.state.states import Repository
from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from tests.widgets.panes.looking import detail_words, settled
from widgets.list.rows import Heading
from widgets.pane.rows import RowKey
from widgets.panes.state.diff import recall_lines, recall_summary
from widgets.panes.state.pane import StatePane
from widgets.panes.state.rows import CheckpointRow, EntryRow, EventRow, EvidenceRow, SectionRow, SourceRow, StatusRow
from widgets.text.glyphs import ASCII, UNICODE
from widgets.text.styled_text import line_text


def kinds(pane: StatePane) -> list[str]:
    """The rows by their kind, headings by their words."""
    rows = pane.line_list.rows
    return [
        f"{row.title} {row.note}" if isinstance(row, Heading) else type(getattr(row, "item", row)).__name__
        for row in rows
    ]


def titles(pane: StatePane, kind: type) -> list[str]:
    """The titles of the rows of one kind."""
    return [row.item.title for row in pane.line_list.rows if isinstance(row, RowKey) and isinstance(row.item, kind)]


class Shown:
    """The pane over a repository, on a screen of its own."""

    def __init__(self, shop: Repository, size: tuple[int, int] = (120, 36)) -> None:
        self.shop, self.size = shop, size
        self.pane = StatePane()
        self.app = Harness(lambda: [self.pane])

    async def __aenter__(self) -> Shown:
        self.context = self.app.run_test(size=self.size, message_hook=self.app.keep)
        self.pilot = await self.context.__aenter__()
        await self.look()
        self.pane.focus_list()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.context.__aexit__(*error)  # type: ignore[arg-type]

    async def look(self, now: datetime | None = None) -> None:
        """Read the files again."""
        self.pane.show(self.shop.workspace.snapshot(), now or self.shop.at)
        await settled(self.pilot, self.app)

    async def at(self, ref: str) -> str:
        """Put the cursor on a row; what the detail says of it, with what is found out in a worker."""
        assert self.pane.go_to(ref), ref
        await settled(self.pilot, self.app)
        self.pane.linking.find()
        await settled(self.pilot, self.app)
        return detail_words(self.pane)


async def test_rows_stand_in_their_parts(tmp_path: Path) -> None:
    """How it stands, sections with their entries, the backlog in groups, sources, checkpoints, what was recalled."""
    async with Shown(project(tmp_path)) as shown:
        pane = shown.pane
        headings = [text for text in kinds(pane) if text.split()[0].isupper()]
        assert [text.split(" ", 1)[0] for text in headings] == [
            "BUNDLE",
            "BACKLOG",
            "SOURCES",
            "CHECKPOINTS",
            "HISTORY",
        ]
        assert [text.split(" ", 1)[1] for text in headings[1:]] == [
            "3 events in 2 groups",
            "2, 1 failed",
            "4",
            "7 events",
        ]
        assert kinds(pane)[0] == "StatusRow"
        assert titles(pane, SectionRow) == [
            "Project",
            "Project map",
            "Current focus",
            "Gotchas",
            "Next steps",
            "Validation",
        ]
        assert "Cache key forgets the tenant" in titles(pane, EntryRow)
        assert titles(pane, EvidenceRow) == ["Work on tenants in the cache, again"]
        assert titles(pane, SourceRow) == ["claude", "codex"]
        assert titles(pane, CheckpointRow) == ["chk-000004", "chk-000003", "chk-000002", "chk-000001"]
        events = [
            row.item.event["id"] for row in pane.line_list.rows if isinstance(getattr(row, "item", None), EventRow)
        ]
        assert sorted(events) == sorted({event["id"] for event in shown.shop.memory.events}), "each event stands once"


async def test_the_first_row_says_the_one_thing_to_do(tmp_path: Path) -> None:
    """What waits and the key for it; when nothing does, that; and the detail has the figures."""
    shop = project(tmp_path)
    async with Shown(shop) as shown:
        assert "The last sync of codex failed  I imports again" in screen_text(shown.app)
        words = await shown.at(StatusRow.ref)
        assert "events 10, 3 not yet recalled" in words
        assert "drift none" in words
    calm = Repository(tmp_path / "calm")
    calm.recall()
    async with Shown(calm) as shown:
        assert "Nothing waits" in screen_text(shown.app)
        assert "nothing waits for a recall" in screen_text(shown.app)
    calm.imported("one", "NEXT: Rest", at="2026-03-01T07:30:00.000Z")
    async with Shown(calm) as shown:
        await shown.look(calm.at.replace(hour=20))
        assert " 07:30 " in screen_text(shown.app), "a time of today is not cut"


async def test_details_are_in_full(tmp_path: Path) -> None:
    """Sections, an entry, a group, an event, a source and a checkpoint with what it changed."""
    async with Shown(project(tmp_path)) as shown:
        assert "shop A small shop that sells tea to people who like tea. ecosystem" in await shown.at("state#project")
        focus = await shown.at("state#current-focus")
        assert "• Prices are cached in SQLite, one file for each tenant" in focus
        assert "status passed" in focus
        assert "begin at shop/__init__.py" in await shown.at("state#next-steps:Limit retries to one worker")
        group = await shown.at("state#evt-000010")
        assert "recalled not yet" in group
        assert "DECISIONS • The monthly report reads from the replica" in group
        source = await shown.at("state#source:codex")
        assert "last sync failed" in source
        assert "does not exist" in source
        point = await shown.at("state#chk-000003")
        assert "SINCE chk-000002" in point
        assert "+ Payment retries storm after a timeout" in point
        assert "LINKED event evt-" in point
        assert "No checkpoint before it is kept." in await shown.at("state#chk-000001")


async def test_search_finds_entries_by_their_numbers(tmp_path: Path) -> None:
    """Every record that search has of the active state leads to a row."""
    from memory.state.files.model import ARCHIVE

    shop = project(tmp_path)
    async with Shown(shop) as shown:
        records = [one for one in shop.system.records() if not one.file.startswith(ARCHIVE)]
        assert len(records) > 10
        for record in records:
            assert shown.pane.go_to(record.item.ref), record.item.ref
        assert shown.pane.go_to("state#gotcha-2")
        assert shown.pane.current().title == "Payment retries storm after a timeout"
        assert not shown.pane.go_to("state#gotcha-99")


async def test_the_filter_knows_parts_and_sources(tmp_path: Path) -> None:
    """part: and source: narrow the list, words are looked for in everything that an entry says."""
    async with Shown(project(tmp_path)) as shown:
        pane = shown.pane
        pane.set_filter("part:checkpoints")
        assert set(kinds(pane)) == {"CHECKPOINTS 4", "CheckpointRow"}
        pane.set_filter("part:backlog source:imports")
        assert titles(pane, EventRow) == [
            "Work on a slow report",
            "Work on tenants in the cache, again",
            "Work on tenants in the cache",
        ]
        pane.set_filter("replica")
        assert titles(pane, EventRow) == ["Work on a slow report"]


async def test_an_unreadable_file_leaves_the_rest(tmp_path: Path) -> None:
    """A broken state or history is said in the first row, and what else there is stays."""
    shop = project(tmp_path)
    async with Shown(shop) as shown:
        good = shop.path(STATE).read_bytes()
        shop.path(STATE).write_bytes(b'{"bundle": ')
        await shown.look()
        assert "state.json:1" in screen_text(shown.app)
        assert titles(shown.pane, CheckpointRow)
        assert StatePane.badge(shop.workspace.snapshot(), shop.at).alert
        shop.path(STATE).write_bytes(good)
        shop.path(EVENTS).write_bytes(b"torn\n" + shop.path(EVENTS).read_bytes())
        await shown.look()
        assert "events.jsonl:1" in screen_text(shown.app)
        assert titles(shown.pane, SectionRow)
        shop.path(EVENTS).unlink()
        await shown.look()
        assert "the file is missing" in screen_text(shown.app)
        shop.path(".agent-memory/history/checkpoints/chk-000002.json").write_text("{}")
        await shown.look()
        assert "is missing" in await shown.at("state#chk-000002")
        assert "is missing" in await shown.at("state#chk-000003"), "what it changed cannot be told"


async def test_without_a_state_the_pane_says_what_it_is_for(tmp_path: Path) -> None:
    """No row, and the key that makes one."""
    shop = Repository(tmp_path)
    import shutil

    shutil.rmtree(shop.path(".agent-memory"))
    async with Shown(shop) as shown:
        assert "Press N to make it from the repository as it is" in screen_text(shown.app)
        badge = StatePane.badge(shop.workspace.snapshot(), shop.at)
        assert (badge.count, badge.alert) == (None, False)


@pytest.mark.parametrize("size", [(120, 36), (40, 10)], ids=str)
async def test_hostile_texts_are_only_text(tmp_path: Path, size: tuple[int, int]) -> None:
    """Whatever bundle, events and sources say, the screen shows it as what it is."""
    shop = project(tmp_path)
    state = shop.json()
    texts = [text for text in HOSTILE.values() if text.isprintable() or len(text) < 200]
    texts = [text.encode("utf-8", "replace").decode() for text in texts if text.strip()]
    bundle = state["bundle"]
    bundle["gotchas"] = [{"title": text, "symptom": text, "cause": text, "correctPath": text} for text in texts]
    bundle["currentFocus"]["summary"] = bundle["project"]["name"] = " ".join(texts)
    bundle["currentFocus"]["knownRisks"] = texts
    bundle["validationCommands"] = [{"label": texts[0], "command": texts[:3], "purpose": texts[1]}]
    shop.put(STATE, state)
    event = json.loads(shop.event_lines()[-1])
    event["summary"] = " ".join(texts)
    event["signals"]["decisions"] = texts
    with open(shop.path(EVENTS), "ab") as file:
        file.write(json.dumps({**event, "id": "evt-000099"}).encode() + b"\n")
    async with Shown(shop, size) as shown:
        assert shown.pane.state().problem is None  # type: ignore[union-attr]
        for _ in range(len(shown.pane.line_list.rows)):
            assert_safe(screen_text(shown.app))
            shown.pane.line_list.action_move(1)
            await shown.pilot.pause()
        if size[0] < 60:
            await shown.pilot.press("enter")
        assert_safe(screen_text(shown.app))


def test_a_preview_in_lines(tmp_path: Path) -> None:
    """Scope, evidence, what comes and goes, what merged, what is left, and the lines where they are asked for."""
    shop = project(tmp_path)
    lines = [line_text(one) for one in recall_lines(shop.system.preview(), UNICODE, diff=False)]
    for words in (
        "events   3 events of all sources",
        "policy   balanced",
        "EVIDENCE  2 groups",
        "Work on tenants in the cache, again",
        "  imports, 2 events: 2 gotchas, 1 next step",
        "~ Cache key forgets the tenant",
        "+ Index orders by day",
        "- Put the tenant into the cache key",
        "+ The monthly report reads from the replica  current state",
    ):
        assert words in lines
    assert not any("LINE BY LINE" in words for words in lines)
    long = [line_text(one) for one in recall_lines(shop.system.preview(), ASCII, diff=True)]
    assert "GOTCHAS, LINE BY LINE" in long
    part = shop.system.preview(section="gotchas")
    words = [line_text(one) for one in recall_lines(part, UNICODE, diff=False)]
    assert "These events also change Current focus, Next steps, which this recall leaves; they wait" in words
    nothing = shop.system.preview(source="local")
    assert recall_summary(nothing) == "No event of this project waits."


def test_a_preview_says_what_is_replaced(tmp_path: Path) -> None:
    """The later statement and the earlier one stand in one line."""
    shop = Repository(tmp_path)
    shop.imported("one", "DECISION: The retry limit is 10")
    shop.recall()
    shop.imported("two", "DECISION: The retry limit is 5")
    lines = [line_text(one) for one in recall_lines(shop.system.preview(), UNICODE, diff=False)]
    assert "= “The retry limit is 5” replaces “The retry limit is 10”" in lines
