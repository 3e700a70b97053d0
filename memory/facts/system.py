"""Facts as a system: `.aegis/memory/memories.jsonl`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.items import Item, Skipped, Taken
from memory.base.problems import Problem, copies_in
from memory.base.safe_text import plural
from memory.base.word_lists import sounds_like_rule
from memory.document.lines import decode
from memory.errors import MemdeckError, NotFoundError
from memory.search.records import Record, UnreadText
from memory.storage.changes import PlainReading
from memory.system import BriefLine, Contribution, System
from memory.systems.suspects import gate_of
from memory.workspace import Outcome, Workspace

from . import FactsLook, FactStore
from .model import (
    FILE,
    FOLDER,
    MARK,
    MOST_CHARACTERS,
    MOST_TAGS,
    SCOPES,
    SETTINGS,
    SHOWN,
    Answer,
    Fact,
    FactsOfFile,
    holds_secret,
    read_line,
    time_key,
)
from .store import items_of, read_mark, take

if TYPE_CHECKING:
    from memory.maintenance.report import Report

RULE = "prune-facts"
_RULES = frozenset({"preference", "preferences", "rule", "rules", "style", "policy", "convention"})
"""The tags of facts that say how to act."""


class Facts(System):
    """The facts of a workspace; verbs and other programs use `store`."""

    name = "facts"

    def __init__(self, workspace: Workspace) -> None:
        """Join the workspace's change log; nothing is read yet."""
        self._workspace = workspace
        self._files = workspace.add_store(FOLDER, FactReading())
        self.store = FactStore(self._files, gate_of(workspace))

    def present(self) -> bool:
        """Return whether the file of facts exists."""
        return (self._workspace.root / SHOWN).is_file()

    def files(self) -> Iterable[str]:
        """Yield the file of facts."""
        return (SHOWN,)

    def folders(self) -> Iterable[str]:
        """Yield the folder of facts."""
        return (SHOWN.rpartition("/")[0],)

    def owns(self, name: str) -> bool:
        """Return whether a name is that of a file of this system."""
        return name in (SHOWN, f"{FOLDER}/{MARK}", f"{FOLDER}/{SETTINGS}")

    def look(self) -> FactsLook:
        """Return a snapshot of the facts."""
        return self.store.look()

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems in the file of facts, the mark beside it, and the settings."""

        found: list[Problem] = []
        try:
            self.store.settings  # noqa: B018 - asked for its error
        except MemdeckError as error:
            line, message = error.details.get("line", 0), error.message.partition(": ")[2] or error.message
            found.append(Problem("error", f"{FOLDER}/{SETTINGS}", line, error.code, message))
        try:
            found += _problems(self.store.read(), self._files.read(MARK).base)
        except MemdeckError as error:
            found.append(Problem("error", SHOWN, 0, error.code, error.message))
        folder = SHOWN.rpartition("/")[0]
        found += copies_in(self._workspace.root / folder, folder)
        return tuple(one for one in found if names is None or one.file in names)

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Remove the oldest facts beyond `max_total`; they stay in the change log."""
        from memory.maintenance.report import Gone, Report, RuleReport

        begun = time.perf_counter()
        plan = Answer(gone=tuple(self.store.read().over(self.store.settings.max_total)))
        made = plan if dry_run else self.store.prune(actor=actor, now=now)
        gone, change = made.gone, made.change and made.change.id
        before = len(self.store.read().facts) + (0 if dry_run else len(gone))
        moves = tuple(Gone(fact.ref, fact.title, "the change log", time_key(fact.ts)[:10]) for fact in gone)
        why = f"the oldest over {before - len(gone):,} facts" if gone else ""
        rule = RuleReport(RULE, SHOWN, before, before - len(gone), 0, len(gone), moves, (), ("fact", "cleared"), why)
        took = round((time.perf_counter() - begun) * 1000, 1)
        return Report(dry_run, now, (rule,), duration_ms=took, change=change)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the facts in the order of the file."""
        return items_of(self.store)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Convert items to facts, in one change."""
        return take(self.store, items, actor=actor, now=now)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the facts, the newest first, then the lines that are none."""
        if kinds is not None and self.name not in kinds:
            return
        try:
            reading = self.store.read()
        except MemdeckError as error:
            if refused is None:
                raise
            refused[SHOWN] = error
            return
        for fact in reading.newest:
            yield Record(self.name, SHOWN, fact.title, fact.whole, fact, fact.ts[:10], tuple(fact.tags))
        lines = decode(reading.data).split("\n") if reading.unread else []
        for unread in reading.unread:
            text = lines[unread.line].strip()
            yield Record(self.name, SHOWN, text[:200], text, UnreadText(unread.line, text))

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:  # noqa: ARG002
        """Yield how many facts there are, how many are over the limit, and how many cannot be read."""
        look = self.store.look()
        count, most, unread = len(look.reading.facts), look.settings.max_total, len(look.reading.unread)
        due = [f"{count - most:,} over the limit"] if count > most else []
        due += [f"{plural(unread, 'line')} unread"] if unread else []
        yield BriefLine(self.name, "", "facts", f"{count:,} of {most:,} facts", ", ".join(due))

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield rules and preferences, then the other facts, the newest first; for a message a search finds them.

        With the injection of the newest only, these are the facts that it may have; without injection there are none.
        """
        look = self.store.look()
        mode = look.settings.inject_mode
        if message.strip() or mode == "off":
            return
        newest = look.reading.newest if mode == "relevant" else look.reading.newest[: look.settings.max_inject_count]
        for fact in newest:
            rule = not _RULES.isdisjoint(map(str.casefold, fact.tags)) or sounds_like_rule(fact.text)
            part, reason = ("rules", "a preference or a rule") if rule else ("rest", "a fact")
            yield Contribution(self.name, fact.ref, fact.title, fact.text, reason, 1.0, part, date=fact.ts[:10])

    def may_be_told(self) -> bool:
        """Return whether facts are injected for a message."""
        return self.store.settings.inject_mode == "relevant"

    def status(self, now: datetime) -> Mapping[str, object]:  # noqa: ARG002
        """Return how many facts there are by scope, the limit, and how many lines cannot be read."""
        look = self.store.look()
        return {
            "counts": {"facts": len(look.reading.facts), **Counter(fact.scope for fact in look.reading.facts)},
            "max_total": look.settings.max_total,
            "unread": len(look.reading.unread),
        }

    def remove(self, facts: Sequence[Fact], *, actor: str, now: datetime) -> Outcome:
        """Delete facts, in one change; NotFoundError `facts.not_found` if they do not exist any more."""
        change = self.store.delete([fact.id for fact in facts], actor=actor, now=now).change
        if change is None:
            raise NotFoundError("facts.not_found", "it was already deleted")
        words = facts[0].id if len(facts) == 1 else plural(len(facts), "fact")
        return Outcome(change, f"deleted {words}")


def _problems(reading: FactsOfFile, mark: bytes | None) -> list[Problem]:
    """Return the problems in the order of the lines; `mark` holds the bytes of the file beside the facts.

    Errors: lines that are not facts, and duplicate ids. Warnings: facts that look like a secret, a missing text or
    time, a mark below the highest id. Notes: what exceeds the limits of the format.
    """
    found = [
        Problem("error", SHOWN, one.line + 1, "fact.unread", f"the line is not a fact: {one.why}")
        for one in reading.unread
    ]
    first: dict[str, Fact] = {}
    for fact in reading.facts:
        other = first.setdefault(fact.id, fact)
        if other is not fact:
            text = f"{fact.id} is already on line {other.line + 1}"
            found.append(Problem("error", SHOWN, fact.line + 1, "fact.twice", text))
        found += _of_fact(fact)
    if mark is not None and read_mark(mark) < reading.highest:
        text = f"it is below m-{reading.highest}; the next change of memdeck raises it"
        found.append(Problem("warning", f"{FOLDER}/{MARK}", 1, "fact.mark", text))
    return sorted(found, key=lambda one: (one.file, one.line, one.code))


def _of_fact(fact: Fact) -> Iterator[Problem]:
    line = fact.line + 1
    if any(map(holds_secret, (fact.text, *fact.tags))):
        yield Problem("warning", SHOWN, line, "fact.secret", f"{fact.id} looks like a secret; delete it and change it")
    if not fact.text.strip():
        yield Problem("warning", SHOWN, line, "fact.text", f"{fact.id} has no text")
    elif len(fact.text) > MOST_CHARACTERS:
        yield Problem("note", SHOWN, line, "fact.long", f"{fact.id} is longer than {MOST_CHARACTERS} characters")
    if fact.scope not in SCOPES:
        yield Problem("note", SHOWN, line, "fact.scope", f"{fact.id} has an unknown scope")
    if len(fact.tags) > MOST_TAGS:
        yield Problem("note", SHOWN, line, "fact.tags", f"{fact.id} has more than {MOST_TAGS} tags")
    if not time_key(fact.ts):
        yield Problem("warning", SHOWN, line, "fact.time", f"{fact.id} has no readable time and counts as old")


class FactReading(PlainReading):
    """How the change log reads the file of facts."""

    def knows(self, path: str) -> bool:
        """Return whether a path is that of the file of facts."""
        return path == FILE

    lasts = knows

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return the ref and the text of a fact; a line that is not a fact has no ref."""
        fact = read_line(line.decode("utf-8", "replace"), 0)
        return (fact.ref, fact.title) if isinstance(fact, Fact) else (None, "a line that is not a fact")
