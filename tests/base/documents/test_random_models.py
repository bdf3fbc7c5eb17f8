"""Random models of every kind, with any labels and any doubles: a JSON file gives the same bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.components.grouped import GroupedEmissions
from juncture.components.shared import SharedEmissions
from juncture.errors import FormatError
from juncture.families.registry import FAMILIES
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair
from support.emission_examples import covariances, random_rows
from support.family_examples import EXAMPLES
from support.odd_models import distinct_labels, generators, rows

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(0, exclude_min=True, allow_nan=False, allow_infinity=False)
SMALL_BATCHES = [jt.Poisson, jt.Exponential, jt.Geometric, jt.Laplace, jt.StudentT, jt.Gamma, jt.Binomial]


def arrays(shape, numbers):
    size = int(np.prod(shape))
    return st.lists(numbers, min_size=size, max_size=size).map(lambda values: np.array(values).reshape(shape))


@st.composite
def gaussian_emissions(draw, size):
    structure = draw(st.sampled_from(["full", "diagonal", "spherical", "tied"]))
    rng, mean = draw(generators), draw(arrays((size, 2), finite))
    if structure in {"diagonal", "spherical"}:
        return jt.GaussianEmissions(mean, draw(arrays((size, 2)[: 1 + (structure == "diagonal")], positive)), structure)
    scale = draw(st.sampled_from([1e-150, 1.0, 1e150]))
    found = covariances(rng, size) * scale
    return jt.GaussianEmissions(mean, found if structure == "full" else found[0], structure)


@st.composite
def family_emissions(draw, size):
    family = draw(st.sampled_from(SMALL_BATCHES))
    rates = {"probability": st.floats(0, 1, exclude_min=True), "location": finite, "trials": st.integers(0, 10**18)}
    values = {name: draw(arrays((size,), rates.get(name, positive))) for name in family.parameters}
    return jt.FamilyEmissions(family(**values))


@st.composite
def categorical_emissions(draw, size):
    symbols = draw(st.integers(1, 3).flatmap(distinct_labels))
    return jt.CategoricalEmissions(draw(rows(size, len(symbols))), symbols)


@st.composite
def compound_emissions(draw, size):
    """Emissions made of others: mixtures, columns, shared distributions, groups of states."""
    kind = draw(st.sampled_from(["mixture", "columns", "shared", "groups"]))
    if kind == "mixture":
        return jt.MixtureEmissions(draw(rows(size, 2)), draw(emissions(2 * size)))
    if kind == "columns":
        return jt.IndependentEmissions(draw(st.lists(emissions(size), min_size=1, max_size=2)))
    if kind == "shared":
        return SharedEmissions(draw(emissions(1)), [0] * size)
    order = draw(st.permutations(range(size)))
    cut = draw(st.integers(1, size))
    states = [sorted(part) for part in (order[:cut], order[cut:]) if part]
    return GroupedEmissions([draw(family_emissions(len(part))) for part in states], states)


def emissions(size):
    simple = [categorical_emissions(size), gaussian_emissions(size), family_emissions(size)]
    return st.one_of(*simple, st.deferred(lambda: compound_emissions(size)))


@st.composite
def hidden_markov_models(draw):
    states = draw(st.integers(1, 3).flatmap(distinct_labels))
    size = len(states)
    observed = draw(st.one_of(emissions(size), st.none()))
    return jt.HiddenMarkovModel(draw(rows(1, size))[0], draw(rows(size, size)), observed, states=states)


@st.composite
def markov_chains(draw):
    states, order = draw(st.integers(1, 3).flatmap(distinct_labels)), draw(st.integers(1, 4))
    size = len(states)
    initial = draw(st.one_of(st.none(), rows(1, size**order).map(lambda row: row.reshape((size,) * order))))
    table = draw(rows(size**order, size)).reshape((size,) * (order + 1))
    chain = jt.MarkovChain(table, initial, states=states, order=order)
    return chain.to_first_order() if draw(st.booleans()) else chain


@st.composite
def state_spaces(draw):
    size, values, steps = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    rng = draw(generators)
    varies = draw(st.lists(st.booleans(), min_size=4, max_size=4))
    times = [(steps,) if each else () for each in varies]
    roots = rng.normal(size=(*times[2], size, size)) * draw(st.sampled_from([0.0, 1e-100, 1.0, 1e100]))
    offset = draw(st.one_of(st.none(), arrays((*times[3], values), finite)))
    return jt.LinearGaussianStateSpace(
        draw(arrays((*times[0], size, size), finite)),
        draw(arrays((*times[1], values, size), finite)),
        roots @ np.swapaxes(roots, -2, -1),
        np.diag(draw(arrays((values,), positive))),
        draw(arrays((size,), finite)),
        np.zeros((size, size)),
        observation_offset=offset,
    )


@st.composite
def mixtures(draw):
    size = draw(st.integers(1, 3))
    return jt.Mixture(draw(rows(1, size))[0], draw(emissions(size)))


families = st.sampled_from([example for name in FAMILIES for example in EXAMPLES[name]])
models = st.one_of(hidden_markov_models(), markov_chains(), state_spaces(), mixtures(), families)


def text_of(model):
    """The document; None where a label is no text."""
    try:
        return write_json(model)
    except FormatError as error:
        if "surrogate" not in str(error):
            raise
        return None


@given(model=models)
def test_a_document_gives_the_same_bits(model):
    text = text_of(model)
    if text is None:
        return
    again = read_json(text.encode(), RowRepair())
    assert type(again) is type(model)
    assert again == model
    assert write_json(again) == text


@given(rng=generators, numbers=st.lists(finite, min_size=4, max_size=4))
def test_each_double_of_a_batch_keeps_its_bits(rng, numbers):
    family = jt.Gaussian(numbers, np.exp(rng.normal(size=4)))
    again = read_json(write_json(family).encode(), RowRepair())
    assert again.mean.tobytes() == family.mean.tobytes()
    assert again.variance.tobytes() == family.variance.tobytes()


@given(rng=generators)
def test_zeros_stay_zeros(rng):
    model = jt.HiddenMarkovModel(
        random_rows(rng, (4,), 0.5), random_rows(rng, (4, 4), 0.5), random_rows(rng, (4, 3), 0.5)
    )
    assert read_json(write_json(model).encode(), RowRepair()) == model
