"""`infer` and `log_prob` of hidden Markov models: the forward-backward algorithm.

Costs num_steps · num_states² operations and one lattice (step, state) of memory. Reference: L. R. Rabiner, A tutorial
on hidden Markov models and selected applications in speech recognition, 1989.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from juncture.checks import check_choice
from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, Unsupported, warn_user
from juncture.kernels.chains.passes import DISCARD
from juncture.sequences.hidden_markov.beliefs import ChainBeliefs
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import map_parts, run_pass, score, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

METHODS = ("auto", "exact", "chain")


def infer_chain(
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    lengths: Any = None,
    method: Any = "auto",
    on_impossible: str = "warn",
) -> Any:
    """The beliefs about the states of a sequence, or a list of them, one for each of many sequences.

    `lengths` cuts one stacked array into sequences. Of many sequences, impossible ones have NaN for distributions and
    log_evidence -inf, with one warning; `on_impossible="raise"` raises.
    """
    check_choice(method, METHODS, "a hidden Markov model is answered exactly, and its method", error=Unsupported)
    sequences = model.sequences(evidence, lengths)
    chain, lattice = Chain.of(model), np.empty((sequences.num_steps, model.num_states))

    def smooth_part(part: slice) -> np.ndarray:
        own = sequences.take(part)
        return smooth(chain, own, lattice[sequences.offsets[part.start] : sequences.offsets[part.stop]])

    log_evidence = concatenate(map_parts(smooth_part, chain, sequences))
    check_possible(chain, sequences, log_evidence, on_impossible)
    edges = pairwise(sequences.offsets.tolist())
    beliefs = [
        ChainBeliefs(model, sequences, position, own, lattice[first:last])
        for position, ((first, last), own) in enumerate(zip(edges, log_evidence.tolist(), strict=True))
    ]
    return beliefs[0] if sequences.is_single else beliefs


def log_prob_chain(model: HiddenMarkovModel, rows: Any, *, lengths: Any = None) -> Any:
    """log p(observations) of a sequence, or an array of one number for each of many."""
    sequences, chain = model.sequences(rows, lengths), Chain.of(model)
    found = concatenate(map_parts(lambda part: score(chain, sequences.take(part)), chain, sequences))
    return float(found[0]) if sequences.is_single else found


def concatenate(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0)


def check_possible(chain: Chain, sequences: Sequences, log_evidence: np.ndarray, on_impossible: str = "warn") -> None:
    """Raise for a single impossible sequence, warn (or raise, on request) for some among many."""
    check_choice(on_impossible, ("warn", "raise"), "on_impossible")
    impossible = np.flatnonzero(np.isneginf(log_evidence))
    if not len(impossible):
        return
    first = int(impossible[0])
    step = run_pass(chain, sequences.take(slice(first, first + 1)), use=DISCARD)[0].failed
    where = "the sequence" if sequences.is_single else f"sequence {first}"
    why = f"no path of states explains the observations up to step {step}"
    if sequences.is_single or on_impossible == "raise":
        raise ImpossibleEvidence(f"{where} has probability zero: {why}")
    warn_user(
        f"{len(impossible)} of {sequences.num} sequences have probability zero, the first is {where}: {why}; "
        "their log-evidence is -inf and their distributions are NaN",
        ImpossibleEvidenceWarning,
    )
