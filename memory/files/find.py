"""How an entry of each kind is found: by its ref, the digits of its ref, its own id, or a part of its title.

A ref that fits no entry is looked up in the change log: an entry that was edited since is found, and for any other the
error says what happened to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from memory.base.values import folded
from memory.document.nodes import bare
from memory.errors import AmbiguousError, EntryChoice, NotFoundError
from memory.files.refs import SHORT, fits, read_ref, short

if TYPE_CHECKING:
    from memory.files.contacts import Contact
    from memory.files.journal.model import JournalEntry
    from memory.files.knowledge import KnowledgeItem
    from memory.files.monitors import Monitor
    from memory.files.plans.model import Plan
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task

E = TypeVar("E")
_MAX_CANDIDATES = 20


class Lookup(NamedTuple, Generic[E]):
    """How an entry of one kind is found: `kind` is in the refs and names the file, `noun` is in messages and codes."""

    kind: str
    noun: str

    @property
    def file(self) -> str:
        """The file of the entries."""
        return f"{self.kind}.md"

    @property
    def words(self) -> str:
        """What one entry is called in a sentence."""
        return {"journal": "journal entry", "archive": "archived entry"}.get(self.noun, self.noun)

    def items(self, snapshot: Snapshot) -> Sequence[E]:
        """Return the entries of the file, as they are listed."""
        found: Sequence[E] = snapshot.view_of(self.file).listed()
        return found

    def archive(self, snapshot: Snapshot) -> list[E]:
        """Return the entries of the archives of the file."""
        return [one for view in snapshot.archived(self.kind) for one in view.listed()]

    def find(self, snapshot: Snapshot, text: str, *, archived: bool = False) -> E:
        """Return the one entry that a text names; archives are asked if `archived` says so, after the file.

        A ref that fits no entry is looked up in the change log. Raises NotFoundError `<noun>.not_found`,
        `<noun>.archived`, `<noun>.gone` (removed) or `<noun>.renamed`, and AmbiguousError as `among`.
        """
        name = text.strip()
        for pool in (self.items, self.archive) if archived else (self.items,):
            if (found := self.among(snapshot, name, pool(snapshot))) is not None:
                return found
        scope, digits = read_ref(name) or (None, "")
        if digits and scope in (None, self.kind):
            return self._by_past(snapshot, name, digits, archived)
        raise self.not_found(name)

    def among(self, snapshot: Snapshot, name: str, items: Sequence[Any]) -> E | None:
        """Return the one of some entries that a name means, None where it means none.

        In a ref, `kind#…` may name a file instead, and then only its entries count. An exact whole title wins over
        titles that merely contain it. Where it matches one open entry and others, the open one is meant, and the
        snapshot gets a remark about it. Raises AmbiguousError `<noun>.ambiguous` whose `candidates` hold ref (in its
        longer form), title, file and line of each match, and whose `choices` hold the same for the user.
        """
        scope, digits = read_ref(name) or (None, "")
        found = [item for item in items if name and item.has_id(name)]
        if len(found) != 1:
            found = []
            if digits:
                here = (scope, f"{scope}.md")
                found = _by_digits([one for one in items if scope in (None, self.kind) or one.file in here], digits)
            if not found and name and scope is None:
                part = folded(name)
                found = [item for item in items if item.title == name]
                found = found or [item for item in items if part in folded(item.title)]
                open_ones = [item for item in found if item.is_open]
                if len(open_ones) == 1 < len(found):
                    others = len(found) - 1
                    more = "a completed one has" if others == 1 else f"{others} completed ones have"
                    snapshot.remark(f"{short(name)} means the open one, {open_ones[0].ref}; {more} this title too")
                    found = open_ones
        if len(found) > 1:
            raise _ambiguous(name, self.noun, found)
        return found[0] if found else None

    def _by_past(self, snapshot: Snapshot, name: str, digits: str, archived: bool) -> E:
        """Return the entry that an outdated ref meant before an edit; else an error says what happened to it."""
        trace = None if snapshot.past is None else snapshot.past(self.kind, digits)
        source = None if trace is None else trace.source

        def unchanged(items: Iterable[Any]) -> list[Any]:
            known = ((item, getattr(item, "entry", None)) for item in items if source is not None)
            return [item for item, entry in known if entry and bare(entry) == source]

        asked: list[Any] = [*self.items(snapshot), *(self.archive(snapshot) if archived else ())]
        known = [item for item in asked if item.identity.startswith(digits[:SHORT])]
        same = unchanged(known)
        if len(same) == 1:
            return same[0]  # type: ignore[no-any-return]
        details = {} if trace is None else dict(trace.details)
        stored = [] if archived else self.archive(snapshot.readable())
        if found := _by_digits(stored, digits) or unchanged(stored):
            when = "" if trace is None else f": it {trace.words}"
            title = f"the {self.words} {short(found[0].title)} is in the archive{when}"
            hint = f"it is in {found[0].file}, and the archive is read-only; `memdeck restore` brings it back"
            details |= {"text": name, "ref": found[0].ref, "file": found[0].file}
            raise NotFoundError(f"{self.noun}.archived", title, hint, **details)
        if trace is not None and (trace.gone or trace.ref is not None):
            hint, code = "`memdeck changes show` has it, `memdeck changes revert` brings it back", "gone"
            if trace.ref is not None:
                hint, code = f"it is now {trace.ref}", "renamed"
                details["ref"] = trace.ref
            title = f"the {self.words} {short(trace.title)} {trace.words}"
            raise NotFoundError(f"{self.noun}.{code}", title, hint, text=name, **details)
        if known:
            words = "" if trace is None else f": the entry of that ref {trace.words}"
            raise _ambiguous(name, self.noun, known, f"{short(name)} names no {self.words} any more{words}")
        raise self.not_found(name)

    def not_found(self, name: str) -> NotFoundError:
        """Return the error for a name that means no entry."""
        what = "has the ref" if "#" in name and read_ref(name) else "matches"
        message = f"no {self.words} {what} {short(name)}"
        return NotFoundError(f"{self.noun}.not_found", message, "list them to see their refs", text=name)


def _by_digits(items: Iterable[Any], digits: str) -> list[Any]:
    if len(digits) > SHORT:
        return [item for item in items if fits(item, digits)]
    return [item for item in items if item.identity.startswith(digits) and not item.is_run]


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
    words = words or f"{len(found)} entries match {short(name)}"
    return AmbiguousError(
        f"{noun}.ambiguous", words, f"use one of {refs}", choices=choices, candidates=candidates, count=len(found)
    )


TASKS: Lookup[Task] = Lookup("tasks", "task")
ENTRIES: Lookup[JournalEntry] = Lookup("journal", "journal")
KNOWLEDGE: Lookup[KnowledgeItem] = Lookup("knowledge", "knowledge")
CONTACTS: Lookup[Contact] = Lookup("contacts", "contact")
PLANS: Lookup[Plan] = Lookup("orchestration", "plan")
MONITORS: Lookup[Monitor] = Lookup("monitors", "monitor")
find_task, find_entry, find_knowledge = TASKS.find, ENTRIES.find, KNOWLEDGE.find
find_contact, find_plan, find_monitor = CONTACTS.find, PLANS.find, MONITORS.find
