"""What a browser, or a program that has its cookie, may do to the server: real HTTP and websockets on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.web.conftest import Served
from tests.app.web.test_guard import PATIENCE, client, read_until, sign_in

aiohttp = pytest.importorskip("aiohttp")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def sessions() -> list[int]:
    """The processes of sessions that this one started."""
    found = []
    for name in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0") if name.isdigit() else []
            parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1] if words else ""
        except OSError:
            continue
        if b"app.servers.web.session" in words and parent == str(os.getpid()):
            found.append(int(name))
    return found


async def until_gone() -> None:
    """Wait until no session is left."""
    async with asyncio.timeout(PATIENCE):
        while sessions():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def opened(served: Served, query: str = "width=100&height=30") -> AsyncIterator[object]:
    """A page's websocket, signed in; the session has drawn."""
    async with client() as session:
        await sign_in(session, served)
        socket = await session.ws_connect(f"{served.base}/ws?{query}", headers={"Origin": served.base}, max_msg_size=0)
        await read_until(socket, "Deploy v2.1")
        yield socket


async def raw(served: Served, data: bytes) -> tuple[bytes, bytes]:
    """Send bytes and return head and body of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(served.base.rpartition(":")[2]))
    try:
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"Content-Length: (\d+)", head)
            assert length, head
            return head, await reader.readexactly(int(length[1]))
    finally:
        writer.close()


MALFORMED = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "a version that is none": b"GET / HTTP/9.9\r\nHost: {host}\r\n\r\n",
    "a method that is none": b"G\x00T / HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "an address that is none": b"GET http://[::1 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a port that is none": b"GET http://a:99999999/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "escapes that are none": b"GET /%ff%zz?token=%ff HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a header of 100 KB": b"GET / HTTP/1.1\r\nHost: {host}\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
    "a line of 100 KB": b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "50,000 headers": b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"A: b\r\n" * 50_000 + b"\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n",
    "two lengths": b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a length of 5,000 digits": b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "a cookie that is none": b"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: " + b'a="\\;=' * 1_000 + b"\r\n\r\n",
    "bytes that are no text": b"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: memdeck=\xff\xfe\r\n\r\n",
    "a token that is no text": b"GET /?token=%ed%a0%80 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a websocket without its key": b"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n\r\n",
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=list(MALFORMED))
async def test_malformed_requests_are_refused(served: Served, data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    """No traceback, neither to the sender nor to the terminal."""
    host = served.base.removeprefix("http://").encode()
    head, body = await raw(served, data.replace(b"{host}", host))
    status = head.split(b" ")[1:2]
    assert status in ([b"400"], [b"403"], [b"405"]), head[:300]
    assert b"Traceback" not in body
    out = "".join(capfd.readouterr())
    assert "Traceback" not in out
    assert "Error" not in out
    async with client() as session:
        await sign_in(session, served)


@pytest.mark.parametrize(
    "path", ["/static", "/static/", "/static/js", "/static/js/", "/static/..%2f..%2f", "/static/%00"]
)
async def test_no_folder_is_listed(served: Served, path: str) -> None:
    """The files of the page are there, and nothing says which there are."""
    async with client() as session:
        await sign_in(session, served)
        async with session.get(served.base + path) as answer:
            assert answer.status >= 400
            assert "textual" not in await answer.text()
        async with session.get(served.base + "/static/js/textual.js") as answer:
            assert answer.status == 200
        async with session.get(served.base + "/download/x") as answer:
            assert (answer.status, (await answer.text()).strip()) == (404, "nothing is here")


async def test_the_token_is_good_for_one_exchange(served: Served) -> None:
    """Who comes with it a second time gets nothing, but the browser that has the cookie is let in."""
    async with client() as first, client() as second:
        async with first.head(served.address, allow_redirects=False) as answer:
            assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
        ahead = {"Sec-Purpose": "prefetch;prerender"}
        async with first.get(served.address, headers=ahead, allow_redirects=False) as answer:
            assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
        await sign_in(first, served)
        async with second.get(served.address) as answer:
            assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
            assert "was used already" in await answer.text()
        await sign_in(first, served)


@linux
@pytest.mark.parametrize(
    "query",
    ["width=30000&height=30000", "width=" + "9" * 5_000 + "&height=-1", "width=x&height=\u0661"],
    ids=["cells", "digits", "letters"],
)
@pytest.mark.thorough(but=("cells",))
async def test_sizes_are_clamped(served: Served, query: str) -> None:
    """A page that asks for 900 million cells gets what fits a wall of screens, and the session stays small."""
    async with opened(served, query) as socket:
        [process] = sessions()
        for size in ({"width": 30_000, "height": 30_000}, {"width": 10**30, "height": 1}):
            await socket.send_str(json.dumps(["resize", size]))
        await socket.send_str(json.dumps(["stdin", "2"]))
        await read_until(socket, "Journal")
        status = Path(f"/proc/{process}/status").read_text()
        peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        assert peak < 600_000  # kB; it was 5.6 GB
    await until_gone()


@linux
@pytest.mark.parametrize("parts", [("\x1b[48;5000;5000;1;0t",), ("\x1b[4", "8;5000;5000;1;0", "t")])
@pytest.mark.thorough(but=("parts1",))
async def test_keys_say_no_size(served: Served, parts: tuple[str, ...]) -> None:
    """What a terminal would say of its size among the keys changes nothing, in one message or in several."""
    async with opened(served) as socket:
        [process] = sessions()
        for part in parts:
            await socket.send_str(json.dumps(["stdin", part]))
        # Its characters count as keys, which end in the pane of changes, where `t` does nothing. The help is drawn
        # behind it, in the middle of a screen of the size that the page asked for.
        await socket.send_str(json.dumps(["stdin", "?"]))
        await read_until(socket, "Keys")
        status = Path(f"/proc/{process}/status").read_text()
        peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        assert peak < 100_000  # kB; thousands of lines of thousands of cells take much more
    await until_gone()


@linux
async def test_a_session_that_hangs_is_killed_when_its_page_leaves(served: Served) -> None:
    """Whatever the process is doing: stopped, with its pipe full, it does not outlive the page."""
    async with opened(served) as socket:
        [process] = sessions()
        os.kill(process, signal.SIGSTOP)
        for _ in range(40):
            await socket.send_str(json.dumps(["stdin", "x" * 100_000]))
        await socket.close()
        await until_gone()


@linux
async def test_a_session_is_gone_when_its_line_is_cut(served: Served) -> None:
    """The page need not say goodbye: a connection that just ends is enough."""
    async with opened(served) as socket:
        socket._response.connection.transport.abort()
        await until_gone()


@linux
@pytest.mark.thorough
async def test_a_page_is_told_when_its_session_dies(served: Served) -> None:
    """The connection ends with the process, and the next page gets in."""
    async with client() as session:
        await sign_in(session, served)
        for _ in range(2):
            socket = await session.ws_connect(f"{served.base}/ws", headers={"Origin": served.base})
            await read_until(socket, "Deploy v2.1")
            os.kill(sessions()[0], signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                while (await socket.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    pass


@pytest.mark.parametrize(
    "said",
    [
        "[" * 100_000,
        "9" * 5_000,
        '["resize", {"width": true}]',
        '["resize", {"width": 1e400, "height": 1}]',
        '["stdin", 5]',
        '["stdin", "\\ud800"]',
        '["stdin"]',
        "{}",
        '["stdin", "' + "x" * 300_000 + '"]',
    ],
    ids=lambda said: said[:32],
)
@pytest.mark.thorough(but=("[" * 32, '["resize", {"width": 1e400, "hei', '["stdin", 5]'))
async def test_messages_that_no_page_sends_end_the_session(served: Served, said: str) -> None:
    """Depth, numbers, types and sizes beyond a page's close the connection, and nothing is left."""
    async with client() as session:
        await sign_in(session, served)
        socket = await session.ws_connect(f"{served.base}/ws", headers={"Origin": served.base})
        await socket.send_str(said)
        async with asyncio.timeout(PATIENCE):
            while (await socket.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                pass
    if sys.platform == "linux":
        await until_gone()


@linux
async def test_what_nobody_read_leaves_no_pipe_open() -> None:
    """A session that ends while its pipe is full closes all its ends."""
    from app.servers.web.page_session import PageSession

    async def take(*_: object) -> None:
        """Take nothing."""

    before = len(os.listdir("/proc/self/fd"))
    says_much = (sys.executable, "-c", "import sys; sys.stdout.write('x' * 10**6)")
    session = PageSession(says_much, write_bytes=take, write_str=take, close=take, download_manager=None)
    process = await session._open_app_process()
    assert process.stdout is not None
    await process.stdout.readexactly(1)
    async with asyncio.timeout(PATIENCE):
        await session.end()
        while len(os.listdir("/proc/self/fd")) > before:
            await asyncio.sleep(0)
