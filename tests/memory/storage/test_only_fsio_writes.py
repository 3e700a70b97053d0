"""One module changes files; this reads the source of all the others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import memory

HOUSE = Path(memory.__file__).parents[1]
FSIO = "memory/storage/fsio.py"
ALLOWED: dict[str, set[str]] = {
    "app/cli/reference.py": {"write_text"},  # a page of the documentation, for developers
    "app/tui/keys/every_key.py": {"write_text"},  # the same
    "app/main.py": {"os.open"},  # /dev/null, in the place of a stream that was closed
    "app/cli/printing.py": {"open"},  # /dev/null, where a closed pipe's rest goes
    "app/servers/life.py": {"os.open"},  # /dev/null, in the place of a stream that is not there or not wanted
    "memory/storage/database.py": {"connect"},  # SQLite's own file, made before by fsio in the private state folder
    "memory/storage/private/workspaces.py": {"connect"},  # the same, of the list of workspaces
    "memory/storage/private/run_folder.py": {
        "mkdtemp",
        "rmtree",
    },  # an empty folder for one command, outside workspaces
    "memory/search/rank.py": {"connect"},  # in memory
    "memory/state/analysis/manifests.py": {"link"},  # the address of a link in a README
    "app/demo/agent.py": {"open", "truncate"},  # plays a program that knows nothing of memdeck, in the demo
    "app/tui/commands/views.py": {"open"},  # the filter bar
}
"""Other modules that may make a call, each with the names of those calls; keep it short."""

# What changes a file under any of these names, whichever object it is called on.
CALLS = {
    *("mkdir", "makedirs", "rmdir", "removedirs", "unlink", "rename", "renames", "truncate", "ftruncate"),
    *(
        "symlink",
        "link",
        "symlink_to",
        "hardlink_to",
        "mknod",
        "mkfifo",
        "touch",
        "write_text",
        "write_bytes",
    ),
    *("chmod", "fchmod", "lchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr", "pwrite"),
    *("pwritev", "posix_fallocate", "copy_file_range", "sendfile", "copyfile", "copytree", "rmtree", "copy2"),
    *("mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory"),
    *("SpooledTemporaryFile", "fsync", "fdatasync", "chflags", "make_archive", "unpack_archive"),
}
# What does so only as a function of these modules.
FUNCTIONS = {"os": {"remove", "replace", "open"}, "shutil": {"move", "copy"}, "sqlite3": {"connect"}}
FILE_WORDS = {"mode", "buffering", "encoding", "errors", "newline", "closefd", "opener", None}
# A source in which none of these is called or renamed makes no such call: it need not be read as a program.
NAMES = {"open", *CALLS, *(name for names in FUNCTIONS.values() for name in names)}
WORDS = re.compile(rf"\b(?:{'|'.join(sorted(NAMES))})(?:\s*\(|\s+as\b)")
READ_FLAGS = {"O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_PATH"}


def writes_of(source: str) -> list[tuple[int, str]]:
    """Return the line and name of every call in some source that may change a file."""
    if not WORDS.search(source):
        return []
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    functions: dict[str, tuple[str, str]] = {}
    flags: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            functions |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            flags[node.targets[0].id] = node.value
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _named(node, modules, functions, flags)):
            found.append((node.lineno, name))
    return found


def _named(
    call: ast.Call,
    modules: dict[str, str],
    functions: dict[str, tuple[str, str]],
    flags: dict[str, ast.expr],
) -> str | None:
    """Name a call that may change a file, None for any other."""
    owner, name = "", ""
    if isinstance(call.func, ast.Name):
        owner, name = functions.get(call.func.id, ("", call.func.id))
        if (owner, name) == ("", "open") or owner == "io":
            return name if name == "open" and _opens_for_writing(call, 1) else None
        if not owner:
            return None
    elif isinstance(call.func, ast.Attribute):
        name = call.func.attr
        if isinstance(call.func.value, ast.Name):
            owner = modules.get(call.func.value.id, "")
            # What is called through fsio is checked there; `self.open` is a method of the class at hand.
            if call.func.value.id == "fsio" or (call.func.value.id, name) == ("self", "open"):
                return None
    if owner == "os" and name == "open":
        return None if len(call.args) > 1 and _only_reads(call.args[1], flags) else "os.open"
    if name in FUNCTIONS.get(owner, ()) or name in CALLS:
        return name
    if name == "open" and _is_no_file(call):
        return None
    if name == "open":
        return name if _opens_for_writing(call, 1 if owner in ("io", "codecs") else 0) else None
    # `path.replace(other)` renames, `text.replace(old, new)` and `moment.replace(hour=9)` do not.
    if name == "replace" and len(call.args) == 1 and not call.keywords and not owner:
        return name
    return None


def _is_no_file(call: ast.Call) -> bool:
    """Whether something else than a file is opened: by a class (`Workspace.open`), or with words files do not know."""
    assert isinstance(call.func, ast.Attribute)
    by_class = isinstance(call.func.value, ast.Name) and call.func.value.id[:1].isupper()
    return by_class or bool({word.arg for word in call.keywords} - FILE_WORDS)


def _opens_for_writing(call: ast.Call, place: int) -> bool:
    """Whether an `open` has a mode other than plain reading."""
    mode = next((word.value for word in call.keywords if word.arg == "mode"), None)
    if mode is None and len(call.args) > place:
        mode = call.args[place]
    if mode is None:
        return False
    if isinstance(mode, ast.Constant):
        # A number, or letters that no mode has: the argument of some other function called `open`.
        known = isinstance(mode.value, str) and set(mode.value) <= set("rwxab+tU")
        return known and bool(set(mode.value) & set("wxa+"))
    return True


def _only_reads(flag: ast.expr, flags: dict[str, ast.expr], depth: int = 0) -> bool:
    """Whether the flags of an `os.open` are all known, and none of them writes or creates."""
    if isinstance(flag, ast.IfExp):
        return _only_reads(flag.body, flags, depth) and _only_reads(flag.orelse, flags, depth)
    names = {node.attr for node in ast.walk(flag) if isinstance(node, ast.Attribute)} - {"open"}
    variables = {node.id for node in ast.walk(flag) if isinstance(node, ast.Name)} - {"os", "getattr"}
    if names - READ_FLAGS or depth > 5 or not names | variables:
        return False
    return all(name in flags and _only_reads(flags[name], flags, depth + 1) for name in variables)


def test_only_fsio_changes_files() -> None:
    """No module but one makes a call that could change a file; say which and where it does."""
    found = {
        (module := path.relative_to(HOUSE).as_posix()): [
            (line, name)
            for line, name in writes_of(path.read_text(encoding="utf-8"))
            if name not in ALLOWED.get(module, set())
        ]
        for room in ("memory", "app", "widgets")
        for path in (HOUSE / room).rglob("*.py")
    }
    assert [module for module, writes in found.items() if writes] == [FSIO], found


@pytest.mark.parametrize(
    "source",
    [
        "open('a', 'w')",
        "open('a', mode='r+b')",
        "open('a', mode)",
        "path.open('ab')",
        "path.open(mode, encoding='utf-8')",
        "import io; io.open('a', 'x')",
        "from os import open as o; o('a', 65)",
        "import os; os.open('a', os.O_RDWR)",
        "import os; os.open('a', os.O_RDONLY | os.O_CREAT)",
        "import os; F = os.O_WRONLY; os.open('a', F)",
        "import os; os.open('a', flags)",
        "import os as system; system.replace('a', 'b')",
        "from os import unlink as gone; gone('a')",
        "import os; os.remove('a')",
        "path.replace(other)",
        "path.write_text('x')",
        "path.touch()",
        "import shutil; shutil.copy('a', 'b')",
        "import shutil; shutil.rmtree('a')",
        "import tempfile; tempfile.mkdtemp()",
        "from tempfile import NamedTemporaryFile; NamedTemporaryFile()",
        "import sqlite3; sqlite3.connect('a')",
    ],
)
def test_the_reader_finds_it(source: str) -> None:
    """The test above would notice each of these."""
    assert len(writes_of(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open('a')",
        "open('a', 'rb')",
        "path.open()",
        "path.open(encoding='utf-8')",
        "import os; os.open('a', os.O_RDONLY | os.O_CLOEXEC)",
        "import os; F = os.O_RDONLY; G = F | os.O_NOFOLLOW; os.open('a', G)",
        "'a'.replace('b', 'c')",
        "moment.replace(hour=9)",
        "from dataclasses import replace; replace(entry, title='x')",
        "entries.remove(entry)",
        "webbrowser.open('https://example.com')",
        "chunks.copy()",
        "Workspace.open(folder)",
        "bar.open(text, focus=False)",
    ],
)
def test_the_reader_lets_it_pass(source: str) -> None:
    """Reading, and words that only sound alike, are nobody's concern."""
    assert writes_of(source) == []
