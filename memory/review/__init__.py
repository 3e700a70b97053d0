"""Agents propose, a person decides: the rules, what waits, what accepting it would do, accepting and rejecting it."""
