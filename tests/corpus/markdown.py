"""Markdown that hides, fakes or mangles sections, tasks and fields."""

from __future__ import annotations

from functools import partial

from .case import Case, refuses
from .place import Place

_HEAD = b"---\ntype: task-list\nupdated: 2024-01-15T10:30:00Z\n---\n\n## Pending\n\n"
_TAIL = b"\n## In Progress\n\n## Completed (last 7 days)\n"


def _case(name: str, says: str, **more: object) -> Case:
    return Case(f"markdown/{name}", says, **more)  # type: ignore[arg-type]


def _made(name: str, says: str, **more: object) -> Case:
    return _case(name, says, generated=True, **more)


def _quotes(place: Place) -> None:
    place.put("tasks.md", _HEAD + b"### [HIGH] Deep\n- created: 2024-01-14\n" + b"> " * 10_000 + b"x\n" + _TAIL)


def _list_items(place: Place) -> None:
    place.put("tasks.md", _HEAD + b"### [HIGH] Deep\n- created: 2024-01-14\n" + b"- " * 10_000 + b"x\n  <b>\n" + _TAIL)


def _long_line(place: Place) -> None:
    body = b"- notes: " + b"word " * (place.scale(50_000_000, 2_000_000) // 5) + b"\n"
    place.put("tasks.md", _HEAD + b"### [HIGH] Long\n- created: 2024-01-14\n" + body + _TAIL)


def _long_title(place: Place) -> None:
    place.put("tasks.md", _HEAD + b"### [HIGH] " + b"t" * place.scale(20_000_000, 1_000_000) + b"\n" + _TAIL)


def _headings(place: Place, line: bytes, full: int, small: int) -> None:
    place.put("tasks.md", _HEAD + line * place.scale(full, small) + _TAIL)


def _backticks(place: Place) -> None:
    line = b"- notes: " + b"`" * place.scale(2_000_000, 200_000) + b"\n"
    place.put("tasks.md", _HEAD + b"### [HIGH] Ticks\n- created: 2024-01-14\n" + line + b"```a`\n" * 20_000 + _TAIL)


def _angles(place: Place) -> None:
    line = b"<a " * place.scale(500_000, 50_000) + b"\n" + b"<!-- " * 50_000 + b"\n-->\n"
    place.put("tasks.md", _HEAD + b"### [HIGH] Angles\n- created: 2024-01-14\n" + line + _TAIL)


def _brackets(place: Place) -> None:
    line = b"[" * place.scale(1_000_000, 50_000) + b"\n" + b"[a]: <" * 20_000 + b"\n"
    place.put("tasks.md", _HEAD + b"### [HIGH] Brackets\n- created: 2024-01-14\n" + line + _TAIL)


def _markers(place: Place) -> None:
    place.put(
        "tasks.md", _HEAD + b"### [HIGH] Marks\n- created: 2024-01-14\n" + b"<<<<<<< \n=======\n" * 50_000 + _TAIL
    )


def _fields(place: Place) -> None:
    fields = b"".join(b"- key%d: value\n" % number for number in range(place.scale(200_000, 20_000)))
    place.put("tasks.md", _HEAD + b"### [HIGH] Fields\n- created: 2024-01-14\n" + fields + _TAIL)


def _blank_lines(place: Place) -> None:
    place.put(
        "tasks.md", _HEAD + b"### [HIGH] Blank\n- created: 2024-01-14\n" + b" \n" * place.scale(5_000_000, 500_000)
    )


CASES = (
    _case(
        "fence-unclosed",
        "a code fence that is never closed swallows every later task",
        screen=True,
        finds=("tasks.md:12 document.unclosed",),
        expect=refuses("document.unclosed 2", "add"),
    ),
    _case("fence-inside-fence", "a longer fence around a shorter one, with headings in both"),
    _case("fence-in-list", "a fence in a list item, which a heading in column 0 ends"),
    _case("fence-info-with-backtick", "a line of backticks that opens no fence, for a backtick follows"),
    _case("lists-nested", "a list nested 60 levels deep, each level looking like a field"),
    _case(
        "setext-headings",
        "headings underlined with = and -, one of them named like a section",
        finds=("tasks.md:19 field.twice",),
    ),
    _case("html-block", "an HTML block with headings inside"),
    _case(
        "html-comment-unclosed",
        "an HTML comment that is never closed",
        finds=("tasks.md:11 document.unclosed",),
        expect=refuses("document.unclosed 2", "add"),
    ),
    _case(
        "html-script-unclosed",
        "a script element that is never closed",
        finds=("tasks.md:11 document.unclosed",),
        expect=refuses("document.unclosed 2", "add"),
    ),
    _case("html-cdata", "a CDATA section with a heading inside"),
    _case("html-instruction", "a processing instruction with a heading inside"),
    _case("link-definitions", "link definitions that a heading cuts off"),
    _case("quote-lazy", "a quote that goes on without its mark until a heading ends it"),
    _case("tabs", "tabs between hashes, dashes, keys and values", finds=("tasks.md:10 task.due",)),
    _case(
        "bom-in-the-middle",
        "a byte order mark before a section heading, left by a join of two files",
        finds=("tasks.md:8 content.suspicious", "tasks.md:11 document.mark"),
    ),
    _case("bom-twice", "two byte order marks on top", finds=("tasks.md:1 document.mark",)),
    _case("nul", "NUL bytes in a title and in a value", finds=("tasks.md:8 document.nul",)),
    _case("cr-only", "lines that end with a lone carriage return"),
    _case("line-ends-mixed", "LF, CRLF and lone CR in one file"),
    _case("line-separators", "U+2028, U+2029, U+0085, VT, FF and RS, which end no line", screen=True),
    _case(
        "utf8-invalid",
        "Latin-1 bytes and a cut-off sequence in title and notes",
        finds=("tasks.md:8 document.encoding", "tasks.md:10 document.encoding"),
    ),
    _case(
        "utf8-surrogates",
        "surrogates, overlong forms and code points beyond the last, as bytes",
        finds=("tasks.md:10 document.encoding",),
    ),
    _case(
        "utf16",
        "the whole file in UTF-16",
        screen=True,
        finds=("tasks.md:1 document.encoding", "tasks.md:1 document.nul"),
        expect=refuses("file.not_text 1", "add"),
    ),
    _case(
        "empty-headings",
        "headings of nothing but hashes, priorities and spaces",
        finds=(
            "tasks.md:10 task.title",
            "tasks.md:12 task.title",
            "tasks.md:14 task.title",
            "tasks.md:16 task.title",
            "tasks.md:18 task.unknown_section",
        ),
    ),
    _case(
        "no-space-after-hashes",
        "`##Pending` and `###[HIGH]` without a space",
        finds=(
            "tasks.md:6 document.heading",
            "tasks.md:8 document.heading",
            "tasks.md:9 line.unread",
            "tasks.md:15 document.heading",
            "tasks.md:16 field.twice",
        ),
    ),
    _case(
        "no-break-space",
        "a no-break space behind the hashes",
        finds=("tasks.md:10 document.heading", "tasks.md:11 field.twice"),
    ),
    _case(
        "levels-beyond",
        "headings of level 4 and of seven hashes",
        finds=("tasks.md:10 line.unread", "tasks.md:11 field.twice"),
    ),
    _case("closing-hashes", "hashes that close a heading, and hashes that belong to a title"),
    _case("indented-headings", "headings behind one to four spaces", finds=("tasks.md:9 task.created",)),
    _case("level-one", "a heading of level 1 that ends the section", finds=("tasks.md:13 task.unknown_section",)),
    _case("sections-twice", "two sections Pending", finds=("tasks.md:15 document.twin_section",)),
    _case(
        "entries-before-sections",
        "a task before any section",
        finds=("tasks.md:6 document.loose_entry", "tasks.md:6 task.unknown_section"),
    ),
    _case("unknown-section", "a task in a section that is none of tasks", finds=("tasks.md:13 task.unknown_section",)),
    _case("no-sections", "prose without front matter and sections"),
    _case(
        "escape-sequences",
        "terminal escapes, C1, bidirectional controls and tags in a title",
        screen=True,
        finds=("tasks.md:8 content.suspicious",),
    ),
    _case("markup", "the markup of terminal libraries in a title", screen=True),
    _case("title-long", "a title of 20,000 characters", screen=True),
    _case("combining-marks", "1,200 combining marks on one letter, joined emoji, right-to-left letters"),
    _case("empty", "a file of 0 bytes", screen=True),
    _case("blank", "a file of blanks"),
    _case("halved", "a file cut off in the middle of a title"),
    _case("ends-in-a-heading", "no line end behind the last heading"),
    _case(
        "fields-twice",
        "fields that stand twice in a task",
        finds=("tasks.md:11 field.twice", "tasks.md:12 field.twice"),
    ),
    _case("fields-other-bullets", "fields with other bullets, or without the space"),
    _case("field-names", "keys without a name, in other scripts, of 3,000 letters, named like internals"),
    _case("field-continuation", "a value that goes on over indented and blank lines"),
    _case(
        "conflict-markers",
        "git's conflict markers",
        screen=True,
        finds=("tasks.md:8 document.conflict_markers",),
        expect=refuses("file.conflict_markers 1", "add"),
    ),
    _case(
        "conflict-markers-diff3",
        "git's conflict markers with the common base, CRLF",
        finds=("tasks.md:8 document.conflict_markers",),
        expect=refuses("file.conflict_markers 1", "add"),
    ),
    _case("conflict-markers-half", "conflict markers of which the last is gone"),
    _case("patch-rejects", "a patch pasted into the file", finds=("tasks.md:8 line.unread",)),
    _case("escaped-hashes", "headings behind a backslash"),
    _case("priorities-unknown", "priorities in other words, other letters and other brackets"),
    _case("twins", "three tasks with the same title and date"),
    _case(
        "numbers",
        "progress of 900 %, of 5,000 digits, and in fullwidth digits",
        finds=("tasks.md:10 task.progress", "tasks.md:13 task.progress", "tasks.md:16 task.progress"),
    ),
    _made("quotes-10000", "10,000 quotes inside each other", build=_quotes),
    _made("list-items-10000", "10,000 list items in one line", build=_list_items),
    _made("line-of-50-mb", "a value of 50 MB in one line", build=_long_line),
    _made("title-of-20-mb", "a title of 20 MB", build=_long_title),
    _made(
        "headings-1000000",
        "a million headings of level 4",
        build=partial(_headings, line=b"#### x\n", full=1_000_000, small=5_000),
    ),
    _made(
        "tasks-100000",
        "100,000 tasks with nothing but a title",
        build=partial(_headings, line=b"### [LOW] t\n", full=100_000, small=5_000),
    ),
    _made(
        "sections-100000",
        "100,000 sections of one name",
        build=partial(_headings, line=b"## Pending\n", full=100_000, small=5_000),
        finds=(
            "tasks.md:8 document.twin_section",
            "tasks.md:9 document.twin_section",
            "tasks.md:10 document.twin_section",
            "...",
        ),
    ),
    _made("backticks", "rows of backticks, closed nowhere", build=_backticks),
    _made("angle-brackets", "HTML tags and comments that open and never close", build=_angles),
    _made("square-brackets", "brackets and link definitions that never close", build=_brackets),
    _made("marker-flood", "50,000 beginnings of conflicts without an end", build=_markers),
    _made("fields-200000", "200,000 fields in one task", build=_fields),
    _made("blank-lines", "five million blank lines at the end", build=_blank_lines),
)
