"""When the application gives memory back: while no keys come, and where there may be much of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from app.tui.live import refresh
from app.tui.live.refresh import READ_OFTEN, GarbageCollection


@pytest.fixture
def collecting() -> Iterator[GarbageCollection]:
    """Return what collects the garbage of an application; Python's own settings come back."""
    one = GarbageCollection()
    # Nothing of what the tests before left counts.
    gc.collect()
    yield one
    one.end()


def test_after_many_looks_memory_is_given_back(collecting: GarbageCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look or two leave little behind; after many, the next moment without keys is used, once."""
    given: list[int] = []
    monkeypatch.setattr(refresh, "give_back", lambda: given.append(1))
    collecting.looked()
    collecting.rest()
    assert given == []
    for _ in range(READ_OFTEN):
        collecting.looked()
    collecting.rest()
    collecting.rest()
    assert given == [1]
