"""What other systems than the memory files ask to run: commands of theirs as asks that a person decides about."""

from __future__ import annotations

from collections.abc import Iterable

from memory.base.names import alike

from .asks import LONGEST, Ask
from .suspicion import hidden_in, hidden_in_name


def command_ask(
    role: str,
    text: str,
    name: str,
    file: str,
    line: int = 0,
    *,
    names: Iterable[str] = (),
    timeout: str = "",
    environment: tuple[str, ...] = (),
) -> Ask:
    """Return the ask for a command; `names` are those of all commands of its role, which must tell them apart.

    `line` counts from 0, `environment` names the variables that the command gets beside those every command has.
    """
    if len(text) > LONGEST:
        why = f"it is longer than {LONGEST:,} characters: put it into a script"
    elif sum(alike(one) == alike(name) for one in names) > 1:
        why = "another entry has the same name"
    else:
        seen = (name, timeout, *environment)
        found = hidden_in(text) or next((hidden for other in seen if (hidden := hidden_in_name(other))), "")
        why = f"it holds the hidden character {found}" if found else ""
    return Ask(
        role,
        "command",
        text,
        name,
        file,
        line,
        timeout=timeout,
        environment=environment,
        ambiguous=why,
        environment_text=", ".join(environment),
    )
