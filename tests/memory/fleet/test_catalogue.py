"""The catalogue of many hosts: what is published and what is not, who is told apart, and what survives."""

from __future__ import annotations

import shutil
import socket
import subprocess
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.errors import BusyError, UsageError
from memory.fleet.catalogue import OPTIONS, connect, initialise
from memory.fleet.central import CentralFleet
from memory.fleet.local import LocalWorkspaces
from memory.fleet.publish import Publisher
from tests.memory.fleet.fleets import NOW, RunningAgent, make_workspace
from tests.patience import PATIENCE, until
from tests.postgres import Cluster, running

SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456"
SECRETS = f"""## 2024-01-14

### 09:00 - Rotated {SECRET}
- the token {SECRET} is old
- password: swordfish9!
- and swordfish9! is used for the printer as well

### 10:00 - Printer
- harmless
"""


def _contents(url: str) -> dict[str, str]:
    """Return everything that the database holds, table by table, as text."""
    with psycopg.connect(url, options=OPTIONS) as database:
        tables = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'memdeck'").fetchall()
        return {
            name: str(database.execute(f"SELECT {name}::text FROM {name}".encode()).fetchall()) for (name,) in tables
        }


def _journal(path: Path, text: str) -> None:
    (path / ".aiter/memory/journal.md").write_text(text, encoding="utf-8")


def test_secrets_never_leave_the_host(database: str, tmp_path: Path) -> None:
    """What the detector finds is in no table: not published, in no word, in no report, in no answer of a job."""
    initialise(database)
    path = make_workspace(
        tmp_path / "one", tmp_path / "state", f"## Pending\n\n### [HIGH] Use {SECRET}\n- created: x\n"
    )
    _journal(path, SECRETS)
    (path / ".aiter/memory/config.md").write_text(f"## Maintenance\n\n- archiveCompletedAfterDays: {SECRET}\n")
    agent = RunningAgent(database, "here", tmp_path / "state", lambda: {path: "full"})
    try:
        agent.settle()
        with closing(CentralFleet(database)) as central:
            assert {one.hit.entry.title for one in central.search("printer", NOW)[0] if one.hit.fits_all} >= {"Printer"}
            tuple(central.check(NOW))
            tuple(central.maintain(NOW, actor="maintain"))
            tuple(central.maintain(NOW, actor="maintain", dry_run=True))
    finally:
        agent.end()
    held = _contents(database)
    assert "harmless" in held["entry"]
    assert "left out" in held["entry"]
    for name, text in held.items():
        assert SECRET not in text, name
        assert SECRET.lower() not in text.lower(), name
        assert "swordfish" not in text, name


def test_names_only_and_nothing(database: str, tmp_path: Path) -> None:
    """Of one that is published by names only titles leave, also in answers of jobs; of an excluded one nothing."""
    initialise(database)
    wanted = {make_workspace(tmp_path / name, tmp_path / "state"): "full" for name in ("one", "two")}
    for path in wanted:
        _journal(path, f"## 2024-01-14\n\n### 09:00 - Visit of {path.name}\n- unusualword{path.name}\n")
        tasks = path / ".aiter/memory/tasks.md"
        tasks.write_text(tasks.read_text() + f"\n### Odd\n- due: unusualword{path.name}\n")
    one, two = wanted
    agent = RunningAgent(database, "here", tmp_path / "state", lambda: dict(wanted))
    try:
        agent.settle()
        assert "unusualwordtwo" in _contents(database)["entry"]
        wanted[two] = "names"
        agent.settle()
        with closing(CentralFleet(database)) as central:
            assert {hit.workspace for hit in central.search("visit", NOW)[0]} == {one, two}
            assert {hit.workspace for hit in central.search("unusualword*", NOW)[0]} == {one}
            # What is said about a line may quote it.
            assert {row.path: "unusualword" in str(row.result) for row in central.check(NOW)} == {one: True, two: False}
        held = _contents(database)
        assert not [name for name, text in held.items() if "unusualwordtwo" in text]
        del wanted[two]
        agent.settle()
        # What a job answered is gone, too.
        held = _contents(database)
        assert not [name for name, text in held.items() if "Visit of two" in text]
        assert not [name for name, text in held.items() if str(two).encode().hex() in text or str(two) in text]
        wanted[two] = "full"
        agent.settle()
        assert "unusualwordtwo" in _contents(database)["entry"]
    finally:
        agent.end()


def _answers(url: str) -> list[object]:
    with closing(CentralFleet(url)) as central:
        found: list[object] = [*central.listed()]
        for query in ("renew", "task", "old", "in:journal", "tag:certificates", "renew beta", "visit"):
            found.append([hit.json() for hit in central.search(query, NOW, 0)[0]])
        found += [{**row.json(), "age": None} for row in central.overview(NOW)]
    return found


def _dropped(url: str) -> bool:
    """Drop the catalogue; False where the server ended that, for an agent and it waited for each other."""
    with connect(url) as connection:
        try:
            connection.execute("DROP SCHEMA memdeck CASCADE")
        except psycopg.errors.DeadlockDetected:
            return False
        return True


@pytest.mark.parametrize("how", ["rebuild", "drop"])
def test_dropped_and_rebuilt_with_the_same_answers(database: str, tmp_path: Path, how: str) -> None:
    """The catalogue is derived: emptied or dropped, agents that run fill it again, and every answer is the same."""
    initialise(database)
    hosts = ("one", "two")
    agents = []
    for host in hosts:
        paths = [make_workspace(tmp_path / host / name, tmp_path / host / "state") for name in ("alpha", "beta")]
        _journal(paths[0], f"## 2024-01-14\n\n### 09:00 - Visit of {host}\n- hello\n")
        agents.append(
            RunningAgent(database, host, tmp_path / host / "state", lambda paths=paths: dict.fromkeys(paths, "full"))  # type: ignore[misc]
        )
    try:
        for agent in agents:
            agent.settle()
        before = _answers(database)
        assert len(before) > 7
        if how == "rebuild":
            initialise(database, rebuild=True)
        else:
            until(lambda: _dropped(database))
            initialise(database)
        with connect(database) as connection:
            words = "SELECT count(*) FROM workspace WHERE overview <> '{}'"
            until(lambda: connection.execute(words).fetchone() == (4,))
        for agent in agents:
            agent.settle()
        assert _answers(database) == before
    finally:
        for agent in agents:
            agent.end()


@pytest.mark.thorough
def test_the_database_goes_down(tmp_path: Path) -> None:
    """Work on the host goes on; what changed meanwhile is published, and jobs are done, when it is back."""
    with running(5433) as own:
        url = own.url(own.database())
        initialise(url)
        path = make_workspace(tmp_path / "one", tmp_path / "state")
        agent = RunningAgent(url, "here", tmp_path / "state", lambda: {path: "full"})
        try:
            agent.settle()
            own.stop("immediate")
            with pytest.raises(BusyError) as down, closing(CentralFleet(url)) as central:
                central.listed()
            assert down.value.code == "fleet.database_down"
            _journal(path, "## 2024-01-14\n\n### 09:00 - Written meanwhile\n- hello\n")
            until(lambda: any("fleet.database" in words for words in agent.told), lambda: agent.told)
            own.start()
            agent.settle()
            with closing(CentralFleet(url)) as central:
                assert [one.hit.entry.title for one in central.search("meanwhile", NOW)[0]] == ["Written meanwhile"]
                (done,) = central.maintain(NOW, actor="maintain")
                assert done.error is None
        finally:
            agent.end()


@pytest.mark.thorough
def test_over_tls_with_a_verified_server(tmp_path: Path) -> None:
    """With sslmode=verify-full only the server whose certificate is known is talked to, and nothing goes in clear."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def certificate(folder: Path, name: str) -> Path:
        words = ["req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-addext"]
        files = ["subjectAltName=DNS:localhost", "-out", f"{folder}/{name}.crt", "-keyout", f"{folder}/{name}.key"]
        subprocess.run(
            [openssl, *words, *files],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        return folder / f"{name}.crt"

    def prepare(made: Cluster) -> None:
        certificate(made.data, "server")
        for name in ("server.crt", "server.key"):
            made.own(made.data / name)
        (made.data / "server.key").chmod(0o600)
        made.configure("listen_addresses = '127.0.0.1'\nssl = on\n")
        (made.data / "pg_hba.conf").write_text(
            "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\nhostnossl all all 127.0.0.1/32 reject\n"
        )

    with running(port, prepare) as own:
        name = own.database()
        initialise(own.url(name), grants=[("reader", "rita")])
        with psycopg.connect(own.url(name)) as database:
            database.execute("ALTER ROLE rita PASSWORD 'correct horse'")
        known = tmp_path / "server.crt"
        shutil.copyfile(own.data / "server.crt", known)
        other = certificate(tmp_path, "other")
        base = f"postgresql://rita:correct%20horse@localhost:{port}/{name}?hostaddr=127.0.0.1"
        with closing(CentralFleet(f"{base}&sslmode=verify-full&sslrootcert={known}")) as central:
            assert central.listed() == ()
            with central._connected() as database:
                assert database.pgconn.ssl_in_use
        for wrong in (
            f"{base}&sslmode=verify-full&sslrootcert={other}",
            f"{base}&sslmode=disable",
            f"{base.replace('localhost', 'db.example')}&sslmode=verify-full&sslrootcert={known}",
            f"{base.replace('correct', 'wrong')}&sslmode=verify-full&sslrootcert={known}",
        ):
            with pytest.raises(UsageError) as refused, closing(CentralFleet(wrong)) as central:
                central.listed()
            assert refused.value.code == "fleet.login_refused"
            assert "horse" not in str(refused.value)


def _publisher(connection: psycopg.Connection[tuple[Any, ...]], state_home: Path) -> Publisher:
    row = connection.execute("INSERT INTO host (name) VALUES ('here') RETURNING id").fetchone()
    assert row is not None
    return Publisher(connection, LocalWorkspaces(state_home, "here", None, state_home / "config"), row[0])


def test_one_that_can_be_read_again_is_published(database: str, tmp_path: Path) -> None:
    """A workspace without memory is looked at again later, and then all that is in it is published."""
    initialise(database)
    path = make_workspace(tmp_path / "one", tmp_path / "state")
    memory = path / ".aiter/memory"
    memory.rename(tmp_path / "away")
    with connect(database) as connection:
        publisher = _publisher(connection, tmp_path / "state")
        assert publisher.round({path: "full"}, NOW).added == 0
        (tmp_path / "away").rename(memory)
        assert publisher.round({path: "full"}, NOW + timedelta(hours=1)).added > 0
