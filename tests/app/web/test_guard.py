"""Who gets in: every request names this host, comes from this page and carries the cookie; one session at a time."""

from __future__ import annotations

import json
import re

import pytest

from tests.app.web.conftest import Served
from tests.patience import PATIENCE, within

aiohttp = pytest.importorskip("aiohttp")

ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)", re.S)


def client() -> object:
    """A browser's worth of cookies, none of them from elsewhere."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


async def sign_in(session: object, served: Served) -> None:
    """Open the address with the token."""
    async with session.get(served.address) as answer:
        assert answer.status == 200
        assert str(answer.url) == f"{served.base}/"


async def read_until(socket: object, words: str) -> str:
    """What the session drew until some words are in it."""
    drawn = b""
    async with within(lambda: ESCAPES.sub(b"", drawn)[-2000:].decode("utf-8", "replace")):
        while words not in ESCAPES.sub(b"", drawn).decode("utf-8", "replace"):
            message = await socket.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), message
            drawn += message.data if isinstance(message.data, bytes) else b""
    return drawn.decode("utf-8", "replace")


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/x", "/nothing", "/?token=wrong"])
async def test_without_the_token_nothing_is_answered(served: Served, path: str) -> None:
    """Neither the page nor a file of it nor the websocket, and not a word about the workspace."""
    async with client() as session, session.get(served.base + path, headers={"Origin": served.base}) as answer:
        assert answer.status == 403
        text = await answer.text()
        assert str(served.workspace.root) not in text
        assert "Set-Cookie" not in answer.headers


async def test_the_token_gives_a_cookie_and_leaves_the_address(served: Served) -> None:
    """The page comes with headers that keep others out, and the cookie is no script's and no other site's."""
    async with client() as session:
        async with session.get(served.address, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
            assert served.address.rpartition("=")[2] not in cookie
        async with session.get(served.base) as answer:
            page = await answer.text()
            assert "data-session-websocket-url" in page
            assert "token" not in page
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["Cache-Control"] == "no-store"


ASKED_BY_A_PAGE = (
    {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
    {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Purpose": "prefetch;prerender"},
)
"""What browsers say where no person opens a page."""


@pytest.mark.parametrize("headers", ASKED_BY_A_PAGE, ids=lambda headers: headers["Sec-Fetch-Dest"])
async def test_only_a_page_that_is_opened_uses_the_token(served: Served, headers: dict[str, str]) -> None:
    """An image, a script or a frame of another page gets no cookie for the token, which stays good."""
    async with client() as session:
        async with session.get(served.address, headers=headers, allow_redirects=False) as answer:
            assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
        opened = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"}
        async with session.get(served.address, headers=opened, allow_redirects=False) as answer:
            assert (answer.status, "Set-Cookie" in answer.headers) == (303, True)


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}"]
)
@pytest.mark.parametrize("path", ["/", "/ws"])
async def test_another_host_is_refused(served: Served, host: str, path: str) -> None:
    """A name that was made to point here gets nothing, with the cookie too."""
    async with client() as session:
        await sign_in(session, served)
        host = host.format(port=served.base.rpartition(":")[2])
        async with session.get(served.base + path, headers={"Host": host, "Origin": served.base}) as answer:
            assert answer.status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "http://localhost:1", None])
async def test_a_websocket_of_another_origin_is_refused(served: Served, origin: str | None) -> None:
    """Only the page itself may open the session, whatever cookie comes along."""
    async with client() as session:
        await sign_in(session, served)
        headers = {} if origin is None else {"Origin": origin}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{served.base}/ws", headers=headers)
        assert refused.value.status == 403
        if origin is not None:
            async with session.get(served.base, headers=headers) as answer:
                assert answer.status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_only_reading_is_answered(served: Served, method: str) -> None:
    """Other methods than GET and HEAD mean nothing here."""
    async with client() as session:
        await sign_in(session, served)
        async with session.request(method, served.base) as answer:
            assert answer.status == 405


async def test_one_session_at_a_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second page is refused while the first is open, and gets in as soon as that is gone."""
    monkeypatch.setattr("app.servers.web.guard.LEAVING_SECONDS", 0.2)
    async with client() as session:
        await sign_in(session, served)
        socket = await session.ws_connect(f"{served.base}/ws?width=100&height=30", headers={"Origin": served.base})
        await read_until(socket, "Deploy v2.1")
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{served.base}/ws", headers={"Origin": served.base})
        assert refused.value.status == 409
        await socket.close()
        monkeypatch.setattr("app.servers.web.guard.LEAVING_SECONDS", PATIENCE)
        again = await session.ws_connect(f"{served.base}/ws?width=100&height=30", headers={"Origin": served.base})
        await read_until(again, "Deploy v2.1")
        await again.send_str(json.dumps(["stdin", "T"]))
        await read_until(again, "Approve commands in a terminal")
        await again.send_str(json.dumps(["stdin", "q"]))
        async with within(lambda: "the session stays open"):
            while (await again.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                pass


def test_two_runs_have_nothing_in_common() -> None:
    """Token and cookie are new each time and long."""
    from app.servers.web.guard import Guard

    one, other = Guard("127.0.0.1:1"), Guard("127.0.0.1:1")
    assert one.token != other.token
    assert one._cookie not in (other._cookie, one.token)
    assert min(len(one.token), len(one._cookie)) >= 40


def test_a_port_that_is_taken_is_told() -> None:
    """An error with words, not a traceback."""
    from app.servers.loopback import open_port
    from memory.errors import MemdeckError

    taken, host = open_port(0, "serve.port")
    with taken:
        assert host == f"127.0.0.1:{taken.getsockname()[1]}"
        assert taken.getsockname()[0] == "127.0.0.1"
        with pytest.raises(MemdeckError) as error:
            open_port(taken.getsockname()[1], "serve.port")
    assert error.value.code == "serve.port"
