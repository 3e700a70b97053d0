"""Where curated memory is: the folders of memories by scope, the identity of a workspace, and the two sides with their
files, records and catalogue.

A workspace is known by the ULID in `.agh/workspace.toml`, found in a folder or above it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.programs import retry
from memory.base.toml_text import config_error, read_toml
from memory.base.values import read_object
from memory.curated.files import check_agent, is_agent
from memory.curated.model import FOLDER as MEMORY
from memory.curated.model import GLOBAL, INDEX, SCOPES, TIERS, WORKSPACE, Root
from memory.errors import MemdeckError, UsageError
from memory.review.proposals import hold
from memory.storage import PrivateState, Store
from memory.storage.changes import PlainReading, new_id
from memory.storage.fsio import make_folder
from memory.storage.own_folders import StateFolder, agh_home
from memory.storage.private.record import PrivateRecord
from memory.storage.transaction import Transaction

from .catalog import Catalog
from .records import Records

HOME = "$AGH_HOME"
"""The folder of the person's memories, as messages name it."""


class CuratedReading(PlainReading):
    """Reads the files of curated memory for the history: each file is restored as a whole."""

    def authored(self, path: str, data: bytes) -> bytes:
        """Return the bytes that people and agents wrote: none of an index, which is made from the memories."""
        return b"" if path.rpartition("/")[2] == INDEX else data

    def document(self, path: str, data: bytes) -> None:  # noqa: ARG002
        """Return None: a memory is one file and has no entries."""
        return


class _PersonReading(CuratedReading):
    """Reads the user's own memories."""

    own = True


def person_store(home: Path, state_home: Path | None) -> Store:
    """Return the store of `$AGH_HOME`; `state_home` is None for the one that the environment names."""
    own = agh_home(os.environ, home)
    state = PrivateState(state_home, own, home)
    return Store(own, state=state, workspace=own, reading=_PersonReading(), gate=hold)


def outside(_root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the person's store, where its folder exists."""
    store = person_store(home, state_home)
    if store.root.is_dir():
        yield store


def agent_root(agent: str, tier: str) -> Root:
    """Return the folder of an agent; UsageError `memory.scope.agent_invalid`."""
    check_agent(agent)
    return Root("agent", agent, tier, tier, f"agents/{agent}/{MEMORY}", 2 if tier == "global" else 3)


def root_of(scope: str, agent: str | None = None, tier: str | None = None) -> Root:
    """Return the folder of a scope, that of an agent where one is named."""
    if agent is not None and tier is not None:
        return agent_root(agent, tier)
    return GLOBAL if scope == "global" else WORKSPACE


def check_selector(scope: str | None, agent: str | None, tier: str | None) -> str | None:
    """Return the tier of a choice of scope; UsageError `memory.scope.*` for an invalid choice.

    The tier of an agent is `workspace` where none is named.
    """
    for wrong, code, words, hint in (
        (scope not in (None, *SCOPES), "invalid", f"there is no scope {str(scope)[:40]!r}", ", ".join(SCOPES)),
        (scope == "agent" and not agent, "agent_required", "the scope agent needs an agent", "name it with --agent"),
        (scope in SCOPES[:2] and (agent or tier), "agent_flags_invalid", f"the scope {scope} has no agent and no tier",
         "use --scope agent"),
        (tier not in (None, *TIERS), "agent_tier_invalid", f"there is no tier {str(tier)[:40]!r}", ", ".join(TIERS)),
        (tier and not agent, "agent_flags_invalid", "only an agent has a tier", "name the agent with --agent"),
    ):  # fmt: skip
        if wrong:
            raise UsageError(f"memory.scope.{code}", words, hint)
    if agent:
        check_agent(agent)
    return (tier or "workspace") if scope == "agent" else tier


def agents_in(store_root: Path) -> tuple[str, ...]:
    """Return the names of the agents that have a folder of memories beneath the root of a store."""
    try:
        names = sorted(os.listdir(store_root / "agents"))
    except OSError:
        return ()
    return tuple(name for name in names if is_agent(name) and os.path.isdir(store_root / "agents" / name / MEMORY))


# -- the identity of a workspace -------------------------------------------------------------------------------------

FOLDER = ".agh"
FILE = "workspace.toml"
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_KEYS = ("workspace_id", "created_at", "realpath_at_creation")
_CODE = "memory.workspace.unreadable"
NOTES, ROOTS = "curated", "roots.json"


def find_root(start: str | os.PathLike[str], agh_home: Path) -> Path | None:
    """Return the nearest folder upwards with `.agh/workspace.toml`, links resolved; None where there is none.

    The person's own folder of memories (`agh_home`) is never a workspace, even if it has that file.
    """
    own = os.path.realpath(agh_home)
    start = Path(os.path.realpath(start))
    for folder in (start, *start.parents):
        place = folder / FOLDER
        if os.path.lexists(place / FILE) and os.path.realpath(place) != own:
            return folder
    return None


def read_identity(store: Store) -> str:
    """Return the ULID of the workspace whose `.agh` is `store`; empty where it has none yet.

    ConfigError `memory.workspace.unreadable`, with file and line, for an invalid file: it is never replaced.
    """
    shown = store.shown(FILE)
    try:
        stored = store.read(FILE)
    except MemdeckError as error:
        raise config_error(_CODE, error.message, shown, 1, "make it readable; memdeck never replaces it") from error
    return _identity_of(stored.data, shown) if stored.exists else ""


@lru_cache(maxsize=16)
def _identity_of(data: bytes, shown: str) -> str:
    toml = read_toml(data, shown, code=_CODE)
    for key, value in toml.values.items():
        if key not in _KEYS:
            raise config_error(_CODE, f"unknown key {key[:60]!r}", shown, toml.line_of(key))
        if not isinstance(value, (str, datetime)):
            raise config_error(_CODE, f"{key} is not text", shown, toml.line_of(key))
    for key in _KEYS:
        if key not in toml.values:
            raise config_error(_CODE, f"{key} is missing", shown, 1)
    number = str(toml.values["workspace_id"])
    if not _ULID.fullmatch(number):
        raise config_error(_CODE, "workspace_id is not a ULID", shown, toml.line_of("workspace_id"))
    return number


def make_identity(store: Store, root: Path, *, actor: str, now: datetime) -> None:
    """Give a workspace an identity where it has none yet. Errors as in `read_identity`."""
    with store.transaction("curated.init", actor=actor, now=now) as transaction:
        if read_identity(store):
            return
        values = dict(zip(_KEYS, (new_id(now), format_utc(now), os.path.realpath(root)), strict=True))
        lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
        transaction.write(FILE, "".join(lines).encode("utf-8", "surrogateescape"), base=None)
        transaction.commit("created the identity of the workspace")


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


# -- the two sides ---------------------------------------------------------------------------------------------------


class Side:
    """One store with its databases; a workspace's databases are found by its ULID, wherever its folder is now."""

    def __init__(self, name: str, store: Store, state_home: Path | None, person: Path | None) -> None:
        """Keep the places; nothing is read yet. Without `state_home` the databases are in memory."""
        self.name = name
        self.store = store
        self._state_home = state_home
        self._person = person
        self._claimed: tuple[Claim, bytes | None] | None = None
        self._folder: StateFolder | None = None
        self._open: tuple[str, Records, Catalog] | None = None
        self._mutex = RLock()

    @property
    def workspace_id(self) -> str:
        """The ULID of the workspace; empty for the person's side, and before the first write."""
        return "" if self.name == "global" else read_identity(self.store)

    @property
    def lasting(self) -> bool:
        """Whether the records outlive the process: not without a state folder, and not before the first write."""
        return self._state_home is not None and (self.name == "global" or bool(self.workspace_id))

    @property
    def records(self) -> Records:
        """The decisions, events and signals."""
        return self._databases()[1]

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the files."""
        return self._databases()[2]

    @property
    def claim(self) -> Claim:
        """The claim of this folder on its database, its previous path, and existing copies of it."""
        self._databases()
        return Claim("", None, ()) if self._claimed is None else self._claimed[0]

    def close(self) -> None:
        """Close the databases."""
        with self._mutex:
            opened, self._open = self._open, None
            if opened is not None:
                opened[1].close()
                opened[2].close()

    def change(
        self, command: str, plan: Callable[[Transaction], str], *, actor: str, now: datetime, recorded: bool = False
    ) -> bool:
        """Commit what `plan` prepares, with the summary that it returns; return False for an empty one: nothing to do.

        It is prepared again while other programs write at the same moment.
        """

        def attempt() -> bool:
            with self.store.transaction(command, actor=actor, now=now, recorded=recorded) as transaction:
                summary = plan(transaction)
                if summary:
                    transaction.commit(summary)
                return bool(summary)

        return retry(attempt)

    def prepare(self, *, actor: str, now: datetime) -> None:
        """Make what the first write needs: the folder, the identity of the workspace, the claim on its databases."""
        if self.name == "global":
            make_folder(self.store.root)
            return
        if not self.workspace_id:
            make_identity(self.store, self.store.root.parent, actor=actor, now=now)
        self.keep_claim(now)

    def keep_claim(self, now: datetime) -> None:
        """Record the claim of this folder on its databases where it is new, before a copy can be taken for it."""
        claimed = self.claim
        if self._claimed is None or self._claimed[1] is None or self._folder is None:
            return
        data = self._claimed[1]
        with suppress(MemdeckError):
            PrivateRecord(self._folder, NOTES, ROOTS).update(lambda _: data, command="curated", now=now)
        self._claimed = claimed, None
        if claimed.moved_from is not None:
            self.records.event("memory.workspace.relocated", now, moved_from=claimed.moved_from)

    def _databases(self) -> tuple[str, Records, Catalog]:
        """Return the databases of the workspace's ULID, opened by the first thread that asks."""
        with self._mutex:
            number = self.workspace_id
            if self._open is None or self._open[0] != number:
                self.close()
                self._open = (number, *self._made(number))
            return self._open

    def _made(self, number: str) -> tuple[Records, Catalog]:
        name, self._folder = "", None
        if self.lasting:
            self._folder = self._state_folder(f"curated-{number}" if number else None)
            if number:
                self._claimed = claim(self._folder, self.store.root.parent, number)
                name = self._claimed[0].name
        return Records(self._folder, name, number), Catalog(self.store, self._folder, name)

    def _state_folder(self, name: str | None) -> StateFolder:
        assert self._state_home is not None
        around = self.store.root if self.name == "global" else self.store.root.parent
        return StateFolder(self._state_home, Path(os.path.realpath(around)), self._person, name=name)
