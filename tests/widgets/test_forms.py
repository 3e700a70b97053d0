"""Forms, their editors and dialogs: what goes in comes out, errors stand beside the field."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.examples import in_turn
from tests.pilots import without_frames
from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.pick import Confirm
from widgets.input.fields import FieldSpec
from widgets.input.form import Form
from widgets.text.styled_text import line


def percent(value: str) -> str | None:
    """An error for what is no percentage."""
    return None if not value or (value.isdecimal() and int(value) <= 100) else "a number from 0 to 100"


FIELDS = (
    FieldSpec("title", "title", value="Deploy"),
    FieldSpec("priority", "priority", "choice", "HIGH", options=("HIGH", "NORMAL", "LOW")),
    FieldSpec("progress", "progress", "number", validate=percent),
    FieldSpec("recurring", "recurring", "cron", hint=lambda value: f"next: {value}!" if value else ""),
    FieldSpec("notes", "notes", "multiline", "one\ntwo"),
    FieldSpec("journal", "journal", "bool", "yes"),
    FieldSpec("colour", "colour", value="blue", known=False),
)


class Shown:
    """A screen on a harness, and what it was left with."""

    def __init__(self, screen: Screen[object]) -> None:
        self.app = Harness()
        self.screen = screen
        self.results: list[object] = []

    async def open(self, pilot: Pilot[None]) -> None:
        """Push the screen."""
        self.app.push_screen(self.screen, self.results.append)
        await pilot.pause()


async def run(
    screen: Screen[object],
    *keys: str,
    size: tuple[int, int] = (80, 24),
    look: Callable[[Shown], None] | None = None,
) -> Shown:
    """Show a screen, press keys, look at it."""
    shown = Shown(screen)
    with without_frames():
        async with shown.app.run_test(size=size, message_hook=shown.app.keep) as pilot:
            await shown.open(pilot)
            await pilot.press(*keys)
            await pilot.pause()
            screen_text(shown.app)
            if look:
                look(shown)
    return shown


async def test_saving_untouched_gives_every_value_back() -> None:
    """Known and unknown fields come out exactly as they went in."""
    shown = await run(Form("Edit", FIELDS), "ctrl+s")
    assert shown.results == [{spec.name: spec.value for spec in FIELDS}]


async def test_typing_changes_one_value() -> None:
    """Each kind of field is edited with its own keys; the draft hook sees it."""
    keys = ["end", "!", "tab", "right", "tab", "4", "5", "tab", "tab", "x", "tab", "n", "ctrl+s"]
    shown = await run(Form("Edit", FIELDS), *keys)
    values = {spec.name: spec.value for spec in FIELDS}
    values |= {
        "title": "Deploy!",
        "priority": "NORMAL",
        "progress": "45",
        "notes": "xone\ntwo",
        "journal": "no",
    }
    assert shown.results == [values]
    assert shown.app.of(Form.Edited)[-1].values == values


async def test_an_error_stands_beside_its_field_and_keeps_the_form() -> None:
    """Saving goes to the field that is wrong; putting it right lets the form go."""

    def look(shown: Shown) -> None:
        assert "a number from 0 to 100" in screen_text(shown.app)
        assert shown.screen.errors() == {"progress": "a number from 0 to 100"}  # type: ignore[attr-defined]
        assert shown.results == []

    await run(Form("Edit", FIELDS), "tab", "tab", "1", "4", "5", "shift+tab", "ctrl+s", look=look)
    shown = await run(Form("Edit", FIELDS), "tab", "tab", "1", "4", "5", "shift+tab", "ctrl+s", "backspace", "ctrl+s")
    assert shown.results[0]["progress"] == "14"  # type: ignore[index]


def _assert_shown(shown: Shown, text: str) -> None:
    assert text in screen_text(shown.app)


NEEDY = (
    FieldSpec("title", "title", required=True, placeholder="what is to be done"),
    FieldSpec("priority", "priority", "choice", "NORMAL", options=("HIGH", "NORMAL", "LOW")),
    FieldSpec("due", "due", "date"),
    FieldSpec("notes", "notes", "multiline", "one\ntwo"),
    FieldSpec("more", "more", hint=lambda _: "a hint of many words " * 6),
    FieldSpec("type", "type", "choice", "tcp", options=("http", "command", "tcp", "file", "heartbeat")),
    FieldSpec("action", "action"),
)


async def test_what_is_needed_is_marked_and_said() -> None:
    """A mark behind the label, what it means at the foot, and `needed` beside the field when it is empty."""
    form = Form("New", NEEDY)

    def marked(shown: Shown) -> None:
        _assert_shown(shown, "title *")
        _assert_shown(shown, "* required")
        assert "due *" not in screen_text(shown.app)

    await run(form, look=marked)
    form = Form("New", NEEDY)

    def said(shown: Shown) -> None:
        assert form.errors() == {"title": "required"}
        assert shown.results == []

    await run(form, "space", "ctrl+s", look=said)
    assert (await run(Form("New", NEEDY), "x", "ctrl+s")).results[0]["title"] == "x"  # type: ignore[index]


async def test_escape_asks_only_when_something_changed() -> None:
    """Unchanged forms close; changed ones ask, and no is the default."""
    assert (await run(Form("Edit", FIELDS), "escape")).results == [None]
    assert (await run(Form("Edit", FIELDS), "x", "escape", "enter")).results == []
    assert (await run(Form("Edit", FIELDS), "x", "escape", "y")).results == [None]
    assert (await run(Form("Edit", FIELDS), "x", "backspace", "escape")).results == [None]


@pytest.mark.parametrize("size", [(40, 10), (24, 6), (1, 1)])
async def test_forms_work_in_small_terminals(size: tuple[int, int]) -> None:
    """At 40 by 10 and below every field can be reached and saved."""
    shown = await run(Form("Edit", FIELDS), *["tab"] * 6, "end", "!", "ctrl+s", size=size)
    assert shown.results[0]["colour"] == "blue!"  # type: ignore[index]


KINDS = ("text", "multiline", "choice")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough(but=in_turn(KINDS, [*HOSTILE]))
async def test_hostile_values_survive_editing(name: str, kind: str) -> None:
    """A value with control characters is shown safely and saved unchanged, alone or with one key more."""
    text = HOSTILE[name]
    spec = FieldSpec("x", text, kind, text, options=(text, "other"), hint=lambda value: value, suggestions=(text,))  # type: ignore[arg-type]
    shown = await run(Form(text, [spec]), "ctrl+s", look=lambda shown: assert_safe(screen_text(shown.app)))
    assert shown.results == [{"x": text}]
    if kind == "multiline" and "\r" not in text:
        shown = await run(Form(text, [spec]), "!", "ctrl+s")
        assert shown.results == [{"x": f"!{text}"}]
    if kind == "text" and "\n" not in text:
        shown = await run(
            Form("Edit", [spec]),
            "home",
            "!",
            "ctrl+s",
            look=lambda shown: assert_safe(screen_text(shown.app)),
        )
        assert shown.results == [{"x": f"!{text}"}]


@pytest.mark.parametrize(
    ("keys", "danger", "expected"),
    [
        (["enter"], False, True),
        (["enter"], True, False),
        (["up", "enter"], True, True),
        (["y"], True, True),
        (["n"], False, False),
        (["escape"], False, False),
    ],
)
async def test_questions(keys: list[str], danger: bool, expected: bool) -> None:
    """Enter gives the safe answer, y and n say it plainly, and are shown beside the answers."""

    def look(shown: Shown) -> None:
        _assert_shown(shown, "y  Yes")
        _assert_shown(shown, "n  No")

    await run(Confirm("Remove [/nope]?", "It \x1b goes.", danger=danger), look=look)
    shown = await run(Confirm("Remove [/nope]?", "It \x1b goes.", danger=danger), *keys)
    assert shown.results == [expected]


async def test_a_plan_is_shown_before_it_is_applied() -> None:
    """Long plans scroll, Enter applies, Escape leaves, and an empty one cannot be applied."""
    plan = [line(f"[/{number}] moves \x1b") for number in range(100)]

    def look(shown: Shown) -> None:
        assert_safe(screen_text(shown.app))
        _assert_shown(shown, "[/99] moves")
        _assert_shown(shown, "before 100 = kept 0")
        _assert_shown(shown, "Enter apply")

    for size in ((80, 24), (40, 10)):
        await run(Preview("Plan", plan, summary="before 100 = kept 0"), "G", size=size, look=look)
    assert (await run(Preview("Plan", plan), "enter")).results == [True]
    assert (await run(Preview("Plan", plan), "escape")).results == [None]
    assert (await run(Preview("Plan", [], applicable=False), "enter")).results == []
    assert (await run(Preview("Plan", plan), "enter", size=(1, 1))).results == [True]
