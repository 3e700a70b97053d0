"""Forms of one word: stems of English words, common abbreviations, and stop words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

_SHORTEST = 4
"""Minimum letters of a word whose stem may differ from it."""

IRREGULAR = {
    form: forms.split()[0]
    for forms in (
        "break broke broken",
        "bring brought",
        "build built",
        "buy bought",
        "catch caught",
        "choose chose chosen choice",
        "do did done",
        "drive drove driven",
        "fall fell fallen",
        "feed fed",
        "find found",
        "freeze froze frozen",
        "get got gotten",
        "give gave given",
        "go went gone",
        "grow grew grown growth",
        "hide hid hidden",
        "hold held",
        "keep kept",
        "know knew known",
        "leave left",
        "lend lent",
        "lose lost loss",
        "make made",
        "mean meant",
        "meet met",
        "pay paid",
        "person people",
        "run ran",
        "sell sold sale",
        "send sent",
        "shut shutdown",
        "speak spoke spoken",
        "spend spent",
        "steal stole stolen",
        "stick stuck",
        "take took taken",
        "teach taught",
        "tell told",
        "think thought",
        "throw threw thrown",
        "wake woke woken",
        "wear wore worn",
        "write wrote written",
        "analysis analyse analyze",
        "child children",
        "index indices indexes",
    )
    for form in forms.split()
}
"""Forms whose stem no rule gives."""

_SHORT_FORMS = tuple(
    frozenset(line.split())
    for line in (
        "auth authentication authorization authorisation",
        "cert certificate",
        "config configuration",
        "db database",
        "dev development developer",
        "dir directory folder",
        "doc docs documentation",
        "env environment",
        "infra infrastructure",
        "k8s kubernetes",
        "lib library",
        "max maximum",
        "min minimum",
        "msg message",
        "perf performance",
        "pg postgres postgresql",
        "prod production",
        "pwd passwd password",
        "repo repository",
        "req request",
        "spec specification",
        "stg staging",
        "svc service",
        "sync synchronisation synchronization",
        "temp temporary",
        "tz timezone",
    )
)

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being but by can could did do does
doing done for from get gets got gotten had has have having he her here him his how i if in into is it its
just let like me may might more most must my no not now of off on once only or our out over own please same
shall she should so some such tell than that the their them then there these they this those to too under
until up us use used uses very want was we were what when where which while who whom whose why will with would
you your s t d m re ve ll current currently latest nowadays still anyone anybody someone somebody anything
something der die das den dem des ein eine einen einem einer und oder ist sind war wir ihr ich er sie es wie
wer wo wann warum wird werden hat haben mit von vom zu zum zur im auf aus bei nach nicht auch noch le la les
un une du de et ou est sont qui que quoi quand comment pourquoi dans sur avec pour par il elle nous vous je ne
pas el los las y o son quien cuando como donde por para con en se che di lo gli
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that count least: they are in most questions, and say little about the subject."""

_FUNCTION = frozenset(
    "的了在是我们你您他她它这那个些哪什么怎样谁吗呢吧啊呀为何因和与跟或及把被给让就也都很还又再才会能可以要应该"
    "有没不多少几时候请从到对于向由上下里中之其此该得着过地则而但并且如若虽然所以第年月日号"
)
"""Chinese function characters. Japanese has hiragana for that."""


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the common stem of the forms of an English word; a word that is not of ASCII letters is its own stem."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _without_plural(word)
    if word in IRREGULAR:
        return IRREGULAR[word]
    for ending, least in _ENDINGS:
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= least and _VOWEL.search(base):
            if ending == "ion" and base[-1] not in "st":
                continue
            word = base[:-2] if base.endswith("at") and len(base) > 5 and ending != "ment" else base
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    word = word.removesuffix("e") if len(word) > 3 else word
    return f"{word[:-1]}i" if word.endswith("y") else word


_VOWEL = re.compile("[aeiouy]")
_ENDINGS = (
    ("ment", 4),
    ("ness", 4),
    ("ion", 3),
    ("ing", 3),
    ("ed", 3),
    ("er", 3),
    ("or", 4),
    ("al", 5),
    ("ly", 4),
    ("e", 3),
)


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def short_forms(word: str) -> frozenset[str]:
    """Return the abbreviations of a word, or its long forms; without the word itself."""
    singular = _without_plural(word) if len(word) > 3 else word
    found: frozenset[str] = frozenset()
    for forms in _SHORT_FORMS:
        if word in forms or singular in forms:
            found |= forms
    return found - {word}


def content_runs(run: str) -> list[str]:
    """Return the meaningful parts of unspaced writing, in their order."""
    return ["".join(part) for auxiliary, part in groupby(run, serves) if not auxiliary]


def serves(char: str) -> bool:
    """Return whether a character of unspaced writing is mostly auxiliary: particles, endings, question words."""
    return "\u3041" <= char <= "\u309f" or char in _FUNCTION
