"""From a filled frame to a sentence, and from two sentences to the edits between them."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate

from encheck.types import Edit

BEGIN = re.compile(r"(?:^|(?<=\w\w[.!?] ))\W*[a-zß-ÿ]")
TOKEN = re.compile(r"\w+|\W+")


def sentence(text: str) -> str:
    """The text with a capital letter where a sentence begins.

    >>> sentence("an old lamp was sold. it was a blue one.")
    'An old lamp was sold. It was a blue one.'
    """
    return BEGIN.sub(lambda found: found[0].upper(), text)


@lru_cache(maxsize=20_000)  # the probes have 6,000 of them, and a process may load them more than once
def edits(source: str, text: str) -> tuple[Edit, ...]:
    """What turns the source into the text, word by word.

    >>> edits("a red car", "a blue car")
    (Edit(start=2, end=5, text='blue'),)
    """
    old, new = TOKEN.findall(source), TOKEN.findall(text)
    starts = list(accumulate(map(len, old), initial=0))
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Edit(starts[i], starts[j], "".join(new[k:m])) for tag, i, j, k, m in codes if tag != "equal")
