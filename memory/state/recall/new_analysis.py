"""Merge a new analysis of the repository into a bundle that recall and people changed since the last one.

A three-way merge: `base` is the last analysis, `ours` the bundle, `theirs` the new analysis. What differs from the base
on our side was added by someone and stays; everything else follows the repository.
"""

from __future__ import annotations

from typing import Any

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
    # At most two: they are chosen as a whole, by a person or by the analysis.
    commands = "validationCommands"
    chosen = base is not None and ours[commands] != base.get(commands)
    merged[commands] = ours[commands] if chosen else theirs[commands]
    return merged


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
    # Without a base the author is unknown: the new analysis counts.
    return theirs if base is None or ours == base else ours


def _lists(base: list[Any] | None, ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Merge lists by the names of their entries: those of the analysis in its order, then those that were added."""
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
    # Added entries stay; what the last analysis had and the new one lacks is removed.
    kept = [value for name, value in mine.items() if name not in new and (name not in known or known[name] != value)]
    return [*merged, *kept]


_FIRST_RUN = "to get a first validation."


def without_first_run(focus: Json) -> Json:
    """Return a section `currentFocus` without the advice to run a command for the first time, once one was run."""
    if focus["validationSnapshot"]["status"] == "not-run":
        return focus
    kept = [one for one in focus["suggestedNextActions"] if not (one.startswith("Run `") and one.endswith(_FIRST_RUN))]
    return {**focus, "suggestedNextActions": kept}
