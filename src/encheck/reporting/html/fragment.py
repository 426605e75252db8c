"""Show a check as an HTML fragment for pytest-html: its figures, its curve, and its worst items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from encheck.reporting.view import WORDS, figure_text, overlap_curve, surface_text, worst_items
from encheck.run_file import Result
from encheck.scoring.item import ItemFrame
from encheck.system.terminal import make_visible

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 200, 40, 26, 8
MAX_EXAMPLES = 3


def check_fragment(rows: Sequence[Result], items: ItemFrame | None) -> str:
    """Return the fragment for one check. Every text is escaped.

    `rows` and `items` are the check's, from the recorder.
    """
    examples = _example_paragraphs(items) if items else ()
    return "".join([*_figure_table(rows), *(_curve_svg(row) for row in rows if row.curve), *examples])


def _figure_table(rows: Sequence[Result]) -> Iterator[str]:
    from markupsafe import escape

    heads = ("figure", "value [95% CI]", "best surface scorer", "n (clusters)", "")
    yield "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
    for row in rows:
        if row.metric:
            name = row.figure.replace("_", " ")
            cells = (name, figure_text(row), surface_text(row), f"{row.n} ({row.clusters})")
            said = WORDS[row.verdict] if row.verdict else ""
            yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (*cells, said)) + "</tr>"
    yield "</table>"


def _curve_svg(row: Result) -> str:
    """Draw the share of items with a margin above epsilon as SVG, with its band. The line of word overlap is dashed."""
    from markupsafe import escape

    points = row.curve
    band = [(p.epsilon, p.high) for p in points] + [(p.epsilon, p.low) for p in reversed(points)]
    name = escape(row.figure.replace("_", " "))
    ticks = [f'<text x="{_epsilon_x(e)}" y="{HEIGHT - 8}" text-anchor="middle">{e:g}</text>' for e in (-0.3, 0, 0.3)]
    ticks += [f'<text x="{LEFT - 4}" y="{_share_y(s) + 4}" text-anchor="end">{s:.0%}</text>' for s in (0, 0.5, 1)]
    dashed, line = (_svg_points((p.epsilon, p.value) for p in some) for some in (overlap_curve(row), points))
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-size="11" role="img" '
        f'aria-label="share of items with a margin above epsilon">'
        f'<polygon points="{_svg_points(band)}" fill="#0072b2" opacity="0.2"/>'
        f'<polyline points="{dashed}" fill="none" stroke="#7f7f7f" stroke-dasharray="5 4"/>'
        f'<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="2"/>{"".join(ticks)}</svg>'
        f"<figcaption>{name}: share of items above epsilon; word overlap dashed</figcaption></figure>"
    )


def _example_paragraphs(frame: ItemFrame) -> Iterator[str]:
    from markupsafe import escape

    for item in worst_items(frame, MAX_EXAMPLES):
        far = f"<br>{item.far_score:.3f} far: {_marked_html(item.far_pieces)}" if item.far_pieces else ""
        near = f"{item.near_score:.3f} near: {_marked_html(item.near_pieces)}"
        yield f"<p>{escape(make_visible(item.source))}<br>{near}{far}<br><code>{escape(item.item)}</code></p>"


def _marked_html(pieces: Iterable[tuple[str, str]]) -> str:
    from markupsafe import escape

    tags = {"del": "<del>{}</del> ", "ins": "<ins>{}</ins>", "same": "{}"}
    return "".join(tags[kind].format(escape(make_visible(text))) for kind, text in pieces)


def _epsilon_x(epsilon: float) -> float:
    return round(LEFT + (max(-0.3, min(0.3, epsilon)) + 0.3) / 0.6 * (WIDTH - LEFT - 10), 1)


def _share_y(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - BOTTOM - TOP), 1)


def _svg_points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_epsilon_x(e)},{_share_y(share)}" for e, share in points)
