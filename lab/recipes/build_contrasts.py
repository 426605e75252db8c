"""Build the crossed groups of the embedded probes from lines, and put them beside the base groups.

A line is a group: its register, and a text whose alternatives stand in brackets. What stands outside is shared.

    product # The pump weighs [1.5 kg|1,500 g|2.5 kg|2,500 g|very little] without its battery.
    news | greeting | passive # [Ann saw Bob|Bob was seen by Ann|Bob saw Ann|Ann was seen by Bob|Eve left].

There are five alternatives: a sentence, what restates it, another sentence, what restates that, a control. Which of the
two sentences is the source is drawn by the hash of the line. A control that is "-" is none. The phenomenon is the
file's name less a letter at its end (number_a.txt). A register may be followed by a frame, which is the group's
cluster, and by a construction. Groups of a line without a frame are clustered by their tags, for which the treebank is
needed.

    python lab/recipes/build_contrasts.py written/*.txt --base probes.jsonl --replace --out probes.jsonl
    python lab/recipes/build_contrasts.py written/*.txt --base base.jsonl --treebank DIR --cache FILE --out probes.jsonl

With `--replace` the groups of the base that have nothing but these phenomena make room for those of the lines. Lines
that were made of an edition are taken `--as-written`: their first sentence is the source, and they keep their controls.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from build_probes import CANARY, ROTATIONS, Reference, apply, spans

from encheck.datasets.probes import MIRROR, relation_keeping_meaning, relation_of_control

BRACKET = re.compile(r"\[([^\[\]]*)\]")
BEFORE = re.compile(r" ([,.;:?!])(?=\s|$)")
ALTERNATIVES = 5
NO_CONTROL = "-"
LOWER = ("chat", "search")  # registers whose texts are left as they were written
A_SIXTH = 6  # of all groups are for development
QUICK_BASE, QUICK_LINES = 40, 18  # groups of a quick run: of the base, and of each phenomenon


@dataclass(frozen=True)
class Line:
    """A line that holds: where it stands, its register, the phenomenon, and the text of each alternative.

    `frame` and `construction` are empty where the line has none.
    """

    place: str
    register: str
    phenomenon: str
    texts: tuple[str, ...]
    frame: str = ""
    construction: str = ""


def lines(path: Path) -> Iterator[Line]:
    """The groups of a file; ValueError names the line that is none."""
    phenomenon = re.sub(r"_[a-z]$", "", path.stem)
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("//"):
            head, _, body = line.partition(" # ")
            register, *more = (part.strip() for part in head.split("|"))
            if len(more) not in (0, 2) or not all((register, *more)):
                raise ValueError(f"{path}:{number}: {head!r} is neither a register nor register | frame | construction")
            place, as_written = f"{path}:{number}", register in LOWER
            yield Line(
                f"{path.name}:{number}", register, phenomenon, texts_of(body.strip(), place, is_lower=as_written), *more
            )  # fmt: skip


def texts_of(body: str, place: str = "", *, is_lower: bool = False) -> tuple[str, ...]:
    """The text of each alternative; with `is_lower` none gets a capital letter.

    >>> texts_of("we have [two|2|six|6|red] cars.")
    ('we have two cars.', 'we have 2 cars.', 'we have six cars.', 'we have 6 cars.', 'we have red cars.')
    """
    sizes = {len(found.split("|")) for found in BRACKET.findall(body)}
    if sizes != {ALTERNATIVES}:
        raise ValueError(f"{place}: brackets of {sorted(sizes)} alternatives, want five in each")
    return tuple(_text(body, i, is_lower=is_lower) for i in range(ALTERNATIVES))


def _text(body: str, at: int, *, is_lower: bool) -> str:
    if any(found.split("|")[at].strip() == NO_CONTROL for found in BRACKET.findall(body)):
        return ""
    filled = BRACKET.sub(lambda found: found[1].split("|")[at], body)
    text = BEFORE.sub(r"\1", " ".join(filled.split()))
    return text if is_lower or body[0].islower() else text[:1].upper() + text[1:]


def sources(line: Line, *, as_written: bool = False) -> tuple[str, list[tuple[str, str]]]:
    """The sentence of a group, and (relation, text) of its variants."""
    name, kept, control = (
        line.phenomenon,
        relation_keeping_meaning(line.phenomenon),
        relation_of_control(line.phenomenon),
    )
    first, restated, second, restated_too, other = line.texts
    if not as_written and int(digest(first + second)[24:32], 16) % 2:
        first, restated, second, restated_too = second, restated_too, first, restated
    return first, [(kept, restated), (name, restated_too), (f"{name}{MIRROR}", second), (control, other)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def compiled(line: Line, reference: Reference | None, *, as_written: bool = False) -> dict:
    """One line of the probe file; the reference gives the tags of a line without a frame."""
    source, found = sources(line, as_written=as_written)
    found = found if as_written and found[-1][-1] else halved(line, found)
    known = digest(source)
    if not line.frame and reference is None:
        raise ValueError(f"{line.place} has no frame: give --treebank, by whose tags the line is clustered")
    return {
        "id": f"{line.register}-{known[:8]}",
        "domain": line.register,
        **part(line.frame or source),
        "skeleton": line.frame or reference.skeleton(source),
        **({"construction": line.construction} if line.construction else {}),
        "sentence": source,
        "variants": [_variant(source, *one, relation_keeping_meaning(line.phenomenon)) for one in found],
        "canary": CANARY,
    }


def part(drawn: str) -> dict:
    """The split of a group, and in the gate part its fifth, by its frame or its sentence: a frame is in one part."""
    known = digest(drawn)
    split = "gate" if int(known[8:16], 16) % A_SIXTH else "dev"
    return {"split": split, "rotation": int(known[16:24], 16) % ROTATIONS if split == "gate" else None}


def _variant(source: str, relation: str, text: str, kept: str) -> dict:
    edits = spans(source, text)
    assert apply(source, edits) == text, (source, text)
    return {
        "relation": relation,
        "level": 1,
        "meaning": "kept" if relation == kept else "changed",
        "text": text,
        "edits": [{"start": start, "end": end, "text": new} for start, end, new in edits],
    }


def halved(line: Line, variants: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The variants without the control in every second group, where one was written: it costs a text."""
    if variants[-1][-1] and int(digest("".join(line.texts))[32:40], 16) % 2:
        return variants
    return [one for one in variants if one[0] != relation_of_control(line.phenomenon)]


def drop_repeated_controls(made: list[tuple[Line, dict]]) -> None:
    """A control that a group before it has is left out: groups of one frame may have the same one."""
    seen: set[str] = set()
    for line, group in made:
        control = relation_of_control(line.phenomenon)
        group["variants"] = [v for v in group["variants"] if v["relation"] != control or v["text"] not in seen]
        seen |= {v["text"] for v in group["variants"]}


def without(base: list[dict], phenomena: set[str]) -> list[dict]:
    """The groups of the base that have more than these phenomena."""
    going = {f"{name}{side}" for name in phenomena for side in ("", MIRROR)}
    going |= {relation(name) for name in phenomena for relation in (relation_keeping_meaning, relation_of_control)}
    return [group for group in base if not {v["relation"] for v in group["variants"]} <= going]


def mark_quick(base: list[dict], written: list[tuple[Line, dict]]) -> None:
    """Mark the part that a quick run takes, the first by their hashes: of the base, and of each phenomenon that has no
    marked group in the base. What is marked there stays, and nothing joins it.
    """
    marked = [group for group in base if group.get("quick")]
    there = {variant["relation"] for group in marked for variant in group["variants"]}
    new = {line.phenomenon for line, _ in written} - there
    parts = [([g for line, g in written if line.phenomenon == name], QUICK_LINES) for name in new]
    for groups, count in [*parts, ([] if marked else base, QUICK_BASE)]:
        for group in sorted(groups, key=lambda g: digest(f"quick {g['id']}"))[:count]:
            group["quick"] = True


def problems(groups: list[dict]) -> Iterator[str]:
    """Texts and ids that stand twice."""
    texts = Counter(t for g in groups for t in (g["sentence"], *(v["text"] for v in g["variants"])))
    yield from (f"stands {n} times: {text}" for text, n in texts.items() if n > 1)
    yield from (f"the id {name} stands twice" for name, n in Counter(g["id"] for g in groups).items() if n > 1)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("written", nargs="+", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="groups that stay: of build_probes.py, or an edition")
    parser.add_argument("--replace", action="store_true", help="take the lines' phenomena out of the base")
    parser.add_argument("--as-written", action="store_true", help="draw neither the source nor the controls")
    parser.add_argument("--treebank", type=Path, help="folder of UD English EWT, for lines without a frame")
    parser.add_argument("--cache", type=Path, default=Path(".cache/probes.json"))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    reference = Reference(args.treebank, [], args.cache) if args.treebank else None
    written = [line for path in args.written for line in lines(path)]
    base = [json.loads(line) for line in args.base.read_text("utf-8").splitlines()]
    base = [g | part(g["skeleton" if "construction" in g else "sentence"]) for g in base]
    base = without(base, {line.phenomenon for line in written}) if args.replace else base
    made = [(line, compiled(line, reference, as_written=args.as_written)) for line in written]
    drop_repeated_controls(made)
    mark_quick(base, made)
    groups = [*base, *(group for _, group in made)]
    found = list(problems(groups))
    print(*found, sep="\n")
    print(f"{len(base)} base groups, {dict(Counter(line.phenomenon for line in written))}; {len(found)} problems")
    if args.out and not found:
        out = sorted(json.dumps(g, ensure_ascii=False) for g in groups)
        args.out.write_text("".join(line + "\n" for line in out), "utf-8", newline="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
