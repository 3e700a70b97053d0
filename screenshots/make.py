"""Draws the pictures of the README and the guides: the real application over the sample workspace at a fixed time.

`python -m screenshots.make [NAME…]` writes `screenshots/NAME.svg`; without a name all of them. The same source gives
the same pictures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

    from app.tui.app import MemdeckApp
    from memory.workspace import Workspace

HERE = Path(__file__).parent
NOW = datetime(2024, 1, 15, 10, 50, tzinfo=UTC)
WIDE, USUAL, SMALL = (120, 36), (80, 24), (40, 10)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the pane that is open, the size of the terminal, and the keys pressed before it is taken.

    A `story` is what an agent, other programs and a person did before; a key that begins with `@` is what somebody
    else does in between (see `EVENTS`). `beside` adds facts, the typed memory of an agent and the project's state,
    `curated` the curated memory.
    """

    name: str
    pane: str
    size: tuple[int, int] = WIDE
    keys: tuple[str, ...] = ()
    theme: str | None = None
    story: bool = False
    beside: bool = False
    curated: bool = False
    plain: bool = False
    """Without colours, as with `NO_COLOR`."""


CONFLICT = ("j", "j", "e", *("down",) * 4, "end", *"-team", *("down",) * 2, "end", "!", "@agent", "ctrl+s")
"""A form is saved after an agent wrote to the same fields."""

PICTURES = (
    Picture("brief", "brief"),
    Picture("tasks", "tasks"),
    Picture("journal", "journal"),
    Picture("plans", "plans"),
    Picture("monitors", "monitors"),
    Picture("facts", "facts", keys=("j",), beside=True),
    Picture("typed", "typed", keys=("j",), beside=True),
    Picture("state", "state", keys=("j",) * 5, beside=True),
    Picture("curated", "curated", keys=("j",) * 10, curated=True),
    Picture("state-recall", "state", keys=("R",), beside=True),
    Picture("waiting", "tasks", keys=("@propose", "9")),
    Picture("prompt", "prompt", keys=("j", "j"), beside=True),
    Picture("fleet", "tasks", keys=("@neighbours", "~", "j", "j", "j")),
    Picture("history", "tasks", keys=("j", "j", "H", "j"), story=True),
    Picture("conflict", "tasks", keys=CONFLICT, story=True),
    Picture("maintain", "tasks", keys=("M",)),
    Picture("palette", "tasks", keys=("colon", "a", "r", "c")),
    Picture("board", "tasks", keys=("b",)),
    Picture("calendar", "tasks", keys=("c",)),
)


def draw(picture: Picture) -> str:
    """Return a picture as SVG."""
    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(_draw(picture, Path(home)))


def application(picture: Picture, home: Path) -> MemdeckApp:
    """Return the application over a sample workspace in a home folder, as a picture wants it."""
    from app.demo.curated import add_curated
    from app.demo.siblings import add_beside
    from app.demo.workspace import demo_files
    from memory.workspace import Workspace

    root = home / "src" / "shop"
    # A story begins before it is told.
    begun = NOW - timedelta(days=3 if picture.story else 0)
    workspace, _ = Workspace.init(
        root, begun, actor="cli", state_home=home / "state", machine_zone=UTC, files=demo_files(NOW, UTC)
    )
    if picture.beside:
        add_beside(workspace, NOW, actor="cli")
    if picture.curated:
        add_curated(workspace, NOW)
    if picture.story:
        tell(workspace)
    with _no_color() if picture.plain else nullcontext():
        app = _app(workspace, picture, root, home)
    app.animation_level = "none"
    if picture.theme:
        app.theme = picture.theme
    return app


@contextmanager
def _no_color() -> Iterator[None]:
    """Textual asks the environment for it when an application is made."""
    before = os.environ.get("NO_COLOR")
    os.environ["NO_COLOR"] = "1"
    try:
        yield
    finally:
        del os.environ["NO_COLOR"]
        if before is not None:
            os.environ["NO_COLOR"] = before


def _app(workspace: Workspace, picture: Picture, root: Path, home: Path) -> MemdeckApp:
    from app.tui.app import MemdeckApp
    from app.tui.shell import Setup

    environ = {"HOME": str(home), "LANG": "C.UTF-8"}
    setup = Setup(clock=lambda: NOW, pane=picture.pane, path=str(root), environ=environ, watches=False)
    return MemdeckApp(workspace, setup)


async def _draw(picture: Picture, home: Path) -> str:
    app = application(picture, home)
    async with app.run_test(size=picture.size) as pilot:
        await rest(app, pilot)
        for key in picture.keys:
            await press(app, pilot, key)
        return app.export_screenshot(title="memdeck")


def _let_agents(workspace: Workspace) -> None:
    """Let agents rewrite and remove what a person wrote: these pictures show what comes of it."""
    from memory.review.policy import set_rule

    set_rule(workspace.store.state, "agent:*", "*", "apply", now=NOW)


def _edit(workspace: Workspace, actor: str, minutes: int, **fields: str) -> None:
    """Let somebody edit the first task some minutes ago."""
    from memory.files.tasks.edits import edit_task

    _let_agents(workspace)
    now = NOW - timedelta(minutes=minutes)
    ref = workspace.snapshot().tasks.items[0].ref
    workspace.change("tasks.edit", lambda snapshot: edit_task(snapshot, ref, set=fields, now=now), actor=actor, now=now)


def tell(workspace: Workspace) -> None:
    """What happened before: two edits of an agent, one of a person, one by another program."""
    from memory.files.tasks.operations import start_task

    _edit(workspace, "agent:builder", 60 * 27, assigned="deploy-bot")
    _edit(workspace, "agent:builder", 60 * 5, due="2024-01-15 16:00", notes="Run tests first, then tell the team")
    now = NOW - timedelta(minutes=95)
    ref = next(task.ref for task in workspace.snapshot().tasks.items if task.title.startswith("Update README"))
    workspace.change("tasks.start", lambda snapshot: start_task(snapshot, ref, now=now), actor="human", now=now)
    path = workspace.memory / "tasks.md"
    path.write_text(path.read_text("utf-8").replace("assigned: deploy-bot", "assigned: release-bot", 1), "utf-8")
    workspace.notice(NOW - timedelta(minutes=12))


def _agent(workspace: Workspace) -> None:
    _edit(workspace, "agent:builder", 0, assigned="Carol, who is back", notes="Run tests first, then tell everybody")


def _remove(workspace: Workspace) -> None:
    from memory.files.tasks.operations import remove_task

    _let_agents(workspace)
    ref = workspace.snapshot().tasks.items[0].ref
    workspace.change(
        "tasks.remove", lambda snapshot: remove_task(snapshot, ref, now=NOW), actor="agent:builder", now=NOW
    )


def _propose(workspace: Workspace) -> None:
    """Let an agent rewrite one task of a person and remove another, which waits for that person."""
    from memory.errors import BlockedError
    from memory.files.tasks.edits import edit_task
    from memory.files.tasks.operations import remove_task

    first, second, *_ = (task.ref for task in workspace.snapshot().tasks.items)
    earlier = NOW - timedelta(minutes=7)
    with suppress(BlockedError):
        workspace.change(
            "tasks.remove", lambda snapshot: remove_task(snapshot, second, now=NOW), actor="agent:builder", now=earlier
        )
    with suppress(BlockedError):
        fields = {"due": "2024-01-16 09:00", "notes": "Run tests first, then tell the team"}
        workspace.change(
            "tasks.edit",
            lambda snapshot: edit_task(snapshot, first, set=fields, now=NOW),
            actor="agent:planner",
            now=NOW,
        )


def _neighbours(workspace: Workspace) -> None:
    """List some other workspaces of the person, one of which was deleted by hand."""
    from app.demo.workspace import demo_files
    from memory.storage.private.workspaces import WorkspaceList
    from memory.systems import maintain_all
    from memory.workspace import Workspace

    assert workspace.state is not None
    home, top = workspace.state.folder.home, workspace.root.parent
    files = demo_files(NOW, UTC)
    held = {"blog": ("knowledge.md",), "garden": ("journal.md",), "infra": tuple(files), "reports": ("tasks.md",)}
    for days, (name, kept) in enumerate(held.items()):
        made = Workspace.init(
            top / name,
            NOW - timedelta(days=9),
            actor="cli",
            state_home=home,
            machine_zone=UTC,
            files={file: files[file] for file in kept},
        )[0]
        if days:
            maintain_all(made, NOW - timedelta(days=days, hours=3), actor="maintain")
        made.close()
    WorkspaceList(home).add_all([workspace.root, top / "attic", *(top / name for name in held)], NOW)


EVENTS: dict[str, Callable[[Workspace], None]] = {
    "@agent": _agent,
    "@remove": _remove,
    "@propose": _propose,
    "@neighbours": _neighbours,
}
"""What somebody else does while a person is at work."""


async def press(app: MemdeckApp, pilot: Pilot[Any], key: str) -> None:
    """Press a key, or let something happen, and wait for all that comes of it."""
    if key in EVENTS:
        assert app.workspace is not None
        EVENTS[key](app.workspace)
    else:
        await pilot.press(key)
    while app.jobs.running:
        await pilot.pause()
    await rest(app, pilot)


async def rest(app: MemdeckApp, pilot: Pilot[Any]) -> None:
    """Settle, and look for the links of the entry under the cursor, as the application does after a moment of rest.

    Rows that changed stay marked, for however long a busy machine takes.
    """
    from textual.widgets import Input, TextArea

    await settle(app, pilot)
    pane = app.pane
    if pane is not None:
        pane.line_list.end_flash = lambda: None
    if pane is not None and pane._resting is not None:
        pane._resting.stop()
        pane._resting = None
        pane.find_links()
        await settle(app, pilot)
    if isinstance(app.focused, (Input, TextArea)):
        # A cursor that blinks would be there or not, as long as the machine took.
        app.focused._pause_blink(visible=True)
        await settle(app, pilot)


async def settle(app: App[Any], pilot: Pilot[Any]) -> None:
    """Wait until nothing is being read, written or drawn."""
    from textual.worker import WorkerCancelled

    while True:
        for worker in [worker for worker in app.workers if not worker.is_finished]:
            with suppress(WorkerCancelled):  # What it looked for is looked for anew, by another.
                await worker.wait()
        await pilot.wait_for_scheduled_animations()
        if app.idle and all(worker.is_finished for worker in app.workers):  # type: ignore[attr-defined]
            return


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
