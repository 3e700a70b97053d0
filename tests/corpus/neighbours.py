"""What editors, git and file sync leave beside memory files."""

from __future__ import annotations

import os
from collections.abc import Callable

from tests.fixture_files import sample

from .case import Case
from .place import Place

_OTHER = sample("tasks.md").replace(b"Deploy v2.1", b"Deploy v2.2")


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"neighbours/{name}", says, build=build, **more)  # type: ignore[arg-type]


def _put(name: str, data: bytes = _OTHER) -> Callable[[Place], object]:
    return lambda place: place.put(name, data)


def _emacs_lock(place: Place) -> None:
    (place.memory / ".#tasks.md").symlink_to("alice@laptop.example.com.4242:1705312000")


def _evicted(place: Place) -> None:
    place.file()
    place.put(".tasks.md.icloud", b"bplist00\xd2\x01\x02")


def _index_lock(place: Place) -> None:
    (place.shop / ".git").mkdir()
    (place.shop / ".git" / "index.lock").touch()
    (place.shop / ".git" / "MERGE_HEAD").write_bytes(b"0" * 40 + b"\n")


def _rename_target(place: Place) -> None:
    os.mkfifo(place.memory / "tasks.md.tmp")


CASES = (
    _case("vim-swap", "vim's swap file", _put(".tasks.md.swp", b"b0VIM 9.0\0\0")),
    _case("vim-probe", "vim's probe 4913", _put("4913", b"")),
    _case("backup-tilde", "a backup `tasks.md~`", _put("tasks.md~"), finds=("tasks.md~:0 file.conflicted_copy",)),
    _case("emacs-autosave", "Emacs's `#tasks.md#`", _put("#tasks.md#")),
    _case("emacs-lock", "Emacs's lock, a link to a name that is no file", _emacs_lock),
    _case(
        "dropbox-copy",
        "Dropbox's `tasks (conflicted copy).md`",
        _put("tasks (conflicted copy).md"),
        screen=True,
        finds=("tasks (conflicted copy).md:0 file.conflicted_copy",),
    ),
    _case(
        "syncthing-copy",
        "Syncthing's `tasks.sync-conflict-….md`",
        _put("tasks.sync-conflict-20240115-103000-ABCDEFG.md"),
        finds=("tasks.sync-conflict-20240115-103000-ABCDEFG.md:0 file.conflicted_copy",),
    ),
    _case(
        "archive-copy",
        "a sync conflict of an archive, which would count twice",
        _put("archive/tasks-2024-01.sync-conflict-20240115-103000-ABCDEFG.md", b"## Completed\n"),
        finds=("archive/tasks-2024-01.sync-conflict-20240115-103000-ABCDEFG.md:0 file.conflicted_copy",),
    ),
    _case(
        "numbered-copy",
        "a file manager's `tasks (1).md`",
        _put("tasks (1).md"),
        finds=("tasks (1).md:0 file.conflicted_copy",),
    ),
    _case(
        "git-leftovers",
        "git's `tasks.md.orig` and a merge that is not done",
        lambda place: (_put("tasks.md.orig")(place), _index_lock(place)),
        finds=("tasks.md.orig:0 file.conflicted_copy",),
    ),
    _case("evicted", "iCloud's placeholder instead of the file", _evicted, finds=(".tasks.md.icloud:0 file.evicted",)),
    _case("other-case", "`TASKS.MD` beside `tasks.md`", _put("TASKS.MD"), finds=("TASKS.MD:0 file.similar_name",)),
    _case(
        "name-with-blank",
        "`tasks.md ` with a blank at its end",
        _put("tasks.md "),
        finds=("tasks.md :0 file.similar_name",),
    ),
    _case("temporary-fifo", "a FIFO under the name that others use for temporary files", _rename_target),
)
