"""What encheck asks of the machine: files written whole, memory, progress, validation of files."""
