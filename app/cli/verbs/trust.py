"""`memdeck trust approve`: a person at a terminal approves what memory files may run, byte for byte."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from app.cli.printing import tell
from app.cli.session import Session
from memory.errors import ConflictError, MemdeckError, RefusedError, UsageError
from memory.operations import argument, option, under
from memory.systems import asks_of_all
from memory.trust.asks import Ask
from memory.trust.consent import ConsentDecision, Trust
from memory.trust.operations import TOLD, all_checks, asks_of, trust
from memory.trust.view import ConsentView, view_of, workspace_view

YES = "yes"


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
@option(
    "--all",
    "everything",
    is_flag=True,
    help="Everything that needs approval: each is shown in full, with one question at the end.",
)
@all_checks
def approve(session: Session, ask_ids: tuple[str, ...], everything: bool, whole: bool) -> None:
    """Approve commands or suspicious texts, byte for byte, or the workspace for outgoing checks; shows them and asks.

    It needs a person at a terminal: no option, variable or pipe says yes. Several are shown, each whole, before the
    one question.
    """
    if sum((bool(ask_ids), everything, whole)) != 1:
        raise UsageError("usage.arguments", "name IDs, --all or --workspace", "`memdeck trust list` shows them")
    if session.output != "human":
        raise UsageError("trust.output", "only a person can approve", "leave --output out")
    kept = session.trust
    for problem in kept.problems():
        tell(f"memdeck: warning: {problem}")
    if whole:
        _approve_workspace(session, kept)
        return
    asks = asks_of(session, kept)
    if everything:
        pairs = [(ask, kept.decide(ask)) for ask in asks if ask.role != TOLD]
        _decide(session, kept, [pair for pair in pairs if pair[1].waits])
    else:
        _decide(session, kept, [kept.find(asks, text) for text in dict.fromkeys(ask_ids)])


def _approve_workspace(session: Session, kept: Trust) -> None:
    lines = list(consent_lines(session, workspace_view(kept, asks_of_all(session.workspace))))
    if not _ask(session, lines):
        _say_no(session)
        return
    kept.approve_workspace(session.actor, session.now)
    session.warn()
    session.writer.lines(["approved; `memdeck trust revoke --workspace` revokes that"])


def _decide(session: Session, kept: Trust, chosen: Sequence[tuple[Ask, ConsentDecision]]) -> None:
    """Show every ask whole, ask once, and approve exactly what was shown."""
    lines: list[str] = []
    wanted = []
    for ask, decision in chosen:
        view = view_of(ask, decision, kept.workspace)
        if decision.allowed and decision.single:
            lines.append(session.paint.line(f"{decision.short_id} is already approved"))
        elif not view.approvable and not decision.allowed:
            raise RefusedError(
                "trust.refused", f"{ask.name[:60]!r} cannot be approved: {view.why}", "fix it in the file"
            )
        else:
            wanted.append((ask, decision))
            lines += ["", f"{len(wanted)}. {decision.short_id}"] if len(chosen) > 1 else []
            lines += consent_lines(session, view)
    if not wanted:
        session.writer.lines(lines or ["nothing needs approval"])
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
        session.writer.lines([f"approved {short_id}; `memdeck trust revoke {short_id}` revokes that"])
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
    session.writer.lines(["", f"Write {YES} to approve{what}, anything else cancels:"])
    session.writer.flush()
    return sys.stdin.readline().strip().lower() == YES


def _forget_typed() -> None:
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _say_no(session: Session) -> None:
    session.writer.lines(["not approved; nothing was changed"])


__all__ = ["trust"]
