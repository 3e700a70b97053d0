"""The terminal applications that people use instead, opened on the same tasks, where they are installed.

vit is not among them: it ends on titles that are not UTF-8, which workspaces have.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.measure import Unavailable
from bench.places import Places
from bench.reference import OPEN_TASK

Command = tuple[list[str], Mapping[str, str]]
"""What is run, and in which environment."""

UP = b"k"
"""The first key where a program opens at the end of its rows; elsewhere it is the one for the row below."""


def screen_peers(places: Places, size: str) -> Iterator[tuple[str, Callable[[], Command], Callable[[], None]]]:
    """Yield for each peer its name, what gives its command, and what makes its files before the first round.

    toolong, a viewer of logs, opens at the end.
    """
    tasks = places.memory(places.workspace(size)) / "tasks.md"
    folder = places.folder / f"screen-peers-{size}"
    usual = places.environment()

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

    yield (
        "curses list (Python)",
        lambda: ([sys.executable, "-m", "bench.curses_list", str(tasks)], usual),
        lambda: None,
    )
    yield "calcurse", lambda: (["calcurse", "-D", str(folder / "calcurse")], usual), calcurse
    yield "toolong", lambda: (["tl", str(folder / "tasks.log")], usual), toolong
    yield "visidata", lambda: (["vd", str(folder / "tasks.tsv")], usual), visidata
