"""`start_hidden_markov`: a first hidden Markov model from data, for Baum-Welch to go on from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.sequences import Sequences, as_sequences
from juncture.data.steps import without_frame
from juncture.errors import InvalidData, Unsupported, hint
from juncture.families.family import Family
from juncture.learning.sequences.clusters import column_moments, columns_of
from juncture.learning.sequences.fit import Start, checked_choice, onwards_only
from juncture.learning.sequences.sharing import Groups
from juncture.learning.sequences.starts import Starts
from juncture.learning.sequences.task import passes
from juncture.learning.sequences.wishes import Wishes
from juncture.models.emissions.categorical import CategoricalEmissions
from juncture.models.emissions.contract import is_whole
from juncture.models.emissions.gaussian import STRUCTURES, GaussianEmissions, shape_of
from juncture.models.hidden_markov import HiddenMarkovModel
from juncture.options import as_generator
from juncture.variables import State, Variable

FROM_DATA = ("random", "k-means", "left-to-right")


def start_hidden_markov(
    data: Any,
    num_states: int,
    kind: Any = "full",
    *,
    start: Start = "random",
    lengths: Any = None,
    weights: Any = None,
    symbols: Iterable[State] | None = None,
    rng: Any = 0,
) -> HiddenMarkovModel:
    """A first model with this many states, to be fitted: `fit(start_hidden_markov(data, 3, start="k-means"), data)`.

    The kind of emissions is a structure of Gaussian covariances ("full", "diagonal", "spherical", "tied"),
    "categorical" (with `symbols` if they are not numbers from 0 on), a family such as `jt.Poisson`, or one law, which
    tells what is known, such as `jt.Binomial(10, 0.5)`. The start is "random", "k-means" or "left-to-right". EM may get
    stuck after one that is random: let `fit` try several.
    """
    if not hasattr(num_states, "__index__") or num_states < 1:
        raise InvalidData(f"the number of states is a whole number of at least 1; got {num_states!r}")
    checked_choice(start, FROM_DATA, "start")
    even = np.full((num_states, num_states), 1.0 / num_states)
    laws = first_laws(kind, data, lengths, symbols)
    model = HiddenMarkovModel(even[0], even, repeated(laws, num_states))
    template = onwards_only(model) if start == "left-to-right" else model
    wishes = Wishes.of(template, Groups.numbered(range(num_states)), None, ())
    return Starts(template, passes(template, data, lengths, weights), wishes, as_generator(rng)).make(start)


def first_laws(kind: Any, data: Any, lengths: Any, symbols: Iterable[State] | None) -> Any:
    """One law that all data could have: emissions with one state, or a distribution."""
    if kind == "categorical":
        return first_table(data, lengths, symbols)
    if isinstance(kind, str) and kind in STRUCTURES:
        return first_gaussian(as_sequences(data, lengths, event_shape=event_shape_of(data)), kind)
    if isinstance(kind, type) and issubclass(kind, Family):
        return first_member(kind, as_sequences(data, lengths, event_shape=event_shape_of(data)))
    if isinstance(kind, str) or not hasattr(kind, "log_prob"):
        known = (*STRUCTURES, "categorical")
        raise Unsupported(f"there is no kind of emissions {kind!r}; a family will do, or {hint(kind, known)}")
    return kind


def first_table(data: Any, lengths: Any, symbols: Iterable[State] | None) -> CategoricalEmissions:
    """All symbols alike: as many as are named, or as the largest code needs."""
    if symbols is not None:
        labels = Variable("symbol", symbols).labels
        return CategoricalEmissions(np.full((1, len(labels)), 1.0 / len(labels)), labels)
    try:
        codes = as_sequences(data, lengths).observations
    except InvalidData as error:
        raise InvalidData(f"{error}; where symbols are labels, say which there are, as symbols=[…]") from None
    seen = codes[is_whole(codes)]
    if not seen.size:
        raise InvalidData("no symbol is observed: say which there are, as symbols=[…]")
    size = max(int(seen.max()) + 1, 1)
    return CategoricalEmissions(np.full((1, size), 1.0 / size))


def first_gaussian(sequences: Sequences, structure: str) -> GaussianEmissions:
    """Mean and variance of each column."""
    mean, spread = column_moments(columns_of(sequences.observations))
    variance = np.where(spread > 0, spread**2, 1.0)
    shape = (1, *sequences.observations.shape[1:])
    whole = {"full": np.diag(variance), "tied": np.diag(variance), "diagonal": variance, "spherical": variance.mean()}
    kind: Any = structure if len(shape) == 2 or structure == "tied" else "diagonal"
    return GaussianEmissions(mean.reshape(shape), np.reshape(whole[kind], shape_of(kind, shape)), kind)


def first_member(family: type[Family], sequences: Sequences) -> Family:
    """The member that fits all steps together best."""
    rows = sequences.observations
    return family.estimate(family.statistics(rows[is_whole(rows)]))


def repeated(law: Any, num_states: int) -> Any:
    """The same law for every state."""
    if isinstance(law, CategoricalEmissions | GaussianEmissions):
        return law.take(np.zeros(num_states, dtype=np.int64))
    return [law] * num_states


def event_shape_of(data: Any) -> tuple[int, ...]:
    """The shape of one observation: of the first sequence with any steps."""
    given = without_frame(getattr(data, "observations", data))
    if not isinstance(given, list | tuple):
        return tuple(np.shape(given)[1:])
    items = (without_frame(getattr(item, "observations", item)) for item in given)
    return next((tuple(np.shape(item)[1:]) for item in items if np.size(item)), ())
