"""Fixed expressions: words that a lexicon knows as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from sys import intern

from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import Parse
from encheck.system.memory import without_collection


class Expressions:
    """Expressions of two and three words that a lexicon knows as one."""

    @without_collection()
    def __init__(self, lexicon: Lexicon) -> None:
        lemmas = (lemma for pos in ("n", "v", "a", "r") for lemma in lexicon.lemmas(pos) if "_" in lemma)
        self._known = frozenset(lemma.replace("_", " ") for lemma in lemmas if lemma.count("_") < 3)
        self._beside = _Beside(self._known)

    def hold(self, parse: Parse, at: int) -> bool:
        """Whether the token stands in one, by its words or by their lemmas."""
        words, lemmas = parse.lowers, parse.lower_lemmas
        for column in (words, lemmas):
            beside = self._beside[column[at]]
            if beside and not beside.isdisjoint(column[at - 1 if at else 0 : at + 2]):
                break
        else:
            return False
        size = len(words)
        for start, end in ((at - 1, at + 1), (at, at + 2), (at - 2, at + 1), (at - 1, at + 2), (at, at + 3)):
            both = words[start:end], lemmas[start:end]
            if start >= 0 and end <= size and not self._known.isdisjoint(map(" ".join, both)):
                return True
        return False


class _Beside(dict[str, frozenset[str]]):
    """Word -> the words beside it in expressions; of those that are asked for, so that it stays small."""

    def __init__(self, expressions: Iterable[str]) -> None:
        super().__init__()
        having: defaultdict[str, list[str]] = defaultdict(list)
        for expression in expressions:
            for word in expression.split():
                having[word].append(expression)
        self.having = {word: tuple(found) for word, found in having.items()}  # tuples of text are no work for the GC

    def __missing__(self, word: str) -> frozenset[str]:
        pairs = [pair for expression in self.having.get(word, ()) for pair in pairwise(expression.split())]
        self[word] = frozenset([intern(other) for a, b in pairs for one, other in ((a, b), (b, a)) if one == word])
        return self[word]
