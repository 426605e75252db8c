"""The tables of the five papers, with our figures beside them.

    python papers/recipes/papers.py all                        # from the record, published/ours.json
    python papers/recipes/papers.py 004 --data DIR             # measure anew what needs no training
    python papers/recipes/papers.py 003 --data DIR --model ./my-model
    python papers/recipes/papers.py 003 --data DIR --only seconds   # Table 6, which is timed on request alone
    python papers/recipes/papers.py 002 --runs RUNS            # with the figures of trainings (see papers_runs.py)
    python papers/recipes/papers.py all --data DIR --compare   # what comes out otherwise than recorded
    python papers/recipes/papers.py all --data DIR --record    # keep what was measured, and write the page
    python papers/recipes/papers.py all --write                # write papers/docs/reproduction.md of it

DIR holds the corpora as distributed: mrpc, stsbenchmark, sts12-16, sick, qqp, paws_wiki, paws_qqp, pit2015,
twitter_url, semeval2016_task3, semeval2017_task3. A corpus that is not there is not measured, and a warning names it;
one that lacks a file is an error. Beside figures that were measured, those of the record have a mark. The page's
pictures need `pip install './papers[pictures]'`. 000: Peng, Weir and Weeds 2023; 001: RISE; 002: Predicate-Argument
Based Bi-Encoder; 003: Mahajan et al. 2023; 004: Peinelt et al. 2019.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import papers_ours
from papers_ours import Measured
from papers_page import page, paper_section, summary
from papers_pictures import PICTURES, drawn, file_name
from papers_published import PAPERS

from encheck.errors import EncheckError, UsageError, unknown_name_message

PAGE = Path(__file__).resolve().parents[1] / "docs/reproduction.md"


def measure(papers: Sequence[str], root: Path, models: Sequence[str], only: str = "") -> Iterator[Measured]:
    """What can be measured of these papers in a folder, one measurement after the other."""
    from papers_measure import MEASURES, ON_REQUEST

    kinds = [function.__name__ for paper in papers for function in MEASURES[paper]]
    if only and only not in kinds:
        raise UsageError(f"--only: {unknown_name_message('kind', only, kinds)}")
    for paper in papers:
        for function in MEASURES[paper]:
            for model in models:
                if only == function.__name__ or (not only and function.__name__ not in ON_REQUEST):
                    for one in filter(lambda made: made.figures, function(root, model)):
                        print(f"measured: {paper}, {one.what}, {len(one.figures)} figures", file=sys.stderr)
                        yield one.dated()


def runs_of(folder: Path, papers: Sequence[str]) -> list[Measured]:
    """The figures of training runs for these papers; what there is is said."""
    from papers_runs import described, measured

    every = measured(folder)
    found = [one.dated() for one in every if one.paper in papers]
    if not found:
        raise EncheckError(
            f"--runs={folder}: no figure of {', '.join(papers)}, but of {', '.join({o.paper for o in every})}"
        )
    print(*described(found), sep="\n", file=sys.stderr)
    return found


def refuse_loss(recorded: Sequence[Measured], new: Sequence[Measured], runs: Path) -> None:
    """EncheckError if the record has figures of the same tables that are not in this folder."""
    if left := papers_ours.lost(recorded, new):
        where = sorted(" | ".join((key[0], *address)) for key, addresses in left.items() for address in addresses)
        raise EncheckError(
            f"--record: {len(where)} recorded figures are not in {runs}, and would be lost: {'; '.join(where[:3])}"
            f"{' ...' if len(where) > 3 else ''}. Remedy: --runs with the folder of all trainings"
        )


def write(measured: Sequence[Measured]) -> None:
    """Write the page, and the pictures that it shows."""
    PAGE.write_text(page(measured), "utf-8")
    for paper, table in PICTURES:
        if papers_ours.on_table(measured, paper, table).figures:
            place = PAGE.parent / file_name(paper, table)
            place.parent.mkdir(exist_ok=True)
            place.write_text(drawn(paper, table, measured), "utf-8")


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("paper", choices=(*PAPERS, "all"))
    made.add_argument("--data", type=Path, metavar="DIR", help="measure anew, on the data in this folder")
    made.add_argument("--model", action="append", metavar="M", help="as for encheck run; repeatable (default: sbert)")
    made.add_argument("--runs", type=Path, metavar="DIR", help="a folder with results of training runs")
    made.add_argument("--only", default="", metavar="KIND", help="one kind of measurement, such as cells or edits")
    made.add_argument(
        "--compare", action="store_true", help="print what was measured otherwise than recorded; exit 1 then"
    )
    made.add_argument("--record", action="store_true", help="keep what was measured in published/ours.json")
    made.add_argument("--write", action="store_true", help="write papers/docs/reproduction.md from the record")
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure if there are data, keep it if asked, and print the tables."""
    asked = parser()
    args = asked.parse_args(arguments)
    logging.basicConfig(format="%(levelname)s: %(message)s")
    papers = PAPERS if args.paper == "all" else (args.paper,)
    recorded, new = papers_ours.read(), list[Measured]()
    for option in ("model", "only") if args.data is None else ():
        if getattr(args, option):
            asked.error(f"--{option} is for what is measured. Remedy: give --data=DIR too")
    if args.compare and args.data is None and args.runs is None:
        asked.error("--compare has nothing to compare with the record. Remedy: give --data=DIR or --runs=DIR too")
    try:
        for one in _new(args, papers):
            new.append(one)
            if args.record:
                papers_ours.write(papers_ours.merged(recorded, new))
    except EncheckError as error:
        asked.error(str(error))
    if args.compare:
        print(f"compared: {sum(len(one.figures) for one in new)} figures", file=sys.stderr)
        sys.exit("\n".join(papers_ours.differences(recorded, new)) or 0)
    if args.record or args.write:
        write(papers_ours.merged(recorded, new))
        return
    found = papers_ours.beside(recorded, new) if new else recorded
    print(*([summary(found)] if args.paper == "all" else []), *(paper_section(p, found) for p in papers), sep="\n\n")


def _new(args: argparse.Namespace, papers: Sequence[str]) -> Iterator[Measured]:
    if args.data is not None:
        if not args.data.is_dir():
            raise EncheckError(f"--data={args.data}: no such folder")
        has_any = False
        for one in measure(papers, args.data, args.model or ["sbert"], args.only):
            has_any = True
            yield one
        if not has_any:
            raise EncheckError(f"--data={args.data}: holds none of the corpora of these papers")
    if args.runs is not None:
        found = runs_of(args.runs, papers)
        if args.record:
            refuse_loss(papers_ours.read(), found, args.runs)
        yield from found


if __name__ == "__main__":
    main()
