"""`Draws`: what a sampler drew, by name, as (chain, draw, …), and the summary of every quantity.

A `DrawsSummary` has the mean of every quantity, how far off it may be, and whether the chains agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_mapping
from juncture.base.options import as_names
from juncture.base.shown import Shown
from juncture.base.values import Value, few, number_of, read_only
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, MissingExtra, UnknownVariable, Unsupported
from juncture.inference.sampling import diagnostics
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd

MAX_LINES = 40


class Draws(Value):
    """Draws of several quantities from one or more chains.

    Parameters
    ----------
    values
        For every name an array (chain, draw, …): codes of states, or numbers.
    variables
        The variables that some of the names are, which say what their codes mean.
    log_weights
        Logarithms of importance weights, (chain, draw); None for draws of equal weight. Only their differences matter.

    Examples
    --------
    >>> import numpy as np
    >>> draws = Draws({"height": np.random.default_rng(0).normal(size=(4, 250))})
    >>> draws
    Draws(4 chains of 250 draws: height)
    >>> draws["height"].shape
    (4, 250)
    >>> round(float(draws.summary()["height"].r_hat), 1)
    1.0
    """

    values: dict[str, np.ndarray]
    variables: Scope
    log_weights: np.ndarray | None
    seed: ClassVar[int | None] = None  # `rng=draws.seed` repeats them; not compared, not kept in files

    def __init__(self, values: Mapping[str, Any], variables: Iterable[Variable] = (), log_weights: Any = None) -> None:
        arrays = {name: as_values(name, array) for name, array in check_mapping(values, "values").items()}
        if not arrays:
            raise InvalidData("draws must have at least one name")
        first, shape = next((name, array.shape[:2]) for name, array in arrays.items())
        for name, array in arrays.items():
            if array.shape[:2] != shape:
                raise InvalidData(
                    f"all names must have the same chains and draws; {first!r} has {shape}, {name!r} {array.shape[:2]}"
                )
        known = Scope(variable for variable in Scope(variables) if variable.name in arrays)
        for variable in known:
            check_codes(variable, arrays[variable.name])
        self._set(values=arrays, variables=known, log_weights=as_log_weights(log_weights, shape))

    def with_seed(self, seed: int) -> Draws:
        """The same draws, which were drawn with this seed."""
        draws = type(self).__new__(type(self))
        draws._set(**{name: self.__dict__[name] for name in self._fields}, seed=seed)
        return draws

    def __repr__(self) -> str:
        weighted = "weighted " if self.log_weights is not None else ""
        chains = f"{number_of(self.num_chains, 'chain')} of " if self.num_chains > 1 else ""
        draws = f"{self.num_draws:,} {weighted}draw{'' if self.num_draws == 1 else 's'}"
        return f"Draws({chains}{draws}: {few(self.names)})"

    def __getitem__(self, name: str) -> np.ndarray:
        """The codes or numbers of one name, (chain, draw, …)."""
        try:
            return self.values[name]
        except (KeyError, TypeError):
            raise UnknownVariable.among(name, self.names, where="the draws") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.values

    def __len__(self) -> int:
        """The number of draws in all chains."""
        return self.num_chains * self.num_draws

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @property
    def num_chains(self) -> int:
        return len(next(iter(self.values.values())))

    @property
    def num_draws(self) -> int:
        """The number of draws in each chain."""
        return next(iter(self.values.values())).shape[1]

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of the draws, (chain, draw); they sum to 1 over all chains."""
        if self.log_weights is None:
            return read_only(np.full((self.num_chains, self.num_draws), 1.0 / max(1, len(self))))
        weights = np.exp(self.log_weights - self.log_weights.max())
        return read_only(weights / weights.sum())

    def quantities(self, names: Iterable[str] | None = None) -> Mapping[str, np.ndarray]:
        """Every single quantity, (chain, draw), by a label.

        Parameters
        ----------
        names
            Of these; all by default.

        Returns
        -------
        mapping
            A variable with states gives the indicator of each state, as `smoke=yes`; an array gives each of its
            entries, as `mean[0, 1]`.

        Examples
        --------
        >>> draws = Draws({"x": [[0, 1, 1]]}, [Variable("x", ["no", "yes"])])
        >>> draws.quantities()["x=yes"]
        array([[0., 1., 1.]])
        """
        kept = self.names if names is None else as_names(names, "names")
        known = {variable.name: variable for variable in self.variables if not variable.is_real}
        found: dict[str, np.ndarray] = {}
        for name in kept:
            array = self[name]
            if name in known:
                states = enumerate(known[name].labels)
                found |= {f"{name}={state}": (array == code).astype(float) for code, state in states}
            else:
                places = np.ndindex(array.shape[2:])
                found |= {f"{name}{list(place) or ''}": array[:, :, *place].astype(float) for place in places}
        return MappingProxyType(found)

    def summary(self, names: Iterable[str] | None = None) -> DrawsSummary:
        """Mean, standard deviation, standard error, effective sample sizes and R-hat of every quantity.

        Parameters
        ----------
        names
            Of these; all by default.

        Returns
        -------
        DrawsSummary
            By the labels of `quantities`; it has `to_pandas()`.

        Examples
        --------
        >>> import numpy as np
        >>> draws = Draws({"coin": np.random.default_rng(0).integers(0, 2, (4, 500))}, [Variable("coin", 2)])
        >>> draws.summary()["coin=1"].standard_error < 0.02
        True
        """
        return summarize(self.quantities(names), self.log_weights)

    def to_dataset(self) -> Dataset:
        """All draws as rows, chain by chain, of those names that are variables; with their weights, if any."""
        if not self.variables:
            raise Unsupported("a dataset has variables; these draws have names only: use draws[name]")
        columns = {name: self[name].reshape(len(self), *self[name].shape[2:]) for name in self.variables.names}
        weights = None if self.log_weights is None else self.weights.reshape(-1) * len(self)
        return Dataset.from_codes(self.variables, columns, weights)

    def to_arviz(self) -> Any:
        """The draws for ArviZ: the group `posterior`, and weights in `sample_stats`.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The first for ArviZ 0.x, the second for ArviZ 1.x, whose `from_dict` takes the groups as one mapping.
        """
        try:
            import arviz
        except ImportError:
            raise MissingExtra.named("arviz", "arviz") from None
        groups: dict[str, Any] = {"posterior": dict(self.values)}
        if self.log_weights is not None:
            groups["sample_stats"] = {"log_weight": self.log_weights}
        if int(arviz.__version__.partition(".")[0]) == 0:
            return arviz.from_dict(**groups)
        return arviz.from_dict(groups)


def as_values(name: Any, values: Any) -> np.ndarray:
    """A read-only copy of numbers, (chain, draw, …)."""
    if not isinstance(name, str):
        raise InvalidData(f"the names of draws are texts; got {name!r}")
    try:
        array = read_only(values)
    except ValueError:
        raise InvalidData(
            f"the draws of {name!r} must be one array (chain, draw, …); its parts differ in length"
        ) from None
    if array.dtype.kind not in "biuf" or array.ndim < 2 or array.shape[0] == 0:
        raise InvalidData(
            f"the draws of {name!r} must be numbers, (chain, draw, …); got the shape {array.shape} of {array.dtype}"
        )
    return array


def check_codes(variable: Variable, array: np.ndarray) -> None:
    if variable.is_real or array.size == 0:
        return
    if array.dtype.kind not in "biu" or array.min() < 0 or array.max() >= variable.num_states:
        raise InvalidData(
            f"the draws of {variable.name!r} must be codes from 0 to {variable.num_states - 1}, whole numbers"
        )


def as_log_weights(values: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Logarithms of weights, (chain, draw), of which some are above -∞."""
    if values is None:
        return None
    array = read_only(check_array(values, "log_weights"))
    if array.shape != shape:
        raise InvalidData(f"log_weights must have the shape (chain, draw) = {shape}; got {array.shape}")
    if array.size and (np.isnan(array).any() or array.max() in (np.inf, -np.inf)):
        raise InvalidData("log_weights must be below ∞, some above -∞, and none NaN")
    return array


@dataclass(frozen=True)
class QuantitySummary(Shown):
    """The summary of one quantity.

    Attributes
    ----------
    mean, standard_deviation
        Of the draws, with their weights.
    standard_error
        The standard error of the mean.
    bulk_size, tail_size
        Effective sample sizes for the centre and for the tails; of weighted draws both are that of the mean.
    r_hat
        Near 1 where the chains agree; None for weighted draws, which are independent.
    """

    mean: float
    standard_deviation: float
    standard_error: float
    bulk_size: float
    tail_size: float
    r_hat: float | None


@dataclass(frozen=True, eq=False, repr=False)
class DrawsSummary:
    """Summaries by the labels of quantities; printed as a table."""

    rows: Mapping[str, QuantitySummary]

    def __getitem__(self, label: str) -> QuantitySummary:
        try:
            return self.rows[label]
        except (KeyError, TypeError):
            raise UnknownVariable(f"the summary has no quantity {label!r}; it has {few(self.rows)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def r_hat(self) -> float | None:
        """The largest R-hat of all quantities; None for weighted draws."""
        known = [row.r_hat for row in self.rows.values() if row.r_hat is not None]
        return max(known, default=None)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each quantity."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.named("pandas", "pandas") from None
        names = [field.name for field in fields(QuantitySummary)]
        return pd.DataFrame([astuple(row) for row in self.rows.values()], index=list(self.rows), columns=names)

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import html_table
        from juncture.factors.printed_tables import MAX_HTML_ROWS, format_omitted

        heads = ("", "mean", "standard deviation", "standard error", "ess bulk", "ess tail", "R-hat")
        rows = (
            (label, *(f"{number:.3g}" for number in astuple(row)[:3]), f"{row.bulk_size:.0f}", f"{row.tail_size:.0f}",
             None if row.r_hat is None else f"{row.r_hat:.3f}")
            for label, row in list(self.rows.items())[:MAX_HTML_ROWS]
        )  # fmt: skip
        return html_table(heads, rows, format_omitted(len(self.rows)), num_labels=1)

    def __repr__(self) -> str:
        width = max((len(label) for label in self.rows), default=0)
        head = f"{'':{width}}      mean  std. dev.  std. err.   ess bulk   ess tail   R-hat"
        lines = [f"{label:<{width}}{format_row(row)}" for label, row in list(self.rows.items())[:MAX_LINES]]
        further = [f"… ({len(self.rows):,} quantities)"] if len(self.rows) > MAX_LINES else []
        return "\n".join([head, *lines, *further])


def format_row(row: QuantitySummary) -> str:
    numbers = f"{row.mean:10.3g}{row.standard_deviation:11.3g}{row.standard_error:11.3g}"
    r_hat = "" if row.r_hat is None else f"{row.r_hat:8.3f}"
    return f"{numbers}{row.bulk_size:11.0f}{row.tail_size:11.0f}{r_hat}"


def summarize(quantities: Mapping[str, np.ndarray], log_weights: np.ndarray | None) -> DrawsSummary:
    """Summaries of quantities, each (chain, draw)."""
    if not quantities:
        return DrawsSummary({})
    stacked = np.stack(list(quantities.values()), axis=-1)  # (chain, draw, quantity)
    columns = of_chains(stacked) if log_weights is None else of_weighted(stacked, log_weights)
    table = np.stack(columns).T.tolist()
    ends: list[Any] = [[]] * len(table) if log_weights is None else [[None]] * len(table)
    rows = [QuantitySummary(*row, *end) for row, end in zip(table, ends, strict=True)]
    return DrawsSummary(dict(zip(quantities, rows, strict=True)))


def of_chains(stacked: np.ndarray) -> list[np.ndarray]:
    return [
        stacked.mean(axis=(0, 1)),
        stacked.std(axis=(0, 1), ddof=1),
        diagnostics.standard_error(stacked),
        diagnostics.effective_sample_size(stacked, "bulk"),
        diagnostics.effective_sample_size(stacked, "tail"),
        diagnostics.r_hat(stacked),
    ]


def of_weighted(stacked: np.ndarray, log_weights: np.ndarray) -> list[np.ndarray]:
    """Means of self-normalised weights w; the delta method gives the standard error √Σ w² (x - mean)²."""
    weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    means = np.einsum("cd,cdq->q", weights, stacked)
    squares = (stacked - means) ** 2
    deviations = np.sqrt(np.einsum("cd,cdq->q", weights, squares))
    errors = np.sqrt(np.einsum("cd,cdq->q", weights**2, squares))
    size = np.full_like(means, 1.0 / (weights**2).sum())
    sizes = np.divide(deviations**2, errors**2, out=size, where=errors > 0)
    return [means, deviations, errors, sizes, sizes]
