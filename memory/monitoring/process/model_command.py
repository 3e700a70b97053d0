"""Sending a question to a command of the person's configuration: JSON on its standard input, text on its output.

The question is never written to a file, so several commands can be asked at once. Only approved commands run; the
caller validates what the command prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from memory.base.safe_text import visible
from memory.base.secrets import find_secrets
from memory.errors import MemdeckError
from memory.monitoring.process.command import Finished, run_placed
from memory.trust.consent import Trust
from memory.trust.pins import PRIVATE


class NotUsed(Exception):
    """Why the output of a command is not used."""


class NotInTime(NotUsed):
    """A command did not end in time."""


def ask_command(
    text: str,
    question: object,
    *,
    trust: Trust,
    environ: Mapping[str, str],
    names: tuple[str, ...] = (),
    seconds: float,
    limit: int,
) -> str:
    """Return what an approved command prints; NotUsed if it fails or prints too much, NotInTime beyond `seconds`.

    `names` are variables that it gets in addition to those of every command. It runs in an empty private folder, like
    every unattended command. `limit` is in bytes.
    """
    try:
        ended = run_placed(
            text,
            PRIVATE,
            root=trust.workspace,
            state=trust.state,
            environ=environ,
            names=names,
            given=json.dumps(question).encode("ascii"),
            timeout=seconds,
            limit=limit,
        )
    except MemdeckError as error:
        raise NotUsed(error.message) from error
    if ended.failure:
        raise NotUsed(ended.failure)
    if ended.timed_out:
        raise NotInTime(f"it did not answer within {seconds:g} seconds")
    if ended.exit_code != 0:
        last = last_line(ended)
        raise NotUsed(f"it failed: {ended.trouble}" + (f" ({last})" if last else ""))
    return ended.output


LONGEST = 200
"""Maximum length, in characters, of a printed line in messages."""


def last_line(ended: Finished) -> str:
    """Return the last line of a command's output, else of its errors; a line with a secret is skipped."""
    for text in (ended.tail or ended.output, ended.errors):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines and not find_secrets(lines[-1]):
            return visible(lines[-1])[:LONGEST]
    return ""
