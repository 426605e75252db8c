"""The tests of `pytest tests -m quick`: pure and fast, and every package of src/encheck is among what they import."""

WHOLE = frozenset(
    "architecture scoring_session classification compare threshold_promise draws exports files frame gate gating ids "
    "index_in_use items making metrics models_yaml options pairs places progress project_table quick reader reporting "
    "sources verdict".split()
)
IN_PART = frozenset(
    "api cli explore judging promises same shrink strategies training".split()
)  # single tests there are marked


def is_named(stem: str) -> bool:
    """Whether a test file has quick tests."""
    return stem.removeprefix("test_") in WHOLE | IN_PART
