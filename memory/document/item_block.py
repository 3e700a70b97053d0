"""Items in Markdown blocks: `- key: value` bullets, `- kind:` first, then a text; they read back the same."""

from __future__ import annotations

from memory.base.items import Item
from memory.document.lines import Field, read_fields, set_field


def body_of(item: Item) -> str:
    """Return an item as the body of a block; UsageError `field.key` or `field.value` if no bullet can hold it."""
    body = set_field("", "kind", item.kind)
    values = dict(item.fields)
    if item.created:
        values.setdefault("created", item.created)
    if item.tags:
        values.setdefault("tags", ", ".join(item.tags))
    for key, value in values.items():
        body = set_field(body, "kind-there" if key == "kind" else key, value)
    return f"{body}\n{item.text}\n" if item.text else body


def item_of_block(kind: str, title: str, body: str, where: str) -> Item:
    """Return the item of a block that `body_of` wrote, else one of the given kind with the body as its text."""
    nodes = _leading(body)
    if not nodes or nodes[0].key != "kind" or not nodes[0].value.strip():
        return Item(kind, title, body.strip("\r\n"), where)
    values = {node.key: node.value for node in nodes[1:]}
    tags = tuple(tag for one in values.get("tags", "").split(",") if (tag := one.strip()))
    text = body[nodes[-1].end :].strip("\r\n")
    return Item(nodes[0].value.strip(), title, text, where, values.get("created", ""), tags, values)


def _leading(body: str) -> list[Field]:
    """Return the fields at the top of a body, up to the first other line."""
    found: list[Field] = []
    end = len(body) - len(body.lstrip("\r\n"))
    for node in read_fields(body).nodes:
        if node.start != end:
            break
        found.append(node)
        end = node.end
    return found
