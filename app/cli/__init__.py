"""The command line: every verb of memdeck, one module per group, imported only when it is used."""
