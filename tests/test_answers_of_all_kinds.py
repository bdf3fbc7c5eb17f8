"""One shape of answers: what holds for the answers of every kind of model."""

from __future__ import annotations

import pickle
import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from juncture import verbs
from juncture.base.kinds import KINDS as TABLE
from juncture.base.kinds import LAID_OUT_BY_LAYER, UNANSWERED, kinds_with, verb_modules, why_unanswered
from juncture.variables import Model
from support.model_kinds import KINDS, Kind

WITH_HOLES = jt.supervised.DecisionTree | jt.supervised.RandomForest  # whose leaves have no threshold: NaN
QUESTIONS = {
    "infer": lambda kind: jt.infer(kind.model, kind.one),
    "log_prob": lambda kind: jt.log_prob(kind.model, kind.labelled or kind.many),
    "most_probable": lambda kind: jt.most_probable(kind.model, kind.one),
    "sample": lambda kind: jt.sample(kind.model, 2, given=kind.one if kind.labelled is not None else None, rng=0),
}


@pytest.fixture(params=list(KINDS), scope="module")
def every(request) -> Kind:
    return KINDS[request.param]()


@pytest.fixture(params=[name for name, make in KINDS.items() if make().answers("infer")], scope="module")
def kind(request) -> Kind:
    """The kinds that infer answers for."""
    return KINDS[request.param]()


def as_list(answers, kind: Kind) -> list:
    """The answers to many rows or sequences: one object for rows, a list for sequences."""
    assert isinstance(answers, list) == kind.per_sequence
    return answers if kind.per_sequence else [answers]


def mean_of(beliefs) -> np.ndarray:
    """The mean of real states: smoothed, where there are steps."""
    return beliefs.smoothed_mean if hasattr(beliefs, "smoothed_mean") else beliefs.mean


def test_every_kind_of_model_that_can_be_asked_is_an_example():
    """A kind is a class of models that a verb answers for, or the base of such classes."""
    for name in (*LAID_OUT_BY_LAYER, *TABLE):
        for module in verb_modules(name):
            import_module(module)
    registered = {kind for verb in QUESTIONS for kind in getattr(verbs, verb).registry}
    answered = {kind.__name__ for kind in registered if hasattr(kind, "kind")}
    asked = {*answered, *kinds_with("verbs")}
    covered = {base.__name__ for make in KINDS.values() for base in type(make().model).__mro__}
    assert asked <= covered


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_question_is_answered_or_the_table_says_why_not(every, verb):
    why = why_unanswered(type(every.model), verb)
    if why is None:
        assert QUESTIONS[verb](every) is not None
        return
    with pytest.raises(jt.errors.Unsupported, match=f"^{re.escape(why)}$"):
        QUESTIONS[verb](every)


def test_the_table_of_unanswered_questions_is_short_and_about_kinds_of_the_examples():
    names = {base.__name__ for make in KINDS.values() for base in type(make().model).__mro__}
    assert len(UNANSWERED) <= 25
    assert {name for name, _ in UNANSWERED} <= names
    assert {verb for _, verb in UNANSWERED} <= set(QUESTIONS)


def test_every_kind_is_a_model(every):
    assert isinstance(every.model, Model)
    assert isinstance(every.model.kind, str)
    assert isinstance(every.model.variables, jt.results.Scope)
    assert every.variable in every.model.variables.names
    assert type(every.model.num_parameters) is int


def test_beliefs_say_how_they_were_obtained(kind):
    for beliefs in (jt.infer(kind.model, kind.one), *as_list(jt.infer(kind.model, kind.many), kind)):
        assert beliefs.model is kind.model
        assert beliefs.method == kind.methods[0]
        assert beliefs.exact is beliefs.diagnostics.exact is kind.is_exact
        assert beliefs.converged is beliefs.diagnostics.converged is True
        assert beliefs.impossible == ()
        assert kind.methods[0] in repr(beliefs)


def test_one_is_a_number_and_many_are_an_array_or_a_list(kind):
    assert isinstance(jt.infer(kind.model, kind.one).log_evidence, float)
    many = as_list(jt.infer(kind.model, kind.many), kind)
    values = np.concatenate([np.atleast_1d(beliefs.log_evidence) for beliefs in many])
    assert values.shape == (kind.num_many,)
    if not kind.is_exact:
        if kind.answers("log_prob"):
            assert (jt.log_prob(kind.model, kind.many) >= values - 1e-12).all()
    elif not isinstance(kind.model, jt.MarkovNetwork | jt.ConditionalRandomField):  # whose log_prob is normalised
        assert jt.log_prob(kind.model, kind.many) == pytest.approx(values, rel=1e-12)


def test_the_model_may_be_given_by_name(kind):
    named = jt.infer(model=kind.model, evidence=kind.one, **kind.asked)
    assert named.log_evidence == jt.infer(kind.model, kind.one, **kind.asked).log_evidence


def test_marginals_are_by_label(kind):
    beliefs = jt.infer(kind.model, kind.one)
    assert kind.variable in beliefs
    assert kind.variable in list(beliefs)
    assert 0 not in beliefs
    with pytest.raises(jt.UnknownVariable):
        beliefs["nothing"]
    marginal = beliefs[kind.variable]
    if kind.label is None:
        assert np.array_equal(marginal.mean, mean_of(beliefs))
        assert marginal.batch_shape == ((len(beliefs),) if kind.per_sequence else ())
        return
    expected = () if not kind.per_sequence else (len(kind.one),)
    assert np.shape(marginal[kind.label]) == expected
    assert marginal.values.sum(axis=-1) == pytest.approx(np.ones(expected))
    if kind.per_sequence:
        column = kind.model.states.index(kind.label)
        assert np.array_equal(marginal[kind.label], beliefs.smoothed[:, column])
    with pytest.raises(jt.errors.UnknownState):
        marginal["nothing"]


def test_beliefs_are_plain_data(kind):
    for beliefs in (jt.infer(kind.model, kind.one), *as_list(jt.infer(kind.model, kind.many), kind)):
        plain, frame = beliefs.to_dict(), beliefs.to_pandas()
        assert list(plain) == list(beliefs)
        assert isinstance(frame, pd.DataFrame)
        assert set(frame["variable"]) == set(beliefs)
        if kind.label is not None:
            assert np.array_equal(plain[kind.variable][kind.label], beliefs[kind.variable][kind.label], equal_nan=True)
            mine = frame[(frame["variable"] == kind.variable) & (frame["state"] == str(kind.label))]
            assert np.array_equal(mine["probability"], np.atleast_1d(plain[kind.variable][kind.label]))
        html = beliefs._repr_html_()
        assert html.startswith("<")
        assert kind.methods[0] in html


def test_beliefs_are_drawn_from(kind):
    beliefs = jt.infer(kind.model, kind.one)
    drawn, again = beliefs.sample(7, rng=3), beliefs.sample(7, rng=3)
    assert len(drawn) == 7
    assert np.array_equal(drawn, again) if isinstance(drawn, np.ndarray) else drawn == again
    given = jt.sample(kind.model, 7, given=kind.one, rng=3)
    assert np.array_equal(given, drawn) if isinstance(drawn, np.ndarray) else given == drawn
    with pytest.raises(jt.errors.InvalidData):
        beliefs.sample(-1)
    with pytest.raises(jt.errors.InvalidData, match="sample once for each"):
        jt.sample(kind.model, 7, given=kind.many, rng=3)
    if not kind.per_sequence:
        with pytest.raises(jt.errors.Unsupported, match="sample once for each row"):
            jt.infer(kind.model, kind.many).sample(7)


def test_draws_follow_the_beliefs(kind):
    beliefs = jt.infer(kind.model, kind.one)
    drawn = beliefs.sample(20_000, rng=0)
    if isinstance(drawn, jt.Dataset) and kind.label is None:
        share, expected = drawn.columns[kind.variable].mean(), mean_of(beliefs)
    elif isinstance(drawn, jt.Dataset):
        share, expected = np.mean(drawn.labels(kind.variable) == kind.label), beliefs[kind.variable][kind.label]
    elif kind.label is None:
        share, expected = drawn.mean(axis=0), mean_of(beliefs)
    else:
        share, expected = np.mean(drawn == kind.label, axis=0), beliefs[kind.variable][kind.label]
    assert share == pytest.approx(expected, abs=0.03)


# --- impossible evidence -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [jt.infer, jt.most_probable])
def test_impossible_evidence_has_one_policy(kind, ask):
    if ask is jt.most_probable and not kind.has_most_probable:
        return
    with pytest.raises(jt.errors.InvalidData, match='on_impossible must be "warn" or "raise"'):
        ask(kind.model, kind.one, on_impossible="ignore")
    if kind.impossible_one is None:
        assert ask(kind.model, kind.one, on_impossible="raise").impossible == ()
        return
    for policy in ("warn", "raise"):
        with pytest.raises(jt.ImpossibleEvidence, match=r"^the \w+ has probability zero: "):
            ask(kind.model, kind.impossible_one, on_impossible=policy)
    unit = "sequence" if kind.per_sequence else "row"
    with pytest.raises(jt.ImpossibleEvidence, match=f"^{unit} 1 has probability zero: "):
        ask(kind.model, kind.impossible_many, on_impossible="raise")
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match=f"1 of 2 {unit}s .* the first is {unit} 1") as caught:
        answers = as_list(ask(kind.model, kind.impossible_many), kind)
    assert len(caught) == 1
    assert sum((answer.impossible for answer in answers), ()) == kind.impossible


def test_impossible_evidence_has_no_beliefs(kind):
    if kind.impossible_many is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        answers = as_list(jt.infer(kind.model, kind.impossible_many), kind)
        assert np.isneginf(np.atleast_1d(answers[-1].log_evidence)[-1])
        values = answers[-1].mean if kind.label is None else answers[-1][kind.variable].values
        assert np.isnan(values if kind.per_sequence else values[-1]).all()
        if not kind.has_most_probable:
            return
        best = as_list(jt.most_probable(kind.model, kind.impossible_many), kind)
    assert np.isnan(np.atleast_1d(best[-1].log_prob)[-1])
    assert np.isneginf(np.atleast_1d(best[-1].log_joint)[-1])


# --- methods and limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ask", "which"), [(jt.infer, 0), (jt.most_probable, 1)])
def test_methods_are_looked_up_by_kind_and_name(kind, ask, which):
    if not kind.has_most_probable and ask is jt.most_probable:
        return
    for name in ("auto", *["exact"] * kind.is_exact, kind.methods[which]):
        assert ask(kind.model, kind.one, method=name).method == kind.methods[which]
    with pytest.raises(jt.errors.Unsupported, match=f"did you mean '{kind.methods[which]}'"):
        ask(kind.model, kind.one, method=kind.methods[which][:-1])
    for wrong in (None, 3, "nothing at all"):
        with pytest.raises(jt.errors.Unsupported, match="method"):
            ask(kind.model, kind.one, method=wrong)
    if not kind.answers("log_prob"):
        return
    rows = kind.labelled or kind.many
    assert jt.log_prob(kind.model, rows, method="exact") == pytest.approx(jt.log_prob(kind.model, rows))


@pytest.mark.parametrize("ask", [jt.infer, jt.most_probable])
def test_limits_are_kept(kind, ask):
    if not kind.is_exact or not kind.answers(ask.__name__):  # limits are those of exact answers
        return
    free, bound = ask(kind.model, kind.one), ask(kind.model, kind.one, budget=60.0, memory_limit=2**30)
    assert type(free) is type(bound)
    with pytest.raises(jt.TooLarge, match="budget"):
        ask(kind.model, kind.one, budget=0.0, method="exact")
    with pytest.raises(jt.TooLarge, match="limit"):
        ask(kind.model, kind.many, memory_limit=1, method="exact")
    for wrong in ({"budget": -1.0}, {"budget": "long"}, {"memory_limit": 0}):
        with pytest.raises(jt.errors.InvalidData):
            ask(kind.model, kind.one, **wrong)


# --- the most probable ---------------------------------------------------------------------------------------------


def test_the_most_probable_answers_are_one_family(kind):
    if not kind.has_most_probable:
        return
    best = jt.most_probable(kind.model, kind.one)
    assert best.exact is best.diagnostics.exact is True
    assert isinstance(best.log_prob, float)
    assert isinstance(best.log_joint, float)
    evidence = jt.infer(kind.model, kind.one).log_evidence
    assert best.log_joint == pytest.approx(best.log_prob + evidence, rel=1e-12)
    if kind.per_sequence:
        assert len(best.path) == len(kind.one)
    else:
        assert kind.variable in best.assignment
    many = as_list(jt.most_probable(kind.model, kind.many), kind)
    values = np.concatenate([np.atleast_1d(answer.log_joint) for answer in many])
    assert values.shape == (kind.num_many,)
    if kind.label is not None:
        ranked = jt.most_probable(kind.model, kind.one, k=2)
        assert ranked[0].log_joint == best.log_joint
        assert [each.log_joint for each in ranked] == sorted((each.log_joint for each in ranked), reverse=True)


# --- draws and learning --------------------------------------------------------------------------------------------


def test_draws_are_taken_back(every):
    kind = every
    if not kind.answers("sample"):
        return
    if kind.labelled is not None:
        assert np.isfinite(jt.fit(kind.model, kind.labelled, **kind.learner).log_likelihood)
        return
    drawn = jt.sample(kind.model, kind.num_sampled, rng=0)
    assert isinstance(drawn, kind.sampled)
    assert len(drawn) == kind.num_sampled
    assert drawn == jt.sample(kind.model, kind.num_sampled, rng=0)
    several = drawn if kind.sampled is jt.Dataset else jt.sample(kind.model, [20] * 5, rng=0)
    if kind.answers("log_prob"):
        assert np.isfinite(jt.log_prob(kind.model, several)).all()
    for beliefs in as_list(jt.infer(kind.model, several), kind) if kind.answers("infer") else ():
        assert np.isfinite(beliefs.log_evidence).all()
    if not kind.can_be_learned:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        learned = jt.fit(kind.learned or kind.model, several, **kind.learner)
    assert type(learned.model) is type(kind.learned or kind.model)
    assert np.isfinite(learned.log_likelihood)


def learn(kind: Kind, prior, **options) -> jt.results.Fit:
    """A few steps of EM, or a count, from draws."""
    data = jt.sample(kind.model, 40 if kind.sampled is jt.Dataset else [20, 20], rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        return jt.fit(kind.model, data, prior=prior, method=jt.ExpectationMaximization(max_steps=3), **options)


def numbers_in(value) -> list[np.ndarray]:
    """All arrays and floats of a value and of those that it is made of."""
    if isinstance(value, np.ndarray | float):
        return [np.asarray(value)]
    if isinstance(value, type):
        return []
    parts = (
        value if isinstance(value, tuple | list) else [getattr(value, name) for name in getattr(value, "_fields", ())]
    )
    return [each for part in parts for each in numbers_in(part)]


@pytest.mark.parametrize("huge", [1e299, 1e306, 1e308])
def test_totals_beyond_doubles_are_refused(kind, huge):
    """Of weights and of a prior: a model of finite numbers, or a sentence that says what adds up to too much."""
    if not kind.can_be_learned:
        return
    rows = kind.labelled or jt.sample(kind.model, 40 if kind.sampled is jt.Dataset else [20, 20], rng=0)
    structure, learner = kind.learned or kind.model, {} if kind.labelled is not None else kind.learner
    dirichlet = huge if kind.dirichlet is None else kind.dirichlet(huge)
    for options in ({"weights": np.full(len(rows), huge)}, {"prior": huge}, {"prior": dirichlet}):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
                found = jt.fit(structure, rows, **learner, **options)
        except jt.errors.Unsupported:
            continue
        except jt.errors.InvalidData as error:
            if not any(word in str(error) for word in ("weights", "prior")):
                raise
            continue
        numbers = np.concatenate([part.ravel() for part in numbers_in(found.model)])
        assert (numbers[~np.isnan(numbers)] < np.inf).all(), options  # log 0 is a number
        assert not np.isnan(numbers).any() or isinstance(found.model, WITH_HOLES), options
        assert np.isfinite([found.log_likelihood, *found.trace.values]).all(), options


def test_a_dirichlet_prior_means_the_same(kind):
    """A number is a Dirichlet with this concentration in each cell; the mode under α + 1 is the mean under α."""
    if kind.dirichlet is None:
        return
    number, mean = learn(kind, 1.5), learn(kind, kind.dirichlet(1.5))
    assert np.allclose(kind.table(number.model), kind.table(mean.model), rtol=1e-12, atol=0)
    assert kind.table(learn(kind, 1.5, point="mean").model) == pytest.approx(kind.table(mean.model))
    for prior in (2.5, kind.dirichlet(2.5)):
        mode = learn(kind, prior, point="mode")
        assert np.allclose(kind.table(mode.model), kind.table(mean.model), rtol=1e-12, atol=0)
    assert not np.allclose(kind.table(mean.model), kind.table(learn(kind, None).model), rtol=1e-3)
    for prior in (0.5, kind.dirichlet(0.5)):
        learn(kind, prior)
        with pytest.raises(
            jt.errors.InvalidData, match=r"mode of the posterior .*need not exist for prior counts below 1"
        ):
            learn(kind, prior, point="mode")
    with pytest.raises(jt.errors.InvalidData, match="point"):
        learn(kind, 1.0, point="median")


def test_a_subclass_has_the_methods_of_its_kind():
    class Weather(jt.HiddenMarkovModel):
        pass

    weather = Weather([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
    assert jt.infer(weather, [0], method="exact").method == "forward-backward"
    with pytest.raises(jt.errors.Unsupported, match="of a Weather has no method 'viterbo'; did you mean 'viterbi'"):
        jt.most_probable(weather, [0], method="viterbo")


def test_what_was_drawn_can_be_drawn_again(every):
    """Without rng= a seed is drawn, and the draws keep it; an array of labels has no place for one."""
    if not every.answers("sample"):
        return
    given = every.one if every.labelled is not None else None
    drawn = jt.sample(every.model, 5, given=given)
    if isinstance(drawn, np.ndarray):
        return
    assert isinstance(drawn.seed, int)
    assert jt.sample(every.model, 5, given=given, rng=drawn.seed) == drawn
    if every.per_sequence:
        several = jt.sample(every.model, [3, 4])
        assert jt.sample(every.model, [3, 4], rng=several[0].seed) == several


def test_copies_by_pickle_are_equal_after_questions_too(every):
    if every.answers("sample"):
        jt.sample(every.model, 2, given=every.one if every.labelled is not None else None, rng=0)
    if every.answers("log_prob"):
        jt.log_prob(every.model, every.labelled or every.many)
    assert pickle.loads(pickle.dumps(every.model)) == every.model  # noqa: S301
