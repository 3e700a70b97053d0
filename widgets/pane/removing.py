"""Removing entries: the question before it, and several edits as one change."""

from __future__ import annotations

from collections.abc import Sequence

from memory.base.safe_text import plural
from memory.document import Document
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, WrittenFiles
from widgets.pane.offers import FileBuild


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


def question(name: str, titles: Sequence[str]) -> tuple[str, str]:
    """The question before removing, and the titles of the items."""
    if len(titles) == 1:
        return f"Remove this {name}?", titles[0][:500]
    shown = [title[:80] for title in titles[:8]]
    more = [f"and {len(titles) - len(shown)} more"] if len(titles) > len(shown) else []
    return f"Remove {plural(len(titles), name)}?", "\n".join([*shown, *more])
