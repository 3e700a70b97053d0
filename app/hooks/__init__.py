"""What clients of agents call at the events of a session: `memdeck hook EVENT`."""
