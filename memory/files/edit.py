"""Common parts of edits of memory files: their result, fields and bullets that read as written.

Also the checks before files are written: for files that must not be written, and for secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Generic, NamedTuple, TypeVar

from memory.base.problems import Problem
from memory.base.secrets import find_secrets, secret_lines
from memory.base.values import CONFIG_NUMBERS, is_absent, join_remark, split_field
from memory.document import Bullet, Document, Entry, Section, parse
from memory.document.compare import Region
from memory.document.lines import conflict_at, decode, insert_line, read_bullets, split_lines
from memory.document.nodes import B
from memory.document.tables import find_tables, set_cell
from memory.errors import MemdeckError, RefusedError, UsageError

from . import template_files
from .fields.dress import PlainSection, items_as_entries, plain_bullets, without_twins
from .fields.values import Schema
from .find import Lookup
from .refs import Item, Place, PlacedEntry, short
from .snapshot import Snapshot


class Edit(NamedTuple):
    """A planned change; `Workspace.change` writes it.

    `documents` maps file names relative to the memory folder (`tasks.md`, `archive/tasks-2024-01.md`) to their new
    content, in the order in which they are written: a file that receives an entry before the one that loses it.
    `summary` is one line for the user, `at` the file and the place of the entry to show or select next (None: none).
    `moves` says that entries only change files, which was verified: no text is new. `kept` are sentences about entries
    that stay although one side of a merge removed them.
    """

    documents: Mapping[str, Document]
    summary: str
    at: tuple[str, Place] | None = None
    moves: bool = False
    kept: tuple[str, ...] = ()


def started_document(snapshot: Snapshot, name: str, now: datetime) -> Document:
    """Return the document of a file; where the file is missing or blank, its template."""
    document = snapshot.document(name)
    if document.dump().strip():
        return document

    return parse(template_files(now)[name].encode())


def with_named_section(
    document: Document, name: str, titles: Mapping[str, str], known: Iterable[tuple[int, str | None]]
) -> tuple[Document, int]:
    """Return the document with a section, made where it is missing, and the index of the first one of the name.

    `titles` are the headings of the sections in their order, `known` says which section of the document is which. A
    new one goes behind those that come before it, else before those behind it.
    """
    order = list(titles)
    ranks = [(index, order.index(found)) for index, found in known if found is not None]
    wanted = order.index(name)
    found = next((index for index, rank in ranks if rank == wanted), None)
    if found is not None:
        return document, found
    before = [index for index, rank in ranks if rank < wanted]
    place = max(before) + 1 if before else min((index for index, _ in ranks), default=len(document.sections))
    return document.insert_section(place, Section.compose(titles[name], newline=document.newline)), place


def entry_of_text(text: str, old: Entry, base: Entry | None, title: str) -> Entry:
    """Return the entry that replaces `old` after an editor returned its source; `old` if nothing changed.

    Line ends and the blank lines after the entry stay as they were. Where `old` differs from `base`, the entry that the
    editor began with, the two are merged by fields and lines. Raises UsageError `document.structure` or
    `document.unclosed` for a text that is not one entry, ConflictError `document.conflict` (with `fields` and
    `conflicts`) where both changed the same part.
    """
    if "\r" not in text and old.newline != "\n":
        text = text.replace("\n", old.newline)
    content = text.rstrip(" \t\r\n")
    if base is not None and content == base.text.rstrip(" \t\r\n"):
        return old
    new = Entry.from_text(content + old.text[len(old.text.rstrip(" \t\r\n")) :])
    return beside_others(base, new, old, title)


def with_text_below(entry: Entry, text: str) -> Entry:
    """Return a new entry with a text below its fields; UsageError `document.structure` for one that holds headings."""
    if not text.strip():
        return entry
    newline = entry.newline
    lines = newline.join(line for line, _ in split_lines(text.strip("\n")))
    return Entry.from_text(entry.text.rstrip("\r\n") + newline * 2 + lines + newline)


def beside_others(base: Entry | None, new: Entry, old: Entry, title: str) -> Entry:
    """Return an entry made from `base` (None: from `old`) with what others changed until it was `old`.

    ConflictError `document.conflict` where both changed the same part.
    """
    if base is None or base.raw == old.raw:
        return new
    from .versions.merging import merge_changed_entry

    return merge_changed_entry(base, new, old, title)


_SPACE = " \t\r\n"
_BREAKS = re.compile(r"[\r\n]")


def changed_value(key: str, old: str | None, value: str) -> str:
    """Return a new value with the remark of the old one, where it still applies.

    A remark describes the value before it (`*/5 * * * * (every 5 min)`), so it is dropped with the value. It stays
    after an unchanged value, after a number, and after "none" that is still "none".
    """
    if old is None:
        return value
    plain, remark = split_field(key, value)
    before, old_remark = split_field(key, old)
    if remark is not None or old_remark is None:
        return value
    stays = plain == before or key in CONFIG_NUMBERS or (is_absent(plain) and is_absent(before))
    return join_remark(plain, old_remark) if stays else value


def check_field_value(block: B, key: str, value: str) -> B:
    """Return the block with a field that reads as `value`, without changing how other fields read.

    Raises UsageError `field.key` for an invalid key, `field.value` for a value that would not read as written.
    """
    fields = block.fields
    if key in fields and _stripped(fields[key]) == _stripped(value):
        return block
    new = block.set_field(key, value)
    read = new.fields
    if read.get(key, "").split() != value.split() or {**read, key: ""} != {**fields, key: ""}:
        words = f"the value of {key} would be read differently"
        raise UsageError("field.value", words, "leave out code fences and HTML, or write them into the entry's text")
    return new


def _stripped(text: str) -> list[str]:
    return [line.strip() for line, _ in split_lines(text)]


def with_text(entry: Entry, key: str, value: str | None, schema: Schema) -> Entry:
    """Return the entry with a field that reads as `value`, or without it; no other field may read differently.

    Of several lines that mean the key one is left. Raises UsageError `field.key` for a key that is none, `field.value`
    for a value that would not stay one.
    """
    entry = without_twins(entry, key, schema)
    return check_field_value(entry, key, value) if value else entry.unset_field(key)


# -- the one way in which entries change ------------------------------------------------------------------------------

Refs = str | Sequence[str]
"""The ref of one entry, or those of several: one look at the file for all of them, one change, one undo."""
W = TypeVar("W")
T = TypeVar("T", bound=Item)
E = TypeVar("E", bound=PlacedEntry)


class Step(NamedTuple, Generic[W]):
    """What becomes of an item.

    `here` is how it is written in its place (None: it leaves), `put` what goes into which sections, `verb` what was
    done, `more` follows the title in the summary, and `told` are the lines of a journal entry about it. `title` is the
    new one, where the summary has that.
    """

    here: W | None
    put: Sequence[tuple[Any, W]] = ()
    verb: str = "changed"
    more: str = ""
    told: Sequence[str] = ()
    title: str = ""


@dataclass
class Edits(Generic[T, W]):
    """The edits of the items of one file, each of which is written as a `W`: an entry, a bullet, the cells of a row."""

    lookup: Lookup[T]
    """How items are found."""
    nouns: str
    """What several items are called."""
    noun: str = ""
    """What one is called in a summary, if it is said."""

    @property
    def file(self) -> str:
        """The file of the items."""
        return self.lookup.file

    def noun_of(self, item: T) -> str:  # noqa: ARG002
        """Return what an item is called in a summary; empty where its title is enough."""
        return self.noun

    def replace(self, document: Document, item: T, written: W | None) -> Document:
        """Return the document with an item written anew, or (None) without it."""
        raise NotImplementedError

    def insert(self, document: Document, section: Any, written: W) -> tuple[Document, Place]:
        """Return the document with a new item in a section, made where it is missing, and the place of the item."""
        raise NotImplementedError

    def edit(self, snapshot: Snapshot, refs: Refs, planned: Callable[[T], Step[W]]) -> Edit:
        """Return the edit that does with items what is planned for each; all are found before the first is changed."""
        items = self.found(snapshot, refs)
        steps = [planned(item) for item in items]
        first, step, several = items[0], steps[0], len(items) > 1
        one = _called(step.title or first.title, self.noun_of(first)) + step.more
        what = f"{len(items)} {self.nouns}" if several else one
        summary, before = f"{step.verb} {what}", first.document
        document = before
        # From the end, so that places before it stay as they are.
        for item, (here, *_) in zip(reversed(items), reversed(steps), strict=True):
            document = self.replace(document, item, here)
        if document is before:
            return Edit({}, summary, (self.file, first.at))
        place: Place | None = None
        for section, written in (one for each in reversed(steps) for one in each.put):
            document, place = self.insert(document, section, written)
        if step.here is not None:
            above = place is not None and place[0] <= first.at[0] and len(document.sections) > len(before.sections)
            place = None if several else (first.at[0] + above, *first.at[1:])
        return Edit({self.file: document}, summary, None if place is None else (self.file, place))

    def remove(self, snapshot: Snapshot, refs: Refs) -> Edit:
        """Remove items from the file."""
        return self.edit(snapshot, refs, lambda _: Step(None, verb="removed"))

    def add(self, document: Document, section: Any, written: W, title: str, noun: str = "") -> Edit:
        """Put a new item into a section, which is made where it is missing."""
        document, place = self.insert(document, section, written)
        return Edit({self.file: document}, f"added {_called(title, noun or self.noun)}", (self.file, place))

    def found(self, snapshot: Snapshot, refs: Refs) -> list[T]:
        """Return the items of refs, each once and in the order of the file; NotFoundError `<noun>.not_found`."""
        if isinstance(refs, str) or len(refs) == 1:
            return [self.lookup.find(snapshot, refs if isinstance(refs, str) else refs[0])]
        known = {item.ref: item for item in snapshot.readable().view_of(self.file)}
        wanted = {item.at: item for item in (known.get(ref) or self.lookup.find(snapshot, ref) for ref in refs)}
        return [wanted[at] for at in sorted(wanted, key=lambda at: [-1 if one is None else one for one in at])]


def _called(title: str, noun: str) -> str:
    return f"the {noun} {short(title)}" if noun else short(title)


Setter = Callable[[Entry, str, tzinfo], Entry]
"""Returns an entry with a value that is no field of its own, such as its title; an empty value takes it away."""
_NOT_FIELDS = frozenset({"ref", "line", "extra", "section"})


def titled(code: str, what: str) -> Setter:
    """Return what sets the title of an entry; UsageError `code` for a bad one."""
    return lambda entry, value, _: entry.with_title(one_line(code, what, value))


@dataclass(kw_only=True)
class EntryEdits(Edits[E, Entry]):
    """The edits of a file whose items are whole entries with fields."""

    schema: Schema
    """The fields of an entry."""
    setters: Mapping[str, Setter]
    """What changes a value that is no field, by the key of the interface."""
    plain: Callable[[Section], PlainSection[Any]]
    """Tells what a section holds."""
    titles: Mapping[str, str]
    """The headings of sections that are made, by their names."""

    def with_section(self, document: Document, section: str) -> tuple[Document, int]:
        """Return the document with a section, made where it is missing, and its index."""
        known = [(index, one.memo(self.plain).name) for index, one in enumerate(document.sections)]
        return with_named_section(document, section, self.titles, known)

    def place(self, section: Section, entry: Entry) -> int:  # noqa: ARG002
        """Return where a new entry goes in its section."""
        return len(section)

    def replace(self, document: Document, item: E, written: Entry | None) -> Document:
        """Return the document with another entry in the place of an item, or (None) without it."""
        if written is None:
            return document.remove_entry(*item.at)
        return document if written.raw == item.entry.raw else document.replace_entry(*item.at, written)

    def insert(self, document: Document, section: str, written: Entry) -> tuple[Document, Place]:
        """Return the document with a new entry in a section, and its place."""
        document, index = self.with_section(document, section)
        place = (index, self.place(document.section(index), written))
        return document.insert_entry(*place, written), place

    def time_of(self, entry: Entry) -> str:
        """Return when an entry happened, in the form by which those of one section are compared; empty for unknown."""
        return entry.fields.get("completed") or ""

    def insert_by_time(self, document: Document, section: str, written: Entry) -> tuple[Document, Place]:
        """Return the document with an entry before the first older one of its section, and its place."""
        document, index = self.with_section(document, section)
        mine, others = self.time_of(written), list(map(self.time_of, document.section(index).entries))
        place = (index, next((number for number, other in enumerate(others) if other < mine), len(others)))
        return document.insert_entry(*place, written), place

    def with_value(self, entry: Entry, key: str, value: str | None, zone: tzinfo) -> Entry:
        """Return the entry with one value set; None or an empty one takes it away. A remark stays where it applies.

        `key` is a field, also one that the format does not know, or one of the setters. Raises BadMoment, BadCron, and
        UsageError `field.key`, `field.value`, or that of the field, for what cannot be written.
        """
        wanted = (value or "").strip()
        if key in self.setters:
            return self.setters[key](entry, wanted, zone)
        if key in _NOT_FIELDS:
            raise UsageError("field.key", f"{key!r} is not a field", "set a field, or the title")
        written = self.schema.written(key, wanted, zone) if wanted else ""
        return with_text(entry, key, changed_value(key, entry.fields.get(key), written), self.schema)

    def with_values(self, item: E, base: Entry | None, values: Mapping[str, str | None], zone: tzinfo) -> Entry:
        """Return the entry of an item with values set in this order, and with what others changed since `base`.

        ConflictError `document.conflict` with `fields` where another writer changed the same field since `base`.
        """
        entry = base or item.entry
        for key, value in values.items():
            entry = self.with_value(entry, key, value, zone)
        return beside_others(base, entry, item.entry, item.title)

    def composed(self, title: str, values: Mapping[str, str | None], newline: str, zone: tzinfo) -> Entry:
        """Return a new entry with the values that are given; what is no field first, then as the schema orders them."""
        entry = Entry.compose(title, newline=newline)
        for key in dict.fromkeys((*self.setters, *self.schema.fields, *values)):
            if (values.get(key) or "").strip():
                entry = self.with_value(entry, key, values[key], zone)
        return entry

    def rewrite(
        self, snapshot: Snapshot, ref: str, text: str, *, base: Entry | None = None, beside: Iterable[object] = ()
    ) -> Edit:
        """Replace the whole source of an entry, as an editor returns it: values are not checked, as in any editor.

        What others changed since `base` is merged by fields and lines. Raises UsageError `document.structure` unless
        the text is exactly one entry, `usage.arguments` where other changes are given beside it, and ConflictError
        `document.conflict` where both changed the same.
        """
        if any(beside):
            raise UsageError("usage.arguments", "--text replaces the whole entry", "give --text or the other options")
        return self.edit(snapshot, ref, lambda item: Step(entry_of_text(text, item.entry, base, item.title)))

    def found(self, snapshot: Snapshot, refs: Refs) -> list[E]:
        """Return the items of refs, of which those in a list are written as entries of one document."""
        items = super().found(snapshot, refs)
        listed: dict[int, list[int]] = {}
        for index, number in sorted(item.at for item in items if item.is_item):
            listed.setdefault(index, []).append(number)
        if not listed:
            return items
        document = items[0].document
        for index, numbers in listed.items():
            document = items_as_entries(document, index, numbers, self.plain)
        view = type(items[0].of)(self.file, document)
        found = []
        for item in items:
            (index, number), numbers = item.at, listed.get(item.at[0], [])
            found.append(view.at(index, numbers.index(number) if item.is_item else number + len(numbers)))
        return found


def one_line(code: str, what: str, value: str) -> str:
    """Return a text without surrounding space; raises UsageError with `code` where it is empty or has line ends."""
    text = value.strip()
    if not text or _BREAKS.search(text):
        raise UsageError(code, f"{what} is one line of text", "write it without line ends")
    return text


def with_end(body: str, text: str, document: Document, section: int, entry: int | None = None) -> str:
    """Return the body of a section, or of an entry of it, with lines appended after its last text.

    `text` is one or more lines with line feeds; they get the file's line ends, and blank lines follow its style.
    """
    newline = document.newline
    added = "".join(line + newline for line, _ in split_lines(text))
    content = body.rstrip(_SPACE)
    rest = split_lines(body[len(content) :])
    tail = "".join(line + end for line, end in rest[1:])
    if content:
        return content + ((rest[0][1] if rest else "") or newline) + added + tail
    part = document.section(section)
    last = section == len(document.sections) - 1 and (-1 if entry is None else entry) == len(part) - 1
    gap = newline if document.spaced else ""
    lead = "".join(rest[0]) if rest else gap
    if lead and not lead.endswith(("\n", "\r")):
        lead += newline
    return lead + added + (tail or ("" if last else gap))


def with_cells(body: str, number: int, row: int, cells: Mapping[int, str]) -> str:
    """Return a body with other texts in one row of its table `number`, by their columns; UsageError `table.value`."""
    for column, value in cells.items():
        table = find_tables(body)[number]
        if table.rows[row].text(column) != value.strip():
            body = set_cell(body, table, row, column, value)
    return body


_FOREIGN = (b"\xff\xfe", b"\xfe\xff", b"\0")


def refuse_unwritable(name: str, document: Document) -> None:
    """Raise MemdeckError `file.conflict_markers` for an unfinished merge, RefusedError `file.not_text` for a file in
    another encoding, or not text: UTF-8 in the middle of it would make it unreadable.
    """
    data = document.dump()
    if data.startswith(_FOREIGN):
        begins = " ".join(f"{byte:02x}" for byte in data[:2])
        words = f"{name} is not UTF-8 text: it begins with {begins}"
        raise RefusedError("file.not_text", words, "save it as UTF-8, or put back what it was", file=name)
    if conflict_at(data) is not None:
        words = f"git's conflict markers are in {name}"
        advice = "resolve them in an editor; until then memdeck only reads the file"
        raise MemdeckError("file.conflict_markers", words, advice, file=name)


CODE = "secret.found"
_ADVICE = "everyone who can read the file can see it; remove it and create a new one"


def secrets_in(edited: Iterable[tuple[str, Document, Sequence[Region]]]) -> tuple[str, ...]:
    """Return a sentence for each secret that an edit added to a file; `edited` holds name, new document and its changed
    regions.

    A secret that was in the old bytes of any region only moved and is not reported.
    """
    parts = list(edited)
    known = {text for _, _, regions in parts for region in regions for _, _, text in _found(region.before)}
    said: dict[str, None] = {}
    for name, document, regions in parts:
        shift = 0
        for region in regions:
            start = region.start + shift
            shift += len(region.after) - len(region.before)
            for line, kind, text in _found(region.after):
                if text not in known:
                    above = document.dump().count(b"\n", 0, start)
                    said[f"{name}:{above + line + 1} seems to contain a secret ({kind}); {_ADVICE}"] = None
    return tuple(said)


def secret_problems(name: str, document: Document) -> Iterator[Problem]:
    """Yield a warning for each line of a file that seems to contain a secret."""
    for line, kind in dict.fromkeys(secret_lines(decode(document.dump()))):
        yield Problem("warning", name, line + 1, CODE, f"this looks like a secret ({kind}); {_ADVICE}")


def _found(data: bytes) -> list[tuple[int, str, str]]:
    """Return line (from 0), kind and text of the secrets in some bytes; the text is for comparing only."""
    text = decode(data)
    return [(text.count("\n", 0, one.start), one.kind, text[one.start : one.end]) for one in find_secrets(text)]


# -- bullets of a list: every other one reads as before -------------------------------------------------------------

_PREFIX = re.compile(r"[-*+](?:[ \t]{1,4}|$)")


def with_bullets(
    document: Document, index: int, number: int | None, texts: Sequence[str], code: str, source: str = ""
) -> Document:
    """Return the document with bullets behind the last one of a section, or of an entry of it, or at its end.

    `texts` are those of the bullets, with line feeds, `source` is how they are written elsewhere. Raises UsageError
    `code` where one would not stay one bullet.
    """
    block = document.block(index, number)
    body = block.body
    bullets = read_bullets(body)
    prefix = _prefix(body[bullets[-1].start : bullets[-1].end]) if bullets else "- "
    source = source or "\n".join(_written(prefix, text, "\n") for text in texts)
    if bullets:
        lines = document.newline.join(line for line, _ in split_lines(source))
        new = insert_line(body, bullets[-1].end, lines, document.newline)
    else:
        new = with_end(body, source, document, index, number)
    _check(bullets, new, len(bullets), texts, code)
    return document.with_block(index, number, block.with_body(new))


def with_bullet(document: Document, at: tuple[int, int | None, int], text: str | None, code: str) -> Document:
    """Return the document with another text in a bullet, or (None) without it; the others of its list become plain.

    `at` is (section, entry or None, bullet). UsageError `code` as in `with_bullets`.
    """
    index, number, place = at
    block = document.block(index, number)
    body = plain_bullets(block.body).body
    bullets = read_bullets(body)
    bullet = bullets[place]
    if text == bullet.text:
        return document
    source = body[bullet.start : bullet.end]
    written = ""
    if text is not None:
        written = _written(_prefix(source), text, document.newline) + source[len(source.rstrip("\r\n")) :]
    new = body[: bullet.start] + written + body[bullet.end :]
    _check(bullets, new, place, [] if text is None else [text], code)
    return document.with_block(index, number, block.with_body(new))


def bullet_source(document: Document, at: tuple[int, int | None, int]) -> str:
    """Return how a bullet of a list in plain bullets is written; `at` as in `with_bullet`."""
    index, number, place = at
    body = plain_bullets(document.block(index, number).body).body
    bullet = read_bullets(body)[place]
    return body[bullet.start : bullet.end]


def _prefix(source: str) -> str:
    """Return the marker of a bullet with the blanks behind it."""
    found = _PREFIX.match(source)
    prefix = found[0] if found else "-"
    return prefix if prefix[1:] else f"{prefix} "


def _written(prefix: str, text: str, newline: str) -> str:
    first, *rest = text.split("\n")
    indent = " " * max(2, len(prefix))
    return newline.join([prefix + first, *(indent + line if line.strip() else "" for line in rest)])


def _check(old: Sequence[Bullet], new: str, place: int, texts: Sequence[str], code: str) -> None:
    """Raise UsageError unless a body reads as the old bullets, with these texts at a place instead of the one there."""
    before = [bullet.text for bullet in old]
    after = [bullet.text for bullet in read_bullets(new)]
    are_read = [one.split() for one in after[place : place + len(texts)]] == [one.split() for one in texts]
    del before[place : place + 1], after[place : place + len(texts)]
    if are_read and before == after:
        return
    if not texts:
        raise UsageError(code, "without this bullet, others would be read differently", "use an editor")
    raise UsageError(code, "the text would not stay one bullet of the list", "close code fences, and leave out HTML")
