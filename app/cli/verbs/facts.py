"""The verbs on facts: short notes for the prompts of agents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from app.cli.printing import tell
from app.cli.session import PROBLEMS, Session
from memory.base.safe_text import visible
from memory.errors import UsageError
from memory.facts import Fact, FactStore, RefusedFact, model
from memory.facts.inject import Injection
from memory.facts.search import find_facts
from memory.facts.system import Facts
from memory.facts.transfer import Form, export, read_rows
from memory.facts.words import like
from memory.operations import Choice, Group, Whole, argument, option, under
from memory.systems import system_of
from memory.workspace import Workspace

from .check import as_json, lines_of

REFUSED = 1
_LONGEST_MESSAGE = 10_000_000
_BAR = 24

facts = Group("facts", "Store, search, delete and inject facts: short notes for the prompts of agents.")


def _store(session: Session) -> FactStore:
    return _facts(session.workspace).store


def _facts(workspace: Workspace) -> Facts:

    return system_of(workspace, "facts", Facts)


@under(
    facts,
    "store",
    serves="change",
    examples=(
        "memdeck facts store 'User prefers tabs over spaces' --tag preference --scope user",
        "memdeck facts store 'Deploy target is us-east-1' --tag infra --tag deploy -o json",
    ),
)
@argument("text")
@option("--tag", "tags", metavar="T", multiple=True, help="A tag; up to five.")
@option("--scope", metavar="S", default="workspace", help="user, workspace (the default) or session.")
def store(session: Session, text: str, tags: tuple[str, ...], scope: str) -> int:
    """Store a fact of at most 500 characters; one that looks like a secret is refused.

    When there are as many as max_total in .aegis/agent.json (500), the oldest go; they stay in the change log.
    """
    facts = _store(session)
    near = _near(facts, text) if session.output == "human" else None
    answer = facts.store(text, tags=tags, scope=scope, actor=session.actor, now=session.now)
    session.made = None if isinstance(answer, RefusedFact) else f"stored {answer.id}"
    session.warn()
    if isinstance(answer, RefusedFact):
        return _refused(session, answer.error, answer.json())

    def lines() -> Iterator[str]:
        yield f"stored {answer.id}"
        if answer.pruned:
            yield session.paint.line(f"let go, to make room: {', '.join(answer.pruned[:20])}")
        if near is not None:
            yield session.paint.line(f"nearly the same: {near.id}  {near.title}")

    session.answer(answer.json, lines)
    return 0


def _near(store: FactStore, text: str) -> Fact | None:

    facts = store.read().facts
    return like(text, facts) if len(facts) <= 5000 else None


def _refused(session: Session, error: str, answer: dict[str, Any]) -> int:
    """Report why nothing was done: in the answer for programs, on stderr for people."""
    if session.output == "human":
        tell(f"memdeck: facts.refused: {error}")
    else:
        session.writer.document(answer)
    return REFUSED


@under(
    facts,
    "search",
    serves="look",
    examples=("memdeck facts search postgres", "memdeck facts search --tag infra", "memdeck facts search -o json"),
)
@argument("query", required=False)
@option("--tag", metavar="T", help="Only facts with this tag.")
def search(session: Session, query: str | None, tag: str | None) -> None:
    """Find the newest 20 facts that contain QUERY, in any case; without QUERY and --tag the 20 newest."""
    _list(session, _store(session).search(query, tag))


@under(
    facts, "list", serves="look", examples=("memdeck facts list", "memdeck facts list --tag infra --scope user -o json")
)
@option("--tag", metavar="T", help="Only facts with this tag.")
@option("--scope", metavar="S", help="Only facts of this scope.")
@option("--limit", type=Whole(0), default=0, metavar="N", help="The newest N (default: 0, all).")
def list_facts(session: Session, tag: str | None, scope: str | None, limit: int) -> None:
    """List facts, the newest first."""
    found = find_facts(_store(session).read(), None, tag, limit=0)
    if scope is not None:
        found = tuple(fact for fact in found if fact.scope == scope)
    _list(session, found[:limit] if limit else found)


def _list(session: Session, found: Sequence[Fact]) -> None:
    rows = ((fact.id, fact.ts[:10], fact.scope, ", ".join(fact.tags), fact.title) for fact in found)
    session.answer(
        lambda: model.found(found),
        lambda: session.paint.columns(rows, empty="no facts"),
        lambda: (fact.json() for fact in found),
    )


@under(facts, "delete", serves="change", examples=("memdeck facts delete m-3",))
@argument("fact_id", metavar="ID")
def delete(session: Session, fact_id: str) -> int:
    """Delete one fact by its id, which is not given again; `memdeck undo` brings it back."""
    answer = _store(session).delete(fact_id, actor=session.actor, now=session.now)
    session.made = None if isinstance(answer, RefusedFact) else f"deleted {fact_id}"
    session.warn()
    if isinstance(answer, RefusedFact):
        return _refused(session, answer.error, answer.json())
    session.answer(answer.json, lambda: [session.paint.line(answer.change.summary)])
    return 0


@under(
    facts,
    "inject",
    serves="look",
    examples=(
        "memdeck facts inject 'Which database do we use?'",
        'echo "$PROMPT" | memdeck facts inject -',
        "memdeck facts inject 'Which database?' --explain",
    ),
)
@argument("message", metavar="[MESSAGE|-]", required=False)
@option("--explain", is_flag=True, help="Say which facts were chosen and why, and what fell off.")
def inject(session: Session, message: str | None, explain: bool) -> None:
    """Print the facts that matter for a message as the block for a prompt, and nothing else.

    MESSAGE, or with - what stands on stdin. Without a match these are the five newest. Where there is nothing to
    inject, or no workspace, nothing is printed and the exit code is 0, which suits a prompt hook.
    """
    try:
        workspace = session.workspace
    except UsageError as error:
        if error.code != "workspace.not_found" or explain:
            raise
        return
    store = _facts(workspace).store
    found = store.inject(message or "" if session.served else _message(message), session.now)
    block = found.block.rstrip("\n").split("\n") if found.facts else []
    session.answer(found.json, lambda: _explained(session, found) if explain else map(visible, block))


def _message(message: str | None) -> str:
    """Return the message, read from stdin if it is `-`."""
    if message != "-":
        return message or ""
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read(_LONGEST_MESSAGE).decode("utf-8", "replace")


def _explained(session: Session, found: Injection) -> Iterator[str]:
    """Yield lines with the budget, and each fact with the terms of its score."""
    limits, paint = found.settings, session.paint
    said = f"words of the message: {', '.join(found.words) or 'none'}"
    words = {
        "off": "injection is off",
        "match": said,
        "recent": f"{said}; nothing matches, so at most the {found.most} newest",
        "recent_only": "the newest, whatever the message is",
    }
    yield paint.line(words[found.reason])
    yield _gauge("characters", found.characters, limits.max_inject_chars)
    yield _gauge("facts", len(found.facts), found.most)
    if found.most < limits.max_inject_count:
        yield f"{'':<10}  without a match; with one up to {limits.max_inject_count}"
    rows = []
    for one in found.candidates:
        score = f"{len(one.words)} + {one.bonus:.4f}" if one.words else "-"
        state = "injected" if one.fits else f"fell off, {found.limit}"
        rows.append((state, one.fact.id, score, f"{one.total:,}", ", ".join(one.words), one.fact.title))
    if rows:
        yield ""
        yield from paint.columns([("", "id", "score", "chars so far", "words", "text"), *rows])


def _gauge(name: str, used: int, most: int) -> str:
    full = min(_BAR, round(_BAR * used / most)) if most else 0
    return f"{name:<10}  [{'#' * full}{'.' * (_BAR - full)}]  {used:,} of {most:,}"


@under(facts, "check", serves="look", examples=("memdeck facts check", "memdeck facts check -o json"))
def check(session: Session) -> int:
    """Report lines that are no facts, ids that stand twice, secrets, and facts that say nearly the same.

    Exit code 4 when there is an error; warnings and notes alone are none.
    """
    problems = _facts(session.workspace).check()
    session.listing("problems", lambda: map(as_json, problems), lambda: lines_of(session, problems))
    return PROBLEMS if any(problem.level == "error" for problem in problems) else 0


_form = option(
    "--format", "form", type=Choice(("jsonl", "csv")), help="jsonl, or csv with a header (default: by the name)."
)


@under(
    facts,
    "import",
    serves="change",
    examples=("memdeck facts import notes.jsonl", "cat facts.csv | memdeck facts import - --format csv"),
)
@argument("file", metavar="FILE|-")
@_form
def import_facts(session: Session, file: str, form: Form | None) -> int:
    """Store facts from a JSONL or CSV file, in one change and under new ids; ts, scope and tags are kept.

    Texts that are there already are left out. Each line passes the checks of `facts store`; refused lines are listed,
    and the exit code is 1, but the others are stored.
    """
    data = file.encode() if session.served else _bytes(file)
    rows = read_rows(data, form or ("csv" if file.endswith(".csv") else "jsonl"))
    found = _store(session).take_in(rows, actor=session.actor, now=session.now)
    session.made = f"imported {len(found.ids):,}" if found.ids else None
    session.warn()

    def lines() -> Iterator[str]:
        yield f"imported {len(found.ids):,}, {found.skipped:,} were there already, {len(found.refused):,} refused"
        for line, error in found.refused:
            yield session.paint.line(f"line {line}: {error}", "  ")
        if found.pruned:
            yield session.paint.line(f"let go, to make room: {', '.join(found.pruned[:20])}")

    session.answer(found.json, lines)
    return REFUSED if found.refused else 0


def _bytes(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read() if sys.stdin is not None else b""
    try:
        with open(file, "rb") as source:
            return source.read()
    except OSError as error:
        raise UsageError("facts.import", f"{file!r} cannot be read ({error.strerror})", "check its name") from None


@under(
    facts,
    "export",
    serves="look",
    examples=("memdeck facts export > ~/facts.jsonl", "memdeck facts export --format csv"),
)
@_form
def export_facts(session: Session, form: Form | None) -> None:
    """Print all facts, the oldest first, as JSONL or CSV for `facts import`."""
    for piece in export(_store(session).read().ranked, form or "jsonl"):
        session.writer.text(piece)
