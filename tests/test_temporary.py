"""The folder that a session of tests writes into: its own, until it passed or another begins after its end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.patience import PATIENCE
from tests.temporary import PREFIX, session_folder


def test_what_an_ended_session_left_goes_and_a_living_one_stays(tmp_path: Path) -> None:
    """The files of a failed session stay until another begins; those of a session that goes on stay as they are."""
    with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as other:
        left = tmp_path / f"{PREFIX}{other.pid}"
        strange = tmp_path / f"{PREFIX}notes"
        for folder in (left, strange):
            (folder / "test_one0").mkdir(parents=True)
        assert session_folder(tmp_path) == tmp_path / f"{PREFIX}{os.getpid()}"
        assert (left / "test_one0").is_dir()
        other.communicate(timeout=PATIENCE)
    session_folder(tmp_path)
    assert not left.exists()
    assert strange.exists()


def test_this_session_writes_into_a_folder_of_its_own(tmp_path: Path) -> None:
    """No number is shared with another session: the folder is named after the process that began this one."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert tmp_path.parent.parent.name == f"{PREFIX}{os.getppid()}"
    else:
        assert tmp_path.parent.name == f"{PREFIX}{os.getpid()}"
