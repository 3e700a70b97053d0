"""Two applications over one workspace, in two real terminals: each due run happens once, and the second takes over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.terminal.tmux import Terminal, memdeck, needs_tmux

pytestmark = [pytest.mark.terminal, needs_tmux]
NOW = "2024-01-15T10:50:00Z"
HOUSE = Path(__file__).parents[2]
MONITORS = """## Monitors

### Counted
- type: command
- command: echo run >> ../counted
- folder: .
- interval: */5 * * * *

### Hourly
- type: command
- command: echo run >> ../hourly
- folder: .
- interval: 0 * * * *
"""


@pytest.mark.thorough
def test_two_applications_run_each_due_check_once(tmp_path: Path) -> None:
    """Only one keeps the schedule while both are open; the other says so, and goes on when the first is closed."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    shop = tmp_path / "shop"
    shop.mkdir()
    subprocess.run(memdeck("init", "--now", NOW), check=True, env={**os.environ, **environ}, cwd=shop, timeout=PATIENCE)
    (shop / ".aiter" / "memory" / "monitors.md").write_text(MONITORS, encoding="utf-8")
    heartbeat = "# Config\n\n## Heartbeat\n\n- expression: 0 4 1 1 *\n"
    (shop / ".aiter" / "memory" / "config.md").write_text(heartbeat, encoding="utf-8")
    approving = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path\n"
        "from memory.trust.asks import asks_of; from memory.trust.consent import Trust\n"
        "from memory.workspace import Workspace\n"
        "state, root = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "trust = Trust(state, root)\n"
        "for ask in asks_of(Workspace.open(root, state_home=state).snapshot()):\n"
        "    trust.approve(ask, who='human', now=datetime.now(UTC))\n"
    )
    subprocess.run(
        [sys.executable, "-c", approving, str(tmp_path / "state"), str(shop)],
        check=True,
        env={**os.environ, **environ},
        cwd=HOUSE,
        timeout=PATIENCE,
    )

    def runs(name: str) -> int:
        path = tmp_path / name
        return path.read_text().count("run") if path.exists() else 0

    def open_one(number: int, now: str) -> Terminal:
        folder = tmp_path / str(number)
        folder.mkdir()
        return Terminal(folder, memdeck(str(shop), "--now", now), (120, 36), environ)

    with open_one(1, NOW) as first, open_one(2, NOW) as second:
        terminals = [first, second]
        for terminal in terminals:
            terminal.wait_for("schedule runs")
        terminals.sort(key=lambda one: "another memdeck" in one.screen())
        leading, waiting = terminals
        waiting.wait_for("schedule runs in another memdeck")
        leading.wait_until(lambda: runs("counted") == 1 and runs("hourly") == 1, "each ran once")
        leading.press("7")
        leading.wait_for("healthy")
        leading.press("q")
        leading.wait_for("ended with 0")
        waiting.wait_for(lambda screen: "schedule runs here" in screen)
        # Its times are claimed: the one that took over has nothing to run.
        waiting.press("7")
        waiting.wait_for("healthy")
        assert (runs("counted"), runs("hourly")) == (1, 1)
    with open_one(3, "2024-01-15T10:55:01Z") as third:
        third.wait_until(lambda: runs("counted") == 2, "the next time runs")
        third.press("q")
        third.wait_for("ended with 0")
    assert (runs("counted"), runs("hourly")) == (2, 1)
