"""A lesson on a server, alone or with a class."""
