"""Calls of the active provider: limited in time, behind a breaker, and never a reason for memdeck to fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from memory.base.scan import scan
from memory.curated.curated import Curated
from memory.curated.index.records import milliseconds, time_of
from memory.curated.model import Json
from memory.curated.sides import Side
from memory.errors import MemdeckError

from . import NotHandled
from .found import LOCAL, KnownProvider, providers

_NONE: Any = object()


def read_state(side: Side | None) -> Json:
    """Return a side's stored state of providers: `active`, `disabled`, `breakers`."""
    return _whole({} if side is None else side.note("providers"))


def _whole(values: Json) -> Json:
    return {"active": None, "disabled": [], "breakers": {}, "session": None, **values}


def change_state(side: Side, now: datetime, change: Callable[[Json], None]) -> None:
    """Let `change` alter a side's stored state; MemdeckError `memory.provider.no_state` where nothing can be stored."""

    def work(values: Json) -> Json:
        state = _whole(values)
        change(state)
        return state

    if not side.change_note("providers", work, command="provider", now=now):
        raise MemdeckError("memory.provider.no_state", "there is no private folder to keep the choice in", "set HOME")


def active(curated: Curated) -> KnownProvider:
    """Return the active provider: that of the workspace, of the person, of the settings, or the local one."""
    return _other(curated) or LOCAL


def _other(curated: Curated) -> KnownProvider | None:
    """Return the active provider if it comes from another package, None for the local one."""
    states = [read_state(side) for side in dict.fromkeys((curated.home, curated.sides.get("global")))]
    names = (*(state["active"] for state in states), curated.settings["provider.name"].lower())
    name = next((one for one in names if one), "local")
    # Other packages are searched only where one of them is selected.
    if name == "local" or any(name in state["disabled"] for state in states):
        return None

    found = {one.name: one for one in providers()[0]}.get(name)
    return None if found is None or found.package is None else found


def status_of(curated: Curated, one: KnownProvider, now: datetime) -> Json:
    """Return a provider for programs."""
    state = read_state(curated.home)
    person = read_state(curated.sides.get("global"))
    breaker = state["breakers"].get(one.name, {})
    until = breaker.get("until")
    is_active = active(curated).name == one.name
    cooling = until is not None and until > milliseconds(now)
    off = one.name in (*state["disabled"], *person["disabled"])
    return {
        "name": one.name,
        "status": "disabled" if off else "cooling_down" if cooling else "active" if is_active else "standby",
        "active": is_active, "builtin": one.package is None, "package": one.package, "tools": list(one.tools),
        "failure_count": breaker.get("failures", 0),
        "cooldown_until": time_of(until) if cooling else None, "last_error_code": breaker.get("code"),
    }  # fmt: skip


def call(curated: Curated, method: str, now: datetime, /, *arguments: object) -> Any:
    """Return the answer of the active provider, None where memdeck does the work itself.

    That is so where no provider is selected or it does not handle the call, its breaker is open, it fails, or it does
    not answer in time.
    """
    one = _other(curated)
    if one is None:
        return None
    side, settings = curated.home, curated.settings
    breaker = read_state(side)["breakers"].get(one.name, {})
    until = breaker.get("until")
    if until is not None and until > milliseconds(now):
        return None
    answer, code = _ask(one, method, arguments, settings.seconds("provider.timeout"))
    if code is None:
        if breaker:
            _note(side, now, one.name, None)
        return None if answer is _NONE else answer
    failures = breaker.get("failures", 0) + 1
    opened = None
    if failures >= settings["provider.failure_threshold"]:
        opened = milliseconds(now) + round(settings.seconds("provider.cooldown") * 1000)
    _note(side, now, one.name, {"failures": failures, "until": opened, "code": code})
    return None


def _ask(one: KnownProvider, method: str, arguments: tuple[object, ...], seconds: float) -> tuple[Any, str | None]:
    """Return the answer, or the code of the error."""
    box: list[tuple[Any, str | None]] = []

    def work() -> None:
        try:
            box.append((getattr(one.provider, method)(*arguments), None))
        except NotHandled:
            box.append((_NONE, None))
        except BaseException as error:
            box.append((_NONE, f"memory.provider.failed: {type(error).__name__}"))

    thread = threading.Thread(target=work, name=f"provider {one.name}", daemon=True)
    thread.start()
    thread.join(seconds)
    return box[0] if box else (_NONE, "memory.provider.timeout")


def _note(side: Side, now: datetime, name: str, breaker: Json | None) -> None:
    def change(values: Json) -> None:
        if breaker is None:
            values["breakers"].pop(name, None)
        else:
            values["breakers"][name] = breaker

    try:
        change_state(side, now, change)
    except MemdeckError:
        return  # a breaker that cannot be stored is no reason to fail


def safe_text(curated: Curated, text: object, longest: int) -> str:
    """Return a text of a provider; empty for what is not text or what the content scan rejects."""
    if not isinstance(text, str) or not text.strip():
        return ""
    cut = text.strip()[:longest]

    rejected = any(hit.action == "reject" for hit in scan((cut,), curated.settings["controller.scan_profile"]))
    return "" if rejected else cut


def recalled(curated: Curated, query: str, limit: int, now: datetime) -> list[Json]:
    """Return what the provider adds to a recall: `title` and `body` of each, scanned and cut."""
    found = call(curated, "recall", now, query, limit, curated.workspace_id())
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
    text = safe_text(curated, call(curated, "prompt_block", now, scope, agent, number), 4096)
    return f"## Provider {active(curated).name}\n\n{text}" if text else ""


def session_began(curated: Curated, session: str, query: str | None, now: datetime) -> None:
    """Tell the provider which session continues, and its expected subject."""
    if _other(curated) is None:
        return
    side = curated.home
    before = read_state(side).get("session")
    if before != session:
        if before:
            call(curated, "session_switch", now, before, session)
        change_state(side, now, lambda values: values.update(session=session))
    if query:
        call(curated, "prefetch", now, query, session, curated.workspace_id())


def note_collisions(curated: Curated, now: datetime) -> None:
    """Record the providers that collide as events, each once."""
    bad = providers()[1]
    if not bad:
        return
    side = curated.home
    rows = side.records.events(ops=("memory.provider.collision",), limit=1000)
    known = [(row["metadata"].get("provider"), row["metadata"].get("message")) for row in rows]
    for one in bad:
        if (one.name, one.words) not in known:
            side.records.event("memory.provider.collision", now, **one.json())
