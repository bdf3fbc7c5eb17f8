"""`initial_hidden_markov`: an initial hidden Markov model from data, from which Baum-Welch starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from juncture.base.options import as_generator
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import is_whole
from juncture.components.densities import mean_and_variance
from juncture.components.gaussian import STRUCTURES, GaussianEmissions, shape_of
from juncture.components.gaussian_estimate import first_variance
from juncture.data.sequences import Sequences, as_sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.data.tables.foreign import unwrap_frame
from juncture.data.tables.labels import as_variable
from juncture.errors import InvalidData, InvalidModel, Unsupported, hint
from juncture.families.family import Family, HasDensity
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.fit import Start, as_left_to_right, check_start
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Groups, LearningOptions
from juncture.sequences.hidden_markov.starts import Starts, columns_of
from juncture.variables import State, Variable

FROM_DATA = ("random", "k-means", "left-to-right")
TRIES = 100  # resamples of the data for a first distribution


def initial_hidden_markov(
    data: Any,
    states: int | Iterable[State],
    kind: Any = "full",
    *,
    start: Start = "random",
    lengths: Any = None,
    weights: Any = None,
    symbols: Iterable[State] | None = None,
    rng: Any = None,
) -> HiddenMarkovModel:
    """A first model for `fit`: `fit(initial_hidden_markov(data, 3, start="k-means"), data)`.

    Parameters
    ----------
    data
        Sequences, as `infer` takes them.
    states
        The number of states, or their labels; steps of a `Sequence` may be labelled with them.
    kind
        The kind of emissions: a structure of Gaussian covariances ("full", "diagonal", "spherical", "tied"),
        "categorical", a family such as `jt.Poisson`, or one distribution whose known parameters are kept, such as
        `jt.Binomial(10, 0.5)`.
    start
        "random", the likeliest of several draws, "k-means" or "left-to-right".
    lengths, weights
        The lengths of the sequences in one stacked array; the weights of the sequences.
    symbols
        The symbols of "categorical" emissions, if they are not whole numbers from 0 on.
    rng
        The source of random numbers.

    Returns
    -------
    HiddenMarkovModel
        The model to start Baum-Welch from.

    Examples
    --------
    >>> import juncture as jt
    >>> data = [0.1, -0.2, 5.1, 4.9, 5.2, 0.0]
    >>> jt.initial_hidden_markov(data, 2)
    HiddenMarkovModel(2 states; Gaussian)
    """
    check_start(start, FROM_DATA)
    variable = as_variable("state", states)
    check_table_fits(
        (variable.num_states,) * 2, f"a model of {variable.num_states:,} hidden states", "take fewer states"
    )
    even = np.full((variable.num_states, variable.num_states), 1.0 / variable.num_states)
    read = partial(as_sequences, data, lengths, state_code=variable.code)
    emissions = repeat_for_states(first_distribution(kind, data, read, symbols), variable.num_states)
    model = HiddenMarkovModel(even[0], even, emissions, states=variable.labels)
    template = as_left_to_right(model) if start == "left-to-right" else model
    options = LearningOptions.of(template, Groups.numbered(variable.labels), None, ())
    given = read_sequences(template, data, lengths, weights=weights)
    return Starts(template, given.to_learn, options, as_generator(rng)).make(start)


def first_distribution(kind: Any, data: Any, read: Callable[..., Sequences], symbols: Iterable[State] | None) -> Any:
    """One distribution of all data: emissions with one state, or a family's member."""
    if isinstance(kind, str) and kind == "categorical":
        return first_table(read, symbols)
    if isinstance(kind, str) and kind in STRUCTURES:
        return first_gaussian(read(event_shape=event_shape_of(data)).observations, kind)
    if isinstance(kind, type) and issubclass(kind, Family):
        return first_member(kind, read(event_shape=event_shape_of(data)).observations)
    if isinstance(kind, str) or not isinstance(kind, HasDensity):
        known = (*STRUCTURES, "categorical")
        raise Unsupported(f"there is no kind of emissions {kind!r}; give a family, or a name: {hint(kind, known)}")
    return kind


def first_table(read: Callable[..., Sequences], symbols: Iterable[State] | None) -> CategoricalEmissions:
    """All symbols alike: as many as are named, or as the largest code needs."""
    if symbols is not None:
        labels = Variable("symbol", symbols).labels
        return CategoricalEmissions(np.full((1, len(labels)), 1.0 / len(labels)), labels)
    try:
        codes = read().observations
    except InvalidData as error:
        raise InvalidData(f"{error}; where symbols are labels, say which there are, as symbols=[…]") from None
    seen = codes[is_whole(codes)]
    if not seen.size:
        raise InvalidData("no symbol is observed: say which there are, as symbols=[…]")
    size = max(int(seen.max()) + 1, 1)
    check_table_fits(
        (size,), f"a table of {size:,} symbols, which the largest code asks for,", "number symbols from 0 on"
    )
    return CategoricalEmissions(np.full((1, size), 1.0 / size))


def first_gaussian(rows: np.ndarray, structure: str) -> GaussianEmissions:
    """Mean and variance of each column."""
    mean, variance = mean_and_variance(columns_of(rows), np.ones(len(rows)))
    variance = first_variance(mean, variance)
    shape = (1, *rows.shape[1:])
    whole = {"full": np.diag(variance), "tied": np.diag(variance), "diagonal": variance, "spherical": variance.mean()}
    kind: Any = structure if len(shape) == 2 or structure == "tied" else "diagonal"
    return GaussianEmissions(mean.reshape(shape), np.reshape(whole[kind], shape_of(kind, shape)), kind)


def first_member(family: type[Family], rows: np.ndarray) -> Family:
    """The member that fits all rows together best; where there is none, one that fits rows drawn from them.

    Few rows may have tails too light for a StudentT; drawn with repetitions, some are heavier.
    """
    rows = rows[is_whole(rows)]
    statistics, rng = family.statistics(rows), np.random.default_rng(0)
    try:
        return family.estimate(statistics)
    except (InvalidData, InvalidModel) as error:
        for _ in range(TRIES if len(rows) else 0):
            with suppress(InvalidData, InvalidModel):
                return family.estimate(family.statistics(rng.choice(rows, len(rows))))
        raise InvalidData(f"{error}; or start from one distribution, as jt.{family.__name__}(…)") from error


def repeat_for_states(distribution: Any, num_states: int) -> Any:
    """The same distribution for every state."""
    if isinstance(distribution, CategoricalEmissions | GaussianEmissions):
        return distribution.take(np.zeros(num_states, dtype=np.int64))
    return [distribution] * num_states


def event_shape_of(data: Any) -> tuple[int, ...]:
    """The shape of one observation: of the first sequence with any steps."""
    given = unwrap_frame(getattr(data, "observations", data))
    if not isinstance(given, list | tuple):
        return tuple(np.shape(given)[1:])
    items = (unwrap_frame(getattr(item, "observations", item)) for item in given)
    return next((tuple(np.shape(item)[1:]) for item in items if np.size(item)), ())
