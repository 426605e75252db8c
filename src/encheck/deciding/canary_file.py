"""The file of a canary: JSON (canary.schema.json), vectors as 16-bit integers with a scale a text."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.canary_texts import EDITION, digest, texts
from encheck.errors import UsageError
from encheck.reporting.results import write_named
from encheck.system.documents import json_of
from encheck.system.json_schema import refuse_wrong, schema_of

VERSION = 1
MOST_BYTES = 40 * 10**6
STEPS = 32_767
ENCODING = "int16 little-endian base64"
REMEDY = "Remedy: encheck canary save MODEL FILE, while the model is the one that you mean"


@dataclass(frozen=True, eq=False, slots=True)
class Canary:
    """What a model gave the 200 texts.

    `vectors` has shape [texts, d], NaN if the model refused a text: means over the calls. `noise` has shape [texts]:
    how far the farthest call lies from the mean, as a share of the vector's length. `batches` has the texts a batch of
    each call; of a single call the noise is not known.
    """

    label: str
    kind: str
    role: str | None
    fingerprint: str
    dtype: str | None
    vectors: NDArray[np.float32]
    noise: NDArray[np.float64]
    batches: tuple[int, ...]
    made_on: str
    made_by: str

    @property
    def dimension(self) -> int:
        """Of the vectors."""
        return int(self.vectors.shape[1])

    @property
    def loudest(self) -> float:
        """The largest noise of a text."""
        return float(np.nanmax(self.noise))


def write(path: Path, canary: Canary) -> None:
    """Write a canary; UsageError if no file can be there."""
    write_named(path, json.dumps(_as_dict(canary), indent=1, allow_nan=False) + "\n")


def _as_dict(canary: Canary) -> dict[str, Any]:
    scales, integers = _packed(canary.vectors)
    return {
        "encheck_canary": VERSION,
        "made": {"on": canary.made_on, "by": canary.made_by},
        "texts": {"edition": EDITION, "count": len(texts()), "hash": digest()},
        "model": {
            "label": canary.label,
            "kind": canary.kind,
            "role": canary.role,
            "fingerprint": canary.fingerprint,
            "dtype": canary.dtype,
            "dimension": canary.dimension,
        },
        "calls": {"batches": list(canary.batches), "noise": [_short(value) for value in canary.noise]},
        "vectors": {"encoding": ENCODING, "scales": scales, "data": base64.b64encode(integers.tobytes()).decode()},
    }


def _packed(vectors: NDArray[np.float32]) -> tuple[list[float | None], NDArray[np.int16]]:
    """The scale of each row, None for one of NaN, and the rows in steps of it."""
    answered: NDArray[np.bool_] = np.asarray(np.isfinite(vectors).all(axis=1))
    wide = np.where(answered[:, None], vectors, 0).astype(np.float64)
    scales = np.abs(wide).max(axis=1) / STEPS
    integers = np.round(wide / np.where(scales > 0, scales, 1)[:, None]).astype("<i2")
    return [float(scale) if there else None for scale, there in zip(scales, answered, strict=True)], integers


def _short(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.3g}")


def read(path: Path) -> Canary:
    """The canary in this file; UsageError if it is missing, damaged, newer, or of other texts."""
    try:
        found = json_of(path, most=MOST_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: this canary does not exist. {REMEDY}") from error
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}. {REMEDY}") from error
    _refuse_other(path, found)
    try:
        refuse_wrong(found, schema_of("encheck.deciding", "canary.schema.json"))
        return _canary(found)
    except ValueError as error:
        raise UsageError(f"{path} is not a valid canary: {error}. {REMEDY}") from error


def _refuse_other(path: Path, found: object) -> None:
    """UsageError for a file of another kind, of a newer encheck, or of other texts than come with this one."""
    version = found.get("encheck_canary") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or isinstance(version, bool) or not isinstance(version, int):
        raise UsageError(f"{path} is not a canary: it lacks `encheck_canary`. {REMEDY}")
    named = found.get("texts")
    edition = named.get("edition") if isinstance(named, Mapping) else None
    if version > VERSION or (isinstance(edition, int) and edition > EDITION):
        raise UsageError(
            f"{path} was written by a newer encheck (version {version}, texts of edition {edition}); this one reads "
            f"version {VERSION} and edition {EDITION}. Remedy: install the newer encheck"
        )
    if isinstance(named, Mapping) and named.get("hash") != digest():
        raise UsageError(f"{path} is a canary of texts other than those of edition {EDITION}. {REMEDY}")


def _canary(found: Mapping[str, Any]) -> Canary:
    model, calls = found["model"], found["calls"]
    noise = np.array([np.nan if value is None else value for value in calls["noise"]], np.float64)
    vectors = _unpacked(found["vectors"], model["dimension"])
    if len(noise) != len(vectors) or not calls["batches"]:
        raise ValueError(f"calls.noise has {len(noise)} numbers, but should have {len(vectors)}, of one call or more")
    made = found["made"]
    return Canary(
        *(model["label"], model["kind"], model["role"], model["fingerprint"], model["dtype"]),
        *(vectors, noise, tuple(calls["batches"]), made["on"], made["by"]),
    )


def _unpacked(kept: Mapping[str, Any], dimension: int) -> NDArray[np.float32]:
    scales: Sequence[float | None] = kept["scales"]
    try:
        data = base64.b64decode(kept["data"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"vectors.data is not base64: {error}") from error
    shape = (len(texts()), dimension)
    if len(scales) != shape[0] or len(data) != 2 * shape[0] * shape[1]:
        raise ValueError(f"vectors has {len(scales)} scales and {len(data):,} bytes, but should hold {shape} numbers")
    steps = np.array([np.nan if scale is None else scale for scale in scales], np.float64)
    with np.errstate(over="ignore"):
        wide = np.frombuffer(data, "<i2").reshape(shape) * steps[:, None]
    if (np.abs(wide) > np.finfo(np.float32).max).any():
        raise ValueError("vectors.scales has a number that is too large for fp32")
    return wide.astype(np.float32)
