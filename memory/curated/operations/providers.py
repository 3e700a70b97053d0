"""The operations on providers: list, show, select, enable, disable, and the notes before a compression."""

from __future__ import annotations

from functools import partial

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.providers.calls import call as ask
from memory.curated.providers.calls import change_state, note_collisions, read_state, safe_text, status_of
from memory.curated.providers.found import KnownProvider, providers
from memory.errors import NotFoundError, RefusedError

from .operation import Operation, OperationCall, giving, taking, text


def _find(name: str) -> KnownProvider:
    for one in providers()[0]:
        if one.name == name.lower():
            return one
    raise NotFoundError("memory.not_found", f"there is no provider {name[:40]!r}", "`memdeck curated provider list`")


def listed(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the providers, and the reasons for those that cannot be used."""
    note_collisions(curated, call.now)
    known, bad = providers()
    return {
        "providers": [status_of(curated, one, call.now) for one in known],
        "collisions": [one.json() for one in bad],
    }


def show(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Return one provider."""
    return {"provider": status_of(curated, _find(args["name"]), call.now)}


def select(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Make a provider the active one of this workspace, or of the person where there is no workspace."""
    one = _find(args["name"])
    side = curated.home
    if one.name in (*read_state(side)["disabled"], *read_state(curated.sides.get("global"))["disabled"]):
        raise RefusedError(
            "memory.provider.disabled", f"{one.name} is disabled", f"`memdeck curated provider enable {one.name}`"
        )
    change_state(side, call.now, lambda values: values.update(active=one.name))
    return {"provider": status_of(curated, one, call.now)}


def switch(curated: Curated, args: Json, call: OperationCall, *, on: bool) -> Json:
    """Enable a provider and close its breaker, or disable it: while it is selected, memdeck does everything itself."""
    one = _find(args["name"])
    if one.package is None:
        raise RefusedError("memory.provider.builtin", f"{one.name} is memdeck itself, always there", "select another")
    side, changed = curated.home, list[bool]()

    def change(values: Json) -> None:
        off = set(values["disabled"])
        changed.append((one.name in off) == on)
        values["disabled"] = sorted(off - {one.name} if on else off | {one.name})
        if on:
            values["breakers"].pop(one.name, None)

    change_state(side, call.now, change)
    if changed[0]:
        op = "memory.provider.enabled" if on else "memory.provider.disabled"
        side.records.event(op, call.now, target_id=one.name, reason=args.get("reason", ""))
    return {"provider": status_of(curated, one, call.now), "changed": changed[0]}


def pre_compress(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Return the provider's notes that must survive when a client shortens a session."""
    notes = ask(curated, "pre_compress", call.now, args["session_id"], args.get("content", ""))
    return {"session_id": args["session_id"], "notes": safe_text(curated, notes, 4096)}


_NAME = text("The name of the provider.")
_REASON = text("Why.")

PROVIDERS: tuple[Operation, ...] = (
    Operation(
        "provider list", "List the providers of memories, and those that cannot be used.", listed, taking(),
        giving("providers", "collisions", rows="providers"), "agh__memory_provider_list", "GET /api/memory/providers",
        example="memdeck curated provider list",
    ),
    Operation(
        "provider show", "Show one provider.", show, taking("name", name=_NAME), giving("provider"),
        "agh__memory_provider_get", "GET /api/memory/providers/{provider_name}", ("name",),
        example="memdeck curated provider show local",
    ),
    Operation(
        "provider select", "Make a provider the active one.", select, taking("name", name=_NAME), giving("provider"),
        "agh__memory_provider_select", "POST /api/memory/providers/select", ("name",), True,
        example="memdeck curated provider select local",
    ),
    Operation(
        "provider enable", "Enable a provider.", partial(switch, on=True), taking("name", name=_NAME, reason=_REASON),
        giving("provider", "changed"), "agh__memory_provider_enable",
        "POST /api/memory/providers/{provider_name}/enable", ("name",), True,
        example="memdeck curated provider enable NAME",
    ),
    Operation(
        "provider disable", "Disable a provider.", partial(switch, on=False),
        taking("name", name=_NAME, reason=_REASON), giving("provider", "changed"), "agh__memory_provider_disable",
        "POST /api/memory/providers/{provider_name}/disable", ("name",), True,
        example="memdeck curated provider disable NAME",
    ),
    Operation(
        "provider pre-compress", "Ask the provider what is to survive when a session is shortened.", pre_compress,
        taking("session_id", session_id=text("The session."), content=text("What is to be shortened.",
                                                                           **{"x-content": True})),
        giving("session_id", "notes"), "agh__memory_provider_pre_compress", "POST /api/memory/providers/pre-compress",
        example="memdeck curated provider pre-compress --session s1",
    ),
)  # fmt: skip
"""The operations on providers."""
