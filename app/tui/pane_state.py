"""Saved state of panes per workspace (last pane, position, filter, sort), and the theme for all workspaces."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from memory.errors import MemdeckError
from memory.storage.own_folders import StateFolder

from .spine import Part

T = TypeVar("T")

NAME = "view.json"
"""The file in the workspace's private state folder."""

COLOURS = "colours.json"
"""The file in the user's own state folder, beside those of workspaces: the theme applies to all of them."""

LONGEST = 500
"""Characters of one value that are saved."""


class PaneState(Part):
    """Read once at the start, written once at the end; nothing depends on it, so damaged values count as missing."""

    _values: dict[str, Any] | None = None

    def _read(self, name: str, kind: type[T]) -> T | None:
        """Return a value of the workspace's file; None if there is none of this type."""
        if self._values is None:
            workspace = self.app.workspace
            self._values = self._read_file(None if workspace is None else workspace.state.folder, NAME)
        value = self._values.get(name)
        return value if type(value) is kind else None

    def _read_file(self, folder: StateFolder | None, name: str) -> dict[str, Any]:
        if self.app.setup.remembers and folder is not None:
            return folder.read_json(name)
        return {}

    def _write(self, folder: StateFolder, name: str, values: Mapping[str, Any]) -> None:
        """Write a file. Errors are ignored: the folder may be read-only."""
        with suppress(MemdeckError):
            folder.put_json(name, values)

    def _keep(self, **values: Any) -> None:
        """Write values to the workspace's file, beside those that it has."""
        if self.app.setup.remembers and self.app.workspace is not None:
            self._values = {**(self._values or {}), **values}
            self._write(self.workspace.state.folder, NAME, self._values)

    @property
    def last_pane(self) -> str | None:
        """The pane that was open when the application ended."""
        return self._read("pane", str)

    @property
    def looked_last(self) -> datetime | None:
        """When the application was last left in this workspace; None: never."""
        with suppress(ValueError):
            found = datetime.fromisoformat(self._read("looked", str) or "")
            return found if found.tzinfo is not None else None
        return None

    @property
    def seen_change(self) -> int | None:
        """The newest change when Changes was last viewed, by its place in the log; None: never."""
        seen = self._read("seen", int)
        return seen if seen is not None and 0 <= seen < 1 << 63 else None

    def view_of(self, pane_id: str) -> dict[str, str]:
        """Return position, filter and sort of a pane."""
        view = (self._read("panes", dict) or {}).get(pane_id)
        return {key: one for key, one in view.items() if isinstance(one, str)} if isinstance(view, dict) else {}

    def keep(self, seen: int | None) -> None:
        """Save the state to remember: the panes, and the newest change that was `seen`."""
        state, pane = self.app.state, self.app.pane
        if pane is None:
            return
        panes = dict(self._read("panes", dict) or {})
        for name, mounted in state.mounted.items():
            if mounted.contents is not None and mounted.is_attached:
                panes[name] = {key: value[:LONGEST] for key, value in mounted.view().items()}
        looked = self.app.clock().isoformat()
        self._keep(pane=pane.pane_id, panes=panes, looked=looked, **({} if seen is None else {"seen": seen}))

    # The theme, which is the same in all workspaces

    @property
    def _person(self) -> StateFolder | None:
        workspace = self.app.workspace
        if workspace is None:
            return None
        here = workspace.state.folder
        return StateFolder(here.home, here.workspace, here.person, name="person")

    @property
    def theme(self) -> str | None:
        """The name of the theme that the user chose last; None: none was chosen."""
        name = self._read_file(self._person, COLOURS).get("theme")
        return name if isinstance(name, str) else None

    def keep_theme(self, name: str) -> None:
        """Save at once which theme was chosen."""
        folder = self._person
        if self.app.setup.remembers and folder is not None:
            self._write(folder, COLOURS, {"theme": name})
