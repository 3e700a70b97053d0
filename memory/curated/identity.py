"""The workspace of a folder: the ULID in `.agh/workspace.toml`, found in the folder or above it."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.json_objects import read_object
from memory.base.toml_text import config_error, read_toml
from memory.errors import MemdeckError
from memory.storage import Store
from memory.storage.changes import new_id
from memory.storage.own_folders import StateFolder

FOLDER = ".agh"
FILE = "workspace.toml"
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_KEYS = ("workspace_id", "created_at", "realpath_at_creation")
_CODE = "memory.workspace.unreadable"
NOTES, ROOTS = "curated", "roots.json"


class Identity(NamedTuple):
    """The content of `workspace.toml`."""

    workspace_id: str
    created_at: str
    realpath_at_creation: str


def find_root(start: str | os.PathLike[str], agh_home: Path) -> Path | None:
    """Return the nearest folder upwards with `.agh/workspace.toml`, links resolved; None where there is none.

    The person's own folder of memories (`agh_home`) is never a workspace, whatever it contains.
    """
    folder = os.path.realpath(start)
    own = os.path.realpath(agh_home)
    while True:
        place = f"{folder.rstrip('/')}/{FOLDER}"
        if os.path.lexists(f"{place}/{FILE}") and os.path.realpath(place) != own:
            return Path(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def read_identity(store: Store) -> Identity | None:
    """Return the identity of the workspace whose `.agh` is `store`; None where it has none yet.

    ConfigError `memory.workspace.unreadable`, with file and line, for an invalid file: it is never replaced.
    """
    shown = store.shown(FILE)
    try:
        stored = store.read(FILE)
    except MemdeckError as error:
        raise config_error(_CODE, error.message, shown, 1, "make it readable; memdeck never replaces it") from error
    return _identity_of(stored.data, shown) if stored.exists else None


@lru_cache(maxsize=16)
def _identity_of(data: bytes, shown: str) -> Identity:
    toml = read_toml(data, shown, code=_CODE)
    for key, value in toml.values.items():
        if key not in _KEYS:
            raise config_error(_CODE, f"unknown key {key[:60]!r}", shown, toml.line_of(key))
        if not isinstance(value, (str, datetime)):
            raise config_error(_CODE, f"{key} is no text", shown, toml.line_of(key))
    for key in _KEYS:
        if key not in toml.values:
            raise config_error(_CODE, f"{key} is missing", shown, 1)
    number = str(toml.values["workspace_id"])
    if not _ULID.fullmatch(number):
        raise config_error(_CODE, "workspace_id is no ULID", shown, toml.line_of("workspace_id"))
    return Identity(number, str(toml.values["created_at"]), str(toml.values["realpath_at_creation"]))


def make_identity(store: Store, root: Path, *, actor: str, now: datetime) -> None:
    """Give a workspace an identity where it has none yet. Errors as in `read_identity`."""
    with store.transaction("curated.init", actor=actor, now=now) as transaction:
        if read_identity(store) is not None:
            return
        made = Identity(new_id(now), format_utc(now), os.path.realpath(root))
        lines = (f"{key} = {json.dumps(getattr(made, key), ensure_ascii=False)}\n" for key in _KEYS)
        transaction.write(FILE, "".join(lines).encode("utf-8", "surrogateescape"), base=None)
        transaction.commit(f"gave the workspace the id {made.workspace_id}")


class Claim(NamedTuple):
    """The database of a ULID that belongs to a folder: `name` is part of its name, empty for the first folder.

    `moved_from` is the previous path of the folder, `copies` are other existing folders with the same ULID.
    """

    name: str
    moved_from: str | None
    copies: tuple[str, ...]


def claim(folder: StateFolder, root: Path, workspace_id: str) -> tuple[Claim, bytes | None]:
    """Return the claim of a folder on a database, and the record to write where it changes (None: it does not).

    A database whose folder is gone passes to the folder that has its ULID now, because that folder was moved. While the
    first folder exists with the same ULID, the other one is a copy and gets its own database.
    """
    real = os.path.realpath(root)
    known = {path: str(name) for path, name in read_object(folder.read(f"{NOTES}/{ROOTS}")).items()}
    others = tuple(path for path in known if path != real and _holds(path, workspace_id))
    if real in known:
        return Claim(known[real], None, others), None
    gone = [path for path in known if path not in others]
    before = gone[-1] if gone else None
    own = "" if not known else sha256(os.fsencode(real)).hexdigest()[:12]
    name = own if before is None else known.pop(before)
    known[real] = name
    return Claim(name, before, others), json.dumps(known).encode() + b"\n"


def _holds(path: str, workspace_id: str) -> bool:
    try:
        with open(f"{path}/{FOLDER}/{FILE}", "rb") as file:
            return workspace_id.encode() in file.read(65536)
    except OSError:
        return False
