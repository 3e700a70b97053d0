"""What a message is about: which rules concern it, and which part of the brief it asks for."""

from __future__ import annotations

import re

from memory.base.word_lists import REQUEST_WORDS, STOP_WORDS
from memory.base.words import stem, tokens

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
_QUESTION = re.compile(
    r"\s*(?:(?:and|so|hi|hey|ok),?\s+)?(?:what|which|where|any|anything|is|are|show|list|tell)\b", re.I
)
_PHRASES = re.compile(r"\b(?:writ(?:e|es|ing)|wrote|repl(?:y|ies)|talk) to\b", re.IGNORECASE)
"""Words for sending a message that mean something else alone."""
_CONTRACTION = re.compile(r"\b\w+n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_GROUPS = [frozenset(map(stem, group.split())) for group in _ACTS]
_COMMON = frozenset(map(stem, REQUEST_WORDS)) | STOP_WORDS
_ACT_WORDS = frozenset().union(*_GROUPS)
_PARTS = {stem(word): parts for words, parts in _ASKED.items() for word in words.split()}


def without_contractions(text: str) -> str:
    """Return a text without "didn't" and the like, whose parts are no words."""
    return _CONTRACTION.sub(" ", text)


def says_something(message: str) -> bool:
    """Return whether a message has a word that says what it is about: thanks, a yes and a "go on" have none."""
    return bool(_subjects(message))


def parts_asked(message: str) -> set[str]:
    """Return the parts of the brief that a question asks for, such as what is due; none if it is about more."""
    text = without_contractions(message)
    if not _QUESTION.match(message) or _subjects(text) - _PARTS.keys():
        return set()
    words = set(map(stem, tokens(text)))
    return {part for word in words & _PARTS.keys() for part in _PARTS[word]}


def _subjects(text: str) -> set[str]:
    """Return the stems of the words that say what a text is about."""
    words = {word for word in tokens(text) if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())}
    stems = {stem(word) for word in words if not word.isdigit()}
    return {word for word in stems if word not in _COMMON or word in _ACT_WORDS}


def concerns(rule: str, message: str) -> float:
    """Return how much a rule concerns a message: 0 where it has no word of it and no word for the same act."""
    asked, told = _subjects(_PHRASES.sub("mail", without_contractions(message))), _subjects(rule)
    shared = asked & told
    acts = [group for group in _GROUPS if group & asked and group & told]
    return len(shared - _ACT_WORDS) + 1.5 * len(acts)
