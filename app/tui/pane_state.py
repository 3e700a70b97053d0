"""Saved state of panes per workspace (last pane, position, filter, sort), and the theme for all workspaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from memory.errors import MemdeckError
from memory.storage.own_folders import StateFolder

from .spine import Part

NAME = "view.json"
"""The file in the workspace's private state folder."""

COLOURS = "colours.json"
"""The file in the user's own state folder, beside those of workspaces: the theme applies to all of them."""

LONGEST = 500
"""Characters of one value that are saved."""


class PaneState(Part):
    """Read once at the start, written once at the end; nothing depends on it."""

    _values: Mapping[str, Any] | None = None

    def _read(self) -> Mapping[str, Any]:
        """Return what was written last; damaged values count as missing."""
        if self._values is None:
            workspace = self.app.workspace
            self._values = self._read_file(None if workspace is None else workspace.state.folder, NAME)
        return self._values

    def _read_file(self, folder: StateFolder | None, name: str) -> Mapping[str, Any]:
        if self.app.setup.remembers and folder is not None:
            return folder.read_json(name)
        return {}

    def _write_file(self, folder: StateFolder, name: str, values: Mapping[str, Any]) -> None:
        """Write a file. Errors are ignored: the folder may be read-only."""
        with suppress(MemdeckError):
            folder.put_json(name, values)

    @property
    def last_pane(self) -> str | None:
        """The pane that was open when the application ended."""
        pane = self._read().get("pane")
        return pane if isinstance(pane, str) else None

    @property
    def looked_last(self) -> datetime | None:
        """When the application was last left in this workspace; None: never."""
        text = self._read().get("looked")
        try:
            found = datetime.fromisoformat(text) if isinstance(text, str) else None
        except ValueError:
            return None
        return found if found is not None and found.tzinfo is not None else None

    @property
    def seen_change(self) -> int | None:
        """The newest change when Changes was last viewed, by its place in the log; None: never."""
        seen = self._read().get("seen")
        return seen if isinstance(seen, int) and not isinstance(seen, bool) and 0 <= seen < 1 << 63 else None

    @property
    def zoomed(self) -> bool:
        """Whether lists had the whole pane when the application ended."""
        return self._read().get("zoom") is True

    @property
    def told_drafts(self) -> set[str]:
        """The drafts that the user was told about, each as it was then."""
        return set(_list(self._read().get("drafts")))

    def tell_drafts(self, drafts: Iterable[str]) -> None:
        """Save at once which drafts exist, so that the user is told about each only once."""
        if self.app.setup.remembers and (told := sorted(drafts)) != sorted(self.told_drafts):
            self._write({**self._read(), "drafts": told})

    def view_of(self, pane_id: str) -> dict[str, str]:
        """Return position, filter and sort of a pane."""
        return _texts(_dict(self._read().get("panes")).get(pane_id))

    def keep(self, seen: int | None) -> None:
        """Save the state to remember: the panes, and the newest change that was `seen`.

        Errors are ignored: the folder may be read-only.
        """
        workspace, pane = self.app.workspace, self.app.pane
        if not self.app.setup.remembers or workspace is None or pane is None:
            return
        panes = _dict(self._read().get("panes"))
        for name, mounted in self.app.state.mounted.items():
            if mounted.contents is not None and mounted.is_attached:
                panes[name] = {key: value[:LONGEST] for key, value in mounted.view().items()}
        looked = self.app.clock().isoformat()
        zoomed = self.app.state.zoomed is True
        values = {"pane": pane.pane_id, "panes": panes, "looked": looked, "zoom": zoomed}
        self._write({**self._read(), **values, **({} if seen is None else {"seen": seen})})

    def _write(self, values: Mapping[str, Any]) -> None:
        """Write everything that is remembered to its file."""
        workspace = self.app.workspace
        self._values = values
        if workspace is not None:
            self._write_file(workspace.state.folder, NAME, values)

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
            self._write_file(folder, COLOURS, {"theme": name})


def _dict(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _texts(value: object) -> dict[str, str]:
    return {str(key): one for key, one in _dict(value).items() if isinstance(one, str)}


def _list(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
