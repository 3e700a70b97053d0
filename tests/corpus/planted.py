"""What a cloned repository may bring along in memdeck's own folder: none of it may have an effect."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

from .case import Case, refuses
from .place import ORDINARY, Place
from .records import FORGED, forged

_STAGED = "01HM0000000000000000000000.0"


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"planted/{name}", says, build=build, planted=True, **more)  # type: ignore[arg-type]


def _own(place: Place) -> Path:
    (place.own / "stage").mkdir(parents=True, exist_ok=True)
    return place.own


def _put(name: str, data: bytes) -> Callable[[Place], object]:
    return lambda place: (_own(place) / name).write_bytes(data)


def _link(name: str, target: str) -> Callable[[Place], object]:
    return lambda place: (_own(place) / name).symlink_to(target.format(top=place.top))


def _records(place: Place) -> None:
    """Put an intent everywhere, with the staged file that it wants in place."""
    own = _own(place)
    order = forged(".aiter/memory/tasks.md")
    for folder in (own, own / "stage", place.aiter, place.memory, place.shop):
        (folder / "journal-.aiter").write_bytes(order)
    (own / "stage" / _STAGED).write_bytes(b"## Pending\n### [HIGH] planted\n")
    (own / "lock").write_bytes(b"pid=1\nhost=x\nsince=2024-01-15T10:00:00+00:00\ncommand=tasks.add\n")


def _log(place: Place) -> None:
    """Put a change log that says that the tasks were all removed, to have `undo` bring planted ones back."""
    for path in (_own(place) / "changes.sqlite", place.shop / "changes.sqlite"):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE changes (id TEXT, actor TEXT, data BLOB)")
        connection.execute("INSERT INTO changes VALUES ('01HM', 'cli', x'00')")
        connection.execute("CREATE TRIGGER t AFTER INSERT ON changes BEGIN DELETE FROM changes; END")
        connection.commit()
        connection.close()


def _whole_state(place: Place) -> None:
    """Put a whole state folder where a careless reader would look for it."""
    for base in (place.own, place.aiter / "state", place.shop / ".local" / "state"):
        folder = base / "memdeck" / place.record.name
        folder.mkdir(parents=True)
        (folder / "journal-.aiter").write_bytes(FORGED)
        (folder / "state.json").write_bytes(b'{"lastMaintenance": "9000-01-01T00:00:00+00:00"}')
        (folder / "approvals").write_bytes(b"{}")


def _socket(place: Place) -> None:
    here = os.getcwd()
    os.chdir(_own(place))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("lock")
    os.chdir(here)


def _folder_link(place: Place) -> None:
    place.own.symlink_to(place.outside / "folder")


def _stage_link(place: Place) -> None:
    place.own.mkdir()
    (place.own / "stage").symlink_to(place.outside / "folder")


def _stage_hard_link(place: Place) -> None:
    os.link(place.memory / "knowledge.md", _own(place) / "stage" / _STAGED)


def _foreign(place: Place) -> None:
    os.chown(_own(place), ORDINARY, ORDINARY)


def _stage_folders(place: Place) -> None:
    (_own(place) / "stage" / _STAGED / "deep").mkdir(parents=True)


def _many_staged(place: Place) -> None:
    own = _own(place)
    for number in range(place.scale(50_000, 3_000)):
        (own / "stage" / f"{number}.tmp").touch()


def _hooks(place: Place) -> None:
    (place.shop / ".memdeckrc").write_bytes(b"exec: touch pwned\n")
    (place.aiter / "config.py").write_bytes(b"open('pwned', 'w')\n")
    (place.shop / "sitecustomize.py").write_bytes(b"open('pwned', 'w')\n")
    (place.shop / "yaml.py").write_bytes(b"open('pwned', 'w')\n")


CASES = (
    _case("intent", "an intent, its staged file and a lock that says its holder died", _records),
    _case("change-log", "a change log with triggers", _log),
    _case("state", "whole state folders, in the places where one might look", _whole_state),
    _case(
        "kept", "bytes that claim to have come too late", _put(f"stage/{_STAGED}.kept", b"## Pending\n### planted\n")
    ),
    _case("staged", "a staged file that is ready to move", _put(f"stage/{_STAGED}", b"## Pending\n### planted\n")),
    _case("staged-link", "a staged link to a file outside", _link(f"stage/{_STAGED}", "{top}/outside/secret.md")),
    _case("staged-hard-link", "a staged second name of a memory file", _stage_hard_link),
    _case("staged-folder", "a folder among the staged files", _stage_folders),
    _case("staged-50000", "50,000 staged files", _many_staged, generated=True),
    _case(
        "lock-text",
        "a lock that names a holder with terminal escapes",
        _put("lock", b"pid=1\x1b[31m\nhost=\x07\ncommand=" + b"x" * 5000),
    ),
    _case(
        "lock-link",
        "a lock that is a link to a file outside",
        _link("lock", "{top}/outside/secret.md"),
        expect=refuses("file.link 1"),
    ),
    _case(
        "lock-fifo",
        "a lock that is a FIFO",
        lambda place: os.mkfifo(_own(place) / "lock"),
        expect=refuses("file.not_regular 1"),
    ),
    _case("lock-socket", "a lock that is a socket", _socket, expect=refuses("file.not_regular 1")),
    _case(
        "lock-folder",
        "a lock that is a folder",
        lambda place: (_own(place) / "lock").mkdir(),
        expect=refuses("file.not_regular 1"),
    ),
    _case(
        "lock-hard-link",
        "a lock that is a second name of a memory file",
        lambda place: os.link(place.memory / "knowledge.md", _own(place) / "lock"),
        expect=refuses("file.hard_link 1"),
    ),
    _case(
        "lock-read-only",
        "a lock that cannot be opened",
        lambda place: ((_own(place) / "lock").touch(), (place.own / "lock").chmod(0)),
        needs="ordinary user",
        expect=refuses("file.read_only 1"),
    ),
    _case(
        "gitignore-link",
        "a .gitignore that is a link to a file outside that is not there",
        _link(".gitignore", "{top}/outside/new"),
    ),
    _case(
        "folder-link",
        "memdeck's folder as a link to a folder outside",
        _folder_link,
        screen=True,
        expect=refuses("file.link 1"),
    ),
    _case(
        "folder-file",
        "memdeck's folder as a file",
        lambda place: place.own.write_bytes(b"x"),
        expect=refuses("file.not_folder 1"),
    ),
    _case(
        "folder-foreign",
        "memdeck's folder as another user's",
        _foreign,
        needs="root",
        expect=refuses("file.foreign_owner 1"),
    ),
    _case("folder-open", "memdeck's folder open to everybody", lambda place: _own(place).chmod(0o777)),
    _case("stage-link", "the stage folder as a link to a folder outside", _stage_link, expect=refuses("file.link 1")),
    _case(
        "stage-fifo",
        "the stage folder as a FIFO",
        lambda place: (place.own.mkdir(), os.mkfifo(place.own / "stage")),
        expect=refuses("file.not_folder 1"),
    ),
    _case("programs", "modules and settings that a program might load from the current folder", _hooks),
)
