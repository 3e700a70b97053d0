"""File systems that are full, read-only, or several."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from .case import Case, refuses
from .place import Place


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"limits/{name}", says, build=build, needs="mounts", **more)  # type: ignore[arg-type]


def _on_its_own(place: Place, folder: Path, options: str) -> None:
    """Move what lies in a folder onto a file system of its own, mounted there."""
    aside = place.top / "aside"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder, aside)
    place.tmpfs(folder, options)
    shutil.copytree(aside, folder, dirs_exist_ok=True)


def _fill(folder: Path) -> None:
    with contextlib.suppress(OSError), open(folder / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def _full(place: Place) -> None:
    _on_its_own(place, place.shop, "size=256k,mode=755")
    _fill(place.shop)


def _no_inodes(place: Place) -> None:
    _on_its_own(place, place.shop, "nr_inodes=40,mode=755")
    with contextlib.suppress(OSError):
        for number in range(60):
            (place.shop / f"filler{number}").touch()


def _read_only(place: Place) -> None:
    _on_its_own(place, place.shop, "mode=755")
    place.read_only(place.shop)


def _state_full(place: Place) -> None:
    place.tmpfs(place.state, "size=64k,mode=700")
    _fill(place.state)


def _state_read_only(place: Place) -> None:
    place.tmpfs(place.state, "mode=700")
    place.read_only(place.state)


def _mounted(name: str) -> Callable[[Place], object]:
    return lambda place: _on_its_own(place, place.shop / name, "mode=755")


def _exactly_full(place: Place) -> None:
    """Leave room for lock and stage folder, but not for a file in it."""
    place.own.mkdir(0o700)
    (place.own / "stage").mkdir(0o700)
    (place.own / "lock").write_bytes(b"idle".ljust(512))
    (place.own / ".gitignore").write_bytes(b"*\n")
    _full(place)
    for path in (place.own / "lock", place.own / ".gitignore"):
        os.chmod(path, 0o600)


CASES = (
    _case("disk-full", "a full disk", _full, screen=True, expect=refuses("file.io 1")),
    _case("disk-full-later", "a disk that is full once the lock is taken", _exactly_full, expect=refuses("file.io 1")),
    _case("no-inodes", "a file system without inodes left", _no_inodes, expect=refuses("file.io 1")),
    _case("read-only-mount", "a read-only file system", _read_only, screen=True, expect=refuses("file.read_only 1")),
    _case("state-disk-full", "a full disk under the state folder", _state_full, expect=refuses("state.full 1")),
    _case(
        "state-read-only",
        "a read-only file system under the state folder",
        _state_read_only,
        expect=refuses("state.full 1"),
    ),
    _case(
        "memory-mounted",
        "the memory folder on a file system of its own",
        _mounted(".aiter/memory"),
        expect=refuses("file.other_device 1"),
    ),
    _case(
        "archive-mounted",
        "archive/ on a file system of its own",
        _mounted(".aiter/memory/archive"),
        expect=refuses("file.other_device 1", "maintain"),
    ),
)
