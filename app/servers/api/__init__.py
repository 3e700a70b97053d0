"""The HTTP and socket API: every verb, the operations on curated memory, and the tools, under one root."""
