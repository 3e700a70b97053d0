"""Which workspace a folder belongs to: the ULID in `.agh/workspace.toml`, found in the folder or above it."""

from __future__ import annotations

import os
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memory.base.patterns import late
from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple
from memory.storage.files.version import sha256

if TYPE_CHECKING:
    from memory.storage import Store
    from memory.storage.places import StateFolder

FOLDER = ".agh"
FILE = "workspace.toml"
_ULID = late(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_PLAIN = late(
    rb'workspace_id = "([0-7][0-9A-HJKMNP-TV-Z]{25})"\ncreated_at = "([0-9TZ:.+-]*)"\n'
    rb'realpath_at_creation = "([ !#-\[\]-~]*)"\n'
)
_KEYS = ("workspace_id", "created_at", "realpath_at_creation")
_CODE = "memory.workspace.unreadable"
NOTES, ROOTS = "curated", "roots.json"


class Identity(NamedTuple):
    """What `workspace.toml` says."""

    workspace_id: str
    created_at: str
    realpath_at_creation: str


def find_root(start: str | os.PathLike[str], agh_home: Path) -> Path | None:
    """Return the nearest folder upwards with `.agh/workspace.toml`, links resolved; None where there is none.

    The person's own folder of memories (`agh_home`) is no workspace, whatever lies in it.
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

    ConfigError `memory.workspace.unreadable`, with file and line, for a file that is none: it is never made anew.
    """
    shown = store.shown(FILE)
    try:
        stored = store.read(FILE)
    except MemdeckError as error:
        from memory.base.toml_text import config_error

        raise config_error(_CODE, error.message, shown, 1, "make it readable; memdeck never replaces it") from error
    return _identity_of(stored.data, shown) if stored.exists else None


@lru_cache(maxsize=16)
def _identity_of(data: bytes, shown: str) -> Identity:
    plain = _PLAIN.fullmatch(data)
    if plain is not None:
        # As memdeck writes it: a TOML parser takes longer to load than all else that a short command does with it.
        return Identity(*(part.decode() for part in plain.groups()))
    from memory.base.toml_text import config_error, read_toml

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


def make_identity(store: Store, root: Path, *, actor: str, now: datetime) -> Identity:
    """Return the identity of a workspace, and write it first where it has none; errors as `read_identity`."""
    import json

    from memory.base.clock import format_utc
    from memory.storage.changes import new_id

    with store.transaction("curated.init", actor=actor, now=now) as transaction:
        found = read_identity(store)
        if found is not None:
            return found
        made = Identity(new_id(now), format_utc(now), os.path.realpath(root))
        lines = (f"{key} = {json.dumps(getattr(made, key), ensure_ascii=False)}\n" for key in _KEYS)
        transaction.write(FILE, "".join(lines).encode("utf-8", "surrogateescape"), base=None)
        transaction.commit(f"gave the workspace the id {made.workspace_id}")
    return made


class Claim(NamedTuple):
    """Which database of a ULID belongs to a folder: `name` is part of its name, empty for the first folder.

    `moved_from` is the folder that it was before, `copies` are others with the same ULID that exist.
    """

    name: str
    moved_from: str | None
    copies: tuple[str, ...]


def claim(folder: StateFolder, root: Path, workspace_id: str) -> tuple[Claim, bytes | None]:
    """Return which database is that of a folder, and the record to write where it changes (None: it does not).

    A folder that is gone hands its database on to the one that has its ULID now: it was moved. While the folder exists
    with the same ULID the other one is a copy and gets a database of its own.
    """
    import json

    real = os.path.realpath(root)
    known: dict[str, str] = {}
    data = folder.read(f"{NOTES}/{ROOTS}")
    if data is not None:
        try:
            values = json.loads(data)
            known = {str(path): str(name) for path, name in values.items()}
        except (ValueError, AttributeError, RecursionError):
            known = {}
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
