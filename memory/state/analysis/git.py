"""What git knows about the work: the branch and the last commit, read from its files. git itself is never run."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from memory.state.projections.markdown import one_line
from memory.state.repository import common_of, git_folder, read_bytes, read_small

from .texts.prose import cut

_BRANCH = re.compile(r"ref: refs/heads/([^\s\x00-\x1f]{1,200})\s*\Z")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOGGED = re.compile(
    r"^[0-9a-f]{40,64} ([0-9a-f]{40,64}) [^\t\n]{0,400}\t(?:commit|merge|cherry-pick|rebase|pull)\b[^:\n]{0,200}: "
    r"([^\n]*)$",
    re.MULTILINE,
)
_MOST_OBJECT = 1 << 20


class GitWork(NamedTuple):
    """The branch ("" where there is none) and the subject of the last commit ("" where it is not known)."""

    branch: str
    subject: str


def work_of(root: str) -> GitWork | None:
    """Return the branch and last commit of the work tree at `root`; None where `root` is not a git work tree."""
    folder = git_folder(root)
    head = read_small(folder, "HEAD") if folder is not None else None
    if folder is None or head is None:
        return None
    named = _BRANCH.match(head)
    branch = one_line(named[1]) if named is not None else ""
    return GitWork(branch, cut(_subject(folder, head), 120))


def _subject(folder: str, head: str) -> str:
    """Return the subject of the commit that HEAD is at: from its object, else from the log of HEAD."""
    common = common_of(folder)
    commit = _commit(folder, common, head.strip())
    said = _message(common, commit) if commit is not None else ""
    if said:
        return one_line(said)
    # A packed commit: the log has its subject too, unless the repository was just cloned.
    logged = list(_LOGGED.finditer(read_small(folder, "logs/HEAD") or ""))
    if logged and (commit is None or logged[-1][1] == commit):
        return one_line(logged[-1][2])
    return ""


def _commit(folder: str, common: str, head: str) -> str | None:
    if _HASH.fullmatch(head):
        return head
    name = head.removeprefix("ref:").strip()
    if not name.startswith("refs/") or ".." in name.split("/"):
        return None
    for where in dict.fromkeys((folder, common)):
        found = (read_small(where, name) or "").strip()
        if _HASH.fullmatch(found):
            return found
    for line in (read_small(common, "packed-refs") or "").splitlines():
        commit, _, ref = line.partition(" ")
        if ref.strip() == name and _HASH.fullmatch(commit):
            return commit
    return None


def _message(common: str, commit: str) -> str:
    """Return the subject of a commit that is a loose object, "" where it is in a pack."""

    data = read_bytes(common, f"objects/{commit[:2]}/{commit[2:]}")
    if data is None:
        return ""
    try:
        raw = zlib.decompressobj().decompress(data, _MOST_OBJECT)
    except zlib.error:
        return ""
    if not raw.startswith(b"commit "):
        return ""
    text = raw.decode("utf-8", "replace").partition("\n\n")[2]
    return text.strip().partition("\n")[0]
