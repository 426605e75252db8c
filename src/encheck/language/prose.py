"""Whether a text is English prose, and what of it is an address, a handle or code: what generators leave alone."""

from __future__ import annotations

import re
from functools import lru_cache

from encheck.language.identify import is_english

NOT_ENGLISH = "not in English"
NO_SENTENCE = "a table, a log line or code"
PROSE = 0.75  # the least share of letters and blanks in a sentence
ELSEWHERE = re.compile(
    r"""https?://\S+|www\.\S+|\S+@\S+|(?<!\w)@\w+|\#[A-Za-z]\w*|`[^`]*`|\S*[\\_{}<>=]\S*|(?<!\w)/\w\S*|\w+(?:/\w+){2,}
    |\w+\([^()\s]*\)|&\ ?\#\ ?\w+|\b\d+(?:\.\d+){3}\b|\+?\d[\d()-]*-\d{3}-\d{4}\b|0x[0-9A-Fa-f]+""",
    re.VERBOSE,
)
CODE = re.compile(r"`[^`\s][^`]*`|\b\w+\([^()\s]*\)|\b[A-Za-z]\w*_\w+|\w(?:::|->|=>)\w|</?[a-z]\w*>")
REMEMBERED = 10_000  # texts: each generator asks again


@lru_cache(REMEMBERED)
def why_left(text: str) -> str:
    """Why no generator of English prose edits this text, in a few words; empty where nothing speaks against it.

    >>> why_left("Votre commande est partie le 5 mars."), why_left("Your order left on 5 March.")
    ('not in English', '')
    """
    if not is_prose(text):
        return NO_SENTENCE
    return "" if is_english(text) else NOT_ENGLISH


def is_prose(text: str) -> bool:
    """Whether most of a text is letters and blanks, and nothing in it divides columns.

    >>> is_prose("Your order left on 5 March."), is_prose("2024-03-05 10:11:12,345 [17] ERR 0x3f")
    (True, False)
    """
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    digits = sum(sign.isdigit() for sign in text)
    return letters >= PROSE * (len(text) - min(digits, len(text) // 5)) and "\t" not in text and text.count("|") < 2


@lru_cache(REMEMBERED)
def left_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where addresses, handles and code stand, as offsets in characters.

    >>> left_spans("Run `make` now.")
    ((4, 10),)
    """
    return tuple(found.span() for found in ELSEWHERE.finditer(text))


def quotes_code(text: str) -> bool:
    """Whether a sentence names code: backticks, a call, a name with underscores, a tag.

    >>> quotes_code("Fix the slow query in `get_user`."), quotes_code("Fix the slow query.")
    (True, False)
    """
    return CODE.search(text) is not None
