"""A fleet on many hosts, measured: `python -m bench.fleet_hosts [--workspaces N] [--agents N] [--size TASKSxENTRIES]
[--folder DIR] [--copies N] [--keep]`.

It starts a private PostgreSQL in a temporary folder, with `fsync` on, makes workspaces for some hosts, and prints one
JSON object: publish rate against COPY into an empty table, search, an edit until it is found, jobs a second, bytes.
A folder that an earlier run kept is measured again: then nothing is made and published.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from bench.places import NOW
from bench.workspaces import size_of, write_workspace
from memory.fleet.catalogue import connect, initialise
from memory.fleet.central import CentralFleet, ask
from memory.storage.private.workspaces import WorkspaceList

QUERIES = (
    "deploy", "staging", "redis latency", "deploy staging", "database migration", "alice", "cache", "weekly report",
    "timeout api", "tag:infra", "in:tasks review",
    '"deploy to staging"', "kubernetes", "customer invoice", "flaky test",
    "after:2023-12-01 release", "memory leak worker", "how do we deploy the staging cache", "xyzzyplugh", "rollback",
)  # fmt: skip
SEARCHES = 200
EDITS = 24
JOBS = 240


class Server:
    """A private PostgreSQL, on a Unix socket, with the settings that it comes with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)))
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(folder, self._user)
        folder.chmod(0o755)
        if not (folder / "data").exists():
            self._create()
        self.run("pg_ctl", "-D", f"{folder}/data", "-l", f"{folder}/log", "-w", "start")
        self.url = self.as_login("postgres")

    def as_login(self, login: str) -> str:
        """Return the address for one login: the owner is not held by row level security, all others are."""
        return f"postgresql://{login}@/postgres?host={self.folder}"

    def _create(self) -> None:
        words = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C.UTF-8")
        self.run("initdb", "-D", f"{self.folder}/data", *words)
        with (self.folder / "data/postgresql.conf").open("a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nmax_connections = 200\n")
            file.write(
                "shared_buffers = 1GB\nmaintenance_work_mem = 512MB\nmax_wal_size = 8GB\nrandom_page_cost = 1.1\n"
            )

    def run(self, program: str, *arguments: str) -> None:
        words = [str(self._bin / program), *arguments]
        if os.geteuid() == 0:
            words = ["setpriv", f"--reuid={self._user}", f"--regid={self._user}", "--init-groups", *words]
        with (self.folder / "out").open("ab") as out:
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/")

    def cpu_seconds(self) -> float:
        """Return the processor time of the server and of all its processes so far, also those that ended."""
        main = int((self.folder / "data/postmaster.pid").read_text().split("\n")[0])
        total = 0
        for name in filter(str.isdecimal, os.listdir("/proc")):
            try:
                fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(name) == main or int(fields[1]) == main:
                total += sum(map(int, fields[11:15]))
        return total / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")


class Host:
    """A host with a home of its own, whose agent is a process of its own."""

    def __init__(self, folder: Path, name: str, url: str) -> None:
        self.name = name
        self.home = folder / name
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state"),
            "MEMDECK_HOST": name, "MEMDECK_DATABASE": url,
        }  # fmt: skip
        self.paths: list[Path] = []

    def fill(self, count: int, size: str) -> None:
        """Make and list the workspaces of this host that are not there yet."""
        listing = WorkspaceList(self.home / "state")
        self.paths = [self.home / "src" / f"w{number:04}" for number in range(count)]
        for path in self.paths:
            if not path.exists():
                write_workspace(path, size_of(size), NOW, seed=crc32(f"{self.name} {path.name}".encode()))
                listing.add(path, NOW)

    def agent(self, *options: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "app.main", "fleet", "agent", *options]
        return subprocess.Popen(words, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print what came out."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet_hosts", description=__doc__)
    parser.add_argument("--workspaces", type=int, default=2_000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--size", default="100x400")
    parser.add_argument("--folder", type=Path, help="Where all of it is, or is made (default: a temporary one).")
    parser.add_argument("--copies", type=int, default=0, help="Copy each workspace so often within the database.")
    parser.add_argument("--keep", action="store_true", help="Leave everything in place.")
    options = parser.parse_args(arguments)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="memdeck-fleet-", dir="/tmp"))
    found: dict[str, Any] = {"load": os.getloadavg()[0], "cores": os.cpu_count()}

    def note(**values: Any) -> None:
        found.update(values)
        print(json.dumps(values), file=sys.stderr, flush=True)

    database = folder / "pg"
    database.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    server = Server(database)
    try:
        names = [f"host{number}" for number in range(options.agents)]
        initialise(server.url, hosts={name: f"agent_{name}" for name in names}, grants=[("operator", "olga")])
        hosts = [Host(folder, name, server.as_login(f"agent_{name}")) for name in names]
        operator = server.as_login("olga")
        note(
            make_seconds=_seconds(
                lambda: [host.fill(options.workspaces // options.agents, options.size) for host in hosts]
            )
        )
        with connect(server.url) as connection:
            if not _one(connection, "SELECT count(*) FROM workspace"):
                before = _children_seconds(), server.cpu_seconds()
                seconds = _seconds(lambda: _all_end([host.agent("--once") for host in hosts]))
                agents, database_took = _children_seconds() - before[0], server.cpu_seconds() - before[1]
                entries = _one(connection, "SELECT count(*) FROM entry")
                note(publish_seconds=round(seconds, 1), publish_a_second=round(entries / seconds))
                note(
                    publish_load=round(os.getloadavg()[0], 1),
                    agent_cpu_us_an_entry=round(1e6 * agents / entries),
                    database_cpu_us_an_entry=round(1e6 * database_took / entries),
                )
            if options.copies and not _one(connection, "SELECT count(*) FROM host WHERE name = 'copies'"):
                note(copy_seconds=round(_seconds(lambda: _copy(connection, options.copies)), 1))
            entries = _one(connection, "SELECT count(*) FROM entry")
            note(entries=entries, copy_a_second=round(_copy_floor(server.url, entries)))
            connection.execute("VACUUM ANALYZE")
            for name in ("entry", "file"):
                total, index = (
                    _one(connection, f"SELECT {what}('memdeck.{name}')")
                    for what in ("pg_total_relation_size", "pg_indexes_size")
                )
                note(
                    **{
                        f"{name}_bytes_an_entry": round(total / entries),
                        f"{name}_index_bytes_an_entry": round(index / entries),
                    }
                )
            note(text_bytes_an_entry=round(_one(connection, "SELECT sum(octet_length(text)) FROM entry") / entries))
            before = time.process_time(), server.cpu_seconds()
            note(**_searches(operator))
            took = time.process_time() - before[0] + server.cpu_seconds() - before[1]
            note(
                search_load=round(os.getloadavg()[0], 1),
                search_cpu_mean_ms=round(1000 * took / (SEARCHES + len(QUERIES)), 1),
            )
            note(**_edits(connection, hosts, operator))
            note(**_searches_while_publishing(connection, hosts, operator))
            note(edits_load=round(os.getloadavg()[0], 1))
            note(jobs=_jobs(connection, server, hosts), jobs_load=round(os.getloadavg()[0], 1))
    finally:
        server.stop()
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps(found, indent=2))
    return 0


_COPY = """
WITH copied AS (
    INSERT INTO workspace (host, path, mode, overview)
    SELECT %(host)s, w.path || convert_to('-%(copy)s-' || w.id, 'UTF8'), w.mode, w.overview
    FROM workspace w WHERE w.host <> %(host)s RETURNING id, path
), matched AS (
    SELECT c.id AS to_id, w.id AS from_id FROM copied c
    JOIN workspace w ON c.path = w.path || convert_to('-%(copy)s-' || w.id, 'UTF8')
), files AS (
    INSERT INTO file (host, workspace, name, stamp, digests, lines)
    SELECT %(host)s, m.to_id, f.name, f.stamp, f.digests, f.lines FROM file f JOIN matched m ON m.from_id = f.workspace
    RETURNING id, workspace, name
)
INSERT INTO entry (file, digest, host, kind, title, text, date, day, ref, tags, words)
SELECT n.id, e.digest, %(host)s, e.kind, e.title, e.text, e.date, e.day, e.ref, e.tags, e.words
FROM files n JOIN matched m ON m.to_id = n.workspace JOIN file f ON f.workspace = m.from_id AND f.name = n.name
JOIN entry e ON e.file = f.id
"""


def _copy(connection: Any, copies: int) -> None:
    """Copy all workspaces of the hosts so often, as those of a further host."""
    (host,) = connection.execute("INSERT INTO host (name, seen) VALUES ('copies', now()) RETURNING id").fetchone()
    connection.execute("ALTER TABLE entry DISABLE TRIGGER ALL")
    indexes = connection.execute(
        "SELECT indexdef FROM pg_indexes WHERE indexname IN ('entry_words', 'entry_day')"
    ).fetchall()
    connection.execute("DROP INDEX entry_words, entry_day")
    for copy in range(copies):
        connection.execute(_COPY.replace("%(copy)s", str(copy)).replace("%(host)s", str(host)))
    for (definition,) in indexes:
        connection.execute(definition)
    connection.execute("ALTER TABLE entry ENABLE TRIGGER ALL")


def _children_seconds() -> float:
    """Return the processor time of the agents that ended."""
    found = os.times()
    return found.children_user + found.children_system


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _one(connection: Any, words: str) -> int:
    return int(connection.execute(words).fetchone()[0])


def _all_end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.wait():
            raise SystemExit("an agent failed")


def _copy_floor(url: str, entries: int) -> float:
    """Return the rows a second of COPY of the same rows into an empty table without indexes, from one client."""
    most = min(entries, 200_000)
    with connect(url) as source, connect(url) as target:
        target.execute("CREATE TABLE floor (LIKE entry)")
        with source.cursor() as cursor:
            words = f"COPY (SELECT * FROM entry LIMIT {most}) TO STDOUT".encode()
            with cursor.copy(words) as out:
                data = [bytes(block) for block in out]

        def copy() -> None:
            with target.cursor() as cursor, cursor.copy("COPY floor FROM STDIN") as into:
                for block in data:
                    into.write(block)

        seconds = _seconds(copy)
        target.execute("DROP TABLE floor")
    return most / seconds


def _searches(url: str) -> dict[str, float]:
    chance = random.Random(3)
    times: list[float] = []
    slowest: dict[str, float] = {}
    with closing(CentralFleet(url)) as central:
        for query in QUERIES:
            central.search(query, NOW)
        for _ in range(SEARCHES):
            query = chance.choice(QUERIES)
            took = 1000 * _seconds(lambda query=query: central.search(query, NOW))
            times.append(took)
            slowest[query] = max(slowest.get(query, 0), took)
    worst = dict(sorted(((name, round(value, 1)) for name, value in slowest.items()), key=lambda one: -one[1])[:5])
    cuts = statistics.quantiles(times, n=20)
    return {"search_p50_ms": round(statistics.median(times), 1), "search_p95_ms": round(cuts[18], 1), "slowest": worst}  # type: ignore[dict-item]


def _edits(connection: Any, hosts: Sequence[Host], url: str) -> dict[str, float]:
    """Return how long it takes until an edit of a file on a host is found in the catalogue, in seconds.

    The agents of all hosts run, as they do for days.
    """
    agents = [host.agent() for host in hosts]
    times = []
    try:
        with closing(CentralFleet(url)) as central:
            _until_alive(connection, hosts)
            for number in range(EDITS):
                host = hosts[number % len(hosts)]
                path = host.paths[number * 7 % len(host.paths)] / ".aiter/memory/journal.md"
                # No word of an earlier run.
                word = f"zebrafinch{time.time_ns():x}q{number:02}"
                text = path.read_text(encoding="utf-8")
                at = text.index("\n### ")
                path.write_text(f"{text[:at]}\n### 00:01 - {word}\n- new\n{text[at:]}", encoding="utf-8")
                start = time.perf_counter()
                while not central.search(word, NOW)[0] and time.perf_counter() - start < 60:
                    time.sleep(0.02)
                times.append(time.perf_counter() - start)
    finally:
        _end(agents)
    return {"edit_found_median_s": round(statistics.median(times), 2), "edit_found_worst_s": round(max(times), 2)}


def _searches_while_publishing(connection: Any, hosts: Sequence[Host], url: str) -> dict[str, Any]:
    """Return how long searches take while each agent publishes an edit of a journal each second."""
    agents = [host.agent() for host in hosts]
    ended = threading.Event()

    def edit() -> None:
        number = 0
        while not ended.wait(1):
            for host in hosts:
                number += 1
                path = host.paths[number % len(host.paths)] / ".aiter/memory/journal.md"
                text = path.read_text(encoding="utf-8")
                at = text.index("\n### ")
                added = f"### 00:01 - deploy the redis cache {number}\n- staging again"
                path.write_text(f"{text[:at]}\n{added}\n{text[at:]}", encoding="utf-8")

    editing = threading.Thread(target=edit)
    try:
        _until_alive(connection, hosts)
        editing.start()
        return {f"publishing_{name}": value for name, value in _searches(url).items()}
    finally:
        ended.set()
        editing.join()
        _end(agents)


def _end(agents: Sequence[subprocess.Popen[bytes]]) -> None:
    for agent in agents:
        agent.terminate()
    for agent in agents:
        agent.wait()


def _until_alive(connection: Any, hosts: Sequence[Host]) -> None:
    """Wait until the agents have ended a round: from then on they only look for what is new."""
    start = datetime.now(UTC)
    for host in hosts:
        words = "SELECT count(*) FROM host WHERE name = %s AND seen > %s"
        seen: list[Any] = []
        # The second beat is that of the second round.
        while len(set(seen)) < 3:
            if connection.execute(words, (host.name, start)).fetchone()[0]:
                seen += [one for (one,) in connection.execute("SELECT seen FROM host WHERE name = %s", (host.name,))]
            time.sleep(0.05)


def _jobs(connection: Any, server: Server, hosts: Sequence[Host]) -> dict[str, dict[str, float]]:
    """Return the jobs a second of some agents together, checks and maintenance that moves entries, and their cost.

    The cost is the processor time of the agents and of the database for each job, with all they do besides.
    """
    agents = [host.agent() for host in hosts]
    rates = {}
    try:
        _until_alive(connection, hosts)
        for name, given in (("check", {}), ("maintain", {"dry_run": False, "actor": "bench"})):
            before = sum(_cpu_seconds(agent.pid) for agent in agents) + server.cpu_seconds()
            done, seconds = _finished(connection, hosts, name, given)
            took = sum(_cpu_seconds(agent.pid) for agent in agents) + server.cpu_seconds() - before
            rates[name] = {"a_second": round(done / seconds, 1), "cpu_ms": round(1000 * took / done)}
    finally:
        _end(agents)
    return rates


def _cpu_seconds(process: int) -> float:
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _finished(connection: Any, hosts: Sequence[Host], verb: str, given: dict[str, Any]) -> tuple[int, float]:
    """Give jobs to some hosts, and return how many were done in how many seconds."""
    words = "SELECT h.id, w.id FROM workspace w JOIN host h ON h.id = w.host WHERE h.name = %s ORDER BY w.id LIMIT %s"
    found = [row for host in hosts for row in connection.execute(words, (host.name, JOBS // len(hosts))).fetchall()]
    start = time.perf_counter()
    numbers = ask(connection, verb, found, given)
    while _count(connection, numbers) < len(numbers):
        time.sleep(0.02)
    return len(numbers), time.perf_counter() - start


def _count(connection: Any, numbers: list[int]) -> int:
    words = "SELECT count(*) FROM job WHERE id = ANY (%s) AND finished IS NOT NULL"
    return int(connection.execute(words, (numbers,)).fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
