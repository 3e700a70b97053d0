"""All checks of the project state, each fault with its code."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal, NamedTuple

from memory.base.git import ignored_by
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.state.entry_block import find_blocks, render_block
from memory.state.files import model
from memory.state.files.model import Json, digest, is_entry_file, line_of, load, moment, number_of
from memory.state.files.reading import StateFiles, checkpoint_path, read_events
from memory.state.files.schema import config_faults, unknown_keys
from memory.state.files.store import entry_path
from memory.state.projections import VERSION, marker_of, path_of, render_projections
from memory.storage.safe_open import read_within

Level = Literal["pass", "warn", "fail"]
SHOWN = 20
_MOST_RULES = 64 * 1024
"""How many bytes of a `.gitignore` are read."""


class Finding(NamedTuple):
    """The result of one check: `code` such as `state:bundle-hash`, `line` from 1 (0: the file as a whole)."""

    level: Level
    code: str
    message: str
    file: str
    line: int = 0

    def json(self) -> Json:
        """Return it for programs."""
        about = {"code": self.code, "status": self.level, "message": self.message}
        return {**about, "file": self.file, "line": self.line or None}

    def problem(self) -> Problem:
        """Return it as a problem for `check`, a note where it only waits for a person; not for a check that passed."""
        waits = self.code.startswith(("validation:", "recall:backlog"))
        level: Literal["error", "warning", "note"] = "error" if self.level == "fail" else "note" if waits else "warning"
        return Problem(level, self.file, self.line, f"state.{self.code.replace(':', '.')}", self.message)


Found = Iterator[Finding]


def validate(memory: StateFiles, now: datetime | None) -> list[Finding]:
    """Return every finding at an aware time (None: without the findings that depend on it).

    Nothing in the files raises, and nothing is written. Where the state fails, what depends on it is not checked.
    """
    found = [
        *_part("config:json", model.CONFIG, "every setting has a value that it takes", _config(memory)),
        *_part("history:events", model.EVENTS, "every event is readable", _events(memory)),
        *_part("sources:read", model.SOURCES, "every source has the form of the format", _sources(memory)),
        *_part("checkpoints:schema", model.CHECKPOINTS, "the checkpoints are sound", _checkpoints(memory)),
        *_part("state:schema", model.STATE, "the state has the form of the format", _state(memory)),
    ]
    with suppress(MemdeckError):
        bundle = memory.bundle
        found += _part("bundle:paths", model.STATE, "every path of the bundle exists", _paths(memory, bundle))
        found += _part("recall:backlog", model.EVENTS, "few events wait for a recall", _backlog(memory))
        found += _part("validation:freshness", model.STATE, "the validation commands passed", _validation(bundle, now))
        for name, text in render_projections(bundle, digest(bundle)).items():
            views = _projection(memory, name, text.encode())
            found += _part(f"projection:{name}", path_of(name), "it shows the bundle", views)
        found += _part("entry:marker", model.STATE, "the block belongs to the bundle", _entry(memory, bundle))
        found += [
            Finding("warn", "projection:ignored", words, path, line) for path, line, words in ignored(memory.root)
        ]
    return [*found, *_archive(memory)]


_TOLD = frozenset(
    ("state:missing", "state:json", "state:read", "config:schema", "config:read", "sources:schema", "entry:file")
)
"""The codes of findings whose errors say more than that the part is not as it should be."""


def _part(code: str, file: str, good: str, check: Found) -> Found:
    """Yield the findings of a part, an error as one of them; that it passed, with `good`, where there is none."""
    passed = True
    try:
        for one in check:
            passed = False
            yield one
    except MemdeckError as error:
        passed, family, why = False, code.partition(":")[0], error.code.rpartition(".")[2]
        own = f"{family}:{'file' if family == 'entry' else 'read' if error.code.startswith('file.') else why}"
        line = int(error.details.get("line", 0) or 0)
        yield Finding("fail", own if own in _TOLD else code, error.message, file, line)
    if passed:
        yield Finding("pass", code, good, file)


# -- the files of the format --------------------------------------------------------------------------------------


def _config(memory: StateFiles) -> Found:
    path, stored = model.CONFIG, memory.read(model.CONFIG)
    if not stored.exists:
        yield Finding("fail", "config:missing", "the file is missing; the defaults apply", path)
        return
    written = load(stored.data, path, "state.config.json")
    if config_faults(written):
        _ = memory.config
    for key in unknown_keys(written)[:SHOWN]:
        line = line_of(stored.data, key.rpartition(".")[2])
        yield Finding("warn", "config:unknown", f"there is no setting {key}; is it misspelled?", path, line)


def _events(memory: StateFiles) -> Found:
    """Check the lines, ids, order and gaps of the events."""
    path = model.EVENTS
    if not memory.read(path).exists:
        yield Finding("fail", "history:events-missing", "the file is missing", path)
        return
    found, known, highest = memory.found_events, set[int](), 0
    for bad in found.bad[:SHOWN]:
        yield Finding("fail", "history:event", f"line {bad.line} {bad.why}", path, bad.line)
    for event, line in zip(found.items, found.lines, strict=True):
        number = number_of(event["id"])
        if number in known:
            yield Finding("fail", "history:ids", f"{event['id']} occurs twice", path, line)
        elif number < highest:
            yield Finding("fail", "history:ordering", f"{event['id']} follows a later one", path, line)
        known.add(number)
        highest = max(highest, number)
    for number in islice(missing_events(memory, known), SHOWN):
        yield Finding("fail", "history:continuity", f"{model.event_id(number)} is in neither history nor archive", path)


def missing_events(memory: StateFiles, numbers: Collection[int]) -> Iterator[int]:
    """Yield the numbers below the highest that are in no archive either; what expired there counts as archived."""
    known = {*numbers, *memory.archived_numbers()}
    return (number for number in range(1, max(numbers, default=0)) if number not in known)


def _sources(memory: StateFiles) -> Found:
    path = model.SOURCES
    if not memory.read(path).exists:
        yield Finding("fail", "sources:missing", "the file is missing", path)
    for source in memory.sources:
        name, where = source["id"], source["path"]
        if leads_out(where):
            yield Finding("fail", f"sources:path:{name}", f"{where!r} leads out of the workspace", path)
        # Only its own machine has the folder; its absence elsewhere is no fault of the state.
        elif not where.startswith("~") and not os.path.lexists(model.full_path(where, memory.root)):
            yield Finding("warn", f"sources:path:{name}", f"{model.shown_path(where, memory.root)} is missing", path)
        if source["lastSyncStatus"] == "failed":
            yield Finding("warn", f"sources:sync:{name}", f"the last sync failed: {source['lastSyncError']}", path)


def leads_out(path: str) -> bool:
    """Return whether the relative path of a source leads out of the workspace."""
    return not os.path.isabs(path) and ".." in path.split("/")


def _checkpoints(memory: StateFiles) -> Found:
    if not memory.checkpoint_ids:
        yield Finding("fail", "checkpoints:missing", "there is no checkpoint", model.CHECKPOINTS)
    for name in memory.checkpoint_ids:
        code, why = checkpoint_fault(memory, name)
        if code:
            yield Finding("fail", f"checkpoints:{code}:{name}", why, checkpoint_path(name))


def checkpoint_fault(memory: StateFiles, name: str) -> tuple[str, str]:
    """Return the code of what is wrong with a checkpoint, and why; the code is "" where nothing is."""
    try:
        checkpoint = memory.checkpoint(name)
    except MemdeckError as error:
        return "schema" if error.code == "state.checkpoint.schema" else "read", error.message
    fits = digest(checkpoint["bundle"]) == checkpoint["bundleHash"]
    return "" if fits else "bundle-hash", "bundleHash is not the hash of the bundle"


# -- the state, and the views of it ---------------------------------------------------------------------------------


def _state(memory: StateFiles) -> Found:
    """Check the hash, the provider, the counts and the pointers of the state."""
    path, state, ids = model.STATE, memory.state, memory.checkpoint_ids
    maintenance, latest = state["maintenance"], state["maintenance"]["latestCheckpointId"]
    if digest(state["bundle"]) != state["bundleHash"]:
        line = line_of(memory.read(path).data, "bundleHash")
        yield Finding("fail", "state:bundle-hash", "bundleHash is not the hash of the bundle", path, line)
    if (name := state["provider"]["name"]) not in model.PROVIDERS:
        yield Finding("warn", "state:provider", f"the provider {name[:60]!r} is none of codex, claude", path)
    events = sources = None
    with suppress(MemdeckError):
        sources = len(memory.sources)
    with suppress(MemdeckError):
        events = [number_of(event["id"]) for event in memory.found_events.items]
    fit = fitting(maintenance, events, sources, memory.archived_numbers())
    counts = ("importSourceCount", "sources:count", "source"), ("historyEventCount", "history:event-count", "event")
    for key, code, noun in counts:
        if maintenance[key] != fit[key]:
            words = f"the state counts {plural(maintenance[key], noun)}, there are {fit[key]:,}"
            yield Finding("fail", code, words, path)
    if any(maintenance[key] != fit[key] for key in ("lastRecalledEventId", "recallCursors")):
        yield Finding("fail", "recall:cursor", "a cursor is later than every event", path)
    if ids and latest != ids[-1]:
        words = f"the state names {latest or 'no checkpoint'} as the latest, it is {ids[-1]}"
        yield Finding("fail", "checkpoints:latest", words, path)
    elif ids and (last := memory.latest_checkpoints(1)) and last[0]["bundle"] != state["bundle"]:
        yield Finding("warn", "checkpoints:bundle-drift", f"the bundle is not that of {last[0]['id']}", path)


def fitting(written: Json, events: Collection[int] | None, sources: int | None, archived: Collection[int]) -> Json:
    """Return a maintenance part with counts that fit, and no cursor later than every event; None is not known."""
    cursors = {scope: dict(cursor) for scope, cursor in written["recallCursors"].items()}
    new = {**written, "recallCursors": cursors}
    if sources is not None:
        new["importSourceCount"] = sources
    if events is not None:
        new["historyEventCount"] = len(events)
        highest = max([0, *events, *archived])
        for cursor in (new, *cursors.values()):
            if number_of(cursor["lastRecalledEventId"]) > highest:
                cursor["lastRecalledAt"] = cursor["lastRecalledEventId"] = None
    return new


def _paths(memory: StateFiles, bundle: Json) -> Found:
    missing = [one for one in model.bundle_paths(bundle) if not memory.has(one)]
    if not is_entry_file(entry := bundle["project"]["recommendedEntryFile"]):
        missing.append(entry)
    data = memory.read(model.STATE).data
    for one in missing[:SHOWN]:
        words = f"the bundle names {one[:200]!r}, which is not there"
        yield Finding("fail", "bundle:paths", words, model.STATE, line_of(data, one))


def _backlog(memory: StateFiles) -> Found:
    with suppress(MemdeckError):
        waiting, threshold = len(memory.unrecalled()), memory.config["recall.backlogWarnThreshold"]
        if waiting > threshold:
            words = f"{plural(waiting, 'event')} wait for a recall, more than {threshold}"
            yield Finding("warn", "recall:backlog", words, model.EVENTS)


def _validation(bundle: Json, now: datetime | None) -> Found:
    """Check how the last run of the validation commands ended, and how old it is."""
    path, snapshot = model.STATE, bundle["currentFocus"]["validationSnapshot"]
    at, when = snapshot["validatedAt"], moment(snapshot["validatedAt"])
    if not bundle["validationCommands"]:
        yield Finding("warn", "validation:commands", "the bundle has no validation command", path)
    elif snapshot["status"] == "not-run" or when is None:
        words = "the validation commands were not run yet: `memdeck state validate --run`"
        yield Finding("warn", "validation:baseline", words, path)
    elif now is not None and when < now - timedelta(days=model.FRESH_DAYS):
        words = f"they were run on {at[:10]}, more than {model.FRESH_DAYS} days ago"
        yield Finding("warn", "validation:freshness", words, path)
    elif snapshot["status"] != "passed":
        yield Finding("warn", "validation:status", f"they ended as {snapshot['status']}: {snapshot['summary']}", path)


def _projection(memory: StateFiles, name: str, expected: bytes) -> Found:
    code, path = f"projection:{name}", path_of(name)
    data = memory.read(path).base
    marker = marker_of((data or b"").decode("utf-8", "replace"))
    if data is None:
        yield Finding("fail", code, "the projection is missing", path)
    elif marker is None or marker[:2] != (name, VERSION):
        yield Finding("fail", f"{code}:marker", "the first line is not the marker of this projection", path, 1)
    elif data != expected:
        yield Finding("fail", f"{code}:drift", "it does not show the current state, or was edited by hand", path, 1)


def ignored(root: str | os.PathLike[str]) -> list[tuple[str, int, str]]:
    """Return file, line and words of the rules by which git leaves out the pages or the state."""
    found: list[tuple[str, int, str]] = []
    lines = (read_within(".gitignore", root, _MOST_RULES) or b"").decode(errors="replace").split("\n")
    for folder, path in ((model.PROJECTIONS, path_of("README")), (model.FOLDER, model.STATE)):
        if ignored_by("\n".join(lines)).match_file(path):
            line = next(at for at in range(len(lines), 0, -1) if ignored_by(lines[at - 1]).match_file(path))
            words = f"git ignores `{folder}` by `{lines[line - 1].strip()}`, so others do not get it"
            found.append((".gitignore", line, words))
    return found


def _entry(memory: StateFiles, bundle: Json) -> Found:
    path, block = entry_path(memory.root, bundle), render_block(bundle, digest(bundle))
    data = memory.read(path).base
    blocks = find_blocks(data or b"")
    line = (data or b"").count(b"\n", 0, blocks[0].start) + 1 if blocks else 0
    if data is None:
        yield Finding("fail", "entry:file", "the entry file is missing", path)
    elif not blocks or not blocks[0].closed:
        yield Finding("fail", "entry:marker", "the entry block is missing, or does not end", path, line)
    elif blocks[0].text.replace("\r", "").strip() != block.strip():
        words = "the entry block does not show the current state, or was edited by hand"
        yield Finding("fail", "entry:drift", words, path, line)
    if len(blocks) > 1:
        yield Finding("warn", "entry:twice", f"there are {len(blocks)} entry blocks, the first one counts", path)


# -- the archive; problems in it are only warnings ----------------------------------------------------------------


def _archive(memory: StateFiles) -> Found:
    """Check that the batches of the archive have the events and checkpoints of their manifests."""
    for name in memory.names(model.ARCHIVE):
        path = f"{model.ARCHIVE}/{name}"
        known = name in memory.batches or path == model.EXPIRED or name.startswith(".")
        if not known and memory.holds(path):
            yield Finding("warn", f"archive:name:{name}", "it is not a batch of the archive", path)
    for batch in memory.batches:
        folder = f"{model.ARCHIVE}/{batch}"
        try:
            manifest = memory.manifest(batch)
            found = read_events(memory.read(f"{folder}/events.jsonl").data)
        except MemdeckError as error:
            yield Finding("warn", f"archive:manifest:{batch}", error.message, f"{folder}/manifest.json")
            continue
        ids, words = {event["id"] for event in found.items}, "it does not hold the {} of its manifest"
        if found.bad or not ids.issuperset(manifest["archivedEventIds"]):
            yield Finding("warn", f"archive:events:{batch}", words.format("events"), f"{folder}/events.jsonl")
        kept = set(memory.names(f"{folder}/checkpoints"))
        if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
            yield Finding("warn", f"archive:checkpoints:{batch}", words.format("checkpoints"), f"{folder}/checkpoints")
