"""Reads fixture files that a person can read: title, input, expected, each ended by a line with one dot.

In input and expected text `\\r`, `\\t`, `\\0`, `\\\\`, `\\xNN` and `\\uNNNN` stand for what they say;
`\\xNN` from 80 upwards is one raw byte, decoded as the core decodes it. A backslash at the end of a line
takes the line end away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
SAMPLE = FIXTURES / "sample"
_ESCAPE = re.compile(r"\\(?:([rt0\\])|x([0-9a-f]{2})|u([0-9a-f]{4})|(\n))")
_PLAIN = {"r": "\r", "t": "\t", "0": "\0", "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `input` holds undecodable bytes as surrogates, `line` (from 1) is where the title stands."""

    title: str
    input: str
    expected: str
    line: int

    @property
    def data(self) -> bytes:
        """Return the input as the bytes of a file."""
        return self.input.encode("utf-8", "surrogateescape")

    def __str__(self) -> str:
        """Return a name for the test report."""
        return f"{self.line}: {self.title}"


def read_cases(path: Path) -> list[Case]:
    """Return the cases of one fixture file in order; ValueError for a case that is not complete."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    cases: list[Case] = []
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        dots = [number for number in range(at, len(lines)) if lines[number] == "."][:3]
        if len(dots) < 3 or dots[0] != at + 1:
            raise ValueError(f"{path.name}:{at + 1}: a case is a title and two texts, each ended by a dot")
        first, second, third = dots
        given, wanted = (
            unescape("".join(line + "\n" for line in lines[start + 1 : end]))
            for start, end in ((first, second), (second, third))
        )
        cases.append(Case(lines[at], given, wanted, at + 1))
        at = third + 1
    return cases


def unescape(text: str) -> str:
    """Return `text` with its visible escapes replaced by what they stand for."""

    def replace(found: re.Match[str]) -> str:
        plain, byte, point, end = found.groups()
        if end:
            return ""
        if plain:
            return _PLAIN[plain]
        if byte:
            number = int(byte, 16)
            return chr(number if number < 0x80 else 0xDC00 + number)
        return chr(int(point, 16))

    return _ESCAPE.sub(replace, text)


def sample(name: str) -> bytes:
    """Return the bytes of one of the format's own sample files."""
    return (SAMPLE / name).read_bytes()


def sample_names() -> list[str]:
    """Return the names of the sample files in order."""
    return sorted(path.name for path in SAMPLE.glob("*.md"))


def with_newlines(data: bytes, newline: bytes) -> bytes:
    """Return `data` with every `\\n` replaced, for the variants with CRLF and lone CR."""
    return data.replace(b"\n", newline)


def variants(data: bytes) -> dict[str, bytes]:
    """Return the forms in which other programs leave the same file: line ends, BOM, endings, stray bytes."""
    middle = data.index(b"\n## ") + 1
    return {
        "as it is": data,
        "CRLF": with_newlines(data, b"\r\n"),
        "lone CR": with_newlines(data, b"\r"),
        "mixed line ends": with_newlines(data[:middle], b"\r\n") + data[middle:],
        "BOM": b"\xef\xbb\xbf" + data,
        "BOM and CRLF": b"\xef\xbb\xbf" + with_newlines(data, b"\r\n"),
        "no final newline": data.rstrip(b"\n"),
        "many final newlines": data + b"\n\n\n",
        "invalid UTF-8": data + b"- caf\xe9 \xff\xfe\n",
        "NULs": data + b"- nul\0here\n",
        "trailing spaces": data.replace(b"\n\n", b"\n  \n") + b"   ",
    }
