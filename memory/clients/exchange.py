"""Conversion of other memories to memories of a client, and their export as instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of
from memory.base.safe_text import plural
from memory.base.values import alike
from memory.base.word_lists import sounds_like_rule
from memory.clients.folders import (
    ClientFolder,
    FolderWriter,
    index_lines,
    refuse_adding,
)
from memory.clients.memories import TYPES, ClientMemory, file_name, files_of, new_memory, one_line, with_body

_KNOWN = ("type", "description", "section", "reason", "created", "scope", "kind")
LEFT_OUT = frozenset({"task", "journal", "contact", "plan", "monitor", "setting"})
"""The kinds of items that are no memories of how to work."""


def take(folder: ClientFolder, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to memories of a folder, each with its line in the index; in one change.

    An item with the title of an existing memory replaces its text, so that converting again changes what changed.
    """
    known = {alike(one.title): one for one in folder.memories}
    new: dict[str, tuple[Item, ClientMemory | None]] = {}
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        title = alike(item.title)
        there = known.get(title)
        if item.kind in LEFT_OUT:
            skipped.append(Skipped(item.what, f"a {item.kind} is not a client memory"))
        elif title in new:
            skipped.append(Skipped(item.what, "it was already converted"))
        elif there is not None and alike(there.body) == alike(_body(item)):
            skipped.append(Skipped(item.what, "it already exists"))
        else:
            new[title] = (item, there)
            losses += losses_of(item, _KNOWN)

    def commit() -> Committed:
        if not new:
            return Committed(())
        top, files = folder.source.top(), dict[str, tuple[bytes | None, bytes]]()
        taken = {path.removeprefix(top) for path in files_of(folder.source)}
        for item, there in new.values():
            if there is not None:
                files[there.path] = (there.stored.data, with_body(there.stored.data, _body(item)))
                continue
            refuse_adding(folder.source)
            title, kind = one_line(item.title)[:200], _type(item)
            name = file_name(title, kind, taken)
            taken.add(name)
            files[top + name] = (None, new_memory(title, _body(item), kind, item.fields.get("description", ""), now))
        files.update(dict(index_lines(folder.store, files)))
        words = f"converted {plural(len(new), 'entry')} to the memory of {folder.source.title}"
        change = FolderWriter(folder.store, actor, now).write_all(files, "clients.convert", words)
        return Committed((change.id,) if change.files else ())

    return Taken([item for item, _ in new.values()], skipped, losses, commit)


def _body(item: Item) -> str:
    parts = (item.text.strip() or item.title, item.fields.get("reason") and f"**Why:** {item.fields['reason']}")
    return "\n\n".join(part for part in parts if part)


def _type(item: Item) -> str:
    """Return the type of a new memory: that of its source, else feedback for a rule."""
    said = item.fields.get("type", "")
    if said in TYPES:
        return said
    rule = (
        sounds_like_rule(item.title) or "preference" in " ".join((*item.tags, item.fields.get("section", ""))).lower()
    )
    return "feedback" if rule else "project"


def as_instructions(groups: Sequence[tuple[str, Sequence[Item]]]) -> Iterator[str]:
    """Yield the lines of an AGENTS.md: a heading for each group, a bullet for each item, its text below."""
    yield "# Memory"
    for title, items in groups:
        yield from ("", f"## {title}", "")
        for item in items:
            text = _body(item)
            same = alike(text) == alike(item.title)
            yield f"- {one_line(item.title)}" + ("" if same or "\n" in text else f": {one_line(text)}")
            if not same and "\n" in text:
                yield from (f"  {line}".rstrip() for line in text.splitlines())
