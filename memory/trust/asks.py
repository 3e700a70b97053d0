"""The asks of a workspace's memory files: commands, remediations, actions and addresses, exactly as written; and
characters that hide or reorder what a person reads: a command that contains one is shown with it, and refused.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.base.safe_text import escape, visible
from memory.base.values import alike, is_absent, split_remark
from memory.document import Entry
from memory.document.nodes import field_line
from memory.files.fields.values import text_or_none
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import TaskList, command_of
from memory.files.tasks.reading import Head
from memory.trust.pins import PRIVATE

MONITORS = "monitors.md"
TASKS = "tasks.md"
HTTP = frozenset({"http", "https"})
CONNECTS = HTTP | {"tcp"}
"""The types of monitors that connect to a host instead of running something."""
ANYWHERE = "anywhere"
"""The value of `follow` that asks for redirects to any host, private ones included."""
TOLD = "told"
"""The role of a text that looks suspicious: it runs nothing, and agents are told it only after an approval."""
MEASURED = frozenset({"lastcheck", "laststatus"})
"""The fields of a monitor, in small letters, that a run writes: measurements, not settings."""
SETTINGS = frozenset(("method", "follow", "host", "port", "path"))
"""The fields of a check, in small letters, that say what it measures and when that is bad, beyond those of any ask."""
_TIMING = ("threshold", "interval", "timeout", "environment")
_SAME_NAME = "another entry has the same name"
_OPEN = ("pending", "in-progress")
LONGEST = 8192
"""The most characters of a command or address: no person reads more. A script in its own file is pinned as well."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to run something, exactly as in the file.

    `role` is check, remediate, action (of a task), url, folders (of an agent, to be pruned) or told (a text for
    agents); `kind` the monitor's type as written, `command` for what runs in a shell. `text` is the command or
    address: text of the file's bytes, decoded with `surrogateescape`. `details` is what else decides its action, name
    and whole value, sorted: of a check the timing and the fields of `SETTINGS`, of a remediation all fields but the
    measured ones, and the check that triggers it. `folder` is where a command runs: a path in the workspace, or
    `PRIVATE`; empty if nothing runs. `line` (from 0) is for messages only. `ambiguous` is why it cannot be approved in
    its present form; `usual` why it needs no approval as long as nothing else was approved in its slot. `shown` is the
    text behind a hash, for the person who decides. `usual` and `shown` are no part of an approval.
    """

    role: str
    kind: str
    text: str
    name: str
    file: str
    line: int
    details: tuple[tuple[str, str], ...] = ()
    folder: str = ""
    ambiguous: str = ""
    usual: str = field(default="", compare=False)
    shown: str = field(default="", compare=False, repr=False)

    def detail(self, name: str) -> str:
        """Return one of the details, "" if it has none of this name."""
        return next((value for key, value in self.details if key.casefold() == name), "")

    @property
    def environment(self) -> tuple[str, ...]:
        """The names of the variables that a command gets in addition to those of every command."""
        return tuple(name.strip() for name in self.detail("environment").split(",") if name.strip())

    @property
    def runs(self) -> bool:
        """Whether it is a command for the shell, not an address or a path."""
        return bool(self.folder)

    @property
    def redirects(self) -> str:
        """Where an approval lets redirects of an address lead besides public addresses; "" if none is followed."""
        said = self.detail("follow").strip().casefold() if self.kind.casefold() in HTTP else ""
        if is_absent(said) or said in ("no", "false", "off", "0"):
            return ""
        return "any address" if said == ANYWHERE else "the same host"

    @property
    def slot(self) -> tuple[str, str, str]:
        """What it is for: an approval is compared with the next ask of the same slot; each text has its own."""
        return self.role, self.file, self.text if self.role == TOLD else self.name


def asks_of(snapshot: Snapshot) -> tuple[Ask, ...]:
    """Return all asks of the files, in file order: first the monitors, then the actions of open tasks."""
    return (*monitor_asks(snapshot.monitors.items), *task_asks(snapshot.tasks))


def monitor_asks(monitors: Iterable[Monitor]) -> tuple[Ask, ...]:
    """Return the asks of monitors; pass all monitors of the file in one call, because names must be unique."""
    monitors = tuple(monitors)
    twins = _twins([monitor.name for monitor in monitors])
    return tuple(ask for monitor in monitors for ask in _of_monitor(monitor, twins))


def task_asks(tasks: TaskList) -> tuple[Ask, ...]:
    """Return the actions of pending tasks and of those in progress; they run only on a person's keypress."""
    found = []
    asking = [(task, ask) for task in tasks.open if (ask := _of_task(task.entry)) is not None]
    # A form of the titles that is equal for those that a person could confuse.
    count = Counter(alike(task.title) for task in tasks.open) if asking else Counter()
    for task, ask in asking:
        why = _SAME_NAME if count[alike(task.title)] > 1 else ask.ambiguous
        found.append(replace(ask, line=field_line(task.entry, "action", task.line), ambiguous=why))
    return tuple(found)


def by_name(asks: Sequence[Ask], *roles: str) -> dict[str, Ask]:
    """Return the asks of some roles by their name, the first of each."""
    return {ask.name: ask for ask in reversed(asks) if ask.role in roles}


def command_ask(
    role: str,
    text: str,
    name: str,
    file: str,
    line: int = 0,
    *,
    names: Iterable[str] = (),
    timeout: str = "",
    environment: tuple[str, ...] = (),
    folder: str = PRIVATE,
) -> Ask:
    """Return the ask of another system for a command.

    `names` are those of all commands of its role, which must be distinguishable. `line` counts from 0, `environment`
    are the variables that the command gets in addition to those of every command, `folder` is where it runs.
    """
    details = {"environment": ", ".join(environment), "timeout": timeout}
    same = sum(alike(one) == alike(name) for one in names) > 1 and len(text) <= LONGEST
    why = _SAME_NAME if same else _hidden(text, {"its name": name, **details})
    return Ask(role, "command", text, name, file, line, _given(details), folder, why)


def _given(details: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in details.items() if value))


def _of_monitor(monitor: Monitor, twins: frozenset[str]) -> Iterator[Ask]:
    fields = monitor.entry.fields
    kind, text = _checked(monitor)
    folder = folder_of(monitor)
    why = (_SAME_NAME if monitor.name in twins else "") or _same_keys(monitor.entry)
    if monitor.type is None and monitor.command is not None and monitor.url is not None:
        why = why or "it has no type, and both a command and a url"
    timing = {name: fields.get(name) or "" for name in _TIMING}

    def ask(role: str, kind: str, text: str, key: str, details: Mapping[str, str]) -> Ask:
        seen = {"its name": monitor.name, "type": kind, "folder": folder, **details, "a field": "\n".join(details)}
        where = folder if kind.casefold() == "command" else ""
        line = field_line(monitor.entry, key, monitor.line)
        return Ask(
            role, kind, text, monitor.name, monitor.file, line, _given(details), where, why or _hidden(text, seen)
        )

    if text is not None:
        connects = kind.casefold() in CONNECTS
        key = "url" if connects else "path" if kind.casefold() == "file" else "command"
        own = {name: value for name, value in fields.items() if name.casefold() in SETTINGS}
        yield ask("url" if connects else "check", kind, text, key, timing | own)
    remedy = monitor.auto_remediate
    if remedy is not None:
        apart = MEASURED | {"autoremediate", "folder", *_TIMING}
        own = {name: value for name, value in fields.items() if name.casefold() not in apart}
        fires = f"{_quoted(kind)} {_quoted(text or '')} when {_quoted(timing['threshold'])}"
        yield ask("remediate", "command", remedy, "autoRemediate", {**timing, **own, "fired by": fires})


def any_address(ask: Ask) -> str:
    """Return why a check of a type other than http needs an approval of its own; "" for http."""
    return "" if ask.kind.casefold() in HTTP else f"{ask.kind} checks connect to any address they name"


def folder_of(monitor: Monitor) -> str:
    """Return where the commands of a monitor run: its field `folder`, a path in the workspace, else `PRIVATE`."""
    folder = (monitor.entry.fields.get("folder") or "").strip()
    return PRIVATE if is_absent(folder) else folder


def written_kind(monitor: Monitor) -> str:
    """Return the type of a monitor as it is written; without one, it is derived from its command or url."""
    return monitor.type or ("command" if monitor.command is not None else "http" if monitor.url is not None else "")


def _checked(monitor: Monitor) -> tuple[str, str | None]:
    """Return the kind of a monitor's check, and what it would run or connect to (None: nothing)."""
    kind = written_kind(monitor)
    match kind.casefold():
        case "command":
            return kind, monitor.command
        case "http" | "https":
            return kind, monitor.url
        case "tcp":
            return kind, target_of(monitor)
        case "file":
            # Files in the workspace are read anyway; only paths outside need an approval.
            path = (monitor.entry.fields.get("path") or "").strip()
            leads_out = path.startswith(("/", "~")) or ".." in path.split("/")
            return kind, path if leads_out else None
        case _:
            return kind, None


def target_of(monitor: Monitor) -> str | None:
    """Return the host and port of a tcp monitor, from `url`, from `host` and `port`, or from `host` with its port."""
    host, port = (split_remark(monitor.entry.fields.get(key) or "")[0].strip() for key in ("host", "port"))
    if monitor.url or is_absent(host):
        return monitor.url
    if is_absent(port):
        return host
    return f"[{host}]:{port}" if host.count(":") > 1 and not host.startswith("[") else f"{host}:{port}"


def _of_task(entry: Entry) -> Ask | None:
    """Return the ask of a task, regardless of its position and of other tasks' names; None if it has no command."""
    action = command_of(text_or_none(entry.fields.get("action")))
    if action is None:
        return None
    title = entry.memo(Head).title
    why = _same_keys(entry) or _hidden(action, {"its title": title})
    return Ask("action", "command", action, title, TASKS, 0, folder=".", ambiguous=why)


def _quoted(text: str) -> str:
    """Return text in quotes, so that its end is unambiguous."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _twins(names: Sequence[str]) -> frozenset[str]:
    """Return the names that another name equals or resembles."""
    count = Counter(alike(name) for name in names)
    return frozenset(name for name in names if count[alike(name)] > 1)


def _same_keys(entry: Entry) -> str:
    seen: set[str] = set()
    for node in entry.fields.nodes:
        key = node.key.casefold()
        if key in seen:
            return f"its field {node.key} occurs twice"
        seen.add(key)
    return ""


def _hidden(text: str, others: Mapping[str, str]) -> str:
    """Return why an ask cannot be approved: a text that is too long, or a hidden or control character; else ""."""
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST:,} characters: put it into a script"
    if found := hidden_in(text):
        return f"it holds the hidden character {found}"
    hidden = ((name, hidden_in_name(other)) for name, other in others.items())
    return next((f"{name} holds the hidden character {found}" for name, found in hidden if found), "")


_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
# Letters and marks that are displayed as nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def revealed(text: str) -> str:
    r"""Return text of several lines in which every character is visible: hidden ones are written `\u202e`."""
    return "".join(escape(char) if _hides(char) else char for char in visible(text, newlines=True))


def hidden_in(text: str) -> str:
    """Return the escape of the first hidden character of a command, "" if none; line ends and tabs are allowed."""
    if text.isascii() and text.isprintable():
        return ""
    return next((escape(char) for char in text if _hides(char)), "")


def hidden_in_name(text: str) -> str:
    """Return the escape of the first hidden character of a name, "" if there is none; joined emoji are allowed."""
    plain = text.replace("\n", " ").replace("\t", " ")
    if visible(plain) == plain:
        return ""
    return next((escape(char) for char in text if visible(char) != char and char not in "\n\t\u200d"), "\\u200d")


def unusual_in(text: str) -> tuple[str, ...]:
    """Return the characters of a command beyond ASCII, each once: some look like others."""
    return tuple(dict.fromkeys(char for char in text if not char.isascii() and not _hides(char)))


def _hides(char: str) -> bool:
    if " " <= char <= "~" or char in "\n\t":
        return False

    code = ord(char)
    selector = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    return selector or char in _BLANK or unicodedata.category(char) in _CATEGORIES
