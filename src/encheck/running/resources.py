"""The models, data, language resources and store that the options of a run name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from typing import Literal, Protocol
from weakref import finalize

from encheck.datasets.dataset import Dataset
from encheck.datasets.load import is_unlabelled_spec
from encheck.datasets.load import load as load_data
from encheck.datasets.passages import DEFAULT_WORDS, PassageOptions
from encheck.datasets.reader import find_parquet_files
from encheck.encoders.load import detect_hub_adapter, find_or_make_model_config, foreign_class_name, load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.models_file import apply_model_args, known_models
from encheck.encoders.protocol import Encoder, Model, ParsingEncoder
from encheck.encoders.writing import ContinuationGenerator, make_back_translator
from encheck.errors import UnusableStoreError, UsageError, unknown_name_message
from encheck.ids import split_check_key
from encheck.items.chains import Surprisal
from encheck.items.variants import WritingModels
from encheck.language.english import English
from encheck.language.lexicon.load import load_lexicon
from encheck.language.pipeline.pipeline import Pipeline
from encheck.options import Settings, arguments_for, parse_generator_mode
from encheck.options.settings import CAREFUL, parse_index_sizes
from encheck.running.labels import data_labels, model_labels
from encheck.running.model_under_test import ModelUnderTest
from encheck.scoring.vector_search import ListCounts, refuse_missing_faiss, refuse_unsupported_similarity
from encheck.store import DEFAULT_LIMIT, Store, default_store_path
from encheck.system import imports
from encheck.system.documents import open_parquet
from encheck.system.files import Scratch, expand_home
from encheck.system.lock import Lock, Locks, no_locks
from encheck.types import Recipe

MANY_ROWS = 200_000  # rows of one file; larger files are measured in shards by default
KIND, ENDING = "pairs", ".parquet"


class LoadsInShards(Protocol):
    """Loads data that are measured shard by shard: the `LargeDataLoader` of scale/, which is imported on demand."""

    def load(self, label: str, spec: str) -> Dataset:
        """Return the data of a specification, by their label."""
        ...


def shard_loader(
    settings: Settings, *, quiet: bool = False, is_gated: bool = False
) -> Callable[[str, str], Dataset | None]:
    """Return a function that loads data in shards, by label and specification.

    The function returns None for data that stay in memory. If the settings name no engine, these are all data except
    large Parquet files. If there is also a gate, a baseline to save or a sample, they are all data.
    """
    is_held = not settings.engine and (is_gated or bool(settings.save_baseline) or settings.sample is not None)

    @cache
    def large() -> LoadsInShards:
        folder = import_module("encheck.scale.storage").absolute(
            settings.shards_dir or f"{settings.store or default_store_path()}.shards"
        )
        kind, _, count = (settings.engine or "local").partition(":")
        if kind == "ray":
            engine = import_module("encheck.scale.ray_engine").RayEngine(
                folder, address=settings.address, workers=int(count) if count else None
            )
        else:
            engine = import_module("encheck.scale.shards").LocalEngine(int(count or 1))
        made: LoadsInShards = import_module("encheck.scale.large").LargeDataLoader(
            engine, folder, settings.engine is not None,
            sample=settings.sample, seed=settings.seed, skip_bad_rows=settings.skip_bad_rows,
            device=Device(settings.device, settings.dtype), quiet=quiet,
        )  # fmt: skip
        return made

    def load(label: str, spec: str) -> Dataset | None:
        kind, _, place = spec.partition(":")
        if is_held or not (settings.engine or (kind == KIND and _has_many_rows(place))):
            return None
        return large().load(label, spec)

    return load


def _has_many_rows(place: str) -> bool:
    """Return whether Parquet files have many rows. The reader of smaller data reports files that cannot be opened."""
    path, rows = expand_home(place), 0
    files = find_parquet_files(path) if path.is_dir() else [path] * (path.suffix.lower() == ENDING and path.is_file())
    try:
        for one in files:
            with open_parquet(one) as file:
                rows += file.metadata.num_rows
    except (ValueError, OSError):
        return False
    return rows > MANY_ROWS


IN_MEMORY = "in memory"  # the adapter of a model that is not a file
log = logging.getLogger("encheck")


def resolve_models(
    settings: Settings, store: Store, loaded: Mapping[str, Model] | None = None
) -> dict[str, ModelUnderTest]:
    """Return the models of a run, checked and named. Raise UsageError if a model cannot be used.

    `loaded` has the models in memory, by their names in the settings.
    """
    known, in_memory = known_models(settings.models_file), loaded or {}
    device = Device(settings.device, settings.dtype)
    named = model_labels(settings.models)
    configs: dict[str, ModelConfig] = {}
    for label, spec in named.items():  # the model's entry, overridden by the run's arguments
        if spec in in_memory:
            configs[label] = ModelConfig(label, adapter=IN_MEMORY)
            if settings.dtype:
                log.warning("%s: --dtype=%s has no effect on a model in memory", label, settings.dtype)
            continue
        given = arguments_for(label, settings.model_args)
        config = find_or_make_model_config(spec, known, adapter=given.get("adapter"))
        if spec not in known and "adapter" not in given:
            config = detect_hub_adapter(config)
        if spec not in known and config.description:  # what a path was taken for
            log.warning("%s: %s", label, config.description)
        configs[label] = apply_model_args(config, given)
    for text in settings.model_args:
        named_model, colon, _ = text.partition("=")[0].rpartition(":")
        if colon and named_model not in configs:
            raise UsageError(f"--model-arg {text}: {unknown_name_message('model', named_model, configs)}")
    models = {
        label: in_memory.get(named[label]) or load_model(config, device=device, file_hash=store.cached_file_hash)
        for label, config in configs.items()
    }
    for model in models.values():
        if isinstance(model, ParsingEncoder):
            model.keep_parses_in(store)
    subjects = {k: ModelUnderTest(k, configs[k], model, foreign_class_name(model)) for k, model in models.items()}
    for subject in subjects.values():
        subject.model.fingerprint()
    return subjects


def checks_with_thresholds(settings: Settings) -> set[str]:
    """Return the checks for which the user set a threshold, in the project or in an entry of models.yaml."""
    known = known_models(settings.models_file)
    own = [known[model].thresholds for model in settings.models if model in known]
    return {split_check_key(key)[0] for table in (settings.project.thresholds, *own) for key in table}


def resolve_data(
    settings: Settings,
    *,
    shared: str | None = None,
    in_shards: Callable[[str, str], Dataset | None] | None = None,
) -> dict[str, Dataset]:
    """Return the data of a run, loaded and named. Raise UsageError if a file cannot be used.

    `shared` is the prefix of the files through which the processes of a run share the data that they read.
    `shard_loader` gives the data that are not held in memory, by label and specification.
    """
    labelled = data_labels(settings.data)
    _refuse_unused_queries(settings)
    near_duplicates: Literal["differ", "same"] = "same" if settings.near_duplicates == "same" else "differ"
    passages = PassageOptions(settings.queries, settings.passage_words, near_duplicates)
    for name in dict.fromkeys(spec.partition(":")[0] for spec in settings.data):
        same = {label: spec for label, spec in labelled.items() if spec.partition(":")[0] == name}
        if len(same) > 1:
            log.warning("%s", "; ".join(f"{label} is --data={spec}" for label, spec in same.items()))
    return {
        label: (in_shards(label, spec) if in_shards else None)
        or load_data(
            spec, label=label, sample=settings.sample, seed=settings.seed, skip_bad_rows=settings.skip_bad_rows,
            shared=shared, passages=passages,
        )
        for label, spec in labelled.items()
    }  # fmt: skip


def resolve_list_counts(
    settings: Settings, subjects: Iterable[ModelUnderTest], data: Iterable[Dataset]
) -> ListCounts | None:
    """Return the index for the search of documents, or None for exact search.

    Raise UsageError if Faiss is missing, or if the data have documents and Faiss lacks a model's similarity.
    """
    if (sizes := parse_index_sizes(settings.search_index)) is None:
        return None
    refuse_missing_faiss()
    if any(one.collection for one in data):
        for subject in subjects:
            if isinstance(subject.model, Encoder):
                refuse_unsupported_similarity(subject.label, subject.model.similarity)
    return ListCounts(sizes.get("nlist", 0), sizes.get("nprobe", 0))


def _refuse_unused_queries(settings: Settings) -> None:
    """Raise UsageError for a query log, or one of its options, unless it belongs to exactly one data set."""
    without = [spec for spec in settings.data if is_unlabelled_spec(spec, has_log=settings.queries is not None)]
    if settings.queries is None:
        unusual = {
            "passage-words": settings.passage_words != DEFAULT_WORDS,
            "near-duplicates": settings.near_duplicates != "differ",
        }
        stray = [name for name, given in unusual.items() if given]
        if stray and not without:
            raise UsageError(f"--{stray[0]} works only with unlabelled documents: --data=FOLDER --queries=FILE")
    elif len(without) != 1:
        there = ", ".join(settings.data)
        raise UsageError(
            f"--queries={settings.queries} is for the documents of one data set without labels, --data=FOLDER or "
            f"--data=passages:PATH, but --data is {there}"
        )


def resolve_english(settings: Settings, store: Store, *, lock: Lock = nullcontext) -> English:
    """Return the language resources of a run. Raise LanguageError or UsageError if a named resource is missing."""
    pipeline = Pipeline(settings.spacy_model, file_hash=store.cached_file_hash)
    if settings.spacy_model:
        pipeline.fingerprint  # noqa: B018 - reads its files
    if settings.lexicon != "embedded":
        load_lexicon(settings.lexicon)
    recipe: Recipe | None = None
    if parse_generator_mode(settings.generator_mode) != CAREFUL:
        recipes = imports.entry_points_of(imports.GENERATORS)
        recipe = imports.load_entry_point(recipes[settings.generator_mode])
    return English(pipeline, settings.lexicon, recipe, experimental=settings.experimental, store=store, lock=lock)


def resolve_writers(settings: Settings, store: Store, *, locks: Locks = no_locks) -> WritingModels:
    """Return the language model and the translators that the settings name. Raise UsageError if one does not exist."""
    model, translate, device = None, None, settings.device
    if settings.continuation_model:
        model = ContinuationGenerator(settings.continuation_model, device=device, store=store, locks=locks)
    if settings.back_translate:
        translate = make_back_translator(settings.back_translate, device=device, store=store, locks=locks)
    return WritingModels(model, Surprisal(model) if model else None, translate)


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name, or the default store. If it cannot be used, warn and return a temporary
    one.

    Raise StoreError for a file that is not a store. The file stays unchanged.
    """
    try:
        return open_named_store(settings)
    except UnusableStoreError as error:
        log.warning("%s. This run continues without a store: what it encodes is not saved", error)
        scratch = Scratch()
        store = Store(scratch.path / "store.sqlite", dtype=settings.store_dtype)
        finalize(store, scratch.cleanup)
        return store


def open_named_store(settings: Settings) -> Store:
    """Return the store that the settings name, or the default store. Raise StoreError if it cannot be used."""
    megabytes = settings.project.store_limit_mb
    return Store(
        settings.store or default_store_path(),
        limit=DEFAULT_LIMIT if megabytes is None else megabytes * 1024**2,
        dtype=settings.store_dtype,
    )
