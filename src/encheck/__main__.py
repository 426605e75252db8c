"""`python -m encheck` is the `encheck` command."""

from encheck.cli import main

main()
