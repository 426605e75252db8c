"""Texts whose vectors every baseline keeps, so that two models can be compared vector by vector on any data.

They are nobody's data: a vector says something of its text, and a baseline lies in a repository. The short ones have 1
to 18 words. The long ones lie on both sides of the usual maximum lengths: 32 tokens, 64, 128 and so on to 8,192.
"""

FIXED_TEXTS = (
    "The ferry leaves at half past six.",
    "How do I reset my password?",
    "Invoice 4417 was paid twice.",
    "The committee did not approve the budget.",
    "Bread",
    "A red kite circled above the quarry all afternoon.",
    "Which of the two routers needs a firmware update before it can join the mesh?",
    "She taught chemistry in Lisbon before she moved to Oslo.",
    "Store below 8 degrees and away from direct light.",
    "The bridge was closed because the river had risen by two metres overnight.",
    "My order has not arrived, and the tracking page shows nothing since Tuesday.",
    "Every tenant received a letter; nobody answered.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Unlike the first edition, the second one has an index.",
    "He sold the boat to his neighbour for less than it had cost him.",
    "Can I cancel a booking without a fee?",
    "The patient may leave the ward once the fever has gone.",
    "Three of the nine samples were contaminated, so the experiment was repeated with fresh reagents in another lab.",
    "Tickets bought online are cheaper than those at the door.",
    "ERROR 503: upstream service unavailable",
    "The violinist refused to play the encore.",
    "Turn left after the church, then take the second street on the right.",
    "Rainfall in March was far below the average of the last thirty years.",
    "If the light blinks twice, the battery has to be replaced.",
    "Our office is closed on public holidays.",
    "The novel follows two brothers who inherit a lighthouse and cannot agree on what to do with it.",
    "No refunds are given after thirty days.",
    "Mix flour, salt and water, and let the dough rest for an hour.",
    "The minister denied that she had met the lobbyists.",
    "Cheap flights to Rome in October",
    "A contract that is not signed by both parties is not binding.",
    "Thanks, that solved it!",
)
LONG_WORDS = (15, 30, 45, 90, 180, 350, 700, 1_400, 2_800, 5_600, 11_200)  # a token has about three quarters of a word


def long_text(words: int) -> str:
    """The short texts one after the other, from another one on for each length, cut at so many words.

    >>> long_text(4), len(long_text(700).split())
    ('The minister denied that', 700)
    """
    start = 7 * words % len(FIXED_TEXTS)
    run = " ".join((*FIXED_TEXTS[start:], *FIXED_TEXTS[:start])).split()
    return " ".join((run * (words // len(run) + 1))[:words])
