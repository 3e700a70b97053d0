"""The operations on knowledge.md, and its edits: one bullet changes and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import groupby
from operator import attrgetter

from memory.base.clock import read_moment
from memory.base.values import folded, split_remark
from memory.document import Document, Entry, Section
from memory.document.lines import read_bullets, split_lines
from memory.errors import UsageError
from memory.files.edit import Edit, Edits, Step, one_line, started_document, with_bullet, with_bullets
from memory.files.find import KNOWLEDGE
from memory.files.knowledge import DECISION, DECISIONS, FILE, KnowledgeItem
from memory.files.operations import Call, EntryGroup, Part, outlined
from memory.files.refs import Place
from memory.operations import Context, Day, Used, argument, option
from memory.operations.result import Result

_DAY = Day()


def sentence(item: KnowledgeItem) -> str:
    """Return an item on one line, with its date and reason."""
    return (f"{item.date}: " if item.date else "") + item.text + (f" ({item.reason})" if item.reason else "")


knowledge = EntryGroup(
    "knowledge", "List, add, edit and remove facts and decisions (knowledge.md).", KNOWLEDGE, key="item", title=sentence
)


@knowledge.look("list", "", "--section 'Technical Facts'", "--match redis")
@option("--section", metavar="S", help="Only this section.")
@option("--topic", metavar="T", help="Only this topic, a heading inside a section.")
@option("--match", metavar="TEXT", help="Only items that contain this text, in any case.")
def list_items(context: Context, section: str | None, topic: str | None, match: str | None) -> Result:
    """List facts and decisions, by section and topic."""
    found: list[KnowledgeItem] = list(context.snapshot.knowledge.items)
    if section is not None:
        found = [item for item in found if (item.section or "").casefold() == section.casefold()]
    if topic is not None:
        found = [item for item in found if (item.topic or "").casefold() == topic.casefold()]
    if match is not None:
        found = [item for item in found if match.casefold() in item.text.casefold()]
    return outlined("knowledge", found, _parts(found), "nothing known")


def _parts(found: Iterable[KnowledgeItem]) -> Iterator[Part]:
    """Yield items under their sections and topics."""
    for (section, topic), items in groupby(found, key=attrgetter("section", "topic")):
        heading = section or "before any section"
        rows = [(item.ref_hex, sentence(item)) for item in items]
        yield f"{heading}: {topic}" if topic else heading, rows, {}


@knowledge.changes(
    "add",
    "added",
    "'CI takes 8 minutes' --section 'Technical Facts'",
    "'Using Redis for caching' --decision --reason 'existing infrastructure'",
)
@argument("text", help="The fact, in a sentence.")
@option("--section", metavar="S", type=Used("knowledge", "section"), help="Its section (default: Technical Facts).")
@option("--topic", metavar="T", type=Used("knowledge", "topic"), help="The topic inside the section.")
@option("--decision", is_flag=True, help="Add it as a decision, with a date, to the section Decisions Made.")
@option("--date", metavar="D", type=_DAY, help="When it was decided (default of --decision: today).")
@option("--reason", metavar="R", help="Why it was decided.")
def add_knowledge(
    call: Call,
    text: str,
    section: str | None = None,
    topic: str | None = None,
    decision: bool = False,
    date: str | None = None,
    reason: str | None = None,
) -> Edit:
    """Add a fact or a decision at the end of its section."""
    # UsageError `knowledge.text`, `knowledge.section`, BadMoment. A decision without a date gets today's.
    place = section or (DECISIONS if decision else "Technical Facts")
    decides = decision or reason is not None or place.strip().casefold() == DECISIONS.casefold()
    if date is None and decides and DECISION.fullmatch(text.strip()) is None:
        date = "today"
    raw = compose(text, None if date is None else _DAY.written(date, call.now, call.zone), reason)
    document = started_document(call.snapshot, FILE, call.now)
    return KNOWLEDGE_EDITS.add(document, (place, topic), raw, raw)


@knowledge.changes("edit", "changed", "5b2c9d1 'CI takes 6 minutes'")
@knowledge.ref
@argument("text", help="The fact, in a sentence.")
@option("--date", metavar="D", type=_DAY, help="Another date of a decision.")
@option("--reason", metavar="R", help="Another reason of a decision; empty for none.")
def edit_knowledge(call: Call, ref: str, text: str, date: str | None = None, reason: str | None = None) -> Edit:
    """Replace the text of one item."""
    # A decision keeps its date and reason unless others are given, or the text is a whole decision.
    day, new = None if date is None else _DAY.written(date, call.now, call.zone), text.strip()

    def planned(item: KnowledgeItem) -> Step[str]:
        decided = item.date is not None and DECISION.fullmatch(new) is None
        keeps = decided and reason is None and split_remark(new)[1] is None
        raw = compose(new, day or (item.date if decided else None), item.reason if keeps else reason)
        return Step(raw, title=raw)

    return KNOWLEDGE_EDITS.edit(call.snapshot, ref, planned)


CODE = "knowledge.text"


class KnowledgeEdits(Edits[KnowledgeItem, str]):
    """The edits of knowledge.md, whose items are bullets; a section is named with the topic in it, if any."""

    def replace(self, document: Document, item: KnowledgeItem, written: str | None) -> Document:
        """Return the document with another text in a bullet, or (None) without it."""
        return with_bullet(document, item.at, written, CODE)

    def insert(self, document: Document, section: tuple[str, str | None], written: str) -> tuple[Document, Place]:
        """Return the document with a bullet behind the last one of a section or a topic, and its place."""
        document, place = with_knowledge(document, *section, [written])
        return document, (*place, len(read_bullets(document.block(*place).body)) - 1)


KNOWLEDGE_EDITS = KnowledgeEdits(KNOWLEDGE, "pieces of knowledge")
remove_knowledge = knowledge.removes(KNOWLEDGE_EDITS, "5b2c9d1", "one item")


def with_knowledge(
    document: Document, section: str, topic: str | None, raws: Sequence[str]
) -> tuple[Document, tuple[int, int | None]]:
    """Return the document with bullets behind the last one of a section, or of a topic in it, and that place.

    Missing ones are made. `raws` are sources as `raw` of an item. UsageError `knowledge.text` where one would not stay
    one bullet.
    """
    title = one_line("knowledge.section", "the name of a section", section)
    places = document.find(title)
    if not places:
        places = [len(document.sections)]
        document = document.insert_section(places[0], Section.compose(title, newline=document.newline))
    place: tuple[int, int | None] = (places[0], None)
    if topic is not None:
        name = one_line("knowledge.section", "the name of a topic", topic)
        topics = ((index, at) for index in places for at, one in enumerate(document.section(index).entries)
                  if folded(one.title) == folded(name))  # fmt: skip
        place = next(topics, (places[0], len(document.section(places[0]))))
        if place == (places[0], len(document.section(places[0]))):
            document = document.insert_entry(*place, Entry.compose(name, newline=document.newline))
    return with_bullets(document, *place, raws, CODE), place


def compose(text: str, date: str | None, reason: str | None) -> str:
    """Return the source of a bullet; UsageError `knowledge.text`, `knowledge.date`, BadMoment."""
    raw = "\n".join(line.rstrip() for line, _ in split_lines(text.strip()))
    if not raw:
        raise UsageError("knowledge.text", "there is no text", "say what is known")
    if date:
        moment = read_moment(date, UTC)
        if moment is None or moment.instant is not None:
            raise UsageError("knowledge.date", f"{date[:40]!r} is not a date alone", "write it as YYYY-MM-DD")
        raw = f"{moment.text}: {raw}"
    if reason and reason.strip():
        raw += f" ({one_line('knowledge.text', 'a reason', reason)})"
    return raw
