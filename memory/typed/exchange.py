"""Conversion of the typed memory of agents from and to other memories: one item for each `##` block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memory.base.items import Committed, Item, Skipped, Taken, comma_losses
from memory.base.safe_text import plural
from memory.document import parse
from memory.document.item_block import body_of, item_of_block
from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.storage import Store
from memory.typed import ops
from memory.typed.aidefile import NAME
from memory.typed.ops import block_of, with_blocks
from memory.typed.pruning import AgentLook
from memory.typed.reading import records_of

FILE = "converted.md"
"""The procedural file of an agent to which items from other memories are added."""


def items_of(look: AgentLook, shown: str) -> Iterator[Item | Skipped]:
    """Yield the blocks and files of an agent as items; `shown` is the prefix of the paths."""
    passed: list[Skipped] = []
    for record in records_of(look, shown, lambda path, reason: passed.append(Skipped(path, reason))):
        heading, _, body = record.text.partition("\n")
        text = body if heading.startswith("#") else record.text
        yield item_of_block("note", record.title, text, f"{record.file}:{record.line + 1}")
    yield from passed


def agent_for(looks: Sequence[AgentLook], name: str) -> AgentLook:
    """Return the agent with that name, or the only agent; UsageError or NotFoundError `typed.agent`."""
    usable = [look for look in looks if look.aidefile is not None]
    found = [look for look in usable if name in ("", look.agent.name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(look.agent.name for look in usable)[:200] or "none"
    if not name and found:
        raise UsageError(
            "typed.agent", f"there are several agents: {known}", "name one, with --into or in the field agent"
        )
    raise NotFoundError("typed.agent", f"there is no agent {name[:40]!r}", f"use one of {known}")


def take(look: AgentLook, store: Store, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to blocks at the end of `converted.md`, with all fields as bullets; in one change."""
    assert look.aidefile is not None
    path = f"{look.aidefile.procedural.real}/{FILE}"
    before = store.read(path).data
    there = {section.raw.strip() for section in parse(before).sections}
    converted: list[Item] = []
    skipped: list[Skipped] = []
    for item in items:
        try:
            block = _block(item)
        except MemdeckError as error:
            skipped.append(Skipped(item.what, error.message))
            continue
        if block.strip() in there:
            skipped.append(Skipped(item.what, "it already exists"))
            continue
        there.add(block.strip())
        converted.append(item)

    def commit() -> Committed:
        if not converted:
            return Committed(())
        begun = []
        if not look.agent.registered and not store.read(NAME).exists:
            with store.transaction("typed.convert", actor=actor, now=now) as transaction:
                transaction.write(NAME, b"[memory]\n", base=None)
                begun.append(transaction.commit(f"created the {NAME} of {look.agent.name}"))
        blocks = [_block(item) for item in converted]
        summary = f"converted {plural(len(converted), 'entry')}"
        how = ops.How(now=now, actor=actor)
        change = ops.rewrite(store, path, lambda data: with_blocks(data, blocks), "typed.convert", summary, how)
        return Committed([one.id for one in (*begun, change) if one.files])

    return Taken(converted, skipped, [loss for item in converted for loss in comma_losses(item)], commit)


def _block(item: Item) -> bytes:
    """Return an item as one block; UsageError `convert.block` where it would not be read back as the same item."""
    body = body_of(item)
    raw = block_of(item.title, f"\n{body}", "convert.block")
    back = item_of_block("", item.title, body, "")
    if (back.kind, back.text.strip("\r\n")) != (item.kind, item.text.strip("\r\n")):
        raise UsageError("convert.block", "its text would be read as something else", "fix it there")
    return raw
