"""Build the lexicon from WordNet's database files and a treebank's word counts.

What is kept of WordNet: lemmas (in their case, with the syntactic marker of adjectives), part of speech, order of
senses, tag counts, synonyms, antonyms, similar-to and hypernym links, lexicographer files, verb frames, and the lists
of irregular forms. Glosses and examples are left out. Of the treebank: how often a form bears a part of speech, and a
lemma that WordNet knows does.

    python lab/recipes/build_lexicon.py build --wordnet /usr/share/wordnet --treebank DIR \\
        --out src/encheck/language/lexicon
    python lab/recipes/build_lexicon.py stats
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from encheck.language.lexicon.lexicon import split_into_byte_planes, text_to_bytes

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SS_NUMBER = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
MARKED = re.compile(r"(.*?)(?:\((a|p|ip)\))?$")
MARKS = {None: 0, "a": 1, "p": 2, "ip": 3}
UPOS = {"NOUN": "n", "VERB": "v", "AUX": "v", "ADJ": "a", "ADV": "r"}
UNCOUNTED = {"PROPN", "X", "SYM", "PUNCT", "NUM"}
WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*|n't|'[a-z]+")
LEXICON = Path(__file__).resolve().parents[2] / "src" / "encheck" / "language" / "lexicon" / "lexicon.npz"
Key = tuple[str, int]


@dataclass
class Synset:
    """One line of a data file; `pos` is the file's letter, `kind` tells satellites ("s") apart."""

    pos: str
    offset: int
    kind: str
    lexfile: int
    words: list[str]
    lex_ids: list[int]
    marks: list[int]
    pointers: list[tuple[str, Key, int, int]] = field(default_factory=list)
    frames: list[tuple[int, int]] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.pos, self.offset


def records(file: Path) -> Iterator[list[str]]:
    """The fields of each line before the gloss; the licence at the head is indented."""
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("  "):
            yield line.partition("|")[0].split()


def synset(pos: str, fields: list[str]) -> Synset:
    """Of a data file's line: https://wordnet.princeton.edu/documentation/wndb5wn."""
    size, at = int(fields[3], 16), 4
    words, marks = zip(*(MARKED.fullmatch(w).groups() for w in fields[at : at + 2 * size : 2]), strict=True)
    lex_ids = [int(i, 16) for i in fields[at + 1 : at + 2 * size : 2]]
    made = Synset(pos, int(fields[0]), fields[2], int(fields[1]), list(words), lex_ids, [MARKS[m] for m in marks])
    at += 2 * size
    for i in range(at + 1, at + 1 + 4 * int(fields[at]), 4):
        symbol, offset, other, ends = fields[i : i + 4]
        target = "a" if other == "s" else other, int(offset)
        made.pointers.append((symbol, target, int(ends[:2], 16) - 1, int(ends[2:], 16) - 1))
    at += 1 + 4 * int(fields[at])
    if at < len(fields):
        made.frames = [(int(fields[i + 1]), int(fields[i + 2], 16) - 1) for i in range(at + 1, len(fields), 3)]
    return made


def synsets(folder: Path) -> dict[Key, Synset]:
    every = (synset(pos, f) for pos, name in FILES.items() for f in records(folder / f"data.{name}"))
    return {s.key: s for s in every}


def orders(folder: Path) -> dict[tuple[str, str], list[int]]:
    """(lemma, part of speech) -> offsets of its synsets, in sense order."""
    found = {}
    for pos, name in FILES.items():
        for fields in records(folder / f"index.{name}"):
            found[fields[0], pos] = [int(o) for o in fields[-int(fields[2]) :]]
    return found


def tag_counts(folder: Path) -> dict[str, int]:
    lines = (line.split() for line in (folder / "cntlist.rev").read_text("utf-8").splitlines())
    return {key: int(count) for key, _, count in lines}


def sense_keys(s: Synset, every: dict[Key, Synset]) -> Iterator[str]:
    """As in https://wordnet.princeton.edu/documentation/senseidx5wn."""
    head = ":"
    if s.kind == "s":
        first = every[next(target for symbol, target, _, _ in s.pointers if symbol == "&")]
        head = f"{first.words[0]}:{first.lex_ids[0]:02d}"
    for word, lex_id in zip(s.words, s.lex_ids, strict=True):
        yield f"{word}%{SS_NUMBER[s.kind]}:{s.lexfile:02d}:{lex_id:02d}:{head}".lower()


def framesets(ordered: list[Synset]) -> tuple[np.ndarray, list[list[int]]]:
    """For each word its number in the list of distinct sets of verb frames, and that list."""
    known: dict[tuple[int, ...], int] = {(): 0}
    which = []
    for s in ordered:
        for i in range(len(s.words)):
            frames = tuple(sorted({f for f, word in s.frames if word in (-1, i)}))
            which.append(known.setdefault(frames, len(known)))
    return np.array(which, np.uint16), [list(k) for k in known]


def links(ordered: list[Synset], place: dict[Key, int], symbol: str, kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """(sources, targets) of the links between synsets with this symbol, from synsets of these kinds."""
    pairs = [(place[s.key], place[p[1]]) for s in ordered if s.kind in kinds for p in s.pointers if p[0] == symbol]
    sources, targets = np.array(pairs, np.int64).T
    return sources, targets


def wordnet_arrays(folder: Path) -> tuple[dict[str, np.ndarray], list[list[int]]]:
    every, order, counted = synsets(folder), orders(folder), tag_counts(folder)
    names = sorted({w for s in every.values() for w in s.words}, key=lambda w: (w.lower(), w))
    name_id = {w: i for i, w in enumerate(names)}
    ordered = sorted(every.values(), key=lambda s: ("nvar".index(s.pos), name_id[s.words[0]], s.offset))
    place = {s.key: i for i, s in enumerate(ordered)}
    rows = np.cumsum([0, *(len(s.words) for s in ordered)])
    ranks = [order[w.lower(), s.pos].index(s.offset) for s in ordered for w in s.words]
    counts = [counted.get(key, 0) for s in ordered for key in sense_keys(s, every)]
    opposed = [
        (rows[place[s.key]] + p[2], rows[place[p[1]]] + p[3]) for s in ordered for p in s.pointers if p[0] == "!"
    ]
    which, sets = framesets(ordered)
    arrays = {
        "names": text_to_bytes("\n".join(names)),
        "lowered_anew": np.array([a != b for a, b in itertools.pairwise(["", *map(str.lower, names)])], np.uint8),
        "kinds": text_to_bytes("".join(s.kind for s in ordered)),
        "lexfiles": np.array([s.lexfile for s in ordered], np.uint8),
        "sizes": np.array([len(s.words) for s in ordered], np.uint8),
        "members": split_into_byte_planes([name_id[w] for s in ordered for w in s.words]),
        "ranks": np.array(ranks, np.uint8),
        "counts": split_into_byte_planes(counts),
        "marks": np.array([m for s in ordered for m in s.marks], np.uint8),
        "antonyms": split_into_byte_planes(np.array(opposed).T.ravel()),
        "frames": split_into_byte_planes(which),
        "exceptions": text_to_bytes(exceptions(folder)),
    }
    for name, symbol, kinds in (("similar", "&", "s"), ("hypernyms", "@", "nv"), ("instances", "@i", "n")):
        sources, targets = links(ordered, place, symbol, kinds)
        arrays[name] = split_into_byte_planes([*np.diff(sources, prepend=0), *targets])
    return arrays, sets


def exceptions(folder: Path) -> str:
    """Lines "pos form base base...", as the .exc files have them."""
    files = ((pos, (folder / f"{name}.exc").read_text("utf-8").splitlines()) for pos, name in FILES.items())
    return "\n".join(f"{pos} {' '.join(line.split())}" for pos, lines in files for line in lines if line.strip())


def treebank_rows(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(form, lemma, UPOS) of the words of the train part, lower-cased, misspelt words apart."""
    for line in (folder / "en_ewt-ud-train.conllu").read_text("utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 10 and fields[0].isdigit() and "Typo=Yes" not in fields[5]:
            yield fields[1].lower(), fields[2].lower(), fields[3]


def treebank_texts(folder: Path, lemmas: set[tuple[str, str]]) -> tuple[dict[str, str], int]:
    """Counts of forms ("form UPOS count") and of WordNet's lemmas ("lemma pos count"), and the number of words.

    Names, numbers and whatever is no word in letters is not listed: only their number counts.
    """
    forms: Counter[tuple[str, str]] = Counter()
    bases: Counter[tuple[str, str]] = Counter()
    total = 0
    for form, lemma, upos in treebank_rows(folder):
        total += upos not in ("PUNCT", "SYM", "X")
        if upos not in UNCOUNTED and WORD.fullmatch(form):
            forms[form, upos] += 1
            if (lemma, UPOS.get(upos, "")) in lemmas:
                bases[lemma, UPOS[upos]] += 1
    return {"forms": nested(forms), "lemmas": nested(bases)}, total


def nested(counts: Counter[tuple[str, str]]) -> str:
    """A line for each word: the word, then each of its classes with its count."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for (word, kind), n in sorted(counts.items()):
        lines[word] += [kind, str(n)]
    return "\n".join(f"{word} {' '.join(rest)}" for word, rest in lines.items())


def build(wordnet: Path, treebank: Path, out: Path) -> None:
    arrays, sets = wordnet_arrays(wordnet)
    texts, total = treebank_texts(treebank, set(orders(wordnet)))
    meta = {
        "format": 1,
        "release": release(wordnet),
        "treebank": "UD English EWT, train",
        "treebank_words": total,
        "tagged": sum(tag_counts(wordnet).values()),
        "framesets": sets,
    }
    arrays |= {name: text_to_bytes(text) for name, text in texts.items()} | {"meta": text_to_bytes(json.dumps(meta))}
    np.savez_compressed(out / "lexicon.npz", **dict(sorted(arrays.items())))
    notice = licence(wordnet)
    (out / "WORDNET-LICENCE.txt").write_text(notice, "utf-8")


def head(wordnet: Path) -> list[str]:
    """The licence that every database file opens with, without its line numbers."""
    lines = (wordnet / "data.adj").read_text("utf-8").splitlines()
    return [re.sub(r"^  +\d+ ?", "", line).rstrip() for line in lines if line.startswith("  ")]


def release(wordnet: Path) -> str:
    return next(m.group() for line in head(wordnet) if (m := re.match(r"WordNet \d\.\d", line)))


def licence(wordnet: Path) -> str:
    """WordNet's licence, and what was done with it."""
    about = (
        f"lexicon.npz is derived from {release(wordnet)} by lab/recipes/build_lexicon.py: glosses, examples and most"
    )
    rest = "links are left out, and word counts of the treebank UD English EWT (CC BY-SA 4.0) are added. Its licence:"
    return "\n".join([about, rest, "", *head(wordnet), ""])


PROBE = """
import json, resource, sys, time
import encheck.language.lexicon.load as module, encheck.language.lexicon.lexicon
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
lexicon = module.load_lexicon()
opened = time.perf_counter() - started
held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
words = [(lemma, pos) for pos in "nvar" for lemma in lexicon.lemmas(pos)]
def rate(task):
    started = time.perf_counter()
    for lemma, pos in task:
        senses = lexicon.senses(lemma, pos)
        lexicon.antonyms(lemma, pos, senses[0])
        lexicon.lemma_frequency(lemma, pos)
    return round(len(task) / (time.perf_counter() - started))
first, again = rate(words[::10]), rate(words[::10])
rate(words)
whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps(dict(open_ms=round(opened * 1000), words=len(words), first_per_s=first, again_per_s=again,
    opened_mb=held // 1024, every_word_asked_mb=whole // 1024)))
"""


def stats() -> None:
    """Sizes, and time and memory in a process of its own; one lookup is senses, antonyms, synonyms and frequency."""
    file = LEXICON
    with zipfile.ZipFile(file) as archive:
        parts = {i.filename.removesuffix(".npy"): i.compress_size for i in archive.infolist()}
    print(f"{file.name}: {file.stat().st_size:,} bytes", dict(sorted(parts.items(), key=lambda p: -p[1])))
    opened = []
    for _ in range(5):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
        opened.append(json.loads(done.stdout) | {"process_s": round(time.perf_counter() - started, 2)})
    for name in opened[0]:
        print(f"{name}: {sorted(o[name] for o in opened)[2]} (median of 5; {sorted(o[name] for o in opened)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    build_options = commands.add_parser("build")
    for name in ("wordnet", "treebank", "out"):
        build_options.add_argument(f"--{name}", type=Path, required=True)
    commands.add_parser("stats")
    options = parser.parse_args()
    if options.command == "stats":
        stats()
    else:
        build(options.wordnet, options.treebank, options.out)


if __name__ == "__main__":
    main()
