"""Candidates that failed, one file each with the reason; they can be put back."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.base.tries import again
from memory.curated.files.names import slug
from memory.curated.model import Json
from memory.curated.places.session_ids import is_segment
from memory.errors import MemdeckError

from .inbox import folder_of, stamp

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side
    from memory.storage.transaction.transaction import Transaction

KEY = "extractor.dlq_path"


def failure(
    stage: str, session: str, source: str, line: int, error: MemdeckError, data: bytes, workspace_id: str, now: datetime
) -> Json:
    """Return the record of a line that failed; `stage` is decode, controller or extract."""
    try:
        kept: Json = {"content": data.decode()}
    except UnicodeDecodeError:
        kept = {"content_base64": base64.b64encode(data).decode()}
    return {
        "id": f"{stamp(now)}-{slug(session)}-{slug(source.rpartition('/')[2].removesuffix('.jsonl'))}-{line}",
        "stage": stage, "session_id": session, "workspace_id": workspace_id or None, "agent_name": None,
        "source": source, "line": line, "reason": f"{error.code}: {error.message}", "recorded_at": format_utc(now),
        **kept,
    }  # fmt: skip


def plan(curated: Curated, side: Side, transaction: Transaction, found: Sequence[Json]) -> None:
    """Plan to write records of failures in a transaction of the caller."""
    folder = folder_of(curated, side, KEY)
    for one in found:
        text = json.dumps(one, ensure_ascii=False, indent=2) + "\n"
        transaction.write(f"{folder}/{one['id']}.json", text.encode("utf-8", "replace"), base=None)


def failures(curated: Curated, session: str | None = None) -> list[tuple[Side, Json]]:
    """Return the records of failures with their sides, the oldest first; a file that is no record says so."""
    found = []
    for side in curated.sides.values():
        folder = folder_of(curated, side, KEY)
        try:
            names = sorted(path.name for path in (side.store.root / folder).glob("*.json"))
        except OSError:
            names = []
        for name in names:
            path = f"{folder}/{name}"
            record = _read(side, path)
            record |= {"id": name.removesuffix(".json"), "path": path, "created_at": record.get("recorded_at")}
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
    """Return the line that failed, None where the record does not hold one."""
    if isinstance(record.get("content"), str):
        return str(record["content"]).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(str(record["content_base64"]), validate=True)
    except (KeyError, ValueError):
        return None


def put_back(curated: Curated, side: Side, record: Json, *, actor: str, now: datetime) -> bool:
    """Put a line that failed into the inbox again and remove its record, in one step; False where it cannot be."""
    data, session = bytes_of(record), record.get("session_id")
    if data is None or not isinstance(session, str) or not is_segment(session) or b"\n" in data.strip():
        return False
    folder = folder_of(curated, side, "extractor.inbox_path")
    target = f"{folder}/{session}/{stamp(now)}-{slug(str(record['id']))[-40:]}.jsonl"

    def attempt() -> bool:
        with side.store.transaction("curated.replay-failure", actor=actor, now=now) as transaction:
            stored = transaction.read(record["path"])
            if stored.base is None:
                return False
            transaction.write(target, data.strip() + b"\n", base=transaction.read(target).base)
            transaction.remove(record["path"], base=stored.base)
            transaction.commit(f"put {record['id']} back into the inbox")
            return True

    return again(attempt)
