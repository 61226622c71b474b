"""The command line: a file a command, each a thin face over the library."""
