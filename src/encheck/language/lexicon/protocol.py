"""What a lexicon answers: senses, synonyms and antonyms of a word, and the lemmas that a form may belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

Pos = Literal["n", "v", "a", "r"]


PARTS: tuple[Pos, ...] = get_args(Pos)


Marker = Literal["", "a", "p", "ip"]


MARKERS: tuple[Marker, ...] = get_args(Marker)


@dataclass(frozen=True, slots=True)
class Sense:
    """One sense of a lemma.

    `id` is the first word of the synset, its part of speech and the number of this sense among that word's, as in
    "dog.n.01"; `lemmas` are all words of the synset in WordNet's order, the lemma itself among them. `count` says how
    often the *lemma* was tagged with this sense. `marker` is where an adjective may stand: "a" before its noun only,
    "p" as a predicate only, "ip" right after its noun only. `frames` are the numbers of a verb's sentence frames
    (https://wordnet.princeton.edu/documentation/wninput5wn), `lexfile` that of the lexicographer's file, a coarse
    topic. `satellite` tells an adjective whose antonym, if any, is that of the head it is similar to.
    """

    id: str
    lemmas: tuple[str, ...]
    count: int
    marker: Marker = ""
    frames: tuple[int, ...] = ()
    lexfile: int = 0
    satellite: bool = False


@dataclass(frozen=True, slots=True)
class Antonym:
    """A word in a sense that opposes; not `direct` where only the heads of the two are opposed."""

    lemma: str
    sense: str
    direct: bool = True


class Lexicon(Protocol):
    """What every lexicon answers. A word or sense that it doesn't know has no senses and no relations."""

    release: str

    def __hash__(self) -> int:
        """Lexicons are looked up in caches."""

    def fingerprint(self) -> str:
        """What stands in the record for this lexicon: its release and its files' content."""

    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """All lemmas of a part of speech in lower case, sorted."""

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The senses of a lemma, the most frequent first; no inflected form is looked up, case is ignored."""

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """What opposes the lemma in this sense; with `indirect`, after it what opposes the heads of a satellite."""

    def members(self, sense: str) -> tuple[str, ...]:
        """The words of the synset with this id."""

    def similar(self, sense: str) -> tuple[str, ...]:
        """The ids of the heads of a satellite adjective, sorted."""

    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """The ids of the next wider senses of a noun or verb, sorted."""

    def instance_of(self, sense: str) -> tuple[str, ...]:
        """The ids of the classes of a noun that names one thing (a river, a person), sorted."""

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The lemmas that a form may belong to, by WordNet's list of irregular forms and its rules."""

    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of a form in WordNet's list of irregular forms, whether they are lemmas or not."""

    def count(self, lemma: str, pos: Pos) -> int:
        """How often the lemma was seen: WordNet's tags and the treebank's words together."""

    def frequency(self, lemma: str, pos: Pos) -> float:
        """How common the lemma is on the Zipf scale (`frequencies.zipf`)."""

    def word_count(self, word: str, upos: str | None = None) -> int:
        """How often the treebank has the word in this form, with this universal tag or with any; case is ignored."""

    def word_frequency(self, word: str) -> float:
        """How common the word in this form is on the Zipf scale, in the treebank alone."""


ENDINGS: dict[Pos, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


def base_forms(form: str, pos: Pos, irregular: Iterable[str], known: Callable[[str], bool]) -> tuple[str, ...]:
    """The form itself and its base forms, as far as they are `known`; the endings count where no irregular form does.

    https://wordnet.princeton.edu/documentation/morphy7wn, for single words, and as NLTK reads it.

    >>> base_forms("axes", "n", ["ax", "axis"], {"ax", "axe", "axis"}.__contains__)
    ('ax', 'axis')
    >>> base_forms("leaves", "v", [], {"leave", "leaf"}.__contains__)
    ('leave',)
    """
    found = list(irregular) or [form.removesuffix(old) + new for old, new in ENDINGS[pos] if form.endswith(old)]
    return tuple(dict.fromkeys(f for f in (form, *found) if known(f)))
