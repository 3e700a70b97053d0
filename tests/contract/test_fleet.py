"""The fleet that a team runs: agents on several hosts, one database, logins for people, and what an operator asks."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest

from tests.contract.place import Answer, Place
from tests.patience import PATIENCE, line_of, until
from tests.postgres import Cluster, cluster

__all__ = ["cluster"]

PEOPLE = ("rita", "olga", "anna", "otto")
FAIL = "## Monitors\n\n### Queue\n- type: command\n- command: echo 7\n- threshold: value > 3\n- interval: * * * * *\n"
"""A monitor that is due each minute and bad."""


@dataclass
class Team:
    """A catalogue with hosts and people; `url` is the address for one login."""

    top: Path
    url: Callable[[str], str]
    hosts: dict[str, Place]

    def __call__(self, login: str, *words: str, host: str = "desk", **options: Any) -> Answer:
        """Run `memdeck fleet` as a person on a host."""
        environ = {"MEMDECK_DATABASE": self.url(login)}
        return self.hosts[host]("fleet", *words, environ=environ, now=None, process=True, **options)

    def json(self, login: str, *words: str) -> Any:
        """Run it with `-o json`; return the document."""
        return self(login, *words, "-o", "json").data

    @contextmanager
    def agent(self, host: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run the agent of a host until the end of the block; its log is `agent.log`."""
        place = self.hosts[host]
        log = (place.top / "agent.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-m", "app.main", "fleet", "agent", *options],
            cwd=place.work,
            env={**place.environment, "MEMDECK_DATABASE": self.url(f"agent_{host}")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        with log, process:
            try:
                yield process
            finally:
                process.kill()

    def log(self, host: str) -> str:
        """Return what the agent of a host has printed."""
        return (self.hosts[host].top / "agent.log").read_text()

    def until(self, login: str, *words: str, check: Callable[[Any], Any]) -> Any:
        """Ask until the answer is as wanted; return the answer."""
        seen: list[Any] = [None]

        def asked() -> Any:
            seen[0] = self.json(login, *words)
            return check(seen[0])

        until(asked, lambda: (seen, {host: self.log(host) for host in self.hosts}))
        return seen[0]


def host_place(top: Path, name: str) -> Place:
    """Return a host with one workspace, listed and with one task."""
    top.mkdir()
    place = Place(top, {"MEMDECK_HOST": name})
    assert place("init").code == 0
    assert place("tasks", "add", f"Call the people of {name}").code == 0
    assert place("fleet", "add", str(place.work)).code == 0
    return place


@pytest.fixture
def team(cluster: Cluster, tmp_path: Path) -> Team:
    """Return three hosts of a team, whose agents do not run yet."""
    name = cluster.database()
    hosts = {host: host_place(tmp_path / host, host) for host in ("desk", "laptop", "server")}
    logins = [word for host in hosts for word in ("--host", f"{host}={name}_agent_{host}")]
    people = ("--reader", f"{name}_rita", "--operator", f"{name}_olga", "--approver", f"{name}_anna")
    other = ("--approver", f"{name}_otto")
    made = hosts["desk"]("fleet", "init", "--database", cluster.url(name), *logins, *people, *other)
    assert made.code == 0, made
    return Team(tmp_path, lambda login: cluster.url(name, "postgres" if login == "owner" else f"{name}_{login}"), hosts)


def approve(place: Place) -> None:
    """Approve everything that waits in a workspace, at a terminal."""
    answer = place.at_terminal("trust", "approve", "--all", keys="yes\n", after="Write yes")
    assert answer.code == 0, answer


def test_an_agent_runs_what_is_due_and_all_hosts_see_it(team: Team) -> None:
    """An approved monitor of a host fails, one of another host waits for an approval; status and metrics tell."""
    for host in ("desk", "laptop"):
        team.hosts[host].write(".aiter/memory/monitors.md", FAIL)
    approve(team.hosts["desk"])
    with team.agent("desk"), team.agent("laptop"):
        found = team.until(
            "rita",
            "status",
            check=lambda data: (
                [one["failing"] for one in data["workspaces"]][:1] == [1]
                and sum(one["waiting"] for one in data["workspaces"])
            ),
        )
        rows = {one["host"]: one for one in found["workspaces"]}
        assert (rows["desk"]["failing"], rows["desk"]["waiting"], rows["desk"]["silent"]) == (1, 0, False)
        assert (rows["laptop"]["failing"], rows["laptop"]["waiting"]) == (0, 1)
        assert "lastStatus: failing (7)" in team.hosts["desk"].read(".aiter/memory/monitors.md").decode()
        assert "lastStatus" not in team.hosts["laptop"].read(".aiter/memory/monitors.md").decode()
        metrics = team("rita", "metrics").out
        assert re.search(r'^memdeck_fleet_workspace_failing\{host="desk",workspace="[^"]+"\} 1$', metrics, re.MULTILINE)
        assert re.search(r'^memdeck_fleet_host_silent\{host="laptop"\} 0$', metrics, re.MULTILINE)
        for name in ("host_age_seconds", "agent_lag_seconds", "agent_failures", "jobs_waiting"):
            assert f'memdeck_fleet_{name}{{host="desk"}}' in metrics
        assert team("rita", "status").out.splitlines()[0].split()[:5] == [
            "workspace", "overdue", "failing", "stale", "waiting",
        ]  # fmt: skip
    for line in team.log("desk").splitlines():
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ memdeck: ", line) or line.startswith("desk: published"), line


@pytest.mark.thorough
def test_no_exec_runs_no_monitor(team: Team) -> None:
    """With `--no-exec` an agent publishes and runs nothing, also what is approved."""
    place = team.hosts["desk"]
    place.write(".aiter/memory/monitors.md", FAIL)
    approve(place)
    assert team("agent_desk", "agent", "--once", "--no-exec").code == 0
    assert b"lastStatus" not in place.read(".aiter/memory/monitors.md")
    assert team("agent_desk", "agent", "--once").code == 0
    assert b"lastStatus: failing" in place.read(".aiter/memory/monitors.md")


@pytest.mark.thorough
def test_a_stale_monitor_of_another_host_is_told(team: Team) -> None:
    """A monitor that nobody measures any more is stale in the status and a warning in `fleet check`."""
    monitor = FAIL + "- lastCheck: 2024-01-15T10:00:00Z\n- lastStatus: healthy (1)\n"
    team.hosts["desk"].write(".aiter/memory/monitors.md", monitor)
    with team.agent("desk", "--no-exec"):
        team.until("olga", "status", check=lambda data: [one["stale"] for one in data["workspaces"]] == [1])
        checked = team("olga", "check")
        assert "monitor.stale" in checked.out
    alone = team.hosts["desk"]("fleet", "check")
    assert "monitor.stale" in alone.out


@pytest.mark.thorough
def test_one_silent_host_costs_one_line(team: Team) -> None:
    """Of three hosts one never came: what the others found is printed, and one line says what was not asked."""
    with team.agent("desk"), team.agent("laptop"):
        team.until("olga", "list", check=lambda data: len(data["workspaces"]) == 2)
        assert team("agent_server", "agent", "--once", host="server").code == 0
        with psycopg.connect(team.url("owner"), autocommit=True) as database:
            database.execute("UPDATE memdeck.host SET seen = now() - interval '3 hours' WHERE name = 'server'")
        checked = team("olga", "check")
        assert checked.code == 1
        told = [line for line in checked.err.splitlines() if "host_away" in line]
        assert len(told) == 1
        assert "fleet.host_away: 1 of 3 not asked: server has been silent for 1" in told[0]
        assert "alert: server silent for 3 h" in team("rita", "status").err
        hosts = team("rita", "hosts")
        assert hosts.code == 4
        assert re.search(r"^ +server +silent for 3 h", hosts.out, re.MULTILINE)
        rows = {one["host"]: one for one in team.json("rita", "hosts")["hosts"]}
        assert (rows["server"]["silent"], rows["desk"]["silent"], rows["desk"]["failures"]) == (True, False, 0)
    # A host that is gone for good is forgotten in one step.
    assert team("owner", "init", "--drop", "server").code == 0
    assert {one["host"] for one in team.json("rita", "hosts")["hosts"]} == {"desk", "laptop"}


def test_who_asked_does_not_approve(team: Team) -> None:
    """An approver who asked for a revert cannot approve it, an operator never can, another approver can."""
    place = team.hosts["desk"]
    change = place.json("changes", "list")["changes"][0]["id"]
    with team.agent("desk"):
        team.until("anna", "list", check=lambda data: data["workspaces"])
        asked = str(team.json("anna", "revert", f"desk:{place.work}", change)["approval"])

        def approve(login: str) -> str:
            return place.at_terminal(
                "fleet", "approve", asked, now=None, environ={"MEMDECK_DATABASE": team.url(login)}
            ).out

        assert "fleet.four_eyes" in approve("anna")
        assert "fleet.forbidden" in approve("olga")
        assert "Call the people" in place("tasks", "list").out
        # The database itself refuses what the command line refuses.
        with psycopg.connect(team.url("anna"), autocommit=True) as database:
            words = "UPDATE memdeck.job SET approved_by = current_user, approved = now() WHERE id = %s"
            assert database.execute(words, (asked,)).rowcount == 0
        assert "approved" in approve("otto")
        team.until("anna", "approvals", check=lambda data: data["approvals"][0]["result"])
        assert "Call the people" not in place("tasks", "list").out
        assert "fleet.no_approval" in approve("otto")
        # The login counts, whichever of its roles it takes to ask; and an approval is not taken over.
        with psycopg.connect(team.url("anna"), autocommit=True, options="-c search_path=memdeck") as database:
            database.execute("SET ROLE memdeck_operator")
            again = "INSERT INTO job (host, workspace, verb) SELECT host, workspace, verb FROM job RETURNING id"
            ((number,),) = database.execute(again).fetchall()
            database.execute("RESET ROLE")
            assert [database.execute(words, (one,)).rowcount for one in (number, asked)] == [0, 0]


@pytest.mark.thorough
def test_only_who_asked_reads_what_a_job_asks(team: Team) -> None:
    """What a job asked and answered is read by the login that asked, and by no other."""
    with team.agent("desk"):
        team.until("olga", "list", check=lambda data: data["workspaces"])
        assert team.json("olga", "check")["workspaces"][0]["error"] is None
        seen = "SELECT verb, outcome::text FROM memdeck.job"
        with psycopg.connect(team.url("olga")) as database:
            ((verb, outcome),) = database.execute(seen).fetchall()
            assert (verb, "problems" in outcome) == ("check", True)
        with psycopg.connect(team.url("anna")) as database:
            assert database.execute(seen).fetchall() == []
        with psycopg.connect(team.url("rita")) as database, pytest.raises(psycopg.errors.InsufficientPrivilege):
            database.execute(seen)


def test_a_job_that_is_on_no_list_runs_nothing(team: Team) -> None:
    """Another verb, or other arguments, is refused with a code, and the agent goes on."""
    bad: tuple[tuple[str, dict[str, Any]], ...] = (
        ("exec", {"command": "id"}),
        ("check", {"command": "id"}),
        ("maintain", {"dry_run": "no", "actor": "a"}),
        ("maintain", {"dry_run": False, "actor": "a\nb"}),
    )
    with team.agent("desk"):
        team.until("olga", "list", check=lambda data: data["workspaces"])
        with psycopg.connect(team.url("olga"), autocommit=True, options="-c search_path=memdeck") as database:
            for verb, given in bad:
                words = "INSERT INTO job (host, workspace, verb, arguments) SELECT host, id, %s, %s FROM workspace"
                database.execute(words, (verb, json.dumps(given)))
            done = "SELECT outcome->'error'->>'code' FROM job WHERE finished IS NOT NULL"
            codes = until(lambda: rows if len(rows := database.execute(done).fetchall()) == len(bad) else None)
        assert codes == [("fleet.job_refused",)] * len(bad)
        assert team("olga", "check").code == 0


def test_a_job_reaches_only_what_its_host_publishes(team: Team) -> None:
    """A row of the catalogue with another folder is not opened."""
    place = team.hosts["desk"]
    other = place.top / "other"
    other.mkdir()
    assert place("init", str(other)).code == 0
    with (
        team.agent("desk"),
        psycopg.connect(team.url("owner"), autocommit=True, options="-c search_path=memdeck") as database,
    ):
        team.until("olga", "list", check=lambda data: data["workspaces"])
        words = "INSERT INTO workspace (host, path, mode) SELECT id, %s, 'full' FROM host WHERE name = 'desk'"
        database.execute(words, (str(other).encode(),))
        found = {one["path"]: one for one in team.json("olga", "check")["workspaces"]}
        assert (found[str(place.work)]["error"], found[str(other)]["error"]["code"]) == (None, "fleet.job_refused")


def test_an_agent_writes_only_its_own_rows(team: Team) -> None:
    """The login of one host sees and changes nothing of another, gives no jobs and approves nothing."""
    for host in ("desk", "laptop"):
        assert team(f"agent_{host}", "agent", "--once", host=host).code == 0
    assert "fleet.foreign_host" in team("agent_desk", "agent", "--once", host="server").err
    with psycopg.connect(team.url("agent_desk"), autocommit=True, options="-c search_path=memdeck") as thief:
        for table in ("host", "workspace", "file", "entry"):
            assert thief.execute(f"SELECT count(*) > 0 FROM {table}".encode()).fetchone() == (True,)
            column = "id" if table == "host" else "host"
            words = f"SELECT count(DISTINCT {column}) FROM {table}"
            assert thief.execute(words.encode()).fetchone() == (1,), table
        for words in (
            "INSERT INTO host (name) VALUES ('south')",
            "INSERT INTO workspace (host, path, mode) VALUES (2, 'x', 'full')",
            "UPDATE workspace SET host = 2",
            "INSERT INTO job (host, workspace, verb) SELECT host, id, 'check' FROM workspace",
            "UPDATE job SET approved = now()",
            "UPDATE catalogue SET generation = 9",
            "CREATE TABLE mine (a int)",
            "COPY host TO PROGRAM 'true'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                thief.execute(words.encode())
    assert team.json("rita", "search", "people", "laptop")["results"][0]["host"] == "laptop"


def test_a_refused_login_is_no_reason_to_try_again(team: Team, cluster: Cluster) -> None:
    """A login or a database that does not exist is a wrong setting, exit 2; a server that is away is 75."""
    known = team.url("rita")
    for url in (known.replace("_rita@", "_nobody@"), re.sub(r"/test\d+", "/nothing", known)):
        answer = team.hosts["desk"]("fleet", "list", "--database", url)
        assert (answer.code, "fleet.login_refused" in answer.err) == (2, True), answer
        assert "try again" not in answer.err
        agent = team.hosts["desk"]("fleet", "agent", "--database", url, process=True, now=None)
        assert (agent.code, "agent of" in agent.err) == (2, False), agent
    away = team.hosts["desk"]("fleet", "list", "--database", known.replace(str(cluster.folder), str(team.top)))
    assert (away.code, "fleet.database_down" in away.err) == (75, True)


def test_workspaces_that_are_gone_are_cleared_in_one_step(team: Team) -> None:
    """Each verb names them until `fleet remove --gone`, which leaves the others alone."""
    place = team.hosts["desk"]
    for name in ("one", "two"):
        (place.top / name).mkdir()
        assert place("init", str(place.top / name)).code == 0
        assert place("fleet", "add", str(place.top / name)).code == 0
        (place.top / name).rename(place.top / f"away-{name}")
    assert place("fleet", "status").out.count("fleet.gone") == 2
    assert place("fleet", "remove", "--gone").out.count("removed from the list: ") == 2
    assert [one["path"] for one in place.json("fleet", "list")["workspaces"]] == [str(place.work)]
    assert place("fleet", "remove", "--gone").out == "all listed workspaces still exist\n"


def test_an_agent_maintains_by_the_schedule_of_each_workspace(team: Team) -> None:
    """With `--maintain` a due workspace is maintained once, however often the agent starts."""
    place = team.hosts["desk"]
    old = "\n### [LOW] Done long ago\n- created: 2026-01-01 09:00\n- completed: 2026-03-02 09:00\n"
    assert place("--maintain", "--no-exec").code == 0
    place.write(".aiter/memory/tasks.md", place.read(".aiter/memory/tasks.md") + old.encode())
    for _ in range(2):
        assert team("agent_desk", "agent", "--once", "--maintain", "* * * * *").code == 0
    assert b"Done long ago" not in place.read(".aiter/memory/tasks.md")
    done = [one for one in place.json("changes", "list")["changes"] if one["actor"] == "maintain"]
    assert len(done) == 1


def test_the_unit_of_the_agent(team: Team) -> None:
    """`doctor --schedule --fleet` prints a unit that starts the agent, keeps the database out of it, and is valid."""
    place = team.hosts["desk"]
    unit = place.json("doctor", "--schedule", "--fleet")["service"]
    assert re.search(r"^ExecStart=.* fleet agent$", unit, re.MULTILINE)
    for line in ("EnvironmentFile=%h/.config/memdeck/fleet.env", "Environment=MEMDECK_HOST=desk", "Restart=always",
                 "RestartPreventExitStatus=2"):  # fmt: skip
        assert line in unit.splitlines()
    assert unit.strip() in place("doctor", "--schedule", "--fleet").out
    assert place("doctor", "--fleet").code == 2


@contextmanager
def served(team: Team, login: str, *options: str) -> Iterator[tuple[str, str]]:
    """Run `fleet serve` as a login; yield the address and the token."""
    place = team.hosts["desk"]
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", "fleet", "serve", "-o", "json", *options],
        cwd=place.work,
        env={**place.environment, "MEMDECK_DATABASE": team.url(login)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    out: IO[bytes] | None = process.stdout
    assert out is not None
    with process, out:
        try:
            where = json.loads(line_of(out))
            yield where["address"], where["token"]
        finally:
            process.send_signal(signal.SIGTERM)


def ask(address: str, token: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """Return the status and the answer of the served fleet."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if "json" in answer.headers["content-type"] else text.decode()
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.mark.thorough
def test_a_team_behind_a_proxy(team: Team) -> None:
    """Two servers with tokens that stay, one to look and one to give jobs; approving is served by neither."""
    place = team.hosts["desk"]
    files = {}
    for name in ("look", "work"):
        files[name] = place.top / f"{name}.token"
        files[name].write_text(f"{name}-token-of-the-proxy\n")
        files[name].chmod(0o600)
    with (
        team.agent("desk"),
        served(team, "rita", "--read-only", "--token-file", str(files["look"])) as (looks, look),
        served(team, "olga", "--token-file", str(files["work"])) as (works, work),
    ):
        assert look == "look-token-of-the-proxy"
        team.until("rita", "list", check=lambda data: data["workspaces"])
        status, metrics = ask(looks, look, "/metrics")
        assert (status, 'memdeck_fleet_host_silent{host="desk"} 0' in metrics) == (200, True)
        assert ask(looks, work, "/metrics")[0] == 401
        assert ask(looks, look, "/api/v1/fleet/hosts")[1]["hosts"][0]["host"] == "desk"
        assert ask(looks, look, "/api/v1/fleet/check", {})[0] == 404
        assert ask(works, work, "/api/v1/fleet/check", {})[1]["workspaces"][0]["error"] is None
        assert ask(works, work, "/api/v1/fleet/approvals") == (200, {"approvals": []})
        assert ask(works, work, "/api/v1/fleet/approve", {"approval": 1})[0] == 404
    files["look"].chmod(0o644)
    answer = team("rita", "serve", "--token-file", str(files["look"]))
    assert (answer.code, "fleet.token" in answer.err) == (2, True)


@pytest.mark.thorough
def test_a_look_does_not_wait_for_a_job(team: Team) -> None:
    """While a host works on what one program asked, another program gets the metrics."""
    assert team("agent_desk", "agent", "--once").code == 0
    heard = "UPDATE memdeck.host SET seen = now() + %s * interval '1 hour' WHERE name = 'desk'"
    with (
        psycopg.connect(team.url("owner"), autocommit=True) as database,
        served(team, "olga") as (address, token),
        ThreadPoolExecutor(1) as pool,
    ):
        database.execute(heard, (1,))
        checked = pool.submit(ask, address, token, "/api/v1/fleet/check", {})
        try:
            team.until("olga", "hosts", check=lambda data: any(one["jobs_waiting"] for one in data["hosts"]))
            assert ask(address, token, "/metrics")[0] == 200
            assert not checked.done()
        finally:
            database.execute(heard, (-1,))
        assert checked.result(PATIENCE)[1]["workspaces"][0]["error"]["code"] == "fleet.host_away"


@pytest.mark.thorough
def test_an_agent_that_was_killed_leaves_nothing_behind(team: Team) -> None:
    """Its job is done by its next start, and a second agent of the same host does not begin meanwhile."""
    with team.agent("desk") as first:
        team.until("olga", "list", check=lambda data: data["workspaces"])
        second = team("agent_desk", "agent")
        assert (second.code, "fleet.host_taken" in second.err) == (4, True), second
        first.kill()
        first.wait(PATIENCE)
        with psycopg.connect(team.url("olga"), autocommit=True, options="-c search_path=memdeck") as database:
            database.execute("INSERT INTO job (host, workspace, verb) SELECT host, id, 'check' FROM workspace")
            waiting = "SELECT waiting FROM job_count"
            assert database.execute(waiting).fetchone() == (1,)
            assert team("agent_desk", "agent", "--once").code == 0
            assert database.execute(waiting).fetchone() == (0,)
            ((outcome,),) = database.execute("SELECT outcome FROM job").fetchall()
            assert "problems" in outcome


def test_an_edit_on_a_host_is_found_everywhere(team: Team) -> None:
    """What is written, changed, moved away or made private on a host follows in the catalogue while agents run."""
    place = team.hosts["desk"]
    with team.agent("desk"), team.agent("laptop"):
        team.until("rita", "search", "people", check=lambda data: len(data["results"]) == 2)
        assert place("journal", "add", "Moved the backups to the cellar").code == 0
        team.until("rita", "search", "cellar", check=lambda data: data["results"])
        assert place("journal", "remove", "cellar").code == 0
        team.until("rita", "search", "cellar", check=lambda data: not data["results"])
        assert place("fleet", "add", str(place.work), "--publish", "none").code == 0
        team.until("rita", "list", check=lambda data: len(data["workspaces"]) == 1)


@pytest.mark.thorough
def test_init_makes_an_older_catalogue_anew(team: Team) -> None:
    """A catalogue of another version keeps its hosts and their logins, and is filled again."""
    assert team("agent_desk", "agent", "--once").code == 0
    assert team.json("owner", "init") == {"made": False, "hosts": []}
    with psycopg.connect(team.url("owner"), autocommit=True, options="-c search_path=memdeck") as database:
        database.execute("UPDATE catalogue SET version = 0")
        assert "fleet.newer" in team("agent_desk", "agent", "--once").err
        assert team.json("owner", "init") == {"made": True, "hosts": []}
        assert team.json("rita", "search", "people")["results"] == []
        assert team("agent_desk", "agent", "--once").code == 0
        assert len(team.json("rita", "search", "people")["results"]) == 1
        database.execute("UPDATE catalogue SET version = 99")
    assert "fleet.newer" in team("owner", "init").err
