"""FactStore: the facts of one workspace; stores, deletes, searches, injects and prunes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from threading import RLock
from typing import NamedTuple, TypeVar

from memory.base.retry import retry
from memory.base.told import Gate
from memory.document.compare import lines_of
from memory.errors import ConfigError
from memory.storage import Change, Store
from memory.storage.transaction import Transaction

from .inject import Injection, inject
from .model import (
    DEFAULT_SCOPE,
    FILE,
    MARK,
    SETTINGS,
    Deleted,
    Fact,
    FactLimits,
    KeptFact,
    RefusedFact,
    one_line,
    read_settings,
    refusal,
)
from .reading import FactsOfFile, read_facts
from .search import find_facts

R = TypeVar("R")


class NewFact(NamedTuple):
    """A fact without an id yet; where `ts` is empty, it gets the time at which it is written."""

    text: str
    tags: tuple[str, ...]
    scope: str
    ts: str = ""


class FactsLook:
    """A snapshot of the facts for panes and searches; immutable, and the same object while the file is the same."""

    def __init__(self, store: FactStore, reading: FactsOfFile, settings: FactLimits, refusal: str) -> None:
        """Keep what was read; `refusal` says why the settings could not be read."""
        self._store = store
        self.reading = reading
        self.refusal = refusal
        self.settings = settings

    def inject(self, message: str, now: datetime) -> Injection:
        """Return what would be injected for a message; see `memory.facts.inject`."""
        return self._store.inject_into(self.reading, self.settings, message, now)


class FactStore:
    """The facts in one store; safe to share between threads.

    What was read is kept until the file's device, inode, size or times change. Expected refusals are returned;
    BusyError `file.locked`, RefusedError `file.*`, MemdeckError `file.io` and ConfigError `facts.settings` are raised.
    """

    def __init__(self, store: Store, gate: Gate | None = None) -> None:
        """Use the store of the folder `.aegis`; nothing is read yet. `gate` decides which facts agents are told."""
        self._store = store
        self._gate = gate or Gate()
        self._reading: FactsOfFile | None = None
        self._look: FactsLook | None = None
        self._mutex = RLock()

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self) -> FactsOfFile:
        """Return the facts that the file contains now."""
        return self._read(self._store.read(FILE).data)

    def _read(self, data: bytes) -> FactsOfFile:
        with self._mutex:
            known = self._reading
            if known is None or (known.data is not data and known.data != data):
                self._reading = known = read_facts(data)
            return known

    @property
    def settings(self) -> FactLimits:
        """The limits in `agent.json` now; raises ConfigError `facts.settings`."""
        return read_settings(self._store.read(SETTINGS).base)

    def look(self) -> FactsLook:
        """Return a snapshot of the facts; wrong settings are replaced by the defaults, and `refusal` says why."""
        reading, why = self.read(), ""
        try:
            settings = self.settings
        except ConfigError as error:
            settings, why = FactLimits(), error.message
        with self._mutex:
            known = self._look
            if known is None or known.reading is not reading or (known.settings, known.refusal) != (settings, why):
                self._look = known = FactsLook(self, reading, settings, why)
            return known

    def search(self, query: str | None = None, tag: str | None = None) -> tuple[Fact, ...]:
        """Return the newest facts, at most 20, whose text contains the query and which have the tag, in any case."""
        return find_facts(self.read(), query, tag)

    def inject(self, message: str, now: datetime) -> Injection:
        """Return what is injected for a message; see `memory.facts.inject`."""
        return self.inject_into(self.read(), self.settings, message, now)

    def inject_into(self, reading: FactsOfFile, settings: FactLimits, message: str, now: datetime) -> Injection:
        """Return what is injected for a message from facts that were read already."""
        return inject(reading, message, now, settings, self._gate)

    # -- changing -----------------------------------------------------------------------------------------------

    def store(
        self, text: str, *, tags: Sequence[str] = (), scope: str = DEFAULT_SCOPE, actor: str, now: datetime
    ) -> KeptFact | RefusedFact:
        """Store a fact at the aware time `now`, or return why not; the oldest facts beyond the limit go."""
        why = refusal(text, tags, scope)
        if why is not None:
            return RefusedFact(why)
        most = self.settings.max_total

        def build(transaction: Transaction) -> KeptFact:
            line = NewFact(text, tuple(tags), scope)
            change, ids, pruned = self._add(transaction, [line], most, now, f"stored {{id}}: {_short(text)}")
            return KeptFact(ids[0], change, pruned)

        return self._change("facts.store", build, actor, now)

    def delete(self, fact_id: str, *, actor: str, now: datetime) -> Deleted | RefusedFact:
        """Delete all facts with an id, or return a refusal where there are none."""
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
        """Delete the facts with these ids in one change; None where none exists.

        `check` gets the facts to delete, under the lock; if it raises, nothing is changed. `why` is appended to the
        summary of the change.
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
            return self._remove(transaction, reading, gone, f"deleted {words}{why}")

        return self._change("facts.delete", build, actor, now)

    def prune(self, *, actor: str, now: datetime) -> tuple[tuple[Fact, ...], Change | None]:
        """Delete the oldest facts beyond `max_total`; return them and the change (None: nothing to do)."""
        most = self.settings.max_total
        if len(self.read().facts) <= most:
            return (), None

        def build(transaction: Transaction) -> tuple[tuple[Fact, ...], Change | None]:
            reading = self._read(transaction.read(FILE).data)
            gone = reading.ranked[: max(len(reading.facts) - most, 0)]
            if not gone:
                return (), None
            noun = "fact" if len(gone) == 1 else "facts"
            change = self._remove(transaction, reading, gone, f"pruned {len(gone):,} {noun}")
            return tuple(gone), change

        return self._change("facts.prune", build, actor, now)

    def take_in(self, facts: Sequence[NewFact], *, actor: str, now: datetime) -> Change | None:
        """Store facts that were checked in one change, those left out that are there already; None for none."""
        most = self.settings.max_total

        def build(transaction: Transaction) -> Change | None:
            known = {fact.text for fact in self._read(transaction.read(FILE).data).facts}
            lines = [one for one in facts if one.text not in known]
            noun = "fact" if len(lines) == 1 else "facts"
            words = f"converted {len(lines):,} {noun}"
            return self._add(transaction, lines, most, now, words)[0] if lines else None

        return self._change("facts.convert", build, actor, now)

    def _change(self, operation: str, build: Callable[[Transaction], R], actor: str, now: datetime) -> R:
        """Make a change; where another program wrote at the same moment, it is planned again on what that wrote."""

        def attempt() -> R:
            with self._store.transaction(operation, actor=actor, now=now) as transaction:
                return build(transaction)

        return retry(attempt)

    def _add(
        self, transaction: Transaction, lines: Sequence[NewFact], most: int, now: datetime, summary: str
    ) -> tuple[Change, tuple[str, ...], tuple[str, ...]]:
        """Add lines under new ids; return the change, the new ids, and the ids of the facts that were pruned."""
        stored = transaction.read(FILE)
        reading = self._read(stored.data)
        ids, data, number = encode_lines(lines, self._highest(transaction, reading), now)
        summary = summary.format(id=ids[0]) if "{id}" in summary else summary
        excess = len(reading.facts) + len(lines) - most
        gone = reading.ranked[:excess] if excess > 0 else ()
        pruned = tuple(fact.id for fact in gone)  # Before the change is made: nothing may fail after it.
        transaction.mark(MARK, number)
        if gone:
            transaction.write(FILE, _without(reading.data, gone, data), base=reading.data)
        elif stored.exists:
            transaction.append(FILE, data, base=stored.data)
        else:
            transaction.write(FILE, data, base=None)
        return transaction.commit(summary), ids, pruned

    def _remove(self, transaction: Transaction, reading: FactsOfFile, gone: Sequence[Fact], summary: str) -> Change:
        """Write the file without the lines of some facts; every other byte stays."""
        transaction.mark(MARK, self._highest(transaction, reading))
        transaction.write(FILE, _without(reading.data, gone), base=reading.data)
        return transaction.commit(summary)

    def _highest(self, transaction: Transaction, reading: FactsOfFile) -> int:
        """Return the highest number ever given, as far as the mark and the facts show."""
        return max(read_mark(transaction.read(MARK).data), reading.highest)


def encode_lines(lines: Sequence[NewFact], highest: int, now: datetime) -> tuple[tuple[str, ...], bytes, int]:
    """Return the ids of new lines, numbered after `highest`, their bytes, and the new highest number.

    A line is compact JSON in the order id, scope, text, tags, ts, and a newline.
    """
    written = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ids = tuple(f"m-{highest + place}" for place in range(1, len(lines) + 1))
    rows = [
        {"id": fact_id, "scope": line.scope, "text": line.text, "tags": list(line.tags), "ts": line.ts or written}
        for fact_id, line in zip(ids, lines, strict=True)
    ]
    data = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    return ids, data.encode(), highest + len(lines)


def _without(data: bytes, gone: Iterable[Fact], added: bytes = b"") -> bytes:
    """Return a file without the lines of some facts and with others added; an unfinished last line is ended first."""
    lines = {fact.line for fact in gone}
    kept = b"".join(line for number, line in enumerate(lines_of(data)) if number not in lines)
    mend = b"\n" if kept and added and not kept.endswith(b"\n") else b""
    return kept + mend + added


def read_mark(data: bytes) -> int:
    """Return the number in the file beside the facts; 0 where it holds none."""
    digits = data.strip()
    return int(digits) if digits.isdigit() and len(digits) <= 18 else 0


def _short(text: str) -> str:
    text = one_line(text).replace("{", "(").replace("}", ")")
    return text if len(text) <= 60 else text[:59] + "…"
