"""What workers tell the application; handlers on the App own every change of state.

Nobody compares or prints them, and what is not made for that costs a start nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from memory.base.problems import Problem
    from memory.errors import MemdeckError
    from memory.history.lost_files import LostFile
    from memory.history.news import News
    from memory.history.taken_back import Undone
    from memory.monitoring.history.charts import Notice
    from memory.monitoring.run.ahead import Ahead
    from memory.search import Answer
    from memory.storage.private.drafts import Draft
    from memory.systems.protocol import BriefLine
    from memory.workspace import Outcome
    from widgets.chrome.header import Alert
    from widgets.pane.base import Contents, Pane
    from widgets.pane.offers import Badge

    from .live.jobs import Job


@dataclass(eq=False, repr=False)
class Looked(Message):
    """A worker read the files for a pane."""

    pane: Pane
    contents: Contents


@dataclass(eq=False, repr=False)
class Counted(Message):
    """A worker counted what the panes hold, by pane id."""

    badges: Mapping[str, Badge]


@dataclass(eq=False, repr=False)
class Briefed(Message):
    """A worker worked out what needs attention; the parts of the header, the most important first.

    `problems` and `upkeep` (a file, a sentence, and the system where it is another one) are for the brief; empty
    where looking would take too long. `notice` says who waits for an approval and who is muted, `news` what others
    changed since somebody looked last, `others` how things stand beside the memory files, `undone` what other programs
    took back of memdeck's changes.
    """

    alerts: tuple[Alert, ...]
    notice: Notice
    problems: tuple[Problem, ...] = ()
    upkeep: tuple[tuple[str, ...], ...] = ()
    news: tuple[News, ...] = ()
    others: tuple[BriefLine, ...] = ()
    undone: tuple[Undone, ...] = ()


@dataclass(eq=False, repr=False)
class Noticed(Message):
    """The change log is up to date; how many of others nobody looked at yet, what is wrong with the log, whether
    there is something to undo and to redo, and what other programs took back (None: not looked), with lost files.
    """

    count: int
    warnings: tuple[str, ...] = ()
    turns: tuple[bool, bool] = (False, False)
    undone: tuple[Undone, ...] | None = None
    lost: tuple[LostFile, ...] = ()


@dataclass(eq=False, repr=False)
class Drafted(Message):
    """Forms that were never saved, newest first."""

    drafts: tuple[Draft, ...]


@dataclass(eq=False, repr=False)
class LookFailed(Message):
    """The files could not be read."""

    error: Exception


@dataclass(eq=False, repr=False)
class Found(Message):
    """A worker has the answer to a question of the search screen."""

    answer: Answer
    number: int


@dataclass(eq=False, repr=False)
class Indexed(Message):
    """The index of search is up to date; `done` False: there is none."""

    done: bool


@dataclass(eq=False, repr=False)
class LookEnded(Message):
    """The worker that reads is free again."""


@dataclass(eq=False, repr=False)
class FilesChanged(Message):
    """The watcher saw that files changed; their names relative to the memory folder."""

    names: frozenset[str]


@dataclass(eq=False, repr=False)
class Changed(Message):
    """A worker wrote a change."""

    outcome: Outcome
    then: Callable[[Outcome], None] | None = None
    taken_back: bool = False
    """Whether to say which key takes it back."""


@dataclass(eq=False, repr=False)
class ChangeFailed(Message):
    """A change was not written."""

    error: MemdeckError
    otherwise: Callable[[MemdeckError], bool] | None = None


@dataclass(eq=False, repr=False)
class Done(Message):
    """A worker finished something else; `then` gets its result in the application's thread."""

    result: Any
    then: Callable[[Any], None]


@dataclass(eq=False, repr=False)
class LookedAhead(Message):
    """A thread looked what is due (None: it could not); `others`: another application keeps the schedule."""

    ahead: Ahead | None
    others: bool
    now: datetime
    error: MemdeckError | None = None


@dataclass(eq=False, repr=False)
class JobMoved(Message):
    """A job got further, or another one runs."""

    def can_replace(self, message: Message) -> bool:
        """Only the last of a burst matters."""
        return isinstance(message, JobMoved)


@dataclass(eq=False, repr=False)
class JobEnded(Message):
    """A job is done, or failed."""

    job: Job
    result: Any
    error: MemdeckError | None
    then: Callable[[Any], None]
    failed: Callable[[MemdeckError], None] | None = None
