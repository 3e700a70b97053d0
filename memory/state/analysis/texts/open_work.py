"""Open work according to the documents and comments of a repository: next steps, gotchas, unreleased changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.state.analysis.languages import is_test, language_of
from memory.state.analysis.tree import Tree

from .documents import ListItem, TextSection, documents
from .prose import capital, count_of, cut, ended, sentences, some_sentences

MOST_STEPS = 10
MOST_GOTCHAS = 12
_TITLE, _TEXT = 100, 400

_PLANS = re.compile(r"(?:todo|to-do|roadmap|backlog|next[-_ ]?steps|plan)(?:\.(?:md|markdown|rst|txt))?", re.IGNORECASE)
_CHANGES = re.compile(
    r"(?:changelog|changes|history|news|release[-_ ]?notes)(?:\.(?:md|markdown|rst|txt))?", re.IGNORECASE
)
_GUIDES = re.compile(
    r"(?:readme|contributing|hacking|development|agents|claude|gemini|gotchas|pitfalls|known[-_ ]?issues|caveats"
    r"|troubleshooting|faq|architecture|design)(?:\.(?:md|markdown|rst|txt))",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:todos?|to-do|roadmap|next steps|planned|future work|upcoming|what'?s next)\b", re.IGNORECASE)
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
_UNRELEASED = re.compile(r"\[?\s*(?:unreleased|next|upcoming|development|master|main|head)\b", re.IGNORECASE)
_LEAD = re.compile(r"(.{3,100}?)(?::|\.| [–—-])\s+(?=\S)")
_LABELS = {
    "symptom": ("symptom", "symptoms", "problem", "issue", "error"),
    "cause": ("reason", "reasons", "cause", "causes", "why"),
    "correctPath": ("solution", "solutions", "fix", "workaround", "resolution", "correct path"),
}
_LABEL = re.compile(rf"({'|'.join(word for words in _LABELS.values() for word in words)}):\s*", re.IGNORECASE)
_MARK = re.compile(r"(?:#|//|/\*|\*|--|;|<!--|%)[ \t]*(TODO|FIXME|XXX|HACK)\b")
_MOST_SOURCES = 4000

LISTED = "Listed in `{path}`"
WRITTEN = "As written in `{path}`"


@dataclass(frozen=True, slots=True)
class Unreleased:
    """The changes that are in no version yet: the file, the title of the section, and their number by kind."""

    path: str
    title: str
    kinds: dict[str, int]

    @property
    def count(self) -> int:
        """How many changes there are."""
        return sum(self.kinds.values())


def next_steps(tree: Tree) -> list[dict[str, str]]:
    """Return the open items of TODO and ROADMAP files, else of such sections in the guides, in document order."""
    steps = [
        _step(tree, path, part, item)
        for path, parts in documents(tree, _PLANS)
        for part in parts
        for item in part.items
        if item.ticked is False or (item.ticked is None and not any(map(_CLOSED.search, part.titles)))
    ]
    if not steps:
        steps = [
            _step(tree, path, part, item)
            for path, parts in documents(tree, _GUIDES)
            for part in parts
            if any(map(_is_plan, part.titles)) and not any(map(_CLOSED.search, part.titles))
            for item in part.items
            if item.ticked is not True
        ]
    steps = _with_title(steps)[:MOST_STEPS]
    changes = unreleased(tree)
    if changes is not None:
        steps.append(_release(changes))
    return steps


def _is_plan(title: str) -> bool:
    planned = re.search(r"(?i)todo|to-do|roadmap|next steps|planned|future|upcoming", title)
    return planned is not None and _OPEN.search(title) is not None


def _release(changes: Unreleased) -> dict[str, str]:
    many = count_of(changes.count, "change")
    return {
        "title": "Release what is not released yet",
        "why": f"{LISTED.format(path=changes.path)}, “{changes.title}”: {many} that no version holds.",
        "start": f"The section “{changes.title}” of `{changes.path}`.",
        "done": f"The section has the number and the date of a version in `{changes.path}`.",
    }


def _with_title(found: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the steps that have a title: a box without text, or dots alone, have none."""
    return [one for one in found if one["title"].strip()]


def _step(tree: Tree, path: str, part: TextSection, item: ListItem) -> dict[str, str]:
    title, rest = _title(item.text)
    where = f", “{part.title}”" if part.level > 1 and part.title else ""
    # No line number: the entry block moves the lines of a README.
    place = f"the list under “{part.title}” in `{path}`" if part.title else f"the list in `{path}`"
    named = next(
        (
            one
            for one in re.findall(r"`([^`\s]{2,200})`", item.text)
            if tree.has(one) or tree.has_folder(one.rstrip("/"))
        ),
        "",
    )
    why = LISTED.format(path=path) + where + (f": {capital(some_sentences(rest, _TEXT))}" if rest else "")
    done = "its box is ticked" if item.ticked is False else "the item is gone from the list"
    return {
        "title": title,
        "why": ended(why),
        "start": f"`{named}`, and {place}." if named else f"{capital(place)}.",
        "done": f"What it asks for works, and {done} in `{path}`.",
    }


def _title(text: str) -> tuple[str, str]:
    """Return a short title and the rest of a text: the title ends at a colon, a dash or a sentence, or is cut."""
    lead = _LEAD.match(text)
    if lead is not None and not lead[1].endswith((" e.g", " i.e")) and lead[1].count("`") % 2 == 0:
        return lead[1].strip(), text[lead.end() :].strip()
    found = sentences(text)
    first = found[0] if found else text
    if len(first) <= _TITLE:
        return first.rstrip("."), " ".join(found[1:])
    return cut(first, _TITLE), text


def gotchas(tree: Tree) -> list[dict[str, str]]:
    """Return the gotchas in the documents, under headings such as Known issues or Troubleshooting."""
    found: list[dict[str, str]] = []
    for path, parts in documents(tree, _GUIDES):
        whole = _FILE_OF_TRAPS.fullmatch(path) is not None
        for part in parts:
            if not whole and not any(map(_TRAPS.search, part.titles)):
                continue
            own = bool(part.title) and not _TRAPS.search(part.title) and part.level > (1 if whole else 0)
            if own and (part.paragraphs or part.items):
                found.append(_told(path, part, part.above[-1] if part.above else part.title))
            elif not own:
                found += [_gotcha(path, *_title(item.text), part.title) for item in part.items]
    return _with_title(found)[:MOST_GOTCHAS]


def _told(path: str, part: TextSection, section: str) -> dict[str, str]:
    """Return the gotcha that a section describes, split by labels such as `Reason:` where it has them."""
    texts = part.texts()
    found = _gotcha(path, part.title, " ".join(texts), section)
    labelled: dict[str, list[str]] = {}
    place = "symptom"
    for text in texts:
        label = _LABEL.match(text)
        if label is not None:
            place = next(name for name, words in _LABELS.items() if label[1].lower() in words)
        labelled.setdefault(place, []).append(text[label.end() :] if label is not None else text)
    said = {name: some_sentences(" ".join(lines), _TEXT) for name, lines in labelled.items()}
    if len(said) > 1 and said.get("symptom"):
        found["symptom"] = ended(capital(said["symptom"]))
        if said.get("cause"):
            found["cause"] = ended(f"{found['cause'].removesuffix('.')}: {capital(said['cause'])}")
        if said.get("correctPath"):
            found["correctPath"] = ended(capital(said["correctPath"]))
    return found


def _gotcha(path: str, title: str, text: str, section: str) -> dict[str, str]:
    told = sentences(text)
    where = f"{WRITTEN.format(path=path)}" + (f", “{section}”" if section else "")
    symptom = cut(told[0], _TEXT) if told else title
    way = some_sentences(" ".join(told[1:]), _TEXT) if len(told) > 1 else ""
    return {
        "title": cut(title.rstrip("."), _TITLE),
        "symptom": ended(capital(symptom)),
        "cause": f"{where}.",
        "correctPath": ended(capital(way))
        if way
        else f"Read {where.removeprefix('As written in ')} before you work on it.",
    }


def unreleased(tree: Tree) -> Unreleased | None:
    """Return the changes that the change log lists above its versions, None where there are none."""
    for path, parts in documents(tree, _CHANGES):
        for part in parts:
            if part.level in (1, 2) and _UNRELEASED.match(part.title):
                kinds = {one.title: len(one.items) for one in parts if one is part or part.title in one.above}
                kinds = {title: count for title, count in kinds.items() if count}
                if kinds:
                    return Unreleased(path, part.title.strip("[]"), kinds)
        break
    return None


def marks(tree: Tree) -> tuple[dict[str, int], str, int]:
    """Return the counts of TODO, FIXME, XXX and HACK outside of tests, the file with most of them, and its count."""
    counts: dict[str, int] = {}
    most, where = 0, ""
    sources = [path for path in tree.files if language_of(path) is not None and not is_test(path)]
    for path in sources[:_MOST_SOURCES]:
        found = [match[1] for match in _MARK.finditer(tree.text(path))]
        for one in found:
            counts[one] = counts.get(one, 0) + 1
        if len(found) > most:
            most, where = len(found), path
    return counts, where, most
