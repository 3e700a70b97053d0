"""Who gets in, and what nobody gets done from there."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.servers.api.server import socket_at
from memory.errors import MemdeckError
from tests.desks import make_workspace
from tests.patience import PATIENCE

from .serving import Api, contents, serving


@pytest.fixture(name="api", scope="module")
def _api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    with serving(make_workspace(folder), "--port", "0", "--socket", str(folder / "s")) as api:
        yield api


def _status(api: Api, **headers: str) -> int:
    connection = http.client.HTTPConnection(api.host, timeout=PATIENCE)
    try:
        connection.putrequest("GET", "/api/v1/status", skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        found = connection.getresponse()
        body = json.loads(found.read())
        assert found.status == 200 or body["error"]["code"].startswith("http.")
        return found.status
    finally:
        connection.close()


def test_only_this_host_with_the_token_gets_in(api: Api) -> None:
    """Another host, another origin, no token and a wrong one are refused."""
    token = f"Bearer {api.token}"
    assert _status(api, Host=api.host, Authorization=token) == 200
    assert _status(api, Host=api.host.replace("127.0.0.1", "localhost"), Authorization=token) == 200
    assert _status(api, Host=api.host) == 401
    assert _status(api, Host=api.host, Authorization="Bearer x") == 401
    assert _status(api, Host=api.host, Authorization=str(api.token)) == 401
    assert _status(api, Host="evil.example", Authorization=token) == 403
    assert _status(api, Host=api.host, Authorization=token, Origin="http://evil.example") == 403
    assert _status(api, Host=api.host, Authorization=token, Origin="null") == 403
    assert _status(api, Host=api.host, Authorization=token, Origin=f"http://{api.host}") == 200


def _over_socket(api: Api, **headers: str) -> tuple[int, str]:
    assert api.socket is not None
    words = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "x", "Connection": "close", **headers}.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(api.socket)
        connection.sendall(f"GET /api/v1/status HTTP/1.1\r\n{words}\r\n".encode())
        with connection.makefile("rb") as file:
            answer = file.read().decode()
    return int(answer.split()[1]), answer


def test_the_socket_is_this_users_alone(api: Api) -> None:
    """Its mode lets nobody else in, it needs no token, and no page reaches it."""
    assert api.socket is not None
    assert stat.S_IMODE(os.stat(api.socket).st_mode) == 0o600
    assert _over_socket(api)[0] == 200
    assert _over_socket(api, Origin="http://evil.example")[0] == 403


def test_the_token_stands_nowhere_but_in_the_first_answer(api: Api) -> None:
    """It is in no list of processes, in no file of the workspace or of the records, and in no error."""
    assert api.token is not None
    command = (
        Path(f"/proc/{api.process.pid}/cmdline").read_bytes() + Path(f"/proc/{api.process.pid}/environ").read_bytes()
    )
    assert api.token.encode() not in command
    assert api.token.encode() not in api.ask("GET", f"/nothing?token={api.token[:-1]}").body
    for path in api.root.parent.rglob("*"):
        if path.is_file():
            assert api.token.encode() not in path.read_bytes(), path


def test_nothing_that_a_caller_writes_runs(api: Api, tmp_path: Path) -> None:
    """A monitor and an action that were sent are text: looks, upkeep and validation run neither."""
    trace = tmp_path / "ran"
    api.change("monitors/add", name="Sly", type="command", command=f"touch {trace}", interval="* * * * *")
    api.change("tasks/add", title="Sly", action=f"touch {trace}", due="2020-01-01")
    for path in ("archive", "prune", "state/validate", "state/recall"):
        api.change(path)
    for path in ("status", "doctor", "check", "monitors/list", "prompt"):
        assert api.look(path).status in (200, 404)
    assert not trace.exists()


def test_paths_stay_in_the_workspace(api: Api, tmp_path: Path) -> None:
    """No argument reads a file, nor changes one that lies elsewhere."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "Aidefile").write_text('[persona]\nname = "other"\n')
    (other / "memory").mkdir()
    (other / "memory" / "secret.md").write_text("# Secret\n")
    before = contents(tmp_path / "other")
    secret = str(other / "memory" / "secret.md")
    assert api.change("typed/merge", path=secret, text="## New\n\nx\n").status >= 400
    assert api.change("typed/merge", path="../other/memory/secret.md", text="## New\n\nx\n").status >= 400
    assert b"Secret" not in api.change("curated/write", type="user", name="N", content=f"@{secret}").body
    assert b"Secret" not in api.change("journal/add", title="J", line=[f"@{secret}", "-"]).body
    assert api.look("check", files=secret).status >= 400
    assert contents(tmp_path / "other") == before


def test_the_actor_of_a_request_is_an_agent(api: Api) -> None:
    """A change is in the name that the request gives, as an agent's; the person's name cannot be taken."""
    api.ask("POST", "/api/v1/tasks/add", {"title": "Named"}, {"Memdeck-Actor": "builder"})
    api.ask("POST", "/api/v1/tasks/add", {"title": "Also named"}, {"Memdeck-Actor": "agent:builder"})
    api.change("tasks/add", title="Unnamed")
    found = api.look("changes/list", limit=3).data["changes"]
    assert [one["actor"] for one in found] == ["agent:http", "agent:builder", "agent:builder"]
    api.ask("POST", "/api/v1/tasks/add", {"title": "As me"}, {"Memdeck-Actor": "human"})
    assert api.look("changes/list", limit=1).data["changes"][0]["actor"] == "agent:human"
    refused = api.ask("POST", "/api/v1/tasks/add", {"title": "x"}, {"Memdeck-Actor": "a b"})
    assert (refused.status, refused.code) == (400, "usage.actor")
    mine = api.look("changes/list", actor="agent:builder").data["changes"]
    assert {one["actor"] for one in mine} == {"agent:builder"}


def test_an_actor_of_the_start_counts_for_all(tmp_path: Path) -> None:
    """With --actor no request says otherwise, and a server that only reads changes nothing."""
    root = make_workspace(tmp_path)
    with serving(root, "--actor", "agent:ci") as api:
        api.ask("POST", "/api/v1/tasks/add", {"title": "Named"}, {"Memdeck-Actor": "builder"})
        assert api.look("changes/list", limit=1).data["changes"][0]["actor"] == "agent:ci"
    before = contents(root)
    with serving(root, "--read-only") as api:
        refused = api.change("tasks/add", title="x")
        assert (refused.status, refused.code) == (403, "api.read_only")
        written = {"type": "user", "name": "N", "content": "c"}
        assert api.ask("POST", "/api/memory", written).code == "api.read_only"
        assert api.look("tasks/list").status == 200
    assert contents(root) == before


def test_a_socket_replaces_only_what_a_server_left_there(tmp_path: Path) -> None:
    """A file is not touched, a listening server neither; what a crash left is replaced, and gone at the end."""
    path = tmp_path / "s"
    path.write_text("mine")
    with pytest.raises(MemdeckError, match="cannot be a socket"), socket_at(str(path)):
        pass
    assert path.read_text() == "mine"
    path.unlink()
    with socket_at(str(path)) as first:
        with pytest.raises(MemdeckError, match="cannot be a socket"), socket_at(str(path)):
            pass
        first.close()
        with socket_at(str(path)):
            assert path.exists()
        assert not path.exists()
