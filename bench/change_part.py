"""One task changed durably in the running process, against writing, syncing and renaming the same bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import reference
from bench.measure import Case, Unavailable
from bench.places import NOW, Places, memdeck
from bench.workspaces import FIRST_TITLE


def change_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield floor, in-process change, and `memdeck tasks edit` and `task modify` as whole processes."""
    floor_file = places.memory(places.copy(size)) / "tasks.md"
    floor = "read, write, fsync, rename, fsync folder"
    yield Case(floor, lambda: reference.durable_replace(floor_file, floor_file.read_bytes()))
    changer = Changer(places, size)
    yield Case("memdeck changes one field", changer.change, changer.open, floor, 3)
    root = places.copy(size)
    count = itertools.count()
    hand = "memdeck tasks edit, whole process"

    def edit() -> None:
        note = f"notes=turn {next(count)}"
        places.run([memdeck(), "tasks", "edit", FIRST_TITLE, "--set", note, "-w", root, "--now", NOW.isoformat()])

    yield Case(hand, edit)
    from bench.peers import Taskwarrior

    peer = Taskwarrior(places, size)
    yield Case("taskwarrior modify, whole process", lambda: peer.modify(next(count)), peer.ready, hand)


class Changer:
    """Holds an open workspace and changes the notes of its first task, another text each time."""

    def __init__(self, places: Places, size: str) -> None:
        """Remember which workspace to copy; it is opened in the first `open`."""
        self._places = places
        self._size = size
        self._workspace: Any = None
        self._count = 0
        self._edit: Any = None

    def open(self) -> None:
        """Open a copy of the workspace once, and warm it as a running application is warm."""
        if self._workspace is not None:
            return
        try:
            from memory.workspace import Workspace
        except ImportError as error:
            raise Unavailable(f"memory.workspace: {error}") from error
        self._edit = _edit_type()
        root = self._places.copy(self._size)
        state = Path(self._places.environment()["XDG_STATE_HOME"])
        self._workspace = Workspace.open(str(root), state_home=state)
        self._workspace.snapshot().document("tasks.md")

    def change(self) -> None:
        """Change one field durably."""
        self._count += 1
        self._workspace.change("edit", self._build, actor="human", now=NOW)

    def _build(self, snapshot: Any) -> Any:
        document = snapshot.document("tasks.md")
        index = document.find("pending")[0]
        entry = document.sections[index].entries[0].set_field("notes", f"turn {self._count}")
        changed = document.replace_entry(index, 0, entry)
        return self._edit(documents={"tasks.md": changed}, summary="notes changed", ref=None)


def _edit_type() -> Any:
    """Return the class of what `Workspace.change` takes, wherever this version keeps it."""
    import importlib

    for name in ("memory.files.edit", "memory.files", "memory.workspace"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module, "Edit"):
            return module.Edit
    raise Unavailable("no Edit in memory.files or memory.workspace")
