"""FactStore: the facts of one workspace; stores, deletes, searches, injects and prunes them; and their conversion."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of
from memory.base.programs import retry
from memory.base.safe_text import cut, plural
from memory.base.scan import Gate
from memory.document.compare import lines_of
from memory.errors import ConfigError
from memory.storage import Store

from .model import (
    DEFAULT_SCOPE,
    FILE,
    MARK,
    MOST_TAGS,
    SCOPES,
    SETTINGS,
    SHOWN,
    Answer,
    Fact,
    FactLimits,
    FactsOfFile,
    Injection,
    inject,
    one_line,
    read_facts,
    read_settings,
    refusal,
    time_key,
)


class NewFact(NamedTuple):
    """A fact without an id yet; where `ts` is empty, it gets the time at which it is written."""

    text: str
    tags: tuple[str, ...]
    scope: str
    ts: str = ""


class FactsLook(NamedTuple):
    """A snapshot of the facts for panes; the same object while the file and the settings are the same."""

    reading: FactsOfFile
    settings: FactLimits


@lru_cache(maxsize=4)
def _look_of(reading: FactsOfFile, settings: FactLimits) -> FactsLook:
    return FactsLook(reading, settings)


class Step(NamedTuple):
    """A change of the file: facts to add and to remove, and its summary; `{id}` in it becomes the first new id."""

    new: Sequence[NewFact]
    gone: Sequence[Fact]
    summary: str


class FactStore:
    """The facts in one store; safe to share between threads.

    What was read is kept until the file's device, inode, size or times change. Expected refusals are returned;
    BusyError `file.locked`, RefusedError `file.*`, MemdeckError `file.io` and ConfigError `facts.settings` are raised.
    """

    def __init__(self, store: Store, gate: Gate | None = None) -> None:
        """Use the store of the folder `.aegis`; nothing is read yet. `gate` decides which facts agents are told."""
        self._store = store
        self._gate = gate or Gate()

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self) -> FactsOfFile:
        """Return the facts that the file contains now."""
        return read_facts(self._store.read(FILE).data)

    @property
    def settings(self) -> FactLimits:
        """The limits in `agent.json` now; raises ConfigError `facts.settings`."""
        return read_settings(self._store.read(SETTINGS).base)

    def look(self) -> FactsLook:
        """Return a snapshot of the facts; wrong settings, which `check` names, are replaced by the defaults."""
        settings = FactLimits()
        with suppress(ConfigError):
            settings = self.settings
        return _look_of(self.read(), settings)

    def search(self, query: str | None = None, tag: str | None = None) -> tuple[Fact, ...]:
        """Return the newest facts, at most 20, whose text contains the query and which have the tag, in any case."""
        return self.read().find(query, tag)

    def inject(self, message: str, now: datetime) -> Injection:
        """Return the injection for a message; see `memory.facts.model`."""
        return inject(self.read(), message, now, self.settings, self._gate)

    # -- changing -----------------------------------------------------------------------------------------------

    def store(
        self, text: str, *, tags: Sequence[str] = (), scope: str = DEFAULT_SCOPE, actor: str, now: datetime
    ) -> Answer:
        """Store a fact at the aware time `now`, or answer why not; the oldest facts beyond the limit go."""
        why = refusal(text, tags, scope)
        if why is not None:
            return Answer(error=why)
        most = self.settings.max_total
        new = [NewFact(text, tuple(tags), scope)]
        words = f"stored {{id}}: {_short(text)}"
        return self._change("facts.store", lambda reading: Step(new, reading.over(most - 1), words), actor, now)

    def delete(
        self,
        ids: Collection[str],
        *,
        actor: str,
        now: datetime,
        check: Callable[[Sequence[Fact]], object] | None = None,
        why: str = "",
    ) -> Answer:
        """Delete the facts with these ids in one change, or answer that none exists.

        `check` gets the facts to delete, under the lock; if it raises, nothing is changed. `why` is appended to the
        summary of the change.
        """

        def plan(reading: FactsOfFile) -> Step:
            gone = [fact for fact in reading.facts if fact.id in ids]
            if gone and check is not None:
                check(gone)
            words = f"{gone[0].id}: {_short(gone[0].text)}" if gone and len(ids) == 1 else plural(len(gone), "fact")
            return Step((), gone, f"deleted {words}{why}")

        done = self._change("facts.delete", plan, actor, now)
        return done if done.change else Answer(error=f"memory {', '.join(ids)} not found")

    def prune(self, *, actor: str, now: datetime) -> Answer:
        """Delete the oldest facts beyond `max_total`."""
        most = self.settings.max_total

        def plan(reading: FactsOfFile) -> Step:
            gone = reading.over(most)
            return Step((), gone, f"pruned {plural(len(gone), 'fact')}")

        return self._change("facts.prune", plan, actor, now)

    def take_in(self, facts: Sequence[NewFact], *, actor: str, now: datetime) -> Answer:
        """Store facts that were checked in one change, except those that exist already."""
        most = self.settings.max_total

        def plan(reading: FactsOfFile) -> Step:
            known = {fact.text for fact in reading.facts}
            new = [one for one in facts if one.text not in known]
            return Step(new, reading.over(most - len(new)) if new else (), f"converted {plural(len(new), 'fact')}")

        return self._change("facts.convert", plan, actor, now)

    def _change(self, operation: str, plan: Callable[[FactsOfFile], Step], actor: str, now: datetime) -> Answer:
        """Make the change that `plan` returns for the facts in the file; every other byte stays.

        Where another program wrote at the same moment, it is planned again on what that wrote. Where nothing comes and
        nothing goes, no lock is taken.
        """
        first = plan(self.read())
        if not first.new and not first.gone:
            return Answer()

        def attempt() -> Answer:
            with self._store.transaction(operation, actor=actor, now=now) as transaction:
                stored = transaction.read(FILE)
                reading = read_facts(stored.data)
                step = plan(reading)
                if not step.new and not step.gone:
                    return Answer()
                highest = max(read_mark(transaction.read(MARK).data), reading.highest)
                ids, data, number = encode_lines(step.new, highest, now)
                transaction.mark(MARK, number)
                if step.gone:
                    transaction.write(FILE, _without(reading.data, step.gone, data), base=reading.data)
                elif stored.exists:
                    transaction.append(FILE, data, base=stored.data)
                else:
                    transaction.write(FILE, data, base=None)
                summary = step.summary.replace("{id}", ids[0], 1) if ids else step.summary
                return Answer(transaction.commit(summary), ids, tuple(step.gone))

        return retry(attempt)


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
    return cut(one_line(text))


# -- conversion from and to other memories ---------------------------------------------------------------------------

_KNOWN = ("scope", "ts", "tags", "created")


def items_of(store: FactStore) -> Iterator[Item | Skipped]:
    """Yield the facts as items, in file order; lines that are not facts are yielded as skipped."""
    reading = store.read()
    for fact in reading.facts:
        yield _item(fact)
    for unread in reading.unread:
        yield Skipped(f"{SHOWN}:{unread.line + 1}", unread.why)


def _item(fact: Fact) -> Item:
    title = fact.title
    fields = {"id": fact.id, "scope": fact.scope}
    where = f"{SHOWN}:{fact.line + 1}"
    return Item("fact", title, "" if fact.text == title else fact.text, where, fact.ts, fact.tags, fields)


def take(store: FactStore, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to facts: each is one text of at most 500 characters, with tags, scope and time.

    The `id` of an item is lost: a fact gets the next number. What `store` refuses is skipped with its reason, and so is
    a text that exists already.
    """
    reading, most = store.read(), store.settings.max_total
    known, new = {fact.text for fact in reading.facts}, dict[str, NewFact]()
    converted: list[Item] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        fact, lost = _fact(item)
        why = refusal(fact.text, fact.tags, fact.scope)
        if why is None and (fact.text in known or fact.text in new):
            why = "it already exists" if fact.text in known else "it was already converted"
        if why is None and len(reading.facts) + len(new) >= most:
            why = f"the {most:,} facts that max_total allows are there"
        if why is not None:
            skipped.append(Skipped(item.what, why))
            continue
        new[fact.text] = fact
        converted.append(item)
        losses += lost

    def commit() -> Committed:
        change = store.take_in(list(new.values()), actor=actor, now=now).change
        return Committed(() if change is None else (change.id,))

    return Taken(converted, skipped, losses, commit)


def _fact(item: Item) -> tuple[NewFact, list[Loss]]:
    """Return an item as a fact to be stored, and what it loses."""
    text = item.text if one_line(item.text) == item.title else f"{item.title}\n{item.text}" if item.text else item.title
    losses = losses_of(item, _KNOWN, "facts have only text, tags, scope and time")
    scope = item.fields.get("scope", DEFAULT_SCOPE)
    if scope not in SCOPES:
        losses.append(Loss(item.what, "scope", f"{scope[:40]!r} is not one of {', '.join(SCOPES)}"))
        scope = DEFAULT_SCOPE
    ts = item.created
    if not ts and item.fields.get("created", "").strip():
        losses.append(Loss(item.what, "created", f"{item.fields['created'][:40]!r} is not a time"))
    if ts and not time_key(ts):
        losses.append(Loss(item.what, "created", f"{ts[:40]!r} is not a time with an offset"))
        ts = ""
    key = time_key(ts) if ts else ""
    if len(item.tags) > MOST_TAGS:
        losses.append(Loss(item.what, "tags", f"a fact has at most {MOST_TAGS}: {', '.join(item.tags[MOST_TAGS:])}"))
    return NewFact(text, item.tags[:MOST_TAGS], scope, f"{key[:19]}Z" if key else ""), losses
