"""The command line: every verb of memdeck, one module per group; a module is imported only when it is used."""
