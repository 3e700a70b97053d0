"""Views: how the pane that is open is arranged, and the arrangements that people keep under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.tui.part import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from widgets.dialogs.pick import Option
    from widgets.pane.base import Pane
    from widgets.panes.tasks.views import TaskViews

MANY = 2_000
"""From so many tasks on, what has to be worked out for a view is left to a worker."""

LONGEST_NAME = 40
"""Characters of a view's name."""

MOST_VIEWS = 50
"""So many views are kept of one pane."""


class Views(Part):
    """Board, calendar, group and sort of the tasks; saved views of any pane."""

    @property
    def _tasks(self) -> TaskViews:
        from widgets.panes.tasks.views import TaskViews

        pane = self.app.navigation.pane
        assert isinstance(pane, TaskViews)
        return pane

    def toggle(self, name: str) -> None:
        """Show the tasks as a board or a calendar, or as a list again."""
        pane = self._tasks
        wanted = "list" if pane.view_name == name else name

        def show() -> None:
            pane.show_view(wanted)
            self.app.refresh_keys()

        if wanted == "calendar" and pane.row_count > MANY:
            # All dates have to be read first.
            pane.wants_agenda = True
            self.app.looking.request(show)
        else:
            show()

    def board(self) -> None:
        """The tasks as a board, a day of the journal on its hours."""
        pane = self.app.navigation.pane
        if pane is not None and pane.pane_id == "journal":
            self.app.diary.day()
        else:
            self.toggle("board")

    def calendar(self) -> None:
        """The tasks as a calendar, the journal as a year."""
        pane = self.app.navigation.pane
        if pane is not None and pane.pane_id == "journal":
            self.app.diary.year()
        else:
            self.toggle("calendar")

    def arrange(self) -> None:
        """A menu: what to group by (the board has its columns for that), what to sort by."""
        from memory.files.tasks.order import GROUP_WORDS
        from widgets.dialogs.pick import Option, Pick

        pane = self.app.navigation.pane
        assert pane is not None
        options = []
        groups = getattr(pane, "groups", ()) if getattr(pane, "board", None) is None else ()
        group = getattr(pane, "group", "")
        options += [
            Option(f"group:{name}", GROUP_WORDS.get(name, name), group="GROUP BY", marked=name == group)
            for name in groups
        ]
        if len(pane.sorts) > 1:
            options += self._orders(pane, "SORT BY")

        def answered(answer: tuple[str, str] | None) -> None:
            if answer is not None:
                kind, _, name = answer[1].partition(":")
                self._set(pane, kind, name)

        self.app.push_screen(Pick("Group and sort" if groups else "Sort", options), answered)

    @staticmethod
    def _orders(pane: Pane, group: str) -> list[Option]:
        """The orders of a pane for a menu, that in use marked."""
        from widgets.dialogs.pick import Option
        from widgets.pane.visible_rows import REVERSED

        name = pane.sort.removesuffix(REVERSED)
        note = "reversed" if name != pane.sort else ""
        return [
            Option(f"sort:{one}", one, note if one == name else "", group=group, marked=one == name)
            for one in pane.sorts
        ]

    def orders(self) -> None:
        """A menu of the orders of the pane that is open; each can be turned round."""
        from widgets.dialogs.pick import Orders
        from widgets.pane.visible_rows import REVERSED

        pane = self.app.navigation.pane
        assert pane is not None

        def answered(answer: tuple[str, str] | None) -> None:
            if answer is None:
                return
            name = answer[1].partition(":")[2]
            turned = pane.sort == name + REVERSED
            if answer[0] == "reverse":
                self.sort(pane, name if turned else name + REVERSED)
            elif not turned:
                self.sort(pane, name)

        self.app.push_screen(Orders("Sort", self._orders(pane, "")), answered)

    def _set(self, pane: Pane, kind: str, name: str) -> None:
        """Group or sort; what takes long is done where nobody waits for a key."""
        if kind == "sort":
            self.sort(pane, name)
            return
        if pane.row_count > MANY:
            pane.group = name  # type: ignore[attr-defined]
            self.app.looking.request()
        else:
            pane.set_group(name)  # type: ignore[attr-defined]

    def sort(self, pane: Pane, name: str) -> None:
        """Sort a pane; what takes long is done where nobody waits for a key."""
        said = f"Sorted by {name}."
        if pane.row_count > MANY:
            pane.arrangement.sort = name
            self.app.looking.request(lambda: self.app.say(said))
        else:
            pane.set_sort(name)
            self.app.say(said)

    # Saved views

    def saved(self) -> None:
        """A menu of the views that were kept, and one more to keep this one."""
        from widgets.dialogs.pick import Option, Pick

        pane = self.app.navigation.pane
        assert pane is not None
        known = self.app.remembering.saved_views(pane.pane_id)
        options = [
            Option(f"view:{name}", name, _words(view), group="SAVED VIEWS", removable=True, marked=name == pane.named)
            for name, view in known.items()
        ]
        options.append(Option("save:", "Save this view …", group="THIS VIEW" if known else ""))
        options.append(Option("reset:", "Back to the usual view", group="THIS VIEW" if known else ""))

        def answered(answer: tuple[str, str] | None) -> None:
            if answer is None:
                return
            verb, chosen = answer
            kind, _, name = chosen.partition(":")
            if verb == "remove":
                self.app.remembering.forget_view(pane.pane_id, name)
                self._tell(pane)
                self.saved()
            elif kind == "view":
                self._restore(known[name])
            elif kind == "save":
                self._save()
            else:
                self._restore({})

        self.app.push_screen(Pick("Views", options), answered)

    def _save(self) -> None:
        from widgets.dialogs.dialogs import Prompt

        pane = self.app.navigation.pane
        assert pane is not None
        view = pane.look()
        known = self.app.remembering.saved_views(pane.pane_id)

        def validate(text: str) -> str | None:
            if not text.strip():
                return "a view needs a name"
            if len(text.strip()) > LONGEST_NAME:
                return f"at most {LONGEST_NAME} characters"
            return "there are too many views; take one away first" if len(known) >= MOST_VIEWS else None

        def answered(name: str | None) -> None:
            if name is not None:
                self.app.remembering.keep_view(pane.pane_id, name.strip(), view)
                self._tell(pane)
                self.app.say(f"Kept as “{name.strip()}”; V opens it.")

        hint: Callable[[str], str] = lambda text: (  # noqa: E731
            "replaces the view of that name" if text.strip() in known else _words(view)
        )
        self.app.push_screen(Prompt("Name of this view", placeholder="mine", validate=validate, hint=hint), answered)

    def _tell(self, pane: Pane) -> None:
        """Tell a pane which views are kept: its title names the one in use."""
        pane.take_saved_views(self.app.remembering.saved_views(pane.pane_id))

    def _restore(self, view: dict[str, str]) -> None:
        pane = self.app.navigation.pane
        if pane is None:
            return
        pane.set_filter("")
        pane.filter_bar.close()
        pane.restore({"sort": pane.sorts[0], **view})
        self.app.refresh_keys()


def _words(view: dict[str, str]) -> str:
    """What a view is, in few words."""
    parts = [view.get("view", "")] if view.get("view", "list") != "list" else []
    if (group := view.get("group", "section")) != "section":
        parts.append(f"grouped by {group}")
    if (sort := view.get("sort", "file order")) != "file order":
        parts.append(f"sorted by {sort}")
    if text := view.get("filter", ""):
        parts.append(f"/{text}")
    return ", ".join(parts) or "the usual view"
