"""`memdeck screen`: every pane as text, safe, with refs that the other verbs take, and without a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.app.cli.conftest import HOSTILE, NOW, Answer
from tests.widgets.harness import assert_safe
from widgets.panes import panes_for

Memdeck = Callable[..., Answer]


@pytest.mark.parametrize("pane", [name.id for name in panes_for(())])
def test_every_pane_is_printed(memdeck: Memdeck, shop: Path, pane: str) -> None:
    """So many lines of at most so many columns, with the title of the pane."""
    shown = memdeck("screen", pane, "--size", "80x24", "-o", "json")
    assert (shown.code, shown.err) == (0, "")
    data = shown.data
    assert len(data["lines"]) == 24
    assert max(map(len, data["lines"])) <= 80
    assert data["title"] in "\n".join(data["lines"])
    assert (data["pane"], data["columns"], data["rows"]) == (pane, 80, 24)


def test_people_and_programs_see_the_same(memdeck: Memdeck, shop: Path) -> None:
    """The lines of the text are those of the JSON."""
    lines = memdeck("screen", "tasks", "-o", "json").data["lines"]
    assert memdeck("screen", "tasks").out.splitlines() == lines


def test_entries_have_refs_that_other_verbs_take(memdeck: Memdeck, shop: Path) -> None:
    """The ref of a row leads to the same entry on the command line and back under the cursor."""
    data = memdeck("screen", "tasks", "-o", "json").data
    rows = data["entries"]
    assert len(rows) == data["total"] > 3
    for row in rows:
        assert row["text"].split()[-1] in data["lines"][row["line"] - 1]
    last = rows[-1]["ref"]
    title = memdeck("tasks", "show", last, "-o", "json").data["task"]["title"]
    again = memdeck("screen", "tasks", "--at", last, "-o", "json").data
    assert [row["ref"] for row in again["entries"] if row["cursor"]] == [last]
    assert title[:10] in "\n".join(again["lines"])
    assert memdeck("screen", "tasks", "--at", last.split("#")[1]).code == 0


def test_a_filter_narrows_it(memdeck: Memdeck, shop: Path) -> None:
    """Only what fits is in it, as in the application."""
    data = memdeck("screen", "tasks", "--filter", "deploy", "-o", "json").data
    assert 0 < data["total"] < memdeck("screen", "tasks", "-o", "json").data["total"]


@pytest.mark.parametrize("size", ["1x1", "3x2", "40x10", "200x60"])
def test_every_size_is_drawn(memdeck: Memdeck, shop: Path, size: str) -> None:
    """From a single cell on."""
    assert memdeck("screen", "tasks", "--size", size).out.count("\n") == int(size.split("x")[1])


@pytest.mark.thorough
def test_the_locale_c_gets_signs_of_ascii(process: Callable[..., CompletedProcess[bytes]], shop: Path) -> None:
    """Frames, signs and what is cut are ASCII where the application draws them so; programs get every sign."""
    for pane in ("brief", "journal", "tasks"):
        shown = process("--now", NOW, "screen", pane, "--size", "60x20", LC_ALL="C").stdout.decode()
        assert shown.replace("✓", "").isascii(), "the check mark stands in the entry itself"
        assert "+--" in shown
    assert "..." in shown
    assert "╭" in process("--now", NOW, "screen", "tasks", LC_ALL="C.UTF-8").stdout.decode()
    assert "╭" in json.loads(process("screen", "tasks", "-o", "json", LC_ALL="C").stdout)["lines"][1]


def test_frames_can_be_left_out(memdeck: Memdeck, shop: Path) -> None:
    """A screen reader gets words, the cursor's mark and no boxes."""
    shown = memdeck("screen", "tasks", "--no-frames").out
    assert not [one for one in shown if 0x2500 <= ord(one) < 0x2588]
    assert "▌" in shown
    assert "Deploy v2.1" in shown


def test_hostile_content_is_escaped(memdeck: Memdeck, memory: Path) -> None:
    """No control or hidden character of a file comes through, in lines and in JSON."""
    text = "---\ntype: task-list\n---\n\n## Pending\n\n"
    for title in HOSTILE:
        text += f"### [HIGH] {title}\n- notes: {title}\n\n".replace("\x85", " ")
    (memory / "tasks.md").write_bytes(text.encode("utf-8"))
    assert_safe(memdeck("screen", "tasks").out)
    data = memdeck("screen", "tasks", "-o", "json").data
    for row in data["entries"]:
        assert_safe(row["text"])


def test_nothing_is_left_behind(memdeck: Memdeck, shop: Path) -> None:
    """The files, and what is remembered of panes, are as they were."""

    def everything() -> dict[str, bytes]:
        # The log of changes may be made when it is first looked into.
        paths = (path for path in sorted(shop.parent.rglob("*")) if not path.name.startswith("changes.sqlite"))
        return {str(path): path.read_bytes() for path in paths if path.is_file()}

    memdeck("tasks", "list")
    before = everything()
    memdeck("screen", "journal")
    memdeck("screen", "tasks", "--filter", "x")
    assert everything() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nowhere"], "usage.pane"),
        (["tasks", "--size", "80"], "usage.value"),
        (["tasks", "--size", "0x5"], "usage.value"),
        (["tasks", "--size", "2000x10"], "usage.value"),
        (["tasks", "--at", "tasks#0000000000"], "entry.not_found"),
    ],
)
def test_what_cannot_be_shown_is_refused(memdeck: Memdeck, shop: Path, words: list[str], code: str) -> None:
    """An unknown pane, an impossible size and a ref that leads nowhere are wrong usage."""
    answer = memdeck("screen", *words)
    assert answer.code == 2
    assert code in answer.err
