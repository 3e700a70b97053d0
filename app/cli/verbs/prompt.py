"""The verbs about what an agent will see: the prompt with its blocks, and the hooks that deliver it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from app.connect.clients import CLIENTS
from app.hooks.preview import told
from app.hooks.run import EVENTS
from memory.base.safe_text import visible
from memory.errors import UsageError
from memory.operations import Choice, Context, Whole, argument, option, shows, verb
from memory.operations.result import Paint, Result
from memory.prompts.brief import DEFAULT_BUDGET, START_TOKENS, brief
from memory.prompts.compose import AgentPrompt, PromptBlock
from memory.prompts.sheet import PromptChoices, Sheet, change_choices, read_choices
from memory.search.searcher import Searcher
from memory.systems import searcher_of

_CHOICES = (("pin", "pin", True), ("unpin", "pin", False), ("mute", "mute", True), ("unmute", "mute", False))
"""Each option with the kind of choice, and whether it is made or undone."""


@verb(
    "prompt",
    serves="look",
    by_person=(*(option for option, _, _ in _CHOICES), "set_budget", "count"),
    examples=(
        "memdeck prompt",
        "memdeck prompt --message 'deploy to staging' --budget 500",
        "memdeck prompt --client claude-code --message 'deploy to staging' -o json",
        "memdeck prompt --pin 'tasks#5fb30ad215'",
        "memdeck prompt --mute 'facts#m-3'",
        "memdeck prompt --sheet",
        "memdeck prompt --set-budget 800",
    ),
)
@option("--agent", metavar="NAME", default="", help="The agent whose tasks come first.")
@option("--message", metavar="TEXT", default="", help="A message to the agent; matching entries are added.")
@option("--budget", type=Whole(100, 20_000), metavar="TOKENS", help="The budget in tokens (default: 1000).")
@option(
    "--client",
    metavar="NAME",
    help="Show what the hooks of this client send (default: what the tool brief returns).",
)
@option("--pin", multiple=True, metavar="REF", help="Pin an entry to the top.")
@option("--unpin", multiple=True, metavar="REF", help="Unpin an entry.")
@option("--mute", multiple=True, metavar="REF", help="Mute an entry: agents are not told about it.")
@option("--unmute", multiple=True, metavar="REF", help="Unmute an entry.")
@option("--sheet", is_flag=True, help="Show what was sent before, what it cost, and what answers used.")
@option(
    "--set-budget",
    type=Whole(0, 20_000),
    metavar="TOKENS",
    help="The budget at the start of a session, in tokens (0: the default, 1500).",
)
@option("--count", type=Choice(("on", "off")), help="Whether hooks count what they send and what answers use.")
def prompt(
    context: Context,
    agent: str,
    message: str,
    budget: int | None,
    client: str | None,
    sheet: bool,
    set_budget: int | None,
    count: str | None,
    **chosen: tuple[str, ...],
) -> Result:
    """Show what an agent is told: each block with its source, its reason and its cost.

    What is below the line of the budget is not sent. `-o json` has the text that is sent, byte for byte.

    --sheet lists what agents were told: tokens spent, times sent, answers that use the entry, and the last day;
    `unused` is one that was sent, but not used, in 30 days.
    """
    if client is not None and client not in CLIENTS:
        words = f"memdeck does not know the client {client[:40]!r}"
        raise UsageError("connect.unknown_client", words, f"write {', '.join(CLIENTS)}")
    _choose(context, chosen, set_budget, count)
    if sheet:
        return _sheet(context)
    workspace, now = context.workspace, context.now

    def searcher() -> Searcher:
        return context.opened(searcher_of(workspace))

    if client is None:
        found = brief(workspace, now, message, budget or DEFAULT_BUDGET, searcher(), agent)
        return Result(found.json, lambda paint: _lines(paint, found))
    shown = told(workspace, now, client, message, agent=agent, budget=budget, searcher=searcher)
    by = "tool" if shown.why else "hook"
    return Result(lambda: {**shown.prompt.json(), "by": by}, lambda paint: _lines(paint, shown.prompt, shown.why))


def _choose(context: Context, chosen: Mapping[str, Sequence[str]], budget: int | None, count: str | None) -> None:
    """Pin, unpin, mute and unmute as chosen, and set the budget and the counting, all in one step."""
    wanted = [(ref.strip(), kind, made) for word, kind, made in _CHOICES for ref in chosen[word]]
    if not wanted and budget is None and count is None:
        return

    def change(old: PromptChoices) -> PromptChoices:
        for ref, kind, made in wanted:
            old = old.having(ref, kind) if made else old.without(ref, kind)
        return old._replace(
            budget=old.budget if budget is None else budget, counts=old.counts if count is None else count == "on"
        )

    change_choices(context.workspace.state, change, now=context.now)


def _sheet(context: Context) -> Result:
    """Return the balance sheet, the most expensive entries first."""
    now = context.now
    choices, rows = read_choices(context.workspace.state), Sheet(context.workspace.state).rows().values()

    def lines(paint: Paint) -> Iterator[str]:
        if not choices.counts:
            yield paint.notice("hooks do not count what they send; turn it on with memdeck prompt --count on")
        table = [("tokens", "sent", "cited", "words", "last sent", "last used", "", "")] if rows else []
        for one in rows:
            counts = (f"{one.values[key]:,}" for key in ("tokens", "sent", "cited", "takenUp"))
            table.append((*counts, one.values["lastSent"][:10], one.used(), one.ref, one.values["title"]))
        unused = [at for at, one in enumerate(rows, 1) if one.unused(now)]
        yield from paint.columns(table, alerts=dict.fromkeys(unused, 5))
        if any(one.unused(now) for one in rows):
            yield "what agents do not use: memdeck prompt --mute REF or --set-budget TOKENS"
        if not rows:
            yield "agents were not told anything yet"

    return Result(
        lambda: {
            "counts": choices.counts,
            "startBudget": choices.budget or START_TOKENS,
            "entries": [one.json(now) for one in rows],
        },
        lines,
    )


def _lines(paint: Paint, found: AgentPrompt, why: str = "") -> Iterator[str]:
    def rows(blocks: Iterable[PromptBlock]) -> Iterator[str]:
        return paint.columns(
            (one.system, f"{one.tokens}", f"{one.score:.2f}", visible(one.reason), one.text) for one in blocks
        )

    yield from [why] if why else []
    yield f"{found.used:,} of {found.budget:,} tokens"
    yield from rows(one for one in found.blocks if one.included)
    for words, ones in (
        ("-- not sent: the budget ends here", found.not_sent("budget")),
        ("-- not sent: you muted it", found.not_sent("mute")),
        ("-- not sent: suspicious (see memdeck trust list)", found.not_sent("suspicious")),
    ):
        if ones:
            yield words
            yield from rows(ones)
    if not found.blocks:
        yield "nothing to tell"


@verb(
    "hook",
    serves="machine",
    looks=shows,
    examples=("echo '{}' | memdeck hook session-start", "memdeck hook prompt --client claude-code"),
)
@argument("event", type=Choice(EVENTS))
@option("--client", default="", metavar="NAME", help="The calling client, which decides the form of the answer.")
def hook(_context: Context, event: str, client: str) -> None:
    """Answer a client's hook: it reads JSON on stdin and prints what the agent should know.

    `memdeck connect` tells clients to call it. The exit code is always 0, even with unknown options;
    `memdeck doctor` shows why an answer failed.
    """
    # Calls are answered before their words are parsed: see `app.main`. Only a call with `--help` is parsed.
