"""Agents that are killed and a database that is restarted while hundreds of jobs run: each is done exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.fleet import EmbeddedFleet
from memory.fleet.catalogue.central import CentralFleet
from memory.fleet.catalogue.connect import OPTIONS
from memory.fleet.catalogue.migrate import initialise
from memory.fleet.jobs.agent import schedule
from memory.systems import records_of_all
from memory.workspace import Workspace
from tests.memory.fleet.fleets import make_workspace
from tests.patience import PATIENCE, until
from tests.postgres import Cluster, running

WHOLE = "MEMDECK_CHAOS" in os.environ
WORKSPACES, DUES, RESTARTS, JOBS_A_KILL = (25, 10, 10, 9) if WHOLE else (5, 4, 2, 6)
HOSTS = ("east", "west")
START = datetime(2024, 3, 1, 3, 0, tzinfo=UTC)


def _tasks(name: str) -> str:
    """Return tasks of which one becomes old enough for the archive at each due time."""
    lines = ["## Pending", "", f"### [HIGH] Stay with {name}", "- created: 2024-01-01 09:00", "", "## Completed", ""]
    for number in range(DUES):
        done = START + timedelta(days=number - 8)
        lines += [f"### [LOW] Go {number} of {name}", "- created: 2024-01-01 09:00"]
        lines += [f"- completed: {done:%Y-%m-%d %H:%M}", ""]
    return "\n".join(lines)


class Killed:
    """An agent in a process of its own, that is killed and begun anew."""

    def __init__(self, home: Path, host: str, url: str) -> None:
        """Start it."""
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "MEMDECK_HOST": host,
            "MEMDECK_DATABASE": url,
        }
        self._log = home / "log"
        self.start()

    def start(self) -> None:
        """Begin."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app.main", "fleet", "agent"], env=self._environ, stderr=log, stdout=log
            )

    def kill(self) -> None:
        """End it without a word."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)

    def end(self) -> None:
        """End it as a person does."""
        self._process.terminate()
        self._process.wait(PATIENCE)

    @property
    def told(self) -> str:
        """What it said last."""
        return self._log.read_text()[-2000:]


def _ask(url: str, words: str) -> list[Any]:
    """Return rows; nothing while the database is away."""
    try:
        with psycopg.connect(url, options=OPTIONS) as database:
            return database.execute(words.encode()).fetchall()
    except psycopg.OperationalError:
        return []


@pytest.mark.timeout(3_000)
def test_each_due_maintenance_exactly_once(tmp_path: Path) -> None:
    """Whatever dies meanwhile: every due time is done once, every count balances, no entry is lost or doubled."""
    chance = random.Random(7)
    with running(5434) as own:
        url = own.url(own.database())
        initialise(url)
        paths = {
            host: [
                make_workspace(
                    tmp_path / host / "src" / f"w{number}", tmp_path / host / "state", _tasks(f"{host}{number}")
                )
                for number in range(WORKSPACES)
            ]
            for host in HOSTS
        }
        for host in HOSTS:
            EmbeddedFleet(tmp_path / host / "state", host=host).scan(tmp_path / host / "src", START)
        agents = [Killed(tmp_path / host, host, url) for host in HOSTS]
        try:
            _trouble(own, url, agents, chance)
            held = _check(paths, tmp_path)
            until(lambda: _published(url) == held, lambda: [held - _published(url), _published(url) - held])
        finally:
            for agent in agents:
                agent.end()
        _check_catalogue(url)


def _trouble(own: Cluster, url: str, agents: list[Killed], chance: random.Random) -> None:
    """Give the jobs, then kill agents and restart the database as the jobs go on, until all are done."""
    total = len(HOSTS) * WORKSPACES * DUES

    def told() -> list[str]:
        return [agent.told for agent in agents]

    published = "SELECT count(*) FROM workspace WHERE overview <> '{}'"
    until(lambda: _ask(url, published) == [(len(HOSTS) * WORKSPACES,)], told)
    with psycopg.connect(url, options=OPTIONS, autocommit=True) as database:
        jobs = [
            job
            for day in range(DUES)
            for host in HOSTS
            for job in schedule(database, host, START + timedelta(days=day))
        ]
    assert len(jobs) == total

    def done() -> int:
        # The jobs move entries all the time; whoever looks finds each of them once.
        assert _ask(url, _MOVING) in ([(total,)], []), _ask(url, _TWICE)
        return int((_ask(url, "SELECT count(*) FROM due") or [(0,)])[0][0])

    restarts = sorted(chance.sample(range(1, total // JOBS_A_KILL), RESTARTS))
    for number in range(1, total // JOBS_A_KILL):
        until(lambda number=number: done() >= number * JOBS_A_KILL, told)  # type: ignore[misc]
        if number in restarts:
            own.restart(chance.choice(("immediate", "fast")))
        killed = chance.choice(agents)
        killed.kill()
        killed.start()
    until(lambda: done() >= total, told)
    until(
        lambda: _ask(url, "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')") == [(0,)], told
    )


def _published(url: str) -> Counter[tuple[bytes, str, str]]:
    """Return the entries that the catalogue holds, by the path of their workspace, their file and their title."""
    return Counter(
        _ask(
            url,
            "SELECT w.path, f.name, e.title"
            " FROM entry e JOIN file f ON f.id = e.file JOIN workspace w ON w.id = f.workspace",
        )
    )


def _check(paths: dict[str, list[Path]], tmp_path: Path) -> Counter[tuple[bytes, str, str]]:
    """Check the files, and return the entries that they hold as `_published` does."""
    dues = [START + timedelta(days=day) for day in range(DUES)]
    held: Counter[tuple[bytes, str, str]] = Counter()
    for host, some in paths.items():
        for number, path in enumerate(some):
            with Workspace.open(path, state_home=tmp_path / host / "state") as workspace:
                changes = workspace.store.history.list(actor="maintain")
                assert sorted(change.time for change in changes) == dues
                titles = Counter(record.title for record in records_of_all(workspace, ("tasks",)))
                held.update({(os.fsencode(path), record.file, record.title): 1 for record in records_of_all(workspace)})
            name = f"{host}{number}"
            assert titles == Counter([f"Stay with {name}", *(f"Go {one} of {name}" for one in range(DUES))])
            kept = (path / ".aiter/memory/tasks.md").read_text()
            assert kept.count("### [LOW]") == 0
            assert kept.count("### [HIGH]") == 1
    return held


_MOVING = "SELECT count(*) FROM entry WHERE title LIKE 'Go %'"
"""How many of the entries that the jobs move the catalogue holds."""
_TWICE = """
SELECT w.path, e.title, array_agg(e.id), array_agg(e.ref), array_agg(f.name), array_agg(e.id = ANY (f.ids))
FROM entry e JOIN file f ON f.id = e.file JOIN workspace w ON w.id = f.workspace GROUP BY 1, 2 HAVING count(*) > 1
"""
"""What the catalogue has several times, and whether the file knows of it."""


def _check_catalogue(url: str) -> None:
    assert _ask(
        url, "SELECT status::text, count(*) FROM procrastinate_jobs WHERE task_name <> 'memdeck.clear' GROUP BY 1"
    ) == [("succeeded", len(HOSTS) * WORKSPACES * DUES)]
    dues = [START + timedelta(days=day) for day in range(DUES)]
    found = _ask(url, "SELECT workspace, due FROM due ORDER BY 1, 2")
    assert Counter(due for _, due in found) == dict.fromkeys(dues, len(HOSTS) * WORKSPACES)
    balanced = _ask(url, "SELECT outcome->'balanced', count(*) FROM result WHERE outcome ? 'rules' GROUP BY 1")
    assert [value for value, _ in balanced] in ([True], [])
    with CentralFleet(url) as central:
        hits = central.search("in:tasks go", START, 0)[0]
        found = Counter((hit.workspace, hit.entry.title) for hit in hits)
        twice = [hit for hit in hits if found[hit.workspace, hit.entry.title] > 1]
        assert not twice, [twice, _ask(url, _TWICE)]
