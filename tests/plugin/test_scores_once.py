"""What a check, its rows and its message share is computed once."""

from types import SimpleNamespace

import pytest

from encheck.engine.evaluation import Evaluation
from encheck.options import Settings


@pytest.mark.quick
def test_the_scores_of_a_check_are_made_once_and_those_of_another_anew(tmp_path, monkeypatch):
    session = Evaluation.open(Settings(models=("oracle",), store=tmp_path / "store.sqlite"), [])
    made = []

    def scores(model, data, items):
        made.append(items)
        if items == "broken":
            raise ValueError("broken")
        return f"scores of {items}"

    monkeypatch.setattr(session.session, "scores", scores)
    monkeypatch.setattr(session.session, "items", lambda data, claim, level: claim)
    one, another, broken = (
        SimpleNamespace(model="oracle", data="probes", claim=name, level=1, id=name)
        for name in ("one", "another", "broken")
    )
    assert [session.scores(case) for case in (one, one, another, another, one)] == [
        "scores of one", "scores of one", "scores of another", "scores of another", "scores of one",
    ]  # fmt: skip
    assert made == ["one", "another", "one"]
    with pytest.raises(ValueError, match="broken"):
        session.scores(broken)
    assert session.scores(one) == "scores of one"
    session.close()
