"""Build the embedded probe set from drafts, and hold every group to the rules of the instrument.

Drafts are YAML files DOMAIN.yaml, DOMAIN.new.yaml ...; entries with the same sentence are one group. A value is a full
text, or edits of the sentence: "old > new", several divided by " ; ".

    - sentence: The mayor opened the bridge before the council approved the four booths.
      paraphrase: ...
      rewrite: ...
      hard_negative: ...
      synonym: [opened > inaugurated, approved > endorsed, booths > kiosks]      # level n: the first n of them
      antonym: opened > closed
      control: opened > painted
      reorder: ...                                                              # where the sentence allows
      continuation: ...         # at least 20 words; the loader puts ", and" before it
      number: {kept: four > 4, changed: four > 9, control: four > new}          # and the other phenomena
      context: [seven sentences]                                                # for some: a passage of eight
      place: 3                                                                  # where the sentence stands in it

The builder derives what an author should not have to count: the edited spans, the skeleton (tag
sequence with runs of nouns merged), the split and the id. The skeleton comes from a perceptron tagger
trained on the treebank that is named on the command line.

    python lab/recipes/build_probes.py drafts/*.yaml --treebank DIR --corpus FILE... --out probes.jsonl
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import itertools
import json
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

WORD = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
NEGATORS = {"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "hardly"}
REQUIRED = ("sentence", "paraphrase", "rewrite", "hard_negative", "synonym", "antonym", "control", "continuation")
PHENOMENA = ("negation", "number", "role_reversal", "temporal", "quantifier", "modality", "entity")
OPTIONAL = ("reorder", *PHENOMENA, "context", "place")
SIDES = ("kept", "changed", "control")
KEPT = {"paraphrase", "rewrite", "synonym", "reorder", *(f"{name}_kept" for name in PHENOMENA)}
CANARY = "encheck probes: keep out of training data. canary 7c1f0a52-5e0b-4d0e-9a57-3f6d2f6f1b90"
ROTATIONS = 5  # of the gate part, one is replaced a release
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


def realise(source: str, value: str) -> str:
    """The text that a draft's value stands for: itself, or the source with its edits made."""
    if " > " not in value:
        return value
    found: list[Span] = []
    for edit in value.split(" ; "):
        old, _, new = (part.strip() for part in edit.partition(" > "))
        at = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", source)]
        if len(at) != 1:
            raise ValueError(f"{old!r} occurs {len(at)} times as a word in {source!r}, should occur once")
        found.append((at[0], at[0] + len(old), new))
    found.sort()
    if any(a[1] > b[0] for a, b in itertools.pairwise(found)):
        raise ValueError(f"the edits {value!r} overlap")
    return apply(source, found)


def realised(draft: dict) -> dict:
    """The draft with every value as a full text; synonyms cumulated; ValueError for edits that do not fit."""
    source = draft["sentence"]
    group = {name: value for name, value in draft.items() if value is not None}  # a later draft takes a field away
    group.update({"role_reversal": group.pop("role")} if "role" in group else {})
    for name in ("paraphrase", "rewrite", "hard_negative", "antonym", "control", "reorder"):
        if name in group:
            group[name] = realise(source, group[name])
    edits = group.get("synonym", [])
    if any(" > " in e for e in edits):
        group["synonym"] = [realise(source, " ; ".join(edits[: n + 1])) for n in range(len(edits))]
    for name in PHENOMENA:
        if isinstance(group.get(name), dict):
            group[name] = {side: realise(source, text) for side, text in group[name].items()}
    return group


def gather(paths: Iterable[Path]) -> Iterator[tuple[str, dict]]:
    """(domain, draft) of every sentence, what several files say of it put together."""
    drafts: dict[tuple[str, str], dict] = {}
    for path in paths:
        domain = path.name.partition(".")[0]
        for entry in yaml.safe_load(path.read_text("utf-8")) or []:
            drafts.setdefault((domain, entry["sentence"]), {}).update(entry)
    for (domain, _), draft in drafts.items():
        yield domain, draft


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
    missing = [f for f in REQUIRED if not group.get(f)]
    unknown = sorted(set(group) - {*REQUIRED, *OPTIONAL})
    shapeless = [n for n in PHENOMENA if n in group and set(group[n]) != set(SIDES)]
    if missing or unknown or shapeless:
        yield f"missing {missing}, unknown {unknown}, not {{kept, changed, control}}: {shapeless}"
        return
    yield from _texts(group)
    yield from _overlap(group)
    yield from _slots(group, reference)
    yield from _relations(group)
    for name in PHENOMENA:
        if name in group:
            yield from _triple(group["sentence"], name, group[name], reference)
    yield from _passage(group)


def _triple(source: str, name: str, triple: dict, reference: Reference) -> Iterator[str]:
    counts = {side: len(words(triple[side])) for side in SIDES}
    if len(set(counts.values())) > 1:
        yield f"{name}: the three texts have {counts} words, want the same number"
    moved = {side: _touched(source, triple[side]) for side in SIDES}
    if name not in ("role_reversal", "temporal"):
        for side in ("changed", "control"):
            if not _near(moved["kept"], moved[side]):
                yield f"{name}: {side} edits another place than kept does"
    overlap = {side: jaccard(source, triple[side]) for side in ("kept", "changed")}
    if abs(overlap["kept"] - overlap["changed"]) > 0.15:
        yield f"{name}: Jaccard {overlap['kept']:.2f} kept, {overlap['changed']:.2f} changed; want at most 0.15 apart"
    changed, control = (Counter(words(triple[side])) for side in ("changed", "control"))
    new, old = list((control - changed).elements()), list((changed - control).elements())
    gap = _mean(map(reference.zipf, new)) - _mean(map(reference.zipf, old))
    if abs(gap) > ZIPF_TOLERANCE:
        yield f"{name}: control's {new} against {old} of changed: {gap:+.2f} powers of ten, want {ZIPF_TOLERANCE}"


def _mean(values: Iterable[float]) -> float:
    return statistics.mean([*values] or [0])


def _touched(source: str, text: str) -> tuple[int, int]:
    edits = spans(source, text)
    return (edits[0][0], edits[-1][1]) if edits else (0, 0)


def _near(first: tuple[int, int], second: tuple[int, int], *, slack: int = 16) -> bool:
    return first[0] <= second[1] + slack and second[0] <= first[1] + slack


def _passage(group: dict) -> Iterator[str]:
    context, place = group.get("context"), group.get("place")
    if (context is None) != (place is None):
        yield "context and place come together"
    elif context is not None and (len(context) != 7 or place not in range(8)):
        yield f"context has {len(context)} sentences at place {place}, wants 7 and a place from 0 to 7"


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
    if "reorder" in group and (j := jaccard(source, group["reorder"])) < 0.7:
        yield f"reorder Jaccard {j:.2f}, wants >= 0.70: move words, do not exchange them"


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
        count = {side: sum(map(_negator, words(group["negation"][side]))) for side in SIDES}
        before = sum(map(_negator, words(source)))
        if count["kept"] != before or abs(count["changed"] - before) != 1:
            yield f"negation: {before} negators in the sentence, {count}; wants as many in kept, one off in changed"


def _negator(word: str) -> bool:
    return word in NEGATORS or word.endswith("n't")


def variants(group: dict) -> Iterator[tuple[str, int, str]]:
    """(relation, level, text) of every variant of a drafted group."""
    for name in ("paraphrase", "rewrite", "hard_negative"):
        yield name, 1, group[name]
    for n, text in enumerate(group["synonym"], 1):
        yield "synonym", n, text
    for name in ("antonym", "control", "reorder"):
        if name in group:
            yield name, 1, group[name]
    for name in PHENOMENA:
        if name in group:
            yield f"{name}_kept", 1, group[name]["kept"]
            yield name, 1, group[name]["changed"]
            yield f"{name}_control", 1, group[name]["control"]


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
        elif (phenomenon := relation.removesuffix("_kept").removesuffix("_control")) in PHENOMENA:
            entry["slot"] = phenomenon
        entry |= {"text": text, "edits": [{"start": s, "end": e, "text": t} for s, e, t in edits]}
        lines.append(entry)
    passage = {"passage": {"context": group["context"], "place": group["place"]}} if "context" in group else {}
    split = "dev" if int(digest[8:16], 16) % 4 == 0 else "gate"
    return {
        "id": f"{domain}-{digest[:8]}",
        "domain": domain,
        "split": split,
        "rotation": int(digest[16:24], 16) % ROTATIONS if split == "gate" else None,
        "skeleton": reference.skeleton(source),
        "sentence": source,
        "continuation": group["continuation"],
        **passage,
        "variants": lines,
        "canary": CANARY,
    }


def overview(groups: list[dict], *, balance: bool) -> Iterator[str]:
    """How many groups have what, and what the groups share that they should not."""
    count = Counter((v["relation"], v["level"]) for g in groups for v in g["variants"])
    yield "counts: " + ", ".join(f"{name} {level}: {n}" for (name, level), n in sorted(count.items()))
    negative = sum(any(map(_negator, words(g["sentence"]))) for g in groups if _has(g, "negation"))
    yield f"negation triples with a negative source: {negative}; passages: {sum('passage' in g for g in groups)}"
    for skeleton, n in Counter(g["skeleton"] for g in groups).items():
        if n > 2:
            yield f"{n} groups share the skeleton {skeleton}"
    grams = Counter(gram for g in groups for gram in _grams(g["sentence"]))
    for gram, n in grams.items():
        if n > 2:
            yield f"{n} sentences share {' '.join(gram)!r}"
    if balance:
        yield from _balance(groups)


def _has(group: dict, relation: str) -> bool:
    return any(v["relation"] == relation for v in group["variants"])


def _grams(text: str, *, n: int = 4) -> set[tuple[str, ...]]:
    return set(zip(*(words(text)[i:] for i in range(n)), strict=False))


def _balance(groups: list[dict]) -> Iterator[str]:
    for name in PHENOMENA:
        sides = {"kept": Counter(), "changed": Counter()}
        for group in groups:
            texts = {v["relation"]: set(words(v["text"])) for v in group["variants"]}
            if name in texts:
                kept, changed = texts[f"{name}_kept"], texts[name]
                sides["kept"].update(kept - changed)
                sides["changed"].update(changed - kept)
        lopsided = [
            f"{word} {sides['kept'][word]}:{sides['changed'][word]}"
            for word in sorted({*sides["kept"], *sides["changed"]})
            if abs(sides["kept"][word] - sides["changed"][word]) > 2
        ]
        yield f"{name}, kept:changed of lopsided words: " + ", ".join(lopsided)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("drafts", nargs="+", type=Path)
    parser.add_argument("--treebank", type=Path, required=True, help="folder of UD English EWT")
    parser.add_argument("--corpus", type=Path, nargs="+", required=True, help="plain text for word frequencies")
    parser.add_argument("--cache", type=Path, default=Path(".cache/probes.json"))
    parser.add_argument("--balance", action="store_true", help="words that give kept or changed variants away")
    parser.add_argument("--out", type=Path, help="the probe file; without it the drafts are only checked")
    args = parser.parse_args(argv)
    reference = Reference(args.treebank, args.corpus, args.cache)
    groups, bad, drafts = [], 0, list(gather(args.drafts))
    for domain, draft in drafts:
        try:
            group = realised(draft)
            found = list(problems(group, reference))
        except (ValueError, AttributeError, TypeError, KeyError) as error:
            found = [str(error)]
        bad += bool(found)
        for problem in found:
            print(f"{domain} ({draft['sentence'][:50]}...): {problem}")
        if not found:
            groups.append(compile_group(group, domain=domain, reference=reference))
    for line in overview(groups, balance=args.balance):
        print(line)
    print(f"{len(groups)} groups hold, {bad} do not")
    if args.out and not bad:
        lines = sorted(json.dumps(g, ensure_ascii=False) for g in groups)
        args.out.write_text("".join(line + "\n" for line in lines), "utf-8", newline="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
