"""What is sound of damaged values: settings, sources, events and a state."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from memory.errors import MemdeckError
from memory.state.files import model
from memory.state.files.json_text import digest, load
from memory.state.files.model import Json
from memory.state.files.schema import faults_of
from memory.state.files.store import fresh_parts, state_of


def without(written: Json, places: set[str], where: str = "") -> Json:
    """Return an object without the values at some dotted places."""
    kept: Json = {}
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if place not in places:
            kept[key] = without(value, places, place) if isinstance(value, dict) else value
    return kept


def mended(kind: str, value: Any, fresh: Json) -> Json | None:
    """Return an object of a kind, with fresh values where its own are wrong; None where that does not suffice."""
    if not isinstance(value, dict):
        return None
    wrong = {fault.where.partition(".")[0] for fault in faults_of(kind, value)}
    found = {**value, **{key: fresh[key] for key in wrong if key in fresh}}
    return None if faults_of(kind, found) else found


def mended_event(line: bytes, before: str) -> Json | None:
    """Return the event of a line in which some values are wrong; `before` is the time of the one above."""
    try:
        value = load(line, model.EVENTS, "state.events.read")
    except MemdeckError:
        return None
    given = value.get("signals") if isinstance(value, dict) else None
    signals: dict[str, list[str]] = {kind: [] for kind in model.SIGNALS}
    for kind, texts in given.items() if isinstance(given, dict) else ():
        if kind in signals and isinstance(texts, list):
            signals[kind] = [one for one in texts if not faults_of("text", one)]
    fresh = {"createdAt": before, "contentHash": digest(value), "externalItemId": None, "signals": signals}
    return mended("event", value, {**fresh, "summary": "A part of this event was damaged"})


def rescued(data: bytes, last: Json | None, at: str) -> tuple[Json, str, bool]:
    """Return a state with the sound parts of a damaged one, whose bundle it has, and whether it keeps its cursors.

    `last` is the newest sound checkpoint. Without cursors every event would be recalled again. The bundle of an older
    checkpoint lacks what was recalled after it, so it starts without them. MemdeckError if no bundle is left.
    """
    written: Any = {}
    with suppress(MemdeckError):
        written = load(data, model.STATE, "state.json")
    parts = written if isinstance(written, dict) else {}
    names = ("bundle", "provider", "maintenance")
    sound: Json = {key: parts[key] for key in names if not faults_of(key, parts.get(key))}
    whose = "its own bundle"
    if "bundle" not in sound:
        if last is None:
            raise MemdeckError("state.lost", "no bundle is left, neither here nor in a checkpoint")
        sound["bundle"], whose = last["bundle"], f"the bundle of {last['id']}"
        if "maintenance" in sound and sound["maintenance"]["latestCheckpointId"] != last["id"]:
            del sound["maintenance"]
    state = state_of({**fresh_parts(model.PROVIDERS[1]), **sound}, sound["bundle"], digest(sound["bundle"]), at)
    return state, whose, "maintenance" in sound
