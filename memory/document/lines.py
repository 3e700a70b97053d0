"""Files of lines, such as JSONL: what is different between two of them, and taking a difference back line by line."""

from __future__ import annotations

from collections.abc import Sequence

from .compare import Region, differences

SUFFIX = ".jsonl"
"""What the name of a file ends in whose lines stand for themselves."""


def is_lines(path: str) -> bool:
    """Tell whether a file is one of lines."""
    return path.endswith(SUFFIX)


def lines_of(data: bytes) -> list[bytes]:
    """Split bytes into lines, each with its newline; only `\\n` ends one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def compare_lines(before: bytes, after: bytes) -> tuple[Region, ...]:
    """Return the regions of whole lines that turn one file into the other."""
    if after.startswith(before) and before[-1:] in (b"", b"\n"):
        return (Region("lines", len(before), b"", after[len(before) :]),) if len(after) > len(before) else ()
    old, new = lines_of(before), lines_of(after)
    regions = []
    start = at = 0
    for a0, a1, b0, b1 in differences(old, new):
        start += sum(map(len, old[at:a0]))
        at = a0
        regions.append(Region("lines", start, b"".join(old[a0:a1]), b"".join(new[b0:b1])))
    return tuple(regions)


def take_over(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Do to `theirs` what was done from `base` to `ours`, in whole lines; None where that is no longer possible.

    Lines that ours removed have to stand in theirs still; lines that ours put in come behind the same neighbour as in
    base, or before the same one where that is gone. A line of theirs is never changed.
    """
    old, new, now = lines_of(base), lines_of(ours), lines_of(theirs)
    place = _places(old, now)
    pieces: list[bytes] = []
    done = 0
    for a0, a1, b0, b1 in differences(old, new):
        found = [place.get(index) for index in range(a0, a1)]
        start = found[0] if found else _gap(a0, place, len(old), len(now))
        if start is None or found != list(range(start, start + len(found))) or start < done:
            return None
        pieces += [*now[done:start], *new[b0:b1]]
        done = start + len(found)
    pieces += now[done:]
    # Only the last line may be without its newline: no line grows together with the next one.
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in pieces[:-1]]
    return b"".join((*ended, *pieces[-1:]))


def _places(old: Sequence[bytes], now: Sequence[bytes]) -> dict[int, int]:
    """Return where each line of the one stands in the other, as far as it does."""
    place: dict[int, int] = {}
    at = shift = 0
    for a0, a1, _, b1 in (*differences(old, now), (len(old), len(old), 0, 0)):
        place.update((index, index + shift) for index in range(at, a0))
        at, shift = a1, b1 - a1
    return place


def _gap(index: int, place: dict[int, int], count: int, end: int) -> int | None:
    """Return where lines belong that stood before the line `index`: by the nearest lines that are still there."""
    if index == 0 or count == 0:
        return 0
    for near in range(index - 1, -1, -1):
        if near in place:
            return place[near] + 1
    return next((place[near] for near in range(index, count) if near in place), end)
