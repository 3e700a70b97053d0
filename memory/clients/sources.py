"""Where clients keep memories about a workspace: folders in the home folder, and some in the workspace itself.

Only names and a few settings are read here. Nothing that came with a repository names a folder outside it: the setting
`autoMemoryDirectory` counts in the user's own settings only. A folder is changed only after the person allowed it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Unpack
from urllib.parse import unquote, urlsplit

from memory.base.clock import format_utc
from memory.base.git import common_of, git_folder, top_of
from memory.errors import BlockedError, MemdeckError
from memory.review.proposals import hold
from memory.storage import PrivateState, Store
from memory.storage.changes import OUTSIDE, PlainReading
from memory.storage.private.record import PrivateRecord
from memory.storage.safe_open import read_start
from memory.storage.store import SharedLog
from memory.storage.transaction import Options, Transaction

TITLES = {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "vscode": "VS Code"}
"""The clients by their names, as `memdeck connect` takes them."""
INDEX = "MEMORY.md"
_SESSIONS, _SESSION_BYTES = 5, 65_536
"""How many sessions are read for the folder that they were in, and how many bytes of each."""
_MOST_FOLDERS = 500
_LONGEST_SLUG = 200
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_SETTINGS_BYTES, _MARK_BYTES = 1_000_000, 4096


class Source(NamedTuple):
    """One folder of memories of a client.

    `scope` is project, user, local, or session; `root` its real path; `shown` its path for people, relative to the
    workspace or beginning with `~/`. `inside` says that it is in the workspace. `indexed` says that `MEMORY.md` is an
    index of the other files, of which the client loads the beginning. `only` are the only files of it, if it has others
    that are no memory. `off` says that the client does not load it: its settings say so, or a newer folder replaced it.
    `agents` says that each of its folders belongs to a subagent. `notes` is the folder in it for additions, where the
    client writes the other files itself.
    """

    client: str
    scope: str
    root: Path
    shown: str
    inside: bool = False
    indexed: bool = False
    only: tuple[str, ...] = ()
    off: bool = False
    agents: bool = False
    notes: str = ""

    @property
    def title(self) -> str:
        """The client and the scope in words."""
        return f"{TITLES[self.client]}{', subagents' if self.agents else ''} ({self.scope})"

    @property
    def name(self) -> str:
        """The name by which a person picks it, such as `claude-code:project`."""
        return f"{self.client}:{'agents-' if self.agents else ''}{self.scope}"

    def top(self, agent: str = "") -> str:
        """Return the folder in it, empty or with a slash at its end, that gets a new memory, of a subagent if named."""
        inner = agent if self.agents else self.notes
        return f"{inner}/" if inner else ""

    def is_top(self, folder: str) -> bool:
        """Return whether a folder of it, "" for itself, has an index of its own; inner ones are named by that above."""
        return not folder or (self.agents and "/" not in folder)


def sources(root: Path, home: Path | None, environ: Mapping[str, str]) -> tuple[Source, ...]:
    """Return the folders of memories that exist for a workspace, those of the workspace itself first."""
    found = [
        Source(client, scope, place, _shown(place, root, home), **more)
        for client, scope, place, more in (*_inside(root), *_candidates(Path(os.path.realpath(root)), home, environ))
        if place.is_dir() and (not more.get("only") or any((place / name).is_file() for name in more["only"]))
    ]
    return tuple({str(one.root): one for one in found}.values())


def _inside(root: Path) -> Iterator[tuple[str, str, Path, dict[str, Any]]]:
    for scope, name in (("project", "agent-memory"), ("local", "agent-memory-local")):
        place = root / ".claude" / name
        # A link in a repository must not lead to a folder elsewhere.
        if not place.is_symlink() and not place.parent.is_symlink():
            yield "claude-code", scope, place, {"inside": True, "indexed": True, "agents": True}


def _candidates(
    root: Path, home: Path | None, environ: Mapping[str, str]
) -> Iterator[tuple[str, str, Path, dict[str, Any]]]:
    if home is None:
        return
    config = claude_home(home, environ)
    settings = read_json(config / "settings.json")
    off = settings.get("autoMemoryEnabled") is False or environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY") == "1"
    for place in _claude_folders(root, home, environ):
        yield "claude-code", "project", _real(place), {"indexed": True, "off": off}
    yield "claude-code", "user", _real(config / "agent-memory"), {"indexed": True, "agents": True}
    codex = _real(codex_home(home, environ) / "memories_v2")
    yield "codex", "user", codex, {"notes": "extensions/ad_hoc/notes"}
    yield "codex", "user", _real(codex_home(home, environ) / "memories"), {"off": codex.is_dir()}
    gemini = home / ".gemini"
    yield "gemini", "user", _real(gemini), {"only": ("GEMINI.md",)}
    for folder in _gemini_folders(gemini / "tmp", str(root), _stamp(gemini / "tmp")):
        yield "gemini", "project", _real(Path(folder)), {}
    for user in (home / ".config/Code/User", home / "Library/Application Support/Code/User"):
        tool = "memory-tool/memories"
        yield "vscode", "user", _real(user / "globalStorage/github.copilot-chat" / tool), {}
        storage = user / "workspaceStorage"
        for folder in _code_folders(storage, str(root), _stamp(storage)):
            yield "vscode", "project", _real(Path(folder) / "GitHub.copilot-chat" / tool), {}


# -- Claude Code -----------------------------------------------------------------------------------------------------


def claude_home(home: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings and projects."""
    return _named(environ, "CLAUDE_CONFIG_DIR", home / ".claude")


def _claude_folders(root: Path, home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folder of the auto memory: the one that a variable or setting names, else that of the project."""
    config = claude_home(home, environ)
    named = environ.get("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE") or read_json(config / "settings.json").get(
        "autoMemoryDirectory"
    )
    if isinstance(named, str) and named:
        place = f"{home}{named[1:]}" if named.startswith("~/") else named
        if os.path.isabs(place):
            yield Path(place)
            return
    tops = {str(root), str(project_root(root))}
    for top in sorted(tops):
        for project in _projects(config / "projects", top):
            # Several paths have the same slug: the sessions say which one it is.
            known = session_folders(project)
            if not known or any(_around(one, tops) or str(project_root(Path(one))) in tops for one in known):
                yield project / "memory"


def _projects(projects: Path, top: str) -> Iterator[Path]:
    """Yield the folders of Claude Code that a project may have, by the ways in which it names them."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", top)
    yield from (projects / one for one in sorted({slug, re.sub(r"[/.]", "-", top)}))
    if len(slug) > _LONGEST_SLUG:  # The rest of a longer name is a hash that only the client knows.
        begins = f"{slug[:_LONGEST_SLUG]}-"
        yield from (projects / one for one in _names(projects) if one.startswith(begins))


def project_root(root: Path) -> Path:
    """Return the root of the git repository around a folder, the main one for a worktree; else the folder itself.

    A worktree counts only where its repository lists it: the sender of a folder could otherwise have the memory of any
    project shown in it.
    """
    top = top_of(str(root))
    if top is None:
        return root
    common = common_of(git_folder(top) or os.path.join(top, ".git"))
    return Path(os.path.dirname(common) if os.path.basename(common) == ".git" else top)


def session_folders(project: Path) -> tuple[str, ...]:
    """Return the folders in which the newest sessions of a project were, as their `cwd` says."""
    return _session_folders(str(project), _stamp(project))


@lru_cache(256)
def _session_folders(project: str, _stamp: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    with suppress(OSError):
        with os.scandir(project) as listing:
            files = [one for one in listing if one.name.endswith(".jsonl") and one.is_file(follow_symlinks=False)]
        for one in sorted(files, key=lambda one: one.stat().st_mtime_ns, reverse=True)[:_SESSIONS]:
            if match := _CWD.search(_start(Path(one.path), _SESSION_BYTES)):
                with suppress(ValueError):
                    found[os.path.normpath(str(json.loads(match[1])))] = None
    return tuple(found)


def _around(folder: str, tops: set[str]) -> bool:
    real = os.path.realpath(folder)
    return any(f"{one}/".startswith(f"{top}/") for one in (folder, real) for top in tops)


class Moved(NamedTuple):
    """A folder of memories whose project is gone from its path, and is probably this workspace under another name."""

    root: Path
    was: str


def moved_from(root: Path, home: Path | None, environ: Mapping[str, str]) -> tuple[Moved, ...]:
    """Return the memories of projects that were at a path which is gone, with the same folder name or parent as here.

    Of several with only the same parent none is meant: it could be any of them.
    """
    if home is None:
        return ()
    real = project_root(Path(os.path.realpath(root)))
    projects = claude_home(home, environ) / "projects"
    same, near = [], []
    for name in _names(projects):
        place = projects / name
        known = session_folders(place) if (place / "memory").is_dir() else ()
        if not known or any(os.path.lexists(folder) for folder in known):
            continue
        if os.path.basename(known[0]) == real.name:
            same.append(Moved(_real(place / "memory"), known[0]))
        elif os.path.dirname(known[0]) == str(real.parent):
            near.append(Moved(_real(place / "memory"), known[0]))
    return tuple(same or (near if len(near) == 1 else ()))


def claude_folder(root: Path, home: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder in which Claude Code keeps the memory of a workspace now, existing or not."""
    found = list(_claude_folders(Path(os.path.realpath(root)), home, environ))
    top = str(project_root(Path(os.path.realpath(root))))
    wanted = claude_home(home, environ) / "projects" / re.sub(r"[^A-Za-z0-9]", "-", top) / "memory"
    return next((one for one in found if one.is_dir()), wanted if wanted in found or not found else found[0])


# -- the others ------------------------------------------------------------------------------------------------------


def codex_home(home: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder of Codex's settings and memories."""
    return _named(environ, "CODEX_HOME", home / ".codex")


@lru_cache(64)
def _gemini_folders(tmp: Path, root: str, _stamp: int) -> tuple[str, ...]:
    """Return the private folders of Gemini CLI about a project: named by its hash, or with its path in a file."""
    found = []
    for name in _names(tmp):
        said = _start(tmp / name / ".project_root", _MARK_BYTES).decode(errors="replace").strip()
        if name == sha256(root.encode()).hexdigest() or said == root:
            found += [str(tmp / name / one) for one in ("memory", "memories")]
    return tuple(found)


@lru_cache(64)
def _code_folders(storage: Path, root: str, _stamp: int) -> tuple[str, ...]:
    """Return the folders that VS Code keeps for a workspace."""
    found = []
    for name in _names(storage):
        folder = read_json(storage / name / "workspace.json").get("folder")
        if isinstance(folder, str) and folder.startswith("file://") and unquote(urlsplit(folder).path) == root:
            found.append(str(storage / name))
    return tuple(found)


def _names(folder: Path) -> tuple[str, ...]:
    """Return the names of the folders in a folder, links left out; at most 500, the newest."""
    with suppress(OSError), os.scandir(folder) as listing:
        found = [(one.stat().st_mtime_ns, one.name) for one in listing if one.is_dir(follow_symlinks=False)]
        return tuple(name for _, name in sorted(found, reverse=True)[:_MOST_FOLDERS])
    return ()


def read_json(path: Path) -> dict[str, Any]:
    """Return a small JSON object of a client's settings, empty if it cannot be read."""
    data = _start(path, _SETTINGS_BYTES + 1)
    with suppress(ValueError, RecursionError):
        found = json.loads(data) if len(data) <= _SETTINGS_BYTES else None
        return found if isinstance(found, dict) else {}
    return {}


def _start(path: Path, most: int) -> bytes:
    """Return the first bytes of a regular file, none if it cannot be read."""
    with suppress(OSError, ValueError, MemdeckError):
        return read_start(path, most)
    return b""


def _named(environ: Mapping[str, str], name: str, default: Path) -> Path:
    setting = environ.get(name, "")
    return Path(setting) if os.path.isabs(setting) else default


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _stamp(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _shown(place: Path, root: Path, home: Path | None) -> str:
    tops = [(str(root), "")] + [(str(one), "~/") for one in (home, home and _real(home)) if one]
    return next(
        (words + os.path.relpath(place, top) for top, words in tops if f"{place}/".startswith(f"{top}/")), str(place)
    )


TEXTS = (".md", ".txt", ".mdc", ".patch", ".json")
"""The endings of files that are memories."""


class ClientReading(PlainReading):
    """Reads the files of one client's folder for the history."""

    own = True

    def __init__(self, source: Source) -> None:
        """A change that memdeck did not make counts as the client's; in a workspace git may have made it as well."""
        self._only = source.only
        self.writer = OUTSIDE if source.inside else f"agent:{source.client}"

    def knows(self, path: str) -> bool:
        """Return whether a path is that of a memory."""
        return is_memory(path) and (not self._only or path in self._only)


def is_memory(path: str) -> bool:
    """Return whether a file of a client's folder is read: a text, and nothing hidden but the inbox of patches.

    What Codex writes for the agent that tidies its memory up is none.
    """
    *folders, name = path.split("/")
    hidden = any((one.startswith(".") and one != ".inbox") or one == "node_modules" for one in folders)
    own = name == "phase2_workspace_diff.md" or (folders[:1] == ["extensions"] and name == "instructions.md")
    return not hidden and not own and not name.startswith(".") and name.endswith(TEXTS)


class ClientStore(Store):
    """The files of one client's folder; BlockedError `clients.consent` for each change before the person allowed it."""

    def __init__(self, source: Source, state: PrivateState, workspace: Path, together: SharedLog | None = None) -> None:
        """Nothing is read yet; `workspace` is the folder itself where it is outside the workspace."""
        self.source = source
        super().__init__(
            source.root,
            state=state,
            workspace=workspace,
            reading=ClientReading(source),
            together=together,
            gate=hold,
        )

    def transaction(self, operation: str, *, actor: str, now: datetime, **options: Unpack[Options]) -> Transaction:
        """Return a transaction, as any store does."""
        self._refuse_unallowed()
        return super().transaction(operation, actor=actor, now=now, **options)

    def check_path(self, path: str) -> None:
        """Raise as any store does: every write passes here, also those of undo and of accepted proposals."""
        self._refuse_unallowed()
        super().check_path(path)

    def _refuse_unallowed(self) -> None:
        if not self.allowed:
            refused = BlockedError(
                "clients.consent",
                f"{self.source.shown} belongs to {self.source.title}; memdeck changes it only after you allow it",
                f"run `memdeck clients allow {self.source.name}` once",
                folder=str(self.source.root),
            )
            refused.grant = self.allow
            raise refused

    @property
    def _record(self) -> PrivateRecord:
        return PrivateRecord(self.state.folder, "clients", "allowed.json")

    @property
    def allowed(self) -> bool:
        """Whether the person allowed changes of this folder."""
        return str(self.source.root) in _read(self._record.read().data)

    def allow(self, now: datetime, *, allowed: bool = True) -> None:
        """Keep that changes of this folder are allowed, or no longer are."""
        root = str(self.source.root)

        def changed(data: bytes | None) -> bytes:
            known = {key: value for key, value in _read(data or b"").items() if key != root}
            return json.dumps({**known, root: format_utc(now)} if allowed else known).encode()

        self._record.update(changed, command="clients.allow", now=now)


def _read(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def outside(root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the stores of the clients' folders that are outside of a workspace."""
    for source in sources(root, home, os.environ):
        if not source.inside:
            yield ClientStore(source, PrivateState(state_home, source.root, home), source.root)
