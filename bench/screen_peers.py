"""The terminal applications that people use instead, opened on the same tasks, where they are installed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bench.measure import Unavailable
from bench.peers import Taskwarrior
from bench.places import Places
from bench.reference import OPEN_TASK

Command = tuple[list[str], Mapping[str, str]]
"""What is run, and in which environment."""

UP = b"k"
"""The first key where a program opens at the end of its rows; elsewhere it is the one for the row below."""


def screen_peers(places: Places, size: str) -> Iterator[tuple[str, Callable[[], Command], Callable[[], None]]]:
    """Yield for each peer its name, what gives its command, and what makes its files before the first round.

    toolong, a viewer of logs, opens at the end. dooit has a workspace for each task, which is what it lists at the
    start; posting, a client for HTTP, a request for each.
    """
    tasks = places.memory(places.workspace(size)) / "tasks.md"
    folder = places.folder / f"screen-peers-{size}"
    usual = places.environment()

    taskwarrior = Taskwarrior(places, size)

    def titles() -> list[str]:
        return [" ".join(title.split()) for _, title in OPEN_TASK.findall(tasks.read_text("utf-8"))]

    def made(program: str, *parts: str) -> Path:
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is not installed")
        place = folder.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def calcurse() -> None:
        made("calcurse", "calcurse", "todo").write_text("".join(f"[1] {title}\n" for title in titles()), "utf-8")
        (folder / "calcurse" / "conf").write_text("appearance.layout=1\ngeneral.firstdayofweek=monday\n")
        for name in ("apts", "keys"):
            (folder / "calcurse" / name).touch()

    def visidata() -> None:
        made("vd", "tasks.tsv").write_text("title\n" + "".join(f"{title}\n" for title in titles()), "utf-8")

    def toolong() -> None:
        made("tl", "tasks.log").write_text("".join(f"{title}\n" for title in titles()), "utf-8")

    def vit() -> None:
        made("vit", "home", ".vit", "config.ini").touch()
        taskwarrior.ready()

    def dooit() -> None:
        base = made("dooit", "dooit.db")
        base.unlink(missing_ok=True)
        with sqlite3.connect(base) as database:
            database.execute(
                "CREATE TABLE workspace (id INTEGER PRIMARY KEY, order_index INTEGER NOT NULL,"
                " description VARCHAR NOT NULL, is_root BOOLEAN NOT NULL,"
                " parent_workspace_id INTEGER REFERENCES workspace (id))"
            )
            database.execute("INSERT INTO workspace VALUES (1, 0, '', 1, NULL)")
            rows = ((number + 2, number, title) for number, title in enumerate(titles()))
            database.executemany("INSERT INTO workspace VALUES (?, ?, ?, 0, 1)", rows)
        database.close()

    def posting() -> None:
        requests = (f"name: {json.dumps(title)}\nmethod: GET\nurl: http://localhost/\n" for title in titles())
        files(made("posting", "requests"), "{}.posting.yaml", requests)

    def backlog() -> None:
        place = made("backlog", "backlog", "backlog", "config.yml")
        place.write_text(
            'project_name: "memory"\nstatuses: ["To Do", "Done"]\nfilesystem_only: true\n'
            "remote_operations: false\ncheck_active_branches: false\n"
        )
        texts = (
            f"---\nid: task-{number}\ntitle: {json.dumps(title)}\nstatus: To Do\ncreated_date: '2024-01-01'\n---\n"
            for number, title in enumerate(titles())
        )
        files(place.parent / "tasks", "task-{0} - task.md", texts)

    yield (
        "curses list (Python)",
        lambda: ([sys.executable, "-m", "bench.curses_list", str(tasks)], usual),
        lambda: None,
    )
    yield "calcurse", lambda: (["calcurse", "-D", str(folder / "calcurse")], usual), calcurse
    yield "toolong", lambda: (["tl", str(folder / "tasks.log")], usual), toolong
    yield "visidata", lambda: (["vd", str(folder / "tasks.tsv")], usual), visidata
    with_tasks = usual | {"HOME": str(folder / "home"), "TASKRC": str(taskwarrior.settings)}
    yield "vit", lambda: (["vit"], with_tasks), vit
    yield "dooit", lambda: (["dooit", "--db", str(folder / "dooit.db")], usual), dooit
    at_requests = usual | {"POSTING_FOCUS__ON_STARTUP": "collection"}
    yield "posting", lambda: (["posting", "--collection", str(folder / "requests")], at_requests), posting
    yield "Backlog.md", lambda: (["backlog", "board"], usual | {"BACKLOG_CWD": str(folder / "backlog")}), backlog


def files(folder: Path, name: str, texts: Iterable[str]) -> None:
    """Write texts to files with a number each, the first time."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / name.format(number)).write_text(text, "utf-8")
