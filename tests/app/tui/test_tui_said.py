"""What is said in the corner is seen each time it is said."""

from __future__ import annotations

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, settle
from tests.widgets.harness import screen_text


async def test_words_are_seen_again_after_they_went(workspace: Workspace) -> None:
    """A message that was taken away leaves a place in Textual; the next one is drawn all the same."""
    app = make_app(workspace)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settle(pilot)
        for number in range(3):
            app.say(f"said {number}")
            # It comes without its words; hidden now, it may be drawn before anybody looks again.
            assert all(rack.children[-1].display for rack in app.screen.query("ToastRack") if rack.children)
            await settle(pilot)
            assert f"said {number}" in screen_text(app)
            app.clear_notifications()
            await settle(pilot)
            assert f"said {number}" not in screen_text(app)
    workspace.close()
