"""The checks of `memdeck doctor`, each with what it found and what to do about it."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from app.cli.session import at_terminal
from app.hooks.sessions import failures
from app.tui.keys.conflicts import all_problems, running
from app.tui.keys.key_file import read_keymap
from app.version import __version__
from memory.base.programs import find_program
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from memory.history.outside import lost_files
from memory.maintenance.run import ahead_of
from memory.monitoring.run.schedule import overdue
from memory.monitoring.words import plural
from memory.review import Inbox
from memory.storage import Store
from memory.storage.own_folders import config_home
from memory.system import FAILED
from memory.systems import approvals_of, check_all, failures_of, load_problems, trust_of, waiting_in
from memory.systems.suspects import suspects_of
from memory.workspace import Workspace

from .timetable import executable

Level = Literal["ok", "note", "warning", "person"]
_LIBRARIES = ("textual", "rich", "click", "pyyaml", "markdown-it-py", "croniter", "watchdog")
_FEW_WATCHES = 1024
FREE = "free"
"""What is printed for a lock that no process holds."""


class DoctorFinding(NamedTuple):
    """The result of one check: `person` needs a person and makes doctor exit with 4, `warning` works with less."""

    name: str
    level: Level
    message: str
    hint: str = ""


def machine() -> Iterator[DoctorFinding]:
    """Check what is independent of a workspace."""

    yield DoctorFinding("memdeck", "ok", f"{__version__}, {' '.join(executable())}")
    yield DoctorFinding("python", "ok", f"{sys.version.split()[0]}, {sys.executable}")
    yield _libraries()
    yield _terminal()
    yield _encoding()
    yield _watcher()


def _libraries() -> DoctorFinding:

    found, missing = [], []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return DoctorFinding("libraries", "person", f"missing: {', '.join(missing)}", "install memdeck again")
    return DoctorFinding("libraries", "ok", ", ".join(found))


def _terminal() -> DoctorFinding:
    term = os.environ.get("TERM", "")
    if not at_terminal():
        return DoctorFinding("terminal", "note", "this is no terminal", "the verbs and --maintain need none")
    if term in ("", "dumb"):
        return DoctorFinding(
            "terminal", "warning", f"TERM is {term!r}", "the application needs one such as xterm-256color"
        )
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if columns < 40 or lines < 10:
        return DoctorFinding("terminal", "warning", f"{term}, {columns}x{lines}", "40x10 is the least to work in")
    return DoctorFinding("terminal", "ok", f"{term}, {columns}x{lines}")


def _encoding() -> DoctorFinding:
    encoding = (sys.stdout.encoding if sys.stdout is not None else "") or "unknown"
    if encoding.lower().replace("-", "") != "utf8":
        return DoctorFinding(
            "encoding",
            "warning",
            f"output is {encoding}",
            "other characters are shown as escapes; set LANG to a UTF-8 locale",
        )
    return DoctorFinding("encoding", "ok", encoding)


def _watcher() -> DoctorFinding:

    if find_spec("watchdog") is None:
        return DoctorFinding("watcher", "note", "polling only", "changes appear within two seconds all the same")
    try:
        limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        return DoctorFinding("watcher", "ok", "notifications of the system, and polling")
    if limit < _FEW_WATCHES:
        return DoctorFinding("watcher", "warning", f"only {limit} watches a user", "polling still notices every change")
    return DoctorFinding("watcher", "ok", f"inotify with {limit} watches, and polling")


def of_keys(root: Path | None) -> Iterator[DoctorFinding]:
    """Check the keys that the user chose, and the keys that programs around this terminal take."""
    keymap = read_keymap(config_home(os.environ), root)
    # The default keys are covered by tests; checking them takes as long as all the rest.
    looks = keymap.path or running(os.environ)
    problems = all_problems(keymap, os.environ) if looks else ()
    for problem in problems:
        yield DoctorFinding("keys", "warning", str(problem), "docs/keys.md tells what can be written there")
    if not problems:
        changed = f"{len(keymap.rebound)} changed in {keymap.path}" if keymap.path else "memdeck's own"
        yield DoctorFinding("keys", "ok", changed)


def of_workspace(workspace: Workspace, now: datetime) -> Iterator[DoctorFinding]:
    """Check a workspace: what can be read and written, which process holds the lock, what its files say."""
    yield DoctorFinding("workspace", "ok", str(workspace.root))
    own = "files" in workspace.system_names()
    stores = workspace.stores()
    yield _writable([*([workspace.memory] if own else []), *(store.root for store in stores)])
    with suppress(MemdeckError):  # A wrong state folder is reported below.
        if workspace.store.history.seen():
            workspace.notice(now)
    if own:
        yield from _files(workspace)
    yield from _locks(stores)
    yield from _protection(workspace)
    yield from _guarded("state", lambda: _state(workspace, now))
    yield from _guarded("trust", lambda: _trust(workspace))
    yield from _history(workspace)
    yield from _guarded("review", lambda: [_review(workspace)])
    yield from _systems(workspace, now)
    yield from _hooks(workspace)
    yield from _guarded("config", lambda: [_settings(workspace)])
    yield from _guarded("check", lambda: [_problems(workspace)])


def _review(workspace: Workspace) -> DoctorFinding:

    inbox = Inbox(workspace)
    rules = len(inbox.policy().rules)
    count = inbox.count()
    if inbox.warnings:
        return DoctorFinding(
            "review", "person", inbox.warnings[-1], "agents cannot propose anything until it can be used"
        )
    said = f"waiting proposals of agents: {count:,}; rules of your own: {rules:,}"
    return DoctorFinding("review", "note" if count else "ok", said, "`memdeck review list` shows them" if count else "")


def _systems(workspace: Workspace, now: datetime) -> Iterator[DoctorFinding]:
    """Report what the memory systems want a person to look at."""
    for name, failure in failures_of(workspace, now):
        yield DoctorFinding(name, "person", failure.message, failure.hint)
    for system in workspace.systems():
        try:
            for message, hint in system.doctor_lines():
                yield DoctorFinding(system.name, "warning", message, hint)
        except MemdeckError as error:
            if error.code != FAILED:
                yield DoctorFinding(system.name, "person", error.message, error.hint)
    for problem in load_problems():
        yield DoctorFinding(
            "systems", "warning", f"{problem.file}: {problem.message}", "remove the package or update it"
        )


def _hooks(workspace: Workspace) -> Iterator[DoctorFinding]:
    """Report why hooks of agents' clients returned nothing."""
    for name, time, why in failures(workspace):
        yield DoctorFinding(
            "hook", "warning", f"{name.strip()} said nothing at {time}: {why}", "call it by hand to see more"
        )


def _guarded(name: str, look: Callable[[], Iterable[DoctorFinding]]) -> Iterator[DoctorFinding]:
    """Yield the findings of a check; a file that cannot be read is a finding, and the other checks go on."""
    try:
        yield from look()
    except MemdeckError as error:
        yield DoctorFinding(name, "person", error.message, error.hint)


def _writable(folders: Iterable[Path]) -> DoctorFinding:
    for folder in folders:
        if not os.access(folder, os.W_OK | os.X_OK):
            return DoctorFinding(
                "folder", "person", f"{folder} cannot be written", "memdeck only reads; check its permissions"
            )
    return DoctorFinding("folder", "ok", "can be written")


def _files(workspace: Workspace) -> Iterator[DoctorFinding]:

    missing, wrong = [], False
    for name in MEMORY_FILES:
        path = workspace.memory / name
        if not os.path.lexists(path):
            missing.append(name)
            continue
        if not os.path.isfile(path) or not os.access(path, os.R_OK | os.W_OK):
            wrong = True
            yield DoctorFinding("files", "person", f"{name} cannot be read and written", "check its permissions")
        elif os.stat(path).st_mode & 0o002:
            wrong = True
            yield DoctorFinding("files", "warning", f"everybody on this machine can write {name}", f"chmod o-w {path}")
        elif os.stat(path).st_nlink > 1:
            wrong = True
            yield DoctorFinding(
                "files", "person", f"{name} is a hard link", "memdeck does not write it; replace it by a copy"
            )
    for lost in lost_files(workspace):
        wrong = True
        missing = [name for name in missing if name != lost.name]
        back = f"`memdeck changes revert {lost.change[:16]}`" if lost.change else "`memdeck changes list` has what"
        yield DoctorFinding("files", "person", lost.sentence(), f"{back} brings it back")
    if missing:
        yield DoctorFinding("files", "note", f"not there: {', '.join(missing)}", "`memdeck init` creates them")
    elif not wrong:
        yield DoctorFinding("files", "ok", f"all {len(MEMORY_FILES)} are there, readable and writable")


def _locks(stores: Sequence[Store]) -> Iterator[DoctorFinding]:
    """Check the locks of all systems; if there are several, a problem names the folder."""
    found = [(store, _lock(store)) for store in stores]
    well = [finding for _, finding in found if finding.level == "ok"]
    if well and len(well) == len(found):
        taken = [finding for finding in well if finding.message == FREE]
        words = (taken or well)[0].message
        yield DoctorFinding("lock", "ok", words if len(found) == 1 else f"{words}, in all {len(found)} memory systems")
        return
    for store, finding in found:
        said = finding.message if len(found) == 1 else f"{finding.message}: {store.root}"
        yield DoctorFinding(finding.name, finding.level, said, finding.hint)


def _lock(store: Store) -> DoctorFinding:

    path = store.folder / "lock"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return DoctorFinding("lock", "ok", "never taken yet")
    except OSError as error:
        return DoctorFinding("lock", "person", f"{path} cannot be opened ({error.strerror})", "check its permissions")
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = " ".join(os.pread(fd, 512, 0).decode("utf-8", "replace").split())
        return DoctorFinding(
            "lock", "warning", f"held by {holder or 'another process'}", "changes wait for it up to 5 s"
        )
    except OSError as error:
        return DoctorFinding(
            "lock", "person", f"locks do not work here ({error.strerror})", "move it to a local file system"
        )
    finally:
        os.close(fd)
    return DoctorFinding("lock", "ok", FREE)


def _state(workspace: Workspace, now: datetime) -> Iterator[DoctorFinding]:
    state = workspace.state
    recorded = state.read()
    yield DoctorFinding("state", "ok", str(state.folder.path))
    latest = ahead_of(workspace, now)
    if latest is not None:
        yield DoctorFinding(
            "clock",
            "person",
            f"the clock is behind the last change, which was at {latest:%Y-%m-%d %H:%M} UTC",
            "set the clock, or maintain once with --force",
        )
    last = recorded.last_maintenance
    hint = "`memdeck doctor --schedule` shows how to have it run"
    said = "never ran" if last is None else f"last ran {last:%Y-%m-%d %H:%M} UTC"
    if last is None or now - last > timedelta(days=14):
        yield DoctorFinding("maintenance", "note", said, hint)
    else:
        yield DoctorFinding("maintenance", "ok", said)
    for late in overdue(workspace, now):
        yield DoctorFinding("upkeep", "warning", late.message, hint)


def _trust(workspace: Workspace) -> Iterator[DoctorFinding]:
    """Check the approvals: an invalid record needs a person."""
    kept = trust_of(workspace, config_home(os.environ))
    problems = kept.problems()
    for problem in problems:
        yield DoctorFinding("trust", "person", problem, "`memdeck trust list` shows what counts now")
    if problems:
        return
    found = approvals_of(workspace, kept, os.environ)
    states = Counter(one.decision.state for one in found)
    counts = {"wait for an approval": len(waiting_in(found)), "denied": states["denied"], "refused": states["refused"]}
    said = [f"{count} {words}" for words, count in counts.items() if count]
    asked = f"{len(found)} commands, addresses and folders to approve"
    yield DoctorFinding("trust", "ok", f"{asked}: {', '.join(said)}" if said else asked)
    if doubtful := sum(not one.approved for one in suspects_of(workspace)):
        text = (
            "1 text looks suspicious, so agents are not told of it"
            if doubtful == 1
            else f"{doubtful:,} texts look suspicious, so agents are not told of them"
        )
        yield DoctorFinding("trust", "note", text, "`memdeck check` names file and line, `memdeck trust list` the ids")
    for _, ask, decision in found:
        if ask.role == "folders" and not decision.allowed:
            text = f"the folders of {ask.name[:60]} are not pruned: {decision.why}"
            yield DoctorFinding("trust", "note", text, "`memdeck trust list` shows them")


def _protection(workspace: Workspace) -> Iterator[DoctorFinding]:
    """Report what protects changes here from crashes and other programs; it is tested where changes can be made."""
    if not os.access(workspace.store.root, os.W_OK | os.X_OK):
        return
    found = workspace.store.protection()
    if not found:
        yield DoctorFinding("protection", "ok", "files swap in one step, crashes are recovered from")
    for reason in found:
        yield DoctorFinding("protection", "warning", f"reduced protection: {reason}", "changes work all the same")
    for store in workspace.stores():
        try:
            late = store.kept()
        except MemdeckError:
            continue  # Then the state folder itself is wrong, which is reported separately.
        for kept in late:
            where = store.folder / "stage" / kept.name
            yield DoctorFinding(
                "protection",
                "person",
                f"another program wrote to {kept.path} in the moment of a change; its bytes are in {where}",
                "merge what you need from it, then remove that file",
            )


def _history(workspace: Workspace) -> Iterator[DoctorFinding]:
    """Report whether the change log can be read and written."""
    history = workspace.store.history
    try:
        history.list(1)
    except MemdeckError:
        return  # Then the state folder itself is wrong, which is reported separately.
    hint = "changes are made all the same, and listed later as ones from outside"
    for warning in history.warnings:
        yield DoctorFinding("history", "warning", warning, hint)
    damaged = history.file.damaged()
    if damaged and not history.warnings:
        where = ", ".join(map(str, damaged))
        yield DoctorFinding("history", "note", f"an older history was damaged; it is {where}", "history began anew")
    elif (full := workspace.state.folder.full()) is not None:
        advice = "make room there: no change is made until then"
        yield DoctorFinding("history", "warning", f"nothing can be recorded: {full.message}", advice)
    elif not history.warnings:
        yield DoctorFinding("history", "ok", "can be read and written")


def _settings(workspace: Workspace) -> DoctorFinding:
    snapshot = workspace.snapshot()
    settings = snapshot.config.maintenance()
    return DoctorFinding(
        "config",
        "ok",
        f"archive after {settings.archive_days} days, prune after {settings.prune_days}, "
        f"at most {settings.max_entries} journal entries, zone {snapshot.zone}",
    )


def _problems(workspace: Workspace) -> DoctorFinding:

    counts = Counter(problem.level for problem in check_all(workspace))
    text = f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}"
    if not counts["error"] and not counts["warning"]:
        return DoctorFinding("check", "ok", text)
    return DoctorFinding("check", "person" if counts["error"] else "note", text, "`memdeck check` names file and line")


def scheduled(root: Path | None, list_cron: Callable[[], str], etc: Path = Path("/etc")) -> DoctorFinding:
    """Look for an entry that runs maintenance: in the user's crontab (`list_cron`), in `/etc/crontab` and
    `/etc/cron.d`, and in the timers of systemd.
    """
    wanted = "" if root is None else str(root)
    tables = [("the crontab", list_cron())]
    tables += [(str(file), _text_of(file)) for file in (etc / "crontab", *sorted((etc / "cron.d").glob("*")))]
    for where, text in tables:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        if any("memdeck" in line and "--maintain" in line and _names(line, wanted) for line in lines):
            return DoctorFinding("cron", "ok", f"an entry in {where} runs it")
    asleep = None
    for folder in (config_home(os.environ) / "systemd" / "user", etc / "systemd" / "system", etc / "systemd" / "user"):
        for service in sorted(folder.glob("*.service")):
            text = _text_of(service)
            if not ("memdeck" in text and "--maintain" in text and _names(text, wanted)):
                continue
            started = {service.stem, *(one.stem for one in folder.glob("*.timer") if service.name in _text_of(one))}
            if any(os.path.lexists(folder / "timers.target.wants" / f"{name}.timer") for name in started):
                return DoctorFinding("cron", "ok", f"a timer starts {service}")
            asleep = service
    if asleep is not None:
        hint = f"systemctl --user enable --now {asleep.stem}.timer"
        return DoctorFinding("cron", "note", f"no enabled timer starts {asleep}", hint)
    return DoctorFinding("cron", "note", "nothing runs --maintain regularly", "`memdeck doctor --schedule` shows how")


def _names(text: str, folder: str) -> bool:
    """Return whether a text names a folder, and not only one whose path begins like it."""
    return not folder or re.search(rf"{re.escape(folder)}(?![\w/.-])", text) is not None


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def crontab(root: Path | None = None) -> str:
    """Return the user's crontab, empty if there is none or it cannot be listed.

    A program inside the workspace at `root` is never used as `crontab`, whatever PATH says.
    """
    program = find_program("crontab", os.environ.get("PATH", os.defpath), outside=None if root is None else str(root))
    if program is None:
        return ""
    try:
        done = subprocess.run([program, "-l"], capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
