"""The operations of consent that need no terminal: what memory files ask to run, denials, and taking decisions back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from memory.errors import UsageError
from memory.operations import Context, Group, argument, option, under
from memory.operations.result import Paint, Result, said
from memory.systems import approvals_of, asks_of_all, entrust, waiting_in
from memory.systems.suspects import asks_to_tell

from .asks import Ask
from .consent import SHORT, ConsentDecision, ConsentRecord, Trust, blocked_json

TOLD = "told"
_STATES = ("pending", "withdrawn", "refused", "denied", "approved", "unused")

trust = Group("trust", "Approve, deny and revoke what memory files may run; nothing runs before that.")
an_id = argument("ask_id", metavar="ID", required=False)
all_checks = option("--workspace", "whole", is_flag=True, help="All outgoing checks of public addresses.")


@trust.look("list", "", "--blocked -o json")
@option("--blocked", is_flag=True, help="Only what is blocked.")
def list_trust(context: Context, blocked: bool) -> Result:
    """List what memory files want to run or connect to, and whether it is approved.

    It also lists texts that look suspicious: agents are told of one only after a person approves exactly its bytes.
    """
    kept = context.trust
    decided = approvals_of(context.workspace, kept, context.environ)
    waiting = len(waiting_in(decided))
    texts = asks_to_tell(context.workspace)
    both = [*((ask, decision) for _, ask, decision in decided), *((ask, kept.decide(ask)) for ask in texts)]
    rows = [
        {**blocked_json(ask, decision), "record": decision.id}
        for ask, decision in both
        if not needs_nobody(ask, decision)
    ]
    asked = {row["record"] for row in rows}
    rows += [_unused(record) for record in kept.list() if record.id not in asked and not _replaced(record, rows)]
    if blocked:
        rows = [row for row in rows if row["state"] not in ("approved", "unused")]
    rows.sort(key=lambda row: _STATES.index(row["state"]))
    shown = [{key: value for key, value in row.items() if key != "record"} for row in rows]

    def document() -> dict[str, Any]:
        problems = list(kept.problems())
        return {"trust": shown, "waiting": waiting, "workspace": _opening(kept), "problems": problems}

    return Result(document, lambda paint: _lines(paint, kept, shown, waiting), lambda: shown)


def needs_nobody(ask: Ask, decision: ConsentDecision) -> bool:
    """Return whether something is allowed without an approval: the folders of an agent without settings."""
    return ask.role == "folders" and decision.allowed and not decision.single


def asks_of(context: Context, kept: Trust) -> tuple[Ask, ...]:
    """Return what all systems of the workspace ask for."""
    entrust(context.workspace, kept, context.environ)
    return (*asks_of_all(context.workspace), *asks_to_tell(context.workspace))


def _unused(record: ConsentRecord) -> dict[str, Any]:
    why = f"{record.verdict} by {record.who}, and not asked about again"
    decision = ConsentDecision("approved", why, record.id)
    return {**blocked_json(record.ask, decision), "state": "unused", "record": record.id}


def _replaced(record: ConsentRecord, rows: list[dict[str, Any]]) -> bool:
    """Return whether a listed ask has replaced what was decided about."""
    if record.ask.role == TOLD:
        return False
    return any((row["role"], row["file"], row["name"]) == record.ask.slot for row in rows)


def _opening(kept: Trust) -> dict[str, Any]:
    opening = kept.opening()
    return {
        "approved": opening is not None,
        "who": None if opening is None else opening.who,
        "when": None if opening is None else opening.when,
        "folder": os.path.realpath(kept.workspace),
    }


def _lines(paint: Paint, kept: Trust, rows: list[dict[str, Any]], waiting: int) -> Iterator[str]:
    for problem in kept.problems():
        yield paint.alert(paint.line(problem))
    # Only the place of a text: `trust approve` shows the text itself.
    texts = [f"{row['file']}:{row['line']}" if row["role"] == TOLD else _wanted(row) for row in rows]
    table = [
        (row["state"], row["id"] or "", row["role"], row["name"], text) for row, text in zip(rows, texts, strict=True)
    ]
    alerts = {index: 0 for index, row in enumerate(rows) if row["state"] in ("refused", "withdrawn")}
    yield from paint.columns(table, indent="", alerts=alerts, empty="nothing wants to run")
    if waiting:
        yield f"{waiting:,} need{'s' if waiting == 1 else ''} approval"
    kept_back = sum(row["role"] == TOLD and row["state"] == "pending" for row in rows)
    if kept_back:
        yield f"{kept_back:,} suspicious {'text is' if kept_back == 1 else 'texts are'} not told to agents"
    opening = kept.opening()
    said = "not approved" if opening is None else f"approved by {opening.who} on {opening.when[:10]}"
    yield paint.line(f"outgoing checks of public addresses: {said}")


def _wanted(row: dict[str, Any]) -> str:
    """Return the command or address of a row, and where its redirects may lead."""
    return f"{row['text']}  (redirects to {row['redirects']})" if row["redirects"] else str(row["text"])


def one_of(ask_id: str | None, whole: bool) -> None:
    """Raise UsageError unless exactly one of an id and `--workspace` is given."""
    if (ask_id is None) == (not whole):
        raise UsageError(
            "usage.arguments",
            "name one ID, or --workspace",
            "`memdeck trust list` shows them; -w DIR names a folder",
        )


@under(trust, "deny", serves="decision", examples=("memdeck trust deny 4f2a91c03b",))
@argument("ask_id", metavar="ID")
def deny(context: Context, ask_id: str) -> Result:
    """Deny one command; you are asked again only if it changes."""
    kept = context.trust
    ask, _ = kept.find(asks_of(context, kept), ask_id)
    return _said(context, "denied", kept.deny(ask, who=context.actor, now=context.now))


@under(
    trust, "revoke", serves="decision", examples=("memdeck trust revoke 4f2a91c03b", "memdeck trust revoke --workspace")
)
@an_id
@all_checks
def revoke(context: Context, ask_id: str | None, whole: bool) -> Result:
    """Revoke an approval or a denial."""
    one_of(ask_id, whole)
    kept = context.trust
    if whole:
        kept.revoke_workspace(context.actor, context.now)
        context.warn()
        return said({"workspace": _opening(kept)}, "revoked for outgoing checks")
    return _said(context, "revoked", kept.revoke(ask_id or "", who=context.actor, now=context.now))


def _said(context: Context, done: str, one: ConsentRecord) -> Result:
    context.warn()
    short_id, ask = one.id[:SHORT], one.ask
    document = {done: [{"id": short_id, "role": ask.role, "name": ask.name}]}
    return said(document, f"{done} {short_id}  {ask.role} of {ask.name}")
