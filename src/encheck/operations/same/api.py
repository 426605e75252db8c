"""`same`: check whether two models, or a model and a saved file, are the same model in use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from encheck.operations.same.comparison import SameReport
    from encheck.operations.same.sides import ModelAnswers
    from encheck.running.model_under_test import ModelUnderTest, Role

SAVED = ".json"  # how the name of a saved file ends


def same(
    a: object,
    b: object = None,
    *,
    save: str | Path | None = None,
    role: Role | None = None,
    model_args: Sequence[str] = (),
    device: str = "auto",
    dtype: str | None = None,
) -> SameReport:
    """Encode 200 texts with both models and report whether they are the same model in use; if not, what was changed.

    Args:
        a, b: what `encheck.run` takes as a model: a name, a path, a `SentenceTransformer`, a function, a reranker ...;
            or a saved file, FILE.json.
        save: write the vectors (or scores) of `a` to this file. Without `b`, nothing is compared.
        role: "query" or "document", to compare in this role alone; default: all roles that the models distinguish.
        model_args: "KEY=VALUE" for both models, "A:KEY=VALUE" or "B:KEY=VALUE" for one; for models given by name.
        device, dtype: device and precision of models that are given by name.

    Returns:
        A `SameReport`: `outcome` ("same", "same for use", "another", "cannot tell"), `causes`, `reasons`, `exit_code`.

    Raises:
        ModelError, EncoderError: a model cannot be loaded, or fails (a server that is down, NaN).
        UsageError: a file is missing, damaged, of a newer encheck, or cannot be written; one gives vectors and the
            other scores.
        TypeError: `a` or `b` is not a model.

    >>> from encheck import load_model
    >>> encoder = load_model("bag-of-words")
    >>> found = same(encoder.encode, lambda texts: 2 * encoder.encode(texts))
    >>> found.outcome, found.causes, found.exit_code
    ('another', ('normalisation',), 1)
    """
    from encheck.errors import UsageError
    from encheck.operations.same.comparison import choose_texts, compare_sides
    from encheck.operations.same.sides import encode_side, model_kind, read_side
    from encheck.operations.same.sides import save_side as write
    from encheck.system.files import expand_home

    if b is None and save is None:
        raise UsageError("name a second model, a saved file, or a file to write with --save")
    if role not in (None, "query", "document"):
        raise UsageError(f"--role is {role}, but should be query or document")
    if save is not None and (_is_saved(a) or not str(save).endswith(SAVED)):
        wrong = "A is a saved file already" if _is_saved(a) else f"{save} should end with {SAVED}"
        raise UsageError(
            f"--save={save}: {wrong}. Remedy: name a model, and a file to write: encheck same MODEL --save FILE.json"
        )
    if stray := [text for text in model_args if text.partition("=")[0].rpartition(":")[0] not in ("", "A", "B")]:
        said = "the models are called A and B here. Remedy: A:KEY=VALUE or B:KEY=VALUE"
        raise UsageError(f"--model-arg {stray[0]}: {said}")
    given = {"A": a} if b is None else {"A": a, "B": b}
    kept = {name: read_side(expand_home(str(one))) for name, one in given.items() if _is_saved(one)}
    roles = {f"{name}: {side.label}": side.role for name, side in kept.items()} | ({"--role": role} if role else {})
    if len(set(roles.values())) > 1:
        said = "; ".join(f"{name}: {one or 'all'}" for name, one in roles.items())
        raise UsageError(f"the roles differ ({said}). Remedy: save both in one role, or without --role")
    role = next(iter(roles.values()), None)
    subjects = {
        name: _open_subject(one, name, model_args, device=device, dtype=dtype)
        for name, one in given.items()
        if name not in kept
    }
    kinds = {name: side.kind for name, side in kept.items()}
    kinds |= {name: model_kind(subject.model) for name, subject in subjects.items()}
    if len(set(kinds.values())) > 1:
        does = {"vector": "gives vectors", "pair": "scores pairs"}
        raise UsageError(f"A {does[kinds['A']]}, but B {does[kinds['B']]}. Remedy: compare two models of one kind")
    some = choose_texts(list(subjects.values()), role=role)
    sides: dict[str, ModelAnswers] = kept | {
        name: encode_side(subject, some, role=role) for name, subject in subjects.items()
    }
    if save is not None:
        write(place := expand_home(save), sides["A"])
        sides.setdefault("B", read_side(place))
    return compare_sides(sides["A"], sides["B"])


def _is_saved(given: object) -> bool:
    from encheck.encoders.load import STORED_PREFIX

    return isinstance(given, str | Path) and str(given).endswith(SAVED) and not str(given).startswith(STORED_PREFIX)


def _open_subject(given: object, name: str, model_args: Sequence[str], **settings: Any) -> ModelUnderTest:
    """Return one of the two models, without loading its weights."""
    from encheck.engine.run import name_models
    from encheck.options import Settings, arguments_for, project_table
    from encheck.running.service import EncoderService

    specs, loaded = name_models([given])
    own = () if loaded else tuple(f"{key}={value}" for key, value in arguments_for(name, model_args).items())
    project = project_table(Path("pyproject.toml"))
    chosen = Settings(models=tuple(specs), model_args=own, project=project, **settings)
    return EncoderService.open(chosen, loaded=loaded).subject
