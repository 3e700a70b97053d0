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


class EditedField(NamedTuple):
    """A field of a section whose value differs; `entry` is the title or path of the entry it belongs to."""

    entry: str
    field: str
    before: Any
    after: Any


@dataclass(slots=True)
class SectionDiff:
    """The differences in one section: entries by title or path, lines by their text, each with the list it is in."""

    section: str
    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    edited: list[EditedField]
    lines: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self.lines)

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "section": self.section,
            "changed": self.changed,
            "added": [{"list": name, "entry": entry} for name, entry in self.added],
            "removed": [{"list": name, "entry": entry} for name, entry in self.removed],
            "edited": [one._asdict() for one in self.edited],
            "diff": list(self.lines),
        }

    def compare(self, where: str, before: Any, after: Any) -> None:
        """Add what differs at a place."""
        if isinstance(before, dict) and isinstance(after, dict):
            for key in dict.fromkeys((*before, *after)):
                if before.get(key) != after.get(key):
                    self.compare(f"{where}.{key}" if where else key, before.get(key), after.get(key))
        elif isinstance(before, list) and isinstance(after, list):
            old, new = _by_name(before), _by_name(after)
            self.added += [(where, name) for name in new if name not in old]
            self.removed += [(where, name) for name in old if name not in new]
            for name in [name for name in old if name in new and isinstance(old[name], dict)]:
                one, other = old[name], new[name]
                keys = [key for key in dict.fromkeys((*one, *other)) if one.get(key) != other.get(key)]
                self.edited += [EditedField(name, key, one.get(key), other.get(key)) for key in keys]
            if old.keys() == new.keys() and list(old) != list(new):
                self.edited.append(EditedField(where, "order", list(old), list(new)))
        else:
            self.edited.append(EditedField("", where, before, after))


def diff_bundles(before: Json, after: Json) -> tuple[SectionDiff, ...]:
    """Return a diff of every section, in the order of the bundle; `changed` is False where nothing differs."""
    found = []
    for name in SECTIONS:
        one, old, new = SectionDiff(name, [], [], []), before[KEYS[name]], after[KEYS[name]]
        if old != new:
            one.compare("", old, new)
            texts = canonical(old).split("\n"), canonical(new).split("\n")
            one.lines = tuple(difflib.unified_diff(*texts, fromfile="before", tofile="after", lineterm="", n=2))
        found.append(one)
    return tuple(found)


def _by_name(items: Sequence[Any]) -> dict[str, Any]:
    """Return the entries of a list by their names; a name that occurs again gets a number appended."""
    found: dict[str, Any] = {}
    for item in items:
        name = name_of(item)
        key, number = name, 2
        while key in found:
            key, number = f"{name} ({number})", number + 1
        found[key] = item
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
        old, new = _by_name(before[key]), _by_name(after[key])
        edited = tuple(name for name in new if name in old and new[name] != old[name])
        titles.append(
            (tuple(one for one in new if one not in old), tuple(one for one in old if one not in new), edited)
        )
    return Digest(changed_sections(before, after), selected, tuple(protected), *titles)


def changed_sections(before: Json, after: Json) -> tuple[str, ...]:
    """Return the names of the sections that differ."""
    return tuple(name for name in SECTIONS if before[KEYS[name]] != after[KEYS[name]])
