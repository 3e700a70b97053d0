"""Differences of two bundles, section by section, and a recall's summary of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from memory.base.safe_text import plural

from .files.model import KEYS, SECTIONS, Json, canonical

_NAMES = ("title", "path", "label")
_TITLED, _DONE = {"gotchas": "gotcha", "nextSteps": "next step"}, ("added", "removed", "edited")
"""The lists of titled entries with the noun for one, and the actions of a recall on them."""


def diff_bundles(before: Json, after: Json) -> list[Json]:
    """Return for each section in the order of the bundle its name, whether it changed, and its diff line by line."""
    found = []
    for name in SECTIONS:
        old, new = (canonical(bundle[KEYS[name]]).split("\n") for bundle in (before, after))
        lines = [*difflib.unified_diff(old, new, fromfile="before", tofile="after", lineterm="", n=2)]
        found.append({"section": name, "changed": bool(lines), "diff": lines})
    return found


def _titled(entries: Sequence[Json]) -> dict[str, Json]:
    """Return the entries of a list by their titles; one that occurs again gets a number appended."""
    found: dict[str, Json] = {}
    for entry in entries:
        title, number = str(entry["title"]), 1
        while title in found:
            title, number = f"{entry['title']} ({number + 1})", number + 1
        found[title] = entry
    return found


def name_of(item: Any) -> str:
    """Return the title, path or label of an entry; a line is its own name."""
    if isinstance(item, dict):
        return str(next((item[key] for key in _NAMES if key in item), None) or canonical(item))
    return str(item)


def effect(before: Json, after: Json, *, selected: str = "all", protected: Sequence[str] = ()) -> Json:
    """Return what a recall or an edit changes: the sections, and the titles of gotchas and next steps by what was done.

    It is in the form for programs, and its hash is in the event.
    """
    changed = [name for name in SECTIONS if before[KEYS[name]] != after[KEYS[name]]]
    titles: dict[str, dict[str, list[str]]] = {}
    for key in _TITLED:
        old, new = _titled(before[key]), _titled(after[key])
        edited = [one for one in new if one in old and new[one] != old[one]]
        kinds = [one for one in new if one not in old], [one for one in old if one not in new], edited
        titles[key] = dict(zip(_DONE, kinds, strict=True))
    return {
        "changedSections": changed,
        "selectedSection": selected,
        "protectedSections": list(protected),
        **titles,
        "currentFocusChanged": "current-focus" in changed,
        "validationChanged": "validation-commands" in changed,
    }


def titles_of(effect: Json) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what was done to which titles: the noun, the verb, and the titles, unless there are none."""
    for key, noun in _TITLED.items():
        yield from ((noun, verb, titles) for verb, titles in effect[key].items() if titles)


def effect_text(effect: Json) -> str:
    """Return an effect on one line: `changed gotchas and next-steps: 2 gotchas added, 1 next step removed`."""
    if not effect["changedSections"]:
        return "changed nothing"
    said = [f"{plural(len(titles), noun)} {verb}" for noun, verb, titles in titles_of(effect)]
    return f"changed {', '.join(effect['changedSections'])}" + (f": {', '.join(said)}" if said else "")
