"""Asking a command of the person's configuration a question: JSON on its standard input, text on its output.

The question lies in a private file outside of every workspace while the command runs, and is emptied afterwards. Only
what was approved runs; what the command prints is for the caller to judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.monitoring.process.command import Finished, clean_environment, run_command

if TYPE_CHECKING:
    from memory.storage.record import PrivateRecord

_INPUT = "MEMDECK_INPUT"


class NotUsed(Exception):
    """Why what a command did is not taken."""


def ask_command(
    text: str,
    question: object,
    record: PrivateRecord,
    *,
    folder: Path,
    environ: Mapping[str, str],
    names: tuple[str, ...] = (),
    seconds: float,
    limit: int,
    now: datetime,
) -> str:
    """Return what an approved command prints; NotUsed where it fails, prints too much or takes longer than `seconds`.

    `names` are the variables that it gets beside those of every command, `folder` is where it runs, `limit` in bytes.
    """
    record.update(lambda _: json.dumps(question, ensure_ascii=False).encode(), command="ask", now=now)
    environment = {**clean_environment(environ, names), _INPUT: str(record.path)}
    try:
        # What was approved runs as it is, with its input where a command expects it.
        ended = run_command(
            f'exec <"${_INPUT}"\n{text}', folder=folder, environment=environment, timeout=seconds, limit=limit
        )
    finally:
        record.update(lambda _: b"{}", command="ask", now=now)
    if ended.failure:
        raise NotUsed(ended.failure)
    if ended.timed_out:
        raise NotUsed(f"it did not answer within {seconds:g} seconds")
    if ended.exit_code != 0:
        last = last_line(ended)
        code = f"signal {ended.signal}" if ended.exit_code is None else f"exit code {ended.exit_code}"
        raise NotUsed(f"it failed with {code}" + (f" ({last})" if last else ""))
    return ended.output


LONGEST = 200
"""Characters of a line that a command printed, in messages."""


def last_line(ended: Finished) -> str:
    """Return the last line that a command printed, of its errors where it printed nothing; no secret is shown."""
    from memory.base.safe_text import visible
    from memory.base.secrets import find_secrets

    for text in (ended.output, ended.errors):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines and not find_secrets(lines[-1]):
            return visible(lines[-1])[:LONGEST]
    return ""
