"""What is looked at before memory files are written: text that would not stay what it is, and secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memory.document.lines_and_headings import conflict_at, decode
from memory.errors import MemdeckError, RefusedError

if TYPE_CHECKING:
    from memory.base.problems import Problem
    from memory.document import Document
    from memory.document.compare import Region

_FOREIGN = (b"\xff\xfe", b"\xfe\xff", b"\0")


def refuse_unwritable(name: str, document: Document) -> None:
    """Raise MemdeckError `file.conflict_markers` for a merge that is not done, RefusedError `file.not_text` for what
    is in another encoding, or no text: UTF-8 in the middle of it would make it unreadable for everybody.
    """
    data = document.dump()
    if data.startswith(_FOREIGN):
        raise RefusedError(
            "file.not_text",
            f"{name} is not UTF-8 text: it begins with {' '.join(f'{byte:02x}' for byte in data[:2])}",
            "save it as UTF-8 (UTF-16 is what some editors call Unicode), or put back what it was",
            file=name,
        )
    if conflict_at(data) is not None:
        raise MemdeckError(
            "file.conflict_markers",
            f"git's conflict markers stand in {name}",
            "resolve them in an editor; until then memdeck only reads the file",
            file=name,
        )


CODE = "secret.found"
_ENTRY = b"\n###"  # without its blank: what ends in a rare character is found faster
_ADVICE = "whoever reads the file has it: take it out and make a new one"


def secrets_in(edited: Iterable[tuple[str, Document, Sequence[Region]]]) -> tuple[str, ...]:
    """Return a sentence for each secret that an edit brought into a file; `edited` holds name, new document and what
    is different in it.

    What stood in the changed parts before, in whichever file, only moved.
    """
    parts = list(edited)
    if not _brings_any([region for _, _, regions in parts for region in regions]):
        return ()
    known = {text for _, _, regions in parts for region in regions for _, _, text in _found(region.before)}
    said: dict[str, None] = {}
    for name, document, regions in parts:
        for offset, region in _placed(regions):
            for line, kind, text in _found(region.after):
                if text not in known:
                    above = document.dump().count(b"\n", 0, offset)
                    said[f"{name}:{above + line + 1} looks like it holds a secret ({kind}); {_ADVICE}"] = None
    return tuple(said)


def secret_problems(name: str, document: Document) -> Iterator[Problem]:
    """Yield a warning for each line of a file that looks like it holds a secret."""
    from memory.base.problems import Problem
    from memory.base.secrets import secret_lines

    for line, kind in dict.fromkeys(secret_lines(decode(document.dump()))):
        yield Problem("warning", name, line + 1, CODE, f"this looks like a secret ({kind}); {_ADVICE}")


def _brings_any(regions: Sequence[Region]) -> bool:
    """Tell whether anything that looks like a secret stands in what is new of the changed parts.

    No secret goes beyond its line, nor does what makes it one. So an entry that stood in these parts before with the
    same bytes brings none, and the thousands that maintenance moves need not be looked at.
    """
    before = {piece for region in regions for piece in _pieces(region.before)}
    new = dict.fromkeys(piece for region in regions for piece in _pieces(region.after) if piece not in before)
    return bool(new) and bool(_found(b"".join(_ENTRY + piece for piece in new)))


def _pieces(data: bytes) -> list[bytes]:
    """Cut bytes before each line that begins as `_ENTRY` does, which pieces leave out; the first has a line feed there.

    Pieces that are the same hold the same whole lines.
    """
    return (b"\n" + data).split(_ENTRY)


def _placed(regions: Sequence[Region]) -> Iterator[tuple[int, Region]]:
    """Yield regions with where each begins in the new bytes."""
    shift = 0
    for region in regions:
        yield region.start + shift, region
        shift += len(region.after) - len(region.before)


def _found(data: bytes) -> list[tuple[int, str, str]]:
    """Return line (from 0), kind and text of the secrets in some bytes; the text is for comparing only."""
    from memory.base.secrets import find_secrets

    text = decode(data)
    return [(text.count("\n", 0, one.start), one.kind, text[one.start : one.end]) for one in find_secrets(text)]
