"""Several edits as one change: each one sees the files as the one before left them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from widgets.pane.offers import FileBuild

if TYPE_CHECKING:
    from datetime import datetime

    from memory.document import Document
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot


def chain(builds: Sequence[FileBuild], summary: str = "") -> FileBuild:
    """One build of several, so that one undo takes all of them back; `summary` for more than one of them."""
    if len(builds) == 1:
        return builds[0]

    def build(snapshot: Snapshot) -> Edit:
        from memory.files.edit import Edit
        from memory.files.snapshot import Snapshot as Look

        documents: dict[str, Document] = {}
        last: Edit | None = None
        for one in builds:
            last = one(Look(_Ahead(snapshot, documents), lambda: snapshot.zone))
            for name, document in last.documents.items():
                # The order in which files are put in place is that of the last edit that touched them.
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
    """Return one build that removes the items of refs: all are looked up before the first of them goes.

    Where one of several equal items is gone the refs of the others mean none any more.
    """
    if len(refs) == 1:
        return partial(remove, ref=refs[0], now=now)

    def build(snapshot: Snapshot) -> Edit:
        def at(line: int) -> FileBuild:
            return lambda look: remove(look, ref=next(one.ref for one in items(look) if one.line == line), now=now)

        # From the end, so that what stands above keeps its line.
        lines = sorted({find(snapshot, ref).line for ref in refs}, reverse=True)
        return chain([at(line) for line in lines])(snapshot)

    return build


class _Ahead:
    """The files as they will be after the edits so far."""

    def __init__(self, snapshot: Snapshot, documents: dict[str, Document]) -> None:
        self._snapshot = snapshot
        self._documents = dict(documents)

    def document(self, name: str) -> Document | None:
        """The edited document, else the one that is there."""
        if name in self._documents:
            return self._documents[name]
        return self._snapshot.document(name) if self._snapshot.exists(name) else None

    def archives(self) -> Sequence[str]:
        """All archive files."""
        names = {name for name in self._documents if name.startswith("archive/")}
        return tuple(sorted({*self._snapshot.archive_names, *names}))


def question(name: str, titles: Sequence[str]) -> tuple[str, str]:
    """The question before removing, and the titles it is about."""
    if len(titles) == 1:
        return f"Remove this {name}?", titles[0][:500]
    shown = [title[:80] for title in titles[:8]]
    more = [f"and {len(titles) - len(shown)} more"] if len(titles) > len(shown) else []
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"Remove {len(titles)} {plural}?", "\n".join([*shown, *more])
