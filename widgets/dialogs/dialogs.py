"""Dialogs: what all modal screens share, and a preview of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget

from widgets.chrome.keys import KeyHints
from widgets.detail import LineView
from widgets.input.editors import SafeText
from widgets.text.glyphs import UNICODE
from widgets.text.styled_text import Line

SETTLED = 0.03
"""Seconds in which the layout of a dialog settles."""

if TYPE_CHECKING:
    Mixin = ModalScreen[Any]
else:
    Mixin = object


class Modal(Mixin):
    """Mixin of modal screens: two leaving keys in one burst leave only this screen, not the one below it."""

    deaf_until: float = 0.0
    """Keys pressed before this time (`time.monotonic`) are not for this screen. It is infinite for a screen that opens
    without a key, until its first frame is drawn.
    """

    _settles = False

    def on_mount(self) -> None:
        """Accept keys from the first frame on, or from the next refresh if no frame is drawn."""
        self._settles = True
        self.set_timer(SETTLED, self._settled)
        if self.deaf_until:
            self.call_after_refresh(self._seen)

    def _settled(self) -> None:
        self._settles = False
        self._compositor_refresh()

    def _compositor_refresh(self) -> None:
        """Draw what changed; from then on keys count, because the user can see the screen and answer at once.

        Nothing is drawn before the layout settles: each step would draw the whole screen behind the dialog, too.
        """
        if self._settles:
            return
        if self.is_mounted and not self.app._batch_count:
            self._seen()
        super()._compositor_refresh()

    def _seen(self) -> None:
        if self.deaf_until == math.inf:
            self.deaf_until = monotonic()

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Leave with a result, unless the screen was left already. Textual would remove the screen below, and end."""
        if not self.is_active:
            return cast(AwaitComplete, AwaitComplete.nothing())  # type: ignore[no-untyped-call]
        left: AwaitComplete = super().dismiss(result)
        self._pass_callbacks_on()
        return left

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

    def _pass_callbacks_on(self) -> None:
        """Move the callbacks that wait for the next frame, except this screen's own, to the screen below.

        `call_after_refresh` of the application waits for the top screen, and Textual drops the callbacks together with
        that screen: keys that are held until then would wait for ever.
        """
        waiting = self._callbacks[:]
        self._callbacks.clear()
        for callback, sender in waiting:
            is_own = isinstance(sender, DOMNode) and self in sender.ancestors_with_self
            (self if is_own else self.app.screen)._invoke_later(callback, sender)


DIALOG_CSS = """
    align: center middle;
    background: $background 60%;
    & > .dialog {
        width: 90%;
        max-width: 76;
        height: auto;
        max-height: 100%;
        padding: 0 2;
        border: round $border;
        border-subtitle-color: $foreground-muted;
        background: $background;
        & > .dialog--title { text-style: bold; margin-bottom: 1; width: 1fr; }
    }
    &.-narrow > .dialog { width: 100%; max-width: 100%; }
    &.-tight > .dialog { padding: 0 1; }
    .dialog--body { height: auto; }
    &.-low > .dialog {
        height: 100%;
        .dialog--title { margin-bottom: 0; max-height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        .dialog--body { height: 1fr; }
    }
    &.-flat > .dialog { border: none; .dialog--title { margin-bottom: 0; } }
"""
"""The CSS of the frame that every dialog and form shares; goes inside the rule of the screen."""


CHROME = 8
"""Lines of the terminal that a dialog's body leaves free: the dialog's other lines, and some of the screen below."""

NARROW = 100
"""In terminals with fewer columns a dialog takes the full width: a strip of the screen below would be beside it."""

LOW = 16
"""In terminals with fewer lines a dialog with a body takes the full height."""


class Dialog(Modal):
    """Mixin of modal screens that fit their size to the terminal.

    The widgets above and below the body always keep their lines; the body scrolls in the remaining ones, and the frame
    shows on which sides there is more.
    """

    heading: str = ""
    """The title in the first line."""

    def compose(self) -> ComposeResult:
        """The title, the parts of the dialog, and the keys."""
        with Vertical(classes="dialog"):
            yield SafeText(self.heading, classes="dialog--title")
            yield from self.parts()
            yield self.key_hints()

    def parts(self) -> ComposeResult:
        """The widgets between the title and the keys."""
        raise NotImplementedError

    def describe(self, key: str, words: str) -> None:
        """Call what a key does here by other words."""
        bindings = self._bindings.key_to_bindings
        group = Binding.Group(words)
        bindings[key] = [replace(one, description=words, group=one.group and group) for one in bindings[key]]

    def key_hints(self) -> Widget:
        """The keys in the last line."""
        return KeyHints(indent=0)

    def on_mount(self) -> None:
        """Follow the body. In a narrow terminal an earlier message would cover the title."""
        if self.app.size.width < NARROW:
            self.app.clear_notifications()
        for body in self.query(".dialog--body"):
            self.watch(body, "scroll_y", self._say_more, init=False)
            self.watch(body, "virtual_size", self._grown, init=False)
        for child in self.query(".dialog > *").exclude(".dialog--body"):
            self.watch(child, "virtual_size", self._fit_soon, init=False)

    def _grown(self) -> None:
        self.call_after_refresh(self._say_more)

    def _fit_soon(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Limit the body to the remaining lines of the terminal, because the widgets around it may have grown."""
        frame = next(iter(self.query(".dialog")), None)
        bodies = self.query(".dialog--body")
        if frame is None or not bodies or self.app.size.height < LOW:
            return
        room = self.app.size.height - frame.gutter.height
        for child in frame.children:
            if child.display and not child.has_class("dialog--body"):
                room -= child.outer_size.height + child.styles.margin.height
        for body in bodies:
            body.styles.max_height = max(1, min(room, self.app.size.height - CHROME))
        self._grown()

    def _say_more(self) -> None:
        """Show in the frame whether there is more above or below the visible part."""
        body = next(iter(self.query(".dialog--body")), None)
        frame = next(iter(self.query(".dialog")), None)
        if body is None or frame is None or not self.is_attached:
            return
        glyphs = getattr(self.app, "glyphs", UNICODE)
        place, end = round(body.scroll_y), body.max_scroll_y
        signs = (glyphs.up if place > 0 else "") + (glyphs.down if place < end else "")
        frame.border_subtitle = Content(f"{signs} more") if signs else None

    def on_resize(self) -> None:
        """Limit the body, and drop the margins, then the frame, when there is too little room."""
        size = self.app.size
        bodies = self.query(".dialog--body")
        self.set_class(size.width < NARROW, "-narrow")
        self.set_class(size.width < 50, "-tight")
        self.set_class(size.height < LOW and bool(bodies), "-low")
        self.set_class(size.height < 8 or size.width < 24, "-flat")
        for body in bodies:
            body.styles.max_height = max(1, size.height - CHROME) if size.height >= LOW else None
        self._fit_soon()
        self._grown()


class Preview(Dialog, ModalScreen[bool]):
    """Shows a plan before it is carried out; True means apply it."""

    DEFAULT_CSS = f"""
    Preview {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 90; }}
        .dialog--summary {{ margin-top: 1; color: $foreground-muted; }}
        &.-low .dialog--summary {{ margin-top: 0; max-height: 1; }}
        &.-flat .dialog--summary {{ display: none; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "apply", "apply", id="preview.apply", tooltip="Apply the plan"),
        Binding("escape,q", "leave", "cancel", id="preview.leave", tooltip="Change nothing"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], *, summary: str = "", applicable: bool = True) -> None:
        """`applicable=False`: there is nothing to apply."""
        super().__init__()
        self.heading, self._lines, self._summary, self.applicable = title, tuple(lines), summary, applicable
        if not applicable:
            self.describe("escape", "close")

    def parts(self) -> ComposeResult:
        """Yield the plan and its summary."""
        yield LineView(self._lines, classes="dialog--body")
        if self._summary:
            yield SafeText(self._summary, classes="dialog--summary")

    def on_mount(self) -> None:
        """Focus the plan, so that it scrolls at once."""
        self.query(LineView).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable `apply` when there is nothing to apply."""
        return action != "apply" or self.applicable

    def action_apply(self) -> None:
        """Apply the plan."""
        self.dismiss(True)
