"""The `discreet` command, one file a subcommand."""
