"""Textual widgets that draw memory's models and handle the person's keys; import each from its own module.

Lists: `list.line_list.LineList` with `list.rows`. Texts: `detail.Detail`, `detail.LineView`, `text.markdown`.
Input: `input.form.Form`, `input.fields.FieldSpec`, `input.editors`, `dialogs`. Frame: `chrome.header`,
`chrome.keys`, `chrome.sidebar`, `input.filter_bar`. Looks: `text.styled_text`, `text.glyphs`,
`text.theme`, `text.drawing`.
"""

from __future__ import annotations
