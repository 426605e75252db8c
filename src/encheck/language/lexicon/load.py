"""The lexicon: which words share a sense, which are opposed, how common they are.

`lexicon()` opens the one that comes with the package, built from WordNet 3.0 (docs/lexicon.md); `lexicon("nltk")` asks
NLTK's WordNet, and `lexicon(PATH)` the WordNet files of a folder. All three give the same answers on the same release.

Words are written as WordNet writes them: in their own case, with `_` for a blank. Parts of speech are "n", "v", "a" and
"r"; satellite adjectives ("s") count as "a".
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from encheck.errors import DataError, UsageError, unknown
from encheck.language.lexicon.protocol import Lexicon

NAMES = ("embedded", "nltk")


@cache
def lexicon(name: str = "embedded") -> Lexicon:
    """The lexicon of this name: "embedded", "nltk", or the path of a folder with WordNet's files.

    Opened once a process. UsageError for an unknown name; DataError if the files are missing or not WordNet's.

    >>> [s.id for s in lexicon().senses("garden", "n")]
    ['garden.n.01', 'garden.n.02', 'garden.n.03']
    >>> [a.lemma for s in lexicon().senses("hot", "a")[:1] for a in lexicon().antonyms("hot", "a", s)]
    ['cold']
    """
    if name == "embedded":
        from encheck.language.lexicon.embedded import EmbeddedLexicon

        return EmbeddedLexicon.opened()
    from encheck.language.lexicon.wordnet import NltkLexicon, corpus, folder

    if name == "nltk":
        return NltkLexicon(corpus())
    if Path(name).is_dir():
        return NltkLexicon(folder(Path(name)))
    if any(mark in name for mark in "/\\."):
        raise DataError(f"no folder {name!r}; a lexicon is one of {', '.join(NAMES)} or a folder with WordNet's files")
    raise UsageError(unknown("lexicon", name, NAMES))
