"""The memory systems by name: where each is in a workspace, and where its code is. A new system is added to this one
list.

A system's code is imported on first use. The systems of other installed packages are found by their entry points
`memdeck.systems`, each of which names a `SystemName` of this module. Importing `importlib.metadata` takes longer than a
short verb, so it happens only when the metadata of some package mentions the group.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class VerbName(NamedTuple):
    """One verb or group of verbs of the command line, known without importing its code.

    `place` is the click command as `module:attribute`, `text` the line of `memdeck --help`.
    """

    name: str
    place: str
    text: str


class PaneEntry(NamedTuple):
    """One pane of the application, known without importing its code.

    `place` is its class as `module:class` (see `widgets.pane.base.Pane`), `files` what it shows: memory files,
    `archive/` for all archives, files of another system by their path in the workspace. `key` is its digit, which panes
    may share; panes of systems other than the memory files are tabs of "Agent memory".
    """

    id: str
    title: str
    place: str
    files: tuple[str, ...] = ()
    key: str = ""


class SystemName(NamedTuple):
    """One memory system, known without importing its code.

    `mark` is the file or folder (path in the workspace) by which a workspace is recognised; `place` its class as
    `module:class` (see `memory.system.System`); `kinds` its kinds of records, in the order in which equally good
    search results are listed; `title` its name for the user. `verbs` and `panes` are its verbs on the command line and
    its panes in the application.

    `listed` is a file in the home folder that may name further folders of the system, anywhere in a workspace. A folder
    of such a system, found by its mark, is a workspace itself only where no other workspace contains it. `outside` is a
    function as `module:function`: given the workspace's folder, the home folder and the state home, it yields the
    stores of the system that are outside the workspace, each with its own change log. `is_file` says that the mark is a
    file; that of a `listed` system always is. `beside` is a folder by which a workspace has the system also without its
    mark; it makes no workspace of a folder. `entries` is a mapping as `module:attribute` from its kinds to the objects
    by which agents find and change their entries (see `memory.systems.entry_kinds`); the others they only read.
    `asks` says that its files are mostly outside of workspaces: its `present` tells whether a workspace has it, and its
    mark makes no workspace of a folder.
    """

    name: str
    title: str
    mark: str
    place: str
    kinds: tuple[str, ...]
    listed: str = ""
    verbs: tuple[VerbName, ...] = ()
    panes: tuple[PaneEntry, ...] = ()
    is_file: bool = False
    outside: str = ""
    beside: str = ""
    entries: str = ""
    asks: bool = False

    def marks(self, folder: str) -> bool:
        """Return whether a folder has the mark of the system."""
        if self.asks:
            return False
        place = f"{folder}/{self.mark}"
        return os.path.isfile(place) if self.listed or self.is_file else os.path.isdir(place)


class BrokenSystem(NamedTuple):
    """A system of another package that cannot be used: the name of its entry point, the package, and the reason."""

    name: str
    package: str
    why: str


GROUP = "memdeck.systems"
_NAME = r"[a-z][a-z0-9_-]{0,31}"
_PLACE = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
_CLI, _FILES, _PANES = "app.cli.verbs.", "memory.files.", "widgets.panes."

REGISTRY: tuple[SystemName, ...] = (
    SystemName(
        "files",
        "workspace memory",
        ".aiter/memory",
        "memory.files.system:WorkspaceMemory",
        ("tasks", "journal", "knowledge", "contacts", "plans", "monitors", "config"),
        entries="memory.files.entries:KINDS",
        verbs=(
            VerbName("tasks", _FILES + "tasks.operations:tasks", "List, add, edit, start, finish and remove tasks."),
            VerbName("journal", _FILES + "journal.edits:journal", "List, add, show, edit and remove journal entries."),
            VerbName(
                "knowledge",
                _FILES + "verbs.knowledge:knowledge",
                "List, add, edit and remove facts and decisions.",
            ),
            VerbName(
                "contacts",
                _FILES + "verbs.contacts:contacts",
                "List, add, edit and remove channels, routes and people.",
            ),
            VerbName(
                "orchestration",
                _FILES + "plans.edits:orchestration",
                "List, add, edit and remove plans, with their phases and their progress.",
            ),
            VerbName("monitors", "memory.monitoring.operations:monitors", "List, add, edit, remove and run monitors."),
            VerbName("config", _FILES + "verbs.config:config", "List, get, set and unset settings of the workspace."),
        ),
        panes=(
            PaneEntry("tasks", "Tasks", _PANES + "tasks.pane:TasksPane", ("tasks.md",), "2"),
            PaneEntry("journal", "Journal", _PANES + "journal:JournalPane", ("journal.md",), "3"),
            PaneEntry("knowledge", "Knowledge", _PANES + "knowledge:KnowledgePane", ("knowledge.md",), "4"),
            PaneEntry("plans", "Plans", _PANES + "plans:PlansPane", ("orchestration.md",), "6"),
            PaneEntry("monitors", "Monitors", _PANES + "monitors:MonitorsPane", ("monitors.md",), "7"),
            PaneEntry("contacts", "Contacts", _PANES + "contacts:ContactsPane", ("contacts.md",), "7"),
            PaneEntry("config", "Config", _PANES + "config:ConfigPane", ("config.md",), "7"),
            PaneEntry("archive", "Archive", _PANES + "archive:ArchivePane", ("archive/",), "2"),
        ),
    ),
    SystemName(
        "facts",
        "facts",
        ".aegis/memory",
        "memory.facts.system:Facts",
        ("facts",),
        entries="memory.facts.entries:KINDS",
        verbs=(
            VerbName(
                "facts", "memory.facts.operations:facts", "Store, search, delete and inject short notes for prompts."
            ),
        ),
        panes=(PaneEntry("facts", "Facts", _PANES + "memory.facts:FactsPane", (".aegis/memory/memories.jsonl",)),),
    ),
    SystemName(
        "typed",
        "typed memory",
        "Aidefile",
        "memory.typed.system:TypedMemory",
        ("typed",),
        entries="memory.typed.entries:KINDS",
        listed=".aide/config.toml",
        outside="memory.typed.registry:outside",
        verbs=(
            VerbName(
                "typed",
                "memory.typed.operations:typed",
                "The typed memory of agents: prune, merge, promote, lock, failures.",
            ),
        ),
        panes=(PaneEntry("typed", "Typed", _PANES + "memory.typed:TypedPane"),),
    ),
    SystemName(
        "state",
        "project state",
        ".agent-memory",
        "memory.state.system:ProjectState",
        ("state",),
        entries="memory.state.entries:KINDS",
        verbs=(
            VerbName(
                "state",
                "memory.state.operations:state",
                "Project state: init, recall, query, validate, sync, checkpoints.",
            ),
        ),
        panes=(
            PaneEntry("state", "State", _PANES + "memory.state:StatePane", (".agent-memory/", "docs/agent-memory/")),
        ),
    ),
    SystemName(
        "curated",
        "curated memory",
        ".agh/workspace.toml",
        "memory.curated.system:CuratedMemory",
        ("curated",),
        entries="memory.curated.entries:KINDS",
        is_file=True,
        outside="memory.curated.sides:outside",
        beside=".agh/memory",
        verbs=(
            VerbName(
                "curated",
                "memory.curated.operations.registry:curated",
                "Curated memory: write, search, decisions, recall, snapshots.",
            ),
        ),
        panes=(PaneEntry("curated", "Curated", _PANES + "memory.curated:CuratedPane", (".agh/",)),),
    ),
    SystemName(
        "clients",
        "memories of clients",
        ".claude/agent-memory",
        "memory.clients.system:ClientMemories",
        ("memory",),
        outside="memory.clients.sources:outside",
        entries="memory.clients.entries:KINDS",
        asks=True,
        verbs=(
            VerbName(
                "clients",
                "memory.clients.operations:clients",
                "Show and edit what Claude Code, Codex, Gemini CLI and VS Code remember.",
            ),
            VerbName(
                "export", "memory.clients.operations:export", "Print lasting knowledge as Markdown, for AGENTS.md."
            ),
        ),
        panes=(PaneEntry("clients", "Clients", _PANES + "memory.clients:ClientsPane", (".claude/",)),),
    ),
)
"""The built-in systems, in the order in which they are shown."""


@cache
def _installed() -> tuple[tuple[SystemName, ...], tuple[BrokenSystem, ...]]:
    return installed(REGISTRY)


def registered() -> tuple[SystemName, ...]:
    """Return all systems, those of other packages last; packages are searched once in a process."""
    return (*REGISTRY, *_installed()[0])


def broken() -> tuple[BrokenSystem, ...]:
    """Return the systems of other packages that cannot be used."""
    return _installed()[1]


def forget_installed() -> None:
    """Forget the systems of other packages, so that they are searched again; for a process in which packages change."""
    _installed.cache_clear()


def system_name(name: str) -> SystemName:
    """Return the system registered under a name; KeyError where there is none."""
    return {one.name: one for one in registered()}[name]


def kinds() -> tuple[str, ...]:
    """Return the kinds of records of all systems, in the order in which equally good search results are listed."""
    return tuple(kind for system in registered() for kind in system.kinds)


def workspace_of(start: str) -> str | None:
    """Return the workspace that contains a folder (absolute): the nearest one upwards that holds any system.

    A folder with only the mark of a `listed` system belongs to the workspace around it, if there is one, so that its
    files have one history from any current folder.
    """
    folder, found = start, None
    systems = registered()
    while True:
        if any(not system.listed and system.marks(folder) for system in systems):
            return folder
        if found is None and holds_memory(folder):
            found = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return found
        folder = parent


def holds_memory(folder: str) -> bool:
    """Return whether a folder is a workspace: whether it has the mark of any system."""
    return any(system.marks(folder) for system in registered())


def installed(own: Sequence[SystemName]) -> tuple[tuple[SystemName, ...], tuple[BrokenSystem, ...]]:
    """Return the systems of other packages, sorted by the name of their entry points, and those that cannot be used.

    A system cannot be used if it does not load or if its name, kind, mark, verb or pane is already that of an earlier
    one.
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
            broken.append(BrokenSystem(name, package, f"it is not a SystemName but {type(found).__name__}"))
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

    The current folder, which `python -m` puts on the path, is skipped: a repository must not bring code.
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
    """Return why a system cannot be used, "" where it can."""
    if not all(isinstance(verb, VerbName) for verb in found.verbs):
        return "its verbs are not all VerbName"
    if not all(isinstance(pane, PaneEntry) for pane in found.panes):
        return "its panes are not all PaneEntry"
    for word in (found.name, *found.kinds, *(verb.name for verb in found.verbs), *(pane.id for pane in found.panes)):
        if not isinstance(word, str) or not re.fullmatch(_NAME, word):
            return f"{word!r} is not a name: small letters, digits, - and _"
    for place in (found.place, *(verb.place for verb in found.verbs), *(pane.place for pane in found.panes)):
        if not isinstance(place, str) or not re.fullmatch(_PLACE, place):
            return f"{place!r} is not a place such as package.module:Name"
    parts = found.mark.split("/") if isinstance(found.mark, str) else [""]
    if any(part in ("", ".", "..") for part in parts):
        return f"its mark {found.mark!r} is not a path in a workspace"
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
                return f"its {what} {taken[0]} is already one of {other.name}"
    return ""
