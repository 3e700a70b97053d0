"""Who may do what in the catalogue: an agent its own host's rows, a reader nothing but look, an operator jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from memory.errors import MemdeckError, UsageError
from memory.fleet.catalogue.central import CentralFleet
from memory.fleet.catalogue.connect import OPTIONS, connect
from memory.fleet.catalogue.migrate import initialise
from memory.fleet.jobs.engine import clear, defer
from memory.fleet.jobs.verbs import Check, WorkspaceJob
from tests.memory.fleet.fleets import NOW, RunningAgent, make_workspace
from tests.patience import until
from tests.postgres import Cluster


@dataclass
class Hosts:
    """A catalogue with the hosts east and west, each with its own login, and people who use it."""

    owner: str
    east: str
    west: str
    rita: str
    olga: str
    anna: str
    agents: tuple[RunningAgent, RunningAgent]
    paths: tuple[Path, Path]

    def number(self, host: str) -> tuple[int, int]:
        """Return the number of a host and of its workspace."""
        with connect(self.owner) as database:
            words = "SELECT h.id, w.id FROM host h JOIN workspace w ON w.host = h.id WHERE h.name = %s"
            row = database.execute(words, (host,)).fetchone()
        assert row is not None
        return int(row[0]), int(row[1])


@pytest.fixture
def hosts(cluster: Cluster, tmp_path: Path) -> Iterator[Hosts]:
    """Yield two hosts whose agents run with their own logins."""
    name = cluster.database()
    owner = cluster.url(name)
    initialise(
        owner,
        hosts={"east": f"{name}_east", "west": f"{name}_west"},
        grants=[("reader", f"{name}_rita"), ("operator", f"{name}_olga"), ("approver", f"{name}_anna")],
    )
    urls = {login: cluster.url(name, f"{name}_{login}") for login in ("east", "west", "rita", "olga", "anna")}
    paths = tuple(
        make_workspace(tmp_path / host / "src" / host, tmp_path / host / "state") for host in ("east", "west")
    )
    agents = tuple(
        RunningAgent(urls[host], host, tmp_path / host / "state", lambda path=path: {path: "full"})  # type: ignore[misc]
        for host, path in zip(("east", "west"), paths, strict=True)
    )
    try:
        for agent in agents:
            agent.settle()
        yield Hosts(owner, *urls.values(), agents=(agents[0], agents[1]), paths=(paths[0], paths[1]))
    finally:
        for agent in agents:
            agent.end()


def test_each_login_does_its_own(hosts: Hosts) -> None:
    """With the least rights agents publish and do jobs, a reader searches, an operator maintains."""
    for url in (hosts.rita, hosts.olga, hosts.anna):
        central = CentralFleet(url)
        assert [one.host for one in central.listed()] == ["east", "west"]
        assert {hit.host for hit in central.search("renew", NOW)[0]} == {"east", "west"}
        central.close()
    central = CentralFleet(hosts.olga)
    kept = list(central.maintain(NOW, actor="olga"))
    assert [(one.host, one.error) for one in kept] == [("east", None), ("west", None)]
    assert {one.result["balanced"] for one in kept if one.result} == {True}
    central.close()
    reader = CentralFleet(hosts.rita)
    with pytest.raises(MemdeckError) as refused:
        list(reader.check())
    assert refused.value.code == "fleet.forbidden"
    reader.close()


FOREIGN = (
    "UPDATE host SET seen = NULL WHERE name = 'west'",
    "UPDATE workspace SET overview = '{}' WHERE host = {west}",
    "DELETE FROM workspace WHERE host = {west}",
    "DELETE FROM file WHERE host = {west}",
    "DELETE FROM entry WHERE host = {west}",
    "UPDATE entry SET title = 'mine' WHERE host = {west}",
    "DELETE FROM result WHERE host = {west}",
    "DELETE FROM due WHERE host = {west}",
    "DELETE FROM procrastinate_jobs WHERE queue_name = 'host:west'",
    "UPDATE procrastinate_jobs SET status = 'todo' WHERE queue_name = 'host:west'",
    "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE role <> current_user",
)
"""Statements that the policies let touch nothing."""
FORBIDDEN = (
    "INSERT INTO host (name) VALUES ('south')",
    "UPDATE host SET role = current_user WHERE name = 'west'",
    "INSERT INTO workspace (host, path, mode) VALUES ({west}, 'x', 'full')",
    "UPDATE workspace SET host = {west}",
    "INSERT INTO file (host, workspace, name, stamp) VALUES ({west}, {their_workspace}, 'x', '')",
    "INSERT INTO file (host, workspace, name, stamp) VALUES ({east}, {their_workspace}, 'x', '')",
    "INSERT INTO entry SELECT nextval('entry_id'), {west}, 1, 'tasks', 't', 't', '', 0, NULL, '{{}}', ''",
    "INSERT INTO result (job, host, verb, outcome) VALUES (999999, {west}, 'check', '{{}}')",
    "INSERT INTO due (workspace, due, host, job) VALUES ({their_workspace}, now(), {west}, 1)",
    "INSERT INTO procrastinate_jobs (queue_name, task_name) VALUES ('host:west', 'memdeck.job')",
    "UPDATE procrastinate_jobs SET queue_name = 'host:west'",
    "INSERT INTO approval (workspace, change) VALUES ({my_workspace}, 'x')",
    "UPDATE approval SET approved = now()",
    "UPDATE catalogue SET generation = 9",
    "DELETE FROM migration",
    "CREATE TABLE mine (a int)",
    "COPY host TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
)
"""Statements that are refused."""


def test_an_agent_writes_only_its_own_rows(hosts: Hosts) -> None:
    """The credentials of one host change nothing of another, and see nothing of it."""
    hosts.agents[0].end()
    with connect(hosts.olga) as operator:
        defer(
            operator,
            [
                ("east", WorkspaceJob(hosts.number("east")[1], Check())),
                ("west", WorkspaceJob(hosts.number("west")[1], Check())),
            ],
        )
    (east, mine), (west, theirs) = hosts.number("east"), hosts.number("west")
    names = {"east": east, "west": west, "my_workspace": mine, "their_workspace": theirs}

    def state() -> list[object]:
        with connect(hosts.owner) as database:
            return [
                database.execute(words, (west,)).fetchall()
                for words in (
                    "SELECT id, path, mode FROM workspace WHERE host = %s",
                    "SELECT id, name, ids, digests FROM file WHERE host = %s ORDER BY id",
                    "SELECT id, title, text FROM entry WHERE host = %s ORDER BY id",
                    "SELECT name, role FROM host WHERE id = %s",
                )
            ]

    before = state()
    assert all(before)
    with psycopg.connect(hosts.east, autocommit=True, options=OPTIONS) as thief:
        for words in FOREIGN:
            done = thief.execute(words.replace("{west}", str(west)).encode())
            assert done.rowcount == 0, words
        for words in FORBIDDEN:
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.SyntaxError)) as refused:
                thief.execute(words.format(**names).encode())
            assert isinstance(refused.value, psycopg.errors.InsufficientPrivilege), words
        for table in ("host", "workspace", "file", "entry", "result", "due"):
            column = "id" if table == "host" else "host"
            seen = thief.execute(f"SELECT count(*) FROM {table} WHERE {column} <> %s".encode(), (east,)).fetchone()
            assert seen == (0,), table
        queues = thief.execute("SELECT DISTINCT queue_name FROM procrastinate_jobs").fetchall()
        assert queues == [("host:east",)]
    assert state() == before


def test_an_agent_clears_only_its_own_jobs(hosts: Hosts) -> None:
    """With the least rights a host clears what its own jobs left long ago, and nothing of another host."""
    central = CentralFleet(hosts.olga)
    assert [one.error for one in central.maintain(NOW, actor="olga")] == [None, None]
    central.close()
    for agent in hosts.agents:
        agent.end()
    with connect(hosts.owner) as database:
        database.execute("UPDATE procrastinate_events SET at = at - interval '40 days'")
        database.execute("UPDATE result SET finished = finished - interval '40 days'")
    with connect(hosts.east) as database:
        done = clear(database, hosts.number("east")[0], "east", 30)
    assert (done.jobs >= 1, done.results) == (True, 1)
    with connect(hosts.owner) as database:
        words = "SELECT DISTINCT queue_name FROM procrastinate_jobs WHERE status = 'succeeded'"
        assert database.execute(words.encode()).fetchall() == [("host:west",)]
        assert database.execute("SELECT host FROM result").fetchall() == [(hosts.number("west")[0],)]


def test_the_login_of_another_host_is_refused(hosts: Hosts, tmp_path: Path) -> None:
    """An agent that calls itself by another host's name, or by a new one, does not begin."""
    for host in ("west", "south"):
        agent = RunningAgent(hosts.east, host, tmp_path / "state", dict)
        until(lambda agent=agent: agent.failed)  # type: ignore[misc]
        agent.end()
        (error,) = agent.failed
        assert isinstance(error, UsageError)
        assert error.code == "fleet.foreign_host"


def test_a_name_that_is_taken(hosts: Hosts, tmp_path: Path) -> None:
    """Two agents in the name of one host do not work at once."""
    agent = RunningAgent(hosts.east, "east", tmp_path / "state", dict)
    until(lambda: agent.failed)
    agent.end()
    assert isinstance(agent.failed[0], MemdeckError)
    assert agent.failed[0].code == "fleet.host_taken"
    with CentralFleet(hosts.rita) as central:
        assert len(central.search("renew", NOW)[0]) >= 2


def test_init_keeps_a_login_to_one_host(hosts: Hosts) -> None:
    """A login that belongs to a host is not given to a second one."""
    with connect(hosts.owner) as database:
        (login,) = database.execute("SELECT role FROM host WHERE name = 'east'").fetchone() or ("",)
    with pytest.raises(UsageError) as refused:
        initialise(hosts.owner, hosts={"south": login})
    assert refused.value.code == "fleet.login_taken"


def test_a_revert_needs_an_approval(hosts: Hosts, tmp_path: Path) -> None:
    """An operator asks, only an approver approves, and the host takes back exactly what was approved."""
    path = hosts.paths[0]
    tasks = path / ".aiter/memory/tasks.md"
    before = tasks.read_bytes()
    operator = CentralFleet(hosts.olga)
    (east, _) = operator.maintain(NOW, actor="olga")
    assert east.result is not None
    assert tasks.read_bytes() != before
    from memory.workspace import Workspace

    with Workspace.open(path, state_home=tmp_path / "east/state") as workspace:
        change = workspace.store.history.list()[0].id
    number = operator.ask_revert("east", path, change)
    with pytest.raises(MemdeckError) as refused:
        operator.approve(number)
    assert refused.value.code == "fleet.forbidden"
    # A job that claims an approval which nobody gave.
    from memory.fleet.jobs.verbs import Revert

    with connect(hosts.olga) as database:
        (job,) = defer(database, [("east", WorkspaceJob(hosts.number("east")[1], Revert(change, number)))])
        outcome = until(lambda: database.execute("SELECT outcome FROM result WHERE job = %s", (job,)).fetchone())
    assert outcome[0]["error"]["code"] == "fleet.not_approved"
    approver = CentralFleet(hosts.anna)
    approver.approve(number)
    until(lambda: approver.approvals()[0]["result"])
    assert approver.approvals()[0]["result"]["change"] == change
    assert tasks.read_bytes() == before
    with pytest.raises(MemdeckError) as refused:
        approver.approve(number)
    assert refused.value.code == "fleet.no_approval"
    operator.close()
    approver.close()
