"""The available providers: the built-in one and those of other packages, without those that collide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memory.curated.model import Json
from memory.registry import entries

from . import Provider

GROUP = "memdeck.curated_providers"
RESERVED = "agh__memory"
"""The prefix of the names of memdeck's own tools."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class KnownProvider(NamedTuple):
    """A provider that can be selected, with the package that provides it (None: memdeck itself)."""

    provider: Provider
    name: str
    tools: tuple[str, ...]
    package: str | None


class Collision(NamedTuple):
    """A provider that cannot be used: `reason` is provider_name, reserved_tool_name, tool_name or not_loaded."""

    name: str
    package: str
    reason: str
    words: str
    existing: str | None = None
    tool: str | None = None

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "provider": self.name, "incoming_extension": self.package, "existing_extension": self.existing,
            "reason": self.reason, "tool_name": self.tool, "message": self.words,
        }  # fmt: skip


LOCAL = KnownProvider(Provider(), "local", (), None)
"""The built-in provider: memdeck itself, which handles everything."""


@cache
def providers() -> tuple[tuple[KnownProvider, ...], tuple[Collision, ...]]:
    """Return the usable providers, and the unusable ones with the reason; searched once per process."""
    known, bad = [LOCAL], list[Collision]()
    for entry, package, load in entries(GROUP):
        try:
            found = load()
            if not isinstance(found, Provider):
                raise TypeError(f"it is no Provider but {type(found).__name__}")
            name, tools = str(found.name).lower(), tuple(str(tool) for tool in found.tools)
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no name: small letters, digits, - and _")
        except (Exception, SystemExit) as error:
            bad.append(Collision(entry, package, "not_loaded", f"{type(error).__name__}: {error}"[:300]))
            continue
        collision = _collision(name, tools, package, known)
        if collision is None:
            known.append(KnownProvider(found, name, tools, package))
        else:
            bad.append(collision)
    return tuple(known), tuple(bad)


def _collision(name: str, tools: Sequence[str], package: str, known: Sequence[KnownProvider]) -> Collision | None:
    for other in known:
        if other.name == name:
            return Collision(name, package, "provider_name", f"there is a provider {name} already", other.package)
    for tool in tools:
        if tool.casefold().startswith(RESERVED):
            return Collision(name, package, "reserved_tool_name", f"{tool} is a name of memdeck's own", None, tool)
        for other in known:
            if tool in other.tools:
                words = f"{tool} is a tool of {other.name}"
                return Collision(name, package, "tool_name", words, other.package, tool)
    return None
