"""Calls of the provider that is active: within its time, behind a breaker, and never a reason for memdeck to fail."""

from __future__ import annotations

import json
import threading
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.base.json_objects import read_object
from memory.curated.index.records import milliseconds
from memory.curated.model import Json
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

    from .found import KnownProvider

_EMPTY: Json = {"active": None, "disabled": [], "breakers": {}, "session": None}
_NONE: Any = object()


def home(curated: Curated) -> Side | None:
    """Return the side that keeps what is selected here: the workspace where it has an identity, else the person."""
    side = curated.sides.get("workspace")
    return side if side is not None and side.workspace_id else curated.sides.get("global")


def read_state(side: Side | None) -> Json:
    """Return what a side keeps on providers: `active`, `disabled`, `breakers`."""
    record = None if side is None else side.record("providers")
    return dict(_EMPTY) if record is None else _read(record.read().base)


def _read(data: bytes | None) -> Json:
    return {**_EMPTY, **read_object(data)}


def change_state(side: Side | None, now: datetime, change: Any) -> None:
    """Let `change` alter what a side keeps; MemdeckError `memory.provider.no_state` where nothing can be kept."""
    record = None if side is None else side.record("providers")
    if record is None:
        raise MemdeckError("memory.provider.no_state", "there is no private folder to keep the choice in", "set HOME")

    def work(data: bytes | None) -> bytes:
        values = _read(data)
        change(values)
        return json.dumps(values).encode()

    record.update(work, command="provider", now=now)


def active(curated: Curated) -> KnownProvider:
    """Return the provider that counts here: that of the workspace, of the person, of the settings, or the local one."""
    from .found import LOCAL

    return _other(curated) or LOCAL


def _other(curated: Curated) -> KnownProvider | None:
    """Return the provider that counts here where it is that of another package, None for the local one."""
    here = home(curated)
    states = [read_state(side) for side in dict.fromkeys((here, curated.sides.get("global")))]
    names = (*(state["active"] for state in states), curated.settings["provider.name"].lower())
    name = next((one for one in names if one), "local")
    # Other packages are looked for only where one of them is selected.
    if name == "local" or any(name in state["disabled"] for state in states):
        return None
    from .found import providers

    found = {one.name: one for one in providers()[0]}.get(name)
    return None if found is None or found.package is None else found


def status_of(curated: Curated, one: KnownProvider, now: datetime) -> Json:
    """Return a provider for programs."""
    from memory.curated.control.decision import time_of

    state = read_state(home(curated))
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
    """Return what the active provider answers, None where memdeck does it by itself: nothing selected, not handled,
    a breaker that is open, an error, or no answer in time.
    """
    one = _other(curated)
    if one is None:
        return None
    side, settings = home(curated), curated.settings
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
    """Return the answer, or the code of what went wrong."""
    from .interface import NotHandled

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


def _note(side: Side | None, now: datetime, name: str, breaker: Json | None) -> None:
    def change(values: Json) -> None:
        if breaker is None:
            values["breakers"].pop(name, None)
        else:
            values["breakers"][name] = breaker

    try:
        change_state(side, now, change)
    except MemdeckError:
        return  # a breaker that cannot be kept is no reason to fail


def safe_text(curated: Curated, text: object, longest: int) -> str:
    """Return a text of a provider, empty for what is none or what the content scan rejects."""
    if not isinstance(text, str) or not text.strip():
        return ""
    cut = text.strip()[:longest]
    from memory.curated.control.scan import scan

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
    """Return what the provider adds to a snapshot, with its heading; empty for nothing."""
    number = curated.workspace_id()
    scope = "workspace" if number else "global"
    text = safe_text(curated, call(curated, "prompt_block", now, scope, agent, number), 4096)
    return f"## Provider {active(curated).name}\n\n{text}" if text else ""


def session_began(curated: Curated, session: str, query: str | None, now: datetime) -> None:
    """Tell the provider which session goes on, and what it will be about."""
    if _other(curated) is None:
        return
    side = home(curated)
    before = read_state(side).get("session")
    if before != session:
        if before:
            call(curated, "session_switch", now, before, session)
        change_state(side, now, lambda values: values.update(session=session))
    if query:
        call(curated, "prefetch", now, query, session, curated.workspace_id())


def note_collisions(curated: Curated, now: datetime) -> None:
    """Note the providers that collide as events, each once."""
    from .found import providers

    bad = providers()[1]
    side = home(curated)
    if not bad or side is None:
        return
    rows = side.records.events(ops=("memory.provider.collision",), limit=1000)
    known = [(row["metadata"].get("provider"), row["metadata"].get("message")) for row in rows]
    for one in bad:
        if (one.name, one.words) not in known:
            side.records.event("memory.provider.collision", now, **one.json())
