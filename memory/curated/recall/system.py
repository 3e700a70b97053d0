"""memdeck's own files under `_system`, found by the words of a question where somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.curated.files.listing import LARGEST, system_files
from memory.curated.index.words import fold, meaningful, words
from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.model import Root


class SystemFile(NamedTuple):
    """One file, its text, and the share of the words of the question that it has."""

    root: Root
    name: str
    text: str
    score: float


def find_system(curated: Curated, query: str, roots: Sequence[Root], most: int) -> list[SystemFile]:
    """Return the files of `_system` of some folders that have words of a question, those with the most first."""
    wanted = meaningful(query) or words(query)
    found = []
    for root in roots:
        store = curated.side_of(root).store
        for name in system_files(store, root):
            path = f"{root.folder}/{name}"
            try:
                data = store.read(path).data
            except MemdeckError:
                continue
            finally:
                store.remember(path, None)
            text = data[:LARGEST].decode("utf-8", "replace")
            folded = fold(text)
            score = sum(word in folded for word in wanted) / max(len(wanted), 1)
            if score:
                found.append(SystemFile(root, name, text, score))
    return sorted(found, key=lambda one: (-one.score, one.root.depth, one.name))[:most]
