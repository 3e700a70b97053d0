"""The ranked candidates of a recall, with every term of their score.

On each side these are the memories that the ranking of `memory.search` finds for a query, weighed by the settings.
Where the words find little and `recall.semantic` is on, memories of a near meaning are added: the vectors of a sentence
model are kept in the catalogue by the hash of a content.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.base.words import content_words, fold, is_request, is_unspaced, stem, terms, tokens, unspaced_runs
from memory.curated.catalog import COLUMNS, memories, memory_of, text_of
from memory.curated.curated import Curated
from memory.curated.model import DREAM, Memory, Root
from memory.curated.providers import active, ask
from memory.curated.recall import minilm
from memory.curated.settings import CuratedSettings
from memory.curated.sides import Side
from memory.search.needs import Need, needs_of
from memory.search.query import plain_query
from memory.search.rank import WEIGHED, Document, Evidence, Weigher
from memory.search.word_index import Filter, WordIndex, either
from memory.storage.database import in_transaction

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]


class Embedder(NamedTuple):
    """What makes vectors: the name of its model, its vector of the question, and a function for more texts.

    The function returns a vector of the same size for each text, None where it fails.
    """

    model: str
    asked: Vector
    embed: Callable[[list[str]], list[Vector] | None]


NEAR, NEAR_MESSAGE = 0.35, 0.45
"""The least cosine with which a memory is about a question, and about a message."""
NO_DREAM = f"""e.filename NOT GLOB '{DREAM}[0-9]*' AND instr(e.header, '"source_actor": "dreaming"') = 0"""
"""The SQL condition of a memory that is recalled: a dream says again what its sources say, and would displace them."""
_LONGEST = 8192
"""The most numbers in a vector of a provider."""
_AT_ONCE = 16
"""How many memories without a vector one recall embeds; `memdeck curated reindex` embeds all."""
_MISSING = (
    f"SELECT content_hash, name, description, body FROM memory_catalog_entries e WHERE error IS NULL AND {NO_DREAM}"
    " AND content_hash NOT IN (SELECT content_hash FROM memory_vectors WHERE model = ?) ORDER BY mtime_ns DESC LIMIT ?"
)
_UNUSED = (
    "DELETE FROM memory_vectors WHERE content_hash NOT IN"
    " (SELECT content_hash FROM memory_catalog_entries WHERE error IS NULL)"
)


def embedder(curated: Curated, text: str, now: datetime) -> Embedder | None:
    """Return what makes vectors, with that of a question: the active provider if it does, else the installed model.

    None without either, and where the settings do not want it.
    """
    if not curated.settings["recall.semantic"]:
        return None

    def provided(texts: list[str], size: int = 0) -> list[Vector] | None:
        return _vectors(ask(curated, "embed", now, texts), len(texts), size)

    if found := provided([text]):
        size = len(found[0])
        # A provider may change its model, and vectors of two sizes cannot be compared.
        return Embedder(f"{active(curated).name} {size}", found[0], lambda texts: provided(texts, size))
    with suppress(ImportError):
        model = minilm.model()
        if found := _vectors(model.embed([text]), 1):
            return Embedder(minilm.NAME, found[0], lambda texts: _vectors(model.embed(texts), len(texts)))
    return None


def _vectors(answer: Any, count: int, size: int = 0) -> list[Vector] | None:
    """Return an answer as vectors of length 1, all of a size (0: that of the first); None if it is anything else."""
    try:
        vectors = [array("f", one) for one in answer if len(one) <= _LONGEST] if len(answer) == count else []
        lengths = [math.hypot(*one) for one in vectors]
        size = size or len(vectors[0])
    except Exception:  # It may be any object of another package.
        return None
    if len(vectors) != count or {len(one) for one in vectors} != {size} or not all(map(math.isfinite, lengths)):
        return None
    return [array("f", (value / (length or 1) for value in one)) for one, length in zip(vectors, lengths, strict=True)]


def embed_some(side: Side, roots: Sequence[Root], by: Embedder) -> int:
    """Embed the newest memories of one side that have no vector, `_AT_ONCE` of them; return how many that were."""
    rows = side.catalog.read(roots, lambda db: db.execute(_MISSING, (by.model, _AT_ONCE)).fetchall())
    vectors = by.embed([f"{name}. {description}. {body}" for _, name, description, body in rows]) if rows else None
    if vectors is None:
        return 0
    values = [(by.model, row[0], vector.tobytes()) for row, vector in zip(rows, vectors, strict=True)]
    insert = "INSERT OR REPLACE INTO memory_vectors VALUES (?, ?, ?)"
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.executemany(insert, values)))
    return len(rows)


def embed_all(side: Side, roots: Sequence[Root], by: Embedder) -> None:
    """Embed every memory of one side, and forget the vectors of contents that are gone."""
    while embed_some(side, roots, by):
        pass
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.execute(_UNUSED)))


def near(side: Side, roots: Sequence[Root], by: Embedder, *, least: float) -> list[tuple[Memory, float]]:
    """Return the memories of one side that mean nearly the same as the question, with the cosine of each."""
    embed_some(side, roots, by)
    known = {root.key: root for root in roots}
    return side.catalog.read(roots, lambda db: _near(db, known, by, least))


def _near(db: sqlite3.Connection, known: dict[str, Root], by: Embedder, least: float) -> list[tuple[Memory, float]]:
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"SELECT {columns}, vector FROM memory_catalog_entries e JOIN memory_vectors USING (content_hash)"
        f" WHERE error IS NULL AND model = ? AND {NO_DREAM} AND e.root IN ({','.join('?' * len(known))})",
        (by.model, *known),
    )
    found = []
    for *row, vector in rows:
        cosine = sum(map(float.__mul__, array("f", vector), by.asked))
        if cosine >= least:
            found.append((memory_of(row, known), min(cosine, 1.0)))
    return found


_OLD = 0.5
"""The factor for the score of a memory whose header says that another one replaces it."""
DAY = 86400.0
_SOME, _HALF = 0.1, 0.45
_SAYS = 0.25
"""The least that the words of a memory tell that a question finds."""
_SAME = 0.6
"""The share of all words of two memories that both must have to say the same."""
TERMS = ("bm25_unicode", "bm25_trigram", "recency", "recall_signal")
_NAMES = ("unicode", "trigram", "recency", "signal")
"""The terms of a score as the settings and as programs know them."""
WEAK = 0.6
"""Where the words have less of a text than this share, meaning is asked as well, if the settings say so."""
_MEANING = 0.5
"""The weight of the meaning, beside those of the settings."""


@dataclass(slots=True)
class Scored:
    """A memory with what it has of a query, each from 0 to 1, and the weighted `terms` of its score, by their names.

    `words` says how well its words fit the query, `letters` the share of the query that it has, with parts of words and
    typos. The term of recency is at most as much as the words fit, so that a new memory about something else is not
    first.
    """

    side: Side
    memory: Memory
    words: float = 0.0
    letters: float = 0.0
    meaning: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The sum of all terms."""
        return sum(self.terms.values())

    @property
    def why(self) -> list[str]:
        """The terms as texts."""
        return [f"{name}={value:.3f}" for name, value in (*self.terms.items(), ("score", self.score))]


class RecallFound(NamedTuple):
    """The result of a search: `ranked` are the memories that count, `hidden` those that a deeper one hides, with it."""

    terms: tuple[str, ...]
    ranked: tuple[Scored, ...]
    hidden: tuple[tuple[Memory, Memory], ...]


def is_trivial(text: str) -> bool:
    """Return whether a query has fewer than two meaningful words and no unspaced run of three letters or more.

    The parts of a name such as `poolSizeMax` are words.
    """
    words = content_words(" ".join(terms(text)))
    return len(words) < 2 and not any(len(run) >= 3 for run in unspaced_runs(text))


def names(text: str, memory: Memory) -> bool:
    """Return whether a text names a memory: all meaningful words of one are in the other."""
    asked, name = (set(map(stem, content_words(" ".join(terms(one))))) for one in (text, memory.header.name))
    return bool(asked and name) and (asked <= name or name <= asked)


def find_about(
    curated: Curated,
    message: str,
    roots: Sequence[Root],
    *,
    now: datetime,
    raw: int | None = None,
    skip: Sequence[str] = (),
) -> RecallFound | None:
    """Return the memories that a message is about, as `find`; None for a trivial message.

    A single meaningful word is trivial unless it names a memory: then it finds the memories of that name. Messages are
    no questions to memory, so a memory needs more of one: its own name, two telling words, a code name, or its title.
    """
    trivial = is_trivial(message)
    if trivial and not content_words(message):
        return None
    found = find(curated, message, roots, now=now, raw=raw, skip=skip, of_message=True)
    if trivial:
        found = found._replace(ranked=tuple(one for one in found.ranked if names(message, one.memory)))
    return None if trivial and not found.ranked else found


def find(
    curated: Curated,
    text: str,
    roots: Sequence[Root],
    *,
    now: datetime,
    raw: int | None = None,
    skip: Sequence[str] = (),
    of_message: bool = False,
) -> RecallFound:
    """Return the memories of some folders that are about a text, the best first; `skip` are ids to leave out.

    A question finds what has a tenth of it; with `of_message` a memory needs more, see `find_about`.
    """
    settings = curated.settings
    roots = curated.existing(roots)
    raw = settings["recall.raw_candidates"] if raw is None else raw
    listed: list[Scored] = []
    terms: tuple[str, ...] = ()
    for side, some in curated.by_side(roots):
        mine = {root.key: root for root in some}
        needs, found = side.catalog.read(
            some, partial(_candidates, text=text, roots=mine, most=raw, of_message=of_message)
        )
        terms = tuple(need.text for need in needs if not need.minor)
        listed += [Scored(side, memory, min(one.score, 1.0), min(one.share, 1.0)) for memory, one in found]
    if max((one.letters for one in listed), default=0.0) < WEAK and (by := embedder(curated, text, now)):
        _add_meaning(curated, roots, listed, by, NEAR_MESSAGE if of_message else NEAR)
    listed.sort(key=lambda one: -(one.words + one.letters + one.meaning))
    del listed[raw:]
    if len(roots) > 1:
        listed += _hiding(curated, roots, listed)
    scored = _scored(listed, settings, now, skip)
    hidden = curated.shadowed([one.memory for one in scored])
    ranked = tuple(one for one in scored if one.memory.key not in hidden)
    pairs = tuple((one.memory, hidden[one.memory.key]) for one in scored if one.memory.key in hidden)
    return RecallFound(terms, ranked, pairs)


def _candidates(
    db: sqlite3.Connection, text: str, roots: Mapping[str, Root], most: int, of_message: bool
) -> tuple[list[Need], list[tuple[Memory, Evidence]]]:
    """Return what a text needs, and the memories of one side that are about it."""
    index = WordIndex(db)
    needs = needs_of(plain_query(text), index)
    known = [need.expression for need in needs if need.known and not need.minor]
    if not known:
        return needs, []
    inside = f"e.root IN ({','.join('?' * len(roots))})"
    only = Filter(
        f"EXISTS (SELECT 1 FROM memory_catalog_entries e WHERE e.id = @ AND {NO_DREAM} AND {inside})", tuple(roots)
    )
    numbers = index.best(either(known), only, max(most, WEIGHED))
    marks = ",".join("?" * len(numbers))
    rows = db.execute(f"SELECT {COLUMNS} FROM memory_catalog_entries WHERE id IN ({marks}) AND error IS NULL", numbers)
    weigher = Weigher(needs, 0, index.total())
    found = []
    for row in rows:
        memory = memory_of(row, dict(roots))
        factor = _OLD if memory.header.provenance.superseded_by else 1.0
        evidence = weigher.weigh(Document(row[0], memory.header.name, text_of(memory), 0, factor))
        if _is_enough(needs, evidence, of_message=of_message and not names(text, memory)):
            found.append((memory, evidence))
    return needs, found


def _add_meaning(curated: Curated, roots: Sequence[Root], listed: list[Scored], by: Embedder, least: float) -> None:
    """Add how near each candidate is to the question in its meaning, and the memories that only their meaning finds."""
    known = {(one.side.name, one.memory.id): one for one in listed}
    for side, some in curated.by_side(roots):
        for memory, cosine in near(side, some, by, least=least):
            one = known.get((side.name, memory.id))
            if one is None:
                one = Scored(side, memory)
                listed.append(one)
            one.meaning = cosine * (_OLD if memory.header.provenance.superseded_by else 1.0)


def _is_enough(needs: Sequence[Need], evidence: Evidence, *, of_message: bool) -> bool:
    """Return whether an entry has enough of a text: all of it, a tenth of a question; of a message two telling words, a
    code name, half of it with one of them in the title, or a pair of unspaced writing there.

    What people ask for, such as "explain", tells nothing.
    """
    if evidence.fits_all or not of_message:
        return evidence.fits_all or (evidence.share >= _SOME and evidence.telling >= _SAYS)
    found = ((at, needs[at].text) for at in evidence.found if not needs[at].minor)
    telling = {at: text for at, text in found if not is_request(fold(text))}
    code = any(text.isalnum() and not text.isalpha() and not text.isdigit() for text in telling.values())
    titled = any(
        "title" in evidence.found[at] and (evidence.share >= _HALF or is_unspaced(text)) for at, text in telling.items()
    )
    return len(telling) > 1 or code or titled


def _hiding(curated: Curated, roots: Sequence[Root], found: Sequence[Scored]) -> list[Scored]:
    """Return hidden memories that the query did not find, and raise the values of those that hide others.

    Hidden memories have the type and slug of a found one. A memory that hides another gets at least the other's values,
    because the query was for it.
    """
    by_key: dict[tuple[str, str], list[Scored]] = {}
    for one in found:
        by_key.setdefault(one.memory.identity, []).append(one)
    more: list[Scored] = []
    for side, mine in curated.by_side(roots) if by_key else ():
        known = {one.memory.id for one in found if one.side is side}
        where = f"(type, slug) IN (VALUES {','.join(['(?, ?)'] * len(by_key))})"
        keys = [part for key in by_key for part in key]
        for memory in side.catalog.read(mine, partial(memories, roots=mine, where=where, values=keys)):
            if memory.id not in known:
                more.append(Scored(side, memory))
                by_key[memory.identity].append(more[-1])
    for some in by_key.values():
        some.sort(key=lambda one: one.memory.root.depth)
        for above, below in pairwise(some):
            below.words, below.letters = max(above.words, below.words), max(above.letters, below.letters)
    return more


def _scored(found: Sequence[Scored], settings: CuratedSettings, now: datetime, skip: Sequence[str]) -> list[Scored]:
    """Return the candidates with the terms of their score, the best first, of equal ones the deepest and the newest."""
    signals: dict[tuple[str, str], float] = {}
    for side in {one.side.name: one.side for one in found}.values():
        mine = side.records.signals([one.memory.id for one in found if one.side is side], light=True)
        signals |= {(side.name, key): score for key, (_, score, _) in mine.items()}
    weights = [settings[f"recall.weights.{name}"] for name in TERMS]
    half = settings["recall.freshness.half_life_days"]
    scored = []
    for one in found:
        if one.memory.id in skip:
            continue
        age = max(now.timestamp() - one.memory.changed, 0) / DAY
        signal = signals.get((one.side.name, one.memory.id), 0.0)
        recent = min(0.5 ** (age / half), one.words)
        values = (one.words, one.letters, recent, min(max(signal, 0.0), 1.0))
        one.terms = {name: weight * value for name, weight, value in zip(_NAMES, weights, values, strict=True)}
        if one.meaning:
            one.terms["meaning"] = _MEANING * one.meaning
        scored.append(one)
    scored.sort(key=lambda one: (-one.score, -one.memory.root.depth, -one.memory.changed, one.memory.id))
    return _newer_first(scored)


def _newer_first(found: Sequence[Scored]) -> list[Scored]:
    """Return memories in their order, but of two that say the same the newer one first."""
    words = {one.memory.key: frozenset(tokens(f"{one.memory.header.name} {one.memory.whole}")) for one in found}
    ordered: list[Scored] = []
    for one in found:
        mine = words[one.memory.key]
        same = (
            at
            for at, other in enumerate(ordered)
            if other.memory.changed < one.memory.changed
            and len(mine & words[other.memory.key]) >= _SAME * len(mine | words[other.memory.key])
        )
        ordered.insert(next(same, len(ordered)), one)
    return ordered
