"""What may be kept of a session: no secret, no path outside of the repository, no name of a home folder."""

from __future__ import annotations

import os
import re

from memory.base.secrets import mask
from memory.state.files.paths import as_name

_HOMES = re.compile(
    r"(?<![\w./~-])(?:/home/|/Users/|/var/home/|[A-Za-z]:[\\/]+Users[\\/]+)[^\s/\\:*?\"'<>|`,;()\[\]]{1,64}"
)
_ROOT_HOME = re.compile(r"(?<![\w./~-])/root(?=[/\s\"'`,;:)\]]|\Z)")
# The name of a folder that encodes a path, as in `~/.claude/projects/-home-ada-shop`.
_ENCODED_HOMES = re.compile(r"(?<=/)(?:-(?:var-)?home-|-Users-|[A-Za-z]--Users-)[A-Za-z0-9]{1,64}|(?<=/)-root(?=[-/])")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LINE_NUMBER = re.compile(r"(?::\d{1,9}){1,2}\Z|#L\d{1,9}(?:-L?\d{1,9})?\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]{1,20}://")


class Cleaner:
    """Cleans texts of sessions for one repository."""

    def __init__(self, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None) -> None:
        """Use the folder of the repository and the person's home folder, which is written as `~`."""
        self._root = os.path.realpath(root)
        self._roots = sorted({self._root, os.path.abspath(root)}, key=len, reverse=True)
        inside = "|".join(re.escape(one) for one in self._roots if one != "/")
        self._inside = re.compile(rf"(?<![\w./~-])(?:{inside})(?:/|(?![\w.-]))") if inside else None
        own = os.path.abspath(home) if home else ""
        self._own = re.compile(rf"(?<![\w.~-]){re.escape(own)}(?![\w.-])") if own.strip("/") else None
        homes = (own, os.path.realpath(own)) if self._own else ()
        names = {as_name(path) for path in (*self._roots, *homes) if path != "/"}
        encoded = "|".join(sorted(names, key=len, reverse=True))
        self._encoded = re.compile(rf"(?<![\w-])(?:{encoded})(?![A-Za-z0-9])") if encoded else None

    def text(self, text: str) -> str:
        """Return a text with secrets masked, paths in the repository made relative, and home folders written as `~`."""
        text = _NOT_TEXT.sub("\ufffd", text)
        text = mask(text)
        if self._encoded is not None and "-" in text:
            text = self._encoded.sub("~", text)
        if "/" in text or "\\" in text:
            if self._inside is not None:
                text = self._inside.sub("", text)
            if self._own is not None:
                text = self._own.sub("~", text)
            text = _ENCODED_HOMES.sub("~", _ROOT_HOME.sub("~", _HOMES.sub("~", text)))
        return text

    def path(self, text: str) -> str | None:
        """Return a path relative to the repository, None where it leads out of it or is not a path.

        A path in backticks ends with them, another at its first space, unless a file with that name exists. Line
        numbers after it are dropped.
        """
        text = text.strip()
        if text.startswith("`") and "`" in text[1:]:
            text = text[1:].partition("`")[0].strip()
        elif not self._exists(text):
            text = text.partition(" ")[0].strip("\"'`,;")
        text = _LINE_NUMBER.sub("", text)
        if not text or "\0" in text or text.startswith("~") or _DRIVE.match(text):
            return None
        for root in self._roots:
            if text == root or text.startswith(root.rstrip("/") + "/"):
                text = text[len(root) :].lstrip("/")
                break
        else:
            if text.startswith("/"):
                return None
        path = os.path.normpath(text or ".")
        if path == "." or path == ".." or path.startswith(("../", "/")):
            return None
        real = os.path.realpath(os.path.join(self._root, path))
        return path if real.startswith(self._root.rstrip("/") + "/") else None

    def _exists(self, text: str) -> bool:
        try:
            return os.path.lexists(os.path.join(self._root, text))
        except ValueError:
            return False
