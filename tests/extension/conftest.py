"""The toy system, really installed: built as a package and put on the import path of a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.tui.state import panes_by_id
from memory.registry import forget_installed
from tests.extension.packages import install
from widgets.panes import all_panes

TOY = Path(__file__).parent / "toy_notes"


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and install the toy package into a folder; return that folder."""
    return install(TOY, tmp_path_factory.mktemp("toy"))


@pytest.fixture
def installed(toy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the toy package on the import path of this process, and forget it at the end."""

    def forget() -> None:
        forget_installed()
        all_panes.cache_clear()
        panes_by_id.cache_clear()

    monkeypatch.syspath_prepend(str(toy))
    forget()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_notes"]:
        del sys.modules[name]
    monkeypatch.undo()
    forget()
