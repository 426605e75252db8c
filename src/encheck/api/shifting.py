"""`text_shift`: is this text like that text?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from encheck.comparing.text_shift import TextShift


def text_shift(data: str, *, against: str, texts: int = 2_000, seed: int = 0, skip_bad_rows: bool = False) -> TextShift:
    """Compare the text of two data sets at equal sizes: is a synthetic training set like real text?

    Args:
        data: a data set, as `encheck run --data` takes it.
        against: the data set to compare it with.
        texts: measure at most this many texts and pairs of each.
        seed: seed of the sample.
        skip_bad_rows: skip malformed rows.

    Returns:
        BLEU-1 to 4 and Jaccard within pairs, if both sets have pairs; tokens per text, Distinct-1 to 3, the Zipf
        coefficient and Self-BLEU. Each for both sets, with the difference and its 95% interval.

    Raises:
        DataError: a data set does not exist, is malformed, or has too few texts.
    """
    from encheck.comparing.text_shift import compare_texts
    from encheck.datasets.load import load

    first, second = (load(spec, sample=None, skip_bad_rows=skip_bad_rows) for spec in (data, against))
    return compare_texts(first, second, texts=texts, seed=seed)
