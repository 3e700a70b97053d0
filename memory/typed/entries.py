"""The blocks of agents' typed memory as entries: one for each `##` block of a Markdown file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memory.document import parse
from memory.document.lines import decode, encode, newline_of
from memory.errors import AmbiguousError, NotFoundError, RefusedError, UsageError
from memory.files.edit import one_line
from memory.search.entries import (
    Changes,
    Check,
    EntryCall,
    EntryKind,
    Made,
    item_of,
    passes,
    refuse_unknown,
    text_of,
    unescaped,
)
from memory.search.records import Record, derived_ref
from memory.systems import system_of
from memory.typed import ops
from memory.typed.exchange import agent_for, new_block
from memory.typed.merging import behind
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
        path = f"{look.aidefile.procedural_real}/{_NOTES}"
        if fields.get("path"):
            path = path_in(store, text_of("path", fields["path"]))
        body = (text or "").strip("\n")
        block = new_block(heading, f"\n{body}\n" if body else "", "typed.heading")
        words = f"added {heading[:60]} to {path}"
        how = ops.How(store=store, now=call.now, actor=call.actor)
        change = ops.rewrite(path, lambda data: behind(data, [block]), "typed.add", words, **how)
        shown = store.shown(path)
        found = [record for record in _system(call).records() if record.file == shown and record.title == heading]
        return Made(item_of(found[-1]) if found else None, change.id, change.summary)

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Replace the text of a block, heading included, or set its `title`."""
        values = changes.values
        if changes.append is not None:
            grown = self.find(call, ref).text.rstrip("\r\n")
            changes = Changes(text=f"{grown}\n\n{changes.append}")
        refuse_unknown(values, ("title",), "a block")
        title = text_of("title", values["title"]) if values.get("title") else None
        if (changes.text is None) == (title is None):
            raise UsageError("entry.arguments", "a block takes a text or a title", "send one of them")

        def new(block: bytes) -> bytes:
            source = decode(block)
            newline = newline_of(block)
            heading, mark, rest = source.partition(newline)
            if title is not None:
                level = heading.split(" ", 1)[0]
                return encode(f"{level} {one_line('typed.title', 'the title of a block', title)}{mark}{rest}")
            text = unescaped(str(changes.text), source)
            if not text.lstrip().startswith(("# ", "## ")):
                text = f"{heading.rstrip()}\n\n{text}"
            kept = source[len(source.rstrip("\r\n")) :]
            written = encode(text.strip("\r\n").replace("\r\n", "\n").replace("\n", newline) + kept)
            if len(_pieces(written)) != 2:
                raise UsageError("typed.heading", "the text is more than one block", "send one, with one heading ##")
            return written

        return self._rewritten(call, ref, check, new, "edit", title)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove a block from its file; the file stays."""
        return self._rewritten(call, ref, check, lambda _: b"", "remove", None)

    def _rewritten(
        self, call: EntryCall, ref: str, check: Check, new: Callable[[bytes], bytes], word: str, title: str | None
    ) -> Made:
        """Replace the bytes of one block, which is located under the lock."""
        record = self.find(call, ref)
        check(item_of(record))
        look = _agent(call, record.item.agent)
        store = _system(call).store(look.agent)
        path = record.file.removeprefix(store.prefix).lstrip("/")
        if record.title == path.rpartition("/")[2]:
            raise RefusedError(
                "typed.whole_file", f"{record.file} is a file without blocks", "a person edits whole files"
            )

        def build(data: bytes) -> bytes:
            pieces = _pieces(data)
            places = [at for at, (name, _) in enumerate(pieces) if name == record.title]
            if len(places) != 1:
                raise NotFoundError("typed.not_found", f"{record.file} has no such block any more", "read it again")
            before = pieces[places[0]][1]
            check(item_of(record._replace(text=decode(before))))
            return b"".join(new(block) if at == places[0] else block for at, (_, block) in enumerate(pieces))

        words = {"edit": "changed", "remove": "removed"}[word]
        summary = call.because(f"{words} {record.title[:60]} in {path}")
        change = ops.rewrite(path, build, f"typed.{word}", summary, store=store, now=call.now, actor=call.actor)
        if word == "remove":
            return Made(None, change.id if change.files else None, change.summary)
        wanted = title or record.title
        found = [one for one in _system(call).records() if one.file == record.file and one.title == wanted]
        return Made(item_of(found[0]) if found else None, change.id if change.files else None, change.summary)


def _agent(call: EntryCall, name: Any) -> AgentLook:
    return agent_for(_system(call).look().agents, "" if name is None else str(name))


def _system(call: EntryCall) -> TypedMemory:
    return system_of(call.workspace, "typed", TypedMemory)


def _pieces(data: bytes) -> list[tuple[str, bytes]]:
    """Return the parts of a file, which joined are its bytes, each with its title; a part that is no block has ""."""
    sections = parse(data).sections
    top = len(data) - sum(len(section.raw) for section in sections)
    found = [("", data[:top]), *((section.title, section.raw) for section in sections)]
    if b"".join(block for _, block in found) != data:
        raise RefusedError("typed.structure", "the file cannot be taken apart", "edit it with an editor")
    return found


KINDS: dict[str, EntryKind] = {"typed": TypedBlocks()}
"""The kinds of entries of typed memory."""
