"""The operations of agents on the entries of a workspace, for every interface."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import visible
from memory.errors import BlockedError, MemdeckError, NotFoundError, UsageError
from memory.files.operations import when
from memory.search.records import derived_ref

from .bounds import FEW, LONGEST_TEXT, MOST_VALUES, check_text, check_values, cut, page_of, read_cursor, refuse_cut
from .kinds import ALIASES, kind_named, kind_of_ref
from .kinds.kind import EntryCall, EntryKind
from .model import Changes, Check, EntryItem, Made, item_of, stale

if TYPE_CHECKING:
    from memory.search.searcher import Searcher
    from memory.workspace import Workspace

Json = dict[str, Any]
LARGEST = 60_000
"""Characters after which a page ends."""
RESERVED = frozenset({"match", "since", "until", "tag", "title", "section", "due", "agent", "path"})
"""Filter keys with a fixed meaning, whether or not an entry has a field of that name."""
_IN_LIST = 300
_LOOKED_AT = 200
_REMEMBERED = 2_000
_TRACED = 2


class EntryAccess:
    """Searches, reads and changes the entries of one workspace; safe to share between threads.

    Every answer is JSON-able, bounded, and safe to show: control and invisible characters are escaped. Returned entries
    are remembered, so that the error for a stale edit can say what changed since.
    """

    def __init__(self, workspace: Workspace, clock: Callable[[], datetime]) -> None:
        """`clock` returns the current aware time."""
        self.workspace = workspace
        self._clock = clock
        self._searcher: Searcher | None = None
        self._seen: OrderedDict[tuple[str, str], EntryItem] = OrderedDict()
        self._mutex = threading.RLock()

    @property
    def searcher(self) -> Searcher:
        """The searcher over all systems, created on demand."""
        if self._searcher is None:
            from memory.systems import searcher_of

            self._searcher = searcher_of(self.workspace)
        return self._searcher

    def let_go(self) -> None:
        """Release what can be read again, except the remembered entries: a stale edit still learns what changed."""
        with self._mutex:
            if self._searcher is not None:
                self._searcher.close()
            self.workspace.let_go()

    def close(self) -> None:
        """Close what is open outside the workspace."""
        self.let_go()
        self.workspace.close()

    # -- looking ------------------------------------------------------------------------------------------------

    def brief(self, message: str = "", budget: int | None = None, *, actor: str = "") -> Json:
        """Return `{"text", "tokens"}`: what an agent should know now, within a budget of tokens (100 to 20,000)."""
        from memory.prompts import DEFAULT_BUDGET, brief

        check_text("message", message)
        with self._mutex:
            most = DEFAULT_BUDGET if budget is None else max(100, min(budget, 20_000))
            found = brief(self.workspace, self._clock(), message, most, self.searcher, actor)
        return {"text": found.text, "tokens": found.used}

    def search(
        self, query: str, kinds: Sequence[str] = (), limit: int | None = None, cursor: str | None = None
    ) -> Json:
        """Return `{"results", "cursor"}`: the hits for a query, best first; see `memory.search`."""
        from memory.registry import kinds as known_kinds
        from memory.search.query import read_day, read_query

        check_text("query", query)
        named = tuple(ALIASES.get(kind, kind) for kind in kinds)
        unknown = [kind for kind in named if kind not in known_kinds()]
        if unknown:
            raise UsageError(
                "entry.kind", f"there is no kind {unknown[0][:40]!r}", f"use some of {', '.join(known_kinds())}"
            )
        start, _ = read_cursor(cursor)
        most = page_of(limit)
        with self._mutex:
            today = self._clock().astimezone(self.workspace.zone).date()
            asked = read_query(query, lambda day: read_day(day, today)).within(named)
            answer = self.searcher.search(asked, start + most + 1)
        hits = answer.every[start : start + most + 1]
        results = [
            {
                "ref": hit.entry.ref or derived_ref(hit.entry),
                "kind": hit.entry.kind,
                "title": cut(visible(hit.entry.title), 200),
                "snippet": visible(hit.snippet),
                "file": visible(hit.entry.file),
                "score": round(hit.score, 3),
            }
            for hit in hits[:most]
        ]
        return {"results": results, "cursor": f"{start + most}" if len(hits) > most else None}

    def read(
        self,
        ref: str | None = None,
        kind: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the argument
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Json:
        """Return `{"entries", "cursor"}`: the entry of a ref, or those of a kind that pass a filter."""
        if (ref is None) == (kind is None):
            raise UsageError("entry.arguments", "read takes a ref or a kind", "send one of them")
        with self._mutex:
            call = self._call("")
            if ref is not None:
                with self._traced(ref):
                    item = item_of(kind_named(kind_of_ref(ref), self.workspace).find(call, ref.strip()))
                return {"entries": [self._told(item)], "cursor": None}
            assert kind is not None
            return self._page(call, kind_named(kind, self.workspace), filter or {}, limit, cursor)

    def _page(
        self, call: EntryCall, kind: EntryKind, wanted: Mapping[str, Any], limit: int | None, cursor: str | None
    ) -> Json:
        check_values(wanted)
        wanted = self._dated(wanted)
        start, last = read_cursor(cursor)
        most = page_of(limit)
        records = iter(kind.list(call, wanted))
        read = list(islice(records, start + most))
        # The list may have shifted since: continue after the entry that was the last one.
        places = (at for at, record in enumerate(read, 1) if (record.ref or derived_ref(record)) == last)
        begin = max(places, default=start) if start and last else start
        read += islice(records, max(0, begin + most + 1 - len(read)))
        page = read[begin : begin + most + 1]
        if not page and not start:
            self._refuse_unknown(call, kind, wanted)
        told: list[Json] = []
        size = 0
        for record in page[:most]:
            entry = self._told(item_of(record), short=True, compact=kind.compact)
            size += len(str(entry))
            if told and size > LARGEST:
                break
            told.append(entry)
        more = f"{begin + len(told)}:{told[-1]['ref']}" if len(page) > len(told) else None
        return {"entries": told, "cursor": more}

    def _dated(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a filter with its days as ISO dates; words such as `yesterday` are converted."""
        days = [key for key in ("since", "until") if key in wanted]
        if not days:
            return wanted
        now, zone = self._clock(), self.workspace.zone
        return {**wanted, **{key: when(str(wanted[key]), now, zone, past=True)[:10] for key in days}}

    def _refuse_unknown(self, call: EntryCall, kind: EntryKind, wanted: Mapping[str, Any]) -> None:
        """Raise UsageError `entry.filter` for a field that no entry has, so that no answer is empty without reason."""
        asked = [key for key in wanted if key not in RESERVED]
        if not asked:
            return
        known: set[str] = set()
        for record in islice(kind.list(call, {"section": "all"}), _LOOKED_AT):
            told = record.item.json() if hasattr(record.item, "json") else {}
            known |= {*told, *(told.get("extra") or ())}
        for key in asked:
            if known and key not in known:
                names = ", ".join(sorted(known - {"ref", "line", "extra"}))
                raise UsageError("entry.filter", f"no entry has a field {key[:40]!r}", f"there is {names[:400]}")

    def history(self, ref: str | None = None, since: str | None = None, limit: int | None = None) -> Json:
        """Return `{"changes"}`: who changed what, the newest first; of one entry, or since a time."""
        from memory.base.dates import time_bound
        from memory.history.changes import list_changes, row

        if ref is not None:
            kind_of_ref(ref)
        with self._mutex:
            now = self._clock()
            check_text("since", since or "")
            first = None if since is None else time_bound(since, now, self.workspace.zone, end=False)
            self.workspace.notice(now)
            found = list_changes(self.workspace, limit=page_of(limit), entry=ref, since=first)
        rows = [row(record) for record in found]
        return {"changes": [_safe({**one, "entries": one["entries"][:FEW]}) for one in rows]}

    # -- changing -----------------------------------------------------------------------------------------------

    def add(
        self, kind: str, title: str, fields: Mapping[str, Any] | None = None, text: str | None = None, *, actor: str
    ) -> Json:
        """Add an entry and return `{"ref", "hash", "change"}`."""
        check_text("title", title)
        check_values(fields or {})
        check_text("text", text or "")
        with self._mutex:
            return self._answered(
                lambda: kind_named(kind, self.workspace).add(self._call(actor), title, fields or {}, text)
            )

    def edit(
        self,
        ref: str,
        hash: str,  # noqa: A002 - the name of the argument
        set: Mapping[str, Any] | None = None,  # noqa: A002
        unset: Sequence[str] = (),
        text: str | None = None,
        *,
        actor: str,
    ) -> Json:
        """Change an entry that still has the hash, and return `{"ref", "hash", "change"}`.

        ConflictError `entry.stale` with what changed, if it has another hash; then nothing is written.
        """
        check_values(set or {})
        check_text("text", text or "")
        changes = Changes(dict(set or {}), tuple(unset), text)
        if not changes.values and text is None:
            raise UsageError("entry.arguments", "nothing to change is given", "send set, unset or text")
        with self._mutex:
            kind = kind_named(kind_of_ref(ref), self.workspace)
            check = self._check(hash)

            def checked(item: EntryItem) -> None:
                check(item)
                if text is not None:
                    refuse_cut(item, text)

            with self._traced(ref):
                return self._answered(lambda: kind.edit(self._call(actor), ref.strip(), changes, checked))

    def remove(self, ref: str, hash: str, reason: str | None = None, *, actor: str) -> Json:  # noqa: A002
        """Remove an entry that still has the hash, and return `{"change"}`; errors as `edit`.

        The reason is stored in the change log, except for parts of the project state, which have their own summaries.
        """
        check_text("reason", reason or "")
        with self._mutex:
            kind = kind_named(kind_of_ref(ref), self.workspace)
            with self._traced(ref):
                found = self._answered(
                    lambda: kind.remove(self._call(actor, reason or ""), ref.strip(), self._check(hash))
                )
        return found if "proposal" in found else {"change": found["change"], "summary": found["summary"]}

    def review(self, id: str | None = None, *, actor: str) -> Json:  # noqa: A002
        """Return `{"proposals"}`: the proposals of `actor`, waiting for a person or decided; newest first."""
        from memory.review import Inbox, row

        with self._mutex:
            inbox = Inbox(self.workspace)
            found = inbox.list((), actor=actor, limit=FEW) if id is None else (inbox.get(id),)
        if id is not None and found[0].actor != actor:
            raise NotFoundError("review.not_found", f"no proposal of {actor} has the id {id[:40]!r}", "list them")
        return {"proposals": [_safe({**row(one), "entries": row(one)["entries"][:FEW]}) for one in found]}

    @contextmanager
    def _traced(self, ref: str) -> Iterator[None]:
        """Add the last changes of a ref to the error for a ref that is not found: who removed it, or its new name."""
        try:
            yield
        except NotFoundError as error:
            from memory.history.changes import list_changes, row

            with suppress(MemdeckError):
                self.workspace.notice(self._clock())
                found = list_changes(self.workspace, limit=_TRACED, entry=ref.strip())
                if found:
                    error.details["changes"] = [row(record) for record in found]
            raise

    # -- inside -------------------------------------------------------------------------------------------------

    def _call(self, actor: str, reason: str = "") -> EntryCall:
        return EntryCall(self.workspace, actor, self._clock(), reason)

    def _check(self, hash: str) -> Check:  # noqa: A002
        def check(item: EntryItem) -> None:
            if item.hash != hash:
                raise stale(item, self._seen.get((item.ref, hash)))

        return check

    def _answered(self, change: Callable[[], Made]) -> Json:
        """Return the result of a change, or `{"proposal"}` if it waits for a person."""
        try:
            made = change()
        except BlockedError as error:
            if error.code != "review.waiting":
                raise
            told = "nothing is changed yet: a person decides; ask review"
            return {"proposal": error.details["proposal"], "state": "waiting", "summary": told}
        item = made.item
        if item is not None:
            self._remember(item)
        return {
            "ref": None if item is None else item.ref,
            "hash": None if item is None else item.hash,
            "change": made.change,
            "file": None if item is None else item.file,
            "summary": visible(made.summary),
        }

    def _told(self, item: EntryItem, *, short: bool = False, compact: bool = False) -> Json:
        self._remember(item)
        told: Json = _safe(item.json(text=not (short and compact)), _IN_LIST if short else LONGEST_TEXT)
        return told

    def _remember(self, item: EntryItem) -> None:
        self._seen[item.ref, item.hash] = item
        self._seen.move_to_end((item.ref, item.hash))
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)


def error_json(error: MemdeckError) -> Json:
    """Return an error in the form for programs: `{"error": {"code", "message", "details"}}`, safe to show."""
    details = dict(error.details)
    if error.hint:
        details.setdefault("hint", error.hint)
    safe: Json = _safe({"error": {"code": error.code, "message": error.message, "details": details}})
    return safe


def _safe(value: Any, most: int = LONGEST_TEXT) -> Any:
    """Return a JSON-able value, with all hidden and control characters escaped; line ends stay.

    Texts are cut to `most` characters, lists to as many values as an agent may send.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return cut(visible(value, newlines=True), most)
    if isinstance(value, Mapping):
        return {visible(str(key)[:200]): _safe(one, most) for key, one in value.items()}
    if isinstance(value, Iterable):
        return [_safe(one, most) for one in islice(value, MOST_VALUES)]
    return cut(visible(str(value)), most)
