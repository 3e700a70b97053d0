"""The one reader of fields in any dress: which line of an entry is a field, which is likely meant as one.

A field is `- key: value`. Agents and people also write `- **Due:** …`, `* deadline: …` or `Due Date：…`.
What is clearly meant so is read as the field and noted; what could mean two things is only told. Bytes are never
touched by reading: `plain_body` returns the body in the plain form, which `memdeck check --fix` writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from memory.base.problems import Level, Problem
from memory.base.safe_text import plural
from memory.base.values import folded
from memory.document.lines import Field, count_lines, encode, hidden_lines, may_hide, read_fields, split_lines
from memory.document.model import Document
from memory.document.nodes import Entry, Section
from memory.errors import UsageError
from memory.files.fields.values import Schema

N = TypeVar("N", bound=str)
READ, UNREAD, UNCLEAR = "line.read_as", "line.unread", "line.unclear"
"""The codes of a line that is read as its plain form, that nothing reads, and that contradicts another one."""
UNREAD_CODES = frozenset({UNREAD, "contact.unread", "monitor.unknown_section", "config.unread"})
"""The codes of all lines that nothing reads: `check` tells them, panes show them, and search finds them."""


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern: most files are plain, and need none of them."""
    return re.compile(pattern)


class LineFinding(NamedTuple):
    """What `check` says about a line that is not plain; `line` counts from 0 in the body, section or file."""

    line: int
    level: Level
    code: str
    message: str

    def of(self, file: str) -> Problem:
        """Return the finding as a problem of a file."""
        return Problem(self.level, file, self.line + 1, self.code, self.message)

    def moved(self, by: int) -> LineFinding:
        """Return the finding so many lines further down."""
        return self._replace(line=self.line + by)


class Plain(NamedTuple):
    """A body in the plain form and what was found in it."""

    body: str
    findings: tuple[LineFinding, ...] = ()


_SPACE = r"[ \t\u00a0\u2000-\u200f\u202f\u3000\ufeff]"
"""Blanks, and the marks that show right to left text."""
_KEY = r"(?P<key>[^\W\d_][\w -]{0,28}?)"
_BULLET = rf"(?:(?:[-*+•‣◦·–—－・]|[0-9]{{1,3}}[.)]){_SPACE}*(?:\[[ xX]?\]{_SPACE}*)?)"
_EMPHASIS = r"[*_`]{0,3}"
_DRESSED = (
    rf"(?P<indent>{_SPACE}*)(?P<bullet>{_BULLET}?){_EMPHASIS}{_SPACE}*{_KEY}{_EMPHASIS}"
    rf"{_SPACE}*(?P<sign>::?|：|=){_EMPHASIS}(?:{_SPACE}+|(?=[^/\s]|$))(?P<value>.*)"
)
_IN_FRONT = r"(?:[^\w\n]|_|[0-9]{1,3}[.)]|[a-z]{1,2}[.)][ \t]|export[ \t])*"
_NAMED = r"(?P<key>[^\W\d_][\w-]*(?: [^\W\d_]+){%d})(?!\w)(?P<sign>[^\w\n]*(?:is(?=[ \t]))?)(?P<value>.*)"
"""A line that names a field of so many further words, with anything that is no word in front of it and behind it."""
_INLINE = rf"(?:[|;,·]|{_SPACE}{{2}}){_SPACE}*{_EMPHASIS}{_KEY}{_EMPHASIS}[:：]"
_TAGGED = r"(?:^|[\s(\[])(?:@(?P<key>[a-z]+)\([^)]*\)|[📅⏳🛫]\s*[0-9]{4}-)"
_TOLD_HEADING = r"(?i)#{4,6}[ \t]+\[(?:HIGH|NORMAL|LOW)\]|[ \t]{1,3}#{1,3}[ \t]"
_NO_ENTRY = "it is part of the entry above; the heading of an entry is `### ` at the start of a line"


def plain_body(body: str, schema: Schema, nodes: Sequence[Field] | None = None) -> Plain:
    """Return the body of an entry with every field that is clearly meant in its plain form, line by line.

    `nodes` are the fields of the body, where they are known. Lines are neither added nor taken away. Where two lines
    mean the same key, the plain one counts.
    """
    nodes = read_fields(body).nodes if nodes is None else nodes
    if not _may_differ(body, nodes, schema):
        return Plain(body)
    return _Reader(body, nodes, schema).read()


def plain_entry(entry: Entry, schema: Schema) -> tuple[Entry, tuple[LineFinding, ...]]:
    """Return an entry with its fields in the plain form, and what was found; lines count from its heading."""
    body = entry.body
    plain, findings = plain_body(body, schema, entry.fields.nodes)
    if plain != body:
        try:
            entry = entry.with_body(plain)
        except UsageError:
            return entry, ()
    return entry, tuple([one.moved(1) for one in findings])


def without_twins(entry: Entry, key: str, schema: Schema) -> Entry:
    """Return an entry in which one line means a key, before an edit of it: the line that counts."""
    body, nodes = entry.body, entry.fields.nodes
    again = [node for node in nodes if node.key == key][1:]
    dropped = {line for node in again for line in range(node.line, node.line + 1 + count_lines(node.value))}
    if _may_differ(body, nodes, schema):
        reader = _Reader(body, nodes, schema)
        reader.read()
        dropped.update(line for line, twin in reader.twins.items() if twin == key)
    if not dropped:
        return entry
    kept = [text + end for number, (text, end) in enumerate(split_lines(body)) if number not in dropped]
    return entry.with_body("".join(kept))


def _may_differ(body: str, nodes: Sequence[Field], schema: Schema) -> bool:
    """Return whether any line of a body is not a plain field of a known or unknown key."""
    end = 0
    for node in nodes:
        if node.key not in schema.keys and schema.meaning(node.key):
            return True
        if node.start != end and body[end : node.start].strip():
            return True
        if "\n" in node.value and (not schema.understood or "\n-" in node.value or "\n*" in node.value):
            return True
        end = node.end
    return bool(body[end:].strip())


class _Reader:
    """One pass over the lines of a body; `twins` are the lines that mean a key which another one has."""

    def __init__(self, body: str, nodes: Sequence[Field], schema: Schema) -> None:
        self.schema = schema
        self.level: Level = "warning" if schema.understood else "error"
        self.lines = split_lines(body)
        self.hidden = hidden_lines(body)
        self.keys = {node.line: node.key for node in nodes}
        self.further = {
            line: node.key for node in nodes for line in range(node.line + 1, node.line + 1 + count_lines(node.value))
        }
        self.lines_of = {node.key: node.line for node in reversed(nodes) if node.key in schema.keys}
        self.findings: list[LineFinding] = []
        self.twins: dict[int, str] = {}
        self.heading: int | None = None

    def read(self) -> Plain:
        only_fields = True
        for number, (text, _) in enumerate(self.lines):
            if number in self.further:
                self.nested(number, text)
            elif self.hidden[number]:
                only_fields = False
                self.fenced(number, text)
            elif text.strip():
                only_fields = self.is_field(number, text, only_fields) and only_fields
        return Plain("".join([text + end for text, end in self.lines]), tuple(self.findings))

    def is_field(self, number: int, text: str, only_fields: bool) -> bool:
        """Read one line; a field without a bullet is one above all text, where `only_fields` were read so far."""
        plain = self.keys.get(number)
        if plain in self.schema.keys:
            self.below_heading()
            return True
        if text.startswith("####"):
            self.heading = number
        dressed = regex(_DRESSED).fullmatch(text)
        key = self.schema.meaning(dressed["key"]) if dressed else None
        if plain is not None and key is None:
            return True
        if dressed is None or key is None or not (dressed["bullet"] or only_fields):
            self.likely(number, text)
            return False
        self.below_heading()
        value = dressed["value"].strip()
        other = regex(_INLINE).search(value)
        if key in self.lines_of:
            above = "above" if self.lines_of[key] < number else "below"
            self.twins[number] = key
            words = f"the line {above} with `{key}` counts; remove one of the two"
            self.findings.append(unclear(number, text, words, self.level))
        elif (other and self.schema.meaning(other["key"])) or not (value or self.ends(number)):
            self.tell(number, key)
        elif not self.schema.understood:
            self.tell(number, key, value[:60])
        else:
            self.lines_of[key] = number
            plain = f"- {key}: {value}".rstrip()
            self.lines[number] = (plain, self.lines[number][1])
            self.findings.append(read_as(number, text, plain))
        return True

    def ends(self, number: int) -> bool:
        """Return whether no text follows a line that could be the value of its field, in another form."""
        following = self.lines[number + 1][0] if number + 1 < len(self.lines) else ""
        return not following.strip() or number + 1 in self.keys

    def below_heading(self) -> None:
        """Tell a heading of a deeper level above a field, which is one of the whole entry."""
        if self.heading is not None:
            self.findings.append(unread(self.heading, self.lines[self.heading][0], _NO_ENTRY))
            self.heading = None

    def likely(self, number: int, text: str) -> None:
        """Tell a line that looks like a field or an entry, in a form that could mean two things."""
        if regex(_TOLD_HEADING).match(text):
            self.heading = None
            self.findings.append(unread(number, text, _NO_ENTRY))
        elif found := likely_field(text, self.schema):
            self.tell(number, found[0])

    def nested(self, number: int, text: str) -> None:
        """Tell a further line of a value that looks like a field of its own."""
        found, owner = regex(_DRESSED).fullmatch(text), self.further[number]
        key = self.schema.meaning(found["key"]) if found else None
        counts = not self.schema.understood or (found and found["bullet"] and owner in self.schema.keys)
        if key is not None and key != owner and counts:
            self.tell(number, key)

    def fenced(self, number: int, text: str) -> None:
        """Tell a field in a code fence: the first one, where the entry has no field outside of it.

        Where fields in other forms are never read, the first is told that the entry does not have outside.
        """
        found = likely_field(text, self.schema)
        known = self.lines_of if self.schema.understood else found is not None and found[0] in self.lines_of
        if found is not None and not known and not any(one.code == UNREAD for one in self.findings):
            self.tell(number, found[0], level="warning")

    def tell(self, number: int, key: str, value: str = "…", level: Level | None = None) -> None:
        advice = f"write it as one line, `- {key}: {value}`, at its start and outside of code"
        self.findings.append(unread(number, self.lines[number][0], advice, level or self.level))


def likely_field(text: str, schema: Schema) -> tuple[str, str] | None:
    """Return the key and value of a field that a line names in a form that could mean two things; None for others.

    A colon, an equals sign or a bar behind the key says that it is one. Behind other signs, or none, its value must be
    one that the field accepts. The keys of free texts begin ordinary sentences, and count as none.
    """
    if tagged := regex(_TAGGED).search(text):
        key = schema.meaning(tagged["key"] or "due")
        if key is not None:
            return key, ""
    plain = regex(_IN_FRONT).sub("", regex(r"</?\w+>").sub("", text), count=1)
    for words in (3, 2, 1, 0):
        found = regex(_NAMED % words).fullmatch(plain)
        key = schema.meaning(found["key"]) if found else None
        if found is None or key is None or schema.fields[key].free:
            continue
        known, sign, value = schema.fields[key], found["sign"], found["value"].strip(" \t`|,.\"')}")
        named = regex(r"[:：=|]").search(sign) is not None or bool(words and sign and value)
        if not named and (known.code or known.needed):
            accepted = schema.problem(key, value) is None if value else not sign.strip("*_~` ")
            named = accepted and bool(sign or not value)
        elif not named:
            named = regex(r"[;>→–—]|\s-\s").search(sign) is not None
        return (key, value) if named else None
    return None


def heading_findings(section: Section, schema: Schema) -> Iterator[LineFinding]:
    """Yield the heading of a section that names a field: one of level 1 ends the section that the field belongs to."""
    if section.level == 1 and likely_field(section.title, schema) is not None:
        yield unread(0, f"# {section.title}", "a field is a line such as `- key: value`, without a hash")


def unread_entries(
    document: Document, known: Container[int], level: Level, code: str, why: str
) -> Iterator[LineFinding]:
    """Yield the entries outside of the sections that a file is read from; lines count from 0 in the file."""
    for index, section in document.all_sections():
        if index not in known:
            for number, entry in enumerate(section.entries):
                message = f"{entry.title[:60]!r} under {section.title[:40]!r} {why}"
                yield LineFinding(document.line_of(index, number), level, code, message)


def unread_section(section: Section, why: str, level: Level = "note", code: str = UNREAD) -> Iterator[LineFinding]:
    """Yield the finding about the text of a section that its file is not read from, at its heading."""
    rows = [text for _, text in visible_lines(section.body) if text.strip("|:- ")]
    if rows:
        more = f" and {plural(len(rows) - 1, 'more line')}" if len(rows) > 1 else ""
        yield LineFinding(0, level, code, f"{_shown(rows[0])}{more} under {section.title[:40]!r} {why}")


def unread(number: int, text: str, advice: str, level: Level = "warning", *, more: int = 0) -> LineFinding:
    """Return the finding about a line that nothing reads, and `more` lines below, with the sentence that helps."""
    what = f"{_shown(text)} and {plural(more, 'line')} below are" if more else f"{_shown(text)} is"
    return LineFinding(number, level, UNREAD, f"{what} not read: {advice}")


def unclear(number: int, text: str, words: str, level: Level = "warning") -> LineFinding:
    """Return the finding about a line that contradicts another one, which counts."""
    return LineFinding(number, level, UNCLEAR, f"{_shown(text)}: {words}")


def read_as(number: int, text: str, plain: str) -> LineFinding:
    """Return the note about a line that is read as its plain form."""
    return LineFinding(number, "note", READ, f"{_shown(text)} is read as `{plain[:80]}`")


def _shown(text: str) -> str:
    return repr(text.strip()[:60])


def plain_name(title: str, names: Mapping[str, N]) -> N | None:
    """Return what a title means in `names`: without marks, pictures, case and a remark in parentheses."""
    bare = re.sub(r"\s*[(（][^()（）]*[)）]\s*$", "", title)
    words = re.findall(r"[^\W_]+", folded(bare))
    while len(words) > 1 and words[-1] in ("tasks", "items"):
        words.pop()
    return names.get(" ".join(words))


def visible_lines(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a body that are not blank and in no code fence or HTML, with their number."""
    hidden = hidden_lines(body) if may_hide(body) else None
    for number, (text, _) in enumerate(split_lines(body)):
        if text.strip() and not (hidden and hidden[number]):
            yield number, text


class Item(NamedTuple):
    """What is read as an entry above the first entry of a section: its lines there (`stop` is the one behind them), the
    entry, and the mark in its box (None: it has none).
    """

    line: int
    stop: int
    entry: Entry
    box: str | None = None

    @property
    def checked(self) -> bool:
        """Whether its box is checked."""
        return bool(self.box and self.box.strip())


class PlainSection(NamedTuple, Generic[N]):
    """A section in the plain form: which one it is (None: none of the kind), its title, the items above its first
    entry, and what was found outside of its entries.
    """

    name: N | None
    title: str
    items: tuple[Item, ...] = ()
    findings: tuple[LineFinding, ...] = ()


def entry_section(section: Section, name: N | None, schema: Schema, advice: str) -> PlainSection[N]:
    """Return a section whose entries have fields; what looks like one above its first is told, with the advice."""
    found = (*heading_findings(section, schema), *(unread_list(section, advice) if section.level == 2 else ()))
    return PlainSection(name, section.title, (), found)


def listed_entry(heading: str, below: Sequence[str], newline: str) -> Entry:
    """Return the entry that an item of a list is read as: its heading and the lines below it."""
    lines = [f"### {heading.strip()}", *(line.rstrip("\r") for line in below)]
    return Entry(encode(newline.join(lines).rstrip() + newline))


def with_items(document: Document, index: int, items: Sequence[Item], title: str | None = None) -> Document:
    """Return the document with items of a section written as entries above its first one, and maybe another title.

    Blank lines between entries follow the style of the file.
    """
    section = document.section(index)
    if title is not None and title != section.title:
        section = section.with_title(title)
    if not items:
        return document.with_section(index, section)
    gone = {number for one in items for number in range(one.line, one.stop)}
    lines = enumerate(split_lines(section.body), 1 if section.heading else 0)
    text = encode(section.newline.join(line for number, (line, _) in lines if number not in gone).rstrip())
    gap = encode(document.newline) if document.spaced else b""
    entries = [Entry(one.entry.raw + gap) for one in items]
    if not section.entries and index == len(document.sections) - 1:
        entries[-1] = items[-1].entry
    top = (text + encode(section.newline) if text else b"") + gap
    return document.with_section(index, Section(section.level, section.heading, top, (*entries, *section.entries)))


def items_as_entries(
    document: Document, index: int, numbers: Iterable[int], plain: Callable[[Section], PlainSection[N]]
) -> Document:
    """Return the document with some of the items above the first entry of a section written as entries.

    `numbers` count down to -1, the last item. Under a heading that says nothing of its items a checked one keeps its
    box: nothing else says that it is done.
    """
    read = document.section(index).memo(plain)
    items = [read.items[number] for number in numbers]
    if read.name is None:
        items = [
            one._replace(entry=one.entry.with_title(f"[x] {one.entry.title}")) if one.checked else one for one in items
        ]
    # The heading itself may be the item: then the plain one replaces it.
    return with_items(document, index, items, read.title if items[0].line == 0 else None)


class PlainFile(NamedTuple):
    """A file in the plain form, and what was found in it; lines count from 0 in the file as it is."""

    document: Document
    findings: tuple[LineFinding, ...] = ()


def plain_file(
    document: Document,
    read: Callable[[Section], PlainSection[N]],
    plain: Callable[[PlainSection[N], Entry], tuple[Entry, Iterable[LineFinding]]],
) -> PlainFile:
    """Return a file with its sections, their entries, and what is read as an entry in the plain form.

    A section stays as it is where a code fence that is never closed would swallow what is written.
    """
    new, findings = document, []
    for index, section in document.all_sections():
        found = section.memo(read)
        findings += [one.moved(document.line_of(index)) for one in found.findings]
        entries, changed = [], False
        for number, entry in enumerate(section.entries):
            written, said = plain(found, entry)
            entries.append(written)
            changed = changed or written is not entry
            for one in said:
                findings.append(one.moved(document.line_of(index, number)))
        with suppress(UsageError):
            whole = new.with_section(index, section.with_entries(entries)) if changed else new
            items = found.items if found.name is not None else ()
            new = with_items(whole, index, items, found.title if section.heading else None)
    return PlainFile(new, tuple(findings))


_LIST_ITEM = (
    r"(?:(?P<plain>[-*+] {1,4}(?!\[[ xX]\] ))|(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0\u3000]+(?:\[[ xX]\][ \t]+)?)"
    r"(?P<text>\S.*)"
)
_LIST_PROSE = r"#.*|<.*|(?:[-*_=][ \t]*){3,}|\[[^\]]+\]:.*|\*(?!\*).*\*|_.*_|\(.*\)"
"""What may be between the items of a list: headings, HTML, rules, definitions of links, and remarks."""


def plain_bullets(body: str, reword: Callable[[str], str] = str) -> Plain:
    """Return a body with its list items as plain bullets, line by line, and what was found.

    `reword` returns the first line of an item in the plain form.
    """
    lines = split_lines(body)
    hidden = hidden_lines(body)
    written: list[str] = []
    found: list[LineFinding] = []
    for number, (text, end) in enumerate(lines):
        item = None if hidden[number] else regex(_LIST_ITEM).fullmatch(text)
        said = "" if item is None else reword(item["text"])
        if item is not None and (item["plain"] is None or said != item["text"]):
            plain = f"{item['plain'] or '- '}{said}"
            found.append(read_as(number, text, plain))
            text = plain
        written.append(text + end)
    return Plain("".join(written), tuple(found))


_ANY_ITEM = r"(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0]+\S.*"


class LeadItem(NamedTuple):
    """An item in a text: its first line, the one behind it, and how it begins."""

    first: int
    stop: int
    begins: re.Match[str]


class Lead:
    """The text above the entries of a section, or of an entry, line by line."""

    def __init__(self, text: str) -> None:
        """Split the text; lines in code fences and HTML are hidden."""
        self.lines = [line for line, _ in split_lines(text)]
        self.hidden = hidden_lines(text)

    def items(
        self, begins: Callable[[str], re.Match[str] | None], belongs: Callable[[str, re.Match[str]], bool]
    ) -> list[LeadItem]:
        """Return the items: a line that begins one, and those below that belong to it; blank lines end none."""
        found, number = [], 0
        while number < len(self.lines):
            first = None if self.hidden[number] else begins(self.lines[number])
            stop = number + 1
            if first is not None:
                while stop < len(self.lines) and (
                    self.hidden[stop] or not self.lines[stop].strip() or belongs(self.lines[stop], first)
                ):
                    stop += 1
                while not self.lines[stop - 1].strip():
                    stop -= 1
                found.append(LeadItem(number, stop, first))
            number = stop
        return found

    def loose(self, taken: Container[int], advise: Callable[[str], str | None]) -> Iterator[LineFinding]:
        """Yield the first line of each paragraph and code fence, and each item of a list, that nothing reads.

        `taken` are the lines that are read. `advise` returns what would help, None for a line that is prose.
        """
        fresh = True
        for number, text in enumerate(self.lines):
            begins = text.strip() and (fresh or regex(_ANY_ITEM).fullmatch(text) is not None)
            if self.hidden[number]:
                begins = is_fence(text) and not (number and self.hidden[number - 1])
            if begins and number not in taken and (told := advise(text)) is not None:
                yield unread(number, text, told, more=self._more_lines(number, taken))
            fresh = not text.strip() or number in taken or self.hidden[number]

    def _more_lines(self, number: int, taken: Container[int]) -> int:
        """Return how many lines behind a line belong to the same paragraph, item or fence."""
        hidden, stop = self.hidden[number], number + 1
        while stop < len(self.lines) and stop not in taken and self.hidden[stop] == hidden:
            if not hidden and (not self.lines[stop].strip() or regex(_ANY_ITEM).fullmatch(self.lines[stop])):
                break
            stop += 1
        return stop - number - 1


def lines_of(items: Iterable[LeadItem]) -> set[int]:
    """Return the lines of items."""
    return {number for one in items for number in range(one.first, one.stop)}


def is_fence(text: str) -> bool:
    """Return whether a line opens a code fence at its start."""
    return text.startswith(("```", "~~~"))


def unread_text(body: str, advice: str, taken: Container[int] | None = None) -> Iterator[LineFinding]:
    """Yield the paragraphs, tables and code fences of a body that are in no list; remarks and HTML are prose.

    `taken` are the lines that are read, where those are not the items of lists.
    """
    lead = Lead(body)
    if taken is None:
        taken = lines_of(lead.items(regex(_LIST_ITEM).fullmatch, lambda line, _: line[0] in " \t"))
    return lead.loose(taken, lambda text: None if is_remark(text) else advice)


def unread_list(section: Section, advice: str) -> Iterator[LineFinding]:
    """Yield the items of lists, tables and code fences above the first entry of a section; texts are prose."""
    found = Lead(section.body).loose((), lambda text: advice if is_listed(text) else None)
    return (one.moved(1 if section.heading else 0) for one in found)


def is_listed(text: str) -> bool:
    """Return whether a line is an item of a list, a row of a table, or opens a code fence."""
    return regex(_ANY_ITEM).fullmatch(text) is not None or "|" in text or is_fence(text)


def is_remark(text: str) -> bool:
    """Return whether a line may be between the items of a list."""
    return regex(_LIST_PROSE).fullmatch(text) is not None
