"""Files that are not what they should be, and what the reader says of them: file, line, remedy."""

import shlex

import numpy as np
import pytest
from safetensors.numpy import save

from encheck.datasets.load import load
from encheck.errors import DataError

MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
PAWS = "id\tsentence1\tsentence2\tlabel\n"
GOOD = "1\tThe crane lifts the beam .\tThe beam is lifted .\t1\n"


@pytest.fixture
def saved(tmp_path):
    """Writes a file and gives its path."""

    def save(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save


def complaint(name, path, **options):
    with pytest.raises(DataError) as caught:
        load(f"{name}:{path}", sample=None, **options)
    return str(caught.value)


def texts(name, path, **options):
    return [(p.first, p.second, p.label) for p in load(f"{name}:{path}", sample=None, **options).pairs]


@pytest.mark.parametrize("name", ["mrpc", "paws", "qqp", "pairs"])
def test_a_missing_path_is_named_with_what_was_expected(name):
    message = complaint(name, "/no/such/place")
    assert message.startswith(f"{name}: /no/such/place does not exist")
    assert {"mrpc": "msr_paraphrase_train.txt", "pairs": ".csv"}.get(name, "test.tsv") in message


def test_a_folder_without_the_files_says_what_it_holds(saved):
    folder = saved("here/notes.md", "nothing").parent
    message = complaint("mrpc", folder)
    assert str(folder) in message
    assert "holds none of msr_paraphrase_train.txt, msr_paraphrase_test.txt. It holds: notes.md" in message


def test_an_empty_folder_says_so(tmp_path):
    assert complaint("paws", tmp_path).endswith("It holds: nothing")


def test_a_folder_with_two_copies_of_a_file_is_refused(saved):
    saved("final/test.tsv", PAWS + GOOD)
    folder = saved("swap/test.tsv", PAWS + GOOD).parents[1]
    assert "test.tsv more than once (in final, swap): give the folder of one of them" in complaint("paws", folder)


def test_a_folder_is_searched_for_all_splits(saved):
    saved("final/dev.tsv", PAWS + GOOD)
    folder = saved("final/test.tsv", PAWS + GOOD).parents[1]
    assert [p.split for p in load(f"paws:{folder}").pairs] == ["validation", "test"]


def test_a_folder_where_a_file_should_be_is_named(tmp_path):
    assert complaint("probes", tmp_path) == f"{tmp_path} is a folder, but should be a file: give the file itself"


def test_a_probe_file_that_is_not_there_is_named():
    assert complaint("probes", "/no/such.jsonl") == "cannot read /no/such.jsonl: No such file or directory"


@pytest.mark.parametrize(
    "header", ["id,sentence1,sentence2,label\n", "id\tsentence1\tsentence2\n", GOOD, '{"first": "a"}\n']
)
def test_a_header_that_is_another_ones_is_refused_and_costs_no_row(saved, header):
    path = saved("test.tsv", header + GOOD)
    message = complaint("paws", path)
    assert message.startswith(f"{path}:1: the header is {header.rstrip()!r}"[:60])
    assert "should be id, sentence1, sentence2, label, separated by tabs" in message


def test_commas_for_tabs_are_guessed(saved):
    assert "is ',' the delimiter?" in complaint("paws", saved("test.tsv", PAWS.replace("\t", ",") + "1,a,b,1\n"))
    assert "is ';' the delimiter?" in complaint("qqp", saved("dev.tsv", "1;a;b;1\n"))


def test_a_truncated_last_row_is_named(saved):
    path = saved("test.tsv", PAWS + GOOD + "2\tThe crane li")
    message = complaint("paws", path)
    assert message.startswith(
        f"{path}:3: 2 tab-separated fields, but should be 4; the file ends within this row: it is cut off"
    )
    assert message.endswith("Fix the row, or pass --skip-bad-rows to skip it")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("2\t\tb\t1", "the first text is empty"),
        ("2\ta\t  \t1", "the second text is empty"),
        ("2\ta\tb\t2", "the label is '2', but should be 0 or 1"),
        ("2\ta\tb\t", "the label is '', but should be 0 or 1"),
        ("2\ta\tb\tyes", "the label is 'yes', but should be 0 or 1"),
        ("2\ta\tb\t1\textra", "5 tab-separated fields, but should be 4"),
        ("   ", "1 tab-separated fields, but should be 4"),
    ],
)
def test_a_bad_row_is_named_and_can_be_skipped(saved, row, problem):
    path = saved("test.tsv", PAWS + GOOD + row + "\n" + GOOD)
    assert complaint("paws", path).startswith(f"{path}:3: {problem}")
    data = load(f"paws:{path}", skip_bad_rows=True)
    assert len(data.pairs) == 2
    assert data.skipped[0].startswith(f"{path}:3: {problem}")


def test_every_skipped_row_is_counted(saved):
    path = saved("test.tsv", PAWS + GOOD + "x\n" * 3 + "\n" + "2\ta\tb\t7\n")
    data = load(f"paws:{path}", skip_bad_rows=True)
    assert (len(data.skipped), data.rows) == (4, 1)
    assert [line.split(":")[1] for line in data.skipped] == ["3", "4", "5", "7"]


def test_a_file_of_bad_rows_only_says_what_the_first_was(saved):
    path = saved("test.tsv", PAWS + "x\ny\n")
    message = complaint("paws", path, skip_bad_rows=True)
    assert "has no valid row (the first problem of 2:" in message
    assert f"{path}:2: 1 tab-separated fields" in message


@pytest.mark.parametrize("content", ["", PAWS, "\n\n", "\ufeff" + PAWS, PAWS + "\n\r\n"])
def test_a_file_without_rows_is_refused(saved, content):
    path = saved("test.tsv", content)
    assert complaint("paws", path).startswith(f"paws: {path} has no rows; expected train.tsv, dev.tsv")


def test_latin_1_is_named_with_its_line_and_byte(saved):
    path = saved("test.tsv", (PAWS + GOOD).encode() + "2\tUn café .\tUn bar .\t0\n".encode("latin-1"))
    assert complaint("paws", path) == (
        f"{path}:3: byte 0xe9 is not UTF-8. If the file is Latin-1, convert it with iconv -f LATIN1 -t UTF-8"
    )


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named_with_a_remedy(saved, codec):
    path = saved("test.tsv", ("\ufeff" + PAWS + GOOD).encode(codec))
    remedy = "convert it with iconv -f UTF-16 -t UTF-8"
    assert complaint("paws", path) == f"{path} is UTF-16, but should be UTF-8: {remedy}"
    path = saved("test.tsv", (PAWS + GOOD).encode(codec))
    assert complaint("paws", path).startswith(f"{path}:1: holds a NUL byte")
    assert complaint("paws", path).endswith(f"or is UTF-16: {remedy}")


def test_a_nul_byte_is_named_with_its_line(saved):
    path = saved("test.tsv", PAWS + GOOD + "2\ta\0\tb\t0\n")
    assert complaint("paws", path).startswith(
        f"{path}:3: holds a NUL byte: it is not a text file, is damaged, or is UTF-16"
    )


def test_a_character_cut_at_the_end_is_named(saved):
    path = saved("test.tsv", (PAWS + "1\ta\té".encode().decode()).encode()[:-1])
    assert complaint("paws", path).startswith(f"{path}:2: byte 0xc3 is not UTF-8")


@pytest.mark.parametrize("content", ["\ufeff" + PAWS + GOOD, (PAWS + GOOD).replace("\n", "\r\n"), PAWS + GOOD.rstrip()])
def test_a_byte_order_mark_crlf_and_a_missing_last_line_break_change_nothing(saved, content):
    assert texts("paws", saved("own.tsv", content)) == texts("paws", saved("dev.tsv", PAWS + GOOD))


def test_a_published_file_that_ends_within_a_row_is_cut_off(saved):
    path = saved("test.tsv", PAWS + GOOD.rstrip())
    assert complaint("paws", path).startswith(
        f"{path} is cut off: its last line has no end, and it has 1 rows, but the published test.tsv has 8,000"
    )


def test_a_published_file_that_lacks_rows_is_refused_where_the_corpus_should_be_whole(saved):
    path = saved("test.tsv", PAWS + GOOD)
    assert load(f"paws:{path}").rows == 1
    with pytest.raises(DataError, match=r"test.tsv is cut off: it has 1 rows, but the published test.tsv has 8,000"):
        load(f"paws:{path}", whole=True)
    assert load(f"paws:{path.rename(path.with_name('own.tsv'))}", whole=True).rows == 1


def test_a_smaller_copy_that_is_widespread_is_whole(saved, caplog):
    folder = saved("CR/custrev.pos", "it works\n" * 2_406).parents[1]
    saved("CR/custrev.neg", "it broke\n" * 1_366)
    load(f"senteval:{folder}", sample=None, whole=True)
    assert not caplog.records


def test_mixed_line_endings_are_read(saved):
    rows = [f"{n}\tone {n}\ttwo {n}\t0" for n in range(3)]
    path = saved("own.tsv", PAWS.replace("\n", "\r\n") + rows[0] + "\n" + rows[1] + "\r\n\r\n" + rows[2])
    assert [first for first, _, _ in texts("paws", path)] == ["one 0", "one 1", "one 2"]


def test_a_line_number_counts_blank_lines(saved):
    path = saved("dev.tsv", "1\ta b\tc d\t1\n\n\n2\ta b\tc d\t1\n")
    assert complaint("qqp", path).startswith(f"{path}:4: the label is '2'")


def test_stray_quotes_of_mrpc_are_text(saved):
    row = '1\t7\t8\t"It floats, she said.\tThe 5" pipe " leaks.\n'
    path = saved("msr_paraphrase_test.txt", MRPC + row + row.replace('"', ""))
    assert texts("mrpc", path)[0] == ('"It floats, she said.', 'The 5" pipe " leaks.', 1)
    assert len(texts("mrpc", path)) == 2


def test_stray_quotes_of_paws_are_text(saved):
    path = saved("test.tsv", PAWS + "1\t\"The ' crane '' .\t`` The beam \" .\t0\n" + GOOD)
    assert texts("paws", path)[0] == ("\"The ' crane '' .", '`` The beam " .', 0)
    assert len(texts("paws", path)) == 2


CONVERTED = {
    "own pairs.yaml": (b"- {first: a, second: b, label: 1}", "own pairs.json"),
    "vectors.safetensors": (save({"vector": np.eye(2, dtype=np.float32)}), "vectors.npz"),
}


@pytest.mark.parametrize(("name", "content", "made"), [(name, *rest) for name, rest in CONVERTED.items()])
def test_the_remedy_for_a_format_that_is_not_read_is_a_command_that_converts_it(saved, name, content, made):
    path = saved(name, content)
    python, option, program = shlex.split(complaint("pairs", path).partition("Remedy: ")[2])
    assert (python, option) == ("python", "-c")
    exec(program, {})
    if made.endswith(".json"):
        assert texts("pairs", path.with_name(made)) == [("a", "b", 1)]
    else:
        assert np.load(path.with_name(made))["vector"].shape == (2, 2)
