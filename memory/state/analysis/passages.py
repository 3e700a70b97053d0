"""The sentences and commands that a repository itself writes for people: documents, workflows, targets and scripts.

Each is a passage that answers a question by its own words; its title has those of the headings around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from .ci import comments_of, jobs_of
from .commands import SHELLS, line_at, scripts_of
from .declarations import header
from .documents import cut, plain, sentences
from .manifests import Project
from .tree import Tree, is_document, is_test


class Fact(NamedTuple):
    """What the repository says: the sentence, the file and line (0: the whole file) that say it, and words that it is
    found by, the heading above it as the last line. `kind` is `passage`, or `list` for a whole list.
    """

    said: str
    file: str
    title: str = ""
    line: int = 0
    kind: str = "passage"


_NO_DOCUMENT = re.compile(
    r"(?:^|/)(?:changes?\b|change-?logs?|history|news|licen|copying|notice|third.party|authors|code.of.conduct"
    r"|release.?notes|cmakelists|requirements|robots|[^/]*[._-](?:zh|ja|ko|ru|fr|de|es|pt|it|tr|pl|uk|vi|fa|id|ar|cs|nl)(?:[-_][a-z]{2,4})?\.\w+$)"
    r"|(?:^|/)(?:version(?:ed|s)?[-_]?(?:docs|\d)?[^/]*|v\d[\d.]*|vendor|third_party|node_modules|fixtures|corpus)/",
    re.IGNORECASE,
)
_FOR_WORK = re.compile(
    r"(?:^|[/_-])(?:readme|contribut\w*|develop\w*|build\w*|test\w*|hack\w*|releas\w*|sync\w*|install\w*|maintain\w*"
    r"|pull_request_template|agents|claude|faq|setup|ci|coding.?style)\b",
    re.IGNORECASE,
)
_MOST_DOCUMENTS, _MOST_LINES, _LONGEST, _LEAD, _MOST_REFERENCES = 150, 3000, 600, 140, 500
_LEADS = (":", "...", "…")
"""The ends of a line that leads to a list."""
_HEADING = re.compile(r"(#{1,6}|={1,4})[ \t]+(\S.*?)[ \t#=]*$")
_RULER = re.compile(r"([=~^*+`\"'#.-])\1{2,}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[ \t]*\{?[ \t]*(\w*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ x]\][ \t]+)?")
_NOISE = re.compile(r"[ \t]*(?:<|!\[|\[!|\.\. |:[\w-]+:|\[[^\]]+\]:|[ \t]*\[!)")
_CELL, _LINE = re.compile(r"(?<!\\)\|"), re.compile(r"\|?[ \t:|-]*-[ \t:|-]*")
"""What divides the cells of a table, and the line below its heads."""
_LEANS = re.compile(
    r"(?:this|that|these|those|they|it|its|otherwise|however|therefore|also|but|so|then)\b", re.IGNORECASE
)
"""The beginnings of sentences that mean little without the one before them."""
_NO_COMMAND = re.compile(
    r"``|^[^a-zA-Z./$\"]| :\w|[;{(,:]$|=>|^\.\w|^\w+\.\w+\(|\)$"
    r"|^(?:import|const|let|var|from|def|class|await|for|if|return|use|require|program|\w+ =)\b"
)
"""Lines of other code than commands."""
_SETTINGS = re.compile(
    r"[^/]+\.(?:toml|ya?ml|cfg|ini|gemspec)|(?:Rake|Gem|Docker)file|\.github/[^/]+\.ya?ml|(?:[\w-]+/)+Cargo\.toml"
)
_SCRIPT = re.compile(r"(?:ci|scripts?|tools?|tasks|bin|dev|hack|script|etc)/[^/]+(?:\.(?:sh|ps1|py|rb|js|ts|pl))?")


def passages(tree: Tree, projects: list[Project]) -> Iterator[Fact]:
    """Yield the passages of a repository, those of the documents for its contributors first."""
    documents = [path for path in tree.files if _is_read(path)]
    documents.sort(key=lambda path: (not is_for_work(path), path.count("/"), path))
    for path in documents[:_MOST_DOCUMENTS]:
        yield from _of_document(tree.text(path), path)
    for path in tree.files:
        if path.startswith(".github/workflows/"):
            yield from _of_workflow(tree, path)
        if path.startswith(".github/workflows/") or _SETTINGS.fullmatch(path):
            yield from _of_comments(tree.text(path), path)
        elif _SCRIPT.fullmatch(path) and "." in path:
            told = header(tree, path)
            yield Fact(f"`{path}`: {told}" if told else f"`{path}`", path, re.sub(r"\W|_", " ", path))
    for one in scripts_of(tree, projects):
        runs, words = one.body.split("\n")[0].strip().lstrip("@-"), re.sub(r"\W|_", " ", one.name)
        about = "" if one.run.startswith("tox") else one.about.strip("# ").rstrip(".")
        told = f"`{one.command}`" + ("" if one.run.startswith("tox") or about else f": `{runs[:120]}`")
        title = f"{'tox build run ' if one.run.startswith('tox') else ''}{words} {one.about}"
        yield Fact(f"{about}: {told}" if about else told, one.file, title, one.line)


def _is_read(path: str) -> bool:
    name = path.rpartition("/")[2]
    is_text = is_document(path) or (name.upper() == name and "." not in name)
    return (
        is_text
        and path.count("/") < 5
        and not _NO_DOCUMENT.search(path)
        and (not is_test(path) or _FOR_WORK.search(name) is not None)
    )


def is_for_work(path: str) -> bool:
    """Return whether a document is one for contributors, by its name and place."""
    name = path.rpartition("/")[2]
    return "/" not in path or (_FOR_WORK.search(name) is not None and not name.lower().startswith("readme"))


class _Block(NamedTuple):
    """A block of a document: a paragraph, an item, a row or code; with the titles above it and its first line."""

    kind: str
    title: str
    line: int
    lines: list[str]


def _blocks(lines: list[str]) -> Iterator[_Block]:
    titles: dict[int, str] = {}
    open_: _Block | None = None
    fenced = listed = False
    for number, line in enumerate([*(re.sub(r"^> ?", "", one) for one in lines), ""], 1):
        title = "\n".join(titles.values())
        fence = _FENCE.match(line)
        if fence and not fenced:
            yield from [open_] if open_ else []
            fenced, open_ = True, _Block("code" if fence[1].lower() in SHELLS else "other", title, number + 1, [])
            continue
        if fenced and open_ is not None:
            fenced = fence is None
            open_.lines.extend([line] if fenced else [])
            if not fenced:
                yield open_
                open_ = None
            continue
        below = lines[number] if number < len(lines) else ""
        heading = _HEADING.match(line)
        ruled = line.strip() and len(line) < 80 and _RULER.match(below) and open_ is None and not line.startswith("|")
        kind = "item" if _ITEM.match(line) else "row" if line.startswith("|") else "paragraph"
        within = listed and line[:1] in " \t"
        if re.match(r"(?: {4}|\t)\S", line) and (open_ is None or open_.kind == "code"):
            # What is as far in as the text of an item may be the next line or list of that.
            kind = kind if within and (kind == "item" or line.rstrip().endswith(":")) else "code"
        listed = kind == "item" or within or (listed and not line.strip())
        if heading or ruled or not line.strip() or _RULER.match(line) or _NOISE.match(line) or kind == "row":
            yield from [open_] if open_ else []
            open_ = None
            if heading or ruled:
                level = len(heading[1]) if heading else 1 + "=-~^".find(below[0]) % 5
                titles = {one: words for one, words in titles.items() if one < level}
                titles[level] = plain(heading[2] if heading else line)
                yield _Block("heading", title, number, [titles[level]])
            elif kind == "row" and not _LINE.fullmatch(line) and not _LINE.fullmatch(below):
                yield _Block("row", title, number, [line])
        elif open_ is None or kind == "item" or (kind == "code") != (open_.kind == "code"):
            yield from [open_] if open_ else []
            open_ = _Block(kind, title, number, [line])
        else:
            open_.lines.append(line)


def _of_document(text: str, path: str) -> Iterator[Fact]:
    """Yield the sentences, the items with the line that leads to them, the rows, and the commands of a document."""
    lead = above = heading = ""
    items: list[tuple[str, _Block]] = []
    blocks = _blocks(_without_references(text).split("\n")[:_MOST_LINES])
    for block in (*blocks, _Block("end", "", 0, [])):
        if block.kind == "item":
            said = plain(" ".join([_ITEM.sub("", block.lines[0], count=1), *map(str.strip, block.lines[1:])]))
            yield from _of_prose(said, lead, block, path)
            items.append((said.rstrip(".;"), block))
            above = said
            continue
        if block.kind == "code":
            yield from _of_code(block, above, path)
            lead = ""
            continue
        if about := lead.rstrip(":.…") if lead.endswith(_LEADS) else heading:
            yield from _of_list(about, items, path)
        items = []
        if block.kind == "heading":
            lead, above, heading = "", "", block.lines[0]
        elif block.kind == "row":
            cells = [plain(cell).strip() for cell in _CELL.split(block.lines[0].strip("| "))]
            if len(cells) > 1 and max(len(cell.split()) for cell in cells) > 1:
                yield Fact(
                    cut(": ".join(filter(None, cells)), _LONGEST), path, f"{cells[0]}\n{block.title}", block.line
                )
        elif block.kind == "paragraph":
            above = plain(" ".join(map(str.strip, block.lines)))
            yield from _of_prose(above, "", block, path)
            lead = next(iter(sentences(above)[-1:]), "")


def _without_references(text: str) -> str:
    """Return a document with the text of each link whose address is told elsewhere in its place."""
    names = re.findall(r"^ {0,3}\[([^\]\n]{1,80})\]:[ \t]", text, re.MULTILINE)
    text = re.sub(r"(?<![\w!\]])\[([^\]\[]{1,200})\]\[[^\]\n]{0,80}\]", r"\1", text)
    alone = "|".join(map(re.escape, names[:_MOST_REFERENCES]))
    return re.sub(rf"(?<!\w)\[({alone})\](?![\[(:])", r"\1", text, flags=re.IGNORECASE) if names else text


def _of_list(about: str, items: list[tuple[str, _Block]], path: str) -> Iterator[Fact]:
    """Yield a short list as a whole, after what leads to it."""
    if 1 < len(items) < 9 and sum(len(said) for said, _ in items) < _LONGEST:
        block = items[0][1]
        yield Fact(f"{about}: {'; '.join(said for said, _ in items)}", path, block.title, block.line, "list")


def _of_prose(text: str, lead: str, block: _Block, path: str) -> Iterator[Fact]:
    """Yield the sentences of a paragraph or an item, each with those that lean on it; the first of an item with the
    sentence that leads to it.
    """
    told: list[str] = []
    for one in sentences(text):
        if told and (len(told[-1].split()) < 4 or _LEANS.match(one)):
            told[-1] += f" {one}"
        else:
            told.append(one)
    if told and lead.endswith(_LEADS):
        told[0] = f"{lead} {told[0]}"
    for one in told:
        if len(one.split()) > 3 and len(one) <= _LONGEST and not one.endswith(("?", *_LEADS)):
            yield Fact(one, path, block.title, block.line)


def _of_code(block: _Block, above: str, path: str) -> Iterator[Fact]:
    """Yield the commands of a block, those that follow each other together, after the comment above them."""
    commands: list[str] = []
    lead = next(iter(sentences(above)[-1:]), "")
    comment, first = lead if len(lead) <= _LEAD else "", 0
    for number, line in enumerate([*block.lines, ""], block.line):
        bare = re.sub(r"^`([^`]+)`$", r"\1", re.sub(r"^[ \t]*[$>%][ \t]+", "", line).strip())
        if commands and commands[-1].endswith("\\"):
            commands[-1] = commands[-1].rstrip(" \\") + f" {bare}"
            continue
        if bare and not bare.startswith(("#", "//")):
            commands.append(bare)
            first = first or number
            continue
        if commands and sum(map(len, commands)) < _LONGEST and not any(map(_NO_COMMAND.search, commands)):
            shown = "; ".join(f"`{one}`" for one in commands[:4])
            about = "" if shown in comment else comment.rstrip(".:")
            yield Fact(f"{about}: {shown}" if about else shown, path, f"{above[-_LONGEST:]}\n{block.title}", first)
        elif len(commands) == 1 and lead.endswith(":") and "`" not in commands[0]:
            yield Fact(f"{lead} “{cut(commands[0], _LEAD)}”", path, block.title, first)
        if commands or bare:
            commands, comment, first = [], bare.lstrip("#/ "), 0


def _of_comments(text: str, path: str) -> Iterator[Fact]:
    """Yield the sentences of the comments in a file of settings, with the line below each as its title."""
    for comment in comments_of(text):
        for one in sentences(comment.text):
            if len(one.split()) > 3 and len(one) <= _LONGEST and one.count(" - ") < 2:
                yield Fact(one, path, comment.below.lstrip("- ")[:80], comment.line)


def _of_workflow(tree: Tree, path: str) -> Iterator[Fact]:
    """Yield the steps of a workflow with their names and folders."""
    text, at = tree.text(path), 0
    for job in jobs_of(tree, path):
        for (step, folder), lines in groupby(job.lines, key=lambda line: (line.step, line.folder)):
            told = [line.text for line in lines][:3]
            at = max(at, text.find(told[0], at))
            shown = "; ".join(f"`{one}`" for one in told)
            said = f"In `{folder}`: {shown}" if folder else shown
            yield Fact(said, path, f"{step} {folder}", line_at(text, told[0], at))
