"""The reference of the command line in Markdown, generated from the commands themselves.

`python -m app.cli.reference docs/command-line.md` writes it into that page, below its mark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from memory.operations import load

from .commands import COMMON, FOLDER_ONLY, Verb, VerbGroup, command_of
from .root import root
from .verbs import FORMS, PARTS

MARK = "<!-- What follows is made by: python -m app.cli.reference docs/command-line.md -->\n"


def reference(page: str) -> str:
    """Return the page with everything after its mark generated again."""
    return page.partition(MARK)[0] + MARK + "\n" + "\n".join(_verbs())


def _verbs() -> Iterator[str]:
    yield "## Options of every verb\n\nWrite them before or after the verb; the one nearest to the verb counts.\n"
    yield _options(COMMON)
    yield "## memdeck [DIR]\n"
    yield _body(command_of(load(FORMS["open"])), "memdeck")
    yield "## memdeck --maintain [DIR]\n"
    yield _body(command_of(load(FORMS["maintain"])), "memdeck --maintain")
    context = click.Context(root, info_name="memdeck")
    for heading, names in PARTS.items():
        yield f"## {heading}\n"
        for name in names:
            command = root.get_command(context, name)
            assert command is not None
            yield from _verb(command, f"memdeck {name}")


def _verb(command: click.Command, path: str, level: int = 3) -> Iterator[str]:
    yield f"{'#' * level} {path}\n"
    if not isinstance(command, VerbGroup):
        yield _body(command, path)
        return
    yield f"{command.help}\n"
    for name, inner in command.commands.items():
        yield from _verb(inner, f"{path} {name}", level + 1)


def _body(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path)
    arguments = command.collect_usage_pieces(context)[1:]
    parts = [f"```\n{path} [OPTIONS] {' '.join(arguments)}\n```\n"] if arguments else []
    parts.append(" ".join((command.help or "").split()) + "\n")
    common = (*COMMON, FOLDER_ONLY)
    own = [parameter for parameter in command.params if isinstance(parameter, click.Option) and parameter not in common]
    if own:
        parts.append(_options(own))
    if isinstance(command, Verb) and command.operation.examples:
        parts.append("```sh\n" + "\n".join(command.operation.examples) + "\n```\n")
    return "\n".join(parts)


def _options(options: Sequence[click.Parameter]) -> str:
    lines = ["| option | does |", "|---|---|"]
    for option in options:
        context = click.Context(root)
        record = option.get_help_record(context)
        assert record is not None
        names, text = (part.replace("|", "\\|") for part in record)
        lines.append(f"| `{names}` | {text} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(reference(page.read_text("utf-8")), "utf-8")
