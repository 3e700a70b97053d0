"""How an entry of each kind is found: by its ref, the digits of its ref, its own id, or a part of its title.

A ref that fits no entry is looked up in the change log: an entry that was edited since is found, and for any other the
error says what happened to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from memory.base.values import folded
from memory.document.nodes import bare
from memory.errors import AmbiguousError, EntryChoice, NotFoundError

if TYPE_CHECKING:
    from memory.files.contacts.model import Contact
    from memory.files.journal.model import JournalEntry
    from memory.files.knowledge.model import KnowledgeItem
    from memory.files.monitors.model import Monitor
    from memory.files.plans.model import Plan
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task
from memory.files.refs import SHORT, fits, read_ref, short

E = TypeVar("E")
_MAX_CANDIDATES = 20


class Lookup(NamedTuple, Generic[E]):
    """How an entry of one kind is found.

    `kind` is in the refs, `noun` in messages and codes. `items` returns the entries of the file, `archive` those of its
    archives. `is_open` tells which entry is meant where others have its title too, and `has_id` whether a text is the
    id that an entry has itself. Without `traced` no outdated ref is looked up in the change log.
    """

    kind: str
    noun: str
    items: Callable[[Snapshot], Iterable[E]]
    archive: Callable[[Snapshot], Iterable[E]] | None = None
    is_open: Callable[[E], bool] = lambda _: False
    has_id: Callable[[E, str], bool] | None = None
    traced: bool = True

    def find(self, snapshot: Snapshot, text: str, *, archived: bool = False) -> E:
        """Return the one entry that a text names; archives are asked if `archived` says so, after the file.

        In a ref, `kind#…` may name a file instead, and then only that file is searched. An exact whole title wins over
        titles that merely contain it. Where it matches one open entry and others, the open one is meant, and the
        snapshot gets a remark about it. A ref that fits no entry is looked up in the change log. Raises NotFoundError
        `<noun>.not_found`, `<noun>.archived`, `<noun>.gone` (removed) or `<noun>.renamed`, and AmbiguousError
        `<noun>.ambiguous` whose `candidates` hold ref (in its longer form), title, file and line of each match, and
        whose `choices` hold the same for the user.
        """
        name = text.strip()
        scope, digits = read_ref(name) or (None, "")
        for pool in (self.items, *([self.archive] if archived and self.archive else ())):
            items: list[Any] = list(pool(snapshot))
            found = [item for item in items if self.has_id(item, name)] if name and self.has_id else []
            if len(found) == 1:
                return found[0]  # type: ignore[no-any-return]
            found = []
            if digits:
                here = (scope, f"{scope}.md")
                found = self._by_digits(
                    items if scope in (None, self.kind) else [one for one in items if one.file in here], digits
                )
            if not found and name and scope is None:
                part = folded(name)
                found = [item for item in items if item.title == name]
                found = found or [item for item in items if part in folded(item.title)]
                open_ones = list(filter(self.is_open, found))
                if len(open_ones) == 1 < len(found):
                    others = len(found) - 1
                    more = "a completed one has" if others == 1 else f"{others} completed ones have"
                    snapshot.remark(f"{short(name)} means the open one, {open_ones[0].ref}; {more} this title too")
                    found = open_ones
            if len(found) == 1:
                return found[0]  # type: ignore[no-any-return]
            if found:
                raise _ambiguous(name, self.noun, found)
        if digits and scope in (None, self.kind):
            return self._by_past(snapshot, name, digits, archived)
        raise _not_found(name, self.noun, "has the ref" if scope is not None else "matches")

    def _by_digits(self, items: Iterable[Any], digits: str) -> list[Any]:
        if len(digits) > SHORT:
            return [item for item in items if fits(item, digits)]
        return [item for item in items if item.identity.startswith(digits) and not item.is_run]

    def _by_past(self, snapshot: Snapshot, name: str, digits: str, archived: bool) -> E:
        """Return the entry that an outdated ref meant before an edit; else an error says what happened to it."""
        noun = self.noun
        past = snapshot.past if self.traced else None
        trace = None if past is None else past(self.kind, digits)
        source = None if trace is None else trace.source

        def unchanged(items: Iterable[Any]) -> list[Any]:
            known = ((item, getattr(item, "entry", None)) for item in items if source is not None)
            return [item for item, entry in known if entry and bare(entry) == source]

        asked: list[Any] = [*self.items(snapshot), *(self.archive(snapshot) if archived and self.archive else ())]
        known = [item for item in asked if item.identity.startswith(digits[:SHORT])]
        same = unchanged(known)
        if len(same) == 1:
            return same[0]  # type: ignore[no-any-return]
        details = {} if trace is None else dict(trace.details)
        stored = [] if archived or self.archive is None else list(self.archive(snapshot.readable()))
        if found := self._by_digits(stored, digits) or unchanged(stored):
            when = "" if trace is None else f": it {trace.words}"
            raise NotFoundError(
                f"{noun}.archived",
                f"the {_words(noun)} {short(found[0].title)} is in the archive{when}",
                f"it is in {found[0].file}, and the archive is read-only; `memdeck restore` brings it back",
                **{**details, "text": name, "ref": found[0].ref, "file": found[0].file},
            )
        if trace is not None and (trace.gone or trace.ref is not None):
            hint, code = "`memdeck changes show` has it, `memdeck changes revert` brings it back", "gone"
            if trace.ref is not None:
                hint, code = f"it is now {trace.ref}", "renamed"
                details["ref"] = trace.ref
            title = f"the {_words(noun)} {short(trace.title)} {trace.words}"
            raise NotFoundError(f"{noun}.{code}", title, hint, text=name, **details)
        if known:
            words = "" if trace is None else f": the entry of that ref {trace.words}"
            raise _ambiguous(name, noun, known, f"{short(name)} names no {_words(noun)} any more{words}")
        raise _not_found(name, noun, "has the ref" if "#" in name else "matches")


def _not_found(name: str, noun: str, what: str) -> NotFoundError:
    message = f"no {_words(noun)} {what} {short(name)}"
    return NotFoundError(f"{noun}.not_found", message, "list them to see their refs", text=name)


def _ambiguous(name: str, noun: str, found: Sequence[Any], words: str = "") -> AmbiguousError:
    candidates = []
    choices = []
    digits = Counter(item.long_hex for item in found)
    identities = Counter(item.identity for item in found)
    for item in found[:_MAX_CANDIDATES]:
        # Entries of several archives can be equal in everything: then the file distinguishes them.
        own = item.ref.partition("#")[0]
        scope = own if digits[item.long_hex] == 1 else item.file.removesuffix(".md")
        ref, line = f"{scope}#{item.long_hex}", item.line + 1
        candidates.append({"ref": ref, "title": item.title, "file": item.file, "line": line})
        # All entries of one identity have the same title, so `found` contains all of them.
        shown = item.ref if identities[item.identity] == 1 else ref
        choices.append(EntryChoice(shown.removeprefix(f"{own}#"), f"{item.file}:{line}", item.title))
    refs = ", ".join(candidate["ref"] for candidate in candidates[:4]) + (", …" if len(found) > 4 else "")
    return AmbiguousError(
        f"{noun}.ambiguous",
        words or f"{len(found)} entries match {short(name)}",
        f"use one of {refs}",
        choices=choices,
        candidates=candidates,
        count=len(found),
    )


def _words(noun: str) -> str:
    return {"journal": "journal entry", "archive": "archived entry"}.get(noun, noun)


TASKS: Lookup[Task] = Lookup(
    "tasks",
    "task",
    lambda snapshot: snapshot.tasks,
    lambda snapshot: chain.from_iterable(snapshot.archived_tasks()),
    is_open=lambda task: task.section in ("pending", "in-progress"),
)
ENTRIES: Lookup[JournalEntry] = Lookup(
    "journal",
    "journal",
    lambda snapshot: snapshot.journal.entries(),
    lambda snapshot: chain.from_iterable(journal.entries() for journal in snapshot.archived_journals()),
)
KNOWLEDGE: Lookup[KnowledgeItem] = Lookup("knowledge", "knowledge", lambda snapshot: snapshot.knowledge)
CONTACTS: Lookup[Contact] = Lookup(
    "contacts", "contact", lambda snapshot: snapshot.contacts, has_id=lambda one, text: one.has_id(text)
)
PLANS: Lookup[Plan] = Lookup(
    "orchestration",
    "plan",
    lambda snapshot: snapshot.plans,
    lambda snapshot: chain.from_iterable(snapshot.archived_plans()),
    is_open=lambda plan: plan.section == "active" and not plan.archived,
    has_id=lambda plan, text: plan.plan_id == text,
)
MONITORS: Lookup[Monitor] = Lookup("monitors", "monitor", lambda snapshot: snapshot.monitors)
find_task, find_entry, find_knowledge = TASKS.find, ENTRIES.find, KNOWLEDGE.find
find_contact, find_plan, find_monitor = CONTACTS.find, PLANS.find, MONITORS.find
