"""The blocks of typed memory as entries for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memory.document import Section, parse
from memory.document.lines import decode, encode
from memory.errors import AmbiguousError, NotFoundError, RefusedError, UsageError
from memory.files.edit import one_line
from memory.search.records import Record, derived_ref
from memory.systems import system_of
from memory.systems.entry_kinds import (
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
from memory.typed import ops
from memory.typed.exchange import agent_for
from memory.typed.ops import block_of, in_place_of, section_of, with_blocks
from memory.typed.pruning import AgentLook
from memory.typed.registry import path_in
from memory.typed.system import TypedMemory

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
