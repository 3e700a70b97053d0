"""The ground of a hostile workspace: a sample workspace with a person's state and settings, and what it is allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.trust.settings import read_settings
from memory.workspace import Workspace
from tests.corpus.place import Place

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
EVIL = "touch {top}/outside/ran"
"""A command whose run would leave a file outside of the workspace, beside the calls that the trace shows."""
CHANNELS = '[channels]\nchannel-abc123 = "json://127.0.0.1:9/"\n'
"""Settings of channels that make a message connect."""


class Ground(Place):
    """A workspace as somebody wrote it, opened by a person with state, settings and a home of their own.

    `runs` are approved commands that may start, `connects` are `HOST:PORT` that may be connected to, or `LOOKUP`,
    `reads` files that may be opened beside the memory files (folders with a slash at the end), `programs` what may
    start beside `runs` (a prefix of its path); `environ` is added to the environment of every verb.
    """

    def __init__(self, top: Path) -> None:
        """Keep where things will be; `build` makes them."""
        super().__init__(top, whole=True, run=lambda *words: None)
        self.home = top / "home"
        self.config = top / "config"
        self.runs: list[str] = []
        self.connects: list[str] = []
        self.reads: list[str] = []
        self.programs: list[str] = []
        self.writes: list[str] = []
        self.environ: dict[str, str] = {}

    def build(self) -> None:
        """Write the sample, the person's own folders, and what lies outside."""
        super().build()
        self.home.mkdir()
        (self.config / "memdeck").mkdir(parents=True)
        (self.outside / "monitors.md").write_bytes(b"## Monitors\n### Outside\n- type: command\n- command: id\n")

    def text(self, text: str) -> str:
        """Put the place into a text: `{top}`."""
        return text.replace("{top}", str(self.top))

    def add(self, name: str, text: str | bytes) -> None:
        """Append to a memory file."""
        with (self.memory / name).open("ab") as stream:
            stream.write(b"\n" + _bytes(self.text(text) if isinstance(text, str) else text))

    def monitor(self, name: str, fields: Mapping[str, str] | str) -> None:
        """Append a monitor, from fields or as written."""
        lines = fields if isinstance(fields, str) else "".join(f"- {key}: {value}\n" for key, value in fields.items())
        self.add("monitors.md", f"### {name}\n{lines}")

    def only(self, name: str, fields: Mapping[str, str] | str) -> None:
        """Make a monitor the only one."""
        self.put("monitors.md", b"---\ntype: monitor-config\n---\n## Monitors\n")
        self.monitor(name, fields)

    def swap(self, old: str, new: str, name: str = "monitors.md") -> None:
        """Change a memory file after whatever was done before; the old text must be there."""
        data, before = (self.memory / name).read_bytes(), _bytes(self.text(old))
        assert before in data, (old, data)
        (self.memory / name).write_bytes(data.replace(before, _bytes(self.text(new))))

    def lay(self, path: str, text: str | bytes = "", mode: int = 0o644) -> Path:
        """Write a file of the repository outside of the memory folder."""
        target = self.shop / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(self.text(text) if isinstance(text, str) else text))
        target.chmod(mode)
        return target

    def settings(self, name: str, text: str, mode: int = 0o600) -> None:
        """Write a file of the person's own configuration."""
        path = self.config / "memdeck" / name
        path.write_text(text)
        path.chmod(mode)

    def trust(self, folder: Path | None = None) -> Trust:
        """Return the decisions about the workspace, or about one in another folder."""
        root = folder or self.shop
        return Trust(self.state, root, read_settings(self.config, root))

    def approve(self, *, opened: bool = False, folder: Path | None = None, only: str | None = None) -> None:
        """Approve what the files ask for now (of one name, or all), and with `opened` outgoing checks."""
        trust = self.trust(folder)
        for ask in asks_of(Workspace.open(folder or self.shop, state_home=self.state).snapshot()):
            if only in (None, ask.name) and not ask.ambiguous:
                trust.approve(ask, who="human", now=NOW)
        if opened:
            trust.approve_workspace("human", NOW)

    def open(self) -> None:
        """Approve outgoing checks of public addresses, and take away the sample's own."""
        self.put("monitors.md", b"---\ntype: monitor-config\n---\n## Monitors\n")
        self.trust().approve_workspace("human", NOW)

    def allowed(self) -> dict[str, list[str]]:
        """Return what the judge needs to know, as JSON can hold it."""
        real = os.path.realpath(self.top)
        return {
            "top": [real],
            "runs": self.runs,
            "connects": self.connects,
            "reads": self.reads,
            "programs": self.programs,
            "writes": self.writes,
        }


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
