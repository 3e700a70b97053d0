"""Jobs: a closed list of what may be asked, and each due time once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from memory.errors import RefusedError
from memory.fleet.catalogue.connect import connect
from memory.fleet.catalogue.migrate import initialise
from memory.fleet.jobs.agent import schedule
from memory.fleet.jobs.engine import clear, defer
from memory.fleet.jobs.verbs import Check, Maintain, Revert, Search, WorkspaceJob, arguments_of, read_work
from memory.workspace import Workspace
from tests.memory.fleet.fleets import NOW, RunningAgent, make_workspace
from tests.patience import until

GOOD = (
    WorkspaceJob(1, Maintain()),
    WorkspaceJob(1, Maintain(NOW, True, "agent:x")),
    WorkspaceJob(2, Check()),
    WorkspaceJob(3, Search('redis "to staging"', 20, ("tasks",))),
    WorkspaceJob(4, Revert("0123abc", 7)),
)
BAD: tuple[dict[str, Any], ...] = (
    {},
    {"verb": "maintain"},
    {"verb": "exec", "workspace": 1, "arguments": {"command": "id"}},
    {"verb": "check", "workspace": 1, "arguments": {"command": "id"}},
    {"verb": "check", "workspace": "1; rm", "arguments": {}},
    {"verb": "check", "workspace": True, "arguments": {}},
    {"verb": "check", "workspace": 1, "arguments": []},
    {"verb": "check", "workspace": 1, "arguments": {}, "extra": 1},
    {"verb": ["check"], "workspace": 1, "arguments": {}},
    {"verb": "maintain", "workspace": 1, "arguments": {"due": "soon"}},
    {"verb": "maintain", "workspace": 1, "arguments": {"due": "2024-01-15T10:30:00"}},
    {"verb": "maintain", "workspace": 1, "arguments": {"due": 5}},
    {"verb": "maintain", "workspace": 1, "arguments": {"dry_run": "no"}},
    {"verb": "maintain", "workspace": 1, "arguments": {"actor": "a\nb"}},
    {"verb": "maintain", "workspace": 1, "arguments": {"force": True}},
    {"verb": "search", "workspace": 1, "arguments": {"query": "x" * 2001, "limit": 1}},
    {"verb": "search", "workspace": 1, "arguments": {"query": "x", "limit": 10**9}},
    {"verb": "search", "workspace": 1, "arguments": {"query": "x", "limit": 1, "kinds": ["../etc"]}},
    {"verb": "revert", "workspace": 1, "arguments": {"change": "x"}},
    {"verb": "revert", "workspace": 1, "arguments": {"change": None, "approval": 1}},
)


@pytest.mark.parametrize("work", GOOD)
def test_what_may_be_asked_is_read_back(work: WorkspaceJob) -> None:
    """A job comes out as it was put in."""
    assert read_work(arguments_of(work)) == work


@pytest.mark.parametrize("given", BAD)
def test_anything_else_is_refused(given: dict[str, Any]) -> None:
    """Other verbs, other arguments and values of another form are refused with a code."""
    with pytest.raises(RefusedError) as refused:
        read_work(given)
    assert refused.value.code == "fleet.job_refused"


@pytest.fixture
def host(database: str, tmp_path: Path) -> Iterator[tuple[str, Path, RunningAgent]]:
    """Yield the catalogue, the one workspace and the agent of one host."""
    initialise(database)
    path = make_workspace(tmp_path / "src" / "one", tmp_path / "state")
    agent = RunningAgent(database, "here", tmp_path / "state", lambda: {path: "full"})
    try:
        agent.settle()
        yield database, path, agent
    finally:
        agent.end()


def _outcomes(database: psycopg.Connection[tuple[Any, ...]], jobs: list[int]) -> list[dict[str, Any]]:
    """Return what jobs came to, in their order, when all of them ended."""

    def ended() -> list[dict[str, Any]] | None:
        rows = database.execute("SELECT outcome FROM result WHERE job = ANY (%s) ORDER BY job", (jobs,)).fetchall()
        return [one for (one,) in rows] if len(rows) == len(jobs) else None

    return until(ended)


def test_an_agent_refuses_what_is_not_on_the_list(host: tuple[str, Path, RunningAgent], tmp_path: Path) -> None:
    """A job with a verb of its own, and one with a task of its own, run nothing; the agent goes on."""
    url, path, agent = host
    mark = tmp_path / "ran"
    before = {one: one.read_bytes() for one in path.rglob("*.md")}
    given = {"verb": "exec", "workspace": 1, "arguments": {"command": f"touch {mark}"}}
    with connect(url) as database:
        words = "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES ('host:here', %s, %s) RETURNING id"
        jobs = [
            (database.execute(words, (task, Jsonb(args))).fetchone() or (0,))[0]
            for task, args in (
                ("memdeck.job", given),
                ("os.system", {"command": f"touch {mark}"}),
                ("subprocess.run", {"args": ["touch", str(mark)]}),
            )
        ]
        (outcome,) = _outcomes(database, jobs[:1])
        assert outcome["error"]["code"] == "fleet.job_refused"

        def states() -> list[str]:
            found = database.execute("SELECT status::text FROM procrastinate_jobs WHERE id = ANY (%s)", (jobs,))
            return [one for (one,) in found.fetchall()]

        until(lambda: set(states()) == {"failed"}, states)
        (good,) = defer(database, [("here", WorkspaceJob(1, Check()))])
        assert {one["level"] for one in _outcomes(database, [good])[0]["problems"]} == {"note"}
    assert not mark.exists()
    assert {one: one.read_bytes() for one in path.rglob("*.md")} == before
    assert not agent.failed


def test_each_due_time_once(host: tuple[str, Path, RunningAgent], tmp_path: Path) -> None:
    """However often a due time is scheduled, it is done once; what a job before it noted counts."""
    url, path, agent = host
    with connect(url) as database:
        (now,) = database.execute("SELECT now()").fetchone() or (NOW,)
        dues = [now + timedelta(days=day) for day in range(3)]
        jobs = [job for due in (*dues, *dues, *dues) for job in schedule(database, "here", due)]
        outcomes = _outcomes(database, jobs)
        assert sum("rules" in one for one in outcomes) == 3
        assert sum(one.get("again", False) for one in outcomes) == 6
        assert database.execute("SELECT count(*) FROM due").fetchone() == (3,)
    agent.end()
    with Workspace.open(path, state_home=tmp_path / "state") as workspace:
        assert len(workspace.store.history.list(actor="maintain")) == 1


def test_what_finished_long_ago_is_cleared(host: tuple[str, Path, RunningAgent]) -> None:
    """Jobs, results and due times go after so many days; what is younger or still waits stays, and what it is about."""
    url, _, agent = host
    ages = {"jobs": "UPDATE procrastinate_events SET at = at - interval '8 days' WHERE job_id = ANY (%s)"}
    ages["results"] = "UPDATE result SET finished = finished - interval '8 days' WHERE job = ANY (%s)"
    with connect(url) as database:
        # By the clock of the database: the agent clears by itself what is due for longer than it keeps.
        (due,) = database.execute("SELECT now() - interval '8 days'").fetchone() or (NOW,)
        old = schedule(database, "here", due)
        _outcomes(database, old)
        young = defer(database, [("here", WorkspaceJob(1, Check()))])
        _outcomes(database, young)
        until(lambda: _finished(database, [*old, *young]))
        agent.end()
        waiting = schedule(database, "here", due)
        for words in ages.values():
            database.execute(words.encode(), ([*old, *waiting],))
        assert clear(database, 1, "here", 9) == (0, 0, 0)
        done = clear(database, 1, "here", 7)
        assert (done.jobs, done.results, done.due) == (1, 1, 0)
        rows = database.execute("SELECT id FROM procrastinate_jobs WHERE task_name = 'memdeck.job' ORDER BY id")
        assert [one for (one,) in rows.fetchall()] == [*young, *waiting]
        # The due time stays while a job may still ask for it.
        database.execute("UPDATE procrastinate_jobs SET status = 'cancelled' WHERE id = ANY (%s)", (waiting,))
        assert clear(database, 1, "here", 7).due == 1


def _finished(database: psycopg.Connection[tuple[Any, ...]], jobs: list[int]) -> bool:
    """Tell whether the engine knows that jobs ended, which it notes behind their results."""
    words = "SELECT count(*) FROM procrastinate_jobs WHERE id = ANY (%s) AND status = 'succeeded'"
    return database.execute(words, (jobs,)).fetchone() == (len(jobs),)


def test_a_run_that_was_broken_off_is_not_made_twice(host: tuple[str, Path, RunningAgent], tmp_path: Path) -> None:
    """A due time whose change is in the history already changes nothing, and tells that change."""
    url, path, _ = host
    from memory.fleet.local import LocalWorkspaces

    # What an agent does that dies behind its change and before it notes it.
    LocalWorkspaces(tmp_path / "state", host="here").one(
        path, lambda one: LocalWorkspaces(tmp_path / "state", host="here").maintain(one, NOW, actor="maintain")
    )
    before = {one: one.read_bytes() for one in path.rglob("*.md")}
    with connect(url) as database:
        (outcome,) = _outcomes(database, schedule(database, "here", NOW))
    assert outcome["again"] is True
    assert len(outcome["changes"]) == 1
    assert {one: one.read_bytes() for one in path.rglob("*.md")} == before


async def test_periodic_maintenance_runs_once_for_each_due_time(
    host: tuple[str, Path, RunningAgent], tmp_path: Path
) -> None:
    """The engine's periodic task maintains at each due time once, also where clocks go back and agents begin anew."""
    import procrastinate.periodic

    from memory.fleet.jobs.agent import AgentSettings, HostAgent
    from memory.fleet.jobs.engine import engine
    from memory.fleet.local import LocalWorkspaces

    url, path, agent = host
    other = HostAgent(
        LocalWorkspaces(tmp_path / "state", host="here"),
        AgentSettings(url, dict, "0 3 * * *"),
        lambda: NOW,
        lambda words: None,
    )
    app = engine(url)
    other.add_tasks(app)
    async with app.open_async():
        for _ in range(3):
            deferrer = procrastinate.periodic.PeriodicDeferrer(app.periodic_registry, **app.periodic_defaults)
            for hours in (0, 1, 24):
                at = (NOW + timedelta(hours=hours)).timestamp()
                await deferrer.defer_jobs(deferrer.get_previous_tasks(at=at))
    agent.end()
    with connect(url) as database:
        # The agent of before knew no periodic task; this one does what waits.
        database.execute("UPDATE procrastinate_jobs SET status = 'todo' WHERE task_name = 'memdeck.tick'")
        cron = RunningAgent(url, "here", tmp_path / "state", lambda: {path: "full"}, maintain="0 3 * * *")
        words = "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        try:
            until(lambda: database.execute(words).fetchone() == (0,))
        finally:
            cron.end()
        found = database.execute("SELECT due FROM due WHERE due < '2025-01-01' ORDER BY due").fetchall()
        assert [due.isoformat() for (due,) in found] == ["2024-01-15T03:00:00+00:00", "2024-01-16T03:00:00+00:00"]
        jobs = database.execute("SELECT count(*) FROM result WHERE verb = 'maintain' AND outcome ? 'rules'").fetchone()
        assert jobs is not None
        assert 2 <= jobs[0] <= 3  # the due time of the real clock may be one more
