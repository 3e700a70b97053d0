"""The question to a person before a decision: everything that it covers, and warnings; no widget here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from memory.base.safe_text import visible
from memory.base.scan import rejected_in

from .addresses import closed_reason
from .asks import LONGEST, TOLD, Ask, any_address, hidden_in, revealed, unusual_in
from .consent import OWN, ConsentDecision, Trust
from .pins import PRIVATE

Sign = Literal["-", "+", " "]
_ROLES = {
    "check": "Run this command to check {}?",
    "remediate": "Run this command to fix {} when its check fails?",
    "action": "Run this action of the task {}?",
    "file": "Look at this path outside of the workspace to check {}?",
    "url": "Connect to this address to check {}?",
    "folders": "Delete old files in these folders of the agent {}?",
    TOLD: "Tell agents this text from {}, although it looks suspicious?",
}
_FOLDERS = (
    "deletes files there that are older than 90 days (procedural) or 7 days (episodic), at each prune",
    "the Aidefile came with the folder: check that these folders contain only memory",
)
_LABELS = {"threshold": "alert when", "interval": "runs"}

_INTERPRETERS = "sh bash dash zsh ksh ash fish busybox python python3 perl ruby node deno bun php lua"
_SECRETS = (
    r"\.ssh\b|\bid_(?:rsa|ed25519|ecdsa)\b|authorized_keys|\.(?:aws|gnupg|netrc|kube|npmrc|pypirc|git-credentials)\b"
    r"|\.config/|\.docker/config|\.(?:bash|zsh)\w+|\.profile\b|/etc/(?:passwd|shadow|sudoers|cron)|/root\b|memdeck"
)
_LOADING = r"\b(?:(?:LD_|DYLD_|PYTHON|NODE_|PERL5?|RUBY|GIT_)\w*|PATH|IFS|BASH_ENV|ENV|SHELL)="


def _program(names: str) -> str:
    """Return the pattern of programs, wherever they are named."""
    return rf"(?<![\w.-])(?:{names.replace(' ', '|')})(?![\w.-])"


_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (_program("sudo doas su pkexec run0 runas"), "runs with the rights of another user ({})"),
        (
            _program("rm rmdir unlink shred dd mkfs wipefs truncate xargs") + r"|\bfind\b[^|;&]*-(?:delete|exec)",
            "removes or overwrites files ({})",
        ),
        (
            _program(
                "curl wget ftp sftp scp rsync nc ncat socat telnet ssh mail sendmail git pip pipx uv npm npx cargo apt"
            )
            + r"|/dev/(?:tcp|udp)/",
            "reaches other machines ({})",
        ),
        (_program("eval exec source base64 xxd gunzip zcat"), "runs or decodes text that is not readable here ({})"),
        (
            _program("crontab at batch systemctl launchctl nohup setsid disown screen tmux") + r"|(?<![&>])&(?![&>])",
            "may leave processes running ({})",
        ),
        (_SECRETS, "touches keys, secrets or settings ({})"),
        (r"(?<![0-9&])>|[0-9&]>(?!&)|\btee\b|\bsed\b[^|;&]*\s-i", "writes to a file ({})"),
        (_LOADING, "changes how programs are found or loaded ({})"),
        (r"\n", "runs several lines"),
    )
)
"""What is warned of, in a command without its quotes, which do not change what runs."""
_ALONE = "a private temporary folder, deleted afterwards"
_INSIDE = "any file there can change what it does"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of the changes since the last approval: `-` removed, `+` added, " " a heading or an unchanged line."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class ConsentView:
    """Everything about one decision as safe text: `text` is the whole command, line by line, nothing left out.

    `facts` are label and value; `files` the files pinned with the command, each with its change since; `approvable` is
    False if it can only be refused, and `why` is the reason.
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
    """Return the view of an ask in a workspace with its current decision."""
    role = "file" if ask.role == "check" and ask.kind.casefold() == "file" else ask.role
    question = _ROLES.get(role, "Approve {}?").format(f"“{visible(ask.file if role == TOLD else ask.name)}”")
    if ask.runs:
        warnings = (*_reach(decision), *warnings_of(ask.text))
    elif role == TOLD:
        warnings = (f"breaks rules of the content scan: {', '.join(rejected_in((ask.shown,), plain_words=True))}",)
    else:
        closed = any_address(ask) or closed_reason(ask.text) if role == "url" else ""
        warnings = _FOLDERS if role == "folders" else (f"{OWN}{closed}",) if closed else ()
    if ask.environment:
        warnings += (f"gets variables of your environment: {revealed(', '.join(ask.environment))}",)
    return ConsentView(
        decision.id,
        question,
        tuple(revealed(ask.shown).split("\n")) if ask.shown else _whole(ask.text),
        _facts(ask, workspace, files=bool(_files(decision))),
        warnings,
        _files(decision),
        _diff(ask, decision),
        bool(decision.id) and not decision.allowed,
        decision.state,
        visible(decision.why),
    )


def _reach(decision: ConsentDecision) -> Iterator[str]:
    """Yield what decides what a command does beside its text and the files that it names."""
    if decision.pinned.reach:
        covered = "only those listed here" if _files(decision) else "none of them"
        yield f"{decision.pinned.reach} the workspace: {_INSIDE}; the approval covers {covered}"
    if decision.pinned.reads:
        yield f"reads, not covered: {visible(', '.join(decision.pinned.reads))}"


def workspace_view(trust: Trust, asks: Iterable[Ask]) -> ConsentView:
    """Return the view before a workspace is approved for outgoing checks; `asks` are its present ones."""
    covered = [ask for ask in asks if ask.role == "url" and not ask.ambiguous and not trust.closed_reason(ask)]
    lines = tuple(f"{visible(ask.name)}: {revealed(ask.text)}" for ask in covered)
    return ConsentView(
        "",
        "Let monitors of this workspace connect to public addresses?",
        lines or ("none of its monitors does now",),
        (("folder", visible(str(trust.workspace))), ("covers", "http and https to public addresses, and no others")),
        (
            "also covers addresses that the files name later: anyone who can write to the files chooses them",
            "leaves out addresses of this machine and its network: each needs an approval of its own",
        ),
        (),
        (),
        True,
        "pending",
        "",
    )


def _whole(text: str) -> tuple[str, ...]:
    """Return all lines of what would run; if it is too long to be approved, only the beginning."""
    rest = len(text) - LONGEST
    lines = revealed(text[:LONGEST]).split("\n")
    return (*lines, f"… and {rest:,} more characters") if rest > 0 else tuple(lines)


def _facts(ask: Ask, workspace: Path, *, files: bool) -> tuple[tuple[str, str], ...]:
    covered = "anything here, or in the files below," if files else "anything here"
    where = _ALONE if ask.folder == PRIVATE else os.path.normpath(workspace / ask.folder)
    found = [
        ("from", f"{ask.file}, line {ask.line + 1}"),
        ("type", ask.kind),
        *((_LABELS.get(name, name), value) for name, value in ask.details),
        ("when", "only when you press the key, each time" if ask.role == "action" else ""),
        ("redirects", f"followed to public addresses and {ask.redirects}" if ask.redirects else ""),
        ("in folder", where if ask.runs else ""),
        ("approval", f"lapses if {covered} changes" if ask.runs or ask.role == TOLD else ""),
    ]
    return tuple((label, visible(value)) for label, value in found if value)


def _files(decision: ConsentDecision) -> tuple[tuple[str, str], ...]:
    before = {(script.path, script.hash) for script in decision.scripts_before}
    known = {path for path, _ in before}
    compared = decision.before is not None
    found = []
    for script in decision.pinned.scripts:
        said = script.hash if script.hash.startswith("link to ") else f"sha256 {script.hash[:12]}"
        if compared:
            same = (script.path, script.hash) in before
            said += ", as approved" if same else ", changed" if script.path in known else ", new"
        found.append((visible(script.path), visible(said)))
    now = {script.path for script in decision.pinned.scripts}
    found += [(visible(path), "gone") for path in sorted(known - now) if compared]
    return tuple(found)


def _diff(ask: Ask, decision: ConsentDecision) -> tuple[DiffLine, ...]:
    """Return the differences from what was approved, part by part, the text line by line."""
    old = decision.before
    if old is None:
        return ()
    places = [{"": "the workspace", PRIVATE: _ALONE}.get(one.folder, one.folder) for one in (old, ask)]
    before, after = dict(old.details), dict(ask.details)
    compared = [
        ("type", old.kind, ask.kind),
        ("text", old.text, ask.text),
        *((_LABELS.get(one, one), before.get(one, ""), after.get(one, "")) for one in sorted(before | after)),
        ("in folder", *places),
    ]
    return tuple(
        line
        for label, then, now in compared
        if then != now
        for line in (DiffLine(" ", f"{label}:"), *_lines_of(then, now))
    )


def _lines_of(before: str, after: str) -> list[DiffLine]:
    # Compared unchanged, because two characters may be shown alike; made safe for display after that.
    old, new = before.split("\n"), after.split("\n")
    lines: list[DiffLine] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [DiffLine(" ", revealed(text)) for text in old[start:end]]
            continue
        lines += [DiffLine("-", revealed(text)) for text in old[start:end]]
        lines += [DiffLine("+", revealed(text)) for text in new[new_start:new_end]]
    return lines


def warnings_of(command: str) -> tuple[str, ...]:
    """Return warnings about a command; none only means that nothing known was found."""
    command = command[:LONGEST]
    plain = re.sub(r"[\\'\"]", "", command)
    found = [f"holds the hidden character {hidden}"] if (hidden := hidden_in(command)) else []
    inner = ", ".join(sorted(set(re.findall(_program(_INTERPRETERS), plain))))
    if inner and "|" in command:
        found.append(f"may pipe what it reads into {inner}")
    if inner and re.search(r"\s-\w*[ceE]\b", command):
        found.append(f"runs code given in the command ({inner} -c)")
    for pattern, text in _PATTERNS:
        if names := dict.fromkeys(match[0] for match in pattern.finditer(plain)):
            found.append(text.format(", ".join(names)))
    if re.search(r"[$`]", re.sub(r"\\.|'[^']*'", "", command)):
        found.append("some words are known only when it runs ($, `)")
    if unusual := unusual_in(command):
        shown = " ".join(f"{char} U+{ord(char):04X}" for char in unusual[:6])
        found.append(f"holds characters that may look like others ({shown}{' …' if len(unusual) > 6 else ''})")
    return tuple(found)
