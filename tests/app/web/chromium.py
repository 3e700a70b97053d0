"""A headless Chromium for tests, driven by its debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE, within

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    """One page: commands go out, what its websockets receive is kept."""

    def __init__(self, socket: Any) -> None:
        """`socket`: the page's debugging websocket."""
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.received = b""
        self.answered: list[str] = []

    async def listen(self) -> None:
        """Take answers and events until the browser goes."""
        async for message in self._socket:
            data = message.json()
            waiting = self._answers.pop(data.get("id", 0), None)
            if waiting is not None:
                waiting.set_result(data)
            elif data.get("method") == "Network.webSocketFrameReceived":
                frame = data["params"]["response"]
                if frame["opcode"] == 2:
                    self.received += base64.b64decode(frame["payloadData"])
            elif data.get("method") == "Network.responseReceived":
                self.answered.append(data["params"]["response"]["url"])

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Do a command and return its result."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        answer = await asyncio.wait_for(self._answers[number], PATIENCE)
        assert "error" not in answer, answer
        return answer["result"]

    async def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, after it was awaited, as if a person had done it."""
        found = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        return found["result"].get("value")

    async def type(self, text: str) -> None:
        """Type characters."""
        for character in text:
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=character, key=character)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    async def press(self, key: str, code: int, modifiers: int = 0, commands: Sequence[str] = ()) -> None:
        """Press a key by its name and its number; 2 is control. `commands`: what the browser does with it."""
        names = {"key": key, "code": f"Key{key.upper()}" if len(key) == 1 else key}
        for kind in ("rawKeyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent", type=kind, windowsVirtualKeyCode=code, modifiers=modifiers,
                commands=list(commands), **names,
            )  # fmt: skip


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Page]:
    """An empty page in a browser of its own, which ends with the context."""
    import aiohttp

    process = await asyncio.create_subprocess_exec(
        str(PROGRAM),
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "--window-size=1400,900",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with within(lambda: [*folder.glob("*")]):
            while not (port := _port(folder)):
                assert process.returncode is None, "the browser ended"
                await asyncio.sleep(0.05)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                target = next(one for one in await answer.json() if one["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                listening = asyncio.ensure_future(page.listen())
                await page.call("Network.enable")
                try:
                    yield page
                finally:
                    listening.cancel()
    finally:
        if process.returncode is None:
            process.terminate()
        async with within(lambda: "the browser does not end"):
            await process.wait()


def _port(folder: Path) -> str:
    try:
        return (folder / "DevToolsActivePort").read_text().split("\n")[0]
    except OSError:
        return ""
