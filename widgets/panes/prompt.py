"""What an agent gets, block by block, in the order in which it is sent, with the cost of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol

from memory.files.snapshot import Snapshot
from memory.prompts.compose import PromptBlock
from memory.prompts.sheet import PromptPreview, SheetRow
from memory.search.records import FILE_KINDS
from widgets.detail import Link
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane
from widgets.panes.changes import place_name
from widgets.text.styled_text import Column, Columns, Content, Piece

ROW = Columns(
    Column("sign", 1, importance=9), Column("title", minimum=25), Column("reason", 30), Column("when", 6, "right", 3)
)  # fmt: skip

_NAMELESS = re.compile(r"[\w-]+\.\w{2,5}|\d{4}-\d\d-\d\dT\S+")


class PromptReader(Protocol):
    """Where the prompt comes from; called in threads."""

    message: str
    agent: str
    balance: bool

    def look(self, now: datetime) -> PromptPreview | str:
        """Return the prompt of an agent now; a sentence where it cannot be read."""


class PromptPane(RecordPane):
    """What hooks send to all agents or to one, at the start of a session or for a message; pinned and muted by keys."""

    pane_id: ClassVar[str] = "prompt"
    title: ClassVar[str] = "Told to agents"
    empty: ClassVar[str] = (
        "What hooks tell agents, block by block, with the cost of each in tokens.\n\n"
        "There is nothing to tell. {prompt.message|e} asks for a message, and shows what an agent gets with it."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("system", "ref", "reason")
    item_name: ClassVar[str] = "entry"
    removes: ClassVar[str] = "supersede"

    source: PromptReader | None

    def __init__(self, source: PromptReader | None = None) -> None:
        super().__init__(source)
        self._said = ""
        self._sheet: Mapping[str, SheetRow] = {}
        self._now = datetime.min.replace(tzinfo=UTC)

    @property
    def is_special(self) -> bool:
        """Whether it shows another text than that of the start of a session."""
        return self.source is not None and bool(self.source.balance or self.source.message)

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield the blocks that are sent, those below the budget's end, the muted and the suspicious ones."""
        found = "" if self.source is None else self.source.look(now)
        if isinstance(found, str):
            self._said = found and "cannot be read"
            if found:
                yield Note(found)
            return
        prompt, self._sheet, self._now = found.prompt, found.sheet, now
        if self.source is not None and self.source.balance:
            yield from self._balance({one.ref: one.choice for one in prompt.blocks})
            return
        if found.why:
            # Two lines, each of which fits into a narrow pane.
            yield from (Note(f"{found.why.partition(':')[0]}."), Note("The tool brief answers:"))
        groups = (
            ("Left out" if found.why else "Not sent", "over the token budget", prompt.not_sent("budget")),
            ("Muted", "muted by you", prompt.not_sent("mute")),
            ("Suspicious", "suspicious, until you approve it", prompt.not_sent("suspicious")),
        )
        if (told := self._for()) and any(block.included for block in prompt.blocks):
            yield Note(f"Told {told}")
        left = sum(len(blocks) for *_, blocks in groups)
        self._said = f"{prompt.used:,} of {prompt.budget:,} tokens" + (f", {left:,} left out" if left else "")
        yield from self._sent(prompt.blocks)
        for title, note, blocks in groups:
            if blocks:
                yield Heading(title.upper(), f"{len(blocks)}  {note}", "tokens")
                yield from (_record(block, left_out=note) for block in blocks)

    def _sent(self, blocks: Sequence[PromptBlock]) -> Iterator[Any]:
        """Yield the entries that are sent, under the headings that the agent gets."""
        sections: dict[str, list[PromptBlock]] = {}
        for block in blocks:
            if block.included:
                sections.setdefault(block.section, []).append(block)
        for title, some in sections.items():
            yield Heading(title.upper(), f"{len(some)}", "tokens")
            yield from map(_record, some)

    def _balance(self, choices: Mapping[str | None, str]) -> Iterator[Any]:
        """Yield the entries that hooks sent before, those that answers never used first, then by their cost."""
        rows = self._sheet.values()
        self._said = f"{sum(one.values['tokens'] for one in rows):,} tokens spent"
        unused = [one for one in rows if one.unused(self._now)]
        for title, note, ones in (
            ("Not used in 30 days", "in answers; an agent may follow a rule silently", unused),
            ("Sent before", "by tokens spent", [one for one in rows if one not in unused]),
        ):
            if ones:
                yield Heading(title.upper(), note, "tokens")
            for one in ones:
                kind, choice = one.ref.partition("#")[0], choices.get(one.ref, "")
                system, text = "files" if kind in FILE_KINDS else kind, f"- {one.ref} {one.values['line']}"
                block = PromptBlock(system, "", one.ref, one.values["title"], one.words(), text, choice=choice)
                yield _record(block, one.values["tokens"], block.reason)
        if not rows:
            yield Note("Hooks have sent nothing yet.")

    def _for(self) -> str:
        if self.source is None:
            return ""
        when = f"for: {self.source.message}" if self.source.message else "at the start of a session"
        return f"{self.source.agent}, {when}" if self.source.agent else when

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how much of the budget is used."""
        return self._said

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return what is sent after the title, its cost, and why it is sent."""
        block: PromptBlock = item.thing
        more = block.text.removeprefix("- ").removeprefix(f"{block.ref} ").removeprefix(block.title)
        return {
            "": more.removeprefix(" (").removesuffix(")") if more.startswith(" (") else more,
            "sent": f"yes: {block.reason}" if block.included else Piece(f"no: {item.values['reason']}", "warn"),
            "kind": "" if block.included else block.reason,
            "tokens": block.tokens,
            **self._before(block),
        }

    def _before(self, block: PromptBlock) -> Mapping[str, Any]:
        """Return the counts of an entry that hooks sent before."""
        row = self._sheet.get(block.ref or "")
        if row is None:
            return {"history": "never sent"}
        agents = ", ".join(f"{name} {count:,}" for name, count in row.values["agents"].items())
        before = {} if row.words() == block.reason else {"history": row.words()}
        return {**before, "to": agents, "last sent": row.values["lastSent"][:10], "last used": row.used()}

    def removed_by(self, item: Record) -> Mapping[str, str] | None:
        """Return the ref of an entry that agents shall be told no more because it no longer holds."""
        return {"ref": item.ref} if item.thing.ref else None


def _record(block: PromptBlock, tokens: int | None = None, about: str = "", left_out: str = "") -> Record:
    ref, kind = block.ref or "", (block.ref or "").partition("#")[0]
    values = {"system": block.system, "ref": ref, "place": ref, "reason": left_out or block.reason}
    place = f"{kind}.md" if kind in FILE_KINDS else kind
    sign = {"pin": "mark", "mute": "cross"}.get(block.choice, "")
    # A log's time and a file's name tell a person less than what is said there.
    said = block.text.partition(f"{block.title} (")[2].partition(";")[0].rstrip(")")
    title = said if said and _NAMELESS.fullmatch(block.title) else block.title
    # The heading says why blocks are left out.
    cells: dict[str, Content] = {} if about or left_out else {"reason": Piece(block.reason, "muted")}
    return Record(block.ref or block.text, title, about=about, when=f"{tokens or block.tokens}", sign=sign,
                  tone="plain" if block.included else "muted", values=values, words=block.text, mark=block,
                  thing=block, columns=ROW, cells=cells,
                  leads=[Link("entry", place_name(place), (place, ref))] if ref else ())  # fmt: skip
