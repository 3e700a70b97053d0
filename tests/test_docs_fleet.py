"""The guide to fleets: its commands, run as they are written, and its codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.postgres import cluster, programs, running

__all__ = ["cluster"]
HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs/fleet.md").read_text("utf-8")


@pytest.mark.thorough
def test_a_newcomer_comes_from_two_workspaces_to_three_hosts(tmp_path: Path) -> None:
    """Every command of the guide does what the guide says, in a home of its own and a database of its own."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    script = "set -eu\n" + "\n".join(f"echo '== {number}'\n{block}" for number, block in enumerate(blocks))
    with running(5435) as own:
        environ = {
            "HOME": str(tmp_path),
            "PATH": f"{Path(sys.executable).parent}:{programs()}:{os.environ['PATH']}",
            "PGHOST": str(own.folder),
            "PGPORT": str(own.port),
            "PGUSER": "postgres",
        }
        shell = subprocess.Popen(
            ["bash", "-c", script],
            env=environ,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            out, _ = shell.communicate(timeout=2 * PATIENCE)
        finally:
            # Agents that the script did not come to end.
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        logs = "".join(one.read_text() for one in tmp_path.glob("*/agent.log"))
        assert shell.returncode == 0, out + logs
    laptop, made, _, found, edited, ended = re.split(r"^== \d\n", out, flags=re.MULTILINE)[1:]
    assert "Rotate the redis keys" in laptop
    assert "the catalogue was created" in made
    for host in ("laptop", "desk", "server"):
        assert f"{host}:{tmp_path}/{host}/src/notes" in found
        assert f"Call the people of {host}" in found
        assert f"{host}:{tmp_path}/{host}/src/notes  moved 0" in found
    assert "silent" not in found
    assert "backups" in edited
    assert {line.partition(":")[0] for line in ended.splitlines()} == {"laptop", "desk", "server"}
    assert "Traceback" not in out + logs


def test_every_code_is_in_the_guide() -> None:
    """Each code that a fleet of many hosts gives is explained."""
    sources = [*(HOUSE / "memory/fleet").rglob("*.py"), HOUSE / "app/cli/verbs/fleet.py"]
    codes = {code for path in sources for code in re.findall(r'"(fleet\.[a-z_]+)"', path.read_text("utf-8"))}
    known = {
        "fleet.too_large",
        "fleet.list",
        "fleet.index",
        "fleet.gone",
        "fleet.unknown",
        "fleet.unknown_host",
    }
    known |= {"fleet.no_database", "fleet.database_url", "fleet.database"}
    for code in codes - known:
        assert f"`{code}`" in PAGE, code
