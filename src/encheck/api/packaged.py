"""The arguments that make pytest run encheck's checks and those of installed packages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

# After the user's own: with -W error, what pytest says of how encheck itself was started would end the run.
NO_WARNING = ("-W", "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning")


def packaged(arguments: Sequence[str], *, plugins: Sequence[str], modules: Iterable[str] = ()) -> list[str]:
    """These arguments for encheck's checks and those of `modules`, whatever project the working folder belongs to.

    `plugins` have their entry points' own names: so they are found where plugins are not loaded unasked, and not
    registered twice.
    """
    ini = str(resources.files("encheck") / "run.ini")
    named = [part for plugin in plugins for part in ("-p", plugin)]
    where = ["-c", ini, f"--rootdir={Path.cwd()}", "--noconftest", "--pyargs", "encheck.checks", *modules]
    at = list(arguments).index("--") if "--" in arguments else len(arguments)  # behind it stand names of tests alone
    return [*named, *where, *arguments[:at], *NO_WARNING, *arguments[at:]]
