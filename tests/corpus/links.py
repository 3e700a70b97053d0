"""Links in the place of files and folders: inside, outside, dangling, in circles."""

from __future__ import annotations

from collections.abc import Callable

from tests.fixture_files import sample

from .case import EVERY, Case, refuses
from .place import Place


def _case(name: str, says: str, build: Callable[[Place], object], **more: object) -> Case:
    return Case(f"fs/{name}", says, build=build, **more)  # type: ignore[arg-type]


def _link(target: str, name: str = "tasks.md") -> Callable[[Place], object]:
    return lambda place: place.file(name).symlink_to(target.format(top=place.top))


def _link_inside(place: Place) -> None:
    place.file().rename(place.shop / "real.md") if place.file().exists() else None
    (place.shop / "real.md").write_bytes(sample("tasks.md"))
    place.file().symlink_to("../../real.md")


def _chain(place: Place) -> None:
    for number in range(60):
        (place.memory / f"link{number}").symlink_to(f"link{number + 1}")
    (place.memory / "link60").write_bytes(sample("tasks.md"))
    place.file().symlink_to("link0")


def _folder_link(name: str, target: str) -> Callable[[Place], object]:
    """Move a folder away and link to it, or to another one."""

    def build(place: Place) -> None:
        folder = place.shop / name
        folder.mkdir(exist_ok=True)
        folder.rename(place.shop / "moved")
        folder.symlink_to(target.format(top=place.top, shop=place.shop))

    return build


def _outside_memory(place: Place) -> None:
    place.memory.rename(place.outside / "memory")
    place.memory.symlink_to(place.outside / "memory")


def _outside_aiter(place: Place) -> None:
    place.aiter.rename(place.outside / "aiter")
    place.aiter.symlink_to(place.outside / "aiter")


def _shop_link(place: Place) -> None:
    place.shop.rename(place.top / "real")
    place.shop.symlink_to("real")


CASES = (
    _case(
        "link-inside", "a link to a file of the workspace", _link_inside, expect=refuses("file.link 1", "add maintain")
    ),
    _case(
        "link-outside",
        "a link to a file outside",
        _link("{top}/outside/secret.md"),
        screen=True,
        finds=("tasks.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "view add maintain"),
    ),
    _case(
        "link-climbs",
        "a link that climbs out by `..`",
        _link("../../../outside/secret.md"),
        finds=("tasks.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "view add maintain"),
    ),
    _case(
        "link-dangling",
        "a link to nothing",
        _link("nosuch.md"),
        screen=True,
        finds=("tasks.md:0 file.link_dangling",),
        expect=refuses("file.link 1", "add"),
    ),
    _case(
        "link-loop",
        "a link to itself",
        _link("tasks.md"),
        screen=True,
        finds=("tasks.md:0 file.link_loop",),
        expect=refuses("file.link_loop 1", "view add maintain"),
    ),
    _case(
        "link-chain",
        "sixty links one behind the other",
        _chain,
        finds=("tasks.md:0 file.link_loop",),
        expect=refuses("file.link_loop 1", "view add maintain"),
    ),
    _case(
        "link-to-dev-zero",
        "a link to /dev/zero, which never ends",
        _link("/dev/zero"),
        finds=("tasks.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "view add maintain"),
    ),
    _case(
        "link-to-proc",
        "a link to a file that the system makes up",
        _link("/proc/self/environ"),
        finds=("tasks.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "view add maintain"),
    ),
    _case(
        "link-to-folder",
        "a link to a folder of the workspace",
        _link("../memory"),
        finds=("tasks.md:0 file.not_regular",),
        expect=refuses("file.not_regular 1", "view add maintain"),
    ),
    _case(
        "config-link-outside",
        "the settings are a link to a file outside",
        _link("{top}/outside/secret.md", "config.md"),
        file="config.md",
        finds=("config.md:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "view add note maintain"),
    ),
    _case(
        "archive-link-inside",
        "archive/ is a link to a folder inside",
        _folder_link(".aiter/memory/archive", "{shop}/moved"),
        expect=refuses("file.link 1", "maintain"),
    ),
    _case(
        "archive-link-outside",
        "archive/ is a link to a folder outside",
        _folder_link(".aiter/memory/archive", "{top}/outside/folder"),
        finds=("archive:0 file.link_outside",),
        expect=refuses("file.link_outside 1", "maintain"),
    ),
    _case(
        "archive-link-loop",
        "archive/ is a link to itself",
        _folder_link(".aiter/memory/archive", "archive"),
        finds=("archive:0 file.link_loop",),
        expect=refuses("file.link_loop 1", "maintain"),
    ),
    _case(
        "archive-link-dangling",
        "archive/ is a link to nothing",
        _folder_link(".aiter/memory/archive", "nosuch"),
        finds=("archive:0 file.link_dangling",),
        expect=refuses("file.link 1", "maintain"),
    ),
    _case(
        "memory-link-inside",
        "the memory folder is a link to a folder inside",
        _folder_link(".aiter/memory", "../moved"),
        expect=refuses("file.link 1"),
    ),
    _case(
        "memory-link-outside",
        "the memory folder is a link to a folder outside",
        _outside_memory,
        finds=(
            ".:0 file.link_outside",
            "config.md:0 file.link_outside",
            "contacts.md:0 file.link_outside",
            "journal.md:0 file.link_outside",
            "knowledge.md:0 file.link_outside",
            "monitors.md:0 file.link_outside",
            "orchestration.md:0 file.link_outside",
            "tasks.md:0 file.link_outside",
        ),
        expect=refuses("file.link_outside 1", "view other add note maintain"),
    ),
    _case(
        "aiter-link-inside",
        ".aiter is a link to a folder inside",
        _folder_link(".aiter", "moved"),
        expect=refuses("file.link 1"),
    ),
    _case(
        "aiter-link-outside",
        ".aiter is a link to a folder outside",
        _outside_aiter,
        finds=(
            ".:0 file.link_outside",
            "config.md:0 file.link_outside",
            "contacts.md:0 file.link_outside",
            "journal.md:0 file.link_outside",
            "knowledge.md:0 file.link_outside",
            "monitors.md:0 file.link_outside",
            "orchestration.md:0 file.link_outside",
            "tasks.md:0 file.link_outside",
        ),
        expect={
            "view": "file.link_outside 1",
            "other": "file.link_outside 1",
            "add": "file.link 1",
            "note": "file.link 1",
            "maintain": "file.link_outside 1",
        },
    ),
    _case(
        "aiter-link-loop",
        ".aiter is a link to itself",
        _folder_link(".aiter", ".aiter"),
        expect=refuses("workspace.not_found 2", EVERY),
    ),
    _case("workspace-link", "the workspace is itself named by a link", _shop_link),
)
