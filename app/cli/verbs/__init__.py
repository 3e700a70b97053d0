"""The verbs of the command line, one module or room a noun; `app.cli.registry` lists them."""
