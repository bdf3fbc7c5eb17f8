"""Questions to mixtures: which component made a row, and how probable the row is; what is missing is summed out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture import numerics
from juncture.checks import check_choice
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.sequences.steps import unwrap_frame
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, InvalidData, UnknownVariable, warn_user
from juncture.factors.factor import Factor
from juncture.families.observations import as_values
from juncture.inference.engines.beliefs import RowFactors
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.values import number_of
from juncture.variables import Scope, Variable


@dataclass(frozen=True, eq=False, repr=False)
class MixtureBeliefs:
    """Which component each row came from: `beliefs["component"]` is p(component | row), `log_evidence` log p(row).

    Of one row that is a `Factor` and a number; of many, `.values` is (row, component), NaN where a row is impossible.
    """

    model: Mixture
    log_joint: np.ndarray  # (row, component): log p(row, component)
    is_single: bool
    exact: bool = True
    converged: bool = True
    method: str = "mixture"

    @cached_property
    def log_evidence(self) -> Any:
        values = numerics.log_sum_exp(self.log_joint, axis=1)
        return float(values[0]) if self.is_single else values

    @cached_property
    def responsibilities(self) -> np.ndarray:
        """p(component | row), (row, component)."""
        total = np.reshape(self.log_evidence, (-1, 1))
        shares = np.full_like(self.log_joint, np.nan)
        np.subtract(self.log_joint, total, out=shares, where=total > -np.inf)
        return np.asarray(np.exp(shares))

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        """The rows that no component can have made."""
        return tuple(np.flatnonzero(np.isneginf(self.log_joint).all(axis=1)).tolist())

    @property
    def scope(self) -> Scope:
        return Scope([Variable("component", self.model.num_components)])

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or name != "component":
            raise UnknownVariable.among(name, ["component"], where="a mixture")
        values = self.responsibilities
        return Factor(self.scope, values[0]) if self.is_single else RowFactors(self.scope, values)

    def __len__(self) -> int:
        return len(self.log_joint)

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        components = number_of(self.model.num_components, "component")
        return f"MixtureBeliefs({components}; {rows}; exact, by {self.method})"


def infer_component(model: Mixture, evidence: Any, *, on_impossible: str = "warn") -> MixtureBeliefs:
    """The beliefs about the component of one row, or of each of many: numbers, vectors or a frame."""
    check_choice(on_impossible, ("warn", "raise"), "on_impossible")
    rows, is_single = rows_of(model, evidence)
    beliefs = MixtureBeliefs(model, model.component_log_prob(rows) + numerics.log(model.weights), is_single)
    check_possible(beliefs, on_impossible)
    return beliefs


def most_probable_component(
    model: Mixture, evidence: Any, *, on_impossible: str = "warn"
) -> MostProbable | MostProbableRows:
    """The most probable component of one row, or of each of many."""
    beliefs = infer_component(model, evidence, on_impossible=on_impossible)
    codes, log_joint = beliefs.log_joint.argmax(axis=1), beliefs.log_joint.max(axis=1)
    log_prob = numerics.log(beliefs.responsibilities).max(axis=1)
    if beliefs.is_single:
        return MostProbable({"component": int(codes[0])}, float(log_prob[0]), float(log_joint[0]))
    codes[list(beliefs.impossible)] = -1
    chosen = Dataset.from_codes(beliefs.scope, {"component": codes})
    return MostProbableRows(chosen, log_prob, log_joint, beliefs.impossible)


def log_prob_mixture(model: Mixture, rows: Any) -> Any:
    """log p(row): a number for one, an array for many."""
    values, is_single = rows_of(model, rows)
    found = model.log_prob(values)
    return float(found[0]) if is_single else found


def sample_mixture(model: Mixture, n: Any, *, rng: Any = None) -> np.ndarray:
    """`n` rows drawn from the mixture, (row, *event)."""
    return np.asarray(model.sample(n, rng=rng))


def rows_of(model: Mixture, given: Any) -> tuple[np.ndarray, bool]:
    """(row, *event), and whether one row was given and not a list; a column of numbers is numbers."""
    event = model.event_shape
    values = as_values(unwrap_frame(given), event, name="Mixture")
    if not event and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 1 + len(event):
        raise InvalidData(f"one row of this mixture has the shape {event}; got an array of the shape {values.shape}")
    is_single = values.ndim == len(event)
    return (values[None] if is_single else values), is_single


def check_possible(beliefs: MixtureBeliefs, on_impossible: str) -> None:
    """Raise for a single impossible row, warn (or raise, on request) for some among many."""
    if not beliefs.impossible:
        return
    first = beliefs.impossible[0]
    if beliefs.is_single or on_impossible == "raise":
        raise ImpossibleEvidence(f"row {first} has probability zero: no component of the mixture can make it")
    warn_user(
        f"{len(beliefs.impossible)} of {len(beliefs)} rows have probability zero, the first is row {first}; "
        "their responsibilities are NaN and their indices are in beliefs.impossible",
        ImpossibleEvidenceWarning,
    )
