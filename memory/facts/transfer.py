"""Import and export of facts, as JSONL in the form of the file or as CSV with a header."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from memory.errors import UsageError

from .model import DEFAULT_SCOPE, Fact, refusal
from .reading import FactsOfFile, time_key

Form = Literal["jsonl", "csv"]
FORMS: tuple[Form, ...] = ("jsonl", "csv")
COLUMNS = ("id", "scope", "text", "tags", "ts")
_TAGS = ";"


class ImportRow(NamedTuple):
    """One fact to be imported, from a line (counted from 1); `problem` says why it cannot be read."""

    line: int
    text: str = ""
    tags: tuple[str, ...] = ()
    scope: str = DEFAULT_SCOPE
    ts: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """The result of an import: the new ids, the number of texts that existed, the refused lines with their reasons.

    `change` is the id of the change, None where nothing was written.
    """

    ids: tuple[str, ...]
    skipped: int
    refused: tuple[tuple[int, str], ...]
    pruned: tuple[str, ...] = ()
    change: str | None = None

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "ok": not self.refused,
            "imported": len(self.ids),
            "skipped": self.skipped,
            "refused": [{"line": line, "error": error} for line, error in self.refused],
            "ids": list(self.ids),
            "pruned": list(self.pruned),
        }


def read_rows(data: bytes, form: Form) -> list[ImportRow]:
    """Return the rows of an import file; UsageError `facts.import` where it is not one."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("facts.import", f"the file is not valid UTF-8 at byte {error.start}", "convert it") from None
    if form == "csv":
        return list(_csv_rows(text))
    return [_json_row(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _json_row(number: int, line: str) -> ImportRow:

    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return ImportRow(number, problem="it is no JSON")
    if not isinstance(values, dict) or not isinstance(values.get("text"), str):
        return ImportRow(number, problem="it is no object with a text")
    tags = values.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return ImportRow(number, problem="its tags are no list of words")
    scope, ts = values.get("scope") or DEFAULT_SCOPE, values.get("ts") or ""
    return ImportRow(number, values["text"], tuple(tags), str(scope), str(ts))


def _csv_rows(text: str) -> Iterator[ImportRow]:

    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if "text" not in (reader.fieldnames or ()):
            raise UsageError("facts.import", "the first line names no column text", f"name {', '.join(COLUMNS)}")
        for row in reader:
            tags = tuple(tag for one in (row.get("tags") or "").split(_TAGS) if (tag := one.strip()))
            yield ImportRow(
                reader.line_num, row["text"] or "", tags, row.get("scope") or DEFAULT_SCOPE, row.get("ts") or ""
            )
    except csv.Error as error:
        raise UsageError("facts.import", f"line {reader.line_num} is no CSV: {error}", "mend it") from None


def sort_out(
    rows: Sequence[ImportRow], reading: FactsOfFile
) -> tuple[list[ImportRow], int, tuple[tuple[int, str], ...]]:
    """Return the rows to store, the number of texts that exist already, and the refused lines with their reasons.

    Rows pass the same checks as in `store`; a time that cannot be read is refused, and equal texts are stored once.
    """
    known = {fact.text for fact in reading.facts}
    wanted: list[ImportRow] = []
    refused: list[tuple[int, str]] = []
    skipped = 0
    for row in rows:
        why = row.problem or refusal(row.text, row.tags, row.scope)
        if why is None and row.ts and not time_key(row.ts):
            why = "ts is no time"
        if why is not None:
            refused.append((row.line, why))
        elif row.text in known:
            skipped += 1
        else:
            known.add(row.text)
            wanted.append(row._replace(ts=_stamp(row.ts)))
    return wanted, skipped, tuple(refused)


def _stamp(ts: str) -> str:
    """Return a time in the form of the file: UTC, whole seconds; empty where there is none."""
    key = time_key(ts) if ts else ""
    return f"{key[:19]}Z" if key else ""


def export(facts: Iterable[Fact], form: Form) -> Iterator[str]:
    """Yield facts as text, each piece with its line end, in the order in which they are given."""
    if form == "jsonl":
        for fact in facts:
            values = {name: getattr(fact, name) for name in COLUMNS}
            yield json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
        return

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for fact in facts:
        writer.writerow((fact.id, fact.scope, fact.text, _TAGS.join(fact.tags), fact.ts))
    yield buffer.getvalue()
