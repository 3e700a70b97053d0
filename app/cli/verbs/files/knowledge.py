"""The verbs on knowledge."""

from __future__ import annotations

from collections.abc import Iterator

from app.cli.session import Session, short
from memory.files.knowledge.model import KnowledgeItem, add_knowledge, edit_knowledge, find_knowledge, remove_knowledge
from memory.operations import Group, Ref, argument, option, under

knowledge = Group("knowledge", "List, add, edit and remove facts and decisions (knowledge.md).")
_ref = argument("ref", type=Ref(("knowledge",)))


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
def list_items(session: Session, section: str | None, topic: str | None, match: str | None) -> None:
    """List what is known, by section and topic."""
    found: list[KnowledgeItem] = list(session.snapshot.knowledge.items)
    if section is not None:
        found = [item for item in found if (item.section or "").casefold() == section.casefold()]
    if topic is not None:
        found = [item for item in found if (item.topic or "").casefold() == topic.casefold()]
    if match is not None:
        found = [item for item in found if match.casefold() in item.text.casefold()]
    session.listing("knowledge", lambda: (item.json() for item in found), lambda: _outline(session, found))


def _outline(session: Session, found: list[KnowledgeItem]) -> Iterator[str]:
    place: tuple[str | None, str | None] = (None, None)
    for index, item in enumerate(found):
        if item.section != place[0] or not index:
            yield from [""] if index else []
            yield session.paint.line(item.section or "before any section")
            place = (item.section, None)
        if item.topic != place[1]:
            yield session.paint.line(item.topic or "", indent="  ")
            place = (item.section, item.topic)
        yield session.paint.line(f"{short(item.ref)}  {_sentence(item)}", indent="    " if item.topic else "  ")
    if not found:
        yield "nothing known"


def _sentence(item: KnowledgeItem) -> str:
    return (f"{item.date}: " if item.date else "") + item.text + (f" ({item.reason})" if item.reason else "")


def _say(session: Session, done: str, item: KnowledgeItem) -> None:
    session.answer(lambda: {"item": item.json()}, lambda: [session.paint.line(f"{done} {item.ref}  {_sentence(item)}")])


@under(
    knowledge,
    "add",
    serves="change",
    examples=(
        "memdeck knowledge add 'CI takes 8 minutes' --section 'Technical Facts'",
        "memdeck knowledge add 'Using Redis for caching' --decision --reason 'existing infrastructure'",
    ),
)
@argument("text")
@option("--section", metavar="S", help="The section it belongs to (default: Technical Facts).")
@option("--topic", metavar="T", help="The topic inside the section.")
@option("--decision", is_flag=True, help="It is a decision: dated, in the section Decisions Made.")
@option("--date", metavar="D", help="When it was decided (default of --decision: today).")
@option("--reason", metavar="R", help="Why it was decided.")
def add(
    session: Session,
    text: str,
    section: str | None,
    topic: str | None,
    decision: bool,
    date: str | None,
    reason: str | None,
) -> None:
    """Add a fact or a decision at the end of its section."""
    from memory.base.dates import parse_when

    if date is None and decision:
        date = "today"
    day = None if date is None else parse_when(date, session.now, session.snapshot.zone, past=True)[:10]
    place = section or ("Decisions Made" if decision else "Technical Facts")
    _say(
        session,
        *session.change_entry(
            "knowledge.add",
            "added",
            lambda snapshot: add_knowledge(
                snapshot, text, section=place, topic=topic, date=day, reason=reason, now=session.now
            ),
            find_knowledge,
        ),
    )


@under(knowledge, "edit", serves="change", examples=("memdeck knowledge edit 5b2c9d1 'CI takes 6 minutes'",))
@_ref
@argument("text")
def edit(session: Session, ref: str, text: str) -> None:
    """Replace the text of one item."""
    _say(
        session,
        *session.change_entry(
            "knowledge.edit",
            "changed",
            lambda snapshot: edit_knowledge(snapshot, ref, text, now=session.now),
            find_knowledge,
        ),
    )


@under(knowledge, "remove", serves="change", examples=("memdeck knowledge remove 5b2c9d1",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove one item; it is printed as it was."""
    _say(session, "removed", session.remove("knowledge.remove", ref, find_knowledge, remove_knowledge))
