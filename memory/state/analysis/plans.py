"""Reads the documents of a repository about the work: open steps, rules, traps, and unreleased changes."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory.base.safe_text import one_line
from memory.state.files.model import NOT_SAID

from .ci import ci_files
from .documents import (
    FRONT,
    ListItem,
    Section,
    capital,
    cut,
    documents,
    ended,
    first_sentence,
    plain,
    sentences,
    some_sentences,
)
from .tree import HASHED, Tree, language_of

MOST_STEPS, MOST_GOTCHAS, MOST_CHANGES, _MOST_RULES = 10, 12, 6, 6
_TITLE, _TEXT = 100, 400


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


def _file(names: str, ends: str = r"(?:\.(?:md|markdown|rst|txt))?") -> re.Pattern[str]:
    return re.compile(rf"(?:{names}){ends}", re.IGNORECASE)


_TRAP_FILE = r"gotchas|pitfalls|known[-_ ]?issues|caveats|troubleshooting"
_PLANS = _file("todo|to-do|roadmap|backlog|next[-_ ]?steps|plan")
_CHANGES = _file("changelog|changes|(?:version[-_ ]?)?history|news|release[-_ ]?notes")
_GUIDES = _file(f"readme|contributing|hacking|development|agents|claude|gemini|faq|architecture|design|{_TRAP_FILE}",
                r"\.(?:md|markdown|rst|txt)")  # fmt: skip
_FILE_OF_TRAPS = _file(_TRAP_FILE, r"\.\w+")
_FOR_USERS = _file("readme|faq|troubleshooting", r"\.\w+")
_FOR_CONTRIBUTORS = _file("agents|claude|contributing|developing|hacking|(?:pull|merge)_request_template",
                          r"\.(?:md|markdown|rst|txt)")  # fmt: skip
_GUIDELINES = _words("pull requests?|checklist|(?:coding|style) guide(?:lines?)?|coding style")
_HARD = _words(r"never|do not|don['’]t|must(?: not)?|always|(?:to|against|from|off) (?:the )?[`\w./-]+ branch")
_RULE = re.compile(
    rf"{_HARD.pattern}|\b(?:only|required|please (?:run|add|use)|before (?:you|creating|opening|submitting|testing))\b",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"(?:(?:important|note): )?(?:(?:please|never|always|do not|don['’]t|make sure|ensure|run|use|keep|add|update"
    r"|create|send|open|before|avoid|write|include|document|follow|put|target|rebase|only|if (?:you|your|the pr)"
    r"|all|every|each|any|new|your|you (?:must|should)|for the ci|to (?:run|build|test)|larger|changes?|commits?"
    r"|pull requests?|prs?|tests?|files?|we (?:do not|don['’]t|only|will not|won['’]t) (?:accept|merge|take))\b)",
    re.IGNORECASE,
)
"""The beginnings of what a guide asks of its reader; what it tells of the project is no rule."""
_SPAN = re.compile(r"`[^`]+`")
_PARTICULAR = re.compile(
    r"`|\d| (?:to|against|from|off) (?:the )?[\w./*-]+ branch"
    r"|(?<=[a-z,] )(?!PRs?\b|CI\b|API|README|I\b|I'|Git(?:Hub)?\b|URL|Pull|LICENSE|Contribut|If\b)[A-Z][\w-]+"
)
"""A name, a number or code: a rule with one is about this project, not about any."""
_NO_RULE = re.compile(
    r"\b(?:conduct|licen[sc]es?|copyright|CLA|review\w*|thank\w*|welcome|issues?|questions?|bug reports?|wanted"
    r"|feature requests?|security|support|translat\w+|governance|agreement|up to you|fork the|return to|afraid"
    r"|make sure you have|feel free|personally|clone|navigate|clear title|first (?:pull|contribution)|waste|push"
    r"|git (?:clone|checkout|commit|add|remote)|it['’]s ok|no need to|intimidate|almost always"
    r"|don['’]t (?:worry|have to|need|want|hesitate))\b|\A`|[<❗]|://|:exclamation:"
    r"|\Arun `|\Ato (?:run|build|test)\b.*`"
    r"|\A(?:I|You|My)(?:['’]ve| have)?\b(?! (?:must|should|need)\b)",
    re.IGNORECASE,
)
"""What a guide says to those who report or ask, out of politeness, or by law, and commands: no rule for a change."""
_OTHER_WORK = _words(
    r"releas\w+|publish\w*|maintainers?|commit messages?|issues?|bugs?|ideas?|terminology|ai|conduct|licen[sc]e"
    r"|copyright|security|support|translat\w+|governance|agreement|questions?"
)
"""The titles of sections about something else than a change."""
_LEANS = re.compile(
    r"(?:if (?:you|we) do(?:n['’]t| not)|if possible|otherwise|however|for example|but|it|this|these|they|yes|should"
    r"|must)\b",
    re.IGNORECASE,
)
"""The beginnings of sentences that mean nothing without the one before them."""
_PLAN_TITLE = _words(r"todos?|to-do|roadmap|next steps|planned|future work|upcoming|what'?s next")
_CLOSED = _words(
    r"done|completed?|finished|shipped|released|archived?|history|rejected|not planned|won'?t|non-?goals?|ideas?"
    r"|out of scope"
)
_TRAPS = _words(
    r"gotchas?|pitfalls?|known (?:issues|problems|bugs|limitations)|caveats?|traps?|troubleshooting"
    r"|common (?:problems|errors|mistakes)|watch out|limitations"
)
_HELP = _words("troubleshooting|common (?:problems|errors)")
_UNRELEASED = re.compile(
    r"\A\W*(?:unreleased|next|upcoming|development|master|main|head|future|in progress)\b(?! generation)"
    r"|\bunreleased\b|\bTB[DA]\b|\bnot (?:yet )?released\b|\d[-.]?(?:dev\d*|wip|snapshot)\b|[-/.](?:xx|\?\?)\b|YYYY",
    re.IGNORECASE,
)
_STILL = re.compile(r"\W*(?:unreleased|TB[DA]|not (?:yet )?released|release date: (?:tbd|unreleased))\b", re.IGNORECASE)
_FRAGMENTS = re.compile(
    r"(?:\.changeset/[^/]+\.md|(?:newsfragments|changelog\.d|changes\.d"
    r"|\.changes/unreleased)/[^/.][^/]*)(?<!readme\.md)",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"\s*(?:by @[\w-]+(?: in)?(?: \\?#\d+)?"
    r"|\((?:[^()]*#\d+[^()]*|https?://[^()]*)\)|\\?#\d+|(?:@[\w-]+ )?\b[0-9a-f]{7,40})\.?\Z"
)
"""The number of a change and who made it, at the end."""
_NO_CHANGE = re.compile(r"(?:none|nothing|no changes?|n/a|tbd)\b.{0,12}\Z", re.IGNORECASE)
_POINTS = re.compile(r"(?:see|read) (?:more|the|this)\b[^.]{0,40}\.?\Z", re.IGNORECASE)
"""What is left of a link without its address."""
_LEAD = re.compile(r"(.{3,100}?)(?::|\.| [–—-])\s+(?=\S)")


_TOGETHER = re.compile(
    r"\b(?:keep \w* ?in sync with|kept in sync|(?:don't|do not) forget to (?:update|bump|change|sync)"
    r"|please also update"
    r"|must (?:also )?be updated when"
    r"|(?:if|when(?:ever)?) you (?:change|add|modify|update|edit|rename|remove)\b.*"
    r"\b(?:also|must|please|update|make sure))\b",
    re.IGNORECASE,
)
"""What comments say of things that are changed together."""
_ONLY = re.compile(
    rf"{_TOGETHER.pattern}|\b(?:requires|only (?:works|builds|supports|on|with)|(?:n't|not) support(?:ed)?|broken"
    r"|cannot|can't|prevents|pinned|breaks|must)\b(?=.*(?:\d|\bbecause\b|\bdue to\b))",
    re.IGNORECASE,
)
"""The same, and what works only with a version."""
_SETTINGS = re.compile(r"(?:makefile|justfile|pyproject\.toml|tox\.ini|setup\.cfg|cargo\.toml|rakefile|cmakelists\.txt"
                       r"|noxfile\.py|build\.gradle(?:\.kts)?|gemfile|meson\.build)", re.IGNORECASE)  # fmt: skip
_COMMENT = re.compile(r"(?:^[ \t]*(?://(?![/!])|#|\*|/\*|--)[^\n]*\n)+", re.MULTILINE)
_CODE_LINE = re.compile(r"^[^\n]*(?: --?\w|[=;{}])[^\n]*\n", re.MULTILINE)
"""A line of a comment that is code."""
_MARK = re.compile(r"^[ \t]*(?://+|#+|/?\*+/?|--)[ \t]?|\*/|\b(?:TODO|FIXME|XXX)\b[^\n]*", re.MULTILINE)
_FEWEST, _MOST_WARNINGS = 6, 4


class Unreleased(NamedTuple):
    """The changes that are in no version yet: the file or folder, the section ("" for a folder), and their texts."""

    path: str
    title: str
    changes: list[str]


def unreleased(tree: Tree, packages: list[str], coming: str = "") -> Unreleased | None:
    """Return what the change log or a folder of fragments lists as not released; None where nothing is.

    `packages` are the folders of the packages, `coming` is the start of the version that a manifest calls unfinished.
    """
    fragments = [path for path in tree.files if _FRAGMENTS.fullmatch(path)]
    texts = (FRONT.sub("", tree.text(path)).strip().partition("\n\n")[0] for path in fragments)
    told = list(filter(None, (first_sentence(plain(text), _TEXT) for text in texts)))
    for path, sections in documents(tree, _CHANGES, packages):
        versions = [one for one in sections if one.level in (1, 2) and (one.blocks or one.level == 2)]
        for section in versions[:3]:
            still = bool(section.paragraphs) and _STILL.match(section.paragraphs[0]) is not None
            named = [one for one in section.titles if coming and re.search(rf"(?<![\d.]){re.escape(coming)}", one)]
            soon = section is versions[0] and bool(named)
            if not (still or soon or _UNRELEASED.search(section.title)):
                continue
            top = named[0] if soon else section.title
            changes = [one for one in _items(sections, section, top) if not _NO_CHANGE.match(one)]
            changes = changes or list(filter(None, (" ".join(sentences(one)[1:]) for one in section.paragraphs[:1])))
            if changes:
                return Unreleased(path, top.strip("[]"), [*changes, *told])
    return Unreleased(fragments[0].rpartition("/")[0], "", told) if told else None


def credited(text: str) -> str:
    """Return the text of a change without its number and who made it."""
    return _CREDIT.sub("", text)


def _items(sections: list[Section], section: Section, top: str) -> list[str]:
    """Return the items of a section, and of those below the title `top`."""
    inner = [one for one in sections if one is section or top in one.above]
    return [some_sentences(credited(item.text), _TEXT) for one in inner for item in one.items]


def next_steps(tree: Tree) -> list[dict[str, str]]:
    """Return the open items of TODO and ROADMAP files, else of such sections in the guides, in document order."""
    plans = [(path, one) for path, sections in documents(tree, _PLANS) for one in sections]
    guides = ((path, one) for path, sections in documents(tree, _GUIDES) for one in sections)
    for found in (plans, [(path, one) for path, one in guides if any(map(_PLAN_TITLE.search, one.titles))]):
        steps = [
            _step(path, section.title, item.text, item.ticked is False)
            for path, section in found
            for item in section.items
            if item.ticked is False or (item.ticked is None and not any(map(_CLOSED.search, section.titles)))
        ]
        if steps := [step for step in steps if len(re.findall(r"\w+", step["title"])) > 1]:
            return steps[:MOST_STEPS]
    return []


def _step(path: str, section: str, text: str, boxed: bool) -> dict[str, str]:
    title, rest = _title(text)
    where = f"`{path}`, “{section}”" if section else f"`{path}`"
    return {
        "title": title,
        "why": ended(capital(some_sentences(rest, _TEXT))) if rest else f"Listed in {where}.",
        "start": f"The list in {where}.",
        "done": f"The box in `{path}` is ticked." if boxed else f"The item is gone from `{path}`.",
    }


def _title(text: str) -> tuple[str, str]:
    """Return a short title and the rest of a text: the title ends at a colon, a dash or a sentence, or is cut."""
    lead = _LEAD.match(text)
    whole = lead is not None and len(lead[1].split()) > 1 and not lead[1].endswith((" e.g", " i.e"))
    if lead is not None and (whole or lead[1][0] in "`*") and lead[1].count("`") % 2 == 0:
        return lead[1].strip(), text[lead.end() :].strip()
    first, *rest = sentences(text) or [text]
    return (first.rstrip("."), " ".join(rest)) if len(first) <= _TITLE else (cut(first, _TITLE), text)


def gotchas(tree: Tree) -> list[dict[str, str]]:
    """Return the rules for contributors, the warnings in comments, and the traps under headings such as Known issues.

    The help for users in a README, in a list of questions, or in a file of troubles is none.
    """
    found = [*_rules(tree), *_warnings(tree)]
    for path, sections in documents(tree, _GUIDES):
        name = path.rpartition("/")[2]
        for_users = _FOR_USERS.fullmatch(name) is not None
        whole = not for_users and _FILE_OF_TRAPS.fullmatch(name) is not None
        for section in sections:
            if not whole and not any(map(_TRAPS.search, section.titles)):
                continue
            if section.title.lower().endswith("help") or (for_users and any(map(_HELP.search, section.titles))):
                continue
            if not section.title or _TRAPS.search(section.title) or section.level <= whole:
                found += [
                    _gotcha(path, section.title, *_title(item.text))
                    for item in section.items
                    if for_users or whole or _PARTICULAR.search(item.text[1:])
                ]
            elif section.blocks:
                text = " ".join(one if isinstance(one, str) else ended(one.text) for one in section.blocks)
                found.append(_gotcha(path, next(reversed(section.above), section.title), section.title, text))
    return [one for one in found if re.search(r"\w", one["title"]) and "{:" not in one["title"] + one["correctPath"]][
        :MOST_GOTCHAS
    ]


def _rules(tree: Tree) -> list[dict[str, str]]:
    """Return the rules in the guide for contributors and in the template of pull requests, the hard ones first."""
    found: dict[str, tuple[str, str]] = {}
    for path, sections in documents(tree, _FOR_CONTRIBUTORS):
        for section in (one for one in sections if not any(map(_OTHER_WORK.search, one.titles))):
            guidelines = _GUIDELINES.search(section.title) is not None or "template" in path.lower()
            for block in section.blocks:
                listed = isinstance(block, ListItem)
                for text in [block.text] if isinstance(block, ListItem) else sentences(block):
                    if _is_rule(text, listed=listed and guidelines) and (listed or not _LEANS.match(text)):
                        found.setdefault(capital(text), (path, section.title))
    chosen = sorted(found, key=lambda one: _HARD.search(one) is None)[:_MOST_RULES]
    return [_rule(*found[text], some_sentences(text, _TEXT)) for text in chosen]


def _warnings(tree: Tree) -> list[dict[str, str]]:
    """Return what comments say has to be changed together, and in settings what works only somewhere."""
    found: dict[str, str] = {}
    settings = [
        *(path for path, _ in ci_files(tree)),
        *(path for path in tree.folders[""] if _SETTINGS.fullmatch(path)),
    ]
    for path in [*settings, *tree.sources()]:
        pattern = _ONLY if path in settings else _TOGETHER
        for block in _COMMENT.findall(tree.text(path)) if pattern.search(tree.text(path)) else ():
            # In C a number sign begins no comment.
            bare = block if path in settings or language_of(path) in HASHED else re.sub(r"(?m)^[ \t]*#.*\n", "", block)
            text = one_line(_CODE_LINE.sub("", _MARK.sub("", bare)))
            for said in sentences(text) if pattern.search(text) else ():
                plainly = (
                    len(said) <= _TEXT // 2
                    and len(said.split()) >= _FEWEST
                    and said[-1] not in ":?"
                    and not _LEANS.match(said)
                )
                if (
                    plainly
                    and pattern.search(said)
                    and not re.search(r"[{};=]|://|@\w|\w\([\"'\w]|\b(?:this|it) in sync", said)
                ):
                    found.setdefault(said, path)
    return [_rule(path, "", capital(text)) for text, path in list(found.items())[:_MOST_WARNINGS]]


def _is_rule(text: str, *, listed: bool) -> bool:
    """Return whether a text is a rule for the reader that is about this project: with a name, a number or code."""
    asks = (listed and _HARD.search(text) is None) or _ADDRESSED.match(text) is not None
    hard = listed or _RULE.search(text) is not None
    whole = text[-1] not in "?:" and text.count("`") % 2 == 0 and len(_SPAN.sub("", text).split()) > _FEWEST - 3
    return asks and hard and whole and _PARTICULAR.search(text[1:]) is not None and _NO_RULE.search(text) is None


def _rule(path: str, section: str, text: str) -> dict[str, str]:
    told = sentences(text)
    alone = [one for one in told if not _LEANS.match(one)]
    rule = next((one for pattern in (_HARD, _RULE) for one in alone if pattern.search(one)), told[0])
    title = cut(rule.rstrip("."), _TITLE)
    return _gotcha(path, section, capital(title), text if title != text.rstrip(".") else "")


def _gotcha(path: str, section: str, title: str, text: str) -> dict[str, str]:
    where = f"Written in `{path}`, “{section}”." if section else f"Written in `{path}`."
    said = ended(capital(some_sentences(text, _TEXT))) if text and not _POINTS.match(text) else NOT_SAID
    return {"title": cut(title.rstrip("."), _TITLE), "symptom": NOT_SAID, "cause": where, "correctPath": said}
