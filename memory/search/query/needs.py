"""The needs of a query: each word with the words that can replace it: longer ones, stems, typos, compounds.

Used to find entries that match some of the words; see `rank_partial` for how entries are weighed by it.
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
from .vocabulary import Vocabulary, is_guessable, near_words
from .words import camel_parts, fold, is_unspaced, tokens, unspaced_runs

MOST_NEEDS = 24
"""Words of a query that are used; those after them are ignored."""
_MOST_FORMS = 12
_SOME = 9
"""The assumed number of entries with one character of unspaced writing."""
_PART, _SHORT = 0.8, 3
"""The weight of a longer word that contains the word; words of up to so many letters are not searched in others."""
_SURE = 0.8
"""Forms with at least this weight are no guess, so that the word is not checked for typos."""
_SELDOM = 3
"""A word in up to this many entries may be two words written as one."""
_DIVISIBLE = 64
"""Maximum letters of a word that may be two words."""
_STOP_WORTH = 0.08
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})
_SPELLED_OUT = re.compile("ae|oe|ue|aa")
_BORDER = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


class NeedPhrase(NamedTuple):
    """Consecutive words that serve a need; `worth` is what an entry gains by them."""

    words: tuple[str, ...]
    worth: float


class Need(NamedTuple):
    """One word of a query. Any of `forms` serves it, and with `head` every word with that prefix, which gains `longer`.

    `begun` are these words if they are few. `place` is its position in the query; a `minor` need says little and finds
    nothing by itself. About `count` entries serve it.
    """

    text: str
    place: int
    forms: tuple[NeedPhrase, ...]
    head: str = ""
    longer: float = 0.0
    minor: bool = False
    begun: tuple[str, ...] = ()
    count: int = 0  # type: ignore[assignment]  # hides `tuple.count`, which is not used
    quoted: bool = False

    @property
    def worth(self) -> float:
        """The gain of the best form."""
        return max((self.longer if self.head else 0.0, *(form.worth for form in self.forms)), default=0.0)

    @property
    def term(self) -> Term:
        """A term that marks in a text what serves the need."""
        others = tuple(" ".join(form.words) for form in self.forms)
        if self.head:
            return Term(self.text, (self.head,), True, others)
        return Term(others[0] if others else self.text, (self.text,), False, others[1:])


def needs_of(query: Query, vocabulary: Vocabulary) -> list[Need]:
    """Return what is quoted in a query, and the needs of its loose words, in their order. Words that nothing serves are
    left out. If all words say little, none is minor.
    """
    found: list[tuple[str, str, float]] = []  # folded, as typed, weight
    quoted: list[Need] = []
    for term in query.terms:
        if term.strict:
            worth = max(rarity(vocabulary.count(word), vocabulary.total) for word in term.words)
            quoted.append(Need(term.text, MOST_NEEDS + len(quoted), (NeedPhrase(term.words, worth),), quoted=True))
        else:
            found += _loose(term.text, vocabulary)
    found = list(dict.fromkeys(found))[:MOST_NEEDS]
    words = [word for word, _, _ in found]
    serious = any(weight == 1.0 and word not in STOP_WORDS for word, _, weight in found)
    needs = quoted
    for place, (word, typed, weight) in enumerate(found):
        minor = serious and (word in STOP_WORDS or weight < 0.3)
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
        # A single character between auxiliary ones means as much as a word.
        found += [(part, part, 0.6) for part in parts if len(part) == 1]
    return found


def _weighed(need: Need, weight: float) -> Need:
    if weight == 1.0:
        return need
    forms = tuple(NeedPhrase(form.words, form.worth * weight) for form in need.forms)
    return need._replace(forms=forms, longer=need.longer * weight)


def rarity(count: int, total: int) -> float:
    """Return how much information a word in `count` of `total` entries carries."""
    return math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _need(word: str, typed: str, place: int, vocabulary: Vocabulary, minor: bool) -> Need:
    if minor and not is_unspaced(word):
        # Such a word is in so many entries that counting them takes longer than everything else.
        forms = [NeedPhrase((word,), 1.0)] if vocabulary.holds(word) else []
        return Need(word, place, tuple(forms), minor=True)
    total = vocabulary.total
    here = vocabulary.count(word)
    weights: dict[str, float] = {word: 1.0} if here else {}
    if is_unspaced(word):
        if len(word) > 1:
            return Need(word, place, tuple(NeedPhrase((one,), rarity(here, total)) for one in weights), count=here)
        # Every character is the first of a pair, or the last of its run.
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
    """Return the other spellings of a word with umlauts: `Müller`, `Mueller`, `Muller`."""
    written = unicodedata.normalize("NFC", typed).lower()
    found = [" ".join(tokens(written.translate(_UMLAUTS)))]
    if _SPELLED_OUT.search(word):
        found.append(_SPELLED_OUT.sub(lambda pair: pair[0][0], word))
        found += [word[: pair.start() + 1] + word[pair.end() :] for pair in _SPELLED_OUT.finditer(word)]
    return [one for one in dict.fromkeys(found) if one and one != word]


def _forms(word: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Return other forms of a word that exist in the entries, with their weights."""
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
    for other, root in IRREGULAR.items():
        if root == base and other != word and other not in found and vocabulary.count(other):
            found[other] = 0.85
    return found


def _divided(word: str, typed: str, vocabulary: Vocabulary) -> list[tuple[str, ...]]:
    """Return the existing words that a word can be divided into: `orderApi`, `loadbalancer`, `tls04`.

    The number of ways grows with the square of the letters: a very long word is not divided.
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
    """Add the word that a need forms with the one before or after it: `on call` is `oncall`, too."""
    added = []
    for at in (need.place - 1, need.place):
        pair = words[max(at, 0) : at + 2]
        if at >= 0 and len(pair) == 2 and not any(is_unspaced(one) for one in pair):
            joined = "".join(pair)
            if vocabulary.count(joined):
                added.append(NeedPhrase((joined,), 0.7 * rarity(vocabulary.count(joined), vocabulary.total)))
    return need._replace(forms=(*need.forms, *added)) if added else need
