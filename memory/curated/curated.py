"""The curated memory visible from a folder: the person's side, and that of the workspace around it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from memory.base.scan import Gate
from memory.curated.catalog import invalid_files, memories
from memory.curated.sides import (
    agent_root,
    agents_in,
    check_selector,
    root_of,
)
from memory.errors import AmbiguousError, MemdeckError, NotFoundError, RefusedError, UsageError, no_room
from memory.storage import Store

from .control.carry_out import catch_up, replay
from .dreaming.runs import settle
from .files import fault_of, read_first, spellings
from .model import GLOBAL, WORKSPACE, Invalid, Memory, Root
from .records import UNAVAILABLE
from .settings import CuratedSettings, Model, read_settings
from .sides import Side


class Curated:
    """All memories in reach: `workspace` is the store of `.agh`, `person` that of `$AGH_HOME`; each may be None.

    `models` are asked by some parts, by their names: `tiebreaker` where the rules of the controller leave the choice
    open, `dream`, `extractor`. `gate` decides which memories agents are told.
    """

    def __init__(
        self,
        workspace: Store | None,
        person: Store | None,
        *,
        state_home: Path | None,
        home: Path | None = None,
    ) -> None:
        """Keep the stores; nothing is read yet."""
        self.models: dict[str, Model] = {}
        self.gate = Gate()
        self.sides: dict[str, Side] = {}
        if person is not None:
            self.sides["global"] = Side("global", person, state_home, home)
        # A workspace in the person's home folder would otherwise have the person's own memories as its own.
        own = None if person is None else os.path.realpath(person.root)
        if workspace is not None and os.path.realpath(workspace.root) != own:
            self.sides["workspace"] = Side("workspace", workspace, state_home, home)

    def close(self) -> None:
        """Close the databases."""
        for side in self.sides.values():
            side.close()

    @cached_property
    def settings(self) -> CuratedSettings:
        """The person's settings; ConfigError `memory.config` with file and line."""
        person = self.sides.get("global")
        return read_settings(None if person is None else person.store)

    def side_of(self, root: Root) -> Side:
        """Return the side of a folder; UsageError `memory.scope.workspace_required` where there is no workspace."""
        side = self.sides.get(root.side)
        if side is None:
            place = "home folder" if root.side == "global" else "workspace"
            raise UsageError(
                "memory.scope.workspace_required",
                f"the scope {root.label} needs a {place}",
                "name a folder with -w, or another scope",
            )
        return side

    @property
    def home(self) -> Side:
        """The side that keeps what belongs to no folder: the workspace where it has an identity, else the person."""
        if "workspace" in self.sides and (self.workspace_id() or "global" not in self.sides):
            return self.sides["workspace"]
        return self.sides["global"]

    def sides_of(self, scope: str | None) -> list[Side]:
        """Return the side of a scope, or all without one: the person's first."""
        return list(self.sides.values()) if scope is None else [self.side_of(self.root(scope))]

    def workspace_id(self) -> str:
        """Return the ULID of the workspace, empty where there is none."""
        side = self.sides.get("workspace")
        return "" if side is None else side.workspace_id

    def finish_interrupted(self, now: datetime) -> None:
        """Finish the changes, decisions and dreams that a crash interrupted, unless another process is at work.

        What changed memories without the controller gets its decisions, and the new place of a moved workspace is
        recorded.
        """
        for side in self.sides.values():
            side.store.recover()
            side.keep_claim(now)
            try:
                replay(side, now)
                settle(side, now)
            except MemdeckError as error:
                # On a full disk it waits: reading goes on, and a write reports its own error.
                if error.code != UNAVAILABLE and not no_room(error):
                    raise
            mine = [root for root in self.existing(self.all_roots()) if root.side == side.name]
            catch_up(side, mine, self.settings["controller.scan_profile"], now)

    # -- folders ------------------------------------------------------------------------------------------------------

    def root(self, scope: str, agent: str | None = None, tier: str | None = None) -> Root:
        """Return the folder of a scope; UsageError `memory.scope.*`."""
        tier = check_selector(scope, agent, tier)
        root = root_of(scope, agent, tier)
        self.side_of(root)
        return root

    def visible(self, agent: str | None = None, tier: str | None = None) -> tuple[Root, ...]:
        """Return the visible folders, from broad to specific: global, workspace, and those of one agent."""
        roots = [GLOBAL, WORKSPACE]
        if agent:
            tiers = ("global", "workspace") if tier in (None, "workspace") else ("global",)
            roots += [agent_root(agent, one) for one in tiers]
        return tuple(root for root in roots if root.side in self.sides)

    def all_roots(self) -> tuple[Root, ...]:
        """Return all folders of memories, including those of every agent."""
        roots = list(self.visible())
        for name, side in self.sides.items():
            roots += [agent_root(agent, name) for agent in agents_in(side.store.root)]
        return tuple(sorted(roots, key=lambda root: (root.depth, root.agent or "")))

    def chosen(self, scope: str | None, agent: str | None, tier: str | None) -> tuple[Root, ...]:
        """Return the folders of a choice to read from: those of one scope, or all visible ones without a scope.

        An agent without a tier means both tiers.
        """
        check_selector(scope, agent, tier)
        if scope is None:
            return self.visible(agent, tier)
        tiers = ("global", "workspace") if scope == "agent" and tier is None else (tier,)
        return tuple(self.root(scope, agent, one) for one in tiers if one is None or one in self.sides)

    def by_side(self, roots: Sequence[Root]) -> Iterator[tuple[Side, list[Root]]]:
        """Yield each side that has some of the folders, with those that it has."""
        for name, side in self.sides.items():
            mine = [root for root in roots if root.side == name]
            if mine:
                yield side, mine

    def existing(self, roots: Sequence[Root]) -> tuple[Root, ...]:
        """Return those of some folders that exist: others hold nothing, and no catalogue is opened for them."""
        return tuple(root for root in roots if os.path.isdir(f"{self.side_of(root).store.root}/{root.folder}"))

    # -- memories -----------------------------------------------------------------------------------------------------

    def memories(self, roots: Sequence[Root]) -> list[Memory]:
        """Return the memories of some folders, the deepest folder first, then the newest."""
        found: list[Memory] = []
        for side, mine in self.by_side(roots):
            found += side.catalog.read(mine, partial(memories, roots=mine))
        return sorted(found, key=lambda memory: (-memory.root.depth, memory.root.agent or "", -memory.mtime_ns))

    def invalid(self, roots: Sequence[Root]) -> list[Invalid]:
        """Return the files of some folders that are not memories, with the reason."""
        found: list[Invalid] = []
        for side, mine in self.by_side(roots):
            found += side.catalog.read(mine, partial(invalid_files, roots=mine))
        return found

    def tells(self, memory: Memory) -> bool:
        """Return whether agents may be told a memory: its file may have come with a clone."""
        return self.gate.passes("curated", memory.header.name, memory.whole)

    def find(self, name: str, scope: str | None = None, agent: str | None = None, tier: str | None = None) -> Memory:
        """Return the one memory of a name in the given scope, or among all visible folders.

        NotFoundError `memory.not_found`, AmbiguousError `memory.scope.ambiguous` with the list, RefusedError
        `memory.file_invalid` for a file that is not a memory.
        """
        roots = () if any(mark in name for mark in "/\\\0") else self.chosen(scope, agent, tier)
        names = [one for one in spellings(name) if fault_of(one) is None]
        seen = [read_first(self.side_of(root).store, root, names) for root in roots]
        found = [one for one in seen if isinstance(one, Memory)]
        bad = [one for one in seen if isinstance(one, Invalid)]
        if not found and bad:
            raise RefusedError(
                "memory.file_invalid",
                f"{bad[0].filename}:{bad[0].line}: {bad[0].reason}",
                "fix the file; memdeck never overwrites it",
                **bad[0].details(),
            )
        if not found:
            raise NotFoundError("memory.not_found", f"there is no memory {name[:120]!r}", "`memdeck curated list`")
        if len(found) > 1:
            raise AmbiguousError(
                "memory.scope.ambiguous",
                f"{name[:120]!r} is in several scopes: {', '.join(one.root.label for one in found)}",
                "choose one with --scope, or with --agent-tier for an agent",
                candidates=[{"filename": one.filename, **one.root.json()} for one in found],
            )
        return found[0]

    def shadowed(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """Return the memories hidden by a deeper one of the same type and slug: their key → the one that counts."""
        counting: dict[tuple[str, str], Memory] = {}
        for one in memories:
            best = counting.setdefault(one.identity, one)
            if one.root.depth > best.root.depth:
                counting[one.identity] = one
        return {one.key: counting[one.identity] for one in memories if counting[one.identity] is not one}

    def refuse_disabled(self) -> None:
        """Raise MemdeckError `memory.disabled` where the settings switch memory off."""
        if not self.settings["enabled"]:
            raise MemdeckError("memory.disabled", "memory is switched off", "set memory.enabled in config.toml")
