"""The inbox: `_inbox/<session>/<time>-<number>.jsonl`, one candidate a line, the oldest file first."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory.base.tries import again
from memory.curated.model import Json, Root
from memory.curated.places.session_ids import check_session, is_segment
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

LARGEST = 4 * 1024 * 1024
"""Bytes of a file of the inbox that is read."""


class InboxFile(NamedTuple):
    """A file that waits in the inbox of a side; `path` is relative to the store's root."""

    side: Side
    session: str
    name: str
    path: str
    mtime_ns: int
    size: int


def folder_of(curated: Curated, side: Side, key: str) -> str:
    """Return a folder of the extractor on a side, by the key of its setting, relative to the store's root."""
    return f"{root_of(curated, side).folder}/{curated.settings[key]}"


def root_of(curated: Curated, side: Side) -> Root:
    """Return the folder of memories in which a side has its inbox."""
    return curated.root(side.name)


def stamp(now: datetime) -> str:
    """Return a time as names of files have it; they sort as the times do."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S.%f}Z"


def waiting(curated: Curated, session: str | None = None) -> list[InboxFile]:
    """Return the files that wait, in the order in which they are consumed; links and other names are passed over."""
    found = []
    for side in curated.sides.values():
        top = folder_of(curated, side, "extractor.inbox_path")
        for name in _entries(side, top, stat.S_ISDIR):
            if session is not None and name != session:
                continue
            for file in _entries(side, f"{top}/{name}", stat.S_ISREG):
                if not file.endswith(".jsonl"):
                    continue
                path = f"{top}/{name}/{file}"
                try:
                    seen = os.lstat(side.store.root / path)
                except OSError:
                    continue
                found.append(InboxFile(side, name, file, path, seen.st_mtime_ns, seen.st_size))
    return sorted(found, key=lambda one: (one.name, one.session, one.side.name))


def _entries(side: Side, folder: str, kind: object) -> list[str]:
    try:
        with os.scandir(side.store.root / folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if is_segment(entry.name) and kind(entry.stat(follow_symlinks=False).st_mode)  # type: ignore[operator]
            )
    except OSError:
        return []


def put(
    curated: Curated, side: Side, session: str, name: str, rows: Sequence[Json], *, actor: str, now: datetime
) -> str:
    """Put candidates into the inbox of a side as one file and return its path; one of that name stays as it is."""
    path = f"{folder_of(curated, side, 'extractor.inbox_path')}/{check_session(session)}/{name}"
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")
    side.prepare(actor=actor, now=now)

    def attempt() -> None:
        with side.store.transaction("curated.inbox", actor=actor, now=now) as transaction:
            if not transaction.read(path).exists:
                transaction.write(path, data, base=None)
                transaction.commit(f"put {len(rows)} candidates of {session} into the inbox")

    again(attempt)
    return path
