"""Sessions that Claude Code and Codex really wrote, recorded without the paths of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.state.imports.read import ImportedItem, discover, read_item
from memory.state.imports.sources import SourceSync, add_source, sync
from tests.fixture_files import FIXTURES

from .states import ACTOR, Repository

TYPES = {"claude": "claude-local", "codex": "codex-local"}
"""The clients' commands, and the types of their sources."""
RECORDED = FIXTURES / "state" / "sessions"
ROOT, HOME = "/srv/ada/shop", "/srv/ada"
"""The repository and the home folder of the recorded sessions."""
MASKED = "A-SECRET"
SECRET = "ghp_" + "a1B2" * 9

FIRST = {
    "decisions": ["Totals are in cents", "Use SQLite"],
    "gotchas": ["Rounding: cents are lost"],
    "nextStepHints": ["NEXT: Totals: start in src/cart.py"],
    "keyPaths": ["src/cart.py"],
    "validationObservations": ["pytest failed once"],
}
"""What the first turn leaves: neither the path outside the repository nor what tools, hooks and files say."""
BOTH = {
    **FIRST,
    "decisions": [*FIRST["decisions"], "Second turn", "Keep [GitHub token]"],
    "nextStepHints": [*FIRST["nextStepHints"], "DONE: Totals"],
}


class Recorded:
    """A recorded session in a repository, as the client's folder would hold it."""

    def __init__(self, folder: Path, client: str) -> None:
        """Make the repository and the client's folder, without the session."""
        self.repository = Repository(folder)
        self.root, self.home, self.client = self.repository.root, self.repository.home, client
        for name in ("src/cart.py", "other.txt"):
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text("x = 1\n")
        below = f"projects/{str(self.root).replace('/', '-').replace('_', '-').replace('.', '-')}"
        self.source = self.home / f".{client}"
        self.path = self.source / (f"{below}/one.jsonl" if client == "claude" else "sessions/2026/11/23/one.jsonl")
        self.path.parent.mkdir(parents=True)

    def lines(self, name: str = "") -> list[str]:
        """Return the lines of the recorded session, with the paths of this repository."""
        text = (RECORDED / f"{name or self.client}.jsonl").read_text("utf-8")
        for recorded, here in ((ROOT, str(self.root)), (HOME, str(self.home)), (MASKED, SECRET)):
            text = text.replace(recorded, here)
        return text.splitlines(keepends=True)

    def write(self, *lines: str) -> None:
        """Write the session."""
        self.path.write_text("".join(lines))

    def items(self) -> list[ImportedItem]:
        """Return what the sessions say."""
        found = discover(TYPES[self.client], self.source, root=self.root)
        return [read_item(one, root=self.root, home=self.home) for one in found]

    def sync(self) -> SourceSync:
        """Import what is new."""
        repository = self.repository
        if not repository.memory.sources:
            add_source(repository.store, TYPES[self.client], str(self.source), name="own", home=self.home,
                       actor=ACTOR, now=repository.later())  # fmt: skip
        (done,) = sync(repository.store, ["own"], home=self.home, actor=ACTOR, now=repository.later()).results
        return done


@pytest.fixture(name="recorded", params=TYPES)
def _recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    return Recorded(tmp_path, request.param)


def test_a_recorded_session_says_what_was_said(recorded: Recorded) -> None:
    """Of everything in the log only what the person and the agent said counts, with the secret masked."""
    recorded.write(*recorded.lines())
    (item,) = recorded.items()
    assert item.signals == BOTH
    assert item.event["summary"] == "Please look at the cart. The key is [GitHub token]"
    assert (item.bad_lines, item.elsewhere) == (0, None)
    assert "not evidence" not in repr(item)
    assert SECRET not in repr(item)


def test_a_recorded_subagent_says_nothing(tmp_path: Path) -> None:
    """The log of a subagent, which stands below that of its session, is no evidence."""
    recorded = Recorded(tmp_path, "claude")
    recorded.write(*recorded.lines())
    below = recorded.path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    below.write_text("".join(recorded.lines("claude-subagent")))
    assert [(item.messages > 0, item.signals["decisions"]) for item in recorded.items()] == [
        (True, BOTH["decisions"]), (False, []),
    ]  # fmt: skip
    assert recorded.sync().imported == 1
