"""The context of an operation: the workspace, the caller and the time of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.trust.consent import Trust
    from memory.workspace import Outcome, Workspace


class Closeable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closeable)


class Context(Protocol):
    """The workspace, the caller and the time of one call of an operation."""

    folder: str | None
    """The folder that the call names, None for the current one."""
    actor_option: str | None
    """The actor that the call names: for a look, whose changes it is about."""
    served: bool
    """Whether a program calls through a server. Then no argument names a file or stdin, and paths stay in the
    workspace.
    """
    safe: bool
    """Whether nothing that memory files name may run."""
    made: str | None
    """What the call has changed already: from then on a later error does not make it a failure."""
    environ: Mapping[str, str]
    origin: str
    """The interface of the call: `cli`, `http` or `uds`."""

    @property
    def workspace(self) -> Workspace:
        """The workspace; UsageError `workspace.not_found`."""

    @property
    def root(self) -> Path | None:
        """The folder of the workspace, None if there is none."""

    @property
    def snapshot(self) -> Snapshot:
        """The files as they were when the operation began."""

    @property
    def trust(self) -> Trust:
        """The person's decisions about what the workspace may run."""

    @property
    def now(self) -> datetime:
        """The time of the call."""

    @property
    def actor(self) -> str:
        """The actor of changes."""

    @property
    def named_actor(self) -> str:
        """The actor that the caller named; empty if none was."""

    def open(self, folder: str | Path) -> Workspace:
        """Return the workspace that contains a folder, which the end of the call closes."""

    def opened(self, what: C) -> C:
        """Return its argument; the end of the call closes it."""

    def change(self, operation: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        """Make a change of the memory files."""

    def warn(self) -> None:
        """Tell the caller about problems with the change log."""

    def tell(self, words: str) -> None:
        """Tell the caller something beside the answer, before it is complete."""

    def progress(self, what: str) -> Callable[[int, int], Any] | None:
        """Return a function that shows how many of how many things are done; None if it is not shown."""
