"""Plays hostile workspaces while `strace` looks on: every verb in a process of its own, then the application.

Run as a module it answers each request with what the verbs printed, and what they are allowed. A mark in the trace says
where a verb begins.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from tests.corpus.place import Impossible, digest, own_mounts
from tests.players import HOUSE, import_everything, memdeck, run, serve

from .case import Case
from .ground import Ground
from .judge import MARK

SCRIPT = "import sys\n\nfrom app.main import main\n\nsys.exit(main())\n"
"""What an installed `memdeck` is: a file in a folder of its own, which is where Python then looks first."""
_DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
VERBS: dict[str, str] = {
    "check": "check -o json",
    "status": "status",
    "tasks": "tasks list",
    "tasks json": "tasks list -o json",
    "journal": "journal list",
    "knowledge": "knowledge list",
    "contacts": "contacts list",
    "orchestration": "orchestration list",
    "monitors": "monitors list",
    "monitors json": "monitors list -o json",
    "config": "config list",
    "export": "monitors export",
    "search": "search evil",
    "changes": "changes list",
    "trust": "trust list",
    "trust json": "trust list --blocked -o json",
    "trust approve": "trust approve --workspace",
    "notify test": "notify test",
    "doctor": "doctor",
    "monitors check": "monitors check --all -o json --now 2024-01-15T12:00:00Z",
    "monitors check again": "monitors check --all --now 2024-01-15T12:20:00Z",
    "maintain": "--maintain --now 2024-03-15T12:00:00Z",
    "changes after": "changes list -o json",
}
"""Every verb that a case is played with, by the name that its part of the trace has."""
PROGRAMS = {
    "program list": "tasks list",
    "program doctor": "doctor",
    "program check": "monitors check --all --now 2024-03-15T12:20:00Z",
}
"""Those that start as programs of their own as well, where it matters how."""


@dataclass(slots=True)
class Report:
    """What came of a case: what is wrong, what verbs printed, and what the judge must know."""

    skip: str = ""
    violations: list[str] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)
    exits: dict[str, int] = field(default_factory=dict)
    allowed: dict[str, list[str]] = field(default_factory=dict)


def mark(kind: str, verb: str) -> None:
    """Leave a mark in the trace."""
    try:
        os.open(f"{MARK}/{kind}/{verb}", os.O_RDONLY)
    except OSError:
        pass


class Player:
    """Plays one case in a process that it may do with as it likes."""

    def __init__(self, case: Case, top: Path, script: Path) -> None:
        """Prepare nothing yet."""
        self.case = case
        self.script = script
        self.ground = Ground(top)
        self.report = Report()

    def play(self, *, screen: bool) -> Report:
        """Build the workspace and run every verb in it."""
        ground = self.ground
        ground.build()
        before_case = digest(ground, own=True)
        self.case.build(ground)
        outside = {path: what for path, what in digest(ground).items() if path.startswith("outside")}
        assert before_case != digest(ground, own=True) or ground.environ or self.case.mounts, (
            "nothing hostile was built"
        )
        self.report.allowed = ground.allowed()
        try:
            for verb, words in VERBS.items():
                self._verb(verb, partial(memdeck, words.split()))
            if screen:
                self._verb("screen", lambda: asyncio.run(_look(ground)))
            if self.case.program:
                for verb, words in PROGRAMS.items():
                    self._verb(verb, partial(self._program, words.split()))
        finally:
            for close in ground.closers:
                close()
        after = {path: what for path, what in digest(ground).items() if path.startswith("outside")}
        if outside != after:
            self.report.violations.append(f"outside changed: {sorted(after.keys() ^ outside.keys())}")
        return self.report

    def _program(self, words: list[str]) -> int:
        os.execve(sys.executable, [sys.executable, str(self.script), *words], dict(os.environ))

    def _verb(self, verb: str, work: Callable[[], int]) -> None:
        ended = run(lambda: self._in_place(verb, work))
        text = (ended.out + ended.err).decode("utf-8", "replace")
        self.report.printed[verb] = text
        self.report.exits[verb] = ended.code
        if ended.code not in (0, 1, 2, 3, 4, 75):
            self.report.violations.append(f"{verb} ends with {ended.code}: {text[-1500:]}")
        if "Traceback" in text or "internal: " in text:
            self.report.violations.append(f"{verb} fails unexpectedly: {text[-1500:]}")
        if drives := _DRIVES.search(text):
            self.report.violations.append(f"{verb} writes {drives[0]!a}")

    def _in_place(self, verb: str, work: Callable[[], int]) -> int:
        """Do work in the folder of the case, with the variables of the person's shell."""
        ground = self.ground
        os.environ |= {"XDG_STATE_HOME": str(ground.state), "XDG_CONFIG_HOME": str(ground.config)}
        os.environ |= {"HOME": str(ground.home), "TZ": "UTC", **ground.environ}
        os.chdir(ground.folder)
        mark("begin", verb)
        return work()


async def _look(ground: Ground) -> int:
    """Open the application with its watch on, go through the panes, follow links, and say no to what is asked."""
    from app.tui.app import MemdeckApp
    from app.tui.shell import Setup
    from memory.workspace import Workspace
    from tests.app.tui.tui_helpers import press, running
    from widgets.panes import all_panes

    now = datetime(2024, 3, 15, 13, 0, tzinfo=UTC)
    workspace = Workspace.open(ground.folder, state_home=Path(os.environ["XDG_STATE_HOME"]), machine_zone=UTC)
    app = MemdeckApp(workspace, Setup(clock=lambda: now, hand_over=nullcontext, environ=dict(os.environ)))
    async with running(app) as pilot:
        for pane in all_panes():
            await press(pilot, pane.key)
            if pane.id in ("tasks", "journal", "contacts", "monitors"):
                await pilot.press("enter", "o")
                await press(pilot, "escape")
            if pane.id in ("tasks", "monitors"):
                await press(pilot, "T", "enter", "escape")
        if "EDITOR" in ground.environ:
            await press(pilot, "2", "E")
        app._tick()
        await pilot.pause()
        assert app.is_running
    return 0


def _play(case: Case, top: Path, script: Path, *, screen: bool) -> dict[str, Any]:
    mark("host", case.name)
    player = Player(case, top, script)
    try:
        if case.mounts:
            own_mounts()
        report = player.play(screen=screen)
    except Impossible as error:
        report = Report(skip=str(error))
    except Exception:
        report = player.report
        report.violations.append(f"the case itself fails: {traceback.format_exc()}")
    report.allowed = report.allowed or player.ground.allowed()
    return {name: getattr(report, name) for name in Report.__slots__}


def main(folder: Path) -> None:
    """Answer requests until stdin ends; `folder` is where the program is laid."""
    import_everything()
    from .canaries import CANARIES
    from .catalogue import BY_NAME

    known = BY_NAME | {canary.case.name: canary.case for canary in CANARIES}
    script = folder / "memdeck"
    script.write_text(SCRIPT)
    os.environ |= {"PYTHONPATH": str(HOUSE), "PYTHONDONTWRITEBYTECODE": "1"}
    mark("host", "player")
    serve(
        "memdeck-hostile-",
        lambda request, top: _play(known[request["case"]], top, script, screen=request["screen"]),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
