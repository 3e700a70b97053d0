"""Draws the pictures of the README: the real application over the sample workspace at a fixed time.

`python -m screenshots.make [NAME…]` writes `screenshots/NAME.svg`; without a name all of them. The same source gives
the same pictures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

    from app.tui.memdeck_app import MemdeckApp

HERE = Path(__file__).parent
NOW = datetime(2024, 1, 15, 10, 50, tzinfo=UTC)
WIDE, USUAL, SMALL = (120, 36), (80, 24), (40, 10)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the pane that is open, the size of the terminal, and the keys pressed before it is taken."""

    name: str
    pane: str
    size: tuple[int, int] = WIDE
    keys: tuple[str, ...] = ()
    theme: str | None = None


PICTURES = (
    Picture("brief", "brief"),
    Picture("tasks", "tasks"),
    Picture("journal", "journal"),
    Picture("knowledge", "knowledge"),
    Picture("contacts", "contacts"),
    Picture("plans", "plans"),
    Picture("monitors", "monitors"),
    Picture("config", "config"),
    Picture("archive", "archive"),
    Picture("changes", "tasks", keys=("s", "0")),
    Picture("maintain", "tasks", keys=("M",)),
    Picture("form", "tasks", keys=("e",)),
    Picture("help", "tasks", keys=("question_mark",)),
    Picture("palette", "tasks", keys=("colon", "a", "r", "c")),
    Picture("filter", "tasks", keys=("slash", "a", "p", "i")),
    Picture("tasks-light", "tasks", theme="memdeck-light"),
    Picture("tasks-80x24", "tasks", USUAL),
    Picture("tasks-40x10", "tasks", SMALL),
)


def draw(picture: Picture) -> str:
    """Return a picture as SVG."""
    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(_draw(picture, Path(home)))


def application(picture: Picture, home: Path) -> MemdeckApp:
    """Return the application over a sample workspace in a home folder, as a picture wants it."""
    from app.demo import demo_files
    from app.tui.memdeck_app import MemdeckApp
    from memory.workspace import Workspace

    root = home / "src" / "shop"
    workspace, _ = Workspace.init(
        root, NOW, actor="cli", state_home=home / "state", machine_zone=UTC, files=demo_files(NOW, UTC)
    )
    app = MemdeckApp(
        workspace,
        clock=lambda: NOW,
        pane=picture.pane,
        path=str(root),
        environ={"HOME": str(home), "LANG": "C.UTF-8"},
        watches=False,
    )
    app.animation_level = "none"
    if picture.theme:
        app.theme = picture.theme
    return app


async def _draw(picture: Picture, home: Path) -> str:
    app = application(picture, home)
    async with app.run_test(size=picture.size) as pilot:
        await settle(app, pilot)
        for key in picture.keys:
            await pilot.press(key)
            await settle(app, pilot)
        return app.export_screenshot(title="memdeck")


async def settle(app: App[Any], pilot: Pilot[Any]) -> None:
    """Wait until nothing is being read, written or drawn."""
    await app.workers.wait_for_complete()
    await pilot.pause()
    while not app.idle:  # type: ignore[attr-defined]
        await app.workers.wait_for_complete()
        await pilot.pause()
    await pilot.wait_for_scheduled_animations()


def main(names: list[str]) -> int:
    """Write the named pictures, or all."""
    known = {picture.name: picture for picture in PICTURES}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no picture is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        (HERE / f"{name}.svg").write_text(draw(known[name]) + "\n", encoding="utf-8")
        print(f"screenshots/{name}.svg")
    return 0


if __name__ == "__main__":
    for _name in ("NO_COLOR", "TEXTUAL_THEME"):
        os.environ.pop(_name, None)
    sys.exit(main(sys.argv[1:]))
