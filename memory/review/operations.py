"""The operations of review: changes that agents propose, a person's decisions about them, and the rules for agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from memory.base.clock import format_local
from memory.errors import UsageError
from memory.files.versions.diff import ChangeView
from memory.history.changes import row as change_row
from memory.history.operations import ID_LENGTH, head_lines, view_lines, within
from memory.operations import Choice, Context, Group, Input, Whole, argument, option, under
from memory.operations.result import Paint, Result, listing, said
from memory.storage.merging import MergedChange, taking

from .inbox import STANDINGS, Inbox
from .policy import KINDS, Policy, read_policy, set_rule
from .proposals import Proposal, State

review = Group("review", "What agents want to change: list, show, accept, edit and reject it, and set the rules.")
_id = argument("proposal_id", metavar="ID")
_ids = argument("proposal_ids", metavar="ID...", nargs=-1, required=True)


@under(review, "list", serves="look", examples=("memdeck review list", "memdeck review list --state all -o json"))
@option(
    "--state",
    type=Choice(("waiting", "accepted", "rejected", "all")),
    default="waiting",
    help="Which proposals (default: waiting).",
)
@option("--limit", type=Whole(least=0), default=50, help="The newest N (default: 50; 0: all).")
def list_proposals(context: Context, state: State | Literal["all"], limit: int) -> Result:
    """List what agents want to change, newest first. With --actor NAME only the proposals of that agent."""
    inbox = Inbox(context.workspace.together)
    found = inbox.list(() if state == "all" else (state,), actor=context.actor_option, limit=limit)
    context.warn()
    rows = (
        (
            one.id[:ID_LENGTH],
            format_local(one.time, context.snapshot.zone),
            one.actor,
            "" if one.state == "waiting" else one.state,
            ", ".join(one.kinds),
            (one.wanted or one.operation) + within(context, one.place, "  (in {})"),
        )
        for one in found
    )
    return listing(
        "proposals",
        lambda: (one.row() for one in found),
        lambda paint: paint.columns(rows, empty="nothing is pending"),
        [f"warning: {warning}" for warning in inbox.warnings],
    )


@under(
    review,
    "show",
    serves="look",
    examples=("memdeck review show 01HM5Z0C8WJ4QXKD", "memdeck review show 01HM5Z0C8WJ4QXKD -o json"),
)
@_id
def show(context: Context, proposal_id: str) -> Result:
    """Show what a proposal would change, entry by entry, and whether it still fits the files."""
    inbox = Inbox(context.workspace.together)
    proposal = inbox.get(proposal_id)
    views, standing = inbox.judged(proposal, context.now)
    document = {"proposal": proposal.row(), "standing": standing.json(), "views": [view.json() for view in views]}
    return Result(lambda: document, lambda paint: _told(paint, context, proposal, views, standing))


def _told(
    paint: Paint, context: Context, proposal: Proposal, views: Sequence[ChangeView], standing: MergedChange
) -> Iterator[str]:
    yield from head_lines(paint, context, proposal, proposal.place)
    if proposal.edited:
        yield "  a person edited it"
    if proposal.state != "waiting":
        became = f", change {proposal.change_id}" if proposal.change_id else ""
        yield paint.line(f"{proposal.state} by {proposal.decided_by}{became}", "  ")
        if proposal.note:
            yield paint.line(proposal.note, "  ")
        return
    said = STANDINGS[standing.state]
    yield paint.line(said, "  ") if standing.state in ("ready", "moved") else paint.notice(paint.line(said, "  "))
    for reason in standing.reasons:
        yield paint.line(reason, "  ")
    yield from view_lines(paint, views)
    for clash in standing.clashes:
        told = clash.json()
        yield ""
        yield paint.line(f"{told['entry'] or told['section']}: {told['field']}")
        for word, key in (("before", "base"), ("proposal", "ours"), ("file now", "theirs")):
            yield paint.line(f"{word:<9} {told[key] if told[key] is not None else '(nothing)'}", "  ")


@under(review, "accept", serves="decision", examples=("memdeck review accept 01HM5Z0C8WJ4QXKD",))
@_ids
@option(
    "--take",
    type=Choice(("proposal", "file")),
    help="Which side wins where both changed the same.",
)
def accept(context: Context, proposal_ids: tuple[str, ...], take: Literal["proposal", "file"] | None) -> Result:
    """Apply the changes that agents proposed, each as one change in the agent's name.

    `undo` undoes the newest. If the files changed since, the proposal is merged. If the same text changed, nothing is
    written: exit code 4, `review.conflict`, with the three sides; --take chooses one.
    """
    inbox = Inbox(context.workspace.together)
    made = []
    for number in _all_of(inbox, proposal_ids):
        change = inbox.accept(number, reviewer=context.actor, now=context.now, take=taking(take))
        context.made = change.summary
        made.append((inbox.get(number), change))
    context.warn()
    document = {
        "proposals": [one.row() for one, _ in made],
        "changes": [change_row(inbox.log_of(one).history.get(change.id), one.place) for one, change in made],
    }
    lines = (f"accepted: {change.summary}{within(context, one.place, '  (in {})')}" for one, change in made)
    return said(document, *lines)


def _all_of(inbox: Inbox, proposal_ids: Sequence[str]) -> list[str]:
    """Return the full ids, each once, before anything is decided: a wrong one stops all."""
    return list(dict.fromkeys(inbox.get(number).id for number in proposal_ids))


@under(review, "reject", serves="decision", examples=("memdeck review reject 01HM5Z0C8WJ4QXKD --note 'still needed'",))
@_ids
@option("--note", metavar="TEXT", default="", help="The reason, which the agent reads.")
def reject(context: Context, proposal_ids: tuple[str, ...], note: str) -> Result:
    """Reject proposals; the files stay as they are."""
    inbox = Inbox(context.workspace.together)
    done = [
        inbox.reject(number, reviewer=context.actor, now=context.now, note=note)
        for number in _all_of(inbox, proposal_ids)
    ]
    return said({"proposals": [one.row() for one in done]}, *(f"rejected: {one.wanted}" for one in done))


@under(
    review,
    "edit",
    serves="decision",
    examples=(
        "memdeck review edit 01HM5Z0C8WJ4QXKD --text '### Rotate the keys'",
        'memdeck review edit 01HM5Z0C8WJ4QXKD --text "$(cat entry.md)"',
    ),
)
@_id
@option(
    "--text",
    type=Input(words="write the whole text of the entry; ctrl+d ends it"),
    metavar="TEXT",
    help="The whole text of the entry (default: what you type, until ctrl+d).",
)
def edit(context: Context, proposal_id: str, text: str) -> Result:
    """Change the text of the entry in a proposal; the proposal stays pending."""
    inbox = Inbox(context.workspace.together)
    found = inbox.edit(proposal_id, text)
    return said({"proposal": found.row()}, f"edited: {found.wanted}")


# -- rules ---------------------------------------------------------------------------------------------------------


@under(
    review,
    "policy",
    serves="decision",
    looks=lambda values: values["name"] is None,
    examples=(
        "memdeck review policy",
        "memdeck review policy agent:builder rewrite apply",
        "memdeck review policy 'agent:*' remove deny",
        "memdeck review policy agent:builder rewrite --unset",
    ),
)
@argument("name", metavar="ACTOR", required=False)
@argument("kind", metavar="KIND", required=False)
@argument("decision", metavar="DECISION", required=False)
@option("--unset", is_flag=True, help="Remove a rule.")
def policy(context: Context, name: str | None, kind: str | None, decision: str | None, unset: bool) -> Result:
    """Show the rules for agents, or set one: which changes of ACTOR are applied, left to your review, or refused.

    ACTOR is agent:NAME or a pattern such as agent:*. KIND is add, move, rewrite or remove (of what a person
    wrote), or * for all, also of what agents wrote. DECISION is apply, review or deny. The most exact rule
    counts.
    """
    state = context.workspace.state
    if name is None:
        rules = read_policy(state)
    elif kind is None or (decision is None) != unset:
        words = "a rule needs an actor, a kind and a decision; --unset needs an actor and a kind"
        raise UsageError("usage.arguments", words, "see memdeck review policy --help")
    else:
        rules = set_rule(state, name, kind, decision, now=context.now)
    usual = {kind: decision for kind, (decision, _) in KINDS.items()}
    document = {"rules": [rule._asdict() for rule in rules], "usual": usual}
    return Result(lambda: document, lambda paint: _policy_lines(paint, rules))


def _policy_lines(paint: Paint, rules: Policy) -> Iterator[str]:
    yield "What happens where no rule applies:"
    yield from paint.columns((kind, *decision_and_words) for kind, decision_and_words in KINDS.items())
    if rules:
        yield "Rules:"
        yield from paint.columns(rules)
