"""Build the table of substitutes from what was judged, word by word.

    python recipes/build_substitutes.py --judged n.tsv v.tsv a.tsv r.tsv --seen n.seen v.seen ... --out substitutes.tsv

A judged file is named after its part of speech; a line has lemma, s (synonym) or a (antonym), replacement, flags
(encheck.language.conditions says what each asks for). A seen file lists the lemmas that were looked at: one without a
line is written down as having none, so that no rule stands in for a judgement.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from encheck.language.conditions import condition
from encheck.language.lexicon import lexicon

HEAD = """# Which word can stand for which: part of speech, lemma, s (synonym) or a (antonym), replacement, conditions.
# "-" in the third column: judged to have none. Written for encheck (docs/generators.md); Apache-2.0.
"""


def rows(path: Path) -> list[tuple[str, str, str, str, str]]:
    """The judged lines of a file, checked; SystemExit names a wrong one."""
    pos, known, found = path.name[0], lexicon(), []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        lemma, relation, other, flags = line.split("\t")
        try:
            asked = [condition(flag) for flag in flags.split(",") if flag != "-"]
        except (ValueError, KeyError) as error:
            raise SystemExit(f"{path}:{number}: {error}") from error
        if relation not in ("s", "a"):
            raise SystemExit(f"{path}:{number}: relation {relation!r} with {len(asked)} conditions")
        if other.isalpha() and lemma != other and (pos == "r" or known.senses(other, pos)):
            found.append((pos, lemma, relation, other, flags))
    return list(dict.fromkeys(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judged", nargs="+", type=Path, required=True)
    parser.add_argument("--seen", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    judged = [row for path in args.judged for row in rows(path)]
    have = {(row[0], row[1]) for row in judged}
    seen = {(path.name[0], line.split("\t")[0]) for path in args.seen for line in path.read_text("utf-8").splitlines()}
    none = [(pos, lemma, "-", "-", "-") for pos, lemma in seen - have]
    order = sorted([*judged, *none], key=lambda row: (row[0], row[1]))  # stable: the best first, as judged
    args.out.write_text(HEAD + "".join("\t".join(row) + "\n" for row in order), "utf-8", newline="\n")
    print(f"{len(judged)} substitutes of {len(have)} lemmas, {len(none)} lemmas without")


if __name__ == "__main__":
    main()
