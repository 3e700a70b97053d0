"""A day's work in a real terminal: the application over the sample workspace, by keyboard, beside an agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.terminal.tmux import Terminal, memdeck, needs_tmux, wait_until

pytestmark = [pytest.mark.terminal, needs_tmux]
NOW = "2024-01-15T10:50:00Z"
HOUSE = Path(__file__).parents[2]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a sample workspace."""
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    subprocess.run(
        memdeck("demo", str(tmp_path / "shop"), "--no-open", "--now", NOW), check=True, env=environ, cwd=tmp_path
    )
    return tmp_path / "shop"


def open_in(shop: Path, size: tuple[int, int], *words: str) -> Terminal:
    """Open the application in a terminal of a size."""
    environ = {"XDG_STATE_HOME": str(shop.parent / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE), "EDITOR": "ed"}
    return Terminal(shop.parent, memdeck(str(shop), "--now", NOW, *words), size, environ)


def file(shop: Path, name: str) -> str:
    """Return a memory file's text."""
    return (shop / ".aiter" / "memory" / name).read_text(encoding="utf-8")


def test_a_day(shop: Path) -> None:
    """Look around, add, start and finish a task, see an agent's change, undo, maintain, and leave."""
    with open_in(shop, (120, 36)) as terminal:
        terminal.wait_for("Deploy v2.1 to staging")
        for key, sign in (("3", "Heartbeat"), ("4", "User Preferences"), ("5", "Dev Team Bot"), ("7", "Disk Space")):
            terminal.press(key)
            terminal.wait_for(sign)
        terminal.press("2")
        terminal.wait_for("PENDING")

        terminal.press("a")
        terminal.wait_for("Add a task")
        terminal.type("Write the release notes")
        terminal.wait_for("Write the release notes")
        terminal.press("C-s")
        wait_until(lambda: "### [NORMAL] Write the release notes" in file(shop, "tasks.md"), "the task is in the file")
        terminal.wait_for(lambda screen: "Add a task" not in screen and "Write the release notes" in screen)

        terminal.press("/")
        terminal.type("release notes")
        terminal.wait_for("1 of")
        terminal.press("Enter")
        terminal.press("s")
        wait_until(lambda: "started: 2024-01-15" in _entry(shop, "Write the release notes"), "it is started")
        terminal.press("d")
        terminal.wait_for("utcome")
        terminal.type("published")
        terminal.press("Enter")
        wait_until(lambda: "outcome: published" in _entry(shop, "Write the release notes"), "it is done")
        terminal.press("Escape")

        agent = file(shop, "tasks.md").replace(
            "## Pending\n", "## Pending\n\n### [HIGH] Seen by an agent\n- created: 2024-01-15\n", 1
        )
        (shop / ".aiter" / "memory" / "tasks.md").write_text(agent, encoding="utf-8")
        terminal.wait_for("Seen by an agent")

        terminal.press("A")
        terminal.wait_for("Enter apply")
        terminal.press("Enter")
        wait_until(
            lambda: (
                "Log in with passkeys" not in file(shop, "tasks.md")
                and "Log in with passkeys" in file(shop, "archive/tasks-2024-01.md")
            ),
            "completed tasks are in the archive",
        )
        terminal.press("u")
        wait_until(lambda: "Log in with passkeys" in file(shop, "tasks.md"), "the archive run is undone")

        terminal.press("q")
        terminal.wait_for("ended with 0")
        assert terminal.value("#{alternate_on}") == "0"
        assert terminal.value("#{mouse_any_flag}") == "0"


def _entry(shop: Path, title: str) -> str:
    """Return the part of tasks.md that one task takes."""
    return file(shop, "tasks.md").partition(title)[2].partition("\n### ")[0]


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10), (20, 4), (1, 1)])
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
        terminal.wait_for("Edit a task")
        terminal.press("Escape", "Escape", "q")
        terminal.wait_for("ended with 0")


@pytest.mark.parametrize("signal", ["TERM", "HUP", "INT"])
def test_signals_restore_the_terminal(shop: Path, signal: str) -> None:
    """A signal ends the application, and the terminal is as it was."""
    with open_in(shop, (100, 30)) as terminal:
        terminal.wait_for("Deploy v2.1 to staging")
        children = subprocess.run(
            ["pgrep", "-P", terminal.value("#{pane_pid}")], capture_output=True, text=True, check=True
        )
        subprocess.run(["kill", f"-{signal}", children.stdout.split()[0]], check=True)
        terminal.wait_for("ended with")
        assert terminal.value("#{alternate_on}") == "0"
        assert terminal.value("#{mouse_any_flag}") == "0"
        assert terminal.value("#{cursor_flag}") == "1"


def test_a_folder_without_memory_offers_to_make_one(tmp_path: Path) -> None:
    """The first start in a folder asks; creating it makes the files and opens them."""
    folder = tmp_path / "new"
    folder.mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(HOUSE)}
    with Terminal(tmp_path, memdeck(str(folder), "--now", NOW), (80, 24), environ) as terminal:
        terminal.wait_for("reate")
        assert not (folder / ".aiter").exists()
        terminal.press("c")
        wait_until(lambda: (folder / ".aiter" / "memory" / "tasks.md").exists(), "the files are there")
        terminal.wait_for("Tasks")
        terminal.press("q")
        terminal.wait_for("ended with 0")


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
        wait_until(lambda: title in file(shop, "tasks.md"), "the whole title is in the file")
        terminal.wait_for(lambda screen: "Add a task" not in screen)
        terminal.type("dfinished with care and a rather long outcome, too\r")
        wait_until(lambda: "finished with care and a rather long outcome, too\n" in file(shop, "tasks.md"), "outcome")
        terminal.type("q")
        terminal.wait_for("ended with 0")
