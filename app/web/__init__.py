"""The application in a browser of the same machine."""
