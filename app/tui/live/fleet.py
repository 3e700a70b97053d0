"""All workspaces: reads them for the fleet pane, searches them, opens another one in place and goes back."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic

from app.tui.search.screen import SHOWN
from app.tui.shell import Destination
from app.tui.spine import Changed, Part
from memory.errors import MemdeckError
from memory.fleet.central import CentralFleet
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure, query_of
from memory.fleet.model import FleetHit, WorkspaceOverview
from memory.search.hits import Hit, SearchAnswer
from memory.search.records import FoundEntry
from memory.storage.own_folders import DATABASE, config_home, home, host_name
from memory.storage.private.workspaces import WorkspaceList

PANE = "fleet"
SHOW_SECONDS = 0.5
"""Seconds between updates of the pane while a refresh is running."""


class AllWorkspaces(Part):
    """Reads, shows and searches the fleet. Nothing is opened before its pane is; then one worker refreshes it."""

    def set_up(self) -> None:
        """Nothing is opened yet."""
        self._made: EmbeddedFleet | CentralFleet | None = None
        self._mutex = threading.Lock()
        self._stopped = threading.Event()
        self._busy = self._listed = False
        self._found: list[tuple[str, Path]] = []
        self.destination: Destination | None = None
        """What to open after this application ended."""

    # What the pane shows; called in threads

    @property
    def fleet(self) -> EmbeddedFleet | CentralFleet:
        """The fleet of the database that the environment names, else the fleet of this machine."""
        environ, workspace = self.app.environ, self.workspace
        with self._mutex:
            if self._made is None and environ.get(DATABASE):
                self._made = CentralFleet(environ[DATABASE])
            elif self._made is None:
                own = home(environ), config_home(environ)
                local = LocalWorkspaces(workspace.state.folder.home, host_name(environ), *own, environ)
                self._made = EmbeddedFleet(local, Path(os.path.realpath(workspace.root)))
            return self._made

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview] | str:
        """Return the state of each workspace as of the last refresh; if files are not watched, refresh first.

        The open workspace is among them even if it is not in the list yet. An error is returned as a sentence.
        """
        fleet = self.fleet
        if isinstance(fleet, EmbeddedFleet) and not self.app.setup.watches:
            for _ in fleet.refresh(now, self.goes_on):
                pass
        try:
            # Sample workspaces in temporary folders are of interest on their day: one goes back to them.
            today = f"{now.astimezone(self.workspace.zone):%Y-%m-%d}"
            found = [
                one for one in fleet.known(now)
                if self.is_open(one) or one.latest_at[:10] == today or not one.path.name.startswith("memdeck-demo-")
            ]  # fmt: skip
            here = [one for one in found if self.is_open(one)]
            if not isinstance(fleet, EmbeddedFleet) or any(one.looked for one in here):
                return found
            return (fleet.local.overview(self.workspace, now)[0], *(one for one in found if one not in here))
        except MemdeckError as error:
            return f"{error.message[:1].upper()}{error.message[1:]}"

    def is_open(self, item: WorkspaceOverview) -> bool:
        """Return whether it is the workspace that the application shows."""
        if item.host != host_name(self.app.environ):
            return False
        return str(item.path) == os.path.realpath(self.workspace.root)

    @property
    def may_list(self) -> bool:
        """Whether the list of workspaces can be changed here: it is that of this machine, and a workspace is open."""
        return not self.app.environ.get(DATABASE)

    def list_here(self) -> None:
        """List the open workspace among the user's, once, unless the user removed it."""
        if self._listed or not (self.app.setup.watches and self.may_list):
            return
        self._listed = True
        listed, root = WorkspaceList(self.workspace.state.folder.home), Path(os.path.realpath(self.workspace.root))
        # An error of the list is told where the list is shown.
        self.app.work(lambda: listed.add(root, self.app.clock(), asked=False), None, lambda _: None, group="fleet")

    def goes_on(self) -> bool:
        """Return whether to go on: the application still wants results."""
        return not self._stopped.is_set()

    def refresh(self) -> None:
        """Refresh the workspaces that changed, in a worker, while the pane is visible."""
        pane = self.app.pane
        if self._busy or pane is None or pane.pane_id != PANE or pane.contents is None:
            return
        self._busy = True
        self.app.work(self._refresh, self._refreshed, self._not_refreshed, group="fleet")

    def _refresh(self) -> bool:
        shown, fleet = monotonic(), self.fleet
        found = isinstance(fleet, CentralFleet)
        for _ in () if isinstance(fleet, CentralFleet) else fleet.refresh(self.app.clock(), self.goes_on):
            found = True
            if monotonic() - shown > SHOW_SECONDS:
                shown = monotonic()
                self.app.post_message(Changed(frozenset()))
        return found

    def _refreshed(self, found: bool) -> None:
        self._busy = False
        if found:
            self.app.changed()

    def _not_refreshed(self, error: MemdeckError) -> None:
        self._busy = False
        self.app.say_error(error)

    def stop(self) -> None:
        """Stop the refresh, and close the open workspaces."""
        self._stopped.set()
        if self._made is not None:
            self._made.close()

    # Opening another workspace

    def open_workspace(
        self, item: WorkspaceOverview, pane: str | None = None, entry: tuple[str, str] | None = None
    ) -> None:
        """Open a workspace in place of this one, after checking that it can be opened."""
        if item.host != host_name(self.app.environ):
            self.app.say(f"This workspace is on {item.host}; open it there.", severity="warning")
        elif self.is_open(item):
            self._open_here(pane, entry)
        elif self._may_leave():
            destination = Destination(item.path, pane, entry)
            self.app.work(lambda: self._try(item.path), partial(self._tried, destination), group="open", exclusive=True)

    def switch(self) -> None:
        """Show all workspaces and open another one."""
        if self.app.pane is None or self.app.pane.pane_id != PANE:
            self.app.navigation.open_pane(PANE)
        else:
            self.app.navigation.back()

    def _open_here(self, pane: str | None, entry: tuple[str, str] | None) -> None:
        if entry is not None:
            self.app.navigation.jump(*entry)
        else:
            self.app.navigation.open_pane(pane or self.app.navigation.first_pane())

    def _may_leave(self) -> bool:
        # The application is not shown by a terminal but by another program, such as a browser.
        if self.app.environ.get("TEXTUAL_DRIVER"):
            self.app.say("The browser shows only one workspace; serve the other one as well.", severity="warning")
            return False
        if self.app.state.jobs:
            self.app.say("A job is still running; the other workspace opens when it ends.", severity="warning")
            return False
        return True

    def _try(self, root: Path) -> WorkspaceFailure | None:
        """Return why a workspace cannot be opened; None if it can."""
        environ = self.app.environ
        local = LocalWorkspaces(self.workspace.state.folder.home, "", home(environ), config_home(environ))
        found = local.one(root, lambda _: None)
        return found if isinstance(found, WorkspaceFailure) else None

    def _tried(self, destination: Destination, failure: WorkspaceFailure | None) -> None:
        if failure is not None:
            self.app.say(failure["message"], title=destination.root.name, severity="error")
        # Text typed into a form meanwhile must not be lost with this application.
        elif not self.app.is_free:
            self.app.say(f"{destination.root.name} was not opened; close this dialog and try again.")
        elif self._may_leave():
            self.destination = destination
            self.app.exit(0)

    # Searching all workspaces

    def keep_up(self) -> bool:
        """Index the changes in all workspaces; return whether that is complete."""
        if isinstance(self.fleet, EmbeddedFleet):
            self.fleet.keep_up(self.goes_on)
        return True

    def answer(self, text: str) -> SearchAnswer:
        """Answer a query over all workspaces."""
        now = self.app.clock()
        query = query_of(text, now, ())

        def hit_of(one: FleetHit) -> Hit:
            where = (one.host, one.workspace)
            if where not in self._found:
                self._found.append(where)
            return one.hit._replace(entry=one.hit.entry._replace(room=self._found.index(where)))

        hits = [hit_of(one) for one in self.fleet.glance(text, now, SHOWN)]
        fitting = tuple(hit for hit in hits if hit.fits_all)
        return SearchAnswer(query, fitting, len(fitting), len(fitting) == SHOWN, partial=tuple(hits[len(fitting) :]))

    def place_of(self, entry: FoundEntry) -> str:
        """Return the workspace of an entry that was found, with its host if there are several."""
        host, path = self._found[entry.room]
        return path.name if len({host for host, _ in self._found}) == 1 else f"{host}:{path.name}"

    def open_found(self, entry: FoundEntry) -> None:
        """Open an entry that was found, in its workspace."""
        host, path = self._found[entry.room]
        ref = entry.title if entry.kind == "config" else entry.ref
        self.open_workspace(WorkspaceOverview(path, host), entry=(entry.file, ref or f"line:{entry.line}"))
