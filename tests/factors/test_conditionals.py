"""Laws of every kind of conditional; each discrete kind is also written out by its definition.

The kinds come from `builders.CONDITIONALS`; a kind added there is tested here, and needs a line in `DEFINITIONS`.
"""

from __future__ import annotations

import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, TooLarge, UnknownState, Unsupported
from juncture.factors.conditional import AnyConditional, HasTable, parameters_key
from juncture.variables import Scope
from support.builders import CONDITIONALS, random_variable, random_variables

SEEDS = st.integers(0, 2**32)
over_kinds = pytest.mark.parametrize("kind", CONDITIONALS)


def random_conditional(kind, seed):
    """A conditional of this kind with up to three parents."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 5))
    only_binary = kind == "noisy or"
    variables = (
        [random_variable(rng, f"x{n}", 2) for n in range(count)] if only_binary else random_variables(rng, count)
    )
    return CONDITIONALS[kind](rng, variables[0], Scope(variables[1:]))


# --- what the kinds mean, written out ------------------------------------------------------------------------------


def table_row(part, codes):
    return part.values[codes]


def deterministic_row(part, codes):
    return [float(state == part.codes[codes]) for state in range(part.child.num_states)]


def noisy_or_row(part, codes):
    """(1 - leak) · Π (1 - p) over the active causes."""
    off = (1 - part.leak) * math.prod(1 - p for p, code in zip(part.probabilities, codes, strict=True) if code)
    return [off, 1 - off]


def noisy_max_row(part, codes):
    """Every cause draws a value of its own, the leak too; the child is the largest."""
    causes = [part.leak, *(table[code] for table, code in zip(part.tables, codes, strict=True))]
    row = np.zeros(part.child.num_states)
    for drawn in product(range(part.child.num_states), repeat=len(causes)):
        row[max(drawn)] += math.prod(cause[value] for cause, value in zip(causes, drawn, strict=True))
    return row


def logistic_row(part, codes):
    """S1-046, S1-047: σ(w₀ + Σ w x), and for more states e^score / Σ e^score."""
    x = [parent.numbers[code] for parent, code in zip(part.parents, codes, strict=True)]
    if part.child.num_states == 2:
        on = 1 / (1 + math.exp(-(part.bias + sum(w * value for w, value in zip(part.weights, x, strict=True)))))
        return [1 - on, on]
    scores = [math.exp(b + np.dot(w, x)) for w, b in zip(part.weights, part.bias, strict=True)]
    return np.array(scores) / sum(scores)


DEFINITIONS = {
    jt.Conditional: table_row,
    jt.Deterministic: deterministic_row,
    jt.NoisyOr: noisy_or_row,
    jt.NoisyMax: noisy_max_row,
    jt.Logistic: logistic_row,
}


@over_kinds
@given(seed=SEEDS)
def test_the_table_is_the_definition_written_out(kind, seed):
    part = random_conditional(kind, seed)
    table = part.to_table()
    assert (table.child, table.parents, table.scope) == (part.child, part.parents, part.scope)
    for codes in np.ndindex(part.parents.shape):
        expected = DEFINITIONS[type(part)](part, codes)
        assert table.values[codes] == pytest.approx(expected, abs=1e-14)
        columns = {name: np.array([code]) for name, code in zip(part.parents.names, codes, strict=True)}
        assert part.child_probabilities(columns, 1)[0] == pytest.approx(expected, abs=1e-14)


@over_kinds
@given(seed=SEEDS)
def test_rows_sum_to_one_and_entries_answer_by_label(kind, seed):
    part = random_conditional(kind, seed)
    table = part.to_table().values
    assert table.sum(axis=-1) == pytest.approx(1, abs=1e-12)
    assert table.min() >= 0
    for codes in np.ndindex(table.shape):
        labels = tuple(variable.labels[code] for variable, code in zip(part.scope, codes, strict=True))
        assert part[labels] == pytest.approx(table[codes], abs=1e-15)
    assert part.to_factor() == jt.Factor(part.scope, table)


@over_kinds
@given(seed=SEEDS)
def test_log_prob_is_the_logarithm_of_the_table(kind, seed):
    part = random_conditional(kind, seed)
    rows = list(np.ndindex(part.scope.shape))
    columns = {name: np.array(column) for name, column in zip(part.scope.names, zip(*rows, strict=True), strict=True)}
    with np.errstate(divide="ignore"):
        expected = np.log(part.to_table().values.reshape(-1))
    assert part.log_prob(columns) == pytest.approx(expected, abs=1e-12)


@over_kinds
@pytest.mark.parametrize("seed", range(4))
def test_samples_have_the_frequencies_of_the_table(kind, seed):
    """Within six standard errors; a state of probability 0 is never drawn; one seed gives one answer."""
    part, count = random_conditional(kind, seed), 4000
    for codes in list(np.ndindex(part.parents.shape))[:6]:
        columns = {name: np.full(count, code) for name, code in zip(part.parents.names, codes, strict=True)}
        drawn = part.sample(columns, count, np.random.default_rng(7))
        assert np.array_equal(drawn, part.sample(columns, count, np.random.default_rng(7)))
        frequencies = np.bincount(drawn, minlength=part.child.num_states) / count
        expected = part.to_table().values[codes]
        assert np.all(np.abs(frequencies - expected) <= 6 * np.sqrt(expected * (1 - expected) / count) + 1e-12)
        assert np.all(frequencies[expected == 0] == 0)


class Extremes:
    """A generator that only draws the smallest or the largest uniform there is."""

    def __init__(self, value):
        self.value = value

    def random(self, count):
        return np.full(count, self.value)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
@pytest.mark.parametrize("values", [[0, 0.1, 0.2, 0.7, 0], [0, 1, 0, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3 - 5e-10, 0]])
def test_impossible_states_are_not_drawn_at_the_ends_either(uniform, values):
    part = jt.Conditional(jt.Variable("x", 5), [], values)
    assert values[int(part.sample({}, 1, Extremes(uniform))[0])] > 0


@over_kinds
@given(seed=SEEDS)
def test_every_kind_keeps_the_contract(kind, seed):
    part = random_conditional(kind, seed)
    assert isinstance(part, AnyConditional)
    assert isinstance(part, HasTable)
    assert part.scope == (*part.parents, part.child)
    assert part.num_parameters >= 0
    assert repr(part).startswith(f"{type(part).__name__}({part.child.name}")
    drawn = part.sample({name: np.zeros(0, int) for name in part.parents.names}, 0, np.random.default_rng(0))
    assert len(drawn) == 0


@over_kinds
@given(seed=SEEDS)
def test_parameters_are_compared_without_names(kind, seed):
    """Tied conditionals have the same numbers on other variables."""
    part = random_conditional(kind, seed)
    renamed = {v.name: jt.Variable(f"other {v.name}", v.labels) for v in part.scope}
    twin = pickle.loads(pickle.dumps(part))  # noqa: S301
    twin._set(child=renamed[part.child.name], parents=Scope(renamed[name] for name in part.parents.names))
    assert twin != part
    assert parameters_key(twin) == parameters_key(part)
    larger = jt.Conditional(part.child, [], np.eye(part.child.num_states)[0])
    assert parameters_key(larger) != parameters_key(part) or larger == part


# --- how many numbers may be chosen --------------------------------------------------------------------------------


def test_parameter_counts():
    """S1-036, S1-039, S1-046: K - 1 per row of a table; compact kinds grow with the number of parents."""
    y, y3 = jt.Variable("y", 2), jt.Variable("y", 3)
    parents = [jt.Variable(f"x{n}", 2) for n in range(4)]
    assert jt.Conditional(y3, [], [0.2, 0.3, 0.5]).num_parameters == 2
    assert jt.Conditional(y, parents, np.full([2] * 5, 0.5)).num_parameters == 2**4
    assert jt.NoisyOr(y, parents, [0.5] * 4).num_parameters == 4 + 1
    assert jt.NoisyMax(y3, parents, [np.eye(3)[:2]] * 4).num_parameters == (1 + 4 * 2) * 2
    assert jt.Logistic(y, parents, [0.5] * 4).num_parameters == 4 + 1
    assert jt.Logistic(y3, parents, np.ones((3, 4)), np.ones(3)).num_parameters == 2 * (4 + 1)
    assert jt.Deterministic(y, parents, lambda *x: max(x)).num_parameters == 0


# --- each kind's own ends ------------------------------------------------------------------------------------------


def binary(*names):
    return [jt.Variable(name, 2) for name in names]


def test_thirty_causes_stay_compact():
    child, *causes = binary("y", *(f"x{n}" for n in range(30)))
    part = jt.NoisyOr(child, causes, np.full(30, 0.1), leak=0.01)
    assert len(pickle.dumps(part)) < 5000
    with pytest.raises(TooLarge, match=r"NoisyOr\(y \| x0, .* 2,147,483,648 entries"):
        part.to_table()
    columns = {cause.name: np.ones(1, int) for cause in causes}
    assert part.child_probabilities(columns, 1)[0, 0] == pytest.approx(0.99 * 0.9**30)


def test_a_table_is_written_out_block_by_block():
    child, *causes = binary("y", *(f"x{n}" for n in range(17)))
    table = jt.NoisyOr(child, causes, np.full(17, 0.5)).to_table().values
    active = np.indices([2] * 17).sum(axis=0)
    assert np.allclose(table[..., 0], 0.5**active, rtol=1e-12)


def test_noisy_or_does_not_underflow():
    child, *causes = binary("y", *(f"x{n}" for n in range(2000)))
    part = jt.NoisyOr(child, causes, np.full(2000, 0.9))
    rows = {cause.name: np.array([1, 0]) for cause in causes} | {"y": np.array([0, 1])}
    assert part.log_prob(rows) == pytest.approx([2000 * math.log(0.1), -np.inf])
    tiny = jt.NoisyOr(child, causes[:1], [1e-20])
    assert tiny[1, 1] == pytest.approx(1e-20)
    assert str(tiny[0, 1]) == "0.0"


def test_noisy_max_is_noisy_or_for_two_states():
    child, *causes = binary("y", "a", "b", "c")
    noisy_or = jt.NoisyOr(child, causes, [0.2, 0.5, 1.0], leak=0.1)
    tables = [[[1, 0], [1 - p, p]] for p in (0.2, 0.5, 1.0)]
    noisy_max = jt.NoisyMax(child, causes, tables, [0.9, 0.1])
    assert noisy_max.to_table().values == pytest.approx(noisy_or.to_table().values)


def test_noisy_max_keeps_small_probabilities_and_forgives_small_sums():
    child, a, b = jt.Variable("y", 3), jt.Variable("a", 1), jt.Variable("b", 1)
    rare = jt.NoisyMax(child, [a], [[[1, 1e-20, 0]]], [1, 0, 1e-30])
    assert rare.to_table().values[0] == pytest.approx([1, 1e-20, 1e-30], rel=1e-12)
    row = [0.25, 0.25, 0.5 + 9e-10]  # allowed alone; three of them must not add up to a refusal
    assert jt.NoisyMax(child, [a, b], [[row], [row]], row).to_table().values.sum() == pytest.approx(1, abs=1e-15)


def test_deterministic_takes_labels_and_keeps_codes():
    month, season = jt.Variable("month", ["jan", "jul"]), jt.Variable("season", ["summer", "winter"])
    by_function = jt.Deterministic(season, [month], lambda name: "winter" if name == "jan" else "summer")
    assert by_function == jt.Deterministic(season, [month], [1, 0])
    assert by_function["jan", "winter"] == 1.0
    assert jt.Deterministic(season, [], 1)["winter"] == 1.0
    assert jt.Deterministic(season, [], lambda: "winter")["winter"] == 1.0
    with pytest.raises(UnknownState, match="'season' has no state 'spring'"):
        jt.Deterministic(season, [month], lambda name: "spring")


def test_deterministic_refuses_functions_of_too_many_parents():
    child, *parents = binary("y", *(f"x{n}" for n in range(40)))
    with pytest.raises(TooLarge, match=r"codes of 'y'.* 1,099,511,627,776 entries"):
        jt.Deterministic(child, parents, lambda *states: max(states))


def test_logistic_by_hand_and_at_the_ends():
    """S1-046: two binary parents; w = 0 gives σ(w₀) everywhere; S1-047: no overflow."""
    child, *parents = binary("y", "a", "b")
    on = jt.Logistic(child, parents, [1.0, -2.0], 0.5).to_table().values[..., 1]
    assert on == pytest.approx(1 / (1 + np.exp(-np.array([[0.5, -1.5], [1.5, -0.5]]))))
    assert np.unique(jt.Logistic(child, parents, [0.0, 0.0], 0.5).to_table().values[..., 1]).size == 1
    steep = jt.Logistic(child, [jt.Variable("h")], [1000.0])
    rows = {"h": np.array([-1.0, 1.0, 1.0]), "y": np.array([1, 1, 0])}
    assert steep.log_prob(rows) == pytest.approx([-1000.0, 0.0, -1000.0])
    assert steep.sample({"h": np.array([-1.0, 1.0])}, 2, np.random.default_rng(0)).tolist() == [0, 1]


def test_logistic_of_a_real_parent_has_no_table():
    part = jt.Logistic(jt.Variable("y", 2), [jt.Variable("h")], [1.0])
    with pytest.raises(Unsupported, match=r"Logistic\(y \| h\) has no table: its parent 'h' is real-valued"):
        part.to_table()


@over_kinds
def test_wrong_numbers_of_labels_and_lists_are_refused(kind):
    part = random_conditional(kind, 3)
    with pytest.raises(InvalidModel, match="one state for each of"):
        part[tuple(range(7))]
    with pytest.raises(TypeError, match="not iterable"):
        list(part)
