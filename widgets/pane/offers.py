"""What a pane offers to the application as plain data: a form to fill in, entries to remove, a badge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.base.safe_text import plural
from memory.document import Document
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, WrittenFiles

if TYPE_CHECKING:
    from memory.systems.acts import Act
    from widgets.input.fields import FieldSpec


FileBuild: TypeAlias = "Callable[[Snapshot], Edit]"
"""Makes an edit of the files as they are at the time of writing; runs in a thread, under the workspace's lock."""


class Call(NamedTuple):
    """Calls of one operation, named by its words after `memdeck`: one for each of `values`."""

    operation: str
    values: Sequence[Mapping[str, Any]]


Build: TypeAlias = "FileBuild | Act | Call"
"""Makes a change.

A pane of a system other than the memory files returns an `Act`, which that system carries out, or calls of an
operation."""

Values: TypeAlias = dict[str, str]
"""Values of a form by field name, as text."""


class FormPlan(NamedTuple):
    """A form and how its values are saved.

    `build(changed, values, now)` gets the values that differ from the initial ones, all values, and the moment of
    saving. The errors it raises (BadMoment, BadCron, UsageError) are shown in the form, which stays open.
    `check` gets all values and returns an error sentence by field name ("" for the form's foot). `operation` is
    the name in the change log (`tasks.add`), `focus` the field to begin in. `current(snapshot)` returns the initial
    values that the form would have with another snapshot (None: the entry is gone); it is needed only for edits that
    do not refuse concurrent changes themselves. `apply`, if given, gets the values instead of `build`.
    """

    title: str
    fields: Sequence[FieldSpec]
    build: Callable[[Values, Values, datetime], Build]
    operation: str
    focus: str | None = None
    check: Callable[[Values], Mapping[str, str]] | None = None
    current: Callable[[Snapshot], Values | None] | None = None
    apply: Callable[[Values], None] | None = None


class Removal(NamedTuple):
    """Entries to remove, after a question: `build(now)` makes one edit that removes all of them."""

    question: str
    details: str
    build: Callable[[datetime], Build]
    operation: str


@dataclass(frozen=True, slots=True)
class Badge:
    """What the sidebar shows for a pane: its count (None: nothing to count), and whether it needs attention."""

    count: int | None = None
    alert: bool = False


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
        return Edit(documents, words, last.at if last else None)

    return build


def question(name: str, titles: Sequence[str]) -> tuple[str, str]:
    """The question before removing, and the titles of the items."""
    if len(titles) == 1:
        return f"Remove this {name}?", titles[0][:500]
    shown = [title[:80] for title in titles[:8]]
    more = [f"and {len(titles) - len(shown)} more"] if len(titles) > len(shown) else []
    return f"Remove {plural(len(titles), name)}?", "\n".join([*shown, *more])
