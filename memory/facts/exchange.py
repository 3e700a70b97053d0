"""Conversion of facts from and to other memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of

from .model import DEFAULT_SCOPE, MOST_TAGS, SCOPES, SHOWN, Fact, one_line, refusal, time_key
from .store import FactStore, NewFact

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
            why = "it already exists" if fact.text in known else "it came along already"
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
    losses = losses_of(item, _KNOWN, "a fact has text, tags, scope and time")
    scope = item.fields.get("scope", DEFAULT_SCOPE)
    if scope not in SCOPES:
        losses.append(Loss(item.what, "scope", f"{scope[:40]!r} is none of {', '.join(SCOPES)}"))
        scope = DEFAULT_SCOPE
    ts = item.created
    if not ts and item.fields.get("created", "").strip():
        losses.append(Loss(item.what, "created", f"{item.fields['created'][:40]!r} is no time"))
    if ts and not time_key(ts):
        losses.append(Loss(item.what, "created", f"{ts[:40]!r} is no time with an offset"))
        ts = ""
    key = time_key(ts) if ts else ""
    if len(item.tags) > MOST_TAGS:
        losses.append(Loss(item.what, "tags", f"a fact has at most {MOST_TAGS}: {', '.join(item.tags[MOST_TAGS:])}"))
    return NewFact(text, item.tags[:MOST_TAGS], scope, f"{key[:19]}Z" if key else ""), losses
