"""Damaged stores: what is done to a sound one, the codes that must name it, and whether a repair mends it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from memory.state.files.model import ARCHIVE, CHECKPOINTS, CONFIG, EVENTS, SOURCES, STATE, digest

from .states import Repository

FIRST, LAST = f"{CHECKPOINTS}/chk-000001.json", f"{CHECKPOINTS}/chk-000003.json"
GOTCHAS = "docs/agent-memory/gotchas.md"


class Damage(NamedTuple):
    """One damage: its name, what it does to a repository, the codes it must give, and what is left after a repair."""

    name: str
    do: Callable[[Repository], object]
    codes: tuple[str, ...]
    left: tuple[str, ...] = ()
    level: str = "fail"


def _text(path: str, text: str) -> Callable[[Repository], object]:
    return lambda repository: repository.path(path).write_text(text)


def _gone(path: str) -> Callable[[Repository], object]:
    return lambda repository: repository.path(path).unlink()


def _halved(path: str) -> Callable[[Repository], object]:
    def do(repository: Repository) -> None:
        data = repository.path(path).read_bytes()
        repository.path(path).write_bytes(data[: len(data) // 2])

    return do


def _bytes(path: str, data: bytes) -> Callable[[Repository], object]:
    return lambda repository: repository.path(path).write_bytes(data)


def _with(path: str, place: str, value: Any, *, rehash: bool = False) -> Callable[[Repository], object]:
    """Set a value at a dotted place of a JSON file; with `rehash`, bundleHash fits afterwards."""

    def do(repository: Repository) -> None:
        whole = repository.json(path)
        part = whole
        *parents, last = [int(one) if one.isdigit() else one for one in place.split(".")]
        for one in parents:
            part = part[one]
        if value is None and isinstance(part, dict):
            del part[last]
        else:
            part[last] = value
        if rehash:
            whole["bundleHash"] = digest(whole["bundle"])
        repository.put(path, whole)

    return do


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Repository], object]:
    return lambda repository: repository.path(EVENTS).write_bytes(b"".join(change(repository.event_lines())))


def _event(place: str, value: Any) -> Callable[[Repository], object]:
    """Set a value in the second event."""

    def change(lines: list[bytes]) -> list[bytes]:
        event = json.loads(lines[1])
        part = event
        *parents, last = place.split(".")
        for one in parents:
            part = part[one]
        part[last] = value
        return [lines[0], json.dumps(event).encode() + b"\n", *lines[2:]]

    return _lines(change)


def _source(**more: Any) -> Callable[[Repository], object]:
    return lambda repository: repository.put(SOURCES, [{**repository.json(SOURCES)[0], **more}])


def _link(path: str, target: str) -> Callable[[Repository], object]:
    def do(repository: Repository) -> None:
        repository.path(path).unlink()
        os.symlink(target.format(outside=repository.root.parent / "outside"), repository.path(path))

    return do


def _batch(name: str, manifest: Any) -> Callable[[Repository], object]:
    def do(repository: Repository) -> None:
        folder = repository.path(f"{ARCHIVE}/{name}")
        folder.mkdir(parents=True)
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (folder / "manifest.json").write_text(text)
        (folder / "events.jsonl").write_text("")

    return do


_MANIFEST = {
    "createdAt": "2026-01-01T00:00:00.000Z",
    "archivedEventIds": [],
    "archivedCheckpointIds": [],
    "historyMaxAgeDays": 90,
    "checkpointMaxAgeDays": 30,
    "keepRecent": 10,
    "expireAfterDays": 180,
}
_PRUNED = "prune-20260101T000000000Z"
_DEEP = "[" * 100_000


DAMAGES = (
    Damage("no state", _gone(STATE), ("state:missing",)),
    Damage("empty state", _text(STATE, ""), ("state:json",)),
    Damage("half a state", _halved(STATE), ("state:json",)),
    Damage("state of zeros", _bytes(STATE, b"\0" * 4096), ("state:json",)),
    Damage("state that is no UTF-8", _bytes(STATE, b'{"a": "\xff\xfe"}'), ("state:json",)),
    Damage("state that is a list", _text(STATE, "[]"), ("state:schema",)),
    Damage("state of version 1", _with(STATE, "schemaVersion", 1), ("state:schema",)),
    Damage("state without maintenance", _with(STATE, "maintenance", None), ("state:schema",)),
    Damage("blank name", _with(STATE, "bundle.project.name", "  "), ("state:schema",)),
    Damage("wrong hash", _with(STATE, "bundleHash", "0" * 64), ("state:bundle-hash",)),
    Damage("hash that is none", _with(STATE, "bundleHash", "zz"), ("state:schema",)),
    Damage("three validation commands", _with(STATE, "bundle.validationCommands", [{"label": str(n), "command": ["x"], "purpose": "p"} for n in range(3)]), ("state:schema",)),
    Damage("wrong count of events", _with(STATE, "maintenance.historyEventCount", 77), ("history:event-count",)),
    Damage("wrong count of sources", _with(STATE, "maintenance.importSourceCount", 7), ("sources:count",)),
    Damage("latest checkpoint that is not there", _with(STATE, "maintenance.latestCheckpointId", "chk-000099"), ("checkpoints:latest",)),
    Damage("latest checkpoint with a path", _with(STATE, "maintenance.latestCheckpointId", "../../outside"), ("state:schema",)),
    Damage("cursor behind every event", _with(STATE, "maintenance.recallCursors.all.lastRecalledEventId", "evt-999999"), ("recall:cursor",)),
    Damage("key path that leads out", _with(STATE, "bundle.project.keyPaths", ["../outside/canary"], rehash=True), ("state:schema",)),
    Damage("module at the root of the disk", _with(STATE, "bundle.projectMap.modules", [{"name": "n", "path": "/etc", "responsibility": "r"}], rehash=True), ("state:schema",)),
    Damage("key path that is gone", _with(STATE, "bundle.project.keyPaths", ["shop/gone.py"], rehash=True), ("bundle:paths",)),
    Damage("entry file elsewhere", _with(STATE, "bundle.project.recommendedEntryFile", "../outside/canary"), ("state:schema",)),
    Damage("entry file that is none", _with(STATE, "bundle.project.recommendedEntryFile", "shop/cache.py", rehash=True), ("entry:file", "bundle:paths")),
    Damage("foreign provider", _with(STATE, "provider.name", "gemini"), ("state:provider",), (), "warn"),
    Damage("state that is a link outside", _link(STATE, "{outside}/canary"), ("state:read",), ("state:read",)),
    Damage("state that is a folder", lambda r: (r.path(STATE).unlink(), r.path(STATE).mkdir()), ("state:read",), ("state:read",)),
    Damage("no settings", _gone(CONFIG), ("config:missing",)),
    Damage("half of the settings", _halved(CONFIG), ("config:json",)),
    Damage("settings that are a list", _text(CONFIG, "[1]"), ("config:schema",)),
    Damage("unknown policy", _with(CONFIG, "recall.policy", "wild"), ("config:schema",)),
    Damage("negative age", _with(CONFIG, "retention.history.maxAgeDays", -1), ("config:schema",)),
    Damage("interval that is a text", _with(CONFIG, "automation.intervalMinutes", "15"), ("config:schema",)),
    Damage("no events", _gone(EVENTS), ("history:events-missing",)),
    Damage("torn last event", _halved(EVENTS), ("history:event", "history:event-count")),
    Damage("a line that is not an event", _lines(lambda lines: [*lines, b"hello\n"]), ("history:event",)),
    Damage("a line of zeros", _lines(lambda lines: [lines[0], b"\0\0\0\n", *lines[1:]]), ("history:event",)),
    Damage("an event nested too deeply", _lines(lambda lines: [*lines, _DEEP.encode() + b"\n"]), ("history:event",)),
    Damage("an event of an unknown kind", _event("kind", "dream"), ("history:event",)),
    Damage("an event without signals", _event("signals", {}), ("history:event",)),
    Damage("an event with a path for an id", _event("id", "../../outside/canary"), ("history:event",)),
    Damage("an event at an impossible time", _event("createdAt", "2026-02-30T00:00:00.000Z"), ("history:event",)),
    Damage("events in the wrong order", _lines(lambda lines: [lines[1], lines[0], *lines[2:]]), ("history:ordering",)),
    Damage("an event twice", _lines(lambda lines: [*lines, lines[1]]), ("history:ids", "history:event-count")),
    Damage("an event that names itself as the next", _event("id", "evt-000001"), ("history:ids",)),
    Damage("an event taken out", _lines(lambda lines: [lines[0], *lines[2:]]), ("history:event-count",)),
    Damage("no sources", _gone(SOURCES), ("sources:missing",)),
    Damage("half of the sources", _halved(SOURCES), ("sources:read",)),
    Damage("a source of an unknown type", _source(type="gemini-local"), ("sources:schema",)),
    Damage("a source that is no object", _text(SOURCES, "[3]"), ("sources:schema",)),
    Damage("a source twice", lambda r: r.put(SOURCES, r.json(SOURCES) * 2), ("sources:schema",)),
    Damage("a source with a relative path", _source(path="../outside"), ("sources:path:claude",)),
    Damage("no checkpoint", lambda r: [path.unlink() for path in r.path(CHECKPOINTS).iterdir()], ("checkpoints:missing",)),
    Damage("half a checkpoint", _halved(FIRST), ("checkpoints:read:chk-000001",)),
    Damage("a checkpoint without a bundle", _with(FIRST, "bundle", None), ("checkpoints:schema:chk-000001",)),
    Damage("a checkpoint with another hash", _with(FIRST, "bundleHash", "0" * 64), ("checkpoints:bundle-hash:chk-000001",)),
    Damage("a checkpoint with the name of another", _with(FIRST, "id", "chk-000002"), ("checkpoints:schema:chk-000001",)),
    Damage("a latest checkpoint that is broken", _text(LAST, "{}"), ("checkpoints:schema:chk-000003",)),
    Damage("a checkpoint that is a link outside", _link(FIRST, "{outside}/canary"), ("checkpoints:read:chk-000001",), ("checkpoints:read:chk-000001",)),
    Damage("checkpoints that are a link outside", lambda r: (_emptied(r), os.symlink(r.root.parent / "outside", r.path(CHECKPOINTS))), ("checkpoints:missing",), ("checkpoints:missing",)),
    Damage("a bundle that no checkpoint has", _with(STATE, "bundle.project.summary", "Other.", rehash=True), ("checkpoints:bundle-drift",), (), "warn"),
    Damage("a projection that is gone", _gone(GOTCHAS), ("projection:gotchas",)),
    Damage("a projection without its marker", _text(GOTCHAS, "# Gotchas\n"), ("projection:gotchas:marker",)),
    Damage("a projection edited by hand", lambda r: r.path(GOTCHAS).write_text(r.path(GOTCHAS).read_text() + "\nmore\n"), ("projection:gotchas:drift",)),
    Damage("a projection that is a link outside", _link(GOTCHAS, "{outside}/canary"), ("projection:gotchas",), ("projection:gotchas",)),
    Damage("no entry file", _gone("README.md"), ("entry:file",)),
    Damage("no entry block", _text("README.md", "# Shop\n"), ("entry:marker",)),
    Damage("an entry block in a code fence", lambda r: r.path("README.md").write_text(f"```\n{r.path('README.md').read_text()}```\n"), ("entry:marker",)),
    Damage("an entry block of another bundle", lambda r: r.path("README.md").write_text(_other(r)), ("entry:drift",)),
    Damage("a manifest that is broken", _batch(_PRUNED, "{"), (f"archive:manifest:{_PRUNED}",), (), "warn"),
    Damage("a manifest that names what lies outside", _batch(_PRUNED, {**_MANIFEST, "archivedCheckpointIds": ["../../../outside/canary"]}), (f"archive:manifest:{_PRUNED}",), (), "warn"),
    Damage("a manifest of events that are not there", _batch(_PRUNED, {**_MANIFEST, "archivedEventIds": ["evt-000001"]}), (f"archive:events:{_PRUNED}",), (), "warn"),
    Damage("a manifest of checkpoints that are not there", _batch(_PRUNED, {**_MANIFEST, "archivedCheckpointIds": ["chk-000001"]}), (f"archive:checkpoints:{_PRUNED}",), (), "warn"),
    Damage("a folder in the archive that is no batch", _batch("mine", _MANIFEST), ("archive:name:mine",), (), "warn"),
)  # fmt: skip


def _emptied(repository: Repository) -> None:
    for path in repository.path(CHECKPOINTS).iterdir():
        path.unlink()
    repository.path(CHECKPOINTS).rmdir()


def _other(repository: Repository) -> str:
    return repository.path("README.md").read_text().replace(repository.json()["bundleHash"], "0" * 64)
