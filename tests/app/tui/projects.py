"""A workspace with a project state that has everything: entries, a backlog in groups, sources, checkpoints, history."""

from __future__ import annotations

from pathlib import Path

from tests.memory.state.states import Repository


def project(folder: Path) -> Repository:
    """A small shop: three sessions were recalled one after the other, three wait, one source failed."""
    shop = Repository(folder)
    shop.imported(
        "the cache of prices",
        "DECISION: Prices are cached in SQLite, one file for each tenant",
        "GOTCHA: Cache key forgets the tenant: two shops saw each other's prices",
        "NEXT: Put the tenant into the cache key: shop/cache.py",
        "PATH: shop/cache.py",
        at="2026-02-24T09:00:00.000Z",
    )
    shop.recall()
    shop.imported(
        "retries of payments",
        "DECISION: A retry sends the idempotency key of the first try",
        "GOTCHA: Payment retries storm after a timeout: three workers retry at once",
        "NEXT: Limit retries to one worker: shop/__init__.py",
        "VALIDATION: the load test passes with 200 orders a minute",
        at="2026-02-25T11:20:00.000Z",
    )
    shop.recall()
    shop.later(hours=20)
    shop.imported("the nightly build", "NEXT: Cache the toolchain of the nightly build", at="2026-02-26T08:00:00.000Z")
    shop.recall()
    shop.later(hours=3)
    shop.imported(
        "tenants in the cache",
        "GOTCHA: Cache key forgets the tenant: the key is built before the tenant is known",
        "DONE: Put the tenant into the cache key",
        at="2026-02-28T10:00:00.000Z",
    )
    shop.imported(
        "tenants in the cache, again",
        "GOTCHA: Cache key forgets the tenant: and before anybody is logged in",
        at="2026-02-28T16:30:00.000Z",
    )
    shop.imported(
        "a slow report",
        "DECISION: The monthly report reads from the replica",
        "NEXT: Index orders by day: shop/__init__.py",
        at="2026-03-01T09:10:00.000Z",
    )
    broken(shop)
    shop.later(minutes=4)
    return shop


def broken(shop: Repository) -> None:
    """Add a source whose folder is gone, and let a sync of it fail."""
    from memory.state.imports.sources import add_source, sync

    gone = shop.home / ".codex"
    gone.mkdir()
    add_source(
        shop.store,
        "codex-local",
        "~/.codex",
        name="codex",
        home=shop.home,
        actor="cli",
        now=shop.later(),
    )
    gone.rmdir()
    sync(shop.store, ["codex"], home=shop.home, actor="cli", now=shop.later())
