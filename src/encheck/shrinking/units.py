"""Find the parts of a sentence that can be removed: adjuncts, clauses, modifiers, coordinates, whole sentences.

The sentence's parse decides. A word that its verb or noun may need is never removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from encheck.language.english import English
from encheck.language.lexicon.lexicon import Lexicon
from encheck.language.parse import Parse

NEGATIVE = frozenset("not n't never no hardly scarcely barely nor neither without unless nothing nobody none".split())
COMPARING = frozenset("than as so too more most less least enough such like unlike better best worse worst".split())
ASKING = frozenset("how when where why what who which whose whom whether".split())
STAYING = NEGATIVE | COMPARING | ASKING | frozenset("here there well badly away back up out off down in on".split())
PLACES_AND_TIMES = frozenset(
    """in on at during after before since until till near behind along across throughout within despite under inside
    outside beside because amid""".split()
)
OF_A_NOUN = frozenset("by with from".split())
NEEDS_ADJUNCT = frozenset(
    """be live stay put place set lay lie stand sit last reside dwell behave act treat get go come head belong depend
    rely consist refer lead differ result range weigh become seem look feel sound taste smell keep bring send turn
    focus concentrate insist believe participate engage specialise specialize succeed invest arrive leave end begin
    start hang stick fall rise run date account occur happen take make have hold base rank score total vary remain
    drop base spend park store""".split()
)
OF_A_WHOLE_VERB = frozenset("for through with over around across from towards toward via per".split())
NEEDS_OBLIQUE = frozenset(
    """blame thank mistake swap exchange substitute provide supply equip confuse share prevent stop distinguish ask
    charge accuse rob turn translate combine associate link connect trade save know use do pay prepare treat fill cover
    load pack furnish match separate tell differ protect free exempt excuse exclude subtract deduct add transfer
    transform convert rename pass give show send invite advise warn remind inform order steal borrow buy win hire
    rent lease lend inherit obtain receive collect gather remove extract derive select choose count sell mix compare
    replace fit wish need want leave like see help lack""".split()
)
NEEDS_MODIFIER = frozenset(
    """time times way ways mood shape condition manner look kind sort type number amount level rate extent part side end
    idea thing things one ones place terms basis luck deal bit lot majority minority hand case reason state position
    quality role job move step day year week month hour minute morning evening afternoon night people man woman person
    fan seat school house life death care voice eye eyes hair face chance point view word note scale size share school
    figure act pace degree distance price speed temperature pressure height angle""".split()
)
NEEDS_RELATIVE = frozenset(
    """thing things one ones place time times way ways day reason case kind sort type part side end idea point fact sign
    person people degree extent""".split()
)
NO_MODIFIER = frozenset(
    """same other another first second third next last only own different several certain particular various few many
    much more most less least such former latter main whole entire half double very previous following total average
    single sole full due able available key mere real fake false alleged so-called would-be no public""".split()
)
NEVER_WITHOUT_TIME = frozenset(
    "be last date take happen occur fall become lie run total spend remain stay keep".split()
)
TIMES = frozenset(
    """today yesterday tomorrow tonight morning evening afternoon night week weekend month year decade century hour
    minute second monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december spring summer autumn winter day dawn dusk noon midnight sat sun mon tue
    wed thu fri season quarter""".split()
)
OF_TIME = frozenset("in on at during after before since until till within throughout for by over through".split())
NEVER_IN_FRONT = frozenset("than as like unlike without instead rather except besides of".split())
BOUND_ADJECTIVES = frozenset(
    """interested involved good bad engaged based located available present rich poor lacking common popular active
    fluent confident successful interested versed short high low big great due dependent keen happy sad angry level
    similar different equal alike identical absent missing strong weak visible complicit covered""".split()
)
SAYING = frozenset(
    """say tell report announce add note explain argue claim state write testify confirm warn insist believe think
    suggest admit declare estimate predict stress""".split()
)
FACTIVE = SAYING - {"tell"} | frozenset(
    """know find show mean learn hear hope see understand reveal provide indicate discover notice realise realize
    remember record document establish prove demonstrate conclude reply stipulate assume suspect guess
    suppose""".split()
)
FEELING = frozenset("glad happy sure afraid sorry surprised aware certain convinced pleased relieved proud".split())
ASIDE = SAYING | frozenset("know guess suppose mean see hope hear understand fear".split())
TELLING_APART = ("modifier", "number", "clause")
OF_NOUNS = ("amod", "compound", "nmod", "nummod", "acl")
SUBORDINATING = frozenset("because although though while when whenever after before since until unless if once".split())
SYMMETRIC = frozenset("meet mix combine compare exchange agree differ marry join connect merge share both".split())
LINKING = frozenset("and or but".split())
BACK = frozenset(
    """he she it they him her them his hers its their theirs this that these those himself herself itself themselves
    one ones such former latter so too also""".split()
)
MEANING = frozenset("NOUN PROPN VERB ADJ ADV NUM".split())


COMMON = 4.3  # Zipf: twenty times in a million words
AMOUNT = re.compile(
    r"\d|%|\b(?:half|thirds?|quarters?|all|none|most|many|few|each|every|both|any|either|neither|no|one|two|three|four|five"
    r"|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|dozens?|hundreds?|thousands?|some|only|percent|twice|once)\b",
    re.IGNORECASE,
)
PAIRED = {"(": ")", "[": "]", "“": "”"}


@dataclass(frozen=True, slots=True)
class RemovableUnit:
    """The tokens from `first` to `last`, inclusive, and the kind of part that they are."""

    first: int
    last: int
    kind: str


def find_removable_units(english: English, parse: Parse) -> tuple[RemovableUnit, ...]:
    """Return the removable parts of this text, longest first. A part includes its commas."""
    units = {*_find_removable_sentences(parse), *_find_outer_clauses(parse)}
    for at in range(len(parse)):
        if parse.heads[at] != at and (unit := _find_unit_headed_by(english.lexicon, parse, at)) is not None:
            units.add(unit)
    return tuple(sorted(units, key=lambda u: (u.first - u.last, u.first, u.kind)))


def find_units_with_same_head(
    parse: Parse, units_with_offsets: Iterable[tuple[RemovableUnit, tuple[int, int]]], like: Parse
) -> Iterator[RemovableUnit]:
    """Yield the units of one text (parsed as `like`) whose words have the same head in another text (`parse`).

    Each unit comes with its first and last offset in the other text. A unit that its head may need there is not
    yielded, except for clauses and coordinates.
    """
    for unit, (start, end) in units_with_offsets:
        if start not in parse.starts or end not in parse.ends:
            continue
        first, last = parse.starts.index(start), parse.ends.index(end)
        tops = [i for i in range(first, last + 1) if not first <= parse.heads[i] <= last and parse.bases[i] != "punct"]
        there = [
            i for i in range(unit.first, unit.last + 1)
            if not unit.first <= like.heads[i] <= unit.last and like.bases[i] != "punct"
        ]  # fmt: skip
        below = {i for top in tops for i in parse.subtree(top)}
        whole = all(first <= i <= last for i in below if parse.bases[i] != "punct")
        alike = [parse.bases[i] for i in tops] == [like.bases[i] for i in there] and len(tops) == 1
        if whole and alike and (unit.kind in ("clause", "coordinate") or _head_stands_without(parse, tops[0])):
            yield unit


def find_unit_with_same_content(
    english: English, parse: Parse, unit: RemovableUnit, other: Parse, *, is_worded_alike: bool
) -> RemovableUnit | None:
    """Return the only unit of another text with the same content, or None if there are none or several.

    The same content means the same content words and negations; with `is_worded_alike`, the same words.
    """
    wanted = _content_lemmas(parse, unit, all_words=is_worded_alike)
    if not _content_lemmas(parse, unit, all_words=False):
        return None
    units = [
        one
        for one in find_removable_units(english, other)
        if _content_lemmas(other, one, all_words=is_worded_alike) == wanted
    ]
    return units[0] if len(units) == 1 else None


def _content_lemmas(parse: Parse, unit: RemovableUnit, *, all_words: bool) -> list[str]:
    """Return the lemmas of a unit's content words, sorted. With `all_words`, return all its words instead."""
    inside = range(unit.first, unit.last + 1)
    if all_words:
        return sorted(parse.lowers[i] for i in inside if parse.bases[i] != "punct")
    return sorted(
        parse.lower_lemmas[i] for i in inside if parse.pos[i] in MEANING or parse.lowers[i] in NEGATIVE | COMPARING
    )


def _head_stands_without(parse: Parse, at: int) -> bool:
    """Return whether the word's head can be used without the word."""
    head = parse.lower_lemmas[parse.heads[at]]
    bound = NEEDS_ADJUNCT | NEVER_WITHOUT_TIME | NEEDS_MODIFIER | BOUND_ADJECTIVES
    return head not in bound and (parse.bases[at] != "advmod" or parse.pos[parse.heads[at]] != "AUX")


def _find_unit_headed_by(lexicon: Lexicon, parse: Parse, at: int) -> RemovableUnit | None:
    """Return the unit whose head is the word at index `at`, or None if the sentence may need that unit."""
    span = _token_span(parse, at)
    if span is None or not (parse.bases[at] not in ("fixed", "flat") and (not parse.entities[at].startswith("I-"))):
        return None
    base = parse.bases[at]
    if base == "conj":
        # The second of two coordinates with its conjunction, if the first can stand alone.
        head = parse.heads[at]
        if _is_last_main_clause(parse, at, span):
            return RemovableUnit(span[0] - 1, span[1], "coordinate")
        siblings = [i for i in parse.children[head] if parse.bases[i] == "conj"]
        links = [i for i in parse.children[at] if parse.bases[i] == "cc"]
        if siblings != [at] or len(links) != 1 or parse.lowers[links[0]] not in LINKING or links[0] != span[0]:
            return None
        if any(parse.bases[i] == "cc" for i in parse.children[head]) or not _are_separable_coordinates(parse, head, at):
            return None
        if parse.pos[at] != parse.pos[head] or "between" in parse.lowers or "both" in parse.lowers:
            return None
        first = span[0] - _is_comma(parse, span[0] - 1)
        return RemovableUnit(first, span[1], "coordinate") if _is_sentence_end(parse, span[1] + 1) else None
    kind = _kind_of_dependent(lexicon, parse, at, base, span)
    if (
        kind in TELLING_APART
        and base in OF_NOUNS
        and (
            parse.lower_lemmas.count(parse.lower_lemmas[parse.heads[at]]) > 1
            or not {"one", "ones", "other"}.isdisjoint(parse.lowers)
        )
    ):
        return None
    return None if kind is None else _include_commas(parse, *span, kind)


def _kind_of_dependent(lexicon: Lexicon, parse: Parse, at: int, base: str, span: tuple[int, int]) -> str | None:
    """Return the kind of a dependent whose head can be used without it, otherwise None."""
    if base in OF_NOUNS:
        if base == "compound":
            return "modifier" if _is_removable_noun(lexicon, parse, at, span) else None
        if base == "amod":
            return "modifier" if _is_removable_adjective(parse, at, span) else None
        if base == "nummod":
            return "number" if _is_removable_number(parse, at, span) else None
        if base == "nmod":
            return "modifier" if _is_removable_noun_phrase(parse, at) else None
        return "clause" if _is_removable_relative_clause(parse, at, span) else None
    if base == "advmod":
        return "adjunct" if _is_removable_adverb(parse, at, span) else None
    if base == "obl":
        return "adjunct" if _is_removable_oblique(lexicon, parse, at, span) else None
    if base == "advcl":
        return "clause" if _is_removable_clause(parse, at, span) else None
    if base == "parataxis":
        return "aside" if _names_speaker_at_end(parse, at, span) else None
    if base in ("appos", "discourse", "vocative"):
        return "aside" if _is_set_off(parse, at, span) else None
    return None


def _token_span(parse: Parse, at: int) -> tuple[int, int] | None:
    """Return the first and last token of the subtree of `at`, or None if the subtree has gaps.

    Punctuation at the edges is left out.
    """
    tree = parse.subtree(at)
    if tree[-1] - tree[0] + 1 != len(tree):
        return None
    first, last = tree[0], tree[-1]
    while first < last and parse.bases[first] == "punct":
        first += 1
    while last > first and parse.bases[last] == "punct":
        last -= 1
    return first, last


def _is_removable_adjective(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    head = parse.heads[at]
    plain = parse.tags[at] == "JJ" and parse.lowers[at] not in NO_MODIFIER and parse.words[at].isalpha()
    noun = parse.tags[head] in ("NN", "NNS") and parse.lower_lemmas[head] not in NEEDS_MODIFIER
    alone = span == (at, at) and not parse.children[at] and parse.words[at].islower() and at < head
    stands = parse.child(head, "det", "nmod:poss") is not None or parse.tags[head] == "NNS"
    before = all(parse.pos[i] in ("ADJ", "NOUN") for i in range(at + 1, head))
    beside = parse.lowers[at - 1] not in COMPARING | NEGATIVE if at else True
    linked = any(parse.bases[i] in ("conj", "cc") for i in parse.children[head])
    article = parse.child(head, "det")
    if article is not None and parse.lowers[article] in ("a", "an") and parse.child(head, "case") is not None:
        return False  # at a good price
    return plain and noun and alone and stands and before and beside and not linked


def _is_removable_number(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether the word is a number between an article or possessive and the noun that it counts."""
    head = parse.heads[at]
    article = parse.lowers[at - 1] in ("the", "these", "those", "my", "your", "his", "her", "its", "our", "their")
    alone = span == (at, at) and at < head and parse.child(head, "cop") is None
    return bool(at) and article and alone and parse.tags[head] == "NNS" and parse.lower_lemmas[head] not in TIMES


def _is_removable_noun(lexicon: Lexicon, parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether the word is a noun that specifies the common noun after it: a concert hall is a hall."""
    head = parse.heads[at]
    plain = parse.tags[at] == "NN" and parse.tags[head] in ("NN", "NNS") and span == (at, at) and at + 1 == head
    words = parse.words[at].islower() and parse.words[head].islower() and parse.words[head].isalpha()
    stands = parse.child(head, "det", "nmod:poss") is not None and parse.child(head, "amod", "nummod") is None
    if not (plain and words and stands) or parse.child(head, "cop") is not None:
        return False
    single, whole = parse.lower_lemmas[head], f"{parse.lower_lemmas[at]} {parse.lower_lemmas[head]}"
    senses = lexicon.senses(whole, "n") or lexicon.senses(whole.replace(" ", "_"), "n")
    if not senses:
        return lexicon.lemma_frequency(single, "n") >= COMMON and single not in NEEDS_MODIFIER
    return any(single in lexicon.words_of_sense(wider) for sense in senses[:1] for wider in lexicon.hypernyms(sense.id))


def _is_removable_adverb(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    head = parse.heads[at]
    if not STAYING.isdisjoint(parse.lowers[span[0] : span[1] + 1]) or parse.tags[at] not in ("RB",):
        return False
    after_preposition = at > 0 and parse.lowers[at - 1] in OF_TIME  # before then, by now
    if (parse.lower_lemmas[head] in NEEDS_ADJUNCT and at > head) or after_preposition:
        return False
    return parse.lowers[at].endswith("ly") or parse.lowers[at] in (
        "very", "quite", "rather", "already", "also", "just", "still", "often", "always", "sometimes", "soon", "now",
        "today", "yesterday", "tomorrow", "again", "later", "then", "really", "perhaps", "maybe", "indeed", "however",
        "twice", "once", "pretty", "ago",
    )  # fmt: skip


def _is_removable_oblique(lexicon: Lexicon, parse: Parse, at: int, span: tuple[int, int]) -> bool:
    head, cases = parse.heads[at], _prepositions_of(parse, at)
    lemma = parse.lower_lemmas[head]
    if not COMPARING.isdisjoint(cases) or not NEGATIVE.isdisjoint(parse.lowers[span[0] : span[1] + 1]):
        return False
    in_front = span[0] == 0 and _is_comma(parse, span[1] + 1)
    is_main = parse.bases[head] in ("root", "ROOT")
    if in_front and is_main and cases and cases.isdisjoint(NEVER_IN_FRONT) and _has_subject(parse, head):
        return True
    if parse.lowers[span[0]] == "according":
        return in_front or _is_between_commas(parse, span)
    if is_main and _is_afterthought(parse, at, span):
        return bool(cases) and cases.isdisjoint(NEVER_IN_FRONT)
    if _is_time_word(parse, at) and (not cases or (len(cases) == 1 and cases <= OF_TIME)):
        return lemma not in NEVER_WITHOUT_TIME and (parse.child(head, "cop") is None or parse.pos[head] == "ADJ")
    return len(cases) == 1 and _is_removable_phrase_with(lexicon, parse, at, next(iter(cases)))


def _is_afterthought(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether a phrase follows a comma and ends a sentence whose clause has a subject."""
    head = parse.heads[at]
    last = _is_between_commas(parse, span) and _is_sentence_end(parse, span[1] + 1)
    return at > head and last and _has_subject(parse, head)


def _is_removable_phrase_with(lexicon: Lexicon, parse: Parse, at: int, case: str) -> bool:
    """Return whether the phrase's head can be used without a phrase that begins with this preposition."""
    head = parse.heads[at]
    lemma = parse.lower_lemmas[head]
    if case in OF_A_WHOLE_VERB:
        return at > head and lemma not in NEEDS_ADJUNCT | NEEDS_OBLIQUE and _is_transitive(lexicon, parse, head)
    if case not in PLACES_AND_TIMES:
        return False
    if (measured := parse.child(head, "obj")) is not None and _is_time_word(parse, measured):
        return False  # ten weeks at the top
    if parse.pos[head] == "ADJ":
        return parse.child(head, "cop") is not None and lemma not in BOUND_ADJECTIVES and at > head
    if parse.pos[head] != "VERB" or (lemma in NEEDS_ADJUNCT and at > head):
        return False
    return at < head or parse.child(head, "obj", "nsubj:pass") is not None or _is_intransitive(lexicon, parse, head)


def _has_subject(parse: Parse, head: int) -> bool:
    """Return whether a clause has a subject or is a request."""
    return parse.child(head, "nsubj", "expl", "csubj") is not None or parse.tags[head] == "VB"


def _prepositions_of(parse: Parse, at: int) -> frozenset[str]:
    return frozenset(parse.lowers[i] for i in parse.children[at] if parse.bases[i] in ("case", "mark"))


def _is_time_word(parse: Parse, at: int) -> bool:
    return parse.lower_lemmas[at] in TIMES


def _is_intransitive(lexicon: Lexicon, parse: Parse, verb: int) -> bool:
    """Return whether the verb's first sense can be intransitive: frames 1 and 2 of WordNet, "Something ----s"."""
    if parse.child(verb, "xcomp", "ccomp", "compound:prt") is not None:
        return False
    senses = lexicon.senses(parse.lower_lemmas[verb], "v")[:1]
    return any(frame in (1, 2) for sense in senses for frame in sense.frames)


def _is_transitive(lexicon: Lexicon, parse: Parse, verb: int) -> bool:
    """Return whether the verb has an object and needs nothing else: WordNet's frames 8 to 11, "Somebody ----s
    something".
    """
    if parse.pos[verb] != "VERB" or parse.child(verb, "xcomp", "ccomp", "compound:prt", "iobj") is not None:
        return False
    senses = lexicon.senses(parse.lower_lemmas[verb], "v")[:2]
    has = parse.child(verb, "obj", "nsubj:pass") is not None
    return has and any(8 <= frame <= 11 for sense in senses for frame in sense.frames)


def _is_removable_noun_phrase(parse: Parse, at: int) -> bool:
    head, cases = parse.heads[at], _prepositions_of(parse, at)
    if parse.pos[head] != "NOUN" or parse.lower_lemmas[head] in NEEDS_MODIFIER or at < head:
        return False
    is_named = parse.child(head, "det", "nmod:poss") is not None
    return len(cases) == 1 and cases <= PLACES_AND_TIMES | OF_A_NOUN and is_named and _has_no_negation(parse, at)


def _has_no_negation(parse: Parse, at: int) -> bool:
    return NEGATIVE.isdisjoint(parse.lowers[i] for i in parse.subtree(at))


def _is_removable_clause(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether this is a participle clause set off by commas, or a clause with a plain conjunction.

    A clause with "as" must be set off by a comma.
    """
    head, first = parse.heads[at], parse.lowers[span[0]]
    if span[0] == at and parse.tags[at] in ("VBG", "VBN") and parse.child(at, "nsubj", "nsubj:pass") is None:
        is_alone = (span[0] == 0 and _is_comma(parse, span[1] + 1)) or _is_between_commas(parse, span)
        return is_alone and parse.pos[head] == "VERB" and _has_subject(parse, head) and _has_no_negation(parse, at)
    is_aside = first == "as" and (_is_between_commas(parse, span) or span[0] == 0) and _has_subject(parse, at)
    opens = (first in SUBORDINATING or is_aside) and parse.bases[span[0]] in ("mark", "advmod")
    if not opens or parse.child(at, "nsubj") is None or parse.pos[head] not in ("VERB", "ADJ", "NOUN"):
        return False
    return _has_subject(parse, head) and not any(parse.lowers[i] == "it" for i in parse.children[head])


def _names_speaker_at_end(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether this clause names the speaker after a comma at the end of the sentence: ", experts testified."."""
    names_speaker = parse.lower_lemmas[at] in ASIDE and parse.child(at, "nsubj") is not None
    return (
        names_speaker
        and at > parse.heads[at]
        and _is_between_commas(parse, span)
        and _is_sentence_end(parse, span[1] + 1)
    )


def _is_removable_relative_clause(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether this is a relative clause or participle that its noun can do without."""
    head = parse.heads[at]
    if parse.lowers[span[0]] in ("which", "who", "whose") and at > head and _is_between_commas(parse, span):
        return True
    named = parse.pos[head] in ("NOUN", "PROPN") and parse.lower_lemmas[head] not in NEEDS_RELATIVE
    if not named or at < head or parse.child(head, "cop", "expl") is not None:
        return False
    if any(parse.tags[i] in ("JJS", "RBS") or parse.lowers[i] in NO_MODIFIER for i in parse.children[head]):
        return False
    if parse.deps[at] == "acl:relcl":
        opened = parse.lowers[span[0]] in ("who", "which", "that", "where", "whom", "whose")
        bare = (
            (subject := parse.child(at, "nsubj")) is not None
            and span[0] in parse.subtree(subject)
            and parse.child(head, "det", "nmod:poss") is not None
            and span[0] == parse.subtree(head)[-1] - (span[1] - span[0])
        )
        return (opened or bare) and not (parse.pos[head] == "PROPN" and not _is_between_commas(parse, span))
    return parse.tags[at] == "VBN" and span[0] == at and span[1] > at


def _is_set_off(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether commas set this apposition, interjection or form of address off from the rest."""
    if parse.bases[at] == "appos":
        alone = [parse.bases[i] for i in parse.children[parse.heads[at]]].count("appos") == 1
        return alone and _is_between_commas(parse, span)
    return (span[0] == 0 and _is_comma(parse, span[1] + 1)) or _is_between_commas(parse, span)


def _is_comma(parse: Parse, at: int) -> bool:
    return 0 <= at < len(parse) and parse.words[at] == ","


def _is_sentence_end(parse: Parse, at: int) -> bool:
    """Return whether the text ends before index `at`, or the token there ends a sentence."""
    return at >= len(parse) or parse.words[at] in (".", "!", "?")


def _is_between_commas(parse: Parse, span: tuple[int, int]) -> bool:
    behind = span[1] + 1
    return _is_comma(parse, span[0] - 1) and (_is_comma(parse, behind) or _is_sentence_end(parse, behind))


def _include_commas(parse: Parse, first: int, last: int, kind: str) -> RemovableUnit | None:
    """Return the unit with its own commas, or None if other punctuation touches the unit."""
    before, after = _is_comma(parse, first - 1), _is_comma(parse, last + 1)
    if before and (after or _is_sentence_end(parse, last + 1)):
        first -= 1
        last += after
    elif after and (first == 0 or _is_sentence_end(parse, first - 1)):
        last += 1
    elif before or after:  # a comma that may separate clauses or list items
        return None
    if first and parse.words[first - 1] in ("(", "[", '"', "“", "'", "‘", ":", ";", "-", "–", "—", "``"):
        return None
    if last + 1 < len(parse) and not (_is_sentence_end(parse, last + 1) or parse.words[last + 1][0].isalnum()):
        return None
    return RemovableUnit(first, last, kind)


def _is_last_main_clause(parse: Parse, at: int, span: tuple[int, int]) -> bool:
    """Return whether this is the sentence's last main clause, has its own subject, and follows a comma or semicolon."""
    head = parse.heads[at]
    marked = span[0] > 0 and parse.words[span[0] - 1] in (",", ";")
    linked = parse.words[span[0] - 1] == ";" or parse.lowers[span[0]] in LINKING | {"so"} if marked else False
    ends = (
        _is_sentence_end(parse, span[1] + 1) and [i for i in parse.children[head] if parse.bases[i] == "conj"][-1] == at
    )
    whole = all(_has_subject(parse, i) and _has_finite_verb(parse, i) for i in (head, at))
    return marked and linked and ends and whole and parse.heads[head] == head


def _are_separable_coordinates(parse: Parse, head: int, at: int) -> bool:
    """Return whether both words are verbs, objects or obliques.

    Coordinated subjects are not separable, because the verb agrees with both.
    """
    if parse.pos[head] == "VERB":
        opened = parse.bases[head] != "advcl" or parse.child(head, "mark") is not None
        is_of = parse.bases[head] in ("ROOT", "root", "advcl", "ccomp") and opened
        return is_of and parse.tags[head] == parse.tags[at]
    verb = parse.lower_lemmas[parse.heads[head]]
    return parse.bases[head] in ("obj", "obl") and verb not in SYMMETRIC and verb not in NEEDS_ADJUNCT


def _find_outer_clauses(parse: Parse) -> Iterator[RemovableUnit]:
    """Yield the parts around a clause that can be the whole sentence: "She knows that", or a first clause with its
    "and".
    """
    root = next((i for i in range(len(parse)) if parse.heads[i] == i), None)
    if root is None or sum(parse.heads[i] == i for i in range(len(parse))) > 1:
        return
    for at in parse.children[root]:
        span = _token_span(parse, at)
        if span and parse.bases[at] == "ccomp" and _ends_with_speaker(parse, root, at, span):
            yield RemovableUnit(span[1] + 1, root, "aside")
        if span is None or at < root or not _is_sentence_end(parse, span[1] + 1) or span[1] + 2 != len(parse):
            continue
        marked = parse.bases[span[0]] == "mark"
        if (
            parse.child(at, "nsubj") is None
            or not _has_finite_verb(parse, at)
            or _refers_back(parse, span[0] + marked, span[1])
        ):
            continue
        is_factive = parse.lower_lemmas[root] in FACTIVE or (
            parse.lower_lemmas[root] in FEELING and parse.pos[root] == "ADJ"
        )
        if parse.bases[at] == "ccomp" and is_factive and _is_plain_speaker_clause(parse, root):
            opened = parse.lowers[span[0]] == "that" and marked
            if opened or not marked:
                yield RemovableUnit(0, span[0] - 1 + opened, "clause")
        elif parse.bases[at] == "conj" and parse.lowers[span[0]] in LINKING and parse.child(at, "cc") == span[0]:
            yield RemovableUnit(0, span[0], "coordinate")


def _ends_with_speaker(parse: Parse, root: int, at: int, span: tuple[int, int]) -> bool:
    """Return whether the text ends with a comma and the speaker of what comes before."""
    ends = (
        root + 2 == len(parse) and _is_sentence_end(parse, root + 1) and span[0] == 0 and _is_comma(parse, span[1] + 1)
    )
    return (
        ends
        and parse.lower_lemmas[root] in SAYING
        and parse.child(at, "nsubj") is not None
        and _has_finite_verb(parse, at)
    )


def _has_finite_verb(parse: Parse, at: int) -> bool:
    parts = [*(i for i in parse.children[at] if parse.bases[i] in ("aux", "cop")), at]
    return any(parse.tags[i] in ("VBD", "VBZ", "VBP", "MD") for i in parts)


def _is_plain_speaker_clause(parse: Parse, root: int) -> bool:
    """Return whether the speaker's clause has no negation, question or modal."""
    here = [i for i in parse.children[root] if parse.bases[i] in ("aux", "advmod", "mark", "det")]
    if parse.pos[root] == "ADJ" and parse.child(root, "cop") is None:
        return False
    return not here and _has_finite_verb(parse, root) and parse.child(root, "nsubj", "csubj") is not None


def _find_removable_sentences(parse: Parse) -> Iterator[RemovableUnit]:
    """Yield each sentence of a text with several, unless the next sentence refers back to it."""
    ends = [i for i in range(len(parse)) if _closes_sentence(parse, i)]
    spans = [(0 if not k else ends[k - 1] + 1, end) for k, end in enumerate(ends)]
    if len(spans) < 2 or spans[-1][1] != len(parse) - 1:
        return
    for k, (first, last) in enumerate(spans):
        behind = spans[k + 1 : k + 2]
        if last - first >= 2 and not any(_refers_back(parse, a, b) for a, b in behind):
            yield RemovableUnit(first, last, "sentence")


def _closes_sentence(parse: Parse, at: int) -> bool:
    if parse.words[at] not in (".", "!", "?"):
        return False
    return at + 1 == len(parse) or (
        parse.starts[at + 1] > parse.ends[at] and parse.words[at + 1][0].isupper() and parse.words[at - 1].islower()
    )


def _refers_back(parse: Parse, first: int, last: int) -> bool:
    return any(parse.lowers[i] in BACK and not _is_expletive_or_conjunction(parse, i) for i in range(first, last + 1))


def _is_expletive_or_conjunction(parse: Parse, at: int) -> bool:
    """Return whether the word is an expletive ("it" in "it rained") or a conjunction ("that" before a clause)."""
    if parse.lowers[at] == "that":
        return parse.tags[at] in ("IN", "WDT")
    return parse.bases[at] == "expl"


def has_finite_verb(parse: Parse) -> bool:
    """Return whether a text has a finite verb, including an imperative."""
    return any(tag in ("VBD", "VBZ", "VBP", "MD", "VB") for tag in parse.tags)


def has_balanced_punctuation(parse: Parse) -> bool:
    """Return whether brackets and quotation marks come in pairs, and no punctuation is misplaced."""
    text = parse.text
    if any(text.count(a) != text.count(b) for a, b in PAIRED.items()) or text.count('"') % 2:
        return False
    doubled = any(a in ",;:" and b in ",;:.!?" for a, b in pairwise(parse.words))
    cut = text.rstrip("\"'”’)").endswith("..") and not text.endswith("...")
    return bool(text) and not doubled and not cut and text[0] not in ",;:.!?"
