"""Build the embedded probe set from drafts, and hold every group to the rules of the instrument.

A draft is a YAML file named after its domain that lists groups in the fields an author thinks in:

    - sentence: The mayor opened the new bridge on Monday.
      paraphrase: ...
      rewrite: ...
      hard_negative: ...
      synonym: [one word changed, two words changed, three words changed]
      antonym: ...
      control: ...
      reorder: ...          # where the sentence allows
      role_reversal: ...    # where the sentence allows
      negation: ...         # where the sentence allows
      number: ...           # where the sentence allows
      continuation: ...     # at least 20 words; the loader puts ", and " before it

The builder derives what an author should not have to count: the edited spans, the skeleton (tag
sequence with runs of nouns merged), the split and the id. The skeleton comes from a perceptron tagger
trained on the treebank that is named on the command line.

    python recipes/build_probes.py drafts/*.yaml --treebank DIR --corpus FILE... --out probes.jsonl
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import itertools
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

WORD = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
NEGATORS = {"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "hardly"}
REQUIRED = ("sentence", "paraphrase", "rewrite", "hard_negative", "synonym", "antonym", "control", "continuation")
OPTIONAL = ("reorder", "role_reversal", "negation", "number")
KEPT = {"paraphrase", "rewrite", "synonym", "reorder"}
ZIPF_TOLERANCE = 1.0
Span = tuple[int, int, str]


def tokens(text: str) -> list[tuple[str, int, int]]:
    """Words and punctuation marks with their character offsets."""
    return [(m.group(), m.start(), m.end()) for m in WORD.finditer(text)]


def words(text: str) -> list[str]:
    return [t.lower() for t, _, _ in tokens(text) if t[0].isalnum()]


def jaccard(first: str, second: str) -> float:
    a, b = set(words(first)), set(words(second))
    return len(a & b) / len(a | b)


def spans(source: str, variant: str) -> list[Span]:
    """The edits (start, end, replacement) that turn `source` into `variant`, in whole words."""
    a, b = (re.findall(WORD.pattern + r"|\s+", text) for text in (source, variant))
    at = [0, *itertools.accumulate(map(len, a))]
    edits: list[Span] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        start, end, text = at[i1], at[i2], "".join(b[j1:j2])
        if edits and source[edits[-1][1] : start].isspace():  # one blank apart: one edit
            before = edits.pop()
            start, text = before[0], before[2] + source[before[1] : start] + text
        edits.append((start, end, text))
    return edits


def apply(source: str, edits: Iterable[Span]) -> str:
    out, at = [], 0
    for start, end, text in edits:
        out += [source[at:start], text]
        at = end
    return "".join([*out, source[at:]])


def replaced(source: str, variant: str) -> dict[int, tuple[str, str]] | None:
    """Token position -> (old, new) for a word-for-word edit; None for any other; a / an is not counted."""
    a, b = [t for t, _, _ in tokens(source)], [t for t, _, _ in tokens(variant)]
    if len(a) != len(b):
        return None
    pairs = {i: (x, y) for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y}
    return {i: p for i, p in pairs.items() if {p[0].lower(), p[1].lower()} != {"a", "an"}}


class Reference:
    """Tags from a perceptron tagger trained on a treebank, and Zipf frequencies from plain text."""

    def __init__(self, treebank: Path, corpus: list[Path], cache: Path) -> None:
        from nltk.tag.perceptron import PerceptronTagger

        if not cache.exists():
            cache.parent.mkdir(parents=True, exist_ok=True)
            cache.write_text(json.dumps(_train(treebank) | {"counts": _count(corpus)}), "utf-8")
        learnt = json.loads(cache.read_text("utf-8"))
        self.tagger = PerceptronTagger(load=False)
        self.tagger.model.weights = learnt["weights"]
        self.tagger.tagdict = learnt["tagdict"]
        self.tagger.classes = self.tagger.model.classes = set(learnt["classes"])
        self.counts, self.total = Counter(learnt["counts"]), sum(learnt["counts"].values())

    def tags(self, text: str) -> list[str]:
        return [tag for _, tag in self.tagger.tag([t for t, _, _ in tokens(text)])]

    def zipf(self, word: str) -> float:
        return math.log10((self.counts[word.lower()] + 1) / (self.total + 1) * 1e9)

    def skeleton(self, text: str) -> str:
        merged: list[str] = []
        for tag in self.tags(text):
            tag = "NN" if tag.startswith("NN") else tag
            if not (tag == "NN" and merged and merged[-1] == "NN"):
                merged.append(tag)
        return " ".join(merged)


def _train(treebank: Path) -> dict:
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger(load=False)
    tagger.train(list(_treebank(treebank)), nr_iter=5)
    return {"weights": tagger.model.weights, "tagdict": tagger.tagdict, "classes": sorted(tagger.classes)}


def _count(corpus: list[Path]) -> Counter[str]:
    return Counter(w for f in corpus for w in words(f.read_text("utf-8", errors="replace")))


def _treebank(folder: Path) -> Iterator[list[tuple[str, str]]]:
    for block in (folder / "en_ewt-ud-train.conllu").read_text("utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
        sentence = [(r[1], r[4]) for r in rows if r[0].isdigit()]
        if sentence:
            yield sentence


def problems(group: dict, reference: Reference) -> Iterator[str]:
    """What is wrong with one drafted group, in words its author can act on."""
    missing = [f for f in (*REQUIRED, *OPTIONAL) if not group.get(f, f in OPTIONAL)]
    unknown = sorted(set(group) - {*REQUIRED, *OPTIONAL})
    if missing or unknown:
        yield f"missing {missing}, unknown {unknown}"
        return
    yield from _texts(group)
    yield from _overlap(group)
    yield from _slots(group, reference)
    yield from _relations(group)


def _texts(group: dict) -> Iterator[str]:
    source = group["sentence"]
    if not 6 <= len(words(source)) <= 30:
        yield f"sentence has {len(words(source))} words, wants 6 to 30"
    if len(words(group["continuation"])) < 20:
        yield f"continuation has {len(words(group['continuation']))} words, wants 20"
    if len(group["synonym"]) not in (1, 2, 3):
        yield "synonym wants one to three texts (one, two, three words changed)"
    for name, _, text in variants(group):
        if text == source:
            yield f"{name} equals the sentence"
        if text[-1:] != source[-1] or text != text.strip() or "  " in text:
            yield f"{name}: end it as the sentence ends, single blanks: {text!r}"
        if not text.isascii():
            yield f"{name}: plain ASCII quotes and dashes only"
    texts = [text for _, _, text in variants(group)]
    for text in {t for t in texts if texts.count(t) > 1}:
        yield f"the same text stands twice: {text!r}"


def _overlap(group: dict) -> Iterator[str]:
    source = group["sentence"]
    if (j := jaccard(source, group["rewrite"])) > 0.35:
        shared = sorted(set(words(source)) & set(words(group["rewrite"])))
        yield f"rewrite Jaccard {j:.2f}, wants <= 0.35; shared {shared}"
    if (j := jaccard(source, group["hard_negative"])) < 0.6:
        yield f"hard_negative Jaccard {j:.2f}, wants >= 0.60"
    if (j := jaccard(source, group["paraphrase"])) > 0.85:
        yield f"paraphrase Jaccard {j:.2f}: hardly a paraphrase, wants <= 0.85"
    for name in ("reorder", "role_reversal"):
        if name in group and (j := jaccard(source, group[name])) < 0.7:
            yield f"{name} Jaccard {j:.2f}, wants >= 0.70: move words, do not exchange them"


def _slots(group: dict, reference: Reference) -> Iterator[str]:
    source, previous = group["sentence"], set()
    for n, text in enumerate(group["synonym"], 1):
        edit = replaced(source, text)
        if edit is None or len(edit) != n:
            yield f"synonym {n} changes {edit}, wants exactly {n} word(s), one for one"
            return
        if not previous <= {(i, *p) for i, p in edit.items()}:
            yield f"synonym {n} must keep the edits of synonym {n - 1}"
        previous = {(i, *p) for i, p in edit.items()}
    slot = replaced(source, group["synonym"][0])
    for name in ("antonym", "control"):
        edit = replaced(source, group[name])
        if edit is None or set(edit) != set(slot):
            yield f"{name} changes {edit}, wants exactly the word of synonym 1 ({slot}), one for one"
            return
    yield from _control(group, next(iter(slot)), reference)


def _control(group: dict, at: int, reference: Reference) -> Iterator[str]:
    new = {
        n: replaced(group["sentence"], t)[at][1]
        for n, t in (("antonym", group["antonym"]), ("control", group["control"]))
    }
    tag = {n: reference.tags(t)[at] for n, t in (("sentence", group["sentence"]), ("control", group["control"]))}
    if tag["sentence"] != tag["control"]:
        yield f"control {new['control']!r} is tagged {tag['control']}, the slot is {tag['sentence']}"
    gap = reference.zipf(new["control"]) - reference.zipf(new["antonym"])
    if abs(gap) > ZIPF_TOLERANCE:
        yield (
            f"control {new['control']!r} is {'more' if gap > 0 else 'less'} frequent than antonym {new['antonym']!r} "
            f"by {abs(gap):.2f} powers of ten, wants at most {ZIPF_TOLERANCE}"
        )


def _relations(group: dict) -> Iterator[str]:
    source = group["sentence"]
    if "negation" in group:
        change = Counter(map(_negator, words(group["negation"])))[True] - Counter(map(_negator, words(source)))[True]
        if abs(change) != 1:
            yield "negation adds or takes away exactly one negator"
    if "number" in group:
        edit = replaced(source, group["number"])
        if not edit or len(edit) != 1:
            yield f"number changes {edit}, wants exactly one number, one for one"
    if "role_reversal" in group and words(group["role_reversal"]) == words(source):
        yield "role_reversal does not move anything"


def _negator(word: str) -> bool:
    return word in NEGATORS or word.endswith("n't")


def variants(group: dict) -> Iterator[tuple[str, int, str]]:
    """(relation, level, text) of every variant of a drafted group."""
    for name in ("paraphrase", "rewrite", "hard_negative"):
        yield name, 1, group[name]
    for n, text in enumerate(group["synonym"], 1):
        yield "synonym", n, text
    for name in ("antonym", "control", *OPTIONAL):
        if name in group:
            yield name, 1, group[name]


def compile_group(group: dict, *, domain: str, reference: Reference) -> dict:
    """One line of the probe file. Field order is the reading order."""
    source = group["sentence"]
    digest = hashlib.sha256(source.encode()).hexdigest()
    lines = []
    for relation, level, text in variants(group):
        edits = spans(source, text)
        assert apply(source, edits) == text, (source, text, edits)
        entry = {"relation": relation, "level": level, "meaning": "kept" if relation in KEPT else "changed"}
        if relation in ("synonym", "antonym", "control") and level == 1:
            entry["slot"] = "w"
        entry |= {"text": text, "edits": [{"start": s, "end": e, "text": t} for s, e, t in edits]}
        lines.append(entry)
    return {
        "id": f"{domain}-{digest[:8]}",
        "domain": domain,
        "split": "dev" if int(digest[8:16], 16) % 4 == 0 else "gate",
        "skeleton": reference.skeleton(source),
        "sentence": source,
        "continuation": group["continuation"],
        "variants": lines,
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("drafts", nargs="+", type=Path)
    parser.add_argument("--treebank", type=Path, required=True, help="folder of UD English EWT")
    parser.add_argument("--corpus", type=Path, nargs="+", required=True, help="plain text for word frequencies")
    parser.add_argument("--cache", type=Path, default=Path(".cache/probes.json"))
    parser.add_argument("--out", type=Path, help="the probe file; without it the drafts are only checked")
    args = parser.parse_args(argv)
    reference = Reference(args.treebank, args.corpus, args.cache)
    groups, bad = [], 0
    for path in args.drafts:
        for number, group in enumerate(yaml.safe_load(path.read_text("utf-8")), 1):
            found = list(problems(group, reference))
            bad += bool(found)
            for problem in found:
                print(f"{path.name} group {number} ({str(group.get('sentence'))[:40]}...): {problem}")
            if not found:
                groups.append(compile_group(group, domain=path.stem, reference=reference))
    print(f"{len(groups)} groups hold, {bad} do not")
    if args.out and not bad:
        lines = sorted(json.dumps(g, ensure_ascii=False) for g in groups)
        args.out.write_text("".join(line + "\n" for line in lines), "utf-8", newline="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
