"""Verbs that this version does not have: each says so, with what to do meanwhile."""

from __future__ import annotations

import click

from memory.errors import NotThereYet

from .verbs import Verb

_RUNS = "it comes with monitor runs; until then nothing in memory files is ever run"


def not_there_yet(name: str, instead: str) -> NotThereYet:
    """Return the error of a verb that this version does not have."""
    return NotThereYet("verb.not_there_yet", f"this version of memdeck has no `{name}`", instead, verb=name)


def absent(path: str, text: str, instead: str, argument: str | None = None, example: str | None = None) -> Verb:
    """Return a verb that takes its arguments, has its help, and raises NotThereYet; `path` is `changes show`."""

    def refuse(**_values: object) -> None:
        raise not_there_yet(path, instead)

    words = f"memdeck {path}" + (f" {example}" if example else "")
    optional = argument is not None and argument.startswith("[")
    arguments = [] if argument is None else [click.Argument(["what"], metavar=argument, nargs=-1 if optional else 1)]
    return Verb(
        path.rpartition(" ")[2], callback=refuse, help=f"{text} (not there yet).", params=arguments, examples=(words,)
    )


check_monitors = absent("monitors check", "Run the monitors that are due, or those named", _RUNS, "[REF]...")
