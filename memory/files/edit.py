"""Common parts of edits of memory files: their result, fields and bullets that read as written.

Also the checks before files are written: for files that must not be written, and for secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.base.problems import Problem
from memory.base.secrets import find_secrets, secret_lines
from memory.base.values import CONFIG_NUMBERS, is_absent, join_remark, split_field
from memory.document import Bullet, Document, Entry, Section, parse
from memory.document.compare import Region
from memory.document.lines import conflict_at, decode, insert_line, read_bullets, split_lines
from memory.document.nodes import B
from memory.errors import MemdeckError, RefusedError, UsageError

from . import template_files
from .fields.dress import plain_bullets, without_twins
from .fields.values import Schema
from .refs import NamedEntry
from .snapshot import Snapshot


class Edit(NamedTuple):
    """A planned change; `Workspace.change` writes it.

    `documents` maps file names relative to the memory folder (`tasks.md`, `archive/tasks-2024-01.md`) to their new
    content, in the order in which they are written: a file that receives an entry before the one that loses it.
    `summary` is one line for the user, `ref` that of the entry to show or select next (None: none), `entry` that entry
    itself where it is known, to find it among many without computing their refs. `moves` says that entries only change
    files, which was verified: no text is new. `kept` are sentences about entries that stay although one side of a merge
    removed them.
    """

    documents: Mapping[str, Document]
    summary: str
    ref: str | None = None
    entry: Entry | None = None
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


def entry_of_text(text: str, old: Entry, base: Entry | None, title: str) -> Entry | None:
    """Return the entry that replaces `old` after an editor returned its source; None if nothing changed.

    Line ends and the blank lines after the entry stay as they were. Where `old` differs from `base`, the entry that the
    editor began with, the two are merged by fields and lines. Raises UsageError `document.structure` or
    `document.unclosed` for a text that is not one entry, ConflictError `document.conflict` (with `fields` and
    `conflicts`) where both changed the same part.
    """
    if "\r" not in text and old.newline != "\n":
        text = text.replace("\n", old.newline)
    content = text.rstrip(" \t\r\n")
    before = old.text
    new = Entry.from_text(content + before[len(before.rstrip(" \t\r\n")) :])
    if base is not None and base.raw != old.raw:
        if content == base.text.rstrip(" \t\r\n"):
            return None
        new = beside_others(base, new, old, title)
    return None if new.raw == old.raw else new


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
    if key in fields and [line.strip() for line in fields[key].split("\n")] == [
        line.strip() for line in value.replace("\r\n", "\n").split("\n")
    ]:
        return block
    new = block.set_field(key, value)
    read = new.fields
    others = {name: text for name, text in read.items() if name != key}
    if (read.get(key) or "").split() != value.split() or others != {n: t for n, t in fields.items() if n != key}:
        raise UsageError(
            "field.value",
            f"the value of {key} would not be read as it is written",
            "leave out code fences and HTML, or write them into the entry's text",
        )
    return new


class TitleRule(NamedTuple):
    """The keys under which the title of an item is changed, and the code and words of the error for a bad one."""

    keys: tuple[str, ...]
    code: str
    what: str


def with_changes(
    entry: Entry,
    changes: Mapping[str, str],
    schema: Schema,
    title: TitleRule | None = None,
) -> Entry:
    """Return an entry with fields and title changed in this order; an empty value takes a field away.

    UsageError for a value that a key cannot have. A remark after a value stays where it still applies. Of
    several lines that mean a changed key one is left.
    """
    for key, given in changes.items():
        value = given.strip()
        entry = without_twins(entry, key, schema)
        if title is not None and key in title.keys:
            entry = entry.with_title(one_line(title.code, title.what, value))
        elif not value:
            entry = entry.unset_field(key)
        else:
            value = changed_value(key, entry.fields.get(key), schema.written(key, value))
            entry = check_field_value(entry, key, value)
    return entry


class EntryEdits(NamedTuple):
    """The edits of a file whose items are whole entries; `find` and `read` return items.

    `titles` are the headings of the sections of items by their names, `section_of` tells which section has which name.
    """

    file: str
    noun: str
    find: Callable[[Snapshot, str], NamedEntry]
    read: Callable[[str, Document], Sequence[NamedEntry]]
    schema: Schema
    title: TitleRule
    titles: Mapping[str, str]
    section_of: Callable[[Section], str | None]

    def added(
        self, snapshot: Snapshot, section: str, title: str, values: Mapping[str, str], text: str = "", *, now: datetime
    ) -> Edit:
        """Add an item at the end of a section; a missing section or file is made.

        `text` is what goes below its fields. Raises the errors of `with_changes`, and UsageError `document.structure`
        for a text that holds headings.
        """
        heading = one_line(self.title.code, self.title.what, title)
        document = started_document(snapshot, self.file, now)
        newline = document.newline
        known = clean_values(values, self.schema.fields)
        entry = with_changes(Entry.compose(heading, newline=newline), known, self.schema)
        if text.strip():
            lines = "".join(line + newline for line in text.strip("\n").split("\n"))
            entry = entry_of_text(entry.text.rstrip("\r\n") + newline * 2 + lines, entry, None, heading) or entry
        return self.put(document, section, entry, f"added the {self.noun} {entry.title[:60]}")

    def changed(
        self,
        snapshot: Snapshot,
        ref: str,
        set: Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
        unset: Iterable[str] = (),
        *,
        section: str | None = None,
        base: Entry | None = None,
        now: datetime,  # noqa: ARG002 - edits are called alike
    ) -> Edit:
        """Set and unset fields and the title; an empty value removes a field, a `section` moves the item to its end.

        ConflictError `document.conflict` with `fields` where another writer changed the same field since `base`.
        """
        item = self.find(snapshot, ref)
        changes = {**(set or {}), **dict.fromkeys(unset, "")}
        entry = with_changes(base or item.entry, changes, self.schema, self.title)
        entry = beside_others(base, entry, item.entry, item.title)
        if section is None:
            return self.replaced(item, entry)
        words = f"changed the {self.noun} {item.title[:60]}"
        return self.put(item.document.remove_entry(*item.at), section, entry, words)

    def rewritten(
        self,
        snapshot: Snapshot,
        ref: str,
        text: str,
        *,
        base: Entry | None = None,
        now: datetime,  # noqa: ARG002
    ) -> Edit:
        """Replace the whole source of an item, as an editor returns it; see `entry_of_text`."""
        item = self.find(snapshot, ref)
        new = entry_of_text(text, item.entry, base, item.title)
        return Edit({}, "nothing changed", item.ref) if new is None else self.replaced(item, new)

    def removed(self, snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG002
        """Remove an item from the file."""
        item = self.find(snapshot, ref)
        return Edit({self.file: item.document.remove_entry(*item.at)}, f"removed the {self.noun} {item.title[:60]}")

    def replaced(self, item: NamedEntry, entry: Entry, words: str = "") -> Edit:
        """Put another entry in the place of an item."""
        document = item.document.replace_entry(*item.at, entry)
        return self._left(document, item.at, words or f"changed the {self.noun} {item.title[:60]}")

    def put(self, document: Document, section: str, entry: Entry, words: str) -> Edit:
        """Put an entry at the end of a section."""
        document, index = self.with_section(document, section)
        place = (index, len(document.section(index)))
        return self._left(document.insert_entry(*place, entry), place, words)

    def with_section(self, document: Document, section: str) -> tuple[Document, int]:
        """Return the document with a section, made where it is missing, and its index."""
        known = ((at, self.section_of(one)) for at, one in enumerate(document.sections))
        return with_named_section(document, section, self.titles, known)

    def _left(self, document: Document, place: tuple[int, int], words: str) -> Edit:
        """Return the edit that leaves a document with a changed item at a place."""
        ref = next(one.ref for one in self.read(self.file, document) if one.at == place)
        return Edit({self.file: document}, words, ref)


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
    if content:
        ending = rest[0][1] if rest else ""
        return content + (ending or newline) + added + "".join(line + end for line, end in rest[1:])
    part = document.section(section)
    last = section == len(document.sections) - 1 and (entry if entry is not None else -1) == len(part) - 1
    lead = "".join(rest[0]) if rest else (newline if document.spaced else "")
    if lead and not lead.endswith(("\n", "\r")):
        lead += newline
    tail = "".join(line + end for line, end in rest[1:])
    return lead + added + (tail or (newline if document.spaced and not last else ""))


def clean_values(values: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """Return values in the order of `known`, then of the caller, without empty ones."""
    order = [key for key in known if key in values] + [key for key in values if key not in known]
    return {key: values[key].strip() for key in order if values[key].strip()}


_FOREIGN = (b"\xff\xfe", b"\xfe\xff", b"\0")


def refuse_unwritable(name: str, document: Document) -> None:
    """Raise MemdeckError `file.conflict_markers` for an unfinished merge, RefusedError `file.not_text` for a file in
    another encoding, or not text: UTF-8 in the middle of it would make it unreadable.
    """
    data = document.dump()
    if data.startswith(_FOREIGN):
        raise RefusedError(
            "file.not_text",
            f"{name} is not UTF-8 text: it begins with {' '.join(f'{byte:02x}' for byte in data[:2])}",
            "save it as UTF-8 (UTF-16 is what some editors call Unicode), or put back what it was",
            file=name,
        )
    if conflict_at(data) is not None:
        raise MemdeckError(
            "file.conflict_markers",
            f"git's conflict markers are in {name}",
            "resolve them in an editor; until then memdeck only reads the file",
            file=name,
        )


CODE = "secret.found"
_ADVICE = "whoever reads the file has it: take it out and make a new one"


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
                    said[f"{name}:{above + line + 1} looks like it holds a secret ({kind}); {_ADVICE}"] = None
    return tuple(said)


def secret_problems(name: str, document: Document) -> Iterator[Problem]:
    """Yield a warning for each line of a file that looks like it holds a secret."""
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
    if bullets:
        last = bullets[-1]
        prefix = _prefix(body[last.start : last.end])
        source = source or "\n".join(_written(prefix, text, "\n") for text in texts)
        lines = document.newline.join(line for line, _ in split_lines(source))
        new = insert_line(body, last.end, lines, document.newline)
    else:
        source = source or "\n".join(_written("- ", text, "\n") for text in texts)
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
    prefix = found[0] if found else "- "
    return prefix if prefix[-1:].isspace() else f"{prefix} "


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
        raise UsageError(code, "without this bullet others would read differently", "use an editor")
    raise UsageError(
        code, "the text would not stay one bullet of the list", "leave out HTML and code fences that stay open"
    )
