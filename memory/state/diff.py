"""Differences of two bundles, section by section, and a recall's summary of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memory.base.safe_text import plural

from .files.json_text import canonical
from .files.model import KEYS, SECTIONS, Json

_NAMES = ("title", "path", "label")
_TITLED, _DONE = {"gotchas": "gotcha", "nextSteps": "next step"}, ("added", "removed", "edited")
"""The lists of titled entries with the noun for one, and the actions of a recall on them."""


class SectionDiff(NamedTuple):
    """The differences in one section: entries by title or path, lines by their text, each with the list it is in."""

    section: str
    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    lines: list[str]

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self.lines)

    def json(self) -> Json:
        """Return it for programs."""
        lists = {
            key: [{"list": name, "entry": entry} for name, entry in found]
            for key, found in (("added", self.added), ("removed", self.removed))
        }
        return {"section": self.section, "changed": self.changed, **lists, "diff": self.lines}


def diff_bundles(before: Json, after: Json) -> tuple[SectionDiff, ...]:
    """Return a diff of every section, in the order of the bundle; `changed` is False where nothing differs."""
    found = []
    for name in SECTIONS:
        one, other = before[KEYS[name]], after[KEYS[name]]
        old, new, texts = entries_of(one), entries_of(other), (canonical(one).split("\n"), canonical(other).split("\n"))
        lines = [*difflib.unified_diff(*texts, fromfile="before", tofile="after", lineterm="", n=2)]
        added, removed = [key for key in new if key not in old], [key for key in old if key not in new]
        found.append(SectionDiff(name, added, removed, lines))
    return tuple(found)


def entries_of(value: Any, where: str = "") -> dict[tuple[str, str], Any]:
    """Return the entries of all lists in a section by the place of the list and their names; one that occurs again
    gets a number appended.
    """
    found: dict[tuple[str, str], Any] = {}
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= entries_of(inner, f"{where}.{key}" if where else key)
    for item in value if isinstance(value, list) else ():
        name = name_of(item)
        key, number = name, 2
        while (where, key) in found:
            key, number = f"{name} ({number})", number + 1
        found[where, key] = item
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
        old, new = entries_of(before[key]), entries_of(after[key])
        edited = [one for one in new if one in old and new[one] != old[one]]
        kinds = [one for one in new if one not in old], [one for one in old if one not in new], edited
        titles[key] = {verb: [name for _, name in kind] for verb, kind in zip(_DONE, kinds, strict=True)}
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
