"""The memory in an agent's prompt: the contributions of all systems, in their order, within a budget."""
