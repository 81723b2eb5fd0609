"""A lesson as something to take away: file, site, notebook, worksheet."""
