"""Conversion of curated memories from and to other memories; every incoming memory passes the controller."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memory.base.items import Committed, Item, Loss, Skipped, Taken, comma_losses
from memory.curated.control.decision import LONGEST, Candidate, first_line
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.files import LONGEST as LONGEST_SLUG
from memory.curated.files import filename, slug
from memory.curated.model import SCOPES, TYPES, Header, Invalid, Memory, OperationCall, Root
from memory.document.item_block import body_of, item_of_block
from memory.errors import MemdeckError, UsageError
from memory.storage import Change

_TYPES = {"contact": "user", "task": "project", "next-step": "project", "decision": "project"}
_HEADER = ("description", "type", "scope", "agent", "tier")
"""The fields of a memory's header."""


def items_of(memories: Sequence[Memory], invalid: Sequence[Invalid], folder: str) -> Iterator[Item | Skipped]:
    """Yield memories as items; files that are not memories are yielded as skipped with their reason."""
    for one in memories:
        header = one.header
        where = f"{folder}/{one.root.folder}/{one.filename}"
        found = item_of_block("memory", header.name, one.body, where)
        said = {"description": header.description, "type": header.type, "scope": one.root.scope}
        if one.root.agent:
            said |= {"agent": one.root.agent, "tier": one.root.tier or ""}
        if found.kind == "memory":
            created = found.created or header.provenance.created_at or ""
            yield Item("memory", header.name, one.body.strip("\n"), where, created, (), said)
        else:
            text = "" if found.text == found.title else found.text
            yield Item(found.kind, found.title, text, where, found.created, found.tags, found.fields)
    for bad in invalid:
        yield Skipped(f"{folder}/{bad.root.folder}/{bad.filename}:{bad.line}", bad.reason)


def take(curated: Curated, items: Sequence[Item], place: str, call: OperationCall) -> Taken:
    """Convert items to memories of a scope (default: the workspace), each decided by the controller.

    What the controller rejects or knows already is skipped with its reason. No existing memory is changed: where
    another memory has the name of an item, a number is appended to the item's name.
    """
    scope = place or "workspace"
    if scope not in SCOPES or scope == "agent":
        raise UsageError("convert.scope", f"{scope[:40]!r} is not a scope for it", "use workspace or global")
    root = curated.root(scope)
    planned: list[tuple[Item, Candidate]] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    files: set[str] = set()
    for item in items:
        try:
            candidate = _candidate(root, item)
        except MemdeckError as error:
            skipped.append(Skipped(item.what, error.message))
            continue
        name, candidate = _named(curated, candidate, files)
        why, _ = _outcome(curated, candidate, call, dry_run=True)
        if why:
            skipped.append(Skipped(item.what, why))
            continue
        files.add(name)
        planned.append((item, candidate))
        losses += comma_losses(item)
        if candidate.header is not None and candidate.header.name != item.title:
            words = f"another memory has that name: this one is {candidate.header.name!r}"
            losses.append(Loss(item.what, "title", words))

    def commit() -> Committed:
        changes: list[str] = []
        refused: list[tuple[Item, str]] = []
        for item, candidate in planned:
            why, change = _outcome(curated, candidate, call)
            if why:
                refused.append((item, why))
            elif change is not None:
                changes.append(change.id)
        return Committed(changes, refused)

    return Taken([item for item, _ in planned], skipped, losses, commit)


def _named(curated: Curated, candidate: Candidate, files: Collection[str]) -> tuple[str, Candidate]:
    """Return the file name of a candidate, and the candidate with a number behind its name where that file is taken.

    `files` are the file names of the other items of the same conversion.
    """
    assert candidate.header is not None
    header = candidate.header
    name = filename(header.type, header.name)
    taken = {*files, *(one.filename for one in curated.memories([candidate.root]))}
    if name not in taken:
        return name, candidate
    stem, number = slug(header.name), 2
    # The number must stay in the file name even where that holds only the beginning of the name.
    while (name := f"{header.type}_{stem[: LONGEST_SLUG - len(f'-{number}')]}-{number}.md") in taken:
        number += 1
    renamed = header._replace(name=f"{header.name} ({number})")
    return name, candidate._replace(header=renamed, metadata={"target_filename": name})


def _outcome(
    curated: Curated, candidate: Candidate, call: OperationCall, *, dry_run: bool = False
) -> tuple[str, Change | None]:
    """Return why a candidate is not taken, empty where it is, and the change that it made."""
    try:
        made = propose(curated, candidate, call, dry_run=dry_run)
    except MemdeckError as error:
        return error.message, None
    return ("" if made.decision.changes else made.decision.reason), made.change


def _candidate(root: Root, item: Item) -> Candidate:
    kind = item.fields.get("type", "")
    kind = kind if kind in TYPES else _TYPES.get(item.kind, "reference")
    rest = {key: value for key, value in item.fields.items() if key not in _HEADER or item.kind != "memory"}
    plain = item.kind in ("memory", "note", "fact") and not rest and not item.tags
    # A memory needs a body: two with the same body are one to the controller, even under two names.
    text = item.text or item.title
    kept = Item(item.kind, item.title, text, item.where, item.created, item.tags, rest)
    content = text if plain else body_of(kept)
    description = item.fields.get("description") or first_line(item.text) or item.title[:LONGEST]
    header = Header(item.title, description, kind, root.scope, root.agent, root.tier)
    return Candidate(root, "cli", header, content, only_new=True)
