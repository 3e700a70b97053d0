"""All hostile workspaces, and the page that lists them."""

from __future__ import annotations

from . import addresses, commands, contents, reached, things
from .case import Case

PARTS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "command": ("Commands that want to run", commands.CASES),
    "reached": ("What approved commands reach without naming it", reached.CASES),
    "address": ("Addresses that want to be asked", addresses.CASES),
    "file": ("Files, links, records and programs of the repository", things.CASES),
    "text": ("What stands in the fields", contents.CASES),
}
"""The groups: their heading and their cases."""
CASES: tuple[Case, ...] = tuple(case for _, cases in PARTS.values() for case in cases)
"""Every case, in the order of the page."""
BY_NAME = {case.name: case for case in CASES}
_TOP = """\
# Hostile workspaces

A repository that you clone may contain memory files, written by someone who wants you to open them. These are
{count} such workspaces, no two with the same mechanism. Opening one, in the application or by any verb, runs nothing,
connects to nothing and writes nothing outside of its memory files; [trust](trust.md) says why. Approved checks and
remediations run in an empty private folder. What the scripts of an approved command with `folder: .` load is not
covered: whoever can write your workspace can change what those load. Texts that want to instruct an agent are
[left out of what agents are told](trust.md#what-agents-are-told).

Each is opened while `strace` watches every system call that starts a program, connects, writes, or opens a file:
{verbs}; then the application, with every pane shown, entries opened, links followed, and every question about consent
answered as Enter does. Some cases also start memdeck as a program of its own inside the workspace. The allowed calls
are listed here; any other call is a failure:

- programs: those that the user approved in that case, byte for byte, and memdeck's own helper that runs them;
- connections: only those to addresses that were approved in that case;
- files to write: the private state folder, memdeck's folder in the workspace, and memory files by the verbs that keep
  watch or maintain; nothing else, inside the workspace or outside;
- files to read: memory files, the user's own settings, the scripts that commands name, and the system's own; no
  `.env`, no `.git`, no module of the workspace, nothing outside of it.

If commands or addresses are hostile, `trust list` must show them as waiting, withdrawn or refused, and `monitors
check` must end with exit code 3: otherwise a workspace that is never read would pass. A judge that sees nothing would
pass too: so approved commands, checks and messages are also played, and must be noticed.

`make test` plays a sample, `make torture` all of them; `python -m tests.hostile file/editor text` plays some. This
page is made by `python -m tests.hostile > docs/hostile.md`.
"""


def page() -> str:
    """Return the page that lists every case with one line."""
    from .player import VERBS

    verbs = ", ".join(f"`{' '.join(words.split(' --now')[0].split())}`" for words in dict.fromkeys(VERBS.values()))
    parts = [_TOP.format(count=len(CASES), verbs=verbs)]
    for name, (heading, cases) in PARTS.items():
        rows = "".join(f"| {case.name.partition('/')[2]} | {_says(case)} |\n" for case in cases)
        parts.append(f"\n## {heading} ({name}, {len(cases)})\n\n| workspace | what it does |\n|---|---|\n{rows}")
    return "".join(parts)


def _says(case: Case) -> str:
    return case.says.replace("|", "\\|") + (" (needs a mount namespace)" if case.mounts else "")
