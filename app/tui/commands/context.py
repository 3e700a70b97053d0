"""Context: what a command may look at. The application is one; a test makes its own of a workspace and a pane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from textual.geometry import Size

    from memory.history.lost_files import LostFile
    from memory.history.taken_back import Undone
    from memory.monitoring.run.cancel import Cancel
    from memory.monitoring.run.run import WatchServices
    from memory.storage.private.drafts import Draft
    from memory.trust.consent import Trust
    from memory.workspace import Workspace
    from widgets.pane.base import Pane
    from widgets.text.glyphs import Glyphs


ACTOR = "human"
"""In whose name the application changes files."""


class JobView(Protocol):
    """A job as the work in its thread sees it."""

    @property
    def cancel(self) -> Cancel:
        """What calls it off."""

    def plan(self, names: tuple[str, ...]) -> None:
        """Say what is to be done, by name."""

    def done(self, name: str) -> None:
        """Say that one of it is done."""

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than until it is called off."""


class Context(Protocol):
    """The workspace, the moment, the selection of the open pane, and how the person set memdeck up."""

    environ: Mapping[str, str]
    glyphs: Glyphs

    @property
    def safe(self) -> bool:
        """Whether nothing that stands in memory files may run."""

    @property
    def workspace(self) -> Workspace | None:
        """The workspace that is open."""

    @property
    def shows_one_pane(self) -> bool:
        """Whether one pane alone is there, and nothing of the workspace is shown or changed."""

    @property
    def pane(self) -> Pane | None:
        """The pane that is open: its rows, the entry under the cursor, what is selected."""

    @property
    def zone(self) -> tzinfo:
        """The workspace's zone, as it was last read."""

    @property
    def size(self) -> Size:
        """The columns and lines of the terminal."""

    @property
    def way(self) -> Sequence[Path]:
        """The workspaces that lead back to where this one was opened from."""

    @property
    def undone(self) -> Sequence[Undone]:
        """What saves of other programs took back of memdeck's changes, and nobody decided about."""

    @property
    def lost(self) -> LostFile | None:
        """The file of the open pane that is gone or empty."""

    @property
    def left_drafts(self) -> Sequence[Draft]:
        """Forms that were never saved, newest first."""

    @property
    def has_jobs(self) -> bool:
        """Whether a job runs."""

    def can_turn(self, way: str) -> bool:
        """Return whether there was something to undo or to redo (`undo`, `redo`) at the last look."""

    def may_turn(self, way: str) -> bool:
        """Return whether there is something to undo or to redo, or may be, for something was written since."""

    def clock(self) -> datetime:
        """Return the time."""

    def key_of(self, action_id: str) -> str:
        """Return the key of an action as people write it."""

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the views of a pane that people keep, by name."""

    # For work in threads

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while something is written, and know what is written as one's own; for undo."""

    def trust(self) -> Trust | None:
        """Return what the person decided about commands, in an object of its own for one thread."""

    def ways(self, job: JobView) -> WatchServices:
        """Return what a run of monitors reaches; it says how far it is, and can be called off."""
