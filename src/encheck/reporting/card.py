"""A run as one picture that people share: the model, three figures, its profile; and as a badge."""

from __future__ import annotations

from encheck.errors import UsageError
from encheck.reporting.html.page import picture
from encheck.reporting.profile import facts, profile
from encheck.run_file import RunFile

WIDTH, LEFT, RIGHT = 600, 140, 60
TOP, STEP, BELOW = 124, 21, 80  # pixels
MAX_NAME = 40
KINDS = {"above chance": "above", "below chance": "below", "at chance": "at", "": "none"}


def card(results: RunFile, *, model: str | None = None, data: str | None = None) -> str:
    """The SVG, 600 pixels wide; it follows the reader's dark or light setting.

    Of a run of several models or data sets it shows the first, or the one named. UsageError where that was not run, or
    nothing was measured that a profile has.
    """
    name, on = _named(results, model=model, data=data)
    lines = profile(results, model=name, data=on)
    if not lines:
        raise UsageError(f"the run measured no property of {name} on {on} that a profile shows; run more checks")
    bottom = TOP + STEP * len(lines)
    return picture(
        "card.svg",
        model=_short(name), data=_short(on), lines=lines, facts=facts(lines), kinds=KINDS, made=_made(results, on),
        width=WIDTH, height=bottom + BELOW, top=TOP, bottom=bottom, step=STEP, at=_at,
    )  # fmt: skip


def badge(results: RunFile, *, model: str | None = None, data: str | None = None) -> str:
    """A badge in the usual form: "encheck", and in how many properties the model is above chance."""
    name, on = _named(results, model=model, data=data)
    found = facts(profile(results, model=name, data=on))
    said = f"{found[0][0]} above chance" if found else "no figures"
    said += " (first look)" if results.first_look else ""
    return picture("badge.svg", said=said, width=round(70 + 6.6 * len(said)))


def _at(share: float) -> float:
    """Where a share lies, in pixels from the left."""
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _named(results: RunFile, *, model: str | None, data: str | None) -> tuple[str, str]:
    """The model and the data set that are shown; UsageError for one that the run has not."""
    labels, names = [one.label for one in results.models], [one.name for one in results.data]
    for kind, asked, there in (("models", model, labels), ("data", data, names)):
        if asked is not None and asked not in there:
            raise UsageError(f"the run has no {asked!r} among its {kind}: {', '.join(there)}")
    return model or labels[0], data or names[0]


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"...{name[3 - MAX_NAME :]}"


def _made(results: RunFile, data: str) -> str:
    """When, by which encheck, on which edition of the data, with which seed."""
    (its,) = (one for one in results.data if one.name == data)
    run = results.run
    edition = f", {data} {its.version}" if its.version else ""
    look = "first look, " if results.first_look else ""
    return f"{look}{run.started[:10]}, encheck {run.versions['encheck']}{edition}, seed {its.seed}"
