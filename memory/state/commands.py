"""The commands that project state may run, each after a person's approval: validation commands, and an engine.

The engine replaces the deterministic one in a recall. It is a command of the person's own configuration, never of the
repository. It gets one JSON object on its standard input, `{"version": 1, "section": …, "bundle": …, "events": […]}`,
and prints the new bundle as JSON and nothing else. In all other cases the deterministic engine is used.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from memory.errors import MemdeckError
from memory.monitoring.command import Finished, ask_command, last_line, run_placed
from memory.monitoring.result import NotUsed
from memory.state.files.model import STATE, Json, line_of
from memory.state.files.reading import StateFiles, checked
from memory.state.recall.recall import Engine
from memory.trust.asks import Ask, command_ask
from memory.trust.consent import Trust, blocked_error
from memory.trust.settings import FILE, TrustSettings

VALIDATION, ENGINE = "validation", "engine"
VALIDATION_SECONDS = 600.0
LIMIT = 16_000_000
"""Bytes that an engine may print."""


def validation_asks(memory: StateFiles) -> tuple[Ask, ...]:
    """Return the validation commands of the bundle as asks; empty if the state cannot be read."""
    try:
        commands, data = memory.bundle["validationCommands"], memory.read(STATE).data
    except MemdeckError:
        return ()
    names = [one["label"] for one in commands]
    line, seconds = line_of(data, "validationCommands") - 1, f"{VALIDATION_SECONDS:.0f}s"

    def ask(label: str, words: list[str]) -> Ask:
        command = shlex.join(words)
        return command_ask(VALIDATION, command, label, STATE, line, names=names, timeout=seconds, folder=".")

    return tuple(ask(one["label"], one["command"]) for one in commands)


def run_validation(memory: StateFiles, trust: Trust, environ: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Run the validation commands of the bundle and return their results, in the shape of the snapshot.

    BlockedError `trust.blocked` if any command is not approved: then none runs. A command that is no longer approved
    when its turn comes, because a file that it names changed meanwhile, is `unavailable`. MemdeckError
    `state.validation.none` if there is none.
    """
    asks = validation_asks(memory)
    if not asks:
        raise MemdeckError(
            "state.validation.none", "the bundle has no validation command", "`memdeck state edit validation-commands`"
        )
    blocked = [(ask, decision) for ask in asks if not (decision := trust.decide(ask)).allowed]
    if blocked:
        raise blocked_error(blocked)
    results: list[Mapping[str, str]] = []
    for ask in asks:
        # The commands before it may have taken minutes, and have written what it would run.
        decision = trust.decide(ask)
        status, summary = "unavailable", f"not run: {decision.why}"
        if decision.allowed:
            command, seconds = decision.text or "", VALIDATION_SECONDS
            status, summary = _ended(
                run_placed(command, ask.folder, root=memory.root, state=trust.state, environ=environ, timeout=seconds)
            )
        results.append({"label": ask.name, "command": ask.text, "status": status, "summary": summary})
    return results


def _ended(ended: Finished) -> tuple[str, str]:
    """Return the status and a sentence for how a command ended."""
    if ended.failure or ended.exit_code in (126, 127):
        return "unavailable", ended.failure or last_line(ended) or f"exit code {ended.exit_code}"
    if ended.timed_out:
        return "failed", f"it did not end within {VALIDATION_SECONDS:.0f} seconds"
    if ended.exit_code == 0:
        return "passed", last_line(ended) or "exit code 0"
    return "failed", f"{ended.trouble}: {last_line(ended)}" if last_line(ended) else ended.trouble


def engine_ask(settings: TrustSettings) -> Ask | None:
    """Return the engine of the person's settings as an ask, None if there is none."""
    if not settings.engine:
        return None
    seconds, names = f"{settings.engine_timeout:g}s", settings.engine_environment
    return command_ask(ENGINE, settings.engine, "recall of project state", FILE, timeout=seconds, environment=names)


def engine_of(trust: Trust, environ: Mapping[str, str]) -> Engine | None:
    """Return the engine of the person's settings, None if there is none."""
    ask = engine_ask(trust.settings)
    if ask is None:
        return None

    def engine(bundle: Json, events: Sequence[Json], section: str) -> tuple[Json | None, str]:
        decision = trust.decide(ask)
        if not decision.allowed:
            return None, f"the engine is not approved ({decision.why}), so the deterministic one was used"
        settings = trust.settings
        given = {"version": 1, "section": section, "bundle": bundle, "events": list(events)}
        try:
            output = ask_command(
                decision.text or "", given, trust=trust, environ=environ, names=settings.engine_environment,
                seconds=settings.engine_timeout, limit=LIMIT,
            )  # fmt: skip
            bundle = checked(output.encode("utf-8", "surrogatepass"), "its answer", "bundle", "state.engine.bundle")
            return bundle, ask.text[:60]
        except (NotUsed, MemdeckError) as error:
            why = error.message if isinstance(error, MemdeckError) else error
            return None, f"the engine was not used: {why}; the deterministic one was"

    return engine
