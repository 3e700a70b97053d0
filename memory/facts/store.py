"""FactStore: the facts of one workspace; stores, deletes, searches, injects and prunes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from memory.errors import ConflictError, UsageError

from .model import DEFAULT_SCOPE, FILE, MARK, SETTINGS, Deleted, Fact, KeptFact, RefusedFact, one_line, refusal
from .reading import FactsOfFile, read_facts
from .search import Haystack, find_facts
from .settings import FactLimits, read_settings

if TYPE_CHECKING:
    from memory.storage import Change, Store
    from memory.storage.transaction.transaction import Transaction

    from .index import FactIndex
    from .inject import Injection
    from .transfer import Import, ImportRow
    from .writing import NewFact

_TRIES = 12  # How often a change is planned again while other programs write to the same file.
R = TypeVar("R")


class FactsLook:
    """The facts at one moment, for panes and searches; immutable, and the same object while the file is the same."""

    def __init__(self, store: FactStore, reading: FactsOfFile, settings: FactLimits | None, refusal: str) -> None:
        """Keep what was read; `refusal` says why there are no settings."""
        self._store = store
        self.reading = reading
        self.refusal = refusal
        self.settings = settings or FactLimits()

    @property
    def newest(self) -> Sequence[Fact]:
        """The facts, the newest first."""
        return self.reading.newest

    def inject(self, message: str, now: datetime) -> Injection:
        """Return what a message would inject; see `memory.facts.inject`."""
        return self._store.inject_into(self.reading, self.settings, message, now)


class FactStore:
    """The facts in one store; safe to share between threads.

    What was read is kept until the file's device, inode, size or times change. Expected refusals are returned;
    BusyError `file.locked`, RefusedError `file.*`, MemdeckError `file.io` and ConfigError `facts.settings` are raised.
    """

    def __init__(self, store: Store) -> None:
        """`store` is that of the folder `.aegis`; nothing is read yet."""
        self._store = store
        self._reading: FactsOfFile | None = None
        self._look: FactsLook | None = None
        self._index: tuple[object, FactIndex] | None = None
        self._injections = self._searches = 0
        self._haystack: tuple[FactsOfFile, Haystack] | None = None
        self._mutex = threading.RLock()

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self) -> FactsOfFile:
        """Return the facts as they stand in the file now."""
        return self._read(self._store.read(FILE).data)

    def _read(self, data: bytes) -> FactsOfFile:
        with self._mutex:
            known = self._reading
            if known is None or (known.data is not data and known.data != data):
                self._reading = known = read_facts(data, known)
            return known

    @property
    def settings(self) -> FactLimits:
        """The limits as they stand in `agent.json` now; ConfigError `facts.settings`."""
        return read_settings(self._store.read(SETTINGS).base)

    @property
    def mark(self) -> int:
        """The highest number that the file beside the facts remembers; 0 where it says nothing."""
        return read_mark(self._store.read(MARK).data)

    def look(self) -> FactsLook:
        """Return one look at the facts; settings that are wrong count as the defaults, and say why."""
        from memory.errors import ConfigError

        reading, why = self.read(), ""
        try:
            settings: FactLimits | None = self.settings
        except ConfigError as error:
            settings, why = None, error.message
        with self._mutex:
            known = self._look
            if (
                known is None
                or known.reading is not reading
                or (known.settings, known.refusal)
                != (
                    settings or FactLimits(),
                    why,
                )
            ):
                self._look = known = FactsLook(self, reading, settings, why)
            return known

    def search(self, query: str | None = None, tag: str | None = None) -> tuple[Fact, ...]:
        """Return the newest facts, at most 20, whose text holds the query and which have the tag, both in any case."""
        reading = self.read()
        if not query:
            return find_facts(reading, None, tag)
        with self._mutex:
            self._searches += 1
            # To join all texts takes as long as to look into each of them once.
            if self._searches == 1 or "\n" in query or "\r" in query:
                return find_facts(reading, query, tag)
            if self._haystack is None or self._haystack[0].line is not reading.line:
                self._haystack = (reading, Haystack(reading))
            known, haystack = self._haystack
            if len(known.facts) > len(reading.facts):
                return find_facts(reading, query, tag)
            if known is not reading:
                haystack.follow(reading)
                self._haystack = (reading, haystack)
            return find_facts(reading, query, tag, haystack)

    def inject(self, message: str, now: datetime) -> Injection:
        """Return what is injected for a message; see `memory.facts.inject`."""
        return self.inject_into(self.read(), self.settings, message, now)

    def inject_into(self, reading: FactsOfFile, settings: FactLimits, message: str, now: datetime) -> Injection:
        """Return what a message injects from facts that were read."""
        from .inject import inject

        with self._mutex:
            # Without a message nothing is looked up.
            self._injections += bool(message.strip())
            # To make an index takes longer than to look at each fact once, which is all that a prompt hook asks for.
            index = None if self._injections <= 1 else lambda: self._index_of(reading)
        return inject(reading, message, now, settings, index)

    def _index_of(self, reading: FactsOfFile) -> FactIndex:
        """Return the index of what was read; facts that were added since the last one are taken in."""
        from .index import FactIndex

        with self._mutex:
            ranked = reading.ranked
            if self._index is not None:
                line, index = self._index
                # One that knows more already is of no use for an older look.
                if line is reading.line and index.count <= len(ranked):
                    index.extend(ranked[index.count :])
                    return index
            index = FactIndex(ranked)
            self._index = (reading.line, index)
            return index

    # -- changing -----------------------------------------------------------------------------------------------

    def store(
        self, text: str, *, tags: Sequence[str] = (), scope: str = DEFAULT_SCOPE, actor: str, now: datetime
    ) -> KeptFact | RefusedFact:
        """Store a fact at the aware time `now`, or say why not; the oldest facts go where there are too many."""
        why = refusal(text, tags, scope)
        if why is not None:
            return RefusedFact(why)
        most = self.settings.max_total

        def build(transaction: Transaction) -> KeptFact:
            from .writing import NewFact

            line = NewFact(text, tuple(tags), scope)
            change, ids, pruned = self._add(transaction, [line], most, now, f"stored {{id}}: {_short(text)}")
            return KeptFact(ids[0], change, pruned)

        return self._change("facts.store", build, actor, now)

    def delete(self, fact_id: str, *, actor: str, now: datetime) -> Deleted | RefusedFact:
        """Delete the fact of an id (all of them, where it stands twice), or say that there is none."""

        change = self.delete_all([fact_id], actor=actor, now=now)
        return RefusedFact(f"memory {fact_id} not found") if change is None else Deleted(fact_id, change)

    def delete_all(
        self,
        ids: Collection[str],
        *,
        actor: str,
        now: datetime,
        check: Callable[[Sequence[Fact]], object] | None = None,
        why: str = "",
    ) -> Change | None:
        """Delete the facts of some ids in one change; None where there is none of them.

        `check` gets the facts that go, under the lock; what it raises leaves everything as it was. `why` stands behind
        the summary of the change.
        """
        if not any(fact.id in ids for fact in self.read().facts):
            return None

        def build(transaction: Transaction) -> Change | None:
            reading = self._read(transaction.read(FILE).data)
            gone = [fact for fact in reading.facts if fact.id in ids]
            if not gone:
                return None
            if check is not None:
                check(gone)
            words = f"{gone[0].id}: {_short(gone[0].text)}" if len(ids) == 1 else f"{len(gone):,} facts"
            return self._rewrite(transaction, reading, gone, b"", f"deleted {words}{why}")

        return self._change("facts.delete", build, actor, now)

    def prune(self, *, actor: str, now: datetime) -> tuple[tuple[Fact, ...], Change | None]:
        """Let the oldest facts go that are more than `max_total`; return them, and the change (None: nothing to do)."""
        most = self.settings.max_total
        if len(self.read().facts) <= most:
            return (), None

        def build(transaction: Transaction) -> tuple[tuple[Fact, ...], Change | None]:
            reading = self._read(transaction.read(FILE).data)
            gone = reading.ranked[: max(len(reading.facts) - most, 0)]
            if not gone:
                return (), None
            noun = "fact" if len(gone) == 1 else "facts"
            change = self._rewrite(transaction, reading, gone, b"", f"pruned {len(gone):,} {noun}")
            return tuple(gone), change

        return self._change("facts.prune", build, actor, now)

    def take_in(self, rows: Sequence[ImportRow], *, actor: str, now: datetime) -> Import:
        """Store what was read from a file for import, in one change; see `memory.facts.transfer`."""
        from .transfer import Import, sort_out
        from .writing import NewFact

        most = self.settings.max_total

        def build(transaction: Transaction) -> Import:
            reading = self._read(transaction.read(FILE).data)
            wanted, skipped, refused = sort_out(rows, reading)
            lines = [NewFact(row.text, row.tags, row.scope, row.ts) for row in wanted]
            if not lines:
                return Import((), skipped, refused)
            if len(lines) > most:
                raise UsageError(
                    "facts.import",
                    f"{len(lines):,} facts are more than the {most:,} that max_total allows",
                    "raise it in .aegis/agent.json, or import a part",
                )
            noun = "fact" if len(lines) == 1 else "facts"
            change, ids, pruned = self._add(transaction, lines, most, now, f"imported {len(lines):,} {noun}")
            return Import(ids, skipped, refused, pruned, change.id)

        return self._change("facts.import", build, actor, now)

    def _change(self, operation: str, build: Callable[[Transaction], R], actor: str, now: datetime) -> R:
        for left in range(_TRIES - 1, -1, -1):
            try:
                with self._store.transaction(operation, actor=actor, now=now) as transaction:
                    return build(transaction)
            except ConflictError as error:
                # Another program wrote in that very moment: planned again on what it wrote, nothing is in the way.
                if not (left and error.details.get("crossed")):
                    raise
        raise AssertionError("the last try returns or raises")

    def _add(
        self, transaction: Transaction, lines: Sequence[NewFact], most: int, now: datetime, summary: str
    ) -> tuple[Change, tuple[str, ...], tuple[str, ...]]:
        """Add lines under new ids; return the change, the ids, and those of the facts that had to go."""
        from .writing import encode_lines

        stored = transaction.read(FILE)
        reading = self._read(stored.data)
        ids, data, number = encode_lines(lines, self._highest(transaction, reading), now)
        summary = summary.format(id=ids[0]) if "{id}" in summary else summary
        excess = len(reading.facts) + len(lines) - most
        gone = reading.ranked[:excess] if excess > 0 else ()
        pruned = tuple(fact.id for fact in gone)  # Before the change is made: nothing may fail behind it.
        transaction.mark(MARK, number)
        if gone:
            change = self._rewrite(transaction, reading, gone, data, summary, marked=True)
        elif stored.exists:
            transaction.append(FILE, data, base=stored.data)
            change = transaction.commit(summary)
        else:
            transaction.write(FILE, data, base=None)
            change = transaction.commit(summary)
        return change, ids, pruned

    def _rewrite(
        self,
        transaction: Transaction,
        reading: FactsOfFile,
        gone: Sequence[Fact],
        added: bytes,
        summary: str,
        *,
        marked: bool = False,
    ) -> Change:
        """Write the file without the lines of some facts; every other byte stays."""
        from .writing import without

        if not marked:
            transaction.mark(MARK, self._highest(transaction, reading))
        data = without(reading.data, {fact.line for fact in gone}, added)
        transaction.write(FILE, data, base=reading.data)
        return transaction.commit(summary)

    def _highest(self, transaction: Transaction, reading: FactsOfFile) -> int:
        """Return the highest number that was ever given, as far as anything here remembers."""
        return max(read_mark(transaction.read(MARK).data), reading.highest)


def read_mark(data: bytes) -> int:
    """Return the number in the file beside the facts; 0 where it holds none."""
    digits = data.strip()
    return int(digits) if digits.isdigit() and len(digits) <= 18 else 0


def _short(text: str) -> str:
    text = one_line(text).replace("{", "(").replace("}", ")")
    return text if len(text) <= 60 else text[:59] + "…"
