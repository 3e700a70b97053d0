"""Consent: nothing from a memory file runs or connects before a person approved exactly that.

`asks_of` lists the asks of the files. `Trust.decide` returns for each whether it may run, and the approved text: that
text runs, not the file's. Decisions are one file of the state folder, valid as a whole or not at all. A decision covers
everything in `Ask` except its line, the workspace's real path and folder, and the programs and scripts a command names.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from memory.errors import AmbiguousError, BlockedError, ConflictError, MemdeckError, NotFoundError, RefusedError
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import PrivateRecord
from memory.storage.safe_open import FileVersion
from memory.trust.addresses import closed_reason
from memory.trust.asks import HTTP, TOLD, Ask, any_address
from memory.trust.pins import NOTHING, PRIVATE, CannotPin, Pinned, Pins, Script, lost_words
from memory.trust.settings import TrustSettings

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


FOLDER, NAME = "trust", "approvals.json"
T = TypeVar("T")


class Trust:
    """The decisions about one workspace; safe between processes; use one object in one thread at a time."""

    def __init__(
        self,
        state_home: Path,
        workspace: Path,
        settings: TrustSettings | None = None,
        *,
        person: Path | None = None,
        note: Callable[[str, str, datetime], object] | None = None,
    ) -> None:
        """`state_home` is `$XDG_STATE_HOME`, `workspace` the folder that contains the memory system, `person` the
        person's home folder; nothing is read yet.

        `note(summary, who, now)` is called after each decision, for the history.
        """
        self.workspace = workspace
        self.settings = settings or TrustSettings()
        self.state = StateFolder(state_home, workspace, person)
        self._file = PrivateRecord(self.state, FOLDER, NAME)
        self._pins = Pins(workspace, person)
        self._note = note
        self._known: tuple[FileVersion, Book] | None = None
        self._real: str | None = None

    @property
    def path(self) -> Path:
        """The file of the decisions."""
        return self._file.path

    # -- looking ----------------------------------------------------------------------------------------------------

    def decide(self, ask: Ask) -> ConsentDecision:
        """Return whether an ask may run; never prompts, and writes nothing."""
        if ask.ambiguous:
            return ConsentDecision("refused", ask.ambiguous)
        damaged = ""
        try:
            pinned, place = self._named(ask), self._place()
            try:
                book = self._book()
            except DamagedRecords as error:
                book, damaged = Book(), f"the record of approvals is damaged ({error}): nothing counts as approved"
        except CannotPin as error:
            return ConsentDecision("refused", str(error))
        except (MemdeckError, OSError) as error:
            why = error.message if isinstance(error, MemdeckError) else str(error)
            return ConsentDecision("refused", f"approvals cannot be trusted: {why}")
        found = identity_of(ask, pinned.scripts, place)
        same = next((one for one in book.records if one.id == found), None)
        old = next((one for one in book.records if one.verdict == "approved" and one.ask.slot == ask.slot), None)
        closed = self.closed_reason(ask) if ask.role == "url" else ""
        if damaged:
            return ConsentDecision("pending", damaged, found, pinned=pinned)
        if same is not None and same.verdict == "denied":
            return ConsentDecision("denied", f"denied by {same.who}", found, pinned=pinned)
        if same is not None:
            return ConsentDecision(
                "approved", f"approved by {same.who}", found, same.ask.text, pinned=pinned, single=True
            )
        if ask.role == "url" and not closed and book.opening is not None and book.opening.place == place:
            return ConsentDecision("approved", "the workspace is approved for outgoing checks", found, ask.text)
        if old is not None:
            why = f"{CHANGED}{difference(old, ask, pinned.scripts, place)}"
            return ConsentDecision("withdrawn", why, found, before=old.ask, pinned=pinned, scripts_before=old.scripts)
        if ask.usual:
            return ConsentDecision("approved", ask.usual, found, ask.text)
        why = f"{OWN}{closed}" if closed else NOT_OPEN if ask.role == "url" else NOT_YET
        return ConsentDecision("pending", why, found, pinned=pinned)

    def closed_reason(self, ask: Ask) -> str:
        """Return why an address needs its own approval even in an approved workspace, "" if it does not."""
        closed = any_address(ask) or closed_reason(ask.text)
        return "" if closed and self.may_reach(ask.text) else closed

    def may_reach(self, url: str) -> bool:
        """Return whether the person's own configuration permits requests to the host of an http address."""
        try:
            parts = urlsplit(url)
            plain = parts.scheme.lower() in HTTP and "@" not in parts.netloc
            return plain and (parts.hostname or "").rstrip(".") in self.settings.private_hosts
        except ValueError:
            return False

    def list(self) -> tuple[ConsentRecord, ...]:
        """Return every decision, the oldest first; none if the record is invalid (see `problems`)."""
        return self._readable().records

    def told(self) -> frozenset[str]:
        """Return the hashes of the suspicious texts that the person approved for agents here."""
        here = [one for one in self.list() if (one.ask.role, one.verdict) == (TOLD, "approved")]
        return frozenset(one.ask.text for one in here if one.place == self._place())

    def opening(self) -> Opening | None:
        """Return who approved the workspace for outgoing checks of public addresses, and when; None: not approved."""
        opening = self._readable().opening
        return opening if opening is not None and opening.place == self._place() else None

    def _readable(self) -> Book:
        """Return the book; an empty one if it is invalid."""
        try:
            return self._book()
        except (DamagedRecords, MemdeckError, OSError):
            return Book()

    def problems(self) -> tuple[str, ...]:
        """Return sentences about why approvals do not count; for `doctor`."""
        try:
            self._book()
        except DamagedRecords as error:
            return (f"{self.path} is damaged ({error}): nothing counts as approved", *self.settings.problems)
        except (MemdeckError, OSError) as error:
            return (f"approvals cannot be trusted: {error}", *self.settings.problems)
        return self.settings.problems

    # -- deciding ---------------------------------------------------------------------------------------------------

    def approve(self, ask: Ask, *, who: str, now: datetime, shown: str | None = None) -> ConsentRecord:
        """Approve an ask as it is now.

        `shown` is the id of what the person saw; ConflictError `trust.changed` if the ask or a file that it names has
        changed since. RefusedError `trust.refused` if it cannot be approved, errors of the state folder.
        """
        return self._settle("approved", ask, who, now, shown)

    def deny(self, ask: Ask, *, who: str, now: datetime, shown: str | None = None) -> ConsentRecord:
        """Deny an ask, so that no one is asked about it again; raises as `approve`."""
        return self._settle("denied", ask, who, now, shown)

    def revoke(self, text: str, *, who: str, now: datetime) -> ConsentRecord:
        """Revoke a decision by its id; raises as `find`."""
        gone: list[ConsentRecord] = []

        def change(book: Book) -> Book:
            gone[:] = [_one(text, book.records, lambda record: record.id)]
            return replace(book, records=tuple(one for one in book.records if one.id != gone[0].id))

        self._update(change, now)
        self._say(f"revoked: {_about(gone[0].ask)}", who, now)
        return gone[0]

    def approve_workspace(self, who: str, now: datetime) -> None:
        """Approve outgoing checks of any public http and https addresses."""
        opening = Opening(self._place(), who, _stamp(now))
        self._update(lambda book: Book(book.records, opening), now)
        self._say("approved the workspace for outgoing checks", who, now)

    def revoke_workspace(self, who: str, now: datetime) -> None:
        """Revoke the approval of the workspace."""
        self._update(lambda book: Book(book.records, None), now)
        self._say("revoked the approval of the workspace for outgoing checks", who, now)

    def find(self, asks: Iterable[Ask], text: str) -> tuple[Ask, ConsentDecision]:
        """Return the ask with an id, given in full or as at least four digits of its beginning.

        NotFoundError `trust.not_found`, AmbiguousError `trust.ambiguous`.
        """
        return _one(text, [(ask, self.decide(ask)) for ask in asks], lambda pair: pair[1].id)

    def _settle(self, verdict: Verdict, ask: Ask, who: str, now: datetime, shown: str | None) -> ConsentRecord:
        self._file.read()  # raises if nothing can be stored
        decision = self.decide(ask)
        if not decision.id:
            raise RefusedError("trust.refused", f"{_about(ask)}: {decision.why}", "fix it in the file first")
        if shown is not None and decision.id != shown:
            raise ConflictError(
                "trust.changed", f"{_about(ask)} or a file that it names changed meanwhile", "look at it again"
            )
        place, when = self._place(), _stamp(now)
        record = ConsentRecord(decision.id, verdict, ask, decision.pinned.scripts, place, who, when)
        self._update(lambda book: book.with_record(record), now)
        self._say(f"{verdict}: {_about(ask)}", who, now)
        return record

    def _update(self, change: Callable[[Book], Book], now: datetime) -> None:
        """Change the book under its lock; a damaged book is moved aside first, and replaced by an empty one."""
        self._file.set_aside(_is_damaged, command="trust", now=now)
        self._file.update(lambda data: write_book(change(read_book(data))), command="trust", now=now)
        self._known = None

    def _say(self, summary: str, who: str, now: datetime) -> None:
        if self._note is not None:
            self._note(summary, who, now)

    # -- the current files ------------------------------------------------------------------------------------------

    def _named(self, ask: Ask) -> Pinned:
        if not ask.runs:
            return NOTHING
        if ask.folder == PRIVATE and (lost := self._pins.lost(ask.text)):
            raise CannotPin(lost_words(lost))
        return self._pins.pinned(ask.text, ask.folder)

    def _place(self) -> ConsentPlace:
        if self._real is None:
            self._real = os.path.realpath(self.workspace)
        return ConsentPlace(self._real, os.stat(self.workspace).st_ino)

    def _book(self) -> Book:
        version = self._file.version()
        if self._known is not None and version.exists and self._known[0] == version:
            return self._known[1]
        stored = self._file.read()
        book = read_book(stored.base)

        settled = stored.version.exists and stored.version.settled(time.time_ns())
        self._known = (stored.version, book) if settled else None
        return book


def blocked_json(ask: Ask, decision: ConsentDecision) -> dict[str, Any]:
    """Return one blocked ask under the keys of the interface, for lists that go with exit code 3."""
    return {
        "id": decision.short_id or None,
        "state": decision.state,
        "role": ask.role,
        "type": ask.kind,
        "name": ask.name,
        "file": ask.file,
        "line": ask.line + 1,
        "text": ask.text,
        "why": decision.why,
        "redirects": ask.redirects or None,
        "folder": None if ask.folder in ("", PRIVATE) else ask.folder,
        "files": [script.path for script in decision.pinned.scripts],
        "reads": list(decision.pinned.reads),
    }


def blocked_error(blocked: Sequence[tuple[Ask, ConsentDecision]]) -> BlockedError:
    """Return the error (exit code 3) for what did not run; `details["blocked"]` lists it as `blocked_json`."""
    few = ", ".join(_about(ask) for ask, _ in blocked[:3]) + (" …" if len(blocked) > 3 else "")
    return BlockedError(
        "trust.blocked",
        f"{len(blocked)} {'needs' if len(blocked) == 1 else 'need'} approval: {few}",
        "`memdeck trust list` shows them, a person approves them in a terminal",
        blocked=[blocked_json(ask, decision) for ask, decision in blocked],
    )


def _is_damaged(data: bytes) -> bool:
    try:
        read_book(data)
    except DamagedRecords:
        return True
    return False


def _about(ask: Ask) -> str:
    role = {"remediate": "remediation", "url": "address", TOLD: "text"}.get(ask.role, ask.role)
    return f"{role} of {ask.name[:60]!r}"


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).replace(microsecond=0).isoformat()


def _one(text: str, items: Iterable[T], key: Callable[[T], str]) -> T:
    """Return the item whose id begins with a text."""
    wanted = text.strip().lower().removeprefix("trust#")
    found = {key(item): item for item in items if len(wanted) >= 4 and key(item).startswith(wanted)}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise NotFoundError(
            "trust.not_found", f"nothing has the id {text[:40]!r}", "`memdeck trust list` shows what there is", id=text
        )
    raise AmbiguousError(
        "trust.ambiguous",
        f"{len(found)} ids begin with {wanted[:40]}",
        "write more of the id",
        candidates=[one[:16] for one in found],
    )
