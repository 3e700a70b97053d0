"""What tests remember of style sheets is what Textual would work out."""

from __future__ import annotations

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running
from tests.examples import WHOLE
from tests.stylesheets import check_rules


@pytest.mark.skipif(WHOLE, reason="each application works out its own rules")
async def test_remembered_rules_are_those_of_each_node(workspace: Workspace) -> None:
    """With a form over a pane, the list focused or the sidebar: every node has the rules that it would have alone."""
    app = make_app(workspace)
    async with running(app) as pilot:
        for key in ("e", "tab", "escape", "3", "tab", "question_mark", "escape"):
            await press(pilot, key)
            nodes = [node for screen in app.screen_stack for node in screen.walk_children(with_self=True)]
            assert sum(check_rules(app.stylesheet, node) for node in nodes) > 10, key
