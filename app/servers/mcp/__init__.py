"""The Model Context Protocol: agents reach the memory of a workspace through eight tools."""
