"""basic-memory: a folder of Markdown notes with observations (`- [category] text #tag`) and relations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import markdown_files, read_note, rest_of, texts, title_of

_READ = frozenset({"title", "tags", "created"})


def read(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the notes as a whole: a note stays one entry, with its observations and relations as written."""
    for file in markdown_files(path):
        note = read_note(file)
        if isinstance(note, Skipped):
            yield note
            continue
        front = note.front
        fields = rest_of(front.data, _READ, "basic-memory")
        title = title_of(front.get("title") or file.stem)
        text = note.body.strip("\n")
        # The first heading of a note repeats its title.
        head, _, rest = text.partition("\n")
        if head.strip() == f"# {title}":
            text = rest.strip("\n")
        yield Item("note", title, text, str(file), front.get("created") or "", texts(front.data.get("tags")), fields)
