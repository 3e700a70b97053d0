"""Steps: what a command wants done. Commands return them, `app.tui.commands.perform` does them, tests look at them.

A step that leads on has a `then`, which gets the answer or result and returns the next step; None is the end.
Where something fails, `otherwise` gets the error and returns what is done about it; None: the error is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Union

if TYPE_CHECKING:
    from textual.screen import Screen

    from memory.errors import MemdeckError
    from memory.monitoring.run.report import Watch
    from memory.workspace import Outcome
    from widgets.pane.base import Pane
    from widgets.pane.offers import Build, FormPlan

    from .context import JobView

Severity = Literal["information", "warning", "error"]

Step: TypeAlias = Union[
    "Say | Fail | Copy | OpenDialog | OpenForm | ApplyEdit | Write | Find | RunJob | AskConsent",
    "ReadAgain | Open | OnceShown | GoToEntry | OnceSeen | InEditor | Discard | KeepView | ForgetView",
    "SayChange | Turn | SayWatch | Reschedule | RedrawKeys | Steps | None",
]
"""One thing to do, some one after the other, or nothing."""

Otherwise: TypeAlias = "Callable[[MemdeckError], Step]"
"""Returns what is done about an error; None: it is said."""


class Steps(NamedTuple):
    """Several steps, in this order."""

    steps: tuple[Step, ...]


class Say(NamedTuple):
    """A message in the corner."""

    text: str
    title: str = ""
    severity: Severity = "information"


class Fail(NamedTuple):
    """An error, said with what to do about it."""

    error: MemdeckError


class Copy(NamedTuple):
    """A text for the clipboard, and what is said of it."""

    text: str
    said: str = ""


class OpenDialog(NamedTuple):
    """A dialog; `then` gets its answer, None where it was left.

    `waited` names what took a while to get ready: it is only said where the person opened something else meanwhile.
    """

    screen: Screen[Any]
    then: Callable[[Any], Step] = lambda _: None
    waited: str = ""


class OpenForm(NamedTuple):
    """A form of a pane, about an item or a new one; `note` stands below its title."""

    pane: Pane
    plan: FormPlan
    item: Any = None
    note: str = ""


class ApplyEdit(NamedTuple):
    """An edit, written in a worker; with `taken_back` the key is named that takes it back.

    With `follow` the cursor goes to the entry that it was about, unless the person went elsewhere meanwhile.
    """

    operation: str
    build: Build
    then: Callable[[Outcome], Step] | None = None
    otherwise: Otherwise | None = None
    taken_back: bool = False
    follow: bool = False


class Write(NamedTuple):
    """A change that is more than one edit: `write` makes it in a worker."""

    write: Callable[[], Outcome]
    then: Callable[[Outcome], Step] | None = None
    otherwise: Otherwise | None = None
    taken_back: bool = False


class Find(NamedTuple):
    """Something to find out in a worker."""

    work: Callable[[], Any]
    then: Callable[[Any], Step] = lambda _: None
    otherwise: Otherwise | None = None


class RunJob(NamedTuple):
    """A job: it says how far it is and can be called off. `once`: not while one of the same words runs."""

    words: str
    work: Callable[[JobView], Any]
    then: Callable[[Any], Step] = lambda _: None
    otherwise: Otherwise | None = None
    once: bool = False


class AskConsent(NamedTuple):
    """Questions about what the chosen things (file and name) ask to run in these roles; then what follows."""

    chosen: set[tuple[str, str]]
    roles: tuple[str, ...]
    then: Callable[[], Step]


class ReadAgain(NamedTuple):
    """The files, read again; `then` once the open pane shows them."""

    then: Callable[[], Step] | None = None


class Open(NamedTuple):
    """A pane."""

    pane_id: str


class OnceShown(NamedTuple):
    """What arranges the open pane, which may have been opened right now."""

    act: Callable[[], Step]


class GoToEntry(NamedTuple):
    """An entry of any file."""

    file: str
    ref: str


class OnceSeen(NamedTuple):
    """What is asked of the entry under the cursor: while a change is written or read back, only after that."""

    act: Callable[[], Step]


class InEditor(NamedTuple):
    """A text in the person's own editor; `then` gets it as it comes back."""

    text: str
    then: Callable[[str], Step]


class SayWatch(NamedTuple):
    """What a run of monitors found, said in a few lines."""

    watch: Watch


class Reschedule(NamedTuple):
    """The schedule, looked at again with the next beat: files or decisions changed."""


class Discard(NamedTuple):
    """A draft to throw away, after a question."""

    draft_id: str


class KeepView(NamedTuple):
    """How the list of a pane is arranged, to be kept under a name."""

    pane: Pane
    name: str
    view: Mapping[str, str]


class ForgetView(NamedTuple):
    """A kept view to take away, and what comes then."""

    pane: Pane
    name: str
    then: Callable[[], Step]


class Turn(NamedTuple):
    """The last change, taken back; or what was undone last, brought back."""

    back: bool


class SayChange(NamedTuple):
    """A change that a job or worker made already: it is said as other changes are, and what is shown follows."""

    outcome: Outcome
    then: Callable[[Outcome], Step] | None = None
    taken_back: bool = True


class RedrawKeys(NamedTuple):
    """The keys that mean something now, found out again."""
