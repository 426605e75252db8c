"""Antonym edits: one verb or adjective replaced by its opposite (Mahajan et al. 2023, criterion 3)."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from encheck.generators.paper import paper_antonym
from encheck.generators.replacing import Slot, find_slots, replaced
from encheck.generators.written import written
from encheck.language.english import English
from encheck.language.fit import POS_OF_TAG
from encheck.language.parse import Parse
from encheck.types import Edit, Group, Variant, apply_edits

PARTS = frozenset("va")
DEPTH = 3
COMPLEMENTARY = "compl"  # the flag of opposites where what is not the one is the other
NEGATIVE = frozenset(
    """no nobody nothing none neither nor never hardly scarcely barely rarely seldom nowhere no-one noone""".split()
)
FEW = frozenset(["few", "little"])  # negative without an article
UNIVERSAL = frozenset("all every each everyone everybody everything many much always both".split())
ARTICLES = frozenset("a an the these those this that".split())
FINITE = frozenset("is are was were am".split())
INTENSE = frozenset("too so very more most less least enough quite rather as how only even just also alone".split())
QUANTIFIED = (
    NEGATIVE | FEW | UNIVERSAL | frozenset("not n't n’t any anyone anybody anything either most half without".split())
)
DENIALS = frozenset("not n't n’t never least less".split())
DEGREES = frozenset("almost nearly virtually practically utterly readily".split())
PREFIXES = frozenset("un in im il ir mis non".split())
ARGUING = {
    **dict.fromkeys(("mark", "cc"), frozenset("but although though because until unless".split())),
    "case": frozenset("despite because due thanks".split()),
}
SAID_WITH = frozenset("advcl obl conj parataxis".split())
LINKS = frozenset(["cc", "punct", "advmod"])
PHRASES = frozenset("nsubj obj iobj obl nmod".split())
UNTIL = frozenset("until till since".split())


def antonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """The hand-written edit where the data has one, else one verb or adjective replaced by its opposite.

    The word is one that the sentence hangs on: its main predicate rather than a word deep in a clause; among equals,
    one that has a synonym too, so that the two can be compared. It stays where the sentence holds its opposite, or
    where nobody and nothing is said to be or do it.
    """
    if group.variants:
        return written(group, "antonym", level=level)
    if english.mode == "paper":
        return paper_antonym(group.source, words=level, rng=rng, lexicon=english.lexicon)
    if level > 1:
        return "an antonym edit exchanges one word"
    slots = english.read(turning_slots, group.source)
    if isinstance(slots, str):
        return slots
    found, parse = list(slots), english.parse(group.source)
    rng.shuffle(found)
    found.sort(key=lambda slot: _rank(english, parse, slot))
    return replaced(english, group.source, found, relation="antonym", level=1)


def _rank(english: English, parse: Parse, slot: Slot) -> tuple[bool, int, bool]:
    synonyms = english.substitutes.of(parse.lemmas[slot.at].lower(), slot.pos, "s")
    return slot.is_last, min(depth(parse, slot.at), DEPTH), not synonyms


def depth(parse: Parse, at: int) -> int:
    """How many steps a token is from the head of its sentence.

    A word of the predicate counts as the head does.
    """
    return len(_path(parse, at)) - 1


def _path(parse: Parse, at: int) -> list[int]:
    """The token and all that it hangs on, up to the head of its sentence."""
    path = [at]
    while parse.heads[path[-1]] != path[-1] and len(path) <= len(parse):
        path.append(parse.heads[path[-1]])
    return path


def turning_slots(english: English, text: str) -> tuple[Slot, ...] | str:
    """Where an opposite turns what the sentence says; or the reason why nowhere."""
    found = find_slots(english, text, "a", only=PARTS)
    if isinstance(found, str):
        return found
    parse = english.parse(text)
    reasons = [_refusal(english, parse, slot) for slot in found]
    kept = (_kept(parse, slot) for slot, reason in zip(found, reasons, strict=True) if reason is None)
    left = tuple(slot for slot in kept if slot is not None)
    return left or str(reasons[0] or "a word of degree or negation before it")


def _kept(parse: Parse, slot: Slot) -> Slot | None:
    """The slot with those of its opposites that can stand there; None where none can.

    No "not unable" and no "almost possible" for "almost impossible"; no opposite of "big enough", which is "too small".
    """
    if parse.lowers[slot.at + 1 : slot.at + 2] == ("enough",):
        return None
    lemma = parse.lemmas[slot.at].lower()
    before = {parse.lowers[i] for i in parse.children[slot.at]} | set(parse.lowers[max(slot.at - 1, 0) : slot.at])
    denied, in_degree = not before.isdisjoint(DENIALS), not before.isdisjoint(DEGREES)
    choices = tuple(
        (word, s)
        for word, s in slot.choices
        if not ((denied or in_degree) and _is_prefixed(s.lemma, lemma))
        and not (in_degree and _is_prefixed(lemma, s.lemma))
    )
    return Slot(slot.at, slot.pos, choices) if choices else None


def _is_prefixed(word: str, base: str) -> bool:
    """Whether the word is the other one with a negative prefix."""
    return word.endswith(base) and word.removesuffix(base) in PREFIXES


def _refusal(english: English, parse: Parse, slot: Slot) -> str | None:
    """Why an opposite in this place would not turn the sentence, in a few words."""
    if _is_coordinated(parse, slot.at):
        return "the word is coordinated with another"
    if _holds_opposite(english, parse, slot):
        return "the sentence holds the opposite already, or the word twice"
    if _is_argued(parse, slot.at):
        return "another clause depends on what the word says"
    return "a negative or quantified phrase scopes over the word" if _is_scoped(parse, slot.at) else None


def _is_argued(parse: Parse, at: int) -> bool:
    """Whether a contrast, a cause or an end is said with the word: its opposite would contradict that.

    "It is cheap but good", "upset because innocent people died", "due to its weak cast".
    """
    path = _path(parse, at)
    below = [i for head in path for i in parse.children[head] if parse.bases[i] in SAID_WITH]
    joined = [i for i in (*path, *below) if parse.bases[i] in SAID_WITH]
    return any(parse.lowers[j] in ARGUING.get(parse.bases[j], ()) for i in joined for j in parse.children[i])


def _is_coordinated(parse: Parse, at: int) -> bool:
    """An adjective beside another, a verb right beside another: "plain and simple", "rose and fell"."""
    pairs = [(at, i) for i in parse.children[at] if parse.bases[i] == "conj"]
    pairs += [(parse.heads[at], at)] if parse.bases[at] == "conj" else []
    return any(_is_pair(parse, first, second) for first, second in pairs)


def _is_pair(parse: Parse, first: int, second: int) -> bool:
    """Whether two coordinated words are of a kind, and the second is no predicate of its own."""
    if parse.pos[first] != parse.pos[second] or parse.child(second, "nsubj", "cop", "aux") is not None:
        return False
    between = range(first + 1, second)
    close = parse.tags[first] == parse.tags[second] and all(parse.bases[i] in LINKS for i in between)
    return parse.pos[first] == "ADJ" or close


def _holds_opposite(english: English, parse: Parse, slot: Slot) -> bool:
    """Whether another word of the sentence is an opposite of the word, says the same as one, or is the word again."""
    lemma = parse.lemmas[slot.at].lower()
    opposites = english.substitutes.opposed(lemma, slot.pos)
    return any(
        i != slot.at and (parse.lemmas[i].lower() in opposites or word in opposites)
        for i, word in enumerate(parse.lowers)
        if POS_OF_TAG.get(parse.tags[i]) == slot.pos
    )


def _is_scoped(parse: Parse, at: int) -> bool:
    """Whether the word stands under a negative phrase ("nobody", "few people", "not all", "never").

    A plain "not" is none.
    """
    for i in (i for head in _path(parse, at) for i in (head, *parse.children[head])):
        parts = (i, *parse.children[i]) if parse.bases[i] in PHRASES else (i,)
        if any(_is_negative(parse, j) for j in parts if j != at):
            return True
    return any(a in ("not", "n't", "n’t") and b in UNIVERSAL for a, b in pairwise(parse.lowers))


def _is_negative(parse: Parse, at: int) -> bool:
    word, head = parse.lowers[at], parse.heads[at]
    if word in FEW:
        beside = {parse.lowers[i] for i in (*parse.children[at], *parse.children[head]) if i < at}
        return beside.isdisjoint(ARTICLES) and not (word == "little" and parse.tags[head] == "NNS")
    return word in NEGATIVE and (word != "no" or parse.bases[at] in ("det", "advmod"))


def negated_antonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """The meaning kept by turning it twice: "is possible" becomes "is not impossible".

    Only for complementary opposites (not A is B) in a plain predicate of a statement: right behind a finite form of
    "be", neither negated, quantified, compared nor coordinated.
    """
    if group.variants:
        return written(group, "negated_antonym", level=level)
    if english.mode == "paper":
        return "the published recipe has no negated antonym"
    slots = english.read(turning_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.parse(group.source)
    found = [c for slot in slots if (c := _complementary(slot)) and parse.child(slot.at, "cop") is not None]
    if not found:
        return "no complementary opposite in a predicate"
    reasons = [_why_not_negated(parse, slot.at) for slot in found]
    found = [slot for slot, reason in zip(found, reasons, strict=True) if reason is None]
    if not found:
        return str(reasons[0])
    rng.shuffle(found)
    turned = replaced(english, group.source, found, relation="antonym", level=1)
    if not isinstance(turned, Variant):
        return turned
    copula = parse.starts.index(turned.edits[-1].start) - 1
    insert = Edit(parse.ends[copula], parse.ends[copula], " not")
    made = tuple(sorted((*turned.edits, insert), key=lambda edit: edit.start))
    return Variant(
        apply_edits(group.source, made), "negated_antonym", 1, made, "negated_antonym", turned.certificate + "; negated"
    )


def _complementary(slot: Slot) -> Slot | None:
    """The slot with its complementary opposites alone; None where it has none."""
    choices = tuple((word, s) for word, s in slot.choices if COMPLEMENTARY in s.flags)
    return Slot(slot.at, slot.pos, choices) if choices else None


def _why_not_negated(parse: Parse, at: int) -> str | None:
    """Why "not" and the opposite would not give the same in this predicate, in a few words."""
    copula, below = parse.child(at, "cop"), parse.children[at]
    clause = {parse.lowers[i] for i in parse.subtree(at)}
    subject = parse.child(at, "nsubj", "csubj", "expl")
    bases = {parse.bases[i] for i in below}
    if copula is None or parse.lowers[copula] not in FINITE or "aux" in bases:
        return "no finite form of be alone"
    if "?" in parse.text or subject is None or parse.child(at, "expl", "nsubj", "csubj", "cop") == copula:
        return "no plain statement"
    if not clause.isdisjoint(QUANTIFIED):
        return "negated or quantified"
    if copula != at - 1 or parse.tags[at] != "JJ" or "advmod" in bases or not clause.isdisjoint(INTENSE):
        return "a word that changes the predicate"
    if "conj" in bases or parse.bases[at] == "conj" or "advcl" in bases or any(_is_timed(parse, i) for i in below):
        return "more said with the predicate"
    return None


def _is_timed(parse: Parse, at: int) -> bool:
    """A time, or what lasts until or since one: "not" could be said of that."""
    cases = {parse.lowers[i] for i in parse.children[at] if parse.bases[i] == "case"}
    return parse.bases[at] == "obl" and (parse.entities[at].endswith(("DATE", "TIME")) or not cases.isdisjoint(UNTIL))
