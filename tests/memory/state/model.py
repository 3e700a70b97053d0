"""A model on this machine: it answers the requests of Claude Code and Codex with texts and tool calls of a script."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.patience import join


@dataclass(frozen=True)
class Answer:
    """One answer of the model: a text, and a shell command or the work of a subagent that it asks for, if any."""

    text: str
    command: str = ""
    subagent: str = ""


class Model:
    """A model's address, which gives its answers one after the other to the requests that offer tools."""

    def __init__(self, answers: list[Answer]) -> None:
        """It listens from here on."""
        self.left = list(answers)
        self.asked: list[dict[str, Any]] = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                model.asked.append(asked)
                if self.path.partition("?")[0].endswith("/messages"):
                    events = _messages(model.answer(asked), len(model.asked))
                elif self.path.endswith("/responses"):
                    events = _responses(model.answer(asked), asked, len(model.asked))
                else:
                    self._send(404, "application/json", b"{}")
                    return
                body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
                self._send(200, "text/event-stream", body.encode())

            def do_GET(self) -> None:
                self._send(404, "application/json", b"{}")

            do_HEAD = do_GET

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def answer(self, asked: dict[str, Any]) -> Answer:
        """Return the next answer; a request without tools is one for a title or the like."""
        if not asked.get("tools"):
            return Answer("A title")
        return self.left.pop(0) if self.left else Answer("Nothing more.")

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        join(self._thread)


def _messages(answer: Answer, number: int) -> Iterator[dict[str, Any]]:
    """Yield an answer as the stream of the Messages API."""
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    yield {"type": "message_start", "message": message}
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text})]
    for name, given in (
        ("Bash", {"command": answer.command} if answer.command else None),
        ("Agent", {"prompt": answer.subagent, "subagent_type": "general-purpose"} if answer.subagent else None),
    ):
        if given is not None:
            tool = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            told = json.dumps({**given, "description": "Look at it", "run_in_background": False})
            blocks.append((tool, {"type": "input_json_delta", "partial_json": told}))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": "tool_use" if len(blocks) > 1 else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


def _responses(answer: Answer, asked: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Yield an answer as the stream of the Responses API."""
    name = f"resp_{number}"
    yield {"type": "response.created", "response": {"id": name}}
    text = {"type": "output_text", "text": answer.text, "annotations": []}
    items: list[dict[str, Any]] = [{"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]}]
    if answer.command:
        items.append({"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
                      **_shell(asked, answer.command)})  # fmt: skip
    for index, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    yield {"type": "response.completed", "response": {"id": name, "usage": usage}}


def _shell(asked: dict[str, Any], command: str) -> dict[str, str]:
    """Return a call of the tool with which Codex runs commands: its name and words differ between versions."""
    names = {tool.get("name") for tool in asked.get("tools", ())}
    if "exec_command" in names:
        return {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
    if "shell_command" in names:
        return {"name": "shell_command", "arguments": json.dumps({"command": command})}
    return {"name": "shell", "arguments": json.dumps({"command": ["sh", "-c", command]})}
