"""`memdeck fleet` with a database: the catalogue of many hosts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import Answer
from tests.postgres import cluster, database

Memdeck = Callable[..., Answer]
__all__ = ["cluster", "database"]


def test_from_init_to_search(memdeck: Memdeck, shop: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way: make the catalogue, publish, look and search; every verb goes to the database then."""
    monkeypatch.setenv("MEMDECK_HOST", "east")
    made = memdeck("fleet", "init", "--database", database, "-o", "json").data
    assert made == {"made": True, "hosts": []}
    assert memdeck("fleet", "init", "--database", database, "-o", "json").data["made"] is False
    memdeck("fleet", "add", str(shop))
    monkeypatch.setenv("MEMDECK_DATABASE", database)
    assert memdeck("fleet", "list", "-o", "json").data == {"workspaces": []}
    assert memdeck("fleet", "agent", "--once", "-o", "json").data["published"] > 10
    assert memdeck("fleet", "agent", "--once", "-o", "json").data["published"] == 0
    assert memdeck("fleet", "list", "-o", "json").data["workspaces"] == [{"path": str(shop), "host": "east"}]
    (row,) = memdeck("fleet", "status", "-o", "json").data["workspaces"]
    assert (row["host"], row["error"], row["silent"]) == ("east", None, False)
    assert row["overdue"] > 0
    # How long it is since maintenance ran and the host was heard of; "ago" where that took more than a minute.
    assert re.search(r"never +(now|\d+ \w+ ago)$", memdeck("fleet", "status").out, re.MULTILINE)
    found = memdeck("fleet", "search", "redis", "-o", "json").data["results"]
    one = memdeck("search", "redis", "-o", "json").data["results"][0]
    assert (found[0]["ref"], found[0]["title"], found[0]["line"]) == (one["ref"], one["title"], one["line"])
    # From another machine each workspace is named with its host, also where all that is shown is on one.
    assert f"  {shop.name}  knowledge" in memdeck("fleet", "search", "redis").out
    monkeypatch.setenv("MEMDECK_HOST", "west")
    assert f"east:{shop.name}  knowledge" in memdeck("fleet", "search", "redis").out
    assert memdeck("fleet", "list").out == f"east:{shop}\n"
    assert f"east:{shop} " in memdeck("fleet", "status").out
    monkeypatch.setenv("MEMDECK_HOST", "east")
    # The same question to the files of this machine.
    monkeypatch.delenv("MEMDECK_DATABASE")
    assert memdeck("fleet", "search", "redis", "-o", "json").data["results"][0]["ref"] == one["ref"]


def test_what_cannot_be_is_told(memdeck: Memdeck, shop: Path, database: str, tmp_path: Path) -> None:
    """No database, one that cannot be reached, one without a catalogue, a URL that is none, a wrong cron line."""
    cases = (
        (("fleet", "agent"), 2, "fleet.no_database"),
        (("fleet", "search", "x", "--database", f"postgresql://x@/x?host={tmp_path}"), 75, "fleet.database_down"),
        (("fleet", "status", "--database", database), 2, "fleet.not_initialised"),
        (("fleet", "status", "--database", "postgresql://a:secret@[x"), 2, "fleet.database_url"),
        (("fleet", "agent", "--database", database, "--maintain", "often"), 2, "cron.invalid"),
        (("fleet", "init", "--database", database, "--host", "east"), 2, "usage.arguments"),
        (("fleet", "agent", "--once", "--database", database), 2, "fleet.not_initialised"),
    )
    for words, code, named in cases:
        answer = memdeck(*words)
        assert (answer.code, named in answer.err) == (code, True), answer
        assert "secret" not in answer.err
        assert "Traceback" not in answer.err
