"""Cut-offs, upgrades and canaries."""
