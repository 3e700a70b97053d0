"""A new analysis of the repository taken into a bundle that recall and people changed since the last one.

Three sides: `base` is what the analysis said last, `ours` the bundle, `theirs` what it says now. What differs from the
base on our side was put there by somebody and stays; everything else is as the repository is now.
"""

from __future__ import annotations

from typing import Any

from memory.state.analysis.focus import without_first_run
from memory.state.diff import name_of
from memory.state.files.model import Json


def take_in(base: Json | None, ours: Json, theirs: Json) -> Json:
    """Return the bundle after a new analysis; without a base, lists keep everything that the bundle has.

    A run of the validation commands (`validationSnapshot`) is never thrown away by an analysis, which runs nothing.
    """
    merged = {
        key: _merge(None if base is None else base.get(key), ours.get(key), value) for key, value in theirs.items()
    }
    merged |= {key: value for key, value in ours.items() if key not in merged}
    snapshot = ours["currentFocus"]["validationSnapshot"]
    if snapshot["status"] != "not-run":
        merged["currentFocus"] = without_first_run({**merged["currentFocus"], "validationSnapshot": snapshot})
    # At most two: they are chosen as a whole, by somebody or by the analysis.
    commands = "validationCommands"
    chosen = base is not None and ours[commands] != base.get(commands)
    merged[commands] = ours[commands] if chosen else theirs[commands]
    found: Json = merged
    return found


def _merge(base: Any, ours: Any, theirs: Any) -> Any:
    if ours is None:
        return theirs
    if isinstance(theirs, list) and isinstance(ours, list):
        return _lists(base if isinstance(base, list) else None, ours, theirs)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = dict.fromkeys((*theirs, *ours))
        before = base if isinstance(base, dict) else {}
        return {
            key: _merge(before.get(key), ours.get(key), theirs[key]) if key in theirs else ours[key] for key in keys
        }
    # Without a base nobody can tell who wrote it: the repository as it is now counts.
    return theirs if base is None or ours == base else ours


def _lists(base: list[Any] | None, ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Merge lists by what names their entries: those of the analysis in its order, then what somebody added."""
    before = None if base is None else {name_of(one): one for one in base}
    mine = {name_of(one): one for one in ours}
    new = {name_of(one): one for one in theirs}
    known = before or {}
    merged: list[Any] = []
    for name, value in new.items():
        if name in mine:
            merged.append(_merge(known.get(name), mine[name], value) if isinstance(value, dict) else value)
        elif name not in known:
            merged.append(value)
    # What somebody added stays; what the analysis said and says no more goes.
    kept = [value for name, value in mine.items() if name not in new and (name not in known or known[name] != value)]
    return [*merged, *kept]
