"""The journal as agents and people write it, read in the plain form: days, times, and lists below a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from memory.document.lines import encode, split_lines
from memory.document.model import Document
from memory.document.nodes import Entry, Section
from memory.files.fields.dress import (
    Item,
    Lead,
    LineFinding,
    PlainFile,
    PlainSection,
    is_fence,
    lines_of,
    plain_file,
    read_as,
    regex,
    unread,
    unread_section,
    visible_lines,
)

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\w-])", re.ASCII)
_HEADING = re.compile(r"(\d{1,2}:\d{2}(?::\d{2})?)(?:[ \t]*(?:[—–-]+)[ \t]*|\Z)(.*)", re.ASCII | re.DOTALL)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
_DAY_FORMS = (
    r"(?P<y>[0-9]{4})(?P<sign>[-/.])(?P<m>[0-9]{1,2})(?P=sign)(?P<d>[0-9]{1,2})",
    rf"(?i){_MONTH} (?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<y>[0-9]{{4}})",
    rf"(?i)(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH},? (?P<y>[0-9]{{4}})",
)
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_AROUND = rf"(?i)[^\w]*(?:{_WEEKDAY}[,.]?[^\w]+)?{{}}[^\w(]*(?:\(.*\)|{_WEEKDAY})?[^\w]*"
_LIKE_DAY = (
    rf"(?i)[^\w]*(?:{_WEEKDAY}[,.]?[^\w]+)?(?:[0-9]{{4}}[-/.]?[0-9]{{1,2}}[-/.]?[0-9]"
    r"|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}|[0-9]{1,2}/[0-9]"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH.replace('?P<month>', '?:')}|{_MONTH} [0-9])"
)
"""How a heading begins that was likely meant as a day."""
_INSTANT = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ,]+(?:at )?(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]+)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2}| ?UTC)?[ \t]*[—–:|-]*[ \t]*(?P<rest>.*)"
)
_TIME = (
    r"[^\w\n]*(?P<hour>[0-9]{1,2})(?:[:：h](?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?[ \t]*"
    r"(?P<half>[AaPp]\.?[Mm]\b\.?)?"
    r"[\])*_`]*[ \t]*(?:[—–:：|-]+[*_`]*)?[ \t]*(?P<rest>.*)"
)
_ITEM = r"(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0]+(?:\[[ xX]\][ \t]+)?(?P<title>\S.*)"
_DATED = r"(?:[-*+•‣][ \t]+)?[*_`\[(]{0,3}[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_DEEPER = r"#{4,6}[ \t]+(?P<title>\S.*?)[ \t]*#*"


@lru_cache(4096)
def read_date(title: str) -> str | None:
    """Return the date that a section's heading begins with in the plain form, also one that does not exist."""
    found = _DATE.match(title)
    return found[1] if found else None


def split_heading(title: str) -> tuple[str | None, str]:
    """Split a heading `HH:MM — title` into time and title; hyphen, en dash and seconds are understood."""
    found = _HEADING.fullmatch(title)
    return (found[1], found[2]) if found else (None, title)


def plain_heading(title: str) -> str:
    """Return the heading of an entry with its time in the plain form; as it is where it has none."""
    if _HEADING.fullmatch(title):
        return title
    found = regex(_TIME).fullmatch(title)
    if found is None or not (found["minute"] or found["half"]):
        return title
    hour, half = int(found["hour"]), (found["half"] or "").lower()[:1]
    minute, second = found["minute"] or "00", found["second"]
    if half and not 1 <= hour <= 12:
        return title
    hour = hour % 12 + 12 * (half == "p") if half else hour
    if hour > 23 or int(minute) > 59:
        return title
    rest = found["rest"].strip()
    if re.match(r"(?:UTC|GMT|Z|[+-][0-9])(?![a-z])", rest):
        return title
    return f"{hour:02}:{minute}" + (f":{second}" if second else "") + (f" — {rest}" if rest else "")


def plain_day(section: Section) -> PlainSection[str]:
    """Return a section of the journal in the plain form: its date, and the entries above its first one."""
    title, lead = section.title, section.body
    day = read_date(title)
    if title == day and not lead.strip():
        return PlainSection(day, title)
    findings: list[LineFinding] = []
    instant = regex(_INSTANT).fullmatch(title) if section.level == 2 else None
    if instant is not None and instant["zone"]:
        advice = f"write the day as `## {instant['date']}` and below `### HH:MM — title` in the workspace's zone"
        return PlainSection(None, title, (), (unread(0, f"## {title}", advice),))
    if instant is not None:
        heading = plain_heading(f"{instant['time']} — {instant['rest']}".rstrip(" —"))
        below = lead.strip("\r\n").split("\n")
        item = Item(0, 1 + len(split_lines(lead)), _entry(heading, below, section.newline))
        found = read_as(0, f"## {title}", f"## {instant['date']} with ### {heading}")
        return PlainSection(instant["date"], instant["date"], (item,), (found,))
    if day is None and section.level == 2:
        day = _dressed_day(title)
        if day is not None:
            findings.append(read_as(0, f"## {title}", f"## {day}"))
            title = day
    top = 1 if section.heading else 0
    if day is None:
        if lead.strip() and section.level == 2 and regex(_LIKE_DAY).match(title) and not len(section):
            findings.append(unread(0, f"## {title}", "write a day as `## 2026-12-01`"))
        elif dated := [one for one in visible_lines(lead) if regex(_DATED).match(one[1])]:
            advice = "write a day as `## 2026-12-01` and an entry below it as `### HH:MM — title`"
            findings.append(unread(dated[0][0] + top, dated[0][1], advice, more=len(dated) - 1))
        elif section.level == 2 and not len(section):
            findings += unread_section(section, "is not read: a day is written as `## 2026-12-01`")
        return PlainSection(None, title, (), tuple(findings))
    items, inside = _items(lead, top, section.newline)
    return PlainSection(day, title, items, (*findings, *(one.moved(top) for one in inside)))


def _dressed_day(title: str) -> str | None:
    for form in _DAY_FORMS:
        found = regex(_AROUND.format(form.removeprefix("(?i)"))).fullmatch(title)
        if found is None:
            continue
        words = found.groupdict()
        month = int(words["m"]) if words.get("m") else _MONTHS.index(words["month"][:3].lower()) + 1
        try:
            return date(int(words["y"]), month, int(words["d"])).isoformat()
        except ValueError:
            return None
    return None


def _items(lead: str, top: int, newline: str) -> tuple[tuple[Item, ...], list[LineFinding]]:
    """Return the entries made of the lists and deeper headings below a day, and what was found there."""
    text = Lead(lead)

    def begins(line: str) -> re.Match[str] | None:
        return regex(_ITEM).fullmatch(line) or regex(_DEEPER).fullmatch(line)

    def belongs(line: str, first: re.Match[str]) -> bool:
        return regex(_DEEPER).fullmatch(line) is None if first[0].startswith("#") else line[0] in " \t"

    runs = text.items(begins, belongs)
    items = []
    found = list(text.loose(lines_of(runs), _loose))
    for number, stop, first in runs:
        below = text.lines[number + 1 : stop]
        deeper = first[0].startswith("#")
        indent = 0 if deeper else min((len(one) - len(one.lstrip()) for one in below if one.strip()), default=0)
        entry = _entry(plain_heading(first["title"].strip()), [one[indent:] for one in below], newline)
        items.append(Item(top + number, top + stop, entry))
        found.append(read_as(number, first[0], f"### {entry.title}"))
    return tuple(items), sorted(found)


def _loose(text: str) -> str | None:
    prose = re.fullmatch(r"[-*_= \t]+|>.*|<.*|[*_(].*[*_)]", text)
    if is_fence(text):
        return "take the code fence away, and write an entry as `### HH:MM — title` with its lines below"
    return None if prose else "write an entry as `### HH:MM — title` with its lines below"


def _entry(heading: str, below: list[str], newline: str) -> Entry:
    while below and not below[-1].strip():
        below = below[:-1]
    return Entry(encode(newline.join([f"### {heading}", *(one.rstrip("\r") for one in below)]) + newline))


def plain_entry(entry: Entry) -> Entry:
    """Return an entry of the journal with its heading in the plain form."""
    title = entry.title
    plain = plain_heading(title)
    return entry if plain == title else entry.with_title(plain)


def plain_journal(document: Document) -> PlainFile:
    """Return journal.md, or an archive of it, with everything that is read in another form written plainly."""
    return plain_file(
        document,
        lambda section: section.memo(plain_day),
        lambda _, entry: (plain_entry(entry), _of_heading(entry.title)),
    )


def _of_heading(title: str) -> Iterator[LineFinding]:
    """Yield how the heading of an entry is read, or why its time is not."""
    text = f"### {title}"
    if (plain := plain_heading(title)) != title:
        yield read_as(0, text, f"### {plain}")
    elif dated := regex(_INSTANT).fullmatch(title):
        time = "HH:MM" if dated["zone"] else dated["time"]
        advice = f"write the day as `## {dated['date']}` above and the entry as `### {time} — {dated['rest'][:40]}`"
        yield unread(0, text, advice + (" in the workspace's zone" if dated["zone"] else ""))
    elif _HEADING.fullmatch(title) is None and re.match(r"[0-9]{1,2}[:：h][0-9]{2}", title):
        yield unread(0, text, "write the time as `### HH:MM — title` in the workspace's zone")
