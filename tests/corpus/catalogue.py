"""All cases, and the page that lists them."""

from __future__ import annotations

from . import (
    contents,
    dates,
    filesystem,
    front,
    limits,
    links,
    markdown,
    neighbours,
    planted,
    records,
    settings,
    tables,
)
from .case import Case

PARTS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "markdown": ("Markdown in tasks.md", markdown.CASES),
    "front": ("Front matter", front.CASES),
    "dates": ("Dates, times, recurrences, settings", dates.CASES),
    "tables": ("Tables in contacts.md", tables.CASES),
    "records": ("JSON plans, and records in the private state folder", records.CASES),
    "settings": ("Agents, keys, channels, trust and facts", settings.CASES),
    "fs": ("Files, folders, links, permissions", (*links.CASES, *filesystem.CASES, *contents.CASES)),
    "neighbours": ("What others leave beside the files", neighbours.CASES),
    "limits": ("File systems at their limits", limits.CASES),
    "planted": ("Planted in a cloned repository", planted.CASES),
}
"""The groups: their heading and their cases."""
CASES: tuple[Case, ...] = tuple(case for _, cases in PARTS.values() for case in cases)
"""Every case, in the order of the README."""
BY_NAME = {case.name: case for case in CASES}
_TOP = """\
# The corpus of bad inputs

{count} things that memory files, their folders and memdeck's own records may turn out to be, no two with the same
mechanism. Each is a file in `files/`, or a function that builds a situation of the file system, with what memdeck has
to do about it.

Every case is played with the real command, each verb as a process of its own: `check`, `status`, the list of the file
concerned, the list of another file, `tasks add`, `journal add`, `--maintain`; some of them, in the long run all, are
opened in the application as well. It must hold:

- no traceback, no end by a signal, nothing on stdout or stderr that drives a terminal;
- 2 s of CPU time at most for a verb, and none hangs;
- `check` finds exactly what the case names, by file and line; a verb that refuses does so with the code and exit code
  of the case, in one line;
- reading changes no byte in the workspace or outside, a refused change neither, and one that is made inserts its entry
  and touches nothing else; maintenance keeps every line;
- what a repository brought along is never trusted: the planted cases end with the same files as without them.

`make test` plays a sample, files that are made large in a smaller size; `make torture` plays all of it in full
(`MEMDECK_CORPUS=all python -m pytest tests/corpus`). `python -m tests.corpus fs/fifo planted` shows what happens in
single cases. What a case needs (root, mounts) and the machine does not have is skipped, and is a failure where
MEMDECK_TOOLS is set.

This page is made by `python -m tests.corpus > tests/corpus/README.md`.
"""


def readme() -> str:
    """Return the page that lists every case with one line."""
    parts = [_TOP.format(count=len(CASES))]
    for name, (heading, cases) in PARTS.items():
        rows = "".join(f"| {case.name.partition('/')[2]} | {_cell(case)} |\n" for case in cases)
        parts.append(f"\n## {heading} ({name}, {len(cases)})\n\n| case | what it is |\n|---|---|\n{rows}")
    return "".join(parts)


def _cell(case: Case) -> str:
    needs = {"": "", "root": " (needs root)", "mounts": " (needs a mount namespace)"}.get(case.needs, "")
    needs += " (generated)" if case.generated else ""
    return case.says.replace("|", "\\|") + needs
