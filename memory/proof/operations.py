"""The operations on entries in doubt: a person says that one is still true, or that another one supersedes it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory.errors import RefusedError
from memory.operations import Context, argument, option, verb
from memory.operations.result import Result, said
from memory.systems.entries import EntryAccess

from .findings import confirm, doubts_of, findings_of, withdraw


@verb(
    "still-true",
    serves="person",
    examples=("memdeck still-true knowledge#3fa94c1b2d", "memdeck still-true knowledge#3fa94c1b2d --revoke"),
)
@argument("ref", metavar="REF")
@option("--revoke", is_flag=True, help="Withdraw the confirmation.")
def still_true(context: Context, ref: str, revoke: bool) -> Result:
    """Say that an entry in doubt is still true: `check` and agents no longer hear of this doubt.

    Only a person can say it. A new doubt is told again.
    """
    if revoke:
        name = withdraw(context.workspace, ref, now=context.now)
        return said({"revoked": name}, f"no longer confirmed: {name}")
    found = confirm(context.workspace, ref, now=context.now)
    words = (f"still true: {one.title}; dismissed: {one.words}" for one in found)
    return said({"confirmed": [one.json() for one in found]}, *words)


@verb("relink", serves="change", examples=("memdeck relink", "memdeck relink knowledge#3fa94c1b2d"))
@argument("ref", metavar="[REF]", required=False)
def relink(context: Context, ref: str | None) -> Result:
    """Update the entry that names a file renamed in git, or all such entries.

    Each entry is a change of its own. A fact is stored again.
    """
    entries = EntryAccess(context.workspace, lambda: context.now)
    every = findings_of(context.workspace)
    chosen = [one for one in (every if ref is None else doubts_of(every, ref)[1]) if one.now and "#" in one.ref]
    done: list[dict[str, object]] = []
    for name in dict.fromkeys(one.ref for one in chosen):
        names = {one.was: one.now for one in chosen if one.ref == name}
        try:
            done.append(_renamed(entries, name, names, context.actor))
        except RefusedError as error:
            context.tell(f"{name}: {error.message}")
    context.made = "; ".join(str(one["summary"]) for one in done) or None
    return said({"changes": done}, *(str(one["summary"]) for one in done) if done else ("nothing to relink",))


def _renamed(entries: EntryAccess, ref: str, names: Mapping[str, str], actor: str) -> dict[str, object]:
    """Change the names of files in an entry, and return the answer of the change."""
    (entry,) = entries.read(ref, actor=actor)["entries"]
    text, fields = str(entry["text"]), entry["fields"]
    described = str(fields.get("description", "")) if entry["kind"] == "curated" else ""
    about = described
    for was, now in names.items():
        said, new = rf"(?<![\w/.-]){re.escape(was)}(?![\w/-])", now.replace("\\", r"\\")
        text, about = re.sub(said, new, text), re.sub(said, new, about)
    if entry["kind"] != "facts":
        changed = {"description": about} if about != described else None
        return entries.edit(ref, entry["hash"], set=changed, text=text, actor=actor)
    kept = {key: fields[key] for key in ("scope", "tags") if key in fields}
    added = entries.add("facts", text, kept, actor=actor)
    entries.remove(ref, entry["hash"], f"superseded by {added.get('ref')}", actor=actor)
    return added


@verb(
    "supersede",
    serves="change",
    examples=("memdeck supersede 'The port is 3000' --by 'The port is 8080'", "memdeck supersede facts#m-3"),
)
@argument("ref", metavar="REF")
@option("--by", metavar="REF", help="The entry that says what holds now.")
def supersede(context: Context, ref: str, by: str | None) -> Result:
    """Remove an entry that no longer holds, of any system; `memdeck undo` brings it back.

    The change log says which entry replaces it. Name the entry by its ref or its title.
    """
    entries = EntryAccess(context.workspace, lambda: context.now)
    newer = None if by is None else entries.read(by, actor=context.actor)["entries"][0]
    reason = "superseded" if newer is None else f"superseded by {newer['ref']} {newer['title']}"
    done = entries.remove(ref, reason=reason, actor=context.actor)
    context.made = done.get("summary")
    return said({**done, "by": None if newer is None else newer["ref"]}, done["summary"])
