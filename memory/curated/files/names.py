"""The names of memory files, of agents and of sessions: one slug function for all of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from memory.curated.model import INDEX, TYPES
from memory.errors import UsageError
from memory.storage.safe_open import sha256

LONGEST = 48
"""The most characters of a slug."""
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
_LETTERS = str.maketrans(
    dict(zip("ßæÆøØœŒđĐłŁþÞðÐı", "ss ae ae o o oe oe d d l l th th d d i".split(), strict=True))  # noqa: SIM905
)


def slug(text: str) -> str:
    """Return a text in lower case with hyphens, at most 48 characters, other letters as ASCII ones.

    A text without any letter that can be written in ASCII gets the first 12 hex digits of its SHA-256.
    """
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].rstrip("-")
    return made or sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def filename(kind: str, name: str) -> str:
    """Return the name of the file of a memory: `<type>_<slug>.md`."""
    return f"{kind}_{slug(name)}.md"


def spellings(name: str) -> tuple[str, ...]:
    """Return the file names that a name may mean: as it is, with its ending, and with hyphens for underscores."""
    full = name if name.endswith(".md") else f"{name}.md"
    found = [full]
    kind, _, rest = full.partition("_")
    if kind in TYPES and rest:
        found += [f"{kind}_{rest.replace('_', '-')}", f"{kind}_{rest.replace('-', '_')}"]
    return tuple(dict.fromkeys(found))


def free_path(stem: str, exists: Callable[[str], bool]) -> str:
    """Return the path of a new Markdown file: `<stem>.md`, with a number from 2 on where that exists already."""
    path, number = f"{stem}.md", 1
    while exists(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path


def fault_of(name: str) -> tuple[str, str] | None:
    """Return the rule and the reason for which a file name is refused, None where it may be written."""
    if name.casefold().startswith("_system") or name.casefold().startswith("_inbox"):
        return "system_namespace", "names that begin with _system or _inbox are memdeck's own"
    if not _FILE.fullmatch(name) or not name.endswith(".md") or ".." in name:
        return "unsafe_filename", "a file name is letters, digits, dots, hyphens and underscores, and ends in .md"
    if name.casefold() == INDEX.casefold():
        return "unsafe_filename", f"{INDEX} is the index, not a memory"
    return None


def is_agent(name: str) -> bool:
    """Return whether a name can be that of an agent: one safe path segment."""
    return _AGENT.fullmatch(name) is not None and ".." not in name


def check_agent(name: str) -> None:
    """Raise UsageError `memory.scope.agent_invalid` where a name cannot be that of an agent."""
    if not is_agent(name):
        raise UsageError(
            "memory.scope.agent_invalid",
            f"{name[:60]!r} cannot be the name of an agent",
            "letters, digits, dots, hyphens and underscores; a letter or digit first",
        )


def is_segment(name: str) -> bool:
    """Return whether a name can be that of a folder or file of a session."""
    return _SEGMENT.fullmatch(name) is not None and ".." not in name


def check_session(name: str) -> str:
    """Return the id of a session; UsageError `memory.validation` where it is not one safe path segment."""
    if not is_segment(name):
        raise UsageError("memory.validation", f"{name[:60]!r} cannot be the id of a session", field="session_id")
    return name
