"""Typed memory: core, procedural and episodic files of registered agents, as plain files with an Aidefile."""
