"""A lesson as it stands in its folder: found, read and checked."""
