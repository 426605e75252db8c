"""Noise moves a text less than a change of meaning of the same size (Ribeiro et al. 2020, CheckList: INV).

People mistype, paste and copy. A typing error, a curly quote or a list mark changes no meaning. One digit or a "not"
does. A model that counts differing characters finds the wrong record for anyone who types in a hurry.
"""

from encheck import claim
from encheck.generators.typo import MARKUP_AND_EMOJI, OTHER_NOTATIONS, TYPING_ERRORS, other_meaning, typo
from encheck.items import noise_contrasts
from encheck.metrics import margin_rate
from encheck.presets import MARGINS


@claim(
    noise_contrasts(typo, other_meaning),
    levels=(1, 2, 3),
    property="typo",
    tells="a typing error from another number or a denial",
    family="invariance",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    means="A typing error more often changes results than another number or a denial does.",
)
def test_typing_errors_are_nearer_than_other_meaning(judge):
    """One, two or three mistyped words move a text less than a change of meaning by the same number of letters."""
    judge()


@claim(
    noise_contrasts(TYPING_ERRORS, other_meaning),
    levels=tuple(TYPING_ERRORS),
    property="typo",
    tells="a typing error from another number or a denial",
    family="invariance",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    gates="the same typing errors as in the check above, by kind",
    aim=0.8,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    means="This kind of typing error changes results more often.",
)
def test_each_kind_of_typing_error_is_nearer_than_other_meaning(judge):
    """Each kind of typing error (a neighbouring key, two swapped letters, a missing letter) is nearer than a change of
    meaning.
    """
    judge()


@claim(
    noise_contrasts(OTHER_NOTATIONS, other_meaning),
    levels=tuple(OTHER_NOTATIONS),
    property="typo",
    tells="another notation from another number or a denial",
    family="invariance",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    floor=0.5,
    aim=0.95,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    means="Text that was pasted or exported gets different results more often.",
)
def test_other_notation_is_nearer_than_other_meaning(judge):
    """Other quotes, blanks, Unicode forms, accents or capitals move a text less than a change of meaning."""
    judge()


@claim(
    noise_contrasts(MARKUP_AND_EMOJI, other_meaning),
    levels=tuple(MARKUP_AND_EMOJI),
    property="typo",
    tells="stray markup from another number or a denial",
    family="invariance",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="Ribeiro et al. 2020, CheckList, section 2: INV",
    means="A list mark, a stray tag or an emoji more often changes results than another number or a denial does.",
)
def test_markup_is_nearer_than_other_meaning(judge):
    """An emoji, or markup of HTML, Markdown or a list, moves a text less than a change of meaning."""
    judge()
