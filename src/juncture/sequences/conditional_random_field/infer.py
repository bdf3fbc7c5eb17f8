"""Questions to conditional random fields: those of the hidden Markov model with the same posteriors.

`LabelBeliefs` has the distributions of the labels of one sequence, given all of its steps. Their `log_evidence` is
log Z(x), and `log_joint` of a path its score; `log_prob` is log p(path | x).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np

from juncture.base.methods import register_methods, resolve_method
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.errors import InvalidData, Unsupported
from juncture.sequences.conditional_random_field.features import labels_of
from juncture.sequences.conditional_random_field.model import ConditionalRandomField
from juncture.sequences.hidden_markov.beliefs import ChainBeliefs
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.infer import ChainOptions, infer_sequences, score_sequences
from juncture.sequences.hidden_markov.most_probable import decode_sequences


def infer_labels(
    model: ConditionalRandomField,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The beliefs about the labels of a sequence of steps, or a list of them, one for each of many sequences."""
    options = ChainOptions.of(model, "infer", method, on_impossible, budget, memory_limit)
    scores = model.to_sequences(read_sequences(model, evidence, lengths, group).all())
    found = infer_sequences(model, model.hidden, scores, options)
    return [LabelBeliefs.of(one) for one in found] if isinstance(found, list) else LabelBeliefs.of(found)


@dataclass(frozen=True, eq=False, repr=False)
class LabelBeliefs(ChainBeliefs):
    """Distributions of the labels of one sequence, `smoothed` and `pairwise`, and draws; `log_evidence` is log Z(x).

    The labels are modelled given all steps, so there are none given the steps so far, and no forecast.
    """

    @classmethod
    def of(cls, beliefs: ChainBeliefs) -> LabelBeliefs:
        return cls(**{field.name: getattr(beliefs, field.name) for field in fields(beliefs)})

    @property
    def filtered(self) -> NoReturn:
        raise self._error("the labels given the steps so far")

    @property
    def predicted(self) -> NoReturn:
        raise self._error("the labels given the steps before")

    def lagged(self, lag: int) -> NoReturn:
        raise self._error("the labels given some of the steps")

    def forecast(self, num_steps: int) -> NoReturn:
        raise self._error("the labels of steps to come")

    def _error(self, what: str) -> Unsupported:
        return Unsupported(f"a conditional random field has no distribution of {what}: ask for `smoothed`, given all")

    def __repr__(self) -> str:
        return super().__repr__().replace("ChainBeliefs", "LabelBeliefs")


def most_probable_labels(  # noqa: PLR0913 (one verb, many options)
    model: ConditionalRandomField,
    evidence: Any,
    *,
    k: int | None = None,
    trellis: bool = False,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The most probable labels of a sequence, or of each of many; with `k` a list of the k best in place of each."""
    options = ChainOptions.of(model, "most_probable", method, on_impossible, budget, memory_limit)
    sequences = model.to_sequences(read_sequences(model, evidence, lengths, group).all())
    return decode_sequences(model, model.hidden, sequences, options, k, trellis)


def sample_labels(
    model: ConditionalRandomField, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Any:
    """`n` paths of labels drawn given the steps of a sequence, (path, step)."""
    resolve_method(model, "sample", method)
    if given is None:
        raise Unsupported("a conditional random field models labels given observations: give the steps as given=…")
    beliefs = infer_labels(model, given, method=method)
    if isinstance(beliefs, list):
        raise InvalidData(f"labels are drawn given one sequence; got {len(beliefs)}: sample once for each")
    return beliefs.sample(n, rng=rng)


def log_prob_labels(
    model: ConditionalRandomField,
    rows: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    method: Any = "auto",
) -> Any:
    """log p(labels | steps) of a sequence with labels, or an array of one number for each of many."""
    resolve_method(model, "log_prob", method)
    chain = Chain.of(model.hidden)

    def score_labels(sequences: Sequences) -> np.ndarray:
        log_z = score_sequences(chain, model.to_sequences(sequences))
        return path_scores(model, sequences.observations, labels_of(sequences), sequences.offsets) - log_z

    return read_sequences(model, rows, lengths, group, states).answer(score_labels)


def path_scores(model: ConditionalRandomField, matrix: Any, codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """What the labels of each sequence add up to: (sequence,)."""
    steps = np.asarray(matrix @ model.weights)[np.arange(len(codes)), codes]
    later = inner_steps(offsets)
    steps[later] += model.transition[codes[later - 1], codes[later]]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    impossible = np.bincount(owner, np.isneginf(steps), len(offsets) - 1) > 0
    totals = np.bincount(owner, np.where(np.isneginf(steps), 0.0, steps), len(offsets) - 1)
    return np.where(impossible, -np.inf, totals)


def inner_steps(offsets: np.ndarray) -> np.ndarray:
    """The steps that have one before them in their sequence."""
    is_first = np.zeros(int(offsets[-1]) + 1, bool)
    is_first[offsets[:-1]] = True
    return np.flatnonzero(~is_first[:-1])


register_methods(ConditionalRandomField, "infer", "forward-backward")
register_methods(ConditionalRandomField, "log_prob", "forward-backward")
register_methods(ConditionalRandomField, "sample", "forward-backward")
register_methods(ConditionalRandomField, "most_probable", "viterbi")
