"""`memdeck trust approve`: a person at a terminal approves what memory files may run, byte for byte."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterable, Iterator
from contextlib import suppress

from app.cli.printing import tell
from app.cli.session import Session
from memory.base.safe_text import visible
from memory.errors import RefusedError, UsageError
from memory.operations import under
from memory.systems import asks_of_all
from memory.trust.consent import Trust
from memory.trust.operations import all_checks, an_id, asks_of, decisions, one_of, trust
from memory.trust.view import ConsentView, view_of

YES = "yes"


@under(
    trust,
    "approve",
    serves="decision",
    examples=("memdeck trust approve 4f2a91c03b", "memdeck trust approve --workspace"),
)
@an_id
@all_checks
def approve(session: Session, ask_id: str | None, whole: bool) -> None:
    """Approve one command or suspicious text, byte for byte, or the workspace for outgoing checks; shows it and asks.

    It needs a person at a terminal: there is no option, variable or pipe that says yes.
    """
    one_of(ask_id, whole)
    if session.output != "human":
        raise UsageError("trust.output", "a person approves, not a program", "leave --output out")
    kept = decisions(session)
    for problem in kept.problems():
        tell(f"memdeck: warning: {problem}")
    if whole:
        _approve_workspace(session, kept)
    else:
        _decide(session, kept, ask_id or "")


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


def _decide(session: Session, kept: Trust, text: str) -> None:
    ask, decision = kept.find(asks_of(session, kept), text)
    view = view_of(ask, decision, kept.workspace)
    if decision.allowed and decision.single:
        session.writer.lines([session.paint.line(f"{decision.short_id} is approved already")])
        return
    if not view.approvable and not decision.allowed:
        raise RefusedError("trust.refused", f"{ask.name[:60]!r} cannot be approved: {view.why}", "mend it in the file")
    if not _ask(session, consent_lines(session, view)):
        _say_no(session)
        return
    # Exactly what was shown: if the file changed meanwhile, the new text is not approved.
    kept.approve(ask, who=session.actor, now=session.now, shown=decision.id)
    session.warn()
    session.writer.lines([f"approved {decision.short_id}; `memdeck trust revoke {decision.short_id}` takes it back"])


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


def _ask(session: Session, lines: Iterable[str]) -> bool:
    """Show lines and ask; only the whole word counts, and keys typed before are discarded."""
    session.writer.lines(lines)
    session.writer.flush()
    _forget_typed()
    session.writer.lines(["", f"Write {YES} to approve, anything else leaves it as it is:"])
    session.writer.flush()
    return sys.stdin.readline().strip().lower() == YES


def _forget_typed() -> None:
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _say_no(session: Session) -> None:
    session.writer.lines(["not approved; nothing was changed"])


__all__ = ["trust"]
