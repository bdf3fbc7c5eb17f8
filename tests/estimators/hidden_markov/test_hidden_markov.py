"""The hidden Markov estimators are `fit`, `infer` and `most_probable` behind scikit-learn's names."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone

from juncture.components.categorical import CategoricalEmissions
from juncture.components.gaussian import GaussianEmissions, shape_of
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.data.sequences import Sequence
from juncture.errors import ImpossibleEvidence, UnseenStatesWarning
from juncture.estimators import CategoricalHMM, GaussianHMM, MixtureHMM
from juncture.sequences.hidden_markov.initial_model import initial_hidden_markov
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from juncture.verbs import fit, sample
from support.chain_oracles import log_likelihoods
from support.emission_examples import covariances, random_hidden_markov
from support.hidden_markov_oracles import beliefs_by_enumeration, calmly, expected_slowly

STRUCTURES = ["full", "diagonal", "spherical", "tied"]
THREE_STEPS = HiddenMarkovModel([0.5, 0.5], [[3 / 4, 1 / 4], [1 / 3, 2 / 3]], [[4 / 5, 1 / 5], [3 / 10, 7 / 10]])


def gaussians(rng, structure: str, num_states: int) -> GaussianEmissions:
    shape = shape_of(structure, (num_states, 2))
    values = covariances(rng, num_states)
    own = {"full": values, "tied": values[0]}.get(structure, rng.uniform(0.5, 2.0, shape))
    return GaussianEmissions(rng.normal(0, 2, (num_states, 2)), own, structure)


def models() -> dict[str, tuple[type, HiddenMarkovModel]]:
    rng = np.random.default_rng(5)
    chain = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2), 2)
    found = {name: (GaussianHMM, HiddenMarkovModel(*chain, gaussians(rng, name, 2))) for name in STRUCTURES}
    table = rng.dirichlet(np.ones(3), 2)
    found["symbols"] = CategoricalHMM, HiddenMarkovModel(*chain, table)
    parts = [CategoricalEmissions(table), CategoricalEmissions(rng.dirichlet(np.ones(4), 2), list("abcd"))]
    found["columns of symbols"] = CategoricalHMM, HiddenMarkovModel(*chain, IndependentEmissions(parts))
    for name in STRUCTURES:
        mixtures = MixtureEmissions(rng.dirichlet(np.ones(2), 2), gaussians(rng, name, 4))
        found[f"mixtures, {name}"] = MixtureHMM, HiddenMarkovModel(*chain, mixtures)
    return found


MODELS = models()


@pytest.fixture(params=MODELS)
def known(request):
    """An estimator that is a known model, and sequences drawn from it with holes, one of them a single step."""
    kind, model = MODELS[request.param]
    estimator = kind.from_model(model)
    tables = estimator.sample([5, 1, 4], random_state=1)[0]
    tables = [table.astype(object) if kind is CategoricalHMM else table for table in tables]
    tables[0][2] = None if kind is CategoricalHMM else np.nan
    tables[2][1, -1] = None if kind is CategoricalHMM else np.nan
    return estimator, tables


def parts_of(estimator, tables):
    """The sequences as the model reads them."""
    found = []
    for table in tables:
        observations = estimator._encode(table, estimator.model_)
        found.extend(estimator.model_.sequences([Sequence(observations)]))
    return found


def best_path(model, part) -> tuple[int, ...]:
    seen = log_likelihoods(model, part)
    first, moves = np.log(model.initial), np.log(model.transition)

    def weight(path) -> float:
        steps = sum(moves[one, other] for one, other in pairwise(path))
        return first[path[0]] + steps + sum(seen[step, state] for step, state in enumerate(path))

    return max(product(range(model.num_states), repeat=len(seen)), key=weight)


# --- equal to every path, one by one ---------------------------------------------------------------------------------


def test_answers_are_those_of_enumeration(known):
    estimator, tables = known
    parts = parts_of(estimator, tables)
    expected = [beliefs_by_enumeration(estimator.model_, part) for part in parts]
    assert estimator.score(tables) == pytest.approx(sum(log_evidence for log_evidence, _, _ in expected))
    for found, (_, smoothed, _) in zip(estimator.predict_proba(tables), expected, strict=True):
        assert np.allclose(found, smoothed, atol=1e-12)
    for path, part in zip(estimator.predict(tables), parts, strict=True):
        assert tuple(path) == best_path(estimator.model_, part)


def test_each_step_given_the_earlier_ones_adds_up_to_the_score(known):
    estimator, tables = known
    steps = estimator.score_samples(tables)
    assert [len(each) for each in steps] == [len(table) for table in tables]
    assert sum(each.sum() for each in steps) == pytest.approx(estimator.score(tables))
    assert np.concatenate(steps)[2] == pytest.approx(0.0, abs=1e-12)  # nothing was observed there
    alone = estimator.score([tables[0][:1]])
    assert steps[0][0] == pytest.approx(alone)


def test_posterior_decoding_takes_each_step_by_itself(known):
    estimator, tables = known
    other = type(estimator).from_model(estimator.model_).set_params(decoder="posterior")
    for path, distributions in zip(other.predict(tables), estimator.predict_proba(tables), strict=True):
        assert np.array_equal(path, distributions.argmax(axis=1))


def test_three_steps_in_exact_fractions():
    """S0-250, with its matrix by rows."""
    estimator, rows = CategoricalHMM.from_model(THREE_STEPS), [[0], [1], [1]]
    assert estimator.score(rows) == pytest.approx(np.log(1169 / 12000))
    assert estimator.predict(rows).tolist() == [0, 1, 1]
    assert np.allclose(estimator.predict_proba(rows)[:, 0], [682 / 1169, 39 / 167, 34 / 167])
    assert estimator.score(rows, [0, 1, 1]) == pytest.approx(np.log(49 / 1500))
    assert estimator.bic(rows) == pytest.approx(5 * np.log(3) - 2 * np.log(1169 / 12000))
    assert estimator.aic(rows) == pytest.approx(10 - 2 * np.log(1169 / 12000))


# --- learning --------------------------------------------------------------------------------------------------------


def test_one_step_of_learning_is_one_of_expected_counts(known):
    """From a given start, without priors, with holes: as the textbook has it."""
    estimator, tables = known
    model = estimator.model_
    found = calmly(clone(estimator).set_params(max_steps=1).fit, tables).model_
    steps = np.concatenate([part.observations for part in parts_of(estimator, tables)])
    cells = [Sequence(steps[:5]), Sequence(steps[5:6]), Sequence(steps[6:])]
    expected = expected_slowly(model, model.sequences(cells), beliefs_by_enumeration)
    assert np.allclose(found.initial, expected.initial / expected.initial.sum())
    assert np.allclose(found.transition, expected.transitions / expected.transitions.sum(axis=1, keepdims=True))
    wanted = calmly(model.emissions.estimate, expected.emissions)
    assert np.allclose(found.emissions.log_prob(steps), wanted.log_prob(steps))


def test_learning_takes_the_steps_of_baum_welch():
    """The log-likelihoods that hmmlearn 0.3.3 goes through from the same start."""
    start = HiddenMarkovModel([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    rows = np.array([0, 1, 2, 2, 0, 0, 1, 2, 0, 0, 0, 2])[:, None]
    estimator = calmly(CategoricalHMM(start=start, max_steps=5, tolerance=0).fit, rows, lengths=[7, 5])
    passed = [-13.492467791392809, -12.155047120160084, -12.123019476127524, -12.110170390567353, -12.10262891676442]
    assert np.allclose(estimator.fit_.trace.values[:5], passed, rtol=1e-13)
    assert np.allclose(estimator.model_.transition[0, 0], 0.45806836955478614)
    assert np.allclose(estimator.model_.emissions.probabilities[1, 2], 0.09115873308511328)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_fit_is_fit(structure):
    rng = np.random.default_rng(0)
    tables = [rng.normal(place, 1.0, (20, 2)) for place in (0, 4, 0)]
    model = initial_hidden_markov(tables, 2, structure, start="k-means", rng=0)
    estimator = GaussianHMM(start=model, prior=0.5, fixed=["initial"]).fit(tables)
    fitted = fit(model, tables, prior=0.5, fixed=["initial"])
    assert estimator.model_ == fitted.model
    assert estimator.fit_.log_likelihood == fitted.log_likelihood
    assert np.array_equal(estimator.model_.initial, model.initial)
    assert estimator.model_.emissions.structure == structure


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianHMM(3, restarts=3),
        GaussianHMM(3, start="random", restarts=5),
        GaussianHMM(3, start="left-to-right", restarts=3),
        MixtureHMM(3, covariance="tied"),
        MixtureHMM(3, covariance="tied", start="random", restarts=5),
        MixtureHMM(3, start="left-to-right"),
    ],
    ids=repr,
)
def test_starts(estimator):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(place, 0.5, (40, 2)) for place in (0, 5, 10)])
    path = calmly(clone(estimator).fit, rows).predict(rows)
    assert [len(set(path[begin : begin + 40])) for begin in (0, 40, 80)] == [1, 1, 1]
    assert len(set(path)) == 3
    if estimator.start == "left-to-right":
        model = calmly(clone(estimator).fit, rows).model_
        assert not np.tril(model.transition, -1).any()
        assert path.tolist() == sorted(path)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_mixtures_are_told_apart(structure):
    """Two states with two modes each, in turns of thirty steps."""
    rng = np.random.default_rng(3)
    states = np.repeat([0, 1] * 10, 30)
    modes = np.array([[[0, 0], [6, 6]], [[20, 0], [26, 6]]])[states, rng.integers(2, size=600)]
    rows = modes + rng.normal(size=(600, 2))
    estimator = MixtureHMM(2, 2, structure).fit(rows)
    assert len(set(zip(estimator.predict(rows), states, strict=True))) == 2
    assert np.allclose(estimator.model_.emissions.weights, 0.5, atol=0.1)
    means = estimator.model_.emissions.components.mean
    assert sorted(means.round().astype(int).tolist()) == [[0, 0], [6, 6], [20, 0], [26, 6]]
    assert estimator.bic(rows) < GaussianHMM(2, structure).fit(rows).bic(rows)


def test_one_component_is_no_mixture():
    rows = np.random.default_rng(0).normal(size=(50, 2)) + np.repeat([0, 5], 25)[:, None]
    model = initial_hidden_markov(rows, 2, "full", start="k-means", rng=1)
    emissions = MixtureEmissions(np.ones((2, 1)), model.emissions)
    mixture = MixtureHMM(start=HiddenMarkovModel(model.initial, model.transition, emissions)).fit(rows)
    assert np.allclose(mixture.fit_.trace.values, GaussianHMM(start=model).fit(rows).fit_.trace.values)


def test_more_starts_are_never_worse():
    rows = sample(random_hidden_markov(np.random.default_rng(0), "categorical"), 200, rng=0).observations[:, None]
    few, many = (CategoricalHMM(3, restarts=number, tolerance=1e-5).fit(rows) for number in (0, 5))
    assert many.fit_.trace.values[-1] >= few.fit_.trace.values[-1]


@pytest.mark.parametrize("copied", [clone, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301 (our own bytes)
def test_copies_learn_the_same(known, copied):
    estimator, tables = known
    one, other = (calmly(each.fit, tables) for each in (clone(estimator), copied(estimator)))
    assert one.model_ == other.model_
    assert np.array_equal(np.concatenate(one.predict(tables)), np.concatenate(other.predict(tables)))


# --- symbols ---------------------------------------------------------------------------------------------------------


def test_symbols_are_labels():
    words = [np.array(["sun", "sun", None, "rain"], dtype=object), np.array(["rain", "sun"], dtype=object)]
    estimator = CategoricalHMM(2, prior=0.5).fit(words)
    assert estimator.model_.emissions.symbols == ("rain", "sun")
    assert {cell for row in estimator.sample(50)[0].tolist() for cell in row} == {"rain", "sun"}
    coded = [np.array([1, 1, np.nan, 0]), np.array([0, 1])]
    by_code = CategoricalHMM(2, prior=0.5).fit(coded)
    assert by_code.model_.emissions.symbols == (0, 1)
    assert by_code.score(coded) == estimator.score(words)


def test_symbols_may_be_declared():
    estimator = CategoricalHMM(2, symbols=4, prior=1.0).fit([[0], [1], [1]])
    assert estimator.model_.emissions.probabilities.shape == (2, 4)
    assert np.isfinite(estimator.score([[3], [2]]))
    named = CategoricalHMM(2, symbols=["b", "a", "c"], prior=1.0).fit([["a"], ["b"]])
    assert named.model_.emissions.symbols == ("b", "a", "c")


def test_unseen_symbols_are_missing():
    estimator = CategoricalHMM(2, prior=1.0).fit([["a"], ["b"], ["a"]])
    with pytest.warns(UnseenStatesWarning, match="x0 1"):
        score = estimator.score([["a"], ["z"], ["b"]])
    assert score == estimator.score([["a"], [None], ["b"]])


def test_columns_of_symbols_are_independent_given_the_state():
    """p(row | state) is the product over the columns; a pseudo-count goes to all tables."""
    rows = [["a", 0], ["b", 1], ["a", 1], ["b", 0], [None, 1]]
    estimator = CategoricalHMM(2, prior=1.0).fit(rows, lengths=[5])
    first, second = estimator.model_.emissions.parts
    assert (first.symbols, second.symbols) == (("a", "b"), (0, 1))
    distributions = estimator.model_.initial @ (first.probabilities[:, 0] * second.probabilities[:, 1])
    assert estimator.score([["a", 1]]) == pytest.approx(np.log(distributions))
    assert min(part.probabilities.min() for part in (first, second)) > 0.1
    drawn, _ = estimator.sample(40)
    assert {(type(one), type(other)) for one, other in drawn.tolist()} == {(str, int)}
    assert calmly(
        CategoricalHMM(2, prior=HiddenMarkovPrior(1.0, 1.0, [None, 2.0])).fit, rows, lengths=[5]
    ).fit_.trace.converged


def test_probability_zero_is_refused_by_place():
    estimator = CategoricalHMM.from_model(HiddenMarkovModel([1, 0], np.eye(2), [[1.0, 0.0], [0.5, 0.5]]))
    assert estimator.score([[0], [1]]) == -np.inf
    for ask in (estimator.predict, estimator.predict_proba, estimator.score_samples):
        with pytest.raises(ImpossibleEvidence, match=r"sequence 1 has probability zero.*step 1"):
            ask([np.array([0]), np.array([0, 1])])


# --- samples ---------------------------------------------------------------------------------------------------------


def test_samples_follow_the_model():
    estimator = GaussianHMM.from_model(
        HiddenMarkovModel(
            [1, 0],
            [[0.9, 0.1], [0.3, 0.7]],
            GaussianEmissions([[0.0, 1.0], [9.0, 5.0]], [1.0, 4.0], "spherical"),
            states=["a", "b"],
        )
    )
    rows, states = estimator.sample(20_000, random_state=0)
    assert rows.shape == (20_000, 2)
    assert states[0] == "a"
    assert np.mean(states == "a") == pytest.approx(0.75, abs=0.02)
    assert np.allclose(rows[states == "b"].mean(axis=0), [9, 5], atol=0.1)
    assert np.mean(estimator.predict(rows) == states) > 0.99
    again = estimator.sample(20_000, random_state=0)
    assert np.array_equal(again[0], rows)
    assert not np.array_equal(estimator.sample(20_000, random_state=1)[0], rows)
    many, paths = estimator.sample([3, 0, 2])
    assert [len(each) for each in many] == [len(path) for path in paths] == [3, 0, 2]
