"""The toy system, really installed: built as a package and put on the import path of a process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.tui.open_panes import panes_by_id
from memory.registry import forget_installed
from tests.patience import PATIENCE
from widgets.panes import all_panes

TOY = Path(__file__).parent / "toy_notes"
REQUIRED = "MEMDECK_TOOLS" in os.environ


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and install the toy package into a folder; return that folder."""
    if importlib.util.find_spec("hatchling") is None and not REQUIRED:
        pytest.skip("hatchling builds the package")
    top = tmp_path_factory.mktemp("toy")
    shutil.copytree(TOY, top / "source", ignore=shutil.ignore_patterns("__pycache__"))
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--target", str(top / "site"), str(top / "source")],
        check=True,
        timeout=PATIENCE,
    )
    return top / "site"


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
