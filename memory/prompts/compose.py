"""A prompt and its blocks, each from one system, with its reason and its cost; and what a message is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from memory.base.safe_text import cut, one_line, visible
from memory.base.scan import fenced, harmless, why_not
from memory.base.word_lists import STOP_WORDS
from memory.base.words import content_words, is_request, stem, tokens

_UNTOLD = re.compile(
    r"(?:created|started|lastUpdate|lastCheck|cronJobId|orchestrationId|planId|tags|id|ref|line|file|kind|section)\s*:",
)
"""Fields that help no agent to act."""
_MARKS = " \t#*[]|-—–:."
_INSIDE = re.compile(r"\*\*|#{2,} |\]")
_GOES_ON = re.compile(r"\s+[^\W\d]|[^\W\d_A-Z]")
_RULER = re.compile(r"[\s|:+-]*")
_EMPTY = frozenset({"", "-", "none", "Not recorded."})


def content_of(kind: str, title: str, text: str) -> str:
    """Return what an entry says besides its title: its lines joined by semicolons, without what helps no agent.

    A line that goes on with the one above, since it is indented or begins in the middle of a sentence, is joined to it.

    What surrounds the title in its own line is kept, such as the priority of a task; lines before it only if they are
    dates.
    """
    if kind == "facts":
        return ""  # The text of a fact is its title; the rest are its id and its tags.
    lines = _without_front_matter(text)
    at = next((number for number, line in enumerate(lines) if title and title in line), -1)
    found = [line for line in lines[: max(at, 0)] if line[:1].isdigit()]
    if at >= 0:
        before, _, after = lines[at].partition(title)
        # The name of the field that the title is from says nothing.
        found += ["" if before.rstrip().endswith(":") else before.replace("[NORMAL]", ""), after]
    found += lines[at + 1 :]
    # The heading of a table is the line before its ruler.
    found = [
        line
        for line, below in zip_longest(found, found[1:], fillvalue="x")
        if "|" not in line or not _RULER.fullmatch(below)
    ]
    said: list[str] = []
    for line in found:
        clean = "" if _UNTOLD.match(line.lstrip(" -*")) or _RULER.fullmatch(line) else _cleaned(line)
        if clean in _EMPTY or clean == title:
            continue
        if said and _GOES_ON.match(line):
            said[-1] += f"{'.' if clean[0].isupper() else ''} {clean}"  # The end of a sentence was cleaned away.
        else:
            said.append(clean)
    return "; ".join(said)


def _without_front_matter(text: str) -> list[str]:
    lines = text.strip().splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        return lines[lines.index("---", 1) + 1 :]
    return lines


def _cleaned(line: str) -> str:
    """Return a line without the marks of Markdown around it; the cells of a row are joined by commas."""
    if line.lstrip().startswith("|"):
        line = ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
    return " ".join(_INSIDE.sub("", line).strip(_MARKS).split())


def shortened(content: str, most: int, snippet: str = "") -> str:
    """Return about `most` characters of a content: its beginning, and the line that fits if that comes later."""
    if len(content) <= most:
        return content
    snippet = _cleaned(snippet.strip("…"))
    if snippet and snippet[:40] not in content[:most]:
        return f"{content[: most // 2].rsplit(' ', 1)[0]} … {snippet[: most // 2]}"
    return f"{content[:most].rsplit(' ', 1)[0]} …"


_ACTS = (
    "deploy deployment ship shipping release rollout roll production live publish launch freeze",
    "push pushed merge main master branch force",
    "commit commits committed",
    "mail mails email emails message customer customers reply newsletter notify answer",
    "dependency dependencies package packages library install installs upgrade npm pnpm pip yarn cargo",
    "delete deletes deletion erase wipe purge drop destroy",
    "price prices pricing cost amount currency",
    "test tests suite testing",
    "migration migrations migrate alter schema column",
    "review reviews reviewing",
    "report reports summary figures numbers",
    "text texts wording copy spelling translation",
    "secret secrets password token key keys credential rotate",
    "refund refunds payout payouts pay payment",
)
_ASKED = {
    "due overdue late deadline deadlines agenda today tonight tomorrow week": ("overdue", "today", "due", "week"),
    "happened changed new news recently yesterday": ("news",),
    "next": ("overdue", "today", "next", "week", "open"),
    "pending task tasks todo todos backlog": ("overdue", "today", "week", "running", "open"),
    "progress running": ("running",),
    "gotcha gotchas trap traps pitfall pitfalls": ("gotchas",),
    "rule rules preference preferences convention conventions": ("rules",),
    "decision decisions decided": ("decisions",),
    "alert alerts failing healthy": ("alerts",),
}
"""The parts of the brief that a question without any other word asks for."""
_INTENT_END = re.compile(r"[.?!;:]+(?:\s|$)|[。？！；\n]|,?\s+(?:and|then|also|und|sowie)\s+")
_MOST_INTENTS = 8
_QUESTION = re.compile(
    r"\s*(?:(?:and|so|hi|hey|ok),?\s+)?(?:what|which|where|any|anything|is|are|show|list|tell)\b", re.I
)
_PHRASES = re.compile(r"\b(?:writ(?:e|es|ing)|wrote|repl(?:y|ies)|talk) to\b", re.IGNORECASE)
"""Words for sending a message that mean something else alone."""


@cache
def _groups() -> tuple[frozenset[str], ...]:
    """Return the stems of the words for each act; a session that starts needs no stems."""
    return tuple(frozenset(map(stem, group.split())) for group in _ACTS)


@cache
def _act_words() -> frozenset[str]:
    return frozenset[str]().union(*_groups())


@cache
def _parts() -> dict[str, tuple[str, ...]]:
    return {stem(word): parts for words, parts in _ASKED.items() for word in words.split()}


def intents(message: str) -> list[str]:
    """Return the parts of a message that say or ask something, of many the first and the last; the whole message where
    it is one part. Empty if nothing can belong to it: thanks, a yes and a "go on" say nothing.
    """
    parts = [part for part in _INTENT_END.split(message) if parts_asked(part) or _subjects(part)]
    parts = list(dict.fromkeys(parts))
    if len(parts) > _MOST_INTENTS:
        parts = parts[: _MOST_INTENTS // 2] + parts[-(_MOST_INTENTS // 2) :]
    return [message] if len(parts) == 1 else parts


def parts_asked(message: str) -> set[str]:
    """Return the parts of the brief that a question asks for, such as what is due; none if it is about more."""
    if not _QUESTION.match(message) or _subjects(message) - _parts().keys():
        return set()
    return {part for word in map(stem, tokens(message)) for part in _parts().get(word, ())}


def _subjects(text: str) -> set[str]:
    """Return the stems of the words that say what a text is about."""
    stems = {stem(word) for word in content_words(text) if not word.isdigit()}
    return {word for word in stems if not (word in STOP_WORDS or is_request(word)) or word in _act_words()}


def concerns(rule: str, message: str) -> float:
    """Return how much a rule concerns a message: 0 where it has no word of it and no word for the same act."""
    asked, told = _subjects(_PHRASES.sub("mail", message)), _subjects(rule)
    shared = asked & told
    acts = [group for group in _groups() if group & asked and group & told]
    return len(shared - _act_words()) + 1.5 * len(acts)


_LONGEST = 700
_SHARES = (0.12, 0.4, 1.0)
"""The part of a budget that one section may have, in each of the rounds in which it is spent."""
_FIRST = {"Pinned": 1.0, "Rules and preferences": 0.3, "Overdue": 0.2, "Due today": 0.2}
"""The part of the sections that have more in the first round."""
_REST = 40
"""Tokens for the sentence about what was left out."""
_KINDS = {"orchestration": "plans"}
_WITHHELD = ("mute", "suspicious")
_SOURCE = "workspace"


def tokens_of(text: str) -> int:
    """Return the approximate tokens of a text: a fourth of its characters, rounded up."""
    return -(-len(text) // 4)


class PromptBlock(NamedTuple):
    """One line for a prompt: `section` is the heading above it, `score` is between 0 and 1.

    `text` is safe: one line, without hidden characters, and it cannot end the fence around the memory.
    """

    system: str
    section: str
    ref: str | None
    title: str
    reason: str
    text: str
    score: float = 1.0
    included: bool = True
    choice: str = ""
    """The person's choice for it, `pin` or `mute`; `suspicious` for one that is withheld; or empty."""
    suspicion: str = ""
    """The rules of the content scan that it breaks; it is told only after a person approved the entry."""

    @classmethod
    def of(
        cls, system: str, section: str, ref: str | None, title: str, reason: str, more: str, score: float, text: str
    ) -> PromptBlock:
        """Return the block of an entry: its ref, its title, and what else it says; `text`, all of it, is scanned."""
        name = f"{ref} " if ref else ""
        line = f"- {name}{title}" + (f" ({more})" if more else "")
        # A line of an entry may be sound where the entry is not.
        suspicion = why_not(system, ref or "", title, more) or why_not(system, title, text)
        return cls(system, section, ref, title, reason, safe_line(line), score, suspicion=suspicion)

    def withheld(self) -> PromptBlock:
        """Return the block of an entry that is not told: its ref, and why."""
        title = f"(looks suspicious: {self.suspicion})"
        ref = None if why_not(self.system, self.ref or "") else self.ref
        text = f"- {ref} {title}" if ref else f"- {title}"
        return self._replace(ref=ref, title=title, text=text, included=False, choice="suspicious")

    @property
    def tokens(self) -> int:
        """The cost of the line."""
        return tokens_of(self.text + "\n")

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        keys = ("system", "ref", "title", "reason", "score", "tokens", "included", "choice", "text")
        return {key: getattr(self, key) for key in keys} | {"title": visible(self.title)}


class AgentPrompt(NamedTuple):
    """The injected prompt: `text` has all blocks that fit into `budget` tokens; `blocks` also has those left out."""

    budget: int
    text: str
    blocks: tuple[PromptBlock, ...]

    def not_sent(self, why: Literal["budget", "mute", "suspicious"]) -> tuple[PromptBlock, ...]:
        """Return the blocks that did not fit into the budget, that the person muted, or that look suspicious."""
        left = (one for one in self.blocks if not one.included)
        return tuple(one for one in left if why == (one.choice if one.choice in _WITHHELD else "budget"))

    @property
    def used(self) -> int:
        """The tokens of the text."""
        return tokens_of(self.text)

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "budget": self.budget,
            "used": self.used,
            "text": self.text,
            "blocks": [one.json() for one in self.blocks],
        }


def safe_line(text: str) -> str:
    """Return a text on one line, hidden characters made visible, cut if very long; it holds no tag."""
    return harmless(cut(one_line(text), _LONGEST))


def composed(
    blocks: list[PromptBlock],
    budget: int,
    *,
    tells_rest: bool = False,
) -> AgentPrompt:
    """Return the prompt of blocks in their order, whole ones that are `included` and fit.

    No section takes more than its share before the others got theirs, and in the last round what still fits is added.
    `tells_rest` adds a sentence about what was left out, and how to read it.
    """
    room = budget - tokens_of(fenced("-", _SOURCE))
    costs = {at: tokens_of(f"{one.text}\n") for at, one in enumerate(blocks) if one.included}
    headings = {one.section: tokens_of(f"## {one.section}\n") for one in blocks}
    if tells_rest and sum(costs.values()) + sum(headings.values()) > room:
        room -= _REST
    chosen: set[int] = set()
    spent: dict[str, int] = {}
    for share in _SHARES:
        full: set[str] = set()
        for at, cost in costs.items():
            section = blocks[at].section
            if at in chosen or section in full:
                continue
            before = spent.get(section, 0)
            total = (before or headings[section]) + cost
            others = sum(spent.values()) - before
            if total <= max(share, _FIRST.get(section, 0.0)) * room and others + total <= room:
                spent[section] = total
                chosen.add(at)
            elif share < 1:
                full.add(section)  # A smaller entry does not overtake a more useful one.
    told = [one._replace(included=at in chosen) for at, one in enumerate(blocks)]
    lines = []
    for section in dict.fromkeys(one.section for one in told if one.included):
        lines += [f"## {section}", *(one.text for one in told if one.included and one.section == section)]
    rest = [one for at, one in enumerate(told) if at in costs and at not in chosen]
    if rest and tells_rest:
        lines.append(_left_out(rest))
    return AgentPrompt(budget, fenced("\n".join(lines), _SOURCE), tuple(told))


def _left_out(rest: Iterable[PromptBlock]) -> str:
    """Return the sentence about what did not fit: how many of each kind, and how to get them."""
    names = ((one.ref or one.system).partition("#")[0] for one in rest)
    counts = Counter(_KINDS.get(name, name) for name in names)
    kinds = ", ".join(f"{kind} ({count})" for kind, count in counts.items())
    return f"No room was left for more: {kinds}. List them by `read` and the kind, or find them by `search`."
