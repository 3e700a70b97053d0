"""Entries in doubt: they name what is gone or has another name now, or a newer entry says otherwise.

A person says that an entry is still true; that holds as long as the same is found. Reading an entry changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.git import gone_paths, has_commit
from memory.base.problems import Problem
from memory.base.safe_text import cut
from memory.base.values import folded
from memory.clients.instructions import instructions
from memory.clients.sources import project_root
from memory.errors import AmbiguousError, MemdeckError, NotFoundError
from memory.search.records import derived_ref, path_of
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import Settings
from memory.workspace import Workspace

from .claims import Claim, Text, contradictions
from .repository import Repository, proofs_of

_LASTING = ("knowledge", "contacts", "facts", "typed", "state", "curated", "memory")
"""The kinds of entries that say what holds: no tasks, and no history."""
_OF_STATE = ("state#gotcha-", "state#next-step-")
"""What people and agents write into the state of a project; the rest is derived from the repository, or history."""
_SOURCES = ("typed", "memory")
"""Those whose text is that of the file, line by line."""
_GONE = "gone-files.json"
"""The file in the state folder with the paths that git says were removed, and the head at which it said so."""
_MOST = 1_000
_PATIENT = 10.0


class Finding(NamedTuple):
    """One reason to doubt an entry: `band` is `gone`, `changed` or `older`, `subject` names the reason.

    `ref` is that of the entry, or the file where it is none; `other` and `newer` are ref and title of the newer one.
    `was` and `now` are the names of a renamed file. `line` is from 0.
    """

    ref: str
    title: str
    file: str
    line: int
    band: str
    words: str
    subject: str
    other: str = ""
    newer: str = ""
    was: str = ""
    now: str = ""

    @property
    def told(self) -> str:
        """What agents are told of it, in a few words: none of the other entry's own."""
        return f"older: {self.other} says otherwise" if self.other else f"{self.band}: {self.words}"

    def places(self, root: Path) -> tuple[str, str]:
        """Return the refs by which panes know the entry: its own, or `file:` and the whole path of its file."""
        return self.ref, f"file:{root}/{self.file}"

    def problem(self) -> Problem:
        """Return it as a finding of `check`."""
        code = "memory.contradiction" if self.other else f"memory.{self.band}"
        way = f"relink {self.ref}`, `still-true" if self.now else f"still-true {self.ref}"
        words = self.words + (f"; `memdeck {way}` or `supersede` settles it" if "#" in self.ref else "")
        return Problem("note" if self.other else "warning", self.file, self.line + 1, code, words)

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**self._asdict(), "line": self.line + 1, "other": self.other or None, "newer": self.newer or None}


def findings_of(workspace: Workspace, seconds: float = _PATIENT) -> tuple[Finding, ...]:
    """Return the entries in doubt, without those that a person called still true; all of them if that is damaged.

    git is asked for removed files at most for so many `seconds`, and not again before the history changes; with 0 only
    what is known of them counts.
    """
    known: Mapping[str, Sequence[str]] = {}
    with suppress(MemdeckError):  # `problems_of` tells it.
        known = _CONFIRMED.read(workspace.state)
    return tuple(
        one
        for one in _every(workspace, seconds)
        if one.subject not in known.get(one.ref, ()) and one.subject not in known.get(one.other, ())
    )


def problems_of(workspace: Workspace, names: Collection[str] | None = None) -> list[Problem]:
    """Return the entries in doubt as findings of `check`, of all files or of those named."""
    found = [one.problem() for one in findings_of(workspace) if names is None or one.file in names]
    try:
        _CONFIRMED.read(workspace.state)
    except MemdeckError as error:
        file = str(error.details.get("file", ""))
        if file.endswith(_CONFIRMED.name):  # What is wrong with the folders above it is told by `doctor`.
            found.append(Problem("error", file, 1, error.code, error.message))
    return found


def confirm(workspace: Workspace, said: str, *, now: datetime) -> tuple[Finding, ...]:
    """Keep that an entry is still true, and return what was in doubt about it; errors as `doubts_of`."""
    ref, found = doubts_of(findings_of(workspace), said)

    def change(known: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        others = {key: value for key, value in known.items() if key != ref}
        subjects = dict.fromkeys([*known.get(ref, ()), *(one.subject for one in found)])
        return dict([*others.items(), (ref, list(subjects)[-_MOST:])][-_MOST:])

    _CONFIRMED.change(workspace.state, change, command="still-true", now=now)
    return found


def withdraw(workspace: Workspace, ref: str, *, now: datetime) -> str:
    """Forget that a person called an entry still true, and return its ref; NotFoundError `proof.not_found`."""
    known = [one for one in _CONFIRMED.read(workspace.state) if ref and ref in (one, one.partition("#")[2])]
    if not known:
        raise NotFoundError("proof.not_found", f"{ref[:60]!r} was not confirmed as still true", "name it by its ref")

    def change(found: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        return {name: subjects for name, subjects in found.items() if name != known[0]}

    _CONFIRMED.change(workspace.state, change, command="still-true", now=now)
    return known[0]


def doubts_of(findings: Sequence[Finding], said: str) -> tuple[str, tuple[Finding, ...]]:
    """Return the ref of the one entry that is meant and what is in doubt about it.

    It is named by its ref, the hex of it, its file or a part of its title. NotFoundError `proof.not_found`,
    AmbiguousError `proof.ambiguous`.
    """
    names = {one.other: one.newer for one in findings if one.other} | {one.ref: one.title for one in findings}
    fitting = {
        ref: title
        for ref, title in names.items()
        if ref.partition("#")[2].startswith(said) or (said and folded(said) in folded(title))
    }
    found = {said: ""} if said in names else fitting
    if not found:
        raise NotFoundError("proof.not_found", f"nothing about {said[:60]!r} is in doubt", "`memdeck check` lists it")
    if len(found) > 1:
        few = [{"ref": ref, "title": title} for ref, title in list(found.items())[:20]]
        raise AmbiguousError("proof.ambiguous", f"{len(found)} entries match {said[:60]!r}", "name one", candidates=few)
    (ref,) = found
    return ref, tuple(one for one in findings if ref in (one.ref, one.other))


def _every(workspace: Workspace, seconds: float) -> tuple[Finding, ...]:
    """Return all entries in doubt, those that were confirmed too."""
    loaded = {one.shown: one for one in instructions(workspace.root, workspace.home, os.environ)}
    texts = [Text(one.shown, one.text, 0, "", one.shown, one.shown) for one in loaded.values()]
    for system in workspace.systems():
        for one in system.records(_LASTING, {}):
            if not one.file.startswith("archive/"):
                place, ref = path_of(one.kind, one.file), one.ref or derived_ref(one)
                if one.kind == "state" and not ref.startswith(_OF_STATE):
                    continue
                text = one.title if one.kind == "facts" else one.text  # The text of a fact is its title.
                texts.append(Text(place, text, one.line, one.date, ref, one.title, one.kind in _SOURCES))
    git = project_root(workspace.root) / ".git"
    stamp = f"{_stamp(git / 'logs/HEAD')} {_stamp(git / 'index')}"
    return _found(workspace.root, workspace.state.folder, tuple(texts), stamp, seconds)


@lru_cache(maxsize=2)
def _found(root: Path, folder: StateFolder, texts: tuple[Text, ...], stamp: str, seconds: float) -> tuple[Finding, ...]:
    """Return the findings about texts; `stamp` begins with that of the history, of which removed files are kept."""

    def gone(root: Path) -> Mapping[str, str]:
        head, kept = stamp.partition(" ")[0], folder.read_json(_GONE)
        known: Mapping[str, str] = (kept.get("gone") if kept.get("head") == head else None) or {}
        if not known and seconds and (known := gone_paths(root, seconds)):  # No path may mean that git did not answer.
            with suppress(MemdeckError):
                folder.put_json(_GONE, {"head": head, "gone": known})
        return known

    found = [_contradicted(older, newer) for older, newer in contradictions(texts)]
    repository = Repository(root, gone, lambda root, said: has_commit(root, said, seconds) if seconds else None)
    for text in texts:
        for line, proof in proofs_of(text, repository):
            if proof.band in ("changed", "gone"):
                subject = f"{proof.band} {proof.words}"
                one = Finding(text.ref, text.title, text.file, line, proof.band, proof.words, subject)
                found.append(one._replace(was=proof.was, now=proof.now))
    once: dict[object, Finding] = {}
    for one in found:
        once.setdefault((one.ref, one.file, one.subject), one)
    return tuple(sorted(once.values(), key=lambda one: (one.file, one.line)))


def _contradicted(older: Claim, newer: Claim) -> Finding:
    words = f"{cut(older.words, 80)!r}, but {newer.of.file}:{newer.line + 1} says {cut(newer.words, 80)!r}"
    subject = f"{older.key}: {older.value}, {newer.value}".replace("\0", "")
    one, other = older.of, newer.of
    return Finding(one.ref, one.title, one.file, older.line, "older", words, subject, other.ref, other.title)


def _stamp(path: Path) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_size}.{found.st_mtime_ns}"


_CONFIRMED: Settings[Mapping[str, Sequence[str]]] = Settings(
    "proof",
    "confirmed.json",
    {},
    lambda document: {str(ref): [str(one) for one in subjects] for ref, subjects in document["confirmed"].items()},
    lambda known: {"confirmed": known},
    code="proof.confirmed",
    what="what you confirmed as still true",
    remedy="fix the file, or remove it and confirm again",
)
