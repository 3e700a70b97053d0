"""What may stand in the place of a file or folder: links, pipes, devices, other people's files, nothing."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from tests.fixture_files import sample

from .case import Case
from .place import ORDINARY, Place


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"fs/{name}", says, build=build, **more)  # type: ignore[arg-type]


# -- links ---------------------------------------------------------------------------------------------------------


def _link(target: str, name: str = "tasks.md") -> Callable[[Place], object]:
    return lambda place: place.file(name).symlink_to(target.format(top=place.top))


def _link_inside(place: Place) -> None:
    place.file().rename(place.shop / "real.md") if place.file().exists() else None
    (place.shop / "real.md").write_bytes(sample("tasks.md"))
    place.file().symlink_to("../../real.md")


def _chain(place: Place) -> None:
    for number in range(60):
        (place.memory / f"link{number}").symlink_to(f"link{number + 1}")
    (place.memory / "link60").write_bytes(sample("tasks.md"))
    place.file().symlink_to("link0")


def _folder_link(name: str, target: str) -> Callable[[Place], object]:
    """Move a folder away and link to it, or to another one."""

    def build(place: Place) -> None:
        folder = place.shop / name
        folder.mkdir(exist_ok=True)
        folder.rename(place.shop / "moved")
        folder.symlink_to(target.format(top=place.top, shop=place.shop))

    return build


def _outside_memory(place: Place) -> None:
    place.memory.rename(place.outside / "memory")
    place.memory.symlink_to(place.outside / "memory")


def _outside_aiter(place: Place) -> None:
    place.aiter.rename(place.outside / "aiter")
    place.aiter.symlink_to(place.outside / "aiter")


def _shop_link(place: Place) -> None:
    place.shop.rename(place.top / "real")
    place.shop.symlink_to("real")


# -- what is no file -----------------------------------------------------------------------------------------------


def _socket(place: Place) -> None:
    path, here = place.file(), os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


def _device(place: Place) -> None:
    os.mknod(place.file(), 0o20666, os.makedev(1, 5))


def _archive(make: Callable[[Path], object]) -> Callable[[Place], object]:
    return lambda place: make(place.memory / "archive")


def _memory_is_a_file(place: Place) -> None:
    place.memory.rename(place.aiter / "elsewhere")
    place.memory.write_bytes(b"a file\n")


def _aiter_is_a_file(place: Place) -> None:
    place.aiter.rename(place.shop / "elsewhere")
    place.aiter.write_bytes(b"a file\n")


# -- permissions and owners ----------------------------------------------------------------------------------------


def _mode(mode: int, name: str = "tasks.md") -> Callable[[Place], object]:
    return lambda place: (place.memory / name).chmod(mode)


def _owner(place: Place, path: Path) -> None:
    os.chown(path, ORDINARY, ORDINARY)


def _everything_read_only(place: Place) -> None:
    for path in (*place.memory.glob("*.md"), place.memory, place.aiter):
        path.chmod(path.stat().st_mode & ~0o222)


# -- contents ------------------------------------------------------------------------------------------------------


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


def _set_user_id(place: Place) -> None:
    (place.memory / "tasks.md").chmod(0o4644)


def _no_files(place: Place) -> None:
    for path in place.memory.glob("*.md"):
        path.unlink()


# -- names and places ----------------------------------------------------------------------------------------------

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
    _case(
        "link-inside",
        "a link to a file of the workspace",
        _link_inside,
        expect={"add": "file.link 1", "maintain": "file.link 1"},
    ),
    _case(
        "link-outside",
        "a link to a file outside",
        _link("{top}/outside/secret.md"),
        screen=True,
        finds=("tasks.md:0 file.link_outside",),
        expect={"view": "file.link_outside 1", "add": "file.link_outside 1", "maintain": "file.link_outside 1"},
    ),
    _case(
        "link-climbs",
        "a link that climbs out by `..`",
        _link("../../../outside/secret.md"),
        finds=("tasks.md:0 file.link_outside",),
        expect={"view": "file.link_outside 1", "add": "file.link_outside 1", "maintain": "file.link_outside 1"},
    ),
    _case(
        "link-dangling",
        "a link to nothing",
        _link("nosuch.md"),
        screen=True,
        finds=("tasks.md:0 file.link_dangling",),
        expect={"add": "file.link 1"},
    ),
    _case(
        "link-loop",
        "a link to itself",
        _link("tasks.md"),
        screen=True,
        finds=("tasks.md:0 file.link_loop",),
        expect={"view": "file.link_loop 1", "add": "file.link_loop 1", "maintain": "file.link_loop 1"},
    ),
    _case(
        "link-chain",
        "sixty links one behind the other",
        _chain,
        finds=("tasks.md:0 file.link_loop",),
        expect={"view": "file.link_loop 1", "add": "file.link_loop 1", "maintain": "file.link_loop 1"},
    ),
    _case(
        "link-to-dev-zero",
        "a link to /dev/zero, which never ends",
        _link("/dev/zero"),
        finds=("tasks.md:0 file.link_outside",),
        expect={"view": "file.link_outside 1", "add": "file.link_outside 1", "maintain": "file.link_outside 1"},
    ),
    _case(
        "link-to-proc",
        "a link to a file that the system makes up",
        _link("/proc/self/environ"),
        finds=("tasks.md:0 file.link_outside",),
        expect={"view": "file.link_outside 1", "add": "file.link_outside 1", "maintain": "file.link_outside 1"},
    ),
    _case(
        "link-to-folder",
        "a link to a folder of the workspace",
        _link("../memory"),
        finds=("tasks.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "add": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "config-link-outside",
        "the settings are a link to a file outside",
        _link("{top}/outside/secret.md", "config.md"),
        file="config.md",
        finds=("config.md:0 file.link_outside",),
        expect={
            "view": "file.link_outside 1",
            "add": "file.link_outside 1",
            "note": "file.link_outside 1",
            "maintain": "file.link_outside 1",
        },
    ),
    _case(
        "archive-link-inside",
        "archive/ is a link to a folder inside",
        _folder_link(".aiter/memory/archive", "{shop}/moved"),
        expect={"maintain": "file.link 1"},
    ),
    _case(
        "archive-link-outside",
        "archive/ is a link to a folder outside",
        _folder_link(".aiter/memory/archive", "{top}/outside/folder"),
        finds=("archive/tasks.md:0 file.archive_name", "archive/tasks.md:0 file.link_outside"),
        expect={"maintain": "file.link_outside 1"},
    ),
    _case(
        "archive-link-loop",
        "archive/ is a link to itself",
        _folder_link(".aiter/memory/archive", "archive"),
        finds=("archive:0 file.not_folder",),
        expect={"maintain": "file.link_loop 1"},
    ),
    _case(
        "archive-link-dangling",
        "archive/ is a link to nothing",
        _folder_link(".aiter/memory/archive", "nosuch"),
        finds=("archive:0 file.not_folder",),
        expect={"maintain": "file.link 1"},
    ),
    _case(
        "memory-link-inside",
        "the memory folder is a link to a folder inside",
        _folder_link(".aiter/memory", "../moved"),
        expect={"add": "file.link 1", "note": "file.link 1", "maintain": "file.link 1"},
    ),
    _case(
        "memory-link-outside",
        "the memory folder is a link to a folder outside",
        _outside_memory,
        finds=(
            "config.md:0 file.link_outside",
            "contacts.md:0 file.link_outside",
            "journal.md:0 file.link_outside",
            "knowledge.md:0 file.link_outside",
            "monitors.md:0 file.link_outside",
            "orchestration.md:0 file.link_outside",
            "tasks.md:0 file.link_outside",
        ),
        expect={
            "view": "file.link_outside 1",
            "other": "file.link_outside 1",
            "add": "file.link_outside 1",
            "note": "file.link_outside 1",
            "maintain": "file.link_outside 1",
        },
    ),
    _case(
        "aiter-link-inside",
        ".aiter is a link to a folder inside",
        _folder_link(".aiter", "moved"),
        expect={"add": "file.link 1", "note": "file.link 1", "maintain": "file.link 1"},
    ),
    _case(
        "aiter-link-outside",
        ".aiter is a link to a folder outside",
        _outside_aiter,
        finds=(
            "config.md:0 file.link_outside",
            "contacts.md:0 file.link_outside",
            "journal.md:0 file.link_outside",
            "knowledge.md:0 file.link_outside",
            "monitors.md:0 file.link_outside",
            "orchestration.md:0 file.link_outside",
            "tasks.md:0 file.link_outside",
        ),
        expect={
            "view": "file.link_outside 1",
            "other": "file.link_outside 1",
            "add": "file.link 1",
            "note": "file.link 1",
            "maintain": "file.link_outside 1",
        },
    ),
    _case(
        "aiter-link-loop",
        ".aiter is a link to itself",
        _folder_link(".aiter", ".aiter"),
        expect={
            "status": "workspace.not_found 2",
            "view": "workspace.not_found 2",
            "other": "workspace.not_found 2",
            "add": "workspace.not_found 2",
            "note": "workspace.not_found 2",
            "maintain": "workspace.not_found 2",
        },
    ),
    _case("workspace-link", "the workspace is itself named by a link", _shop_link),
    _case(
        "fifo",
        "a FIFO nobody writes to",
        lambda place: os.mkfifo(place.file()),
        screen=True,
        finds=("tasks.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "add": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "config-fifo",
        "a FIFO in place of the settings",
        lambda place: os.mkfifo(place.file("config.md")),
        file="config.md",
        screen=True,
        finds=("config.md:0 file.not_regular",),
        expect={
            "view": "file.not_regular 1",
            "add": "file.not_regular 1",
            "note": "file.not_regular 1",
            "maintain": "file.not_regular 1",
        },
    ),
    _case(
        "journal-fifo",
        "a FIFO in place of the journal",
        lambda place: os.mkfifo(place.file("journal.md")),
        file="journal.md",
        finds=("journal.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "note": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "socket",
        "a socket",
        _socket,
        finds=("tasks.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "add": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "device",
        "a device",
        _device,
        needs="root",
        finds=("tasks.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "add": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "folder-for-file",
        "a folder in place of a file",
        lambda place: (place.file() / "tasks.md").mkdir(parents=True),
        screen=True,
        finds=("tasks.md:0 file.not_regular",),
        expect={"view": "file.not_regular 1", "add": "file.not_regular 1", "maintain": "file.not_regular 1"},
    ),
    _case(
        "file-for-archive",
        "a file in place of archive/",
        _archive(lambda path: path.write_bytes(b"not a folder\n")),
        finds=("archive:0 file.not_folder",),
        expect={"maintain": "file.not_folder 1"},
    ),
    _case(
        "fifo-for-archive",
        "a FIFO in place of archive/",
        _archive(os.mkfifo),
        finds=("archive:0 file.not_folder",),
        expect={"maintain": "file.not_folder 1"},
    ),
    _case(
        "file-for-memory",
        "a file in place of the memory folder",
        _memory_is_a_file,
        expect={
            "status": "workspace.not_found 2",
            "view": "workspace.not_found 2",
            "other": "workspace.not_found 2",
            "add": "workspace.not_found 2",
            "note": "workspace.not_found 2",
            "maintain": "workspace.not_found 2",
        },
    ),
    _case(
        "file-for-aiter",
        "a file in place of .aiter",
        _aiter_is_a_file,
        expect={
            "status": "workspace.not_found 2",
            "view": "workspace.not_found 2",
            "other": "workspace.not_found 2",
            "add": "workspace.not_found 2",
            "note": "workspace.not_found 2",
            "maintain": "workspace.not_found 2",
        },
    ),
    _case(
        "hard-link",
        "a file with a second name outside",
        lambda place: os.link(place.memory / "tasks.md", place.outside / "tasks.md"),
        expect={"add": "file.hard_link 1", "maintain": "file.hard_link 1"},
    ),
    _case(
        "unreadable",
        "a file without permission to read",
        _mode(0o000),
        needs="ordinary user",
        screen=True,
        finds=("tasks.md:0 file.unreadable",),
        expect={"view": "file.unreadable 1", "add": "file.unreadable 1", "maintain": "file.unreadable 1"},
    ),
    _case(
        "config-unreadable",
        "settings without permission to read",
        _mode(0o000, "config.md"),
        needs="ordinary user",
        file="config.md",
        finds=("config.md:0 file.unreadable",),
        expect={
            "view": "file.unreadable 1",
            "add": "file.unreadable 1",
            "note": "file.unreadable 1",
            "maintain": "file.unreadable 1",
        },
    ),
    _case(
        "read-only",
        "a read-only file",
        _mode(0o444),
        needs="ordinary user",
        expect={"add": "file.read_only 1", "maintain": "file.read_only 1"},
    ),
    _case(
        "folder-read-only",
        "read-only files in read-only folders",
        _everything_read_only,
        needs="ordinary user",
        screen=True,
        expect={"add": "file.read_only 1", "note": "file.read_only 1", "maintain": "file.read_only 1"},
    ),
    _case(
        "folder-unreadable",
        "a memory folder that cannot be entered",
        lambda place: place.memory.chmod(0o000),
        needs="ordinary user",
        finds=(
            ".:0 file.not_folder",
            "archive:0 file.not_folder",
            "config.md:0 file.unreadable",
            "contacts.md:0 file.unreadable",
            "journal.md:0 file.unreadable",
            "knowledge.md:0 file.unreadable",
            "monitors.md:0 file.unreadable",
            "orchestration.md:0 file.unreadable",
            "tasks.md:0 file.unreadable",
        ),
        expect={
            "view": "file.unreadable 1",
            "other": "file.unreadable 1",
            "add": "file.unreadable 1",
            "note": "file.unreadable 1",
            "maintain": "file.unreadable 1",
        },
    ),
    _case(
        "folder-unlistable",
        "a memory folder that can be entered but not listed",
        lambda place: place.memory.chmod(0o300),
        needs="ordinary user",
        finds=(".:0 file.not_folder",),
        expect={"add": "file.read_only 1", "note": "file.read_only 1", "maintain": "file.read_only 1"},
    ),
    _case(
        "archive-unlistable",
        "an archive/ that cannot be entered",
        _archive(lambda path: path.mkdir(0o000)),
        needs="ordinary user",
        finds=("archive:0 file.not_folder",),
        expect={"maintain": "file.unreadable 1"},
    ),
    _case(
        "foreign-owner",
        "a file of another user",
        lambda place: _owner(place, place.memory / "tasks.md"),
        needs="root",
        expect={"add": "file.foreign_owner 1", "maintain": "file.foreign_owner 1"},
    ),
    _case("foreign-folder", "a memory folder of another user", lambda place: _owner(place, place.memory), needs="root"),
    _case("set-user-id", "a file with the set-user-ID bit", _set_user_id),
    _case("missing", "no such file", lambda place: place.file(), screen=True),
    _case("all-missing", "no memory files at all", _no_files, screen=True),
    _case(
        "no-memory-folder",
        "no memory folder in .aiter",
        lambda place: place.memory.rename(place.aiter / "other"),
        expect={
            "status": "workspace.not_found 2",
            "view": "workspace.not_found 2",
            "other": "workspace.not_found 2",
            "add": "workspace.not_found 2",
            "note": "workspace.not_found 2",
            "maintain": "workspace.not_found 2",
        },
    ),
    _case("cut-in-half", "the first half of a file whose writer is not done", _halved),
    _case(
        "zeros",
        "a file of zeros, as some file systems leave it after a power cut",
        _zeros,
        finds=("tasks.md:1 document.nul",),
        expect={"add": "file.not_text 1"},
    ),
    _case(
        "growing",
        "a file that grows while it is read",
        _growing,
        changing=True,
        expect={"add": "file.in_use 75", "maintain": "file.in_use 75"},
    ),
    _case(
        "sparse",
        "a file of a terabyte, all holes",
        _sparse,
        screen=True,
        finds=("tasks.md:0 file.too_large",),
        expect={"view": "file.too_large 1", "add": "file.too_large 1", "maintain": "file.too_large 1"},
    ),
    _case(
        "archive-name-newline",
        "a line feed in the name of an archive",
        _archived(b"tasks-2023\n-12.md"),
        finds=("archive/tasks-2023", "-12.md:0 file.archive_name"),
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
        finds=(
            "archive/tasks-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.md:0 file.archive_name",
        ),
    ),
    _case(
        "archive-folder",
        "a folder named like an archive",
        _archived_folder,
        finds=("archive/tasks-2024-01.md:0 file.not_regular",),
        expect={"maintain": "file.not_regular 1"},
    ),
    _case(
        "archive-fifo",
        "a FIFO named like an archive",
        _archived_fifo,
        screen=True,
        finds=("archive/journal-2024-01.md:0 file.not_regular",),
        expect={"maintain": "file.not_regular 1"},
    ),
    _case(
        "archive-link-file",
        "an archive that is a link to a file outside",
        _archived_link,
        finds=("archive/tasks-2024-01.md:0 file.link_outside",),
        expect={"maintain": "file.link_outside 1"},
    ),
    _case("archives-12000", "12,000 archives", _many_archives, generated=True),
    _case("deep", "the current folder 30 long names below the workspace", _deep(30)),
    _case(
        "deeper-than-paths",
        "the current folder deeper than a path can be long",
        _deep(60),
        expect={
            "status": "workspace.no_folder 2",
            "view": "workspace.no_folder 2",
            "other": "workspace.no_folder 2",
            "add": "workspace.no_folder 2",
            "note": "workspace.no_folder 2",
            "maintain": "workspace.no_folder 2",
        },
    ),
    _case(
        "current-folder-gone",
        "the current folder was removed",
        _current_folder_gone,
        expect={
            "status": "workspace.no_folder 2",
            "view": "workspace.no_folder 2",
            "other": "workspace.no_folder 2",
            "add": "workspace.no_folder 2",
            "note": "workspace.no_folder 2",
            "maintain": "workspace.no_folder 2",
        },
    ),
)
