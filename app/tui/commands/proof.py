"""Settling the doubts about an entry."""

from __future__ import annotations

from app.tui.spine import Spine
from memory.proof.findings import Finding, confirm, findings_of, withdraw
from memory.proof.operations import relink, supersede
from widgets.dialogs.pick import Pick, PickOption

from .operations import call


def settle(app: Spine) -> None:
    """Confirm or replace an entry in doubt."""
    workspace, pane = app.shown_workspace, app.shown_pane
    item = pane.current()

    def ask(every: tuple[Finding, ...]) -> None:
        found = [one for one in every if any(pane.has_ref(item, at) for at in one.places(workspace.root))]
        if not found:
            app.say("Nothing to settle here.")
            return
        options = [
            PickOption("still", "Still true", "keep it; the doubt is dismissed", key="t"),
            PickOption("remove", "No longer true", "remove it; undo brings it back", key="n"),
        ]
        if any(one.now for one in found):
            options.insert(0, PickOption("relink", "Write the new name", "of the renamed file", key="w"))
        newer = next((one for one in found if "#" in one.other), None)
        if newer is not None:
            options.append(PickOption("newer", "The other entry is wrong", "remove the newer entry", key="o"))
        app.ask(Pick("Is it still true?", options), lambda answer: settled(answer, found[0], newer))

    def settled(way: str, one: Finding, newer: Finding | None) -> None:
        if way == "still":
            app.find(lambda: confirm(workspace, one.ref, now=app.clock()), confirmed)
        elif way == "relink":
            call(app, relink, {"ref": one.ref})
        elif way == "remove":
            call(app, supersede, {"ref": one.ref, "by": one.other if "#" in one.other else None})
        elif newer is not None:
            call(app, supersede, {"ref": newer.other, "by": newer.ref})

    def confirmed(found: tuple[Finding, ...]) -> None:
        def take_back() -> str:
            return withdraw(workspace, found[0].ref, now=app.clock())

        app.say(f"Still true: {found[0].title}")
        app.wrote()
        app.undo_next(lambda: app.find(take_back, revoked))

    def revoked(ref: str) -> None:
        app.say(f"In doubt again: {ref}")
        app.wrote()

    app.find(lambda: findings_of(workspace), ask, opens="The question")
