"""What stands inside of a document: front matter, fields, tables, values with remarks."""

from __future__ import annotations
