"""Spans: of frames, of a parse, of a file that somebody brings, and those drawn to compare with."""

import json

import numpy as np
import pytest

from encheck.errors import DataError
from encheck.language.english import English
from encheck.language.pipeline.pipeline import Pipeline
from encheck.store import Store
from encheck_papers.frames import frames_of, spans_of
from encheck_papers.spans import BroughtFrames, Cache, ParsedSpans, Structure, chosen, read_frames

SOLD = "They sold bread at the station"
SPANS = [["They", "sold"], ["sold", "bread"], ["sold", "at", "the", "station"]]
ROW = {"sentence": "It thundered.", "tokens": ["It", "thundered", "."], "frames": [["B-ARG0", "B-V", "O"]]}
SEVEN = Structure(tuple(range(0, 14, 2)), tuple(range(1, 15, 2)), ((0, 1), (1, 2, 4), (6,)))


@pytest.fixture
def oracle(shared_data):
    path = shared_data.parent / "oracles/pas.json"
    if not path.is_file():
        pytest.skip(f"needs the reference {path}")
    return json.loads(path.read_text("utf-8"))["span_extraction"]


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def words_of(text, structure):
    words = [text[a:b] for a, b in zip(structure.starts, structure.ends, strict=True)]
    return [[words[i] for i in span] for span in structure.spans]


def test_spans_are_those_of_the_reference(oracle):
    for entry in oracle:
        found = spans_of(entry["frames"], length=len(entry["tokens"]))
        assert found == entry["span_token_indices"]


def test_a_file_of_frames_gives_the_spans_of_the_reference(oracle, tmp_path):
    found = read_frames(written(tmp_path / "frames.jsonl", *oracle))
    assert {text: words_of(text, one) for text, one in found.items()} == {e["sentence"]: e["spans"] for e in oracle}


def test_a_parse_gives_the_frames_of_its_verbs():
    parse = next(iter(Pipeline().parse([SOLD])))
    spans = [[parse.words[i] for i in span] for span in spans_of(list(frames_of(parse)), length=len(parse))]
    assert spans == SPANS


def test_parses_come_from_the_store_and_are_made_once(tmp_path):
    texts = [SOLD, "Thunder!", ""]
    first, second = (English(store=Store(tmp_path / "store.sqlite")) for _ in range(2))
    cache = Cache(ParsedSpans(first))
    found = cache(texts)
    assert words_of(SOLD, found[0]) == SPANS
    assert words_of(texts[1], found[1]) == [["Thunder", "!"]]
    assert len(found[2]) == 0
    assert first.parsed == 3
    assert cache([*texts, SOLD]) == [*found, found[0]]
    assert first.parsed == 3
    assert Cache(ParsedSpans(second))(texts) == found
    assert second.parsed == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": ["It", "snowed", "."]}, r"token 2 is 'snowed', but the sentence goes on with 'thundered\.'"),
        ({"tokens": ["It", "thundered"], "frames": []}, r"the tokens end before '\.'"),
        ({"tokens": "It thundered ."}, "tokens is 'It thundered .', but should be a list of texts"),
        ({"frames": [["B-ARG0", "B-V"]]}, "frame 1 has 2 labels for 3 tokens"),
        ({"frames": [["B-ARG0", "V", "O"]]}, "frame 1 has the label 'V', but labels are O, B-... and I-..."),
        ({"frames": [["B-ARG0", "O", "O"]]}, r"frame 1 has arguments, but no predicate \(B-V\)"),
        ({"frames": {}}, "frames is '{}', but should be a list"),
        ({"sentence": None}, "holds no sentence"),
        ({"frames": [["O", "B-V", "O"]]}, "stands above with other frames"),
    ],
)
def test_frames_that_do_not_fit_their_text_are_refused_by_line(tmp_path, change, said):
    path = written(tmp_path / "frames.jsonl", ROW, ROW, ROW | change)
    with pytest.raises(DataError, match=rf"frames\.jsonl:3: .*{said}.*Remedy: a line a text"):
        read_frames(path)


def test_a_sentence_may_hold_another_end_of_line(tmp_path):
    row = {"sentence": "It\u2028thundered", "tokens": ["It", "thundered"], "frames": [["O", "B-V"]]}
    path = tmp_path / "frames.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\r\n", "utf-8")
    assert list(read_frames(path)) == ["It\u2028thundered"]


def test_a_file_without_frames_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no frames"):
        read_frames(written(tmp_path / "frames.jsonl"))
    with pytest.raises(DataError, match="cannot read the frames"):
        read_frames(tmp_path / "none.jsonl")
    (tmp_path / "frames.jsonl").write_text("{", "utf-8")
    with pytest.raises(DataError, match=r"frames\.jsonl:1: .*is not JSON"):
        read_frames(tmp_path / "frames.jsonl")


def test_a_text_that_the_file_lacks_is_refused_or_parsed(tmp_path):
    path = written(tmp_path / "frames.jsonl", ROW)
    with pytest.raises(DataError, match="has no frames for 1 of 2 texts, first for 'They sold"):
        BroughtFrames(path).structures([ROW["sentence"], SOLD])
    parsed = ParsedSpans(English())
    both = BroughtFrames(path, otherwise=parsed)
    found = both.structures([SOLD, ROW["sentence"]])
    assert words_of(SOLD, found[SOLD]) == SPANS
    assert words_of(ROW["sentence"], found[ROW["sentence"]]) == [["It", "thundered"]]
    assert len({both.fingerprint, BroughtFrames(path).fingerprint, parsed.fingerprint}) == 3


@pytest.mark.parametrize("kind", ["continuous", "random"])
def test_drawn_spans_are_as_many_and_as_long_and_seeded(kind):
    drawn = [chosen(SEVEN, text, kind=kind, seed=seed, longest=3) for text in "ab" for seed in range(20)]
    assert all(one.sum(axis=1).tolist() == [2, 3, 1] for one in drawn)
    assert len({one.tobytes() for one in drawn}) > 10
    assert (drawn[3] == chosen(SEVEN, "a", kind=kind, seed=3, longest=3)).all()
    together = [np.ptp(np.flatnonzero(row)) + 1 == row.sum() for one in drawn for row in one]
    assert all(together) == (kind == "continuous")


def test_all_spans_are_the_windows_up_to_a_length():
    found = chosen(SEVEN, "a", kind="all", seed=0, longest=3)
    assert found.sum(axis=1).tolist() == [1] * 7 + [2] * 6 + [3] * 5
    assert len({row.tobytes() for row in found}) == 18
    own = chosen(SEVEN, "a", kind="predicate-argument", seed=0, longest=3)
    assert [np.flatnonzero(row).tolist() for row in own] == [[0, 1], [1, 2, 4], [6]]
