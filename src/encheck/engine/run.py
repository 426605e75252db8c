"""`run`: evaluate models on data in this process, without printing anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.engine.checks import Check, Selection, packaged_checks, select_checks
from encheck.engine.results import Results
from encheck.errors import UsageError
from encheck.options.settings import OptionValue
from encheck.system.files import Scratch, expand_home
from encheck.system.memory import rare_collection

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.encoders.protocol import Model
    from encheck.engine.evaluation import GateBaseline
    from encheck.engine.recorder import Recorder
    from encheck.options import Settings
    from encheck.running.model_under_test import ModelUnderTest


def run(
    model: object = "sbert",
    *,
    data: str | Path | Sequence[str] = "probes",
    checks: Selection = None,
    report_dir: str | Path | None = None,
    **options: OptionValue,
) -> Results:
    """Evaluate one model or several, without printing anything. pytest is not imported.

    The store keeps the vectors, so a second run does not encode them again.

    Args:
        model: anything that encodes: a name in models.yaml, a path, a hub id, a `SentenceTransformer`, a
            `CrossEncoder`, a transformers model with its tokenizer as `(model, tokenizer)`, an MTEB model, an object
            with `encode(texts)`, a function from texts to vectors of shape [n, d]; or a list of these. The store keeps
            vectors of models with known weights, not of other objects.
        data: a data set, as in `load_data`, or a sequence of them.
        checks: which checks to run, by property: "antonym", "antonym or jumble", ["antonym", "jumble"]. Default: all.
        report_dir: a folder for results.json, items.parquet, report.html and summary.md. Default: no report.
        options: other options of `encheck run`, with underscores: epsilon=0.1, sample=500, no_store=True,
            model_arg=["dtype=bfloat16"]. A sequence repeats the option.

    Returns:
        The metrics of every case, with intervals and verdicts. A failing check is a verdict, not an exception.

    Raises:
        TypeError: an object in `model` is not a model.
        UsageError: `checks` or an option is wrong. Subclasses such as ModelError and DataError name the cause.
        EncheckError: the run cannot finish.

    >>> found = run("bag-of-words", checks="number", no_store=True)
    >>> row = found.judged[0]
    >>> row.property, row.verdict, 0 < row.low < row.value < row.high < 1
    ('number', 'below_aim', True)
    """
    from encheck.datasets.load import add_property_to_specs
    from encheck.engine.conclusion import GateOptions, add_references, conclude, refuse_models, refuse_unusable_options
    from encheck.engine.folder import write_report
    from encheck.options import refuse_unwritable_folder, settings_for_results
    from encheck.options.settings import settings_from_keywords
    from encheck.reporting.view import unused_threshold

    specs, loaded = name_models(model)
    datasets = add_property_to_specs(data, options.pop("property", None))
    with temporary_store_option(options) as kept:
        settings = settings_from_keywords(specs, datasets, {**options, **kept, "report_dir": report_dir})
        every = packaged_checks(datasets, settings.chosen_packages)
        chosen = select_checks(every, checks)
        if settings.report_dir:
            refuse_unwritable_folder(str(settings.report_dir))
        if save := settings.save_baseline:
            refuse_unusable_options(settings.queries, len(settings.seed_replicates), save)
        recorder = measure_checks(
            settings, chosen, every=every, loaded=loaded,
            refuse=(lambda subjects, _data: refuse_models((), subjects)) if save else None,
        )  # fmt: skip
        end = conclude(recorder, settings, recorder.status, GateOptions(save=save))
        end = add_references(end, recorder, settings)
        folder = settings.report_dir
        results = recorder.results(
            settings=settings_for_results(settings), end=end, folder=folder.name if folder else "",
            notes=unused_threshold(settings.threshold, recorder.rows.values()),
        )  # fmt: skip
        if folder:
            write_report(folder, results, recorder.items, documents=recorder.documents)
        return Results(results, recorder.items)


@contextmanager
def temporary_store_option(options: Mapping[str, OptionValue]) -> Iterator[dict[str, str]]:
    """Yield the option `store` for a run with `no_store`: a temporary file that exists during the block."""
    with Scratch() as scratch:
        yield {"store": str(Path(scratch, "store.sqlite"))} if options.get("no_store") else {}


def name_models(given: object, *, is_each_once: bool = True) -> tuple[list[str], dict[str, Model]]:
    """Return the models' names in settings, and the models in memory by name.

    Raise TypeError for other objects, UsageError if there are none.
    """
    from encheck.running.labels import OBJECT

    is_one = not isinstance(given, list | tuple)
    if isinstance(given, tuple):  # a transformers model with its tokenizer
        is_one = len(given) == 2 and hasattr(given[0], "state_dict")
    listed = [given] if is_one else given
    assert isinstance(listed, Sequence)
    specs: list[str] = []
    loaded: dict[str, Model] = {}
    for one in listed:
        if isinstance(one, str | Path):
            spec = str(expand_home(one).absolute()) if isinstance(one, Path) else one
        else:
            from encheck.encoders.objects import model_object_name, wrap_model_object

            name = model_object_name(one)
            taken = sum(known == f"{OBJECT}{name}" or known.startswith(f"{OBJECT}{name} ") for known in specs)
            spec = f"{OBJECT}{name}" + (f" {taken + 1}" if taken else "")
            loaded[spec] = wrap_model_object(one, spec.removeprefix(OBJECT))
        if spec not in specs or not is_each_once:
            specs.append(spec)
    if not specs:
        raise UsageError("no model is named: give at least one")
    return specs, loaded


@rare_collection()
def measure_checks(
    settings: Settings,
    checks: Sequence[Check],
    *,
    every: Sequence[Check],
    loaded: Mapping[str, Model],
    against: GateBaseline | None = None,
    refuse: Callable[[Mapping[str, ModelUnderTest], Mapping[str, Dataset]], None] | None = None,
    quiet: bool = True,
) -> Recorder:
    """Plan, encode and measure these checks; return the rows, items and descriptions. `every` lists all checks.

    `refuse` raises an error for unusable models and data, before anything is encoded.
    """
    from encheck.engine.evaluation import Evaluation
    from encheck.engine.first_look import first_look_mode
    from encheck.engine.folder import remove_earlier_report
    from encheck.engine.judgement import measure_case
    from encheck.engine.recorder import Recorder
    from encheck.items.variants import refuse_unread_variants
    from encheck.options import refuse_unknown_thresholds

    functions = {case: check.function for check in checks for case in check.cases(settings)}
    if against:
        known = [case for case in functions if case.model == against.old and case.id.of_any_model in against.known]
        functions = {case: function for case, function in functions.items() if case not in known}
    recorder = Recorder()
    recorder.note_selected(check.name for check in checks)
    evaluation = Evaluation.open(
        settings,
        list(functions),
        existing={case.id.of_any_model: case for check in every for case in check.cases(settings)},
        against=against,
        loaded=loaded,
        mode="" if against else first_look_mode(settings, is_junit=False),
        quiet=quiet,
    )
    try:
        subjects = evaluation.session.subjects
        if refuse:
            refuse(subjects, evaluation.session.data)
        offered = {check.name: set(map(str, check.claim.levels)) for check in every}
        configs = {label: subject.config for label, subject in subjects.items()}
        refuse_unknown_thresholds(settings, configs, offered)
        for dataset in evaluation.session.data.values():
            refuse_unread_variants(dataset, [check.claim for check in every], lambda: ())
        if settings.report_dir:
            remove_earlier_report(settings.report_dir)
        evaluation = evaluation.prepare()
        for case, function in functions.items():
            start = time.perf_counter()
            judgement = measure_case(case, evaluation, function)
            recorder.add_case(judgement.outcome(function), time.perf_counter() - start)
        if against and against.old:
            from encheck.engine.index import compare_with_old_index

            recorder.index = compare_with_old_index(evaluation, against.old)
        recorder.described.append(evaluation.describe())
    finally:
        evaluation.close()
    return recorder
