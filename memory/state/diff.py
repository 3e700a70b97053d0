"""Differences of two bundles, section by section, and a recall's summary of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .files.json_text import canonical
from .files.model import KEYS, SECTIONS, Json, plural

_NAMES = ("title", "path", "label")
DONE = ("added", "removed", "edited")
"""What a recall does to gotchas and next steps."""
ADDED, REMOVED = "\0added", "\0removed"


class EditedField(NamedTuple):
    """A field of a section whose value differs; `entry` is the title or path of the entry it belongs to."""

    entry: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class SectionDiff:
    """The differences in one section: entries by title or path, lines by their text, each with the list it is in."""

    section: str
    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    edited: tuple[EditedField, ...] = ()
    lines: tuple[str, ...] = field(default=(), compare=False)

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


def diff_bundles(before: Json, after: Json) -> tuple[SectionDiff, ...]:
    """Return a diff of every section, in the order of the bundle; `changed` is False where nothing differs."""
    return tuple(_section(name, before[KEYS[name]], after[KEYS[name]]) for name in SECTIONS)


def changed_sections(before: Json, after: Json) -> tuple[str, ...]:
    """Return the names of the sections that differ."""
    return tuple(name for name in SECTIONS if before[KEYS[name]] != after[KEYS[name]])


def _section(name: str, before: Any, after: Any) -> SectionDiff:
    if before == after:
        return SectionDiff(name)
    old, new = (canonical(one).split("\n") for one in (before, after))
    lines = tuple(difflib.unified_diff(old, new, "before", "after", lineterm="", n=2))
    found = list(_compare("", before, after))
    return SectionDiff(
        name,
        tuple((one.field, one.after) for one in found if one.entry == ADDED),
        tuple((one.field, one.before) for one in found if one.entry == REMOVED),
        tuple(one for one in found if one.entry not in (ADDED, REMOVED)),
        lines,
    )


def _compare(where: str, before: Any, after: Any) -> Iterator[EditedField]:
    """Yield what differs at a place; entries of a list that were added or removed have these words as their entry."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            if before.get(key) != after.get(key):
                yield from _compare(f"{where}.{key}" if where else key, before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list):
        old, new = _by_name(before), _by_name(after)
        yield from (EditedField(ADDED, where, None, name) for name in new if name not in old)
        yield from (EditedField(REMOVED, where, name, None) for name in old if name not in new)
        for name in [name for name in old if name in new and isinstance(old[name], dict)]:
            for key in dict.fromkeys((*old[name], *new[name])):
                if old[name].get(key) != new[name].get(key):
                    yield EditedField(name, key, old[name].get(key), new[name].get(key))
        if old.keys() == new.keys() and list(old) != list(new):
            yield EditedField(where, "order", list(old), list(new))
    else:
        yield EditedField("", where, before, after)


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
        key = next((key for key in _NAMES if key in item), None)
        return canonical(item) if key is None else str(item[key])
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
    titles = [_titles(before[key], after[key]) for key in ("gotchas", "nextSteps")]
    return Digest(changed_sections(before, after), selected, tuple(protected), *titles)


def _titles(before: list[Json], after: list[Json]) -> tuple[tuple[str, ...], ...]:
    old, new = _by_name(before), _by_name(after)
    return (
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(name for name in new if name in old and new[name] != old[name]),
    )
