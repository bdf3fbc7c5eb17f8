"""Conditional random fields over chains against enumeration of all paths: marginals, best paths, gradients, fits."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

import juncture as jt
from juncture.sequences.conditional_random_field.fit import ConditionalLikelihood

WORDS = [["the", "cat", "sits"], ["a", "dog", "barks", "loud"], ["the", "dog", "sits"], ["cats"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "A"], ["D", "N", "V"], ["N"]]


def describe_words(words: list[str]) -> list[dict[str, object]]:
    described = enumerate(words)
    return [{"word": w, "last": w[-1], "length": len(w) / 5, "first": place == 0} for place, w in described]


SENTENCES = [(describe_words(words), tags) for words, tags in zip(WORDS, TAGS, strict=True)]


def random_field(seed: int, forbidden: float = 0.0) -> jt.ConditionalRandomField:
    rng = np.random.default_rng(seed)
    transition = rng.normal(size=(3, 3))
    transition[rng.random(transition.shape) < forbidden] = -np.inf
    return jt.ConditionalRandomField(list("abc"), ["x0", "x1"], rng.normal(size=(2, 3)), transition)


def enumerate_paths(model, steps) -> dict[tuple[int, ...], float]:
    """Every path of codes with its score."""
    scores = np.asarray(steps) @ model.weights
    found = {}
    for path in product(range(model.num_states), repeat=len(scores)):
        moves = sum(model.transition[one, two] for one, two in pairwise(path))
        found[path] = float(scores[np.arange(len(path)), path].sum() + moves)
    return found


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.0, 0.3]))
def test_questions_agree_with_enumeration(seed, num_steps, forbidden):
    model = random_field(seed, forbidden=forbidden)
    steps = np.random.default_rng(seed).normal(size=(num_steps, 2))
    paths = enumerate_paths(model, steps)
    weights = np.exp(list(paths.values()))
    if not weights.any():
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, steps)
        return
    beliefs = jt.infer(model, steps)
    assert beliefs.log_evidence == pytest.approx(np.log(weights.sum()), abs=1e-12)
    codes, shares = np.array(list(paths)), weights / weights.sum()
    wanted = np.array([[shares[codes[:, t] == s].sum() for s in range(3)] for t in range(num_steps)])
    assert np.allclose(beliefs.smoothed, wanted, atol=1e-12)
    for step in range(num_steps - 1):
        pairs = np.zeros((3, 3))
        np.add.at(pairs, (codes[:, step], codes[:, step + 1]), shares)
        assert np.allclose(beliefs.pairwise[step], pairs, atol=1e-12)
    best = jt.most_probable(model, steps)
    assert best.log_joint == pytest.approx(max(paths.values()), abs=1e-12)
    assert best.log_prob == pytest.approx(np.log(shares.max()), abs=1e-12)
    assert paths[tuple(model.states.index(label) for label in best.path)] == pytest.approx(best.log_joint, abs=1e-12)
    assert jt.log_prob(model, (steps, best.path)) == pytest.approx(best.log_prob, abs=1e-12)


@given(st.integers(0, 1000))
def test_the_gradient_of_the_conditional_likelihood(seed):
    rng = np.random.default_rng(seed)
    data = [(rng.normal(size=(length, 2)), rng.choice(list("abc"), length)) for length in (1, 4, 2)]
    model = random_field(seed)
    sequences = model.sequences(data)
    objective = ConditionalLikelihood(model, sequences, sequences.states)
    assert objective.value_and_gradient(objective.first)[0] == pytest.approx(jt.log_prob(model, data).sum())
    error = check_grad(
        lambda x: objective.value_and_gradient(x)[0],
        lambda x: objective.value_and_gradient(x)[1],
        rng.normal(size=len(objective.first)),
    )
    assert error < 1e-4


def test_features_of_steps_are_found_learned_and_used():
    fitted = jt.fit(jt.ConditionalRandomField(list("DNVA")), SENTENCES, penalty=jt.L2(0.1))
    model = fitted.model
    assert fitted.trace.converged
    assert {"word=the", "last=s", "length", "first"} <= set(model.features)
    assert [path.path.tolist() for path in jt.most_probable(model, [steps for steps, _ in SENTENCES])] == TAGS
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(model, SENTENCES).sum())
    squares = (model.weights**2).sum() + (model.transition**2).sum()
    assert fitted.trace.values[-1] == pytest.approx(fitted.log_likelihood - 0.05 * squares)
    unknown = [{"word": "unicorn", "last": "n", "never seen": 1.0}]
    assert jt.infer(model, unknown).smoothed.shape == (1, 4)
    names = [["word=the", "first"], ["word=dog"]]
    same = [{"word": "the", "first": True}, {"word": "dog"}]
    assert np.array_equal(jt.infer(model, names).smoothed, jt.infer(model, same).smoothed)


def test_expected_features_are_those_of_the_data_and_sparse_is_dense():
    rng = np.random.default_rng(0)
    truth = random_field(5)
    steps = [rng.normal(size=(8, 2)) for _ in range(60)]
    data = [(one, jt.sample(truth, 1, given=one, rng=place)[0]) for place, one in enumerate(steps)]
    fitted = jt.fit(jt.ConditionalRandomField(truth.states), data, tolerance=1e-8)
    beliefs = jt.infer(fitted.model, steps)
    expected = sum(one.T @ belief.smoothed for one, belief in zip(steps, beliefs, strict=True))
    seen = sum(one.T @ (np.array(labels)[:, None] == np.array(truth.states)) for one, labels in data)
    assert np.allclose(expected, seen, atol=1e-6 * 480)
    moves = sum(belief.expected_transitions for belief in beliefs)
    counted = np.zeros((3, 3))
    for _, labels in data:
        codes = [truth.states.index(label) for label in labels]
        np.add.at(counted, (codes[:-1], codes[1:]), 1.0)
    assert np.allclose(moves, counted, atol=1e-6 * 480)
    named = [([{"x0": row[0], "x1": row[1]} for row in one], labels) for one, labels in data]
    again = jt.fit(jt.ConditionalRandomField(truth.states, ["x0", "x1"]), named, tolerance=1e-8)
    assert again.log_likelihood == pytest.approx(fitted.log_likelihood, rel=1e-9)


def test_forbidden_transitions_stay_and_weights_count_as_copies():
    start = np.zeros((4, 4))
    start[0, 0] = -np.inf
    template = jt.ConditionalRandomField(list("DNVA"), transition=start)
    fitted = jt.fit(template, SENTENCES, penalty=jt.L1(0.1), weights=[1, 2, 1, 1])
    copied = jt.fit(template, [*SENTENCES, SENTENCES[1]], penalty=jt.L1(0.1))
    assert fitted.model.transition[0, 0] == -np.inf
    assert fitted.trace.values[-1] == pytest.approx(copied.trace.values[-1], rel=1e-6)
    assert (fitted.model.weights == 0).any()
    with pytest.raises(jt.ImpossibleEvidence, match="sequence 0 has a transition"):
        jt.fit(template, ([["x"], ["x"]], ["D", "D"]))


def test_what_is_refused():
    model = random_field(0)
    for data, words in [
        ([(np.zeros((2, 2)), ["a"])], "2 steps, but 1 labels"),
        ([np.zeros((2, 2))], "sequence 0 has no labels"),
        ([(np.zeros((1, 2)), ["a"]), (np.zeros((2, 2)), ["a", None])], "step 1 of sequence 1 has no label: give"),
        ("rows.csv", "a file or a source holds sequences by a key: give group="),
        (([{"x": None}], ["a"]), "finite number"),
        ((np.full((1, 2), np.nan), ["a"]), "finite"),
        ((np.zeros((2, 5)), ["a", "a"]), "2 features"),
        (3, "sequence of steps"),
        ([], "at least one step"),
    ]:
        with pytest.raises(jt.errors.InvalidData, match=words):
            jt.fit(model, data)
    for verb in (jt.fit, jt.infer, jt.most_probable, jt.log_prob):
        with pytest.raises(jt.errors.UnknownState):
            verb(model, (np.zeros((1, 2)), ["z"]))
        with pytest.raises(jt.errors.InvalidData, match="the lengths add up to 3, but there are 2 steps"):
            verb(model, (np.zeros((2, 2)), ["a", "b"]), lengths=[1, 2])
    with pytest.raises(jt.errors.InvalidData, match=r"there are 1 sequences, but weights of the shape \(2,\)"):
        jt.fit(model, (np.zeros((1, 2)), ["a"]), weights=[1, 2])
    with pytest.raises(jt.errors.InvalidData, match="features are found in sequences in memory; for others name them"):
        jt.fit(jt.ConditionalRandomField(list("abc")), list)
    with pytest.raises(jt.errors.Unsupported, match="given="):
        jt.sample(model, 3)
    with pytest.raises(jt.errors.InvalidModel, match="differ"):
        jt.ConditionalRandomField(2, ["x", "x"])


def test_sequences_come_in_one_stack_in_parts_or_in_the_rows_of_a_table():
    rng, model, lengths = np.random.default_rng(4), random_field(4), [3, 1, 4]
    steps, labels = rng.normal(size=(8, 2)), rng.choice(list("abc"), 8)
    cuts = np.cumsum(lengths)[:-1]
    pairs = list(zip(np.split(steps, cuts), np.split(labels, cuts), strict=True))
    table = {"x1": steps[:, 1], "tag": labels, "x0": steps[:, 0], "text": np.repeat([5, 3, 4], lengths)}
    ways = [
        ((steps, labels), {"lengths": lengths}),
        (lambda: (pairs[:1], pairs[1:]), {}),
        (table, {"group": "text", "states": "tag"}),
    ]
    expected, fitted = jt.log_prob(model, pairs), jt.fit(model, pairs, penalty=jt.L2(1.0))
    for data, options in ways:
        np.testing.assert_array_equal(jt.log_prob(model, data, **options), expected)
        again = jt.fit(model, data, penalty=jt.L2(1.0), **options)
        assert again.log_likelihood == pytest.approx(fitted.log_likelihood, rel=1e-12)
    beliefs = jt.infer(model, {**table, "tag": np.arange(8)}, group="text")
    assert [one.key for one in beliefs] == [5, 3, 4]
    for one, other in zip(beliefs, jt.infer(model, steps, lengths=lengths), strict=True):
        assert np.array_equal(one.smoothed, other.smoothed)
    paths = jt.most_probable(model, table, group="text")
    assert [path.path.tolist() for path in paths] == [jt.most_probable(model, one).path.tolist() for one, _ in pairs]
    with pytest.raises(jt.UnknownVariable, match="x1"):
        jt.infer(model, {name: table[name] for name in ("x0", "text")}, group="text")
    with pytest.raises(jt.errors.InvalidData, match="finite numbers; fill holes first"):
        jt.infer(model, {**table, "x0": np.full(8, np.nan)}, group="text")
    words = jt.fit(jt.ConditionalRandomField(list("DNVA")), SENTENCES, penalty=jt.L2(0.1)).model
    parts = jt.infer(words, lambda: (SENTENCES[:2], SENTENCES[2:]))
    assert [one.log_evidence for one in parts] == [one.log_evidence for one in jt.infer(words, SENTENCES)]


def test_nothing_is_said_of_labels_given_some_of_the_steps():
    beliefs = jt.infer(random_field(0), [np.zeros((3, 2)), np.ones((2, 2))])[1]
    for ask in (lambda b: b.filtered, lambda b: b.predicted, lambda b: b.lagged(1), lambda b: b.forecast(2)):
        with pytest.raises(jt.errors.Unsupported, match="given all"):
            ask(beliefs)
    assert beliefs.sample(5, rng=0).shape == (5, 2)
    assert repr(beliefs).startswith("LabelBeliefs(2 steps")


def test_a_file_keeps_every_bit(tmp_path):
    for model in (random_field(3, forbidden=0.4), jt.ConditionalRandomField(["on", "off"])):
        jt.write(model, tmp_path / "field.json")
        assert jt.read(tmp_path / "field.json") == model
