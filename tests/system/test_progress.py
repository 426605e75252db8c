"""Progress: a bar on a terminal, a line now and then elsewhere, nothing for work that is done at once."""

import io
import time

import pytest

from encheck.system.terminal import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(shown, *steps, title="encoding with tiny", total=10):
    with shown.task(title, total):
        for step in steps:
            shown.advance(step)


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_work_that_is_done_at_once_says_nothing(stream):
    out = stream()
    work(Progress(out), 4, 6)
    assert out.getvalue() == ""


def test_elsewhere_than_on_a_terminal_a_line_says_what_is_done_and_left():
    out = io.StringIO()
    work(Progress(out, every=0), 4, 6)
    first, second = out.getvalue().splitlines()
    assert first.startswith("encoding with tiny: 4 of 10 texts, about ")
    assert second == "encoding with tiny: 10 of 10 texts, about 0 s left"


def test_the_time_left_follows_from_the_rate_so_far():
    out, clock = io.StringIO(), iter([100.0, 130.0, 160.0])
    work(Progress(out, every=0, clock=clock.__next__), 2, 6)
    assert [line.rpartition("about ")[2] for line in out.getvalue().splitlines()] == ["120 s left", "15 s left"]


def test_a_line_comes_once_a_minute():
    out, clock = io.StringIO(), iter([0.0, 59.0, 61.0, 62.0, 120.0, 121.5])
    work(Progress(out, clock=clock.__next__), 1, 1, 1, 1, 1)
    assert [line.split(" of ")[0] for line in out.getvalue().splitlines()] == [
        "encoding with tiny: 2",
        "encoding with tiny: 5",
    ]


def test_no_step_done_gives_no_line_and_no_fault():
    out = io.StringIO()
    work(Progress(out, every=0), 0)
    assert out.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_quiet_progress_says_nothing(stream):
    out = stream()
    work(Progress(out, quiet=True, every=0), 4, 6)
    assert out.getvalue() == ""


def test_no_work_says_nothing():
    out = io.StringIO()
    work(Progress(out, every=0), 3, total=0)
    assert out.getvalue() == ""


def test_an_advance_outside_of_a_task_says_nothing():
    out = io.StringIO()
    shown = Progress(out, every=0)
    shown.advance(3)
    work(shown, 10)
    shown.advance(3)
    assert len(out.getvalue().splitlines()) == 1


def test_a_terminal_shows_a_bar_that_goes_away_in_the_end():
    out = Terminal()
    shown = Progress(out, every=0)
    with shown.task("encoding with tiny", 10):
        time.sleep(0.6)  # work that is done sooner shows no bar
        shown.advance(4)
        assert "encoding with tiny:  40%" in out.getvalue()
        assert "4/10" in out.getvalue()
    assert out.getvalue().rpartition("\r")[2].strip() == ""


def test_a_task_that_fails_ends_its_progress_and_the_next_begins_anew():
    out = io.StringIO()
    shown = Progress(out, every=0)
    with pytest.raises(KeyboardInterrupt), shown.task("first", 10):
        raise KeyboardInterrupt
    work(shown, 5, title="second")
    assert out.getvalue().startswith("second: 5 of 10 texts")


def test_the_stream_is_standard_error_where_none_is_named(capsys):
    work(Progress(every=0), 5)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("encoding with tiny: 5 of 10 texts")
