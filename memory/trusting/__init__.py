"""Consent: what memory files ask to run or to connect to, what a person approved of it, and what that covers.

`memory.trust` is the way in.
"""
