"""The verbs of consent: what memory files ask to run, and a person's decisions about it."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from app.cli.printing import tell
from memory.base.safe_text import visible
from memory.errors import ConflictError, MemdeckError, RefusedError, UsageError
from memory.operations import Group, argument, option, under
from memory.systems import approvals_of, asks_of_all, entrust, waiting_in
from memory.systems.suspects import asks_to_tell
from memory.trust.consent import Ask, Trust, blocked_json
from memory.trust.records import SHORT, ConsentDecision, ConsentRecord
from memory.trust.view import ConsentView, view_of

if TYPE_CHECKING:
    from typing import Any

    from app.cli.session import Session

YES = "yes"
TOLD = "told"
_STATES = ("pending", "withdrawn", "refused", "denied", "approved", "unused")

trust = Group("trust", "Approve, deny and revoke what memory files may run; nothing runs before that.")
_id = argument("ask_id", metavar="ID", required=False)
_workspace = option("--workspace", "whole", is_flag=True, help="Outgoing checks of public addresses, all of them.")


def decisions(session: Session) -> Trust:
    """Return the decisions about this run's workspace; RefusedError `trust.no_state` if they cannot be stored."""
    found = session.trust
    if found is None:
        raise RefusedError("trust.no_state", "there is no state folder to keep approvals in", "set XDG_STATE_HOME")
    return found


@under(trust, "list", serves="look", examples=("memdeck trust list", "memdeck trust list --blocked -o json"))
@option("--blocked", is_flag=True, help="Only what does not run as it is.")
def list_trust(session: Session, blocked: bool) -> None:
    """List everything that memory files ask to run or to connect to, and whether it may.

    It also lists texts that look suspicious: agents are told of one only after a person approves exactly its bytes.
    """

    kept = decisions(session)
    decided = approvals_of(session.workspace, kept, os.environ)
    waiting = len(waiting_in(decided))
    texts = asks_to_tell(session.workspace)
    both = [*((ask, decision) for _, ask, decision in decided), *zip(texts, kept.decide_all(texts), strict=True)]
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

    session.answer(document, lambda: _lines(session, kept, shown, waiting), lambda: shown)


def needs_nobody(ask: Ask, decision: ConsentDecision) -> bool:
    """Return whether something is allowed without an approval: the folders of an agent without settings."""
    return ask.role == "folders" and decision.allowed and not decision.single


def _asks(session: Session, kept: Trust) -> tuple[Ask, ...]:
    """Return what all systems of the workspace ask for."""

    entrust(session.workspace, kept, os.environ)
    return (*asks_of_all(session.workspace), *asks_to_tell(session.workspace))


def _unused(record: ConsentRecord) -> dict[str, Any]:

    decision = ConsentDecision(
        False, "approved", record.id, None, f"{record.verdict} by {record.who}, and asked for no more"
    )
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


def _lines(session: Session, kept: Trust, rows: list[dict[str, Any]], waiting: int) -> Iterator[str]:
    for problem in kept.problems():
        yield session.paint.alert(session.paint.line(problem))
    # Of a text only its place: `trust approve` shows it whole, and nobody else needs it.
    texts = [f"{row['file']}:{row['line']}" if row["role"] == TOLD else _wanted(row) for row in rows]
    table = [
        (row["state"], row["id"] or "", row["role"], row["name"], text) for row, text in zip(rows, texts, strict=True)
    ]
    alerts = {index: 0 for index, row in enumerate(rows) if row["state"] in ("refused", "withdrawn")}
    yield from session.paint.columns(table, indent="", alerts=alerts, empty="nothing asks to run")
    if waiting:
        yield f"{waiting:,} wait{'s' if waiting == 1 else ''} for an approval"
    kept_back = sum(row["role"] == TOLD and row["state"] == "pending" for row in rows)
    if kept_back:
        yield f"{kept_back:,} suspicious {'text is' if kept_back == 1 else 'texts are'} not told to agents"
    opening = kept.opening()
    said = "not approved" if opening is None else f"approved by {opening.who} on {opening.when[:10]}"
    yield session.paint.line(f"outgoing checks of public addresses: {said}")


def _wanted(row: dict[str, Any]) -> str:
    """Return the command or address of a row, and where its redirects may lead."""
    return f"{row['text']}  (redirects to {row['redirects']})" if row["redirects"] else str(row["text"])


@under(
    trust,
    "approve",
    serves="decision",
    examples=(
        "memdeck trust approve 4f2a91c03b",
        "memdeck trust approve 4f2a91c03b 17fa29a6f3",
        "memdeck trust approve --all",
        "memdeck trust approve --workspace",
    ),
)
@argument("ask_ids", metavar="[ID]...", nargs=-1)
@option("--all", "everything", is_flag=True, help="Everything that waits, each shown whole, with one question.")
@_workspace
def approve(session: Session, ask_ids: tuple[str, ...], everything: bool, whole: bool) -> None:
    """Approve commands or suspicious texts, byte for byte, or the workspace for outgoing checks; shows them and asks.

    It needs a person at a terminal: there is no option, variable or pipe that says yes. Several are shown one after
    the other, each whole, before the one question; what changed meanwhile is not approved.
    """
    if sum((bool(ask_ids), everything, whole)) != 1:
        raise UsageError("usage.arguments", "name IDs, --all or --workspace", "`memdeck trust list` shows them")
    if session.output != "human":
        raise UsageError("trust.output", "a person approves, not a program", "leave --output out")
    kept = decisions(session)
    for problem in kept.problems():
        tell(f"memdeck: warning: {problem}")
    if whole:
        _approve_workspace(session, kept)
        return
    asks = _asks(session, kept)
    if everything:
        pairs = zip(asks, kept.decide_all(asks), strict=True)
        _decide(session, kept, [pair for pair in pairs if pair[1].waits and pair[0].role != TOLD])
    else:
        _decide(session, kept, [kept.find(asks, text) for text in dict.fromkeys(ask_ids)])


def _one_of(ask_id: str | None, whole: bool) -> None:
    if (ask_id is None) == (not whole):
        raise UsageError(
            "usage.arguments",
            "name one ID, or --workspace",
            "`memdeck trust list` shows them; -w DIR names a folder",
        )


def _approve_workspace(session: Session, kept: Trust) -> None:

    covered = [
        ask
        for ask in asks_of_all(session.workspace)
        if ask.role == "url" and not ask.ambiguous and not kept.closed_reason(ask)
    ]

    lines = (
        f"Let monitors of {visible(str(kept.workspace))} connect to public http and https addresses?",
        "",
        *session.paint.columns([(ask.name, ask.text) for ask in covered]),
        "" if covered else "  none of its monitors does now",
        "That covers every such address that these files name later, too: whoever can write them can choose",
        "where this machine connects to. Addresses of this machine and its network still need one of their own.",
    )
    if not _ask(session, lines):
        _say_no(session)
        return
    kept.approve_workspace(session.actor, session.now)
    session.warn()
    session.writer.lines(["approved; `memdeck trust revoke --workspace` takes it back"])


def _decide(session: Session, kept: Trust, chosen: Sequence[tuple[Ask, ConsentDecision]]) -> None:
    """Show every ask whole, ask once, and approve exactly what was shown."""
    lines: list[str] = []
    wanted = []
    for ask, decision in chosen:
        view = view_of(ask, decision, kept.workspace)
        if decision.allowed and decision.single:
            lines.append(session.paint.line(f"{decision.short_id} is approved already"))
        elif not view.approvable and not decision.allowed:
            raise RefusedError(
                "trust.refused", f"{ask.name[:60]!r} cannot be approved: {view.why}", "mend it in the file"
            )
        else:
            wanted.append((ask, decision))
            lines += ["", f"{len(wanted)}. {decision.short_id}"] if len(chosen) > 1 else []
            lines += consent_lines(session, view)
    if not wanted:
        session.writer.lines(lines or ["nothing waits for an approval"])
        return
    if not _ask(session, lines, f" all {len(wanted)}" if len(wanted) > 1 else ""):
        _say_no(session)
        return
    changed: MemdeckError | None = None
    for ask, decision in wanted:
        try:
            # Exactly what was shown: if the file changed meanwhile, the new text is not approved.
            kept.approve(ask, who=session.actor, now=session.now, shown=decision.id)
        except ConflictError as error:
            changed = error
            continue
        short_id = decision.short_id
        session.writer.lines([f"approved {short_id}; `memdeck trust revoke {short_id}` takes it back"])
    session.warn()
    if changed is not None:
        raise changed


def consent_lines(session: Session, view: ConsentView) -> Iterator[str]:
    """Yield everything that a decision covers; nothing is cut off at the screen's width."""
    paint = session.paint
    yield view.question
    yield ""
    for line in view.text:
        yield f"  | {line}"
    yield ""
    for label, value in view.facts:
        yield f"  {label + ':':<15} {value}"
    for path, said in view.files:
        yield f"  {'file:':<15} {path} ({said})"
    if view.diff:
        yield ""
        yield "  changed since it was approved:"
        for change in view.diff:
            text = f"  {change.sign} {change.text}"
            yield paint.notice(text) if change.sign == "+" else text
    if view.warnings:
        yield ""
        for warning in view.warnings:
            yield paint.alert(f"  ! it {warning}" if not warning.startswith(("some ", "the ")) else f"  ! {warning}")


def _ask(session: Session, lines: Iterable[str], what: str = "") -> bool:
    """Show lines and ask; only the whole word counts, and keys typed before are discarded."""
    session.writer.lines(lines)
    session.writer.flush()
    _forget_typed()
    session.writer.lines(["", f"Write {YES} to approve{what}, anything else leaves it as it is:"])
    session.writer.flush()
    return sys.stdin.readline().strip().lower() == YES


def _forget_typed() -> None:

    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _say_no(session: Session) -> None:
    session.writer.lines(["not approved; nothing was changed"])


@under(trust, "deny", serves="decision", examples=("memdeck trust deny 4f2a91c03b",))
@argument("ask_id", metavar="ID")
def deny(session: Session, ask_id: str) -> None:
    """Deny one command for good, as long as it stays as it is."""
    kept = decisions(session)
    record = kept.deny(ask_id, who=session.actor, now=session.now, asks=_asks(session, kept))
    _say(session, "denied", [record])


@under(
    trust, "revoke", serves="decision", examples=("memdeck trust revoke 4f2a91c03b", "memdeck trust revoke --workspace")
)
@_id
@_workspace
def revoke(session: Session, ask_id: str | None, whole: bool) -> None:
    """Take an approval or a denial back."""
    _one_of(ask_id, whole)
    kept = decisions(session)
    if whole:
        kept.revoke_workspace(session.actor, session.now)
        session.answer_change(lambda: {"workspace": _opening(kept)}, lambda: ["revoked for outgoing checks"])
    else:
        _say(session, "revoked", list(kept.revoke(ask_id or "", who=session.actor, now=session.now)))


def _say(session: Session, done: str, records: list[ConsentRecord]) -> None:

    session.answer_change(
        lambda: {done: [{"id": one.id[:SHORT], "role": one.ask.role, "name": one.ask.name} for one in records]},
        lambda: [session.paint.line(f"{done} {one.id[:SHORT]}  {one.ask.role} of {one.ask.name}") for one in records],
    )
