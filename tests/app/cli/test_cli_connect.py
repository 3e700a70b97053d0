"""Connecting clients at the command line: what `connect` wrote the list calls working."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.connect.clients import CLIENTS
from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


@pytest.mark.thorough(but=("False",))
@pytest.mark.parametrize("found", [True, False])
def test_what_was_connected_is_listed_as_working(
    memdeck: Memdeck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """In a project `memdeck` is named as the search path finds it, for the person by its whole path; both work."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if found:
        (folder / "memdeck").write_text(f'#!/bin/sh\nexec {sys.executable} -m app.main "$@"\n')
        (folder / "memdeck").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin:/bin")
    for name, client in CLIENTS.items():
        for scope in client.scopes:
            assert memdeck("connect", name, "--scope", scope, "-o", "json").code == 0
    listed = memdeck("connect", "--list", "-o", "json").data["clients"]
    assert {(one["client"], one["scope"], one["state"], *one["problems"]) for one in listed} == {
        (name, scope, "working") for name, client in CLIENTS.items() for scope in client.scopes
    }
    for name, client in CLIENTS.items():
        for scope in client.scopes:
            assert memdeck("disconnect", name, "--scope", scope, "-o", "json").code == 0
    assert {one["state"] for one in memdeck("connect", "--list", "-o", "json").data["clients"]} == {"no"}
