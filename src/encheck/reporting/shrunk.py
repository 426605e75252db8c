"""The shortest form of an item that a model still gets wrong, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.reporting.text import marked
from encheck.running.shrinking import Row, Shrink
from encheck.shrinking.shrink import ItemForm


def shrunk_lines(rows: Sequence[Row], shrink: Shrink) -> Iterator[str]:
    """The shortest form of each row's item, with the least shrunk one beside it, or why there is none."""
    for row in rows:
        yield f"{row['item']}, shrunk"
        result = shrink(row)
        if isinstance(result, str):
            yield f"  not shrunk: {result}"
        else:
            is_shorter = result.shortest.words < result.whole.words
            if is_shorter and result.least is not result.shortest:
                yield from _form_lines("least shrunk", result.least, result.whole)
            if result.shortest is result.whole:
                yield f"  nothing can go: {result.why}"
            else:
                name = "shortest" if is_shorter else "no shorter, in plainer words"
                yield from _form_lines(name, result.shortest, result.whole)
            if result.is_cut_short:
                yield f"  stopped after {result.scored} pairs: more may go"
        yield ""


def _form_lines(name: str, form: ItemForm, whole: ItemForm) -> Iterator[str]:
    item = form.item
    yield f"  {name}: {form.words} of {whole.words} words, margin {form.margin:+.4f} of {whole.margin:+.4f}"
    yield f"    source  {item.source}"
    yield f"    near    {marked(item.source, item.near, item.near_edits)}"
    yield f"    far     {marked(item.source, item.far, item.far_edits)}"
    for why in dict.fromkeys(filter(None, (item.near_why, item.far_why))):
        yield f"            {why}"
