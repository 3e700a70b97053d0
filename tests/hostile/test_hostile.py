"""Every hostile workspace, opened while system calls are traced; a sample of them unless MEMDECK_HOSTILE is `all`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import examples

from .canaries import CANARIES, Canary
from .case import FILES, Case
from .catalogue import BY_NAME, CASES, PARTS
from .client import Client
from .expect import missing
from .judge import Call, Judge, by_verb, read_calls

WHOLE = os.environ.get("MEMDECK_HOSTILE") == "all"
REQUIRED = "MEMDECK_TOOLS" in os.environ
"""Continuous integration sets it: there a case that cannot be played is a failure, elsewhere a reason to skip."""
SAMPLE = CASES if WHOLE else [case for case in CASES if case.sample]
SCREENS = SAMPLE if WHOLE else SAMPLE[:: 4 if examples.WHOLE else 8]
"""The cases that are opened in the application as well, which takes a hundred times as long as a verb."""
TOOK = CANARIES if WHOLE else CANARIES[:2]
PAGE = Path(__file__).parents[2] / "docs" / "hostile.md"


def _give_up(why: str) -> None:
    (pytest.fail if REQUIRED else pytest.skip)(why)


@pytest.fixture(scope="session")
def player() -> Iterator[Client]:
    """Start the process that plays the cases, with `strace` looking on."""
    strace = shutil.which("strace")
    if strace is None:
        _give_up("strace is not installed")
    assert strace is not None
    with Client(strace) as client:
        yield client


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_hostile_workspace_does_nothing(player: Client, case: Case) -> None:
    """Nothing starts, connects, or is written or read outside; what it asks for waits for a person."""
    verdict = player.play(case, screen=case in SCREENS)
    if verdict.skip:
        _give_up(f"{case.name}: {verdict.skip}")
    assert [*verdict.wrong, *missing(case, verdict)] == []


@pytest.mark.parametrize("canary", TOOK, ids=lambda canary: canary.case.name)
def test_the_judge_notices(player: Client, canary: Canary) -> None:
    """The same things approved do run, connect and write, and the judge says so."""
    verdict = player.play(canary.case, screen=False)
    if verdict.skip:
        _give_up(f"{canary.case.name}: {verdict.skip}")
    found = [sentence for sentence in verdict.wrong if canary.noticed in sentence and canary.verb in sentence]
    assert found, verdict.wrong


def test_the_catalogue_is_whole() -> None:
    """There are enough cases, each with its own name and words, and every file belongs to one."""
    assert len(CASES) >= 60
    assert len(BY_NAME) == len({case.says for case in CASES}) == len(CASES)
    assert len({path.read_bytes() for path in FILES.iterdir()}) == len(list(FILES.iterdir()))
    sources = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert [path.name for path in FILES.iterdir() if f'laid("{path.name}")' not in sources] == []


def test_the_page_counts_every_case() -> None:
    """docs/hostile.md has the number of workspaces of each group, in its order."""
    rows = [row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| ")]
    assert [int(row.split("|")[2]) for row in rows[1:]] == [len(cases) for _, cases in PARTS.values()]


TRACE = """\
10 openat(AT_FDCWD</>, "/memdeck-hostile-mark/host/x", O_RDONLY) = -1 ENOENT (No such file or directory)
10 unlink("/etc/passwd") = 0
11 openat(AT_FDCWD</>, "/memdeck-hostile-mark/begin/check", O_RDONLY) = -1 ENOENT (No such file or directory)
11 openat(AT_FDCWD</t/shop>, "/t/outside/a", O_WRONLY|O_CREAT <unfinished ...>
12 execve("/bin/sh", ["/bin/sh", "-c", "id \\303\\251"], 0x1 /* 2 vars */) = 0
11 <... openat resumed>, 0600) = 3</t/outside/a>
11 openat(AT_FDCWD</>, "/memdeck-hostile-mark/begin/status", O_RDONLY) = -1 ENOENT (No such file or directory)
13 renameat(4</t/shop/.aiter/memory>, "a", 5</t/outside>, "b") = 0
13 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16 <unfinished ...>
"""


def test_the_trace_is_read() -> None:
    """Calls that were interrupted are put together, and belong to the verb that was going on."""
    verbs = dict(by_verb(read_calls(TRACE.splitlines()), set()))
    assert {verb: [call.name for call in calls] for verb, calls in verbs.items()} == {
        "check": ["execve", "openat"],
        "status": ["renameat", "connect"],
    }
    assert verbs["check"][0].texts[-1] == "id é"
    assert verbs["check"][1].opened == "/t/outside/a"


NET = '3, {{sa_family=AF_INET, sin_port=htons({}), sin_addr=inet_addr("127.0.0.1")}}, 16'
IN_MEMORY = "/t/shop/.aiter/memory/a.md"
CALLS = [
    ("check", "execve", '"/bin/sh", ["/bin/sh", "-c", "id"], 0x1', 0, "", False),
    ("check", "execve", '"/bin/sh", ["/bin/sh", "-c", "true"], 0x1', 0, "", True),
    ("check", "execve", '"/bin/sh", ["/bin/sh", "-c", "true "], 0x1', 0, "", False),
    ("check", "connect", NET.format(80), 0, "", True),
    ("check", "connect", NET.format(81), 0, "", False),
    ("check", "connect", '3, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 22', -1, "", False),
    ("check", "connect", '3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110', -1, " ENOENT", True),
    ("doctor", "connect", '3, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110', 0, "", True),
    ("check", "connect", '3, {sa_family=AF_UNIX, sun_path=@"/dev/log"}, 110', 0, "", False),
    ("check", "sendto", '3, "x", 1, 0, NULL, 0', 1, "", True),
    ("check", "sendto", '3, "\\2\\0\\0\\0\\v\\0\\0\\0\\7\\0\\0\\0passwd\\0", 19, MSG_NOSIGNAL, NULL, 0', 19, "", True),
    ("check", "sendto", '3, "\\2\\0\\0\\0\\r\\0\\0\\0\\6\\0\\0\\0hosts\\0", 18, MSG_NOSIGNAL, NULL, 0', 18, "", False),
    ("check", "openat", f'AT_FDCWD</>, "{IN_MEMORY}", O_RDONLY', 3, f"<{IN_MEMORY}>", True),
    ("check", "openat", 'AT_FDCWD</>, "/t/shop/.aiter/memory/a.md", O_RDONLY', 3, "</etc/shadow>", False),
    ("check", "openat", f'AT_FDCWD</>, "{IN_MEMORY}", O_WRONLY', 3, f"<{IN_MEMORY}>", False),
    ("maintain", "openat", 'AT_FDCWD</>, "a.md", O_WRONLY', 3, "</t/shop/.aiter/memory/a.md>", True),
    ("maintain", "openat", 'AT_FDCWD</>, "a.md", O_WRONLY', 3, "</t/outside/a.md>", False),
    ("check", "openat", 'AT_FDCWD</t/shop>, ".env", O_RDONLY', 3, "</t/shop/.env>", False),
    ("check", "openat", 'AT_FDCWD</t/shop>, ".env", O_RDONLY', -1, " ENOENT", True),
    ("check", "openat", 'AT_FDCWD</t/shop>, "run.sh", O_RDONLY', 3, "</t/shop/run.sh>", True),
    ("check", "openat", 'AT_FDCWD</>, "/proc/self/environ", O_RDONLY', 3, "</proc/7/environ>", False),
    ("check", "unlinkat", '4</t/shop>, "run.sh", 0', 0, "", False),
    ("check", "symlink", '"/t/state/x", "/t/shop/y"', 0, "", False),
    ("check", "mkdir", '"/t/state/x", 0700', 0, "", True),
    ("maintain", "renameat", '4</t/shop/.aiter/memory>, "a", 5</t/outside>, "b"', 0, "", False),
    ("maintain", "renameat", '4</t/shop/.aiter/memory>, "a", 5</t/shop/.aiter/memory>, "b"', 0, "", True),
    ("check", "ptrace", "PTRACE_ATTACH, 1", 0, "", False),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "name", "arguments", "result", "rest", "may"), CALLS)
def test_the_judge_knows_what_may_be(verb: str, name: str, arguments: str, result: int, rest: str, may: bool) -> None:
    """Single calls are told apart by what they start, where they connect to, and what they open."""
    allowed = {name: [] for name in ("programs", "writes")}
    allowed |= {"top": ["/t"], "runs": ["true"], "connects": ["127.0.0.1:80"], "reads": ["shop/run.sh"]}
    judge = Judge(allowed, "/x/memdeck")
    assert (judge.why(verb, Call(name, arguments, result, rest)) == "") is may
