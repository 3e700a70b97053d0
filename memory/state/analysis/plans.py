"""Reads the documents of a repository about the work: open steps, traps, and unreleased changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.state.files.model import NOT_SAID

from .documents import Section, capital, cut, documents, ended, first_sentence, plain, sentences, some_sentences
from .tree import Tree

MOST_STEPS, MOST_GOTCHAS, MOST_CHANGES = 10, 12, 6
_TITLE, _TEXT = 100, 400

_NAMED = r"(?:{})(?:\.(?:md|markdown|rst|txt))?"
_PLANS = re.compile(_NAMED.format("todo|to-do|roadmap|backlog|next[-_ ]?steps|plan"), re.IGNORECASE)
_CHANGES = re.compile(_NAMED.format("changelog|changes|history|news|release[-_ ]?notes"), re.IGNORECASE)
_GUIDES = re.compile(
    r"(?:readme|contributing|hacking|development|agents|claude|gemini|gotchas|pitfalls|known[-_ ]?issues|caveats"
    r"|troubleshooting|faq|architecture|design)\.(?:md|markdown|rst|txt)",
    re.IGNORECASE,
)
_PLAN_TITLE = re.compile(
    r"\b(?:todos?|to-do|roadmap|next steps|planned|future work|upcoming|what'?s next)\b", re.IGNORECASE
)
_CLOSED = re.compile(
    r"\b(?:done|completed?|finished|shipped|released|archived?|history|rejected|not planned|won'?t|non-?goals?|ideas?"
    r"|out of scope)\b",
    re.IGNORECASE,
)
_TRAPS = re.compile(
    r"\b(?:gotchas?|pitfalls?|known (?:issues|problems|bugs|limitations)|caveats?|traps?|troubleshooting"
    r"|common (?:problems|errors|mistakes)|watch out|limitations)\b",
    re.IGNORECASE,
)
_FILE_OF_TRAPS = re.compile(
    r"(?:.*/)?(?:gotchas|pitfalls|known[-_ ]?issues|caveats|troubleshooting)\.\w+", re.IGNORECASE
)
_UNRELEASED = re.compile(
    r"\A\W*(?:unreleased|next|upcoming|development|master|main|head|future|in progress)\b(?! generation)"
    r"|\bunreleased\b|\bTB[DA]\b|\bnot (?:yet )?released\b|\d[-.]?(?:dev\d*|wip|snapshot)\b|[-/.](?:xx|\?\?)\b|YYYY",
    re.IGNORECASE,
)
_STILL = re.compile(r"\W*(?:unreleased|TB[DA]|not (?:yet )?released|release date: (?:tbd|unreleased))\b", re.IGNORECASE)
_FRAGMENTS = re.compile(
    r"(?:\.changeset|newsfragments|changelog\.d|changes\.d|news\.d|\.changes/unreleased|changelog/unreleased|\.unreleased)/[^/]+"
)
_CREDIT = re.compile(r"\s*(?:\([^()]*#\d+[^()]*\)|\\?#\d+)\.?\Z")
"""The number of a change and who made it, at the end."""
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LEAD = re.compile(r"(.{3,100}?)(?::|\.| [–—-])\s+(?=\S)")
_LABELS = {
    "symptom": ("symptom", "symptoms", "problem", "issue", "error"),
    "cause": ("reason", "reasons", "cause", "causes", "why"),
    "correctPath": ("solution", "solutions", "fix", "workaround", "resolution", "correct path"),
}
_LABEL = re.compile(rf"({'|'.join(word for words in _LABELS.values() for word in words)}):\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unreleased:
    """The changes that are in no version yet: the file or folder, the section ("" for a folder), and their texts."""

    path: str
    title: str
    changes: list[str]


def unreleased(tree: Tree, main: str = "", coming: str = "") -> Unreleased | None:
    """Return what the change log or a folder of fragments lists as not released; None where nothing is.

    `main` is the folder of the main package, `coming` the start of the version that its manifest calls unfinished.
    """
    fragments = [path for path in tree.files if _FRAGMENTS.fullmatch(path) and "readme" not in path.lower()]
    told = [first_sentence(plain(_FRONT.sub("", tree.text(path)).strip().split("\n\n")[0]), _TEXT) for path in fragments
            if path.endswith((".md", ".rst", ".txt")) or ".changeset" not in path]  # fmt: skip
    for path, sections in documents(tree, _CHANGES, main):
        versions = [one for one in sections if one.level in (1, 2) and (one.blocks or one.level == 2)]
        for section in versions[:3]:
            still = bool(section.paragraphs) and _STILL.match(section.paragraphs[0]) is not None
            named = [one for one in section.titles if coming and re.search(rf"(?<![\d.]){re.escape(coming)}", one)]
            soon = section is versions[0] and bool(named)
            if not (still or soon or _UNRELEASED.search(section.title)):
                continue
            top = named[0] if soon else section.title
            inner = [one for one in sections if one is section or top in one.above]
            changes = [some_sentences(_CREDIT.sub("", item.text), _TEXT) for one in inner for item in one.items]
            changes = changes or list(filter(None, (" ".join(sentences(one)[1:]) for one in section.paragraphs[:1])))
            if changes:
                title = named[0] if soon else section.title.strip("[]")
                return Unreleased(path, title, [*changes, *filter(None, told)])
    told = list(filter(None, told))
    return Unreleased(fragments[0].rpartition("/")[0], "", told) if told else None


def newest_version(tree: Tree, main: str = "") -> str:
    """Return what the newest version in the change log changed first, as a sentence; "" without one."""
    for path, sections in documents(tree, _CHANGES, main):
        for section in sections:
            inner = [one for one in sections if one is section or section.title in one.above]
            items = [item.text for one in inner for item in one.items]
            if section.level in (1, 2) and items and re.search(r"\d\.\d", section.title):
                said = some_sentences(items[0], _TEXT)
                return ended(f"The newest section of `{path}` is “{cut(section.title, _TITLE)}”: {said}")
    return ""


def next_steps(tree: Tree) -> list[dict[str, str]]:
    """Return the open items of TODO and ROADMAP files, else of such sections in the guides, in document order."""
    plans = [(path, one) for path, sections in documents(tree, _PLANS) for one in sections]
    guides = [
        (path, one) for path, sections in documents(tree, _GUIDES) for one in sections
        if any(map(_PLAN_TITLE.search, one.titles))
    ]  # fmt: skip
    for found in (plans, guides):
        steps = [
            _step(tree, path, section, item.text, item.ticked is False)
            for path, section in found
            for item in section.items
            if item.ticked is False or (item.ticked is None and not any(map(_CLOSED.search, section.titles)))
        ]
        if steps := [step for step in steps if re.search(r"\w", step["title"])]:
            return steps[:MOST_STEPS]
    return []


def _step(tree: Tree, path: str, section: Section, text: str, boxed: bool) -> dict[str, str]:
    title, rest = _title(text)
    where = f"`{path}`, “{section.title}”" if section.title else f"`{path}`"
    named = next(
        (one for one in re.findall(r"`([^`\s]{2,200})`", text) if tree.has(one) or one.rstrip("/") in tree.folders), ""
    )
    return {
        "title": title,
        "why": ended(capital(some_sentences(rest, _TEXT))) if rest else f"Listed in {where}.",
        "start": f"`{named}`; listed in {where}." if named else f"The list in {where}.",
        "done": f"The box in `{path}` is ticked." if boxed else f"The item is gone from `{path}`.",
    }


def _title(text: str) -> tuple[str, str]:
    """Return a short title and the rest of a text: the title ends at a colon, a dash or a sentence, or is cut."""
    lead = _LEAD.match(text)
    if lead is not None and not lead[1].endswith((" e.g", " i.e")) and lead[1].count("`") % 2 == 0:
        return lead[1].strip(), text[lead.end() :].strip()
    found = sentences(text)
    first = found[0] if found else text
    return (first.rstrip("."), " ".join(found[1:])) if len(first) <= _TITLE else (cut(first, _TITLE), text)


def gotchas(tree: Tree) -> list[dict[str, str]]:
    """Return the traps in the documents, under headings such as Known issues or Troubleshooting."""
    found: list[dict[str, str]] = []
    for path, sections in documents(tree, _GUIDES):
        whole = _FILE_OF_TRAPS.fullmatch(path) is not None
        for section in sections:
            if not whole and not any(map(_TRAPS.search, section.titles)):
                continue
            own = bool(section.title) and not _TRAPS.search(section.title) and section.level > (1 if whole else 0)
            if own and section.blocks:
                found.append(_told(path, section))
            elif not own:
                found += [_gotcha(path, section.title, *_title(item.text)) for item in section.items]
    return [one for one in found if re.search(r"\w", one["title"])][:MOST_GOTCHAS]


def _told(path: str, section: Section) -> dict[str, str]:
    """Return the trap that a section describes, split by labels such as `Reason:` where it has them."""
    labelled: dict[str, list[str]] = {}
    place = "symptom"
    for text in section.sentences():
        label = _LABEL.match(text)
        if label is not None:
            place = next(name for name, words in _LABELS.items() if label[1].lower() in words)
        labelled.setdefault(place, []).append(text[label.end() :] if label is not None else text)
    above = section.above[-1] if section.above else section.title
    if len(labelled) == 1 or not labelled.get("symptom"):
        return _gotcha(path, above, section.title, " ".join(section.sentences()))
    found = _gotcha(path, above, section.title, "")
    said = {name: ended(capital(some_sentences(" ".join(lines), _TEXT))) for name, lines in labelled.items()}
    return found | {name: text for name, text in said.items() if text != "."}


def _gotcha(path: str, section: str, title: str, text: str) -> dict[str, str]:
    told = sentences(text)
    way = some_sentences(" ".join(told[1:]), _TEXT)
    return {
        "title": cut(title.rstrip("."), _TITLE),
        "symptom": ended(capital(cut(told[0], _TEXT) if told else title)),
        "cause": f"Written in `{path}`" + (f", “{section}”." if section else "."),
        "correctPath": ended(capital(way)) if way else NOT_SAID,
    }
