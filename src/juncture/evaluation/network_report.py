"""`evaluate_network`: how well a network predicts each of its variables from the others, on rows of cases."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.options import as_names
from juncture.base.shown import Shown
from juncture.data.dataset import Dataset
from juncture.data.rows import Rows
from juncture.drawing.notebook import html_table
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, UnknownVariable, hint
from juncture.evaluation.measures.calibration import Calibration, calibration
from juncture.evaluation.measures.classification import ConfusionMatrix, confusion_matrix
from juncture.factors.printed_tables import align_columns
from juncture.inference.predictions import LEVELS
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Variable
from juncture.verbs import infer

if TYPE_CHECKING:
    import pandas as pd


HEADS = ("variable", "rows", "impossible", "accuracy", "base rate", "log loss", "base log loss", "calibration error")
NUMBER_HEADS = ("variable", "rows", "impossible", "RMSE", "base RMSE", "coverage", "log density", "base log density")


@dataclass(frozen=True, eq=False)
class VariableReport(Shown):
    """How well one variable is predicted from the others.

    Attributes
    ----------
    name
        The variable.
    states
        Its states.
    truth
        The code of its state in each row that has it observed and whose other cells are possible.
    probabilities
        (row, state): what the network predicted for these rows from their other cells.
    impossible
        The number of rows with this variable whose other cells have probability zero: they have no prediction.
    """

    name: str
    states: tuple[Any, ...]
    truth: np.ndarray
    probabilities: np.ndarray
    impossible: int

    @property
    def accuracy(self) -> float:
        """The share of rows whose most probable state is right."""
        return float(np.mean(self.probabilities.argmax(axis=1) == self.truth))

    @property
    def base_rate(self) -> float:
        """The share of rows that have the most frequent state."""
        return float(self._counts.max() / len(self.truth))

    @property
    def log_loss(self) -> float:
        """The mean of -log p(true state); infinite where one was said to be impossible."""
        with np.errstate(divide="ignore"):
            return float(-np.log(self.probabilities[np.arange(len(self.truth)), self.truth]).mean())

    @property
    def base_log_loss(self) -> float:
        """The log loss of the shares of the states in these rows: what a prediction without the others reaches."""
        shares = self._counts[self._counts > 0] / len(self.truth)
        return float(-(shares * np.log(shares)).sum())

    @property
    def calibration_error(self) -> float:
        """The largest debiased error of the calibration of a state."""
        return max(self.calibration(state, draws=1).debiased_error for state in self.states)

    def calibration(self, state: Any, **options: Any) -> Calibration:
        """How the predicted probabilities of a state agree with how often it was true; see `calibration`."""
        if state not in self.states:
            raise InvalidData(f"{self.name!r} has no state {state!r}; {hint(state, self.states)}")
        code = self.states.index(state)
        return calibration(self.truth == code, np.clip(self.probabilities[:, code], 0.0, 1.0), **options)

    def confusion(self) -> ConfusionMatrix:
        """True states against predicted ones."""
        predicted = self.probabilities.argmax(axis=1)
        named = ([self.states[code] for code in codes.tolist()] for codes in (self.truth, predicted))
        return confusion_matrix(*named, labels=self.states)

    @property
    def _counts(self) -> np.ndarray:
        return np.bincount(self.truth, minlength=len(self.states))

    def numbers(self) -> list[float]:
        """The columns of the report after the name."""
        shares = [self.accuracy, self.base_rate, self.log_loss, self.base_log_loss, self.calibration_error]
        return [len(self.truth) + self.impossible, self.impossible, *shares]


@dataclass(frozen=True, eq=False)
class NumberReport:
    """How well one real-valued variable is predicted from the others.

    Attributes
    ----------
    name
        The variable.
    truth
        Its number in each row that has it observed and whose other cells are possible.
    predicted
        (row,): the means that the network predicted for these rows from their other cells.
    low, high
        (row,): the ends of the intervals that hold 90 % of the predicted probability.
    log_densities
        (row,): log p(true number | the other cells of the row).
    base_log_densities
        (row,): log p(true number), without the other cells: the network's marginal of the variable.
    impossible
        The number of rows with this variable whose other cells have probability zero: they have no prediction.
    """

    name: str
    truth: np.ndarray
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_densities: np.ndarray
    base_log_densities: np.ndarray
    impossible: int

    @property
    def rmse(self) -> float:
        """The root of the mean squared error of the predicted means."""
        return float(np.sqrt(np.mean((self.truth - self.predicted) ** 2)))

    @property
    def base_rmse(self) -> float:
        """The error of predicting the mean of these rows in each of them: their standard deviation."""
        return float(self.truth.std())

    @property
    def coverage(self) -> float:
        """The share of rows whose number is within the interval that holds 90 % of the predicted probability."""
        return float(np.mean((self.low <= self.truth) & (self.truth <= self.high)))

    @property
    def log_density(self) -> float:
        """The mean of log p(true number | the other cells); the higher the better.

        It is -inf where a number was said to be impossible, as it is for the points that a sampler draws.
        """
        return mean_log_density(self.log_densities)

    @property
    def base_log_density(self) -> float:
        """The mean of log p(true number) under the network's marginal, which does not look at the other cells."""
        return mean_log_density(self.base_log_densities)

    def numbers(self) -> list[float]:
        """The columns of the report after the name."""
        shares = [self.rmse, self.base_rmse, self.coverage, self.log_density, self.base_log_density]
        return [len(self.truth) + self.impossible, self.impossible, *shares]


def mean_log_density(logs: np.ndarray) -> float:
    """The mean: -inf where one number was said to be impossible, also beside a point that has a probability."""
    return -np.inf if np.isneginf(logs).any() else float(logs.mean())


@dataclass(frozen=True, eq=False, repr=False)
class NetworkReport:
    """How well a network predicts each variable from the others.

    Attributes
    ----------
    variables
        The reports, in the order of the network: a `VariableReport` of one with states, a `NumberReport` of a real one.
    num_rows
        The number of rows of cases.
    without_truth
        Variables that no row has observed, which are not judged.
    """

    variables: tuple[VariableReport | NumberReport, ...]
    num_rows: int
    without_truth: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        """The report on one variable."""
        found = next((report for report in self.variables if report.name == name), None)
        if found is None:
            known = [report.name for report in self.variables]
            raise UnknownVariable(f"the report has no variable {name!r}; {hint(name, known)}")
        return found

    def tables(self) -> list[tuple[tuple[str, ...], list[VariableReport | NumberReport]]]:
        """The variables with states, then the real ones, each with the heads of their columns."""
        kinds: dict[tuple[str, ...], type] = {HEADS: VariableReport, NUMBER_HEADS: NumberReport}
        found = [(heads, [each for each in self.variables if isinstance(each, kind)]) for heads, kind in kinds.items()]
        return [(heads, reports) for heads, reports in found if reports]

    def to_records(self) -> list[dict[str, Any]]:
        """A mapping for each variable: the name of a measure → its number."""
        heads = {each.name: heads for heads, reports in self.tables() for each in reports}
        return [
            {key_of(head): number for head, number in zip(heads[each.name], [each.name, *each.numbers()], strict=True)}
            for each in self.variables
        ]

    def to_pandas(self) -> pd.DataFrame:
        """A row for each variable; a measure that a variable does not have is missing in its row."""
        import pandas as pd

        columns = dict.fromkeys(key_of(head) for heads, _ in self.tables() for head in heads)
        return pd.DataFrame(self.to_records(), columns=[*columns]).astype({"rows": int, "impossible": int})

    def __repr__(self) -> str:
        parts = [align_columns([list(heads), *lines_of(reports)], 1) for heads, reports in self.tables()]
        return "\n\n".join("\n".join(lines) for lines in [["NetworkReport", *parts[0]], *parts[1:]])

    def _repr_html_(self) -> str:
        return "".join(html_table(heads, lines_of(reports), num_labels=1) for heads, reports in self.tables())


def key_of(head: str) -> str:
    return head.lower().replace(" ", "_")


def lines_of(reports: Iterable[VariableReport | NumberReport]) -> list[list[str]]:
    return [[report.name, *(f"{number:.4g}" for number in report.numbers())] for report in reports]


def evaluate_network(
    model: BayesianNetwork | FactorProduct, cases: Any, *, targets: Iterable[str] | None = None, method: Any = "auto"
) -> NetworkReport:
    """Predict each variable of a network from the other cells of each row, and compare with what is there.

    Parameters
    ----------
    model
        A network, of variables with states, real-valued ones, or both.
    cases
        Rows: a frame, a `Dataset`, columns by name. Cells may be missing; a row is judged on the variables that it has.
    targets
        The variables to judge; by default all that some row has observed.
    method
        The engine, as in `infer`.

    Returns
    -------
    NetworkReport
        For each variable with states the accuracy and the log loss, beside those of a prediction that does not look at
        the other cells, and the error of calibration. For each real one the root mean squared error and the mean
        log-density, beside the same of such a prediction, and the share of numbers within intervals of 90 %.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.example("asia")
    >>> report = jt.evaluation.evaluate_network(model, jt.sample(model, 500, rng=0), targets=["either", "lung"])
    >>> report["either"].accuracy
    1.0
    """
    check_kind(model, (BayesianNetwork, FactorProduct), "the model")
    data = Rows.of(cases).codes(model.variables, extra="ignore")
    wanted = model.variables.names if targets is None else as_names(targets, "targets")
    judged = [model.variable(name) for name in wanted]
    has_truth = {variable.name for variable in judged if is_observed(data, variable)}
    reports = [report_on(model, data, variable, method) for variable in judged if variable.name in has_truth]
    if not reports:
        raise InvalidData("no row has one of the variables observed, so that there is nothing to compare with")
    missing = tuple(variable.name for variable in judged if variable.name not in has_truth)
    return NetworkReport(tuple(reports), data.num_rows, missing)


def is_observed(data: Dataset, variable: Variable) -> bool:
    """Whether some row has a value of this variable."""
    return variable.name in data.columns and bool(known_rows(data, variable).size)


def known_rows(data: Dataset, variable: Variable) -> np.ndarray:
    """The rows that have a value of this variable."""
    column = data.columns[variable.name]
    if column.ndim > 1:
        raise InvalidData(f"{variable.name!r} is a vector; evaluate_network judges single numbers and states")
    return np.flatnonzero(~np.isnan(column) if variable.is_real else column >= 0)


def report_on(model: Network, data: Dataset, variable: Variable, method: Any) -> VariableReport | NumberReport:
    """The predictions of one variable in the rows that have it."""
    name, rows = variable.name, known_rows(data, variable)
    others = data.only(other for other in data.columns if other != name).take(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # the report counts these rows
        beliefs = infer(model, others, targets=[name], method=method)
    possible = np.ones(len(rows), bool)
    possible[list(beliefs.impossible)] = False
    if not possible.any():
        raise InvalidData(f"every row that has {name!r} has other cells of probability zero")
    truth, impossible = data.columns[name][rows], int((~possible).sum())
    if variable.is_real:
        marginal, base = beliefs[name], infer(model, targets=[name], method=method)[name]
        logs = marginal.log_prob(np.where(possible, truth, np.nan))
        parts = (marginal.mean, *(marginal.quantile(share) for share in LEVELS.values()), logs)
        mean, low, high, logs = (np.broadcast_to(each, len(rows))[possible] for each in parts)
        truth = truth[possible]
        return NumberReport(name, truth, mean, low, high, logs, np.asarray(base.log_prob(truth)), impossible)
    values = np.asarray(beliefs[name].values).reshape(len(rows), variable.num_states)
    codes = truth[possible].astype(np.int64)
    return VariableReport(name, tuple(variable.labels), codes, values[possible], impossible)
