"""Negate a statement or remove its negation, and edit the same place without changing the statement, in any English
text.

For "is covered", "is indeed covered" keeps the statement, "is not covered" negates it, and "is supposed to be covered"
makes a different statement. For "is not covered", "isn't covered" keeps it and "is covered" reverses it. The second
source, a mirror, has the meaning of the changed text in other words (docs/method/probes.md): "isn't covered" is kept by
"is not covered" and reversed by "is indeed covered".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from encheck.generators.antonym import negated_antonym
from encheck.generators.phenomenon import MIRRORED, NO_MIRROR, Edits, Phenomenon, Side, label_edits_by_side
from encheck.language.edits.inflection import inflect
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.predicates import (
    CLITICS,
    MODALS,
    NEGATIVE,
    NO_SUBJECT,
    NOT,
    NOT_FINITE,
    QUESTION,
    RELATIVE,
    SAYING,
    SENTENCES,
    Predicate,
    find_deniable_predicates,
    has_several_statements,
    subject_agreement,
    why_denial_clashes,
)
from encheck.language.prose import why_not_edited
from encheck.statistics.draws import Draws
from encheck.surface import tokens
from encheck.types import Edit, Group, Variant

CONTRACTED_NEGATION = {
    **{word: f"{word}n't" for word in "is are was were has have had do does did would could should".split()},
    "will": "won't", "can": "can't",
}  # fmt: skip
AUXILIARY = {"VBZ": "does", "VBP": "do", "VBD": "did"}
FULL_DENIAL = {"can": "cannot"}
EMPHASIS = ("indeed", "definitely", "certainly", "in fact")
OF_MODALS = ("indeed", "in fact")
BEFORE_VERB = ("definitely", "certainly")
BE = ("is", "are", "was", "were", "am")
STRESS = frozenset(["indeed", "definitely", "certainly", "fact"])
EXPECTED = ("expected", "supposed")
UNEXPECTED = frozenset("expect suppose seem appear tend".split())
THOUGHT = frozenset(
    "believe expect suppose mean think say plan schedule intend know report allege due likely seem appear tend".split()
)
OTHER_MODAL = {"will": "may", "shall": "may", "would": "should", "should": "may", "can": "should", "could": "must",
               "must": "may"}  # fmt: skip
STATELESS = (NOT_FINITE, NO_SUBJECT, QUESTION)
PRONOUNS = frozenset("i you he she it we they".split())
CONTRACTED = {"is": "'s", "am": "'m", "are": "'re", "will": "'ll", "has": "'s", "have": "'ve"}
WHY: Mapping[Side, str] = {
    "changed": "turned round",
    "kept": "the same said",
    "control": "another statement of the same place",
    "mirror": "what the changed text says, in other words",
}
COIN = (1, -1)  # which text the surface should favour: a surface model should win as often as it loses
ALL = frozenset("All Every Everyone Everybody Everything".split())


class PredicateTexts(NamedTuple):
    """The characters to replace, and what replaces them in the kept text, the changed text, the mirror and the
    control.
    """

    start: int
    end: int
    texts: Mapping[Side, str]
    why: str


def negation_edits(parse: Parse, english: English, rng: Draws) -> Edits | str:
    """Return edits that negate the statement or remove its negation, and edits that keep it.

    A text is kept by emphasis, or by another spelling of *not*. In reported speech the reported statement is negated. A
    relative clause is negated only if there is nothing else to negate. The control is a different statement in the same
    place: "is expected to be covered", "may close" for "will close".
    """
    if left := why_not_edited(parse.text):
        return left
    plan: PredicateTexts | str | None = None
    # The predicates whose negation fits the rest of the text, or the reason why there are none.
    result = find_deniable_predicates(parse)
    if isinstance(result, str):
        result = SENTENCES if has_several_statements(parse) and result not in STATELESS else result
    else:
        reasons = [why_denial_clashes(one) for one in result]
        result = tuple(one for one, reason in zip(result, reasons, strict=True) if not reason) or reasons[0]
    if not isinstance(result, str):
        ranks = rng.random_ranks(len(result))
        asides = [one.clause == RELATIVE or one.parse.lower_lemmas[one.head] in SAYING for one in result]
        one = result[min(range(len(result)), key=lambda i: (asides[i], ranks[i]))]
        plan = _texts_by_antonym(one, rng, english) or _predicate_texts(one, rng)
    elif result != SENTENCES:
        plan = _negate_all(parse, rng)
    if plan is None or isinstance(plan, str):
        return plan or str(result)
    made = {side: Edit(plan.start, plan.end, text) for side, text in plan.texts.items()}
    return label_edits_by_side(parse.text, made, plan.why, says=WHY)


def _negate_all(parse: Parse, rng: Draws) -> PredicateTexts | None:
    """Return the texts that negate "all" as "not all". With "all", a negated predicate would be ambiguous."""
    at = next((i for i, word in enumerate(parse.words) if word in ALL and _quantifies_main_subject(parse, i)), None)
    if at is None:
        return None
    said = parse.lowers[at]
    kept, control = f"Absolutely {said}", f"{rng.choice(('Nearly', 'Almost'))} {said}"
    texts: dict[Side, str] = {"kept": kept, "changed": f"Not {said}", "control": control}
    return PredicateTexts(parse.starts[at], parse.ends[at], texts, "scope over all")


def _quantifies_main_subject(parse: Parse, at: int) -> bool:
    """Return whether this is "all", "every" or "everybody" at the beginning of a main clause's subject."""
    subject = parse.heads[at] if parse.bases[at] == "det" else at
    root = parse.heads[subject]
    if parse.bases[subject] != "nsubj" or parse.heads[root] != root or parse.tags[at + 1 :][:1] in (("PRP",), ("WDT",)):
        return False
    sentence = parse.subtree(root)
    words = {parse.lowers[i] for i in sentence}
    return sentence[0] == at and words.isdisjoint(NEGATIVE | NOT | {"?", "but", "except", "else"})


def _texts_by_antonym(predicate: Predicate, rng: Draws, english: English) -> PredicateTexts | None:
    """Return texts that keep "is possible" by "is not impossible".

    Exactly one of the two must hold, and the clause must end there.
    """
    parse, at = predicate.parse, predicate.head
    if (
        predicate.negation is not None
        or parse.tags[at] != "JJ"
        or predicate.finite != at - 1
        or predicate.operator not in BE
    ):
        return None
    group = Group("", parse.text, parse.text, "")
    turned = negated_antonym(group, level=1, rng=Draws(rng.run_seed, "negated_antonym", parse.text), english=english)
    if not isinstance(turned, Variant) or turned.edits[-1].start != parse.starts[at]:
        return None
    be, word, opposite = parse.words[predicate.finite], parse.words[at], turned.edits[-1].text
    texts: dict[Side, str] = {
        "kept": f"{be} not {opposite}",
        "changed": f"{rng.choice((f'{be} not', CONTRACTED_NEGATION.get(be, f'{be} not')))} {word}",
        "mirror": f"{be} {opposite}",
        "control": f"{be} {rng.choice(EXPECTED)} to be {word}",
    }
    return PredicateTexts(
        parse.starts[predicate.finite], parse.ends[at], texts, f"{predicate.clause}, {turned.certificate}"
    )


def _predicate_texts(predicate: Predicate, rng: Draws) -> PredicateTexts | str:
    """Return the texts for a predicate, as a random choice of its affirmative and negative forms."""
    parse = predicate.parse
    start, end = parse.starts[predicate.finite], parse.ends[last_replaced_token(predicate)]
    start -= _contraction_with_pronoun(predicate) != "" and parse.text[start - 1] == " "
    own = parse.text[start:end]
    said, denied = _affirmative_and_negative_forms(predicate)
    stressed = _emphatic_forms(predicate)
    if predicate.negation is None:
        contraction = [form] if (form := _contraction_with_pronoun(predicate)) else []
        forms = ([*said, *contraction, *stressed], denied, denied)
    else:  # no word of emphasis in the changed text, because readers found that odd (docs/method/generators.md)
        forms = (denied, said[:1], [*said[1:], *stressed])
    kept, changed, mirrors = (_forms_unlike(own, ways) for ways in forms)
    plain = _forms_unlike(
        own, [way for way in (_contraction_with_pronoun(predicate), *_expand_clitic(predicate)) if way]
    )
    kept = plain if plain and predicate.negation is None and rng.choice(COIN) > 0 else kept
    if not kept or not changed:
        return NO_MIRROR
    around = len(tokens(parse.text)) - len(tokens(own))
    # The edit distance favours the side chosen by a coin, the mirror the other; or the nearest choice.
    favoured = rng.choice(COIN)
    choices = _side_choices_with_preference(own, tuple(kept), tuple(changed), tuple(mirrors), around)
    by_distance = [(abs(first - favoured) + abs(first + second), sides) for first, second, sides in choices]
    least = min(distance for distance, _ in by_distance)
    chosen = rng.choice([sides for distance, sides in by_distance if distance == least])
    texts = dict(zip(MIRRORED, chosen, strict=False))
    if control := _unrelated_statement(predicate, rng):
        texts["control"] = control
    kind = "denied" if predicate.negation is None else "a denial taken back"
    written_so: dict[Side, str] = {}
    for side, text in texts.items():
        # The source's kind of apostrophe, and a blank before a word that replaces a clitic.
        adapted = text.replace("can not", "cannot").replace("'", "’" if "’" in parse.text else "'")
        needs_blank = text[0] != "'" and own[0] in "'’ "
        written_so[side] = f" {adapted}" if needs_blank else adapted
    return PredicateTexts(start, end, written_so, f"{predicate.clause}, {kind}")


def _forms_unlike(own: str, forms: Sequence[str]) -> list[str]:
    """Return the forms that differ from the text's own, also as written outside of tokenised text ("didn't")."""
    written = own.strip()
    return [form for form in forms if form not in (written, written.replace("’", "'").replace(" n't", "n't"))]


def _contraction_with_pronoun(predicate: Predicate) -> str:
    """Return the contraction of an operator with the pronoun before it, such as "'s", or "" if there is none."""
    parse, at = predicate.parse, predicate.finite
    is_clear = (
        predicate.operator not in ("has", "have") or at != predicate.head
    )  # nobody writes "she's a car" for what she has
    pronoun = at > 0 and parse.lowers[at - 1] in PRONOUNS and predicate.subject == at - 1
    behind = at + 1 < len(parse) and parse.words[at + 1][0].isalnum()
    if (
        predicate.negation is not None
        or predicate.base
        or parse.lowers[at] not in CONTRACTED
        or not (is_clear and pronoun and behind)
    ):
        return ""
    return CONTRACTED[parse.lowers[at]]


def last_replaced_token(predicate: Predicate) -> int:
    """Return the last token to replace: the full verb, the "not", or the operator."""
    return predicate.head if predicate.base else predicate.finite if predicate.negation is None else predicate.negation


def _affirmative_and_negative_forms(predicate: Predicate) -> tuple[list[str], list[str]]:
    """Return the affirmative and the negative forms of a predicate without emphasis. Each list starts with the plain
    form.
    """
    word = predicate.parse.words[predicate.finite]
    if not predicate.base:
        operator = word if word in CLITICS else predicate.operator
        short = [CONTRACTED_NEGATION[operator]] if operator in CONTRACTED_NEGATION else []
        clitic = (
            [f"{_contraction_with_pronoun(predicate)} not"]
            if _contraction_with_pronoun(predicate) and predicate.operator in BE
            else []
        )
        return [operator, *_expand_clitic(predicate)], [
            f"{operator} not",
            *short,
            *clitic,
            *[
                way
                for full in _expand_clitic(predicate)
                for way in (f"{full} not", CONTRACTED_NEGATION.get(full, ""))
                if way
            ],
        ]
    verb, do = _verb_and_auxiliary(predicate)
    said = [verb, f"{do} {predicate.base}"] if verb else [f"{do} {predicate.base}"]
    return said, [f"{do} not {predicate.base}", f"{CONTRACTED_NEGATION[do]} {predicate.base}"]


def _verb_and_auxiliary(predicate: Predicate) -> tuple[str, str]:
    """Return the full verb and its *do*: "accepts", "does". The verb is "" if its form is not attested."""
    if predicate.negation is None:
        return predicate.parse.words[predicate.head], AUXILIARY[predicate.parse.tags[predicate.head]]
    do = predicate.parse.lowers[predicate.finite]
    irregular = {"have": {"does": "has", "do": "have", "did": "had"}, "do": {"does": "does", "do": "do", "did": "did"}}
    if predicate.base in irregular:
        return irregular[predicate.base][do], do
    return inflect(predicate.base, {"does": "VBZ", "do": "VBP", "did": "VBD"}[do]) or "", do


def _expand_clitic(predicate: Predicate) -> list[str]:
    """Return the full forms of a clitic."""
    word = predicate.parse.lowers[predicate.finite]
    if word in CLITICS and word[1:] == "s":
        if "been" in predicate.parse.lowers[predicate.finite + 1 : predicate.head + 1]:
            return ["has"]
        full = {"be": "is", "have": "has"}.get(predicate.parse.lower_lemmas[predicate.finite], "")
        return [full] if full and (full == "is") == (predicate.parse.tags[predicate.head] != "VBN") else []
    return [predicate.operator] if word in CLITICS else []


def _emphatic_forms(predicate: Predicate) -> list[str]:
    """Return the forms of a predicate with a word of emphasis."""
    if predicate.base:
        verb, do = _verb_and_auxiliary(predicate)
        return [
            f"{do} indeed {predicate.base}",
            f"{do} in fact {predicate.base}",
            *(f"{w} {verb}" for w in BEFORE_VERB if verb),
        ]
    word = predicate.parse.words[predicate.finite]
    operator = word if word in CLITICS else predicate.operator
    return [f"{operator} {word}" for word in (OF_MODALS if predicate.operator in MODALS else EMPHASIS)]


@lru_cache(maxsize=20_000)
def _side_choices_with_preference(
    own: str, kept: tuple[str, ...], changed: tuple[str, ...], mirrors: tuple[str, ...], around: int
) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Return each choice of texts, with the side that the edit distance favours for source and mirror.

    1 is kept, -1 is changed.
    """

    choices: list[tuple[int, int, tuple[str, ...]]] = []
    for near, far in product(kept, changed):
        first, shared = _sign_of_nearer_side(own, near, far, around), _emphasis_words(near) | _emphasis_words(far)
        others = [way for way in mirrors if way != far and not _emphasis_words(way) & shared]
        choices += [(first, _sign_of_nearer_side(way, far, near, around), (near, far, way)) for way in others]
        choices += [] if others else [(first, -first, (near, far))]
    return tuple(choices)


@lru_cache(maxsize=20_000)
def _emphasis_words(text: str) -> frozenset[str]:
    """Return the words of emphasis in a text.

    If a mirror shares such a word with a side, it is near that side only because of the word.
    """
    return STRESS.intersection(text.split())


def _sign_of_nearer_side(own: str, near: str, far: str, around: int) -> int:
    to_near, to_far = (_relative_token_distance(own, text, around) for text in (near, far))
    return (to_near < to_far) - (to_near > to_far)


@lru_cache(maxsize=50_000)
def _relative_token_distance(own: str, text: str, around: int) -> float:
    """Return the edit distance of two texts that differ only in these words, as a share of the longer text."""
    from rapidfuzz.distance import Levenshtein

    one, other = tokens(own), tokens(text)
    return round(Levenshtein.distance(one, other) / (around + max(len(one), len(other))), 9)


def _unrelated_statement(predicate: Predicate, rng: Draws) -> str:
    """Return a different statement about the subject to replace the predicate, or "" if there is none."""
    parse, operator = predicate.parse, predicate.operator
    word = rng.choice(EXPECTED)
    if operator in MODALS:
        return OTHER_MODAL[operator]
    if predicate.base in UNEXPECTED:
        return ""
    if predicate.base:
        tense = {"did": "VBD"}.get(parse.lowers[predicate.finite], parse.tags[predicate.finite])
        be = _form_of_be(predicate, tense == "VBD")
        return be and f"{be} {word} to {predicate.base}"
    if parse.lower_lemmas[predicate.head] in THOUGHT or parse.tags[last_replaced_token(predicate) + 1 :][:1] == ("RB",):
        return ""
    if operator in BE:
        return f"{parse.words[predicate.finite]} {word} to be"
    if operator in ("has", "have", "had") and predicate.finite != predicate.head:
        be = _form_of_be(predicate, operator == "had")
        return be and f"{be} {word} to have"
    return ""


def _form_of_be(predicate: Predicate, past: bool) -> str:
    forms = {"first": ("am", "was"), "singular": ("is", "was"), "plural": ("are", "were")}.get(
        subject_agreement(predicate)
    )
    return forms[past] if forms else ""


NEGATION = Phenomenon(
    "negation", negation_edits, "negations", experimental=(), in_probes=True,
    readers={"changed": (247, 254), "control": (237, 241)},
)  # fmt: skip
