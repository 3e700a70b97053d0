"""The descriptions of folders in the guides of a repository: in a drawn tree, in a list, or in a table."""

from __future__ import annotations

import re

from memory.state.analysis.tree import Tree

from .prose import first_sentence, plain

_GUIDES = (
    "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/ARCHITECTURE.md", "docs/architecture.md", "AGENTS.md",
    "CLAUDE.md", "DESIGN.md", "docs/development.md",
)  # fmt: skip
_NAME = r"([\w.@][\w./@-]{0,100}?)"
_DRAWN = re.compile(rf"([│├└─┬|`+\s\\-]*){_NAME}(/)?(?:[ \t]{{2,}}|[ \t]*(?:#|//|←|<-|--|—)[ \t]+)(.{{3,400}})\Z")
_FOLDER = re.compile(rf"([│├└─┬|`+\s\\-]*){_NAME}/?[ \t]*\Z")
_LINK = r"(?:\([^()]*\))?"
_LISTED = re.compile(
    rf"[ \t]*[-*+][ \t]+(?:\*\*)?\[?`{_NAME}/?`\]?{_LINK}(?:\*\*)?[ \t]*(?::|–|—|-|\()[ \t]*(.{{3,400}})\Z"
)
_ROW = re.compile(rf"[ \t]*\|[ \t]*\[?`{_NAME}/?`\]?{_LINK}[ \t]*\|[ \t]*([^|]{{3,400}})\|")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_MOST_LINES = 3000


def told_of(tree: Tree) -> dict[str, str]:
    """Return a sentence for each folder that a guide describes; the first of several counts."""
    found: dict[str, str] = {}
    for guide in _GUIDES:
        if not tree.has(guide):
            continue
        drawn = False
        around: list[tuple[int, str]] = []
        for line in tree.text(guide).split("\n")[:_MOST_LINES]:
            if _FENCE.match(line):
                drawn, around = not drawn, []
            elif len(line) > 600:
                continue
            elif drawn:
                _take_drawn(tree, line, around, found)
            elif (match := _LISTED.match(line) or _ROW.match(line)) is not None and tree.has_folder(match[1]):
                found.setdefault(match[1], _sentence(match[2]))
    return {folder: said for folder, said in found.items() if said}


def _take_drawn(tree: Tree, line: str, around: list[tuple[int, str]], found: dict[str, str]) -> None:
    """Read a line of a drawn tree; `around` holds the columns and paths of the folders above it."""
    match = _DRAWN.match(line) or _FOLDER.match(line)
    if match is None:
        return
    column = len(match[1])
    while around and around[-1][0] >= column:
        around.pop()
    name = match[2].rstrip("/")
    inner = f"{around[-1][1]}/{name}" if around else name
    path = next((one for one in (inner, name) if tree.has_folder(one)), None)
    if path is None:
        return
    around.append((column, path))
    if match.re is _DRAWN:
        found.setdefault(path, _sentence(match[4]))


def _sentence(text: str) -> str:
    said = first_sentence(plain(text.strip().rstrip(")") if text.count("(") < text.count(")") else text))
    return said[:1].upper() + said[1:] if len(said.split()) >= 2 else ""
