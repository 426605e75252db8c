"""`encheck explore`: which constructions does a model get wrong?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from encheck.cli.shared import (
    ModelArgs,
    SkipBadRows,
    StorePath,
    app,
    as_option,
    print_lines,
    print_message,
    project,
    report_errors,
)
from encheck.errors import STOPPED

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.operations.explore.material import Material
    from encheck.operations.explore.search import Construction, SearchBudget
    from encheck.options import Settings
    from encheck.shrinking.shrink import ItemForm


MINUTES = 5.0
LEAST_TEXTS = 100  # per property: half of them give 15 clusters to confirm
CHEAP = 20.0  # texts per second that a run with a time limit needs to shrink examples
Model = Annotated[str, typer.Option("--model", metavar="MODEL", help="Model to search, as for `encheck run`.")]
Properties = Annotated[
    str, typer.Option(metavar="NAME[,NAME]", help="Properties to search, by check name, such as negation,number.")
]
Own = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="texts:FILE", help="Also search minimal pairs made of your own texts. Repeatable."),
]
Minutes = Annotated[
    float | None,
    typer.Option(metavar="M", help=f"Stop after this many minutes. Default: {MINUTES:g}, without --texts."),
]
Texts = Annotated[
    int | None, typer.Option(metavar="N", help="Encode at most N texts. Without --minutes, the run is repeatable.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the items as rows for --data contrast:FILE (.jsonl).")
]


@app.command()
def explore(
    model: Model,
    properties: Properties,
    data: Own = None,
    minutes: Minutes = None,
    texts: Texts = None,
    out: Out = None,
    seed: Annotated[int, as_option("seed")] = 0,
    sample: Annotated[str, as_option("sample")] = "2000",
    experimental: Annotated[bool, as_option("experimental")] = False,
    model_arg: ModelArgs = None,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
    skip_bad_rows: SkipBadRows = False,
    store: StorePath = None,
) -> None:
    """Search for the constructions on which MODEL fails most, and confirm them on sentences that the search never saw.

    It searches frames with certificates, the embedded probes and your own texts. Nominated constructions are confirmed
    on other clusters, in a number fixed in advance, with intervals that hold for all rows at once. After Ctrl-C or a
    failure of the model, confirmed rows are kept.

    Exit code: 0 done, whatever was found, 130 interrupted, 4 wrong usage or bad input.

    Examples:

        encheck explore --model sbert --properties negation,number --minutes 5

        encheck explore --model sbert --properties number --data texts:tickets.csv --texts 4000 --out worst.jsonl
    """
    from encheck.errors import UsageError
    from encheck.operations.explore.search import SearchBudget
    from encheck.options import Settings
    from encheck.options.settings import parse_sample, parse_seed

    with report_errors():
        names = tuple(dict.fromkeys(name.strip() for name in properties.split(",") if name.strip()))
        if minutes is not None and not 0 < minutes < float("inf"):
            raise UsageError(f"--minutes is {minutes:g}, but should be more than 0")
        if texts is not None and texts < LEAST_TEXTS * max(len(names), 1):
            raise UsageError(f"--texts is {texts}, but should be {LEAST_TEXTS} or more for each property")
        minutes = MINUTES if minutes is None and texts is None else minutes
        budget = SearchBudget(texts, None if minutes is None else 60 * minutes)
        if out and out.suffix != ".jsonl":
            raise UsageError(f"--out={out} should end in .jsonl")
        if out and (out.is_dir() or not out.absolute().parent.is_dir()):
            what = "is a directory" if out.is_dir() else "is in no directory that exists"
            raise UsageError(f"--out={out} {what}: name a file in an existing directory")
        asked = Settings(
            models=(model,), model_args=tuple(model_arg or ()), data=tuple(data or ()), seed=parse_seed(seed),
            sample=parse_sample(sample), experimental=experimental, device=device, dtype=dtype, store=store,
            skip_bad_rows=skip_bad_rows, project=project(),
        )  # fmt: skip
        is_stopped = _run_exploration(names, asked, budget, out)
    raise typer.Exit(STOPPED if is_stopped else 0)


def _run_exploration(names: tuple[str, ...], settings: Settings, budget: SearchBudget, out: Path | None) -> bool:
    """Search, print and write the results, and return whether the search was interrupted."""
    from encheck.errors import EncoderError
    from encheck.operations.explore.explore import contrast_lines, exploration_lines, shortest_form
    from encheck.operations.explore.explore import explore as searched
    from encheck.operations.explore.material import gather_material, refuse_unknown_properties
    from encheck.options import model_options
    from encheck.running.resources import open_store, resolve_english
    from encheck.running.service import EncoderService
    from encheck.system.files import write_text
    from encheck.system.terminal import Progress

    refuse_unknown_properties(names)
    own = _load_own_data(settings)
    store = open_store(settings)
    english = resolve_english(settings, store)
    print_message(f"encheck explore: making pairs of {', '.join(names)}", err=True)
    materials = [gather_material(name, own=own, english=english, seed=settings.seed) for name in names]
    _tell_data_without_pairs(materials, own)
    service = EncoderService.open(settings, store, progress=Progress()).taking_any_text()
    subject, ask = service.subject, service.score_pairs
    found = searched(materials, ask, seed=settings.seed, budget=budget, tell=lambda said: print_message(said, err=True))
    encoded = subject.encoded
    is_cheap = not found.stopped and (budget.seconds is None or found.speed >= CHEAP)
    shrunk: dict[Construction, ItemForm] = {}
    with suppress(KeyboardInterrupt, EncoderError):  # confirmed rows are printed without shorter forms
        for row in found.broken if is_cheap else ():
            if row.example and (form := shortest_form(row.example, ask, english, seed=settings.seed)):
                shrunk[row.cell] = form
    print_lines(exploration_lines(found, subject.label, shrunk=shrunk, budget=budget, encoded=encoded))
    rows = found.broken or found.rows
    if out is not None and rows:
        written = list(contrast_lines(rows, found.held))
        write_text(out, "".join(f"{line}\n" for line in written))
        model = model_options(subject.label, settings.models[0], settings.model_args)
        data = shlex.quote(f"contrast:{out}")
        print_message(f"{out}: {len(written)} contrasts. Then: encheck run {model} --data={data}")
    elif out is not None:
        print_message(f"{out} was not written: nothing was confirmed")
    if found.failure:
        raise found.failure
    return bool(found.stopped)


def _load_own_data(settings: Settings) -> dict[str, Dataset]:
    """Return the user's data. Raise UsageError for data without own sentences to edit."""
    from encheck.errors import UsageError
    from encheck.running.resources import resolve_data

    if not settings.data:
        return {}
    own = resolve_data(settings)
    for label, data in own.items():
        if label.startswith("probes"):
            raise UsageError(f"--data={label}: the embedded probes are always searched. Leave it out")
        if not data.groups:
            raise UsageError(f"--data={label} has no sentences to edit. Write: --data texts:FILE")
    return own


def _tell_data_without_pairs(materials: Sequence[Material], own: dict[str, Dataset]) -> None:
    """Report which of the user's texts gave no pair of a property. Raise UsageError if they gave no pair at all."""
    from encheck.errors import UsageError

    origins = {label: f"your texts ({label})" for label in own}
    barren = [(o, m.property, m.why_none[o]) for o in origins.values() for m in materials if o in m.why_none]
    for origin, name, why in barren:
        print_message(f"{origin}: no pair of {name}: {why}", err=True)
    if own and len(barren) == len(own) * len(materials):
        raise UsageError("your texts gave no pair of any of these properties (see above). Remedy: --experimental")
