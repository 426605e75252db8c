"""Detect English prose, and addresses, handles and code, which generators do not edit.

Function words decide whether a text is English, otherwise py3langid (Lui and Baldwin 2012).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from encheck.types import content_hash

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

WORD = re.compile(r"[^\W\d_]+")
MIN_FUNCTION_WORD_SHARE = 0.21  # a text with at least this share of function words is English
MIN_LIKELIHOOD_RATIO = 10  # a different language must be this many times as likely as English
LANGUAGES_REMEMBERED = 2_000  # texts: each generator asks again
MIN_WORDS = 3  # words: shorter texts have no language
FUNCTION_WORDS = frozenset(
    """the of and to is for that with was are this have from you what how which who why where when will would can could
    should does did they their there been about were has had not but it its his her she he we our my your if than then
    some all more most out into only just""".split()
)
NAMES: Mapping[str, str] = dict(
    one.split(":")
    for one in """ar:Arabic bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish de:German el:Greek en:English
    es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician gu:Gujarati he:Hebrew hi:Hindi
    hr:Croatian hu:Hungarian id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian kn:Kannada ko:Korean
    lt:Lithuanian lv:Latvian ml:Malayalam mr:Marathi ms:Malay nb:Norwegian nl:Dutch no:Norwegian nn:Norwegian
    pa:Punjabi pl:Polish pt:Portuguese ro:Romanian ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish
    sw:Swahili ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese""".split()
)
OTHER, SHORT = "in another language", "too short to tell"
MAX_COUNTED_TEXTS = 1_000  # texts
UNSPACED = "\u0e00"  # the first letter of scripts without blanks, such as Thai and Chinese


@lru_cache(maxsize=LANGUAGES_REMEMBERED)
def detect_language(text: str) -> str:
    """Return the name of the text's language.

    It is `OTHER` for a language without a name here, and `SHORT` for a text of fewer than three words.

    >>> detect_language("Your order left on 5 March."), detect_language("Votre commande est partie le 5 mars.")
    ('English', 'French')
    """
    words = [word.lower() for word in WORD.findall(text)]
    if len(words) < MIN_WORDS and max("".join(words), default="") < UNSPACED:
        return SHORT
    if words and sum(word in FUNCTION_WORDS for word in words) >= MIN_FUNCTION_WORD_SHARE * len(words):
        return NAMES["en"]
    likely = _load_language_identifier().rank(text)
    is_sure = float(likely[0][1]) >= MIN_LIKELIHOOD_RATIO * float(dict(likely)["en"])
    return NAMES.get(str(likely[0][0]), OTHER) if is_sure else NAMES["en"]


def is_english(text: str) -> bool:
    """Return whether the text is English, or too short to tell."""
    return detect_language(text) in (NAMES["en"], SHORT)


def count_languages(texts: Collection[str]) -> dict[str, int]:
    """Return language -> number of texts, the most frequent language first.

    Of many texts, only a sample of 1,000 is counted, chosen by hash.
    """
    chosen = sorted({*texts}, key=content_hash)[:MAX_COUNTED_TEXTS]
    return dict(Counter(map(detect_language, chosen)).most_common())


def english_share(languages: Mapping[str, int]) -> float:
    """Return the share of English among the texts with a known language, or 1 if there are none.

    >>> english_share({"Finnish": 180, "English": 60, SHORT: 12}), english_share({})
    (0.25, 1.0)
    """
    told = sum(languages.values()) - languages.get(SHORT, 0)
    return languages.get(NAMES["en"], 0) / told if told else 1.0


def summarise_languages(languages: Mapping[str, int]) -> str:
    """Return a summary of the numbers of texts by language.

    >>> summarise_languages({"Finnish": 180, "English": 60})
    'of 240 texts, 180 Finnish, 60 English'
    """
    counts = (f"{count:,} {name}" for name, count in languages.items())
    return f"of {sum(languages.values()):,} texts, {', '.join(counts)}"


@cache
def _load_language_identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


NOT_ENGLISH = "not in English"
NO_SENTENCE = "a table, a log line or code"
MIN_LETTER_SHARE = 0.75  # the least share of letters and blanks in a sentence
ELSEWHERE = re.compile(
    r"""https?://\S+|www\.\S+|\S+@\S+|(?<!\w)@\w+|\#[A-Za-z]\w*|`[^`]*`|\S*[\\_{}<>=]\S*|(?<!\w)/\w\S*|\w+(?:/\w+){2,}
    |\w+\([^()\s]*\)|&\ ?\#\ ?\w+|\b\d+(?:\.\d+){3}\b|\+?\d[\d()-]*-\d{3}-\d{4}\b|0x[0-9A-Fa-f]+""",
    re.VERBOSE,
)
CODE = re.compile(r"`[^`\s][^`]*`|\b\w+\([^()\s]*\)|\b[A-Za-z]\w*_\w+|\w(?:::|->|=>)\w|</?[a-z]\w*>")
REMEMBERED = 10_000  # texts: each generator asks again


@lru_cache(REMEMBERED)
def why_not_edited(text: str) -> str:
    """Return the reason why generators of English prose do not edit this text, or "" if they do.

    >>> why_not_edited("Votre commande est partie le 5 mars."), why_not_edited("Your order left on 5 March.")
    ('not in English', '')
    """
    if not is_prose(text):
        return NO_SENTENCE
    return "" if is_english(text) else NOT_ENGLISH


def is_prose(text: str) -> bool:
    """Return whether most of a text is letters and blanks, without column separators.

    >>> is_prose("Your order left on 5 March."), is_prose("2024-03-05 10:11:12,345 [17] ERR 0x3f")
    (True, False)
    """
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    digits = sum(sign.isdigit() for sign in text)
    return (
        letters >= MIN_LETTER_SHARE * (len(text) - min(digits, len(text) // 5))
        and "\t" not in text
        and text.count("|") < 2
    )


@lru_cache(REMEMBERED)
def find_unedited_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of addresses, handles and code, in characters.

    >>> find_unedited_spans("Run `make` now.")
    ((4, 10),)
    """
    return tuple(match.span() for match in ELSEWHERE.finditer(text))


def contains_code(text: str) -> bool:
    """Return whether a sentence contains code: backticks, a call, a name with underscores, a tag.

    >>> contains_code("Fix the slow query in `get_user`."), contains_code("Fix the slow query.")
    (True, False)
    """
    return CODE.search(text) is not None
