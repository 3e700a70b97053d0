"""What a pane offers to the application as plain data: a form to fill in, entries to remove, a badge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.systems.acts import Act
    from widgets.input.fields import FieldSpec

FileBuild: TypeAlias = "Callable[[Snapshot], Edit]"
"""Makes an edit of the files as they are when it is written; runs in a thread, under the workspace's lock."""

Build: TypeAlias = "FileBuild | Act"
"""Makes a change.

A pane of another system than the memory files gives an `Act` instead, which that system carries out."""

Values: TypeAlias = dict[str, str]
"""Values of a form by field name, as text."""


class FormPlan(NamedTuple):
    """A form and what becomes of it.

    `build(changed, values, now)` gets the values that differ from what the form was given, all values, and the
    moment of saving; what it raises (BadMoment, BadCron, UsageError) is shown in the form, which stays open.
    `check` sees all values and gives an error sentence by field name ("" for the form's foot). `operation` is
    the name in the change log (`tasks.add`), `focus` the field to begin in. `current(snapshot)` gives the values
    that the form would be given for other files (None: the entry is gone); only for edits that do not refuse by
    themselves what somebody else changed meanwhile.
    """

    title: str
    fields: Sequence[FieldSpec]
    build: Callable[[Values, Values, datetime], Build]
    operation: str
    focus: str | None = None
    check: Callable[[Values], Mapping[str, str]] | None = None
    current: Callable[[Snapshot], Values | None] | None = None


class Removal(NamedTuple):
    """Entries to remove, after a question: `build(now)` makes the edit, of all of them in one change."""

    question: str
    details: str
    build: Callable[[datetime], Build]
    operation: str


@dataclass(frozen=True, slots=True)
class Badge:
    """What the sidebar says of a pane: how much is in it (None: nothing to count), whether it needs a person."""

    count: int | None = None
    alert: bool = False
