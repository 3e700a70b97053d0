"""Parse and dump, every field of every entry, and one edit, against floors on the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from bench import reference
from bench.measure import Case, Unavailable
from bench.places import Places
from bench.workspaces import big_document


def document_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the cases for one size: `30MB` for one large journal, else a workspace's tasks and journal."""
    if size == "30MB":
        inputs = [places.folder / "large.md"]
        inputs[0].write_bytes(big_document())
    else:
        memory = places.memory(places.workspace(size))
        inputs = [memory / "tasks.md", memory / "journal.md"]
    sink = places.folder / "document.out"

    def each(work: Callable[[bytes], object]) -> Callable[[], None]:
        def run() -> None:
            for path in inputs:
                work(path.read_bytes())

        return run

    lines = "read, splitlines, join"
    eager = "read, every field, careful Python"
    yield Case("read, write bytes", each(lambda data: reference.write_bytes(data, sink)))
    yield Case("read, decode, encode", each(reference.decode_and_encode))
    yield Case(lines, each(reference.split_and_join))
    yield Case("read, outline by one regex", each(reference.outline), compared_with=lines)
    yield Case("memdeck read, parse", each(lambda data: library().parse(data)), compared_with=lines)
    yield Case("memdeck read, parse, dump", each(_parse_and_dump), compared_with=lines, target=1.3)
    yield Case(eager, each(reference.eager_fields))
    yield Case("memdeck read, every field", each(_every_field), compared_with=eager, target=1.5)
    yield Case("memdeck read, parse, edit, dump", each(_parse_edit_dump), compared_with=lines)
    holder: dict[str, Any] = {}

    def parse_last() -> None:
        if not holder:
            holder["document"] = library().parse(inputs[-1].read_bytes())
            holder["edited"] = _edit(holder["document"]).dump()

    yield Case("memdeck edit one entry", lambda: _edit(holder["document"]), parse_last, lines)
    yield Case("memdeck edit one entry, dump", lambda: _edit(holder["document"]).dump(), parse_last, lines)
    outside = "memdeck takes over an edit from outside"

    def take_over() -> object:
        from memory.document.model import updated

        return updated(holder["document"], holder["edited"])

    yield Case(outside, take_over, parse_last, lines)


def library() -> ModuleType:
    """Return memory.document; Unavailable if this version has none."""
    try:
        import memory.document
    except ImportError as error:
        raise Unavailable(f"memory.document: {error}") from error
    if not hasattr(memory.document, "parse"):
        raise Unavailable("memory.document has no parse")
    return memory.document


def _parse_and_dump(data: bytes) -> None:
    if library().parse(data).dump() != data:
        raise ValueError("dump differs from the input")


def _parse_edit_dump(data: bytes) -> None:
    if len(_edit(library().parse(data)).dump()) == len(data):
        raise ValueError("the edit is not in the dump")


def _every_field(data: bytes) -> list[dict[str, str]]:
    document = library().parse(data)
    return [dict(entry.fields) for section in document.sections for entry in section.entries]


def _edit(document: Any) -> Any:
    """Set one field of an entry in the middle of the document."""
    index = len(document.sections) // 2
    entries = document.sections[index].entries
    middle = len(entries) // 2
    return document.replace_entry(index, middle, entries[middle].set_field("notes", "changed by the benchmark"))
