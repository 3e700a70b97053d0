"""Puts a merged document together from the plan: sections in order, their texts merged, blank lines at the seams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from memory.document.lines import blank_end, decode, encode, ends_line, with_line_end, without_blank_end
from memory.document.model import Document, updated
from memory.document.nodes import Entry, Section, joined, keep_apart

from .bodies import BodyClash
from .conflicts import MergeResult, settle
from .merge_entry import merge_front, merge_section_text
from .plan import Doubt, MergePlan, by_number, by_section, date_rank, plan_entries, time_rank
from .sequences import Three, merge_order


@dataclass(slots=True)
class Text:
    """What becomes of the sections themselves: heading and text by number, and the clashes in them."""

    parts: dict[int, tuple[int, bytes, bytes]] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)


def build(base: Document, ours: Document, theirs: Document, kind: str, strict: bool) -> MergeResult | None:
    """Return the merge, None where the parts would not read as they were put together."""
    plan = plan_entries(base, ours, theirs, kind, strict)
    text = _section_texts(base, ours, theirs, plan, strict)
    front = merge_front(base.front, ours.front, theirs.front, theirs.newline)
    bom = ours.bom if theirs.bom == base.bom else theirs.bom
    order = merge_order(
        plan.numbers.base[1:],
        plan.numbers.ours[1:],
        plan.numbers.theirs[1:],
        text.parts,
        _section_rank(plan, ours, theirs) if kind == "journal" else None,
    )
    entries = _entry_orders(plan, [0, *order], kind)
    sections, placed = _sections(plan, text, theirs, [0, *order], entries)
    top = encode(front.text)
    if any(section.heading or section.size for section in sections) and not ends_line(top):
        top += theirs.newline.encode()
    document = updated(theirs, joined(sections, bom + top))
    if not _reads(document, bom, top, sections):
        return None
    doubts = [*(Doubt(None, clash) for clash in front.clashes), *text.doubts, *plan.doubts]
    return settle(document, kind, doubts, placed, strict)


def _section_texts(base: Document, ours: Document, theirs: Document, plan: MergePlan, strict: bool) -> Text:
    numbers = plan.numbers
    sides = [by_number(side, found) for side, found in zip((base, ours, theirs), numbers, strict=True)]
    filled = {place.section for place in plan.result.values()}
    text = Text()
    for number in dict.fromkeys([*numbers.theirs, *numbers.ours]):
        old, mine, other = [side.get(number) for side in sides]
        if mine is not None and other is not None:
            heading, lead, clashes = merge_section_text(old, mine, other, theirs.newline)
            text.parts[number] = (other.level if heading == other.heading else mine.level, heading, lead)
            text.doubts += [Doubt(None, clash, section=number) for clash in clashes]
            continue
        left = mine if other is None else other
        assert left is not None
        changed = old is not None and left.lead.rstrip() != old.lead.rstrip()
        if old is None or number in filled or changed:
            gone = strict and changed and other is None and number not in filled
            if not gone:
                text.parts[number] = (left.level, left.heading, left.lead)
        if changed and old is not None:
            leads = Three(old, mine, other).map(lambda part: None if part is None else decode(part.lead))
            text.doubts.append(Doubt(None, BodyClash("text", "", *leads), stays=True, section=number))
    return text


def _section_rank(plan: MergePlan, ours: Document, theirs: Document) -> Callable[[int], str | None]:
    known = {**by_number(ours, plan.numbers.ours), **by_number(theirs, plan.numbers.theirs)}
    return lambda number: date_rank(known[number])


def _entry_orders(plan: MergePlan, order: list[int], kind: str) -> dict[int, list[int]]:
    """Return the names of the entries of each section in their merged order."""
    old, mine, other = [by_section(side) for side in plan.order]
    assigned: dict[int, set[int]] = {number: set() for number in order}
    for name, place in plan.result.items():
        assigned[place.section].add(name)
    result = plan.result

    def rank(name: int) -> str | None:
        return time_rank(result[name].entry)

    found = {}
    for number in order:
        names = Three(old.get(number, []), mine.get(number, []), other.get(number, []))
        keep = assigned[number]
        if names.base == names.ours and len(keep) == len(names.theirs) and keep.issuperset(names.theirs):
            found[number] = names.theirs
        else:
            found[number] = merge_order(*names, keep, rank if kind == "journal" else None)
    return found


def _sections(
    plan: MergePlan, text: Text, theirs: Document, order: list[int], entries: dict[int, list[int]]
) -> tuple[list[Section], dict[int | None, tuple[int, int]]]:
    """Return the sections, and where each entry stands; parts that meet anew are kept apart as the file does."""
    names: list[int | tuple[int]] = []
    for number in order:
        names += [(number,), *entries[number]]
    met = _meetings(plan)
    newline, spaced = theirs.newline, theirs.spaced
    final = names[-1]
    units: dict[int | tuple[int], tuple[bytes, bytes] | Entry] = {}
    follows = dict(pairwise(names))
    for name in names:
        last = name == final
        fresh = not last and (name, follows[name]) not in met
        if isinstance(name, tuple):
            level, heading, lead = text.parts[name[0]]
            units[name] = _lead(level, heading, lead, newline, last=last, apart=fresh and spaced)
        else:
            units[name] = _entry(plan.result[name].entry, newline, last=last, apart=fresh and spaced,
                                 bare=last and not _was_last(plan, name))  # fmt: skip
    sections = []
    placed: dict[int | None, tuple[int, int]] = {}
    for at, number in enumerate(order):
        level = text.parts[number][0]
        unit = units[(number,)]
        assert isinstance(unit, tuple)
        own = tuple([units[name] for name in entries[number]])
        sections.append(Section.of(level, *unit, own))  # type: ignore[arg-type]
        placed.update({name: (at - 1, index) for index, name in enumerate(entries[number])})
        placed[-1 - number] = (at - 1, -1)
    return sections, placed


def _meetings(plan: MergePlan) -> set[tuple[object, object]]:
    """Return which parts stand behind each other in ours or in theirs already."""
    met: set[tuple[object, object]] = set()
    for side, numbers in zip(plan.order[1:], plan.numbers[1:], strict=True):
        groups = by_section(side)
        run: list[int | tuple[int]] = []
        for number in numbers:
            run += [(number,), *groups.get(number, [])]
        met.update(pairwise(run))
    return met


def _was_last(plan: MergePlan, name: int) -> bool:
    return any(side and side[-1][0] == name for side in plan.order[1:])


def _lead(level: int, heading: bytes, lead: bytes, newline: str, *, last: bool, apart: bool) -> tuple[bytes, bytes]:
    heading, lead = keep_apart(heading, lead, newline)
    if last:
        return heading, lead
    if lead:
        lead = lead if ends_line(lead) else lead + newline.encode()
        return heading, with_line_end(lead, newline) if apart and not blank_end(lead) else lead
    if not ends_line(heading):
        heading += newline.encode()
    return heading, newline.encode() if apart and level else lead


def _entry(entry: Entry, newline: str, *, last: bool, apart: bool, bare: bool) -> Entry:
    raw = entry.raw
    if bare:
        raw = without_blank_end(raw)
    elif not last:
        raw = raw if ends_line(raw) else raw + newline.encode()
        raw = with_line_end(raw, newline) if apart and not blank_end(raw) else raw
    return entry if raw == entry.raw else entry.with_raw(raw)


def _reads(document: Document, bom: bytes, front: bytes, sections: list[Section]) -> bool:
    """Tell whether the document has exactly the parts that it was put together from."""
    found = [part for _, part in document.all_sections()]
    if document.bom != bom or document.front_raw != front or len(found) != len(sections):
        return False
    return all(
        (one.level, one.heading, len(one), one.offsets) == (two.level, two.heading, len(two), two.offsets)
        for one, two in zip(found, sections, strict=True)
    )
