"""The inbox: `_inbox/<session>/<time>-<number>.jsonl`, one candidate per line, the oldest file first.

Candidates that failed are kept beside it, one file each with the reason; they can be put back into the inbox.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.secrets import mask, masked
from memory.curated.curated import Curated
from memory.curated.files.listing import listed_names
from memory.curated.files.names import check_session, is_segment
from memory.curated.model import Json
from memory.curated.sides import Side
from memory.errors import MemdeckError
from memory.storage.safe_open import sha256
from memory.storage.transaction import Transaction

UPKEEP = "maintain"
"""The actor that moves lines between the inbox and the failures; whoever drains is the actor of what is decided."""
LARGEST = 4 * 1024 * 1024
"""The largest inbox file that is read, in bytes."""


class InboxFile(NamedTuple):
    """A waiting file in the inbox of a side; `path` is relative to the store's root."""

    side: Side
    session: str
    name: str
    path: str
    mtime_ns: int
    size: int


def folder_of(curated: Curated, side: Side, key: str) -> str:
    """Return a folder of the extractor on a side, by the key of its setting, relative to the store's root."""
    return f"{curated.root(side.name).folder}/{curated.settings[key]}"


def stamp(now: datetime) -> str:
    """Return a time in the form of file names, which sort like the times."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S.%f}Z"


def waiting(curated: Curated, session: str | None = None) -> list[InboxFile]:
    """Return the waiting files, in the order in which they are consumed; links and other names are skipped."""
    found = []
    for side in curated.sides.values():
        top = folder_of(curated, side, "extractor.inbox_path")
        for name in listed_names(side.store, top, stat.S_ISDIR, is_segment):
            if session is not None and name != session:
                continue
            for file in listed_names(side.store, f"{top}/{name}", stat.S_ISREG, is_segment):
                if not file.endswith(".jsonl"):
                    continue
                path = f"{top}/{name}/{file}"
                try:
                    seen = os.lstat(side.store.root / path)
                except OSError:
                    continue
                found.append(InboxFile(side, name, file, path, seen.st_mtime_ns, seen.st_size))
    return sorted(found, key=lambda one: (one.name, one.session, one.side.name))


def put(
    curated: Curated, side: Side, session: str, name: str, rows: Sequence[Json], *, actor: str, now: datetime
) -> str:
    """Put candidates into the inbox of a side as one file and return its path; an existing file of that name stays."""
    path = f"{folder_of(curated, side, 'extractor.inbox_path')}/{check_session(session)}/{name}"
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")
    side.prepare(actor=actor, now=now)

    def plan(transaction: Transaction) -> str:
        if transaction.read(path).exists:
            return ""
        transaction.write(path, data, base=None)
        return f"put {len(rows)} {'candidate' if len(rows) == 1 else 'candidates'} of {session} into the inbox"

    side.change("curated.inbox", plan, actor=actor, now=now)
    return path


# -- what failed ----------------------------------------------------------------------------------------------------


def _short(*parts: str) -> str:
    """Return twelve hex digits for some texts, different for other texts: names that are replayed do not grow."""
    return str(sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest())[:12]


def failure(
    stage: str, session: str, source: str, line: int, error: MemdeckError, data: bytes, workspace_id: str, now: datetime
) -> Json:
    """Return the record of a line that failed; `stage` is decode, controller or extract."""
    try:
        kept: Json = {"content": data.decode()}
    except UnicodeDecodeError:
        clean = mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        kept = {"content_base64": base64.b64encode(clean).decode()}
    return {
        "id": f"{stamp(now)}-{_short(session, source, str(line))}",
        "stage": stage, "session_id": session, "workspace_id": workspace_id or None, "agent_name": None,
        "source": source, "line": line, "reason": f"{error.code}: {error.message}", "recorded_at": format_utc(now),
        **kept,
    }  # fmt: skip


def plan(curated: Curated, side: Side, transaction: Transaction, found: Sequence[Json]) -> None:
    """Plan to write records of failures, their secrets masked, in a transaction of the caller."""
    folder = folder_of(curated, side, "extractor.dlq_path")
    for one in found:
        text = json.dumps({**masked(one), "id": one["id"]}, ensure_ascii=False, indent=2) + "\n"
        transaction.write(f"{folder}/{one['id']}.json", text.encode("utf-8", "replace"), base=None)


def failures(curated: Curated, session: str | None = None) -> list[tuple[Side, Json]]:
    """Return the failure records with their sides, the oldest first; for an invalid file, a record that says so."""
    found = []
    for side in curated.sides.values():
        folder = folder_of(curated, side, "extractor.dlq_path")
        try:
            names = sorted(path.name for path in (side.store.root / folder).glob("*.json"))
        except OSError:
            names = []
        for name in names:
            path = f"{folder}/{name}"
            record = _read(side, path)
            record = masked(record) | {
                "id": name.removesuffix(".json"),
                "path": path,
                "created_at": record.get("recorded_at"),
            }
            if session is None or record.get("session_id") == session:
                found.append((side, record))
    return sorted(found, key=lambda pair: pair[1]["id"])


def _read(side: Side, path: str) -> Json:
    try:
        values = json.loads(side.store.read(path).data)
    except (ValueError, RecursionError, MemdeckError):
        values = None
    if not isinstance(values, dict):
        return {"reason": "the record itself cannot be read", "stage": "record", "session_id": None}
    return {"reason": "", "stage": "", "session_id": None, **values}


def bytes_of(record: Json) -> bytes | None:
    """Return the line that failed, None where the record does not hold it."""
    if isinstance(record.get("content"), str):
        return str(record["content"]).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(str(record["content_base64"]), validate=True)
    except (KeyError, ValueError):
        return None


def put_back(curated: Curated, side: Side, record: Json, *, now: datetime) -> bool:
    """Put a failed line into the inbox again and remove its record, in one step; False where that is impossible."""
    data, session = bytes_of(record), record.get("session_id")
    if data is None or not isinstance(session, str) or not is_segment(session) or b"\n" in data.strip():
        return False
    folder = folder_of(curated, side, "extractor.inbox_path")
    target = f"{folder}/{session}/{stamp(now)}-{_short(str(record['id']))}.jsonl"

    def move(transaction: Transaction) -> str:
        stored = transaction.read(record["path"])
        if stored.base is None:
            return ""
        transaction.write(target, data.strip() + b"\n", base=transaction.read(target).base)
        transaction.remove(record["path"], base=stored.base)
        return f"put {record['id']} back into the inbox"

    return side.change("curated.replay-failure", move, actor=UPKEEP, now=now)
