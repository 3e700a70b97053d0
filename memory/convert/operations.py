"""The operation that converts between memory systems and from the files of other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memory.operations import Context, argument, option, verb
from memory.operations.result import Paint, Result

from .run import ConversionReport
from .run import convert as run

_SHOWN = 5
"""How many skipped things with the same reason are named."""


@verb(
    "convert",
    serves="machine",
    examples=(
        "memdeck convert facts files --dry-run",
        "memdeck convert taskwarrior:export.json files",
        "memdeck convert claude-code:CLAUDE.md facts",
        "memdeck convert files:../shop typed --into planner",
    ),
)
@argument("source", metavar="FROM")
@argument("target", metavar="TO")
@option("--dry-run", is_flag=True, help="Write nothing, only say what would be converted.")
@option(
    "--into", default="", metavar="PLACE", help="The agent of typed memory, the scope of curated memory, or a client."
)
def convert(context: Context, source: str, target: str, dry_run: bool, into: str) -> Result:
    """Copy the entries of one memory into another, and report those that do not fit there.

    FROM is a system (files, facts, typed, state, curated, clients), one of another workspace as SYSTEM:DIR, or files of
    another tool: claude-code, basic-memory, backlog, taskwarrior, todotxt, jrnl, beads, task-master, kiro, spec-kit,
    cursor-rules or memory-bank, as FORMAT:PATH. TO is a system of this workspace. Nothing in FROM changes, and entries
    that TO has already are left out.
    """
    report = run(
        context.workspace,
        source,
        target,
        open_workspace=context.open,
        actor=context.actor,
        now=context.now,
        into=into,
        dry_run=dry_run,
    )
    document = {"from": source, "to": target, "dry_run": dry_run, **report.json()}
    return Result(lambda: document, lambda paint: _lines(paint, report, dry_run))


def _lines(paint: Paint, report: ConversionReport, dry_run: bool) -> Iterator[str]:
    words = "would be converted" if dry_run else "converted"
    yield f"{report.read:,} read = {report.converted:,} {words} + {len(report.skipped):,} skipped"
    skipped: dict[str, list[str]] = {}
    for one in report.skipped:
        skipped.setdefault(one.reason, []).append(one.what)
    for reason, named in skipped.items():
        more = f" and {len(named) - _SHOWN:,} more" if len(named) > _SHOWN else ""
        yield from (paint.line(f"  skipped {what}: {reason}") for what in named[: _SHOWN - bool(more)])
        if more:
            yield paint.line(f"  skipped {named[_SHOWN - 1]}{more}: {reason}")
    counted = Counter((one.field, one.reason) for one in report.losses)
    for (field, reason), count in counted.most_common():
        yield paint.line(f"  without {field} ({count:,}): {reason}")
    if len(report.changes) == 1:
        yield f"change {report.changes[0]}: `memdeck undo` takes it back"
    elif report.changes:
        yield f"{len(report.changes):,} changes"
