"""`memdeck fleet`: the verbs on all workspaces of a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


@pytest.fixture
def two(memdeck: Memdeck, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of two workspaces, one of them the sample."""
    monkeypatch.setenv("MEMDECK_HOST", "here")
    assert memdeck("init", str(shop.parent / "other")).code == 0
    return shop.parent


def test_from_scan_to_maintain(memdeck: Memdeck, two: Path) -> None:
    """The whole way: find them, list them, look at them, search, check, and keep them small."""
    scanned = memdeck("fleet", "scan", str(two), "-o", "json").data["workspaces"]
    listed = memdeck("fleet", "list", "-o", "json").data["workspaces"]
    assert listed == [{"path": str(two / name), "host": "here"} for name in ("other", "shop")]
    assert sorted(scanned, key=str) == listed
    rows = {Path(row["path"]).name: row for row in memdeck("fleet", "status", "-o", "json").data["workspaces"]}
    assert (rows["other"]["overdue"], rows["other"]["error"]) == (0, None)
    assert rows["shop"]["overdue"] > 0
    found = memdeck("fleet", "search", "redis", "-o", "json").data["results"]
    assert {Path(hit["workspace"]).name for hit in found} == {"shop"}
    one = memdeck("search", "redis", "-o", "json").data["results"][0]
    assert (found[0]["ref"], found[0]["title"]) == (one["ref"], one["title"])
    dry = memdeck("fleet", "maintain", "--dry-run", "-o", "jsonl").objects
    assert [row["dry_run"] for row in dry] == [True, True]
    assert memdeck("fleet", "maintain").code == 0
    assert "moved" in memdeck("fleet", "maintain").out
    checked = memdeck("fleet", "check", "-o", "json")
    alone = memdeck("check", "-o", "json")
    assert json.dumps(alone.data["problems"]) in json.dumps(checked.data)
    assert checked.code == alone.code


def test_a_broken_workspace_is_told_and_the_others_are_done(memdeck: Memdeck, two: Path) -> None:
    """Exit code 1, the reason on stderr, the rest on stdout."""
    memdeck("fleet", "scan", str(two))
    (two / "other/.aiter").rename(two / "other/gone")
    answer = memdeck("fleet", "search", "redis", "-o", "json")
    assert answer.code == 1
    assert "fleet.gone" in answer.err
    assert answer.data["results"]
    assert memdeck("fleet", "remove", str(two / "other")).code == 0
    assert memdeck("fleet", "search", "redis").code == 0


def test_nothing_listed_is_said(memdeck: Memdeck, shop: Path) -> None:
    """Every verb answers for an empty list."""
    assert memdeck("fleet", "list", "-o", "json").data == {"workspaces": []}
    assert "no workspaces are listed" in memdeck("fleet", "status").out
    assert "nothing found" in memdeck("fleet", "search", "redis").out
    assert "no problems" in memdeck("fleet", "check").out
    assert memdeck("fleet", "remove").out == "it was not in the list\n"


@pytest.mark.parametrize("verb", ["init", "list", "search word", "status", "agent"])
def test_a_database_without_its_driver_is_told(memdeck: Memdeck, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed each verb says what to install."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    answer = memdeck("fleet", *verb.split(), "--database", "postgresql://nobody@127.0.0.1:1/none")
    assert (answer.code, "fleet.extra" in answer.err) == (2, True), answer.err
