"""Verbs import the module that registers a kind of model when the first such model comes."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

import juncture as jt
from juncture import verbs
from juncture.base.dispatch import lazy_dispatch
from juncture.base.kinds import KINDS, LAID_OUT_BY_LAYER, role_module, verb_modules


class Pair:
    """A kind of model whose module registers nothing."""


def test_a_module_that_registers_nothing_is_no_answer():
    @lazy_dispatch({"Pair": ("juncture.errors",)}.get)
    def ask(model):
        raise jt.errors.Unsupported(f"ask takes a model; got {type(model).__name__}")

    with pytest.raises(jt.errors.Unsupported, match="got Pair"):
        ask(Pair(), wish=1)


@pytest.mark.parametrize(
    "ask", [jt.infer, jt.most_probable, jt.log_prob, jt.sample, jt.fit, jt.statistics, jt.estimate, jt.online_filter]
)
def test_what_is_no_model_is_refused_whatever_is_asked(ask):
    arguments = () if ask is jt.online_filter else ([1.0],)
    with pytest.raises(jt.errors.Unsupported, match="got Pair"):
        ask(Pair(), *arguments, lengths=[1])


def test_a_subclass_finds_the_module_of_its_kind():
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
        (lambda: jt.infer(HMM, [0], joint=["a"]), "no option 'joint'; known are 'evidence', 'lengths'"),
        (lambda: jt.infer(HMM, [0], [1]), "infer of a HiddenMarkovModel: too many positional arguments"),
        (lambda: jt.infer(HMM), "infer of a HiddenMarkovModel: missing a required argument: 'evidence'"),
        (
            lambda: jt.fit(jt.DirectedGraph([("a", "b")]), {}, pior=1),
            "of a DirectedGraph has no option 'pior'.*'prior'",
        ),
    ],
)
def test_unknown_options_are_refused_in_the_name_of_the_verb(ask, message):
    with pytest.raises(jt.errors.Unsupported, match=message) as refused:
        ask()
    assert refused.value.__suppress_context__


def test_other_errors_of_type_are_left_alone():
    @lazy_dispatch({}.get)
    def ask(model):
        raise jt.errors.Unsupported("no model")

    def ask_pair(model, wish=None):
        return 1 + wish

    ask.register(Pair, ask_pair)

    assert ask(Pair(), wish=2) == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        ask(Pair(), wish="two")
    with pytest.raises(jt.errors.Unsupported, match="ask of a Pair has no option 'wsh'; did you mean 'wish'"):
        ask(Pair(), wsh=2)


@pytest.mark.parametrize("ask", [jt.infer, jt.most_probable, jt.log_prob])
def test_help_tells_the_options_of_each_kind_of_model(ask):
    for word in ("`lengths`", "HiddenMarkovModel", "MarkovChain", "LinearGaussianStateSpace", "Mixture"):
        assert word in ask.__doc__


def test_the_model_may_be_given_by_name():
    assert jt.infer(model=jt.example("asia"), evidence={"xray": "yes"}).exact
    assert jt.infer(model=HMM, evidence=[0]).num_steps == 1
    with pytest.raises(jt.errors.Unsupported, match="infer takes a model as its first argument"):
        jt.infer()


def import_all_verbs():
    for name in (*LAID_OUT_BY_LAYER, *KINDS):
        for module in verb_modules(name):
            importlib.import_module(module)


def test_every_kind_of_the_table_has_its_modules():
    import_all_verbs()
    for name, folder in KINDS.items():
        assert importlib.util.find_spec(folder) is not None
        assert verb_modules(name) or role_module(name, "document"), f"{name} is in the table and has no role"


@pytest.mark.parametrize("verb", ["fit", "statistics", "estimate"])
def test_a_verb_of_learning_names_the_kinds_that_it_takes(verb):
    """The message names what is registered: the classes themselves, for a base class its public kinds, or a shelf."""
    import_all_verbs()
    classes = (kind for kind in getattr(verbs, verb).registry if kind.__module__.startswith("juncture."))
    registered = {kind.__name__ for kind in classes}
    supervised = registered & set(dir(jt.supervised))
    public = {name for kind in registered - supervised for name in verbs.PUBLIC_NAMES.get(kind, (kind,))}
    with pytest.raises(jt.errors.Unsupported) as caught:
        getattr(jt, verb)(1, None)
    shelf = ", or a regression or classifier of jt.supervised" if supervised else ""
    assert str(caught.value).endswith(f"{shelf}; got int")
    found = str(caught.value).removeprefix(f"{verb} takes one of ").removesuffix(f"{shelf}; got int")
    assert set(found.split(", ")) == public


def test_what_learns_by_itself_is_named():
    class Learner:
        def fit(self, rows):
            """Learn from rows."""

    with pytest.raises(jt.errors.Unsupported, match="got Learner: it learns by a method of its own, fit"):
        jt.fit(Learner(), [[1.0]])
