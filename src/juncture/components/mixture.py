"""`Mixture`: one of several distributions, chosen by chance and not told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from juncture import numerics
from juncture.checks import check_array, check_count
from juncture.components.contract import Emissions
from juncture.data.sequences.sequences import one_sequence
from juncture.errors import InvalidModel
from juncture.families.family import plain
from juncture.families.observations import as_values
from juncture.options import as_generator, as_sizes
from juncture.values import Value, few


class Mixture(Value):
    """p(x) = Σ weights[c] p(x | component c).

    Components are a list of families, of one class or of several, a batch of one family, or emissions, such as
    `GaussianEmissions` with tied covariances. Missing entries of x are summed out.

    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> Mixture([0.25, 0.75], [Gaussian(0.0, 1.0), Gaussian(4.0, 1.0)]).mean
    3.0
    """

    _fields = ("weights", "components")
    weights: np.ndarray  # (component,)
    components: Emissions

    def __init__(self, weights: Any, components: Any) -> None:
        from juncture.components.convert import as_components

        given = check_array(weights, "the weights of a mixture, one number per component,", error=InvalidModel)
        size = len(given) if given.ndim == 1 else 0
        if not size:
            raise InvalidModel(f"the weights of a mixture are one number per component; got {weights!r}")
        held = numerics.as_probabilities(weights, (size,), name="the list of weights of a mixture")
        self._set(weights=held, components=as_components(components, size))

    @property
    def num_components(self) -> int:
        return len(self.weights)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value: () for a number, (d,) for a vector."""
        return self.components.event_shape

    @property
    def num_parameters(self) -> int:
        """How many numbers may be chosen freely."""
        return self.num_components - 1 + self.components.num_parameters

    def component_log_prob(self, x: Any) -> np.ndarray:
        """log p(x | component): (*rows, component)."""
        values = as_values(x, self.event_shape, name="Mixture")
        shape = values.shape[: values.ndim - len(self.event_shape)]
        rows = self.components.checked(one_sequence(values.reshape(-1, *self.event_shape)))
        return self.components.log_prob(rows.observations).reshape(*shape, self.num_components)

    def log_prob(self, x: Any) -> Any:
        """log p(x), density or mass; -inf where no component can be."""
        return plain(numerics.log_sum_exp(self.component_log_prob(x) + numerics.log(self.weights), axis=-1))

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws, as (*size, *event); without a size, one."""
        shape, generator = as_sizes(size), as_generator(rng)
        chosen = generator.choice(self.num_components, int(np.prod(shape)), p=self.weights / self.weights.sum())
        return plain(self.components.sample(chosen, generator).reshape(shape + self.event_shape))

    @property
    def mean(self) -> Any:
        """Σ weights[c] mean of component c."""
        return plain(np.tensordot(self.weights, np.stack([np.asarray(part.mean) for part in self.components]), axes=1))

    def __len__(self) -> int:
        return self.num_components

    def __iter__(self) -> Iterator[Any]:
        return iter(self.components)

    def __getitem__(self, component: int) -> Any:
        """The distribution of one component."""
        return self.components[check_count(component, "a component", least=-self.num_components)]

    def _repr_html_(self) -> str:
        from juncture.components.html import laws_html

        return laws_html((f"{weight:.4g}" for weight in self.weights), self.components, ("weight", "component"))

    def __repr__(self) -> str:
        parts = (f"{weight:.6g} · {part!r}" for weight, part in zip(self.weights, self.components, strict=True))
        return f"Mixture({few(parts, ' + ')})"
