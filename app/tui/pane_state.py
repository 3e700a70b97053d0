"""The state of panes, per workspace and outside of it: the last pane, position, filter and sort; and the colours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .part import Part

if TYPE_CHECKING:
    from memory.storage.places import StateFolder

NAME = "view.json"
"""The file in the workspace's private state folder."""

COLOURS = "colours.json"
"""The file in the person's own folder beside those of workspaces: colours are chosen for all of them."""

LONGEST = 500
"""Characters of one value that are kept."""


class PaneState(Part):
    """Read once at the start, written once at the end; nothing depends on it."""

    _values: Mapping[str, Any] | None = None

    def _read(self) -> Mapping[str, Any]:
        """What was written last; whatever is damaged counts as nothing."""
        if self._values is None:
            workspace = self.app.workspace
            self._values = self._read_file(
                None if workspace is None or workspace.state is None else workspace.state.folder, NAME
            )
        return self._values

    def _read_file(self, folder: StateFolder | None, name: str) -> Mapping[str, Any]:
        if self.app.setup.remembers and folder is not None:
            with suppress(MemdeckError, OSError, ValueError, RecursionError):
                data = folder.read(name)
                if data is not None:
                    import json

                    values = json.loads(data)
                    if isinstance(values, dict):
                        return values
        return {}

    def _write_file(self, folder: StateFolder, name: str, values: Mapping[str, Any]) -> None:
        """Write a file; a folder that cannot be written to is no reason to complain."""
        import json

        from memory.storage import fsio

        with suppress(MemdeckError, OSError):
            opened = folder.open()
            try:
                fsio.put_private(name, opened, json.dumps(dict(values), ensure_ascii=True).encode(), durable=False)
            finally:
                os.close(opened)

    @property
    def last_pane(self) -> str | None:
        """The pane that was open at the end."""
        pane = self._read().get("pane")
        return pane if isinstance(pane, str) else None

    @property
    def looked_last(self) -> datetime | None:
        """When somebody left the application here; None: never."""
        text = self._read().get("looked")
        try:
            found = datetime.fromisoformat(text) if isinstance(text, str) else None
        except ValueError:
            return None
        return found if found is not None and found.tzinfo is not None else None

    @property
    def seen_change(self) -> int | None:
        """The newest change when somebody looked at Changes last, by its place in the log; None: never."""
        seen = self._read().get("seen")
        return seen if isinstance(seen, int) and not isinstance(seen, bool) and 0 <= seen < 1 << 63 else None

    @property
    def zoomed(self) -> bool:
        """Whether lists had the whole pane at the end."""
        return self._read().get("zoom") is True

    @property
    def searches(self) -> list[str]:
        """The queries of the search screen, the newest first."""
        found = self._read().get("searches")
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    @property
    def told_drafts(self) -> set[str]:
        """The drafts that were told of, each as it was then."""
        found = self._read().get("drafts")
        return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()

    def tell_drafts(self, drafts: Iterable[str]) -> None:
        """Remember at once which drafts there are, so that nobody is told of them again."""
        if self.app.setup.remembers and (told := sorted(drafts)) != sorted(self.told_drafts):
            self._write({**self._read(), "drafts": told})

    def view_of(self, pane_id: str) -> dict[str, str]:
        """Position, filter and sort of a pane."""
        panes = self._read().get("panes")
        view = panes.get(pane_id) if isinstance(panes, dict) else None
        if not isinstance(view, dict):
            return {}
        return {str(key): value for key, value in view.items() if isinstance(value, str)}

    # Views that people gave a name

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """The views of a pane by name, in the order in which they were kept."""
        return {
            name: {str(key): value for key, value in view.items() if isinstance(value, str)}
            for name, view in self._views_of(pane_id).items()
            if isinstance(view, dict)
        }

    def _views_of(self, pane_id: str) -> dict[str, Any]:
        views = self._read().get("views")
        own = views.get(pane_id) if isinstance(views, dict) else None
        return dict(own) if isinstance(own, dict) else {}

    def keep_view(self, pane_id: str, name: str, view: Mapping[str, str]) -> None:
        """Keep a view under a name, at once; one of that name is replaced."""
        self._write_views(pane_id, {**self._views_of(pane_id), name: {k: v[:LONGEST] for k, v in view.items()}})

    def forget_view(self, pane_id: str, name: str) -> None:
        """Take a view away."""
        self._write_views(pane_id, {key: view for key, view in self._views_of(pane_id).items() if key != name})

    def _write_views(self, pane_id: str, own: Mapping[str, Any]) -> None:
        views = self._read().get("views")
        self._write({**self._read(), "views": {**(views if isinstance(views, dict) else {}), pane_id: dict(own)}})

    def keep(self, searched: Iterable[str], seen: int | None) -> None:
        """Write what is to be remembered: the panes, what was `searched` for, the newest change that was `seen`.

        A folder that cannot be written to is no reason to complain.
        """
        workspace, pane = self.app.workspace, self.app.pane
        if not self.app.setup.remembers or workspace is None or workspace.state is None or pane is None:
            return
        before = self._read().get("panes")
        panes: dict[str, Any] = dict(before) if isinstance(before, dict) else {}
        for name, mounted in self.app.panes.mounted.items():
            if mounted.contents is not None and mounted.is_attached:
                panes[name] = {key: value[:LONGEST] for key, value in mounted.view().items()}
        searches = [one[:LONGEST] for one in searched]
        looked = self.app.clock().isoformat()
        zoomed = self.app.panes.zoomed is True
        values = {"pane": pane.pane_id, "panes": panes, "searches": searches, "looked": looked, "zoom": zoomed}
        self._write({**self._read(), **values, **({} if seen is None else {"seen": seen})})

    def _write(self, values: Mapping[str, Any]) -> None:
        """Put everything that is remembered into its file."""
        workspace = self.app.workspace
        self._values = values
        if workspace is not None and workspace.state is not None:
            self._write_file(workspace.state.folder, NAME, values)

    # The colours, which are the same in all workspaces

    @property
    def _person(self) -> StateFolder | None:
        from memory.storage.places import StateFolder

        workspace = self.app.workspace
        if workspace is None or workspace.state is None:
            return None
        here = workspace.state.folder
        return StateFolder(here.home, here.workspace, here.person, name="person")

    @property
    def theme(self) -> str | None:
        """The name of the theme that the person chose last, None: none was chosen."""
        name = self._read_file(self._person, COLOURS).get("theme")
        return name if isinstance(name, str) else None

    def keep_theme(self, name: str) -> None:
        """Remember at once which theme was chosen."""
        folder = self._person
        if self.app.setup.remembers and folder is not None:
            self._write_file(folder, COLOURS, {"theme": name})
