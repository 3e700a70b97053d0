"""Tasks as agents and people write them, read in the plain form: headings, fields and their values, and checklists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Literal, NamedTuple

from memory.base.clock import format_exact, read_moment
from memory.base.cron import BadCron, check_cron, next_runs
from memory.base.values import ABSENT, is_absent, split_remark
from memory.document.lines import read_fields, split_lines
from memory.document.model import Document
from memory.document.nodes import Entry, Section, field_line
from memory.errors import UsageError
from memory.files.fields import dress
from memory.files.fields.dress import READ, Item, Lead, LineFinding, PlainFile, PlainSection, regex
from memory.files.fields.values import Schema, Value, moment, moment_or_none, percent, text_or_none
from memory.files.refs import identity_hex

PRIORITIES = ("HIGH", "NORMAL", "LOW")
_PRIORITY = re.compile(r"\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)", re.IGNORECASE)
_HASHTAGS = re.compile(r"(?:#[^\s#]+\s*)+")
_HASHED = re.compile(r"#([^\s#]+)")
_RECURRING = re.compile(r"recurring:[ \t]*(\S.*)", re.IGNORECASE)


class DueValue(NamedTuple):
    """The value of `due` in its parts: date or date and time as text, cron expression, other remark."""

    date: str | None = None
    recurring: str | None = None
    remark: str | None = None

    def __str__(self) -> str:
        """Return the value as it is written; empty if there is nothing to say."""
        recurring = f"recurring: {self.recurring}" if self.recurring else ""
        if self.date is None:
            value = recurring or ("null" if self.remark else "")
        else:
            value = f"{self.date} ({recurring})" if recurring else self.date
        return f"{value} ({self.remark})" if self.remark else value


@lru_cache(maxsize=4096)
def read_due(value: str | None) -> DueValue:
    """Take the value of `due` apart: a date, `(recurring: CRON)` or `recurring: CRON` alone, and a remark."""
    if not value:
        return DueValue()
    if value[0] in "0123456789" and value[-1] not in ") \t":
        return DueValue(value)
    plain, remark = split_remark(value)
    recurring = None
    other = None
    while remark is not None:
        found = _RECURRING.fullmatch(remark)
        if found and recurring is None:
            recurring = found[1]
        else:
            other = remark if other is None else other
        # A remark may follow the recurrence.
        plain, remark = split_remark(plain) if plain.endswith(")") else (plain, None)
    found = _RECURRING.fullmatch(plain)
    if found:
        return DueValue(None, found[1], other)
    return DueValue(None if is_absent(plain) else plain, recurring, other)


def check_due(value: str, zone: tzinfo) -> DueValue:
    """Return the parts of a `due` that may be written; raises BadMoment and BadCron."""
    due = read_due(value)
    if due.date is not None:
        read_moment(due.date, zone)
    if due.recurring is not None:
        check_cron(due.recurring)
    return due


def next_due(due: DueValue, now: datetime, zone: tzinfo) -> DueValue:
    """Return `due` at the first occurrence that is after now and not the one that `due` says already.

    What is finished before it was due is done for that time, so the occurrence after it is the next; occurrences that
    were missed are not made up for. Recurrence and remark stay; a local time that happens twice because clocks go back
    is written as `format_exact` does. Raises BadCron for an expression that is none or never runs.
    """
    assert due.recurring is not None
    day = moment_or_none(due.date, zone)
    after = now
    if day is not None:
        # A date alone lasts until the midnight after it, and a run at that midnight is one of the next day.
        after = max(now, day.due_at(zone) - timedelta(minutes=0 if day.instant is not None else 1))
    try:
        run = next_runs(due.recurring, after, zone)[0]
    except BadCron:
        if after == now:
            raise
        # Due at the end of the calendar, behind which nothing runs.
        run = next_runs(due.recurring, now, zone)[0]
    return due._replace(date=format_exact(run, zone))


def split_priority(title: str) -> tuple[str | None, str]:
    """Split a heading into its priority and the title; an unknown priority stays a part of the title."""
    found = _PRIORITY.match(title)
    return (None, title) if found is None else (found[1].upper(), title[found.end() :])


def is_run(entry: Entry) -> bool:
    """Return whether a task is one completed run of a recurring one: the task itself goes on, open, beside it."""
    fields = entry.fields
    return bool(text_or_none(fields.get("completed"))) and read_due(fields.get("due")).recurring is not None


def read_tags(value: str | None) -> list[str]:
    """Return the tags of a value that separates them by commas, or has a `#` in front of each."""
    if value is None or value.lower() in ABSENT:
        return []
    parts = [part.strip() for part in value.replace("\n", ",").split(",")]
    found = (_HASHED.findall(part) if _HASHTAGS.fullmatch(part) else [part] for part in parts)
    return [tag for tags in found for tag in tags if tag]


def write_tags(tags: Iterable[str]) -> str:
    """Return tags as the file writes them, each once, in their order; commas inside of one separate two."""
    parts = (part.strip() for tag in tags for part in re.split(r"[,\r\n]", tag))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _due(_key: str, value: str, zone: tzinfo) -> str:
    check_due(value, zone)
    return value


def _no_recurring(_key: str, _value: str, _zone: tzinfo) -> str:
    raise UsageError("task.recurring", "a task recurs by its due, `recurring: 0 9 * * MON`", "write it into due")


FIELDS = {
    "due": Value(
        _due,
        "deadline, due date, due by, due on, due at, date due, "
        "fällig, fällig am, frist, échéance, vence, vencimiento, scadenza, 期限, 截止日期",
        "task.due",
        whole=True,
    ),
    "started": Value(moment, "started at, started on, start date, date started", "task.started"),
    "completed": Value(
        moment, "completed at, completed on, completion date, date completed, finished, finished at", "task.completed"
    ),
    "assigned": Value(
        words="assignee, assigned to, owner, assignees, "
        "zuständig, zugewiesen, verantwortlich, responsable, asignado, assigné, 担当, 負責人, 负责人"
    ),
    "created": Value(moment, "created at, created on, date created, creation date, added", "task.created"),
    "cronJobId": Value(),
    "orchestrationId": Value(words="plan id, orchestration"),
    "progress": Value(percent, "percent complete, completion", "task.progress"),
    "tags": Value(lambda _, value, __: write_tags([value]), "tag, labels, label"),
    "notes": Value(words="notizen, notiz", free=True),
    "action": Value(free=True),
    "outcome": Value(free=True),
    "lastUpdate": Value(words="last updated, latest update"),
}
"""The fields that the format knows, in the order in which memdeck writes them."""
FIELD_KEYS = tuple(FIELDS)
SCHEMA = Schema(
    {
        **FIELDS,
        "priority": Value(words="prio, priorität, priorité, prioridad, 優先度, 优先级"),
        "status": Value(words="state"),
        "recurring": Value(_no_recurring, code="task.recurring", level="warning"),
    }
)
"""What is read in an entry of a task: some fields belong into its heading, its section or its `due`."""


SectionName = Literal["pending", "in-progress", "completed", "archived"]
_SECTION_NAMES: dict[SectionName, str] = {
    "pending": "pending, todo, to do, todos, open, backlog, up next, not started, "
    "offen, zu erledigen, à faire, pendiente, pendientes, 未着手, 待办",
    "in-progress": "in progress, doing, wip, work in progress, ongoing, started, "
    "in arbeit, in bearbeitung, en cours, en curso, 進行中, 进行中",
    "completed": "completed, done, finished, complete, "
    "erledigt, fertig, abgeschlossen, terminé, completado, 完了, 已完成",
}
SECTIONS: dict[str, SectionName] = {
    name: section for section, names in _SECTION_NAMES.items() for name in names.split(", ")
}
_TITLES: dict[SectionName, str] = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed"}
LEVELS = {
    **dict.fromkeys(("high", "p0", "p1", "critical", "urgent", "hoch", "dringend", "haute", "alta", "高"), "HIGH"),
    **dict.fromkeys(("normal", "medium", "med", "p2", "mittel", "moyenne", "media", "中"), "NORMAL"),
    **dict.fromkeys(("low", "p3", "p4", "niedrig", "basse", "baja", "低"), "LOW"),
}
_WORDS = "high|normal|medium|med|low|critical|urgent|p[0-4]"
_MARKED = rf"(?:[\[(（［【](?P<word>{_WORDS})(?: priority)?[\])）］】]|!(?P<mark>{_WORDS})|\*\*(?P<bold>{_WORDS})\*\*)"
_LEADING = (
    rf"(?i)(?:\*\*)?(?:{_MARKED}|(?P<bare>p[0-4]|high|low)(?=[:：]|[ \t]*[-–—][ \t]|[ \t]+(?<=p[0-4] )))"
    r"(?:\*\*)?[:：]?(?:[ \t]*[-–—])?(?:\*\*)?(?:[ \t\u3000]+|(?<=[］】]))(?P<rest>\S.*)"
)
_TRAILING = rf"(?i)(?P<rest>\S.*?)[ \t]+(?:[-–—][ \t]+)?(?:\*\*)?(?:{_MARKED}|(?P<bare>p[0-4]))(?:\*\*)?"
_BOX = r"\[(?P<mark>[ xX]?)\][ \t]+(?P<rest>\S.*)"
_DATE_IN_TITLE = (
    r"(?i)@\w+\([0-9]{4}-|\b(?:due|deadline|completed|done|finished|started|created)(?: (?:date|on|at|by))?[:：]?[ \t]*"
    r"[0-9]{4}-|\bdue[:：]?[ \t]+(?:on |by |next |today|tomorrow|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b)"
    r"|deadline[:：]|[📅⏳🛫✅➕][ \t]*[0-9]{4}-|\[due::"
)
_DATES = "[-@]|[dD]ue|eadline"
"""What a title has in it that may have a date."""
_BOLD_TITLE = r"\*\*[^*]*[^*:：.!?]\*\*[ \t]*(?:[(（].*|[-–—|].*)?"
"""A paragraph that is a title in bold, with a remark behind it."""
_ITEM = r"(?:[-*+•]|[0-9]{1,3}[.)])[ \t\u00a0]+\[(?P<mark>[ xX]?)\][ \t\u00a0]+(?P<title>\S.*)"
_DEEPER = r"#{4,6}[ \t]+(?P<title>\S.*?)[ \t]*#*"
_ANY_ITEM = r"(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0]+(?P<title>\S.*)"
_EMPTY = r"(?i)[-*+ \t_(\[]*(?:none|nothing|no (?:\w+ )*tasks?|empty|n/?a|nil|-+|tbd)\b[^\w]*(?:\w+ ?){0,4}[-*_.)\]]*"
_PROSE = r".*[.:!?…)。：_]|(?<!\*)\*(?!\*).*[^*]\*|>.*|\[[^\]]+\]:.*|!?\[.*|([-*_=][ \t]*){3,}|<.*"

_HOW = "write a task as `### [NORMAL] title` with its fields below, or as `- [ ] title`"
_WHERE = "a task is `### [NORMAL] title` under `## Pending`, `## In Progress` or `## Completed`"


class Head:
    """What is read of a task once and kept with its entry, `entry.memo(Head)`: heading, `created`, identity.

    `plain` is the entry in the plain form (None: it is plain itself).
    """

    __slots__ = ("created", "hex", "is_run", "plain", "priority", "title")

    def __init__(self, entry: Entry) -> None:
        """Read the entry."""
        read = entry.memo(plain_task)[0]
        self.plain = None if read is entry else read
        self.priority, self.title = split_priority(read.title)
        self.created = text_or_none(read.fields.get("created"))
        self.hex = identity_hex("tasks", self.title, self.created or "")
        self.is_run = is_run(read)


def section_name(section: Section) -> SectionName | None:
    """Return pending, in-progress or completed for a section of tasks, in any dress of its name; None for others."""
    return dress.plain_name(section.title, SECTIONS) if section.level == 2 else None


def plain_task(entry: Entry) -> tuple[Entry, tuple[LineFinding, ...]]:
    """Return the entry of a task in the plain form, and what was found in it; lines count from its heading.

    It is the same object where it is plain already, or cannot become so.
    """
    try:
        return _plain_task(entry)
    except UsageError:
        return entry, ()


def _plain_task(entry: Entry) -> tuple[Entry, tuple[LineFinding, ...]]:
    written, body = entry.title, entry.body
    title, found = _plain_title(written)
    plain, below = dress.plain_body(body, SCHEMA, entry.fields.nodes)
    findings = [*found, *(one.moved(1) for one in below)]
    if title != written or plain != body:
        entry = entry.with_body(plain).with_title(title)
    tags, priority = entry.fields.get("tags", ""), entry.fields.get("priority")

    def instead(key: str, value: str, new: Entry, plain: str) -> Entry:
        line = field_line(entry, key, 0)
        findings[:] = [*(one for one in findings if one.line != line), dress.read_as(line, f"{key}: {value}", plain)]
        return new

    if "#" in tags and (plain_tags := write_tags(read_tags(tags))) != tags:
        entry = instead("tags", tags, entry.set_field("tags", plain_tags), f"- tags: {plain_tags}")
    if priority is not None:
        line, text = field_line(entry, "priority", 0), f"priority: {priority}"
        level, heading = LEVELS.get(priority.strip("*_`[]() ").lower()), split_priority(entry.title)[0]
        if heading is None and level is None:
            findings.append(dress.unread(line, text, "write [HIGH], [NORMAL] or [LOW] into the heading"))
        elif heading is None:
            named = f"[{level}] {entry.title}".rstrip()
            entry = instead("priority", priority, entry.unset_field("priority").with_title(named), f"### {named}")
        elif heading != level:
            findings.append(dress.unclear(line, text, "the heading has another priority, which counts"))
    return entry, tuple(findings)


def _box_findings(line: int, text: str, mark: str | None, section: SectionName) -> Iterator[LineFinding]:
    """Yield the finding about the box of a task that contradicts its section; `mark` is None for one without."""
    if mark is not None and bool(mark.strip()) != (section == "completed"):
        state = "checked" if mark.strip() else "not checked"
        yield dress.unclear(line, text, f"it is {state}, but the section says {_TITLES[section]}, which counts")


def _plain_title(title: str) -> tuple[str, list[LineFinding]]:
    """Return the heading of a task with a plain priority in front."""
    found: list[LineFinding] = []
    plain = title
    if title.startswith(("[HIGH] ", "[NORMAL] ", "[LOW] ")) and not regex(_DATES).search(title):
        return title, found
    box = regex(_BOX).fullmatch(plain)
    if box is not None:
        plain = box["rest"]
    if split_priority(plain)[0] is None:
        for form in (_LEADING, _TRAILING):
            if priority := regex(form).fullmatch(plain):
                words = priority.groupdict()
                word = next(words[name] for name in ("word", "mark", "bold", "bare") if words.get(name))
                plain = f"[{LEVELS[word.lower()]}] {priority['rest'].strip()}"
                break
    if plain != title:
        found.append(LineFinding(0, "note", READ, f"{title[:60]!r} is read as `### {plain[:80]}`"))
    if regex(_DATE_IN_TITLE).search(plain):
        found.append(dress.unclear(0, title, "a date in a title is text; write it below as `- due: 2026-12-01`"))
    return plain, found


def plain_section(section: Section) -> PlainSection[SectionName]:
    """Return a section of tasks.md in the plain form: which one it is, and the tasks above its first entry.

    Under a heading that is no section of tasks the items of a checklist are tasks; all else is prose.
    """
    name, title = section_name(section), section.title
    findings: list[LineFinding] = []
    if name is not None and section.name not in ("pending", "in progress", "in-progress", "completed"):
        remark = re.search(r"\s*\([^()]*\)\s*$", title)
        title = _TITLES[name] + (remark[0].rstrip() if remark else "")
        findings.append(dress.read_as(0, f"## {section.title}", f"## {title}"))
    like_task = name is None and section.heading and (split_priority(title)[0] or regex(_BOX).match(title))
    if like_task or (section.level == 1 and dress.plain_name(title, SECTIONS)):
        findings.append(dress.unread(0, f"{'#' * section.level} {title}", _WHERE))
    findings += dress.heading_findings(section, SCHEMA)
    if not section.body.strip():
        return PlainSection(name, title, (), tuple(findings))
    top = 1 if section.heading else 0
    lead = Lead(section.body)

    def begins(line: str) -> re.Match[str] | None:
        return regex(_ITEM).fullmatch(line) or (regex(_DEEPER).fullmatch(line) if name is not None else None)

    def belongs(line: str, first: re.Match[str]) -> bool:
        return line[0] in " \t" if "mark" in first.groupdict() else begins(line) is None

    runs = lead.items(begins, belongs)
    found = (
        [*lead.loose(dress.lines_of(runs), _loose if name is not None else _unboxed)]
        if name is not None or runs
        else []
    )
    items, newline = [], section.newline  # Found once: that takes as long as the section.
    for first, stop, begin in runs:
        box = begin.groupdict().get("mark")
        below = [line.strip(" \t") if box is not None else line for line in lead.lines[first + 1 : stop]]
        entry, inside = plain_task(dress.listed_entry(begin["title"], below, newline))
        items.append(Item(top + first, top + stop, entry, box))
        if name is not None:
            found.append(dress.read_as(first, lead.lines[first], f"### {entry.title}"))
            found += _box_findings(first, lead.lines[first], box, name)
        found += [one.moved(first) for one in inside if one.line or one.code != READ]
    if name is None and not findings and not items:
        found = _outside(section)
        if not found and section.level == 2 and next(dress.unread_list(section, ""), None):
            findings += dress.unread_section(section, "is not read: it is neither a section of tasks nor a checklist")
    return PlainSection(name, title, tuple(items), (*findings, *(one.moved(top) for one in sorted(found))))


def _loose(text: str) -> str | None:
    """Return how a task is written, for a line above the entries of a section of tasks; None: it is prose."""
    if regex(_EMPTY).fullmatch(text.strip()):
        return None
    bold = regex(_BOLD_TITLE).fullmatch(text)
    prose = not bold and (text[:1] in " \t" or regex(_PROSE).fullmatch(text.strip()))
    return _HOW if dress.is_listed(text) or not prose else None


def _unboxed(text: str) -> str | None:
    """Return how a task is written, for an item without a box where others of its list have one; None for others."""
    return _HOW if regex(_ANY_ITEM).fullmatch(text) else None


def _outside(section: Section) -> list[LineFinding]:
    """Return the first line that looks like a task or its field under a heading that is no section of tasks."""
    for number, text in dress.visible_lines(section.body):
        deeper = regex(_DEEPER).fullmatch(text) and not len(section)
        if deeper or dress.plain_body(text.strip(), SCHEMA).findings or SCHEMA.keys & set(read_fields(text)):
            return [dress.unread(number, text, _WHERE)]
    if section.level == 0:
        for number, (text, _) in enumerate(split_lines(section.body)):
            if re.match(r"#{1,3} ", text):
                return [dress.unread(number, text, "it is in a code fence or HTML; remove the fence")]
    return []


def is_checked(entry: Entry) -> bool:
    """Return whether the heading of a task has a checked box in front."""
    return bool((_mark_of(entry.title) or "").strip())


def _mark_of(title: str) -> str | None:
    """Return what the box in front of a heading holds; None: it has no box."""
    box = regex(_BOX).match(title) if title.startswith("[") else None
    return None if box is None else box["mark"]


def plain_tasks(document: Document) -> PlainFile:
    """Return tasks.md, or an archive of it, with everything that is read in another form written plainly."""

    def plain(read: PlainSection[SectionName], entry: Entry) -> tuple[Entry, Iterable[LineFinding]]:
        new, findings = entry.memo(plain_task)
        if read.name is None:
            # Under a heading that is no section of tasks a checked box says that the task is done.
            as_written = [one for one in findings if one.line or one.code != READ]
            return (entry, as_written) if is_checked(entry) else (new, findings)
        status = new.fields.get("status")
        if status is not None and dress.plain_name(status, SECTIONS) not in (None, read.name):
            text, words = f"status: {status}", f"the task is under {_TITLES[read.name]}, which counts"
            findings = (*findings, dress.unclear(field_line(new, "status", 0), text, words))
        if findings:
            # A heading with a box in front is one of them.
            findings = (*findings, *_box_findings(0, entry.title, _mark_of(entry.title), read.name))
        return new, findings

    return dress.plain_file(document, plain_section, plain)
