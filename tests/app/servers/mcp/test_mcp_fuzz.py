"""Sessions of clients that do everything wrong: a clear answer to each, nothing written, no server left."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.desks import make_workspace
from tests.examples import WHOLE
from tests.memory_files import contents

from .serving import Json, Server, serving

SEEDS = range(0, 100, 1 if os.environ.get("MEMDECK_BURSTS") == "all" else 10 if WHOLE else 100)
"""Each session is a process of its own; `make torture` has all of them."""
STEPS = 25
TOOLS = ("brief", "search", "read", "add", "edit", "remove", "history", "review")
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**18,
    1e308,
    "",
    "\x00",
    "\x1b[31m",
    "\ud800",
    "../../etc/passwd",
    "tasks#",
    "#0000000",
    "tasks#zzzzzzz",
    "x" * 200_000,
    [],
    [1],
    ["x"] * 100,
    {},
    {"a": {"b": {"c": {"d": {"e": 1}}}}},
    {"\x00": 1},
)
ARGUMENTS = (
    "message",
    "budget",
    "query",
    "kinds",
    "limit",
    "cursor",
    "ref",
    "kind",
    "filter",
    "hash",
    "set",
    "unset",
    "text",
    "id",
)


def _bad_line(rng: random.Random) -> bytes:
    """Return a line that is no message."""
    return rng.choice(
        (
            b"{",
            b"nonsense",
            b"\xff\xfe\x00",
            b"[]",
            b"1",
            b'"text"',
            b"null",
            b"{}",
            b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"method":7}',
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1,2]}',
            b'{"jsonrpc":"2.0","id":1}',
            b"[" * 5_000,
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}",
            b'{"jsonrpc":"2.0","id":1,"method":"ping","x":' + b"9" * 5_000 + b"}",
            b'"' + b"x" * (5 * 1024 * 1024) + b'"',
        )
    )


def _wrong_call(rng: random.Random) -> Json:
    """Return the arguments of a tool call that cannot be carried out, or changes nothing."""
    tool = rng.choice((*TOOLS, "nothing", "", "add ", "__init__", "close"))
    names = rng.sample(ARGUMENTS, rng.randrange(4)) + rng.choice(([], ["bogus"]))
    arguments: Json = {name: rng.choice(ODD) for name in names}
    if tool == "add":
        # What is missing or odd here is always refused: there is no such kind.
        arguments["kind"] = rng.choice(("nothing", "state", *(one for one in ODD if one != "tasks#")))
    return {"name": tool, "arguments": rng.choice((arguments, arguments, None, [1], "x"))}


def _step(server: Server, rng: random.Random, number: int) -> None:
    """Send one wrong thing and check what comes back."""
    kind = rng.randrange(10)
    if kind < 3:
        server.write(_bad_line(rng) + b"\n")
        answer = server.answer()
        assert answer["error"]["code"] in (-32700, -32600), answer
        assert answer["error"]["message"]
    elif kind < 8:
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": _wrong_call(rng)})
        answer = server.answer()
        if answer["id"] is None:
            # A text with half a surrogate pair is no message to the SDK, which cannot tell whose it was.
            assert answer["error"]["code"] == -32700
            return
        assert answer["id"] == number
        if "error" not in answer:
            told = answer["result"]["structuredContent"]
            assert answer["result"].get("isError", False) == ("error" in told)
            assert "error" not in told or (told["error"]["code"] != "internal" and told["error"]["message"]), told
    elif kind == 8:
        method = rng.choice(("nothing", "resources/read", "prompts/get", "completion/complete", "tools/list"))
        params = rng.choice(({}, {"uri": rng.choice(ODD)}, {"name": rng.choice(ODD)}, {"cursor": rng.choice(ODD)}))
        server.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = server.answer()
        assert answer["id"] in (number, None)
        assert "error" in answer or method in ("tools/list",), answer
    else:
        server.send({"jsonrpc": "2.0", "method": rng.choice(("nothing", "notifications/cancelled")), "params": {}})
        server.send({"jsonrpc": "2.0", "id": rng.choice((1, "x")), "result": {}})


def _close(server: Server, rng: random.Random) -> None:
    """Leave in the middle of something."""
    ends: tuple[Callable[[], object], ...] = (
        lambda: server.write(b'{"jsonrpc":"2.0","id":1,"meth'),
        lambda: server.write(b"x" * 100_000),
        lambda: server.send({"jsonrpc": "2.0", "id": 9_999, "method": "tools/call", "params": {"name": "brief"}}),
        lambda: None,
    )
    rng.choice(ends)()
    if rng.randrange(2) and server.process.stdout is not None:
        server.process.stdout.close()
    server.close()
    assert server.ended() == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fuzzed_session(tmp_path: Path, seed: int) -> None:
    """Each wrong message has a clear error, nothing is written, and the server ends with its client."""
    root = make_workspace(tmp_path)
    before = contents(root)
    rng = random.Random(seed)
    with serving(root) as server:
        if rng.randrange(5):
            server.hello()
        else:
            server.ask("ping")
        for number in range(STEPS):
            _step(server, rng, 1_000 + number)
        _close(server, rng)
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()
    assert contents(root) == before
