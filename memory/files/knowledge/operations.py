"""The operations on knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.files.edit import Edit
from memory.files.find import find_knowledge
from memory.files.operations import Call, EntryGroup
from memory.operations import Context, Day, Ref, Used, argument, option, under
from memory.operations.result import Paint, Result, listing

from .edits import add_knowledge, edit_knowledge, remove_knowledge
from .model import KnowledgeItem

_ref = argument("ref", type=Ref(("knowledge",)))
_DAY = Day()


def sentence(item: KnowledgeItem) -> str:
    """Return an item on one line, with its date and reason."""
    return (f"{item.date}: " if item.date else "") + item.text + (f" ({item.reason})" if item.reason else "")


knowledge = EntryGroup(
    "knowledge",
    "List, add, edit and remove facts and decisions (knowledge.md).",
    key="item",
    find=lambda snapshot, ref, _: find_knowledge(snapshot, ref),
    title=sentence,
)


@under(
    knowledge,
    "list",
    serves="look",
    examples=(
        "memdeck knowledge list",
        "memdeck knowledge list --section 'Technical Facts'",
        "memdeck knowledge list --match redis",
    ),
)
@option("--section", metavar="S", help="Only this section.")
@option("--topic", metavar="T", help="Only this topic, a heading inside a section.")
@option("--match", metavar="TEXT", help="Only items that contain this text, in any case.")
def list_items(context: Context, section: str | None, topic: str | None, match: str | None) -> Result:
    """List what is known, by section and topic."""
    found: list[KnowledgeItem] = list(context.snapshot.knowledge.items)
    if section is not None:
        found = [item for item in found if (item.section or "").casefold() == section.casefold()]
    if topic is not None:
        found = [item for item in found if (item.topic or "").casefold() == topic.casefold()]
    if match is not None:
        found = [item for item in found if match.casefold() in item.text.casefold()]
    return listing("knowledge", lambda: (item.json() for item in found), lambda paint: _outline(paint, found))


def _outline(paint: Paint, found: Sequence[KnowledgeItem]) -> Iterator[str]:
    place: tuple[str | None, str | None] = (None, None)
    for index, item in enumerate(found):
        if item.section != place[0] or not index:
            yield from [""] if index else []
            yield paint.line(item.section or "before any section")
            place = (item.section, None)
        if item.topic != place[1]:
            yield paint.line(item.topic or "", indent="  ")
            place = (item.section, item.topic)
        yield paint.line(f"{item.ref.partition('#')[2]}  {sentence(item)}", indent="    " if item.topic else "  ")
    if not found:
        yield "nothing known"


@knowledge.changes(
    "add",
    "added",
    examples=(
        "memdeck knowledge add 'CI takes 8 minutes' --section 'Technical Facts'",
        "memdeck knowledge add 'Using Redis for caching' --decision --reason 'existing infrastructure'",
    ),
)
@argument("text", help="The fact, in a sentence.")
@option(
    "--section",
    metavar="S",
    type=Used("knowledge", "section"),
    help="The section it belongs to (default: Technical Facts).",
)
@option("--topic", metavar="T", type=Used("knowledge", "topic"), help="The topic inside the section.")
@option("--decision", is_flag=True, help="It is a decision: dated, in the section Decisions Made.")
@option("--date", metavar="D", type=_DAY, help="When it was decided (default of --decision: today).")
@option("--reason", metavar="R", help="Why it was decided.")
def add(
    call: Call,
    text: str,
    section: str | None = None,
    topic: str | None = None,
    decision: bool = False,
    date: str | None = None,
    reason: str | None = None,
) -> Edit:
    """Add a fact or a decision at the end of its section."""
    if date is None and decision:
        date = "today"
    day = None if date is None else _DAY.written(date, call.now, call.zone)
    place = section or ("Decisions Made" if decision else "Technical Facts")
    return add_knowledge(call.snapshot, text, section=place, topic=topic, date=day, reason=reason, now=call.now)


@knowledge.changes("edit", "changed", examples=("memdeck knowledge edit 5b2c9d1 'CI takes 6 minutes'",))
@_ref
@argument("text", help="The fact, in a sentence.")
@option("--date", metavar="D", type=_DAY, help="Another date of a decision.")
@option("--reason", metavar="R", help="Another reason of a decision; empty for none.")
def edit(call: Call, ref: str, text: str, date: str | None = None, reason: str | None = None) -> Edit:
    """Replace the text of one item."""
    day = None if date is None else _DAY.written(date, call.now, call.zone)
    return edit_knowledge(call.snapshot, ref, text, date=day, reason=reason, now=call.now)


@knowledge.changes("remove", "removed", examples=("memdeck knowledge remove 5b2c9d1",))
@_ref
def remove(call: Call, ref: str) -> Edit:
    """Remove one item; it is printed as it was."""
    call.item = find_knowledge(call.snapshot, ref)
    return remove_knowledge(call.snapshot, ref, now=call.now)
