"""The ledger of a session: a first line with its description and a checksum, then its events; never overwritten."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.json_objects import read_object
from memory.base.retry import retry
from memory.base.secrets import masked
from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.errors import ConflictError, RefusedError, UsageError
from memory.storage.safe_open import sha256
from memory.storage.transaction import Transaction

from .places import EVENTS, LEDGER, SessionFolder, find_session, place_of

_META = ("agent_name", "session_type", "spawn_parent_id", "root_session_id", "spawn_depth")
_KEYS = frozenset({"event_type", "content", "event_id", "turn_id", "agent_name", "timestamp"})


class SessionLedger(NamedTuple):
    """The content of a session file; `fault` says why it is unreliable, empty where it is sound."""

    meta: Json
    events: tuple[Json, ...]
    fault: str = ""


def _line(values: Json) -> bytes:
    return json.dumps(values, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def _session_of(place: SessionFolder, given: Json, curated: Curated, now: datetime) -> Json:
    """Return the description of a session for its first line."""
    parent = given.get("parent_session_id")
    root, depth = place.id, 0
    if parent:
        root, depth = parent, 1
        above = place_of(curated, parent, place.workspace_id)
        data = above.data(LEDGER) or above.data(EVENTS)
        if data is not None:
            meta = read(data).meta
            root, depth = meta.get("root_session_id") or parent, int(meta.get("spawn_depth") or 0) + 1
    return {
        "type": "session_meta", "version": 1, "session_id": place.id, "workspace_id": place.workspace_id,
        "agent_name": given.get("agent_name"), "session_type": given.get("session_type", "user"),
        "spawn_parent_id": parent, "root_session_id": root, "spawn_depth": depth, "started_at": format_utc(now),
    }  # fmt: skip


def events_of(text: str) -> list[Json]:
    """Return the events of JSON lines; UsageError `memory.session.event` with the line of an invalid one."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        values = read_object(line)
        if not set(values) <= _KEYS or not isinstance(values.get("event_type"), str):
            raise UsageError(
                "memory.session.event", f"line {number} is no event: JSON with event_type",
                f"keys: {', '.join(sorted(_KEYS))}", line=number,
            )  # fmt: skip
        found.append(values)
    if not found:
        raise UsageError("memory.session.event", "there is no event", "one JSON object a line", line=0)
    return found


def append(curated: Curated, session: str, rows: Sequence[Json], given: Json, *, actor: str, now: datetime) -> int:
    """Add events, their secrets masked, to a running session, which the first event starts; return how many it has.

    RefusedError `memory.session.ended` for one whose ledger exists.
    """
    place = place_of(curated, session)
    place.side.prepare(actor=actor, now=now)

    def attempt() -> int:
        with place.side.store.transaction("curated.session", actor=actor, now=now) as transaction:
            if transaction.read(place.path(LEDGER)).exists:
                raise RefusedError("memory.session.ended", f"{session} has ended", "events go to a session that runs")
            stored = transaction.read(place.path(EVENTS))
            before = read(stored.data)
            number = max((int(one["sequence"]) for one in before.events), default=0)
            lines = b""
            for sequence, row in enumerate(rows, number + 1):
                event: Json = {
                    "type": "session_event", "version": 1, "session_id": session, "sequence": sequence,
                    "event_id": row.get("event_id") or f"{session}-{sequence}", "turn_id": row.get("turn_id"),
                    "event_type": masked(row["event_type"]), "agent_name": masked(row.get("agent_name")),
                    "content": masked(row.get("content")), "timestamp": row.get("timestamp") or format_utc(now),
                }  # fmt: skip
                lines += _line(event)
            if stored.base is None:
                lines = _line(_session_of(place, given, curated, now)) + lines
                transaction.write(place.path(EVENTS), lines, base=None)
            else:
                transaction.append(place.path(EVENTS), lines, base=stored.base)
            transaction.commit(f"noted {len(rows)} events of session {session}")
            return number + len(rows)

    return retry(attempt)


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
            faults.append(f"line {number} is no event")
    if not meta:
        faults.append("the first line does not describe the session")
    if meta.get("type") == "ledger_meta" and meta.get("checksum") != checksum(data):
        faults.append("the checksum is another one")
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


def end(curated: Curated, session: str, *, actor: str, now: datetime) -> SessionFolder:
    """Make the ledger of a session from its events, once; a second end with the same events changes nothing.

    NotFoundError `memory.not_found`, ConflictError `memory.ledger.exists` where the ledger has other content.
    """
    place = find_session(curated, session)

    def plan(transaction: Transaction) -> str:
        stored = transaction.read(place.path(LEDGER))
        events = transaction.read(place.path(EVENTS))
        if events.base is None:
            return ""
        made = ledger_of(events.data, place, format_utc(now))
        if stored.base is None:
            transaction.write(place.path(LEDGER), made, base=None)
            return f"made the ledger of session {session}"
        if stored.data.partition(b"\n")[2] != made.partition(b"\n")[2]:
            raise ConflictError(
                "memory.ledger.exists", f"{session} has a ledger with other events",
                "`memdeck curated session repair` looks at it", file=place.path(LEDGER),
            )  # fmt: skip
        return ""

    place.side.change("curated.session", plan, actor=actor, now=now)
    return place
