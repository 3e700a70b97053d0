"""Exit codes of every kind of error, the lock of another process, and the data that errors carry."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from app.cli.failures import known_error, output_of, report
from app.cli.printing import OutputClosed, Printer
from app.cli.session import Session
from app.main import run
from memory import errors
from memory.errors import MemdeckError
from memory.storage import PrivateState, Store
from memory.workspace import Workspace


def _kinds(kind: type[MemdeckError]) -> Iterator[type[MemdeckError]]:
    yield kind
    for inner in kind.__subclasses__():
        if inner.__module__ == errors.__name__:
            yield from _kinds(inner)


@pytest.mark.parametrize("kind", list(_kinds(MemdeckError)), ids=lambda kind: kind.__name__)
def test_every_kind_of_error_has_its_exit_code(kind: type[MemdeckError], capsys: pytest.CaptureFixture[str]) -> None:
    """The code of the class is that of the process; code, message, details and advice are told."""
    error = kind("a.code", "it\nhappened", "do that", path=Path("/x"), names=("a", 1, None), more={"k": b"x"})
    assert report(error, "json", Printer()) == kind.exit_code
    out, err = capsys.readouterr()
    assert err == "memdeck: a.code: it happened; do that\n"
    told = json.loads(out)["error"]
    assert (told["code"], told["message"]) == ("a.code", "it\nhappened")
    assert told["details"] == {"path": "/x", "names": ["a", 1, None], "more": {"k": "b'x'"}, "hint": "do that"}


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, ""),
        (OutputClosed(), 141, ""),
        (ValueError(), 1, "memdeck: internal: ValueError; MEMDECK_DEBUG=1 shows where; please report it\n"),
        (
            RecursionError("deep"),
            1,
            "memdeck: internal: RecursionError: deep; MEMDECK_DEBUG=1 shows where; please report it\n",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_other_ends(error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Interrupts and readers that went away are quiet, everything else is one line."""
    assert report(error, "human", Printer(io.StringIO())) == code
    assert capsys.readouterr().err == line


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the lock as another process would, by a file of our own."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def test_a_locked_workspace_is_busy(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 75, nothing changed, and doctor says that the lock is held."""
    before = (shop / ".aiter" / "memory" / "tasks.md").read_bytes()
    with _held(shop / ".aiter" / ".memdeck"):
        session = Session()
        session.workspace = Workspace.open(shop, state_home=tmp_path / "state")
        session.workspace.store = Store(
            shop / ".aiter", state=PrivateState(tmp_path / "state", shop), lock_timeout=0.05
        )
        assert run(["tasks", "add", "T", "-o", "json"], session) == 75
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "file.locked"
        assert run(["doctor", "-o", "json"]) == 0
        checks = json.loads(capsys.readouterr().out)["checks"]
        assert [check["level"] for check in checks if check["name"] == "lock"] == ["warning"]
        assert run(["tasks", "list"]) == 0
    assert before == (shop / ".aiter" / "memory" / "tasks.md").read_bytes()


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("tasks list", "human"),
        ("-o json --bogus", "json"),
        ("--bogus -ojsonl", "jsonl"),
        ("--output=json", "json"),
        ("--output", "human"),
        ("-o xml", "human"),
        ("-- -o json", "human"),
        ("-o json -o human", "human"),
    ],
)
def test_the_form_of_an_answer_to_arguments_that_cannot_be_read(words: str, form: str) -> None:
    """Errors of the arguments themselves are told in the form that they ask for."""
    assert output_of(words.split()) == form


def test_without_its_config_a_workspace_is_listed_in_the_zone_of_the_machine(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading goes on and says so once, nothing is written, and the file itself is told as an error."""
    config = shop / ".aiter/memory/config.md"
    config.rename(tmp_path / "elsewhere.md")
    config.symlink_to(tmp_path / "elsewhere.md")
    for words, told in ((["tasks", "list"], 1), (["journal", "list"], 0), (["tasks", "list", "-o", "json"], 0)):
        assert run(["-w", str(shop), *words]) == 0
        out, err = capsys.readouterr()
        assert out
        # Only what asks for the zone says that it is not known.
        assert err.count("the zone of this machine counts") == told
    before = (shop / ".aiter/memory/tasks.md").read_bytes()
    for words in (["config", "list"], ["tasks", "add", "x"], ["--maintain"]):
        assert run(["-w", str(shop), *words]) == 1
        assert "file.link_outside" in capsys.readouterr().err
    assert (shop / ".aiter/memory/tasks.md").read_bytes() == before


def test_an_update_under_a_running_process_is_the_likely_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a loaded file of memdeck is newer than the process, the error says to start again."""
    (tmp_path / "fresh.py").touch()
    os.utime(tmp_path / "fresh.py", (2**32, 2**32))
    module = ModuleType("memory.fresh")
    module.__file__ = str(tmp_path / "fresh.py")
    monkeypatch.setitem(sys.modules, "memory.fresh", module)
    assert known_error(AttributeError("x")).hint == "memdeck was updated while this ran: start it again"
