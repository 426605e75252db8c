"""Services of the machine: files that are written whole, text for a terminal, memory, progress, validation of files."""
