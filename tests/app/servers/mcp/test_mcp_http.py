"""`memdeck mcp --http`: streamable HTTP for this machine, behind a token."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from tests.desks import make_workspace
from tests.patience import PATIENCE, line_of, within

from .serving import COMMAND, environment


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


@pytest.mark.thorough(but=("auto",))
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
