"""The tabs of "Agent memory": one file for each memory system."""
