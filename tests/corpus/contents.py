"""Files that are missing, unfinished or endless, archives under any name, and folders out of reach."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from tests.fixture_files import sample

from .case import EVERY, Case, refuses
from .place import Place


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"fs/{name}", says, build=build, **more)  # type: ignore[arg-type]


def _halved(place: Place) -> None:
    place.put("tasks.md", sample("tasks.md")[:601])


def _zeros(place: Place) -> None:
    place.put("tasks.md", bytes(len(sample("tasks.md"))))


def _growing(place: Place) -> None:
    """Append to a file all the time, from a process that keeps it open."""
    pid = os.fork()
    if pid == 0:
        fd = os.open(place.memory / "tasks.md", os.O_WRONLY | os.O_APPEND)
        for number in range(100_000):
            os.write(fd, b"- note%d: more and more\n" % number)
            time.sleep(0.0005)
        os._exit(0)
    place.closers.append(lambda: (os.kill(pid, signal.SIGKILL), os.waitpid(pid, 0)))


def _sparse(place: Place) -> None:
    os.truncate(place.memory / "tasks.md", 1 << 40)


def _no_files(place: Place) -> None:
    for path in place.memory.glob("*.md"):
        path.unlink()


_ARCHIVED = (
    b"---\ntype: task-archive\n---\n## Completed\n\n### [LOW] Old\n- created: 2023-12-01\n- completed: 2023-12-02\n"
)


def _archived(name: bytes) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        (place.memory / "archive").mkdir()
        path = os.fsencode(place.memory / "archive") + b"/" + name
        with open(path, "wb") as file:
            file.write(_ARCHIVED)

    return build


def _archived_folder(place: Place) -> None:
    (place.memory / "archive" / "tasks-2024-01.md").mkdir(parents=True)


def _archived_fifo(place: Place) -> None:
    (place.memory / "archive").mkdir()
    os.mkfifo(place.memory / "archive" / "journal-2024-01.md")


def _archived_link(place: Place) -> None:
    (place.memory / "archive").mkdir()
    (place.memory / "archive" / "tasks-2024-01.md").symlink_to(place.outside / "secret.md")


def _many_archives(place: Place) -> None:
    (place.memory / "archive").mkdir()
    for number in range(place.scale(12_000, 600)):
        year, month = divmod(number, 12)
        (place.memory / "archive" / f"tasks-{year + 1000:04}-{month + 1:02}.md").write_bytes(_ARCHIVED)


def _deep(levels: int) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        here = os.getcwd()
        os.chdir(place.shop)
        for _ in range(levels):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        place.deep = os.open(".", os.O_RDONLY)
        os.chdir(here)

    return build


def _current_folder_gone(place: Place) -> None:
    place.folder = place.top / "gone"
    place.closers.append(lambda: None)


CASES = (
    _case("missing", "no such file", lambda place: place.file(), screen=True),
    _case("all-missing", "no memory files at all", _no_files, screen=True),
    _case(
        "no-memory-folder",
        "no memory folder in .aiter",
        lambda place: place.memory.rename(place.aiter / "other"),
        expect=refuses("workspace.not_found 2", EVERY),
    ),
    _case("cut-in-half", "the first half of a file whose writer is not done", _halved),
    _case(
        "zeros",
        "a file of zeros, as some file systems leave it after a power cut",
        _zeros,
        finds=("tasks.md:1 document.nul",),
        expect=refuses("file.not_text 1", "add"),
    ),
    _case(
        "growing",
        "a file that grows while it is read",
        _growing,
        changing=True,
        expect=refuses("document.conflict 4?", "add maintain"),
    ),
    _case(
        "sparse",
        "a file of a terabyte, all holes",
        _sparse,
        screen=True,
        finds=("tasks.md:0 file.too_large",),
        expect=refuses("file.too_large 1", "view add maintain"),
    ),
    _case(
        "archive-name-newline",
        "a line feed in the name of an archive",
        _archived(b"tasks-2023\n-12.md"),
        finds=("archive/tasks-2023\\n-12.md:0 file.archive_name",),
    ),
    _case(
        "archive-name-escape",
        "terminal escapes in the name of an archive",
        _archived(b"tasks-\x1b[31m\x1b]0;x\x07-2023.md"),
        screen=True,
        finds=("archive/tasks-\x1b[31m\x1b]0;x\x07-2023.md:0 file.archive_name",),
    ),
    _case(
        "archive-name-bytes",
        "a name that is no UTF-8",
        _archived(b"tasks-\xff\xfe-2023-12.md"),
        screen=True,
        finds=("archive/tasks-\udcff\udcfe-2023-12.md:0 file.archive_name",),
    ),
    _case(
        "archive-name-month",
        "an archive of the month 13",
        _archived(b"tasks-2023-13.md"),
        finds=("archive/tasks-2023-13.md:0 file.archive_name",),
    ),
    _case(
        "archive-name-long",
        "a name as long as names can be",
        _archived(b"tasks-" + b"x" * 240 + b".md"),
        finds=(f"archive/tasks-{'x' * 240}.md:0 file.archive_name",),
    ),
    _case(
        "archive-folder",
        "a folder named like an archive",
        _archived_folder,
        finds=("archive/tasks-2024-01.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "maintain"),
    ),
    _case(
        "archive-fifo",
        "a FIFO named like an archive",
        _archived_fifo,
        screen=True,
        finds=("archive/journal-2024-01.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "maintain"),
    ),
    _case(
        "archive-link-file",
        "an archive that is a link to a file outside",
        _archived_link,
        finds=("archive/tasks-2024-01.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "maintain"),
    ),
    _case("archives-12000", "12,000 archives", _many_archives, generated=True),
    _case("deep", "the current folder 30 long names below the workspace", _deep(30)),
    _case(
        "deeper-than-paths",
        "the current folder deeper than a path can be long",
        _deep(60),
        expect=refuses("workspace.no_folder 2", EVERY),
    ),
    _case(
        "current-folder-gone",
        "the current folder was removed",
        _current_folder_gone,
        expect=refuses("workspace.no_folder 2", EVERY),
    ),
)
