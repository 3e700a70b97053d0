"""Thousands of files: what is looked at once for all of them, and what is passed over because it is gone."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from memory.storage import Store

GONE = [f"memory/notes/{number:03}.md" for number in range(60)]


@pytest.fixture
def pruned(store: Store, now: datetime) -> Store:
    """Return a store that removed sixty files in one change."""
    with store.transaction("fill", actor="human", now=now) as transaction:
        for path in GONE:
            transaction.write(path, path.encode(), base=None)
        transaction.commit("filled")
    with store.transaction("prune", actor="human", now=now) as transaction:
        for path in GONE:
            transaction.remove(path, base=transaction.read(path).data)
        transaction.commit("pruned")
    return store


def test_a_file_that_comes_back_is_noticed(pruned: Store, tasks: Path, now: datetime) -> None:
    """Another program writes one of them anew: that is a change from outside, and so is its going."""
    back = tasks.parent / "notes" / "007.md"
    back.write_bytes(b"again")
    assert pruned.history.to_look_at() == (".aiter/memory/notes/007.md",)
    assert pruned.history.notice(pruned.history.to_look_at(), now) == 1
    (found,) = pruned.history.list(1)
    assert (found.actor, found.paths) == ("outside", (".aiter/memory/notes/007.md",))
    back.unlink()
    old = time.time() - 60
    os.utime(back.parent, (old, old))  # not just now: that would be a state that passes
    assert pruned.history.notice(pruned.history.to_look_at(), now) == 1
    assert pruned.history.to_look_at() == ()
