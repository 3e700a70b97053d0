"""The providers of memories: which there are, the active one, and calls of it.

A call is limited in time, behind a breaker, and never a reason for memdeck to fail.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from memory.base.scan import rejecting
from memory.curated.curated import Curated
from memory.curated.model import Json, OperationCall
from memory.curated.records import milliseconds, time_of
from memory.errors import MemdeckError, NotFoundError, RefusedError
from memory.registry import entries

__all__ = ["NotHandled", "Provider"]


class NotHandled(Exception):
    """Raised by a provider to leave something to memdeck; not a failure."""


class Provider:
    """A provider; `name` is the name by which it is selected, `tools` are the names of the tools that it adds.

    A call may take `memory.provider.timeout`; five failures in a row open a breaker for half a minute. What it returns
    is data: texts that the content scan rejects are left out.
    """

    name: str = ""
    tools: tuple[str, ...] = ()

    def prompt_block(self, scope: str, agent_name: str | None, workspace_id: str) -> str:
        """Return Markdown for the snapshot of a session."""
        raise NotHandled

    def recall(self, query: str, limit: int, workspace_id: str) -> list[Json]:
        """Return the answers to a query, the best first: objects with `title` and `body`."""
        raise NotHandled

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text, for recall by meaning."""
        raise NotHandled

    def prefetch(self, query: str, session_id: str, workspace_id: str) -> None:
        """Prepare for a session whose subject is `query`."""
        raise NotHandled

    def turn(self, session_id: str, role: str, content: str, turn_seq: int | None) -> None:
        """Handle a turn of a session."""
        raise NotHandled

    def session_end(self, session_id: str, workspace_id: str) -> None:
        """Handle the end of a session."""
        raise NotHandled

    def session_switch(self, before: str, after: str) -> None:
        """Handle the switch to another session."""
        raise NotHandled

    def pre_compress(self, session_id: str, content: str) -> str:
        """Return notes that must survive when a client shortens a session."""
        raise NotHandled

    def on_write(self, decision: Json) -> None:
        """Handle a decision that changed a memory; it does not include contents."""
        raise NotHandled


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


LOCAL = KnownProvider(Provider(), "local", (), None)
"""The built-in provider: memdeck itself, which handles everything."""


@cache
def providers() -> tuple[tuple[KnownProvider, ...], tuple[Json, ...]]:
    """Return the usable providers, and the unusable ones with the reason; searched once per process."""
    known, bad = [LOCAL], list[Json]()
    for entry, package, load in entries(GROUP):
        collision: Sequence[str | None]
        try:
            found: Any = load()
            if not isinstance(found, Provider):
                raise TypeError(f"it is not a Provider but {type(found).__name__}")
            name, tools = str(found.name).lower(), tuple(str(tool) for tool in found.tools)
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is not a name: small letters, digits, - and _")
            collision = _collision(name, tools, known)
        except (Exception, SystemExit) as error:
            name, collision = entry, ("not_loaded", f"{type(error).__name__}: {error}"[:300], None, None)
        if not collision:
            known.append(KnownProvider(found, name, tools, package))
            continue
        reason, words, existing, tool = collision
        bad.append({"provider": name, "incoming_extension": package, "existing_extension": existing, "reason": reason,
                    "tool_name": tool, "message": words})  # fmt: skip
    return tuple(known), tuple(bad)


def _collision(name: str, tools: Sequence[str], known: Sequence[KnownProvider]) -> Sequence[str | None]:
    """Return why a provider cannot be used: reason, words, the other package, the tool; empty where it can."""
    for other in known:
        if other.name == name:
            return "provider_name", f"there is a provider {name} already", other.package, None
    for tool in tools:
        if tool.casefold().startswith(RESERVED):
            return "reserved_tool_name", f"{tool} is a name of memdeck's own", None, tool
        for other in known:
            if tool in other.tools:
                return "tool_name", f"{tool} is a tool of {other.name}", other.package, tool
    return ()


# -- the active one -------------------------------------------------------------------------------------------------


def _whole(stored: Json) -> Json:
    return {"active": None, "disabled": [], "breakers": {}, "session": None, **stored}


def _state(curated: Curated) -> Json:
    """Return the state of providers; `session` is the one that the active provider was told last."""
    return _whole(curated.home.records.note("providers"))


def _change(curated: Curated, change: Callable[[Json], object]) -> None:
    """Let `change` alter the stored state in one transaction: other processes alter it, too."""

    def work(stored: Json) -> None:
        stored.update(_whole(stored))
        change(stored)

    curated.home.records.change_note("providers", work)


def active(curated: Curated) -> KnownProvider:
    """Return the active provider: the one that was selected, else that of the settings, else the local one."""
    return _other(curated) or LOCAL


def _other(curated: Curated) -> KnownProvider | None:
    """Return the active provider if it comes from another package, None for the local one."""
    state = _state(curated)
    name = state["active"] or curated.settings["provider.name"].lower() or LOCAL.name
    # Other packages are searched only where one of them is selected.
    if name == LOCAL.name or name in state["disabled"]:
        return None
    return next((one for one in providers()[0] if one.name == name and one.package is not None), None)


def status_of(curated: Curated, one: KnownProvider, now: datetime) -> Json:
    """Return a provider for programs."""
    state = _state(curated)
    breaker = state["breakers"].get(one.name, {})
    until, is_active = breaker.get("until") or 0, active(curated).name == one.name
    cooling = until > milliseconds(now)
    status = "cooling_down" if cooling else "active" if is_active else "standby"
    return {
        "name": one.name, "status": "disabled" if one.name in state["disabled"] else status, "active": is_active,
        "builtin": one.package is None, "package": one.package, "tools": list(one.tools),
        "failure_count": breaker.get("failures", 0), "cooldown_until": time_of(until) if cooling else None,
        "last_error_code": breaker.get("code"),
    }  # fmt: skip


def ask(curated: Curated, method: str, now: datetime, /, *arguments: object) -> Any:
    """Return the answer of the active provider, None where memdeck does the work itself.

    That is so where no provider is selected or it does not handle the call, its breaker is open, it fails, or it does
    not answer in time.
    """
    one = _other(curated)
    if one is None:
        return None
    settings, breaker = curated.settings, _state(curated)["breakers"].get(one.name, {})
    if (breaker.get("until") or 0) > milliseconds(now):
        return None
    answer, code = _ask(one, method, arguments, settings.seconds("provider.timeout"))
    noted: Json = {}
    if code is not None:
        failures = breaker.get("failures", 0) + 1
        opens = failures >= settings["provider.failure_threshold"]
        until = milliseconds(now) + round(settings.seconds("provider.cooldown") * 1000) if opens else None
        noted = {"failures": failures, "until": until, "code": code}
    if noted != breaker:
        with suppress(MemdeckError):  # a breaker that cannot be stored is no reason to fail
            _change(curated, lambda state: state["breakers"].update({one.name: noted}))
    return answer


def _ask(one: KnownProvider, method: str, arguments: tuple[object, ...], seconds: float) -> tuple[Any, str | None]:
    """Return the answer, or None and the code of the error."""
    box: list[tuple[Any, str | None]] = []

    def work() -> None:
        try:
            box.append((getattr(one.provider, method)(*arguments), None))
        except NotHandled:
            box.append((None, None))
        except BaseException as error:
            box.append((None, f"memory.provider.failed: {type(error).__name__}"))

    thread = threading.Thread(target=work, name=f"provider {one.name}", daemon=True)
    thread.start()
    thread.join(seconds)
    return box[0] if box else (None, "memory.provider.timeout")


def safe_text(curated: Curated, text: object, longest: int) -> str:
    """Return a text of a provider; empty if it is not text or the content scan rejects it."""
    cut = text.strip()[:longest] if isinstance(text, str) else ""
    return "" if rejecting((cut,), curated.settings["controller.scan_profile"]) else cut


def recalled(curated: Curated, query: str, limit: int, now: datetime) -> list[Json]:
    """Return what the provider adds to a recall: `title` and `body` of each, scanned and cut."""
    found = ask(curated, "recall", now, query, limit, curated.workspace_id())
    rows = []
    for one in found[:limit] if isinstance(found, list) else []:
        if isinstance(one, dict):
            title, body = safe_text(curated, one.get("title"), 160), safe_text(curated, one.get("body"), 4096)
            if title and body:
                rows.append({"title": " ".join(title.split()), "body": body, "provider": active(curated).name})
    return rows


def prompt_block(curated: Curated, agent: str | None, now: datetime) -> str:
    """Return the provider's addition to a snapshot, with its heading; empty for none."""
    number = curated.workspace_id()
    scope = "workspace" if number else "global"
    text = safe_text(curated, ask(curated, "prompt_block", now, scope, agent, number), 4096)
    return f"## Provider {active(curated).name}\n\n{text}" if text else ""


def session_began(curated: Curated, session: str, query: str | None, now: datetime) -> None:
    """Tell the provider which session continues, and its expected subject."""
    if _other(curated) is None:
        return
    before = _state(curated)["session"]
    if before != session:
        if before:
            ask(curated, "session_switch", now, before, session)
        _change(curated, lambda state: state.update(session=session))
    if query:
        ask(curated, "prefetch", now, query, session, curated.workspace_id())


# -- operations -----------------------------------------------------------------------------------------------------


def _find(name: str) -> KnownProvider:
    for one in providers()[0]:
        if one.name == name.lower():
            return one
    raise NotFoundError("memory.not_found", f"there is no provider {name[:40]!r}", "`memdeck curated provider list`")


def listed(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List the providers of memories, and those that cannot be used."""
    known, bad = providers()
    records = curated.home.records
    rows = records.events(ops=("memory.provider.collision",), limit=1000) if bad else []
    told = [(row["metadata"].get("provider"), row["metadata"].get("message")) for row in rows]
    for one in bad:
        if (one["provider"], one["message"]) not in told:
            records.event("memory.provider.collision", call.now, **one)
    return {"providers": [status_of(curated, one, call.now) for one in known], "collisions": list(bad)}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Show one provider."""
    return {"provider": status_of(curated, _find(args["name"]), call.now)}


def select(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Make a provider the active one."""
    one = _find(args["name"])
    if one.name in _state(curated)["disabled"]:
        hint = f"`memdeck curated provider enable {one.name}`"
        raise RefusedError("memory.provider.disabled", f"{one.name} is disabled", hint)
    _change(curated, lambda state: state.update(active=one.name))
    return {"provider": status_of(curated, one, call.now)}


def enable(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Enable a provider."""
    return _switch(curated, args, call, on=True)


def disable(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Disable a provider."""
    return _switch(curated, args, call, on=False)


def _switch(curated: Curated, args: Json, call: OperationCall, *, on: bool) -> Json:
    one = _find(args["name"])
    if one.package is None:
        raise RefusedError(
            "memory.provider.builtin", f"{one.name} is part of memdeck and always enabled", "select another"
        )
    changed = False

    def switch(state: Json) -> None:
        nonlocal changed
        off = set(state["disabled"])
        changed = (one.name in off) == on
        state["disabled"] = sorted(off - {one.name} if on else off | {one.name})
        if on:
            state["breakers"].pop(one.name, None)

    _change(curated, switch)
    if changed:
        op = f"memory.provider.{'enabled' if on else 'disabled'}"
        curated.home.records.event(op, call.now, target_id=one.name, reason=args.get("reason", ""))
    return {"provider": status_of(curated, one, call.now), "changed": changed}
