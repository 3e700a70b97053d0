"""Where programs are looked for: never in the current folder, whatever PATH says."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.base.programs import absolute_folders, find_program


@pytest.mark.parametrize(
    ("path", "left"),
    [("/bin:/usr/bin", "/bin:/usr/bin"), (".:/bin::bin:./x:", "/bin"), ("", ""), (".", ""), ("..:~/bin", "")],
)
def test_relative_folders_do_not_count(path: str, left: str) -> None:
    """Empty entries, which mean the current folder, and relative ones are left out."""
    assert absolute_folders(path) == left


def test_no_folder_of_path_passes_through_the_workspace(tmp_path: Path) -> None:
    """Whether it lies in it, leads into it, leads out of it again, or is the folder that a command is in."""
    shop, system = tmp_path / "shop", tmp_path / "system"
    for folder in (shop / "bin", system / "bin"):
        folder.mkdir(parents=True)
    links = {
        "in": shop / "bin",
        "far": "in/../bin",
        "cwd": "/proc/self/cwd/bin",
        "round": "round",
        "up": "shop/../shop/bin",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    (shop / "out").symlink_to(system)
    (tmp_path / "fine").symlink_to(system)
    wrong = [*(str(tmp_path / name) for name in links), str(shop), f"{shop}/bin", f"{shop}/out/bin", "/proc/self/cwd"]
    wrong += [f"{shop}/../shop/bin", "/dev/fd/3", f"{tmp_path}//./shop/bin"]
    right = ["/usr/bin", str(system / "bin"), str(tmp_path / "fine" / "bin"), str(tmp_path / "missing")]
    assert absolute_folders(":".join([*wrong, *right]), outside=shop) == ":".join(right)
    assert absolute_folders(":".join(wrong), outside=shop) == ""


def test_a_program_of_the_workspace_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither through the current folder, nor an absolute one within the workspace, nor a link to it."""
    shop, system, link = tmp_path / "shop", tmp_path / "system", tmp_path / "link"
    for folder in (shop / "bin", system):
        folder.mkdir(parents=True)
        (folder / "tool").write_text("#!/bin/sh\n")
        (folder / "tool").chmod(0o755)
    link.symlink_to(shop / "bin")
    monkeypatch.chdir(shop / "bin")
    path = f".::{shop}/bin:{link}:{system}"
    assert find_program("tool", path, outside=str(shop)) == str(system / "tool")
    assert find_program("tool", f".:{link}", outside=str(shop)) is None
    assert find_program("tool", ".:") is None
    assert find_program("tool", path) == str(shop / "bin" / "tool")
    assert find_program("./tool", "") == "./tool"
