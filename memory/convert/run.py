"""One conversion: read the source, write the target, and account for every entry and field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.items import Committed, Item, Loss, Skipped
from memory.errors import UsageError
from memory.registry import registered
from memory.system import System
from memory.workspace import Workspace

from .readers import FORMATS, reader_of


class ConversionReport(NamedTuple):
    """What became of the entries: `read` is `converted` plus those skipped; `losses` are fields without equivalent."""

    read: int
    converted: int
    skipped: Sequence[Skipped]
    losses: Sequence[Loss]
    changes: Sequence[str] = ()

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        skipped, losses = ([one._asdict() for one in some] for some in (self.skipped, self.losses))
        return {**self._asdict(), "skipped": skipped, "losses": losses, "changes": list(self.changes)}


def convert(
    workspace: Workspace,
    source: str,
    target: str,
    *,
    open_workspace: Callable[[Path], Workspace],
    actor: str,
    now: datetime,
    into: str = "",
    dry_run: bool = False,
) -> ConversionReport:
    """Convert the entries of a source into a memory system of the workspace; the source is not changed.

    `source` is the name of a system, `SYSTEM:DIR` for that of another workspace (`open_workspace` opens it), or
    `FORMAT:PATH` for files of another tool. `target` is the name of a system, `into` a place in it. UsageError
    `convert.source`, `convert.target`, `convert.same`, `convert.absent`, `convert.unreadable`.
    """
    name, _, path = source.partition(":")
    if path.startswith("~/") and workspace.home is not None:
        path = f"{workspace.home}{path[1:]}"  # No shell expands it behind a colon.
    to = _target(workspace, target)
    if name in FORMATS:
        if not path:
            raise UsageError("convert.source", f"{name} needs a path", f"write {name}:PATH, {FORMATS[name].words}")
        found: Iterator[Item | Skipped | Loss] = reader_of(name)(Path(path), workspace.zone)
    else:
        found = _entries(workspace, name, path, target, open_workspace)
    read = list(found)
    entries = [one for one in read if not isinstance(one, Loss)]
    items = [one for one in entries if isinstance(one, Item)]
    taken = to.take(items, place=into, actor=actor, now=now)
    done = Committed(()) if dry_run or not taken.converted else taken.commit()
    skipped = [one for one in entries if isinstance(one, Skipped)] + list(taken.skipped)
    skipped += [Skipped(item.what, reason) for item, reason in done.refused]
    accepted = {item.what for item in taken.converted} - {item.what for item, _ in done.refused}
    losses = [one for one in (*read, *taken.losses) if isinstance(one, Loss) and one.what in accepted]
    count = len(taken.converted) - len(done.refused)
    return ConversionReport(len(entries), count, skipped, losses, done.changes)


def _target(workspace: Workspace, name: str) -> System:
    known = [one.name for one in registered()]
    if name not in known:
        raise UsageError("convert.target", f"{name[:60]!r} is no memory system", f"use one of {', '.join(known)}")
    return workspace.guarded(name)


def _entries(
    workspace: Workspace, name: str, path: str, target: str, open_workspace: Callable[[Path], Workspace]
) -> Iterator[Item | Skipped]:
    if name not in [one.name for one in registered()]:
        formats = ", ".join(f"{one}:PATH" for one in FORMATS)
        systems = ", ".join(one.name for one in registered())
        raise UsageError("convert.source", f"{name[:60]!r} is nothing to convert from", f"use {systems}, or {formats}")
    where = open_workspace(Path(path)) if path else workspace
    if name == target and where.root.resolve() == workspace.root.resolve():
        raise UsageError("convert.same", f"{name} would be converted into itself", "name another source or target")
    if name not in where.present():
        raise UsageError("convert.absent", f"{where.root} holds no {name}", "name another source")
    return where.guarded(name).items()
