"""Storing and deleting: ids, checks and their order, pruning, appending, what others wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ConfigError
from memory.facts import FactStore
from memory.facts.model import BAD_SCOPE, BAD_TAG, EMPTY_TEXT, LONG_TEXT, MANY_TAGS, SECRET
from memory.history.undo import revert_in, undo_in
from memory.workspace import Workspace
from tests.memory.facts.conftest import line

Add = Callable[..., dict[str, Any]]


def limits(workspace: Workspace, **values: object) -> None:
    """Write the settings of an agent."""
    (workspace.root / ".aegis/agent.json").write_text(json.dumps({"memory": values}))


def test_a_line_is_an_object_in_the_order_of_the_format(add: Add, file: Path) -> None:
    """One object a line: id, scope, text, tags, ts; compact, UTF-8, whole seconds in UTC."""
    add("User prefers Python ✨", tags=["preference"], scope="user")
    expected = '{"id":"m-1","scope":"user","text":"User prefers Python ✨","tags":["preference"],'
    assert file.read_bytes() == expected.encode() + b'"ts":"2026-02-26T12:00:00Z"}\n'


def test_ts_is_the_time_of_storing_in_utc(store: FactStore, file: Path) -> None:
    """A time in another zone, with parts of a second, is written in UTC and whole seconds."""
    at = datetime.fromisoformat("2026-02-26T14:05:06.789+02:00")
    store.store("x y z", actor="cli", now=at)
    assert json.loads(file.read_bytes())["ts"] == "2026-02-26T12:05:06Z"


def test_scope_and_tags_are_optional(add: Add, store: FactStore) -> None:
    """Without them the scope is workspace and there are no tags."""
    add("one")
    assert (store.read().facts[0].scope, store.read().facts[0].tags) == ("workspace", ())


@pytest.mark.parametrize(
    ("text", "tags", "scope", "error"),
    [
        ("", ["1", "2", "3", "4", "5", "6"], "nowhere", EMPTY_TEXT),
        (" \n\t", [], "user", EMPTY_TEXT),
        ("é" * 501, [], "user", LONG_TEXT),
        ("password: hunter2 " + "x" * 500, [], "user", LONG_TEXT),
        ("password: hunter2", ["1", "2", "3", "4", "5", "6"], "nowhere", SECRET),
        ("fine", ["1", "2", "3", "4", "5", "6"], "nowhere", BAD_SCOPE),
        ("fine", ["1", "2", "3", "4", "5", "6"], "user", MANY_TAGS),
        ("fine", ["ok", " "], "user", BAD_TAG),
        ("fine", ["ghp_abcdefghij0123456789ABCDEFGHIJ012345"], "user", SECRET),
        ("half \ud800", [], "user", "text is not valid Unicode"),
    ],
)
def test_checks_come_in_their_order(add: Add, file: Path, text: str, tags: list[str], scope: str, error: str) -> None:
    """Empty, too long, secret, scope, tags: the first that fails is the answer, and nothing is written."""
    assert add(text, tags=tags, scope=scope) == {"ok": False, "error": error}
    assert not file.exists()


def test_500_characters_are_no_bytes(add: Add) -> None:
    """The limit counts characters: 500 of four bytes each are stored, and so are five tags and each scope."""
    assert add("🦀" * 500, tags=list("abcde"))["ok"]
    assert all(add("x", scope=scope)["ok"] for scope in ("user", "workspace", "session"))


def test_the_oldest_go_when_there_are_too_many(add: Add, store: FactStore, workspace: Workspace, now: datetime) -> None:
    """At max_total the oldest make room first, by their time, so that the count never exceeds it."""
    limits(workspace, max_total=3)
    for number in range(3):
        add(f"fact {number}", now - timedelta(hours=number))
    assert add("new")["id"] == "m-4"
    assert [fact.id for fact in store.read().facts] == ["m-1", "m-2", "m-4"]
    assert add("newer")["id"] == "m-5"
    assert [fact.id for fact in store.read().facts] == ["m-1", "m-4", "m-5"]


def test_pruned_facts_come_back_from_the_change_log(add: Add, workspace: Workspace, file: Path, now: datetime) -> None:
    """A fact that went for a new one is restored by reverting that change, byte for byte."""
    limits(workspace, max_total=1)
    add("old")
    before = file.read_bytes()
    add("new")
    revert_in(workspace.together, workspace.store.history.list(1)[0].id, actor="cli", now=now)
    assert file.read_bytes() == before


def test_delete_takes_one_line_out(add: Add, store: FactStore, file: Path, now: datetime) -> None:
    """The other lines keep their bytes; an unknown id is told by name."""
    for text in ("one", "two", "three"):
        add(text)
    lines = file.read_bytes().splitlines(keepends=True)
    assert store.delete(["m-2"], actor="cli", now=now).json() == {"ok": True}
    assert file.read_bytes() == lines[0] + lines[2]
    assert store.delete(["m-2"], actor="cli", now=now).json() == {"ok": False, "error": "memory m-2 not found"}


def test_ids_never_come_back(add: Add, store: FactStore, file: Path, tmp_path: Path, now: datetime) -> None:
    """Not after the newest is deleted, a restart, an undo, the loss of the state folder, nor the loss of all facts."""
    given = [add("one")["id"], add("two")["id"]]
    store.delete(["m-2"], actor="cli", now=now)
    given.append(add("three")["id"])
    workspace = Workspace.open(file.parent, state_home=tmp_path / "state")
    store = workspace.system("facts").store
    undo_in(workspace.together, actor="cli", now=now)
    given.append(store.store("four", actor="cli", now=now).json()["id"])
    shutil.rmtree(tmp_path / "state")
    store.delete(["m-4"], actor="cli", now=now)
    given.append(store.store("five", actor="cli", now=now).json()["id"])
    file.unlink()
    given.append(Workspace.open(file.parent).system("facts").store.store("six", actor="cli", now=now).json()["id"])
    assert given == [f"m-{number}" for number in range(1, 7)]
    assert (file.parent / "memories.seq").read_text() == "6\n"


@pytest.mark.parametrize(("before", "after"), [(b"99\n", "m-100"), (b"garbage", "m-8"), (b"", "m-8"), (b"3", "m-8")])
def test_the_mark_is_never_below_the_highest_id(add: Add, file: Path, before: bytes, after: str) -> None:
    """A mark that is higher counts, one that is lower or no number does not, and is put right."""
    file.write_bytes(line("m-7", "seven") + line("m-0", "zero") + line("other", "no number"))
    (file.parent / "memories.seq").write_bytes(before)
    assert add("next")["id"] == after
    assert (file.parent / "memories.seq").read_text() == after.removeprefix("m-") + "\n"


WEIRD = [
    b"not json\n",
    b'{"text":"no id"}\n',
    b'["m-5"]\n',
    b"\n",
    b'{"ts":"2026-02-01T00:00:00Z","id":"m-900","text":"' + b"x" * 1_000_000 + b'"}\n',
    b"\xff\xfe broken utf-8\n",
    b'{"ts":"2026-01-05T00:00:00Z","id":"m-3","text":"h\\u00e9llo\\n","extra":{"a":[1]},"tags":["t"],"scope":"user"}\n',
    b'{"id":"m-4","text":"windows"}\r\n',
    b"[" * 100_000 + b"\n",
]


def test_what_is_no_fact_survives_every_change(
    add: Add, store: FactStore, workspace: Workspace, file: Path, now: datetime
) -> None:
    """Corrupt lines, a line of 1 MB and a torn tail stay byte for byte through store, delete and prune."""
    torn = b'{"id":"m-6","te'
    file.write_bytes(line("m-1", "one") + b"".join(WEIRD) + line("m-2", "two") + torn)
    assert [one.line + 1 for one in store.read().unread] == [2, 3, 4, 7, 10, 12]
    add("three")
    store.delete(["m-2"], actor="cli", now=now)
    limits(workspace, max_total=3)
    store.prune(actor="cli", now=now)
    kept = file.read_bytes()
    assert kept.startswith(b"".join(WEIRD[:7]) + WEIRD[8] + torn + b"\n")
    assert [fact.id for fact in store.read().facts] == ["m-900", "m-3", "m-901"]


def test_unknown_keys_survive(add: Add, store: FactStore, file: Path, now: datetime) -> None:
    """The line of another writer keeps its keys, their order and its escapes when others go."""
    file.write_bytes(WEIRD[6] + line("m-4", "four"))
    store.delete(["m-4"], actor="cli", now=now)
    add("five")
    assert file.read_bytes().startswith(WEIRD[6])
    assert store.read().facts[0][:5] == ("m-3", "user", "héllo\n", ("t",), "2026-01-05T00:00:00Z")


def test_a_change_from_outside_is_seen(add: Add, store: FactStore, file: Path) -> None:
    """Facts are kept in the process until the file changes, then read again, appended or replaced."""
    add("one")
    first = store.read()
    assert store.read() is first
    with open(file, "ab") as other:
        other.write(line("m-7", "two"))
    assert [fact.id for fact in store.read().facts] == ["m-1", "m-7"]
    file.write_bytes(line("m-8", "three"))
    assert [fact.id for fact in store.read().facts] == ["m-8"]
    assert add("four")["id"] == "m-9"


def test_settings_that_are_wrong_are_told(add: Add, workspace: Workspace, store: FactStore, now: datetime) -> None:
    """Missing and zero mean the default; an unknown mode and a number that is none are errors, not defaults."""
    limits(workspace, max_total=0, inject_mode=None)
    assert store.settings.max_total == 500
    for values in ({"max_total": "many"}, {"max_total": -1}, {"max_inject_count": True}, {"inject_mode": "always"}):
        limits(workspace, **values)
        with pytest.raises(ConfigError) as caught:
            add("one")
        assert caught.value.code == "facts.settings"
    for text, at in (
        ("{", 1),
        ('{"memory": {\n\n"max_total": ' + "9" * 4_000 + "}}", 3),
        ('{"memory": {"max_total": Infinity}}', 1),
        ("[" * 100_000, 1),
    ):
        (workspace.root / ".aegis/agent.json").write_text(text)
        with pytest.raises(ConfigError) as caught:
            store.inject("x", now)
        assert (caught.value.code, caught.value.details["line"]) == ("facts.settings", at)
    (workspace.root / ".aegis/agent.json").write_text('{"other": 1}')
    assert store.settings.inject_mode == "relevant"


def test_a_fact_without_a_time_is_the_oldest(add: Add, workspace: Workspace, file: Path, store: FactStore) -> None:
    """It goes first where something has to go; times with offsets and parts of seconds are compared as instants."""
    times = [
        "2026-01-01T00:00:00+01:00",
        "2025-12-31T23:30:00.5Z",
        "no time",
        "2025-12-31T23:30:00Z",
        "2026-02-30T00:00:00Z",
    ]
    file.write_bytes(b"".join(line(f"m-{number}", "x", ts) for number, ts in enumerate(times, 1)))
    assert [fact.id for fact in store.read().newest] == ["m-2", "m-4", "m-1", "m-5", "m-3"]
    limits(workspace, max_total=4)
    add("new")
    assert [fact.id for fact in store.read().facts] == ["m-1", "m-2", "m-4", "m-6"]
