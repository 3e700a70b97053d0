"""What is no file in the place of one, and whose and how files may be."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from .case import EVERY, Case, refuses
from .place import ORDINARY, Place


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"fs/{name}", says, build=build, **more)  # type: ignore[arg-type]


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


def _mode(mode: int, name: str = "tasks.md") -> Callable[[Place], object]:
    return lambda place: (place.memory / name).chmod(mode)


def _owner(place: Place, path: Path) -> None:
    os.chown(path, ORDINARY, ORDINARY)


def _everything_read_only(place: Place) -> None:
    for path in (*place.memory.glob("*.md"), place.memory, place.aiter):
        path.chmod(path.stat().st_mode & ~0o222)


def _set_user_id(place: Place) -> None:
    (place.memory / "tasks.md").chmod(0o4644)


CASES = (
    _case(
        "fifo",
        "a FIFO nobody writes to",
        lambda place: os.mkfifo(place.file()),
        screen=True,
        finds=("tasks.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add maintain"),
    ),
    _case(
        "config-fifo",
        "a FIFO in place of the settings",
        lambda place: os.mkfifo(place.file("config.md")),
        file="config.md",
        screen=True,
        finds=("config.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add note maintain"),
    ),
    _case(
        "journal-fifo",
        "a FIFO in place of the journal",
        lambda place: os.mkfifo(place.file("journal.md")),
        file="journal.md",
        finds=("journal.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view note maintain"),
    ),
    _case(
        "socket",
        "a socket",
        _socket,
        finds=("tasks.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add maintain"),
    ),
    _case(
        "device",
        "a device",
        _device,
        needs="root",
        finds=("tasks.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add maintain"),
    ),
    _case(
        "folder-for-file",
        "a folder in place of a file",
        lambda place: (place.file() / "tasks.md").mkdir(parents=True),
        screen=True,
        finds=("tasks.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add maintain"),
    ),
    _case(
        "file-for-archive",
        "a file in place of archive/",
        _archive(lambda path: path.write_bytes(b"not a folder\n")),
        finds=("archive:0 file.not_folder",),
        expect=refuses("file.not_folder 1", "maintain"),
    ),
    _case(
        "fifo-for-archive",
        "a FIFO in place of archive/",
        _archive(os.mkfifo),
        finds=("archive:0 file.not_folder",),
        expect=refuses("file.not_folder 1", "maintain"),
    ),
    _case(
        "file-for-memory",
        "a file in place of the memory folder",
        _memory_is_a_file,
        expect=refuses("workspace.not_found 2", EVERY),
    ),
    _case(
        "file-for-aiter",
        "a file in place of .aiter",
        _aiter_is_a_file,
        expect=refuses("workspace.not_found 2", EVERY),
    ),
    _case(
        "hard-link",
        "a file with a second name outside",
        lambda place: os.link(place.memory / "tasks.md", place.outside / "tasks.md"),
        expect=refuses("file.hard_link 1", "add maintain"),
    ),
    _case(
        "unreadable",
        "a file without permission to read",
        _mode(0o000),
        needs="ordinary user",
        screen=True,
        finds=("tasks.md:0 file.unreadable",),
        expect=refuses("file.unreadable 1", "view add maintain"),
    ),
    _case(
        "config-unreadable",
        "settings without permission to read",
        _mode(0o000, "config.md"),
        needs="ordinary user",
        file="config.md",
        finds=("config.md:0 file.unreadable",),
        expect=refuses("file.unreadable 1", "view add note maintain"),
    ),
    _case(
        "read-only",
        "a read-only file",
        _mode(0o444),
        needs="ordinary user",
        expect=refuses("file.read_only 1", "add maintain"),
    ),
    _case(
        "folder-read-only",
        "read-only files in read-only folders",
        _everything_read_only,
        needs="ordinary user",
        screen=True,
        expect=refuses("file.read_only 1"),
    ),
    _case(
        "folder-unreadable",
        "a memory folder that cannot be entered",
        lambda place: place.memory.chmod(0o000),
        needs="ordinary user",
        finds=(
            ".:0 file.unreadable",
            "archive:0 file.unreadable",
            "config.md:0 file.unreadable",
            "contacts.md:0 file.unreadable",
            "journal.md:0 file.unreadable",
            "knowledge.md:0 file.unreadable",
            "monitors.md:0 file.unreadable",
            "orchestration.md:0 file.unreadable",
            "tasks.md:0 file.unreadable",
        ),
        expect=refuses("file.unreadable 1", "view other add note maintain"),
    ),
    _case(
        "folder-unlistable",
        "a memory folder that can be entered but not listed",
        lambda place: place.memory.chmod(0o300),
        needs="ordinary user",
        finds=(".:0 file.unreadable",),
        expect=refuses("file.read_only 1"),
    ),
    _case(
        "archive-unlistable",
        "an archive/ that cannot be entered",
        _archive(lambda path: path.mkdir(0o000)),
        needs="ordinary user",
        finds=("archive:0 file.unreadable",),
        expect=refuses("file.unreadable 1", "maintain"),
    ),
    _case(
        "foreign-owner",
        "a file of another user",
        lambda place: _owner(place, place.memory / "tasks.md"),
        needs="root",
        expect=refuses("file.foreign_owner 1", "add maintain"),
    ),
    _case("foreign-folder", "a memory folder of another user", lambda place: _owner(place, place.memory), needs="root"),
    _case("set-user-id", "a file with the set-user-ID bit", _set_user_id),
)
