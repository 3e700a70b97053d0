"""What the memory files of a workspace ask for: commands, remediations, actions and addresses, exactly as written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from memory.base.names import alike
from memory.files.tasks.values import Head, text_or_none

from .addresses import read_target, unusable_url
from .suspicion import hidden_in, hidden_in_name

if TYPE_CHECKING:
    from memory.document import Entry
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import TaskList

MONITORS = "monitors.md"
TASKS = "tasks.md"
HTTP = frozenset({"http", "https"})
CONNECTS = HTTP | {"tcp"}
"""The types of monitors that connect to somewhere instead of running something."""
MEASURED = frozenset({"lastcheck", "laststatus"})
"""The fields of a monitor, in small letters, that a run writes: what was measured, not what shall be."""
SETTINGS = frozenset(
    ("method", "follow", "expect", "certificate", "unit", "host", "port", "path", "entry", "olderthan")
)
"""The fields, in small letters, that say what a check looks at and when that is bad, beside those of every ask."""
_SAME_NAME = "another entry has the same name"
_OPEN = ("pending", "in-progress")
_APART = frozenset({"autoremediate", "threshold", "interval", "timeout", "environment"})
LONGEST = 8192
"""The most characters of a command or address: nobody reads more; a script of its own is held on to as well."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that wants to run, exactly as the file says it.

    `role` is check, remediate, action (of a task), url or folders (of an agent, to be pruned); `kind` the monitor's
    type as written, `command` for what runs in a shell. `text` is the command or address: text of the file's bytes,
    decoded with `surrogateescape`. `threshold`, `interval`, `timeout` are whole values with their remarks;
    `environment` the names of variables that a command gets, `environment_text` how they are written. `line` (from 0)
    is for messages and counts for nothing. `fires` is, for a remediation, the check that fires it; `settings` further
    fields that decide what is done, a line each: of a check those of `SETTINGS`, of a remediation all but what was
    measured. `ambiguous` says why it can never be approved as it stands, `usual` why it needs no approval as long as
    nothing else was approved in its place; it is no part of an approval.
    """

    role: str
    kind: str
    text: str
    name: str
    file: str
    line: int
    threshold: str = ""
    interval: str = ""
    timeout: str = ""
    environment: tuple[str, ...] = ()
    fires: str = ""
    ambiguous: str = ""
    environment_text: str = ""
    settings: str = ""
    usual: str = field(default="", compare=False)

    @property
    def runs(self) -> bool:
        """Whether it is a command for the shell, not an address."""
        return self.role not in ("url", "folders")

    @property
    def slot(self) -> tuple[str, str, str]:
        """What it is for: an approval for one of these is compared with the next."""
        return self.role, self.file, self.name


def asks_of(snapshot: Snapshot) -> tuple[Ask, ...]:
    """Return everything that the files ask for, in file order: first the monitors, then the actions of open tasks."""
    return (*monitor_asks(snapshot.monitors.monitors), *task_asks(snapshot.tasks))


def monitor_asks(monitors: Iterable[Monitor]) -> tuple[Ask, ...]:
    """Return what monitors ask for; all monitors of the file belong in one call, for names must be unique."""
    monitors = tuple(monitors)
    twins = _twins([monitor.name for monitor in monitors])
    return tuple(ask for monitor in monitors for ask in _of_monitor(monitor, twins))


def task_asks(tasks: TaskList) -> tuple[Ask, ...]:
    """Return the actions of pending tasks and of those in progress; they run only by a person's own key."""
    found = ((tasks.tasks[place], ask) for place, ask in zip(_acting(tasks), task_asks_anywhere(tasks), strict=True))
    return tuple(replace(ask, line=_line(task.entry, "action", task.line)) for task, ask in found)


def task_asks_anywhere(tasks: TaskList) -> tuple[Ask, ...]:
    """Return the same without their lines, each the same object as long as its entry is: cheap after an edit."""
    asks, names = tasks.columns.of(_of_task), tasks.columns.of(_alike_title)
    doubled: set[str] = set()
    if len(set(names)) < len(names):
        count = Counter(chain.from_iterable(names[place.start : place.stop] for place in tasks.places(*_OPEN)))
        doubled = {name for name, times in count.items() if times > 1}
    twins = tasks.columns.of(_of_twin) if doubled else asks
    # One step for each, and nothing is made on the way: what is made for thousands is a look for garbage more.
    return tuple(filter(None, [(twins if names[place] in doubled else asks)[place] for place in _acting(tasks)]))


def acting_places(tasks: TaskList) -> dict[str, int]:
    """Return where the open tasks that have an action stand among all, by title; of one title the last."""
    asks = tasks.columns.of(_of_task)
    return {ask.name: place for place in _acting(tasks) if (ask := asks[place]) is not None}


def _acting(tasks: TaskList) -> list[int]:
    """Return where the open tasks that have an action stand among all, in file order."""
    asks = tasks.columns.of(_of_task)
    return [
        number
        for place in tasks.places(*_OPEN)
        for number, ask in enumerate(asks[place.start : place.stop], place.start)
        if ask is not None
    ]


def _of_twin(entry: Entry) -> Ask | None:
    """Return what a task asks for that shares its name with another open one; None where it has no action."""
    ask = _of_task(entry)
    return None if ask is None else replace(ask, ambiguous=_SAME_NAME)


def _alike_title(entry: Entry) -> str:
    """Return what the title of a task shares with those that a person would take for it."""
    return alike(entry.memo(Head).title)


def checks_of(asks: Iterable[Ask]) -> dict[str, Ask]:
    """Return the checks (commands and addresses) by the name of their monitor, the first of each."""
    return _by_name(ask for ask in asks if ask.file == MONITORS and ask.role != "remediate")


def remediations_of(asks: Iterable[Ask]) -> dict[str, Ask]:
    """Return what mends monitors by their name, the first of each."""
    return _by_name(ask for ask in asks if ask.file == MONITORS and ask.role == "remediate")


def _by_name(asks: Iterable[Ask]) -> dict[str, Ask]:
    found: dict[str, Ask] = {}
    for ask in asks:
        found.setdefault(ask.name, ask)
    return found


def action_of(asks: Iterable[Ask], title: str) -> Ask | None:
    """Return the action of the open task of a title, None where it has none."""
    return next((ask for ask in asks if ask.role == "action" and ask.name == title), None)


def _of_monitor(monitor: Monitor, twins: frozenset[str]) -> Iterator[Ask]:
    fields = monitor.entry.fields
    kind, text = _checked(monitor)
    timing = {
        "threshold": fields.get("threshold") or "",
        "interval": fields.get("interval") or "",
        "timeout": fields.get("timeout") or "",
    }
    written = fields.get("environment") or ""
    environment = tuple(name.strip() for name in written.split(",") if name.strip())
    why = _same_name(monitor.name, twins) or _same_keys(monitor.entry)
    if monitor.type is None and monitor.command is not None and monitor.url is not None:
        why = why or "it has no type, and both a command and a url"
    if text is not None:
        why = why or _unusable(kind, text)
    seen = (monitor.name, *timing.values(), written, kind)

    def ask(role: str, kind: str, text: str, line: int, fires: str = "") -> Ask:
        settings = _settings(monitor.entry, whole=role == "remediate")
        reason = why or _hidden(text, (*seen, fires, settings))
        return Ask(
            role, kind, text, monitor.name, monitor.file, line, **timing,
            environment=environment, fires=fires, ambiguous=reason, environment_text=written,
            settings=settings,
        )  # fmt: skip

    if text is not None:
        connects = kind.casefold() in CONNECTS
        key = "url" if connects else "path" if kind.casefold() == "file" else "command"
        yield ask("url" if connects else "check", kind, text, _line(monitor.entry, key, monitor.line))
    remedy = monitor.auto_remediate
    if remedy is not None:
        fires = f"{_quoted(kind)} {_quoted(text or '')} when {_quoted(timing['threshold'])}"
        yield ask("remediate", "command", remedy, _line(monitor.entry, "autoRemediate", monitor.line), fires)


def _unusable(kind: str, text: str) -> str:
    """Say why no check could connect to a target: to approve it would change nothing."""
    if kind.casefold() in HTTP:
        return unusable_url(text)
    if kind.casefold() == "tcp":
        try:
            read_target(text)
        except ValueError as error:
            return str(error)
    return ""


def _checked(monitor: Monitor) -> tuple[str, str | None]:
    """Return what kind of check a monitor is and what it would run or connect to (None: nothing)."""
    fields = monitor.entry.fields
    kind = monitor.type
    if kind is None:
        kind = "command" if monitor.command is not None else "http" if monitor.url is not None else ""
    match kind.casefold():
        case "command":
            return kind, monitor.command
        case "http" | "https":
            return kind, monitor.url
        case "tcp":
            host, port = (fields.get("host") or "").strip(), (fields.get("port") or "").strip()
            host = f"[{host}]" if ":" in host and not host.startswith("[") else host
            return kind, monitor.url or (f"{host}:{port}" if host else None)
        case "file":
            # What lies inside of the workspace is read anyway; only a look at other places is asked for.
            path = (fields.get("path") or "").strip()
            leads_out = path.startswith(("/", "~")) or ".." in path.split("/")
            return kind, path if leads_out else None
        case _:
            return kind, None


def _of_task(entry: Entry) -> Ask | None:
    """Return what a task asks for, wherever it stands and whatever others are called; None where it has no action."""
    action = text_or_none(entry.fields.get("action")) if b"action" in entry.raw else None
    if action is None:
        return None
    title = entry.memo(Head).title
    why = _same_keys(entry) or _hidden(action, (title,))
    return Ask("action", "command", action, title, TASKS, 0, ambiguous=why)


def _settings(entry: Entry, *, whole: bool) -> str:
    """Return the fields that decide what an ask does, each as `key: "value"`, whatever their order in the file."""
    found = []
    for key, value in entry.fields.items():
        name = key.casefold()
        if name not in MEASURED | _APART if whole else name in SETTINGS:
            found.append(f"{key}: {_quoted(value)}")
    return "\n".join(sorted(found))


def _line(entry: Entry, key: str, top: int) -> int:
    return next((top + 1 + node.line for node in entry.fields.nodes if node.key == key), top)


def _quoted(text: str) -> str:
    """Return text in quotes, so that where it ends cannot be mistaken."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _twins(names: Sequence[str]) -> frozenset[str]:
    """Return the names that another one is like."""
    groups: dict[str, int] = {}
    for name in names:
        groups[alike(name)] = groups.get(alike(name), 0) + 1
    return frozenset(name for name in names if groups[alike(name)] > 1)


def _same_name(name: str, twins: frozenset[str]) -> str:
    return _SAME_NAME if name in twins else ""


def _same_keys(entry: Entry) -> str:
    seen: set[str] = set()
    for node in entry.fields.nodes:
        key = node.key.casefold()
        if key in seen:
            return f"its field {node.key} stands there twice"
        seen.add(key)
    return ""


def _hidden(text: str, others: Iterable[str]) -> str:
    """Say what hides in an ask: in the command itself nothing may, elsewhere nothing that steers a terminal."""
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST:,} characters: put it into a script"
    found = hidden_in(text) or next((hidden for other in others if (hidden := hidden_in_name(other))), "")
    return f"it holds the hidden character {found}" if found else ""
