"""StateStore: reads the project state of one workspace, and is the only way to write it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memory.base.programs import retry
from memory.base.safe_text import cut, one_line
from memory.errors import RefusedError
from memory.state.entry_block import put_block, render_block
from memory.state.projections import path_of, refuse_foreign, render_projections
from memory.storage.safe_open import names_in

from . import model, schema
from .model import Json, canonical_bytes, digest, event_id, is_entry_file, line_bytes, stamp
from .reading import Parsed, StateFiles, checkpoint_path

if TYPE_CHECKING:
    from memory.storage import Change, Store
    from memory.storage.transaction import Transaction

R = TypeVar("R")
NEVER_SYNCED = {"lastSyncedAt": None, "lastSyncStatus": "never", "lastSyncError": None, "lastImportedCount": 0}
"""What a source says of its syncs before the first."""
_LONGEST = 400


class StateStore:
    """The project state in one store, which is rooted in the workspace; safe to share between threads.

    Errors: BusyError `file.locked`, RefusedError `file.*`, MemdeckError `file.io`, and those of `StateFiles`.
    """

    def __init__(self, store: Store) -> None:
        """Nothing is read yet."""
        self.files = store
        self._parsed: Parsed = {}

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.files.workspace

    def memory(self) -> StateFiles:
        """Return a snapshot of the files as they are now."""
        return StateFiles(self.root, self.files.read, self.names, self._parsed)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names in a folder of the workspace; none where it leads out or cannot be listed."""
        names = names_in(self.root / folder, self.root)
        return names if isinstance(names, tuple) else ()

    def change(self, operation: str, build: Callable[[StateWriting], R], *, actor: str, now: datetime) -> R:
        """Make a change: under the lock, `build` gets the files and writes; if it raises, nothing is changed.

        When another program writes to the same files at that moment, `build` is called again with the new content.
        """

        def attempt() -> R:
            with self.files.transaction(operation, actor=actor, now=now) as transaction:
                return build(StateWriting(self, transaction, now, self._parsed))

        return retry(attempt)


class StateWriting:
    """A change being made: the files, read under the lock, and what one transaction will write."""

    def __init__(self, store: StateStore, transaction: Transaction, now: datetime, parsed: Parsed) -> None:
        """`transaction` was entered; `now` is its time."""
        self.store = store
        self.transaction = transaction
        self.now = now
        self.memory = StateFiles(store.root, transaction.read, store.names, parsed)

    def put(self, path: str, data: bytes | None) -> None:
        """Plan the bytes of a file (None: it is removed); the same bytes, and a missing file, are no change."""
        base = self.transaction.read(path).base
        if data is None and base is not None:
            self.transaction.remove(path, base=base)
        elif data is not None and data != base:
            self.transaction.write(path, data, base=base)

    def put_state(self, state: Json) -> None:
        """Plan the state; RefusedError `state.refused` for one that does not have the shape."""
        refuse("state", state)
        self.put(model.STATE, canonical_bytes(state))

    def put_maintenance(self, **values: Any) -> None:
        """Plan the state with some values of its maintenance part."""
        state = self.memory.state
        self.put_state({**state, "maintenance": {**state["maintenance"], **values}})

    def add_events(self, events: list[Json], *, anew: bool = False) -> None:
        """Plan events at the end of events.jsonl; `anew` drops the existing ones."""
        for event in events:
            refuse("event", event)
        data = b"" if anew else self.transaction.read(model.EVENTS).data
        if data and not data.endswith(b"\n"):
            data += b"\n"
        self.put(model.EVENTS, data + b"".join(map(line_bytes, events)))

    def put_views(self, bundle: Json, bundle_hash: str) -> None:
        """Plan the projections and the entry block of a bundle; RefusedError `state.exists` for a person's own file."""
        refuse_foreign(self.transaction.read)
        for path, data in views_of(self.memory, bundle, bundle_hash):
            self.put(path, data)

    def persist(
        self, command: str, bundle: Json, summary: str, *, state: Json, diff: Json | None = None, **maintenance: Any
    ) -> Json:
        """Plan event, checkpoint, state, projections and entry block of a new bundle; return the new state.

        `summary` is the checkpoint's, and also the event's where `diff` says what a recall changed. `state` is the
        previous one; one without a bundle is the first, which starts events.jsonl again. `maintenance` are values that
        change in it.
        """
        refuse("bundle", bundle)
        created, bundle_hash, anew = stamp(self.now), digest(bundle), "bundle" not in state
        event_name, checkpoint_name = event_id(self.memory.highest_event() + 1), self.memory.next_checkpoint()
        summary = short(summary)
        words = short(f"{command} refreshed the state of {bundle['project']['name']}") if diff is None else summary
        checkpoint = checkpoint_of(checkpoint_name, created, event_name, bundle, bundle_hash, summary)
        maintenance |= {
            "latestCheckpointId": checkpoint_name,
            "historyEventCount": 1 if anew else len(self.memory.events) + 1,
            "importSourceCount": len(self.memory.sources),
        }
        new = state_of(state, bundle, bundle_hash, created)
        new["maintenance"] = {**state["maintenance"], **maintenance}
        self.put_state(new)
        self.add_events([tool_run(event_name, command, bundle_hash, created, words, diff)], anew=anew)
        self.put(checkpoint_path(checkpoint_name), canonical_bytes(checkpoint))
        self.put_views(bundle, bundle_hash)
        return new

    def commit(self, summary: str) -> Change:
        """Commit the transaction and return the change."""
        return self.transaction.commit(summary)


def views_of(memory: StateFiles, bundle: Json, bundle_hash: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each projection of a bundle, and of the file with its entry block."""
    for name, text in render_projections(bundle, bundle_hash).items():
        yield path_of(name), text.encode()
    entry = entry_path(memory.root, bundle)
    yield entry, put_block(memory.read(entry).data, render_block(bundle, bundle_hash))


def refuse(kind: str, value: Json) -> None:
    """Raise RefusedError `state.refused` for a value that is not of a kind: nothing wrong is ever written."""
    if faults := schema.faults_of(kind, value):
        words = f"the result does not have the required form: {schema.first_of(faults)}"
        raise RefusedError("state.refused", words, "fix it and try again", faults=[one._asdict() for one in faults])


def checkpoint_of(name: str, created: str, event: str | None, bundle: Json, bundle_hash: str, summary: str) -> Json:
    """Return a checkpoint of a bundle."""
    about = {"id": name, "createdAt": created, "eventId": event, "summary": summary}
    return {**about, "bundleHash": bundle_hash, "bundle": bundle}


def state_of(parts: Json, bundle: Json, bundle_hash: str, created: str) -> Json:
    """Return a state with a bundle; `parts` are its other parts, or those of the state before it."""
    versions = {"schemaVersion": model.SCHEMA_VERSION, "generatorVersion": model.GENERATOR}
    return {**parts, **versions, "generatedAt": created, "bundleHash": bundle_hash, "bundle": bundle}


def fresh_parts(provider: str) -> Json:
    """Return the parts of a state that has never been recalled, except those that the bundle makes."""
    cursor = {"lastRecalledAt": None, "lastRecalledEventId": None}
    counts = {"latestCheckpointId": None, "historyEventCount": 0, "importSourceCount": 0}
    cursors = {scope: dict(cursor) for scope in model.SCOPES}
    return {
        "provider": {"name": provider, "binary": provider, "model": None, "sessionId": None},
        "maintenance": {**cursor, **counts, "recallCursors": cursors},
    }


def entry_path(root: Path, bundle: Json) -> str:
    """Return the file for the entry block; for a link to another file of such a name inside, that file.

    RefusedError `state.entry_file` for a file that is none of `ENTRY_FILES`: a bundle can have no other file written.
    """
    name: str = bundle["project"]["recommendedEntryFile"]
    if not is_entry_file(name):
        words = f"the entry file {name[:80]!r} is not one of {', '.join(model.ENTRY_FILES)}"
        raise RefusedError("state.entry_file", words, "`memdeck state edit project` changes it")
    inside = os.path.relpath(os.path.realpath(root / name), os.path.realpath(root))
    return inside if model.stays_inside(inside) and is_entry_file(inside.rpartition("/")[2]) else name


# -- events that are written along with a bundle --------------------------------------------------------------


def tool_run(name: str, command: str, bundle_hash: str, created: str, summary: str, diff: Any) -> Json:
    """Return the event of a command that wrote a bundle; `diff` is what a recall changed, None for other commands."""
    return {
        "id": name,
        "kind": "tool_run",
        "sourceId": model.LOCAL_SOURCE,
        "externalItemId": None,
        "createdAt": created,
        "contentHash": digest({"bundleHash": bundle_hash, "commandName": command, "diffSummary": diff}),
        "summary": summary,
        # What the bundle says is in its checkpoint.
        "signals": {kind: [] for kind in model.SIGNALS},
        "sourceRef": model.OWN_REF + command,
    }


def short(text: str) -> str:
    """Return a text on one line that is short enough for a summary."""
    return cut(one_line(text), _LONGEST)
