"""The knowledge pane: an outline of facts, decisions by date, and what can be done with them."""

from __future__ import annotations

from tests.widgets.panes.looking import NOW, Files, detail_words, showing, shown
from widgets.panes.knowledge import KnowledgePane
from widgets.text.styled_text import line_text

KNOWLEDGE = """---
type: knowledge-base
---
## Preferences
- Prefers **PostgreSQL** over MongoDB
- 部署 happens at night 🚀
## Projects
- Two of them
### Shop
- Frontend: React
### Site
## Decisions Made
- 2024-01-10: Chose JWT (stateless)
- 2024-01-14: Monorepo rejected
- Undated choice
"""


def rows(pane: KnowledgePane) -> list[str]:
    """The rows as they are drawn in 39 cells, without the space at their end."""
    return [line_text(pane.draw_row(row.item, 39)).rstrip() for row in pane.line_list.rows if hasattr(row, "item")]


async def test_the_outline_opens_expanded() -> None:
    """Sections, topics and facts stand under one another; decisions have dates, the newest first."""
    pane = KnowledgePane()
    async with showing(pane, {"knowledge.md": KNOWLEDGE}) as (_, app):
        assert rows(pane) == [
            "▾ Preferences  2",
            "    Prefers **PostgreSQL** over MongoDB",
            "    部署 happens at night 🚀",
            "▾ Projects  2",
            "    Two of them",
            "  ▾ Shop  1",
            "      Frontend: React",
            "    Site  0",
            "▾ Decisions Made  3",
            "    2024-01-14  Monorepo rejected",
            "    2024-01-10  Chose JWT  stateless",
            "    no date     Undated choice",
        ]
        assert "7 entries" in shown(app)


async def test_enter_and_arrows_fold() -> None:
    """Enter folds a branch and opens it again; left goes up to the branch, then folds it; right opens it."""
    pane = KnowledgePane()
    async with showing(pane, {"knowledge.md": KNOWLEDGE}) as (pilot, _):
        await pilot.press("enter")
        assert rows(pane)[:2] == ["▸ Preferences  2", "▾ Projects  2"]
        await pilot.press("enter", "j", "left")
        assert pane.current().group
        assert len(rows(pane)) == 12
        await pilot.press("left")
        assert len(rows(pane)) == 10
        await pilot.press("right", "right")
        assert pane.current().title == "Prefers **PostgreSQL** over MongoDB"
        await pilot.press("z")
        assert len(rows(pane)) == 3
        await pilot.press("z")
        assert len(rows(pane)) == 12


async def test_the_detail_shows_the_text_rendered() -> None:
    """A fact is drawn as Markdown; a decision with its reason and date."""
    pane = KnowledgePane()
    async with showing(pane, {"knowledge.md": KNOWLEDGE}) as (pilot, _):
        await pilot.press("j")
        await pilot.pause()
        assert detail_words(pane) == "Prefers PostgreSQL over MongoDB"
        pane.set_filter("jwt")
        await pilot.press("G")
        await pilot.pause()
        assert detail_words(pane).startswith("Chose JWT reason stateless decided 2024-01-10, 5 d ago")


async def test_the_filter_shows_hits_with_their_branches() -> None:
    """A hit stands below its section and topic; a topic's name finds all of it; folds do not hide hits."""
    pane = KnowledgePane()
    async with showing(pane, {"knowledge.md": KNOWLEDGE}) as (pilot, app):
        await pilot.press("z")
        pane.set_filter("react")
        await pilot.pause()
        assert [row.split("  ")[-1].strip() or row for row in rows(pane)][-1] == "Frontend: React"
        assert len(rows(pane)) == 3
        assert "1 of 7" in shown(app)
        pane.set_filter("topic:shop")
        assert len(rows(pane)) == 3
        pane.set_filter("")
        assert len(rows(pane)) == 3


async def test_a_fact_is_added_where_the_cursor_stands() -> None:
    """Section and topic are filled in; among decisions the form asks date and reason."""
    pane, files = KnowledgePane(), Files({"knowledge.md": KNOWLEDGE})
    async with showing(pane, files):
        pane.go_to(next(item.ref for item in files.look().knowledge.items if item.topic == "Shop"))
        plan = pane.adding(NOW)
        assert plan is not None
        assert {field.name: field.value for field in plan.fields} == {
            "section": "Projects",
            "topic": "Shop",
            "text": "",
        }
        values = {"section": "Projects", "topic": "Shop", "text": "Backend: Node"}
        files.apply(plan.build(values, values, NOW))
        assert "- Frontend: React\n- Backend: Node\n" in files.text("knowledge.md")

        pane.go_to(files.look().knowledge.items[-1].ref)
        plan = pane.adding(NOW)
        assert plan is not None
        assert plan.title == "New decision"
        assert [field.name for field in plan.fields] == ["section", "text", "date", "reason"]
        values = {"section": "Decisions Made", "text": "Use uv", "date": "yesterday", "reason": "fast"}
        files.apply(plan.build(values, values, NOW))
        assert "- 2024-01-14: Use uv (fast)\n" in files.text("knowledge.md")


async def test_facts_are_removed_together_and_branches_never() -> None:
    """Several facts go in one change; a section cannot be removed or edited here."""
    pane, files = KnowledgePane(), Files({"knowledge.md": KNOWLEDGE})
    async with showing(pane, files) as (pilot, _):
        assert pane.removing(pane.selected()) is None
        assert pane.editing(pane.current(), NOW) is None
        await pilot.press("space", "space", "space")
        removal = pane.removing(pane.selected())
        assert removal is not None
        assert removal.question == "Remove 2 entries?"
        files.apply(removal.build(NOW))
        assert [item.text for item in files.look().knowledge.items][:1] == ["Two of them"]
