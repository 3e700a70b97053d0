"""Reads what `strace` wrote and judges every call by an allow-list."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CALLS = [
    "execve",
    "execveat",
    "connect",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "bind",
    "open",
    "openat",
    "openat2",
    "creat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "mknod",
    "mknodat",
    "chmod",
    "fchmodat",
    "chown",
    "lchown",
    "fchownat",
    "truncate",
    "utime",
    "utimes",
    "utimensat",
    "setxattr",
    "lsetxattr",
    "ptrace",
    "mount",
    "io_uring_setup",
]
"""The calls that are traced: those that start, connect, write, or open."""
MARK = "/memdeck-hostile-mark"
"""The player tries to open a name beneath it where a verb begins, and where a process says that it runs verbs."""
HOUSE = Path(__file__).parents[2]
_LINE = re.compile(r"^(\d+) +(.*)$", re.S)
_CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?)(.*)$", re.S)
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$", re.S)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FOLDER = re.compile(r"^(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>")
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)")
_OPENS = ("open", "openat", "openat2", "creat")
_SENDS = ("connect", "sendto", "sendmsg", "sendmmsg", "bind")
_TWO = ("rename", "renameat", "renameat2", "link", "linkat", "symlinkat", "symlink")
_SECRET = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.ssh", "/root/.aws", "/root/.netrc")
_PROC = re.compile(
    r"^/proc/(?:self|\d+)/(?:stat|status|maps|mountinfo|fd|task|cmdline|cgroup|statm|limits)(?:/|$)|^/proc/stat$"
)
_SYSTEM = (
    "/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/etc/", "/sys/", "/var/lib/", "/proc/loadavg", "/proc/meminfo",
    "/proc/cpuinfo", "/proc/sys/", "/proc/mounts", "/proc/filesystems", "/dev/null", "/dev/urandom", "/dev/tty",
    "/dev/pts", "/opt/", "/run/systemd", "/var/spool/cron",
)  # fmt: skip
_SERVICES = (
    "/run/nscd/", "/var/run/nscd/", "/var/lib/sss/pipes/", "/run/systemd/userdb/", "/run/systemd/journal/", "/dev/log",
)  # fmt: skip
"""Sockets of the machine that the C library connects to for the name of a user or a line of the system's log.

Whatever program runs does so, and nothing in a workspace brings it about or decides what is said there.
"""
_HOSTS = frozenset("\x04\x05\x06\x07\r\x0e")
"""What a program asks `nscd` for the name or the address of a host, which a workspace may name."""
CHANGING = ("maintain", "monitors check", "monitors check again", "program maintain", "program check", "screen")
"""The verbs that may write memory files: results, journal entries, archives."""


@dataclass(frozen=True, slots=True)
class Call:
    """One system call: `result` is what it returned, `rest` what strace wrote behind that."""

    name: str
    arguments: str
    result: int
    rest: str
    pid: str = ""

    def __str__(self) -> str:
        """Return it as strace wrote it, shortened."""
        return f"{self.name}({self.arguments[:300]}) = {self.result}{self.rest[:80]}"

    @property
    def texts(self) -> list[str]:
        """The texts among its arguments."""
        return [_unescaped(found[1]) for found in _TEXT.finditer(self.arguments)]

    @property
    def opened(self) -> str:
        """The path that an opening call led to, as the kernel says it."""
        found = re.match(r"^<((?:[^<>\\]|\\.)*)>", self.rest.strip())
        return _unescaped(found[1]) if found else ""


def _unescaped(text: str) -> str:
    data = text.encode("latin-1", "replace").decode("unicode_escape").encode("latin-1", "replace")
    return data.decode("utf-8", "surrogateescape")


def read_calls(lines: Iterable[str]) -> Iterator[Call]:
    """Yield whole calls; those that were interrupted by others are put together."""
    begun: dict[str, str] = {}
    for line in lines:
        found = _LINE.match(line.rstrip("\n"))
        if found is None:
            continue
        pid, text = found[1], found[2]
        if text.endswith("<unfinished ...>"):
            begun[pid] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := _RESUMED.match(text):
            text = begun.pop(pid, f"{resumed[1]}(") + resumed[2]
        if call := _CALL.match(text):
            yield Call(call[1], call[2], -1 if call[3] == "?" else int(call[3]), call[4], pid)
    for pid, text in begun.items():  # a process that was killed in the middle of a call
        name, _, arguments = text.partition("(")
        yield Call(name, arguments, -1, "", pid)


def by_verb(calls: Iterable[Call], hosts: set[str]) -> Iterator[tuple[str, list[Call]]]:
    """Yield the calls of each verb: those from its mark on of all processes but the hosts, which run the verbs.

    What a process does after its verb has ended counts for that verb as well. `hosts` takes up who says that it is one.
    """
    verb: str | None = None
    found: list[Call] = []
    for call in calls:
        mark = next((text for text in call.texts if text.startswith(MARK)), None) if call.name in _OPENS else None
        if mark is None:
            if call.pid not in hosts:
                found.append(call)
            continue
        _, _, kind, name = mark.split("/", 3)
        if kind == "host":
            hosts.add(call.pid)
        elif kind == "begin":
            if verb is not None:
                yield verb, found
            verb, found = name, []
    if verb is not None:
        yield verb, found


class Judge:
    """Knows what the verbs of one case may do."""

    def __init__(self, allowed: Mapping[str, Sequence[str]], script: str) -> None:
        """`allowed` is of the ground, `script` the program that the player starts for some verbs."""
        [self.top] = allowed["top"]
        self.allowed = allowed
        self.script = script
        self.shop = f"{self.top}/shop"
        self.memory = (f"{self.shop}/.aiter/memory/", f"{self.shop}/.aiter/.memdeck/")
        prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(HOUSE), os.path.dirname(script)}
        self.software = tuple(f"{os.path.realpath(prefix)}/" for prefix in prefixes)

    def wrong(self, verb: str, calls: Iterable[Call]) -> list[str]:
        """Return a sentence for each call that the verb must not make."""
        return [f"{verb}: {why}: {call}" for call in calls if (why := self.why(verb, call))]

    def why(self, verb: str, call: Call) -> str:
        """Say what is wrong with a call, "" where it may be made."""
        if call.name in ("execve", "execveat"):
            return "" if self._may_run(verb, call) else "starts a program"
        if call.name in _SENDS:
            return "" if self._may_send(call) else "talks to somebody"
        if call.name in _OPENS:
            return self._opening(verb, call)
        if call.name in ("ptrace", "mount", "io_uring_setup"):
            return "does what memdeck never does"
        paths = self._paths(call)
        return "" if all(self._may_write(verb, path) for path in paths) else "changes what is not its own"

    def _may_run(self, verb: str, call: Call) -> bool:
        words = call.texts
        program, arguments = words[0], words[1:]
        own = os.path.realpath(program) == os.path.realpath(sys.executable)
        if own and (arguments[1:4] == ["-I", "-S", "-B"] or arguments[1:2] == [self.script]):
            return True
        if program == "/bin/sh" and arguments[1:2] == ["-c"]:
            # A command runs in a shell that sets its limits first.
            text = arguments[-1] if arguments[2].startswith("{ ulimit ") else arguments[2]
            if text in self.allowed["runs"]:
                return True
        if "doctor" in verb and arguments == [program, "-l"]:
            return (
                os.path.isabs(program) and os.path.basename(program) == "crontab" and not program.startswith(self.top)
            )
        return program.startswith(tuple(self.allowed["programs"]) or "\0")

    def _may_send(self, call: Call) -> bool:
        """Return whether it is between own processes, to a service of the machine, or to an allowed host and port."""
        looks_up = "LOOKUP" in self.allowed["connects"]
        if "sa_family=" not in call.arguments:
            asked = next(iter(call.texts), "")
            return looks_up or not (asked.startswith("\2\0\0\0") and asked[4:5] in _HOSTS)
        if call.name == "connect" and (socket := re.search(r'sun_path="([^"]*)"', call.arguments)):
            return socket[1].startswith(_SERVICES)
        host = re.search(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', call.arguments)
        port = re.search(r"htons\((\d+)\)", call.arguments)
        if looks_up and port is not None and port[1] == "53":
            return True
        if host is None or port is None:
            return "AF_UNSPEC" in call.arguments or (call.name == "bind" and "AF_NETLINK" in call.arguments)
        return f"{host[1] or host[2]}:{port[1]}" in self.allowed["connects"]

    def _opening(self, verb: str, call: Call) -> str:
        path = (call.opened if call.result >= 0 else "") or next(iter(self._paths(call)), "")
        if call.name == "creat" or _WRITES.search(call.arguments):
            return "" if self._may_write(verb, path) else "writes what is not its own"
        if call.result < 0:
            return ""
        return (
            ""
            if self._may_read(verb, path, folder="O_DIRECTORY" in call.arguments)
            else "reads what is none of its business"
        )

    def _may_write(self, verb: str, path: str) -> bool:
        own = (f"{self.top}/state/", "/dev/null", "/dev/tty", "/tmp/memdeck-edit-", *self.allowed["writes"])
        if path.startswith(own) or path == f"{self.top}/state":
            return True
        if path.startswith(self.memory[1]) or path == self.memory[1][:-1] or self._is_probe(verb, path):
            return True
        return verb in CHANGING and (path.startswith(self.memory[0]) or path == self.memory[0][:-1])

    def _is_probe(self, verb: str, path: str) -> bool:
        """Tell what `doctor` makes for a moment, to see what the file system can do."""
        beneath = path.removeprefix(f"{self.shop}/.aiter/.memdeck-")
        return "doctor" in verb and beneath != path and beneath.split("/")[0].isdigit()

    def _may_read(self, verb: str, path: str, *, folder: bool) -> bool:
        if path.startswith(_SECRET):
            return False
        if path.startswith((f"{self.top}/", self.top)):
            own = (f"{self.top}/state", f"{self.top}/config/memdeck/", *self.memory)
            lists = folder and not path.startswith(f"{self.top}/outside")
            return path.startswith(own) or lists or self._named(path) or self._is_probe(verb, path)
        if path.startswith("/proc/"):
            return bool(_PROC.match(path)) or path.startswith(_SYSTEM)
        return folder or path.startswith((*_SYSTEM, *self.software, "/tmp/memdeck-edit-")) or not path.startswith("/")

    def _named(self, path: str) -> bool:
        """Tell whether a case names a file, or a folder (with a slash at its end) around it."""
        named = [f"{self.top}/{name}" for name in self.allowed["reads"]]
        return any(path == name or (name.endswith("/") and path.startswith(name)) for name in named)

    def _paths(self, call: Call) -> list[str]:
        """Return the paths that a call names, from the folders of its descriptors."""
        found = []
        rest = call.arguments
        for _ in range(2 if call.name in _TWO else 1):
            folder = _FOLDER.match(rest.lstrip(", "))
            base = _unescaped(folder[1]) if folder else "/"
            text = _TEXT.search(rest)
            if text is None:
                break
            if call.name not in ("symlink", "symlinkat") or len(found) == 1:
                found.append(_real(os.path.join(base, _unescaped(text[1]))))
            else:
                found.append("")
            rest = rest[text.end() :]
        return [path for path in found if path]


def _real(path: str) -> str:
    """Return a path with the links of its folder followed, for calls that tell no more than a name."""
    parent, name = os.path.split(os.path.normpath(path) if "/../" not in path else path)
    return os.path.join(os.path.realpath(parent), name)
