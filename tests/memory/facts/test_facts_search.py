"""Search: case, tags, order, limit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from memory.facts import FactStore

Add = Callable[..., dict[str, Any]]


def test_a_substring_in_any_case(store: FactStore, add: Add) -> None:
    """The query is looked for inside of the text, whatever its case, in every script."""
    add("Deploy target is AWS us-east-1")
    add("STRASSE und Größe")
    assert [fact.id for fact in store.search("TARGET is aws")] == ["m-1"]
    assert [fact.id for fact in store.search("straße")] == ["m-2"]
    assert [fact.id for fact in store.search("gRÖSSE")] == ["m-2"]
    assert store.search("deploy  target") == ()


def test_the_twenty_newest(store: FactStore, add: Add, now: datetime) -> None:
    """At most 20, newest first; without conditions the 20 newest of all."""
    for number in range(25):
        add(f"fact {number}", now - timedelta(minutes=number))
    for facts in (store.search("fact"), store.search()):
        assert [fact.number for fact in facts] == list(range(1, 21))
