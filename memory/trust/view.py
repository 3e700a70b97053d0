"""What a person is shown before a decision: everything that it covers, and what to look at twice; no widget here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memory.base.safe_text import visible

from .asks import LONGEST, Ask
from .pins.unknown import sentence_of
from .suspicion import revealed
from .variables import loads
from .warnings import warnings_of

if TYPE_CHECKING:
    from pathlib import Path

    from .consent_decision import ConsentDecision

Sign = Literal["-", "+", " "]
_ROLES = {
    "check": "Run this command to check {}?",
    "remediate": "Run this command to mend {} when its check fails?",
    "action": "Run this action of the task {}?",
    "file": "Look at this path outside of the workspace to check {}?",
    "url": "Connect to this address to check {}?",
    "folders": "Delete what is old in these folders of the agent {}?",
}
_FOLDERS = (
    "deletes files there that are older than 90 days (procedural) or 7 days (episodic), at each prune",
    "the Aidefile came with the folder: look whether anything but memory lies there",
)
_COMPARED = (
    ("kind", "type"),
    ("text", "text"),
    ("threshold", "alert when"),
    ("interval", "runs"),
    ("timeout", "timeout"),
    ("environment_text", "environment"),
    ("fires", "fired by"),
    ("settings", "its fields"),
)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of what changed since the last approval: `-` was, `+` is, " " a heading or what stayed."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class ConsentView:
    """Everything about one decision as safe text: `text` is the whole command, line by line, nothing left out.

    `facts` are label and value; `files` what is held on to with the command, each with what became of it since;
    `approvable` is False where it can only be refused, and `why` says so.
    """

    id: str
    question: str
    text: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    diff: tuple[DiffLine, ...]
    approvable: bool
    state: str
    why: str


def view_of(ask: Ask, decision: ConsentDecision, workspace: Path) -> ConsentView:
    """Return what is shown about an ask in a workspace as it is decided now."""
    role = "file" if ask.role == "check" and ask.kind.casefold() == "file" else ask.role
    question = _ROLES.get(role, "Approve {}?").format(f"“{visible(ask.name)}”")
    warnings = warnings_of(ask.text) if ask.runs else _FOLDERS if role == "folders" else _address_warnings(ask)
    warnings += tuple(said for one in decision.unknown if (said := sentence_of(one)) not in warnings)
    if ask.environment:
        warnings += (f"gets variables of your environment: {revealed(', '.join(ask.environment))}",)
        loading = ", ".join(filter(loads, ask.environment))
        warnings += (f"{loading} may have programs load and run more than stands here",) if loading else ()
    return ConsentView(
        decision.id,
        question,
        _whole(ask.text),
        _facts(ask, workspace, files=bool(_files(decision))),
        warnings,
        _files(decision),
        _diff(ask, decision),
        bool(decision.id) and not decision.allowed,
        decision.state,
        visible(decision.why),
    )


def workspace_view(covered: Sequence[Ask], workspace: Path) -> ConsentView:
    """Return what is shown before a workspace is approved for outgoing checks; `covered` are those that it has now."""
    lines = tuple(f"{visible(ask.name)}: {revealed(ask.text)}" for ask in covered)
    return ConsentView(
        "",
        "Let monitors of this workspace connect to public addresses?",
        lines or ("none of its monitors does now",),
        (("folder", visible(str(workspace))), ("covers", "http and https to public addresses, and no others")),
        (
            "covers every such address that the files name later, too: whoever can write them chooses where to",
            "addresses of this machine and its network still need an approval of their own",
        ),
        (),
        (),
        True,
        "pending",
        "",
    )


def _whole(text: str) -> tuple[str, ...]:
    """Return all lines of what would run; only of what nobody can approve for its length, the beginning."""
    rest = len(text) - LONGEST
    lines = revealed(text[:LONGEST]).split("\n")
    return (*lines, f"… and {rest:,} more characters") if rest > 0 else tuple(lines)


def _facts(ask: Ask, workspace: Path, *, files: bool) -> tuple[tuple[str, str], ...]:
    folder = visible(str(workspace))
    ends = "when a byte of this, or of the files below, changes" if files else "when a byte of this changes"
    found = [
        ("from", f"{ask.file}, line {ask.line + 1}"),
        ("type", ask.kind),
        ("fired by", ask.fires),
        ("runs", ask.interval if ask.role in ("check", "url") else ""),
        ("alert when", ask.threshold if ask.role in ("check", "url") else ""),
        ("when", "only by your own key, each time" if ask.role == "action" else ""),
        ("timeout", ask.timeout),
        ("its fields", ask.settings.replace("\n", ", ")),
        ("environment", ask.environment_text),
        ("in folder", folder if ask.runs else ""),
        ("approval ends", ends if ask.runs else ""),
    ]
    return tuple((label, visible(value)) for label, value in found if value)


def _address_warnings(ask: Ask) -> tuple[str, ...]:
    from .addresses import closed_reason

    closed = closed_reason(ask.text)
    return (closed,) if closed else ()


def _files(decision: ConsentDecision) -> tuple[tuple[str, str], ...]:
    before = {(script.path, script.hash) for script in decision.scripts_before}
    known = {path for path, _ in before}
    compared = decision.before is not None
    found = []
    for script in decision.scripts:
        said = script.hash if script.hash.startswith("link to ") else f"sha256 {script.hash[:12]}"
        if compared:
            same = (script.path, script.hash) in before
            said += ", as approved" if same else ", changed" if script.path in known else ", new"
        found.append((visible(script.path), visible(said)))
    now = {script.path for script in decision.scripts}
    found += [(visible(path), "gone") for path in sorted(known - now) if compared]
    return tuple(found)


def _diff(ask: Ask, decision: ConsentDecision) -> tuple[DiffLine, ...]:
    """Return what is not as it was approved, part by part, the text line by line."""
    old = decision.before
    if old is None:
        return ()
    lines: list[DiffLine] = []
    for part, label in _COMPARED:
        before, after = getattr(old, part), getattr(ask, part)
        if before == after:
            continue
        lines.append(DiffLine(" ", f"{label}:"))
        lines += _lines_of(before, after)
    return tuple(lines)


def _lines_of(before: str, after: str) -> list[DiffLine]:
    from difflib import SequenceMatcher

    # Compared as they are, for two characters may be shown alike; shown safe.
    old, new = before.split("\n"), after.split("\n")
    lines: list[DiffLine] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [DiffLine(" ", revealed(text)) for text in old[start:end]]
            continue
        lines += [DiffLine("-", revealed(text)) for text in old[start:end]]
        lines += [DiffLine("+", revealed(text)) for text in new[new_start:new_end]]
    return lines
