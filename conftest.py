"""The root of pytest's configuration. The short options come from `-p encheck.short_options` in pyproject.toml."""
