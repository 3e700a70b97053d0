"""A person opens the address in a browser, sees the tasks, adds one, and it stands in the file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.app.web.chromium import PROGRAM, Page, opened
from tests.app.web.conftest import REQUIRED, Served
from tests.patience import within

pytestmark = pytest.mark.skipif(PROGRAM is None and not REQUIRED, reason="Chromium is not installed")
ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)", re.S)


async def until(check: Callable[[], bool], what: str, page: Page) -> None:
    """Wait for something to happen; say what did not, and what was drawn last."""
    async with within(lambda: f"{what}; {ESCAPES.sub(b'', page.received)[-2000:].decode('utf-8', 'replace')}"):
        while not check():
            await asyncio.sleep(0.05)


def drew(page: Page, words: str) -> Callable[[], bool]:
    """Whether words were drawn in the page."""
    return lambda: words in ESCAPES.sub(b"", page.received).decode("utf-8", "replace")


@pytest.mark.thorough
async def test_a_task_is_added_in_the_browser(served: Served, tmp_path: Path) -> None:
    """The page opens with the token, shows tasks, takes keys and pasted text at once, and asks no other machine."""
    tasks = served.workspace.memory / "tasks.md"
    async with opened(tmp_path / "chromium") as page:
        await page.call("Page.navigate", url=served.address)
        await until(drew(page, "Deploy v2.1"), "the tasks are shown", page)
        assert await page.evaluate("location.href") == f"{served.base}/"
        assert await page.evaluate("document.cookie") == ""
        assert await page.evaluate("document.title") == f"{served.workspace.root.name} - memdeck"
        await page.type("a")
        await until(drew(page, "New task"), "the form is shown", page)
        await page.type("Made in a ")
        await page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        copied = "navigator.clipboard.writeText('wigwam').then(() => navigator.clipboard.readText())"
        assert await page.evaluate(copied) == "wigwam"
        await page.press("v", 86, modifiers=2, commands=["paste"])
        # The header may show the folder of the test: a word that is not in its name.
        await until(drew(page, "wigwam"), "the clipboard is pasted", page)
        await page.press("s", 83, modifiers=2)
        await until(lambda: b"Made in a wigwam" in tasks.read_bytes(), "the task is in the file", page)
        second = await page.evaluate("fetch('/').then(answer => answer.text())")
        assert "open in another page already" in second
        await page.type("q")
        async with within(lambda: "the page stays open"):
            while not await page.evaluate("document.body.classList.contains('-closed')"):
                await asyncio.sleep(0.05)
        gone = "fetch('https://example.com').then(() => 'went', () => 'refused')"
        assert await page.evaluate(gone) == "refused"
        assert {urlsplit(address).netloc for address in page.answered} == {urlsplit(served.base).netloc}
