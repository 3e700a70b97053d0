"""What may be kept of a session: no secret, no path outside of the repository, no name of a home folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from memory.base.secrets import mask
from memory.state.files.model import as_name

_HOMES = re.compile(
    r"(?<![\w./~-])(?:/home/|/Users/|/var/home/|[A-Za-z]:[\\/]+Users[\\/]+)[^\s/\\:*?\"'<>|`,;()\[\]]{1,64}"
)
_ROOT_HOME = re.compile(r"(?<![\w./~-])/root(?=[/\s\"'`,;:)\]]|\Z)")
# The name of a folder that encodes a path, as in `~/.claude/projects/-home-ada-shop`.
_ENCODED_HOMES = re.compile(r"(?<=/)(?:-(?:var-)?home-|-Users-|[A-Za-z]--Users-)[A-Za-z0-9]{1,64}|(?<=/)-root(?=[-/])")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LINE_NUMBER = re.compile(r"(?::\d{1,9}){1,2}\Z|#L\d{1,9}(?:-L?\d{1,9})?\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]{1,20}://")


def _any_of(texts: Iterable[str], pattern: str) -> re.Pattern[str]:
    """Return a pattern with some texts in the place of `{}`; without any it matches nothing."""
    return re.compile(pattern.replace("{}", "|".join(map(re.escape, texts)) or r"(?!)"))


class Cleaner:
    """Cleans texts of sessions for one repository."""

    def __init__(self, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None) -> None:
        """Use the folder of the repository and the person's home folder, which is written as `~`."""
        self._root = os.path.realpath(root)
        self._roots = sorted({self._root, os.path.abspath(root)} - {"/"}, key=len, reverse=True)
        own = os.path.abspath(home).rstrip("/") if home else ""
        homes = {own, os.path.realpath(own)} if own else set()
        names = sorted(map(as_name, {*self._roots, *homes}), key=len, reverse=True)
        self._rules = (
            (_any_of(names, r"(?<![\w-])(?:{})(?![A-Za-z0-9])"), "~"),
            (_any_of(self._roots, r"(?<![\w./~-])(?:{})(?:/|(?![\w.-]))"), ""),
            (_any_of([own] if own else [], r"(?<![\w.~-])(?:{})(?![\w.-])"), "~"),
            (_HOMES, "~"),
            (_ROOT_HOME, "~"),
            (_ENCODED_HOMES, "~"),
        )

    def text(self, text: str) -> str:
        """Return a text with secrets masked, paths in the repository made relative, and home folders written as `~`."""
        text = mask(_NOT_TEXT.sub("\ufffd", text))
        for pattern, new in self._rules:
            text = pattern.sub(new, text)
        return text

    def path(self, text: str) -> str | None:
        """Return a path relative to the repository, None where it leads out of it or is not a path.

        A path in backticks ends with them, another at its first space. Line numbers after it are dropped.
        """
        text = text.strip()
        if text.startswith("`") and "`" in text[1:]:
            text = text[1:].partition("`")[0].strip()
        else:
            text = text.partition(" ")[0].strip("\"'`,;")
        text = _LINE_NUMBER.sub("", text)
        if not text or "\0" in text or text.startswith("~") or _DRIVE.match(text):
            return None
        full = os.path.normpath(os.path.join(self._root, text))
        root = next((root for root in self._roots if full.startswith(f"{root}/")), None)
        inside = os.path.realpath(full).startswith(f"{self._root}/")
        return full[len(root) + 1 :] if root is not None and inside else None
