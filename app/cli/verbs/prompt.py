"""The verbs of what an agent will see: the prompt with its blocks, and the hooks that hand it over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from app.cli.lazy_groups import verb
from app.cli.session import Session
from app.hooks.run import EVENTS

if TYPE_CHECKING:
    from memory.prompts import Prompt


@verb(
    "prompt",
    serves="look",
    examples=("memdeck prompt", "memdeck prompt --message 'deploy to staging' --budget 500", "memdeck prompt -o json"),
)
@click.option("--message", metavar="TEXT", default="", help="What the agent is asked; what fits it is added.")
@click.option("--budget", type=click.IntRange(100, 20_000), metavar="TOKENS", help="What it may cost (default: 1000).")
def prompt(session: Session, message: str, budget: int | None) -> None:
    """Show what an agent is told: each block with where it comes from, why it is there, and what it costs.

    A line shows where the budget ends; what stands below it is not sent. `-o json` has the text that is sent, byte for
    byte.
    """
    from memory.prompts import DEFAULT_BUDGET, brief
    from memory.systems import searcher_of

    searcher = session.opened(searcher_of(session.workspace))
    found = brief(session.workspace, session.now, message, budget or DEFAULT_BUDGET, searcher)
    session.answer(found.json, lambda: _lines(session, found))


def _lines(session: Session, found: Prompt) -> Iterator[str]:
    yield f"{found.used:,} of {found.budget:,} tokens"
    rows = [(block.system, f"{block.tokens}", block.reason, block.text) for block in found.blocks if block.included]
    yield from session.paint.columns(rows)
    below = [
        (block.system, f"{block.tokens}", block.reason, block.text) for block in found.blocks if not block.included
    ]
    if below:
        yield "-- not sent: the budget ends here"
        yield from session.paint.columns(below)
    if not found.blocks:
        yield "there is nothing to tell"


@verb(
    "hook",
    serves="machine",
    examples=("echo '{}' | memdeck hook session-start", "memdeck hook prompt --client claude-code"),
)
@click.argument("event", type=click.Choice(EVENTS))
@click.option(
    "--client", default="", metavar="NAME", help="The client that calls, which decides the form of the answer."
)
def hook(session: Session, event: str, client: str) -> None:
    """Answer a client's hook: its JSON on stdin, what the agent is to know on stdout.

    `memdeck connect` tells clients to call it. Whatever is wrong, it says nothing and ends with exit code 0;
    `memdeck doctor` has the reason.
    """
    from app.hooks.run import run

    words = [event, "--client", client, *(["-w", session.folder] if session.folder else [])]
    run([*words, "--now", session.now_option] if session.now_option else words)
    sys.stdout.flush()
