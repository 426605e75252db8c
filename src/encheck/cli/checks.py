"""`encheck run`: the suite from a plain install."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import (
    BackTranslate,
    ContinuationModel,
    GeneratorMode,
    LexiconName,
    ModelArgs,
    Models,
    SpacyModel,
    app,
    told,
)
from encheck.errors import UsageError

CACHED = (
    "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "--sw", "--stepwise",
    "--lfnf", "--last-failed-no-failures", "--sw-skip", "--stepwise-skip", "--sw-reset", "--stepwise-reset",
    "--cache-show", "--cache-clear",
)  # fmt: skip

# After the user's own: with -W error, what pytest says of how encheck itself was started would end the run.
NO_WARNING = ("-W", "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning")
# Texts, since a Path takes an empty value for the working folder, and an empty one is to be refused.
LockPath = Annotated[str | None, typer.Option(metavar="PATH", help="Hold variants to this file of `encheck variants`.")]
SavePath = Annotated[str | None, typer.Option(metavar="PATH", help="Keep the item scores in this folder.")]
BaselinePath = Annotated[str | None, typer.Option(metavar="PATH", help="The gate: against this folder's baseline.")]
AnchorPath = Annotated[str | None, typer.Option(metavar="PATH", help="A second, fixed baseline.")]
StoreText = Annotated[
    str | None, typer.Option(metavar="PATH", help="The store. Default: $ENCHECK_STORE or the user's cache.")
]
ReportPath = Annotated[str | None, typer.Option(metavar="PATH", help="Where results go. Default: reports/<run>.")]


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    markers: Annotated[str, typer.Option("-m", help='Which checks: -m antonym, -m "antonym or jumble".')] = "",
    model: Models = None,
    model_arg: ModelArgs = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="NAME or NAME:PATH; repeatable; `encheck data` lists them.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Margin that criteria 3 and 4 ask for.")] = 0.0,
    threshold: Annotated[
        float | None, typer.Option(help="A cut-off of yours: what share of each label reaches it.")
    ] = None,
    sample: Annotated[
        str, typer.Option(help="Clusters taken of each --data, or: all. Probes are taken whole.")
    ] = "2000",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    median_scope: Annotated[str, typer.Option(help="Obvious or not: by split, by dataset, or at a number.")] = "split",
    spacy_model: SpacyModel = None,
    lexicon: LexiconName = "embedded",
    generator_mode: GeneratorMode = "careful",
    lock: LockPath = None,
    continuation_model: ContinuationModel = None,
    back_translate: BackTranslate = None,
    save_baseline: SavePath = None,
    baseline: BaselinePath = None,
    anchor: AnchorPath = None,
    twin: Annotated[
        list[str] | None, typer.Option(help="A checkpoint that differs from the baseline's only in seed; repeatable.")
    ] = None,
    inconclusive: Annotated[str | None, typer.Option(help="An inconclusive gate counts as: pass or block.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps, cuda:all, or several by comma.")] = "auto",
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16 or float16.")] = None,
    store: StoreText = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no embeddings after the run.")] = False,
    report_dir: ReportPath = None,
    skip_bad_rows: Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")] = False,
) -> None:
    """Run the checks. What is not listed here goes to pytest: -n 2, -k NAME, -x, --junitxml=FILE, --collect-only.

    Exit code: 0 passed, 1 a check failed or the gate blocks, 4 usage or bad input, 5 nothing was measured, 10 the gate
    could not decide.

    Examples:

        encheck run

        encheck run -m antonym --model=./checkpoint-5000

        encheck run -m "paraphrase or jumble" --data mrpc:path/to/MRPC -n 2

        encheck run --model sbert --save-baseline=reports/baselines/sbert

        encheck run --model=./candidate --baseline=reports/baselines/sbert
    """
    import pytest

    with told():
        _refuse_cached(context.args)
    single = {
        "epsilon": epsilon, "threshold": threshold, "sample": sample, "seed": seed, "device": device, "dtype": dtype,
        "store": store, "report-dir": report_dir, "median-scope": median_scope, "spacy-model": spacy_model,
        "continuation-model": continuation_model, "back-translate": back_translate,
        "lexicon": lexicon, "generator-mode": generator_mode, "lock": lock, "save-baseline": save_baseline,
        "baseline": baseline, "anchor": anchor, "inconclusive": inconclusive,
    }  # fmt: skip
    args = [f"--encheck-model={m}" for m in model or []] + [f"--encheck-data={d}" for d in data or []]
    args += [f"--encheck-model-arg={a}" for a in model_arg or []] + [f"--encheck-twin={t}" for t in twin or []]
    args += [f"--encheck-{name}={value}" for name, value in single.items() if value is not None]
    args += ["--encheck-no-store"] * no_store + ["--encheck-skip-bad-rows"] * skip_bad_rows
    ini = str(resources.files("encheck") / "run.ini")
    markers_args = ["-m", markers] if markers else []
    # The entry point's own name: so it is found where plugins are not loaded unasked, and not registered twice.
    base = ["-p", "encheck.plugin", "-c", ini, f"--rootdir={Path.cwd()}", "--noconftest", "--pyargs", "encheck.checks"]
    try:
        code = int(pytest.main([*base, *markers_args, *args, *context.args, *NO_WARNING]))
    except KeyboardInterrupt:  # pytest catches the first one alone, and none while the report is written
        typer.echo("encheck: interrupted: the report is not written, or not whole. Run again", err=True)
        code = int(pytest.ExitCode.INTERRUPTED)
    raise typer.Exit(code)


def _refuse_cached(args: list[str]) -> None:
    """UsageError for options that go by pytest's cache of earlier runs: `encheck run` leaves none behind."""
    for option in (arg.partition("=")[0] for arg in args):
        if option in CACHED:
            raise UsageError(
                f"{option} goes by what pytest keeps of earlier runs, and encheck run keeps nothing of it. "
                f"Remedy: pytest --pyargs encheck.checks {option}, with --encheck-model and the like"
            )
