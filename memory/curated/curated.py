"""The curated memory that one can see from a folder: the person's side, and that of the workspace around it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import AmbiguousError, MemdeckError, NotFoundError, UsageError

from .files.names import fault_of, spellings
from .model import Invalid, Memory, Root
from .places.roots import agent_root, agents_in, check_selector, global_root, workspace_root
from .places.settings import CuratedSettings, read_settings
from .shadowing import winners
from .sides import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.storage import Store

    from .control.tiebreak import Tiebreaker
    from .models import Model


class Curated:
    """All memories in reach: `workspace` is the store of `.agh`, `person` that of `$AGH_HOME`; None for none.

    `tiebreaker` is asked where the rules of the controller leave it open; None for nobody. `models` are those that
    write for other parts, by the name of the part: `dream`, `extractor`.
    """

    def __init__(
        self,
        workspace: Store | None,
        person: Store | None,
        *,
        state_home: Path | None,
        home: Path | None = None,
        tiebreaker: Tiebreaker | None = None,
    ) -> None:
        """Keep where things are; nothing is read yet."""
        self.tiebreaker = tiebreaker
        self.models: dict[str, Model] = {}
        self.sides: dict[str, Side] = {}
        if person is not None:
            self.sides["global"] = Side("global", person, state_home, home)
        # A workspace in the person's home folder would have the person's own memories for its own.
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
                f"the scope {root.label} needs a {place}, and there is none",
                "name a folder with -w, or another scope",
            )
        return side

    def workspace_id(self) -> str:
        """Return the ULID of the workspace, empty where there is none."""
        side = self.sides.get("workspace")
        return "" if side is None else side.workspace_id

    # -- folders ------------------------------------------------------------------------------------------------------

    def root(self, scope: str, agent: str | None = None, tier: str | None = None) -> Root:
        """Return the folder of a scope; UsageError `memory.scope.*`."""
        tier = check_selector(scope, agent, tier)
        if scope == "global":
            root = global_root(self.settings["global_dir"] or "memory")
        elif scope == "workspace":
            root = workspace_root()
        else:
            assert agent is not None
            assert tier is not None
            root = agent_root(agent, tier)
        self.side_of(root)
        return root

    def visible(self, agent: str | None = None, tier: str | None = None) -> tuple[Root, ...]:
        """Return the folders that one sees, from broad to specific: global, workspace, and those of one agent."""
        roots = [global_root(self.settings["global_dir"] or "memory"), workspace_root()]
        if agent:
            tiers = ("global", "workspace") if tier in (None, "workspace") else ("global",)
            roots += [agent_root(agent, one) for one in tiers]
        return tuple(root for root in roots if root.side in self.sides)

    def all_roots(self) -> tuple[Root, ...]:
        """Return all folders of memories, those of every agent too."""
        roots = list(self.visible())
        for name, side in self.sides.items():
            roots += [agent_root(agent, name) for agent in agents_in(side.store.root)]
        return tuple(sorted(roots, key=lambda root: (root.depth, root.agent or "")))

    def chosen(self, scope: str | None, agent: str | None, tier: str | None) -> tuple[Root, ...]:
        """Return the folders that a choice means: one scope, or all that one sees without one."""
        tier = check_selector(scope, agent, tier)
        return self.visible(agent, tier) if scope is None else (self.root(scope, agent, tier),)

    def existing(self, roots: Sequence[Root]) -> tuple[Root, ...]:
        """Return those of some folders that are there: others hold nothing, and no catalogue is opened for them."""
        return tuple(root for root in roots if os.path.isdir(f"{self.side_of(root).store.root}/{root.folder}"))

    # -- memories -----------------------------------------------------------------------------------------------------

    def memories(self, roots: Sequence[Root]) -> list[Memory]:
        """Return the memories of some folders, the deepest folder first, then the newest."""
        from .index.entries import memories

        found: list[Memory] = []
        for name, side in self.sides.items():
            mine = [root for root in roots if root.side == name]
            if mine:
                found += side.catalog.read(mine, lambda db, mine=mine: memories(db, mine))  # type: ignore[misc]
        return sorted(found, key=lambda memory: (-memory.root.depth, memory.root.agent or "", -memory.mtime_ns))

    def invalid(self, roots: Sequence[Root]) -> list[Invalid]:
        """Return the files of some folders that are no memories, with the reason."""
        from .index.entries import invalid_files

        found: list[Invalid] = []
        for name, side in self.sides.items():
            mine = [root for root in roots if root.side == name]
            if mine:
                found += side.catalog.read(mine, lambda db, mine=mine: invalid_files(db, mine))  # type: ignore[misc]
        return found

    def find(self, name: str, scope: str | None = None, agent: str | None = None, tier: str | None = None) -> Memory:
        """Return the one memory of a name in the scope named, or in all that one sees.

        NotFoundError `memory.not_found`, AmbiguousError `memory.scope.ambiguous` with the list, RefusedError
        `memory.file_invalid` for a file that is none.
        """
        from memory.errors import RefusedError

        from .files.listing import read_file

        found: list[Memory] = []
        bad: list[Invalid] = []
        if "/" not in name and "\0" not in name and "\\" not in name:
            for root in self.chosen(scope, agent, tier):
                for spelling in spellings(name):
                    if fault_of(spelling) is not None:
                        continue
                    one = read_file(self.side_of(root).store, root, spelling)
                    if isinstance(one, Memory):
                        found.append(one)
                        break
                    if isinstance(one, Invalid):
                        bad.append(one)
                        break
        if not found and bad:
            raise RefusedError(
                "memory.file_invalid",
                f"{bad[0].filename}:{bad[0].line}: {bad[0].reason}",
                "mend the file; memdeck never overwrites it",
                **bad[0].details(),
            )
        if not found:
            raise NotFoundError("memory.not_found", f"there is no memory {name[:120]!r}", "`memdeck curated list`")
        if len(found) > 1:
            raise AmbiguousError(
                "memory.scope.ambiguous",
                f"{name[:120]!r} is in several scopes: {', '.join(one.root.label for one in found)}",
                "choose one with --scope",
                candidates=[{"filename": one.filename, **one.root.json()} for one in found],
            )
        return found[0]

    def shadowed(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """Return the memories that a deeper one of the same type and slug hides: their key → the one that counts."""
        keyed = [((memory.header.type, memory.slug), memory) for memory in memories]
        counting = winners(keyed, lambda memory: memory.root.depth)
        return {
            f"{memory.root.side}:{memory.id}": counting[key] for key, memory in keyed if counting[key] is not memory
        }

    def refuse_disabled(self) -> None:
        """Raise MemdeckError `memory.disabled` where the settings switch memory off."""
        if not self.settings["enabled"]:
            raise MemdeckError("memory.disabled", "memory is switched off", "set memory.enabled in config.toml")
