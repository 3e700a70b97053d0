"""The checks of `memdeck doctor`: one table, each check with its name and what it finds."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

from app.cli.session import at_terminal
from app.connect.command import this_command
from app.hooks.sessions import failures
from app.version import __version__
from memory.base.programs import find_program
from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from memory.history.outside import lost_files
from memory.maintenance.run import ahead_of
from memory.monitoring.schedule import overdue
from memory.review.inbox import Inbox
from memory.review.policy import read_policy
from memory.storage import Store
from memory.storage.own_folders import config_home
from memory.system import FAILED
from memory.systems import approvals_of, check_all, load_problems, trust_of, waiting_in
from memory.systems.suspects import suspects_of
from memory.workspace import Workspace

Level = Literal["ok", "note", "warning", "person"]
_LIBRARIES = ("textual", "rich", "click", "pyyaml", "markdown-it-py", "croniter", "watchdog")
_FEW_WATCHES = 1024
_SCHEDULE = "`memdeck doctor --schedule` shows how to have it run"


class DoctorFinding(NamedTuple):
    """The result of one check: `person` needs a person and makes doctor exit with 4, `warning` works with less."""

    name: str
    level: Level
    message: str
    hint: str = ""


Found = Iterator[tuple[Level, str] | tuple[Level, str, str]]
"""What a check finds: a level, what it is, and what to do about it."""


def findings(root: Path | None, open_workspace: Callable[[], Workspace], now: datetime) -> Iterator[DoctorFinding]:
    """Yield what all checks find; those of a workspace only where one is. What fails in a check is its finding."""
    for name, look in _MACHINE.items():
        yield from _of(name, look(root))
    try:
        workspace = open_workspace()
    except MemdeckError as error:
        if root is not None:
            raise
        yield DoctorFinding("workspace", "note", error.message, error.hint)
    else:
        yield DoctorFinding("workspace", "ok", str(workspace.root))
        told: set[str] = set()
        for name, check in _WORKSPACE.items():
            for found in _of(name, check(workspace, now)):
                # A wrong state folder fails many checks: the first one that needs it reports it.
                if found.level != "person" or found.message not in told:
                    told.add(found.message)
                    yield found
        yield from _systems(workspace)
    yield from _of("cron", scheduled(root, crontab(root)))


def _of(name: str, found: Found) -> Iterator[DoctorFinding]:
    try:
        for one in found:
            yield DoctorFinding(name, *one)
    except MemdeckError as error:
        yield DoctorFinding(name, "person", error.message, error.hint)


# -- the machine ---------------------------------------------------------------------------------------------------


def _terminal(_root: Path | None) -> Found:
    term = os.environ.get("TERM", "")
    if not at_terminal():
        yield "note", "this is not a terminal", "the verbs and --maintain need none"
    elif term in ("", "dumb"):
        yield "warning", f"TERM is {term!r}", "the application needs one such as xterm-256color"
    else:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
        small = columns < 40 or lines < 10
        yield "warning" if small else "ok", f"{term}, {columns}x{lines}", "40x10 is the least to work in" * small


def _encoding(_root: Path | None) -> Found:
    encoding = (sys.stdout.encoding if sys.stdout is not None else "") or "unknown"
    if encoding.lower().replace("-", "") == "utf8":
        yield "ok", encoding
    else:
        hint = "other characters are shown as escapes; set LANG to a UTF-8 locale"
        yield "warning", f"output is {encoding}", hint


def _watcher(_root: Path | None) -> Found:
    try:
        limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        yield "ok", "notifications of the system, and polling"
        return
    if limit < _FEW_WATCHES:
        yield "warning", f"only {limit} watches a user", "polling still notices every change"
    else:
        yield "ok", f"inotify with {limit} watches, and polling"


def _keys(root: Path | None) -> Found:
    """Check the file with the keys that the user chose."""
    from app.tui.keys.user_keys import read_keymap  # It imports textual, and every verb is in one table.

    keymap = read_keymap(config_home(os.environ), root)
    for problem in keymap.problems:
        yield "warning", str(problem), "docs/keys.md explains what you can write there"
    if not keymap.problems:
        yield "ok", f"{len(keymap.rebound)} changed in {keymap.path}" if keymap.path else "memdeck's own"


_MACHINE: dict[str, Callable[[Path | None], Found]] = {
    "memdeck": lambda _: iter([("ok", f"{__version__}, {' '.join(this_command())}")]),
    "python": lambda _: iter([("ok", f"{sys.version.split()[0]}, {sys.executable}")]),
    "libraries": lambda _: iter([("ok", ", ".join(f"{name} {version(name)}" for name in _LIBRARIES))]),
    "terminal": _terminal,
    "encoding": _encoding,
    "watcher": _watcher,
    "keys": _keys,
}


# -- a workspace ---------------------------------------------------------------------------------------------------


def _folder(workspace: Workspace, _now: datetime) -> Found:
    own = [workspace.memory] if "files" in workspace.system_names() else []
    for folder in (*own, *(store.root for store in workspace.stores())):
        if not os.access(folder, os.W_OK | os.X_OK):
            yield "person", f"{folder} cannot be written", "memdeck only reads; check its permissions"
            return
    yield "ok", "can be written"


def _files(workspace: Workspace, _now: datetime) -> Found:
    if "files" not in workspace.system_names():
        return
    found: list[tuple[Level, str, str]] = []
    missing = []
    for name in MEMORY_FILES:
        path = workspace.memory / name
        if not os.path.lexists(path):
            missing.append(name)
        elif not os.path.isfile(path) or not os.access(path, os.R_OK | os.W_OK):
            found.append(("person", f"{name} cannot be read and written", "check its permissions"))
        elif os.stat(path).st_mode & 0o002:
            found.append(("warning", f"everyone on this machine can write {name}", f"chmod o-w {path}"))
        elif os.stat(path).st_nlink > 1:
            found.append(("person", f"{name} is a hard link", "memdeck does not write it; replace it by a copy"))
    for lost in lost_files(workspace):
        missing = [name for name in missing if name != lost.name]
        back = f"`memdeck changes revert {lost.change[:16]}`" if lost.change else "`memdeck changes list` shows what"
        found.append(("person", lost.sentence(), f"{back} brings it back"))
    yield from found
    if missing:
        yield "note", f"not there: {', '.join(missing)}", "`memdeck init` creates them"
    elif not found:
        yield "ok", f"all {len(MEMORY_FILES)} are there, readable and writable"


def _locks(workspace: Workspace, _now: datetime) -> Found:
    """Check the locks of all systems; a problem names the folder."""
    found = [(store.root, _lock(store)) for store in workspace.stores()]
    for root, (level, words, hint) in found:
        if level != "ok":
            yield level, f"{words}: {root}", hint
    if all(level == "ok" for _, (level, _, _) in found):
        yield "ok", f"free, in {plural(len(found), 'memory system')}"


def _lock(store: Store) -> tuple[Level, str, str]:
    path = store.folder / "lock"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return "ok", "", ""
    except OSError as error:
        return "person", f"{path} cannot be opened ({error.strerror})", "check its permissions"
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = " ".join(os.pread(fd, 512, 0).decode("utf-8", "replace").split())
        return "warning", f"held by {holder or 'another process'}", "changes wait for it up to 5 s"
    except OSError as error:
        return "person", f"locks do not work here ({error.strerror})", "move it to a local file system"
    finally:
        os.close(fd)
    return "ok", "", ""


def _protection(workspace: Workspace, _now: datetime) -> Found:
    """Report what protects changes here from crashes and other programs; it is tested where changes can be made."""
    if not os.access(workspace.store.root, os.W_OK | os.X_OK):
        return
    reduced = workspace.store.protection()
    if not reduced:
        yield "ok", "files swap in one step, and a crash loses nothing"
    for reason in reduced:
        yield "warning", f"reduced protection: {reason}", "changes work all the same"
    for store in workspace.stores():
        for kept in store.kept():
            where = store.folder / "stage" / kept.name
            words = f"another program wrote to {kept.path} in the moment of a change; its bytes are in {where}"
            yield "person", words, "merge what you need from it, then remove that file"


def _state(workspace: Workspace, now: datetime) -> Found:
    if workspace.store.history.seen():
        workspace.notice(now)
    workspace.state.folder.check()
    yield "ok", str(workspace.state.folder.path)


def _clock(workspace: Workspace, now: datetime) -> Found:
    if (latest := ahead_of(workspace, now)) is not None:
        words = f"the clock is behind the last change, which was at {latest:%Y-%m-%d %H:%M} UTC"
        yield "person", words, "set the clock, or maintain once with --force"


def _maintenance(workspace: Workspace, now: datetime) -> Found:
    last = workspace.state.last_maintenance()
    said = "never ran" if last is None else f"last ran {last:%Y-%m-%d %H:%M} UTC"
    late = last is None or now - last > timedelta(days=14)
    yield "note" if late else "ok", said, _SCHEDULE if late else ""


def _upkeep(workspace: Workspace, now: datetime) -> Found:
    for late in overdue(workspace, now):
        yield "warning", late.message, _SCHEDULE


def _trust(workspace: Workspace, _now: datetime) -> Found:
    """Check the approvals: an invalid record needs a person."""
    kept = trust_of(workspace, config_home(os.environ))
    problems = kept.problems()
    for problem in problems:
        yield "person", problem, "`memdeck trust list` shows what counts now"
    if problems:
        return
    found = approvals_of(workspace, kept, os.environ)
    states = Counter(one.decision.state for one in found)
    counts = {"allowed": sum(one.decision.allowed for one in found), "needing approval": len(waiting_in(found))}
    counts |= {"denied": states["denied"], "refused": states["refused"]}
    said = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    yield "ok", f"commands, addresses and folders: {said or 'none'}"
    if doubtful := sum(not one.approved for one in suspects_of(workspace)):
        look, them = ("looks", "it") if doubtful == 1 else ("look", "them")
        text = f"{plural(doubtful, 'text')} {look} suspicious, so agents are not told of {them}"
        yield "note", text, "`memdeck check` names file and line, `memdeck trust list` the ids"
    for _, ask, decision in found:
        if ask.role == "folders" and not decision.allowed:
            text = f"memdeck may not prune the folders of {ask.name[:60]}: {decision.why}"
            yield "note", text, "`memdeck trust list` shows them"


def _history(workspace: Workspace, _now: datetime) -> Found:
    """Report whether the change log can be read and written."""
    history = workspace.store.history
    history.list(1)
    for warning in history.warnings:
        yield "warning", warning, "changes are made all the same, and listed later as ones from outside"
    damaged = history.file.damaged()
    if damaged and not history.warnings:
        yield "note", f"an older history was damaged; it is {', '.join(map(str, damaged))}", "a new history began"
    elif (full := workspace.state.folder.full()) is not None:
        yield "warning", f"nothing can be recorded: {full.message}", "make room there: no change is made until then"
    elif not history.warnings:
        yield "ok", "can be read and written"


def _review(workspace: Workspace, _now: datetime) -> Found:
    inbox = Inbox(workspace.together)
    rules, count = len(read_policy(workspace.state)), inbox.count()
    if inbox.warnings:
        yield "person", inbox.warnings[-1], "agents cannot propose anything until it can be used"
        return
    said = f"waiting proposals of agents: {count:,}; rules of your own: {rules:,}"
    yield "note" if count else "ok", said, "`memdeck review list` shows them" if count else ""


def _hooks(workspace: Workspace, _now: datetime) -> Found:
    """Report why hooks of agents' clients returned nothing."""
    for name, time, why in failures(workspace):
        yield "warning", f"{name.strip()} gave no answer at {time}: {why}", "run it by hand to see more"


def _settings(workspace: Workspace, _now: datetime) -> Found:
    snapshot = workspace.snapshot()
    settings = snapshot.config.maintenance()
    words = f"archive after {settings.archive_days} days, prune after {settings.prune_days}, "
    yield "ok", f"{words}at most {settings.max_entries} journal entries, zone {snapshot.zone}"


def _problems(workspace: Workspace, _now: datetime) -> Found:
    counts = Counter(problem.level for problem in check_all(workspace))
    level: Level = "person" if counts["error"] else "note" if counts["warning"] else "ok"
    text = f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}"
    yield level, text, "" if level == "ok" else "`memdeck check` names file and line"


_WORKSPACE: dict[str, Callable[[Workspace, datetime], Found]] = {
    "folder": _folder,
    "files": _files,
    "lock": _locks,
    "state": _state,
    "protection": _protection,
    "clock": _clock,
    "maintenance": _maintenance,
    "upkeep": _upkeep,
    "trust": _trust,
    "history": _history,
    "review": _review,
    "hook": _hooks,
    "config": _settings,
    "check": _problems,
}


def _systems(workspace: Workspace) -> Iterator[DoctorFinding]:
    """Report what the memory systems want a person to look at."""
    for system in workspace.systems():
        try:
            for message, hint in system.doctor_lines():
                yield DoctorFinding(system.name, "warning", message, hint)
        except MemdeckError as error:
            if error.code != FAILED:
                yield DoctorFinding(system.name, "person", error.message, error.hint)
    for failure in workspace.failures():
        yield DoctorFinding(str(failure.details["system"]), "person", failure.message, failure.hint)
    for problem in load_problems():
        words = f"{problem.file}: {problem.message}"
        yield DoctorFinding("systems", "warning", words, "remove the package or update it")


# -- what runs --maintain ------------------------------------------------------------------------------------------


def scheduled(root: Path | None, own_table: str, etc: Path = Path("/etc")) -> Found:
    """Look for an entry that runs maintenance: in the user's crontab (`own_table`), in `/etc/crontab` and
    `/etc/cron.d`, and in the timers of systemd.
    """
    # A folder is named, and not only one whose path begins like it.
    wanted = "" if root is None else rf"{re.escape(str(root))}(?![\w/.-])"

    def runs(text: str) -> bool:
        return "memdeck" in text and "--maintain" in text and re.search(wanted, text) is not None

    tables = [("the crontab", own_table)]
    tables += [(str(file), _text_of(file)) for file in (etc / "crontab", *sorted((etc / "cron.d").glob("*")))]
    for where, text in tables:
        if any(runs(line) for line in text.splitlines() if not line.lstrip().startswith("#")):
            yield "ok", f"an entry in {where} runs it"
            return
    asleep = None
    for folder in (config_home(os.environ) / "systemd" / "user", etc / "systemd" / "system", etc / "systemd" / "user"):
        for service in (one for one in sorted(folder.glob("*.service")) if runs(_text_of(one))):
            started = {service.stem, *(one.stem for one in folder.glob("*.timer") if service.name in _text_of(one))}
            if any(os.path.lexists(folder / "timers.target.wants" / f"{name}.timer") for name in started):
                yield "ok", f"a timer starts {service}"
                return
            asleep = service
    if asleep is not None:
        yield "note", f"no enabled timer starts {asleep}", f"systemctl --user enable --now {asleep.stem}.timer"
    else:
        yield "note", "nothing runs --maintain regularly", "`memdeck doctor --schedule` shows how"


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def crontab(root: Path | None = None) -> str:
    """Return the user's crontab, empty if there is none or it cannot be listed.

    A program inside the workspace at `root` is never used as `crontab`, even if PATH names it.
    """
    program = find_program("crontab", os.environ.get("PATH", os.defpath), outside=None if root is None else str(root))
    if program is None:
        return ""
    try:
        done = subprocess.run([program, "-l"], capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
