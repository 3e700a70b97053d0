"""TOML and JSON that a workspace or a home brings: agents, keys, channels, trust, facts and their limits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from .case import Case
from .place import Place

_HUGE = b"9" * 5_000


def _case(name: str, says: str, build: Callable[[Place], object], file: str, **more: object) -> Case:
    return Case(f"settings/{name}", says, build=build, file=file, **more)  # type: ignore[arg-type]


def _aidefile(data: bytes) -> Callable[[Place], object]:
    """Make the workspace itself an agent."""

    def build(place: Place) -> None:
        (place.shop / "memory" / "episodic").mkdir(parents=True)
        (place.shop / "memory" / "episodic" / "note.md").write_bytes(b"## A note\n")
        (place.shop / "Aidefile").write_bytes(data)

    return build


def _home(path: str, data: bytes) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        file = place.top / path
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        file.chmod(0o600)

    return build


def _fifo(path: str) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        (place.top / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place.top / path)

    return build


def _facts(*lines: bytes) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        folder = place.shop / ".aegis" / "memory"
        folder.mkdir(parents=True)
        (folder / "memories.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))

    return build


def _agents(place: Place) -> None:
    """Register many agents, all but one of them under a name of its own."""
    count = 1_000
    rows = [f'[[agents]]\nname = "a{number}"\npath = "/nowhere/{number}"\n' for number in range(count)]
    _home("home/.aide/config.toml", "".join([*rows, rows[7]]).encode())(place)


def _channels(data: bytes) -> Callable[[Place], object]:
    def build(place: Place) -> None:
        _home("config/memdeck/channels.toml", data)(place)
        place.put("config.md", b"---\ntype: agent-config\n---\n## Owner Notification\n\n- channelId: channel-abc123\n")

    return build


def _fact(number: int, **more: object) -> bytes:
    values = {"id": f"m{number}", "text": f"fact {number}", "tags": [], "scope": "global", "ts": "2024-01-14T10:00:00Z"}
    return json.dumps(values | more).encode()


_GOOD = _fact(1)
_REGISTRY = "home/.aide/config.toml"

CASES = (
    _case(
        "aidefile-unknown-keys",
        "400 keys of an agent that nobody reads",
        _aidefile(b"[memory]\n" + b"".join(b"k%d=1\n" % number for number in range(400))),
        "Aidefile",
        screen=True,
        finds=tuple(f"Aidefile:{line} typed.key" for line in range(2, 402)),
    ),
    _case(
        "aidefile-many-keys",
        "10,000 keys of an agent",
        _aidefile(b"".join(b"k%d=1\n" % number for number in range(10_000 // 2))),
        "Aidefile",
        finds=("Aidefile:1 typed.toml",),
    ),
    _case(
        "aidefile-dotted",
        "a key of 20,000 parts",
        _aidefile(b"[memory]\n" + b"a." * 20_000 + b"a = 1\n"),
        "Aidefile",
        finds=("Aidefile:2 typed.toml",),
    ),
    _case(
        "aidefile-deep",
        "20,000 lists inside each other",
        _aidefile(b"[memory]\nx = " + b"[" * 20_000),
        "Aidefile",
        screen=True,
        finds=("Aidefile:2 typed.toml",),
    ),
    _case(
        "aidefile-huge-number",
        "a limit of 5,000 digits",
        _aidefile(b"[memory]\ncompact_after = " + _HUGE + b"\n"),
        "Aidefile",
        screen=True,
        finds=("Aidefile:2 typed.toml",),
    ),
    _case(
        "aidefile-hexadecimal",
        "a limit in 90 hexadecimal digits",
        _aidefile(b"[memory]\ncompact_after = 0x" + b"f" * 90 + b"\n"),
        "Aidefile",
        finds=("Aidefile:2 typed.toml",),
    ),
    _case(
        "aidefile-large",
        "70 KB of comments",
        _aidefile(b"# x\n" * 17_500),
        "Aidefile",
        finds=("Aidefile:1 typed.toml",),
    ),
    _case(
        "aidefile-long-path",
        "a folder with a name of 60,000 characters",
        _aidefile(b'[memory]\nepisodic_dir = "' + b"x" * 60_000 + b'"\n'),
        "Aidefile",
        finds=("Aidefile:2 typed.value",),
    ),
    _case(
        "aidefile-core-files",
        "500 core files that are not there",
        _aidefile(b"[memory]\ncore_files = [" + b"".join(b'"c%d",' % number for number in range(500)) + b"]\n"),
        "Aidefile",
        finds=("Aidefile:0 typed.no_core_file",) * 500,
    ),
    _case("aidefile-fifo", "a FIFO in place of an Aidefile", _fifo("shop/Aidefile"), "Aidefile"),
    _case(
        "registry-huge-number",
        "a path of 5,000 digits",
        _home(_REGISTRY, b'[[agents]]\nname = "a"\npath = ' + _HUGE),
        "Aidefile",
        finds=("~/.aide/config.toml:3 typed.toml",),
        expect={"view": "typed.toml 2"},
    ),
    _case(
        "registry-many",
        "1,000 agents, two of one name",
        _agents,
        "Aidefile",
        generated=True,
        finds=("~/.aide/config.toml:3002 typed.registry",),
        expect={"view": "typed.registry 2"},
    ),
    _case(
        "registry-fifo",
        "a FIFO in place of the list of agents",
        _fifo(_REGISTRY),
        "Aidefile",
        finds=("~/.aide/config.toml:0 file.not_regular",),
        expect={"view": "file.not_regular 1"},
    ),
    _case(
        "keys-huge-number",
        "a key of 5,000 digits",
        _home("config/memdeck/keys.toml", b"task.done = " + _HUGE),
        "keys.toml",
    ),
    _case(
        "keys-unknown",
        "2,000 keys for what does not exist",
        _home("config/memdeck/keys.toml", b"".join(b'task.x%d = "f5"\n' % number for number in range(2_000))),
        "keys.toml",
        screen=True,
    ),
    _case(
        "channels-deep",
        "5,000 lists inside each other as an address",
        _channels(b"[channels]\nx = " + b"[" * 5_000),
        "channels.toml",
    ),
    _case(
        "channels-huge-number", "an address of 5,000 digits", _channels(b"[channels]\nx = " + _HUGE), "channels.toml"
    ),
    _case(
        "trust-deep",
        "5,000 lists inside each other as hosts",
        _home("config/memdeck/config.toml", b"[trust]\nprivate_hosts = " + b"[" * 5_000),
        "config.toml",
    ),
    _case(
        "facts-huge-number",
        "a fact whose id has 5,000 digits",
        _facts(_GOOD, b'{"id": ' + _HUGE + b', "text": "x"}'),
        "memories.jsonl",
        finds=(".aegis/memory/memories.jsonl:2 fact.unread",),
    ),
    _case(
        "facts-deep",
        "a fact of 100,000 lists inside each other",
        _facts(_GOOD, b"[" * 100_000),
        "memories.jsonl",
        finds=(".aegis/memory/memories.jsonl:2 fact.unread",),
    ),
    _case(
        "facts-surrogates",
        "half characters in the parts of a fact",
        _facts(_GOOD, _fact(2, text="a \ud800 b", tags=["\udc00"], scope="\udfff", id="m\ud8002")),
        "memories.jsonl",
        screen=True,
    ),
    _case(
        "facts-times",
        "facts at the ends of time",
        _facts(
            _fact(2, ts="0001-01-01T00:00:00+23:00"), _fact(3, ts="9999-12-31T23:59:59-23:59"), _fact(4, ts="9" * 5_000)
        ),
        "memories.jsonl",
        finds=tuple(f".aegis/memory/memories.jsonl:{line} fact.time" for line in (1, 2, 3)),
        screen=True,
    ),
)
