"""Find the memory systems that other installed packages offer, by their entry points `memdeck.systems`.

An entry point names a `memory.system_name.SystemName`. Importing `importlib.metadata` takes longer than a short verb,
so it happens only when the metadata of some package mentions the group.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .system_name import BrokenSystem, PaneEntry, SystemName, VerbName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "memdeck.systems"
_NAME = r"[a-z][a-z0-9_-]{0,31}"
_PLACE = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"


def installed(own: Sequence[SystemName]) -> tuple[tuple[SystemName, ...], tuple[BrokenSystem, ...]]:
    """Return the systems of other packages, by the name of their entry points, and those that cannot be used.

    One cannot be used that does not load or that takes a name, kind, mark, verb or pane that one before it has.
    """
    known = list(own)
    broken: list[BrokenSystem] = []
    for name, package, entry in entries(GROUP):
        try:
            found = entry()
        except (Exception, SystemExit) as error:
            broken.append(BrokenSystem(name, package, f"it does not load: {type(error).__name__}: {error}"))
            continue
        if not isinstance(found, SystemName):
            broken.append(BrokenSystem(name, package, f"it is no SystemName but {type(found).__name__}"))
        elif why := _refusal(found, known):
            broken.append(BrokenSystem(name, package, why))
        else:
            known.append(found)
    return tuple(known[len(own) :]), tuple(broken)


def entries(group: str) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield the name, the package and the function that loads each entry point of a group, sorted by name."""
    folders = list(_folders(group))
    if not folders:
        return
    from importlib.metadata import Distribution

    found: dict[tuple[str, str], EntryPoint] = {}
    for folder in folders:
        package = Distribution.at(folder)
        title = package.metadata["Name"] or os.path.basename(folder)
        for entry in package.entry_points.select(group=group):
            found.setdefault((entry.name, title), entry)
    for (name, title), entry in sorted(found.items()):
        yield name, title, entry.load


def _folders(group: str) -> Iterator[str]:
    """Yield the metadata folders of the packages that mention a group, in the order of the import path.

    The current folder is passed over, which `python -m` puts on the path: a repository brings no code.
    """
    here = os.path.realpath(os.curdir)
    library = os.path.dirname(os.__file__)
    for path in sys.path:
        if not os.path.isabs(path) or path in (library, f"{library}/lib-dynload") or os.path.realpath(path) == here:
            continue
        try:
            with os.scandir(path) as listing:
                names = [item.name for item in listing if item.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in sorted(names):
            try:
                with open(f"{path}/{name}/entry_points.txt", "rb") as file:
                    if group.encode() in file.read():
                        yield f"{path}/{name}"
            except OSError:
                continue


def _refusal(found: SystemName, known: Sequence[SystemName]) -> str:
    """Return why a system cannot be used, empty where it can."""
    if not all(isinstance(verb, VerbName) for verb in found.verbs):
        return "its verbs are not all VerbName"
    if not all(isinstance(pane, PaneEntry) for pane in found.panes):
        return "its panes are not all PaneEntry"
    for word in (found.name, *found.kinds, *(verb.name for verb in found.verbs), *(pane.id for pane in found.panes)):
        if not isinstance(word, str) or not re.fullmatch(_NAME, word):
            return f"{word!r} is no name: small letters, digits, - and _"
    for place in (found.place, *(verb.place for verb in found.verbs), *(pane.place for pane in found.panes)):
        if not isinstance(place, str) or not re.fullmatch(_PLACE, place):
            return f"{place!r} is no place such as package.module:Name"
    parts = found.mark.split("/") if isinstance(found.mark, str) else [""]
    if any(part in ("", ".", "..") for part in parts):
        return f"its mark {found.mark!r} is no path in a workspace"
    for other in known:
        if found.name == other.name:
            return f"there is a system {other.name} already"
        if f"{found.mark}/".startswith(f"{other.mark}/") or f"{other.mark}/".startswith(f"{found.mark}/"):
            return f"its mark {found.mark} is that of {other.name}"
        for what, mine, theirs in (
            ("kind", found.kinds, other.kinds),
            ("verb", [verb.name for verb in found.verbs], [verb.name for verb in other.verbs]),
            ("pane", [pane.id for pane in found.panes], [pane.id for pane in other.panes]),
        ):
            if taken := sorted(set(mine) & set(theirs)):
                return f"its {what} {taken[0]} is one of {other.name} already"
    return ""
