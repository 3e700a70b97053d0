"""Performer: does what commands return, with the parts of the application. Commands know none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.tui.part import Part
from memory.errors import MemdeckError

from . import steps
from .steps import Step

if TYPE_CHECKING:
    from app.tui.forms.consent import Consent
    from app.tui.forms.drafts import Drafting
    from app.tui.forms.form_session import Filling
    from app.tui.live.changing import Changing
    from app.tui.live.jobs import Jobs
    from app.tui.live.refresh import Looking
    from app.tui.live.schedule import Watching
    from app.tui.navigation import Navigation
    from app.tui.overlays import Overlays
    from app.tui.pane_state import Remembering
    from app.tui.shell import Shell
    from memory.workspace import Outcome


class Performer(Part):
    """Knows for each kind of step which part does it."""

    def __init__(
        self,
        app: Shell,
        *,
        looking: Looking,
        changing: Changing,
        navigation: Navigation,
        overlays: Overlays,
        consent: Consent,
        watching: Watching,
        jobs: Jobs,
        remembering: Remembering,
        forms: Callable[[], tuple[Filling, Drafting]],
    ) -> None:
        """`forms` gives the parts that are made with the first form."""
        super().__init__(app)
        self._looking, self._changing, self._navigation, self._overlays = looking, changing, navigation, overlays
        self._consent, self._watching, self._jobs, self._remembering = consent, watching, jobs, remembering
        self._forms = forms

    def __call__(self, step: Step) -> None:
        """Do a step, and those that follow from it."""
        app = self.app
        match step:
            case None:
                return
            case steps.Steps(several):
                for one in several:
                    self(one)
            case steps.Say(text, title, severity):
                app.say(text, title=title, severity=severity)
            case steps.Fail(error):
                app.say_error(error)
            case steps.Copy(text, said):
                app.copy_to_clipboard(text)
                if said:
                    app.say(said)
            case steps.Ask(screen, then, waited):
                if not waited or self._overlays.has_room(waited):
                    app.push_screen(screen, lambda answer: self(then(answer)))
            case steps.Form(pane, plan, item, note):
                self._forms()[0].begin(pane, plan, item, note=note)
            case steps.Change(operation, build, done, otherwise, taken_back):
                failed = self._handled(otherwise)
                self._changing.change(operation, build, then=self._then(done), otherwise=failed, taken_back=taken_back)
            case steps.Write(write, done, otherwise, taken_back):
                self._changing.run(write, self._then(done), self._handled(otherwise), taken_back=taken_back)
            case steps.Find(work, then, otherwise):
                self._changing.ask(work, lambda found: self(then(found)), self._handled(otherwise))
            case steps.Run():
                self._run(step)
            case steps.Consent(chosen, roles, follows):
                self._consent.first(chosen, roles, lambda: self(follows()))
            case steps.Look(shown):
                self._looking.request(None if shown is None else lambda: self(shown()))
            case steps.Open(pane_id):
                self._navigation.open_pane(pane_id)
            case steps.Jump(file, ref):
                self._navigation.jump(file, ref)
            case steps.GoTo(outcome):
                self._go_to(outcome)
            case steps.OnceSeen(act):
                self._changing.once_seen(lambda: self(act()))
            case steps.InEditor(text, edited):
                self._in_editor(text, edited)
            case steps.Discard(draft_id):
                self._forms()[1].discard(draft_id)
            case steps.KeepView(pane, name, view):
                self._remembering.keep_view(pane.pane_id, name, view)
                pane.take_saved_views(self._remembering.saved_views(pane.pane_id))
            case steps.ForgetView(pane, name, follows):
                self._remembering.forget_view(pane.pane_id, name)
                pane.take_saved_views(self._remembering.saved_views(pane.pane_id))
                self(follows())
            case steps.Told(outcome, done, taken_back):
                self._changing.tell(outcome, self._then(done), taken_back=taken_back)
            case steps.Turn(back):
                self._changing.turn(back=back)
            case steps.Watched(watch):
                self._watching.told(watch, asked=True)
            case steps.Reschedule():
                self._watching.look_soon()
            case steps.RedrawKeys():
                app.refresh_keys()

    def _then(self, then: Callable[[Outcome], Step] | None) -> Callable[[Outcome], None] | None:
        return None if then is None else lambda outcome: self(then(outcome))

    def _handled(self, otherwise: steps.Otherwise | None) -> Callable[[MemdeckError], bool]:
        """Return what does the step that answers an error, and says whether there is one."""

        def handled(error: MemdeckError) -> bool:
            step = None if otherwise is None else otherwise(error)
            self(step)
            return step is not None

        return handled

    def _run(self, step: steps.Run) -> None:
        jobs = self._jobs
        if step.once and any(job.words == step.words for job in jobs.running):
            return
        handled = self._handled(step.otherwise)

        def failed(error: MemdeckError) -> None:
            if not handled(error):
                self.app.say_error(error)
                self._looking.request()

        jobs.start(step.words, step.work, lambda result: self(step.then(result)), failed)

    def _go_to(self, outcome: Outcome) -> None:
        """Put the cursor on the entry that a change was about; a filter that hid it is cleared, which is said."""
        pane = self.app.pane
        if outcome.ref is None or pane is None:
            return
        before = pane.filter
        pane.go_to(outcome.ref)
        if before and not pane.filter and not outcome.secrets:
            words = outcome.summary[:1].upper() + outcome.summary[1:]
            self.app.say(f"{words}.\nIt does not fit the filter “{before}”, which was cleared.")

    def _in_editor(self, text: str, edited: Callable[[str], Step]) -> None:
        from textual.app import SuspendNotSupported

        from app.tui.forms.editor import edit_text

        try:
            new = edit_text(text, self.app.environ, self.app.setup.hand_over)
        except MemdeckError as error:
            self.app.say_error(error)
        except SuspendNotSupported:
            self.app.say("This terminal cannot be handed over to an editor.", severity="warning")
        else:
            self(edited(new))
