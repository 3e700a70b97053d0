"""What a query needs, word by word, with the other words that serve as well: longer ones, stems, typos, compounds.

It is asked for what fits some of the words; see `partial` for how entries are weighed by it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from .query import Query, Term
from .stems import IRREGULAR, STOP_WORDS, content_runs, serves, short_forms, stem
from .typos import Vocabulary, is_guessable, near_words
from .words import camel_parts, fold, is_unspaced, tokens, unspaced_runs

MOST_NEEDS = 24
"""Words of a query that are looked at; those behind them are left out."""
_MOST_FORMS = 12
_SOME = 9
"""Entries that are taken to hold one character of unspaced writing."""
_PART, _SHORT = 0.8, 3
"""How much a longer word counts that holds the word within it; letters up to which none is looked for."""
_SURE = 0.8
"""How much a form counts that is no guess, so that the word holds no typo."""
_SELDOM = 3
"""Entries with a word up to which it may be two that are written as one."""
_DIVISIBLE = 64
"""Letters of a word up to which it may be two."""
_STOP_WORTH = 0.08
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})
_SPELLED_OUT = re.compile("ae|oe|ue|aa")
_BORDER = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


class NeedPhrase(NamedTuple):
    """Words that follow each other and serve a need; `worth` is what an entry gains by them."""

    words: tuple[str, ...]
    worth: float


class Need(NamedTuple):
    """One word of a query. Any of `forms` serves it, and with `head` every word that begins so, which gains `longer`.

    `begun` are those words where they are few. `place` is where it stands in the query; a `minor` one says little and
    finds nothing by itself. About `count` entries serve it.
    """

    text: str
    place: int
    forms: tuple[NeedPhrase, ...]
    head: str = ""
    longer: float = 0.0
    minor: bool = False
    begun: tuple[str, ...] = ()
    count: int = 0  # type: ignore[assignment]  # nobody counts in it as in a tuple
    quoted: bool = False

    @property
    def worth(self) -> float:
        """What the best form gains."""
        return max((self.longer if self.head else 0.0, *(form.worth for form in self.forms)), default=0.0)

    @property
    def term(self) -> Term:
        """The term that marks in a text what serves the need."""
        others = tuple(" ".join(form.words) for form in self.forms)
        if self.head:
            return Term(self.text, (self.head,), True, others)
        return Term(others[0] if others else self.text, (self.text,), False, others[1:])


def needs_of(query: Query, vocabulary: Vocabulary) -> list[Need]:
    """Return what is quoted in a query, and what its loose words need, in their order. Words that nothing serves are
    left out. Where all words say little none is minor.
    """
    found: list[tuple[str, str, float]] = []  # as it is compared, as it was typed, how much it counts
    quoted: list[Need] = []
    for term in query.terms:
        if term.strict:
            worth = max(rarity(vocabulary.count(word), vocabulary.total) for word in term.words)
            quoted.append(Need(term.text, MOST_NEEDS + len(quoted), (NeedPhrase(term.words, worth),), quoted=True))
        else:
            found += _loose(term.text, vocabulary)
    found = list(dict.fromkeys(found))[:MOST_NEEDS]
    words = [word for word, _, _ in found]
    serious = any(weight == 1.0 and not _says_little(word) for word, _, weight in found)
    needs = quoted
    for place, (word, typed, weight) in enumerate(found):
        minor = serious and (_says_little(word) or weight < 0.3)
        need = _need(word, typed, place, vocabulary, minor)
        if not minor and not is_unspaced(word):
            need = _with_neighbours(need, words, vocabulary)
        if need.forms or need.head:
            needs.append(_weighed(need, _STOP_WORTH if minor else weight))
    return needs


def _loose(text: str, vocabulary: Vocabulary) -> list[tuple[str, str, float]]:
    found: list[tuple[str, str, float]] = []
    words = tokens(text)
    for word in words:
        if not is_unspaced(word):
            found.append((word, text if len(words) == 1 else word, 1.0))
            parts = [part for part in camel_parts(text) if len(part) > 2] if len(words) == 1 else []
            if parts and not vocabulary.count(word):
                found += [(part, part, 0.4) for part in parts]
    for run in unspaced_runs(fold(text)):
        parts = content_runs(run)
        for at in range(len(run) - 1):
            pair = run[at : at + 2]
            weight = (1.0, 0.35, 0.1)[serves(pair[0]) + serves(pair[1])]
            found.append((pair, pair, weight))
        # One character between others that serve it means as much as a word.
        found += [(part, part, 0.6) for part in parts if len(part) == 1]
    return found


def _says_little(word: str) -> bool:
    return word in STOP_WORDS


def _weighed(need: Need, weight: float) -> Need:
    if weight == 1.0:
        return need
    forms = tuple(NeedPhrase(form.words, form.worth * weight) for form in need.forms)
    return need._replace(forms=forms, longer=need.longer * weight)


def rarity(count: int, total: int) -> float:
    """Return how much a word says that stands in `count` of `total` entries."""
    return math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _need(word: str, typed: str, place: int, vocabulary: Vocabulary, minor: bool) -> Need:
    if minor and not is_unspaced(word):
        # Such a word stands in so many entries that counting them takes longer than all else.
        forms = [NeedPhrase((word,), 1.0)] if vocabulary.holds(word) else []
        return Need(word, place, tuple(forms), minor=True)
    total = vocabulary.total
    here = vocabulary.count(word)
    weights: dict[str, float] = {word: 1.0} if here else {}
    if is_unspaced(word):
        if len(word) > 1:
            return Need(word, place, tuple(NeedPhrase((one,), rarity(here, total)) for one in weights), count=here)
        # Every character begins a pair, or is the last of its run.
        return Need(word, place, (), word, rarity(_SOME, total))
    for other in _spellings(word, typed):
        if vocabulary.count(other):
            weights.setdefault(other, 0.98)
    head, longer, count = "", 0.0, 0
    begun: tuple[str, ...] = ()
    if len(word) > 2:
        for other, weight in _forms(word, vocabulary).items():
            weights.setdefault(other, weight)
        begun = tuple(vocabulary.beginning(word, len(word) + 1, 64))
        if begun:
            count = sum(vocabulary.count(one) for one in begun[:_MOST_FORMS]) + max(0, len(begun) - _MOST_FORMS)
            head, longer = word, 0.8 * rarity(max(count, here), total)
    for other in vocabulary.names(word) if len(word) > 1 else ():
        if vocabulary.count(other):
            weights.setdefault(other, _PART)
    if not weights and not head and len(word) > _SHORT:
        for other in islice(vocabulary.containing(word), _MOST_FORMS):
            if vocabulary.count(other):
                weights.setdefault(other, _PART)
    if not head and max(weights.values(), default=0.0) < _SURE:
        for other, weight in near_words(word, vocabulary):
            weights.setdefault(other, weight)
    best = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:_MOST_FORMS]
    forms = [NeedPhrase((other,), weight * rarity(vocabulary.count(other), total)) for other, weight in best]
    if here <= _SELDOM:
        forms += [
            NeedPhrase(parts, 0.9 * max(rarity(vocabulary.count(part), total) for part in parts))
            for parts in _divided(word, typed, vocabulary)
        ]
    count += sum(min(map(vocabulary.count, form.words)) for form in forms)
    begun = begun if len(begun) <= _MOST_FORMS else ()
    return Need(word, place, tuple(forms), head, longer, begun=begun, count=count)


def _spellings(word: str, typed: str) -> list[str]:
    """Return how else a word with umlauts is written: `Müller`, `Mueller`, `Muller`."""
    written = unicodedata.normalize("NFC", typed).lower()
    found = [" ".join(tokens(written.translate(_UMLAUTS)))]
    if _SPELLED_OUT.search(word):
        found.append(_SPELLED_OUT.sub(lambda pair: pair[0][0], word))
        found += [word[: pair.start() + 1] + word[pair.end() :] for pair in _SPELLED_OUT.finditer(word)]
    return [one for one in dict.fromkeys(found) if one and one != word]


def _forms(word: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Return other forms of a word that there are, with how much they count."""
    found: dict[str, float] = {}
    for short in short_forms(word):
        for other in (short, f"{short}s"):
            if vocabulary.count(other):
                found[other] = 0.85
    if not is_guessable(word):
        return found
    base = stem(word)
    head = base[: max(3, min(len(base) - 1, 6))]
    for other in vocabulary.beginning(head, 3, 32):
        if other != word and stem(other) == base:
            found[other] = 0.85
    for length in range(max(4, len(word) // 2 + 1), len(word)):
        other = word[:length]
        if other not in found and vocabulary.count(other):
            found[other] = 0.3 + 0.4 * length / len(word)
    for other in (form for form in _irregular(base, word) if form not in found):
        if vocabulary.count(other):
            found[other] = 0.85
    return found


def _irregular(base: str, word: str) -> list[str]:
    return [form for form, root in IRREGULAR.items() if root == base and form != word]


def _divided(word: str, typed: str, vocabulary: Vocabulary) -> list[tuple[str, ...]]:
    """Return the words that a word is made of, where it stands nowhere in one: `orderApi`, `loadbalancer`, `tls04`.

    There are as many ways to divide a word as it has letters, squared: a very long one is not divided.
    """
    if len(word) > _DIVISIBLE:
        return []
    ways = [tuple(camel_parts(typed)), tuple(part for part in _BORDER.split(word) if part)]
    ways += [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    found = []
    for way in ways:
        parts = [*way]
        if len(parts) > 1 and "".join(parts) == word:
            parts = [half for part in parts for half in _halves(part, vocabulary)]
            if all(vocabulary.count(part) for part in parts) and (len(parts) > 2 or max(map(len, parts)) > 2):
                found.append(tuple(parts))
    return sorted(dict.fromkeys(found), key=lambda parts: -min(map(len, parts)))[:2]


def _halves(word: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    if vocabulary.count(word) or len(word) < 4:
        return (word,)
    for at in range(2, len(word) - 1):
        if vocabulary.count(word[:at]) and vocabulary.count(word[at:]):
            return word[:at], word[at:]
    return (word,)


def _with_neighbours(need: Need, words: Sequence[str], vocabulary: Vocabulary) -> Need:
    """Add the word that a need makes with the one before or behind it: `on call` is `oncall`, too."""
    added = []
    for at in (need.place - 1, need.place):
        pair = words[max(at, 0) : at + 2]
        if at >= 0 and len(pair) == 2 and not any(is_unspaced(one) for one in pair):
            joined = "".join(pair)
            if vocabulary.count(joined):
                added.append(NeedPhrase((joined,), 0.7 * rarity(vocabulary.count(joined), vocabulary.total)))
    return need._replace(forms=(*need.forms, *added)) if added else need
