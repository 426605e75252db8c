"""python -m encheck"""  # noqa: D400, D415

from encheck.cli import main

main()
