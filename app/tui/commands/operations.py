"""Operations of the memory systems as commands: a form made from the parameters, then the answer of the command line.

An operation that only looks shows its answer. One that can show first what it would do is shown before it is applied.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from app.cli.printing import LISTENER, Printer
from app.cli.session import Session
from app.tui.forms.drafts import Sheet
from app.tui.shell import ACTOR, Otherwise
from app.tui.spine import Spine
from memory.errors import MemdeckError, RefusedError
from memory.maintenance import operations as upkeep
from memory.operations import Caller, Operation, load
from memory.registry import registered
from memory.storage import Change, FileChange
from memory.workspace import Outcome, Workspace
from widgets.dialogs.dialogs import Preview
from widgets.pane.offers import Call
from widgets.pane.operation_form import CONFIRMED, asked, form_of, operation_of, values_of
from widgets.text.styled_text import Line, Piece, line

from . import consent

Json = dict[str, Any]
SHOWN = 2000
"""The most lines of an answer that are shown."""


class OwnSession(Session):
    """The session of one call by the user of the application; it keeps the answer."""

    def __init__(self, workspace: Workspace, now: datetime, environ: Mapping[str, str], *, safe: bool) -> None:
        """Nothing is answered yet."""
        super().__init__()
        self.served = self.no_color = True
        self.safe, self.environ, self.folder = safe, environ, str(workspace.root)
        self.__dict__ |= {"workspace": workspace, "now": now}
        self._printed = io.StringIO()
        self.writer = Printer(self._printed)
        self.told: list[str] = []
        self.document: Json = {}

    @property
    def actor(self) -> str:
        """The user."""
        return ACTOR

    @property
    def named_actor(self) -> str:
        """The user, by name: what maintenance moves here is not moved by the schedule."""
        return ACTOR

    @property
    def caller(self) -> Caller:
        """The user, at a terminal."""
        return Caller(ACTOR, terminal=True)

    @property
    def asks_person(self) -> bool:
        """No: the application asks by itself."""
        return False

    def answer(
        self,
        document: Callable[[], Json],
        lines: Callable[[], Iterable[str]],
        rows: Callable[[], Iterable[Json]] | None = None,  # noqa: ARG002
    ) -> None:
        """Keep the document, and the lines for people."""
        self.document = document()
        self.writer.lines(lines())

    @property
    def acts(self) -> bool:
        """Whether the operation, shown before it is applied, would do anything."""
        found = self.document
        if "outcome" in found:
            return bool(found["outcome"] != "nothing")
        # A prune of project state names what goes, maintenance what each rule moves.
        counts = [found[name] for name in ("acts", "events", "checkpoints", "expiredBatches") if name in found]
        counts += [one.get(name) for one in found.get("rules", ()) for name in ("archived", "cleared", "message")]
        return any(counts) if counts or "rules" in found else True

    def call(self, operation: Operation, values: Mapping[str, Any]) -> list[str]:
        """Run an operation; return its lines for people. RefusedError with what it told where it did nothing."""
        token = LISTENER.set(self.told.append)
        try:
            code = self.run(operation, values)
        finally:
            LISTENER.reset(token)
            self.close()
        if code and self.made is None and self.told and not self._printed.getvalue():
            raise RefusedError("operation.refused", self.told[-1].removeprefix("memdeck: "))
        told = [words.removeprefix("memdeck: ") for words in self.told]
        return [*self._printed.getvalue().rstrip("\n").split("\n"), *told]


def outcome_of(app: Spine, call: Call, now: datetime) -> Outcome:
    """Run an operation once for each of its values; return what was done, as a change."""
    operation, made, ref = operation_of(call.operation), "", None
    with app.writing():
        for values in call.values:
            session = OwnSession(app.shown_workspace, now, app.environ, safe=app.setup.safe)
            lines = session.call(operation, values)
            made, found = session.made or lines[0], session.document
            ref = found.get("ref") or (f"{operation.noun}#{found['id']}" if "id" in found else None)
    words = made if len(call.values) == 1 else f"{operation.does}: {len(call.values)} times"
    changed = (FileChange(operation.noun, None, None),)
    return Outcome(Change("", now, ACTOR, operation.does.replace(" ", "."), words, changed), words, ref)


def listed(app: Spine) -> Iterator[Operation]:
    """Yield the operations of the memory systems that the workspace has, without those of the memory files."""
    if app.workspace is None:
        return
    names = app.shown_workspace.system_names()
    for system in registered():
        if system.name in names and system.name != "files":
            for verb in system.verbs:
                yield from (one for one in load(verb.place).walk() if one.serves is not None)


def run(app: Spine, words: str = "", typed: Mapping[str, str] | None = None, draft_id: str = "") -> None:
    """Run an operation of a memory system: asks for its values first, if it takes any.

    What is typed is kept as a draft until the operation is run; where it fails, the form opens again with it (`typed`).
    """
    operation = operation_of(words)
    if not any(asked(operation)):
        call(app, operation, values_of(operation, {}))
        return
    title = "New journal entry" if words == "journal add" else operation.does.capitalize()
    plan = form_of(words, title, _given(app))

    def apply(texts: Mapping[str, str]) -> None:
        def failed(error: MemdeckError) -> None:
            app.say_error(error)
            app.form_session.show(sheet, texts)

        call(app, operation, values_of(operation, texts), failed)

    base = {spec.name: spec.value for spec in plan.fields}
    sheet = Sheet(app.shown_pane, plan._replace(apply=apply), None, base, title=operation.does, draft_id=draft_id)
    app.form_session.show(sheet, typed, operation.sentence)


def call(app: Spine, operation: Operation, values: Mapping[str, Any], otherwise: Otherwise | None = None) -> None:
    """Run an operation with its values: show its answer, or first what it would do; `otherwise` gets an error."""
    flag = next((name for name in CONFIRMED if any(one.name == name for one in operation.parameters)), "")
    first = {**values, flag: flag == "dry_run"} if flag else values
    only_looks = operation.belongs(values) == "look"

    def answered(found: tuple[list[str], bool]) -> None:
        lines, acts = found
        if only_looks or flag or len(lines) > 1:
            title = operation.does if only_looks else f"{'Preview' if flag else 'Done'}: {operation.does}"
            # How the command line goes on is of no use here.
            others = ("`--", "dry run, ", str(app.shown_workspace.root))
            shown = [text for text in lines if not flag or not any(part in text for part in others)]
            screen = Preview(title, _shown(shown), applicable=bool(flag) and acts)
            apply = {**values, flag: flag == "yes"}
            then = partial(written, preview=lines)
            app.ask(screen, lambda _: _work(app, operation, apply, then))
        else:
            app.say(lines[0])
        return None if only_looks or flag else app.wrote()

    def written(found: tuple[list[str], bool], preview: list[str]) -> None:
        # With --yes the preview comes again before the result.
        lines = [text for text in found[0] if flag != "yes" or text not in preview]
        back = f"{app.key_of('change.undo')} undoes it"
        words = "\n".join(lines[:5]).replace("`memdeck undo` reverts it", back)
        app.say(words if words.endswith(back) else f"{words}\n{back}.")
        return app.wrote()

    return _work(app, operation, first, answered, otherwise)


def _work(
    app: Spine,
    operation: Operation,
    values: Mapping[str, Any],
    then: Callable[[tuple[list[str], bool]], object],
    otherwise: Otherwise | None = None,
) -> None:
    now = app.clock()

    def work() -> tuple[list[str], bool]:
        with app.writing():
            session = OwnSession(app.shown_workspace, now, app.environ, safe=app.setup.safe)
            return session.call(operation, values), session.acts

    return app.find(work, then, otherwise, opens="The answer")


def _shown(lines: list[str]) -> list[Line]:
    more = len(lines) - SHOWN
    return [line(text) for text in lines[:SHOWN]] + ([line(Piece(f"and {more:,} more", "muted"))] if more > 0 else [])


def next_step(app: Spine) -> None:
    """Do what the status suggests, with a preview, or accept what sessions suggest."""
    return _at_once(app, getattr(app.pane, "next_call", "state status"))


def prune(app: Spine) -> None:
    """Delete old entries of this memory, with a preview."""
    pane_id = app.shown_pane.pane_id
    if pane_id == "typed":

        def approved() -> None:
            app.changed()  # The pane says what the folders need.
            _at_once(app, "typed prune")

        return consent.first(app, lambda ask: ask.role in consent.ROLES["typed"], approved)
    return _at_once(app, f"{pane_id} prune")


def _at_once(app: Spine, words: str) -> None:
    """Run `memdeck WORDS`, whose flags may follow, on the entry under the cursor, without a form."""
    does, *flags = words.split(" --")
    operation = operation_of(does)
    given = {name: value for name, value in _given(app).items() if name == "agent"}
    values = values_of(operation, given)
    values |= {one.name: True for one in operation.parameters if any(f"--{flag}" in one.words for flag in flags)}
    return call(app, operation, values)


def _given(app: Spine) -> Mapping[str, str]:
    """Return the values that the row under the cursor has for an operation."""
    item = None if app.pane is None else app.pane.current()
    return getattr(item, "values", None) or {}


def archive_old(app: Spine) -> None:
    """Archive old completed tasks, with a preview."""
    return call(app, upkeep.archive, {"force": False})


def prune_journal(app: Spine) -> None:
    """Archive old journal entries, with a preview."""
    return call(app, upkeep.prune, {"force": False})


def maintain(app: Spine) -> None:
    """Run maintenance for every memory, with a preview."""
    return call(app, upkeep.maintain, {"folder": None, "no_exec": True, "force": False})
