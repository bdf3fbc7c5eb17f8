"""`GenerativeClassifier`: the probability of each class, the distribution of rows in it, and Bayes' rule.

Where log p(row | class) is linear in the row, so are the log odds: `LinearForm`. An exponential family
p(x | η) = h(x) exp(η · x - A(η)) has the weights η and the constant -A(η); h(x) is shared by all classes and cancels.
Gaussians with one covariance Σ have the weights Σ⁻¹μ and the constant -½ μᵀΣ⁻¹μ: their quadratic term is shared too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from html import escape
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_iterable, check_number, is_iterable
from juncture.base.values import Value, few, read_only
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.contract import Emissions, distributions_html
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.components.repeated import RepeatedEmissions
from juncture.components.word_counts import MultinomialCounts
from juncture.data.rows import Rows
from juncture.data.tables.labels import label_array
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, InvalidModel, Unsupported, hint, warn_user
from juncture.families.continuous.exponential import Exponential
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.poisson import Poisson
from juncture.numerics import stable
from juncture.supervised.model import SupervisedModel, is_one_row
from juncture.supervised.regression.inputs_and_targets import read_classes
from juncture.variables import State, Variable, is_missing


class GenerativeClassifier(SupervisedModel):
    """Classes by Bayes' rule: p(class | row) = p(class) p(row | class) / p(row).

    It is a joint distribution of the row x and its class y. `jt.infer(model, X)` gives p(y | x), and log p(x) as its
    `log_evidence`; `jt.log_prob(model, X, y)` is log p(x, y), and `jt.log_prob(model, X)` is log p(x);
    `jt.sample(model, n)` draws rows with their classes. What is missing in a row (NaN) is summed out.

    The densities are given, or learned by `jt.fit(jt.supervised.GenerativeClassifier, X, y)`, with the options of
    `GenerativeOptions`.

    Parameters
    ----------
    prior
        The probability of each class; they sum to 1.
    densities
        p(row | class): a list with a family or a `Mixture` for each class, a batch of one family, or emissions such as
        `GaussianEmissions`.
    classes
        Their labels; by default 0, 1 and so on.

    Examples
    --------
    >>> import juncture as jt
    >>> classes = GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)], ["low", "high"])
    >>> classes.predict([-2.0, 0.5]).tolist()
    ['low', 'high']
    >>> classes.predict_proba([0.0]).round(6).tolist()
    [[0.5, 0.5]]
    >>> counts, labels = [[0.0], [1.0], [9.0], [7.0]], ["few", "few", "many", "many"]
    >>> found = jt.fit(jt.supervised.GenerativeClassifier, counts, labels, families="poisson")
    >>> found.model.predict([[2.0], [8.0]]).tolist()
    ['few', 'many']
    """

    kind: ClassVar[str] = "generative classifier"
    has_inputs: ClassVar[bool] = True
    mixture: Mixture
    classes: tuple[State, ...]

    def __init__(self, prior: Any, densities: Any, classes: Iterable[State] | None = None) -> None:
        mixture = Mixture(prior, densities)
        listed = range(mixture.num_components) if classes is None else check_iterable(classes, "classes")
        names = Variable("class", list(listed)).labels
        if len(names) != mixture.num_components:
            raise InvalidModel(f"there are {mixture.num_components} classes, but {len(names)} labels of classes")
        self._set(mixture=mixture, classes=names)

    @property
    def prior(self) -> np.ndarray:
        """p(class)."""
        return self.mixture.weights

    @property
    def densities(self) -> Emissions:
        """p(row | class), one distribution a class."""
        return self.mixture.components

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return self.mixture.num_columns

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def num_parameters(self) -> int:
        """The number of free parameters, those of the prior among them."""
        return self.mixture.num_parameters

    def with_prior(self, prior: Any) -> GenerativeClassifier:
        """The same densities with other probabilities of the classes."""
        changed = GenerativeClassifier(prior, self.densities, self.classes)
        return changed._named(self.feature_names).with_target_name(self.target_name)

    def log_joint(self, X: Any) -> np.ndarray:
        """log p(row, class), (row, class): the discriminant functions of the classes.

        Rows are an array, a frame, a `Dataset`, or a sparse matrix of SciPy where the densities take one.
        """
        rows, is_single = self.read_inputs(X)
        if is_single:
            raise InvalidData(f"a classifier takes a list of rows; got one row: write [{np.asarray(X).tolist()!r}]")
        return self._log_joint(rows)

    def read_inputs(self, data: Any, extra: str = "error") -> tuple[Any, bool]:
        """The rows as the densities take them, and whether there is one alone; of one by name, columns may lack."""
        if hasattr(data, "tocsr"):
            return data.tocsr(), False
        is_single = is_one_row(data)
        names = self.inputs.names if is_single else self.feature_names
        if is_single:
            cells = dict.fromkeys(self.inputs.names, np.nan) | dict(data)
            data = {name: np.array([np.nan if is_missing(cell) else cell]) for name, cell in cells.items()}
        read = Rows.of(data, names, extra=extra)
        values = read.numbers(self.mixture.event_shape)
        return self.densities.check(values), is_single or read.is_single(self.mixture.event_shape)

    def _log_joint(self, rows: Any) -> np.ndarray:
        """`log_joint` of rows that were checked."""
        return self.densities.log_prob(rows) + stable.log(self.prior)

    def predict_joint(
        self, rows: Any, *, method: str = "closed-form", rng: Any = None, **given: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """(row, class): log p(class | row), and (row,): log p(row)."""
        log_joint = self._log_joint(rows)
        total = np.asarray(stable.log_sum_exp(log_joint, axis=1))
        log_joint -= np.where(total > -np.inf, total, 0.0)[:, None]
        return log_joint, total

    def predict_target(self, rows: Any, *, method: str = "closed-form", rng: Any = None) -> np.ndarray:
        """(row, class): log p(class | row)."""
        return self.predict_joint(rows)[0]

    def log_prob(self, X: Any, y: Any = None) -> np.ndarray:
        """log p(row, class) of rows and their classes; log p(row), whatever the class, without these."""
        log_joint = self.log_joint(X)
        if y is None:
            return np.asarray(stable.log_sum_exp(log_joint, axis=1))
        _, codes = read_classes(y, len(log_joint), self.classes)
        return np.asarray(log_joint[np.arange(len(codes)), codes])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log p(class | row), (row, class).

        A row that no class can have gets the prior, and an `ImpossibleEvidenceWarning` counts such rows.
        """
        return self._normalize(self.log_joint(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """p(class | row), (row, class)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; of several, the first."""
        return label_list(self.classes)[self.predict_log_proba(X).argmax(axis=1)]

    def _normalize(self, log_joint: np.ndarray) -> np.ndarray:
        """log p(class | row) from log p(row, class), in the same array."""
        total = np.asarray(stable.log_sum_exp(log_joint, axis=1))
        impossible = total == -np.inf
        if impossible.any():
            warn_impossible(impossible)
            log_joint[impossible], total[impossible] = stable.log(self.prior), 0.0
        log_joint -= total[:, None]
        return log_joint

    def linear_form(self) -> LinearForm:
        """Weights and intercepts with log p(class | row) = weights · row + intercepts + what all classes share.

        There are such weights where log p(row | class) is linear in the row but for a term that all classes share:
        Bernoulli columns, counts of words, Gaussians that share their covariance, Poisson and exponential columns.
        """
        weights, constants = linear_form(self.densities)
        return LinearForm(weights, constants + stable.log(self.prior), self.classes)

    def hyperplane(self, one: State, other: State) -> tuple[np.ndarray, np.ndarray]:
        """(w, x0): two classes are equally probable where w · (row - x0) = 0.

        The classes are Gaussians that share their covariance; x0 lies on the line through the two means.
        """
        codes = self.code(one), self.code(other)
        weights, intercept = self.linear_form().log_odds(*(self.classes[code] for code in codes))
        return hyperplane(self.densities, weights, intercept, codes)

    def draw(self, count: int, generator: np.random.Generator, given: State | None = None) -> tuple[Any, np.ndarray]:
        """Rows and the codes of their classes; all of the class `given`, if that is not None."""
        shares = self.prior / self.prior.sum() if given is None else np.eye(self.num_classes)[self.code(given)]
        codes = generator.choice(self.num_classes, count, p=shares)
        return self.densities.sample(codes, generator), codes

    def code(self, label: Any) -> int:
        """The index of a class."""
        found = Variable("class", list(self.classes)).find(label)
        if found is None:
            raise InvalidData(f"there is no class {label!r}; {hint(label, self.classes)}")
        return found

    def _repr_html_(self) -> str:
        table = distributions_html(self.classes, self.densities, ("class", "rows"))
        return f"<p><code>{escape(repr(self))}</code></p>{table}"

    def __repr__(self) -> str:
        parts = (f"{label!r}: {share:.6g}" for label, share in zip(self.classes, self.prior, strict=True))
        return f"GenerativeClassifier({{{few(parts)}}}, {self.densities.summary})"


class LinearForm(Value):
    """log p(class | row) = weights[class] · row + intercepts[class] + what all classes share.

    Parameters
    ----------
    weights
        (class, column).
    intercepts
        (class,); the logarithms of the prior are in them.
    classes
        Their labels; by default 0, 1 and so on.

    Examples
    --------
    >>> form = LinearForm([[0.0], [2.0]], [0.0, -2.0], ["low", "high"])
    >>> weights, intercept = form.log_odds("high", "low")
    >>> weights.tolist(), intercept
    ([2.0], -2.0)
    """

    weights: np.ndarray
    intercepts: np.ndarray
    classes: tuple[State, ...]

    def __init__(self, weights: Any, intercepts: Any, classes: Any = None) -> None:
        table, constants = check_array(weights, "weights", ndim=2), check_array(intercepts, "intercepts", ndim=1)
        names = tuple(range(len(table)) if classes is None else check_iterable(classes, "classes"))
        if not len(table) == len(constants) == len(names):
            raise InvalidData(
                "weights, intercepts and classes have one entry a class;"
                f" got {len(table)}, {len(constants)} and {len(names)}"
            )
        self._set(weights=read_only(table), intercepts=read_only(constants), classes=names)

    def log_odds(self, one: State, other: State) -> tuple[np.ndarray, float]:
        """(w, b) with log p(one | row) / p(other | row) = w · row + b."""
        first, second = self._code(one), self._code(other)
        return self.weights[first] - self.weights[second], float(self.intercepts[first] - self.intercepts[second])

    def _code(self, label: State) -> int:
        if (is_iterable(label) and not isinstance(label, str)) or label not in self.classes:
            raise InvalidData(f"there is no class {label!r}; {hint(label, self.classes)}")
        return self.classes.index(label)

    def __repr__(self) -> str:
        return f"LinearForm({len(self.classes)} classes, {self.weights.shape[1]} columns)"


def label_list(labels: Iterable[State]) -> np.ndarray:
    """Labels as an array that an index picks from."""
    return label_array(list(labels))


def warn_impossible(impossible: np.ndarray) -> None:
    rows = np.flatnonzero(impossible)
    warn_user(
        f"{len(rows)} of {len(impossible)} rows have probability zero in every class, the first is row {rows[0]};"
        " they get the prior of the classes",
        ImpossibleEvidenceWarning,
    )


def as_class_prior(prior: Any, labels: tuple[State, ...], counts: np.ndarray) -> np.ndarray:
    """Probabilities of classes from what users give: None, a pseudo-count, a mapping from labels, or a list.

    None takes the shares of the counts; a number is added to each of them.
    """
    if prior is None or not is_iterable(prior):
        added = 0.0 if prior is None else check_pseudo_count(prior)
        return np.asarray((counts + added) / (counts + added).sum())
    if hasattr(prior, "keys"):
        missing = [label for label in labels if label not in prior]
        if missing or len(prior) != len(labels):
            raise InvalidData(
                f"the prior of the classes, a mapping, has one probability for each of {few(map(repr, labels))}"
            )
        prior = [prior[label] for label in labels]
    given = check_array(prior, "the prior of the classes", ndim=1)
    if len(given) != len(labels):
        raise InvalidData(
            f"the prior of the classes has one probability for each, {len(labels)} here; got {len(given)}"
        )
    return stable.as_probabilities(given, (len(labels),), name="the prior of the classes")


def check_pseudo_count(prior: Any) -> float:
    return check_number(prior, "the prior of the classes, a pseudo-count of each,", least=0.0, finite=True)


Terms = tuple[np.ndarray, np.ndarray]  # weights (class, column), constants (class,)


@singledispatch
def linear_form(densities: Emissions) -> Terms:
    """The weights and the constants of log p(row | class), up to what all classes share."""
    raise Unsupported(f"log p(row | class) is not linear in the row for {densities.summary}: there are no weights")


@linear_form.register
def _(densities: BernoulliEmissions) -> Terms:
    ones, zeros = densities.log_tables
    return finite_terms(ones - zeros, zeros.sum(axis=1))


@linear_form.register
def _(densities: MultinomialCounts) -> Terms:
    return finite_terms(densities.log_table, np.zeros(densities.num_states))


@linear_form.register
def _(densities: GaussianEmissions) -> Terms:
    covariance = densities.full.covariance
    if not (covariance == covariance[0]).all():
        raise Unsupported(
            "Gaussians whose covariances differ have log odds that are quadratic in the row: there are no weights; let"
            ' them share one, as structure="tied" does'
        )
    weights = np.linalg.solve(covariance[0], densities.means.T).T
    return weights, -0.5 * np.einsum("kd,kd->k", weights, densities.means)


@linear_form.register
def _(densities: IndependentEmissions) -> Terms:
    parts = [linear_form(part) for part in densities.parts]
    return np.concatenate([weights for weights, _ in parts], axis=1), sum(constants for _, constants in parts)  # type: ignore[return-value]


@linear_form.register
def _(densities: RepeatedEmissions) -> Terms:
    weights, constants = linear_form(densities.column)
    return np.repeat(weights, densities.num_columns, axis=1), constants * densities.num_columns


@linear_form.register
def _(densities: FamilyEmissions) -> Terms:
    family: Any = densities.family
    if type(family) not in NATURAL:
        raise Unsupported(f"log p of {type(family).__name__} is not linear in the observation: there are no weights")
    natural, partition = NATURAL[type(family)](family)
    shape = (densities.num_states, 1)
    return finite_terms(np.broadcast_to(natural, shape[:1]).reshape(shape), -np.broadcast_to(partition, shape[:1]))


NATURAL: dict[type, Any] = {  # (η, A(η)) of families whose sufficient statistic is the observation
    Bernoulli: lambda family: (
        stable.log(family.probability) - stable.log(1.0 - np.asarray(family.probability)),
        -stable.log(1.0 - np.asarray(family.probability)),
    ),
    Poisson: lambda family: (stable.log(family.rate), np.asarray(family.rate)),
    Exponential: lambda family: (-np.asarray(family.rate), -stable.log(family.rate)),
    Geometric: lambda family: (
        stable.log(1.0 - np.asarray(family.probability)),
        -stable.log(family.probability),
    ),
}


def hyperplane(densities: Emissions, weights: np.ndarray, intercept: float, codes: tuple[int, int]) -> Terms:
    """(w, x0): two Gaussian classes with one covariance are equally probable where w · (row - x0) = 0.

    x0 lies on the line through the means: half-way if both are equally probable, else farther from the likelier.
    """
    if not isinstance(densities, GaussianEmissions):
        raise Unsupported(f"a hyperplane with a point between means is one of Gaussians; got {densities.summary}")
    one, other = densities.means[list(codes)]
    slope = float(weights @ (one - other))
    if not slope:
        raise Unsupported("two classes with the same mean and covariance have no hyperplane between them")
    middle = 0.5 * (one + other)
    return weights, middle - (weights @ middle + intercept) / slope * (one - other)


def finite_terms(weights: np.ndarray, constants: np.ndarray) -> Terms:
    if not (np.isfinite(weights).all() and np.isfinite(constants).all()):
        raise Unsupported("a probability is 0 or 1, so that a weight would be infinite: learn with a pseudo-count")
    return weights, constants
