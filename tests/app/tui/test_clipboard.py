"""Copying: the terminal gets Base64, the desktop's program gets text on its standard input, neither gets controls."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from app.tui.clipboard import find_tool, give_to_tool, safe_text
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running
from tests.widgets.harness import HOSTILE, assert_safe


def program(folder: Path, name: str, script: str) -> Path:
    """A program of a name in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_copied_cannot_press_keys(text: str) -> None:
    """No control character but tab and line end is left, and what is left can be encoded."""
    safe = safe_text(text)
    safe.encode("utf-8")
    assert not [one for one in safe if (ord(one) < 0x20 and one not in "\n\t") or 0x7F <= ord(one) <= 0x9F]
    assert safe_text(safe) == safe


def test_the_program_is_that_of_the_desktop(tmp_path: Path) -> None:
    """wl-copy under Wayland, xclip before xsel under X, pbcopy on a Mac, nothing without a desktop."""
    folder = tmp_path / "bin"
    for name in ("wl-copy", "xclip", "xsel", "pbcopy"):
        program(folder, name, "exit 0")
    path = {"PATH": str(folder)}
    assert find_tool(path, "linux") is None
    assert find_tool({**path, "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "linux")[0] == str(folder / "wl-copy")
    assert find_tool({**path, "DISPLAY": ":0"}, "linux")[0] == str(folder / "xclip")
    (folder / "xclip").unlink()
    assert find_tool({**path, "DISPLAY": ":0"}, "linux")[0] == str(folder / "xsel")
    assert find_tool(path, "darwin") == (str(folder / "pbcopy"),)


def test_a_program_of_the_workspace_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty and relative folders of PATH, where a file of the workspace could pose as the program, do not count."""
    program(tmp_path / "bin", "xclip", "exit 0")
    program(tmp_path, "xclip", "exit 0")
    monkeypatch.chdir(tmp_path)
    for path in ("", ":", ".", "bin", ":bin:."):
        assert find_tool({"PATH": path, "DISPLAY": ":0"}, "linux") is None


def test_the_text_comes_by_standard_input_only(tmp_path: Path) -> None:
    """The program sees the text on its input and nothing of it among its arguments; its failure is no error."""
    path = program(tmp_path / "bin", "xclip", 'echo "$@" > "$OUT.args"; cat > "$OUT"')
    environ = {"PATH": os.environ["PATH"], "OUT": str(tmp_path / "out")}
    assert give_to_tool((str(path), "-in"), "secret\nsentence", environ)
    assert (tmp_path / "out").read_text() == "secret\nsentence"
    assert (tmp_path / "out.args").read_text() == "-in\n"
    failing = program(tmp_path / "bin", "failing", "exit 3")
    assert not give_to_tool((str(failing),), "x", environ)
    assert not give_to_tool((str(tmp_path / "none"),), "x", environ)


async def test_y_copies_through_terminal_and_desktop(workspace: Workspace, tmp_path: Path) -> None:
    """y and Y write OSC 52 with the text in Base64, and hand the same text to the desktop's program."""
    program(tmp_path / "bin", "xclip", 'cat > "$OUT"')
    out = tmp_path / "out"
    environ = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "DISPLAY": ":0", "OUT": str(out)}
    tasks = workspace.memory / "tasks.md"
    tasks.write_bytes(tasks.read_bytes().replace(b"### [HIGH] Deploy", b"### [HIGH] \x1b]52;c;eA==\x07\xff Deploy", 1))
    app = make_app(workspace, environ=environ)
    async with running(app) as pilot:
        written: list[str] = []
        assert app._driver is not None
        app._driver.write = written.append  # type: ignore[method-assign]
        await press(pilot, "j", "Y")
        sent = [text for text in written if text.startswith("\x1b]52;c;")]
        assert len(sent) == 1
        copied = base64.b64decode(sent[0].removeprefix("\x1b]52;c;").removesuffix("\a")).decode("utf-8")
        assert "Deploy v2.1" in copied
        assert_safe(copied)
        assert out.read_text("utf-8") == copied
