"""Random workspaces: whatever stands in them, a run moves entries and loses nothing."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.maintenance.conservation import imbalances
from memory.maintenance.plan import plan_maintenance
from memory.maintenance.rules import ALL_RULES
from memory.maintenance.run import checked, maintain
from tests.examples import examples
from tests.memory.maintenance.maintenance_files import NOW, contents, make

DATES = st.one_of(
    st.integers(-3, 70).map(lambda ago: str((NOW - timedelta(days=ago)).date())),
    st.sampled_from(["2024-02-30", "2023-12-31", "0000-01-01", "2999-01-01", "soon"]),
)
TIMES = st.sampled_from(["00:00", "12:00", "12:00", "23:59", "25:00", "9:15"])
WORDS = st.sampled_from(["Deploy", "[/nope]", "测试", "a \x1b[31m", "caf\udce9", "x #", "🚀", "nul \x00"])
BODIES = st.lists(
    st.sampled_from(
        [
            "- notes: words  ",
            "- tags: a, b",
            "  more",
            "",
            "   ",
            "prose",
            "```sh\n### not a heading\n# nor this\n```",
            "~~~\n## nor this\n~~~",
            "<!--\n### hidden\n-->",
            "<div>\n### hidden too\n",
            "<b>\n",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "#### deeper",
            "* other",
        ]
    ),
    max_size=4,
)
LEADS = st.sampled_from(["", "", "\n", "\n\n", "prose\n\n", "<!-- note -->\n", "| a |\n|---|\n", "  \n"])
ENDS = st.sampled_from(["", "\n", "\n", "\n", "\n\n", "\n   \n"])


@st.composite
def an_entry(draw: st.DrawFn, heading: st.SearchStrategy[str], fields: st.SearchStrategy[str]) -> str:
    """Draw an entry that ends with a line end."""
    lines = [f"### {draw(heading)}{draw(WORDS)}", draw(fields), *draw(BODIES)]
    return "\n".join(line for line in lines if line is not None) + "\n" + draw(ENDS)


TASK_FIELDS = st.one_of(
    st.tuples(DATES, st.sampled_from(["", " 10:00", "T10:00:00Z", "T23:59:59+05:30"])).map(
        lambda parts: f"- completed: {parts[0]}{parts[1]}"
    ),
    st.just("- created: 2024-01-01"),
    st.just("- completed: null"),
)
TASK = an_entry(st.sampled_from(["[HIGH] ", "[LOW] ", ""]), TASK_FIELDS)
ENTRY = an_entry(st.one_of(TIMES.map(lambda time: f"{time} — "), st.just("")), st.sampled_from(["- did it", "- again"]))
PLAN = an_entry(st.just(""), st.one_of(TASK_FIELDS, DATES.map(lambda day: f"- status: completed\n- completed: {day}")))


def a_file(headings: st.SearchStrategy[str], entry: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Return files of sections with entries, in all forms in which programs leave them."""
    section = st.tuples(headings, LEADS, st.lists(entry, max_size=5)).map(
        lambda parts: f"## {parts[0]}\n{parts[1]}{''.join(parts[2])}"
    )
    front = st.sampled_from(
        ["", "---\ntype: x\nupdated: 2024-01-01T00:00:00Z\n---\n", "---\ntype: x\n---\n\n", "intro\n\n"]
    )
    text = st.tuples(front, st.lists(section, max_size=6)).map(lambda parts: parts[0] + "".join(parts[1]))
    newline = st.sampled_from(["\n", "\n", "\r\n", "\r"])
    tail = st.sampled_from(["", "", "", "```\nopen"])
    return st.tuples(text, newline, st.booleans(), tail, st.booleans()).map(_finished)


def _finished(parts: tuple[str, str, bool, str, bool]) -> bytes:
    text, newline, cut, tail, bom = parts
    text = (text.rstrip("\n") if cut else text) + ("\n" + tail if tail else "")
    return (b"\xef\xbb\xbf" if bom else b"") + text.replace("\n", newline).encode("utf-8", "surrogateescape")


TASK_FILE = a_file(
    st.sampled_from(["Pending", "In Progress", "Completed", "Completed (last 7 days)", "COMPLETED ##", "Ideas"]), TASK
)
ODD_HEADINGS = st.sampled_from(
    ["Notes", " 2023-12-01", "2023-12-01 ##", "2023-12-01  ", "\xa02023-12-01", "2023-12-01", "2023-12-1", ""]
)
JOURNAL_FILE = a_file(st.one_of(DATES, DATES, DATES.map(lambda day: f"{day} (day)"), ODD_HEADINGS), ENTRY)
PLAN_FILE = a_file(st.sampled_from(["Active Plans", "Completed Plans", "Other"]), PLAN)
OTHERS = {
    "knowledge.md": b"## Facts\n- x\n",
    "contacts.md": b"## People\n- **A** (B): c",
    "monitors.md": b"## Monitors\n\n### m\n- completed: 2020-01-01\n",
}
FILES = st.fixed_dictionaries(
    {"tasks.md": TASK_FILE, "journal.md": JOURNAL_FILE, "orchestration.md": PLAN_FILE},
    optional={
        "archive/tasks-2023-12.md": TASK_FILE,
        "archive/tasks-2024-01.md": TASK_FILE,
        "archive/journal-2023-12.md": JOURNAL_FILE,
        "archive/journal-2024-01.md": JOURNAL_FILE,
        "archive/orchestration-2024-01.md": PLAN_FILE,
    },
)
_DAY = re.compile(rb"## *(?:\xc2\xa0)?\d{4}-\d{2}-\d{2}")
_NEW = re.compile(rb"---|type: [a-z]+-archive|## Completed(?: Plans)?")


def lines(files: dict[str, bytes]) -> Counter[bytes]:
    """Return every line that is not blank, with its line end normalised, of all files; dates and stamps apart."""
    found = (line for data in files.values() for line in re.split(rb"[\r\n]+", data.removeprefix(b"\xef\xbb\xbf")))
    return Counter(line for line in found if line.strip() and not _DAY.match(line) and not line.startswith(b"updated:"))


def dates(files: dict[str, bytes]) -> set[bytes]:
    """Return the date headings of all files."""
    found = (line for data in files.values() for line in re.split(rb"[\r\n]+", data.removeprefix(b"\xef\xbb\xbf")))
    return {line for line in found if _DAY.match(line)}


def blocks(files: dict[str, bytes], cores: set[bytes]) -> Counter[bytes]:
    """Count how often each of the entries occurs, byte for byte."""
    everything = b"\n\0\n".join(files.values())
    return Counter({core: everything.count(core) for core in cores})


def cores(files: dict[str, bytes]) -> set[bytes]:
    """Return runs of bytes from one ### at the start of a line to the next #, without what is blank at the end."""
    found: set[bytes] = set()
    for data in files.values():
        for part in re.split(rb"(?:(?<=\n)|(?<=\r)|\A)(?=#)", data):
            if part.startswith(b"### "):
                found.add(part.rstrip())
    return found


EMPTY_ARCHIVES = {
    "tasks.md": b"## Completed\n### One\n- completed: 2023-12-31\n### Other\n- completed: 2024-01-07\n",
    "archive/tasks-2023-12.md": b"",
    "archive/tasks-2024-01.md": b"",
}


@settings(max_examples=examples(60), deadline=None)
@given(FILES, st.sampled_from([UTC, ZoneInfo("Europe/Berlin")]), st.sampled_from([500, 3, 1]))
@example(EMPTY_ARCHIVES, UTC, 500)
def test_nothing_is_lost_and_nothing_twice(files: dict[str, bytes], zone: ZoneInfo, most: int) -> None:
    """Every line and every entry is there as often as before, other files are the same, and a second run rests."""
    with tempfile.TemporaryDirectory() as folder:
        config = f"## Memory Maintenance\n- maxJournalEntries: {most}\n".encode()
        workspace = make(Path(folder), {**files, **OTHERS, "config.md": config}, zone)
        before = contents(workspace)
        report = maintain(workspace, NOW)
        after = contents(workspace)
        # An empty archive gets the lines that a new one has.
        new = {name: data for name, data in after.items() if not before.get(name)}
        gained = lines(after) - lines(before)
        lost = lines(before) - lines(after)
        assert lost == Counter()
        assert all(_NEW.fullmatch(line) for line in gained)
        assert sum(gained.values()) <= 4 * len(new) + len(files)
        assert dates(before) <= dates(after)
        assert blocks(before, cores(before)) == blocks(after, cores(before))
        for name in (*OTHERS, "config.md"):
            assert after[name] == before[name]
        for rule in report.rules:
            assert rule.before == rule.kept + rule.archived + rule.cleared
            assert len(rule.moves) == rule.archived + rule.cleared
        assert report.rules[2].before == report.rules[1].kept
        again = maintain(workspace, NOW)
        assert again.moved == 0
        assert contents(workspace) == after


@settings(max_examples=examples(60), deadline=None)
@given(FILES, st.data())
def test_any_lost_or_changed_byte_is_noticed(files: dict[str, bytes], data: st.DataObject) -> None:
    """Whatever byte of the new files is dropped or changed, the second count is off, blank lines apart."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make(Path(folder), files)
        plan = plan_maintenance(workspace.snapshot(), NOW)
        if not plan.documents:
            return
        before = {name: files[name] for name in plan.documents if name in files}
        after = {name: document.dump() for name, document in checked(plan, NOW).items()}
        assert imbalances(before, after, plan.rules) == []
        name = data.draw(st.sampled_from(sorted(after)))
        text = after[name]
        if not text.strip():
            return
        at = data.draw(st.integers(0, len(text) - 1))
        line = max(text.rfind(b"\n", 0, at), text.rfind(b"\r", 0, at)) + 1
        if text[at] in b" \t\r\n" or text.startswith(b"updated:", line):
            return
        other = data.draw(st.sampled_from([b"", b"Z", b"ZZ"]))
        spoiled = text[:at] + other + text[at + 1 :]
        if spoiled != text:
            assert imbalances(before, {**after, name: spoiled}, plan.rules)


@settings(max_examples=examples(25), deadline=None)
@given(FILES, st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_many_runs_lose_nothing(files: dict[str, bytes], steps: list[int]) -> None:
    """Day after day more moves into archives that are there already, and every line stays accounted for."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make(Path(folder), files, state=False)
        before = contents(workspace)
        now: datetime = NOW - timedelta(days=20)
        for step in steps:
            now += timedelta(days=step)
            maintain(workspace, now, rules=ALL_RULES)
        after = contents(workspace)
        assert lines(before) - lines(after) == Counter()
        assert blocks(before, cores(before)) == blocks(after, cores(before))
        assert dates(before) <= dates(after)
