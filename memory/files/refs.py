"""Refs: short names such as `tasks#3fa94c1b2d`, derived from an entry's identity, never written into a file.

The first ten hex digits come from the identity (kind of file and, for a task, title and `created`), so a ref stays
while an entry moves between sections and files and while its other fields change. Entries with the same identity are
twins: their refs have more digits, derived from their whole text. So such a ref never passes from one twin to another,
whether one is removed, completed or archived, or another program reorders them. Byte-equal twins are distinguished by
their position and their number; when one of them is removed, the refs of all of them become invalid. The long form of
an entry without twins is accepted as well, so a ref stays valid after the twin is archived. A ref that fits no entry is
looked up in the change log (`Past`): an entry that was edited since is found, and for any other the error says what
happened to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from memory.base.values import folded
from memory.document.lines import encode
from memory.document.nodes import bare
from memory.errors import AmbiguousError, EntryChoice, NotFoundError

if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    class Referable(Protocol):
        """An item that can be looked up by ref or title."""

        @property
        def ref(self) -> str:
            """The shown ref."""

        @property
        def identity(self) -> str:
            """The ten hex digits of the identity."""

        @property
        def long_hex(self) -> str:
            """The digits that no other entry of the file has."""

        @property
        def title(self) -> str:
            """The title without priority, time and the like."""

        @property
        def file(self) -> str:
            """The file's name relative to the memory folder."""

        @property
        def line(self) -> int:
            """The line, from 0."""

    T = TypeVar("T", bound=Referable)

SHORT = 10
"""How many hex digits come from the identity alone."""
_MORE = 8
_REF = re.compile(r"(?:([^#\s]+)#)?([0-9a-fA-F]{7,})")
_MAX_CANDIDATES = 20


class RefTrace(NamedTuple):
    """What the change log knows about an entry that a ref once meant.

    `words` say what was done to it, by whom and when ("was removed by cli at 2024-01-15 13:04"). `source` is its source
    without trailing blank lines, where it was only edited; `ref` its new ref, where its title or date changed. `gone`
    says that it was removed. Without any of these, the log does not show which entry it is now.
    """

    words: str
    title: str
    source: bytes | None = None
    ref: str | None = None
    gone: bool = False
    details: Mapping[str, str] = {}


Past = Callable[[str, str], RefTrace | None]
"""Looks up a kind of entries and the digits of a ref in the change log; None where nothing is known."""


def identity_hex(*parts: str) -> str:
    """Return the ten hex digits of an identity: the kind of file first, then the parts that identify the entry."""
    return str(blake2b(encode("\0".join(parts)), digest_size=SHORT // 2).hexdigest())


def tell_apart(identity: str, marks: Sequence[bytes]) -> list[str]:
    """Return the long hex digits of twins, in the order of their `marks`; no two are equal.

    A mark is the text of a twin. Equal marks are counted from the end, and their number goes into the digits: the
    digits of one of three are never those of one of two.
    """
    if len(marks) == 1:
        # The usual case.
        return [identity + _digest(identity, 0, 1, marks[0])[:_MORE]]
    count = Counter(marks)
    seen: dict[bytes, int] = {}
    digests = []
    for mark in reversed(marks):
        place = seen.get(mark, 0)
        seen[mark] = place + 1
        digests.append(_digest(identity, place, count[mark], mark))
    digests.reverse()
    digits = _MORE
    while digits < 128 and len({digest[:digits] for digest in digests}) < len(digests):
        digits += 4
    return [identity + digest[:digits] for digest in digests]


def _digest(identity: str, place: int, count: int, mark: bytes) -> str:
    """Return the digits of a twin: the number `place` of `count` with the same mark, from 0 at the end."""
    return str(blake2b(f"{identity}\0{place}\0{count}\0".encode() + mark).hexdigest())


def read_ref(text: str) -> tuple[str | None, str] | None:
    """Return (kind or file, hex digits) if a text has the form of a ref or of its digits alone, else None."""
    found = _REF.fullmatch(text.strip())
    return (found[1], found[2].lower()) if found else None


def fits(item: Referable, digits: str) -> bool:
    """Return whether hex digits are the beginning of an item's ref, short or long."""
    identity = item.identity
    if len(digits) <= SHORT:
        return identity.startswith(digits)
    return digits.startswith(identity) and item.long_hex.startswith(digits)


def look_up(
    text: str,
    kind: str,
    noun: str,
    pools: Sequence[Callable[[], Iterable[T]]],
    by_digits: Callable[[Iterable[T], str], Iterable[T]] | None = None,
    read_only: Callable[[], Iterable[T]] | None = None,
    *,
    past: Past | None = None,
    is_open: Callable[[T], bool] | None = None,
    remark: Callable[[str], None] | None = None,
) -> T:
    """Return the one item that a ref, its hex digits (7 or more) or a part of its title names.

    `pools` are searched in order until one has a match: the file itself first, then its archives. In a ref, `kind#…`
    may name a file instead, and then only that file is searched. An exact whole title wins over titles that merely
    contain it. Where it matches one item that `is_open` and others that are not, the open one is meant, and `remark` is
    called with a sentence about it. `read_only` is
    used only for the hint of the error: the entry may be where no edit is possible. `past` looks up a ref that fits no
    entry. Raises NotFoundError `<noun>.not_found`, `<noun>.archived`, `<noun>.gone` (removed) or `<noun>.renamed`, and
    AmbiguousError `<noun>.ambiguous` whose `candidates` hold ref (in its longer form), title, file and line of each
    match, and whose `choices` hold the same for the user.
    """
    name = text.strip()
    ref = read_ref(name)
    find = by_digits or (lambda items, digits: [item for item in items if fits(item, digits)])
    for pool in pools:
        asked = pool()
        items = asked if isinstance(asked, Sequence) else list(asked)
        found: list[T] = []
        if ref is not None:
            scope, digits = ref
            if scope is None or scope == kind:
                scoped: Iterable[T] = items
            else:
                scoped = [item for item in items if item.file in (scope, scope + ".md")]
            found = list(find(scoped, digits))
        if not found and name and (ref is None or ref[0] is None):
            part = folded(name)
            found = [item for item in items if item.title == name]
            if not found:
                found = [item for item in items if part in folded(item.title)]
            open_ones = [item for item in found if is_open is not None and is_open(item)]
            if len(open_ones) == 1 < len(found):
                if remark is not None:
                    remark(_open_one(name, open_ones[0], len(found) - 1))
                found = open_ones
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(name, noun, found)
    if ref is not None and ref[0] in (None, kind):
        return _by_past(name, ref[1], kind, noun, pools, find, read_only, past)
    what = "has the ref" if ref is not None and ref[0] is not None else "fits"
    raise _not_found(name, noun, what)


def _not_found(name: str, noun: str, what: str) -> NotFoundError:
    message = f"no {_words(noun)} {what} {short(name)}"
    return NotFoundError(f"{noun}.not_found", message, "list them to see their refs", text=name)


def _open_one(name: str, item: Referable, others: int) -> str:
    more = "a completed one has this title too" if others == 1 else f"{others} completed ones have this title too"
    return f"{short(name)} means the open one, {item.ref}; {more}"


def _by_past(
    name: str,
    digits: str,
    kind: str,
    noun: str,
    pools: Sequence[Callable[[], Iterable[T]]],
    find: Callable[[Iterable[T], str], Iterable[T]],
    read_only: Callable[[], Iterable[T]] | None,
    past: Past | None,
) -> T:
    """Return the entry that an outdated ref meant before an edit, or raise an error that says what happened to it."""
    trace = None if past is None else past(kind, digits)
    known = [item for pool in pools for item in pool() if item.identity.startswith(digits[:SHORT])]
    if trace is not None and trace.source is not None:
        same = [item for item in known if (entry := getattr(item, "entry", None)) and bare(entry) == trace.source]
        if len(same) == 1:
            return same[0]
    if read_only is not None:
        stored = list(read_only())
        found = list(find(stored, digits))
        if not found and trace is not None and trace.source is not None:
            found = [item for item in stored if (entry := getattr(item, "entry", None)) and bare(entry) == trace.source]
        if found:
            when = "" if trace is None else f": it {trace.words}"
            raise NotFoundError(
                f"{noun}.archived",
                f"the {_words(noun)} {short(found[0].title)} is in the archive{when}",
                f"it stands in {found[0].file}, and the archive is only read; `memdeck restore` brings it back",
                text=name,
                ref=found[0].ref,
                file=found[0].file,
                **({} if trace is None else trace.details),
            )
    if trace is not None and (trace.gone or trace.ref is not None):
        title = f"the {_words(noun)} {short(trace.title)} {trace.words}"
        if trace.ref is not None:
            hint, code = f"it is {trace.ref} since", "renamed"
        else:
            hint, code = "`memdeck changes show` has it, `memdeck changes revert` brings it back", "gone"
        details = {**trace.details, **({} if trace.ref is None else {"ref": trace.ref})}
        raise NotFoundError(f"{noun}.{code}", title, hint, text=name, **details)
    if known:
        words = "" if trace is None else f": the entry of that ref {trace.words}"
        raise _ambiguous(name, noun, known, f"{short(name)} names no {_words(noun)} any more{words}")
    raise _not_found(name, noun, "has the ref" if "#" in name else "fits")


def _ambiguous(name: str, noun: str, found: Sequence[Referable], words: str = "") -> AmbiguousError:
    candidates = []
    choices = []
    digits = [item.long_hex for item in found]
    identities = Counter(item.identity for item in found)
    for item, long_hex in zip(found[:_MAX_CANDIDATES], digits, strict=False):
        # Entries of several archives can be equal in everything: then the file distinguishes them.
        own = item.ref.partition("#")[0]
        scope = own if digits.count(long_hex) == 1 else item.file.removesuffix(".md")
        candidate: dict[str, Any] = {"ref": f"{scope}#{long_hex}", "title": item.title}
        candidate.update(file=item.file, line=item.line + 1)
        candidates.append(candidate)
        # All entries of one identity have the same title, so `found` contains all of them.
        ref = item.ref if identities[item.identity] == 1 else candidate["ref"]
        choices.append(EntryChoice(ref.removeprefix(f"{own}#"), f"{item.file}:{item.line + 1}", item.title))
    shown = ", ".join(candidate["ref"] for candidate in candidates[:4]) + (", …" if len(found) > 4 else "")
    return AmbiguousError(
        f"{noun}.ambiguous",
        words or f"{len(found)} entries fit {short(name)}",
        f"use one of {shown}",
        choices=choices,
        candidates=candidates,
        count=len(found),
    )


def _words(noun: str) -> str:
    return {"journal": "journal entry", "archive": "archived entry"}.get(noun, noun)


def short(name: str) -> str:
    """Return a name in quotes, cut after 60 characters."""
    return repr(name if len(name) <= 60 else name[:59] + "…")
