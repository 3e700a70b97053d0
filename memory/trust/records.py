"""The decision about an ask, and stored ones: one JSON file of records outside every workspace.

It is valid as a whole or not at all. A record is compared with the current ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import Any, Literal

from .asks import Ask
from .pins import NOTHING, Pinned, Script

VERSION = 4
Verdict = Literal["approved", "denied"]
NOT_OPEN = "the workspace is not approved for outgoing checks"
NOT_YET = "not approved yet"
OWN = "needs an approval of its own: "
CHANGED = "approved once, but changed since: "
SHORT = 10
"""Displayed hex digits of an id."""
State = Literal["approved", "pending", "denied", "withdrawn", "refused"]


@dataclass(frozen=True, slots=True)
class ConsentDecision:
    """Whether an ask may run now: `text` is what runs, from the record, and None unless it is `allowed`.

    `id` identifies exactly this ask with its files ("" if it cannot be approved), `why` is a sentence for people,
    `before` the ask that was approved in its slot before, `pinned` has the files that it names. `single`: it was
    approved individually, not with the workspace; only then may an address lead to private hosts.
    """

    state: State
    why: str
    id: str = ""
    text: str | None = None
    before: Ask | None = None
    pinned: Pinned = NOTHING
    scripts_before: tuple[Script, ...] = ()
    single: bool = False

    @property
    def allowed(self) -> bool:
        """Whether it may run."""
        return self.text is not None

    @property
    def waits(self) -> bool:
        """Whether it waits for a person: it is undecided, or it differs from what was approved."""
        return self.state in ("pending", "withdrawn")

    @property
    def short_id(self) -> str:
        """The id as it is displayed."""
        return self.id[:SHORT]


@dataclass(frozen=True, slots=True)
class ConsentPlace:
    """The identity of a workspace for consent: its real path and the inode of its folder; a copy is another place."""

    path: str
    inode: int


@dataclass(frozen=True, slots=True)
class ConsentRecord:
    """One decision: `id` is the hash of everything that it covers, `who` and `when` (UTC) who took it."""

    id: str
    verdict: Verdict
    ask: Ask
    scripts: tuple[Script, ...]
    place: ConsentPlace
    who: str
    when: str


@dataclass(frozen=True, slots=True)
class Opening:
    """The approval of a workspace for outgoing checks of public addresses."""

    place: ConsentPlace
    who: str
    when: str


@dataclass(frozen=True, slots=True)
class Book:
    """All decisions of one workspace."""

    records: tuple[ConsentRecord, ...] = ()
    opening: Opening | None = None

    def with_record(self, record: ConsentRecord) -> Book:
        """Return the book with a record, which replaces earlier decisions about the same."""
        kept = [
            one
            for one in self.records
            if one.id != record.id and (one.ask.slot != record.ask.slot or one.verdict != record.verdict)
        ]
        return replace(self, records=(*kept, record))


class DamagedRecords(ValueError):
    """The bytes are not a book of this version."""


def identity_of(ask: Ask, scripts: Iterable[Script], place: ConsentPlace) -> str:
    """Return the hash (64 hex digits) over everything that an approval covers; any other byte gives another hash."""
    return _digest(
        [
            "memdeck consent",
            VERSION,
            *(ask.role, ask.kind, ask.text, ask.name, ask.file, ask.folder, ask.details, place.path, place.inode),
            [[script.path, script.hash] for script in scripts],
        ]
    )


def difference(old: ConsentRecord, ask: Ask, scripts: tuple[Script, ...], place: ConsentPlace) -> str:
    """Return in a few words what differs from what was approved."""
    parts = {"type": "kind", "command": "text", "folder": "folder"}
    found = [name for name, part in parts.items() if getattr(old.ask, part) != getattr(ask, part)]
    found += sorted({name for name, _ in set(old.ask.details) ^ set(ask.details)})
    if old.scripts != scripts:
        before, after = ({(one.path, one.hash) for one in some} for some in (old.scripts, scripts))
        found += [f"file {path}" for path in sorted({path for path, _ in before ^ after})[:3]]
    if old.place != place:
        found.append("folder of the workspace")
    return ", ".join(found) or "details"


def write_book(book: Book) -> bytes:
    """Return the bytes of a book."""
    content = {
        "version": VERSION,
        "records": [_record_json(record) for record in book.records],
        "workspace": None if book.opening is None else asdict(book.opening),
    }
    return (json.dumps({**content, "sum": _digest(content)}, indent=1) + "\n").encode("ascii")


def read_book(data: bytes | None) -> Book:
    """Parse a book (None: an empty one); DamagedRecords unless every byte is as this version wrote it."""
    if data is None:
        return Book()
    try:
        content = json.loads(data.decode("ascii"))
        written = content.pop("sum")
        if content.keys() != {"version", "records", "workspace"} or content["version"] != VERSION:
            raise DamagedRecords("another version of memdeck wrote it")
        if _digest(content) != written:
            raise DamagedRecords("its sum is wrong")
        opening = content["workspace"]
        return Book(
            tuple(_read_record(one) for one in content["records"]),
            None if opening is None else Opening(**{**opening, "place": ConsentPlace(**opening["place"])}),
        )
    except DamagedRecords:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedRecords("it cannot be read") from error


def _digest(value: Any) -> str:
    # ASCII, so that lone surrogates (bytes that are no UTF-8) are preserved.
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()


def _record_json(record: ConsentRecord) -> dict[str, Any]:
    ask = {field.name: getattr(record.ask, field.name) for field in fields(Ask) if field.compare}
    scripts = [[script.path, script.hash] for script in record.scripts]
    return {**asdict(record), "ask": ask, "scripts": scripts}


def _read_record(value: Mapping[str, Any]) -> ConsentRecord:
    ask = Ask(**{**value["ask"], "details": tuple((name, one) for name, one in value["ask"]["details"])})
    scripts = tuple(Script(path, found) for path, found in value["scripts"])
    place = ConsentPlace(**value["place"])
    if value["id"] != identity_of(ask, scripts, place):
        raise DamagedRecords("a record was changed")
    return ConsentRecord(**{**value, "ask": ask, "scripts": scripts, "place": place})
