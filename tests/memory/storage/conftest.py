"""A workspace of real files, and the means to meet other users, other processes and full disks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memory
from memory.storage import Change, PrivateState, Store
from tests.patience import PATIENCE, line_of

TASKS = b"## Pending\n\n### [HIGH] Deploy\n- due: 2024-01-15\n"

NAME = "memory/tasks.md"


def write(store: Store, now: datetime, data: bytes | None, path: str = NAME, actor: str = "human") -> Change:
    """Write or remove one file."""
    with store.transaction("edit", actor=actor, now=now) as transaction:
        base = transaction.read(path).base
        if data is None:
            assert base is not None
            transaction.remove(path, base=base)
        else:
            transaction.write(path, data, base=base)
        return transaction.commit(f"wrote {path}")


@pytest.fixture
def now() -> datetime:
    """Return the time that every change of a test is made at."""
    return datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Make a workspace with one memory file."""
    folder = tmp_path / "shop"
    (folder / ".aiter" / "memory").mkdir(parents=True)
    (folder / ".aiter" / "memory" / "tasks.md").write_bytes(TASKS)
    return folder


@pytest.fixture
def tasks(workspace: Path) -> Path:
    """Return the path of the memory file."""
    return workspace / ".aiter" / "memory" / "tasks.md"


@pytest.fixture
def store(workspace: Path, tmp_path: Path) -> Store:
    """Open the workspace's store, with a state folder."""
    return Store(workspace / ".aiter", state=PrivateState(tmp_path / "state", workspace), lock_timeout=0.05)


@pytest.fixture
def tree() -> Callable[[Path], dict[str, bytes | None]]:
    """Return a function that lists a folder's files with their bytes, memdeck's own folder left out."""

    def look(folder: Path) -> dict[str, bytes | None]:
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))
            if ".memdeck" not in path.parts
        }

    return look


class Child:
    """Another process that runs a few lines of Python with a store of the same workspace."""

    def __init__(self, workspace: Path, code: str) -> None:
        """Start it; `code` sees `store`, `now` and `say`."""
        start = (
            "import sys, datetime, pathlib\nfrom memory.storage import Change, PrivateState, Store\n"
            f"shop = pathlib.Path({str(workspace)!r})\n"
            f"store = Store(shop / '.aiter', state=PrivateState(None, shop), lock_timeout={PATIENCE})\n"
            "now = datetime.datetime(2024, 1, 15, tzinfo=datetime.UTC)\n"
            "def say(text): print(text, flush=True)\n"
        )
        environment = os.environ | {"PYTHONPATH": str(Path(memory.__file__).parents[1])}
        self.process = subprocess.Popen(
            [sys.executable, "-c", start + code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def hear(self) -> str:
        """Wait for the next line that it says."""
        assert self.process.stdout is not None
        return line_of(self.process.stdout).decode().strip()

    def tell(self) -> None:
        """Let it go on where it reads a line."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Wait for its end."""
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture
def child(workspace: Path) -> Iterator[Callable[[str], Child]]:
    """Return a function that starts another process on the same workspace."""
    children: list[Child] = []

    def start(code: str) -> Child:
        children.append(Child(workspace, code))
        return children[-1]

    yield start
    for one in children:
        one.process.kill()
        one.end()


@pytest.fixture
def mount_small() -> Iterator[Callable[[Path, str], None]]:
    """Return a function that mounts an empty file system of a given size on a folder."""
    mounted: list[Path] = []

    def mount(folder: Path, size: str) -> None:
        if os.geteuid() != 0:
            pytest.skip("needs root to mount a small file system")
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True, timeout=PATIENCE).returncode:
            pytest.skip("this machine does not let us mount a small file system")
        mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True, timeout=PATIENCE)
