"""Textual widgets: what draws memory's models and takes a person's keys; import each from its own module.

Lists: `line_list.LineList` with `rows`. Texts: `detail.Detail`, `line_view.LineView`, `markdown`. Asking:
`forms.Form`, `fields.FieldSpec`, `dialogs`, `inputs`. Frame: `header`, `footer`, `sidebar`, `filter_bar`.
Looks: `pieces`, `columns`, `glyphs`, `theme`, `drawing`.
"""

from __future__ import annotations
