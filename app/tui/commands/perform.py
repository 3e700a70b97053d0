"""Performer: does the steps that commands return, using the parts of the application. Commands know no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.tui.forms.editor import edit_text
from app.tui.shell import Part
from memory.errors import MemdeckError
from memory.workspace import Outcome

from .interface import (
    ApplyEdit,
    AskConsent,
    Copy,
    Discard,
    Fail,
    Find,
    ForgetView,
    GoToEntry,
    InEditor,
    KeepView,
    OnceSeen,
    OnceShown,
    Open,
    OpenDialog,
    OpenForm,
    Otherwise,
    ReadAgain,
    RedrawKeys,
    Reschedule,
    RunJob,
    Say,
    SayChange,
    SayWatch,
    Step,
    Steps,
    Turn,
    Write,
)

if TYPE_CHECKING:
    from textual.screen import Screen


class Performer(Part):
    """Knows for each kind of step which part does it."""

    def __call__(self, step: Step) -> None:
        """Do a step, and the steps that follow from it."""
        app = self.app
        match step:
            case None:
                return
            case Steps(several):
                for one in several:
                    self(one)
            case Say(text, title, severity):
                app.say(text, title=title, severity=severity)
            case Fail(error):
                app.say_error(error)
            case Copy(text, said):
                app.copy_to_clipboard(text)
                if said:
                    app.say(said)
            case OpenDialog(screen, _, waited):
                self._open(screen, lambda answer: self(step.follow(answer)), waited)
            case OpenForm(pane, plan, item, note):
                app.form_session.begin(pane, plan, item, note=note)
            case ApplyEdit(operation, build, done, otherwise, taken_back, follow):
                self.app.edits.change(
                    operation,
                    build,
                    then=self._then(done),
                    otherwise=self._handled(otherwise),
                    taken_back=taken_back,
                    follow=follow,
                )
            case Write(write, otherwise, taken_back):
                self.app.edits.run(write, None, self._handled(otherwise), taken_back=taken_back)
            case Find(work, then, otherwise):
                self.app.edits.ask(work, lambda found: self(then(found)), self._handled(otherwise))
            case RunJob():
                self._run(step)
            case AskConsent(chosen, roles, follows):
                self.app.consent.first(chosen, roles, lambda: self(follows()))
            case ReadAgain(shown):
                self.app.refresher.request(None if shown is None else lambda: self(shown()))
            case Open(pane_id):
                self.app.navigation.open_pane(pane_id)
            case OnceShown(act):
                self.app.navigation.once_shown(lambda: self(act()))
            case GoToEntry(file, ref):
                self.app.navigation.jump(file, ref)
            case OnceSeen(act):
                self.app.edits.once_seen(lambda: self(act()))
            case InEditor(text, edited):
                if self.app.edits.in_time("The text"):
                    self._in_editor(text, edited)
            case Discard(draft_id):
                app.form_drafts.discard(draft_id)
            case KeepView(pane, name, view):
                self.app.pane_state.keep_view(pane.pane_id, name, view)
                pane.take_saved_views(self.app.pane_state.saved_views(pane.pane_id))
            case ForgetView(pane, name, follows):
                self.app.pane_state.forget_view(pane.pane_id, name)
                pane.take_saved_views(self.app.pane_state.saved_views(pane.pane_id))
                self(follows())
            case SayChange(outcome, done, taken_back):
                self.app.edits.tell(outcome, self._then(done), taken_back=taken_back)
            case Turn(back):
                self.app.edits.undo_or_redo(back=back)
            case SayWatch(watch):
                self.app.schedule.told(watch, asked=True)
            case Reschedule():
                self.app.schedule.look_soon()
            case RedrawKeys():
                app.refresh_keys()

    def _then(self, then: Callable[[Outcome], Step] | None) -> Callable[[Outcome], None] | None:
        return None if then is None else lambda outcome: self(then(outcome))

    def _handled(self, otherwise: Otherwise | None) -> Callable[[MemdeckError], bool]:
        """Return a function that does the step for an error and returns whether there was one."""

        def handled(error: MemdeckError) -> bool:
            step = None if otherwise is None else otherwise(error)
            self(step)
            return step is not None

        return handled

    def _open(self, screen: Screen[Any], answered: Callable[[Any], None], waited: str) -> None:
        """Open a dialog; if it took a while to prepare, only if the user still waits for it."""
        if waited:
            if self.app.edits.in_time(waited) and self.app.overlays.has_room(waited):
                self.app.push_screen(screen, answered)
        elif self.app.overlays.late:
            self.app.overlays.once_free(lambda: self.app.push_screen(screen, answered))
        else:
            self.app.push_screen(screen, answered)

    def _run(self, step: RunJob) -> None:
        jobs = self.app.jobs
        if step.once and any(job.words == step.words for job in jobs.running):
            return
        handled = self._handled(step.otherwise)

        def failed(error: MemdeckError) -> None:
            if not handled(error):
                self.app.say_error(error)
                self.app.refresher.request()

        jobs.start(step.words, step.work, lambda result: self(step.then(result)), failed)

    def _in_editor(self, text: str, edited: Callable[[str], Step]) -> None:
        from textual.app import SuspendNotSupported

        try:
            new = edit_text(text, self.app.environ, self.app.setup.hand_over or self.app.suspend, outside=self.app.top)
        except MemdeckError as error:
            self.app.say_error(error)
        except SuspendNotSupported:
            self.app.say("This terminal cannot be handed over to an editor.", severity="warning")
        else:
            self(edited(new))
