"""Whether a text is English: by its function words; where these do not tell, by py3langid (Lui and Baldwin 2012)."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

WORD = re.compile(r"[^\W\d_]+")
PLAIN = 0.21  # the share of function words from which on a text is English
SURE = 10  # times as likely as English has another language to be
REMEMBERED = 2_000  # texts: each generator asks again
FEWEST = 3  # words: less is no text of any language
FUNCTION_WORDS = frozenset(
    """the of and to is for that with was are this have from you what how which who why where when will would can could
    should does did they their there been about were has had not but it its his her she he we our my your if than then
    some all more most out into only just""".split()
)


@lru_cache(maxsize=REMEMBERED)
def is_english(text: str) -> bool:
    """Whether the text is English, or too short to tell.

    >>> is_english("Your order left on 5 March."), is_english("Votre commande est partie le 5 mars.")
    (True, False)
    """
    words = [word.lower() for word in WORD.findall(text)]
    if len(words) < FEWEST or sum(word in FUNCTION_WORDS for word in words) >= PLAIN * len(words):
        return True
    likely = _identifier().rank(text)
    return float(likely[0][1]) < SURE * float(dict(likely)["en"])


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
