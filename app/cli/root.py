"""The click command `memdeck`, with all verbs."""

from __future__ import annotations

import click

from app.version import __version__

from .commands import LazyGroup
from .session import Session
from .verbs import PARTS, VERBS


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.ensure_object(Session).writer.text(f"memdeck {__version__}\n")
        context.exit()


root = LazyGroup(
    "memdeck",
    verbs=VERBS,
    parts=PARTS,
    help="""The memory of AI agents as a workspace: browse and edit it, keep it small.

    \b
    memdeck [DIR]             open the workspace that contains DIR (default: the current folder)
    memdeck --maintain [DIR]  one maintenance run, without a terminal (for cron)
    memdeck VERB ...          one step from the command line

    A folder named like a verb is written with its path, such as ./tasks.
    Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 needs approval,
    4 conflict or problems found, 75 busy, try again.
    """,
    subcommand_metavar="VERB ...",
    examples=(
        "memdeck demo",
        "memdeck tasks add 'Deploy v2.1' --priority HIGH --due 'tomorrow 14:00'",
        "memdeck tasks list --due overdue -o json",
        "memdeck --maintain ~/src/shop",
    ),
    params=[
        click.Option(
            ["--pane"],
            metavar="NAME",
            expose_value=False,
            help="The pane that the application opens first, such as journal.",
        ),
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version.",
        ),
        click.Option(
            ["--maintain"],
            is_flag=True,
            expose_value=False,
            help="Archive, prune and clear by the rules; see memdeck --maintain --help.",
        ),
    ],
)
