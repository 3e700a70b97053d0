"""Recorded answers: what is answered while the SDK loads is what the SDK answers, or it is not answered early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from app.servers.mcp.recorded import FILE, RecordedAnswers, question_of
from app.servers.mcp.stdio import Relay
from app.servers.mcp.wire import Wire
from app.version import __version__
from memory.storage.own_folders import StateFolder
from tests.memory.entries.desks import make_workspace
from tests.patience import PATIENCE, join, line_of

from .serving import VERSION, Json, Server, environment, memdeck, serving

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LEGACY: list[tuple[str, Json]] = [
    ("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    ("tools/list", {}),
    ("prompts/list", {}),
    ("resources/templates/list", {}),
    ("ping", {}),
]
MODERN: list[tuple[str, Json]] = [
    (method, {"_meta": META})
    for method in ("server/discover", "tools/list", "prompts/list", "resources/templates/list")
]


def _ask(server: Server, questions: list[tuple[str, Json]]) -> list[Json]:
    answers = []
    for method, params in questions:
        answers.append(server.ask(method, **params)["result"])
        if method == "initialize":
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return answers


def _recording(root: Path) -> Path:
    (found,) = (root.parent / "records" / "memdeck").glob(f"*/{FILE}")
    return found


@pytest.mark.parametrize("questions", [LEGACY, MODERN], ids=["legacy", "modern"])
def test_recorded_answers_are_those_of_the_sdk(tmp_path: Path, questions: list[tuple[str, Json]]) -> None:
    """The first start answers by the SDK, the second from the recording: all answers are equal, in both eras."""
    root = make_workspace(tmp_path)
    with serving(root) as server:
        live = _ask(server, questions)
    kept = json.loads(_recording(root).read_bytes())
    assert {json.loads(name)[0] for name in kept["answers"]} == {method for method, _ in questions}
    with serving(root) as server:
        assert _ask(server, questions) == live
        tool = {"name": "read", "arguments": {"kind": "tasks"}} | ({"_meta": META} if questions is MODERN else {})
        assert server.ask("tools/call", **tool)["result"]["structuredContent"]["entries"]
    assert json.loads(_recording(root).read_bytes()) == kept


def test_the_handshake_is_answered_before_the_sdk_is_loaded(tmp_path: Path) -> None:
    """On a second start the answers to handshake and listing are written while no module of the SDK is there."""
    root = make_workspace(tmp_path)
    with serving(root) as server:
        (live, listed, *_) = _ask(server, LEGACY)
    program = f"""
import sys
from app.servers.mcp.early_answer import answer_early, taken
answer_early(["-w", {str(root)!r}])
slow = {{"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "click"}} & set(sys.modules)
print(sorted(slow), file=sys.stderr, flush=True)
assert taken() is not None
sys.stderr.flush()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for number, (method, params) in enumerate(LEGACY[:2]):
            process.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
            )
        process.stdin.flush()
        assert line_of(process.stderr) == b"[]"
        assert json.loads(line_of(process.stdout)) == {"jsonrpc": "2.0", "id": 0, "result": live}
        assert json.loads(line_of(process.stdout)) == {"jsonrpc": "2.0", "id": 1, "result": listed}
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


class _Ends:
    """A relay between two pipes, with what the client sees."""

    def __init__(self, recorded: RecordedAnswers | None) -> None:
        self.incoming, self.client_out = os.pipe()
        self.client_in, self.outgoing = os.pipe()
        self.relay = Relay(Wire(self.incoming, self.outgoing, lambda: None), recorded)
        self.relay.start()

    def send(self, method: str, number: int, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        os.write(self.client_out, json.dumps(message).encode() + b"\n")

    def answer(self) -> Json:
        with os.fdopen(os.dup(self.client_in), "rb", buffering=0) as stream:
            found: Json = json.loads(line_of(stream))
            return found

    def close(self) -> None:
        os.close(self.client_out)
        while self.relay.next() is not None:
            pass
        for one in (self.incoming, self.client_in, self.outgoing):
            os.close(one)


def _recorded(tmp_path: Path, *, read_only: bool = False, version: str = "1") -> RecordedAnswers:
    root = tmp_path / "shop"
    root.mkdir(exist_ok=True)
    return RecordedAnswers(StateFolder(tmp_path / "records", root), version=version, read_only=read_only)


def _message(method: str, params: Any = None) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


def test_what_the_sdk_says_to_an_answered_request_is_compared_and_not_sent(tmp_path: Path) -> None:
    """The client gets one answer; one of the SDK that differs replaces what is recorded."""
    recorded = _recorded(tmp_path)
    first = _message("initialize", dict(LEGACY[0][1]))
    recorded.record(first, {"said": "before"})
    ends = _Ends(recorded)
    ends.send("initialize", 7, LEGACY[0][1])
    assert ends.answer() == {"jsonrpc": "2.0", "id": 7, "result": {"said": "before"}}
    line = ends.relay.next()
    assert line is not None
    assert json.loads(line)["id"] == 7
    ends.relay.send({"jsonrpc": "2.0", "id": 7, "result": {"said": "now"}}, b"not to be seen")
    ends.relay.send({"jsonrpc": "2.0", "method": "notifications/x"}, b'{"seen": true}')
    assert ends.answer() == {"seen": True}
    assert _recorded(tmp_path).answer(first) == {"said": "now"}
    ends.close()


def test_an_error_of_the_sdk_takes_the_recorded_answer_away(tmp_path: Path) -> None:
    """What the SDK refuses now is not answered from the recording at the next start."""
    recorded = _recorded(tmp_path)
    first = _message("initialize", dict(LEGACY[0][1]))
    recorded.record(first, {"said": "before"})
    recorded.save()
    ends = _Ends(recorded)
    ends.send("initialize", 7, LEGACY[0][1])
    assert "result" in ends.answer()
    assert ends.relay.next() is not None
    ends.relay.send({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no"}}, b"not to be seen")
    assert _recorded(tmp_path).answer(first) is None
    ends.close()


def test_only_what_the_sdk_would_answer_is_answered_early(tmp_path: Path) -> None:
    """A listing before the handshake, the other era's requests and a second handshake wait for the SDK."""
    recorded = _recorded(tmp_path)
    for method, params in LEGACY + MODERN:
        recorded.record(_message(method, params), {"of": method})
    for opening, then in (
        (("tools/list", {}), []),
        (LEGACY[0], [MODERN[1], LEGACY[0]]),
        (MODERN[0], [LEGACY[0], LEGACY[1]]),
    ):
        ends = _Ends(recorded)
        expected = 0 if opening[0] == "tools/list" else 1
        for number, (method, params) in enumerate([opening, *then]):
            ends.send(method, number, params)
        if expected:
            assert ends.answer()["id"] == 0
        taken = [json.loads(ends.relay.next() or b"{}") for _ in [opening, *then]]
        assert [one["id"] for one in taken] == list(range(1 + len(then)))
        for one in taken[expected:]:
            answer = {"jsonrpc": "2.0", "id": one["id"], "error": {"code": 1, "message": "sdk"}}
            ends.relay.send(answer, json.dumps(answer).encode())
            assert ends.answer() == answer
        for one in taken[:expected]:
            ends.relay.send({"jsonrpc": "2.0", "id": one["id"], "result": {}}, b"")
        ends.close()


def test_another_question_has_another_name() -> None:
    """Version, shape and cursor tell questions apart; what a client calls itself does not."""
    method, params = LEGACY[0]
    name = question_of(_message(method, params))
    assert question_of(_message(method, params | {"clientInfo": {"name": "other", "version": "9"}})) == name
    assert question_of(_message(method, params | {"protocolVersion": "2024-11-05"})) != name
    assert question_of(_message(method, params | {"clientInfo": "x"})) != name
    assert question_of(_message(method, params | {"more": 1})) != name
    assert question_of(_message("tools/list", {"cursor": "x"})) is None
    assert question_of(_message("tools/call", {"name": "brief"})) is None


def test_other_versions_and_options_have_no_answers(tmp_path: Path) -> None:
    """A recording counts for one version and one set of options; a damaged one counts as none."""
    recorded = _recorded(tmp_path)
    message = _message("ping")
    recorded.record(message, {"a": 1})
    recorded.save()
    assert _recorded(tmp_path).answer(message) == {"a": 1}
    assert _recorded(tmp_path, read_only=True).answer(message) is None
    assert _recorded(tmp_path, version="2").answer(message) is None
    (file,) = (tmp_path / "records" / "memdeck").glob(f"*/{FILE}")
    for damage in (b"", b"{", b"[]", b'{"key": 1, "answers": 2}', b"\xff" * 100):
        file.write_bytes(damage)
        assert _recorded(tmp_path).answer(message) is None


def test_messages_wait_for_the_sdk_without_end_of_room(tmp_path: Path) -> None:
    """A client that sends very much before the SDK is there is held up by the pipe, and every message arrives."""
    ends = _Ends(None)
    count = 5_000

    def send() -> None:
        for number in range(count):
            ends.send("tools/call", number, {"name": "x", "arguments": {"text": "y" * 100}})

    sender = threading.Thread(target=send)
    sender.start()
    for number in range(count):
        assert len(ends.relay._waiting) <= 64
        assert json.loads(ends.relay.next() or b"{}")["id"] == number
        with ends.relay._condition:
            ends.relay._open.clear()
    sender.join(PATIENCE)
    ends.close()


def test_connecting_a_client_records_what_it_will_ask(tmp_path: Path) -> None:
    """After `connect` the very first start answers handshake and listings from the recording, as the SDK does."""
    root = make_workspace(tmp_path)
    assert not list((tmp_path / "records").rglob(FILE))
    memdeck(root, "connect", "gemini", "--dry-run")
    assert not list((tmp_path / "records").rglob(FILE))
    memdeck(root, "connect", "gemini")
    file = _recording(root)
    kept = file.read_bytes()
    recorded = _as_of_process(root)
    assert recorded.answer(_message("tools/list", {"_meta": {"progressToken": 3}})) == recorded.answer(
        _message("tools/list")
    )
    early = [[recorded.answer(_message(*one)) for one in questions] for questions in (LEGACY, MODERN)]
    file.unlink()
    for questions, answers in zip((LEGACY, MODERN), early, strict=True):
        with serving(root) as server:
            assert _ask(server, questions) == answers
    file.write_bytes(kept)
    memdeck(root, "connect", "codex")
    assert file.read_bytes() == kept


def _as_of_process(root: Path) -> RecordedAnswers:
    """Return what the processes of a workspace have recorded."""
    return RecordedAnswers(StateFolder(root.parent / "records", root), version=__version__, read_only=False)


def test_connecting_holds_where_nothing_can_be_recorded(tmp_path: Path) -> None:
    """A folder in the place of the recording, and a library that breaks, change nothing of what `connect` does."""
    root = make_workspace(tmp_path)
    memdeck(root, "connect", "gemini")
    file = _recording(root)
    file.unlink()
    file.mkdir()
    memdeck(root, "connect", "codex")
    assert file.is_dir()
    file.rmdir()
    (tmp_path / "broken" / "mcp_types").mkdir(parents=True)
    (tmp_path / "broken" / "mcp_types" / "__init__.py").write_text("raise OSError('broken')\n")
    done = subprocess.run(
        [sys.executable, "-m", "app.main", "connect", "opencode", "-w", str(root)],
        capture_output=True,
        env=environment(tmp_path) | {"PYTHONPATH": str(tmp_path / "broken")},
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, b"opencode is connected" in done.stdout) == (0, True), done.stderr
    assert b"Traceback" not in done.stderr
    assert not file.exists()


def test_a_client_that_leaves_during_the_handshake_leaves_a_recording(tmp_path: Path) -> None:
    """The server is ended as soon as it was asked; what the SDK answers a moment later is recorded."""
    root = make_workspace(tmp_path)
    question = _message(*LEGACY[0])
    # The SDK takes longer than any moment to load where the machine is busy.
    program = f"import app.main, app.servers.mcp.stdio as stdio; stdio._MOMENT = {PATIENCE}; app.main.main()"
    with serving(root, start=(sys.executable, "-c", program, "mcp")) as server:
        server.send(question)
        # Its answer to what is no message says that it has taken the one before, and no more.
        server.write(b"?\n")
        server.answer()
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == 0
    assert _as_of_process(root).answer(question) is not None


def test_an_end_waits_for_the_first_handshake_only(tmp_path: Path) -> None:
    """With a handshake that is not answered the end waits for it; with a recording, or other requests, it does not."""
    recorded = _recorded(tmp_path)
    ends = _Ends(recorded)
    ends.send("tools/call", 1)
    assert ends.relay.next() is not None
    ends.relay.finish()
    ends.send("initialize", 2, LEGACY[0][1])
    assert ends.relay.next() is not None
    answer = threading.Timer(0.05, ends.relay.send, ({"jsonrpc": "2.0", "id": 2, "result": {"a": 1}}, b"{}"))
    answer.start()
    ends.relay.finish()
    assert _recorded(tmp_path).answer(_message("initialize", LEGACY[0][1])) == {"a": 1}
    join(answer)
    ends.relay.send({"jsonrpc": "2.0", "id": 1, "result": {}}, b"{}")
    ends.close()
