"""Records: plans in JSON, and what memdeck keeps outside of the workspace, damaged or in the wrong hands."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.fixture_files import sample

from .case import Case, refuses
from .place import ORDINARY, Place

_PLANS = b"""---
type: orchestration-state
---
## Active Plans
### Shop
- planId: orch-xyz789
- status: running
- created: 2024-01-12

```json
"""
_PLANS_END = b"\n```\n\n## Completed Plans\n"
LOG = "changes.sqlite"


def _case(name: str, says: str, **more: object) -> Case:
    return Case(f"records/{name}", says, **more)  # type: ignore[arg-type]


def _plan(name: str, says: str, **more: object) -> Case:
    return _case(name, says, file="orchestration.md", **more)


def _plan_json(place: Place, data: bytes) -> None:
    place.put("orchestration.md", _PLANS + data + _PLANS_END)


def _many_plan_tasks(place: Place) -> None:
    rows = b"".join(b"| t%d | shop | x | 1 | t%d | pending | 0%% |\n" % (n, n - 1) for n in range(1, 3000))
    table = b"| id | project | title | phase | dependsOn | status | progress |\n|---|---|---|---|---|---|---|\n"
    place.put("orchestration.md", _PLANS.removesuffix(b"```json\n") + table + rows)


def state(name: str, says: str, damage: Callable[[Place, Path], object], **more: object) -> Case:
    """Return a case in which a change was made first, and then something happened to what it left in the state."""

    def build(place: Place) -> None:
        place.run("tasks", "add", "Before the damage", "--now", "2024-01-15T11:00:00Z")
        for name_, data in _FIRST.items():
            place.put(name_, data)
        damage(place, place.record)

    return _case(name, says, build=build, **more)


_FIRST = {name: sample(name) for name in ("tasks.md",)}


def _swap(name: str, make: Callable[[Path], object]) -> Callable[[Place, Path], object]:
    """Put something else in the place of a record."""

    def damage(place: Place, record: Path) -> None:
        for path in record.glob(f"{name}*"):
            path.unlink()
        make(record / name)

    return damage


def _sql(*statements: str) -> Callable[[Place, Path], object]:
    def damage(place: Place, record: Path) -> None:
        connection = sqlite3.connect(record / LOG)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


def _cut(place: Place, record: Path) -> None:
    connection = sqlite3.connect(record / LOG)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    os.truncate(record / LOG, (record / LOG).stat().st_size // 2)


def _scribble(place: Place, record: Path) -> None:
    connection = sqlite3.connect(record / LOG)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with open(record / LOG, "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 8192)


def _other_owner(place: Place, record: Path) -> None:
    os.chown(record, ORDINARY, ORDINARY)


def journal(intent: object) -> bytes:
    """Return a record with a checksum that holds."""
    body = json.dumps(intent).encode()
    return b"memdeck 3 " + f"{len(body)} {zlib.crc32(body):08x}\n".encode() + body


def forged(path: str) -> bytes:
    """Return a record with a change that orders to write a file."""
    files = [(path, None, "0" * 64)]
    order = {"id": "01HM0000000000000000000000", "time": "2024-01-15T10:00:00+00:00", "files": files, "folders": []}
    return journal(order)


FORGED = forged("../outside/secret.md")
"""An intent that orders to write outside."""


# -- where the state lies ------------------------------------------------------------------------------------------


def _home(name: str, says: str, make: Callable[[Place], object], **more: object) -> Case:
    return _case(name, says, build=make, **more)


def _inside(place: Place) -> None:
    place.state = place.shop / ".state"


def _inside_by_link(place: Place) -> None:
    (place.shop / ".state").mkdir()
    place.state.symlink_to("shop/.state")


def _wide_open(place: Place) -> None:
    place.record.mkdir(parents=True)
    place.record.chmod(0o777)


def _home_mode(mode: int) -> Callable[[Place], object]:
    return lambda place: place.state.mkdir(mode)


CASES = (
    _plan("json-truncated", "a JSON plan that breaks off", finds=("orchestration.md:12 plan.json",)),
    _plan(
        "json-fence-unclosed",
        "a JSON plan whose fence is never closed",
        finds=("orchestration.md:11 document.unclosed",),
    ),
    _plan("json-not-a-number", "NaN as an estimate", finds=("orchestration.md:11 plan.json",)),
    _plan(
        "json-huge-number",
        "a number of 5,000 digits, which Python refuses to read",
        screen=True,
        finds=("orchestration.md:11 plan.json",),
    ),
    _plan(
        "json-wrong-types",
        "numbers, nulls and objects where words and lists belong",
        finds=(
            "orchestration.md:11 plan.id_differs",
            "orchestration.md:11 plan.no_phase",
            "orchestration.md:11 plan.task_id",
        ),
    ),
    _plan("json-array", "a list instead of an object", finds=("orchestration.md:11 plan.json",)),
    _plan("json-surrogate", "half characters and terminal escapes behind JSON's backslashes", screen=True),
    _plan(
        "plan-cycle",
        "tasks that wait for each other, for themselves and for one that is not there",
        screen=True,
        finds=("orchestration.md:15 plan.cycle", "orchestration.md:15 plan.unknown_dependency"),
    ),
    _plan(
        "plan-ids-twice",
        "one plan id twice, one task id twice, an unknown status",
        finds=(
            "orchestration.md:14 plan.task_twice",
            "orchestration.md:17 link.twice",
            "orchestration.md:18 plan.status",
        ),
    ),
    _plan(
        "json-deep",
        "100,000 lists inside each other",
        build=lambda place: _plan_json(place, b"[" * 100_000),
        generated=True,
        finds=("orchestration.md:10 plan.json",),
    ),
    _plan(
        "json-large",
        "a JSON plan of 600 KB",
        build=lambda place: _plan_json(place, b'{"a": "' + b"x" * 600_000 + b'"}'),
        generated=True,
        finds=("orchestration.md:10 plan.json",),
    ),
    _plan(
        "plan-chain",
        "3,000 tasks in one chain",
        build=_many_plan_tasks,
        generated=True,
        finds=("orchestration.md:12 plan.unknown_dependency",),
    ),
    state("log-scribbled", "the change log with pages overwritten", _scribble),
    state("log-cut", "the change log cut in half", _cut),
    state("log-empty", "the change log of 0 bytes", _swap(LOG, Path.touch)),
    state(
        "log-text",
        "a text in place of the change log",
        _swap(LOG, lambda path: path.write_bytes(b"not a database\n" * 500)),
    ),
    state("log-folder", "a folder in place of the change log", _swap(LOG, Path.mkdir)),
    state("log-fifo", "a FIFO in place of the change log", _swap(LOG, os.mkfifo)),
    state(
        "log-link",
        "a link to a file outside in place of the change log",
        lambda place, record: _swap(LOG, lambda path: path.symlink_to(place.outside / "secret.md"))(place, record),
    ),
    state("log-other-version", "a change log of a version to come", _sql("PRAGMA user_version = 9999")),
    state("log-no-tables", "a change log whose tables are gone", _sql("DROP TABLE touched")),
    state(
        "log-wal-garbage",
        "garbage as the change log's own journal",
        lambda place, record: (record / f"{LOG}-wal").write_bytes(os.urandom(5000)),
    ),
    state(
        "log-read-only",
        "a read-only change log",
        lambda place, record: (record / LOG).chmod(0o400),
        needs="ordinary user",
    ),
    state(
        "times-garbage",
        "garbage as the record of times",
        lambda place, record: (record / "state.json").write_bytes(b"\xff\0{"),
    ),
    state(
        "times-deep",
        "100,000 lists inside each other as the record of times",
        lambda place, record: (record / "state.json").write_bytes(b"[" * 100_000),
    ),
    state(
        "times-folder",
        "a folder as the record of times",
        _swap("state.json", Path.mkdir),
        expect={"maintain": "file.not_regular 1"},
    ),
    state(
        "times-fifo",
        "a FIFO as the record of times",
        _swap("state.json", os.mkfifo),
        expect={"maintain": "file.not_regular 1"},
    ),
    state(
        "intent-torn",
        "an intent cut off in its middle",
        lambda place, record: (record / "journal-.aiter").write_bytes(FORGED[:100]),
    ),
    state(
        "intent-forged",
        "an intent that orders to write outside",
        lambda place, record: (record / "journal-.aiter").write_bytes(FORGED),
        expect=refuses("file.outside 1"),
    ),
    state(
        "intent-other-types",
        "an intent with a good checksum and nonsense in it",
        lambda place, record: (record / "journal-.aiter").write_bytes(journal({"files": 5, "time": [], "id": None})),
    ),
    state(
        "intent-folder",
        "a folder in place of an intent",
        _swap("journal-.aiter", os.mkdir),
        expect=refuses("file.not_regular 1"),
    ),
    state(
        "intent-wrong-type",
        "a number as an intent",
        lambda place, record: (record / "journal-.aiter").write_bytes(journal(7)),
    ),
    _home(
        "state-writable-by-all",
        "a state folder that everybody may write to",
        _wide_open,
        expect=refuses("state.writable_by_others 1"),
    ),
    _home(
        "state-inside", "a state folder inside of the workspace", _inside, expect=refuses("state.inside_workspace 1")
    ),
    _home(
        "state-inside-by-link",
        "a state folder that a link puts into the workspace",
        _inside_by_link,
        expect=refuses("state.inside_workspace 1"),
    ),
    _home(
        "state-is-a-file",
        "a file in place of the folder for state",
        lambda place: place.state.write_bytes(b""),
        expect=refuses("file.not_folder 1"),
    ),
    _home(
        "state-home-dangling",
        "a link to nothing in place of the folder for state",
        lambda place: place.state.symlink_to("nosuch"),
        expect=refuses("file.not_folder 1"),
    ),
    _home(
        "state-home-read-only",
        "a folder for state that cannot be written",
        _home_mode(0o500),
        needs="ordinary user",
        expect=refuses("file.read_only 1"),
    ),
    _home(
        "state-home-closed",
        "a folder for state that cannot be entered",
        _home_mode(0o000),
        needs="ordinary user",
        expect={"add": "file.unreadable 1", "note": "file.unreadable 1", "maintain": "file.unreadable 1"},
    ),
    state(
        "state-foreign",
        "a state folder of another user",
        _other_owner,
        needs="root",
        expect=refuses("state.foreign_owner 1"),
    ),
    state("state-removed", "a state folder that was removed", lambda place, record: shutil.rmtree(record)),
)
