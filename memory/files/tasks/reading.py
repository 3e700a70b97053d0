"""Tasks as agents and people write them, read in the plain form: headings, fields, checklists, names of sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from memory.document.lines import encode, read_fields, split_lines
from memory.document.model import Document
from memory.document.nodes import Entry, Section
from memory.errors import UsageError
from memory.files.dress import (
    READ,
    Lead,
    LeadItem,
    LineFinding,
    Schema,
    plain_body,
    plain_name,
    read_as,
    regex,
    unclear,
    unread,
    visible_lines,
    with_items,
)

SCHEMA = Schema(
    (
        *("due", "started", "completed", "assigned", "created", "cronJobId", "orchestrationId", "progress", "tags"),
        *("notes", "action", "outcome", "lastUpdate", "priority", "status"),
    ),
    {
        "due": ("deadline", "due date", "due by", "due on", "due at", "date due"),
        "assigned": ("assignee", "assigned to", "owner", "assignees"),
        "created": ("created at", "created on", "date created", "creation date", "added"),
        "started": ("started at", "started on", "start date", "date started"),
        "completed": ("completed at", "completed on", "completion date", "date completed", "finished", "finished at"),
        "tags": ("tag", "labels", "label"),
        "progress": ("percent complete", "completion"),
        "lastUpdate": ("last updated", "latest update"),
        "orchestrationId": ("plan id", "orchestration"),
        "priority": ("prio",),
        "status": ("state",),
    },
)
SectionName = Literal["pending", "in-progress", "completed", "archived"]
SECTIONS: dict[str, SectionName] = {
    **dict.fromkeys(("pending", "todo", "to do", "todos", "open", "backlog", "up next", "not started"), "pending"),
    **dict.fromkeys(("in progress", "doing", "wip", "work in progress", "ongoing", "started"), "in-progress"),
    **dict.fromkeys(("completed", "done", "finished", "complete"), "completed"),
}
_TITLES: dict[SectionName, str] = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed"}
LEVELS = {
    **dict.fromkeys(("high", "p0", "p1", "critical", "urgent"), "HIGH"),
    **dict.fromkeys(("normal", "medium", "med", "p2"), "NORMAL"),
    **dict.fromkeys(("low", "p3", "p4"), "LOW"),
}
_PLAIN_PRIORITY = r"(?i)\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)"
_WORDS = "high|normal|medium|med|low|critical|urgent|p[0-4]"
_MARKED = rf"(?:[\[(（](?P<word>{_WORDS})(?: priority)?[\])）]|!(?P<mark>{_WORDS})|\*\*(?P<bold>{_WORDS})\*\*)"
_LEADING = (
    rf"(?i)(?:\*\*)?(?:{_MARKED}|(?P<bare>p[0-4]|high|low)(?=[:：]|[ \t]*[-–—][ \t]|[ \t]+(?<=p[0-4] )))"
    r"(?:\*\*)?[:：]?(?:[ \t]*[-–—])?(?:\*\*)?[ \t]+(?P<rest>\S.*)"
)
_TRAILING = rf"(?i)(?P<rest>\S.*?)[ \t]+(?:[-–—][ \t]+)?(?:\*\*)?(?:{_MARKED}|(?P<bare>p[0-4]))(?:\*\*)?"
_BOX = r"\[(?P<mark>[ xX]?)\][ \t]+(?P<rest>\S.*)"
_DATE_IN_TITLE = (
    r"(?i)@due\(|\bdue(?: date)?[:：]?[ \t]+(?:[0-9]{4}-|on |by )|deadline[:：]|[📅⏳🛫][ \t]*[0-9]{4}-|\[due::"
)
_DATES = ("due", "Due", "eadline", "📅", "⏳", "🛫")
_ITEM = r"(?:[-*+•]|[0-9]{1,3}[.)])[ \t\u00a0]+\[(?P<mark>[ xX]?)\][ \t\u00a0]+(?P<title>\S.*)"
_DEEPER = r"#{4,6}[ \t]+(?P<title>\S.*?)[ \t]*#*"
_ANY_ITEM = r"(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0]+(?P<title>\S.*)"
_EMPTY = r"(?i)[-*+ \t_(\[]*(?:none|nothing|no (?:\w+ )*tasks?|empty|n/?a|nil|-+|tbd)\b[^\w]*(?:\w+ ?){0,4}[-*_.)\]]*"
_PROSE = r".*[.:!?…)。：_]|(?<!\*)\*(?!\*).*[^*]\*|>.*|\[[^\]]+\]:.*|!?\[.*|([-*_=][ \t]*){3,}|<.*"


class PlainTask(NamedTuple):
    """A task's entry in the plain form, and what was found in it; lines count from its heading."""

    entry: Entry
    findings: tuple[LineFinding, ...] = ()


class Item(NamedTuple):
    """A task above the first entry of a section: its line in the section, the entry it is read as, what was found in
    it, and the mark in its box (None: it has none).
    """

    line: int
    entry: Entry
    findings: tuple[LineFinding, ...] = ()
    box: str | None = None

    @property
    def checked(self) -> bool:
        """Whether its box is checked."""
        return bool(self.box and self.box.strip())


class PlainTasks(NamedTuple):
    """A section of tasks in the plain form.

    `name` is which section it is (None: none of tasks), `items` are the tasks of the checklist and of deeper headings
    in the text above the first entry.
    """

    name: SectionName | None
    title: str
    items: tuple[Item, ...] = ()
    findings: tuple[LineFinding, ...] = ()


def section_name(section: Section) -> SectionName | None:
    """Return pending, in-progress or completed for a section of tasks, in any dress of its name; None for others."""
    return plain_name(section.title, SECTIONS) if section.level == 2 else None


def plain_task(entry: Entry) -> PlainTask:
    """Return the entry of a task in the plain form; the same object where it is plain already, or cannot become so."""
    try:
        return _plain_task(entry)
    except UsageError:
        return PlainTask(entry)


def _plain_task(entry: Entry) -> PlainTask:
    written, body = entry.title, entry.body
    title, found = _plain_title(written)
    plain, below = plain_body(body, SCHEMA, entry.fields.nodes)
    findings = [*found, *(one.moved(1) for one in below)]
    if title != written or plain != body:
        entry = entry.with_body(plain).with_title(title)
    priority = entry.fields.get("priority")
    if priority is not None and not regex(_PLAIN_PRIORITY).match(entry.title):
        level = LEVELS.get(priority.strip("*_`[]() ").lower())
        line = next(node.line for node in entry.fields.nodes if node.key == "priority") + 1
        if level is None:
            findings.append(unread(line, f"priority: {priority}", "write [HIGH], [NORMAL] or [LOW] into the heading"))
        else:
            entry = entry.unset_field("priority").with_title(f"[{level}] {entry.title}".rstrip())
            findings = [one for one in findings if one.line != line]
            findings.append(read_as(line, f"priority: {priority}", f"### {entry.title}"))
    elif priority is not None and regex(_PLAIN_PRIORITY).match(entry.title)[1].upper() != LEVELS.get(priority.lower()):  # type: ignore[index]
        line = next(node.line for node in entry.fields.nodes if node.key == "priority") + 1
        findings.append(unclear(line, f"priority: {priority}", "the heading has another priority, which counts"))
    return PlainTask(entry, tuple(findings))


def state_finding(entry: Entry, section: SectionName) -> LineFinding | None:
    """Return the finding about a field `status` that contradicts the section of a plain task."""
    status = entry.fields.get("status")
    said = None if status is None else plain_name(status, SECTIONS)
    if said is None or said == section:
        return None
    line = next(node.line for node in entry.fields.nodes if node.key == "status") + 1
    return unclear(line, f"status: {status}", f"the task is under {_TITLES[section]}, which counts")


def _box_finding(line: int, text: str, mark: str, section: SectionName) -> LineFinding | None:
    """Return the finding about the box of a task that contradicts its section."""
    checked = mark.strip() != ""
    if checked == (section == "completed"):
        return None
    state = "checked" if checked else "not checked"
    return unclear(line, text, f"it is {state}, but the section says {_TITLES[section]}, which counts")


def _plain_title(title: str) -> tuple[str, list[LineFinding]]:
    """Return the heading of a task with a plain priority in front."""
    found: list[LineFinding] = []
    plain = title
    if title.startswith(("[HIGH] ", "[NORMAL] ", "[LOW] ")) and not any(word in title for word in _DATES):
        return title, found
    box = regex(_BOX).fullmatch(plain)
    if box is not None:
        plain = box["rest"]
    if regex(_PLAIN_PRIORITY).match(plain) is None:
        for form in (_LEADING, _TRAILING):
            if priority := regex(form).fullmatch(plain):
                words = priority.groupdict()
                word = next(words[name] for name in ("word", "mark", "bold", "bare") if words.get(name))
                plain = f"[{LEVELS[word.lower()]}] {priority['rest'].strip()}"
                break
    if plain != title:
        found.append(LineFinding(0, "note", READ, f"{title[:60]!r} is read as `### {plain[:80]}`"))
    if regex(_DATE_IN_TITLE).search(plain):
        found.append(unclear(0, title, "a date in a title is text; write it below as `- due: 2024-01-15`"))
    return plain, found


def plain_section(section: Section) -> PlainTasks:
    """Return a section of tasks.md in the plain form: its name, and the tasks above its first entry."""
    name = section_name(section)
    title = section.title
    findings: list[LineFinding] = []
    if name is not None and not _is_plain_name(section.name):
        remark = re.search(r"\s*\([^()]*\)\s*$", title)
        plain = _TITLES[name] + (remark[0].rstrip() if remark else "")
        findings.append(read_as(0, f"## {title}", f"## {plain}"))
        title = plain
    if name is None and section.heading and (regex(_PLAIN_PRIORITY).match(title) or regex(_BOX).match(title)):
        findings.append(unread(0, f"## {title}", "the heading of a task has three hashes"))
    if section.level == 1 and plain_name(title, SECTIONS):
        findings.append(unread(0, f"# {title}", "the heading of a section has two hashes"))
    lead = section.body
    if not lead.strip():
        return PlainTasks(name, title, (), tuple(findings))
    top = 1 if section.heading else 0
    text = Lead(lead)
    runs, items = _checklist(text, name, section.newline)
    found = [*text.loose(runs, _loose)] if name is not None else []
    for one in items:
        found += _of_item(one, text.lines[one.line], name)
    if name is None and not findings and not items:
        found = _outside(lead, section)
    findings += [one.moved(top) for one in sorted(found)]
    return PlainTasks(name, title, tuple([one._replace(line=top + one.line) for one in items]), tuple(findings))


def _is_plain_name(name: str) -> bool:
    return name in ("pending", "in progress", "in-progress", "completed")


def _checklist(text: Lead, name: SectionName | None, newline: str) -> tuple[list[LeadItem], list[Item]]:
    """Return the tasks in the text above the entries, with the lines that each takes.

    Under a heading that is no section of tasks the items of a checklist are tasks; all else is prose.
    """

    def begins(line: str) -> re.Match[str] | None:
        return regex(_ITEM).fullmatch(line) or (regex(_DEEPER).fullmatch(line) if name is not None else None)

    def belongs(line: str, first: re.Match[str]) -> bool:
        return line[0] in " \t" if "mark" in first.groupdict() else begins(line) is None

    runs = list(text.items(begins, belongs))
    items = []
    for first, stop, found in runs:
        box = found.groupdict().get("mark")
        below = [line.strip(" \t") if box is not None else line for line in text.lines[first + 1 : stop]]
        raw = newline.join([f"### {found['title'].strip()}", *below]) + newline
        items.append(Item(first, *plain_task(Entry(encode(raw))), box))
    return runs, items


def _of_item(item: Item, text: str, name: SectionName | None) -> Iterator[LineFinding]:
    """Yield what was found in an item: how it is read, a box that contradicts its section, its fields."""
    if name is not None:
        yield read_as(item.line, text, f"### {item.entry.title}")
        state = None if item.box is None else _box_finding(item.line, text, item.box, name)
        yield from () if state is None else (state,)
    yield from (one.moved(item.line) for one in item.findings if one.line or one.code != READ)


def _loose(text: str) -> str | None:
    """Return what would help where a line above the entries of a section of tasks is no task; None: it is prose."""
    if regex(_EMPTY).fullmatch(text.strip()):
        return None
    item = regex(_ANY_ITEM).fullmatch(text)
    if item is not None:
        return f"write a task as `### [NORMAL] {item['title'][:40]}` or as `- [ ] {item['title'][:40]}`"
    if "|" in text:
        return "a table holds no tasks; write each as `### [NORMAL] title` with its fields below"
    if text[:1] in " \t" or regex(_PROSE).fullmatch(text.strip()):
        return None
    return f"write a task as `### [NORMAL] {text.strip()[:40]}`"


def _outside(lead: str, section: Section) -> list[LineFinding]:
    """Return the first line that looks like a task or its field under a heading that is no section of tasks."""
    where = "no section of tasks; put it under `## Pending`, `## In Progress` or `## Completed`"
    for number, text in visible_lines(lead):
        if regex(_DEEPER).fullmatch(text) and not len(section):
            advice = f"{section.title[:40]!r} is {where}" if section.heading else f"it is in {where}"
            return [unread(number, text, advice)]
        body = plain_body(text.strip(), SCHEMA)
        if body.findings or SCHEMA.keys & set(read_fields(text)):
            return [unread(number, text, "the heading of a task has three hashes: `### [NORMAL] title`")]
    if section.level != 2 and not section.heading:
        for number, (text, _) in enumerate(split_lines(lead)):
            if re.match(r"#{1,3} ", text):
                return [unread(number, text, "it is in a code fence or HTML; take the fence away")]
    return []


def with_items_as_entries(document: Document, index: int, chosen: Sequence[int] | None = None) -> Document:
    """Return the document with the tasks above the first entry of a section, or those `chosen`, written as entries.

    Under a heading that is no section of tasks a checked one keeps its box: nothing else says that it is done.
    """
    section = document.section(index)
    name, text = section_name(section), Lead(section.body)
    runs, items = _checklist(text, name, section.newline)
    numbers = range(len(items)) if chosen is None else chosen
    entries = [
        one.entry.with_title(f"[x] {one.entry.title}") if one.checked and name is None else one.entry
        for one in (items[number] for number in numbers)
    ]
    rest = text.without([runs[number] for number in numbers], section.newline)
    return with_items(document, index, rest, entries)


def is_checked(entry: Entry) -> bool:
    """Return whether the heading of a task has a checked box in front."""
    box = regex(_BOX).match(entry.title) if "[" in entry.title[:2] else None
    return box is not None and bool(box["mark"].strip())


def plain_tasks(document: Document) -> Document:
    """Return tasks.md, or an archive of it, with everything that is read in another form written plainly."""
    for index, section in document.all_sections():
        read = section.memo(plain_section)
        if read.items and read.name is not None:
            document = with_items_as_entries(document, index)
        part = document.section(index)
        entries = [
            entry if read.name is None and is_checked(entry) else plain_task(entry).entry for entry in part.entries
        ]
        if any(new is not old for new, old in zip(entries, part.entries, strict=True)):
            part = part.with_entries(entries)
        if read.title != part.title:
            part = part.with_title(read.title)
        document = document.with_section(index, part)
    return document


def task_findings(document: Document) -> Iterator[LineFinding]:
    """Yield what was found in lines that are not plain; lines count from 0 in the file."""
    for index, section in document.all_sections():
        read = section.memo(plain_section)
        top = document.line_of(index)
        yield from (one.moved(top) for one in read.findings)
        for number, entry in enumerate(section.entries):
            plain, findings = plain_task(entry)
            if read.name is None and is_checked(entry):
                findings = tuple([one for one in findings if one.line or one.code != READ])
            line = document.line_of(index, number)
            yield from (one.moved(line) for one in findings)
            if read.name is not None:
                box = regex(_BOX).match(entry.title)
                states = (state_finding(plain, read.name), box and _box_finding(0, entry.title, box["mark"], read.name))
                yield from (one.moved(line) for one in states if one is not None)
