"""Fresh probes: the same for the same seed, in good English, and without help from the surface."""

import re
from collections import Counter
from functools import cache
from itertools import combinations, takewhile

import numpy as np
import pytest
from measuring import Vectors, measured

from encheck.datasets import fresh_probes, probes
from encheck.datasets.fresh_probes import load_probe_frames
from encheck.datasets.load import load
from encheck.encoders.fake import BagOfWords, Contrary, Oracle
from encheck.errors import DataError
from encheck.items import crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean
from encheck.scoring.triplets import DIFFERENCE_SCORERS, surface_differences
from encheck.surface import SURFACE, tokens
from encheck.types import apply_edits, keeps_meaning

SEEDS = (1, 2)
EXCHANGED = ("role_reversal", "binding", "comparative", "temporal", "negation")  # candidates of the same words
RENAMED = ("number", "entity")


def _shared(first, second):
    """How many characters two texts have in common before the first difference."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(first.lower(), second.lower(), strict=False))])


def _turned(text):
    return text[::-1]


def _in_order(places):
    return sum(first < second for first, second in combinations(places, 2))


RIVALS = {name: lambda a, b, scorer=scorer: round(float(scorer([a], [b])[0]), 9) for name, scorer in SURFACE.items()}
RIVALS |= {
    "prefix": _shared,
    "suffix": lambda a, b: _shared(_turned(a), _turned(b)),
    "suffix - 2 prefix": lambda a, b: _shared(_turned(a), _turned(b)) - 2 * _shared(a, b),
    "order": lambda a, b: _in_order([tokens(b).index(word) for word in tokens(a) if word in tokens(b)]),
    "length": lambda a, b: -abs(len(a) - len(b)),
}


def groups():
    return fresh_probes.generate_fresh_groups(1)  # made once a process


@cache
def texts():
    return [text for g in groups() for text in (g.source, *(v.text for v in g.variants))]


@cache
def items(seed, name):
    return crossed(name)(data(seed), 1, None)


@cache
def data(seed):
    return probes.dataset_from_groups(list(fresh_probes.generate_fresh_groups(seed)))


@cache
def vectors(fake):
    return Vectors(fake(fresh=1))


def scores(name, by):
    return measured(items(1, name).included, by)


def test_a_seed_gives_the_same_groups_again_and_another_seed_others():
    again = fresh_probes.generate_fresh_groups.__wrapped__(1)
    assert again == groups()
    shared = {g.source for g in groups()} & {g.source for g in fresh_probes.generate_fresh_groups(2)}
    assert len(shared) < len(groups()) / 4


def test_no_text_of_the_embedded_probes_is_made():
    written = {g.source for g in load("probes").groups} | {v.text for g in load("probes").groups for v in g.variants}
    assert not written & set(texts())


@pytest.mark.parametrize("name", [*EXCHANGED, *RENAMED])
def test_each_phenomenon_has_forty_frames_and_two_hundred_and_forty_groups(name):
    kept, excluded = items(1, name).included, items(1, name).excluded
    assert len(kept) >= 240
    assert len({item.cluster for item in kept}) >= 40
    assert not [reason for reason in excluded if "written" not in reason]


def test_no_text_stands_twice():
    assert [text for text, count in Counter(texts()).items() if count > 1] == []


@pytest.mark.parametrize(
    "wrong",
    [
        r"  |^\s|\s$| [,.;?!]|[{}\[\]~]",  # blanks, and what should have been filled
        r"^\W*[a-zß-ÿ]",
        r"\b[Aa] (?=[aeiouAEIOU])(?!one|uni|use|eu)|\b[Aa]n (?!hour|[aeiouAEIOU])",
        r"\b(\w+) \1\b(?<!the BBC)",
        r"[a-z]{2}[.!?] [a-z]",
    ],
)
def test_texts_are_well_formed(wrong):
    assert [text for text in texts() if re.search(wrong, text)] == []


def test_edits_give_the_text_and_every_text_says_why_it_holds():
    for group in groups():
        for variant in group.variants:
            assert apply_edits(group.source, variant.edits) == variant.text
            assert variant.certificate
            assert not re.search(r"[{}]", variant.certificate)


def test_a_group_has_its_frame_for_a_cluster_and_no_free_paraphrase():
    assert {g.cluster for g in groups()} == {frame.id for frame in load_probe_frames()}
    assert all(g.paraphrase == g.source and g.split == "gate" for g in groups())
    assert len({g.id for g in groups()}) == len(groups())


def test_numbers_start_from_either_notation_and_are_near_middle_and_far():
    sources = [g.source for g in groups() if re.search("^They live on the .* floor|^Article ", g.source)]
    assert len({bool(re.search(r"\d", source)) for source in sources}) == 2
    sizes = Counter(re.findall(r"\((near|middle|far)\)", " ".join(v.certificate for g in groups() for v in g.variants)))
    assert min(sizes["near"], sizes["middle"], sizes["far"]) > 100


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("name", EXCHANGED)
def test_a_surface_rival_wins_as_many_contrasts_as_it_loses(name, rival, seed):
    won = np.array(
        [
            [np.sign(RIVALS[rival](s.source, s.near) - RIVALS[rival](s.source, s.far)) for s in item.sides]
            for item in items(seed, name).included
        ]
    )
    assert won.sum() == 0
    assert max((won > 0).all(1).mean(), (won < 0).all(1).mean()) <= 0.25


@pytest.mark.parametrize("name", EXCHANGED)
def test_both_candidates_have_the_same_words_and_the_sources_are_written_in_several_ways(name):
    for item in items(1, name).included:
        side = item.sides[0]
        assert Counter(tokens(side.near)) == Counter(tokens(side.far))
    forms = {frame.form for frame in load_probe_frames() if frame.phenomenon == name}
    assert len(forms) >= 6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RENAMED)
def test_the_surface_of_mirrored_groups_favours_neither_text_and_both_in_some(name, seed):
    found = np.array(
        [surface_differences(item.triplets)[:, : len(DIFFERENCE_SCORERS)] for item in items(seed, name).included]
    )
    assert (np.abs(found.mean(axis=(0, 1))) < 0.005).all()
    assert (found > 0).any(axis=(0, 1)).all()
    assert (found < 0).any(axis=(0, 1)).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [*EXCHANGED, *RENAMED])
def test_surface_scorers_win_one_half(name, seed):
    found = np.array(
        [surface_differences(item.triplets)[:, : len(DIFFERENCE_SCORERS)] for item in items(seed, name).included]
    )
    assert (np.abs(np.sign(found).mean(axis=(0, 1))) < 0.06).all()  # of wins less losses: 0.53 of them at most


@pytest.mark.parametrize("name", [*EXCHANGED, *RENAMED])
def test_the_oracle_passes_and_who_prefers_the_changed_edit_wins_nothing(name):
    assert both_directions(scores(name, vectors(Oracle))).low >= 0.8
    assert directions_mean(scores(name, vectors(Contrary))).high < 0.5


def test_a_bag_of_words_is_not_above_one_half():
    found = scores("role_reversal", Vectors(BagOfWords()))
    assert directions_mean(found).value == pytest.approx(0.5, abs=0.02)
    assert not adjusted_rate(found.sides).low > 0.5


def test_the_oracle_knows_what_every_fresh_text_means():
    known = dict(probes.iterate_text_meanings(1))
    for group in groups():
        assert known[group.source][1] == 0
        assert all(known[v.text][1] == 0 for v in group.variants if keeps_meaning(v.relation))


def test_fresh_probes_are_loaded_by_their_seed():
    data = load("probes:fresh=1")
    assert (data.name, data.rows, data.pairs) == ("probes-fresh=1", len(groups()), ())
    assert [g.id for g in data.groups if not g.side] == [g.id for g in groups()]
    assert data.fingerprint != load("probes:fresh=2").fingerprint


@pytest.mark.parametrize("seed", ["", "x", "-1", "1.5", "01", "١"])
def test_a_seed_that_is_none_is_refused_with_what_to_write(seed):
    with pytest.raises(DataError, match=re.escape(f"the seed is {seed!r}")) as caught:
        load(f"probes:fresh={seed}")
    assert "--data probes:fresh=1" in str(caught.value)


def test_a_file_of_that_name_is_read_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fresh=1").write_text("", "utf-8")
    with pytest.raises(DataError, match="fresh=1 has no rows"):
        load("probes:./fresh=1")
    assert load("probes:fresh=1").rows == len(groups())
