"""Sessions: their events while they run, and at the end one ledger with a checksum, which is never overwritten.

Each has the folder `sessions/<workspace id or _unbound>/<session>/` in the person's folder.
"""

from __future__ import annotations

import json
import stat
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from memory.base.clock import format_utc, read_utc
from memory.base.programs import retry
from memory.base.safe_text import plural
from memory.base.secrets import masked
from memory.base.values import read_object
from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.storage.fsio import remove_folders
from memory.storage.transaction import Transaction

from .curated import Curated
from .files import check_session, is_segment, listed_names
from .model import Json, OperationCall
from .providers import ask
from .sides import Side

FOLDER = "sessions"
"""The folder of all sessions, relative to the root of the person's store."""
_GRACE = timedelta(hours=24)
"""How long a session without new events may still be running."""
EVENTS, LEDGER, DAMAGED = "events.jsonl", "ledger.jsonl", "ledger.damaged.jsonl"
_META = ("agent_name", "session_type", "spawn_parent_id", "root_session_id", "spawn_depth")
_KEYS = frozenset({"event_type", "content", "event_id", "turn_id", "agent_name", "timestamp"})


class SessionFolder(NamedTuple):
    """The folder of one session; `folder` is relative to the root of the person's store."""

    side: Side
    workspace_id: str
    id: str
    folder: str

    def path(self, name: str) -> str:
        """Return one of its files, relative to the root of the store."""
        return f"{self.folder}/{name}"

    def data(self, name: str) -> bytes | None:
        """Return the bytes of one of its files, None where it has none."""
        try:
            return self.side.store.read(self.path(name)).base
        finally:
            self.side.store.forget(self.path(name))  # Otherwise thousands of ledgers would stay in memory.


class SessionLedger(NamedTuple):
    """The content of a session file; `fault` says why it is unreliable, empty where it is sound."""

    meta: Json
    events: tuple[Json, ...]
    fault: str = ""

    @property
    def ended_at(self) -> datetime | None:
        """When the session ended: the time in its ledger, else that of its last event."""
        text = self.meta.get("ended_at") or (self.events[-1].get("timestamp") if self.events else None)
        return read_utc(str(text or self.meta.get("started_at")))


# -- folders --------------------------------------------------------------------------------------------------------


def place_of(curated: Curated, session: str, workspace_id: str | None = None) -> SessionFolder:
    """Return the folder of a session of this workspace, or of the one named; it need not exist.

    UsageError `memory.scope.workspace_required` without a home folder.
    """
    number = workspace_id or curated.workspace_id() or "_unbound"
    folder = f"{FOLDER}/{check_session(number)}/{check_session(session)}"
    return SessionFolder(curated.side_of(curated.root("global")), number, session, folder)


def find_session(curated: Curated, session: str, workspace_id: str | None = None) -> SessionFolder:
    """Return the folder of an existing session, wherever it is; NotFoundError `memory.not_found`."""
    own = place_of(curated, session, workspace_id)
    found = [one for one in sessions(curated) if one.id == session and workspace_id in (None, one.workspace_id)]
    if not found:
        words = f"there is no session {session[:80]!r}"
        raise NotFoundError("memory.not_found", words, "`memdeck curated session append` begins one")
    return own if own in found else found[0]


def sessions(curated: Curated) -> list[SessionFolder]:
    """Return all sessions that have a folder, none without a home folder."""
    side = curated.sides.get("global")
    if side is None:
        return []
    return [
        SessionFolder(side, number, one, f"{FOLDER}/{number}/{one}")
        for number in listed_names(side.store, FOLDER, stat.S_ISDIR, is_segment)
        for one in listed_names(side.store, f"{FOLDER}/{number}", stat.S_ISDIR, is_segment)
    ]


def ended_since(curated: Curated, since: datetime) -> set[str]:
    """Return the sessions whose ledger names an end after a time."""
    found = set()
    for one in sessions(curated):
        data = one.data(LEDGER)
        moment = None if data is None else SessionLedger(read(data.partition(b"\n")[0]).meta, ()).ended_at
        if moment is not None and moment > since:
            found.add(one.id)
    return found


# -- reading and writing --------------------------------------------------------------------------------------------


def _line(values: Json) -> bytes:
    return json.dumps(values, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def read(data: bytes) -> SessionLedger:
    """Read a ledger or a file of events; bad lines make it faulty, and the remaining lines count."""
    meta: Json = {}
    events: list[Json] = []
    faults: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        values = read_object(line)
        kind = values.get("type")
        if kind in ("ledger_meta", "session_meta") and number == 1:
            meta = values
        elif kind == "session_event" and isinstance(values.get("sequence"), int):
            events.append(values)
        else:
            faults.append(f"line {number} is not an event")
    if not meta:
        faults.append("the first line does not describe the session")
    if meta.get("type") == "ledger_meta" and meta.get("checksum") != checksum(data):
        faults.append("the checksum is wrong")
    return SessionLedger(meta, tuple(sorted(events, key=lambda one: one["sequence"])), "; ".join(faults[:3]))


def checksum(data: bytes) -> str:
    """Return the SHA-256 of the events of a ledger: of all bytes after its first line."""
    return str(sha256(data.partition(b"\n")[2]).hexdigest())


def ledger_of(data: bytes, place: SessionFolder, ended: str) -> bytes:
    """Return the ledger made of the events of a session, their secrets masked."""
    found = read(data)
    lines = b"".join(_line({**one, "content": masked(one.get("content"))}) for one in found.events)
    meta = {
        "type": "ledger_meta", "version": 1, "session_id": place.id, "workspace_id": place.workspace_id,
        **{key: found.meta.get(key) for key in _META}, "started_at": found.meta.get("started_at"), "ended_at": ended,
        "checksum": sha256(lines).hexdigest(), "event_count": len(found.events),
    }  # fmt: skip
    return _line(meta) + lines


def _events_of(text: str) -> list[Json]:
    """Return the events of JSON lines; UsageError `memory.session.event` with the line of an invalid one."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        values = read_object(line)
        if not set(values) <= _KEYS or not isinstance(values.get("event_type"), str):
            keys = f"keys: {', '.join(sorted(_KEYS))}"
            words = f"line {number} is not an event: JSON with event_type"
            raise UsageError("memory.session.event", words, keys, line=number)
        found.append(values)
    if not found:
        raise UsageError("memory.session.event", "there are no events", "one JSON object a line", line=0)
    return found


def append(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Add events to a session that runs, one JSON object a line.

    RefusedError `memory.session.ended` for one whose ledger exists.
    """
    session, rows = args["session_id"], args.get("events") or _events_of(args["content"])
    place = place_of(curated, session)
    place.side.prepare(actor=call.actor, now=call.now)

    def attempt() -> int:
        with place.side.store.transaction("curated.session", actor=call.actor, now=call.now) as transaction:
            if transaction.read(place.path(LEDGER)).exists:
                raise RefusedError(
                    "memory.session.ended", f"{session} has ended", "events can be added only to a running session"
                )
            stored = transaction.read(place.path(EVENTS))
            number = max((int(one["sequence"]) for one in read(stored.data).events), default=0)
            lines = b""
            for sequence, row in enumerate(rows, number + 1):
                event: Json = {
                    "type": "session_event", "version": 1, "session_id": session, "sequence": sequence,
                    "event_id": row.get("event_id") or f"{session}-{sequence}", "turn_id": row.get("turn_id"),
                    "event_type": masked(row["event_type"]), "agent_name": masked(row.get("agent_name")),
                    "content": masked(row.get("content")), "timestamp": row.get("timestamp") or format_utc(call.now),
                }  # fmt: skip
                lines += _line(event)
            if stored.base is None:
                meta: Json = {
                    "type": "session_meta", "version": 1, "session_id": session, "workspace_id": place.workspace_id,
                    "agent_name": args.get("agent_name"), "session_type": "user", "spawn_parent_id": None,
                    "root_session_id": session, "spawn_depth": 0, "started_at": format_utc(call.now),
                }  # fmt: skip
                transaction.write(place.path(EVENTS), _line(meta) + lines, base=None)
            else:
                transaction.append(place.path(EVENTS), lines, base=stored.base)
            transaction.commit(f"added {plural(len(rows), 'event')} to session {session}")
            return number + len(rows)

    return {"session_id": session, "appended": len(rows), "events": retry(attempt)}


def end(curated: Curated, args: Json, call: OperationCall) -> Json:
    """End a session: make the ledger of its events.

    NotFoundError `memory.not_found`, ConflictError `memory.ledger.exists` where the ledger has other content.
    """
    place = find_session(curated, args["session_id"])

    def plan(transaction: Transaction) -> str:
        stored = transaction.read(place.path(LEDGER))
        events = transaction.read(place.path(EVENTS))
        if events.base is None:
            return ""
        made = ledger_of(events.data, place, format_utc(call.now))
        if stored.base is None:
            transaction.write(place.path(LEDGER), made, base=None)
            return f"wrote the ledger of session {place.id}"
        if stored.data.partition(b"\n")[2] != made.partition(b"\n")[2]:
            words = f"{place.id} has a ledger with other events"
            hint = "`memdeck curated session repair` checks it"
            raise ConflictError("memory.ledger.exists", words, hint, file=place.path(LEDGER))
        return ""

    place.side.change("curated.session", plan, actor=call.actor, now=call.now)
    ask(curated, "session_end", call.now, place.id, place.workspace_id)
    return {"ledger": _shown(place)[0]}


def _shown(place: SessionFolder) -> tuple[Json, SessionLedger]:
    """Return the description of a session for programs, and its content."""
    data = place.data(LEDGER)
    running = data is None
    data = data if data is not None else place.data(EVENTS) or b""
    found = read(data)
    meta = found.meta
    return {
        "version": 1, "session_id": place.id, "workspace_id": place.workspace_id,
        "root_session_id": meta.get("root_session_id"), "parent_session_id": meta.get("spawn_parent_id"),
        "spawn_depth": meta.get("spawn_depth"), "agent_name": meta.get("agent_name"),
        "session_type": meta.get("session_type"), "state": "running" if running else "ended",
        "path": str(place.side.store.root / place.path(EVENTS if running else LEDGER)),
        "checksum": None if running else sha256(data).hexdigest(), "events_checksum": meta.get("checksum"),
        "created_at": meta.get("started_at"), "stopped_at": meta.get("ended_at"), "event_count": len(found.events),
    }, found  # fmt: skip


def ledger(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show the ledger of a session."""
    place = find_session(curated, args["session_id"], args.get("workspace_id"))
    meta, found = _shown(place)
    if found.fault and meta["state"] == "ended":
        words = f"the ledger of {place.id} is damaged: {found.fault}"
        hint = "`memdeck curated session repair`"
        raise MemdeckError("memory.ledger.damaged", words, hint, file=place.path(LEDGER))
    events = [
        {"sequence": one["sequence"], "event_type": one.get("event_type"), "emitted_at": one.get("timestamp"),
         "turn_id": one.get("turn_id"), "agent_name": one.get("agent_name"), "payload": masked(one.get("content"))}
        for one in found.events
    ]  # fmt: skip
    return {"meta": meta, "events": events}


def replay(curated: Curated, args: Json, call: OperationCall) -> Json:
    """List the events of a session in their order."""
    events: list[Json] = ledger(curated, args, call)["events"]
    for word, key in (("tool", "include_tool_events"), ("memory", "include_memory")):
        events = [one for one in events if args.get(key) or word not in str(one["event_type"])]
    return {"session_id": args["session_id"], "events": events}


# -- upkeep ---------------------------------------------------------------------------------------------------------


def _removed(one: SessionFolder, transaction: Transaction) -> str:
    """Plan to remove the files of a session; the change log keeps their bytes."""
    for path in map(one.path, (EVENTS, LEDGER, DAMAGED)):
        stored = transaction.read(path)
        if stored.base is not None:
            transaction.remove(path, base=stored.base)
    return f"deleted session {one.id}"


def _renewed(one: SessionFolder, made: bytes, transaction: Transaction) -> str:
    """Plan to write the ledger of a session anew; a damaged one is kept beside it."""
    stored = transaction.read(one.path(LEDGER))
    if stored.base is not None:
        transaction.write(one.path(DAMAGED), stored.data, base=transaction.read(one.path(DAMAGED)).base)
    transaction.write(one.path(LEDGER), made, base=stored.base)
    return f"repaired session {one.id}"


def prune(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Remove sessions that ended long ago; the change log keeps their bytes.

    A session that has not ended, or whose ledger is damaged, stays.
    """
    dry, gone, events = args.get("dry_run", False), 0, 0
    for one in sessions(curated):
        found = read(one.data(LEDGER) or b"")
        moment = None if found.fault else found.ended_at
        if moment is None or call.now - moment <= timedelta(hours=args["older_than_hours"]):
            continue
        if not dry:
            one.side.change("curated.session", partial(_removed, one), actor=call.actor, now=call.now, recorded=True)
            folder = one.side.store.root / one.folder
            remove_folders([folder, folder.parent])
        gone += 1
        events += len(found.events)
    return {"pruned_sessions": gone, "pruned_events": events, "dry_run": dry}


def repair(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Rebuild ledgers that are damaged or missing.

    A damaged ledger is kept as `ledger.damaged.jsonl`. A session without new events for a day counts as ended,
    even without a call to end it. What cannot be repaired is reported and stays.
    """
    dry, repaired, problems = args.get("dry_run", False), list[str](), list[Json]()
    found = sessions(curated)
    for one in found:
        data, events = one.data(LEDGER), one.data(EVENTS)
        source = read(events or data or b"")
        moment = source.ended_at
        if data is None and (moment is None or call.now - moment < _GRACE):
            continue  # It may still be running.
        if data is not None and not read(data).fault:
            continue
        if source.fault:
            problems.append({"session_id": one.id, "workspace_id": one.workspace_id, "reason": source.fault})
        if events is None or not source.events:
            continue
        made = ledger_of(events, one, format_utc(moment or call.now))
        if not dry:
            plan = partial(_renewed, one, made)
            one.side.change("curated.session", plan, actor=call.actor, now=call.now, recorded=True)
        repaired.append(one.id)
    return {
        "checked_sessions": len(found), "repaired_sessions": len(repaired), "repaired": repaired,
        "problems": problems, "dry_run": dry,
    }  # fmt: skip
