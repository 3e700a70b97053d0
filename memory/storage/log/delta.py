"""The difference between two versions of a file, small and exact: what a history keeps instead of whole
files.
"""

from __future__ import annotations

from dataclasses import dataclass

_CHUNK = 1 << 16
_LINE = 1 << 11  # Bytes of a line up to which it is shown whole.
_ANCHOR = 48  # Bytes that must agree before two places count as the same again.


@dataclass(frozen=True, slots=True)
class Delta:
    """Replacements `(start in the old bytes, old part, new part)`, in order and apart from each other."""

    parts: tuple[tuple[int, bytes, bytes], ...]

    @classmethod
    def between(cls, before: bytes, after: bytes) -> Delta:
        """Find what is different; not always the shortest, but always such that `apply` gives `after`
        exactly.
        """
        if before == after:
            return cls(())
        tail = _common_tail(before, after)
        end_old, end_new = len(before) - tail, len(after) - tail
        parts: list[tuple[int, bytes, bytes]] = []
        old = new = 0
        while True:
            same = _common_head(before, after, old, new, min(end_old - old, end_new - new))
            old, new = old + same, new + same
            if old == end_old and new == end_new:
                return cls(tuple(parts))
            next_old, next_new = _meet(before, after, old, new, end_old, end_new)
            parts.append((old, before[old:next_old], after[new:next_new]))
            old, new = next_old, next_new

    def in_lines(self, before: bytes) -> Delta:
        """Return the same difference by whole lines, for those who read it; a very long line stays cut."""
        grown: list[tuple[int, int, list[tuple[int, bytes, bytes]]]] = []
        for start, old, new in self.parts:
            end = start + len(old)
            first = _line_start(before, start)
            # Where lines went or came whole, the next one is as it was.
            whole = first == start and _ends_line(old) and _ends_line(new)
            last = end if whole else _line_end(before, end)
            if grown and first < grown[-1][1]:
                first, _, parts = grown.pop()
                grown.append((first, last, [*parts, (start, old, new)]))
            else:
                grown.append((first, last, [(start, old, new)]))
        found = []
        for first, last, parts in grown:
            inner = Delta(tuple((start - first, old, new) for start, old, new in parts))
            found.append((first, before[first:last], inner.apply(before[first:last])))
        return Delta(tuple(found))

    def apply(self, before: bytes) -> bytes:
        """Return the new bytes, given the old ones."""
        pieces: list[bytes] = []
        at = 0
        for start, old, new in self.parts:
            pieces += (before[at:start], new)
            at = start + len(old)
        return b"".join((*pieces, before[at:]))

    def revert(self, after: bytes) -> bytes:
        """Return the old bytes, given the new ones."""
        return self.inverse().apply(after)

    def inverse(self) -> Delta:
        """Return the difference the other way round."""
        shift = 0
        parts: list[tuple[int, bytes, bytes]] = []
        for start, old, new in self.parts:
            parts.append((start + shift, new, old))
            shift += len(new) - len(old)
        return Delta(tuple(parts))

    @property
    def size(self) -> int:
        """How many bytes it keeps."""
        return sum(len(old) + len(new) for _, old, new in self.parts)


def _ends_line(data: bytes) -> bool:
    return not data or data.endswith(b"\n")


def _line_start(data: bytes, at: int) -> int:
    """Return where the line of a place begins; the place itself where that is far away."""
    start = data.rfind(b"\n", max(0, at - _LINE), at) + 1
    return start if start or at <= _LINE else at


def _line_end(data: bytes, at: int) -> int:
    """Return where the line of a place ends, with its line end; the place itself where that is far away."""
    end = data.find(b"\n", at, at + _LINE)
    return end + 1 if end >= 0 else len(data) if len(data) - at <= _LINE else at


def _common_head(a: bytes, b: bytes, i: int, j: int, limit: int) -> int:
    """Count the bytes that agree from `i` and `j` on, at most `limit`."""
    done = 0
    while done < limit:
        size = min(_CHUNK, limit - done)
        one, other = a[i + done : i + done + size], b[j + done : j + done + size]
        if one != other:
            return done + _first_difference(one, other)
        done += size
    return limit


def _common_tail(a: bytes, b: bytes) -> int:
    """Count the bytes that agree before both ends."""
    limit = min(len(a), len(b))
    done = 0
    while done < limit:
        size = min(_CHUNK, limit - done)
        one, other = a[len(a) - done - size : len(a) - done], b[len(b) - done - size : len(b) - done]
        if one != other:
            return done + _first_difference(one[::-1], other[::-1])
        done += size
    return limit


def _first_difference(one: bytes, other: bytes) -> int:
    """Find the first place where two different chunks of one length differ, by halving."""
    low, high = 0, len(one)
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _meet(a: bytes, b: bytes, i: int, j: int, end_a: int, end_b: int) -> tuple[int, int]:
    """Find where two texts that differ at `i` and `j` agree again; their ends if nowhere near.

    Anchors are taken ever further on in the one and looked up in the other: an insertion, a removal and a
    replacement each have one side that an anchor near the difference finds.
    """
    reach = 0
    while i + reach + _ANCHOR <= end_a or j + reach + _ANCHOR <= end_b:
        window = 4 * reach + _CHUNK
        in_b = in_a = -1
        if i + reach + _ANCHOR <= end_a:
            in_b = b.find(a[i + reach : i + reach + _ANCHOR], j, min(end_b, j + window))
        if j + reach + _ANCHOR <= end_b:
            in_a = a.find(b[j + reach : j + reach + _ANCHOR], i, min(end_a, i + window))
        # In text that repeats itself the farther one of two meetings is a chance likeness.
        if in_b >= 0 and (in_a < 0 or in_b - j <= in_a - i):
            return i + reach, in_b
        if in_a >= 0:
            return in_a, j + reach
        reach = 2 * reach + _ANCHOR
    return end_a, end_b
