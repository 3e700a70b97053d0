"""Refs: short names such as `tasks#3fa94c1b2d`, derived from what an entry is, never written into a file.

The first ten hex digits come from the identity (kind of file and, for a task, title and `created`), so a ref stays
while an entry moves between sections and files and while its other fields change. Entries of one identity are
twins: their refs go on with digits made from what tells them apart (`completed`, then the occurrence, counted from
the end of the file, for new entries go on top and must not rename older ones). The long form of an entry that has
no twins is understood as well, so a ref that was handed out stays good when the twin is archived.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from memory.document.source import encode
from memory.errors import AmbiguousError, Choice, NotFoundError

SHORT = 10
"""How many hex digits come from the identity alone."""
_MORE = 8
_REF = re.compile(r"(?:([^#\s]+)#)?([0-9a-fA-F]{7,})")
_MAX_CANDIDATES = 20


class Item(Protocol):
    """What can be looked up by ref or title."""

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


T = TypeVar("T", bound=Item)


@cache
def _blake2b() -> Callable[..., Any]:
    # The same function; hashlib would load OpenSSL first, which takes longer than naming a thousand tasks.
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b


def identity_hex(*parts: str) -> str:
    """Return the ten hex digits of an identity: the kind of file first, then what the entry is known by."""
    return identity_of_bytes(encode("\0".join(parts)))


def identity_of_bytes(parts: bytes) -> str:
    """Return the digits of an identity whose parts are joined by NULs, in the bytes of the file."""
    return str(_blake2b()(parts, digest_size=SHORT // 2).hexdigest())


def tell_apart(identity: str, marks: Sequence[str]) -> list[str]:
    """Return the long hex digits of twins, in the order of their `marks`; no two are equal.

    A mark is what tells a twin from the others (`completed`, or empty); equal marks are counted from the end.
    """
    blake2b = _blake2b()
    seen: dict[str, int] = {}
    digests = []
    for mark in reversed(marks):
        count = seen.get(mark, 0)
        seen[mark] = count + 1
        digests.append(blake2b(encode(f"{identity}\0{mark}\0{count}")).hexdigest())
    digests.reverse()
    digits = _MORE
    while digits < 128 and len({digest[:digits] for digest in digests}) < len(digests):
        digits += 4
    return [identity + digest[:digits] for digest in digests]


def read_ref(text: str) -> tuple[str | None, str] | None:
    """Return (kind or file, hex digits) if a text has the form of a ref or of its digits alone, else None."""
    found = _REF.fullmatch(text.strip())
    return (found[1], found[2].lower()) if found else None


def fits(item: Item, digits: str) -> bool:
    """Tell whether hex digits are the beginning of an item's ref, short or long."""
    identity = item.identity
    if len(digits) <= SHORT:
        return identity.startswith(digits)
    return digits.startswith(identity) and item.long_hex.startswith(digits)


def look_up(
    text: str,
    kind: str,
    noun: str,
    pools: Iterable[Callable[[], Iterable[T]]],
    by_digits: Callable[[Iterable[T], str], Iterable[T]] | None = None,
    read_only: Callable[[], Iterable[T]] | None = None,
    titled: Callable[[Sequence[T], str], Sequence[T]] | None = None,
) -> T:
    """Return the one item that a ref, its hex digits (7 or more) or a part of its title names.

    `pools` are asked in their order until one has an answer: the file itself first, its archives after it. In a
    ref `kind#…` may be spelled with a file's name, which then is the only one looked at. A whole title, spelled
    exactly, wins over titles that merely contain it. `titled` leaves out items whose titles surely do not contain a
    casefolded text, where that is quicker than reading them. `read_only` is asked for nothing but the advice of the
    error: a ref may stand where no edit reaches. Raises NotFoundError `<noun>.not_found`, and AmbiguousError
    `<noun>.ambiguous` whose `candidates` hold ref (in its longer form), title, file and line of each that fits, and
    whose `choices` hold the same for people.
    """
    name = text.strip()
    ref = read_ref(name)
    for pool in pools:
        items = list(pool())
        found: list[T] = []
        if ref is not None:
            scope, digits = ref
            if scope is None or scope == kind:
                scoped: Iterable[T] = items
            else:
                scoped = [item for item in items if item.file in (scope, scope + ".md")]
            found = list(by_digits(scoped, digits)) if by_digits else [item for item in scoped if fits(item, digits)]
        if not found and name and (ref is None or ref[0] is None):
            part = name.casefold()
            likely = items if titled is None else titled(items, part)
            found = [item for item in likely if item.title == name]
            if not found:
                found = [item for item in likely if part in item.title.casefold()]
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(name, kind, noun, found)
    what = "has the ref" if ref is not None and ref[0] is not None else "fits"
    hint = "list them to see their refs"
    if read_only is not None and ref is not None and ref[0] in (None, kind):
        file = next((item.file for item in read_only() if fits(item, ref[1])), None)
        if file is not None:
            hint = f"it stands in {file}, and the archive is only read"
    raise NotFoundError(f"{noun}.not_found", f"no {_words(noun)} {what} {_shown(name)}", hint, text=name)


def _ambiguous(name: str, kind: str, noun: str, found: Sequence[Item]) -> AmbiguousError:
    candidates = []
    choices = []
    digits = [item.long_hex for item in found]
    identities = Counter(item.identity for item in found)
    for item, long_hex in zip(found[:_MAX_CANDIDATES], digits, strict=False):
        # Entries of several archives can agree in everything: then the file tells them apart.
        scope = kind if digits.count(long_hex) == 1 else item.file.removesuffix(".md")
        candidate: dict[str, Any] = {"ref": f"{scope}#{long_hex}", "title": item.title}
        candidate.update(file=item.file, line=item.line + 1)
        candidates.append(candidate)
        # All entries of one identity have one title, so none of them is missing among what was found.
        ref = item.ref if identities[item.identity] == 1 else candidate["ref"]
        choices.append(Choice(ref.removeprefix(kind + "#"), f"{item.file}:{item.line + 1}", item.title))
    shown = ", ".join(candidate["ref"] for candidate in candidates[:4]) + (", …" if len(found) > 4 else "")
    return AmbiguousError(
        f"{noun}.ambiguous",
        f"{len(found)} entries fit {_shown(name)}",
        f"use one of {shown}",
        choices=choices,
        candidates=candidates,
        count=len(found),
    )


def _words(noun: str) -> str:
    return {"journal": "journal entry", "task": "task"}.get(noun, noun)


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:59] + "…")
