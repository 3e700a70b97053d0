"""Servers that nobody asks anything: they do nothing, and hold no more than what cannot be read again."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from app.servers.life import Busy
from app.servers.loopback import App, open_port
from memory.document import Document
from memory.systems.entries import EntryAccess
from memory.workspace import Workspace
from tests.desks import NOW, make_workspace
from tests.patience import PATIENCE, join, line_of, until


def test_the_work_of_a_rest_is_done_once_between_two_calls() -> None:
    """What is done at rest holds up calls, and is done again only after another one."""
    busy, done = Busy(), []
    busy.at_rest(lambda: done.append(busy.acquire(0.0)), 0.0)
    for calls in range(1, 5):
        until(lambda calls=calls: len(done) >= calls)  # type: ignore[misc]
        assert len(done) == calls
        with busy:
            pass
    assert not any(done)  # each time the lock was held


def test_a_failure_at_rest_ends_nothing() -> None:
    """Work that fails at rest is tried again after the next call, and calls go on."""
    busy, done = Busy(), threading.Semaphore(0)

    def fail() -> None:
        done.release()
        raise OSError("no room")

    busy.at_rest(fail, 0.0)
    assert done.acquire(timeout=PATIENCE)
    with busy:
        pass
    assert done.acquire(timeout=PATIENCE)
    assert busy.acquire(timeout=PATIENCE)


def test_what_was_read_is_let_go_and_read_again(tmp_path: Path) -> None:
    """After a rest no document is held, answers are the same, and a stale edit is still told what changed."""
    root = make_workspace(tmp_path)
    with Workspace.open(root, state_home=tmp_path / "state", home=tmp_path) as workspace:
        desk = EntryAccess(workspace, lambda: NOW)
        made = desk.add("tasks", "Water the plants", {"priority": "LOW"}, actor="agent:a")
        before = desk.read(kind="tasks"), desk.search("plants"), desk.history()
        assert _held(b"Water the plants")
        desk.let_go()
        assert not _held(b"Water the plants")
        assert before == (desk.read(kind="tasks"), desk.search("plants"), desk.history())
        changed = desk.edit(made["ref"], made["hash"], set={"priority": "HIGH"}, actor="agent:a")
        desk.let_go()
        with pytest.raises(Exception, match="was changed") as refused:
            desk.edit(made["ref"], made["hash"], set={"priority": "NORMAL"}, actor="agent:a")
        assert refused.value.details["changed"][0]["field"] == "priority"  # type: ignore[attr-defined]
        assert refused.value.details["hash"] == changed["hash"]  # type: ignore[attr-defined]
        desk.close()


def _held(text: bytes) -> list[object]:
    """Return the documents in memory that hold a text."""
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, Document) and text in one.dump()]


def test_a_log_that_is_kept_nowhere_survives_a_rest(tmp_path: Path) -> None:
    """Without a state folder the changes live with the process: they can still be taken back after a rest."""
    root = make_workspace(tmp_path)
    with Workspace.open(root, state_home=None) as workspace:
        desk = EntryAccess(workspace, lambda: NOW)
        desk.add("tasks", "Water the plants", actor="agent:a")
        desk.let_go()
        workspace.undo(actor="agent:a", now=NOW)
        assert b"Water" not in (root / ".aiter" / "memory" / "tasks.md").read_bytes()


def test_the_parent_is_waited_for_without_looking(tmp_path: Path) -> None:
    """A process learns of the end of its parent though it never sleeps and looks again."""
    told = tmp_path / "told"
    child = (
        "import os,sys,pathlib; from app.servers import life\n"
        "parent = os.getppid(); print(os.getpid(), flush=True)\n"
        "life._await_end(parent)\n"
        "pathlib.Path(sys.argv[1]).write_text('gone' if os.getppid() != parent else 'there')\n"
    )
    code = "import subprocess,sys; p = subprocess.Popen([sys.executable, '-c', *sys.argv[1:]]); p.wait()"
    parent = subprocess.Popen([sys.executable, "-c", code, child, str(told)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        line_of(parent.stdout)
        assert not told.exists()
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: told.exists() and told.read_text())
    assert told.read_text() == ("gone" if hasattr(os, "pidfd_open") else "there")


def test_a_server_over_http_has_nothing_to_do_while_nobody_asks() -> None:
    """No timer is set in its loop, answers tell the time, and it ends when it is told to."""
    with _served(_plain) as (address, loop, leave):
        first = httpx.get(address)
        assert first.text == "x"
        told = datetime.strptime(first.headers["date"], "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
        assert abs((datetime.now(UTC) - told).total_seconds()) < PATIENCE
        httpx.get(address, headers={"connection": "close"})
        until(lambda: not [one for one in loop[0]._scheduled if not one.cancelled()], lambda: loop[0]._scheduled)  # type: ignore[attr-defined]
        leave()


async def _plain(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": b"x"})


@contextmanager
def _served(app: App) -> Iterator[tuple[str, list[asyncio.AbstractEventLoop], object]]:
    """Serve in a thread; the loop is in the list once it runs, and `leave` ends it."""
    import uvicorn

    from app.servers.http_server import HttpServer

    listening, _ = open_port(0, "test.port")
    server = HttpServer(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
    loop: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loop.append(asyncio.get_running_loop())
        await server.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", loop, server.leave
    finally:
        server.leave()
        join(thread)
        listening.close()
