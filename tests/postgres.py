"""A PostgreSQL of the tests' own: a private cluster on a Unix socket in a temporary folder, thrown away at the end."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE

_SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_min_messages": "fatal",
}


_WATCH = """
cat > /dev/null
pid=$(head -n 1 "$1/data/postmaster.pid") && kill -QUIT "$pid"
while [ -n "$pid" ] && kill -0 "$pid"; do sleep 0.1; done
rm -rf "$1"
"""


def programs() -> Path | None:
    """Return the folder of the server's programs; None where they are not installed."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Cluster:
    """One running server. It is not run as root, who may not run it: the user `postgres` does then."""

    def __init__(self, folder: Path, bin_folder: Path, port: int = 5432) -> None:
        """Make it; `start` starts it. The port names the socket."""
        self.folder = folder
        self.port = port
        self._bin = bin_folder
        self._numbers = itertools.count(1)
        self._root = os.geteuid() == 0
        self.owner = "postgres" if self._root else pwd.getpwuid(os.geteuid()).pw_name
        if self._root:
            shutil.chown(folder, self.owner)
        folder.chmod(0o755)
        self.data = folder / "data"
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C.UTF-8")
        settings = dict(_SETTINGS, unix_socket_directories=f"'{folder}'", port=str(port))
        self.configure("".join(f"{name} = {value}\n" for name, value in settings.items()))

    def configure(self, lines: str) -> None:
        """Add settings; they count from the next start."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(lines)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-t", "60", "start")

    def stop(self, how: str = "fast") -> None:
        """Stop it; `immediate` is as a crash is."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-m", how, "stop")

    def restart(self, how: str = "immediate") -> None:
        """Stop it and start it again."""
        self.stop(how)
        self.start()

    def url(self, database: str, user: str = "postgres") -> str:
        """Return where a database is."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def database(self) -> str:
        """Make an empty database, and return its name."""
        import psycopg

        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name

    def own(self, path: Path) -> None:
        """Give a file to the user whom the server runs as."""
        if self._root:
            shutil.chown(path, self.owner)

    def watch(self) -> subprocess.Popen[bytes]:
        """Return a process that ends the server and removes the folder once its input ends, as it does when whoever
        holds the other end is gone, however it went.
        """
        return subprocess.Popen(
            ["sh", "-c", _WATCH, "sh", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )

    def _run(self, program: str, *arguments: str) -> None:
        words = [str(self._bin / program), *arguments]
        if self._root:
            words = ["setpriv", f"--reuid={self.owner}", f"--regid={self.owner}", "--init-groups", *words]
        # The server inherits what it is given: a pipe would stay open as long as it runs.
        with (self.folder / f"{program}.out").open("ab") as out:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", timeout=PATIENCE)
        if done.returncode:
            raise RuntimeError(f"{words}: {(self.folder / f'{program}.out').read_text()[-2000:]}")


@contextmanager
def running(port: int = 5432, prepare: Callable[[Cluster], None] = lambda made: None) -> Iterator[Cluster]:
    """Yield a running server; skip where none is installed, fail where one has to be."""
    found = programs()
    if found is None:
        why = "no PostgreSQL server is installed: apt-get install postgresql"
        if "MEMDECK_TOOLS" in os.environ:
            pytest.fail(why)
        pytest.skip(why)
    # A short path: that of a socket may have 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="memdeck-pg-", dir="/tmp"))
    try:
        made = Cluster(folder, found, port)
        prepare(made)
        with made.watch() as watcher:
            made.start()
            try:
                yield made
            finally:
                made.stop("immediate")
                assert watcher.stdin is not None
                watcher.stdin.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Yield the server that tests share."""
    with running() as made:
        yield made


@pytest.fixture
def database(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of an empty database, as its owner; a connection that stays open behind the test is an error.

    Left alone it would be one of whichever test runs when the garbage is collected.
    """
    import psycopg

    made: list[psycopg.Connection[Any]] = []
    begin = psycopg.Connection.__init__

    def start(self: psycopg.Connection[Any], *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(psycopg.Connection, "__init__", start)
    yield cluster.url(cluster.database())
    left = [one for one in made if not one.closed]
    for one in left:
        one.close()
    assert not left, f"still open: {left}"
