"""The databases in the private state folder: the records of decisions and events, and the catalogue of files."""

from __future__ import annotations
