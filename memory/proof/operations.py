"""The operations on entries in doubt: a person says that one is still true, or that another one supersedes it."""

from __future__ import annotations

from memory.operations import Context, argument, option, verb
from memory.operations.result import Result, said
from memory.systems.entries import EntryAccess

from .findings import confirm, withdraw


@verb(
    "still-true",
    serves="change",
    examples=("memdeck still-true knowledge#3fa94c1b2d", "memdeck still-true knowledge#3fa94c1b2d --revoke"),
)
@argument("ref", metavar="REF")
@option("--revoke", is_flag=True, help="Take that back.")
def still_true(context: Context, ref: str, revoke: bool) -> Result:
    """Say that an entry in doubt is still true: `check` and agents are told no more what was found about it.

    Only a person can say it; reading an entry never counts. Anything else that is found later is told again.
    """
    if revoke:
        name = withdraw(context.workspace, ref, actor=context.actor, now=context.now)
        return said({"revoked": name}, f"no longer called still true: {name}")
    found = confirm(context.workspace, ref, actor=context.actor, now=context.now)
    words = (f"still true: {one.title}; told no more: {one.words}" for one in found)
    return said({"confirmed": [one.json() for one in found]}, *words)


@verb(
    "supersede",
    serves="change",
    examples=("memdeck supersede 'The port is 3000' --by 'The port is 8080'", "memdeck supersede facts#m-3"),
)
@argument("ref", metavar="REF")
@option("--by", metavar="REF", help="The entry that says what holds now.")
def supersede(context: Context, ref: str, by: str | None) -> Result:
    """Remove an entry that no longer holds, of any system; `memdeck undo` brings it back.

    The change log says which entry replaces it. It is named by its ref or its title.
    """
    entries = EntryAccess(context.workspace, lambda: context.now)
    newer = None if by is None else entries.read(by, actor=context.actor)["entries"][0]
    reason = "superseded" if newer is None else f"superseded by {newer['ref']} {newer['title']}"
    done = entries.remove(ref, reason=reason, actor=context.actor)
    context.made = done.get("summary")
    return said({**done, "by": None if newer is None else newer["ref"]}, done["summary"])
