"""Antonym edits: one verb or adjective replaced by its opposite (Mahajan et al. 2023, criterion 3).

An opposite reverses the statement, unless it occurs beside the opposite or under a negation, or other parts of the
sentence depend on it.
"""

from __future__ import annotations

from itertools import pairwise

from encheck.generators.base import listed_generator
from encheck.generators.synonym import Slot, find_slots, is_last_resort, order_slots, replace_slots
from encheck.language.edits.substitutes import POS_OF_TAG
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits

VERB_AND_ADJECTIVE = frozenset("va")
NEGATIVE = frozenset(
    """no nobody nothing none neither nor never hardly scarcely barely rarely seldom nowhere no-one noone""".split()
)
NEGATIVE_WITHOUT_ARTICLE = frozenset(["few", "little"])  # negative without an article
UNIVERSAL = frozenset("all every each everyone everybody everything many much always both".split())
NOT = frozenset(["not", "n't", "n’t"])
SCOPING = NEGATIVE | NEGATIVE_WITHOUT_ARTICLE | NOT
ARTICLES = frozenset("a an the these those this that".split())
PHRASES = frozenset("nsubj obj iobj obl nmod".split())
LINKS = frozenset(["cc", "punct", "advmod"])
ARGUING = {
    **dict.fromkeys(("mark", "cc", "advmod"), frozenset("but although though because until unless so".split())),
    "case": frozenset("despite because due thanks unlike".split()),
}
ARGUMENTS = frozenset().union(*ARGUING.values())
SAID_WITH = frozenset("advcl obl conj parataxis".split())
DENIALS = NOT | {"never", "least", "less"}
DEGREES = frozenset("almost nearly virtually practically utterly readily".split())
SCALING = DENIALS | DEGREES
PREFIXES = frozenset("un in im il ir mis non".split())


def find_reversible_slots(english: English, parse: Parse) -> tuple[Slot, ...] | str:
    """Return the places where an opposite reverses the statement, or the reason why there are none."""
    slots = find_slots(english, parse, "a", only=VERB_AND_ADJECTIVE)
    if isinstance(slots, str):
        return slots
    reasons = [_why_not_reversed(english, parse, slot) for slot in slots]
    kept = (
        _drop_unfitting_opposites(parse, slot) for slot, reason in zip(slots, reasons, strict=True) if reason is None
    )
    left = tuple(slot for slot in kept if slot is not None)
    return left or str(reasons[0] or "a word of degree or negation before it")


def _why_not_reversed(english: English, parse: Parse, slot: Slot) -> str | None:
    """Return in a few words why an opposite in this place would not reverse the statement, or None if it would."""
    # An adjective beside another, a verb right beside another: "plain and simple", "rose and fell".
    pairs = [(slot.at, i) for i in parse.children[slot.at] if parse.bases[i] == "conj"]
    pairs += [(parse.heads[slot.at], slot.at)] if parse.bases[slot.at] == "conj" else []
    if any(_is_coordinated_pair(parse, first, second) for first, second in pairs):
        return "the word is coordinated with another"
    if _opposite_occurs_elsewhere(english, parse, slot):
        return "the sentence already has the opposite, or has the word twice"
    # A number, a name or a date after an adjective: "the Big 12", "Happy Memorial Day".
    after = slot.at + 1
    is_attribute = parse.pos[slot.at] == "ADJ" and after < len(parse) and parse.bases[slot.at] == "amod"
    if is_attribute and (parse.tags[after] == "CD" or (parse.entities[after] and parse.heads[slot.at] == after)):
        return "part of a name or beside a number"
    # An infinitive that states the purpose of a verb: "cut rates to ward off deflation".
    has_purpose = parse.pos[slot.at] == "VERB" and any(
        parse.bases[i] == "advcl" and parse.tags[i] == "VB" and any(parse.lowers[j] == "to" for j in parse.children[i])
        for i in parse.children[slot.at]
    )
    if has_purpose or _is_in_contrast_or_cause(parse, slot.at):
        return "another clause depends on what the word says"
    return "a negative or quantified phrase has scope over the word" if _is_in_negative_scope(parse, slot.at) else None


def _is_coordinated_pair(parse: Parse, first: int, second: int) -> bool:
    """Return whether two coordinated words have the same part of speech and the second is not a predicate of
    its own.
    """
    if parse.pos[first] != parse.pos[second] or parse.child(second, "nsubj", "cop", "aux") is not None:
        return False
    between = range(first + 1, second)
    close = parse.tags[first] == parse.tags[second] and all(parse.bases[i] in LINKS for i in between)
    return parse.pos[first] == "ADJ" or close


def _opposite_occurs_elsewhere(english: English, parse: Parse, slot: Slot) -> bool:
    """Return whether the sentence repeats the word, or contains an opposite or a synonym of it or of its opposite.

    In "A big dog and a small one" and "a tiny, small village", another opposite would contradict the changed word.
    """
    lemma = parse.lower_lemmas[slot.at]
    opposites = english.substitutes.opposites_and_synonyms(lemma, slot.pos) | english.substitutes.synonyms(
        lemma, slot.pos
    )
    is_one = opposites.__contains__
    result = sum(map(is_one, parse.lowers)) + sum(map(is_one, parse.lower_lemmas))
    if result == 1 + is_one(parse.lowers[slot.at]):  # the word itself, as nearly always: no closer check needed
        return False
    both = zip(parse.lowers, parse.lower_lemmas, strict=True)
    there = [i for i, (word, lemma) in enumerate(both) if word in opposites or lemma in opposites]
    return any(i != slot.at and POS_OF_TAG.get(parse.tags[i]) == slot.pos for i in there)


def _is_in_contrast_or_cause(parse: Parse, at: int) -> bool:
    """Return whether the word is part of a contrast, a cause or a purpose, which its opposite would contradict.

    "It is cheap but good", "upset because innocent people died", "due to its weak cast".
    """
    if ARGUMENTS.isdisjoint(parse.lower_words):
        return False
    above = path_to_root(parse, at)
    below = [i for head in above for i in parse.children[head] if parse.bases[i] in SAID_WITH]
    joined = [i for i in (*above, *below) if parse.bases[i] in SAID_WITH]
    return any(parse.lowers[j] in ARGUING.get(parse.bases[j], ()) for i in joined for j in parse.children[i])


def _is_in_negative_scope(parse: Parse, at: int) -> bool:
    """Return whether the word is in the scope of a negative phrase ("nobody", "few people", "not all", "never").

    A plain "not" is ignored.
    """
    if SCOPING.isdisjoint(parse.lower_words):
        return False
    for i in (i for head in path_to_root(parse, at) for i in (head, *parse.children[head])):
        parts = (i, *parse.children[i]) if parse.bases[i] in PHRASES else (i,)
        if any(_is_negative_word(parse, j) for j in parts if j != at):
            return True
    return any(a in NOT and b in UNIVERSAL for a, b in pairwise(parse.lowers))


def _is_negative_word(parse: Parse, at: int) -> bool:
    word, head = parse.lowers[at], parse.heads[at]
    if word in NEGATIVE_WITHOUT_ARTICLE:
        beside = {parse.lowers[i] for i in (*parse.children[at], *parse.children[head]) if i < at}
        return beside.isdisjoint(ARTICLES) and not (word == "little" and parse.tags[head] == "NNS")
    return word in NEGATIVE and (word != "no" or parse.bases[at] in ("det", "advmod"))


def _drop_unfitting_opposites(parse: Parse, slot: Slot) -> Slot | None:
    """Return the slot with only the opposites that fit its place, or None if none fits.

    The function removes "not unable", and "almost possible" for "almost impossible". "Big enough" has no opposite,
    because its opposite would be "too small".
    """
    if parse.lowers[slot.at + 1 : slot.at + 2] == ("enough",):
        return None
    if SCALING.isdisjoint(parse.lower_words):
        return slot
    lemma = parse.lower_lemmas[slot.at]
    before = {parse.lowers[i] for i in parse.children[slot.at]} | set(parse.lowers[max(slot.at - 1, 0) : slot.at])
    denied, in_degree = not before.isdisjoint(DENIALS), not before.isdisjoint(DEGREES)
    choices = tuple(
        (word, s)
        for word, s in slot.choices
        if not ((denied or in_degree) and _has_negative_prefix(s.lemma, lemma))
        and not (in_degree and _has_negative_prefix(lemma, s.lemma))
    )
    return Slot(slot.at, slot.pos, choices) if choices else None


def _has_negative_prefix(word: str, base: str) -> bool:
    """Return whether `word` is `base` with a negative prefix."""
    return word.endswith(base) and word.removesuffix(base) in PREFIXES


def path_to_root(parse: Parse, at: int) -> list[int]:
    """Return the token, its head, that token's head and so on, up to the head of the sentence."""
    result = [at]
    while parse.heads[result[-1]] != result[-1] and len(result) <= len(parse):
        result.append(parse.heads[result[-1]])
    return result


MAX_DEPTH = 3
COMPLEMENTARY = "compl"  # the flag of complementary opposites: not the one is the other
FINITE = frozenset("is are was were am".split())
INTENSE = frozenset("too so very more most less least enough quite rather as how only even just also alone".split())
QUANTIFIED = (
    NEGATIVE
    | NEGATIVE_WITHOUT_ARTICLE
    | UNIVERSAL
    | frozenset("not n't n’t any anyone anybody anything either most half without".split())
)
UNTIL = frozenset("until till since".split())


@listed_generator(1, title="antonyms", readers=(239, 260))
def antonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """Return the written edit if the data has one. Otherwise replace one verb or adjective by its opposite.

    The word should be central to the sentence: its main predicate rather than a word deep in a clause. Among equally
    central words, one with a synonym is preferred, so that synonym and antonym can be compared. A word is not replaced
    if the sentence contains its opposite, or if its subject or object is negated.
    """
    if group.variants:
        return group.variant("antonym", level)
    if level > 1:
        return "an antonym edit replaces only one word"
    slots = english.derive(find_reversible_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.stored_parse(group.source)

    def rank(slot: Slot) -> tuple[bool, int, bool]:
        synonyms = english.substitutes.find(parse.lower_lemmas[slot.at], slot.pos, "s")
        steps_to_head = len(path_to_root(parse, slot.at)) - 1
        return is_last_resort(slot), min(steps_to_head, MAX_DEPTH), not synonyms

    ranked_slots = order_slots(slots, rng, rank)
    return replace_slots(english, parse, ranked_slots, relation="antonym", level=1)


@listed_generator(1)
def negated_antonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """Keep the meaning by a double reversal: "is possible" becomes "is not impossible".

    The opposites must be complementary: what is not A is B. The predicate must directly follow a finite form of "be" in
    a statement, and must not be negated, quantified, compared or coordinated.
    """
    if group.variants:
        return group.variant("negated_antonym", level)
    if english.recipe is not None:
        return "the published recipe has no negated antonym"
    slots = english.derive(find_reversible_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.stored_parse(group.source)
    ranked_slots = []
    for slot in slots:
        choices = tuple((word, s) for word, s in slot.choices if COMPLEMENTARY in s.flags)
        if choices and parse.child(slot.at, "cop") is not None:
            ranked_slots.append(Slot(slot.at, slot.pos, choices))
    if not ranked_slots:
        return "no complementary opposite in a predicate"
    reasons = [_why_predicate_cannot_be_negated(parse, slot.at) for slot in ranked_slots]
    ranked_slots = [slot for slot, reason in zip(ranked_slots, reasons, strict=True) if reason is None]
    if not ranked_slots:
        return str(reasons[0])
    rng.shuffle(ranked_slots)
    turned = replace_slots(english, parse, ranked_slots, relation="antonym", level=1)
    if not isinstance(turned, Variant):
        return turned
    copula = parse.starts.index(turned.edits[-1].start) - 1
    insert = Edit(parse.ends[copula], parse.ends[copula], " not")
    made = tuple(sorted((*turned.edits, insert), key=lambda edit: edit.start))
    return Variant(
        apply_edits(group.source, made), "negated_antonym", 1, made, "negated_antonym", turned.certificate + "; negated"
    )


@listed_generator(beside=("negated_antonym",))
def unnegated(group: Group, *, base: Variant, level: int, rng: Draws, english: English) -> Variant | str:  # noqa: ARG001
    """Return the negated antonym in `base` without its "not": "is impossible" for "is not impossible"."""
    left = tuple(edit for edit in base.edits if edit.text.strip().lower() != "not")
    if len(left) == len(base.edits) or not left:
        return "its negation is not a separate edit"
    return Variant(apply_edits(group.source, left), "antonym", level, left, "unnegated", base.certificate)


def _why_predicate_cannot_be_negated(parse: Parse, at: int) -> str | None:
    """Return in a few words why "not" with the opposite would change this predicate, or None if it would not."""
    copula, below = parse.child(at, "cop"), parse.children[at]
    clause = {parse.lowers[i] for i in parse.subtree(at)}
    subject = parse.child(at, "nsubj", "csubj", "expl")
    bases = {parse.bases[i] for i in below}
    if copula is None or parse.lowers[copula] not in FINITE or "aux" in bases:
        return "no finite form of 'be' by itself"
    if "?" in parse.text or subject is None or parse.child(at, "expl", "nsubj", "csubj", "cop") == copula:
        return "no plain statement"
    if not clause.isdisjoint(QUANTIFIED):
        return "negated or quantified"
    if copula != at - 1 or parse.tags[at] != "JJ" or "advmod" in bases or not clause.isdisjoint(INTENSE):
        return "a word that modifies the predicate"
    if (
        "conj" in bases
        or parse.bases[at] == "conj"
        or "advcl" in bases
        or any(  # a time, or a duration until or since a time, to which "not" could apply
            parse.bases[i] == "obl"
            and (
                parse.entities[i].endswith(("DATE", "TIME"))
                or any(parse.bases[j] == "case" and parse.lowers[j] in UNTIL for j in parse.children[i])
            )
            for i in below
        )
    ):
        return "more belongs to the predicate"
    return None
