"""A day's work in a real terminal: the application over the sample workspace, by keyboard, beside an agent."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.terminal.conftest import HOUSE, NOW
from tests.terminal.tmux import Terminal, memdeck, needs_tmux

pytestmark = [pytest.mark.terminal, needs_tmux]


SIZES = [(120, 36), (80, 24), (40, 10)]
PANES = (
    ("1", "FAILING"),
    ("3", "Heartbeat Check"),
    ("4", "User Preferences"),
    ("5", " facts"),
    ("6", "ACTIVE"),
    ("7", "Disk Space"),
    ("7", "Channels"),
    ("8", "RULES AND PREFERENCES"),
    ("9", "NEEDS YOUR APPROVAL"),
    ("0", "Changes"),
    ("2", "PENDING"),
)
"""The keys that open the panes, and what each shows first."""


def open_in(shop: Path, size: tuple[int, int], *words: str, editor: str = "ed") -> Terminal:
    """Open the application in a terminal of a size."""
    environ = {"XDG_STATE_HOME": str(shop.parent / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE), "EDITOR": editor}
    return Terminal(shop.parent, memdeck(str(shop), "--now", NOW, *words), size, environ)


def file(shop: Path, name: str) -> str:
    """Return a memory file's text, empty where there is none."""
    path = shop / ".aiter" / "memory" / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def put(shop: Path, name: str, old: str, new: str) -> None:
    """Edit a memory file as an agent does, from outside."""
    before = file(shop, name)
    assert old in before
    (shop / ".aiter" / "memory" / name).write_text(before.replace(old, new, 1), encoding="utf-8")


def editor_in(folder: Path) -> str:
    """Return an editor that adds a field to what it is given, and needs the terminal for it."""
    script = folder / "editor"
    script.write_text(
        "#!/bin/sh\ntest -t 0 && test -t 1 || exit 9\necho '- context: by the editor' >> \"$1\"\n", encoding="utf-8"
    )
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.thorough(but=("(80, 24)",))
def test_a_day(shop: Path, size: tuple[int, int]) -> None:
    """Every pane; a task and a journal entry are added, edited, finished, archived and brought back by keys."""
    put(shop, "config.md", "archiveCompletedAfterDays: 7", "archiveCompletedAfterDays: 0")
    put(shop, "config.md", "pruneJournalAfterDays: 30", "pruneJournalAfterDays: 0")
    with open_in(shop, size, editor=editor_in(shop.parent)) as terminal:
        terminal.wait_for("Deploy v2.1")
        for keys, sign in PANES:
            terminal.press(*keys)
            terminal.wait_for(sign)

        terminal.press("a")
        terminal.type("Write release notes")
        terminal.press("C-s")
        terminal.wait_until(
            lambda: "### [NORMAL] Write release notes" in file(shop, "tasks.md"), "the task is in the file"
        )
        terminal.press("/")
        terminal.type("release notes")
        terminal.press("Enter")
        terminal.wait_for(lambda screen: "Write release" in screen and "Deploy" not in screen)
        terminal.press("e", "End")
        terminal.type(", soon")
        terminal.press("C-s")
        terminal.wait_until(lambda: "] Write release notes, soon" in file(shop, "tasks.md"), "its title is edited")
        terminal.wait_for("notes, soon")
        terminal.press("E")
        terminal.wait_until(lambda: "context: by the editor" in _task(shop), "the editor's field is in the file")
        terminal.wait_for("Write release")
        assert terminal.value("#{alternate_on}") == "1"
        terminal.press("s")
        terminal.wait_until(lambda: "started: 2024-01-15" in _task(shop), "it is started")
        terminal.press("d")
        terminal.type("published")
        terminal.press("Enter")
        terminal.wait_until(lambda: "outcome: published\n" in _task(shop), "it is done")
        terminal.press("Escape")

        put(shop, "tasks.md", "## Pending\n", "## Pending\n\n### [HIGH] By an agent\n- created: 2024-01-15\n")
        begun = time.monotonic()
        terminal.press("g", "g")
        terminal.wait_for("By an agent")
        assert time.monotonic() - begun < PATIENCE

        terminal.press("A")
        terminal.wait_for("Enter apply")
        terminal.press("Enter")
        terminal.wait_until(
            lambda: not _task(shop) and "Write release" in file(shop, "archive/tasks-2024-01.md"), "archived"
        )
        terminal.press("u")
        terminal.wait_until(lambda: "outcome: published" in _task(shop), "the archive run is undone")

        terminal.press("3", "a")
        terminal.type("Retrospective")
        terminal.press("C-s")
        terminal.wait_until(lambda: "— Retrospective" in file(shop, "journal.md"), "the journal entry is in the file")
        terminal.wait_for("Retrospective")
        terminal.press("e", "End")
        terminal.type(", short")
        terminal.press("C-s")
        terminal.wait_until(lambda: "— Retrospective, short" in file(shop, "journal.md"), "the journal entry is edited")
        terminal.press("P")
        terminal.wait_for("Enter apply")
        terminal.press("Enter")
        terminal.wait_until(
            lambda: (
                "Retrospective, short" in file(shop, "archive/journal-2024-01.md")
                and "Retrospective" not in file(shop, "journal.md")
            ),
            "the journal is pruned",
        )
        terminal.press("u")
        terminal.wait_until(lambda: "Retrospective, short" in file(shop, "journal.md"), "the journal is back")

        terminal.press("q")
        terminal.wait_for("ended with 0")
        assert terminal.value("#{alternate_on}") == "0"
        assert terminal.value("#{mouse_any_flag}") == "0"
        assert terminal.value("#{cursor_flag}") == "1"


def _task(shop: Path) -> str:
    """Return the part of tasks.md that the new task takes, empty where it is not there."""
    _, found, rest = file(shop, "tasks.md").partition("Write release notes, soon")
    return found + rest.partition("\n### ")[0]


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10), (20, 4), (1, 1)])
@pytest.mark.thorough
def test_any_size_opens_and_closes(shop: Path, size: tuple[int, int]) -> None:
    """From wide to one cell: it opens, takes keys, changes its size, and leaves without a traceback."""
    with open_in(shop, (90, 30), "--pane", "brief") as terminal:
        terminal.wait_for("Brief")
        terminal.resize(*size)
        terminal.press("2", "j", "j", "Enter", "Escape", "3", "G")
        terminal.resize(100, 30)
        terminal.wait_for("Journal")
        terminal.press("q")
        shown = terminal.wait_for("ended with")
        assert "ended with 0" in shown
        assert "Traceback" not in shown


def test_hostile_titles_do_not_drive_the_terminal(shop: Path) -> None:
    """Escapes, markup and bidirectional controls in files are shown, never obeyed."""
    path = shop / ".aiter" / "memory" / "tasks.md"
    text = file(shop, "tasks.md").replace(
        "## Pending\n",
        "## Pending\n\n### [HIGH] \x1b]0;owned\x07\x1b[31m[/nope] \u202egpj.exe \x9b2J\n- created: 2024-01-15\n",
        1,
    )
    path.write_text(text, encoding="utf-8")
    with open_in(shop, (120, 36)) as terminal:
        terminal.wait_for("\\x1b]0;owned\\x07")
        assert "owned" not in terminal.value("#{pane_title}")
        assert "[/nope]" in terminal.screen()
        terminal.press("G", "g", "g", "Enter", "e")
        terminal.wait_for("Edit task")
        terminal.press("Escape", "Escape", "q")
        terminal.wait_for("ended with 0")


def test_a_folder_without_memory_offers_to_make_one(tmp_path: Path) -> None:
    """The first start in a folder asks; creating it makes the files and opens them."""
    folder = tmp_path / "new"
    folder.mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(HOUSE)}
    with Terminal(tmp_path, memdeck(str(folder), "--now", NOW), (80, 24), environ) as terminal:
        terminal.wait_for("reate")
        assert not (folder / ".aiter").exists()
        terminal.press("c")
        terminal.wait_until(lambda: (folder / ".aiter" / "memory" / "tasks.md").exists(), "the files are there")
        terminal.wait_for("Tasks")
        terminal.press("q")
        terminal.wait_for("ended with 0")


@pytest.mark.thorough
def test_letters_typed_behind_a_key_are_text(shop: Path) -> None:
    """What is typed at once behind `/`, `a` and a pane's number goes into what these open, and is no command."""
    with open_in(shop, (120, 36)) as terminal:
        terminal.wait_for("Deploy v2.1 to staging")
        before = file(shop, "tasks.md")
        terminal.type("/release deploys")
        terminal.wait_for("/ release deploys")
        terminal.press("Escape")
        terminal.type("aRelease notes, drafted")
        terminal.wait_for("Release notes, drafted")
        terminal.press("Escape", "y")
        terminal.type("42/Deploy")
        terminal.wait_for(lambda screen: "/ Deploy" in screen and "PENDING" in screen)
        assert file(shop, "tasks.md") == before
        terminal.press("Escape", "q")
        terminal.wait_for("ended with 0")


def test_keys_sent_at_once_arrive_in_order(shop: Path) -> None:
    """A whole form in one burst, as a paste or a macro sends it: nothing is cut off and nothing overtakes."""
    title = "A task whose title is long enough to take a while to type, letter by letter, into its field"
    with open_in(shop, (120, 36)) as terminal:
        terminal.wait_for("Deploy v2.1 to staging")
        terminal.type(f"a{title}\x13")
        terminal.wait_until(lambda: title in file(shop, "tasks.md"), "the whole title is in the file")
        terminal.wait_for(lambda screen: "New task" not in screen)
        terminal.type("dfinished with care and a rather long outcome, too\r")
        terminal.wait_until(
            lambda: "finished with care and a rather long outcome, too\n" in file(shop, "tasks.md"), "outcome"
        )
        terminal.type("q")
        terminal.wait_for("ended with 0")
