"""The detail: values, texts, Markdown of one entry, and links that can be followed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from widgets.detail import Caption, Detail, Labelled, Lines, Link, Prose, Spacer, Title
from widgets.text.glyphs import ASCII
from widgets.text.markdown import render_markdown
from widgets.text.styled_text import Piece, line, line_text

ENTRY = [
    Title("Deploy v2.1"),
    Spacer(),
    Labelled("due", "2024-01-15 14:00", "warn"),
    Labelled("assigned", "heartbeat"),
    Labelled("notes", "Run tests first, then deploy\nvia CI"),
    Caption("MORE"),
    Prose("a **bold** word", markdown=True),
    Lines((line("▓▓░░ ", Piece("50%", "muted")),)),
    Link("linked", "journal 10:30", "journal#1"),
    Link("", "plan orch-1", "plan#1"),
]


async def test_values_stand_in_one_column() -> None:
    """Labels align, long values wrap under themselves, line ends of a value stay."""
    detail = Detail(ENTRY)
    app = Harness(lambda: [detail])
    async with app.run_test(size=(36, 20)) as pilot:
        await pilot.pause()
        shown = [row.rstrip() for row in screen_text(app).split("\n")]
        assert shown[:11] == [
            " Deploy v2.1",
            "",
            " due       2024-01-15 14:00",
            " assigned  heartbeat",
            " notes     Run tests first, then",
            "           deploy",
            "           via CI",
            " MORE",
            " a bold word",
            " ▓▓░░ 50%",
            " linked    journal 10:30",
        ]


async def test_links_are_followed_by_key_and_mouse() -> None:
    """n and N walk the links, Enter, o and a click follow one; without links these keys are free."""
    detail = Detail(ENTRY)
    app = Harness(lambda: [detail])
    async with app.run_test(size=(36, 20), message_hook=app.keep) as pilot:
        detail.focus()
        await pilot.press("enter", "n", "o", "N", "enter")
        await pilot.click(detail, offset=(14, 11))
        assert [message.target for message in app.of(Detail.Followed)] == [
            "journal#1",
            "plan#1",
            "journal#1",
            "plan#1",
        ]
        detail.show([Title("nothing to follow")])
        await pilot.press("enter", "n")
        assert len(app.of(Detail.Followed)) == 4
        assert not detail.check_action("follow", ())


MARKDOWN = [
    ("one\ntwo", ["one two"]),
    ("one\n\ntwo", ["one", "", "two"]),
    ("- a\n- b\n  - c\n", ["• a", "• b", "  • c"]),
    ("3. a\n4. b", ["3. a", "4. b"]),
    ("- a\n\n  more", ["• a", "  more"]),
    ("text\n\n- a\n\nend", ["text", "", "• a", "", "end"]),
    ("```sh\nx  y\n\nz\n```", ["  x  y", "  ", "  z"]),
    ("> quote\n> more", ["│ quote more"]),
    ("[guide](https://e.org/x)", ["guide (https://e.org/x)"]),
    ("<https://e.org>", ["https://e.org"]),
    ("![cat](c.png)", ["cat (c.png)"]),
    ("**b** *i* `c`", ["b i c"]),
    ("<b>raw</b>\n", ["<b>raw</b>"]),
    ("<div>\nraw\n</div>", ["  <div>", "  raw", "  </div>"]),
    ("| a | bb |\n|---|---|\n| 中 | 1 |", ["a   bb  ", "中  1   "]),
    ("#### deep\ntext", ["deep", "", "text"]),
    ("***", ["────────"]),
    ("-\n- x", ["• ", "• x"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), MARKDOWN)
def test_markdown_keeps_its_shape(text: str, expected: list[str]) -> None:
    """Each construct is drawn as a person would write it down."""
    assert [line_text(flow.content) for flow in render_markdown(text)] == expected


def test_markdown_has_tones_and_ascii() -> None:
    """Meaning goes into tones, signs come from the set of the terminal."""
    flows = render_markdown("- **b** `c` [l](u)", ASCII)
    assert [tuple(piece) for piece in flows[0].content if piece.text.strip()] == [
        ("* ", "muted"),
        ("b", "strong"),
        ("c", "code"),
        ("l", "accent"),
        (" (u)", "muted"),
    ]


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["- ", "> ", "```", "|a|", "\n", "1. ", "[x](y)", "  "])).map("".join)
)
def test_any_text_can_be_rendered(text: str) -> None:
    """No text crashes the renderer or gets a control character past it."""
    for flow in render_markdown(text):
        assert_safe(line_text(flow.content))


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_entries_are_only_text(name: str) -> None:
    """Every part of the detail shows what a file holds and obeys none of it."""
    text = HOSTILE[name]
    parts = [Title(text), Caption(text), Labelled(text, text), Labelled("a", line(text)), Prose(text)]
    parts += [Lines((line(text),)), Link(text, text, 1), Prose(text, markdown=True)]  # type: ignore[list-item]
    detail = Detail()
    app = Harness(lambda: [detail])
    async with app.run_test(size=(50, 6)) as pilot:
        for part in parts:
            detail.show([part])
            await pilot.pause()
            assert_safe(screen_text(app))
