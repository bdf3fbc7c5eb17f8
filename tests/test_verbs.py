"""Verbs find the module that teaches them a kind of model when the first such model comes."""

from __future__ import annotations

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


HMM = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: jt.fit(HMM, [0, 1], fixd=["initial"]),
            "fit of a HiddenMarkovModel has no option 'fixd'; did you mean",
        ),
        (lambda: jt.infer(HMM, [0], length=[1]), "infer of a HiddenMarkovModel has no option 'length'; .*'lengths'"),
        (lambda: jt.infer(HMM, [0], targets=["a"]), "no option 'targets'; known are 'evidence', 'lengths'"),
        (lambda: jt.infer(HMM, [0], [1]), "infer of a HiddenMarkovModel: too many positional arguments"),
        (lambda: jt.infer(HMM), "infer of a HiddenMarkovModel: missing a required argument: 'evidence'"),
        (
            lambda: jt.fit(jt.DirectedGraph([("a", "b")]), {}, pior=1),
            "of a DirectedGraph has no option 'pior'.*'prior'",
        ),
    ],
)
def test_unknown_options_are_refused_in_the_name_of_the_verb(ask, message):
    with pytest.raises(jt.Unsupported, match=message) as refused:
        ask()
    assert refused.value.__suppress_context__


def test_other_errors_of_type_are_left_alone():
    @taught_by({})
    @singledispatch
    def ask(model):
        raise jt.Unsupported("no model")

    @ask.register
    def _(model: Pair, wish=None):
        return 1 + wish

    assert ask(Pair(), wish=2) == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        ask(Pair(), wish="two")
    with pytest.raises(jt.Unsupported, match="ask of a Pair has no option 'wsh'; did you mean 'wish'"):
        ask(Pair(), wsh=2)


@pytest.mark.parametrize("ask", [jt.infer, jt.most_probable, jt.log_prob])
def test_help_tells_the_options_of_each_kind_of_model(ask):
    for word in ("`lengths`", "HiddenMarkovModel", "MarkovChain", "LinearGaussianStateSpace", "Mixture"):
        assert word in ask.__doc__
