"""Differences of two bundles, section by section, and a recall's summary of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .files.json_text import canonical
from .files.model import KEYS, SECTIONS, Json, plural

_NAMES = ("title", "path", "label")
DONE = ("added", "removed", "edited")
"""The actions of a recall on gotchas and next steps."""


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


@dataclass(frozen=True, slots=True)
class Digest:
    """The effect of a recall: the sections, and the titles of gotchas and next steps added, removed and edited."""

    sections: tuple[str, ...]
    selected: str = "all"
    protected: tuple[str, ...] = ()
    gotchas: tuple[tuple[str, ...], ...] = ((), (), ())
    steps: tuple[tuple[str, ...], ...] = ((), (), ())

    def json(self) -> Json:
        """Return it for programs and for the hash of a recall's event."""
        return {
            "changedSections": list(self.sections),
            "selectedSection": self.selected,
            "protectedSections": list(self.protected),
            "gotchas": {name: list(titles) for name, titles in zip(DONE, self.gotchas, strict=True)},
            "nextSteps": {name: list(titles) for name, titles in zip(DONE, self.steps, strict=True)},
            "currentFocusChanged": "current-focus" in self.sections,
            "validationChanged": "validation-commands" in self.sections,
        }

    def titles(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Yield what was done to which titles: the noun, the verb, and the titles, unless there are none."""
        for noun, kinds in (("gotcha", self.gotchas), ("next step", self.steps)):
            yield from ((noun, verb, titles) for verb, titles in zip(DONE, kinds, strict=True) if titles)

    def text(self) -> str:
        """Return it on one line: `changed gotchas and next-steps: 2 gotchas added, 1 next step removed`."""
        if not self.sections:
            return "changed nothing"
        said = [f"{plural(len(titles), noun)} {verb}" for noun, verb, titles in self.titles()]
        return f"changed {', '.join(self.sections)}" + (f": {', '.join(said)}" if said else "")


def digest_of(before: Json, after: Json, *, selected: str, protected: Sequence[str]) -> Digest:
    """Return what a recall changes."""
    titles = []
    for key in ("gotchas", "nextSteps"):
        old, new = entries_of(before[key]), entries_of(after[key])
        edited = [one for one in new if one in old and new[one] != old[one]]
        kinds = [one for one in new if one not in old], [one for one in old if one not in new], edited
        titles.append(tuple(tuple(name for _, name in kind) for kind in kinds))
    return Digest(changed_sections(before, after), selected, tuple(protected), *titles)


def changed_sections(before: Json, after: Json) -> tuple[str, ...]:
    """Return the names of the sections that differ."""
    return tuple(name for name in SECTIONS if before[KEYS[name]] != after[KEYS[name]])
