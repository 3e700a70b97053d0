"""Build and install the packages of these tests, as a person does."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

REQUIRED = "MEMDECK_TOOLS" in os.environ


def install(source: Path, top: Path) -> Path:
    """Build the package in `source` and install it into a folder of `top`; return that folder."""
    if importlib.util.find_spec("hatchling") is None and not REQUIRED:
        pytest.skip("hatchling builds the package")
    shutil.copytree(source, top / "source", ignore=shutil.ignore_patterns("__pycache__"))
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--target", str(top / "site"), str(top / "source")],
        check=True,
        timeout=PATIENCE,
    )
    return top / "site"
