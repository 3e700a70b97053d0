"""One module changes files; this reads the source of all the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory

HOUSE = Path(memory.__file__).parents[1]
FSIO = "memory/storage/fsio.py"
ALLOWED: dict[str, set[str]] = {
    "app/cli/reference.py": {"write_text"},  # a page of the documentation, for developers
    "app/tui/keys/every_key.py": {"write_text"},  # the same
    "app/cli/printing.py": {"open"},  # /dev/null, where a closed pipe's rest goes
    "app/servers/life.py": {"O_RDWR"},  # /dev/null, in the place of a stream that is not there or not wanted
    "app/main.py": {"O_RDWR"},  # the same
    "memory/storage/database.py": {"connect"},  # SQLite's own file, made before by fsio in the private state folder
    "memory/storage/private/run_folder.py": {"mkdtemp", "rmtree"},  # a folder for one command, outside workspaces
    "memory/search/rank.py": {"connect"},  # in memory
    "memory/state/analysis/manifests.py": {"link"},  # the address of a link in a README
    "app/demo/agent.py": {"open", "truncate"},  # plays a program that knows nothing of memdeck, in the demo
}
"""Other modules that may do so, each with the names; keep it short."""
CALLS = {
    *("mkdir", "makedirs", "rmdir", "removedirs", "unlink", "rename", "renames", "truncate", "ftruncate", "symlink"),
    *("link", "symlink_to", "hardlink_to", "mknod", "mkfifo", "touch", "write_text", "write_bytes", "chmod", "fchmod"),
    *("lchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr", "pwrite", "pwritev", "fsync"),
    *("posix_fallocate", "copy_file_range", "sendfile", "copyfile", "copytree", "rmtree", "copy2", "fdatasync"),
    *("mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile"),
}
"""What changes a file, whatever it is called on."""
OF_MODULES = {("os", "remove"), ("os", "replace"), ("shutil", "move"), ("shutil", "copy"), ("sqlite3", "connect")}
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


def writes_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of everything in some source that may change a file."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="os" | "shutil" | "sqlite3" | "tempfile", names=names):
                yield from ((node.lineno, one.name) for one in names if one.name in CALLS)
                yield from ((node.lineno, one.name) for one in names if (node.module, one.name) in OF_MODULES)
            case ast.Attribute(attr=name) if name in FLAGS:
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="fsio"))):
                continue  # It is checked there.
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                if isinstance(owner, ast.Name) and (owner.id, name) == ("os", "open"):
                    continue  # Its flags are looked at.
                of_module = isinstance(owner, ast.Name) and (owner.id, name) in OF_MODULES
                # `path.replace(other)` renames, `text.replace(old, new)` and `moment.replace(hour=9)` do not.
                renames = name == "replace" and len(node.args) == 1 and not node.keywords
                if name in CALLS or of_module or renames or (name == "open" and _writes(node, 0)):
                    yield node.lineno, name
            case ast.Call(func=ast.Name(id="open")) if _writes(node, 1):
                yield node.lineno, "open"


def _writes(call: ast.Call, place: int) -> bool:
    """Return whether an `open` whose argument at a place is the mode has one other than plain reading."""
    given = [*call.args[place : place + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any(set(mode) <= set("rwxab+t") and set(mode) & set("wxa+") for mode in modes)


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
    ("source", "count"),
    [
        ("open('a', mode='r+b')", 1),
        ("path.open('ab')", 1),
        ("os.open('a', os.O_RDONLY | os.O_CREAT)", 1),
        ("from os import unlink as gone", 1),
        ("os.remove('a')", 1),
        ("path.replace(other)", 1),
        ("path.touch()", 1),
        ("sqlite3.connect('a')", 1),
        ("open('a', 'rb')", 0),
        ("path.open(encoding='utf-8')", 0),
        ("'a'.replace('b', 'c')", 0),
        ("moment.replace(hour=9)", 0),
        ("entries.remove(entry)", 0),
    ],
)
def test_the_reader_tells_them_apart(source: str, count: int) -> None:
    """The test above would notice what writes, and lets pass what only sounds alike."""
    assert len(list(writes_of(source))) == count
