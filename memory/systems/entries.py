"""The entries of a workspace by ref, in any system: programs search, read, add, edit and remove them."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import import_module
from itertools import chain, islice
from typing import Any

from memory.base.dates import time_bound
from memory.base.safe_text import cut, visible
from memory.base.values import alike
from memory.errors import AmbiguousError, BlockedError, MemdeckError, NotFoundError, UsageError
from memory.files.snapshot import kind_of
from memory.history.changes import row
from memory.history.logs import undo as take_back_last
from memory.operations import Day, Parameter, Values, Whole, argument
from memory.prompts.brief import DEFAULT_BUDGET, brief
from memory.prompts.compose import content_of, shortened
from memory.prompts.sheet import Sheet, read_choices
from memory.proof.findings import findings_of
from memory.registry import kinds as all_kinds
from memory.registry import registered
from memory.review.inbox import Inbox
from memory.search.hits import Hit
from memory.search.query import read_day, read_query
from memory.search.records import FoundEntry, Record, derived_ref, path_of
from memory.search.searcher import Searcher
from memory.storage.changes import AGENT
from memory.systems.entry_kinds import (
    Changes,
    Check,
    EntryCall,
    EntryItem,
    EntryKind,
    Made,
    item_of,
    stale,
)
from memory.workspace import Workspace

from . import records_of_all, searcher_of
from .field_words import plain_field, plain_fields
from .placing import ALIASES, MEMORY, USES, KindName, is_same, place_of, plain_kind
from .renaming import rename_word
from .table_entries import TableEntries

Json = dict[str, Any]
LONGEST = 100_000
"""Maximum characters of one text."""
LONGEST_TEXT = 20_000
"""Characters of an entry's text in an answer."""
MOST = 50
"""Maximum results and entries of one answer."""
FEW = 20
"""The default number of results and entries."""
MOST_VALUES = 60
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CURSOR = re.compile(r"([0-9]{1,7})(?::(\S{1,300}))?")
LARGEST = 60_000
"""Characters after which a page ends."""
KINDS_HELP = "\n".join(f"{name}: {use}" for name, use in USES.items())
_SNIPPET, _SHOWN = 300, 8
_IN_LIST = 300
_LOOKED_AT = 200
_REMEMBERED = 2_000
_TRACED = 2


def _takes(name: str, **settings: Any) -> Parameter:
    """Return a parameter of a tool, which has the same name in messages as in calls."""
    return argument(name, metavar=name, **{"default": None, **settings})


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
            self._searcher = searcher_of(self.workspace)
        return self._searcher

    def close(self) -> None:
        """Close the open files outside the workspace."""
        with self._mutex:
            if self._searcher is not None:
                self._searcher.close()
            self.workspace.close()

    # -- looking ------------------------------------------------------------------------------------------------

    @_takes("message", help="the person's")
    @_takes("budget", type=Whole(100, 20_000), help="tokens (1000)")
    def brief(self, message: str | None = None, budget: int | None = None, *, actor: str = "") -> Json:
        """Return `{"text", "tokens"}`: what an agent should know now, within a budget of tokens (100 to 20,000).

        What an actor is told is counted in the balance sheet, unless that is switched off.
        """
        check_text("message", message or "")
        with self._mutex:
            most = DEFAULT_BUDGET if budget is None else max(100, min(budget, 20_000))
            now, state = self._clock(), self.workspace.state
            found = brief(self.workspace, now, message or "", most, self.searcher, actor)
            with suppress(MemdeckError, OSError):
                if actor and read_choices(state).counts:
                    Sheet(state).sent(found.blocks, actor.removeprefix(AGENT), "", now, message or "")
        return {"text": found.text, "tokens": found.used}

    @_takes("query", required=True)
    @_takes("kinds", multiple=True)
    @_takes("limit", type=Whole(1, MOST))
    @_takes("cursor")
    def search(
        self,
        query: str,
        kinds: Sequence[str] = (),
        limit: int | None = None,
        cursor: str | None = None,
        *,
        actor: str = "",
    ) -> Json:
        """Return `{"results", "cursor"}`: the hits for a query, best first; see `memory.search`. An empty query lists
        the newest. Each has the hash for an edit, and what it says besides its title.
        """
        check_text("query", query)
        unknown = [kind for kind in kinds if plain_kind(kind)[0] not in all_kinds()]
        if unknown:
            raise UsageError("entry.kind", f"there is no kind {unknown[0][:40]!r}", f"use some of {', '.join(USES)}")
        start, _ = read_cursor(cursor)
        most = page_of(limit)
        with self._mutex:
            today = self._clock().astimezone(self.workspace.zone).date()
            meant = [self._meant(kind) for kind in kinds]
            named = tuple(name for name, _ in meant)
            parts = [(name, fields) for name, fields in meant if fields and (name, {}) not in meant]
            wanted = start + most + 1 if not parts else _REMEMBERED
            if query.strip():
                asked = read_query(query, lambda day: read_day(day, today)).within(named)
                hits: Sequence[Hit] = self.searcher.search(asked, wanted).every
            else:
                hits = self._newest(named, wanted)
            if parts:  # Of these kinds only some entries are meant, such as the gotchas of the project state.
                listed = (kind_named(name, self.workspace).list(self._call(""), fields) for name, fields in parts)
                refs = {one.ref or derived_ref(one) for records in listed for one in records}
                some = {name for name, _ in parts}
                hits = [
                    hit
                    for hit in hits
                    if hit.entry.kind not in some or (hit.entry.ref or derived_ref(hit.entry)) in refs
                ]
            results = [self._hit(hit) for hit in hits[start : start + most]]
        return {"results": results, "cursor": f"{start + most}" if len(hits) > start + most else None}

    def _newest(self, kinds: tuple[str, ...], most: int) -> Sequence[Hit]:
        """Return the newest entries as hits of a search for nothing; those without a date are the last."""
        records = [one for one in records_of_all(self.workspace, kinds or None, {}) if "archive/" not in one.file]
        records.sort(key=lambda one: one.date, reverse=True)
        return [
            Hit(FoundEntry(one.kind, one.file, one.title, one.text, one.date, one.ref, one.line, one.tags), 1.0, "")
            for one in records[:most]
        ]

    def _hit(self, hit: Hit) -> Json:
        entry = hit.entry
        ref = entry.ref or derived_ref(entry)
        said = shortened(content_of(entry.kind, entry.title, entry.text), _SNIPPET, hit.snippet)
        found: EntryItem | None = None
        with suppress(MemdeckError):
            found = item_of(kind_named(entry.kind, self.workspace).find(self._call(""), ref))
            self._remember(found)
        fields = {} if found is None else found.fields
        return {
            "ref": ref,
            "hash": None if found is None else found.hash,
            "kind": entry.kind,
            "title": cut(visible(entry.title), 200),
            "snippet": visible(said) or "; ".join(_field(key, one) for key, one in fields.items())[:_SNIPPET],
            "file": visible(path_of(entry.kind, entry.file)),
            "score": round(hit.score, 3),
        }

    @_takes("ref", help="or a title")
    @_takes("kind", type=KindName())
    @_takes("filter", type=Values(), help="section, due, tag, match, since, until, any field")
    @_takes("limit", type=Whole(1, MOST))
    @_takes("cursor")
    def read(
        self,
        ref: str | None = None,
        kind: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the argument
        limit: int | None = None,
        cursor: str | None = None,
        *,
        actor: str = "",
    ) -> Json:
        """Return `{"entries", "cursor"}`: the entry of a ref or a title, or those of a kind that pass a filter.

        `waiting` of one entry are the actor's own proposals about it that wait for a person, `doubts` what speaks
        against it: it names what is gone, or a newer entry says otherwise.
        """
        if (ref is None) == (kind is None):
            raise UsageError("entry.arguments", "read takes a ref or a kind", 'send ref="tasks#…" or kind="tasks"')
        with self._mutex:
            call = self._call("")
            if ref is not None:
                ref = self._named(ref)
                with self._traced(ref):
                    item = item_of(kind_named(kind_of_ref(ref), self.workspace).find(call, ref))
                told = self._told(item)
                if waiting := self._waiting(item.ref, actor):
                    told["waiting"] = waiting
                if doubts := [one.told for one in findings_of(self.workspace) if one.ref == item.ref]:
                    told["doubts"] = safe_json(doubts)
                return {"entries": [told], "cursor": None}
            assert kind is not None
            name, implied = self._meant(kind)
            return self._page(
                call, kind_named(name, self.workspace), {**implied, **(filter or {})}, limit, cursor, name
            )

    def _named(self, ref: str) -> str:
        """Return the ref of an entry: the text itself, or that of the one entry whose title it is or is a part of.

        NotFoundError `entry.not_found`, AmbiguousError `entry.ambiguous` with the candidates.
        """
        text = ref.strip()
        with suppress(UsageError):
            kind_of_ref(text)
            return text
        wanted = alike(text)
        every = chain(records_of_all(self.workspace, None, {}), *(one.also_told() for one in self.workspace.systems()))
        records = [one for one in every if "archive/" not in one.file] if wanted else []
        found = [one for one in records if alike(one.title) == wanted]
        found = found or [one for one in records if wanted in alike(one.title)]
        refs = dict.fromkeys(one.ref or derived_ref(one) for one in found)
        if not refs:
            raise NotFoundError("entry.not_found", f"no entry is called {text[:60]!r}", f'search query="{text[:60]}"')
        if len(refs) > 1:
            few = [{"ref": one.ref or derived_ref(one), "title": visible(one.title)[:100]} for one in found[:_SHOWN]]
            words = f"{len(refs)} entries are called {text[:60]!r}"
            raise AmbiguousError("entry.ambiguous", words, f'send ref="{few[0]["ref"]}" or another', candidates=few)
        return next(iter(refs))

    def _meant(self, kind: str) -> tuple[str, Mapping[str, Any]]:
        """Return the kind of a plain name in this workspace, and the filter that selects its entries."""
        name, implied = plain_kind(kind)
        place = place_of(self.workspace, kind, "", "", {}) if implied else None
        if place is None:
            return name, {}
        # The scope is where a new entry goes; those of all scopes are meant.
        return place.kind, {key: value for key, value in place.fields.items() if key != "scope"}

    def _waiting(self, ref: str, actor: str) -> list[str]:
        """Return sentences about the actor's own proposals about an entry that wait for a person."""
        found = Inbox(self.workspace.together).list(actor=actor, limit=FEW) if actor else ()
        mine = (one for one in found if any(ref in (part.ref, part.old_ref) for part in one.touched))
        return [f"your proposal {one.id} waits for a person: {visible(one.wanted)}" for one in mine]

    def _page(
        self,
        call: EntryCall,
        kind: EntryKind,
        wanted: Mapping[str, Any],
        limit: int | None,
        cursor: str | None,
        name: str,
    ) -> Json:
        check_values(wanted)
        known = ("match", "title", "tag", "since", "until", *kind.filters)
        wanted = {key if key in known else plain_field(name, key): value for key, value in wanted.items()}
        wanted = self._dated(wanted)
        start, last = read_cursor(cursor)
        most = page_of(limit)
        self._refuse_useless(call, kind, wanted)
        records = iter(kind.list(call, wanted))
        read = list(islice(records, start + most))
        # The list may have shifted since: continue after the entry that was the last one.
        places = (at for at, record in enumerate(read, 1) if (record.ref or derived_ref(record)) == last)
        begin = max(places, default=start) if start and last else start
        read += islice(records, max(0, begin + most + 1 - len(read)))
        page = read[begin : begin + most + 1]
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
        return {**wanted, **{key: Day().written(str(wanted[key]), now, zone) for key in days}}

    def _refuse_useless(self, call: EntryCall, kind: EntryKind, wanted: Mapping[str, Any]) -> None:
        """Raise UsageError `entry.filter` for a filter that no entry of the kind has, with those that it has."""
        asked = [key for key in wanted if key not in ("match", "title", *kind.filters)]
        looked = list(islice(kind.list(call, {"section": "all"} if "section" in kind.filters else {}), _LOOKED_AT))
        if not asked or not looked:
            return
        known: set[str] = {"match", "title", *kind.filters}
        for record in looked:
            told = record.item.json() if hasattr(record.item, "json") else {}
            known |= {*told, *(told.get("extra") or ())}
            known |= {"since", "until"} if record.date else set()
            known |= {"tag"} if record.tags else set()
        for key in asked:
            if key not in known:
                names = ", ".join(sorted(known - {"ref", "line", "extra"}))
                raise UsageError("entry.filter", f"no entry has {key[:40]!r} to filter by", f"use {names[:400]}")

    @_takes("ref")
    @_takes("since")
    @_takes("limit", type=Whole(1, MOST))
    def history(
        self,
        ref: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        *,
        actor: str = "",
    ) -> Json:
        """Return `{"changes"}`: who changed what, the newest first; of one entry, or since a time."""
        with self._mutex:
            ref = None if ref is None else self._named(ref)
            now = self._clock()
            check_text("since", since or "")
            first = None if since is None else time_bound(since, now, self.workspace.zone, end=False)
            self.workspace.notice(now)
            history, most, file = self.workspace.store.history, page_of(limit), None
            if ref is not None and kind_of_ref(ref) == "curated":  # One memory is one file.
                with suppress(NotFoundError):
                    file = kind_named("curated", self.workspace).find(self._call(""), ref).file
            entry = ref if file is None else None
            found = history.list(limit=most, entry=entry, file=file, since=first)
        rows = [row(record) for record in found]
        return {"changes": [safe_json({**one, "entries": one["entries"][:FEW]}) for one in rows]}

    # -- changing -----------------------------------------------------------------------------------------------

    @_takes("kind", type=KindName((MEMORY,)), help=KINDS_HELP)
    @_takes("title")
    @_takes("fields", type=Values(), help='{"due":"fri 9:00","recurring":"every monday 9:00"}')
    @_takes("text")
    @_takes("again", is_flag=True, help="even if one exists")
    @_takes("entries", multiple=True, type=Values(), help="several, each with these arguments")
    def add(
        self,
        kind: str | None = None,
        title: str | None = None,
        fields: Mapping[str, Any] | None = None,
        text: str | None = None,
        again: bool = False,
        entries: Sequence[Mapping[str, Any]] = (),
        *,
        actor: str,
    ) -> Json:
        """Add an entry and return `{"ref", "hash", "change"}`; an existing one is returned with `exists`.

        Without a kind, or with `memory`, the kind is chosen by what the entry says; `where` says which it is. With
        `entries` several are added, and the answer is `{"added"}` with the answer to each.
        """
        if entries:
            if title is not None or len(entries) > FEW:
                raise UsageError(
                    "entry.arguments", f"entries are at most {FEW}, without a title beside them", "send them"
                )
            return {"added": [self._added_one(one, actor) for one in entries]}
        values = dict(fields or {})
        check_values(values)
        name = title or str(values.pop("title", None) or values.pop("name", ""))
        if not name.strip():
            raise UsageError("entry.arguments", "add needs a title", 'send title="…", and text for more')
        check_text("title", name)
        check_text("text", text or "")
        with self._mutex:
            place = place_of(self.workspace, kind or "", name, text or "", values)
            chosen, call = kind_named(place.kind, self.workspace), self._call(actor)
            sent = plain_fields(place.name if place.kind == "state" else place.kind, place.fields)
            if not again:
                for record in chosen.list(call, {}):
                    if is_same(record, place.kind, name, text or "", sent):
                        return self._existing(record)
            answer = self._answered(lambda: chosen.add(call, name, sent, text), sent)
        return {**answer, "kind": place.kind, "where": place.words()}

    def _added_one(self, given: Mapping[str, Any], actor: str) -> Json:
        """Return the answer to one of several entries, which is its error where it cannot be added.

        What is no argument of `add` is a field.
        """
        known = {key: given[key] for key in ("kind", "title", "text", "again") if key in given}
        fields = given.get("fields") or {}
        more = {key: one for key, one in given.items() if key not in known and key != "fields"}
        try:
            if not isinstance(fields, Mapping):
                raise UsageError("entry.arguments", "fields is not an object", 'send {"name": "value"}')
            return self.add(**known, fields={**more, **fields}, actor=actor)
        except MemdeckError as error:
            return error_json(error)

    def _existing(self, record: Record) -> Json:
        item = item_of(record)
        told = {**self._told(item, short=True), "change": None, "exists": True}
        return {**told, "summary": "it already exists: edit it by this ref and hash, or add it with again=true"}

    @_takes("ref", help="or a title")
    @_takes("hash", help="of what you read")
    @_takes("set", type=Values(), help='{"section":"completed","outcome":"…"} finishes a task')
    @_takes("unset", multiple=True)
    @_takes("text", help="replaces the whole text")
    @_takes("append", help="adds to it")
    @_takes("rename", type=Values(), help='{"from","to"}: a word, in all entries')
    @_takes("undo", is_flag=True, help="undoes your last change")
    def edit(
        self,
        ref: str | None = None,
        hash: str | None = None,  # noqa: A002 - the name of the argument
        set: Mapping[str, Any] | None = None,  # noqa: A002
        unset: Sequence[str] = (),
        text: str | None = None,
        append: str | None = None,
        rename: Mapping[str, Any] | None = None,
        undo: bool = False,
        *,
        actor: str,
    ) -> Json:
        """Change an entry, by its ref or title, and return `{"ref", "hash", "change"}`.

        ConflictError `entry.stale` with what changed, if it has another hash than the given one; then nothing is
        written. `rename` replaces a word in all entries of the memory files, `undo` takes back the actor's last change.
        """
        for given in (set, rename):
            check_values(given or {})
        for name, said in (("text", text), ("append", append)):
            check_text(name, said or "")
        with self._mutex:
            if undo:
                return self._answered(lambda: self._undone(actor))
            if rename is not None:
                return self._answered(lambda: self._renamed(rename, actor))
            changes = Changes(dict(set or {}), tuple(unset), text, append)
            if ref is None or (not changes.values and text is None and append is None):
                words = "edit takes a ref, and set, unset, text or append"
                raise UsageError("entry.arguments", words, "no change is given")
            if append is not None and (changes.values or text is not None):
                raise UsageError("entry.arguments", "append cannot be combined", "send it without set, unset and text")
            ref = self._named(ref)
            wanted = hash if text is None else hash or self._last_seen(ref)
            if text is not None and wanted is None:
                words = "replacing a text needs the hash of what you read"
                raise UsageError("entry.hash", words, f'read ref="{ref[:60]}", or use append or set')
            named = kind_of_ref(ref)
            kind = kind_named(named, self.workspace)
            if named == "state":
                named = "gotchas" if ref.startswith("state#gotcha") else "next-steps"
            sent = plain_fields(named, changes.set)
            changes = changes._replace(set=sent, unset=tuple(plain_field(named, key) for key in unset))
            check = self._check(wanted)

            def checked(item: EntryItem) -> None:
                check(item)
                if text is not None:
                    refuse_cut(item, text)

            with self._traced(ref):
                return self._answered(lambda: kind.edit(self._call(actor), ref, changes, checked), sent)

    def _undone(self, actor: str) -> Made:
        taken = take_back_last(self.workspace.together, actor=actor, now=self._clock())
        return Made(None, taken.change.id, taken.change.summary)

    def _renamed(self, words: Mapping[str, Any], actor: str) -> Made:
        outcome = rename_word(self.workspace, words, actor=actor, now=self._clock())
        return Made(None, outcome.change.id, outcome.summary)

    @_takes("ref", required=True, help="or a title")
    @_takes("hash", help="of what you read")
    @_takes("reason")
    def remove(self, ref: str, hash: str | None = None, reason: str | None = None, *, actor: str) -> Json:  # noqa: A002
        """Remove an entry and return `{"change"}`; errors as `edit`. Without a hash it must be as it was last answered
        here, if it was.

        The reason is stored in the change log, except for parts of the project state, which have their own summaries.
        """
        check_text("reason", reason or "")
        with self._mutex:
            ref = self._named(ref)
            kind = kind_named(kind_of_ref(ref), self.workspace)
            with self._traced(ref):
                check = self._check(hash or self._last_seen(ref))
                found = self._answered(lambda: kind.remove(self._call(actor, reason or ""), ref, check))
        return found if "proposal" in found else {"change": found["change"], "summary": found["summary"]}

    @_takes("id")
    def review(self, id: str | None = None, *, actor: str) -> Json:  # noqa: A002
        """Return `{"proposals"}`: the proposals of `actor`, waiting for a person or decided; newest first."""
        with self._mutex:
            inbox = Inbox(self.workspace.together)
            found = inbox.list((), actor=actor, limit=FEW) if id is None else (inbox.get(id),)
        if id is not None and found[0].actor != actor:
            raise NotFoundError("review.not_found", f"no proposal of {actor} has the id {id[:40]!r}", "list them")
        rows = [one.row() for one in found]
        return {"proposals": [safe_json({**row, "entries": row["entries"][:FEW]}) for row in rows]}

    @contextmanager
    def _traced(self, ref: str) -> Iterator[None]:
        """Add the last changes of a ref to the error for a ref that is not found: who removed it, or its new name."""
        try:
            yield
        except NotFoundError as error:
            with suppress(MemdeckError):
                self.workspace.notice(self._clock())
                found = self.workspace.store.history.list(limit=_TRACED, entry=ref.strip())
                if found:
                    error.details["changes"] = [row(record) for record in found]
            raise

    # -- inside -------------------------------------------------------------------------------------------------

    def _call(self, actor: str, reason: str = "") -> EntryCall:
        return EntryCall(self.workspace, actor, self._clock(), reason)

    def _check(self, hash: str | None) -> Check:  # noqa: A002
        def check(item: EntryItem) -> None:
            if hash is not None and item.hash != hash:
                raise stale(item, self._seen.get((item.ref, hash)))

        return check

    def _last_seen(self, ref: str) -> str | None:
        """Return the hash with which an entry was answered last, None if it was not."""
        return next((seen for name, seen in reversed(self._seen) if name == ref), None)

    def _answered(self, change: Callable[[], Made], given: Collection[str] = ()) -> Json:
        """Return the result of a change, or `{"proposal"}` if it waits for a person.

        The summary names the fields among those `given` that the kind does not have, and that are kept as they are.
        """
        try:
            made = change()
        except BlockedError as error:
            if error.code != "review.waiting":
                raise
            name = error.details["proposal"]
            told = f'nothing is changed yet: a person decides; go on, and ask review id="{name}" later'
            return {"proposal": name, "state": "waiting", "summary": told}
        item = made.item
        extra: list[str] = []
        if item is not None:
            self._remember(item)
            extra = [key for key in given if key in (item.fields.get("extra") or ())]
        kept = f"; kept as fields of your own: {', '.join(extra)}" if extra else ""
        return {
            "ref": None if item is None else item.ref,
            "hash": None if item is None else item.hash,
            "change": made.change,
            "file": None if item is None else visible(item.file),
            "summary": visible(made.summary + kept),
        }

    def _told(self, item: EntryItem, *, short: bool = False, compact: bool = False) -> Json:
        self._remember(item)
        told: Json = safe_json(item.json(text=not (short and compact)), _IN_LIST if short else LONGEST_TEXT)
        return told

    def _remember(self, item: EntryItem) -> None:
        self._seen[item.ref, item.hash] = item
        self._seen.move_to_end((item.ref, item.hash))
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)


def error_json(error: MemdeckError) -> Json:
    """Return an error in the form for programs: `{"error": {"code", "message", "details"}}`, safe to show."""
    safe: Json = safe_json(error.document())
    return safe


def safe_json(value: Any, most: int | None = LONGEST_TEXT) -> Any:
    """Return a JSON-able value, with all hidden and control characters escaped; line ends stay.

    Texts are cut to `most` characters, lists to as many values as an agent may send; with None nothing is.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        shown = visible(value, newlines=True)
        return shown if most is None else cut(shown, most)
    if isinstance(value, Mapping):
        return {visible(str(key)[:200]): safe_json(one, most) for key, one in value.items()}
    if isinstance(value, Iterable):
        return [safe_json(one, most) for one in islice(value, None if most is None else MOST_VALUES)]
    return safe_json(str(value), most)


def _field(name: str, value: Any) -> str:
    """Return a field and its value on a line; the parts of a list are joined by commas."""
    safe = safe_json(value)
    return f"{name}: {', '.join(map(str, safe)) if isinstance(safe, list) else safe}"


# -- kinds -----------------------------------------------------------------------------------------------------------


def kind_named(name: str, workspace: Workspace) -> EntryKind:
    """Return the operations of a kind; UsageError `entry.kind`, NotFoundError `entry.no_system` if no system of the
    workspace has it.
    """
    name = ALIASES.get(name, name)
    owner = next((one for one in registered() if name in one.kinds), None)
    if owner is None:
        raise UsageError(
            "entry.kind",
            f"there is no kind {name[:40]!r}",
            f"use one of {', '.join(dict.fromkeys([*USES, *all_kinds()]))}",
        )
    if owner.name not in workspace.system_names():
        held = ", ".join(kind for one in registered() if one.name in workspace.system_names() for kind in one.kinds)
        what = "memory of a client" if name == "memory" else name
        raise NotFoundError("entry.no_system", f"this workspace has no {what}", f"it holds {held}; add kind=memory")
    module, _, attribute = owner.entries.partition(":")
    own: Mapping[str, EntryKind] = getattr(import_module(module), attribute) if module else {}
    return own.get(name) or TableEntries(name)


def kind_of_ref(ref: str) -> str:
    """Return the kind of a ref; UsageError `entry.ref` for a text that is no ref."""
    scope, mark, rest = ref.strip().rpartition("#")
    if not (scope and mark and rest) or len(ref) > 300:
        raise UsageError(
            "entry.ref", f"{ref[:60]!r} is not a ref", "take one from search or read, such as tasks#3fa94c1b2d"
        )
    if scope in ALIASES or scope in all_kinds():
        return ALIASES.get(scope, scope)
    return kind_of(scope if scope.endswith(".md") else f"{scope}.md") or scope


# -- limits of answers -----------------------------------------------------------------------------------------------


def check_text(name: str, text: Any) -> None:
    """Raise UsageError `entry.text` for a text that a file cannot contain: no UTF-8, control characters, or more than
    `LONGEST` characters.
    """
    if not isinstance(text, str):
        raise UsageError("entry.text", f"{name[:40]} is not text", "send a text")
    if len(text) > LONGEST:
        raise UsageError("entry.text", f"{name[:40]} is longer than {LONGEST:,} characters", "send less")
    if _CONTROL.search(text):
        raise UsageError("entry.text", f"{name[:40]} holds control characters", "send plain text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("entry.text", f"{name[:40]} is not valid Unicode", "send plain text") from None


def check_values(values: Mapping[str, Any]) -> None:
    """Raise UsageError `entry.value` for values that are too many, too deep, or contain invalid text."""
    _check("fields", values, 0)


def _check(name: str, value: Any, depth: int) -> None:
    if isinstance(value, str):
        check_text(name, value)
    elif isinstance(value, (Mapping, list)):
        if len(value) > MOST_VALUES or depth > 3:
            raise UsageError("entry.value", f"{name[:40]} holds too much", f"send at most {MOST_VALUES} values")
        for key in value:
            if isinstance(value, Mapping):
                check_text("a name", key)
                _check(str(key), value[key], depth + 1)
            else:
                _check(name, key, depth + 1)
    elif isinstance(value, float) and value != value:
        raise UsageError("entry.value", f"{name[:40]} is not a number", "send a number")
    elif isinstance(value, int) and abs(value) > 10**15:
        raise UsageError("entry.value", f"{name[:40]} is too large", "send a smaller number")


def refuse_cut(item: EntryItem, text: str) -> None:
    """Raise UsageError `entry.cut` for a text that is the shortened form of the entry's own text from an answer:
    writing it would lose the rest. An entry whose text does not fit into an answer accepts no text at all.
    """
    shown = visible(item.text, newlines=True)
    sent = text.rstrip()
    if len(shown) > LONGEST_TEXT or (sent.endswith("…") and len(sent) < len(shown) and shown.startswith(sent[:-1])):
        raise UsageError(
            "entry.cut", f"the text of {item.ref} is longer than the sent part", "read it by its ref, or set fields"
        )


def page_of(limit: int | None) -> int:
    """Return the size of a page: as many as requested, at least one and at most `MOST`."""
    return FEW if limit is None else max(1, min(limit, MOST))


def read_cursor(cursor: str | None) -> tuple[int, str | None]:
    """Return the start of a page and the entry before it; UsageError `entry.cursor`."""
    if cursor is None or not cursor:
        return 0, None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise UsageError("entry.cursor", f"{cursor[:40]!r} is not a cursor", "send back the one of the page before")
    return int(found[1]), found[2]
