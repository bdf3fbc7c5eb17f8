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
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Variable
from juncture.verbs import infer

if TYPE_CHECKING:
    import pandas as pd

    from juncture.networks import Network

HEADS = ("variable", "rows", "impossible", "accuracy", "base rate", "log loss", "base log loss", "calibration error")


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


@dataclass(frozen=True, eq=False, repr=False)
class NetworkReport:
    """How well a network predicts each variable from the others.

    Attributes
    ----------
    variables
        The reports, in the order of the network.
    num_rows
        The number of rows of cases.
    without_truth
        Variables that no row has observed, which are not judged.
    """

    variables: tuple[VariableReport, ...]
    num_rows: int
    without_truth: tuple[str, ...]

    def __getitem__(self, name: str) -> VariableReport:
        """The report on one variable."""
        found = next((report for report in self.variables if report.name == name), None)
        if found is None:
            known = [report.name for report in self.variables]
            raise UnknownVariable(f"the report has no variable {name!r}; {hint(name, known)}")
        return found

    def to_pandas(self) -> pd.DataFrame:
        """A row for each variable."""
        import pandas as pd

        rows = [[report.name, *report.numbers()] for report in self.variables]
        frame = pd.DataFrame(rows, columns=[head.replace(" ", "_") for head in HEADS])
        return frame.astype({"rows": int, "impossible": int})

    def _lines(self) -> list[list[str]]:
        return [[report.name, *(f"{number:.4g}" for number in report.numbers())] for report in self.variables]

    def __repr__(self) -> str:
        return "\n".join(["NetworkReport", *align_columns([list(HEADS), *self._lines()], 1)])

    def _repr_html_(self) -> str:
        return html_table(HEADS, self._lines(), num_labels=1)


def evaluate_network(
    model: BayesianNetwork | FactorProduct, cases: Any, *, targets: Iterable[str] | None = None, method: Any = "auto"
) -> NetworkReport:
    """Predict each variable of a network from the other cells of each row, and compare with what is there.

    Parameters
    ----------
    model
        A network of variables with states.
    cases
        Rows: a frame, a `Dataset`, columns by name. Cells may be missing; a row is judged on the variables that it has.
    targets
        The variables to judge; by default all that some row has observed.
    method
        The engine, as in `infer`.

    Returns
    -------
    NetworkReport
        For each variable the accuracy and the log loss, beside those of a prediction that does not look at the other
        cells, and the error of calibration.

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
    """Whether some row has a state of this variable."""
    if variable.is_real:
        raise InvalidData(
            f"{variable.name!r} is real-valued; evaluate_network judges variables with states: name targets"
        )
    return variable.name in data.columns and bool((data.columns[variable.name] >= 0).any())


def report_on(model: Network, data: Dataset, variable: Variable, method: Any) -> VariableReport:
    """The predictions of one variable in the rows that have it."""
    codes = data.columns[variable.name]
    rows = np.flatnonzero(codes >= 0)
    others = data.only(name for name in data.columns if name != variable.name).take(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # the report counts these rows
        beliefs = infer(model, others, targets=[variable.name], method=method)
    values = np.asarray(beliefs[variable.name].values).reshape(len(rows), variable.num_states)
    possible = np.ones(len(rows), bool)
    possible[list(beliefs.impossible)] = False
    if not possible.any():
        raise InvalidData(f"every row that has {variable.name!r} has other cells of probability zero")
    truth = codes[rows][possible].astype(np.int64)
    return VariableReport(variable.name, tuple(variable.labels), truth, values[possible], int((~possible).sum()))
