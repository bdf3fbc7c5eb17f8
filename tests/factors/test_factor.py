"""The algebra of tables, against plain `einsum`."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import ImpossibleEvidence, InvalidData, InvalidModel, TooLarge, UnknownState, UnknownVariable
from juncture.factors.factor import product_of

A, B, C, D = jt.Variable("a", 2), jt.Variable("b", ["x", "y", "z"]), jt.Variable("c", 1), jt.Variable("d", 4)


@st.composite
def factors(draw, zeros=True):
    """A table over some of a, b, c, d in any order, with and without zeros."""
    scope = draw(st.permutations([A, B, C, D]))[: draw(st.integers(0, 4))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = [variable.num_states for variable in scope]
    values = rng.random(shape) + 0.1
    return jt.Factor(scope, values * (rng.random(shape) < 0.7) if zeros else values)


def einsum(operands, output):
    """The same sum of products by NumPy, with the variables' names as subscripts."""
    subscripts = ",".join("".join(factor.scope.names) for factor in operands)
    return np.einsum(f"{subscripts}->{output}", *(factor.values for factor in operands))


def same(first, second):
    return first.scope == second.scope and np.allclose(first.values, second.values, rtol=1e-12, atol=0)


@given(factors(), factors(), factors())
def test_multiplication(first, second, third):
    product = first * second
    assert product.scope == first.scope.union(second.scope)
    assert np.allclose(product.values, einsum([first, second], "".join(product.scope.names)))
    assert same((second * first).reorder(*product.scope), product)
    assert same((first * second) * third, first * (second * third))
    assert same(product_of([first, second, third]), first * second * third)
    assert product_of([]) == jt.Factor([], 1.0)


@given(factors(), st.data())
def test_sum_out_and_max_out_in_any_order(factor, data):
    """S0-001, S2-055: the sum rule; the order of summation does not matter."""
    gone = data.draw(st.lists(st.sampled_from(factor.scope), unique=True)) if factor.scope else []
    rest = [name for name in factor.scope.names if name not in [variable.name for variable in gone]]
    axes = tuple(factor.scope.axis(variable.name) for variable in gone)
    assert np.allclose(factor.sum_out(*gone).values, einsum([factor], "".join(rest)))
    assert np.array_equal(factor.max_out(*gone).values, factor.values.max(axis=axes))
    one_by_one = factor
    for variable in reversed(gone):
        one_by_one = one_by_one.sum_out(variable.name)
    assert same(one_by_one, factor.sum_out(*gone))
    assert factor.sum_out(*gone).scope.names == tuple(rest)


@given(factors(), st.data())
def test_marginal_keeps_these_in_this_order(factor, data):
    keep = data.draw(st.lists(st.sampled_from(factor.scope), unique=True)) if factor.scope else []
    marginal = factor.marginal(*keep)
    assert list(marginal.scope) == keep
    assert np.allclose(marginal.values, einsum([factor], "".join(variable.name for variable in keep)))
    assert marginal.total == pytest.approx(factor.total)


@given(factors())
def test_reorder_moves_axes_only(factor):
    for order in permutations(factor.scope.names):
        moved = factor.reorder(*order)
        assert moved.scope.names == order
        assert np.array_equal(moved.values, einsum([factor], "".join(order)))
        assert moved.reorder(*factor.scope) == factor


@given(factors(), factors(zeros=False))
def test_division_inverts_multiplication(first, second):
    quotient = first * second / second
    assert quotient.scope == first.scope.union(second.scope)
    assert same(quotient, first * jt.Factor(second.scope, np.ones(second.values.shape)))


@given(factors())
def test_nought_by_nought_is_nought(factor):
    """A marginal divides the joint it came from, also where both are zero (S2-052)."""
    parents = factor.scope[1:]
    conditional = factor / factor.marginal(*parents)
    assert np.isfinite(conditional.values).all()
    assert same(conditional * factor.marginal(*parents), factor)
    sums = conditional.marginal(*parents).values
    assert np.all(np.isclose(sums, 1) | (sums == 0))


def test_a_positive_number_by_nought_is_refused():
    with pytest.raises(InvalidModel, match="divide a positive entry by zero"):
        jt.Factor([A], [0, 1]) / jt.Factor([A], [1, 0])
    assert (jt.Factor([A], [0, 1]) / jt.Factor([A], [0, 2])).values.tolist() == [0, 0.5]


@given(factors(), st.data())
def test_condition_is_slicing(factor, data):
    index = [data.draw(st.integers(0, size - 1) | st.just(slice(None))) for size in factor.scope.shape]
    hard = {
        variable.name: variable.labels[place]
        for variable, place in zip(factor.scope, index, strict=True)
        if isinstance(place, int)
    }
    assert np.array_equal(factor.condition(hard).values, factor.values[tuple(index)])
    missing = {variable.name: None for variable in factor.scope if variable.name not in hard}
    assert factor.condition({**hard, **missing}) == factor.condition(hard)
    assert factor.condition({}) == factor


@given(factors(), st.data())
def test_soft_evidence_multiplies_in(factor, data):
    for variable in factor.scope:
        rng = np.random.default_rng(data.draw(st.integers(0, 100)))
        likelihood = rng.random(variable.num_states) + 0.1
        softened = factor.condition({variable.name: likelihood.tolist()})
        assert same(softened, factor * jt.Factor([variable], likelihood))
        one_hot = np.eye(variable.num_states)[0].tolist()
        certain = factor.condition({variable.name: one_hot}).sum_out(variable)
        assert same(certain, factor.condition({variable.name: variable.labels[0]}))


def test_condition_refuses():
    factor = jt.Factor([A, B], np.ones((2, 3)))
    with pytest.raises(UnknownVariable, match="'d'"):
        factor.condition({"d": 1})
    with pytest.raises(UnknownState, match="variable 'b' has no state 'w'"):
        factor.condition({"b": "w"})
    with pytest.raises(InvalidData, match=r"likelihood of 'b'.* 3 states"):
        factor.condition({"b": [1, 2]})
    with pytest.raises(ImpossibleEvidence, match="'b' is 0 everywhere"):
        factor.condition({"b": [0, 0, 0]})
    with pytest.raises(InvalidData, match="one row of evidence; got 2 rows"):
        factor.condition([{"a": 0}, {"a": 1}])


@given(factors())
def test_normalize(factor):
    if factor.total == 0:
        with pytest.raises(InvalidModel, match="zero everywhere"):
            factor.normalize()
    else:
        normal = factor.normalize()
        assert normal.total == pytest.approx(1)
        assert same(normal * jt.Factor([], factor.total), factor)


@pytest.mark.parametrize("scale", [1e308, 1e-300, 5e-324])
def test_normalize_holds_at_the_ends_of_the_floats(scale):
    assert jt.Factor([A], [scale, scale]).normalize().values.tolist() == [0.5, 0.5]


@given(factors())
def test_entries_by_label_and_logarithms(factor):
    for codes in np.ndindex(factor.values.shape):
        labels = tuple(variable.labels[code] for variable, code in zip(factor.scope, codes, strict=True))
        assert factor[labels] == factor.values[codes]
        assert np.exp(factor.log_values[codes]) == pytest.approx(factor.values[codes])
    assert factor.total == pytest.approx(float(factor.values.sum()))


def test_one_variable_takes_its_label_bare():
    factor = jt.Factor([B], [1, 2, 3])
    assert factor["z"] == factor[("z",)] == 3.0
    assert type(factor["z"]) is float
    assert factor.to_dict() == {"x": 1.0, "y": 2.0, "z": 3.0}
    with pytest.raises(UnknownState, match="'b' has no state 2"):
        factor[2]


def test_positions_are_no_labels_and_factors_no_lists():
    with pytest.raises(InvalidModel, match=r"one state for each of \(a, b\); got 1"):
        jt.Factor([A, B], np.ones((2, 3)))[0]
    with pytest.raises(TypeError, match="not iterable"):
        list(jt.Factor([A], [1, 2]))
    with pytest.raises(TypeError):
        jt.Factor([A], [1, 2]) * 2


@pytest.mark.parametrize("operation", ["sum_out", "max_out", "marginal", "reorder"])
def test_unknown_and_repeated_names_are_refused(operation):
    factor = jt.Factor([A, B], np.ones((2, 3)))
    with pytest.raises(UnknownVariable, match=r"no variable 'bb'; did you mean 'b'\?"):
        getattr(factor, operation)("bb")
    with pytest.raises(InvalidModel, match="'a' appears twice"):
        getattr(factor, operation)("a", "a")
    with pytest.raises(UnknownVariable, match="'a', 'b'"):
        getattr(factor, operation)(["a", "b"])


def test_an_order_names_every_variable():
    with pytest.raises(InvalidModel, match="every variable of the scope: a, b"):
        jt.Factor([A, B], np.ones((2, 3))).reorder("a")


def test_factors_on_one_name_must_agree_on_its_states():
    with pytest.raises(InvalidModel, match="'a' stands for two variables"):
        jt.Factor([A], [1, 2]) * jt.Factor([jt.Variable("a", 3)], [1, 2, 3])


def test_a_product_too_large_is_refused_before_it_is_made():
    large = [jt.Factor([jt.Variable(f"{side}{n}", 2) for n in range(14)], np.ones([2] * 14)) for side in "ab"]
    with pytest.raises(TooLarge, match="268,435,456 entries"):
        large[0] * large[1]


@given(factors())
def test_to_pandas_has_a_level_per_variable(factor):
    pytest.importorskip("pandas")
    series = factor.to_pandas()
    assert np.array_equal(series.to_numpy(), factor.values.reshape(-1))
    if factor.scope:
        assert tuple(series.index.names) == factor.scope.names
        for labels, value in series.items():
            assert factor[labels] == value


def test_labels_that_python_takes_for_one_key_are_not_lost():
    factor = jt.Factor([jt.Variable("a", [1, True, "1"])], [1, 2, 3])
    assert [factor[1], factor[True], factor["1"]] == [1, 2, 3]
    with pytest.raises(InvalidModel, match="equal as keys"):
        factor.to_dict()
    pytest.importorskip("pandas")
    with pytest.raises(InvalidModel, match="equal as keys"):
        factor.to_pandas()


@pytest.mark.parametrize(
    ("scope", "values", "words"),
    [
        (A, [1, 2], "list of variables"),
        (["a"], [1, 2], "made of variables; got 'a'"),
        ([A, A], np.ones((2, 2)), "'a' appears twice"),
        ([A], [1, 2, 3], "the factor over (a) must have the shape (2,)"),
        ([A, B], np.ones((3, 2)), "the factor over (a, b) must have the shape (2, 3)"),
        ([A], [1, -2], "the factor over (a) has the negative entry -2 at [1]"),
        ([A], [1, np.nan], "the factor over (a) has an entry that is not a finite number at [1]"),
        ([A], ["1", "2"], "the factor over (a) must be a table of numbers"),
        ([jt.Variable("h")], [1.0], "'h' is real-valued"),
    ],
)
def test_refused_factors(scope, values, words):
    with pytest.raises(InvalidModel) as caught:
        jt.Factor(scope, values)
    assert words in str(caught.value)
