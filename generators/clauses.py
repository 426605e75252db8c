"""Split a sentence into a main clause and a subordinate clause whose order can be exchanged."""

from __future__ import annotations

from dataclasses import dataclass

from encheck.generators.phrases import capitalise_first_letter, contiguous_span, statement_root, text_inside_sentence
from encheck.language.english import English
from encheck.language.parse import Parse

PRONOUNS = frozenset("he she it they him her them himself herself itself themselves".split())
SHOWING = frozenset(
    "his hers its their theirs this that these those here there such one ones another which who".split()
)
MARKS = frozenset('"“”‘`()[]{}\u2013\u2014;:!?/*…')  # \u2013 and \u2014 are dashes
BESIDE = ("conj", "parataxis", "ccomp", "advcl", "discourse", "vocative", "cc")
FINITE = frozenset(["VBD", "VBZ", "VBP", "MD"])
TIMES = ("DATE", "TIME")
LONGEST, LONGEST_FREE = 20, 12  # words of a clause


@dataclass(frozen=True, slots=True)
class TwoClauses:
    """Two clauses as written within a sentence, the conjunction, and the end of the text.

    `clauses_can_swap` is true if either clause can be the main clause. `are_both_past` is true if both are in the past
    tense. `fits_event_order` is true if the tenses fit "before" and "after", `fits_open_condition` if they are those of
    an open condition.
    """

    main: str
    conjunction: str
    other: str
    end: str
    clauses_can_swap: bool
    are_both_past: bool
    fits_event_order: bool
    fits_open_condition: bool
    starts_with_capital: bool
    comma: str


def split_two_clauses(parse: Parse, english: English, words: frozenset[str]) -> TwoClauses | str:
    """Return the clauses of a text that has exactly two, or the reason why it cannot be split.

    One of `words` must open the second clause.
    """
    root = statement_root(parse)
    marks = [i for i, word in enumerate(parse.lowers) if word in words and parse.bases[i] == "mark"]
    if root is None or len(marks) != 1 or parse.bases[parse.heads[marks[0]]] != "advcl":
        return "no clause that depends on the main clause and starts with the word"
    at, verb = marks[0], parse.heads[marks[0]]
    span = contiguous_span(parse, verb)
    if parse.heads[verb] != root or span is None or span[0] != at:
        return "no clause that depends on the main clause and starts with the word"
    if not MARKS.isdisjoint(parse.text) or " '" in parse.text or "--" in parse.text or parse.words[-1] != ".":
        return "a quotation, an insertion or no full stop"
    is_plain = not any(parse.bases[i] in (*BESIDE, "aux", "cop", "nsubj") for i in parse.children[verb])
    has_no_subject = parse.tags[verb] == "VBG" and is_plain  # "before leaving"
    if not _is_complete_clause(parse, root, verb) or not (has_no_subject or _is_complete_clause(parse, verb, None)):
        return "a clause without subject or finite verb, or with another beside it"
    return _clauses_by_position(parse, english, at, span[1]) or "more than two clauses"


def _is_complete_clause(parse: Parse, verb: int, clause: int | None) -> bool:
    """Return whether a clause begins with its subject, has a finite verb, and contains no clause but `clause`."""
    subject = parse.child(verb, "nsubj")
    if subject is None and clause is not None and tag_of_finite_word(parse, verb) == "VB":
        subject = verb
    if subject is None or any(parse.bases[i] in BESIDE for i in parse.children[verb] if i != clause):
        return False
    before = [
        i for i in parse.children[verb] if i < subject and i != clause and parse.bases[i] not in ("mark", "punct")
    ]
    own = set(parse.subtree(verb)) - set(parse.subtree(clause)) if clause is not None else set()
    pronoun = any(parse.lowers[i] in PRONOUNS for i in own)
    return not before and not pronoun and tag_of_finite_word(parse, verb) != ""


def tag_of_finite_word(parse: Parse, verb: int) -> str:
    """Return the Penn tag of a clause's finite word, or "" for no finite word, a perfect, or "did" as a full verb."""
    parts = [*(i for i in parse.children[verb] if parse.bases[i] in ("aux", "cop")), verb]
    if any(parse.lower_lemmas[i] in ("have", "do", "use") for i in parts):
        return ""
    if parse.tags[verb] == "VB" and parse.child(verb, "nsubj", "aux", "cop", "mark") is None:  # "call us"
        return "VB"
    return next((parse.tags[i] for i in parts if parse.tags[i] in FINITE), "")


def _clauses_by_position(parse: Parse, english: English, at: int, after: int) -> TwoClauses | None:
    """Return the clauses if the second is at the end, or at the front and followed by a comma."""
    last = len(parse) - (parse.words[-1] in (".", "!"))
    end = parse.text[parse.ends[last - 1] :]
    comma = " ," if " ," in parse.text or end.startswith(" ") else ","
    if at > 0 and after == last:
        before = at - (parse.words[at - 1] == ",")
        main = text_inside_sentence(parse, (0, before), english.lexicon) if before else None
        other = _token_text(parse, at + 1, last)
    elif at == 0 and after < last and parse.words[after] == ",":
        main, other = _token_text(parse, after + 1, last), _token_text(parse, 1, after)
    elif at == 0 and parse.words[after - 1] == ",":
        main, other = _token_text(parse, after, last), _token_text(parse, 1, after - 1)
    else:
        return None
    size = max(len(main.split()) if main else 0, len(other.split()))
    if not main or "," in main + other or size > LONGEST:
        return None
    # Either clause can be the main one: both in the past tense, short, without a time or a referring word.
    verb = parse.heads[at]
    main_tag, other_tag = tag_of_finite_word(parse, parse.heads[verb]), tag_of_finite_word(parse, verb)
    are_both_past = main_tag == other_tag == "VBD"
    timed = any(one.endswith(TIMES) for one in parse.entities)
    refers = not (PRONOUNS | SHOWING).isdisjoint(parse.lowers)
    is_state = parse.child(verb, "cop") is not None or parse.tags[parse.heads[verb]] == "VBG"
    fits_order = (main_tag, other_tag) in (("VBD", "VBD"), ("MD", "VBZ"), ("MD", "VBP"), ("VBD", ""), ("MD", ""))
    return TwoClauses(
        main,
        parse.lowers[at],
        other,
        end,
        clauses_can_swap=are_both_past and not timed and size <= LONGEST_FREE and not refers,
        are_both_past=are_both_past,
        fits_event_order=fits_order and not is_state,
        fits_open_condition=main_tag in ("MD", "VBZ", "VBP", "VB") and other_tag in ("VBZ", "VBP"),
        starts_with_capital=parse.words[0][0].isupper(),
        comma=comma,
    )


def _token_text(parse: Parse, first: int, after: int) -> str:
    return parse.text[parse.starts[first] : parse.ends[after - 1]] if first < after else ""


def join_clauses(clauses: TwoClauses, main: str, conjunction: str, other: str, *, front: bool = False) -> str:
    """Return the text with these clauses and this conjunction. The second clause is at the end or at the front."""
    text = f"{conjunction} {other}{clauses.comma} {main}" if front else f"{main} {conjunction} {other}"
    return (capitalise_first_letter(text) if clauses.starts_with_capital else text) + clauses.end
