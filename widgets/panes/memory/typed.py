"""The tab of typed memory: the core, procedural and episodic files of each agent, and what the next prune deletes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from memory.base.safe_text import plural
from memory.base.values import say_size
from memory.errors import BlockedError
from memory.files.snapshot import Snapshot
from memory.typed.aidefile import age_text
from memory.typed.pruning import MAX_AGE, TYPES
from memory.typed.reading import FILE as FAILURES
from memory.typed.reading import preview, read_text
from widgets.chrome.keys import with_keys
from widgets.list.rows import Heading
from widgets.pane.base import Badge, FormPlan
from widgets.pane.operation_form import form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Piece, Tone

if TYPE_CHECKING:
    from memory.typed.pruning import AgentStatus, MemoryFile

KEPT = {
    "core": "always told", "procedural": "how-tos, deleted after 90 days", "episodic": "events, deleted after 7 days",
}  # fmt: skip
"""What the files of a type are, and what happens to them."""
ASKED = ("path", "text", "dedupe", "agent")
"""The parameters that the form asks for."""
NEARLY = 0.8
"""The share of its time from which a file's age is a warning."""
BEGINNING = 400
"""The bytes in which the first line of a file is searched."""


class TypedPane(RecordPane):
    """The files of each agent by type; files that are old enough to be deleted are marked."""

    pane_id: ClassVar[str] = "typed"
    title: ClassVar[str] = "Typed"
    purpose: ClassVar[str] = "Agents' own files: core is always told, others expire."
    empty: ClassVar[str] = (
        "Each agent's own files: core files are always told, how-tos are deleted after 90 days, events after 7.\n\n"
        "No agent of this workspace has any yet. A folder becomes an agent with a file `Aidefile` in it, which may be "
        "empty, or with its name and path in ~/.aide/config.toml."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("agent", "type")
    item_name: ClassVar[str] = "file"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield for each agent what a prune would do, then its files by type; or why it cannot be read."""
        agents = _agents(snapshot, now)
        for status in agents:
            name = status.look.agent.name
            if len(agents) > 1:
                yield Heading(name)
            if status.look.error is not None:
                yield _row(status, status.look.error.message, "alert", "alert")
                continue
            yield from _prune(status)
            for kind in TYPES:
                files = status.look.of(kind)
                if files:
                    yield Heading(kind.upper(), f"{len(files):,}  {KEPT[kind]}", "age")
                    yield from (_record(status, file) for file in files)

    def may_change(self, item: Record) -> bool:
        """Return whether it is a file."""
        return item.thing is not None

    counts = may_change

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """Return how much of its tokens the only agent uses, else how many files there are."""
        agents = _agents(snapshot, now)
        return _tokens(agents[0]) if len(agents) == 1 else super().remark(snapshot, now)

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """Return how many files there are; an agent over its limit or with a broken Aidefile needs attention."""
        agents = _agents(snapshot, now)
        alert = any(status.look.error is not None or (status.look.fill or 0) > 1 for status in agents)
        return Badge(sum(len(status.look.files) for status in agents), alert) if agents else Badge()

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the file's properties, when it is old enough to be deleted, and a preview; or what a prune does."""
        if item.thing is None:
            return {"": with_keys(item.words, self.app)}
        status, file = item.thing
        seconds = file.age(status.now).total_seconds()
        limit = MAX_AGE.get(file.type)
        left = 0.0 if limit is None else limit.total_seconds() - seconds
        held = next((holder for holder in status.look.locks if holder.path == file.path), None)
        return {
            "agent": "" if status.look.limit is None else f"{status.look.agent.name}, {_tokens(status)}",
            "type": f"{file.type}, {KEPT[file.type]}",
            "size": say_size(file.size),
            "changed": f"{age_text(seconds)} ago" if seconds >= 60 else "just now",
            "too old": "never" if limit is None else f"in {age_text(max(left, 60))}" if left > 0 else
            Piece("yes, the next prune deletes it" if file in status.prune.deleted else "yes", "warn"),
            "locked by": held and Piece(held.text(), "warn"),
            "": preview(status.look.agent.folder, file),
        }  # fmt: skip

    def is_blocked(self, item: Record) -> bool:
        """Return whether the row says that a prune needs approval."""
        return item.sign == "half"

    def source_text(self, item: Record) -> str | None:
        """Return the beginning of the file, for copying."""
        return None if item.thing is None else str(self.told(item)[""])

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form that appends a text to a file of an agent, which may be new."""
        item = self.current()
        given = {} if item is None else item.values
        return form_of("typed merge", "Add to an agent's file", given, focus="text", names=ASKED)


def _tokens(status: AgentStatus) -> str:
    """Return how many tokens an agent's files take, of its limit if it has one."""
    tokens, look = f"{status.look.tokens:,}", status.look
    return f"{tokens} of {look.limit:,} tokens" if look.limit else f"{tokens} tokens"


def _prune(status: AgentStatus) -> Iterator[Record]:
    """Yield a row that says what a prune would delete, or what keeps it from running; nothing where no file is old."""
    count, error = sum(file.too_old(status.now) for file in status.look.files), status.prune.error
    old = plural(count, "old file")
    if count and isinstance(error, BlockedError):
        words = f"{error.message}.\n\nPress {{trust.review|T}} to approve that."
        yield _row(status, f"{old} kept: deleting needs approval", "half", "warn", words)
    elif count and error is not None and error.code != "typed.unregistered":
        yield _row(status, f"{old} kept: {error.message}", "alert", "warn", f"{error.message}.\n\n{error.hint}.")
    elif count:
        words = "{memory.prune|P} lists them and deletes them after a question; {change.undo|u} brings them back."
        yield _row(status, f"{old} to delete", "right", "accent", words)


def _row(status: AgentStatus, title: str, sign: str, tone: Tone, words: str = "") -> Record:
    values = {"agent": str(status.look.agent.folder)}
    return Record(f"{status.look.agent.name}:", title, sign=sign, tone=tone, values=values, words=words)


def _record(status: AgentStatus, file: MemoryFile) -> Record:
    seconds = file.age(status.now).total_seconds()
    limit = MAX_AGE.get(file.type)
    share = 0.0 if limit is None else seconds / limit.total_seconds()
    name, folder = status.look.agent.name, status.look.agent.folder
    return Record(
        f"{name}:{file.path}", _first_line(folder, file), about=file.path,
        when="too old" if share > 1 else age_text(seconds),
        sign="alert" if share > 1 else "diamond" if file.locked else "", tone="warn" if share >= NEARLY else "plain",
        values={"agent": str(folder), "type": file.type, "path": file.path, "place": file.path, "source": file.path},
        mark=(file, share > 1), source=f"{folder}/{file.path}", thing=(status, file),
    )  # fmt: skip


@lru_cache(maxsize=2_000)
def _first_line(folder: Path, file: MemoryFile) -> str:
    """Return the first line with words of a file, without its Markdown; of any other file its path."""
    if file.name == FAILURES:
        return "Failure notes"
    lines = (read_text(folder, file.path, BEGINNING) or "").split("\n")
    words = (re.sub(r"^[\s#>*-]+", "", text).strip() for text in lines)
    return next((text for text in words if text and "\0" not in text), file.path)


def _agents(snapshot: Snapshot, now: datetime) -> Sequence[AgentStatus]:
    from memory.typed.system import TypedLook

    look = snapshot.of("typed", TypedLook)
    return () if look is None else look.at(now)
