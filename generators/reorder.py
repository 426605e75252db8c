"""Change the order of a sentence without changing its meaning.

An adverbial moves to the front or the end, or the two halves of a coordination are exchanged. If a sentence has
neither, its two objects may have a second order ("gave the boy a book" and "gave a book to the boy"), or it may have a
passive. Two objects are exchanged only after verbs that are known to allow both orders, and only if a person gets a
thing. "Gave the idea a try" has only one order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from encheck.generators.base import listed_generator
from encheck.generators.passive import make_passive
from encheck.generators.phrases import (
    FRONTABLE,
    Move,
    Span,
    capitalise_first_letter,
    contiguous_span,
    is_movable_time,
    is_noun_phrase,
    keeps_capital_elsewhere,
    last_word,
    may_possessive_refer_to,
    names_an_agent,
    noun_category,
    preposition_of,
    quantifier_order_matters,
    span_text,
    statement_root,
    text_inside_sentence,
)
from encheck.language.edits.conditions import strip_subtype
from encheck.language.edits.replace import choose_article
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.prose import find_unedited_spans, why_not_edited
from encheck.types import Edit, Group, Variant, apply_edits

TO = frozenset(
    "award bring give grant hand lease lend loan mail offer owe pass pay read rent sell send show teach".split()
)
FOR = frozenset("bake brew buy cook fetch knit sew".split())
# Things to give, by lexicographer's file: noun.artifact, communication, food, object, plant, possession, substance.
THINGS = frozenset({6, 10, 13, 17, 20, 21, 27})
# Nouns that carry the meaning of "give" and similar verbs.
DEEDS = frozenset(
    """answer bath blow boost break buzz call chance chase comfort consent cover credit cry cut damage drink drive ear
    edge end evidence example eye face feel finger game glance go green ground hand head hearing heart heat hell
    hint holler home honor honour house interest kick kiss knock laugh lead lead-in leave lesson lie life lift light
    line lip look lot measure mention mind name nod note notice opening pass pat path pause permission place play
    pleasure point praise priority promise punch push rap reason regard reply respect rest return ride ring rise
    road room run say service shake shape share shot shout shove shower sign slap smile space speech start step
    stick support talk thank thanks thought thrill time touch tribute trouble try turn vent visit voice vote wash
    wave way weight welcome whistle wink word work yell""".split()
)
ANY_OPENING = frozenset("him them me us".split())  # "gave them books", but "gave her books" is said of her books
OPENING = frozenset("DT PRP$ CD $".split())
NO_PARTS: frozenset[str] = frozenset()
LONGEST_THING, LONGEST_RECIPIENT = 6, 4  # tokens


@dataclass(frozen=True, slots=True)
class DativeVerb:
    """A verb with a recipient and a thing, next to each other.

    With `is_double`, the recipient comes first. Otherwise it follows the thing, after a preposition.
    """

    parse: Parse
    english: English
    verb: int
    recipient: int
    thing: int
    gets: Span
    given: Span
    preposition: str
    is_double: bool


def shift_dative(parse: Parse, english: English) -> Move | str | None:
    """Return the edits that exchange the first pair of objects, or why they cannot be exchanged.

    Return None if there is no pair.
    """
    reasons: list[str] = []
    for verb in range(len(parse)):
        giving = _find_dative_verb(parse, english, verb)
        if giving is None:
            continue
        reason = _why_not_shifted(giving)
        if reason is None:
            return _exchange_objects(giving)
        reasons.append(reason)
    return reasons[0] if reasons else None


def _find_dative_verb(parse: Parse, english: English, verb: int) -> DativeVerb | None:
    thing, first = parse.child(verb, "obj"), parse.child(verb, "iobj")
    given = None if thing is None else contiguous_span(parse, thing)
    lemma = parse.lemmas[verb].lower()
    preposition = "to" if lemma in TO else "for" if lemma in FOR else None
    if thing is None or given is None or preposition is None or parse.pos[verb] != "VERB":
        return None
    if first is not None:
        gets = contiguous_span(parse, first)
        double = gets is not None and gets[0] == verb + 1 and given[0] == gets[1]
        return (
            DativeVerb(parse, english, verb, first, thing, gets, given, preposition, True) if gets and double else None
        )
    at = next(
        (i for i in parse.children[verb] if parse.bases[i] == "obl" and preposition_of(parse, i) == preposition), None
    )
    gets = None if at is None else contiguous_span(parse, at)
    if at is None or gets is None or (given[0], gets[0]) != (verb + 1, given[1]) or gets[1] - gets[0] == 1:
        return None
    bare = (gets[0] + 1, gets[1])  # without its preposition
    here = parse.lowers[gets[0]] == preposition
    return DativeVerb(parse, english, verb, at, thing, bare, given, preposition, False) if here else None


def _why_not_shifted(giving: DativeVerb) -> str | None:
    """Return in a few words why these objects cannot be exchanged, or None if they can."""
    parse, gets, given = giving.parse, giving.gets, giving.given
    if parse.pos[giving.thing] in ("PRON", "PROPN", "DET"):
        return "the thing given is a pronoun or a name"
    if not _gives_thing(giving):
        return "no thing is given"
    # A pronoun, or a short noun phrase that names a person or a group.
    at = giving.recipient
    if not names_an_agent(giving.english, parse, at) or not (
        gets == (at, at + 1) if parse.pos[at] == "PRON" else is_noun_phrase(parse, at, gets, of=NO_PARTS)
    ):
        return "there is no recipient"
    if may_possessive_refer_to(parse, given, giving.recipient) or parse.lowers[gets[0]] in ("its", "their"):
        return "one object refers to the other"
    if quantifier_order_matters(parse, gets, given):
        return "both objects have quantifiers"
    sizes = gets[1] - gets[0], given[1] - given[0]
    if sizes[0] > LONGEST_RECIPIENT or sizes[1] > LONGEST_THING or (not giving.is_double and sizes[0] > sizes[1] + 1):
        return "the objects are too long"
    opens_phrase = parse.tags[given[0]] in OPENING or parse.lowers[giving.recipient] in ANY_OPENING
    if not giving.is_double and not opens_phrase:  # "gave her books" would be read as one object
        return "two objects that would be read as one"
    if not _clause_ends_after_objects(giving):
        return "what follows belongs to the second object"
    return None


def _gives_thing(giving: DativeVerb) -> bool:
    """Return whether this is money, or a noun whose first sense is a thing, not an action, a feeling or a chance."""
    parse, at = giving.parse, giving.thing
    if parse.entities[at].endswith("MONEY"):
        return all(parse.entities[i].endswith("MONEY") for i in range(*giving.given))
    if parse.pos[at] != "NOUN" or not is_noun_phrase(parse, at, giving.given, of=frozenset(["of", "about"])):
        return False
    bare = giving.given == (at, at + 1) and parse.tags[at] == "NN"
    deed = parse.lemmas[at].lower() in DEEDS
    return not bare and not deed and noun_category(giving.english.lexicon, parse, at) in THINGS


def _clause_ends_after_objects(giving: DativeVerb) -> bool:
    """Return whether the clause ends after the objects.

    It may also continue with "and", an infinitive, another clause or a date.
    """
    parse, at = giving.parse, max(giving.gets[1], giving.given[1])
    if at == len(parse) or parse.pos[at] in ("PUNCT", "CCONJ", "SCONJ", "SPACE") or parse.tags[at] in ("TO", "WRB"):
        return True
    dated = at + (parse.pos[at] == "ADP")
    return dated < len(parse) and parse.entities[dated].endswith(("DATE", "TIME"))


def _exchange_objects(giving: DativeVerb) -> Move:
    parse, word = giving.parse, giving.parse.words[giving.verb]
    recipient, thing = span_text(parse, giving.gets), span_text(parse, giving.given)
    first, second = sorted((giving.gets, giving.given))
    if giving.is_double:
        name, texts = f"{giving.preposition} behind {word}", (thing, f"{giving.preposition} {recipient}")
    else:
        name, texts = f"no {giving.preposition} behind {word}", (recipient, thing)
        second = (second[0] - 1, second[1])  # the preposition goes
    return f"dative shift: {name}", (
        Edit(parse.starts[first[0]], parse.ends[first[1] - 1], texts[0]),
        Edit(parse.starts[second[0]], parse.ends[second[1] - 1], texts[1]),
    )


SIDES = {"NOUN", "PROPN", "ADJ"}
FIXED = frozenset(
    """rock-and-roll pros-and-cons trial-and-error supply-and-demand law-and-order research-and-development
    back-and-forth up-and-down more-or-less sooner-or-later black-and-white bed-and-breakfast cause-and-effect
    hide-and-seek give-and-take profit-and-loss merger-and-acquisition term-and-condition rhythm-and-blues
    drum-and-bass life-and-death life-or-death crime-and-punishment track-and-field bread-and-butter mac-and-cheese
    macaroni-and-cheese fish-and-chips gin-and-tonic cat-and-mouse nut-and-bolt odds-and-ends ups-and-downs
    ins-and-outs flesh-and-blood heart-and-soul cut-and-paste copy-and-paste question-and-answer wear-and-tear
    check-and-balance search-and-rescue assault-and-battery art-and-craft lady-and-gentleman safe-and-sound
    null-and-void stars-and-stripes trick-or-treat truth-or-dare dead-or-alive all-or-nothing make-or-break
    barnes-and-noble marks-and-spencer procter-and-gamble johnson-and-johnson standard-and-poor smith-and-wesson
    ernst-and-young black-and-decker simon-and-schuster simon-and-garfunkel tom-and-jerry romeo-and-juliet
    bonnie-and-clyde adam-and-eve lewis-and-clark trinidad-and-tobago bosnia-and-herzegovina antigua-and-barbuda
    tyne-and-wear dolce-and-gabbana abercrombie-and-fitch""".split()
)
FINITE, VERBS = frozenset("VBD VBZ VBP MD".split()), frozenset("VB VBD VBG VBN VBP VBZ".split())
MARKS = frozenset(", ; : - -- – — ( ) [ ] \" “ ” `` ''".split())
DEICTIC = frozenset("today tonight yesterday tomorrow last next this".split())
# These bring in a noun or an event that a time behind it may modify: "the return of refugees in 1999".
CLOSE = frozenset("of after before during since until till following with about from between that than as".split())
WHEN = frozenset(
    """now today tonight tomorrow yesterday already still currently then once again when while before after since until
    first last next ago recently soon later earlier never ever always often usually not n't no only also""".split()
)
BEHIND = frozenset("IN TO WDT WP WP$ VBG VBN POS CD RB".split())  # tags of following words that may belong to one half
NAMES_APART = frozenset("PER PERSON GPE LOC NORP DATE".split())  # two of these are separate things
RECIPROCAL = {"respectively", "both", "either", "neither", "former", "latter", "between", "first", "then", "vice"}


@listed_generator(1, title="reorderings", readers=(107, 112))
def reorder(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """Return the written edit if the data has one. Otherwise make one move that is safe according to the parse."""
    if group.variants:
        return group.variant("reorder", level)
    if level > 1:
        return "a reorder is one move"
    if left := why_not_edited(group.source):
        return left
    parse = english.stored_parse(group.source)
    moves = [move for find in FINDERS for move in find(parse, english)]
    rng.shuffle(moves)
    for name, made in moves:
        text = apply_edits(group.source, made)
        if text.lower() != group.source.lower() and not _overlaps_code(group.source, made):
            return Variant(text, "reorder", 1, made, "reorder", name)
    reasons: list[str] = []
    for build in BUILDERS:  # exchange the objects of the clause, or make it passive
        result = build(parse, english)
        if isinstance(result, tuple):
            name, made = result
            if _overlaps_code(group.source, made):
                return "code or an address would move"
            return Variant(apply_edits(group.source, made), "reorder", 1, made, "reorder", name)
        reasons += [result] if result else []
    return reasons[0] if reasons else "nothing can be moved safely"


def _overlaps_code(source: str, edits: tuple[Edit, ...]) -> bool:
    spans = find_unedited_spans(source)
    return any(edit.start < b and a < edit.end for edit in edits for a, b in spans)


def front_adverbials(parse: Parse, english: English) -> Iterator[Move]:
    """Yield the moves of a time or circumstance from the end of the only main clause to the front, before a comma."""
    root, end = statement_root(parse), last_word(parse)
    # A quote, a conjunction or an adverbial at the front: a second one before it would be unnatural.
    if (
        root is None
        or parse.pos[root] not in ("VERB", "AUX")
        or not parse.words[0][:1].isalpha()
        or parse.pos[0] in ("CCONJ", "SCONJ", "ADP", "ADV", "AUX", "VERB", "INTJ")
        or not _is_single_statement(parse, root)
    ):
        return
    opening = text_inside_sentence(parse, (0, end), english.lexicon)
    if opening is None:
        return
    for i in parse.children[root]:
        span = contiguous_span(parse, i)
        if span and span[1] - 1 == end and span[0] > root and _modifies_whole_clause(parse, root, i, span):
            phrase = parse.text[parse.starts[span[0]] : parse.ends[end]]
            first = Edit(0, parse.ends[0], f"{capitalise_first_letter(phrase)}, {opening[: parse.ends[0]]}")
            cut = Edit(parse.ends[span[0] - 1], parse.ends[end], "")
            if parse.words[span[0] - 1] not in (",", ";", ":") and span[0] > 1:
                yield f"fronted {strip_subtype(parse.deps[i])}", (first, cut)


def _is_single_statement(parse: Parse, root: int) -> bool:
    """Return whether this is one finite clause whose subject precedes the verb, without a further clause or predicate.

    A time could modify the latter instead.
    """
    subject = parse.child(root, "nsubj")
    finite = any(parse.tags[i] in FINITE for i in (root, *parse.children[root]))
    more = parse.child(root, "conj", "parataxis", "ccomp", "advcl", "xcomp", "csubj")
    return finite and subject is not None and subject < root and more is None


def _modifies_whole_clause(parse: Parse, root: int, head: int, span: Span) -> bool:
    """Return whether this time modifies the whole clause.

    It does not if a comma precedes it, or if it may belong to a verb or noun before it.
    """
    before, words = range(root + 1, span[0]), parse.lowers[slice(*span)]
    if not is_movable_time(parse, head, span) or not _is_only_time(parse, span):
        return False
    if words[0] not in FRONTABLE | DEICTIC:  # "Tuesday, ..." is not a good opening
        return False
    if any(parse.tags[i].startswith("VB") or parse.words[i] in MARKS for i in before):
        return False
    return not any(parse.lowers[i] in CLOSE and i > root for i in before) and "," not in parse.words[: span[0]]


def _is_only_time(parse: Parse, span: Span) -> bool:
    """Return whether the sentence states no other time."""
    others = [i for i in range(len(parse)) if not span[0] <= i < span[1]]
    timed = any(parse.entities[i].endswith(("DATE", "TIME")) for i in others)
    return not timed and WHEN.isdisjoint(parse.lowers[i] for i in others)


def postpone_adverbials(parse: Parse, english: English) -> Iterator[Move]:  # noqa: ARG001
    """Yield the moves of a time or circumstance from the front, before a comma, to the end of the only main clause."""
    root, end = statement_root(parse), last_word(parse)
    if root is None or parse.pos[root] not in ("VERB", "AUX") or not _is_single_statement(parse, root):
        return
    for i in parse.children[root]:
        span = contiguous_span(parse, i)
        if span and span[0] == 0 and span[1] < root and parse.words[span[1]] == "," and is_movable_time(parse, i, span):
            start, rest_of_it = span[1] + 1, range(span[1] + 1, end + 1)
            split = any(parse.words[k] in MARKS or (k > root and parse.tags[k] in VERBS) for k in rest_of_it)
            tied = any(parse.lowers[k] in CLOSE for k in rest_of_it if k > root)
            if start <= end and _is_only_time(parse, span) and not split and not tied:
                phrase = parse.text[: parse.ends[span[1] - 1]]
                phrase = phrase if keeps_capital_elsewhere(parse, 0) else phrase[0].lower() + phrase[1:]
                rest = Edit(0, parse.ends[start], capitalise_first_letter(parse.words[start]))
                yield (
                    f"postponed {strip_subtype(parse.deps[i])}",
                    (rest, Edit(parse.ends[end], parse.ends[end], f" {phrase}")),
                )


def exchange_coordinated(parse: Parse, english: English) -> Iterator[Move]:
    """Yield the moves that exchange the halves of "A and B" or "A or B".

    Fixed pairs and the parts of one name are not exchanged.
    """
    if {word.lower() for word in parse.words} & RECIPROCAL:
        return
    for second in range(len(parse)):
        first = parse.heads[second]
        if parse.deps[second] != "conj" or parse.pos[first] not in SIDES or parse.pos[second] != parse.pos[first]:
            continue
        link = parse.child(second, "cc")
        if (
            link is None
            or parse.words[link].lower() not in ("and", "or")
            or sum(parse.deps[i] == "conj" for i in parse.children[first]) != 1
        ):
            continue
        halves = _coordinated_halves(parse, first, second, link)
        if halves and not _is_fixed_pair_or_name(parse, *halves) and not _may_share_modifier(parse, *halves):
            (a, b), (c, d) = halves
            texts = [span_text(parse, half) for half in halves]
            if a == 0:
                inner = text_inside_sentence(parse, halves[0], english.lexicon)
                if inner is None:
                    continue
                texts = [inner, capitalise_first_letter(texts[1])]
            made: tuple[Edit, ...] = (
                Edit(parse.starts[a], parse.ends[b - 1], texts[1]),
                Edit(parse.starts[c], parse.ends[d - 1], texts[0]),
            )
            # "a" or "an" before the halves is adapted to the new first half.
            article, before = choose_article(texts[1]), a - 1
            if before >= 0 and parse.lowers[before] in ("a", "an") and article != parse.lowers[before]:
                article = article.capitalize() if parse.words[before][0].isupper() else article
                made = (Edit(parse.starts[before], parse.ends[before], article), *made)
            yield "exchanged coordination", made


def _may_share_modifier(parse: Parse, left: Span, right: Span) -> bool:
    """Return whether words next to the halves may belong to only one of them, or depend on their order.

    "progress and health spending in the system", "actress Teresa Palmer and Michala Banas", "new and stricter".
    """
    start, end = left[0], right[1]
    if parse.tags[left[1] - 1] != parse.tags[right[1] - 1] and parse.pos[left[1] - 1] == "ADJ":
        return True
    if any(parse.pos[i] == "CCONJ" for i in (*range(max(start - 4, 0), start), *range(end, min(end + 4, len(parse))))):
        return True
    if parse.pos[left[1] - 1] == "ADJ":
        return False
    if any(parse.entities[i].endswith(("DATE", "TIME")) for i in range(start, end)):
        return True
    sizes = {left[1] - left[0], right[1] - right[0]}
    if len(sizes) > 1 and parse.pos[left[1] - 1] == "NOUN" and parse.tags[left[1] - 1] == "NN":
        return True  # "veteran stage and screen actor"
    behind = end < len(parse) and (parse.tags[end] in BEHIND or parse.words[end] in ("-", "--", "(", "/"))
    before = start > 0 and parse.pos[start - 1] in ("NOUN", "ADJ", "PROPN", "NUM") and parse.tags[start - 1] != "NNS"
    return behind or before


FINDERS: tuple[Callable[[Parse, English], Iterator[Move]], ...] = (
    front_adverbials,
    postpone_adverbials,
    exchange_coordinated,
)
BUILDERS: tuple[Callable[[Parse, English], Move | str | None], ...] = (shift_dative, make_passive)


def _coordinated_halves(parse: Parse, first: int, second: int, link: int) -> tuple[Span, Span] | None:
    """Return the two halves around the link, or None if a dependent of one of them could belong to both."""
    left = [i for i in parse.subtree(first) if i < link and i not in parse.subtree(second)]
    right = [i for i in parse.subtree(second) if i > link]
    solid = left and right and left[-1] == link - 1 and right[0] == link + 1
    if not solid or not (_is_name_or_compound(parse, first, left) and _is_name_or_compound(parse, second, right)):
        return None
    if left != list(range(left[0], link)) or right != list(range(link + 1, right[-1] + 1)):
        return None
    after = [i for i in parse.subtree(first) if i > right[-1]]
    return None if after else ((left[0], link), (link + 1, right[-1] + 1))


def _is_fixed_pair_or_name(parse: Parse, left: Span, right: Span) -> bool:
    """Return whether this is a fixed pair ("law and order") or one name ("Barnes and Noble").

    "Procter and Gamble sells" has a singular verb, so it is one name too.
    """
    start, link, end = left[0], left[1], right[1]
    written = ("-".join(column[start:end]).lower() for column in (parse.lowers, parse.lemmas))
    if parse.entities[link] or not FIXED.isdisjoint(written):
        return True
    if parse.pos[link - 1] != "PROPN" and parse.pos[end - 1] != "PROPN":
        return start > 0 and all(parse.words[i].istitle() for i in (link - 1, end - 1))
    kinds = {parse.entities[i].partition("-")[2] for i in range(start, end) if i != link}
    beside = (i for i in (start - 1, end) if 0 <= i < len(parse))
    if not kinds <= NAMES_APART or any(parse.pos[i] == "PROPN" for i in beside):
        return True
    subjects = [i for i in range(*left) if parse.bases[i] == "nsubj"]
    verbs = (i for at in subjects for i in (parse.heads[at], *parse.children[parse.heads[at]]))
    return any(parse.tags[i] == "VBZ" or parse.lowers[i] == "was" for i in verbs)


def _is_name_or_compound(parse: Parse, head: int, half: list[int]) -> bool:
    """Return whether the half consists only of names and compounds.

    An article or adjective is not allowed, because before the first half it could belong to both.
    """
    return all(i == head or strip_subtype(parse.deps[i]) in ("compound", "flat") for i in half)
