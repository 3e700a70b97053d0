"""The catalogue of a fleet on many hosts: a PostgreSQL database that is derived from the files on the hosts."""

from __future__ import annotations
