"""The blocks of typed memory as entries for programs, and as items of other memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory.base.items import Committed, Item, Skipped, Taken, comma_losses
from memory.base.safe_text import plural
from memory.document import Section, parse
from memory.document.item_block import body_of, item_of_block
from memory.document.lines import decode, encode
from memory.errors import AmbiguousError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.files.edit import one_line
from memory.search.entries import (
    Changes,
    Check,
    EntryCall,
    EntryItem,
    EntryKind,
    Made,
    item_of,
    passes,
    refuse_unknown,
    text_of,
    unescaped,
)
from memory.search.records import Record, derived_ref
from memory.storage import Store
from memory.systems import system_of
from memory.typed import ops
from memory.typed.aidefile import NAME
from memory.typed.ops import block_of, in_place_of, section_of, with_blocks
from memory.typed.pruning import AgentLook
from memory.typed.reading import records_of
from memory.typed.registry import path_in
from memory.typed.system import TypedMemory

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


_NOTES = "notes.md"


class TypedBlocks:
    """The blocks and files of the agents of a workspace."""

    compact = False
    filters = ("agent", "path")

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a block."""
        found = [record for record in _system(call).records() if derived_ref(record) == ref]
        if not found:
            raise NotFoundError("typed.not_found", f"no block has the ref {ref[:60]!r}", "list typed to see the refs")
        if len(found) > 1:
            raise AmbiguousError(
                "typed.ambiguous",
                f"{len(found)} blocks of {found[0].file} have the title {found[0].title[:60]!r}",
                "a person has to give them titles of their own",
                candidates=[{"file": one.file, "line": one.line + 1} for one in found],
            )
        return found[0]

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the blocks that pass the filter; `agent` and `path` select whose and which file."""
        rest = dict(filter)
        agent, path = rest.pop("agent", None), rest.pop("path", None)
        for record in _system(call).records():
            if agent not in (None, record.item.agent) or path not in (None, record.file):
                continue
            if passes(record, rest):
                yield record

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add a `##` block at the end of a file of an agent's memory: `path` relative to its folder (default: notes.md
        among its procedural files), `agent` if there are several.
        """
        refuse_unknown(fields, ("agent", "path"), "a block")
        look = _agent(call, fields.get("agent"))
        heading = one_line("typed.title", "the title of a block", title)
        store = _system(call).store(look.agent)
        assert look.aidefile is not None
        path = f"{look.aidefile.procedural.real}/{_NOTES}"
        if fields.get("path"):
            path = path_in(store, text_of("path", fields["path"]))
        body = (text or "").strip("\n")
        block = block_of(heading, f"\n{body}\n" if body else "", "typed.heading")
        words = f"added {heading[:60]} to {path}"
        how = ops.How(now=call.now, actor=call.actor)
        change = ops.rewrite(store, path, lambda data: with_blocks(data, [block]), "typed.add", words, how)
        return Made(_item(call, store.shown(path), heading), change.id, change.summary)

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Replace the text of a block, heading included, or set its `title`."""
        values = changes.values
        refuse_unknown(values, ("title",), "a block")
        title = text_of("title", values["title"]) if values.get("title") else None
        sent = changes.text is not None or changes.append is not None
        if sent == (title is not None):
            raise UsageError("entry.arguments", "a block takes a text or a title", "send one of them")

        def new(block: Section) -> Section:
            if title is not None:
                return block.with_title(one_line("typed.title", "the title of a block", title))
            source = decode(block.raw)
            text = changes.text if changes.append is None else f"{source.rstrip()}\n\n{changes.append}"
            text = unescaped(str(text), source)
            if not text.lstrip().startswith(("# ", "## ")):
                text = f"{decode(block.heading).rstrip()}\n\n{text}"
            text = text.strip("\r\n").replace("\r\n", "\n").replace("\n", block.newline)
            return in_place_of(block, section_of(encode(text), "typed.heading"))

        return self._rewritten(call, ref, check, new, "edit")

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove a block from its file; the file stays."""
        return self._rewritten(call, ref, check, lambda _: None, "remove")

    def _rewritten(
        self, call: EntryCall, ref: str, check: Check, new: Callable[[Section], Section | None], word: str
    ) -> Made:
        """Replace or remove one block, which is located under the lock."""
        record = self.find(call, ref)
        check(item_of(record))
        store = _system(call).store(_agent(call, record.item.agent).agent)
        path = record.file.removeprefix(store.prefix).lstrip("/")
        if record.title == path.rpartition("/")[2]:
            raise RefusedError(
                "typed.whole_file", f"{record.file} is a file without blocks", "a person edits whole files"
            )
        made: list[Section] = []

        def build(data: bytes) -> bytes:
            document = parse(data)
            places = [at for at, block in enumerate(document.sections) if block.title == record.title]
            if len(places) != 1:
                raise NotFoundError("typed.not_found", f"{record.file} has no such block any more", "read it again")
            before = document.section(places[0])
            check(item_of(record._replace(text=decode(before.raw))))
            after = new(before)
            made[:] = [] if after is None else [after]
            return (
                document.remove_section(places[0]) if after is None else document.with_section(places[0], after)
            ).dump()

        words = {"edit": "changed", "remove": "removed"}[word]
        summary = call.because(f"{words} {record.title[:60]} in {path}")
        change = ops.rewrite(store, path, build, f"typed.{word}", summary, ops.How(now=call.now, actor=call.actor))
        item = _item(call, record.file, made[0].title) if made else None
        return Made(item, change.id if change.files else None, change.summary)


def _item(call: EntryCall, file: str, title: str) -> EntryItem | None:
    """Return the last block of a file that has a title."""
    found = [record for record in _system(call).records() if record.file == file and record.title == title]
    return item_of(found[-1]) if found else None


def _agent(call: EntryCall, name: Any) -> AgentLook:
    return agent_for(_system(call).look().agents, "" if name is None else str(name))


def _system(call: EntryCall) -> TypedMemory:
    return system_of(call.workspace, "typed", TypedMemory)


KINDS: dict[str, EntryKind] = {"typed": TypedBlocks()}
"""The kinds of entries of typed memory."""
