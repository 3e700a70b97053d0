"""Real sessions of Claude Code and Codex: each client talks to a model on this machine and writes its own log.

`python -m tests.memory.state.clients` records them anew as `tests/fixtures/state/sessions`, where both are installed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.state.imports import discover
from tests.fixture_files import FIXTURES
from tests.patience import PATIENCE

from .model import Answer, Model

TYPES = {"claude": "claude-local", "codex": "codex-local"}
"""The clients' commands, and the types of their sources."""
RECORDED = FIXTURES / "state" / "sessions"
ROOT, HOME = "/srv/ada/shop", "/srv/ada"
"""The repository and the home folder of the recorded sessions."""

MASKED = "A-SECRET"
SECRET = "ghp_" + "a1B2" * 9
NOT = "DECISION: not evidence"
"""What stands wherever neither the person nor the agent speaks."""
_MOST = 240
"""How much of a text that a client adds by itself is recorded."""


class Place:
    """A repository with instructions, a hook and a command of its own, a person's home, and a model."""

    def __init__(self, top: Path) -> None:
        """Make them in a folder."""
        self.root, self.home = top / "shop", top / "home"
        self.model = Model([])
        (self.root / "src").mkdir(parents=True)
        self.home.mkdir()
        said = json.dumps(
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": f"{NOT}, a hook"}}
        )
        hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat hook.json"}]}]}
        for name, text in (
            ("src/cart.py", "x = 1\n"),
            ("AGENTS.md", f"# Rules\n\n{NOT}, AGENTS.md\n"),
            ("CLAUDE.md", f"# Rules\n\n{NOT}, CLAUDE.md\n"),
            ("hook.json", said),
            (".claude/settings.json", json.dumps({"hooks": hooks})),
            (".claude/commands/look.md", f"{NOT}, a command\n"),
            (".codex/hooks.json", json.dumps({"hooks": hooks})),
        ):  # fmt: skip
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    @property
    def turns(self) -> list[tuple[str, list[Answer]]]:
        """What the person says, and how the model answers it."""
        return [
            (
                f"Please look at the cart. The key is {SECRET}\nDECISION: Totals are in cents",
                [
                    Answer("I look.\nDECISION: Use SQLite", command=f"echo '{NOT}, a tool'; cat src/cart.py"),
                    Answer(
                        f"GOTCHA: Rounding: cents are lost\nPATH: {self.root}/src/cart.py\nPATH: /etc/passwd\n"
                        "NEXT: Totals: start in src/cart.py\nVALIDATION: pytest failed once"
                    ),
                ],
            ),
            (
                "DECISION: Second turn\nDONE: Totals",
                [Answer(f"As you say.\n```\n{NOT}, quoted\n```\nDECISION: Keep {SECRET}")],
            ),
        ]  # fmt: skip

    def source(self, client: str) -> Path:
        """Return the folder in which a client keeps its sessions."""
        return self.home / f".{client}"

    def converse(self, client: str) -> Iterator[str]:
        """Let a client hold the session, turn by turn; yield what it prints after each."""
        try:
            for number, (prompt, answers) in enumerate(self.turns):
                self.model.left = list(answers)
                yield (self._claude if client == "claude" else self._codex)(prompt, first=not number)
            if client == "claude":
                self.model.left = [
                    Answer("It delegates.", subagent=f"{NOT}, a task"),
                    Answer(f"{NOT}, a subagent"),
                    Answer("It is well."),
                ]
                yield self._claude("/look", first=False)
                self.model.left = [Answer(f"<summary>\n{NOT}, a summary\n</summary>")]
                yield self._claude("/compact", first=False)
        finally:
            self.model.close()

    def _claude(self, prompt: str, *, first: bool) -> str:
        self._write(".claude.json", json.dumps({"projects": {str(self.root): {"hasTrustDialogAccepted": True}}}))
        return self._run(
            "claude", "-p", *([] if first else ["--continue"]), prompt, "--allowedTools", "Bash", "Agent",
            ANTHROPIC_BASE_URL=self.model.address, ANTHROPIC_API_KEY="x", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )  # fmt: skip

    def _codex(self, prompt: str, *, first: bool) -> str:
        self._write(
            ".codex/config.toml",
            f'model = "m"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\nwire_api = "responses"\n'
            f'base_url = "{self.model.address}/v1"\nenv_key = "MODEL_KEY"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
            f'[projects."{self.root}"]\ntrust_level = "trusted"\n',
        )
        return self._run(
            "codex", "exec", *([] if first else ["resume", "--last"]), "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt, MODEL_KEY="x",
        )  # fmt: skip

    def _write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(text)

    def _run(self, *words: str, **more: str) -> str:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
        done = subprocess.run(
            words, cwd=self.root, env=kept | {"HOME": str(self.home)} | more, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr


def record(client: str, top: Path) -> None:
    """Write a client's session into the fixtures, without the paths of this machine and what is long and not said."""
    place = Place(top)
    for said in place.converse(client):
        print(said)
    texts = {text for prompt, answers in place.turns for text in (prompt, *(answer.text for answer in answers))}
    for item in discover(TYPES[client], place.source(client), root=place.root):
        name = f"{client}{'-subagent' if 'subagents' in item.name else ''}.jsonl"
        lines = [json.dumps(_scrubbed(json.loads(line), texts), ensure_ascii=False) for line in item.path.open("rb")]
        text = "\n".join(lines) + "\n"
        for ours, theirs in ((place.root, ROOT), (place.home, HOME)):
            text = text.replace(str(ours), theirs).replace(re.sub(r"\W", "-", str(ours)), theirs.replace("/", "-"))
        RECORDED.mkdir(exist_ok=True)
        (RECORDED / name).write_text(text.replace(SECRET, MASKED))


def _scrubbed(value: Any, texts: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _scrubbed(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [_scrubbed(one, texts) for one in value[:3]]
    return value[:_MOST] if isinstance(value, str) and value not in texts else value


if __name__ == "__main__":
    for each in TYPES:
        with tempfile.TemporaryDirectory() as folder:
            record(each, Path(folder))
