"""The sentences and commands that a repository itself writes for people: documents, workflows, targets and scripts.

Each is a passage that answers a question by its own words; its title has those of the headings around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .documents import plain, sentences
from .manifests import Project
from .tree import Tree, is_document


class Fact(NamedTuple):
    """What the repository says: the sentence, the file that says it, and words that it is found by."""

    said: str
    file: str
    title: str = ""


_NO_DOCUMENT = re.compile(
    r"(?:^|/)(?:change|history|news|licen|copying|code.of.conduct|security|release.?notes|cmakelists|requirements|robots)",
    re.IGNORECASE,
)
_FOR_WORK = re.compile(
    r"(?:^|[/_-])(?:readme|contribut\w*|develop\w*|build\w*|test\w*|hack\w*|releas\w*|sync\w*|install\w*|maintain\w*"
    r"|pull_request_template|agents|claude|faq|setup|ci)\b",
    re.IGNORECASE,
)
_MOST_DOCUMENTS, _MOST_LINES, _LONGEST = 80, 3000, 320
_HEADING = re.compile(r"(#{1,6}|={1,4})[ \t]+(\S.*?)[ \t#=]*$")
_RULER = re.compile(r"([=~^*+`\"'#.-])\1{2,}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ x]\][ \t]+)?")
_NOISE = re.compile(r"[ \t]*(?:<|\||!\[|\[!|\.\. |:[\w-]+:|\[[^\]]+\]:)")
_STEP = re.compile(r"^[ \t]*-?[ \t]*(name|run|working-directory):[ \t]*(.*)$")
_EVERYWHERE = re.compile(r"^defaults:\s*\n\s+run:\s*\n\s+working-directory:[ \t]*(\S+)", re.MULTILINE)
"""The folder of all steps of a workflow."""
_NO_COMMAND = re.compile(
    r"``|^[^a-zA-Z./$\"]| :\w|[;{(,:]$|=>|^\.\w|^\w+\.\w+\(|\)$"
    r"|^(?:import|const|let|var|from|def|class|await|for|if|return|use|require|program|\w+ =)\b"
)
"""Lines of other code than commands."""
_TARGET = re.compile(r"^((?:#[^\n]*\n)*)([A-Za-z][\w.-]{1,40}):(?!=)[^\n]*\n((?:\t[^\n]*\n?)+)", re.MULTILINE)
_TOX = re.compile(r"^\[(?:testenv:|(?:tool\.tox\.)?env\.)([\w.-]+)\]", re.MULTILINE)


def passages(tree: Tree, projects: list[Project]) -> Iterator[Fact]:
    """Yield the passages of a repository, those of the documents for its contributors first."""
    documents = [path for path in tree.files if _is_for_work(path)]
    for path in sorted(documents, key=lambda path: (path.count("/"), path))[:_MOST_DOCUMENTS]:
        yield from _of_document(tree.text(path), path)
    for path in tree.files:
        if path.startswith(".github/workflows/"):
            yield from _of_workflow(tree.text(path), path)
        elif path.rpartition("/")[2].lower() in ("makefile", "gnumakefile", "justfile") and path.count("/") < 2:
            program = "just" if path.lower().endswith("justfile") else "make"
            for comment, name, body in _TARGET.findall(tree.text(path)):
                runs = body.strip().split("\n")[0].strip().lstrip("@-")
                yield Fact(f"`{program} {name}`: `{runs[:120]}`", path, f"{name} {comment.replace('#', ' ')}")
        elif path in ("tox.ini", "pyproject.toml", "tox.toml"):
            yield from (
                Fact(f"`tox run -e {name}`", path, f"tox build run {name}") for name in _TOX.findall(tree.text(path))
            )
    for project in projects:
        run = project.ecosystem.run.get(project.manager, "")
        for name, words in project.scripts.items():
            yield Fact(f"`{run} {name}`: `{words[:120]}`", project.manifests[0], re.sub(r"\W", " ", name))


def _is_for_work(path: str) -> bool:
    name = path.rpartition("/")[2]
    if not (is_document(path) or name.upper() == name) or _NO_DOCUMENT.search(path) or path.count("/") > 3:
        return False
    return "/" not in path or _FOR_WORK.search(name) is not None


def _of_document(text: str, path: str) -> Iterator[Fact]:
    """Yield the sentences of a document, and its blocks of commands with the line before each."""
    titles: dict[int, str] = {}
    said: list[str] = []
    block: list[str] | None = None
    lines = text.split("\n")[:_MOST_LINES]
    lead = ""
    for number, line in enumerate([*lines, ""]):
        title = " ".join(titles.values())
        if _FENCE.match(line):
            if block is not None:
                yield from _of_block(block, path, f"{title} {lead}")
            block = [] if block is None else None
            continue
        if block is not None:
            block.append(line)
            continue
        indented = (
            re.match(r"(?: {4}|\t)\S", line) and not said and not _ITEM.match(lines[number - 1] if number else "")
        )
        if indented:
            yield from _of_block([line], path, f"{title} {lead}")
            continue
        if line.startswith("|") and len(cells := [plain(cell).strip() for cell in line.strip("| ").split("|")]) > 1:
            if max(len(cell.split()) for cell in cells) > 3:
                yield Fact(": ".join(filter(None, cells))[:_LONGEST], path, f"{title} {cells[0]}")
            continue
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _HEADING.match(line)
        if heading or (line.strip() and len(line) < 80 and _RULER.match(below) and not said):
            level = len(heading[1]) if heading else 1 + "=-~^".find(below[0]) % 5
            titles = {one: words for one, words in titles.items() if one < level}
            titles[level] = plain(heading[2] if heading else line)
        elif line.strip() and not _RULER.match(line) and not _NOISE.match(line) and not _ITEM.match(line):
            said.append(line.strip())
            continue
        if said:
            lead = " ".join(said)[-_LONGEST:]
            yield from _of_paragraph(" ".join(said), path, title)
            said = []
        if _ITEM.match(line):
            said = [_ITEM.sub("", line)]


def _of_paragraph(text: str, path: str, title: str) -> Iterator[Fact]:
    """Yield the sentences of a paragraph."""
    for one in sentences(plain(text)):
        if len(one.split()) > 3 and len(one) <= _LONGEST and not one.endswith(("?", ":")):
            yield Fact(one, path, title)


def _of_block(lines: list[str], path: str, title: str) -> Iterator[Fact]:
    """Yield the commands of a block, those that follow each other together, after the comment above them."""
    commands: list[str] = []
    comment = ""
    for line in [*lines, ""]:
        bare = re.sub(r"^[ \t]*[$>%][ \t]+", "", line).strip()
        if bare and not bare.startswith(("#", "//")):
            commands.append(bare)
            continue
        if commands and sum(map(len, commands)) < _LONGEST and not any(map(_NO_COMMAND.search, commands)):
            shown = "; ".join(f"`{one}`" for one in commands[:4])
            yield Fact(f"{comment}: {shown}" if comment else shown, path, f"{title} {comment}")
        commands, comment = [], bare.lstrip("#/ ").rstrip(".:") or ""


def _of_workflow(text: str, path: str) -> Iterator[Fact]:
    """Yield the steps of a workflow with their names and folders, and its comments."""
    name = where = ""
    default = next(iter(_EVERYWHERE.findall(text)), "")
    comment: list[str] = []
    lines = text.split("\n")[:_MOST_LINES]
    for number, line in enumerate([*lines, ""]):
        bare = line.strip()
        if bare.startswith("#"):
            comment.append(bare.lstrip("# "))
            continue
        if comment:
            about = bare.lstrip("- ")[:80]
            yield from (
                Fact(one, path, f"{name} {about}") for one in sentences(" ".join(comment)) if len(one.split()) > 3
            )
            comment = []
        found = _STEP.match(line)
        if bare.startswith("- "):
            name = where = ""
        if found is None:
            continue
        key, value = found[1], found[2].strip("'\" ")
        if key == "name":
            name = value
        elif key == "working-directory":
            where = value
        else:
            block = [value] if value not in ("|", ">", "|-", ">-") else _below(lines, number)
            shown = "; ".join(f"`{one}`" for one in block[:3] if one)
            near = "\n".join(lines[max(0, number - 3) : number + 4])
            inside = where or next(iter(re.findall(r"working-directory:[ \t]*(\S+)", near)), default)
            if shown:
                yield Fact(f"In `{inside.rstrip('/')}`: {shown}" if inside else shown, path, f"{name} {inside}")


def _below(lines: list[str], number: int) -> list[str]:
    depth = len(lines[number]) - len(lines[number].lstrip())
    found = []
    for line in lines[number + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        found += [line.strip()] if line.strip() and not line.strip().startswith("#") else []
    return found
