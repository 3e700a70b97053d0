"""The operations on providers: list, show, select, enable, disable, and the notes before a compression."""

from __future__ import annotations

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.providers.calls import call as ask
from memory.curated.providers.calls import change_state, note_collisions, read_state, safe_text, status_of
from memory.curated.providers.found import KnownProvider, providers
from memory.errors import NotFoundError, RefusedError

from .operation import OperationCall


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


def enable(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Enable a provider and close its breaker."""
    return _switch(curated, args, call, on=True)


def disable(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Disable a provider: while it is selected, memdeck does everything itself."""
    return _switch(curated, args, call, on=False)


def _switch(curated: Curated, args: Json, call: OperationCall, *, on: bool) -> Json:
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
