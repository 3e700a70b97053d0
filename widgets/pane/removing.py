"""Removing entries: the question before it, and several edits as one change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from memory.document import Document
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, WrittenFiles
from widgets.pane.offers import FileBuild, Removal


def chain(builds: Sequence[FileBuild], summary: str = "") -> FileBuild:
    """Combine builds into one, so that one undo reverts all of them; `summary` is used if there are several.

    Each edit sees the files as the one before left them.
    """
    if len(builds) == 1:
        return builds[0]

    def build(snapshot: Snapshot) -> Edit:
        documents: dict[str, Document] = {}
        last: Edit | None = None
        for one in builds:
            last = one(Snapshot(WrittenFiles(snapshot, dict(documents)), lambda: snapshot.zone))
            for name, document in last.documents.items():
                # Files are put in place in the order of the last edit that touched them.
                documents.pop(name, None)
                documents[name] = document
        words = summary or (f"{last.summary} and {len(builds) - 1} more" if last else "nothing")
        return Edit(documents, words, last.ref if last else None)

    return build


class Placed(Protocol):
    """An item with a ref and a place in its file."""

    @property
    def ref(self) -> str:
        """The ref."""

    @property
    def line(self) -> int:
        """The line, from 0."""


def removals(
    refs: Sequence[str],
    find: Callable[[Snapshot, str], Placed],
    items: Callable[[Snapshot], Iterable[Placed]],
    remove: Callable[..., Edit],
    now: datetime,
) -> FileBuild:
    """Return one build that removes the items of refs; all are looked up before the first is removed.

    When one of several equal items is removed, the refs of the others become invalid.
    """
    if len(refs) == 1:
        return partial(remove, ref=refs[0], now=now)

    def build(snapshot: Snapshot) -> Edit:
        def at(line: int) -> FileBuild:
            return lambda look: remove(look, ref=next(one.ref for one in items(look) if one.line == line), now=now)

        # From the end, so that the items above keep their lines.
        lines = sorted({find(snapshot, ref).line for ref in refs}, reverse=True)
        return chain([at(line) for line in lines])(snapshot)

    return build


def removal(
    name: str,
    titles: Sequence[str],
    items: Sequence[Any],
    operation: str,
    *,
    find: Callable[[Snapshot, str], Placed],
    among: Callable[[Snapshot], Iterable[Placed]],
    remove: Callable[..., Edit],
) -> Removal:
    """Return the question before removing items of a file, and the edit; `name` is what one of them is called."""
    refs = [item.ref for item in items]
    return Removal(*question(name, titles), lambda now: removals(refs, find, among, remove, now), operation)


def question(name: str, titles: Sequence[str]) -> tuple[str, str]:
    """The question before removing, and the titles of the items."""
    if len(titles) == 1:
        return f"Remove this {name}?", titles[0][:500]
    shown = [title[:80] for title in titles[:8]]
    more = [f"and {len(titles) - len(shown)} more"] if len(titles) > len(shown) else []
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"Remove {len(titles)} {plural}?", "\n".join([*shown, *more])
