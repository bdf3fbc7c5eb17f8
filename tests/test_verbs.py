"""Verbs find the module that teaches them a kind of model when the first such model comes."""

from __future__ import annotations

import subprocess
import sys
from functools import singledispatch

import pytest

import juncture as jt
from juncture.verbs import taught_by


class Pair:
    """A kind of model whose home teaches nothing."""


def test_a_home_that_teaches_nothing_is_no_answer():
    @taught_by({"Pair": "juncture.errors"})
    @singledispatch
    def ask(model):
        raise jt.Unsupported(f"ask takes a model; got {type(model).__name__}")

    with pytest.raises(jt.Unsupported, match="got Pair"):
        ask(Pair(), wish=1)


@pytest.mark.parametrize(
    "ask", [jt.infer, jt.most_probable, jt.log_prob, jt.sample, jt.fit, jt.statistics, jt.estimate, jt.start_filter]
)
def test_what_is_no_model_is_refused_whatever_is_asked(ask):
    arguments = () if ask is jt.start_filter else ([1.0],)
    with pytest.raises(jt.Unsupported, match="got Pair"):
        ask(Pair(), *arguments, lengths=[1])


def test_a_subclass_finds_the_home_of_its_kind():
    class Weather(jt.HiddenMarkovModel):
        pass

    assert jt.infer(Weather([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]), [0]).num_steps == 1


def test_type_checkers_let_models_answer_in_their_own_words(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "asked.py").write_text(
        "import juncture as jt\n"
        "hmm = jt.HiddenMarkovModel([1.0], [[1.0]], [[1.0]])\n"
        "jt.infer(hmm, [0]).smoothed\n"
        "jt.most_probable(hmm, [0]).path\n"
        "jt.sample(hmm, [3, 2])[0].states\n"
    )
    run = [sys.executable, "-m", "mypy", "--no-incremental", str(tmp_path / "asked.py")]
    found = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stdout
