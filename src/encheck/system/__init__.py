"""Services of the machine: files written whole, text for a terminal, memory, progress, validation of files."""
