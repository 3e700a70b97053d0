"""`memdeck mcp --http`: streamable HTTP for this machine, behind a token."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from app.servers.mcp.http import LONGEST
from tests.desks import make_workspace
from tests.patience import PATIENCE, line_of, within

from .serving import COMMAND, contents, environment


class Place(NamedTuple):
    """Where a server is, and what it asks for."""

    root: Path
    address: str
    token: str
    process: subprocess.Popen[bytes]

    @property
    def host(self) -> str:
        """The address and the port."""
        return self.address.removeprefix("http://").partition("/")[0]


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Iterator[Place]:
    root = make_workspace(tmp_path)
    process = subprocess.Popen(
        [*COMMAND, "--http", "-w", str(root), "-o", "json"], stdout=subprocess.PIPE, env=environment(tmp_path)
    )
    try:
        assert process.stdout is not None
        told = json.loads(line_of(process.stdout))
        yield Place(root, told["address"], told["token"], process)
    finally:
        process.kill()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def _status(place: Place, **headers: str) -> int:
    connection = http.client.HTTPConnection(place.host, timeout=PATIENCE)
    try:
        connection.putrequest("POST", "/mcp", skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", "2")
        connection.endheaders(b"{}")
        return connection.getresponse().status
    finally:
        connection.close()


def test_only_this_host_with_the_token_gets_in(place: Place) -> None:
    """Another host, another origin, no token and a wrong one are refused; nothing is written."""
    before = contents(place.root)
    token = f"Bearer {place.token}"
    assert _status(place, Host=place.host) == 401
    assert _status(place, Host=place.host, Authorization="Bearer x") == 401
    assert _status(place, Host=place.host, Authorization=place.token) == 401
    assert _status(place, Host="evil.example", Authorization=token) == 403
    assert _status(place, Authorization=token) in (400, 403)
    assert _status(place, Host=place.host, Authorization=token, Origin="http://evil.example") == 403
    assert _status(place, Host=place.host, Authorization=token, Origin=f"http://{place.host}") not in (401, 403)
    assert contents(place.root) == before


def test_what_is_too_much_is_refused(place: Place) -> None:
    """Bodies and what is no HTTP have the bounds of `memdeck api`."""
    host, _, port = place.host.partition(":")

    def raw(sent: bytes) -> bytes:
        with socket.create_connection((host, int(port)), PATIENCE) as one, one.makefile("rb") as file:
            one.sendall(sent)
            return file.read()

    head = f"POST /mcp HTTP/1.1\r\nHost: {place.host}\r\nAuthorization: Bearer {place.token}\r\nConnection: close\r\n"
    assert b"http.large" in raw(f"{head}Content-Length: {LONGEST + 1}\r\n\r\n".encode())
    assert b" 400 " in raw(b"\x16\x03\x01 this is no HTTP\r\n\r\n").split(b"\r\n")[0]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_session_over_http(place: Place, mode: Any) -> None:
    """The SDK's client calls tools over HTTP in both eras, and a signal ends the server."""
    # It takes a second to load: no test process that only collects this test needs it.
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        within(),
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {place.token}"}) as http,
        Client(streamable_http_client(place.address, http_client=http), mode=mode) as client,
    ):
        made = await client.call_tool("add", {"kind": "tasks", "title": "Over HTTP"})
        assert made.structured_content is not None
        found = await client.call_tool("read", {"ref": made.structured_content["ref"]})
        assert found.structured_content is not None
        assert found.structured_content["entries"][0]["title"] == "Over HTTP"
    place.process.send_signal(signal.SIGTERM)
    assert place.process.wait(PATIENCE) == 0
