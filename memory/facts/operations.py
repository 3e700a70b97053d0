"""The operations on facts: short notes for the prompts of agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.base.safe_text import visible
from memory.errors import UsageError
from memory.operations import Context, Group, Input, Whole, argument, option
from memory.operations.result import Paint, Result, problems_found, said
from memory.systems import system_of

from .model import Answer, Fact, Injection, found
from .store import FactStore
from .system import Facts

REFUSED = 1

facts = Group("facts", "Store, search, delete and inject facts: short notes for the prompts of agents.")


def _facts(context: Context) -> Facts:
    return system_of(context.workspace, "facts", Facts)


def _store(context: Context) -> FactStore:
    return _facts(context).store


@facts.change(
    "store",
    "'User prefers tabs over spaces' --tag preference --scope user",
    "'Deploy target is us-east-1' --tag infra --tag deploy -o json",
)
@argument("text", help="At most 500 characters.")
@option("--tag", "tags", metavar="T", multiple=True, help="A tag; up to five.")
@option("--scope", metavar="S", default="workspace", help="user, workspace (the default) or session.")
def store(context: Context, text: str, tags: tuple[str, ...], scope: str) -> Result:
    """Store a fact of at most 500 characters; one that looks like a secret is refused.

    Beyond max_total facts (.aegis/agent.json, default 500) the oldest are removed; the change log keeps them.
    """
    answer = _store(context).store(text, tags=tags, scope=scope, actor=context.actor, now=context.now)
    pruned = (
        [f"deleted the oldest to make room: {', '.join(fact.id for fact in answer.gone[:20])}"] if answer.gone else []
    )
    return _answered(context, answer, *(f"stored {one}" for one in answer.ids), *pruned)


def _answered(context: Context, answer: Answer, *lines: str) -> Result:
    """Return what was done; why nothing was, programs find in the document, and people are told beside it."""
    context.warn()
    if not answer.error:
        context.made = lines[0]
        return said(answer.json(), *lines)

    def refused(_paint: Paint) -> Iterator[str]:
        context.tell(f"facts.refused: {answer.error}")
        yield from ()

    return Result(answer.json, refused, code=REFUSED)


@facts.look("search", "postgres", "--tag infra", "-o json")
@argument("query", required=False, help="Text of the fact.")
@option("--tag", metavar="T", help="Only facts with this tag.")
def search(context: Context, query: str | None, tag: str | None) -> Result:
    """Find the newest 20 facts that contain QUERY, in any case; without QUERY and --tag the 20 newest."""
    return _listed(_store(context).search(query, tag))


@facts.look("list", "", "--tag infra --scope user -o json")
@option("--tag", metavar="T", help="Only facts with this tag.")
@option("--scope", metavar="S", help="Only facts of this scope.")
@option("--limit", type=Whole(0), default=0, metavar="N", help="The newest N (default: 0, all).")
def list_facts(context: Context, tag: str | None, scope: str | None, limit: int) -> Result:
    """List facts, the newest first."""
    listed = _store(context).read().find(None, tag, limit=0)
    if scope is not None:
        listed = tuple(fact for fact in listed if fact.scope == scope)
    return _listed(listed[:limit] if limit else listed)


def _listed(facts: Sequence[Fact]) -> Result:
    rows = ((fact.id, fact.ts[:10], fact.scope, ", ".join(fact.tags), fact.title) for fact in facts)
    return Result(
        lambda: found(facts),
        lambda paint: paint.columns(rows, empty="no facts"),
        lambda: (fact.json() for fact in facts),
    )


@facts.change("delete", "m-3")
@argument("fact_id", metavar="ID", help="The id, such as m-12.")
def delete(context: Context, fact_id: str) -> Result:
    """Delete one fact by its id, which is never used again; `memdeck undo` brings it back."""
    answer = _store(context).delete([fact_id], actor=context.actor, now=context.now)
    return _answered(context, answer, answer.change.summary if answer.change else "")


@facts.look(
    "inject", "'Which database do we use?'", 'echo "$PROMPT" | memdeck facts inject -', "'Which database?' --explain"
)
@argument("message", metavar="[MESSAGE|-]", required=False, type=Input(), help="The message to the agent.")
@option("--explain", is_flag=True, help="Show which facts were chosen and why, and which were left out.")
def inject(context: Context, message: str | None, explain: bool) -> Result | None:
    """Print the facts that matter for a message as the block for a prompt, and nothing else.

    MESSAGE, or with - the text on stdin. Without a match these are the five newest. Where there is nothing to
    inject, or no workspace, nothing is printed and the exit code is 0, which suits a prompt hook.
    """
    try:
        kept = _store(context)
    except UsageError as error:
        if error.code != "workspace.not_found" or explain:
            raise
        return None
    chosen = kept.inject(message or "", context.now)
    block = chosen.block.rstrip("\n").split("\n") if chosen.facts else []
    return Result(chosen.json, lambda paint: _explained(paint, chosen) if explain else map(visible, block))


def _explained(paint: Paint, found: Injection) -> Iterator[str]:
    """Yield lines with the budget, and each fact with the terms of its score."""
    limits = found.settings
    asked = f"words of the message: {', '.join(found.words) or 'none'}"
    words = {
        "off": "injection is off",
        "match": asked,
        "recent": f"{asked}; nothing matches, so at most the {found.most} newest",
        "recent_only": "the newest, for any message",
    }
    yield paint.line(words[found.reason])
    used = f"{found.characters:,} of {limits.max_inject_chars:,} characters"
    yield f"{used}, {len(found.facts):,} of {found.most:,} facts"
    rows = []
    for one in found.candidates:
        score = f"{len(one.words)} + {one.bonus:.4f}" if one.words else "-"
        state = "injected" if one.fits else "left out"
        rows.append((state, one.fact.id, score, f"{one.total:,}", ", ".join(one.words), one.fact.title))
    if rows:
        yield ""
        yield from paint.columns([("", "id", "score", "chars so far", "words", "text"), *rows])


@facts.look("check", "", "-o json")
def check(context: Context) -> Result:
    """Report lines that are not facts, duplicate ids and secrets.

    Exit code 4 when there is an error, 0 when there are only warnings and notes.
    """
    return problems_found(_facts(context).check())
