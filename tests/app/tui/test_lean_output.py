"""The same picture with fewer bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from app.tui.lean_output import ENTER, LEAVE, lean, placed, staying

COLOURS = st.sampled_from([None, "#ff0000", "#00ff00", "color(9)", "red", "bright_black"])
STYLES = st.builds(
    Style,
    color=COLOURS,
    bgcolor=COLOURS,
    bold=st.booleans(),
    underline=st.booleans(),
    reverse=st.booleans(),
)
RUNS = st.lists(st.tuples(st.sampled_from(["a", "bc", "\x1b[3;4H", "\u2502"]), STYLES), max_size=12)


def drawn(data: str) -> list[tuple[str, frozenset[str]]]:
    """Return each character with the parameters that are in force for it."""
    found: list[tuple[str, frozenset[str]]] = []
    state: dict[str, str] = {}
    place = 0
    while place < len(data):
        if data.startswith("\x1b[", place):
            end = next(at for at in range(place + 2, len(data)) if data[at].isalpha())
            parts = data[place + 2 : end].split(";") if data[end] == "m" else []
            while parts:
                one = parts.pop(0)
                if one in ("38", "48"):
                    count = 4 if parts[0] == "2" else 2
                    one, parts = ";".join([one, *parts[:count]]), parts[count:]
                if one in ("", "0"):
                    state.clear()
                elif one.startswith(("38", "48")):
                    state[one[:2]] = one
                else:
                    kind = "38" if one[0] in "39" and len(one) > 1 else "48" if one[0] in "41" and len(one) > 1 else one
                    state[kind] = one
            if data[end] != "m":
                found.append((data[place : end + 1], frozenset()))
            place = end + 1
        else:
            found.append((data[place], frozenset(state.values())))
            place += 1
    return found


@given(RUNS)
def test_every_character_looks_as_before(runs: list[tuple[str, Style]]) -> None:
    """Whatever the styles are, each character has the same colours and attributes, in fewer or as many bytes."""
    data = "".join(style.render(text) if "\x1b" not in text else text for text, style in runs)
    assert drawn(lean(data)) == drawn(data)
    assert len(lean(data)) <= len(data)


def test_a_line_ends_only_where_the_cursor_stays() -> None:
    """The end of a line before the cursor is put elsewhere is left out, with the move to it."""
    assert lean("a\x1b[3;80H\n\x1b[4;1Hb\nc") == "a\x1b[4;1Hb\nc"


def test_the_cursor_is_put_behind_a_joined_emoji() -> None:
    """What is drawn after a family, a flag or a skin tone begins in its own column, however wide the terminal is."""
    family = "\U0001f469\u200d\U0001f467"
    width = cell_len(f"a {family}")
    assert placed(f"\x1b[2;5Ha {family}\x1b[0m|") == f"\x1b[2;5Ha {family}\x1b[2;{5 + width}H\x1b[0m|"
    assert placed("\x1b[2;5Hplain") == "\x1b[2;5Hplain"


def test_the_alternate_screen_stays_while_one_application_replaces_another() -> None:
    """The first way in is left out where the screen is shown already, a way out while the next one comes."""
    out: list[str] = []
    stays = False
    write = staying(out.append, lambda: stays, entered=True)
    for data in (ENTER, "a", LEAVE, ENTER):
        write(data)
    stays = True
    write(f"b{LEAVE}")
    assert out == ["a", LEAVE, ENTER, "b"]
