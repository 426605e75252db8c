"""Content words, as opposed to function words."""

from __future__ import annotations

from encheck.similarity import word_set

FUNCTION_WORDS = frozenset(
    """
    a about above after again against all almost along already also although always am among an and another any
    anybody anyone anything are aren't around as at away back be became because become been before behind being below
    between both but by came can can't cannot come could couldn't did didn't do does doesn't doing don't done down
    during each either else enough even ever every everybody everyone everything few for from further gave get gets
    getting give go goes going gone got had hadn't has hasn't have haven't having he he'd he'll he's her here here's
    hers herself him himself his how however i i'd i'll i'm i've if in instead into is isn't it it's its itself just
    keep kept let let's like made make makes many may me might mine more most much must my myself near neither never
    next no nobody none nor not nothing now of off often on once one one's only onto or other others our ours
    ourselves out over own per perhaps put rather really s said same say says shall she she'd she'll she's should
    shouldn't since so some somebody someone something soon still such t take taken than that that's the their theirs
    them themselves then there there's these they they'd they'll they're they've this those though through thus to
    together too took toward towards two under until up upon us very was wasn't way we we'd we'll we're we've well
    went were weren't what what's when where whether which while who who's whom whose why will with within without
    won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
    d ll m n't re s ve
    """.split()
)


STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being below between both but
    by can did do does doing down during each few for from further had has have having he her here hers herself him
    himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
    other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
    there these they this those through to too under until up very was we were what when where which while who whom
    why will with you your yours yourself yourselves
    """.split()
)


def content_words(text: str) -> frozenset[str]:
    """Return the lower-cased words of a text except function words.

    Clitics that tokenised corpora split off (`'s`, `n't`) are not content, and a curly apostrophe equals a straight
    one.

    >>> sorted(content_words("The dog was in the garden."))
    ['dog', 'garden']
    """
    return word_set(text.replace("’", "'")) - FUNCTION_WORDS
