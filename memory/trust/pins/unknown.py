"""Files that a command may reach, unknown before it runs: shown with the question, stored with the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory.base.safe_text import visible

from .runners import FINDS, LANGUAGES, READS, RUNS
from .words import has_expansions

WORDS = "some words are known only when it runs ($, `): files named that way are not held on to"
_SENTENCES = {
    "words": WORDS,
    "finds": "the files that {} will come upon are known only when it runs, and are not held on to",
    "modules": "the modules and settings that {} loads by itself are held on to only as far as plain imports name them",
    "reads": "the files that {} reads by itself, beside those listed, are not held on to",
    "calls": "the files listed are held on to; what they run or open in turn is not",
    "outside": "the files outside of the workspace that it names ({}) are not held on to, wherever they lead",
    "folders": "the files in {} that are not listed are not held on to",
}
_WITHOUT = ("shell", "make")
"""Languages without modules."""
# System paths are not in the workspace, and a single name is more likely a pattern of awk or sed.
_OUTSIDE = re.compile(
    r"(?:/(?!(?:bin|sbin|usr|lib|lib32|lib64|etc|dev|proc|sys|run|nix|snap|opt|System|Library)/)[^/]+/|~|\.\./)[^\n]*[^/\n]$"
)
_SHOWN = 6


def unknown_of(
    command: str,
    words: Iterable[str],
    programs: Iterable[str],
    languages: Iterable[str],
    folders: Iterable[str],
    *,
    scripts: bool,
) -> tuple[str, ...]:
    """Return what cannot be determined about a command, each as `kind: names` for `sentence_of`.

    `words` are all that might name a file, `programs` plain names of programs that it may start, `languages` those of
    files that it names, `folders` the folders of the workspace that it names; `scripts` means that it names something
    that runs.
    """
    names = frozenset(programs)
    found = ["words"] if has_expansions(command) else []
    running = {one for one in names if LANGUAGES.get(one) not in (None, *_WITHOUT)}
    covered = {LANGUAGES[one] for one in running}
    running |= frozenset(languages).difference(covered, _WITHOUT)
    for kind, some in (
        ("finds", names & FINDS),
        ("modules", running),
        ("reads", names & (RUNS | READS.keys())),
        ("folders", frozenset(folders)),
        ("outside", {word for word in words if _OUTSIDE.match(word)}),
    ):
        if some:
            found.append(f"{kind}: {', '.join(sorted(some))}")
    return (*found, "calls") if scripts else tuple(found)


def sentence_of(unknown: str) -> str:
    """Return a sentence for people about what cannot be determined; safe to show."""
    kind, _, names = unknown.partition(": ")
    shown = names.split(", ")
    text = ", ".join(shown[:_SHOWN]) + (" …" if len(shown) > _SHOWN else "")
    return _SENTENCES.get(kind, "{} is not held on to").format(visible(text))
