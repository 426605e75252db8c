"""Build the table of inflected forms: LemmInflect's word list, each form held against other witnesses.

A form is taken where WordNet's list of irregular forms has it, the treebank has it with that lemma and tag, or it
follows a regular pattern that fits. The first spelling of LemmInflect's stands, unless the treebank has another at
least twice and that one never. Only what src/encheck/language/edits/inflection.py would not give is written.

    python lab/recipes/build_inflections.py build --treebank DIR --out src/encheck/language/edits/inflections.tsv
    python lab/recipes/build_inflections.py rejected --treebank DIR
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from encheck.language.edits.inflection import (
    AUXILIARIES,
    BASE,
    CLOSED,
    COLUMNS,
    ENDINGS,
    REFUSED,
    WORD,
    add_suffix,
    inflect_by_rule,
    list_possible_forms,
    takes_er,
)
from encheck.language.lexicon.lexicon import PARTS, Lexicon, Pos
from encheck.language.lexicon.load import load_lexicon

CATEGORIES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
UNCHANGED = ("bid", "broadcast", "forecast", "quit", "shit", "sublet")
# What the witnesses have wrong or cannot tell, by hand.
FIXED = {
    ("person", "NNS"): "people",
    ("program", "VBD"): "programmed",
    ("program", "VBG"): "programming",
    ("lie", "VBD"): REFUSED,  # lay or lied: the sense decides
    ("lie", "VBN"): REFUSED,
    ("stink", "VBD"): "stank",
    ("money", "NNS"): REFUSED,
    ("fish", "NNS"): "fish",
    ("staff", "NNS"): "staff",
    **{(noun, "NNS"): noun for noun in ("aircraft", "spacecraft", "hovercraft", "moose", "swine")},
    ("get", "VBN"): "got",
    ("prove", "VBN"): "proven",
    ("shear", "VBN"): "sheared",
    ("shave", "VBN"): "shaved",
    ("thrive", "VBN"): "thrived",
    ("wake", "VBN"): "woken",
    ("spit", "VBN"): "spat",
    ("beef", "NNS"): REFUSED,
    ("bacteria", "NN"): REFUSED,
    ("bacteria", "NNS"): "bacteria",
    ("cola", "NN"): "cola",
    ("cola", "NNS"): "colas",
    ("cattle", "NN"): REFUSED,
    ("offspring", "NNS"): "offspring",
    ("taxis", "NNS"): REFUSED,
    ("cyclops", "NNS"): REFUSED,
    **{(verb, tag): verb for verb in UNCHANGED for tag in ("VBD", "VBN")},
    **{(verb, "VBN"): verb for verb in ("run", "outrun", "rerun")},
    ("strike", "VBN"): "struck",
    ("far", "JJR"): "farther",
    ("far", "JJS"): "farthest",
    ("far", "RBR"): "further",
    ("far", "RBS"): "furthest",
    ("early", "JJR"): "earlier",
    ("early", "JJS"): "earliest",
    ("well", "JJS"): "best",
    ("late", "RBS"): "latest",
    ("bad", "RBR"): REFUSED,
    ("bad", "RBS"): REFUSED,
}
# British base forms: LemmInflect gives "enroled".
DOUBLED = frozenset("appal distil enrol enthral fulfil instal instil".split())
PREFIX = re.compile(r"(?:over|under|out|re|fore|mis|un|up|with|off|pre|inter|proof|type|down|by|cross|broad|in)(?=..)")
# Lexicographer's files of nouns that are counted: acts, animals, artefacts, bodies, communication, events, groups ...
COUNTED = frozenset({3, 4, 5, 6, 8, 10, 11, 14, 15, 17, 18, 20, 23, 28})
MASS = re.compile(r"(?:ness|ism|ity|hood|ship|ics)$")
NEVER_COUNTED = re.compile(r"(?:ness|ism|ware)$")
SEEN_OFTEN = 8
# Not compared with -er although they are short, or compared with a form of another word.
NOT_COMPARED = frozenset(
    """
    dead wrong ill right real fun fake whole square prime main sole worth like alike bust cross daily due dual false
    left live next just past shut spare still stark such sure top utter
    very only half much little many few less more most least numb tan void choice game base mere able prone fain wee
    loyal bitter tender slender sober purple gluey drunk flip queer
    """.split()
)
Treebank = dict[tuple[str, str], Counter[str]]


def treebank(folder: Path) -> Treebank:
    """(lemma, Penn tag) -> forms in letters, without misspellings, abbreviations and foreign words."""
    found: Treebank = defaultdict(Counter)
    for line in (folder / "en_ewt-ud-train.conllu").read_text("utf-8").splitlines():
        fields = line.split("\t")
        word = len(fields) == 10 and fields[0].isdigit() and fields[1].isalpha()
        if word and not any(mark in fields[5] for mark in ("Typo=", "Abbr=", "Foreign=")):
            found[fields[2].lower(), fields[4]][fields[1].lower()] += 1
    return dict(found)


def word_list() -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    """LemmInflect's list: (lemma, part of speech) -> tag -> spellings; its guesses for other words are not asked."""
    import gzip

    from lemminflect import config
    from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec

    letters = {name: pos for pos, name in CATEGORIES.items()}
    found = {}
    with gzip.open(config.inflection_lu_fn, "rt", encoding="utf-8") as file:
        for line in file:
            word, category, forms = InflectionLUCodec.fromString(line)
            if category in letters:
                found[word, letters[category]] = forms
    return found


class Judge:
    """Decides each form, and keeps count of why."""

    def __init__(self, lex: Lexicon, bank: Treebank) -> None:
        self.lex, self.bank, self.listed = lex, bank, word_list()
        self.rejected: list[tuple[str, str, str]] = []

    def attested(self, form: str, lemma: str, pos: Pos, tag: str) -> bool:
        seen = form in self.bank.get((lemma, tag), {})
        listed = seen or lemma in self.lex.bases_of_irregular_form(form, pos) or form in list_possible_forms(lemma, tag)
        return listed or (pos == "v" and self.inherited(form, lemma, tag))

    def inherited(self, form: str, lemma: str, tag: str) -> bool:
        """Whether lemma and form are those of another verb behind the same prefix: overeat, overate."""
        prefix = PREFIX.match(lemma)
        rest = lemma[prefix.end() :] if prefix else ""
        return bool(prefix and self.lex.senses(rest, "v")) and form == prefix.group() + (
            self.form(rest, "v", tag) or ""
        )

    def form(self, lemma: str, pos: Pos, tag: str) -> str | None:
        """The form to use; None where it is refused."""
        if (lemma, tag) in FIXED:
            fixed = FIXED[lemma, tag]
            return None if fixed == REFUSED else fixed
        if tag in BASE:
            return self.base(lemma, pos)
        if pos == "n" and self.base(lemma, pos) is None:
            return lemma
        if pos in "ar" and (lemma in NOT_COMPARED or self.base(lemma, pos) is None):
            return None
        if pos == "v" and lemma in DOUBLED and tag != "VBZ":
            return lemma + lemma[-1] + ENDINGS[tag]
        return self.chosen(lemma, pos, tag)

    def chosen(self, lemma: str, pos: Pos, tag: str) -> str | None:
        """The best attested spelling."""
        spellings = self.spellings(lemma, pos, tag)
        good = [s for s in spellings if self.attested(s, lemma, pos, tag)]
        self.rejected += [(lemma, tag, s) for s in spellings if s not in good]
        seen = self.bank.get((lemma, tag), Counter())
        known = [
            s for s, n in seen.most_common() if n >= 2 and (s in spellings or s in list_possible_forms(lemma, tag))
        ]
        if known and (not good or good[0] not in seen):
            return known[0]
        if pos == "n" and (self.uncountable(lemma) or self.gerund(lemma)):
            return None
        if good:
            return self.matched(good, lemma, tag)
        if pos in "ar" and spellings and takes_er(lemma):  # "freeer" says that there is a form, and not which
            return add_suffix(lemma, ENDINGS[tag])
        return inflect_by_rule(lemma, tag) if pos == "n" or (lemma, pos) not in self.listed else None

    def matched(self, good: list[str], lemma: str, tag: str) -> str:
        """The first spelling; of a regular verb the one that doubles as its past does."""
        regular_enough = good[0] in list_possible_forms(lemma, tag) or (tag == "VBN" and not good[0].endswith("n"))
        if tag not in ("VBN", "VBG") or not regular_enough:
            return good[0]
        past = self.form(lemma, "v", "VBD")
        if past is None or past not in list_possible_forms(lemma, "VBD") - {lemma}:
            return good[0]
        if tag == "VBN":
            return past
        same = lemma + lemma[-1] + "ing" if past == lemma + lemma[-1] + "ed" else add_suffix(lemma, "ing")
        return same if CLOSED.search(lemma) else good[0]

    def base(self, lemma: str, pos: Pos) -> str | None:
        """The lemma itself, unless it is a comparative or a plural."""
        if pos == "n":
            plain = self.bank.get((lemma, "NN"), Counter())[lemma]
            plural = self.bank.get((lemma, "NNS"), Counter())[lemma] > plain
            return None if plural or (not plain and self.plural_of_another(lemma)) else lemma
        degrees = [t for t in ("JJR", "JJS", "RBR", "RBS") if self.bank.get((lemma, t), Counter())[lemma]]
        other = [b for b in self.lex.bases_of_irregular_form(lemma, pos) if b != lemma and self.lex.senses(b, pos)]
        return None if pos in "ar" and (degrees or other) else lemma

    def plural_of_another(self, lemma: str) -> bool:
        """Arms, men: lemmas of their own that are the plural of another noun."""
        others = [b for b in self.lex.base_forms(lemma, "n") if b != lemma and len(b) > 2]
        return not lemma.endswith("ss") and any(self.lex.lemma_count(b, "n") for b in others)

    def spellings(self, lemma: str, pos: Pos, tag: str) -> tuple[str, ...]:
        forms = self.listed.get((lemma, pos), {})
        return forms.get(tag) or (forms.get("VBD", ()) if tag == "VBN" else ())  # one column stands for both

    def uncountable(self, lemma: str) -> bool:
        """Listed with itself for a plural, of a class that is not counted or seen often, and never in the plural."""
        if lemma not in self.spellings(lemma, "n", "NNS") or (lemma, "NNS") in self.bank:
            return False
        often = self.bank.get((lemma, "NN"), Counter())[lemma] >= SEEN_OFTEN
        return often or bool(MASS.search(lemma)) or self.lex.senses(lemma, "n")[0].lexfile not in COUNTED

    def gerund(self, lemma: str) -> bool:
        """An -ing of a verb, or another noun that is not counted, of which the treebank has no plural."""
        verbal = lemma.endswith("ing") and any(b != lemma for b in self.lex.base_forms(lemma, "v"))
        return (verbal or bool(NEVER_COUNTED.search(lemma))) and (lemma, "NNS") not in self.bank

    def line(self, lemma: str, pos: Pos) -> str | None:
        """A line of the table, if the rules would not give the same."""
        cells = []
        for tag in COLUMNS[pos]:
            form, ruled = self.form(lemma, pos, tag), lemma if tag in BASE else inflect_by_rule(lemma, tag)
            cells.append("" if form == ruled else form or REFUSED)
        return "\t".join([pos, lemma, *cells]) if any(cells) else None


def lines(judge: Judge) -> Iterator[str]:
    yield "# Made by lab/recipes/build_inflections.py from LemmInflect's word list (MIT), WordNet and UD English EWT."
    for pos in PARTS:
        words = (w for w in judge.lex.lemmas(pos) if WORD.fullmatch(w) and not (pos == "v" and w in AUXILIARIES))
        yield from filter(None, (judge.line(lemma, pos) for lemma in words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("build", "rejected"))
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    judge = Judge(load_lexicon(), treebank(options.treebank))
    made = list(lines(judge))
    if options.command == "build":
        options.out.write_text("\n".join(made) + "\n", "utf-8", newline="\n")
    else:
        print("\n".join(" ".join(r) for r in judge.rejected))


if __name__ == "__main__":
    main()
